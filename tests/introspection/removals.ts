// A generated program of definitions of all kinds and their users, and what breaks in a plain SBCL when one
// of the definitions is not there.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testSbcl } from '../harness.ts';

type Random = (bound: number) => number;

/** A definition. FORM is its text; WAYS are forms that use it, each the body of a function or, if it begins
 *  with `(def`, a definition of its own, in which NEW stands for a new name. */
interface Kind {
  form: string;
  ways: readonly string[];
}

/** By kind: the definition of NAME. */
const KINDS: Readonly<Record<string, Kind>> = {
  function: {
    form: '(defun NAME (x) (list x))',
    ways: [
      '(NAME 1)',
      "(funcall #'NAME 1)",
      "(mapcar 'NAME (list 1))",
      '(passing (NAME 1))',
      '(funcall (intern "NAME" :removed) 1)',
      "(let ((table '((:a . NAME)))) (funcall (cdr (assoc :a table)) 1))",
      '(macrolet ((local () `(NAME 1))) (local))',
      '(defparameter NEW (NAME 4))',
      '(defclass NEW () ((a :initform (NAME 1))))',
    ],
  },
  inlined: {
    form: '(progn (declaim (inline NAME)) (defun NAME (x) (list x)))',
    ways: ['(NAME 1)', "(mapcar #'NAME (list 1 2))", '(defvar NEW (NAME 1))'],
  },
  macro: {
    form: '(defmacro NAME (x) `(list ,x))',
    ways: ['(NAME 1)', '(defmacro NEW (x) `(NAME ,x))', '(defvar NEW (NAME 2))', '(passing (NAME 1))'],
  },
  generic: {
    form: '(progn (defgeneric NAME (x)) (defmethod NAME ((x integer)) (list x)))',
    ways: ['(NAME 1)', "(mapcar #'NAME (list 1))", '(funcall (symbol-function (quote NAME)) 1)'],
  },
  setter: {
    form: '(defun (setf NAME) (new place) (setf (car place) new))',
    ways: [
      '(let ((l (list 1))) (setf (NAME l) 2) l)',
      "(let ((l (list 1))) (funcall #'(setf NAME) 2 l) l)",
      '(defvar NEW (let ((l (list 1))) (setf (NAME l) 2)))',
    ],
  },
  expander: {
    form: '(defsetf NAME (place) (new) `(setf (car ,place) ,new))',
    ways: [
      '(let ((l (list 1))) (setf (NAME l) 2) l)',
      '(passing (let ((l (list 1))) (setf (NAME l) 2) l))',
      '(defvar NEW (let ((l (list 1))) (setf (NAME l) 2)))',
    ],
  },
  class: {
    form: '(defclass NAME () ((a :initarg :a :initform 1 :accessor NAME-a) (b :initform 2 :reader NAME-b)))',
    ways: [
      "(make-instance 'NAME)",
      "(NAME-a (make-instance 'NAME))",
      "(let ((x (make-instance 'NAME :a 2))) (setf (NAME-a x) 3) (incf (NAME-a x)))",
      "(typep 1 'NAME)",
      '(lambda (x) (typecase x (NAME 1) (t 2)))',
      '(lambda (x) (declare (type NAME x)) x)',
      "(apply #'make-instance 'NAME '())",
      "(let ((class 'NAME)) (make-instance class))",
      "(mapcar #'make-instance '(NAME))",
      '(made NAME)',
      '(defmethod shown-1 ((x NAME)) x)',
      '(defmethod print-object ((x NAME) stream) (write-string "x" stream))',
      '(def-shown NAME)',
      '(defclass NEW (NAME) ())',
      '(defstruct NEW (part nil :type (or null NAME)))',
      '(defgeneric NEW (x) (:method ((x NAME)) x))',
      "(defparameter NEW (make-instance 'NAME))",
      "(change-class (make-instance 'other) 'NAME)",
    ],
  },
  structure: {
    form: '(progn (defstruct NAME (a 1) (b 2)) (defmethod make-load-form ((x NAME) &optional e) (make-load-form-saving-slots x :environment e)))',
    ways: [
      '(make-NAME)',
      '(NAME-a (make-NAME))',
      '(let ((x (make-NAME :a 2))) (setf (NAME-b x) 3) x)',
      '(NAME-p 1)',
      "(typep 1 'NAME)",
      '(quote #S(NAME :a 3))',
      '(lambda (x) (declare (type NAME x)) x)',
      '(lambda (x) (etypecase x (NAME 1)))',
      "(mapcar #'NAME-a (list (make-NAME)))",
      '(defstruct (NEW (:include NAME)) c)',
      '(defmethod shown-1 ((x NAME)) x)',
      '(defmethod print-object ((x NAME) stream) (write-string "x" stream))',
      '(defvar NEW (make-NAME :b 3))',
    ],
  },
  vector: {
    form: '(defstruct (NAME (:type list)) a b)',
    ways: [
      '(NAME-a (make-NAME :a 1))',
      '(let ((x (make-NAME))) (setf (NAME-b x) 1) x)',
      '(defvar NEW (make-NAME))',
    ],
  },
  condition: {
    form: '(define-condition NAME (error) ((a :initarg :a :initform 1 :reader NAME-a)) (:report "x"))',
    ways: [
      "(error 'NAME)",
      "(make-condition 'NAME)",
      '(handler-case (list 1) (NAME (c) (NAME-a c)))',
      '(handler-case (list 1) ((or NAME warning) () 2))',
      "(handler-bind ((NAME #'print)) (list 1))",
      "(typep 1 'NAME)",
      '(lambda (c) (NAME-a c))',
      '(define-condition NEW (NAME) ())',
      '(defmethod shown-1 ((x NAME)) x)',
    ],
  },
  type: {
    form: '(deftype NAME (&optional (n 10)) `(integer 0 ,n))',
    ways: [
      "(typep 1 'NAME)",
      '(lambda (x) (declare (type NAME x)) x)',
      '(lambda (x) (check-type x (or null NAME)) x)',
      '(lambda (x) (the NAME x))',
      "(make-array 3 :element-type 'NAME)",
      '(lambda (x) (loop for i of-type NAME from 0 below 3 collect (list i x)))',
      '(defstruct NEW (part 1 :type NAME))',
      '(declaim (ftype (function (NAME) t) ahead))',
      '(passing (the NAME 1))',
    ],
  },
  combination: {
    form: '(define-method-combination NAME :operator and)',
    ways: [
      '(defgeneric NEW (x) (:method-combination NAME))',
      '(defgeneric NEW (x) (:method-combination NAME) (:method NAME ((x integer)) x))',
    ],
  },
  replaced: {
    form: '(define-symbol-macro NAME (car *cell*))',
    ways: ['(list NAME)', '(setf NAME 2)', '(passing (list NAME))', '(defvar NEW (list NAME))'],
  },
  variable: {
    form: '(defvar *NAME* (list 1))',
    ways: [
      '(list *NAME*)',
      '(setf *NAME* (list 2))',
      '(passing (push 1 *NAME*))',
      '(let ((*NAME* 3)) (list (shown-var)))',
      '(defvar NEW (list *NAME*))',
    ],
  },
  constant: {
    form: '(defconstant +NAME+ 3)',
    ways: [
      '(list +NAME+)',
      '(+ +NAME+ 1)',
      '(defvar NEW (+ 1 +NAME+))',
      '(lambda (x) (case x (#.+NAME+ 1)))',
    ],
  },
};

