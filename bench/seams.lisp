;;;; Decides how the CPU time of a call within the image is put down to its parts. Each is a function of the agent, which
;;;; notes what its thread had while it ran, without what the parts within it had.

(defpackage "LIVE-LISP.SEAMS" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.SEAMS")

(sb-ext:defglobal **sums** #() "The nanoseconds of each part so far.")

(defvar *within* 0 "The nanoseconds of those parts that this part has called.")

(defun thread-nanoseconds ()
  "Return the CPU time that this thread has had."
  (multiple-value-bind (seconds nanoseconds) (sb-unix::clock-gettime sb-unix:clock-thread-cputime-id)
    (+ (* seconds 1000000000) nanoseconds)))

(defun call-noting (part function arguments)
  "Call FUNCTION with ARGUMENTS, return what it returns, and note its time as that of PART."
  (let ((began (thread-nanoseconds)) (within 0))
    (multiple-value-prog1 (let ((*within* 0))
                            (multiple-value-prog1 (apply function arguments)
                              (setf within *within*)))
      (let ((whole (- (thread-nanoseconds) began)))
        (incf (svref **sums** part) (- whole within))
        (incf *within* whole)))))

(defun watch-seams (seams)
  "Note from now on the time of each part in SEAMS: the package and the name of the function that it is."
  (setf **sums** (make-array (length seams) :initial-element 0))
  (sb-ext:without-package-locks
    (loop for (package name) in seams
          for part from 0
          do (let ((part part))
               (sb-int:encapsulate (find-symbol name package) 'seam
                                   (lambda (function &rest arguments) (call-noting part function arguments)))))))

(defun take-seams ()
  "Return the nanoseconds of each part since the last time."
  (let ((sums **sums**))
    (setf **sums** (make-array (length sums) :initial-element 0))
    (coerce sums 'list)))
