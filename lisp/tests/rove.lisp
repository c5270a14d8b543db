;;;; Support for the test framework Rove. A test is a function named by a symbol. Wrappers of Rove's
;;;; functions record each check and each group of checks when the test makes it.

(in-package "LIVE-LISP.TESTS")

(defun rove-run-test (package original arguments)
  "Wrapper around Rove's CALL-WITH-TESTING-WITH-OPTIONS: call ORIGINAL with ARGUMENTS. If the second
element of ARGUMENTS is a name, record the call as a test. Otherwise the call runs a group of checks
and is not recorded."
  (declare (ignore package))
  (let ((name (second arguments)))
    (if name
        (call-as-test "rove" name (lambda () (apply original arguments)))
        (apply original arguments))))

(defun rove-result (name object)
  "Return the value of Rove's reader function NAME for OBJECT, a check."
  (home-call (find-package "ROVE/CORE/RESULT") name object))

(defun rove-slot (check name)
  "Return the value of the slot NAME of CHECK, an object of Rove."
  (slot-value check (home-symbol (find-package "ROVE/CORE/RESULT") name)))

(defun rove-failure-arguments (check)
  "Return a plist of keyword arguments for NOTE-FAILURE about CHECK, a failed check: a text with the
descriptions of CHECK and of the groups around it, the form of CHECK, and the values of the form's
arguments. For a negated check, the form is (NOT FORM)."
  (let ((groups (remove (bare-text (result-name *result*))
                        (remove nil (rove-result "ASSERTION-LABELS" check))
                        :test #'string-equal))
        (form (rove-result "ASSERTION-FORM" check))
        (values (mapcar #'cons (rove-result "ASSERTION-ARGS" check)
                        (rove-result "ASSERTION-VALUES" check))))
    (list* :text (let ((descriptions (remove nil (append groups (list (rove-slot check "DESC"))))))
                   (and descriptions (format nil "~{~A~^: ~}" descriptions)))
           (let ((check (if (rove-slot check "NEGATIVE") `(not ,form) form)))
             (or (check-failure-arguments check form (reverse values)) (list :check check))))))

(defun rove-note-check (package check)
  "Record the outcome of CHECK, Rove's object for a check. But if the outcome is an error and
*HOLD-SECONDS* is true, record nothing, since the debugger will hold the error. PACKAGE is the
package of Rove."
  (let* ((results (find-package "ROVE/CORE/RESULT"))
         (reason (rove-result "ASSERTION-REASON" check)))
    (unless (and reason *hold-seconds*)
      (note-checks 1)
      (cond ((home-type-p results "PENDING" check) (incf (result-skipped *result*)))
            ((not (home-type-p results "FAILED" check))
             (note-passed (rove-result "ASSERTION-FORM" check)))
            ((typep reason 'condition) (note-failure package "error" :condition reason))
            (t (apply #'note-failure package "failure" (rove-failure-arguments check)))))))

(defun rove-quietly (package original arguments)
  "Wrapper around functions of Rove that print a report: call ORIGINAL with ARGUMENTS, and discard
the report in a test."
  (declare (ignore package))
  (let ((*standard-output* (if *result* (make-broadcast-stream) *standard-output*)))
    (apply original arguments)))

(defun rove-record (package original arguments)
  "Wrapper around Rove's RECORD: call ORIGINAL with ARGUMENTS. If the second argument is a check,
record its outcome."
  (let ((check (second arguments)))
    (when (and *result* (home-type-p (find-package "ROVE/CORE/RESULT") "ASSERTION" check))
      (rove-note-check package check))
    (rove-quietly package original arguments)))

(defun rove-call (function)
  "Call FUNCTION, which runs tests, without a report."
  (let ((package (find-package "ROVE/CORE/SUITE")))
    (with-home-values (package ("*STATS*" nil))
      (home-call package "CALL-WITH-SUITE" function))))

(defun rove-entries (package)
  "Return a list of ENTRY structures for all tests and suites of Rove. A suite has the name of its
package. PACKAGE is the package of Rove."
  (let ((suites (find-package "ROVE/CORE/SUITE/PACKAGE")))
    (loop for suite in (and (home-symbol package "DEFTEST") (home-call suites "ALL-SUITES"))
          collect (let ((suite suite))
                    (make-entry (home-call suites "SUITE-NAME" suite) t
                                (lambda ()
                                  (rove-call (lambda () (home-call suites "RUN-SUITE" suite))))))
          append (loop for name in (home-call suites "SUITE-TESTS" suite)
                       collect (let ((name name))
                                 (make-entry name nil
                                             (lambda ()
                                               (rove-call (home-call suites "GET-TEST" name)))))))))

(define-framework "rove" '("ROVE/CORE/TEST" "ROVE/CORE/ASSERTION")
  :probes '(("CALL-WITH-TESTING-WITH-OPTIONS" rove-run-test)
            ("RECORD" rove-record)
            ("TEST-BEGIN" rove-quietly)
            ("TEST-FINISH" rove-quietly))
  :entries 'rove-entries
  :holding '(("*DEBUG-ON-ERROR*" t)))
