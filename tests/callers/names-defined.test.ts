// S3.17: a form that only defines a name, such as a slot or a function in LET, does not use it. A form after #. does.

import { expect, test } from 'vitest';
import { Written } from './written.ts';

const written = new Written();

async function callers(name: string): Promise<string> {
  return written.session.text('who_calls', { name, sites: true });
}

async function references(name: string): Promise<string> {
  return written.session.text('who_references', { name, sites: true });
}

test('functions that LET defines together are no callers of each other', async () => {
  await written.load(
    'closures.lisp',
    `(defpackage :closures (:use :cl))
(in-package :closures)
(let ((count 0))
  (defun next () (incf count))
  (defun reset () (setf count 0))
  (defun (setf next) (new) (setf count new))
  (defun told () (list 'reset count))
  (defun calls () (next)))
`,
  );
  expect(await callers('closures::told')).toBe('No callers found for CLOSURES::TOLD');
  expect(await callers('(setf closures::next)')).toBe('No callers found for CLOSURES::(SETF NEXT)');
  expect(await callers('closures::next')).toBe(
    `Functions that call CLOSURES::NEXT:\n\n  CLOSURES::CALLS\n    closures.lisp:8:19  (defun calls () (next)))`,
  );
  expect(await callers('closures::reset')).toBe('Possible callers:\n\n  CLOSURES::TOLD');
  expect(await written.session.text('who_calls', { name: 'closures', unused: true })).toContain(
    'Internal functions (4):\n  CALLS\n  (SETF NEXT)\n  RESET  (named in data of TOLD)\n  TOLD\n',
  );
});

test('a slot is no use of the function with its name', async () => {
  await written.load(
    'slots.lisp',
    `(defpackage :slots (:use :cl))
(in-package :slots)
(defclass user () ((name :accessor name) (mail :initform (name nil)) age))
(define-condition lost (error) ((code :reader code)))
(defun age (user) (slot-value user 'age))
`,
  );
  expect(await callers('slots::age')).toBe('No callers found for SLOTS::AGE');
  expect(await callers('slots::code')).toBe('No callers found for SLOTS::CODE');
  expect(await callers('slots::name')).toBe(
    `Other places that call SLOTS::NAME:\n\n  SLOTS::USER (slot initform)\n    slots.lisp:3:58  (defclass user () ((name :accessor name) (mail :initform (name nil)) age))`,
  );
});

test('a form that the reader evaluates uses names, also in a function', async () => {
  await written.load(
    'reader.lisp',
    `(defpackage :reader (:use :cl))
(in-package :reader)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defconstant +size+ 3)
  (defun below (n) (loop for i below n collect i))
  (defvar *limit* 4))
(defun sized () (make-array #.+size+))
(defun member-p (x) (member x '#.(below *limit*)))
`,
  );
  expect(await references('reader::+size+')).toContain(
    `Other places that use READER::+SIZE+:\n\n  READER::SIZED (read-time value)\n    reader.lisp:7:31  (defun sized () (make-array #.+size+))`,
  );
  const place = `  READER::MEMBER-P (read-time value)\n    reader.lisp:8`;
  const text = "(defun member-p (x) (member x '#.(below *limit*)))";
  expect(await references('reader::*limit*')).toContain(
    `Other places that use READER::*LIMIT*:\n\n${place}:41  ${text}`,
  );
  expect(await callers('reader::below')).toBe(`Possible callers:\n\n${place}:34  ${text}`);
});

test('functions of a structure that is a list are not listed as unused', async () => {
  await written.load(
    'lists.lisp',
    `(defpackage :lists (:use :cl))
(in-package :lists)
(defstruct (pair (:type list) :named) left right)
(defun unused () 1)
`,
  );
  expect(await written.session.text('who_calls', { name: 'lists', unused: true })).toContain(
    'Functions of LISTS that nothing uses (1 of 1):\n\nInternal functions (1):\n  UNUSED\n',
  );
});

test('a call that a macro makes, or in a template, has its own place, and one of the function is no place of its setf function', async () => {
  await written.load(
    'tops.lisp',
    `(defpackage :tops (:use :cl))
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
`,
  );
  expect(await callers('(setf tops::thing)')).toContain(
    `Other places that call TOPS::(SETF THING):

  TOPS::USER (define-thing)
    tops.lisp:7:1  (define-thing user (thing 2)) (in an expansion)
  top-level form at tops.lisp:8
    tops.lisp:8:7  (setf (thing 3) (thing 4))`,
  );
  expect(await callers('tops::thing')).toContain("  TOPS::TEMPLATE\n    tops.lisp:11:7  ',(thing x)))");
});
