// Which forms the backend takes for such that build the image, by what it tells the server.

import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { backendCommand } from '../../src/image/process/backend.ts';
import { Child } from '../../src/image/process/child.ts';
import type { ImageChange } from '../../src/image/wire/messages.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT, testSbcl } from '../harness.ts';
import { until } from '../server/processes.ts';

const OPTIONS = {
  lispFolder: join(PROJECT, 'lisp'),
  cacheFolder: cacheFolder(),
  root: PROJECT,
  heapMb: 1024,
  trees: [],
};
let reported: ImageChange[] = [];
const child = new Child({
  command: backendCommand(testSbcl(), OPTIONS, true),
  cwd: PROJECT,
  upcalls: () => ({
    report: (each) => {
      if (each.kind === 'built') take(each.built);
    },
  }),
});
afterAll(() => child.kill('the test ended'));

/** Which forms were told to be open. */
let opened: unknown[] = [];

/** Takes BUILT. That a form has built and goes on, and that it has ended then, is kept apart. */
function take(built: ImageChange): void {
  const { opens, closes, ...rest } = built;
  if (opens !== undefined) opened.push(opens);
  else reported.push(rest);
  opened = opened.filter((each) => each !== closes);
}

async function reportedOf(code: string): Promise<ImageChange[]> {
  await child.greeting;
  reported = [];
  const { ending } = await child.request('evaluate', { code }).answer;
  expect(ending.kind, code).not.toBe('condition');
  return reported;
}

test.each([
  '(defun b1 () 1)',
  '(defmacro b2 (&body body) `(progn ,@body))',
  '(macrolet ((def (n) `(defun ,n () 1))) (def b4))',
  '(let* ((x 1) (y x)) (declare (ignorable y)) (defun b5 () x))',
  '(if (find-package :b7) nil (make-package :b7))',
  "(dolist (n '(b9 b10)) (eval `(defun ,n () 1)))",
  "(mapc #'require '(:sb-posix))",
  '(intern "B14")',
  '(setf *print-case* :downcase)',
  '(push :b16 *features*)',
  '(push #p"/nowhere/" (symbol-value (quote asdf:*central-registry*))) (setf asdf:*central-registry* nil)',
  '(handler-case (defun b18 () 1) (error () nil))',
  '(eval-when (:compile-toplevel :load-toplevel :execute) (defun b21 () 1))',
  '(loop for n below 1 do (set-syntax-from-char #\\^ #\\;))',
  '(set-syntax-from-char #\\^ #\\^ *readtable* nil)',
  "(compile 'b23 '(lambda () 1))",
  "(apply #'compile 'b25 '((lambda () 1)))",
  "(funcall 'compile '(setf b26) '(lambda (x y) x))",
  '(defun b27 () 1) (rotatef (symbol-function (quote b27)) (symbol-function (quote b25)))',
  "(set '*print-case* :upcase)",
  '(labels ((f () (g)) (g () (defun b29 () 1))) (f))',
  '(labels ((f (x) (when x (g nil))) (g (x) (f x) (defun b41 () 1))) (f t) (f nil))',
  `(progn (labels ((f () (list ${'(list 1) '.repeat(1200)}))) #'f) (defun b42 () 1))`,
  "(mapc #'eval '(1 (defun b32 () 1)))",
  '(let* ((n (quote b36)) (form `(defun ,n () 1))) (eval form))',
  "(funcall (compile nil '(lambda () (defun b38 () 1))))",
])('builds: %s', async (code) => {
  expect((await reportedOf(code)).filter((each) => each['text'] !== undefined)).not.toEqual([]);
});

test.each([
  '1',
  "'(defun n1 () 1)",
  '(funcall (intern "CAR" :cl) nil)',
  '(case 3 (load 4) (3 5))',
  '(progn (print 1) (format nil "~a" 2))',
  '(lambda () (defun n2 () 1))',
  '(macroexpand-1 (quote (defun n3 () 1)))',
  '(live-lisp:define-tool "n4" "N." () :handler (lambda (a) a))',
  '(quote #1=(a . #1#))',
  "(compile nil '(lambda () (defun n5 () 1)))",
  '(flet ((f () (defun n6 () 1))) 1)',
  '(labels ((f (x) (when x (g nil))) (g (x) (f x))) (f t) (g nil))',
  '(flet ((f () (sb-ext:unlock-package :sb-gray))) 1)',
  "(let ((form '(defun n8 () 1))) form)",
  '(let ((x 1) (y 2)) (rotatef x y) (shiftf x y *print-base*))',
  '(setf *print-base* 10 *print-length* *print-length*)',
  "(make-instance 'standard-class :name 'n10)",
  '(setf (symbol-function (gensym)) (lambda () 1))',
  '(read-from-string "n12")',
  '(let ((*readtable* (copy-readtable nil))) (set-macro-character #\\! (lambda (s c) (list s c))) nil)',
  '(funcall (compile nil (quote (lambda (x) (ignore-errors (slot-value x (quote n13)))))) 1)',
  '(handler-case (n14) (undefined-function () nil))',
  '(progv (list (quote n15)) (list 1) (symbol-value (quote n15)))',
])('builds nothing: %s', async (code) => {
  expect(await reportedOf(code)).toEqual([]);
});

const SETTER = '(defun define-it (name value) (setf (fdefinition name) (lambda () value)))';

function withPackage(name: string): string {
  const setf = /^\(SETF (.+)\)$/.exec(name)?.[1];
  return setf === undefined ? `COMMON-LISP-USER::${name}` : `(SETF COMMON-LISP-USER::${setf})`;
}