/** A top-level form of the program, the only one in its LINE, counted through both files of the program. */
export interface Unit {
  line: number;
  text: string;
  /** The definition: what to ask about, its name in upper case. */
  asked?: string;
  kind: string;
  /** For a user: the line of the definition it uses. */
  of?: number;
  /** For a user: the name that it defines. */
  name?: string;
}

const BEGINNING = [
  '(defpackage :removed (:use :cl))',
  '(in-package :removed)',
  '(defvar *cell* (list 1))',
  '(defmacro passing (form) form)',
  "(defmacro made (name) `(make-instance ',name))",
  '(defgeneric shown-1 (x))',
  '(defgeneric shown-2 (x))',
  '(defmacro def-shown (name) `(defmethod shown-2 ((x ,name)) x))',
  '(defclass other () ())',
  '(defun shown (stream argument &rest more) (declare (ignore more)) (princ argument stream))',
  '(defun shown-var () 1)',
];

/** Returns COUNT definitions and then, at random, USERS times as many users of them. The file of the users
 *  begins with the unit of kind `users`. */
export function generated(count: number, users: number, random: Random): Unit[] {
  const kinds = Object.keys(KINDS);
  const lines: Omit<Unit, 'line'>[] = BEGINNING.map((text) => ({ text, kind: 'beginning' }));
  const defined: { line: number; kind: string; name: string }[] = [];
  for (let i = 0; i < count; i++) {
    const kind = kinds[i % kinds.length] ?? '';
    const name = `n${i}`;
    const text = (KINDS[kind]?.form ?? '').replaceAll('NAME', name);
    lines.push({ text, kind, asked: askedName(kind, name) });
    defined.push({ line: lines.length, kind, name });
  }
  lines.push({ text: '(in-package :removed)', kind: 'users' });
  for (let i = 0; i < count * users; i++) {
    const each = defined[random(defined.length)];
    const ways = KINDS[each?.kind ?? '']?.ways ?? [];
    const way = (ways[random(ways.length)] ?? '').replaceAll('NAME', each?.name ?? '');
    const name = `u${i}`;
    const text =
      way.startsWith('(def') || way.startsWith('(declaim')
        ? way.replaceAll('NEW', name)
        : `(defun ${name} () ${way})`;
    lines.push({ text, kind: each?.kind ?? '', name, ...(each && { of: each.line }) });
  }
  return lines.map((each, index) => ({ ...each, line: index + 1 }));
}

