;;;; Support for the test framework Fiasco. A Fiasco test is a function. A test with child tests is
;;;; a suite.

(in-package "LIVE-LISP.TESTS")

(defun fiasco-suite-p (package test)
  "Return true if TEST has child tests. PACKAGE is the package of Fiasco."
  (plusp (hash-table-count (home-call package "CHILDREN-OF" test))))

(defun fiasco-count (package slot)
  "Return the length of the list in the slot named SLOT of Fiasco's current context. PACKAGE is the
package of Fiasco."
  (length (slot-value (home-value package "*CONTEXT*") (home-symbol package slot))))

(defun fiasco-call-body (package original arguments)
  "Call ORIGINAL with ARGUMENTS. If *HOLD-SECONDS* is true, make Fiasco enter the debugger for
errors. PACKAGE is the package of Fiasco."
  (if *hold-seconds*
      (with-home-values (package ("*DEBUG-ON-UNEXPECTED-ERROR*" t)) (apply original arguments))
      (apply original arguments)))

(defun fiasco-run-body (package original arguments)
  "Wrapper around Fiasco's RUN-TEST-BODY-IN-HANDLERS: call ORIGINAL with ARGUMENTS, of which the
first is a test. Record the result unless the test is a suite. PACKAGE is the package of Fiasco."
  (let ((test (first arguments)))
    (if (fiasco-suite-p package test)
        (apply original arguments)
        (call-as-test "fiasco" (home-call package "NAME-OF" test)
                      (lambda ()
                        (multiple-value-prog1 (fiasco-call-body package original arguments)
                          (note-checks (fiasco-count package "SELF-ASSERTIONS"))
                          (when (home-call package "SKIPPED-P" (home-value package "*CONTEXT*"))
                            (incf (result-skipped *result*)))))))))

(defun fiasco-failure-arguments (form control arguments)
  "Return a plist of keyword arguments for NOTE-FAILURE about FORM, a failed assertion such
as (IS (= A B)). CONTROL and ARGUMENTS are the format control and arguments of its message. In a
message of Fiasco itself, ARGUMENTS are (CALL PART VALUE PART VALUE) for a call with two arguments.
For other calls, they are CALL and OUTCOME, followed by NUMBER, PART and VALUE for each argument."
  (let ((check (and (typep form '(cons t cons)) (second form))))
    (or (and (typep arguments '(cons t cons))
             (check-failure-arguments
              check
              (checked-form check)
              (if (= 5 (length arguments))
                  (loop for (part value) on (rest arguments) by #'cddr
                        collect (cons part value))
                  (loop for (nil part value) on (cddr arguments) by #'cdddr
                        collect (cons part value)))))
        (and control (list :text (message-text control arguments))))))

(defun fiasco-note (package type arguments)
  "Record a failure in the result of the current test. TYPE is the class name of the condition that
stands for the failure, and ARGUMENTS are its initargs. PACKAGE is the package of Fiasco."
  (destructuring-bind (&key (form nil form-given) error format-control format-arguments expected
                            expected-condition-type observed-condition &allow-other-keys)
      arguments
    (let ((kind (cond ((or expected (home-value package "*FAILURES-AND-ERRORS-ARE-EXPECTED*"))
                       "expected")
                      ((eq type (home-symbol package "UNEXPECTED-ERROR")) "error")
                      (t "failure"))))
      (apply #'note-failure package kind
             (append (and form-given (list :form form))
                     (and error (list :condition error))
                     (and observed-condition (list :condition observed-condition))
                     (and expected-condition-type
                          (list :expected
                                (format nil "a condition of type ~A"
                                        (value-text expected-condition-type))))
                     (fiasco-failure-arguments form format-control format-arguments))))))

(defun fiasco-record (package original arguments)
  "Wrapper around Fiasco's RECORD-FAILURE: record the failure, and call ORIGINAL with ARGUMENTS, the
class name of a condition and its initargs. In a suite outside a test, record the suite as a test
with this failure. If the debugger is going to hold an error, record nothing. PACKAGE is the package
of Fiasco."
  (let ((type (first arguments)) (context (home-value package "*CONTEXT*")))
    (flet ((note () (fiasco-note package type (rest arguments))))
      (cond ((and *hold-seconds* (eq type (home-symbol package "UNEXPECTED-ERROR"))))
            (*result* (note))
            ((and *run* context)
             (call-as-test "fiasco"
                           (home-call package "NAME-OF" (home-call package "TEST-OF" context))
                           #'note)))))
  (apply original arguments))

(defun fiasco-entries (package)
  "Return a list of ENTRY structures for all tests and suites of Fiasco. PACKAGE is the package of
Fiasco."
  (loop for name being the hash-keys of (home-value package "*TESTS*") using (hash-value test)
        collect (let ((name name))
                  (make-entry name (fiasco-suite-p package test)
                              (lambda ()
                                (home-call package "RUN-TESTS" name :describe-failures nil
                                           :stream (make-broadcast-stream)))))))

(define-framework "fiasco" '("FIASCO")
  :probes '(("RUN-TEST-BODY-IN-HANDLERS" fiasco-run-body)
            ("RECORD-FAILURE" fiasco-record))
  :entries 'fiasco-entries
  :protocol '("CHILDREN-OF" "NAME-OF" "RUN-TESTS"))