test.each([
  ["(define-it 'e1 1)", ['E1']],
  ['(eval (read-from-string "(defun e2 () 1)"))', ['E2']],
  ["(compile-it 'e4)", ['E4']],
  ['(add-it)', ['E5']],
  ["(structure-it 'e6)", ['COPY-E6', 'E6', 'E6-A', 'E6-P', 'MAKE-E6', '(SETF E6-A)']],
  ['(mapcar (lambda (n) (define-it n 1)) (list (quote e8) (quote e9)))', ['E8', 'E9']],
  ['(when (fboundp (quote define-it)) (fmakunbound (quote e1)))', ['E1']],
  ["(apply #'sb-mop:ensure-class (quote (e12 :direct-superclasses (standard-object))))", ['E12']],
])('what a form defines is seen wherever the definition stands: %s', async (code, names) => {
  await reportedOf(`${SETTER}
(defun compile-it (name) (compile name '(lambda () 1)))
(defgeneric e5 (x))
(defun add-it ()
  (add-method #'e5 (make-instance 'standard-method :qualifiers '() :specializers (list (find-class t)) :lambda-list '(x)
                                  :function (lambda (args next) (declare (ignore args next)) 1))))
(defun structure-it (name) (eval \`(defstruct ,name a)))`);
  const [built, ...others] = await reportedOf(code);
  expect(others).toEqual([]);
  expect(built).toMatchObject({ text: code });
  const defined = new Set(Object.values(built?.['defines'] ?? []));
  expect(defined).toEqual(new Set(names.map((name) => withPackage(name))));
});

test.each([
  ['(let ((n *r1*)) (defun r2 () n))', ['*R1*']],
  ['(defparameter *r3* (* 2 *r1*))', ['*R1*']],
  ['(progn (print *r1*) (defun r5 () 1))', undefined],
  ['(defun r6 () *r1*)', undefined],
])('variables whose values a definition uses at once are named: %s', async (code, names) => {
  await reportedOf('(defvar *r1* 1)');
  const [built] = await reportedOf(code);
  expect(built?.['reads']).toEqual(names?.map((name) => `COMMON-LISP-USER::${name}`));
});

test.each([
  ['(progn (print 1) (defun w1 () 1))', [[1]]],
  [
    '(progn (defun w2 () 1) (progn (list 1) (defvar *w3* 1) (print 2)) 3)',
    [
      [2, 1],
      [2, 3],
    ],
  ],
  ['(eval-when (:execute) (print 1) (defun w4 () 1))', [[2]]],
])('parts that build nothing are left out: %s', async (code, without) => {
  expect(await reportedOf(code)).toMatchObject([{ text: code, without }]);
});

test.each([
  ['(defvar *s1* 1) (setf *s1* 2)', ['COMMON-LISP-USER::*S1*']],
  ['(defvar *s3* nil) (when t (let ((x 1)) (push x *s3*)))', ['COMMON-LISP-USER::*S3*']],
  ['(defvar *s4* 1) (progn (incf *s4*) (setq *s1* 3))', ['COMMON-LISP-USER::*S4*', 'COMMON-LISP-USER::*S1*']],
  ["(defvar *s5* 1) (set '*s5* 2)", ['COMMON-LISP-USER::*S5*']],
  ['(let ((x 1)) (shiftf x *s5* *s4*))', ['COMMON-LISP-USER::*S5*']],
  ['(let (x) (multiple-value-setq (x *s5*) (floor 1 1)))', ['COMMON-LISP-USER::*S5*']],
])('variables that are set are named: %s', async (code, names) => {
  expect((await reportedOf(code)).at(-1)).toEqual({ set: names });
});

test('a form is open from the first part that built to its end, however that comes', async () => {
  await reportedOf('(progn (defun o1 () 1) (defvar *o2* 2))');
  expect(opened).toEqual([]);
  await child.request('evaluate', { code: '(progn (defun o3 () 1) (error "No."))' }).answer;
  expect(opened).toEqual([]);
  const { id, answer } = child.request('evaluate', {
    code: '(progn (defun o4 () 1) (sleep 60))',
  });
  await until('the form that is open', 60_000, () => opened.length === 1);
  child.notify('interrupt', { job: id, reason: 'interrupt' });
  await answer;
  expect(opened).toEqual([]);
});

test.each([
  ['(progn (setf *s6* 2) (error "No."))', { set: ['COMMON-LISP-USER::*S6*'] }],
  [
    '(progn (defun u1 () 1) (setf *s6* 2) (error "No."))',
    {
      unfinished: '(progn (defun u1 () 1) (setf *s6* 2) (error "No."))',
      set: ['COMMON-LISP-USER::*S6*'],
    },
  ],
  ['(progn (setf *no-such-variable* (error "No.")))', undefined],
])('a form that is left before its end can have set variables: %s', async (code, members) => {
  await reportedOf('(defvar *s6* 1)');
  reported = [];
  await child.request('evaluate', { code }).answer;
  expect(reported).toEqual(members ? [members] : []);
});

test.each([
  '(sb-ext:without-package-locks (defun d1 () 1))',
  '(sb-ext:unlock-package :sb-gray)',
  '(defun sb-gray::stream-line-column-of-mine () 1)',
  '(fmakunbound (quote sb-gray::mine))',
  '(let () (defvar sb-gray::*mine* 1))',
  '(sb-ext:lock-package :sb-gray) (defvar live-lisp.journal::*mine* 1)',
])('changes the system: %s', async (code) => {
  expect((await reportedOf(code)).at(-1)).toEqual({
    damages: code.replace(/^\(sb-ext:lock-package :sb-gray\) /, ''),
  });
});
