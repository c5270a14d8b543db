;;;; FiveAM. A test has the results that it adds to the list of its run.

(in-package "LIVE-LISP.TESTS")

(defun fiveam-results (package)
  "Return the results of the run of PACKAGE so far."
  (home-value package "RESULT-LIST"))

(defun fiveam-note (package object place)
  "Note OBJECT, a result of PACKAGE, which was added at PLACE."
  (note-checks 1)
  (flet ((reason () (format nil "~A" (home-call package "REASON" object))))
    (cond ((home-type-p package "TEST-PASSED" object))
          ((home-type-p package "TEST-SKIPPED" object) (incf (result-skipped *result*)))
          ((home-type-p package "UNEXPECTED-TEST-FAILURE" object)
           (let ((condition (home-call package "ACTUAL-CONDITION" object)))
             (note-failure package "error" :condition condition :place place)))
          (t (note-failure package "failure" :text (reason) :place place)))))

(defun fiveam-run-test (package original arguments)
  "Run the test that is the first of ARGUMENTS by ORIGINAL of PACKAGE, and note its results."
  (with-home-values (package ("*TEST-DRIBBLE*" (make-broadcast-stream)))
    (call-as-test "fiveam" (home-call package "NAME" (first arguments))
                  (lambda ()
                    (let ((before (length (fiveam-results package))))
                      (multiple-value-prog1 (apply original arguments)
                        (dolist (object (reverse (nthcdr before (fiveam-results package))))
                          (fiveam-note package object (getf (result-notes *result*) object)))))))))

(defun fiveam-add-result (package original arguments)
  "Add a result by ORIGINAL of PACKAGE, as ARGUMENTS say, and keep where the check stands when it failed."
  (let ((results (apply original arguments)))
    (when (and *result* (home-type-p package "TEST-FAILURE" (first results))
               (< (length (result-notes *result*)) (* 2 *noted-in-test*)))
      (setf (getf (result-notes *result*) (first results)) (check-place package)))
    results))

(defun fiveam-resolve (package original arguments)
  "Run a test and what it depends on by ORIGINAL of PACKAGE with ARGUMENTS, and note it when it was left out."
  (let* ((test (first arguments))
         (new (and (home-type-p package "TEST-CASE" test) (eq :unknown (home-call package "STATUS" test)))))
    (multiple-value-prog1 (apply original arguments)
      (when (and new (member (home-call package "STATUS" test) '(:depends-not-satisfied :circular)))
        (call-as-test "fiveam" (home-call package "NAME" test)
                      (lambda ()
                        (note-checks 1)
                        (incf (result-skipped *result*))))))))

(defun fiveam-entries (package)
  "Return the tests and suites of PACKAGE."
  (loop for name being the hash-keys of (home-value package "*TEST*") using (hash-value object)
        when (and name (symbolp name))
          collect (let ((name name))
                    (make-entry name (home-type-p package "TEST-SUITE" object)
                                (lambda ()
                                  (with-home-values (package ("*TEST-DRIBBLE*" (make-broadcast-stream)))
                                    (home-call package "RUN" name)))))))

(define-framework "fiveam" '("IT.BESE.FIVEAM")
  :probes '(("RUN-TEST-LAMBDA" fiveam-run-test)
            ("RUN-RESOLVING-DEPENDENCIES" fiveam-resolve)
            ("ADD-RESULT" fiveam-add-result))
  :entries 'fiveam-entries
  :holding '(("*ON-ERROR*" :debug))
  :protocol '("REASON" "TEST-LAMBDA" "RUN"))
