// compile_form: what it reports, and that the image is afterwards as it was.

import { describe, expect, test } from 'vitest';
import { type Answer, NO_SYSTEMS } from '../harness.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession({ args: NO_SYSTEMS });

function compile(form: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return session.call('compile_form', { form, ...more });
}

const NOTHING =
  ' The compiled code was not run. Compile-time code (EVAL-WHEN, macros, #.) did run, and its effects stay; definitions made only for compiling were undone.';

describe('reports', () => {
  test.each([
    ['(+ 1 2)', `Compiled the form without warnings.${NOTHING}`],
    ['1 2 ; three\n 3', `Compiled 3 forms without warnings.`],
    [' ; nothing', 'No form to compile: the text holds only white space or comments.'],
    [
      '(defun f (x) (g x y))',
      `Compiled the form with warnings.\n\nWarnings (2):\n` +
        '  WARNING (DEFUN F): undefined variable: COMMON-LISP-USER::Y\n' +
        '    in (COMMON-LISP-USER::G COMMON-LISP-USER::X COMMON-LISP-USER::Y)\n' +
        '  STYLE-WARNING (DEFUN F): undefined function: COMMON-LISP-USER::G\n' +
        '    in (COMMON-LISP-USER::G COMMON-LISP-USER::X COMMON-LISP-USER::Y)',
    ],
    [
      '(list 1) (car 1)',
      `Compiled 2 forms with warnings.\n\nWarnings (2):\n` +
        '  WARNING (form 2): Constant 1 conflicts with its asserted type LIST.\n    in (CAR 1)\n' +
        '  NOTE (form 2): deleting unreachable code\n    in (CAR 1)',
    ],
  ])('of %s', async (form, text) => {
    expect(await compile(form)).toEqual({ text, notices: [], isError: false });
  });

  test('errors come first, each with its form, and do not fail the call', async () => {
    const { text, isError } = await compile('(defun f () (list (when)) (missing))');
    expect(isError).toBe(false);
    expect(text).toMatch(/^Compiled the form with errors \(below\): running that code signals them\.\n\n/);
    expect(text).toMatch(
      /\n {2}ERROR \(DEFUN F\): during macroexpansion of \(WHEN\)\..*\n {4}in \(WHEN\)\n/s,
    );
  });

  test('notes of the compiler, which eval_form only counts', async () => {
    const { text } = await compile('(defun f (x) (declare (optimize speed)) (+ x 1))');
    expect(text).toMatch(/^Compiled the form with notes\.\n\n/);
    expect(text).toContain('NOTE (DEFUN F): forced to do GENERIC-+');
    const form = "(null (compile nil '(lambda (x) (declare (optimize speed)) (+ x 1))))";
    expect((await session.call('eval_form', { form })).text).toMatch(
      /^NIL\n\nNote: (?:1 compiler note|\d+ compiler notes); compile_form shows those of a form\.$/,
    );
  });
});

describe('forms are those of a file', () => {
  test.each([
    '(progn (defmacro inner (x) x) (inner 1))',
    '(eval-when (:compile-toplevel) (defun helper (x) x)) (defmacro m (x) (helper x)) (m 1)',
    '(defpackage :cf-new (:use :cl)) (in-package :cf-new) (defun f (a) a) (f 1)',
    '(defstruct cf-point x y) (defun norm (p) (+ (cf-point-x p) (cf-point-y p)))',
    '(defun later () (sooner)) (defun sooner () 1)',
  ])('%s has no warning', async (form) => {
    expect((await compile(form)).text).toMatch(/^Compiled (?:the form|\d forms) without warnings\./);
    expect((await compile(form)).text).toMatch(/^Compiled (?:the form|\d forms) without warnings\./);
  });
});

