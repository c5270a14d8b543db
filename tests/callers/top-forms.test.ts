// Where who_calls tells calls that a macro makes, or that stand in a template.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

const SOURCE = `(defpackage :tops (:use :cl))
(in-package :tops)
(defun thing (x) x)
(defun (setf thing) (value x) (list value x))
(defmacro define-thing (name &body body)
  \`(progn (setf (thing ',name) 1) (defun ,name () ,@body)))
(define-thing user (thing 2))
(setf (thing 3) (thing 4))
(defun template (x)
  \`(list
    ',(thing x)))
`;

const folder = temporaryFolder();
let session: Session;
beforeAll(async () => {
  writeFileSync(join(folder.path, 'tops.lisp'), SOURCE);
  session = await startSession({ args: ['--root', folder.path] });
  await session.text('load_file', { path: 'tops.lisp' });
});
afterAll(async () => {
  await session.close();
  folder.remove();
});

test('a call of the function is no place of its setf function', async () => {
  expect(await session.text('who_calls', { name: '(setf tops::thing)', sites: true })).toContain(
    `Other places that call TOPS::(SETF THING):

  TOPS::USER (define-thing)
    tops.lisp:7:1  (define-thing user (thing 2)) (in an expansion)
  top-level form at tops.lisp:8
    tops.lisp:8:7  (setf (thing 3) (thing 4))`,
  );
});

test('a call behind a comma in a quoted part of a template has its own place', async () => {
  const text = await session.text('who_calls', { name: 'tops::thing', sites: true });
  expect(text).toContain("  TOPS::TEMPLATE\n    tops.lisp:11:7  ',(thing x)))");
});
