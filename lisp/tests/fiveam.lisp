;;;; Support for the test framework FiveAM. FiveAM keeps one list of results for the whole run. The
;;;; results of a test are the elements that were added to this list while the test ran.

(in-package "LIVE-LISP.TESTS")

(defun fiveam-results (package)
  "Return the list of results of FiveAM's run so far. PACKAGE is the package of FiveAM."
  (home-value package "RESULT-LIST"))

(defvar *fiveam-failing* '()
  "NIL or, while a check fails in this thread, a plist of keyword arguments for NOTE-FAILURE about
this check.")

(defun fiveam-values (form arguments)
  "FORM is the form of a failed check, such as (= 3 (F)), and ARGUMENTS the list of the format
arguments of the message about the failure. If FiveAM made the message, return an alist from the
subforms of FORM to their values. ARGUMENTS is then (SUBFORM VALUE PREDICATE) or, for a predicate of
two arguments, (SUBFORM VALUE PREDICATE OTHER-VALUE). Return NIL if the author of the test wrote the
message."
  (destructuring-bind (&optional part value predicate (other nil other-given) &rest more) arguments
    (when (and (consp form)
               (null more)
               (equal predicate (first form))
               (= (length (rest form)) (if other-given 2 1)))
      (list* (cons part value)
             (and other-given
                  (loop for each in (remove part (rest form) :test #'equal :count 1)
                        collect (cons each other)))))))

(defun fiveam-failure-arguments (check control arguments)
  "Return a plist of keyword arguments for NOTE-FAILURE about CHECK, the form of a failed check.
CONTROL and ARGUMENTS are the format control and arguments of the message. If the message shows no
part of the form, the plist has both the message and the form."
  (let* ((form (checked-form check)) (values (fiveam-values form arguments)))
    (or (and values (check-failure-arguments check form values))
        (list* :text (message-text control arguments)
               (and (typep check '(cons symbol))
                    (notany (lambda (part) (member part arguments :test #'equal))
                            (cons check (rest form)))
                    (list :check check))))))

(defun fiveam-fail (package original arguments)
  "Wrapper around FiveAM's PROCESS-FAILURE: call ORIGINAL with ARGUMENTS, a check, a format control
and the arguments of this control. Keep data about the check in *FIVEAM-FAILING*. Format the message
here, since FiveAM's own printing may never end."
  (declare (ignore package))
  (destructuring-bind (check &optional control &rest more) arguments
    (if (and *result* (stringp control))
        (let ((*fiveam-failing* (fiveam-failure-arguments check control more)))
          (funcall original check "~A" (message-text control more)))
        (apply original arguments))))

(defun fiveam-form (package object)
  "OBJECT is FiveAM's result of a check. Return the form of this check, or NIL if FiveAM does not
keep the form, as for a FOR-ALL that passed. PACKAGE is the package of FiveAM."
  (let ((slot (home-symbol package "TEST-EXPR")))
    (and slot (slot-boundp object slot) (slot-value object slot))))

(defun fiveam-note (package object failed)
  "Record OBJECT, FiveAM's result of one check. FAILED is NIL, or a plist of keyword arguments for
NOTE-FAILURE. PACKAGE is the package of FiveAM."
  (note-checks 1)
  (flet ((reason () (format nil "~:[failed~;~:*~A~]" (home-call package "REASON" object))))
    (cond ((home-type-p package "TEST-PASSED" object)
           (let ((form (fiveam-form package object)))
             (and form (note-passed form))))
          ((home-type-p package "TEST-SKIPPED" object) (incf (result-skipped *result*)))
          ((home-type-p package "UNEXPECTED-TEST-FAILURE" object)
           (let ((condition (home-call package "ACTUAL-CONDITION" object)))
             (note-failure package "error" :condition condition :place (getf failed :place))))
          (t (apply #'note-failure package "failure"
                    (if (cddr failed) failed (list* :text (reason) failed)))))))

(defun fiveam-run-test (package original arguments)
  "Wrapper around FiveAM's RUN-TEST-LAMBDA: call ORIGINAL with ARGUMENTS, whose first element is a
test, and record the results of this test. If *HOLD-SECONDS* is true, errors enter the debugger, but
failed checks do not. PACKAGE is the package of FiveAM."
  (with-home-values (package ("*TEST-DRIBBLE*" (make-broadcast-stream)) ("*ON-FAILURE*" nil)
                             ("*ON-ERROR*" (and *hold-seconds* :debug)))
    (call-as-test "fiveam" (home-call package "NAME" (first arguments))
                  (lambda ()
                    (let ((before (length (fiveam-results package))))
                      (multiple-value-prog1 (apply original arguments)
                        (dolist (object (reverse (nthcdr before (fiveam-results package))))
                          (fiveam-note package object (getf (result-notes *result*) object)))))))))

(defun fiveam-add-result (package original arguments)
  "Wrapper around FiveAM's ADD-RESULT: call ORIGINAL with ARGUMENTS. If these are about a failed
check, add the source location of the check, and the plist *FIVEAM-FAILING* about it, to the notes
of the current result. PACKAGE is the package of FiveAM."
  (let ((results (apply original arguments)))
    (when (and *result* (home-type-p package "TEST-FAILURE" (first results))
               (< (length (result-notes *result*)) (* 2 *noted-in-test*)))
      (setf (getf (result-notes *result*) (first results))
            (list* :place (check-place package) *fiveam-failing*)))
    results))

(defun fiveam-resolve (package original arguments)
  "Wrapper around FiveAM's RUN-RESOLVING-DEPENDENCIES: call ORIGINAL with ARGUMENTS, whose first
element is a test. Record the test as skipped if its dependencies keep FiveAM from running it.
PACKAGE is the package of FiveAM."
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
  "Return a list of ENTRY structures for all tests and suites of FiveAM. PACKAGE is the package of
FiveAM."
  ;; Since FiveAM 1.4.3, *TEST* is an object that holds the hash table.
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
