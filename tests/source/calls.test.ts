// Which lists of a source call a function, and which only bind a variable of its name.

import { expect, test } from 'vitest';
import { mentionsIn } from '../../src/source/calls.ts';
import { SourceText } from '../../src/source/text.ts';

/** Returns the texts of the lists in SOURCE that call or mention the function START. */
function mentioned(source: string): string[] {
  const found = mentionsIn(new SourceText(source), new Set(), 'START', new Set(['P']), false);
  return found.map(({ start }) => /^[^()]*\([^()]*\)/.exec(source.slice(start))?.[0] ?? '');
}

test.each([
  '(let ((start 0) (end start)) (list start end))',
  '(let* ((end 1) (start end)) start)',
  '(do ((start 0 (1+ start))) ((> start 3)))',
  '(dolist (start list) start)',
  '(symbol-macrolet ((start 1)) start)',
  '(defun f (a &key (start 0) end) (list a start end))',
  '(defun f (&aux (start 0)) start)',
  '(lambda (&optional (start 0 given)) (list start given))',
  '(defmethod f :after ((start integer) &key) start)',
  '(defgeneric f (start a) (:method ((start string) a) a))',
  '(defmacro f ((start end) &body body) (list start end body))',
  '(deftype f (&optional (start 0)) start)',
  '(multiple-value-bind (start end) (f) (list start end))',
  '(destructuring-bind (start (end)) x (list start end))',
  '(flet ((f (&key (start 0)) start)) (f))',
  '(defclass c () ((start :initarg :start) end))',
  '(define-condition c (error) ((start :initarg :start)))',
  '(defstruct s (start 0) end)',
  '(with-slots ((start end)) x start)',
  '(with-accessors ((start end)) x start)',
  '(defsetf f (start) (value) (list value start))',
  '(define-modify-macro f (start end) list)',
])('S3.17 a binding of a variable is no call: %s', (source) => {
  expect(mentioned(source)).toEqual([]);
});

test.each([
  ['(let ((x (start 0))) x)', '(start 0)'],
  ['(do ((x 0 (start x))) ((start 1)) x)', '(start x)', '(start 1)'],
  ['(dolist (x (start 1)) x)', '(start 1)'],
  ['(defun f (&key (x (start 0))) x)', '(start 0)'],
  ['(defmethod f ((x (eql 1)) &optional (y (start 2))) y)', '(start 2)'],
  ['(flet ((f (&key (x (start 0))) (start x))) (f))', '(start 0)', '(start x)'],
  ['(multiple-value-bind (a b) (start 1) (list a b))', '(start 1)'],
  ['(destructuring-bind (a) (start 1) (start a))', '(start 1)', '(start a)'],
  ['(with-it (start 1) 2)', '(start 1)'],
  ['`(let ((start 0)) ,x)', '(start 0)'],
  ['(defclass c () ((end :initform (start 1))))', '(start 1)'],
  ['(defstruct s (end (start 1)))', '(start 1)'],
  ['(with-slots (end) (start 1) end)', '(start 1)'],
  ["'(1 #.(start 2) (start 3))", '(start 2)', '(start 3)'],
])('S3.17 what a binding evaluates is one: %s', (source, ...calls) => {
  expect(mentioned(source)).toEqual(calls);
});
