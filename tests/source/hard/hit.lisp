;;;; What the other files of this folder call: (hit N) signals an error for one N.

(defpackage :tort (:use :cl) (:export #:hit #:mover #:vec #:run))
(in-package :tort)

(defvar *failing* nil "The argument for which HIT signals an error.")

(declaim (notinline hit))
(defun hit (n) (if (eql n *failing*) (error "hit ~D" n) n))

(defmacro mover (&rest forms) "Lists FORMS from the last to the first." `(list ,@(reverse forms)))
(defmacro vec (form) "Evaluates FORM, a vector, as if it were a list." (coerce form 'list))

(defun run (package n)
  "Calls the functions of PACKAGE whose names begin with F, in which (hit N) signals an error."
  (let ((*failing* n))
    (do-symbols (name package)
      (when (and (eq (symbol-package name) (find-package package))
                 (fboundp name)
                 (not (macro-function name))
                 (eql 0 (search "F" (symbol-name name))))
        (funcall name)))))
