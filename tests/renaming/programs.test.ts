// Programs give what they gave, in the image and when they are loaded afresh, after a symbol in them has another name.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace();
beforeEach(async () => {
  at.human = () => APPROVE;
  await at.answer('eval_form', { form: '(when (find-package :app) (delete-package :app))' });
});

/** Loads CODE as the file of the package APP. */
async function load(code: string): Promise<void> {
  at.put('app.lisp', `(defpackage :app (:use :cl))\n(in-package :app)\n${code}\n`);
  expect(await at.answer('load_file', { path: 'app.lisp' })).not.toContain('failed');
}

/** Returns the code of the file. */
function code(): string {
  return readFileSync(join(at.root, 'app.lisp'), 'utf8').split('\n').slice(2).join('\n').trimEnd();
}

function rename(name: string, to: string, more: object = {}): Promise<string> {
  return at.answer('rename_symbol', { name: `app::${name}`, to, ...more });
}

/** Returns the value of FORM, now and once the file is loaded into a package that has nothing else. */
async function values(form: string): Promise<string[]> {
  const now = await at.answer('eval_form', { form });
  await at.answer('eval_form', { form: '(delete-package :app)' });
  await at.answer('load_file', { path: 'app.lisp' });
  return [now, await at.answer('eval_form', { form })];
}

test('numbers in a radix of their own stay', async () => {
  await load('(defvar *m* (list #xFACE #36rFACE))\n(defun face () (first *m*))');
  await rename('face', 'visage');
  expect(code()).toBe('(defvar *m* (list #xFACE #36rFACE))\n(defun visage () (first *m*))');
  expect(await values('(app::visage)')).toEqual(['64206', '64206']);
});

test('a definition is found again in a file that was edited since it was loaded', async () => {
  const defined =
    '(defun wide () 1)\n(defmacro make (name) `(defun ,name () 2))\n(make tall)\n(defstruct box lid)';
  await load(defined);
  at.put(
    'app.lisp',
    `(defpackage :app (:use :cl))\n(in-package :app)\n(defun one () 1)\n(defun two () (one))\n${defined}`,
  );
  expect(await rename('wide', 'broad')).toBe(
    'Renamed APP::WIDE to BROAD: 1 place in 1 file: app.lisp 1.\n\nLoaded again: 1 file. Removed: function APP::WIDE.',
  );
  at.put('app.lisp', `(defpackage :app (:use :cl))\n(in-package :app)\n(defun zero () 0)\n${code()}`);
  expect(await rename('box-lid', 'top-of')).toBe(
    'failed: APP::BOX-LID does not occur in its definition at app.lisp:9: a macro generates the name. Rename what the macro generates it from, such as the structure or the slot.',
  );
  at.put('app.lisp', '(defpackage :app (:use :cl))\n(in-package :app)\n(defun use () (broad))');
  expect(await rename('broad', 'wide', { dry_run: true })).toContain(
    '1 place in 1 file (lines):\n  app.lisp: 3',
  );
});

test('a letter that has no upper case of its own is read as SBCL reads it', async () => {
  await load('(defun straße (ŉx) (list ŉx))\n(defun οδος () (straße 1))');
  expect(await at.answer('who_calls', { name: 'app::straße', sites: true })).toContain('app.lisp:4:16  ');
  await rename('straße', 'maß');
  expect(code()).toBe('(defun maß (ŉx) (list ŉx))\n(defun οδος () (maß 1))');
  await rename('οδος', 'ΟΔΟΣ');
  expect(code()).toBe('(defun maß (ŉx) (list ŉx))\n(defun ΟΔΟΣ () (maß 1))');
  expect(await values('(app::ΟΔΟΣ)')).toEqual(['(1)', '(1)']);
});

test('a variable of LOOP that AND joins follows, and a word of LOOP stays', async () => {
  await load(
    '(defun count-up (s)\n  (loop with step = 1 and from = (first s)\n        for i from from below 5 and to in (list 7 8)\n        when (oddp i) collect i and collect from and collect to))',
  );
  await rename('from', 'start');
  await rename('to', 'end');
  expect(code()).toBe(
    '(defun count-up (s)\n  (loop with step = 1 and start = (first s)\n        for i from start below 5 and end in (list 7 8)\n        when (oddp i) collect i and collect start and collect end))',
  );
  expect(await values("(app::count-up '(3))")).toEqual(['(3 3 7)', '(3 3 7)']);
});

