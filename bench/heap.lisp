;;;; A program that keeps much and makes garbage meanwhile: what is timed of it is mostly the collection of that.

(defpackage "LIVE-LISP.BENCH" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BENCH")

(defun make-part ()
  "Return about a megabyte of lists."
  (loop repeat 5000 collect (make-list 12)))

(defun work (kept rounds)
  "Make a part in each of ROUNDS rounds. Each tenth takes the place of one in the vector KEPT, in no simple order."
  (dotimes (round rounds)
    (let ((part (make-part)))
      (when (zerop (mod round 10))
        (setf (aref kept (mod (* 7919 round) (length kept))) part)))))

(defun keep-and-make (megabytes rounds)
  "Keep about MEGABYTES while WORK does ROUNDS rounds. Return the milliseconds of CPU that this image took for it."
  (let ((began (get-internal-run-time))
        (kept (make-array megabytes)))
    (map-into kept #'make-part)
    (work kept rounds)
    (assert (every (lambda (part) (= 5000 (length part))) kept))
    (floor (* 1000 (- (get-internal-run-time) began)) internal-time-units-per-second)))
