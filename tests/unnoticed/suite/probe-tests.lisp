;;;; A test that tells the probes of forms.txt. Within each call of WATCHED a check fails.

(defpackage "PROBE-TESTS"
  (:use "COMMON-LISP" "FIVEAM"))

(in-package "PROBE-TESTS")

(defun fail-checks ()
  "Fail checks of all kinds. FiveAM goes on from each before a probe can handle it."
  (declare (optimize (debug 0)))
  (let ((*break-on-signals* (and *break-on-signals*
                                 '(and condition (not it.bese.fiveam::check-failure)))))
    (handler-bind ((it.bese.fiveam::check-failure
                     (lambda (failure)
                       (invoke-restart (find-restart 'it.bese.fiveam::ignore-failure failure)))))
      (is (equal '(1 (2 3)) (list 1 (list 2 4))))
      (is (= 1 (length "ab")) "No ~A of ~S" 1 "ab")
      (is-false (list 1))
      (fail "It failed: ~A" (list 1)))))

(test probes
  ;; Its dots are left out in an image.
  (setf *test-dribble* (make-broadcast-stream))
  (setf (symbol-value (find-symbol "*MEANWHILE*" "UNNOTICED")) #'fail-checks)
  (with-open-file (in (asdf:system-relative-pathname "probe-tests" "forms.txt"))
    (loop for line = (read-line in nil)
          for number from 0
          while line
          do (funcall (find-symbol "TELL" "UNNOTICED") number (read-from-string line)))))
