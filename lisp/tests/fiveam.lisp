;;;; FiveAM. The results of a test are those that it adds to the list of its run.

(in-package "LIVE-LISP.TESTS")

(defun fiveam-results (package)
  "Return the results of FiveAM's run so far. PACKAGE is FiveAM's."
  (home-value package "RESULT-LIST"))

(defvar *fiveam-failing* '()
  "Arguments for NOTE-FAILURE about the check that is failing in this thread.")

(defun fiveam-values (form arguments)
  "Return pairs of each argument of FORM, a call, and its value; or NIL unless ARGUMENTS are those
of FiveAM's own message: an argument, its value, the predicate, and the value of the other argument
if there is one."
  (destructuring-bind (&optional part value predicate (other nil other-given) &rest more) arguments
    (when (and (consp form)
               (null more)
               (equal predicate (first form))
               (= (length (rest form)) (if other-given 2 1)))
      (list* (cons part value)
             (and other-given
                  (loop for each in (remove part (rest form) :test #'equal :count 1)
                        collect (cons each other)))))))

(defun fiveam-said (check control arguments)
  "Return arguments for NOTE-FAILURE about the form CHECK. The format CONTROL says with ARGUMENTS
why it failed. A message that has no part of the form, such as one by the test's author, is shown
with the form."
  (let* ((form (checked-form check)) (values (fiveam-values form arguments)))
    (or (and values (said-of-check check form values))
        (list* :text (message-text control arguments)
               (and (typep check '(cons symbol))
                    (notany (lambda (part) (member part arguments :test #'equal))
                            (cons check (rest form)))
                    (list :check check))))))

(defun fiveam-fail (package original arguments)
  "Probe of FiveAM's PROCESS-FAILURE: call it, as ORIGINAL, with ARGUMENTS, which begin with a check
and a format control, and keep what is shown of the check. The message is made here, within bounds:
printing a value may never end."
  (declare (ignore package))
  (destructuring-bind (check &optional control &rest more) arguments
    (if (and *result* (stringp control))
        (let ((*fiveam-failing* (fiveam-said check control more)))
          (funcall original check "~A" (message-text control more)))
        (apply original arguments))))

(defun fiveam-note (package object failed)
  "Record OBJECT, a result. FAILED are arguments for NOTE-FAILURE about a failure. PACKAGE is
FiveAM's."
  (note-checks 1)
  (flet ((reason () (format nil "~:[failed~;~:*~A~]" (home-call package "REASON" object))))
    (cond ((home-type-p package "TEST-PASSED" object))
          ((home-type-p package "TEST-SKIPPED" object) (incf (result-skipped *result*)))
          ((home-type-p package "UNEXPECTED-TEST-FAILURE" object)
           (let ((condition (home-call package "ACTUAL-CONDITION" object)))
             (note-failure package "error" :condition condition :place (getf failed :place))))
          (t (apply #'note-failure package "failure"
                    (if (cddr failed) failed (list* :text (reason) failed)))))))

(defun fiveam-run-test (package original arguments)
  "Probe of FiveAM's RUN-TEST-LAMBDA: call it, as ORIGINAL, with ARGUMENTS, which begin with a test,
and record the results of the test. Failures do not reach the debugger; errors do when they are
held. PACKAGE is FiveAM's."
  (with-home-values (package ("*TEST-DRIBBLE*" (make-broadcast-stream)) ("*ON-FAILURE*" nil)
                             ("*ON-ERROR*" (and *hold* :debug)))
    (call-as-test "fiveam" (home-call package "NAME" (first arguments))
                  (lambda ()
                    (let ((before (length (fiveam-results package))))
                      (multiple-value-prog1 (apply original arguments)
                        (dolist (object (reverse (nthcdr before (fiveam-results package))))
                          (fiveam-note package object (getf (result-notes *result*) object)))))))))

(defun fiveam-add-result (package original arguments)
  "Probe of FiveAM's ADD-RESULT: call it, as ORIGINAL, with ARGUMENTS. For a failure, keep its place
and what is shown."
  (let ((results (apply original arguments)))
    (when (and *result* (home-type-p package "TEST-FAILURE" (first results))
               (< (length (result-notes *result*)) (* 2 *noted-in-test*)))
      (setf (getf (result-notes *result*) (first results))
            (list* :place (check-place package) *fiveam-failing*)))
    results))

(defun fiveam-resolve (package original arguments)
  "Probe of FiveAM's RUN-RESOLVING-DEPENDENCIES: call it, as ORIGINAL, with ARGUMENTS, which begin
with a test. Record a test that was left out because of its dependencies. PACKAGE is FiveAM's."
  (let* ((test (first arguments))
         (new (and (home-type-p package "TEST-CASE" test)
                   (eq :unknown (home-call package "STATUS" test)))))
    (multiple-value-prog1 (apply original arguments)
      (when (and new (member (home-call package "STATUS" test) '(:depends-not-satisfied :circular)))
        (call-as-test "fiveam" (home-call package "NAME" test)
                      (lambda ()
                        (note-checks 1)
                        (incf (result-skipped *result*))))))))

(defun fiveam-entries (package)
  "Return an ENTRY for each test and suite that FiveAM has. PACKAGE is FiveAM's."
  ;; Since 1.4.3 the table is in an object.
  (loop with tests = (home-value package "*TEST*")
        for name being the hash-keys of (if (hash-table-p tests)
                                            tests
                                            (home-call package "%TESTS" tests))
          using (hash-value object)
        when (and name (symbolp name))
          collect (let ((name name))
                    (make-entry name (home-type-p package "TEST-SUITE" object)
                                (lambda ()
                                  (with-home-values (package
                                                     ("*TEST-DRIBBLE*" (make-broadcast-stream)))
                                    (home-call package "RUN" name)))))))

(define-framework "fiveam" '("IT.BESE.FIVEAM")
  :probes '(("RUN-TEST-LAMBDA" fiveam-run-test)
            ("RUN-RESOLVING-DEPENDENCIES" fiveam-resolve)
            ("PROCESS-FAILURE" fiveam-fail)
            ("ADD-RESULT" fiveam-add-result))
  :entries 'fiveam-entries
  :protocol '("REASON" "TEST-LAMBDA" "RUN"))
