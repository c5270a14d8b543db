// compile_form: what it takes back is its own, and not what evaluations and loads define meanwhile.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

libraries('cl-base64');

const folder = sharedFolder();
const session = sharedSession();

/** The compilation of SLOW makes the one file, and waits for the other. */
const [BEGUN, GO_ON] = ['begun', 'go-on'].map((name) => join(folder.path, name)) as [string, string];
const SLOW = `(macrolet ((w () (close (open "${BEGUN}" :direction :output :if-exists :supersede))
                           (loop until (probe-file "${GO_ON}") do (sleep 0.01)))) (w))`;

function compile(form: string): Promise<Answer> {
  return session.call('compile_form', { form });
}

/** Begins to compile FORM, which has SLOW in it, and resolves half-way with what lets that go on, and gives its answer. */
async function begin(form: string): Promise<() => Promise<Answer>> {
  for (const file of [BEGUN, GO_ON]) rmSync(file, { force: true });
  const compiled = compile(form);
  await until('the compilation', 10_000, () => existsSync(BEGUN));
  return () => {
    writeFileSync(GO_ON, '');
    return compiled;
  };
}

/** Compiles FORM, and half-way evaluates MEANWHILE. */
async function during(form: string, meanwhile: string): Promise<void> {
  const goOn = await begin(form);
  await session.eval(meanwhile);
  expect((await goOn()).isError).toBe(false);
}

