(in-package "CL-USER")
(defun compile-warns-1 (a) (no-such-function-in-a-file-2 a))
(defun compile-warns-2 (unused) no-such-variable-in-a-file)
(defun compile-warns-3 () (car 1))
