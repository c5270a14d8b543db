;;;; RT, and its copy SB-RT that comes with SBCL. A test is a form and the values that it should
;;;; have.

(in-package "LIVE-LISP.TESTS")

(defun rt-values (package entry)
  "Return the expected values of the test ENTRY. PACKAGE is RT's."
  (if (listp entry) (cdddr entry) (home-call package "VALS" entry)))

(defun rt-expected-p (package entry)
  "True when the test ENTRY is in RT's list of expected failures. PACKAGE is RT's."
  (member (home-call package "NAME" entry) (home-value package "*EXPECTED-FAILURES*")
          :test #'equal))

(defun rt-note-error (package entry condition)
  "Handle CONDITION, an error in the test ENTRY: record it and leave the test, unless *HOLD* is
true. An error while RT reports, printing values, is not recorded. PACKAGE is RT's."
  (let* ((reporting (getf (result-notes *result*) :compared))
         (expected (rt-expected-p package entry))
         (held (and *hold* (not expected))))
    (unless (or held reporting)
      (setf (getf (result-notes *result*) :signalled) t)
      (note-failure package (if expected "expected" "error") :condition condition))
    (when (or reporting (not held))
      (throw (home-symbol package "*IN-TEST*") nil))))

(defun rt-form (package entry got)
  "Return the form of the test ENTRY as answers show it. GOT is the list of its values. PACKAGE is
RT's."
  (let ((form (home-call package "FORM" entry)) (wanted (rt-values package entry)))
    (if (= 1 (length got) (length wanted))
        (with-part-alone form (first got) (first wanted))
        form)))

(defun rt-note-entry (package entry)
  "Record the result of the test ENTRY after it has run. PACKAGE is RT's."
  (note-checks 1)
  (let ((got (getf (result-notes *result*) :values)))
    (when (and (home-call package "PEND" entry) (not (getf (result-notes *result*) :signalled)))
      (multiple-value-bind (text wanted path)
          (if got
              (two-texts (first got) (rt-values package entry) t)
              (values nil (values-text (rt-values package entry))))
        (note-failure package (if (rt-expected-p package entry) "expected" "failure")
                      :form (rt-form package entry (first got))
                      :expected wanted
                      :got (and got (at-path text path))
                      :place nil)))))

(defun rt-do-entry (package original arguments)
  "Wrapper around RT's DO-ENTRY: call ORIGINAL with a test, the first of ARGUMENTS, without a
report, and record the result. PACKAGE is RT's."
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
  "Wrapper around RT's EQUALP-WITH-CASE: call ORIGINAL with ARGUMENTS. Keep the first of them, the
values of the test."
  (declare (ignore package))
  (when (and *result* (null (getf (result-notes *result*) :values)))
    (setf (getf (result-notes *result*) :values) (list (first arguments))))
  (multiple-value-prog1 (apply original arguments)
    (when *result* (setf (getf (result-notes *result*) :compared) t))))

(defun rt-entries (package)
  "Return an ENTRY for each test that RT has. PACKAGE is RT's."
  (loop for each in (rest (home-value package "*ENTRIES*"))
        for name = (home-call package "NAME" each)
        collect (let ((name name))
                  (make-entry name nil (lambda () (home-call package "DO-TEST" name))))))

(define-framework "rt" '("REGRESSION-TEST" "SB-RT")
  :probes '(("DO-ENTRY" rt-do-entry)
            ("EQUALP-WITH-CASE" rt-compare))
  :entries 'rt-entries
  ;; Libraries have copies of RT in packages of their own.
  :protocol '("*ENTRIES*" "*IN-TEST*" "DO-TEST" "NAME" "FORM" "PEND"))
