// S3.17: forms at the top level that use a function only in what they expand into, or around a method.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { keepsReferencesToCl } from '../oracle.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const SOURCE = `(defpackage :expanding (:use :cl))
(in-package :expanding)
(defun note (name) name)
(defun other (name) name)
(defun around (value) value)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun expansion-of (name) \`(note ',name)))
(defmacro register (name) \`(note ',name))
(defmacro define-thing (name) \`(progn (other 1) ,(expansion-of name)))
(defmacro unrelated (name) \`(other ',name))
(register first-one)
(register second-one)
(unrelated third-one)
(define-thing :fourth)
(defgeneric closing (x))
(let ((value (around 1)))
  (defmethod closing ((x integer)) (list x value)))
(defmethod closing ((x string)) (around x))
`;

const folder = sharedFolder();
const file = join(folder.path, 'expanding.lisp');
beforeAll(() => {
  writeFileSync(file, SOURCE);
});
const session = sharedSession();
beforeAll(async () => {
  expect(await session.eval(`(load (compile-file ${JSON.stringify(file)}))`)).toMatch(/^T/);
});

/** Returns FILE:LINE of the line that begins with START. */
function at(start: string): string {
  return `${file}:${SOURCE.split('\n').findIndex((line) => line.startsWith(start)) + 1}`;
}

test('S3.17 of forms that SBCL made one piece of code, those are told whose macro has the name', async () => {
  const text = await session.text('who_calls', { name: 'expanding::note', sites: true });
  const [places = '', possible] = text.split('\n\nPossible callers:\n\n');
  expect(places.split('\n').slice(2).sort()).toEqual(
    [
      '  EXPANDING::FIRST-ONE (register)',
      `    ${at('(register first')}:1  (register first-one) (in an expansion)`,
      '  EXPANDING::SECOND-ONE (register)',
      `    ${at('(register second')}:1  (register second-one) (in an expansion)`,
      '  KEYWORD::FOURTH (define-thing)',
      `    ${at('(define-thing :')}:1  (define-thing :fourth) (in an expansion)`,
    ].sort(),
  );
  expect(possible).toBe('  EXPANDING::EXPANSION-OF\n  EXPANDING::REGISTER');
});

test('S3.17 a form around a method uses what the method does not', async () => {
  expect(await session.text('who_calls', { name: 'expanding::around' })).toBe(
    `Functions that call EXPANDING::AROUND:

  EXPANDING::CLOSING

Other places that call EXPANDING::AROUND:

  top-level form at ${at('(let ((value')}`,
  );
});

test('S3.7 a call for which the compiler has code of its own is a call', async () => {
  await session.eval('(require :sb-rotate-byte)');
  await session.eval(
    '(defun expanding::turns (a) (declare (type (unsigned-byte 32) a)) (sb-rotate-byte:rotate-byte 3 (byte 32 0) a))',
  );
  const text = await session.text('who_calls', { name: 'sb-rotate-byte::%rotate-byte' });
  // SBCL as upstream builds it keeps no cross references to its own names, which the answer then says.
  expect(/^Functions that call .*\n {2}EXPANDING::TURNS$/ms.test(text.split('\n\nPossible')[0] ?? '')).toBe(
    await keepsReferencesToCl(session),
  );
});

test('S3.8 S3.17 C31 what ran only when its file was compiled is told also beside what only mentions the name', async () => {
  const source = `(in-package :expanding)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun chosen (x) x))
(defun mentions () '(eval (chosen 1)))
(defun expands (x)
  (macrolet ((it (y) (chosen y)))
    (it x)))
(defparameter *read* '#.(list (chosen 1)))
(defun never (x) (when nil (chosen x)) x)
(defun repeats () (list (mentions) '(chosen 2)))
(when nil (chosen 1))
(print (if t 1 (chosen 2)) (make-broadcast-stream))
`;
  const path = join(folder.path, 'early.lisp');
  writeFileSync(path, source);
  expect(await session.eval(`(load (compile-file ${JSON.stringify(path)}))`)).toMatch(/^T/);
  expect(await session.text('who_calls', { name: 'expanding::chosen' })).toBe(
    `Possible callers:

  EXPANDING::MENTIONS
  EXPANDING::NEVER
  EXPANDING::REPEATS
  EXPANDING::*READ* (initial value)
  top-level form at ${path}:11
  top-level form at ${path}:12
  top-level form at ${path}:5`,
  );
  const page = { name: 'expanding::chosen', limit: 2, offset: 5 };
  expect(await session.text('who_calls', page)).toMatch(/early\.lisp:12\n.*early\.lisp:5/);
});

test('on pages no form is told twice whose function contains the name too', async () => {
  const source = `(in-package :expanding)
(defun target () 1)
(defmacro defcheck (name) \`(progn (defun ,name () '(target)) (target)))
${['a', 'b', 'c'].map((name) => `(defcheck ${name})\n`).join('')}`;
  const path = join(folder.path, 'pages.lisp');
  writeFileSync(path, source);
  expect(await session.eval(`(load (compile-file ${JSON.stringify(path)}))`)).toMatch(/^T/);
  const told: string[] = [];
  for (const offset of [0, 2, 4, 6]) {
    const text = await session.text('who_calls', { name: 'expanding::target', limit: 2, offset });
    told.push(...(text.match(/^ {2}EXPANDING::.*/gm) ?? []));
  }
  expect(told.sort()).toEqual([
    ...['A', 'B', 'C'].map((name) => `  EXPANDING::${name} (defcheck)`),
    '  EXPANDING::DEFCHECK',
  ]);
});

