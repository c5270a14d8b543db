(in-package "CL-USER")
(warn "this file warns")
(defun warns-user (a) (no-such-function-in-a-file a))
