;;;; Support for the test framework LIFT. A suite is a class, and a test is a case of a suite.

(in-package "LIVE-LISP.TESTS")

(defun lift-name (suite case)
  "Return the name of a test as text, SUITE.CASE. SUITE is the name of a class."
  (format nil "~A.~A" (symbol-text suite) case))

(defun lift-run-case (package original arguments)
  "Wrapper around LIFT's RUN-TEST-INTERNAL: call ORIGINAL with ARGUMENTS, of which the first two are
a suite and the name of a case, and record the result of the case."
  (declare (ignore package))
  (destructuring-bind (suite case &rest more) arguments
    (declare (ignore more))
    (call-as-test "lift" (lift-name (class-name (class-of suite)) case)
                  (lambda ()
                    (note-checks 1)
                    (apply original arguments)))))

(defun lift-do-case (package original arguments)
  "Wrapper around LIFT's DO-TEST: call ORIGINAL with ARGUMENTS, of which the first two are a suite
and the name of a case. If *HOLD-SECONDS* is true, errors enter the debugger here. LIFT handles them
and signals them again. PACKAGE is the package of LIFT."
  (destructuring-bind (suite case &rest more) arguments
    (declare (ignore more))
    (call-leaving-errors (and *hold-seconds*
                              (not (home-call package "ERROR-OKAY-P" (class-name (class-of suite))
                                              case)))
                         (lambda () (apply original arguments)))))

(defun lift-text (package condition)
  "Return the report of CONDITION, which LIFT signalled for a failed check. If the check compared
two long values, the report has only the parts that differ. PACKAGE is the package of LIFT."
  (let ((slots (and (home-type-p package "FAILED-COMPARISON-CONDITION" condition)
                    (list (home-symbol package "FIRST-VALUE")
                          (home-symbol package "SECOND-VALUE")))))
    (flet ((put (values)
             (loop for slot in slots
                   for value in values
                   do (setf (slot-value condition slot) value))))
      (apart-from-tests
        (let ((values (loop for slot in slots collect (slot-value condition slot))))
          (multiple-value-bind (said path) (brief-objects values)
            (put said)
            (unwind-protect (at-path (report-text 600 condition) path)
              (put values))))))))

(defun lift-problem (package original arguments)
  "Wrapper around LIFT's REPORT-TEST-PROBLEM: call ORIGINAL with ARGUMENTS, and record the problem
that it returns: a failed check, an error or an expected failure."
  (let ((problem (apply original arguments)) (condition (fifth arguments)))
    (when *result*
      (flet ((of-class-p (name) (home-type-p package name problem)))
        (cond ((of-class-p "EXPECTED-PROBLEM-MIXIN") (note-failure package "expected" :place nil))
              ((of-class-p "TEST-ERROR-MIXIN") (note-failure package "error" :condition condition))
              (t (note-failure package "failure" :text (lift-text package condition) :place nil)))))
    problem))

(defun lift-skipped (package original arguments)
  "Wrapper around LIFT's SKIP-TEST-CASE: call ORIGINAL with ARGUMENTS, and record the case as
skipped."
  (declare (ignore package))
  (destructuring-bind (result suite case) arguments
    (declare (ignore result))
    (call-as-test "lift" (lift-name suite case)
                  (lambda ()
                    (note-checks 1)
                    (incf (result-skipped *result*))
                    (apply original arguments)))))

(defun lift-entries (package)
  "Return a list of ENTRY structures for all cases and suites of LIFT. PACKAGE is the package of
LIFT."
  (loop for suite in (remove (home-symbol package "TEST-MIXIN") (home-call package "TESTSUITES"))
        for cases = (home-call package "TESTSUITE-TESTS" suite)
        collect (let ((suite suite))
                  (make-entry suite t
                              (lambda ()
                                (home-call package "RUN-TESTS" :suite suite :report-pathname nil))))
        append (loop for case in cases
                     collect (let ((suite suite) (case case))
                               (make-entry (lift-name suite case) nil
                                           (lambda ()
                                             (home-call package "RUN-TEST" :suite suite
                                                        :name case)))))))

(define-framework "lift" '("LIFT")
  :probes '(("RUN-TEST-INTERNAL" lift-run-case)
            ("DO-TEST" lift-do-case)
            ("SKIP-TEST-CASE" lift-skipped)
            ("REPORT-TEST-PROBLEM" lift-problem))
  :entries 'lift-entries
  :protocol '("TESTSUITES" "TESTSUITE-TESTS" "RUN-TESTS"))
