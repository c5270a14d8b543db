;;;; Calls in all kinds of places, and another *READ-BASE*.

(defpackage :misc (:use :cl :tort))
(in-package :misc)
(defun f1 () (loop for x in (list 1) collect (hit 241) into y finally (return (list y (hit 242)))))
(eval-when (:compile-toplevel :load-toplevel :execute) (setf *read-base* 16))
; It is (hit 243).
(defun fz2 () (list (hit f3)))
(eval-when (:compile-toplevel :load-toplevel :execute) (setf *read-base* a))
(defun f3 () (handler-bind ((warning #'identity)) (list (multiple-value-bind (a b) (values 1 (hit 244)) (list a b (hit 245))))))
(defmethod g4m ((x integer) &key (y (list (hit 246)))) (list x y (hit 247)))
(defun f5 () (list (g4m 1)))
(defun f6 (&optional (x (list (hit 248)))) (list x (unwind-protect (list (hit 249)) (list (hit 250)))))
(defstruct (thing (:constructor mk (&aux (z (list (hit 251)))))) z)
(defun f7 () (list (mk)))
(setf (symbol-function 'f8) (lambda () (list (hit 252))))
(defun f9 () (list (funcall (compile nil '(lambda () (list (hit 253)))))))
(defun f10 () (list (funcall (lambda (x) (list x (hit 254))) 1)))
