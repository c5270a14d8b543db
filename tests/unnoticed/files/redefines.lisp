(eval-when (:compile-toplevel :execute)
  (defun redefined-while-compiling (x) x))
(defmacro redefined-macro (x) x)
