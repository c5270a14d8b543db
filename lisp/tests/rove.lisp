;;;; Rove. A test is a function, named by a symbol. Checks and groups of checks are recorded when
;;;; they are made.

(in-package "LIVE-LISP.TESTS")

(defun rove-run-test (package original arguments)
  "Wrapper around Rove's CALL-WITH-TESTING-WITH-OPTIONS: call ORIGINAL with ARGUMENTS. If the second
is a name, this is a test: record its result. Else this is a group of checks in a test."
  (declare (ignore package))
  (let ((name (second arguments)))
    (if name
        (call-as-test "rove" name (lambda () (apply original arguments)))
        (apply original arguments))))

(defun rove-result (name object)
  "Return what the reader NAME returns for OBJECT, a check."
  (home-call (find-package "ROVE/CORE/RESULT") name object))

(defun rove-slot (check name)
  "Return the value of the slot NAME of CHECK."
  (slot-value check (home-symbol (find-package "ROVE/CORE/RESULT") name)))

(defun rove-said (check)
  "Return arguments for NOTE-FAILURE about CHECK, a failed check: the groups around it, its form,
and the values of arguments. The form of a negated check is (NOT FORM)."
  (let ((groups (remove (bare-text (result-name *result*))
                        (remove nil (rove-result "ASSERTION-LABELS" check))
                        :test #'string-equal))
        (form (rove-result "ASSERTION-FORM" check))
        (values (mapcar #'cons (rove-result "ASSERTION-ARGS" check)
                        (rove-result "ASSERTION-VALUES" check))))
    (list* :text (let ((said (remove nil (append groups (list (rove-slot check "DESC"))))))
                   (and said (format nil "~{~A~^: ~}" said)))
           (let ((check (if (rove-slot check "NEGATIVE") `(not ,form) form)))
             (or (said-of-check check form (reverse values)) (list :check check))))))

(defun rove-note-check (package check)
  "Record the outcome of CHECK, except an error that is about to be held for debugging. PACKAGE is
Rove's."
  (let* ((results (find-package "ROVE/CORE/RESULT"))
         (reason (rove-result "ASSERTION-REASON" check)))
    (unless (and reason *hold*)
      (note-checks 1)
      (cond ((home-type-p results "PENDING" check) (incf (result-skipped *result*)))
            ((not (home-type-p results "FAILED" check)))
            ((typep reason 'condition) (note-failure package "error" :condition reason))
            (t (apply #'note-failure package "failure" (rove-said check)))))))

(defun rove-quietly (package original arguments)
  "Wrapper around functions of Rove that also report: call ORIGINAL with ARGUMENTS. In a test, the
report is discarded."
  (declare (ignore package))
  (let ((*standard-output* (if *result* (make-broadcast-stream) *standard-output*)))
    (apply original arguments)))

(defun rove-record (package original arguments)
  "Wrapper around Rove's RECORD: call ORIGINAL with ARGUMENTS. If the second of them is a check,
record its outcome."
  (let ((check (second arguments)))
    (when (and *result* (home-type-p (find-package "ROVE/CORE/RESULT") "ASSERTION" check))
      (rove-note-check package check))
    (rove-quietly package original arguments)))

(defun rove-call (function)
  "Call FUNCTION, which runs tests, without a report."
  (let ((package (find-package "ROVE/CORE/SUITE")))
    (with-home-values (package ("*STATS*" nil))
      (home-call package "CALL-WITH-SUITE" function))))

(defun rove-entries (package)
  "Return an ENTRY for each test of Rove, and for each suite. The name of a suite is its package's.
PACKAGE is Rove's."
  (let ((suites (find-package "ROVE/CORE/SUITE/PACKAGE")))
    (loop for suite in (and (home-symbol package "DEFTEST") (home-call suites "ALL-SUITES"))
          collect (let ((suite suite))
                    (make-entry (home-call suites "SUITE-NAME" suite) t
                                (lambda ()
                                  (rove-call (lambda () (home-call suites "RUN-SUITE" suite))))))
          append (loop for name in (home-call suites "SUITE-TESTS" suite)
                       collect (let ((name name))
                                 (make-entry name nil
                                             (lambda ()
                                               (rove-call (home-call suites "GET-TEST" name)))))))))

(define-framework "rove" '("ROVE/CORE/TEST" "ROVE/CORE/ASSERTION")
  :probes '(("CALL-WITH-TESTING-WITH-OPTIONS" rove-run-test)
            ("RECORD" rove-record)
            ("TEST-BEGIN" rove-quietly)
            ("TEST-FINISH" rove-quietly))
  :entries 'rove-entries
  :holding '(("*DEBUG-ON-ERROR*" t)))
