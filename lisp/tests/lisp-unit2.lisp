;;;; Support for the test framework lisp-unit2. Each check in a test signals a condition.

(in-package "LIVE-LISP.TESTS")

(defun lisp-unit2-note (package condition)
  "CONDITION was signalled in a test. If it reports that a check has passed or failed, record this.
If it is another error, record the error or, if *HOLD-SECONDS* is true, enter the debugger. PACKAGE
is the package of lisp-unit2."
  (flet ((of-class-p (name) (home-type-p package name condition)))
    (cond ((of-class-p "ASSERTION-PASS") (note-checks 1))
          ((of-class-p "ASSERTION-FAIL")
           (let ((failure (home-call package "FAILURE" condition)))
             (note-checks 1)
             (apply #'note-failure package "failure"
                    (comparison-arguments (home-call package "FORM" failure)
                                          (home-call package "EXPECTED" failure)
                                          (home-call package "ACTUAL" failure)
                                          :several t))))
          ((not (typep condition 'error)))
          (*hold-seconds* (invoke-debugger condition))
          (t (note-checks 1)
             (note-failure package "error" :condition condition)))))

(defun lisp-unit2-run-test (package original arguments)
  "Wrapper around lisp-unit2's %RUN-TEST: call ORIGINAL with ARGUMENTS, whose first element is a
test. Record the checks of this test. Also record errors in the test's contexts, which are functions
that lisp-unit2 calls around the body of the test. PACKAGE is the package of lisp-unit2."
  (destructuring-bind (test &key test-contexts) arguments
    (call-as-test "lisp-unit2" (home-call package "NAME" test)
                  (lambda ()
                    (let* ((own *result*)
                           (note (lambda (condition)
                                   (when (eq own *result*) (lisp-unit2-note package condition))))
                           (result (funcall original test :test-contexts
                                            (list test-contexts
                                                  (lambda (body)
                                                    (handler-bind ((condition note))
                                                      (funcall body))))))
                           (errors (home-call package "ERRORS" result)))
                      (when (and errors (zerop (result-errors own)) (not *hold-seconds*))
                        (note-failure package "error"
                                      :condition (first (home-call package "HEAD" errors))
                                      :place nil))
                      result)))))

(defun lisp-unit2-entries (package)
  "Return a list of ENTRY structures for all tests of lisp-unit2, and for all tags, as suites.
PACKAGE is the package of lisp-unit2."
  (flet ((entry (name suite key)
           (make-entry name suite (lambda () (home-call package "RUN-TESTS" key name)))))
    (append (loop for test in (home-call package "LIST-TESTS")
                  collect (entry (home-call package "NAME" test) nil :tests))
            (loop for tag in (home-call package "LIST-TAGS") collect (entry tag t :tags)))))

(define-framework "lisp-unit2" '("LISP-UNIT2")
  :probes '(("%RUN-TEST" lisp-unit2-run-test))
  :entries 'lisp-unit2-entries
  :protocol '("LIST-TESTS" "LIST-TAGS" "RUN-TESTS"))
