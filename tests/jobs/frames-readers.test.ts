// Frames where the reader makes what the text does not show: their lines are right.

import { beforeAll, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const written = new Written();
beforeAll(async () => {
  await written.load('framed.lisp', FRAMED);
});

/** A reader macro that makes a cons, settings that are read as three, and functions that fail behind them. */
const FRAMED = `(defpackage :framed (:use :cl))
(in-package :framed)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *settings* '(optimize (debug 2) (safety 3)))
  (setf *readtable* (copy-readtable))
  (set-macro-character #\\$ (lambda (stream char) (declare (ignore char)) (list 'identity (read stream t nil t))) t))
(defun other (x) x)
(defun fails (x) (list (/ 1 x)))
(declaim (notinline other fails))
(defun by-made (x)
  (declare #.*settings*)
  (let ((y (other x)))
    (list (other y)
          (fails y) (other x))))
(defun by-macro (x)
  (declare (optimize (debug 2)))
  (list $ (other x) $ (other x)
        (other 1)
        (fails x)
        (list (other x) (other 2))))
(defun plain (x)
  (declare (optimize (debug 2)))
  (if x
      (list (fails x))
      2))
`;

test.each([
  ['by-made', '14:11'],
  ['by-macro', '19:9'],
  ['plain', '24:13'],
])('of %s', async (name, place) => {
  const frame = `  2: (FRAMED::${name.toUpperCase()} 0)  framed.lisp:${place}`;
  const { text } = await written.session.call('eval_form', { form: `(framed::${name} 0)` });
  expect(text.split('\n')).toContain(frame);
  const kept = await written.session.text('get_last_error', {});
  expect(kept.split('\n')).toContain(frame);
});
