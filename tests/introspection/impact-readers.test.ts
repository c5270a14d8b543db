// impact_of_change where the reader makes what the text does not show: each call stands where it is told.

import { expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const written = new Written();

/** A reader macro that makes a cons, and settings that are read as two. */
const SYNTAX = `(defpackage :made (:use :cl))
(in-package :made)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *settings* '(optimize (speed 1) (safety 3)))
  (setf *readtable* (copy-readtable))
  (set-macro-character #\\$ (lambda (stream char) (declare (ignore char)) (list 'identity (read stream t nil t))) t))
(defun price (item &key count) (list item count))
(defun other (x) x)
(defmacro without (form) form nil)
(defun (setf label) (text thing &key more) (list text thing more))
(declaim (notinline price other (setf label)))
`;

/** Loads SYNTAX with TEXT behind it. Returns the sections about the calls of NAME with LIST, without the lines of text. */
async function sections(text: string, name: string, list: string): Promise<string[]> {
  await written.load('made.lisp', SYNTAX + text);
  const args = { name: `${name.replace(/^(\(setf )?/, '$1made::')}`, lambda_list: list };
  const answer = await written.session.text('impact_of_change', args);
  return answer
    .split('\n\n')
    .slice(1, -2)
    .map((section) => section.replace(/^( {2}\S.*?:\d+:\d+) {2}.*? {2}\[/gm, '$1  ['));
}

const FIRST = SYNTAX.split('\n').length;

test('behind a declaration that #. has made', async () => {
  const text = `(defun user (x)
  (declare #.*settings*)
  (let ((y (other x)))
    (if (price y :count 1)
        (other (price x))
        (list (other y) (price y :count 2)))))
`;
  expect(await sections(text, 'price', '(item)')).toEqual([
    [
      'Calls that no longer fit (2 of 3 calls):',
      `  MADE::USER  made.lisp:${FIRST + 3}:9  [3 arguments, at most 1 taken]`,
      `  MADE::USER  made.lisp:${FIRST + 5}:25  [3 arguments, at most 1 taken]`,
    ].join('\n'),
  ]);
});

test('where SBCL tells fewer calls than the text has', async () => {
  const text = `(defun user (x)
  (list $ (car x) (price x)
    (without (price x :count 1))))
`;
  expect(await sections(text, 'price', '(item count)')).toEqual([
    [
      'Calls that no longer fit (1 of 1 call):',
      `  MADE::USER  made.lisp:${FIRST + 1}:19  [1 argument, at least 2 needed]`,
    ].join('\n'),
    [
      "Possible calls that would not fit, not in SBCL's cross references (1):",
      `  MADE::USER  made.lisp:${FIRST + 2}:14  [3 arguments, at most 2 taken]`,
    ].join('\n'),
  ]);
});

test('of each of the places that one SETF sets', async () => {
  const text = `(defun user (x)
  (declare #.*settings*)
  (setf (label x :more 1) "one"
        (label x) "two"))
`;
  expect(await sections(text, '(setf label)', '(text thing)')).toEqual([
    [
      'Calls that no longer fit (1 of 2 calls):',
      `  MADE::USER  made.lisp:${FIRST + 2}:3  [4 arguments, at most 2 taken]`,
    ].join('\n'),
  ]);
});
