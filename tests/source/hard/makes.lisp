;;;; Code that is made at compile time, and definitions in other forms.

(defpackage :makes (:use :cl :tort))
(in-package :makes)
(eval-when (:compile-toplevel :execute)
  (defun making (n) (loop for i from n repeat 3 collect `(list (hit ,i)))))
(eval-when (:load-toplevel) (defun making (n) (list n)))
(defmacro with-made (n &body b) (if (fboundp 'making) `(list ,@b ,@(making n)) nil))
; It makes (hit 151), (hit 152) and (hit 153).
(defun f1 () (with-made 151 (hit 154) (hit 155)))
(macrolet ((def (n &body b) `(defun ,n () ,@b)))
  (def f2 (list (hit 156)))
  (def f3 (list (list 1 (hit 157)))))
(progn (progn (defun f4 () (list (hit 158)))) (defun f5 () (list (hit 159))))
(symbol-macrolet ((x (hit 160))) (defun f6 () (list x (hit 161))))
(eval-when (:compile-toplevel :load-toplevel :execute) (defun f7 () (list (hit 162))))
(let ((y 1)) (defun f8 () (list y (hit 163))) (defun f9 () (list (incf y) (hit 164))))
