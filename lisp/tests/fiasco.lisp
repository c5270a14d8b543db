;;;; Fiasco, the successor of Stefil. A test is a function, and a test with child tests is a suite.

(in-package "LIVE-LISP.TESTS")

(defun fiasco-suite-p (package test)
  "True when TEST has child tests. PACKAGE is Fiasco's or Stefil's."
  (plusp (hash-table-count (home-call package "CHILDREN-OF" test))))

(defun fiasco-count (package slot)
  "Return the length of the list in SLOT of Fiasco's current context. PACKAGE is Fiasco's."
  (length (slot-value (home-value package "*CONTEXT*") (home-symbol package slot))))

(defun fiasco-call-body (package original arguments)
  "Call ORIGINAL with ARGUMENTS. If *HOLD* is true, have Fiasco leave errors to the debugger.
PACKAGE is Fiasco's."
  (if *hold*
      (with-home-values (package ("*DEBUG-ON-UNEXPECTED-ERROR*" t)) (apply original arguments))
      (apply original arguments)))

(defun fiasco-run-body (package original arguments)
  "Wrapper around Fiasco's RUN-TEST-BODY-IN-HANDLERS: call ORIGINAL with ARGUMENTS, which begin
with a test, and record the result. PACKAGE is Fiasco's."
  (let ((test (first arguments)))
    (if (fiasco-suite-p package test)
        (apply original arguments)
        (call-as-test "fiasco" (home-call package "NAME-OF" test)
                      (lambda ()
                        (multiple-value-prog1 (fiasco-call-body package original arguments)
                          (note-checks (fiasco-count package "SELF-ASSERTIONS"))
                          (when (home-call package "SKIPPED-P" (home-value package "*CONTEXT*"))
                            (incf (result-skipped *result*)))))))))

(defun fiasco-said (form control arguments)
  "Return arguments for NOTE-FAILURE about FORM, a failed assertion such as (IS (= A B)). CONTROL
and ARGUMENTS format its message. In a message by Fiasco itself, ARGUMENTS are CALL PART VALUE PART
VALUE for a call with two arguments, else CALL OUTCOME and then NUMBER PART VALUE for each
argument."
  (let ((check (and (typep form '(cons t cons)) (second form))))
    (or (and (typep arguments '(cons t cons))
             (said-of-check check (checked-form check)
                            (if (= 5 (length arguments))
                                (loop for (part value) on (rest arguments) by #'cddr
                                      collect (cons part value))
                                (loop for (nil part value) on (cddr arguments) by #'cdddr
                                      collect (cons part value)))))
        (and control (list :text (message-text control arguments))))))

(defun fiasco-note (package type arguments)
  "Record a failure. TYPE is the class of its condition, ARGUMENTS are the initargs of the
condition. PACKAGE is the framework's."
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
                     (fiasco-said form format-control format-arguments))))))

(defun fiasco-note-failure (framework package type arguments)
  "Record a failure that FRAMEWORK reports, as FIASCO-NOTE does, in the current test. In a suite
without a current test, record the suite as a test. Do not record an error that is about to be held
for debugging. PACKAGE is the framework's."
  (let ((context (home-value package "*CONTEXT*")))
    (flet ((note () (fiasco-note package type arguments)))
      (cond ((and *hold* (eq type (home-symbol package "UNEXPECTED-ERROR"))))
            (*result* (note))
            ((and *run* context)
             (call-as-test framework
                           (home-call package "NAME-OF" (home-call package "TEST-OF" context))
                           #'note))))))

(defun fiasco-record (package original arguments)
  "Wrapper around Fiasco's RECORD-FAILURE: record the failure that ARGUMENTS describe, and call
ORIGINAL with ARGUMENTS."
  (fiasco-note-failure "fiasco" package (first arguments) (rest arguments))
  (apply original arguments))

(defun fiasco-entries (package)
  "Return an ENTRY for each test and suite that Fiasco has. PACKAGE is Fiasco's."
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
