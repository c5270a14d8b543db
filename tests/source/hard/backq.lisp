;;;; Backquotes: nested, dotted, with vectors, with splices.

(defpackage :backq (:use :cl :tort))
(in-package :backq)
(defmacro m1 (x) `(list ,x (hit ,(1+ 110)) ,@(list 1 (list 'list 2))))
; It makes (hit 111).
(defun f1 () (list (m1 3) (hit 112)))
(defmacro m2 (x) ``(list ,',x ,,x))
(defun f2 () (list `(a ,(hit 113) ,@(list (hit 114)) `(b ,(c ,(hit 115) ',(hit 116)))) (hit 117)))
(defun f3 () (list `#(1 ,(hit 118) ,@(list (hit 119))) (hit 120)))
(defun f4 () (list `(,@(list 1) . (2 ,(hit 122))) (hit 123)))
(defun f5 () (list `(,@(list (hit 124)) ,.(list (hit 125))) ''a '#'b (hit 126)))
