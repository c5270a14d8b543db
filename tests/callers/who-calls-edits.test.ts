// S3.18: places in files that have changed since they were loaded.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Written } from './written.ts';

const written = new Written();

const CHANGED = '(the file changed since it was loaded)';
const ELSEWHERE = '(the file has changed since it was loaded; this form has not)';
const EDITED = '(changed since it was loaded)';
const FORMS = {
  goal: '(defgeneric goal-c (x))',
  circle: '(defmethod shape-c ((s string) x)\n  (goal-c x))',
  square: '(defmethod shape-c :around ((s symbol) x)\n  (goal-c x))',
  one: '(defun one-c (x)\n  (goal-c x)\n  (goal-c (1+ x)))',
  two: '(defun two-c (x) (goal-c x))',
  unnamed: '(let ((x 1))\n  (defun closed-c () (goal-c x)))',
};

/** Writes the file of FORMS with those KEYS, or other texts, in their order. */
function writeForms(name: string, ...keys: string[]): void {
  written.write(name, `${keys.map((key) => (FORMS as Record<string, string>)[key] ?? key).join('\n')}\n`);
}

test('S3.18 after an edit a form is found again by its operator and name', async () => {
  writeForms('edited.lisp', 'goal', 'circle', 'square', 'one', 'two', 'unnamed');
  expect(await written.session.text('load_file', { path: 'edited.lisp' })).toContain('Loaded edited.lisp');
  writeForms(
    'edited.lisp',
    ';; new',
    '(defvar *new-c*)',
    'two',
    'one',
    'square',
    'circle',
    'unnamed',
    'goal',
  );
  expect(await written.sitesOf('COMMON-LISP-USER::ONE-C', 'goal-c')).toEqual([
    `edited.lisp:5:3  (goal-c x) ${ELSEWHERE}`,
    `edited.lisp:6:3  (goal-c (1+ x))) ${ELSEWHERE}`,
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::CLOSED-C', 'goal-c')).toEqual([
    `edited.lisp:12:22  (defun closed-c () (goal-c x))) ${ELSEWHERE}`,
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::SHAPE-C', 'goal-c')).toEqual([
    `edited.lisp:8:3  (goal-c x)) ${ELSEWHERE}  [method :AROUND (COMMON-LISP::SYMBOL COMMON-LISP::T)]`,
    `edited.lisp:10:3  (goal-c x)) ${ELSEWHERE}  [method (COMMON-LISP::STRING COMMON-LISP::T)]`,
  ]);
  const described = await written.session.text('describe_symbol', { symbol: 'shape-c' });
  expect(described).toContain(`:AROUND (COMMON-LISP::SYMBOL COMMON-LISP::T)  edited.lisp:7:1 ${ELSEWHERE}`);
  expect(await written.session.text('describe_symbol', { symbol: 'two-c' })).toContain(
    `Defined: edited.lisp:3:1 ${ELSEWHERE}`,
  );
});

test('S3.18 a form that was edited itself, or is gone, never has the text of another', async () => {
  writeForms(
    'edited.lisp',
    'goal',
    '(defun one-c (x) (goal-c x) (goal-c 2) (goal-c 3))',
    '(let ((x 2))\n  (defun closed-c () (goal-c x)))',
  );
  expect(await written.sitesOf('COMMON-LISP-USER::ONE-C', 'goal-c')).toEqual(
    ['18', '29', '40'].map(
      (column) =>
        `edited.lisp:2:${column}  (defun one-c (x) (goal-c x) (goal-c 2) (goal-c 3)) (one of 3 candidates) ${EDITED}`,
    ),
  );
  expect(await written.sitesOf('COMMON-LISP-USER::TWO-C', 'goal-c')).toEqual([`edited.lisp  ${CHANGED}`]);
  expect(await written.session.text('describe_symbol', { symbol: 'two-c' })).toContain(
    `Defined: edited.lisp ${CHANGED}`,
  );
});

