;;;; Support for the test framework hu.dwim.stefil. A test is a function, and a test with child
;;;; tests is a suite, as in its successor Fiasco.

(in-package "LIVE-LISP.TESTS")

(defun stefil-run-body (package original arguments)
  "Wrapper around Stefil's RUN-TEST-BODY-IN-HANDLERS: call ORIGINAL with ARGUMENTS, of which the
first is a test. Record the result unless the test is a suite. If *HOLD-SECONDS* is true, errors
enter the debugger. Failed checks never do. PACKAGE is the package of Stefil."
  (let ((test (first arguments)) (run (home-value package "*GLOBAL-CONTEXT*")))
    (loop for (slot value) in `(("DEBUG-ON-ASSERTION-FAILURE-P" nil)
                                ("DEBUG-ON-UNEXPECTED-ERROR-P" ,*hold-seconds*)
                                ("PRINT-TEST-RUN-PROGRESS-P" nil))
          do (setf (slot-value run (home-symbol package slot)) value))
    (if (fiasco-suite-p package test)
        (apply original arguments)
        (call-as-test "stefil" (home-call package "NAME-OF" test)
                      (lambda () (apply original arguments))))))

(defun stefil-begin-check (package original arguments)
  "Wrapper around Stefil's RECORD/ASSERTION-BEGINS: count one check of the current test, and call
ORIGINAL with ARGUMENTS."
  (declare (ignore package))
  (when *result* (note-checks 1))
  (apply original arguments))

(defun stefil-record (package original arguments)
  "Wrapper around Stefil's RECORD/FAILURE*: record the failure, and call ORIGINAL with ARGUMENTS,
the class name of a condition and keyword arguments. PACKAGE is the package of Stefil."
  (destructuring-bind (type &key description-initargs &allow-other-keys) arguments
    (let ((condition (getf description-initargs :condition)))
      (fiasco-note-failure "stefil" package type
                           (list* (if (typep condition 'condition) :error :expected-condition-type)
                                  condition
                                  description-initargs))))
  (apply original arguments))

(defun stefil-entries (package)
  "Return a list of ENTRY structures for the tests and suites of Stefil that can be called without
arguments. PACKAGE is the package of Stefil."
  (loop for name being the hash-keys of (home-value package "*TESTS*") using (hash-value test)
        when (and (fboundp name)
                  (member (first (home-call package "LAMBDA-LIST-OF" test)) '(nil &key &optional)))
          collect (make-entry name (fiasco-suite-p package test) name)))

(define-framework "stefil" '("HU.DWIM.STEFIL")
  :probes '(("RUN-TEST-BODY-IN-HANDLERS" stefil-run-body)
            ("RECORD/ASSERTION-BEGINS" stefil-begin-check)
            ("RECORD/FAILURE*" stefil-record))
  :entries 'stefil-entries
  :protocol '("CHILDREN-OF" "NAME-OF" "LAMBDA-LIST-OF"))
