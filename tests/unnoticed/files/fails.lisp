(in-package "CL-USER")
(defparameter *before-failure* 1)
(error "this file fails")