test('S3.18 a file that is as it was loaded has not changed, whatever its date', async () => {
  writeForms('edited.lisp', 'goal', 'circle', 'square', 'one', 'two', 'unnamed');
  expect(await written.sitesOf('COMMON-LISP-USER::TWO-C', 'goal-c')).toEqual([
    'edited.lisp:9:18  (defun two-c (x) (goal-c x))',
  ]);
});

test('S3.18 an edit in the second of the load counts', async () => {
  const text = '(defun goal-d (x) x)\n(defun use-d (x) (goal-d x))\n';
  await written.load('second.lisp', text);
  written.write('second.lisp', `(defun other-d (x) x)\n${text}`, true);
  expect(await written.sitesOf('COMMON-LISP-USER::USE-D', 'goal-d')).toEqual([
    `second.lisp:3:18  (defun use-d (x) (goal-d x)) ${ELSEWHERE}`,
  ]);
});

test('S3.18 an edit between two answers counts, also when the file has its size and its date', async () => {
  const [one, other] = ['(defun use-j (x) (goal-j x))', '(defun goal-j (x) x)'];
  await written.load('between.lisp', `${other}\n${one}\n`);
  expect(await written.sitesOf('COMMON-LISP-USER::USE-J', 'goal-j')).toEqual([
    'between.lisp:2:18  (defun use-j (x) (goal-j x))',
  ]);
  for (const [line, text] of [
    [1, `${one}\n${other}\n`],
    [2, `${other}\n${one}\n`],
    [1, `${one}\n${other}\n`],
  ] as const) {
    written.write('between.lisp', text, true);
    const changed = line === 1 ? ` ${ELSEWHERE}` : '';
    expect(await written.sitesOf('COMMON-LISP-USER::USE-J', 'goal-j')).toEqual([
      `between.lisp:${line}:18  (defun use-j (x) (goal-j x))${changed}`,
    ]);
  }
});

test('S3.18 where no text was kept the name alone tells, when one form has it', async () => {
  // The image keeps no text of more than 4 MB.
  const long = `;${'-'.repeat(4_000_000)}\n`;
  written.write(
    'unseen.lisp',
    `(defun goal-e (x) x)\n(defun use-e (x) (goal-e x))\n(defun both-e (x) (goal-e x))\n${long}`,
  );
  await written.session.eval('(load "unseen.lisp")');
  const twice = "(defun both-e (x) (goal-e x))\n(define-compiler-macro both-e (x) (list 'goal-e x))";
  written.write(
    'unseen.lisp',
    `(defun other-e (x) x)\n(defun goal-e (x) x)\n(defun use-e (x)\n  (goal-e x))\n${twice}\n`,
  );
  expect(await written.sitesOf('COMMON-LISP-USER::USE-E', 'goal-e')).toEqual([
    `unseen.lisp:4:3  (goal-e x)) ${CHANGED}`,
  ]);
  expect(await written.sitesOf('COMMON-LISP-USER::BOTH-E', 'goal-e')).toEqual([`unseen.lisp  ${CHANGED}`]);
});

test('S3.18 a definition of which SBCL keeps no date is found in what was loaded', async () => {
  const path = written.path('undated.lisp');
  writeFileSync(path, '(defclass class-h () ())\n(defvar *other-h* 1)\n');
  await written.session.eval('(load "undated.lisp")');
  const described = () => written.session.text('describe_symbol', { symbol: 'class-h' });
  expect(await described()).toMatch(/Defined: undated.lisp:1:1$/m);
  writeFileSync(path, '(defvar *new-h* 2)\n(defvar *other-h* 1)\n(defclass class-h () ())\n');
  expect(await described()).toContain(`Defined: undated.lisp:3:1 ${ELSEWHERE}`);
  writeFileSync(path, '(defvar *new-h* 2)\n(defvar *other-h* 1)\n');
  expect(await described()).toContain(`Defined: undated.lisp ${CHANGED}`);
});

