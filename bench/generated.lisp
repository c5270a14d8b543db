;;;; A program of many functions, to see what the index of callers costs in one.

(defpackage "LIVE-LISP.BENCH" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BENCH")

(defconstant +part+ 1000 "How many functions each part of the program has.")

(defun popular (value)
  "Return VALUE. Each tenth function calls this one."
  value)

(defun write-part (file)
  "Write a part of the program into FILE: functions that each call three others, and a variable for each 50 of them."
  (with-open-file (stream file :direction :output :if-exists :supersede)
    (let ((seed 1) (*package* (find-package "COMMON-LISP")))
      (flet ((any () (mod (setf seed (mod (+ (* 1103515245 seed) 12345) 2147483648)) +part+)))
        (format stream "(in-package \"GENERATED\")~%")
        (dotimes (number +part+)
          (when (zerop (mod number 50)) (format stream "(defvar *v~D* (list ~D))~%" number number))
          (format stream "(defun f~D (a) ~:[~;(live-lisp.bench::popular a) ~](if a (f~D (f~D a)) (mapcar #'f~D *v~D*)))~%"
                  number (zerop (mod number 10)) (any) (any) (any) (- number (mod number 50))))))))

(defun make-program (parts)
  "Load PARTS times a part of the program, each into a package of its own. Return how many functions that are."
  (let* ((file (format nil "/tmp/live-lisp-bench-~D.lisp" (sb-unix:unix-getpid))) (fasl (concatenate 'string file ".fasl")))
    (unwind-protect
         (let ((*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream)))
           (write-part file)
           (make-package "GENERATED" :use '("COMMON-LISP"))
           (compile-file file :output-file fasl)
           (dotimes (part parts)
             (unless (find-package "GENERATED") (make-package "GENERATED" :use '("COMMON-LISP")))
             (load fasl)
             (rename-package "GENERATED" (format nil "GENERATED-~D" part))))
      (mapc #'delete-file (remove-if-not #'probe-file (list file fasl))))
    (* parts +part+)))

(defun milliseconds-of (function)
  "Call FUNCTION and return the milliseconds of CPU that this image took for it."
  (let ((began (get-internal-run-time)))
    (funcall function)
    (floor (* 1000 (- (get-internal-run-time) began)) internal-time-units-per-second)))

(defun nanoseconds-of (function)
  "Call FUNCTION and return how many nanoseconds that took."
  (flet ((now ()
           (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
             (+ (* 1000000000 seconds) (* 1000 microseconds)))))
    (let ((began (now)))
      (funcall function)
      (- (now) began))))

(defun use-index ()
  "Have the index made if there is none."
  (live-lisp.look::with-index (index) index)
  nil)

(defun index-cost ()
  "Make the index anew. Return the milliseconds of CPU that it took, and the octets that it holds."
  (setf live-lisp.look::**index** nil)
  (sb-ext:gc :full t)
  (let* ((before (sb-kernel:dynamic-usage)) (time (milliseconds-of #'use-index)))
    (sb-ext:gc :full t)
    (list time (- (sb-kernel:dynamic-usage) before))))

(defun who-calls-times (parts count)
  "Return the nanoseconds of COUNT look-ups of callers, each of another function of a program of PARTS."
  (loop for number below count
        for name = (format nil "generated-~D::f~D" (mod (* 7 number) parts) (mod (* 13 number) +part+))
        collect (nanoseconds-of (lambda () (live-lisp.look::operation/who-calls :name name :offset 0 :limit 200)))))

(defun popular-times (count)
  "Return the nanoseconds of COUNT look-ups of who calls POPULAR."
  (loop repeat count
        collect (nanoseconds-of (lambda ()
                                  (live-lisp.look::operation/who-calls :name "live-lisp.bench::popular" :offset 0 :limit 200)))))

(defun times-after-definitions (count)
  "Return the nanoseconds of COUNT look-ups, each the first after a definition."
  (loop repeat count
        do (setf (fdefinition 'newest) (compile nil '(lambda (a) (popular a))))
        append (popular-times 1)))
