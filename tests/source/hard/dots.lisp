;;;; What #. makes: data, code, whole forms and features.

(defpackage :dots (:use :cl :tort))
(in-package :dots)
(eval-when (:compile-toplevel :load-toplevel :execute) (defparameter *conses* '((a b) (c (d)))) (defun made () (list 'list 1 (list 'car ''(2 3)))))
(defun f1 () (list '#.*conses* (hit 11)))
(defun f2 () (list #.(made) (hit 12) #.(made) (hit 13)))
; It makes (hit 15).
(defun f3 () (list (hit 14) #.(list 'list 5 (list 'hit 15)) (hit 16)))
(defun f4 () (case 3 (#.(+ 1 2) (list (hit 17)))))
(defun f5 () (list #.`(list ,@(loop for i below 3 collect `(list ,i))) (list (hit 18))))
; It makes (hit 19).
#.(list 'defun 'f6 '() (list 'list (list 'hit 19)))
#+#.(cl:if (cl:find-package "TORT") '(:and) '(:or)) (defun f7 () (list (car '(1)) (hit 20)))
