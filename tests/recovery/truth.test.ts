// What is told of a rebuild is true: what did not come back, what can be another, and what would have broken the image.

import { expect, test } from 'vitest';
import { afterLoss, built, killImage, reported, sessions } from './losses.ts';

const start = sessions();

test('a form that is evaluated again without its effect is no built one, and what is missing is named', async () => {
  const session = await start();
  await session.eval('(defvar *flag* nil) (setf *flag* t) (when *flag* (defun g1 () 1))');
  await session.eval(
    '(defun define-all (names) (dolist (name names) (setf (fdefinition name) (lambda () name))))',
  );
  await session.eval("(define-all (if *flag* '(g2 g3) '(g2)))");
  await killImage(session);
  expect(await afterLoss(session, "(mapcar #'fboundp '(g1 g3))")).toEqual({
    text: '(NIL NIL)',
    reported: reported(
      built('2 forms'),
      'Rebuilt, but this is missing (2):',
      '  (when *flag* (defun g1 () 1)): COMMON-LISP-USER::G1',
      "  (define-all (if *flag* '(g2 g3) '(g2))): COMMON-LISP-USER::G3",
      'Forms rebuilt with the initial values of variables, not the values set since (2):',
      '  (when *flag* (defun g1 () 1))',
      "  (define-all (if *flag* '(g2 g3) '(g2)))",
      'Not run again: 1 form in which no definition was seen; it may have set COMMON-LISP-USER::*FLAG*. What only this form created is gone.',
    ),
  });
});

test('a form that used a variable which had been set can be another, once', async () => {
  const session = await start();
  await session.eval('(defvar *n* 1) (setf *n* 42) (let ((n *n*)) (defun h1 () n))');
  await session.eval(
    '(defparameter *src* 1) (setf *src* 99) (defparameter *copy* (* 2 *src*)) (defun later () *n*)',
  );
  await killImage(session);
  const values = '(list (h1) *copy*)';
  expect(await afterLoss(session, values)).toEqual({
    text: '(1 2)',
    reported: reported(
      built('5 forms'),
      'Forms rebuilt with the initial values of variables, not the values set since (2):',
      '  (let ((n *n*)) (defun h1 () n))',
      '  (defparameter *copy* (* 2 *src*))',
      'Not run again: 2 forms in which no definition was seen; they may have set COMMON-LISP-USER::*N*, COMMON-LISP-USER::*SRC*. What only these forms created is gone.',
    ),
  });
  await killImage(session);
  expect(await afterLoss(session, values)).toEqual({
    text: '(1 2)',
    reported: reported(
      built('5 forms'),
      'Not run again: 1 form in which no definition was seen. What only this form created is gone.',
    ),
  });
});

test('what a called function defined is there again', async () => {
  const session = await start();
  await session.eval('(defun make-it (name value) (setf (fdefinition name) (lambda () value)))');
  await session.eval("(make-it 'made 7)");
  await session.eval('(eval (read-from-string "(defun read-in () 8)"))');
  await session.eval("(defun structure-it (name) (eval `(defstruct ,name (a 9)))) (structure-it 'thing)");
  await session.eval(
    "(defgeneric shown (x)) (defun add-it () (eval '(defmethod shown ((x thing)) (thing-a x)))) (add-it)",
  );
  await killImage(session);
  expect(await afterLoss(session, '(list (made) (read-in) (shown (make-thing)))')).toEqual({
    text: '(7 8 9)',
    reported: reported(built('8 forms')),
  });
});

test('a form whose own answer could not be shown is not run again', async () => {
  const session = await start();
  await session.eval('(defun kept () 1)');
  const poison = '(set-pprint-dispatch t (lambda (s o) (declare (ignore s o)) (loop)) 10)';
  expect(await session.eval(poison, { timeout: 3 })).toMatch(/^Error: Interrupted after/);
  await killImage(session);
  expect(await afterLoss(session, '(list (kept) (+ 1 2))')).toEqual({
    text: '(1 3)',
    reported: reported(
      built('1 form'),
      'Forms not run again, because they failed or were interrupted (1):',
      `  ${poison}`,
    ),
  });
});

test('a form that renames the current package is evaluated again in the package of then', async () => {
  const session = await start();
  await session.eval('(defpackage :old (:use :cl))');
  await session.eval('(in-package :old)');
  await session.eval('(rename-package :old :new)');
  await session.eval('(defun in-it () 3)');
  await killImage(session);
  expect(await afterLoss(session, '(list (in-it) (package-name *package*))')).toEqual({
    text: '(3 "NEW")',
    reported: reported(built('3 forms')),
  });
});

test('noting a definition prints nothing, so a method that prints strings for ever does not end the image', async () => {
  const session = await start();
  const calm = async (form: string) => {
    const { text, notices } = await session.call('eval_form', { form, timeout: 60 });
    expect(notices).toEqual([]);
    return text;
  };
  expect(await calm('(progn (defmethod print-object ((x string) stream) (loop)) 1)')).toBe('1');
  expect(await calm('(progn (defun noted () 2) (defclass noted () ()) 2)')).toBe('2');
  expect(await calm('(noted)')).toBe('2');
});

test('a form after which the image does not work is left out of the next one', async () => {
  const poison = '(progn (defmethod print-object ((x character) stream) (error "No ~A." stream)) nil)';
  const session = await start();
  await session.eval('(defun before-it () 1)');
  await session.eval(poison);
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, '(list (before-it) (+ 1 2) #\\a)');
  expect(text).toBe('(1 3 #\\a)');
  const head =
    'This is a new Lisp image; the one before was lost: it was ended by SIGKILL; then something that was rebuilt broke it.';
  expect(notice).toBe(
    [
      `${head} ${built('1 form')}`,
      'Not rebuilt (1):',
      `  ${poison.slice(0, 80)}...: with it the image cannot read, evaluate and print any more; it is left out from now on`,
    ].join('\n'),
  );
  await killImage(session);
  expect((await afterLoss(session, '1')).reported).toContain(built('1 form'));
});
