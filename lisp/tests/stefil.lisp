;;;; hu.dwim.stefil. A test is a function, and a test with child tests is a suite, as in its
;;;; successor Fiasco.

(in-package "LIVE-LISP.TESTS")

(defun stefil-run-body (package original arguments)
  "Wrapper around Stefil's RUN-TEST-BODY-IN-HANDLERS: call ORIGINAL with ARGUMENTS, which begin with
a test, and record the result. Errors enter the debugger if *HOLD* is true; failed checks never do.
PACKAGE is Stefil's."
  (let ((test (first arguments)) (run (home-value package "*GLOBAL-CONTEXT*")))
    (loop for (slot value) in `(("DEBUG-ON-ASSERTION-FAILURE-P" nil)
                                ("DEBUG-ON-UNEXPECTED-ERROR-P" ,*hold*)
                                ("PRINT-TEST-RUN-PROGRESS-P" nil))
          do (setf (slot-value run (home-symbol package slot)) value))
    (if (fiasco-suite-p package test)
        (apply original arguments)
        (call-as-test "stefil" (home-call package "NAME-OF" test)
                      (lambda () (apply original arguments))))))

(defun stefil-begin-check (package original arguments)
  "Wrapper around Stefil's RECORD/ASSERTION-BEGINS: count a check, and call ORIGINAL with
ARGUMENTS."
  (declare (ignore package))
  (when *result* (note-checks 1))
  (apply original arguments))

(defun stefil-record (package original arguments)
  "Wrapper around Stefil's RECORD/FAILURE*: record the failure that ARGUMENTS describe, and call
ORIGINAL with ARGUMENTS."
  (destructuring-bind (type &key description-initargs &allow-other-keys) arguments
    (let ((condition (getf description-initargs :condition)))
      (fiasco-note-failure "stefil" package type
                           (list* (if (typep condition 'condition) :error :expected-condition-type)
                                  condition
                                  description-initargs))))
  (apply original arguments))

(defun stefil-entries (package)
  "Return an ENTRY for each test and suite of Stefil that needs no arguments. PACKAGE is Stefil's."
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
