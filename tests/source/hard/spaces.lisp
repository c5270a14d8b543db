;;;; Several forms on a line, with tabs and form feeds.

(defpackage :spaces (:use :cl :tort))
(in-package :spaces)
(defun f1 () (list (hit 221)))(defun f2 () (list (hit 222)))	(defun f3 ()	(list	(hit 223)))(defun f4 () (list (hit 224)))
;​  
(defun f5 () (list '|a b (| (hit 225) #\é (hit 226)))
