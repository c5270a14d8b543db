;;;; A file that loads another one while it is compiled and loaded.

(defpackage :outer (:use :cl :tort))
(in-package :outer)
(defun f1 () (list (hit 201)))
(eval-when (:compile-toplevel :execute) (load (merge-pathnames "inner.inc" (or *compile-file-truename* *load-truename*))))
(defun f2 () (list (car '(1)) (hit 202)))
(eval-when (:load-toplevel :execute) (load (merge-pathnames "inner.inc" #.(or *compile-file-truename* *load-truename*))))
(defun f3 () (list (hit 203)))
