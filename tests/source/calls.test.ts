// Which lists of a source call a function, and which only bind a variable of its name.

import { expect, test } from 'vitest';
import { callMentionsIn } from '../../src/source/calls.ts';
import { SourceText } from '../../src/source/text.ts';

/** Returns the texts of the lists in SOURCE that call or mention the function START. */
function mentioned(source: string, more: { setf?: boolean; macro?: boolean } = {}): string[] {
  const callee = { name: 'START', packages: new Set(['P']), ...more };
  const found = callMentionsIn(new SourceText(source), new Set(), callee);
  return found.map(({ start }) => /^[^()]*\([^()]*\)/.exec(source.slice(start))?.[0] ?? '');
}

test.each([
  '(let ((start 0) (end start)) (list start end))',
  '(dolist (start list) start)',
  '(lambda (&optional (start 0 given)) (list start given))',
  '(defmethod f :after ((start integer) &key) start)',
  '(defmacro f ((start end) &body body) (list start end body))',
  '(defclass c () ((start :initarg :start) end))',
  '(with-slots ((start end)) x start)',
  '(defsetf f (start) (value) (list value start))',
  '(define-method-combination c (start) ((start (:around))) (list start))',
  '(macrolet ((f (start) start) (g ((start)) start)) (f 1))',
  '(defstruct (start (:constructor make (start))) a)',
])('S3.17 a binding of a variable is no call: %s', (source) => {
  expect(mentioned(source)).toEqual([]);
});

test.each([
  '(cond (start 1) ((null x) 2))',
  '(case x (start 1) ((start end) 2) (t 3))',
  '(do ((x 0 1)) (start x))',
  '(restart-case (f) (start () 1) (retry (start) start))',
  '(with-open-file (start "a") start)',
  '(loop for (start end) in list collect start)',
  '(defun f (x) (declare (start x)) (the (start) x))',
])('S3.17 a clause, a declaration or a type is no call: %s', (source) => {
  expect(mentioned(source)).toEqual([]);
});

test.each([
  ['(let ((x (start 0))) x)', '(start 0)'],
  ['(do ((x 0 (start x))) ((start 1)) x)', '(start x)', '(start 1)'],
  ['(defmethod f ((x (eql 1)) &optional (y (start 2))) y)', '(start 2)'],
  ['(flet ((f (&key (x (start 0))) (start x))) (f))', '(start 0)', '(start x)'],
  ['`(let ((start 0)) ,x)', '(start 0)'],
  ["'(1 #.(start 2) (start 3))", '(start 2)', '(start 3)'],
  ['(cond ((start 1) (start 2)))', '(start 1)', '(start 2)'],
  ['(do () ((start 1) (start 2)) (start 3))', '(start 1)', '(start 2)', '(start 3)'],
  [
    '(restart-case (start 1) (retry (&optional (a (start 2))) (start a)))',
    '(start 1)',
    '(start 2)',
    '(start a)',
  ],
  ['(loop for (a b) = (start 1) do (start a) and collect (start b))', '(start 1)', '(start a)', '(start b)'],
  ['(defmethod f ((x (eql (start 1)))) x)', '(start 1)'],
  [
    '(defstruct (s (:include r (a (start 1))) (:constructor m (&optional (b (start 2))))) (b 0))',
    '(start 1)',
    '(start 2)',
  ],
])('S3.17 what a binding evaluates is one: %s', (source, ...calls) => {
  expect(mentioned(source)).toEqual(calls);
});

test.each([
  ['(flet ((start (x) (start x))) (start 2))', '(start x)'],
  ['(macrolet ((start (x) (start x))) (start 2))', '(start x)'],
  ['(labels ((start (x) (start x))) (start 2))'],
  ['(flet (((setf start) (v x) v)) (setf (start x) (start 1)))', '(start 1)'],
])('S3.17 a local function hides the global one where it is seen: %s', (source, ...calls) => {
  expect(mentioned(source)).toEqual(calls);
});

test.each(['(case x (#.(start 1) 2))', "'(1 (#.(start 1)))", '(let ((#.(start 1) 2)) 3)'])(
  'S3.8 what the reader evaluates is a call wherever it stands: %s',
  (source) => {
    expect(mentioned(source)).toEqual(['(start 1)']);
  },
);

test.each([
  '(push 1 (start 1))',
  '(rotatef a (start 1))',
  '(shiftf (start 1) (end 2))',
  '(setf a 1 (getf (start 1) :a) 2)',
  '(setf (values a (start 1)) (end))',
  '(incf (the fixnum (start 1)))',
  '(setf (ldb (byte 8 0) (mask-field (byte 1 1) (start 1))) 1)',
])('S3.8 what sets a place calls its function: %s', (source) => {
  expect(mentioned(source, { setf: true })).toHaveLength(1);
});

test.each([
  '(push (start 1) a)',
  '(shiftf a (start 1))',
  '(setf (getf a (start 1)) 1)',
  '(setf (other (start 1)) 1)',
])('S3.8 what is only read is not set: %s', (source) => {
  expect(mentioned(source, { setf: true })).toEqual([]);
});

test('S3.17 a function that sets is passed on by its name too', () => {
  expect(mentioned("(list #'(setf start))", { setf: true })).toHaveLength(1);
  expect(mentioned("(funcall #'(setf start) 1 2)", { setf: true })).toHaveLength(1);
  expect(mentioned("(list #'start)", { setf: true })).toEqual([]);
});

test('S3.8 a place that SETF sets is of another function, and what stands in it is not', () => {
  expect(mentioned('(setf (start (start 1)) (start 2))')).toEqual(['(start 1)', '(start 2)']);
  expect(mentioned('(psetf a 1 (start 1) 2)')).toEqual([]);
  expect(mentioned('(incf (start 1))')).toEqual(['(start 1)']);
  expect(mentioned('(setf (start 1) 2)', { macro: true })).toEqual(['(start 1)']);
  expect(mentioned('(list (setf (start 1) 2))', { setf: true })).toHaveLength(1);
  expect(mentioned('(labels (((setf start) (v x) v)) (setf (start 1) 2))', { setf: true })).toEqual([]);
});

test('S3.8 a call behind a comma is checked, also where the template quotes it', () => {
  const callee = { name: 'START', packages: new Set(['P']) };
  const found = (text: string) =>
    callMentionsIn(new SourceText(text), new Set(), callee).map(({ args }) => args?.length);
  expect(found("(list `(g ',(start 1 2)))")).toEqual([2]);
  expect(found("(list `(g '(start 1)) '(start 2))")).toEqual([undefined, undefined]);
});
