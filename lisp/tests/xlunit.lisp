;;;; Support for the test framework XLUnit. A test is an instance of a class, and its body is one
;;;; method. A suite contains the tests of a class.

(in-package "LIVE-LISP.TESTS")

(defun xlunit-name (package test)
  "Return the name of TEST as text, CLASS.METHOD. PACKAGE is the package of XLUnit."
  (format nil "~A.~A" (symbol-text (class-name (class-of test))) (home-call package "NAME" test)))

(defun xlunit-note (package condition test results)
  "Record CONDITION, signalled in TEST, in the result of the current test and in RESULTS, XLUnit's
results object. Return true if CONDITION ends the test. PACKAGE is the package of XLUnit."
  (cond ((home-type-p package "ASSERTION-FAILED" condition)
         (note-failure package "failure" :text (xlunit-text package condition))
         (home-call package "ADD-FAILURE" results test condition)
         t)
        ((and (typep condition 'serious-condition) (not *hold-seconds*))
         (note-failure package "error" :condition condition)
         (home-call package "ADD-ERROR" results test condition)
         t)))

(defun xlunit-text (package condition)
  "Return the message of CONDITION, which stands for a failed assertion. PACKAGE is the package of
XLUnit."
  (format nil "~@[~A: ~]~A" (home-call package "MESSAGE" condition)
          (message-text (simple-condition-format-control condition)
                        (simple-condition-format-arguments condition))))

(defun xlunit-run (package original arguments)
  "Wrapper around XLUnit's RUN-ON-TEST-RESULTS: call ORIGINAL with ARGUMENTS, of which the first two
are a test or suite and XLUnit's results object. Record the result of a test. PACKAGE is the package
of XLUnit."
  (destructuring-bind (test results &rest options) arguments
    (declare (ignore options))
    (if (not (home-type-p package "TEST-CASE" test))
        (apply original arguments)
        (call-as-test "xlunit" (xlunit-name package test)
                      (lambda ()
                        (note-checks 1)
                        (block test
                          (handler-bind ((condition (lambda (condition)
                                                      (when (xlunit-note package condition test
                                                                         results)
                                                        (return-from test results)))))
                            (funcall original test results :handle-errors nil))))))))

(defun xlunit-entries (package)
  "Return a list of ENTRY structures for all tests and suites of XLUnit. PACKAGE is the package of
XLUnit."
  (let* ((class (find-class (home-symbol package "TEST-CASE")))
         (suites (progn (sb-mop:finalize-inheritance class)
                        (home-call package "EXISTING-SUITES" (sb-mop:class-prototype class)))))
    (flet ((entry (name suite test)
             (make-entry name suite (lambda () (home-call package "RUN" test)))))
      (loop for class being the hash-keys of (or suites (make-hash-table)) using (hash-value suite)
            collect (entry class t suite)
            append (loop for test in (home-call package "TESTS" suite)
                         collect (entry (xlunit-name package test) nil test))))))

(define-framework "xlunit" '("XLUNIT")
  :probes '(("RUN-ON-TEST-RESULTS" xlunit-run))
  :entries 'xlunit-entries
  :protocol '("EXISTING-SUITES" "ADD-FAILURE" "ADD-ERROR"))