const DATA = `(in-package :expanding)
(defun given (&rest x) x)
(defun setter (x v) (list x v))
(defun fits (x) (evenp x))
(defun reads (stream char) (list stream char))
(defvar *state* 1)
(defvar *quiet* (make-broadcast-stream))
(defparameter *functions* (list #'given 'other))
(defparameter *vector* #(given #2A((given 1))))
(defparameter *names* '((:operator . given)))
(print 'given *quiet*)
(defparameter *readtable-of* (let ((r (copy-readtable))) (set-macro-character #\\! 'reads nil r) r))
(defsetf getter setter)
(deftype even-one () '(satisfies fits))
(defclass holder () ((part :type (satisfies fits))))
(define-symbol-macro state (given *state*))
(setf *state* 7)
(let ((*state* 8)) (given))
(print *state* *quiet*)
(defun splits (list) (destructuring-bind (given b) list (list given b)))
(defun in-a-vector () #(given))
`;

/** Returns the lines of TEXT with the forms of FILE by the begins of their lines. */
function shown(text: string, path: string): string {
  const lines = DATA.split('\n');
  return text.replace(/top-level form at (\S+):(\d+)/g, (_, file, line) =>
    file === path ? `top-level form ${lines[line - 1]}` : file,
  );
}

test('S3.8 S3.17 C31 of forms that SBCL made one piece of code, those that have a name as data are told apart', async () => {
  const path = join(folder.path, 'data.lisp');
  writeFileSync(path, DATA);
  expect(await session.eval(`(load (compile-file ${JSON.stringify(path)}))`)).toMatch(/^T/);
  const callers = async (name: string) =>
    shown(await session.text('who_calls', { name: `expanding::${name}` }), path);
  expect(await callers('given')).toBe(`Other places that call EXPANDING::GIVEN:

  EXPANDING::*FUNCTIONS* (initial value)
  top-level form (let ((*state* 8)) (given))

Possible callers:

  EXPANDING::IN-A-VECTOR
  EXPANDING::*VECTOR* (initial value)
  EXPANDING::*NAMES* (initial value)
  top-level form (print 'given *quiet*)
  EXPANDING::STATE (symbol macro)`);
  expect(await callers('reads')).toBe('Possible callers:\n\n  EXPANDING::*READTABLE-OF* (initial value)');
  expect(await callers('setter')).toBe('Possible callers:\n\n  EXPANDING::GETTER (setf expander)');
  expect(await callers('fits')).toBe(
    'Possible callers:\n\n  EXPANDING::EVEN-ONE (type expander)\n  EXPANDING::HOLDER (slot type)',
  );
  const users = await session.text('who_references', { name: 'expanding::*state*' });
  expect(shown(users, path)).toBe(`Other places that use EXPANDING::*STATE*:

  EXPANDING::STATE (symbol macro)
  top-level form (setf *state* 7)
  top-level form (let ((*state* 8)) (given))
  top-level form (print *state* *quiet*)`);
});

const MERGED = `(in-package :expanding)
(defvar *hooks* '())
(defun hook (x) x)
(defun passed (x) x)
(defun low (x) x)
(defun early (x) x)
(defgeneric scaled (x))
(push 'hook *hooks*)
(push #'passed *hooks*)
(push (hook 1) (get 'early 'info))
(setf (get 'merged 'low) (low (passed 2)))
(defmethod scaled ((x string)) (low x))
(defmethod scaled ((x (eql (low 'x)))) x)
(define-symbol-macro lowest (low 5))
(progn #+(or) (hook 2) (list 1))
`;

test('S3.17 C31 of merged forms those are told that pass a function on, and no others', async () => {
  const path = join(folder.path, 'merged.lisp');
  writeFileSync(path, MERGED);
  expect(await session.eval(`(load (compile-file ${JSON.stringify(path)}))`)).toMatch(/^T/);
  const callers = async (name: string) => {
    const text = await session.text('who_calls', { name: `expanding::${name}` });
    const lines = MERGED.split('\n');
    return text.replace(/top-level form at (\S+):(\d+)/g, (_, __, line) => `form ${lines[line - 1]}`);
  };
  expect(await callers('hook')).toBe(`Other places that call EXPANDING::HOOK:

  form (push (hook 1) (get 'early 'info))

Possible callers:

  form (push 'hook *hooks*)`);
  expect(await callers('passed')).toBe(`Other places that call EXPANDING::PASSED:

  form (push #'passed *hooks*)
  form (setf (get 'merged 'low) (low (passed 2)))`);
  expect(await callers('low')).toBe(`Functions that call EXPANDING::LOW:

  EXPANDING::SCALED

Other places that call EXPANDING::LOW:

  form (setf (get 'merged 'low) (low (passed 2)))
  EXPANDING::SCALED (specializer)

Possible callers:

  EXPANDING::LOWEST (symbol macro)`);
});

test('S3.17 a macro is found in files whose forms leave no code', async () => {
  const maker = join(folder.path, 'maker.lisp');
  const constants = join(folder.path, 'constants.lisp');
  writeFileSync(
    maker,
    `(defpackage :leaving (:use :cl))
(in-package :leaving)
(defmacro keeping (name value) \`(defconstant ,name (if (boundp ',name) (symbol-value ',name) ,value)))
`,
  );
  writeFileSync(constants, "(in-package :leaving)\n(keeping +table+ '(1 2))\n");
  for (const path of [maker, constants])
    expect(await session.eval(`(load (compile-file ${JSON.stringify(path)}))`)).toMatch(/^T/);
  await session.eval('(sb-ext:gc :full t)');
  expect(await session.text('who_calls', { name: 'leaving::keeping', sites: true })).toBe(`Possible callers:

  top-level form at ${constants}:2
    ${constants}:2:1  (keeping +table+ '(1 2))`);
});
