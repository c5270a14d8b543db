// What load_file with check tells of a file, and that nothing of it is in the image afterwards.

import { expect, test } from 'vitest';
import { tree } from '../files/workspaces.ts';
import type { Answer } from '../harness.ts';
import { bad, good } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });

const NOTHING = 'It was not loaded; the effects of its compile-time code stay.';

function check(name: string, text: string, more: object = {}): Promise<Answer> {
  root.put(name, text);
  return session.call('load_file', { path: name, check: true, ...more });
}

const LIBRARY = `(defpackage :checked (:use :cl) (:export #:run))
(in-package :checked)
(defmacro twice (form) \`(progn ,form ,form))
(defstruct thing part)
(defconstant +limit+ 7)
(deftype small () '(integer 0 7))
(defclass shape () ((size :initarg :size)))
(defun helper (x) (twice (print x)))
(defun run () (helper (make-thing :part +limit+)))
`;

test('what is right is told in one line, and leaves no trace', async () => {
  expect(await check('library.lisp', LIBRARY)).toEqual(
    good(`library.lisp compiles without warnings. ${NOTHING}`),
  );
  expect(await session.eval('(find-package :checked)')).toBe('NIL');
  expect(tree(root.path)).toEqual(['library.lisp']);
});

test('errors and warnings have their lines, notes are left out', async () => {
  const text = `(defun note (x y) (declare (optimize speed)) (+ x y))

(defun one (x)
  (two x))

(defun bad ()
  (let ((y 1)) (car 1 2)))
`;
  const { text: answer, isError } = await check('warned.lisp', text);
  expect(isError).toBe(false);
  expect(answer).toBe(
    `warned.lisp compiles with warnings. ${NOTHING}

Warnings (3):
  warned.lisp
    WARNING (line 7:16, DEFUN BAD): The function CAR is called with two arguments, but wants exactly one.
      in (CAR 1 2)
    STYLE-WARNING (line 4:3, DEFUN ONE): undefined function: COMMON-LISP-USER::TWO
      in (COMMON-LISP-USER::TWO COMMON-LISP-USER::X)
    STYLE-WARNING (line 7:9, DEFUN BAD): The variable Y is defined but never used.
      in (COMMON-LISP-USER::Y 1)`,
  );
});

test('what is loaded stays as it is', async () => {
  root.put('loaded.lisp', '(defmacro mine () 1)\n(defun ask () (mine))\n(defvar *mine* 1)\n');
  await session.text('load_file', { path: 'loaded.lisp' });
  const { text } = await check(
    'loaded.lisp',
    '(defmacro mine (x) x)\n(defun ask (x) (mine x))\n(defvar *mine* 2)\n',
  );
  expect(text).toBe(`loaded.lisp compiles without warnings. ${NOTHING}`);
  expect(await session.eval('(list (mine) (ask) *mine*)')).toBe('(1 1 1)');
});

test('code that runs when it is compiled has its effects', async () => {
  await check(
    'effects.lisp',
    '(eval-when (:compile-toplevel) (defparameter *checked* 5))\n(defvar *not-run* 1)',
  );
  expect(await session.eval("(list *checked* (boundp '*not-run*))")).toBe('(5 NIL)');
});

test('what cannot be read is told with its place', async () => {
  const { text, isError } = await check('open.lisp', '(defun a ()\n  (list 1)\n\n(defun b () 2)\n');
  expect(isError).toBe(true);
  expect(text).toContain(`open.lisp could not be compiled. ${NOTHING}`);
  expect(text).toContain('open.lisp: the form that begins at line 1 does not end.');
});

test('check and forget exclude each other', async () => {
  expect(await check('both.lisp', '1', { forget: true })).toEqual(
    bad('Give check or forget, not both: check loads nothing.'),
  );
});
