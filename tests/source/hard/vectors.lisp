;;;; Vectors, structures, arrays, and lists that stand in two places.

(defpackage :vectors (:use :cl :tort))
(in-package :vectors)
(eval-when (:compile-toplevel :load-toplevel :execute) (defstruct point x y) (defmethod make-load-form ((p point) &optional e) (make-load-form-saving-slots p :environment e)))
(defun f1 () (list #((hit 995) (b (c))) (hit 131) #(1 (2)) (hit 132)))
(defun f2 () (list #S(point :x (1 2) :y ((3))) (hit 133)))
(defun f3 () (list #2A((1 2) ((3) 4)) (hit 134) #C(1 2) #*101 (hit 135)))
(defun f4 () (vec #(list (hit 136) (list (hit 137)))))
(defun f5 () (list #1=(car '(1)) #1# (hit 138)))
(defun f6 () (list '#2=(a b . #2#) (hit 139)))
(defun f7 () (list #3=(hit 140) #3# (hit 141)))
(defun f8 () (list '(a . (b . (c))) (hit 142) #p"x" (list . ((hit 143)))))
