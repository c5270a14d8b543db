// Random forms of many kinds that build an image, over few names, and a form that shows all that they can build.

/** A generator of whole numbers below a limit, the same for the same SEED. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

type Kind = (n: number, value: number, other: number) => string;

/** Each makes a form of a name's number, a value and a smaller number. */
const KINDS: readonly Kind[] = [
  (n, v) => `(defun f${n} () ${v})`,
  (n, v) => `(defun f${n} (&optional (x ${v})) "Doc ${v}." x)`,
  (n, _, o) => (o < n ? `(defun f${n} () (list :of (f${o})))` : `(defun f${n} () :alone)`),
  (n, v) => `(let ((x ${v})) (defun f${n} () x))`,
  (n, v) => `(progn (print ${v}) (defun f${n} () '(${v} ${v})))`,
  (n, v) => `(setf (fdefinition 'f${n}) (lambda () ${v}))`,
  (n) => `(fmakunbound 'f${n})`,
  (n, v) => `(when t (eval '(defun f${n} () ${v})))`,
  (n, v) => `(defmacro m${n} (&rest all) \`(list ,@all ${v}))`,
  (n, _, o) => `(defun f${n} () (m${o} 1 2))`,
  (n, v) => `(defmacro def${n} (name) \`(defun ,name () ${v}))`,
  (n, _, o) => `(def${o} f${n})`,
  (n, v) => `(defvar *v${n}* ${v})`,
  (n, v) => `(defparameter *v${n}* (list ${v} ${v}))`,
  (n) => `(makunbound '*v${n}*)`,
  (n, v) => `(defconstant +c${n}-${v}+ ${v})`,
  (n, v) => `(deftype t${n} () '(integer 0 ${v}))`,
  (n, v) => `(defclass k${n} () ((a :initform ${v}) (s${v % 3} :initarg :s)))`,
  (n, v, o) => (o < n ? `(defclass k${n} (k${o}) ((b :initform ${v})))` : `(defclass k${n} () ())`),
  (n) => `(setf (find-class 'k${n}) nil)`,
  (n) => `(defgeneric g${n} (x) (:documentation "G."))`,
  (n, v, o) => `(defmethod g${n} ((x k${o})) ${v})`,
  (n, v) => `(defmethod g${n} ((x integer)) (+ x ${v}))`,
  (n) => `(remove-method #'g${n} (find-method #'g${n} '() (list (find-class 'integer))))`,
  (n, v) => `(defstruct (st${n}-${v % 4} (:conc-name st${n}-)) (a ${v}))`,
  (n, v) => `(define-condition e${n} (error) () (:report "E${v}"))`,
  (n, v) => `(define-symbol-macro y${n} (list ${v}))`,
  (n, v) => `(setf (documentation 'f${n} 'function) "Set ${v}.")`,
  (n) => `(defpackage :rp${n} (:use :cl) (:export "OUT"))`,
  (n) => `(in-package :rp${n % 2})`,
  () => '(in-package :cl-user)',
  (n, v) => `(export (intern "E${v % 5}" :rp${n}) :rp${n})`,
  (n, v) => `(unexport (intern "E${v % 5}" :rp${n}) :rp${n})`,
  (n) => `(delete-package :rp${n})`,
  (n, _, o) => `(use-package :rp${o} :rp${n})`,
  (n, v) => `(set-macro-character #\\${'!$'[n % 2]} (lambda (s c) (declare (ignore s c)) ${v}))`,
  (n, v) => `(defun f${n} () (list !${'$'} ${v}))`,
  (_, v) => `(set-dispatch-macro-character #\\# #\\? (lambda (s c n) (declare (ignore s c n)) ${v}))`,
  () => '(setf *readtable* (copy-readtable))',
  () => '(setf *readtable* (copy-readtable nil))',
  (n, v) => `(declaim (optimize (debug ${v % 4}) (speed ${n % 4})))`,
  (n, v) =>
    `(live-lisp:register-tool live-lisp:*agent-q-registry* (live-lisp:define-tool "tool_${n}" "Tool ${v}." '() :handler (lambda (a) (declare (ignore a)) "${v}")))`,
  (n, v) => `(setf *v${n}-unknown* ${v})`,
  (n) => `(f${n})`,
  (n) => `(error "No ${n}.")`,
  (n, v) => `(defun f${n} () ${v}) (defvar *w${n}* ${v}) (error "After.")`,
  (_, v) => `(+ 1 ${v})`,
];

/** Returns the next form that NEXT gives. */
export function randomForm(next: (limit: number) => number): string {
  const kind = KINDS[next(KINDS.length)] ?? KINDS[0];
  return kind?.(next(5), next(20), next(5)) ?? '1';
}

/** Returns all that random forms can build, as text, but the values of variables. */
export const SHOW = `
(flet ((show-symbol (s &aux (name (prin1-to-string s)))
         (list name
               (cond ((special-operator-p s) nil) ((macro-function s) (macroexpand-1 (list s 7)))
                     ((fboundp s) (list (type-of (fdefinition s)) (sb-introspect:function-lambda-list s)
                                        (handler-case (funcall s) (serious-condition (c) (type-of c))))))
               (and (fboundp s) (not (macro-function s)) (documentation s 'function))
               (and (constantp s) (symbol-value s))
               (boundp s)
               (let ((class (find-class s nil)))
                 (and (typep class 'standard-class)
                      (list (mapcar #'class-name (sb-mop:class-direct-superclasses class))
                            (mapcar (lambda (slot) (list (sb-mop:slot-definition-name slot)
                                                         (sb-mop:slot-definition-initform slot)))
                                    (sb-mop:class-direct-slots class)))))
               (let ((class (find-class s nil)))
                 (and (typep class 'structure-class)
                      (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class))))
               (and (fboundp s) (typep (fdefinition s) 'generic-function)
                    (sort (mapcar (lambda (m) (format nil "~S" (mapcar (lambda (x) (if (typep x 'class) (class-name x) x))
                                                                       (sb-mop:method-specializers m))))
                                  (sb-mop:generic-function-methods (fdefinition s)))
                          #'string<))
               (ignore-errors (sb-ext:typexpand-1 s)))))
  (let ((*print-pretty* nil) (*print-length* nil) (*print-level* nil) (*package* (find-package :keyword)))
    (format nil "~{~A~%~}"
      (append
        (list (package-name (live-lisp.jobs::session-package))
              (prin1-to-string (sb-c::policy-to-decl-spec sb-c::*policy*))
              (live-lisp.jobs::readtable-text *readtable*)
              (prin1-to-string (last (live-lisp:list-registered-tools) 6)))
        (loop for package in (list-all-packages)
              when (or (eql 0 (search "RP" (package-name package))) (eq package (find-package "COMMON-LISP-USER")))
                append (cons (prin1-to-string (list (package-name package)
                                                    (sort (mapcar #'package-name (package-use-list package)) #'string<)
                                                    (let (all) (do-external-symbols (s package) (push (symbol-name s) all))
                                                      (sort all #'string<))))
                         (let (all)
                           (do-symbols (s package)
                             (when (and (eq (symbol-package s) package)
                                        (or (fboundp s) (boundp s) (find-class s nil) (not (eq s (ignore-errors (sb-ext:typexpand-1 s)))))
                                        (not (search "-UNKNOWN" (symbol-name s))))
                               (pushnew (prin1-to-string (show-symbol s)) all :test #'equal)))
                           (sort all #'string<))))))))`;
