// Look-ups of several names in one call, and which functions of a package nobody uses.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ownFolder, sharedSession } from '../shared.ts';

const session = sharedSession();
beforeAll(async () => {
  await session.eval(`(defpackage :many (:use :cl) (:export "ENTRY" "SPARE"))
    (in-package :many)
    (defun helper (x) x)
    (defun (setf helper) (new x) (list new x))
    (defun entry (x) "Enters.
More." (helper x))
    (defun spare (x) x)
    (defun loops (n) (unless (zerop n) (loops (1- n))))
    (defun callback (x) x)
    (defvar *callbacks* '(callback))
    (defun runs () (mapcar #'passed '(1)))
    (defun passed (x) x)
    (defmacro wrapped (x) x)
    (defmacro lonely (x) x)
    (defun expands () (wrapped 1))
    (defstruct thing a b)
    (defgeneric area (shape))
    (defmethod area ((shape thing)) (thing-a shape))
    (defun |Odd Name| () 1)
    (defun odd-caller () (|Odd Name|))
    (defun ping (x) (pong x))
    (defun pong (x) (if (plusp x) (ping (1- x)) x))
    (in-package :cl-user)`);
});

test('several names are answered in one text, each as by itself', async () => {
  const one = await session.text('who_calls', { name: 'helper', package: 'many' });
  const other = await session.text('who_calls', { name: 'many::|Odd Name|' });
  expect(await session.text('who_calls', { names: ['many::helper', 'many::|Odd Name|'] })).toBe(
    `${one}\n\n${other}`,
  );
  expect(await session.text('who_calls', { name: 'many::helper', names: ['(setf many::helper)'] })).toBe(
    `${one}\n\nNo callers found for MANY::(SETF HELPER)`,
  );
  const [first, second] = [
    await session.text('describe_symbol', { symbol: 'many:entry' }),
    await session.text('describe_symbol', { symbol: 'many::thing' }),
  ];
  expect(await session.text('describe_symbol', { names: [] })).toBe(
    'names is empty; give at least one name.',
  );
  expect(await session.text('describe_symbol', {})).toBe("Required parameter 'symbol' missing");
  expect(await session.text('describe_symbol', { names: ['many:entry', 'many::thing'] })).toBe(
    `${first}\n\n${second}`,
  );
});

test('of several the possible callers are told with the name', async () => {
  const text = 'Possible callers:\n\n  MANY::*CALLBACKS* (initial value)';
  expect(await session.text('who_calls', { name: 'many::callback' })).toBe(text);
  expect(await session.text('who_calls', { name: '', names: ['many::callback'] })).toBe(text);
  expect(await session.text('who_calls', { names: ['many::callback', 'many::spare'] })).toBe(
    `${text.replace(':', ' of MANY::CALLBACK:')}\n\nNo callers found for MANY::SPARE`,
  );
});

test('of a name that a package has, and no symbol, that is told', async () => {
  expect(await session.text('describe_symbol', { symbol: 'many' })).toBe(
    'Symbol MANY not found in package CL-USER (status: NIL)\nNote: MANY is a package: list_package_symbols lists its symbols, and impact_of_change the forms that name it.',
  );
});

test('read_definition takes them too', async () => {
  const names = ['many::helper', 'many:spare'];
  expect(await session.text('read_definition', { names })).toBe(
    await session.text('read_definition', { name: names.join(' ') }),
  );
  expect(await session.text('read_definition', { name: 'many::helper', names: ['many::helper'] })).toBe(
    await session.text('read_definition', { name: 'many::helper' }),
  );
});

test('of several names one that is not there is told among the others', async () => {
  const { text, isError } = await session.call('who_calls', { names: ['many:spare', 'many::nothing'] });
  expect(text).toBe(
    'No callers found for MANY::SPARE\n\nSymbol NOTHING not found in package many (status: NIL)',
  );
  expect(isError).toBe(false);
});

test('which functions of a package nobody uses', async () => {
  expect(await session.text('who_calls', { package: 'many', unused: true })).toBe(
    `Functions of MANY that nothing uses (10 of 16):

Exported functions (2):
  ENTRY  Enters.
  SPARE

Internal functions (7):
  AREA
  CALLBACK
  EXPANDS
  (SETF HELPER)
  LOOPS  (calls itself)
  ODD-CALLER
  RUNS

Internal macros (1):
  LONELY

Used only by unused functions or by each other (4): Odd Name, PASSED, PING, PONG

Note: names in the data of top-level forms do not count as uses; search_in_buffer finds them.`,
  );
  expect(await session.text('who_calls', { name: 'many', unused: true, limit: 1 })).toMatch(
    /Exported functions \(2\):\n {2}ENTRY {2}Enters\.\n {2}\.\.\.\n\nNote: names .*\nNote: \d+ functions; limit and offset reach the rest\.$/,
  );
  expect(await session.text('who_calls', { name: 'many', unused: true, limit: 1, offset: 9 })).toContain(
    '\n\nInternal macros (1):\n  LONELY\n\n',
  );
  expect(await session.text('who_calls', { unused: true })).toBe(
    "unused: true needs parameter 'package': the package to search.",
  );
  expect(await session.text('who_calls', { package: 'nowhere', unused: true })).toBe(
    'Package nowhere not found',
  );
});