/** Returns the name of the definition of KIND made from NAME, as impact_of_change takes it. */
function askedName(kind: string, name: string): string {
  if (kind === 'setter' || kind === 'expander') return `(setf ${name})`;
  if (kind === 'variable') return `*${name}*`;
  return kind === 'constant' ? `+${name}+` : name;
}

const DRIVER = `
(require :sb-posix)
(setf *invoke-debugger-hook* (lambda (c h) (declare (ignore h)) (format t "FAILED ~A~%" c) (finish-output) (sb-ext:exit :code 1 :abort t)))
(defun outcome (thunk)
  (let ((warned nil))
    (handler-case
        (handler-bind ((warning (lambda (c) (when (search "undefined" (remove #\\Newline (princ-to-string c))) (setf warned t)) (muffle-warning c))))
          (funcall thunk)
          (if warned "warned" "fine"))
      (error (c) (format nil "~(~A~)" (type-of c)))
      (serious-condition () "serious"))))
(defun try-program (number skipped)
  (let ((*package* *package*) (lines (with-open-file (in (second sb-ext:*posix-argv*)) (loop for line = (read-line in nil) while line collect line))))
    (loop for line in lines for count from 1
          unless (eql count skipped)
          do (let* ((form nil)
                    (result (outcome (lambda () (setf form (read-from-string line)) (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream))) (eval form))))))
               (unless (string= result "fine") (format t "BROKEN ~D ~D ~A~%" number count result))))
    (loop for line in lines for count from 1
          when (eql 0 (search "(defun u" line))
          do (let ((result (outcome (lambda () (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream))) (funcall (find-symbol (string-upcase (subseq line 7 (position #\\Space line :start 7))) :removed)))))))
               (unless (string= result "fine") (format t "BROKEN ~D ~D run ~A~%" number count result))))))
(dolist (skipped (mapcar #'parse-integer (cddr sb-ext:*posix-argv*)))
  (let ((child (sb-posix:fork)))
    (when (zerop child)
      (try-program skipped skipped)
      (finish-output)
      (sb-ext:exit :code 0 :abort t))
    (sb-posix:waitpid child 0)))
`;

/** Returns, for each of the lines SKIPPED (0 for none), the lines of FILE whose forms a plain SBCL cannot compile or
 *  evaluate without that line, or whose functions fail when they run. FOLDER is for the script. */
export function brokenInSbcl(
  folder: string,
  file: string,
  skipped: readonly number[],
): Map<number, Map<number, string>> {
  const script = join(folder, 'driver.lisp');
  writeFileSync(script, DRIVER);
  const output = execFileSync(
    testSbcl(),
    [
      '--noinform',
      '--no-userinit',
      '--no-sysinit',
      '--load',
      script,
      '--quit',
      '--end-toplevel-options',
      file,
      ...skipped.map(String),
    ],
    { encoding: 'utf8', maxBuffer: 100_000_000, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (output.includes('FAILED')) throw new Error(output);
  const broken = new Map<number, Map<number, string>>(skipped.map((each) => [each, new Map()]));
  for (const [, number, line, how] of output.matchAll(/^BROKEN (\d+) (\d+) (.*)$/gm))
    broken.get(Number(number))?.set(Number(line), how ?? '');
  return broken;
}
