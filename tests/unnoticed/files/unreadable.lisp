(in-package "CL-USER")
(defparameter *before-unreadable* 1)
(defun never-closed (a