test('a function of CL-USER follows where FORMAT calls it without a package', async () => {
  await load(
    '(in-package :cl-user)\n(defun show-me (s a &rest r) (declare (ignore r)) (format s "<~A>" a))\n(defun app::show () (format nil "~/show-me/ ~:/SHOW-ME/" 1 2))\n(defun app::path () (merge-pathnames "~/show-me/"))',
  );
  expect(await at.answer('rename_symbol', { name: 'show-me', to: 'show-you' })).toContain(
    'Not changed, 1 in strings that can name it: app.lisp:6.',
  );
  expect(code()).toContain('"~/show-you/ ~:/SHOW-YOU/"');
  expect(await values('(app::show)')).toEqual(['"<1> <2>"', '"<1> <2>"']);
});

test('callers of a constructor with keywords of its own keep these, and others follow a slot', async () => {
  await load(`(eval-when (:compile-toplevel :load-toplevel :execute)
  (defstruct (point (:constructor make-point (&key x (y 0))) (:constructor new-point)) x y)
  (defmethod make-load-form ((p point) &optional env) (make-load-form-saving-slots p :environment env)))
(defun points () (list (make-point :x 1) (new-point :x 2) #S(point :x 3)))`);
  await rename('x', 'col');
  expect(code()).toContain('(:constructor make-point (&key ((:x col)) (y 0)))');
  expect(code()).toContain('(list (make-point :x 1) (new-point :col 2) #S(point :col 3))');
  expect(await values("(mapcar 'app::point-col (app::points))")).toEqual(['(1 2 3)', '(1 2 3)']);
});

test('an initarg follows in its class, in those below and in what makes instances, and what is not sure is told', async () => {
  await load(`(defclass shape () ((size :initarg :size :reader size)) (:default-initargs :size 1))
(defclass square (shape) () (:default-initargs :size 2))
(defclass other () ((size-of :initarg :size :reader size-of)))
(defun shapes () (list (make-instance 'square :size 3) (make-instance 'shape :size 4) (make-instance 'square)))
(defun again (p) (make-instance (class-of p) :size 9))
(defun others () (make-instance 'other :size 5))`);
  expect(await rename('size', 'extent', { keywords: true })).toContain(
    'Not changed, 3 keywords of that name (check whether they name its parameters or initargs): app.lisp:5,7,8.',
  );
  expect(
    code(),
  ).toBe(`(defclass shape () ((extent :initarg :extent :reader extent)) (:default-initargs :extent 1))
(defclass square (shape) () (:default-initargs :extent 2))
(defclass other () ((size-of :initarg :size :reader size-of)))
(defun shapes () (list (make-instance 'square :extent 3) (make-instance 'shape :extent 4) (make-instance 'square)))
(defun again (p) (make-instance (class-of p) :size 9))
(defun others () (make-instance 'other :size 5))`);
  const form = "(list (mapcar 'app::extent (app::shapes)) (app::size-of (app::others)))";
  expect(await values(form)).toEqual(['((3 4 2) 5)', '((3 4 2) 5)']);
});

test('a keyword follows in methods, in initializations, in conditions and in declared types', async () => {
  await load(`(declaim (ftype (function (t &key (:scale number)) t) area))
(defun area (x &key (scale 1)) (* x scale))
(defgeneric draw (x &key scale))
(defmethod draw ((x integer) &key (scale 1)) (list x scale))
(defmethod draw ((x fixnum) &key ((:scale s) 1)) (call-next-method x :scale (* 2 s)))
(defclass pic () ((kept :initform 0 :accessor kept)))
(defclass photo (pic) ())
(defmethod initialize-instance :after ((p pic) &key scale) (setf (kept p) scale))
(define-condition too-large (error) ((scale :initarg :scale :reader scale)))
(defun uses () (list (area 2 :scale 3) (draw 2 :scale 4) (kept (make-instance 'photo :scale 5))
  (handler-case (error 'too-large :scale 6) (too-large (c) (scale c)))))`);
  const before = code();
  expect(await rename('scale', 'factor', { keywords: true })).not.toContain('Not changed');
  expect(code()).toBe(before.replaceAll('scale', 'factor'));
  expect(await values('(app::uses)')).toEqual(['(6 (2 8) 5 6)', '(6 (2 8) 5 6)']);
});