test('S3.18 a system of the workspace is found again too', async () => {
  written.write('sites-system.asd', '(defsystem "sites-system" :components ((:file "part")))');
  written.write('part.lisp', '(defun goal-f (x) x)\n(defun use-f (x) (goal-f x))\n');
  expect(await written.session.text('load_system', { system: 'sites-system' })).toBe(
    'Loaded system sites-system',
  );
  written.write('part.lisp', '(defmacro use-f (x) x)\n\n(defun use-f (x) (goal-f x))\n');
  expect(await written.sitesOf('COMMON-LISP-USER::USE-F', 'goal-f')).toEqual([
    `part.lisp:3:18  (defun use-f (x) (goal-f x)) ${ELSEWHERE}`,
  ]);
  expect(readFileSync(written.path('part.lisp'), 'utf8')).toContain('goal-f');
});

const OUTSIDE = `(defpackage :edited (:use :cl))
(in-package :edited)
(defun target (x) x)
(defvar *gone* (target 1))
(print (target 2))
(defclass kept () ((slot :initform (target 3))))
`;

test('forms outside functions are told as they are now, and calls in those that did not change are checked', async () => {
  await written.load('outside.lisp', OUTSIDE);
  const callers = () => written.session.text('who_calls', { name: 'edited::target', sites: true });
  expect(await callers()).toContain('outside.lisp:5:8  (print (target 2))');
  // A form is above now, one is gone, and one has changed.
  const above = OUTSIDE.replace('(defun', '(defun above () (target 0))\n(defun');
  written.write('outside.lisp', above.replace(/\(defvar.*\n/, '').replace('2', '7'));
  expect((await callers()).split('Other places')[1]).toBe(` that call EDITED::TARGET:

  top-level form of outside.lisp
  top-level form at outside.lisp:5
    outside.lisp:5:8  (print (target 7)) ${EDITED}
  EDITED::KEPT (slot initform)
    outside.lisp:6:36  (defclass kept () ((slot :initform (target 3)))) ${ELSEWHERE}`);
  expect(
    await written.session.text('impact_of_change', { name: 'edited::target', lambda_list: '(x y)' }),
  ).toContain(`Calls that no longer fit (1 of 1 call):
  EDITED::KEPT (slot initform)  outside.lisp:6:36  (defclass kept () ((slot :initform (target 3))))  [1 argument, at least 2 needed]`);
});

const BELOW = `(defpackage :below (:use :cl) (:export #:price))
(in-package :below)
(defun price (x) (* 2 x))
(defclass kept () ((slot :initform (price 3))))
`;

const LOADS_BELOW = '(load (merge-pathnames "below.lisp" *load-truename*))';

const keptBelow = async () =>
  (await written.session.text('describe_symbol', { symbol: 'below::kept' })).match(/Defined: (.*)/)?.[1];

test.each([
  ['run_tests of a system above', 'run_tests', { system: 'above' }],
  ['load_file of a file that loads it', 'load_file', { path: 'all.lisp' }],
] as const)('a file that %s has loaded is as it was loaded', async (_, tool, args) => {
  written.write('below.asd', '(defsystem "below" :components ((:file "below")))');
  written.write(
    'above.asd',
    '(defsystem "above" :depends-on ("below") :perform (test-op (o c) (assert (= 4 (symbol-call :below :price 2)))))',
  );
  written.write('all.lisp', LOADS_BELOW);
  written.write('below.lisp', BELOW);
  await written.session.text('load_system', { system: 'above' });
  written.write('below.lisp', BELOW.replace('(defun', '\n(defun').replace('2 x', 'x 2'));
  expect(await keptBelow()).toBe(`below.lisp:5:1 ${ELSEWHERE}`);
  await written.session.text(tool, args);
  expect(await keptBelow()).toBe('below.lisp:5:1');
});

test('a file that is edited while it is loaded is not taken for loaded', async () => {
  written.write('all.lisp', LOADS_BELOW);
  written.write('below.lisp', `${BELOW}(load "edit.lisp")\n`);
  written.write(
    'edit.lisp',
    `(with-open-file (out "below.lisp" :direction :output :if-exists :supersede)
  (write-string "\n${BELOW}" out))`,
  );
  await written.session.text('load_file', { path: 'all.lisp' });
  expect(await keptBelow()).toBe(`below.lisp:5:1 ${ELSEWHERE}`);
});
