;;;; Support for the test framework Try. A test signals conditions, which Try calls events, for its
;;;; checks, errors and results.

(in-package "LIVE-LISP.TESTS")

(defun try-text (package event)
  "Return the text that Try prints for EVENT, the condition for a failed check. PACKAGE is the
package of Try."
  (apart-from-tests
    (let ((*print-right-margin* 10000)
          (*print-case* :downcase)
          (*package* (home-of (result-name *result*))))
      (with-output-to-string (stream)
        (home-call package "WRITE-EVENT" event stream :terse t :ctx t)))))

(defun try-failure-arguments (package event)
  "Return a plist of keyword arguments for NOTE-FAILURE about EVENT, the condition for a failed
check. PACKAGE is the package of Try."
  (flet ((value (name) (slot-value event (home-symbol package name))))
    (let ((form (second (value "CHECK"))) (captures (value "CAPTURES")))
      (or (and captures
               (null (value "MSG"))
               (null (value "CTX"))
               ;; The captures are the values that Try shows. Use them only if each is the value of
               ;; an argument.
               (loop for (part nil several) in captures
                     never (or several (not (member part (rest form)))))
               (check-failure-arguments form (checked-form form)
                                        (loop for (part value) in captures
                                              collect (cons part value))))
          (list :text (try-text package event))))))

(defun try-note (package condition)
  "If CONDITION, signalled in a test, stands for a check or is an error, record it. PACKAGE is the
package of Try."
  (flet ((of-class-p (name) (home-type-p package name condition)))
    (cond ((of-class-p "RESULT")
           (note-checks 1)
           (cond ((of-class-p "SKIP") (incf (result-skipped *result*)))
                 ((of-class-p "SUCCESS"))
                 ((of-class-p "EXPECTED") (note-failure package "expected" :place nil))
                 (t (apply #'note-failure package "failure"
                           (try-failure-arguments package condition)))))
          ((of-class-p "UNHANDLED-ERROR")
           (note-failure package "error"
                         :condition (home-call package "NESTED-CONDITION" condition)))
          ((or (of-class-p "EVENT") (not (typep condition 'serious-condition))))
          ;; Try has bound *DEBUGGER-HOOK*. Its hook would record a failure, but this error is to be
          ;; held: its thread stops for debugging.
          (*hold-seconds* (let ((*debugger-hook* nil)) (invoke-debugger condition)))
          (t (note-checks 1)
             (note-failure package "error" :condition condition)))))

(defun try-call-test (package original arguments)
  "Wrapper around Try's CALL-TEST: call ORIGINAL with ARGUMENTS, and record the result of the test.
PACKAGE is the package of Try."
  (let ((trial (home-value package "*CALL-TEST*")) (function (home-value package "*CALL-TEST-FN*")))
    (if (and *result* (home-call package "WITH-TEST-TRIAL-P" trial))
        (apply original arguments)
        (call-as-test "try" (home-call package "TEST-NAME" trial)
                      (lambda ()
                        (let ((own *result*))
                          (flet ((run (trial)
                                   (handler-bind ((condition (lambda (condition)
                                                               (when (eq own *result*)
                                                                 (try-note package condition)))))
                                     (funcall function trial))))
                            (with-home-values (package ("*CALL-TEST-FN*" #'run))
                              (apply original arguments)))))))))

(defun try-begin (package original arguments)
  "Wrapper around Try's TRY/IMPLICIT: call ORIGINAL with ARGUMENTS. Bind Try's debugging variables
to NIL, so that failed checks do not enter the debugger. PACKAGE is the package of Try."
  (with-home-values (package ("*DEBUG*" nil) ("*TRY-DEBUG*" nil)) (apply original arguments)))

(defun try-entries (package)
  "Return a list of ENTRY structures for all tests of Try. PACKAGE is the package of Try."
  (loop for home in (list-all-packages)
        ;; LIST-PACKAGE-TESTS would create the symbol *DEFTEST-REGISTRY* in every package.
        append (loop for name in (and (find-symbol "*DEFTEST-REGISTRY*" home)
                                      (home-call package "LIST-PACKAGE-TESTS" home))
                     collect (let ((name name))
                               (make-entry name nil
                                           (lambda ()
                                             (home-call package "TRY" name :print nil
                                                        :describe nil)))))))

(define-framework "try" '("TRY")
  :probes '(("CALL-TEST" try-call-test)
            ("TRY/IMPLICIT" try-begin))
  :entries 'try-entries
  :protocol '("LIST-PACKAGE-TESTS" "WRITE-EVENT"))
