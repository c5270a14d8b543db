;;;; Comments in comments, and what #+ and #- leave out.

(defpackage :comments (:use :cl :tort))
(in-package :comments)
#| a #| (hit 999) |# |# (defun f1 () #| #| |# ( |# (list #|x|#(hit 101)#|y|# #||# (hit 102)))
#|| #|| ||# ||#
(defun f2 () ; |#
  (list #| " |# (hit 103) #| ' |#))
#-(or) (defun f3 () (list #+(or) #+(or) (hit 998) (hit 104) (hit 105) #-(and) (hit 997)))
#+nil (defun f3 () #.(error "never"))
(defun f4 () (list #+sbcl (hit 106) #-sbcl (hit 996) #+(and sbcl (not xyz)) (hit 107)))
#+ #+(or) a sbcl (defun f5 () (list (hit 108)))
