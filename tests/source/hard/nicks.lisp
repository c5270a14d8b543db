;;;; Names with packages, nicknames and bars.

(defpackage :nicks (:use :cl :tort))
(in-package :nicks)
(defpackage :nicks-x (:use :cl) (:local-nicknames (:tt :tort)))
(in-package :nicks-x)
; These are (hit 231), (hit 232) and (hit 233).
(defun nicks::f1 () (list (cdr '(1)) (tt:hit 231)))
(in-package "NICKS")
(defun f2 () (cl:list (tort::hit 232) (|TORT|:|HIT| 233)))
