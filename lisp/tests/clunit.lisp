;;;; Support for the test frameworks CLUnit and CLUnit2. They signal a condition for each check and
;;;; each error. Wrappers around their handlers record these conditions.

(in-package "LIVE-LISP.TESTS")

(defun clunit-call (package name function)
  "Call FUNCTION, which runs the test NAME, without CLUnit's report, and record the result. PACKAGE
is the package of CLUnit."
  (call-as-test "clunit" name
                (lambda ()
                  (with-home-values (package ("*REPORT-PROGRESS*" nil)) (funcall function)))))

(defun clunit-run-case (package original arguments)
  "Wrapper around CLUnit's EXECUTE-TEST-CASE: call ORIGINAL with ARGUMENTS, of which the first is a
test case, and record the result. Record nothing if CLUnit skips the test case or runs it later.
PACKAGE is the package of CLUnit."
  (let ((case (first arguments)))
    (flet ((run () (apply original arguments)))
      (if (eq :run (home-call package "TEST-CASE-EXECUTION-ACTION" case))
          (clunit-call package (slot-value case (home-symbol package "NAME")) #'run)
          (run)))))

(defun clunit-function (package original arguments)
  "Wrapper around CLUnit's TEST-FUNCTION, which returns the function of a test case that CLUnit has
left for later. Call ORIGINAL with ARGUMENTS, of which the first is the test case. Return a function
that calls the function of the test case and records the result. PACKAGE is the package of CLUnit."
  (let ((function (apply original arguments))
        (name (slot-value (first arguments) (home-symbol package "NAME"))))
    (lambda () (clunit-call package name function))))

(defun clunit-skip (package original arguments)
  "Wrapper around CLUnit's SKIP-TEST-CASE: call ORIGINAL with ARGUMENTS, and record a skipped test."
  (clunit-call package
               (home-call package "TEST-REPORT-NAME" (home-value package "*CLUNIT-TEST-REPORT*"))
               (lambda ()
                 (incf (result-skipped *result*))
                 (apply original arguments))))

(defun clunit-error (package original arguments)
  "Wrapper around CLUnit's HANDLE-ERROR. The first of ARGUMENTS is an error in a test. If
*HOLD-SECONDS* is true, enter the debugger, else record the error. Then call ORIGINAL with
ARGUMENTS."
  (when *result*
    (when *hold-seconds* (invoke-debugger (first arguments)))
    (note-checks 1)
    (note-failure package "error" :condition (first arguments)))
  (apply original arguments))

(defun clunit-failure-arguments (check expected got)
  "Return a plist of keyword arguments for NOTE-FAILURE about CHECK, the form of a failed check,
which returned GOT. EXPECTED is the form of the expected value, since CLUnit does not keep the
value."
  (if (evident-p expected)
      (comparison-arguments check (evident-value expected) got)
      (list :check check :got (value-text got))))

(defun clunit-note (package condition)
  "Record CONDITION, which CLUnit signals for a passed or failed check. PACKAGE is the package of
CLUnit."
  (flet ((value (name) (slot-value condition (home-symbol package name)))
         (of-class-p (name) (home-type-p package name condition)))
    (cond ((of-class-p "ASSERTION-PASSED") (note-checks 1))
          ((of-class-p "ASSERTION-FAILED")
           (note-checks 1)
           (apply #'note-failure package "failure"
                  (clunit-failure-arguments (value "EXPRESSION") (value "EXPECTED")
                                            (value "RETURNED"))))
          ((of-class-p "ASSERTION-FAIL-FORCED")
           (note-checks 1)
           (note-failure package "failure"
                         :text (message-text (value "FORMAT-STRING") (value "ARGS")))))))

(defun clunit-check (package original arguments)
  "Wrapper around CLUnit's HANDLE-ASSERTION: record the check for which the first of ARGUMENTS was
signalled, and call ORIGINAL with ARGUMENTS."
  (when *result* (clunit-note package (first arguments)))
  (apply original arguments))

(defun clunit-run (package original arguments)
  "Wrapper around CLUnit's RUN-TEST and RUN-SUITE: call ORIGINAL with ARGUMENTS. CLUnit's report
goes to the current *STANDARD-OUTPUT*, not to its value from when CLUnit was loaded. PACKAGE is the
package of CLUnit."
  (with-home-values (package ("*TEST-OUTPUT-STREAM*" *standard-output*))
    (apply original arguments)))

(defun clunit-entries (package)
  "Return a list of ENTRY structures for all tests and suites of CLUnit, in the order in which
suites run them. PACKAGE is the package of CLUnit."
  (flet ((entries (suite names runner)
           (loop for name in (reverse (home-call package names))
                 collect (let ((name name))
                           (make-entry name suite
                                       (lambda ()
                                         (home-call package runner name :report-progress nil)))))))
    (append (entries nil "GET-DEFINED-TESTS" "RUN-TEST")
            (entries t "GET-DEFINED-SUITES" "RUN-SUITE"))))

(define-framework "clunit" '("CLUNIT")
  :probes '(("RUN-TEST" clunit-run)
            ("RUN-SUITE" clunit-run)
            ("EXECUTE-TEST-CASE" clunit-run-case)
            ("TEST-FUNCTION" clunit-function)
            ("SKIP-TEST-CASE" clunit-skip)
            ("HANDLE-ERROR" clunit-error)
            ("HANDLE-ASSERTION" clunit-check))
  :entries 'clunit-entries
  :protocol '("GET-DEFINED-TESTS" "GET-DEFINED-SUITES"))
