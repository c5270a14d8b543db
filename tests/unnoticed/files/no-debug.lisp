(in-package "CL-USER")
(defun no-debug-1 (a) (declare (optimize (debug 0) (speed 3) (safety 0))) (defs-function a))
(defmethod no-debug-2 ((a integer)) (declare (optimize (debug 0) (speed 3) (safety 0))) (print a *standard-output*) (no-debug-1 a))
(let ((counter 0)) (defun no-debug-3 () (declare (optimize (debug 0))) (incf counter) (mapcar #'no-debug-1 (list counter))))
