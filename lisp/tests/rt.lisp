;;;; Support for the test framework RT, and for its copy SB-RT that comes with SBCL. A test is a
;;;; form and the values that it should return.

(in-package "LIVE-LISP.TESTS")

(defun rt-values (package entry)
  "Return a list of the expected values of ENTRY, RT's object for a test. PACKAGE is the package of
RT."
  (if (listp entry) (cdddr entry) (home-call package "VALS" entry)))

(defun rt-expected-p (package entry)
  "Return true if ENTRY, RT's object for a test, is in RT's list of expected failures. PACKAGE is
the package of RT."
  (member (home-call package "NAME" entry) (home-value package "*EXPECTED-FAILURES*")
          :test #'equal))

(defun rt-note-error (package entry condition)
  "CONDITION is an error in ENTRY, RT's object for a test. Record CONDITION and end the test. But if
*HOLD-SECONDS* is true, leave an unexpected CONDITION to the debugger. Do not record errors that
occur while RT prints its report. PACKAGE is the package of RT."
  (let* ((reporting (getf (result-notes *result*) :compared))
         (expected (rt-expected-p package entry))
         (held (and *hold-seconds* (not expected))))
    (unless (or held reporting)
      (setf (getf (result-notes *result*) :signalled) t)
      (note-failure package (if expected "expected" "error") :condition condition))
    (when (or reporting (not held))
      (throw (home-symbol package "*IN-TEST*") nil))))

(defun rt-form (package entry got)
  "Return the form of ENTRY, RT's object for a test, as answers show it. GOT is the list of the
values that the form returned. PACKAGE is the package of RT."
  (let ((form (home-call package "FORM" entry)) (wanted (rt-values package entry)))
    (if (= 1 (length got) (length wanted))
        (with-part-alone form (first got) (first wanted))
        form)))

(defun rt-note-entry (package entry)
  "Record the result of ENTRY, RT's object for a test, after the test has run. PACKAGE is the
package of RT."
  (note-checks 1)
  (let ((got (getf (result-notes *result*) :values)))
    (when (and (home-call package "PEND" entry) (not (getf (result-notes *result*) :signalled)))
      (multiple-value-bind (text wanted path)
          (if got
              (two-texts (first got) (rt-values package entry) :several t)
              (values nil (values-text (rt-values package entry))))
        (note-failure package (if (rt-expected-p package entry) "expected" "failure")
                      :form (rt-form package entry (first got))
                      :expected (of-whole wanted path (values-text (rt-values package entry)))
                      :got (and got (of-whole (at-path text path) path
                                              (values-text (first got))))
                      :place nil)))))

(defun rt-do-entry (package original arguments)
  "Wrapper around RT's DO-ENTRY: call ORIGINAL with the first of ARGUMENTS, RT's object for a test,
discard the report, and record the result. PACKAGE is the package of RT."
  (let ((entry (first arguments)))
    (call-as-test "rt" (home-call package "NAME" entry)
                  (lambda ()
                    (with-home-values (package ("*CATCH-ERRORS*" nil)
                                               ("*PRINT-CIRCLE-ON-FAILURE*" t))
                      (multiple-value-prog1
                          (handler-bind ((style-warning #'muffle-warning)
                                         (error (lambda (condition)
                                                  (rt-note-error package entry condition))))
                            (funcall original entry (make-broadcast-stream)))
                        (rt-note-entry package entry)))))))

(defun rt-compare (package original arguments)
  "Wrapper around RT's EQUALP-WITH-CASE: call ORIGINAL with ARGUMENTS. The first of ARGUMENTS is a
list of the values that the test returned. Store it in the notes of the current result, and note
there that RT has compared these values. PACKAGE is the package of RT."
  (declare (ignore package))
  (when (and *result* (null (getf (result-notes *result*) :values)))
    (setf (getf (result-notes *result*) :values) (list (first arguments))))
  (multiple-value-prog1 (apply original arguments)
    (when *result* (setf (getf (result-notes *result*) :compared) t))))

(defun rt-entries (package)
  "Return a list of ENTRY structures for all tests of RT. PACKAGE is the package of RT."
  (loop for each in (rest (home-value package "*ENTRIES*"))
        for name = (home-call package "NAME" each)
        collect (let ((name name))
                  (make-entry name nil (lambda () (home-call package "DO-TEST" name))))))

(define-framework "rt" '("REGRESSION-TEST" "SB-RT")
  :probes '(("DO-ENTRY" rt-do-entry)
            ("EQUALP-WITH-CASE" rt-compare))
  :entries 'rt-entries
  ;; Some libraries contain a copy of RT in a package of their own. A package with all these symbols
  ;; counts as a copy.
  :protocol '("*ENTRIES*" "*IN-TEST*" "DO-TEST" "NAME" "FORM" "PEND"))
