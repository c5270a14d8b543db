;;;; Support for the test framework Prove. A group of checks counts as a test, and so does a check
;;;; outside a group.

(in-package "LIVE-LISP.TESTS")

(defun prove-run-group (package original arguments)
  "Wrapper around Prove's %SUBTEST: call ORIGINAL with ARGUMENTS, whose first element is the
description of a group of checks. Record the group as a test, unless the group is inside a test.
PACKAGE is the package of Prove."
  (let* ((description (first arguments))
         (known (assoc description (gethash *package* (home-value package "*PACKAGE-TESTS*"))
                       :test #'equal :key #'string)))
    (if *result*
        (apply original arguments)
        (call-as-test "prove" (or (first known) description)
                      (lambda ()
                        (with-home-values (package ("*TEST-RESULT-OUTPUT*" (make-broadcast-stream)))
                          (apply original arguments)))))))

(defun prove-value (report name)
  "Return the value of the slot NAME of REPORT, one of Prove's reports, and T. Return NIL if there
is no such slot."
  (let ((slot (home-symbol (find-package "PROVE.REPORT") name)))
    (and (slot-exists-p report slot) (values (slot-value report slot) t))))

(defun prove-note (package report place)
  "Record the check that REPORT, one of Prove's reports, is about. PLACE is the source location of
the check as a plist, or NIL. PACKAGE is the package of Prove."
  (flet ((value (name) (values (prove-value report name)))
         (of-class-p (name) (home-type-p package name report)))
    (note-checks 1)
    (cond ((of-class-p "SKIPPED-TEST-REPORT") (incf (result-skipped *result*)))
          ((of-class-p "ERROR-TEST-REPORT")
           (note-failure package "error" :condition (value "GOT") :place place))
          ((of-class-p "FAILED-TEST-REPORT")
           (multiple-value-bind (got wanted path) (two-texts (value "GOT") (value "EXPECTED"))
             (note-failure package "failure"
                           :place place
                           :text (first (remove (result-name *result*) (list (value "DESCRIPTION"))
                                                :test #'equal))
                           :got (at-path got path)
                           :expected (format nil "~:[~;not ~]~A" (value "NOTP") wanted)))))))

(defun prove-add-report (package original arguments)
  "Wrapper around Prove's ADD-REPORT. ARGUMENTS are those of a call of it. The first is a report
about a check. Record this check, and call ORIGINAL, which is ADD-REPORT itself, with ARGUMENTS.
PACKAGE is the package of Prove."
  (destructuring-bind (report suite) arguments
    (let ((place (and (home-type-p package "FAILED-TEST-REPORT" report) (check-place package))))
      (flet ((note () (prove-note package report place)))
        (cond ((not (nth-value 1 (prove-value report "GOT"))))
              (*result* (note))
              (t (call-as-test "prove" (or (prove-value report "DESCRIPTION")
                                           (format nil "check ~D"
                                                   (1+ (home-call package "TEST-COUNT" suite))))
                               #'note))))))
  (apply original arguments))

(defun prove-entries (package)
  "Return a list of ENTRY structures for all named tests of Prove. PACKAGE is the package of Prove."
  (loop for home being the hash-keys of (home-value package "*PACKAGE-TESTS*")
          using (hash-value tests)
        append (loop for (name . function) in (reverse tests)
                     collect (let ((home home) (function function))
                               (make-entry name nil
                                           (lambda ()
                                             (let ((*package* home)) (funcall function))))))))

(define-framework "prove" '("PROVE.TEST")
  :probes '(("%SUBTEST" prove-run-group)
            ("ADD-REPORT" prove-add-report))
  :entries 'prove-entries
  :holding '(("*DEBUG-ON-ERROR*" t)))
