;;;; hu.dwim.stefil. Its tests are functions, like those of Fiasco, its descendant; one with tests below is a suite.

(in-package "LIVE-LISP.TESTS")

(defun stefil-run-body (package original arguments)
  "Probe: run the body of the first of ARGUMENTS, a test, by ORIGINAL of PACKAGE, and record the result. Failures do not
reach the debugger; errors do when they are held."
  (let ((test (first arguments)) (run (home-value package "*GLOBAL-CONTEXT*")))
    (loop for (slot value) in `(("DEBUG-ON-ASSERTION-FAILURE-P" nil) ("DEBUG-ON-UNEXPECTED-ERROR-P" ,*hold*)
                                ("PRINT-TEST-RUN-PROGRESS-P" nil))
          do (setf (slot-value run (home-symbol package slot)) value))
    (if (fiasco-suite-p package test)
        (apply original arguments)
        (call-as-test "stefil" (home-call package "NAME-OF" test) (lambda () (apply original arguments))))))

(defun stefil-begin-check (package original arguments)
  "Probe: begin a check by ORIGINAL of PACKAGE with ARGUMENTS, and count it."
  (declare (ignore package))
  (when *result* (note-checks 1))
  (apply original arguments))

(defun stefil-record (package original arguments)
  "Probe: record a failure by ORIGINAL of PACKAGE with ARGUMENTS, and here."
  (destructuring-bind (type &key description-initargs &allow-other-keys) arguments
    (let ((condition (getf description-initargs :condition)))
      (fiasco-note-failure "stefil" package type
                           (list* (if (typep condition 'condition) :error :expected-condition-type) condition
                                  description-initargs))))
  (apply original arguments))

(defun stefil-entries (package)
  "Return the tests and suites of PACKAGE that can be called without arguments."
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
