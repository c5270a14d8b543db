;;;; What the reader says to the text of a file: where each form ends, and why some cannot be read. Nothing is evaluated,
;;;; and what is interned is taken out again.

(in-package "LIVE-LISP.EVALUATE")

(defun call-with-checking-readtable (function)
  "Call FUNCTION with the readtable of the session, but that #. evaluates nothing."
  (let ((*readtable* (copy-readtable)) (*read-eval* nil))
    (ignore-errors
     (set-dispatch-macro-character #\# #\. (lambda (stream character number)
                                             (declare (ignore character number))
                                             (read stream t nil t)
                                             nil)))
    (funcall function)))

(defun form-ends (text)
  "Return where the forms of TEXT end, in order. The second value is the condition at which that stopped, or NIL."
  (let ((ends '()) (*read-suppress* t))
    (with-input-from-string (in text)
      (handler-case (loop until (eq in (read-preserving-whitespace in nil in))
                          do (push (file-position in) ends)
                          finally (return (values (nreverse ends) nil)))
        (error (condition) (values (nreverse ends) condition))))))

(defun package-named-by (form)
  "Return the package that the text FORM makes the current one, or its name when there is no such package. Return NIL when
FORM does not do that."
  (when (search "in-package" form :test #'char-equal :end2 (min 60 (length form)))
    (destructuring-bind (&optional (operator "") name) (form-parts form 2)
      (when (and name (member operator '("in-package" "cl:in-package" "common-lisp:in-package") :test #'string-equal))
        (let ((designator (let ((*package* (find-package "KEYWORD"))) (ignore-errors (read-from-string name)))))
          (and (typep designator '(or string symbol character))
               (or (find-package (string designator)) (string designator))))))))

(defun call-uninterning (text function)
  "Call FUNCTION, which reads TEXT, and take out of their packages the symbols that this interned."
  (let* ((packages (packages-to-watch text))
         (before (and packages (present-symbols (adjoin *package* packages))))
         (*interned* '()))
    (unwind-protect (funcall function)
      (unintern-new (if packages (new-symbols before) (interned-symbols *interned*)) text))))

(defun reader-problem (text start end)
  "Return as a JSON object what the reader says against the form of TEXT from START to END, or NIL. It is about a NAME when
another form can put that right, as one that defines a package."
  (let ((form (subseq text start end)))
    (call-uninterning
     form
     (lambda ()
       (handler-case (progn (read-from-string form) nil)
         (error (condition)
           (object "start" start
                   "text" (reader-text condition)
                   "name" (typep condition 'package-error))))))))

(defun problems (text ends starts)
  "Return what is wrong with the forms of TEXT, which end at ENDS, that begin at STARTS, as JSON objects. The second value
has the names of packages that these forms are in and that there are not."
  (loop with missing = '()
        with known = t
        with *package* = *package*
        for start = 0 then end
        for end in ends
        for begin = (let ((*read-suppress* t)) (form-start text start end))
        for entered = (package-named-by (subseq text begin (min end (+ begin 200))))
        when (member begin starts)
          when (if (eq known t)
                   (reader-problem text begin end)
                   (progn (pushnew known missing :test #'equal) nil))
            collect it into found
        do (when entered
             (setf known (if (packagep entered) t entered))
             (when (packagep entered) (setf *package* entered)))
        finally (return (values found missing))))

(defun checked-text (text starts)
  "Return the members that tell what the reader says to TEXT, and to the forms of it that begin at STARTS."
  (multiple-value-bind (ends condition) (call-user-code (lambda () (form-ends text)))
    (multiple-value-bind (problems missing)
        (call-user-code (lambda () (problems text ends starts)))
      (list "value" (object "ends" ends
                            "stopped" (and condition (reader-text condition))
                            "problems" problems
                            "missing" missing)))))

(define-operation ("check-text" :members t) (text starts)
  "Tell where the forms of TEXT, of a file, end, and what the reader says to those that begin at STARTS. Each is read in the
package that the forms before it enter. Nothing is evaluated or stays interned."
  (call-as-job-part nil (lambda ()
                          (call-with-checking-readtable (lambda () (checked-text text starts))))))
