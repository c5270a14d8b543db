;;;; Other files that #. reads into this one.

(defpackage :includes (:use :cl :tort))
(in-package :includes)
(eval-when (:compile-toplevel :load-toplevel :execute) (defun read-file (name) (with-open-file (in (merge-pathnames name (or *compile-file-truename* *load-truename*))) (cons 'progn (loop for form = (read in nil in) until (eq form in) collect form)))))
(defun f1 () (list (hit 211)))
#.(read-file "included.inc")
(defun f2 () (list (car '(1)) #.(read-file "part.inc") (hit 212)))
(defun f3 () (list (hit 213)))
