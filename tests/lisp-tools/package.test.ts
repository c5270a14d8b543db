// The package of the API is locked, so that a name of the user's own does not break the backend.

import { expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const session = sharedSession({}, '(in-package :live-lisp-user)');

test.each(['(defun register-tool (x) x)', '(delete-package :live-lisp)'])(
  'S4.14 %s is refused, and breaks nothing',
  async (form) => {
    expect(await session.eval(form)).toContain('Lock on package LIVE-LISP violated');
    expect(await session.eval('(get-tool "who_calls")')).toBe('#<TOOL who_calls>');
  },
);

test('S4.14 all that the package exports is there', async () => {
  expect(
    await session.eval(`(loop for symbol being the external-symbols of :live-lisp
      unless (or (fboundp symbol) (boundp symbol) (find-class symbol nil)) collect symbol)`),
  ).toBe('NIL');
});

test('S4.14 a package of the user can have names of its own', async () => {
  const form = `(progn (defpackage :shop (:use :cl :live-lisp) (:shadow #:tool #:tool-name))
    (eval (read-from-string "(defclass shop::tool () ((shop::name :initform :hammer :reader shop::tool-name)))"))
    (eval (read-from-string "(list (shop::tool-name (make-instance 'shop::tool)) (tool-name (shop::get-tool \\"who_calls\\")))")))`;
  expect(await session.eval(form)).toBe('(:HAMMER "who_calls")');
});
