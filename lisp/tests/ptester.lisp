;;;; PTester. It has only checks: each counts as a test, named by its form.

(in-package "LIVE-LISP.TESTS")

(defun ptester-note (package passed place arguments)
  "Record the check at PLACE that ARGUMENTS describe. PASSED is true when it passed. PACKAGE is
PTester's."
  (destructuring-bind (&key expected-result test-results multiple-values known-failure condition
                            &allow-other-keys)
      arguments
    (note-checks 1)
    (let* ((signalled (find-if (lambda (each) (typep each 'condition))
                               (list test-results condition)))
           (got (and (consp test-results) (rest test-results))))
      (unless passed
        (apply #'note-failure package (if known-failure "expected" "failure") :place place
               (if signalled
                   (list :condition signalled)
                   (multiple-value-bind (got wanted path)
                       (two-texts got (if multiple-values expected-result (list expected-result)) t)
                     (list :expected wanted :got (at-path got path)))))))))

(defun ptester-check (package original arguments)
  "Probe of PTester's TEST-CHECK: call it, as ORIGINAL, with ARGUMENTS, without its report, and
record the check."
  (let* ((passed (with-home-values (package ("*BREAK-ON-TEST-FAILURES*" nil))
                   (let ((*error-output* (make-broadcast-stream))) (apply original arguments))))
         (place (and (not passed) (check-place package))))
    (call-as-test "ptester" (getf arguments :test-form)
                  (lambda () (ptester-note package passed place arguments)))
    passed))

(defparameter *ptester-abortion* " aborted by signalling an uncaught error:"
  "The words of a report for a group of checks that an error has ended.")

(defun ptester-finish (output)
  "Record the groups of checks that an error has ended, as OUTPUT shows."
  (loop for place = (search *ptester-abortion* output)
                  then (search *ptester-abortion* output :start2 (1+ place))
        while place
        do (let* ((start (1+ (or (position #\Newline output :end place :from-end t) -1)))
                  (end (+ place (length *ptester-abortion*)))
                  (text (subseq output end (search "**********" output :start2 end))))
             (call-as-test "ptester" (subseq output start place)
                           (lambda ()
                             (note-failure nil "error"
                                           :text (concatenate 'string "an error ended it:"
                                                              text)))))))

(define-framework "ptester" '("PTESTER")
  :probes '(("TEST-CHECK" ptester-check))
  :entries (constantly '())
  :finish 'ptester-finish
  :holding '(("*BREAK-ON-TEST-FAILURES*" t))
  :protocol '("WITH-TESTS" "TEST-ERROR" "TEST-NO-ERROR"))
