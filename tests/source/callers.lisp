;;; ←←←← SBCL counts the bytes of this comment, not its characters. 😀😀😀😀

(in-package :position-oracle)

(defun callee (x) x) ; déjà vu, and what follows belongs to no form (callee 0)

#+no-such-feature
(defun caller (y) (callee y))

(defun caller (y)
  (let ((first '(callee 1)) (é (callee "é")))
    #-sbcl (callee 2)
    (list first é (callee `(x ,(callee y))))))
