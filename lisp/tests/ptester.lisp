;;;; Support for the test framework PTester. It has only checks: each check counts as a test, and
;;;; the form of the check is the test's name.

(in-package "LIVE-LISP.TESTS")

(defun ptester-note (package passed place arguments)
  "Record the result of a check. PASSED is true if it passed. PLACE is its source location as a
plist, or NIL. ARGUMENTS are those of PTester's TEST-CHECK. PACKAGE is the package of PTester."
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
  "Wrapper around PTester's TEST-CHECK: call ORIGINAL with ARGUMENTS, discard its report, and record
the result of the check. PACKAGE is the package of PTester."
  (let* ((passed (with-home-values (package ("*BREAK-ON-TEST-FAILURES*" nil))
                   (let ((*error-output* (make-broadcast-stream))) (apply original arguments))))
         (place (and (not passed) (check-place package))))
    (call-as-test "ptester" (getf arguments :test-form)
                  (lambda () (ptester-note package passed place arguments)))
    passed))

(defparameter *ptester-abortion* " aborted by signalling an uncaught error:"
  "The words in PTester's report about a group of checks that an error has ended.")

(defun ptester-finish (output)
  "Record the groups of checks that were ended by an error. PTester reports them only in OUTPUT, the
output of the run."
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