test('a macro is used by top-level forms of files that are loaded', async () => {
  const folder = ownFolder();
  const path = join(folder.path, 'macros.lisp');
  writeFileSync(
    path,
    "(defpackage :macros (:use :cl))\n(in-package :macros)\n(defmacro at-top (x) x)\n(defmacro lonely (x) `(lonely ,x))\n(at-top 1)\n'(lonely 1)\n",
  );
  await session.eval(`(load "${path}")`);
  expect(await session.text('who_calls', { package: 'macros', unused: true })).toContain(
    'nothing uses (1 of 2):\n\nInternal macros (1):\n  LONELY\n\n',
  );
});

test('what names an unused function in its data is told, unless it declares it as a variable', async () => {
  const folder = ownFolder();
  const path = join(folder.path, 'templates.lisp');
  writeFileSync(
    path,
    `(defpackage :templates (:use :cl))
(in-package :templates)
(defun timed (x) x)
(defun day (x) x)
(defun kept () 1)
(defmacro with-time (&body body) \`(progn ,@body (timed 1) (list ,@body)))
(defmacro with-day (time &body body)
  \`(multiple-value-bind (second day) ,time (declare (ignorable second day)) ,@body))
(defun names () '(kept))
`,
  );
  await session.eval(`(load (compile-file "${path}"))`);
  expect(await session.text('who_calls', { package: 'templates', unused: true })).toContain(
    `nothing uses (6 of 6):

Internal functions (4):
  DAY
  KEPT  (named in data of NAMES)
  NAMES
  TIMED  (named in the expansion of WITH-TIME)

Internal macros (2):`,
  );
});

test('callers outside of a system are left out when it is named', async () => {
  const folder = ownFolder();
  const files = {
    'within.asd': `(defsystem "within" :class :package-inferred-system :depends-on ("within/main"))
(defsystem "within-tests" :depends-on ("within") :components ((:file "checks")))`,
    'base.lisp':
      '(defpackage :within/base (:use :cl) (:export :shared :tried)) (in-package :within/base) (defun shared (x) x) (defun tried () 1)',
    'main.lisp':
      '(defpackage :within/main (:use :cl :within/base)) (in-package :within/main) (defun main () (shared 1)) (defvar *all* (shared 2))',
    'checks.lisp': '(in-package :within/main) (defun checks () (list (shared 3) (tried)))',
  };
  for (const [name, text] of Object.entries(files)) folder.put(name, text);
  await session.eval(`(require :asdf) (asdf:load-asd "${folder.path}/within.asd")`);
  await session.call('load_system', { system: 'within-tests' });
  await session.eval('(defun cl-user::by-hand () (within/base:shared 4))');
  const callers = (more: object) => session.text('who_calls', { name: 'within/base:shared', ...more });
  const mine =
    'WITHIN/MAIN::MAIN\n\nOther places that call WITHIN/BASE::SHARED:\n\n  WITHIN/MAIN::*ALL* (initial value)';
  expect(await callers({})).toBe(
    `Functions that call WITHIN/BASE::SHARED:\n\n  COMMON-LISP-USER::BY-HAND\n  WITHIN/MAIN::CHECKS\n  ${mine}`,
  );
  expect(await callers({ within: 'within' })).toBe(
    `Functions that call WITHIN/BASE::SHARED:\n\n  ${mine}\nNote: callers outside of that system are left out: 2.`,
  );
  expect(await callers({ within: 'within', names: ['within/base:tried'] })).toContain(
    'No callers found for WITHIN/BASE::TRIED\nNote: callers outside of that system are left out: 1.',
  );
  expect(await callers({ within: 'nowhere' })).toBe(
    'This image has no system nowhere; load_system loads systems.',
  );
  expect(await callers({ within: '' })).toBe(await callers({}));
  const unused = (more: object) =>
    session.text('who_calls', { package: 'within/base', unused: true, ...more });
  expect(await unused({})).toBe('Functions of WITHIN/BASE that nothing uses (0 of 2).');
  expect(await unused({ within: 'within' })).toMatch(
    /^Functions of WITHIN\/BASE that nothing in within uses \(1 of 2\):\n\nExported functions \(1\):\n {2}TRIED\n/,
  );
});

test('a value that is deep is not printed as runs of blanks, and one that is wide as always', async () => {
  const deep =
    '(let ((list nil)) (dotimes (i 40) (setf list (list :key-of-some-length (list i list)))) list)';
  const text = await session.eval(deep);
  expect(text).toMatch(/^\(:KEY-OF-SOME-LENGTH \(39 \(:KEY-OF-SOME-LENGTH \(38 /);
  expect(text).not.toMatch(/ {20}/);
  const printed = await session.eval(`(progn (print ${deep}) nil)`);
  expect(printed).toContain('\n        (:KEY-OF-SOME-LENGTH');
  expect(printed).toMatch(/\n\[\.\.\. indentation of more than 8 blanks is cut to 8 \.\.\.\]$/);
  expect(printed).not.toMatch(/ {9}/);
  // A table of numbers has many blanks too, but not most of it.
  const table = await session.eval(`(dotimes (i 40) (format t "~10D~10D~%" (* i 10000) (* i 100000)))`);
  expect(table).not.toContain('indentation');
  expect(await session.eval('(loop for i below 60 collect (list :number i))')).toMatch(
    /^\(\(:NUMBER 0\) .*\n \(/,
  );
});
