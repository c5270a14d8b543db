;;;; Support for the test framework Parachute. It makes a result object for each check and for each
;;;; test, and evaluates these objects. Tests can contain tests.

(in-package "LIVE-LISP.TESTS")

(defun parachute-name (package test)
  "Return the name of TEST, Parachute's object for a test. It is a symbol or, if Parachute has a
string as the name, a string PACKAGE::NAME with the package of the test. PACKAGE is the package of
Parachute."
  (let ((name (home-call package "NAME" test)))
    (if (symbolp name)
        name
        (format nil "~A::~A" (package-name (home-call package "HOME" test)) name))))

(defun parachute-suite-p (package test)
  "Return true if TEST has child tests and no checks of its own. PACKAGE is the package of
Parachute."
  (and (home-call package "CHILDREN" test) (null (home-call package "TESTS" test))))

(defun parachute-note-error (package)
  "Return a handler for errors in a test, which enters the debugger if *HOLD-SECONDS* is true, and
else records the error. PACKAGE is the package of Parachute."
  (lambda (condition)
    (if *hold-seconds*
        (invoke-debugger condition)
        (note-failure package "error" :condition condition))))

(defun parachute-call-body (package function)
  "Call FUNCTION, which runs code of a test. If this code does not handle an error, record the
error. But if *HOLD-SECONDS* is true, enter the debugger instead. PACKAGE is the package of
Parachute."
  (handler-bind ((error (parachute-note-error package)))
    (funcall function)))

(defun parachute-failure-arguments (package result)
  "Return a plist of keyword arguments for NOTE-FAILURE about RESULT, Parachute's result object for
a failed check. PACKAGE is the package of Parachute."
  (flet ((value (name) (home-call package name result)))
    (if (and (home-type-p package "COMPARISON-RESULT" result)
             (slot-boundp result (home-symbol package "VALUE")))
        (list* :text (value "DESCRIPTION")
               (comparison-arguments (value "EXPRESSION") (value "EXPECTED") (value "VALUE")
                                     :several (home-type-p package "MULTIPLE-VALUE-RESULT"
                                                           result)))
        (list :text (apart-from-tests (home-call package "FORMAT-RESULT" result :extensive))))))

(defun parachute-note-check (package result errors)
  "RESULT is Parachute's result object for a check. Record the outcome of this check. ERRORS is the
number of errors that the current test had before the check. PACKAGE is the package of Parachute."
  (note-checks 1)
  (case (home-call package "STATUS" result)
    (:skipped (incf (result-skipped *result*)))
    (:passed (note-passed (home-call package "EXPRESSION" result)))
    (:failed (when (= errors (result-errors *result*))
               (apply #'note-failure package "failure"
                      (parachute-failure-arguments package result))))))

(defun parachute-check (package result function)
  "Call FUNCTION, which makes a check, and record the outcome. RESULT is Parachute's result object
for the check. PACKAGE is the package of Parachute."
  (let ((body (and (slot-boundp result (home-symbol package "BODY"))
                   (home-call package "BODY" result)))
        (errors (result-errors *result*)))
    (when (functionp body)
      (setf (slot-value result (home-symbol package "BODY"))
            (lambda () (parachute-call-body package body))))
    (multiple-value-prog1 (funcall function)
      (parachute-note-check package result errors))))

(defun parachute-evaluate (package original arguments)
  "Wrapper around Parachute's EVAL-IN-CONTEXT: call ORIGINAL with ARGUMENTS, whose second element is
a result object or a test, and record the outcome. PACKAGE is the package of Parachute."
  (let ((thing (second arguments)))
    (flet ((evaluate () (apply original arguments))
           (new-p (class)
             (and (home-type-p package class thing)
                  (eq :unknown (home-call package "STATUS" thing)))))
      (cond ((and (new-p "TEST-RESULT")
                  (not (parachute-suite-p package (home-call package "EXPRESSION" thing))))
             (call-as-test "parachute"
                           (parachute-name package (home-call package "EXPRESSION" thing))
                           #'evaluate))
            ((and *result* (home-type-p package "TEST" thing))
             (parachute-call-body package #'evaluate))
            ((and *result* (new-p "VALUE-RESULT"))
             (parachute-check package thing #'evaluate))
            (t (evaluate))))))

(defun parachute-entries (package)
  "Return a list of ENTRY structures for all tests and suites of Parachute. PACKAGE is the package
of Parachute."
  (loop for home in (home-call package "TEST-PACKAGES")
        append (loop for test in (home-call package "PACKAGE-TESTS" home)
                     collect (let ((test test))
                               (make-entry (parachute-name package test)
                                           (and (home-call package "CHILDREN" test) t)
                                           (lambda ()
                                             (home-call package "TEST" test
                                                        :report (home-symbol package "QUIET"))))))))

(define-framework "parachute" '("ORG.SHIRAKUMO.PARACHUTE")
  :probes '(("EVAL-IN-CONTEXT" parachute-evaluate))
  :entries 'parachute-entries
  :protocol '("TEST-PACKAGES" "PACKAGE-TESTS" "FORMAT-RESULT"))