describe('definitions by evaluations stay', () => {
  test('while another compilation runs; compilations run one by one, and say so when they waited', async () => {
    const goOn = await begin(SLOW);
    const waiting = compile('(defun bar (x) (* x 2))');
    const waits = /\((?:0\.[2-9]|[1-9]\d*\.\d) s, waits /;
    await until('its wait', 10_000, async () => waits.test(await session.text('image_status')));
    const slow = goOn();
    const { notices } = await waiting;
    expect(notices[0]).toMatch(
      /^Note: the call waited \d+\.\d s, because forms are compiled one call at a time\.$/,
    );
    expect(await session.eval('(defun bar (x) (* x 3)) (bar 2)')).toBe('[1] BAR\n[2] 6');
    await slow;
    expect(await session.eval('(bar 2)')).toBe('6');
  });

  test('a compilation that waits takes no place of an evaluation, and can be cancelled', async () => {
    const goOn = await begin(SLOW);
    const waiting = Array.from({ length: 10 }, () => compile('(list 1)'));
    expect(await session.eval('(+ 1 2)')).toBe('3');
    await Promise.all([goOn(), ...waiting]);
  });

  test.each([
    ['a function', '(defun mw-f (x) x)', '(defun mw-f () 7)', '(mw-f)', '7'],
    ['a setf function', '(defun (setf mw-a) (x y) x y)', '(defun (setf mw-a) (x) x)', '(setf (mw-a) 7)', '7'],
    ['a macro', '(defmacro mw-m (x) x)', '(defmacro mw-m () 7)', '(mw-m)', '7'],
    [
      'a class',
      '(defclass mw-c () (a))',
      '(defclass mw-c () (a b))',
      "(type-of (make-instance 'mw-c))",
      'MW-C',
    ],
    ['a structure', '(defstruct mw-t a)', '(defstruct mw-t a)', '(mw-t-a (make-mw-t :a 7))', '7'],
    [
      'a condition',
      '(define-condition mw-e (error) ())',
      '(define-condition mw-e (error) ((a :initform 7 :reader mw-a)))',
      "(mw-a (make-condition 'mw-e))",
      '7',
    ],
    [
      'a type',
      '(deftype mw-y () t)',
      "(deftype mw-y () '(eql 7))",
      "(list (typep 7 'mw-y) (typep 8 'mw-y))",
      '(T NIL)',
    ],
    [
      'a variable',
      '(defvar *mw-v* 1)',
      '(defvar *mw-v* 7)',
      '(let ((*mw-v* 8)) (symbol-value (quote *mw-v*)))',
      '8',
    ],
    ['a generic function', '(defgeneric mw-g (x))', '(defmethod mw-g ((x integer)) 7)', '(mw-g 1)', '7'],
    ['a constant', '(defun mw-k () +mw-k+)', '(defconstant +mw-k+ 7)', '+mw-k+', '7'],
    [
      'how to set a place',
      '(defsetf mw-p mw-set)',
      '(defsetf mw-p rplaca)',
      '(setf (mw-p (list 1)) 7)',
      '(7)',
    ],
  ])('%s', async (_, own, meanwhile, use, value) => {
    await during(`${own} ${SLOW}`, meanwhile);
    expect(await session.eval(use)).toBe(value);
    await during(`(progn ${own} ${SLOW} ${own})`, meanwhile);
    expect(await session.eval(use)).toBe(value);
  });

  test('also where there was another before, or one goes', async () => {
    await session.eval('(defun mw-old () 1) (defun mw-gone () 1) (defmacro mw-macro () 1)');
    await during(
      `(progn (defun mw-old () 2) (defun mw-gone () 2) (defmacro mw-macro () 2) ${SLOW})`,
      "(defun mw-old () 3) (fmakunbound 'mw-gone) (defmacro mw-macro () 3)",
    );
    expect(await session.eval("(list (mw-old) (fboundp 'mw-gone) (mw-macro))")).toBe('(3 NIL 3)');
  });

  test('also a package, and what is defined in one that compiling made', async () => {
    await during(
      `(defpackage :mw-p1 (:use :cl)) (defpackage :mw-p2) ${SLOW}`,
      '(defpackage :mw-p1 (:use :cl))',
    );
    expect(await session.eval("(mapcar 'null (mapcar 'find-package '(:mw-p1 :mw-p2)))")).toBe('(NIL T)');
    await during(
      `(defpackage :mw-p3 (:use :cl)) ${SLOW}`,
      '(eval (read-from-string "(defun mw-p3::f () 7)"))',
    );
    expect(await session.eval('(mw-p3::f)')).toBe('7');
  });
});

describe('what compile-time code loads stays', () => {
  test('a file, with its package, class and functions', async () => {
    const file = join(folder.path, 'loaded.lisp');
    writeFileSync(
      file,
      '(defpackage :ld-p (:use :cl) (:export :f)) (in-package :ld-p) (defmacro m (x) `(list ,x))' +
        ' (defun f (x) (m x)) (defclass c () ((a :accessor a))) (defstruct s b) (defvar *v* 7) (deftype y () t)',
    );
    const form = `(eval-when (:compile-toplevel) (load "${file}")) (defun cl-user::uses-ld (x) (f x))`;
    await compile(`${form} (eval-when (:compile-toplevel) (use-package :ld-p))`);
    expect(
      await session.eval(
        "(list (ld-p:f 1) (ld-p::m 2) (ld-p::s-b (ld-p::make-s :b 3)) ld-p::*v* (ld-p::a (let ((c (make-instance 'ld-p::c))) (setf (ld-p::a c) 5) c)) (typep 1 'ld-p::y) (fboundp 'uses-ld))",
      ),
    ).toBe('((1) (2) 3 7 5 T NIL)');
  });

  test('a system, whole', async () => {
    const form =
      '(eval-when (:compile-toplevel) (require :asdf) (funcall (intern "LOAD-SYSTEM" "ASDF") :cl-base64))';
    expect((await compile(form)).isError).toBe(false);
    expect(await session.eval('(funcall (intern "STRING-TO-BASE64-STRING" "CL-BASE64") "live")')).toBe(
      '"bGl2ZQ=="',
    );
    expect(await session.text('load_system', { system: 'cl-base64' })).toMatch(
      /^System cl-base64 was loaded already/,
    );
  });
});

describe('what is no definition is as it was too', () => {
  test('the readtable', async () => {
    await compile('(eval-when (:compile-toplevel) (setf (readtable-case *readtable*) :preserve)) (LIST 1)');
    await compile('#.(progn (setf (readtable-case *readtable*) :invert) nil)');
    expect(await session.eval('(readtable-case *readtable*)')).toBe(':UPCASE');
  });

  test('whether a class is sealed, and the classes below its superclasses', async () => {
    await session.eval('(defstruct sealable a) (defstruct other-base)');
    const state =
      "(identity (list* (sb-kernel:classoid-state (sb-kernel:find-classoid 'sealable)) (mapcar (lambda (name) (let ((table (sb-kernel:classoid-subclasses (sb-kernel:find-classoid name)))) (if (listp table) (length table) (hash-table-count table)))) '(structure-object error sealable other-base))))";
    const before = await session.eval(state);
    expect(before).toMatch(/^\(NIL /);
    await compile('(declaim (sb-ext:freeze-type sealable))');
    await compile(
      '(defstruct (below-it (:include sealable)) b) (defstruct plain-one) (define-condition cond-one (error) ())',
    );
    await compile('(defstruct below-two) (defmethod of-two ((x below-two)) x)');
    expect(await session.eval(state)).toBe(before);
    expect(
      await session.eval('(defstruct (below-it (:include sealable)) c) (below-it-c (make-below-it :c 7))'),
    ).toMatch(/\[2\] 7$/);
  });
});
