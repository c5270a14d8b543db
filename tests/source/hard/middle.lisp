;;;; Packages that change in the middle of the file.

(defpackage :middle (:use :cl :tort))
(in-package :middle)
(defun f1 () (list 1 (hit 1) 2))
(defpackage :middle-b (:use :cl) (:import-from :tort #:hit))
(in-package :middle-b)
(defun middle::f2 () (let ((x '(1 2 (3)))) (list x (hit 2))))
(cl:in-package :cl-user)
; This is (hit 3).
(cl:defun middle::f3 () (list (cdr '(a b)) (tort:hit 3)))
(cl:in-package #:middle)
(defun f4 ()
  (flet ((g () (list (hit 4)))) (list (g) (g))))
