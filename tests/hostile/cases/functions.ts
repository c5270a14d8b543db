// Forms that redefine what SBCL and the backend are made of.

import type { Group } from '../case.ts';

/** Code that takes away the lock of CL and redefines NAME by DEFINITION. */
function redefined(definition: string): string {
  return `(progn (sb-ext:unlock-package :cl) (handler-bind ((warning (function muffle-warning))) ${definition}) :done)`;
}

const DONE = { succeeds: true as const, says: /^:DONE/ };

export const FUNCTIONS: Group = {
  title: 'Functions and classes of SBCL redefined',
  cases: [
    {
      name: 'PRINT redefined',
      form: redefined('(defun print (x &optional s) (declare (ignore s)) (loop) x)'),
      ...DONE,
      spoils: true,
    },
    {
      name: 'FIND-PACKAGE redefined',
      form: redefined('(defun find-package (&rest x) (declare (ignore x)) nil)'),
      says: /^(?::DONE|Error: )/,
      succeeds: 'maybe',
      spoils: true,
      probe: ['1', /^/],
    },
    {
      name: 'MAKE-THREAD redefined',
      form: '(progn (sb-ext:unlock-package :sb-thread) (handler-bind ((warning (function muffle-warning))) (defun sb-thread:make-thread (&rest x) (declare (ignore x)) (error "no threads"))) :done)',
      // The call beside it can be the one that ends the image.
      says: /^(?::DONE|Error: The Lisp image was lost during this call: its backend failed: no threads)/,
      succeeds: 'maybe',
      probe: ['1', /^1$|its backend failed: no threads/],
      spoils: true,
    },
    {
      name: 'a print method for everything',
      form: '(progn (handler-bind ((warning (function muffle-warning))) (defmethod print-object ((x t) s) (declare (ignore s)) (loop))) :done)',
      says: /^(?::DONE|Error: )/,
      succeeds: true,
      spoils: true,
    },
    {
      name: 'the class of the output stream redefined',
      freezes: true,
      long: true,
      // What writes is broken: the call can be answered still, and the next one loses the image.
      form: '(progn (defclass live-lisp.base::capture-stream () ()) (print 1) :done)',
      says: /^(?::DONE|Error: )/,
      succeeds: 'maybe',
      spoils: true,
      probe: ['1', /^(?:1$|Error: The Lisp image was lost)/],
      image: 'replaced',
    },
  ],
};
