// The lambda list of a definition as it stands in the source, and when the text alone does not tell it.

import { expect, test } from 'vitest';
import { definedLambdaList } from '../../src/source/definition-details.ts';

test.each([
  ['(defun f (a b) a)', 'F', '(a b)'],
  ['(DEFMACRO p::f (a &body b) a)', 'F', '(a &body b)'],
  ['(cl:deftype |f g| () t)', 'f g', '()'],
  ['(defun (setf f) (new x) x)', '(SETF F)', '(new x)'],
  ['(defun f\n  (a ; one\n   &key (b \'(1 ") (") #\\)) #|c|#) a)', 'F', '(a &key (b \'(1 ") (") #\\)))'],
  ['(defun f ( a ) a)', 'F', '(a)'],
  ['(defun f (a &optional (v #(1 2))) a)', 'F', '(a &optional (v #(1 2)))'],
])('of %j', (source, name, lambdaList) => {
  expect(definedLambdaList(`; before\n${source}`, 9)).toEqual({ name, lambdaList });
});

test.each([
  '(defgeneric f (a))',
  '(defun f',
  '(defun f a)',
  '(defun f (a #+sbcl b) a)',
  '(defun f (a #.(list)) a)',
  '',
])('of %j is not told', (source) => {
  expect(definedLambdaList(source, 0)).toBeUndefined();
});
