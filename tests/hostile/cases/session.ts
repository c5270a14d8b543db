// Forms that break what reads, prints and names: readtables, packages, printer variables.

import type { Group } from '../case.ts';

/** What an evaluation says that got a fresh readtable. */
const MENDED =
  /^3\n\nNote: the readtable of the session could no longer read any form, so a fresh readtable replaced it\.$/;

/** A form for the packages of the backend, those that use others first. */
const ROOMS =
  '(sort (remove-if-not (lambda (p) (eql 0 (search "LIVE-LISP." (package-name p)))) (list-all-packages)) (function >) :key (lambda (p) (length (package-use-list p))))';

const DONE = { succeeds: true as const, says: /^:DONE/ };

export const SESSION: Group = {
  title: 'Readtables, packages, printer variables',
  cases: [
    {
      name: 'a readtable without (',
      form: '(progn (set-syntax-from-char #\\( #\\a) :done)',
      ...DONE,
      probe: ['(+ 1 2)', MENDED],
    },
    {
      name: 'a macro character on ( that loops',
      form: '(progn (set-macro-character #\\( (lambda (s c) (declare (ignore s c)) (loop))) :done)',
      ...DONE,
      probe: ['(+ 1 2)', MENDED],
    },
    {
      name: 'the standard readtable changed for all',
      form: '(progn (setf sb-impl::*standard-readtable* nil) :done)',
      says: /^(?::DONE|Error: )/,
      succeeds: 'maybe',
      spoils: true,
      probe: ['1', /^(?:1$|Error: The Lisp image was lost)/],
    },
    {
      name: '*read-base* 36',
      form: '(progn (setf *read-base* 36) :done)',
      ...DONE,
      probe: ['(cl:progn (cl:setf cl:*read-base* 10.) :back)', /^:BACK$/],
    },
    { name: '*read-suppress* t', form: '(progn (setf *read-suppress* t) :done)', ...DONE },
    {
      name: '*print-readably* t',
      form: '(progn (setf *print-readably* t) (list (make-hash-table) *standard-output*))',
      says: /^Error: /,
      probe: ['(progn (setf *print-readably* nil) 3)', /^3$/],
    },
    {
      name: 'a *print-pprint-dispatch* that fails',
      form: '(progn (set-pprint-dispatch (quote t) (lambda (s x) (declare (ignore s x)) (error "no printing"))) (setf *print-pretty* t) (list 1))',
      says: /^Error: /,
      spoils: true,
      probe: ['(progn (setf *print-pprint-dispatch* (copy-pprint-dispatch nil)) nil)', /^NIL$/],
    },
    { says: /^Error: Value of 5 in/, name: '*modules* no list', form: '(progn (setf *modules* 5) :done)' },
    {
      name: 'global printer variables set in a thread',
      form: '(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (setf *print-base* 2 *print-readably* t *print-length* 1 *read-base* 16 *print-circle* t *print-pretty* nil)))) :done)',
      ...DONE,
    },
    {
      name: "the backend's package deleted",
      form: `(progn (dolist (p ${ROOMS}) (sb-ext:unlock-package p) (dolist (u (package-used-by-list p)) (unuse-package p u)) (delete-package p)) :done)`,
      ...DONE,
      probe: ['(+ 1 2)', /^3$/],
      spoils: true,
    },
    {
      name: 'the package of tools deleted',
      form: '(progn (dolist (p (package-used-by-list "LIVE-LISP")) (unuse-package "LIVE-LISP" p)) (delete-package "LIVE-LISP") :done)',
      says: /^(?::DONE|Error: Lock on package LIVE-LISP violated)/,
      succeeds: 'maybe',
      probe: ['(+ 1 2)', /^3$/],
      spoils: true,
    },
    {
      name: "the backend's functions undefined",
      form: `(progn (let ((n 0)) (dolist (p ${ROOMS}) (do-symbols (s p) (when (and (eq (symbol-package s) p) (fboundp s)) (incf n) (fmakunbound s)))) (print n)) :done)`,
      says: /^(?:Error: |:DONE)/,
      // Calls within the backend need no names in an image from a core, so the next one can be the first that finds
      // out.
      probe: [
        '1',
        /^(?:1|Error: The Lisp image was lost during this call: its backend failed: .* is undefined\..*)$/,
      ],
      spoils: true,
      image: 'replaced',
    },
    {
      name: "the backend's variables unbound",
      form: `(dolist (p ${ROOMS}) (do-symbols (s p) (when (and (eq (symbol-package s) p) (boundp s) (not (constantp s))) (ignore-errors (makunbound s)))))`,
      says: /^(?:Error: |NIL)/,
      spoils: true,
      image: 'replaced',
    },
    {
      name: 'COMMON-LISP renamed',
      form: '(progn (sb-ext:unlock-package :cl) (rename-package :cl "NOT-CL") :done)',
      says: /^(?:Error: |:DONE)/,
      spoils: true,
      succeeds: true,
      probe: ['1', /^1/],
    },
  ],
};