describe('the image is as it was', () => {
  test('nothing is defined, and no package is made or entered', async () => {
    await compile(
      '(defun cf-f (x) x) (defmacro cf-m (x) x) (defclass cf-c () ((s :accessor cf-s))) (defstruct cf-t a)' +
        ' (deftype cf-y () t) (defconstant +cf-k+ 1) (defvar *cf-v* 1) (define-condition cf-e (error) ())' +
        ' (defgeneric cf-g (x)) (sb-ext:defglobal *cf-l* 1) (defpackage :cf-p (:use :cl)) (in-package :cf-p)',
    );
    expect(
      await session.eval(
        "(list (remove-if-not 'fboundp '(cf-f cf-m cf-s make-cf-t cf-t-a cf-g)) (remove-if-not 'boundp '(+cf-k+ *cf-v* *cf-l*)) (remove nil (mapcar (lambda (c) (find-class c nil)) '(cf-c cf-t cf-e))) (find-package :cf-p) (package-name *package*) (sb-int:info :type :kind 'cf-y))",
      ),
    ).toBe('(NIL NIL NIL NIL "COMMON-LISP-USER" NIL)');
  });

  test('what was defined is as before', async () => {
    await session.eval(
      '(defmacro old-m (x) `(list ,x)) (defun old-f (x) x) (defstruct old-s q) (defvar *old* (make-old-s :q 1)) (defclass old-c () (a)) (define-condition old-e (error) ())',
    );
    const forms = [
      '(defmacro old-m (x y) y)',
      '(defmacro old-f (x) x)',
      '(defstruct old-s q r)',
      '(defstruct old-c a)',
      '(defstruct old-e a)',
      '(define-condition old-c () ())',
      '(deftype old-s () t)',
      '(defun old-m (x) x)',
    ];
    for (const form of forms) await compile(form);
    expect(
      await session.eval(
        "(list (old-m 1) (old-f 2) (old-s-q *old*) (old-s-q (make-old-s :q 3)) (type-of (make-instance 'old-c)) (type-of (make-condition 'old-e)))",
      ),
    ).toBe('((1) 2 1 3 OLD-C OLD-E)');
  });

  test('and can be defined in another way afterwards', async () => {
    await compile('(defun cf-two (x) x) (cf-two 1) (cf-three 1 2) (defstruct cf-st a b)');
    expect(await session.eval('(defun cf-two (&key a) a) (defun cf-three (x) x) (defstruct cf-st z)')).toBe(
      '[1] CF-TWO\n[2] CF-THREE\n[3] CF-ST',
    );
  });

  test('also when compiling is interrupted or signals', async () => {
    const { text, isError } = await compile(
      '(defmacro cf-gone (x) x) (eval-when (:compile-toplevel) (loop))',
      {
        timeout: 0.5,
      },
    );
    expect(isError).toBe(true);
    expect(text).toMatch(/^Error: Interrupted after \d+\.\d s, past the limit of this call/);
    await compile('(defmacro cf-gone (x) x) (eval-when (:compile-toplevel) (error "x"))');
    expect(await session.eval("(fboundp 'cf-gone)")).toBe('NIL');
  });

  test('also when several compile the same at once', async () => {
    await Promise.all(Array.from({ length: 6 }, () => compile('(defmacro cf-many (x) x) (cf-many 1)')));
    expect(await session.eval("(fboundp 'cf-many)")).toBe('NIL');
  });
});

describe('what goes wrong', () => {
  const error = (text: string) => ({ text, notices: [], isError: true });

  test('C8 a form that cannot be read, as by eval_form', async () => {
    expect(await compile('(list 1)\n(list 2')).toEqual(
      error(
        'Error: form 2 cannot be read: the text ends inside this form\n' +
          'The form begins at line 2, column 1; reading stopped at line 2, column 8. Form 1 was compiled.',
      ),
    );
    expect((await compile('#.(error "no")')).text).toMatch(
      /^Error: form 1 cannot be read: no\n.* Nothing was compiled\.$/s,
    );
  });

  test('C8 an error in code that runs at compile time', async () => {
    expect(await compile('1 (eval-when (:compile-toplevel) (error "No."))')).toEqual(
      error('Error: No.\nType: COMMON-LISP::SIMPLE-ERROR\nIn: form 2'),
    );
  });

  test('C8 an unknown package', async () => {
    expect(await compile('1', { package: 'No Where' })).toEqual(error('Package No Where not found'));
  });
});
