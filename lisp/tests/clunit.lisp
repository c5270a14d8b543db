;;;; CLUnit and CLUnit2. Each check, and each error, is a condition that a handler of the run records.

(in-package "LIVE-LISP.TESTS")

(defun clunit-call (package name function)
  "Call FUNCTION, which runs the test NAME of PACKAGE, without what that reports meanwhile."
  (call-as-test "clunit" name
                (lambda ()
                  (with-home-values (package ("*REPORT-PROGRESS*" nil)) (funcall function)))))

(defun clunit-run-case (package original arguments)
  "Run the case of ARGUMENTS by ORIGINAL of PACKAGE, unless that leaves it for later, or out."
  (let ((case (first arguments)))
    (flet ((run () (apply original arguments)))
      (if (eq :run (home-call package "TEST-CASE-EXECUTION-ACTION" case))
          (clunit-call package (slot-value case (home-symbol package "NAME")) #'run)
          (run)))))

(defun clunit-function (package original arguments)
  "Return what ORIGINAL of PACKAGE returns for ARGUMENTS: the function of a case that had been left for later."
  (let ((function (apply original arguments)) (name (slot-value (first arguments) (home-symbol package "NAME"))))
    (lambda () (clunit-call package name function))))

(defun clunit-skip (package original arguments)
  "Leave out the case whose report is being made by ORIGINAL of PACKAGE with ARGUMENTS, and note that."
  (clunit-call package (home-call package "TEST-REPORT-NAME" (home-value package "*CLUNIT-TEST-REPORT*"))
               (lambda ()
                 (incf (result-skipped *result*))
                 (apply original arguments))))

(defun clunit-error (package original arguments)
  "Record the error of ARGUMENTS by ORIGINAL of PACKAGE, and note or hold it."
  (when *result*
    (when *hold* (invoke-debugger (first arguments)))
    (note-checks 1)
    (note-failure package "error" :condition (first arguments)))
  (apply original arguments))

(defun clunit-said (check expected got)
  "Return what is told of the form CHECK, which got GOT, as arguments for NOTE-FAILURE. EXPECTED is the form of what was wanted:
CLUnit keeps no value of that."
  (if (evident-p expected)
      (compared check (evident-value expected) got)
      (list :check check :got (value-text got))))

(defun clunit-note (package condition)
  "Note CONDITION, the outcome of a check of PACKAGE."
  (flet ((value (name) (slot-value condition (home-symbol package name)))
         (of-class-p (name) (home-type-p package name condition)))
    (cond ((of-class-p "ASSERTION-PASSED") (note-checks 1))
          ((of-class-p "ASSERTION-FAILED")
           (note-checks 1)
           (apply #'note-failure package "failure" (clunit-said (value "EXPRESSION") (value "EXPECTED") (value "RETURNED"))))
          ((of-class-p "ASSERTION-FAIL-FORCED")
           (note-checks 1)
           (note-failure package "failure" :text (message-text (value "FORMAT-STRING") (value "ARGS")))))))

(defun clunit-check (package original arguments)
  "Record the condition of ARGUMENTS by ORIGINAL of PACKAGE, and note it."
  (when *result* (clunit-note package (first arguments)))
  (apply original arguments))

(defun clunit-run (package original arguments)
  "Run what ARGUMENTS say by ORIGINAL of PACKAGE. Its report would go to where output went when that was loaded."
  (with-home-values (package ("*TEST-OUTPUT-STREAM*" *standard-output*)) (apply original arguments)))

(defun clunit-entries (package)
  "Return the tests and suites of PACKAGE, the last first, as suites run them."
  (flet ((entries (suite names runner)
           (loop for name in (reverse (home-call package names))
                 collect (let ((name name))
                           (make-entry name suite (lambda () (home-call package runner name :report-progress nil)))))))
    (append (entries nil "GET-DEFINED-TESTS" "RUN-TEST") (entries t "GET-DEFINED-SUITES" "RUN-SUITE"))))

(define-framework "clunit" '("CLUNIT")
  :probes '(("RUN-TEST" clunit-run)
            ("RUN-SUITE" clunit-run)
            ("EXECUTE-TEST-CASE" clunit-run-case)
            ("TEST-FUNCTION" clunit-function)
            ("SKIP-TEST-CASE" clunit-skip)
            ("HANDLE-ERROR" clunit-error)
            ("HANDLE-ASSERTION" clunit-check))
  :entries 'clunit-entries
  :protocol '("GET-DEFINED-TESTS" "GET-DEFINED-SUITES"))
