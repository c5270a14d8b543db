;;;; What the reader says to the text of a file: where each form ends, and why some cannot be read. Nothing is evaluated,
;;;; and what is interned is taken out again.

(in-package "LIVE-LISP.EVALUATE")

(defun checking-readtable (readtable)
  "Return a copy of READTABLE with which #. evaluates nothing."
  (let ((copy (copy-readtable readtable)))
    (ignore-errors
     (set-dispatch-macro-character #\# #\. (lambda (stream character number)
                                             (declare (ignore character number))
                                             (read stream t nil t)
                                             nil)
                                   copy))
    copy))

(defun bare-name-p (text name)
  "True when TEXT, of an operator, is a symbol called NAME, in whatever package."
  (string-equal name (subseq text (let ((colon (position #\: text :from-end t))) (if colon (1+ colon) 0)))))

(defun argument-of (operator form)
  "Return the text of the argument of OPERATOR in the text FORM. That is a call of it, or has some at top level, of which
the last counts. Return NIL without one."
  (let ((own (first (form-parts form 1))))
    (cond ((null own) nil)
          ((bare-name-p own operator) (second (form-parts form 2)))
          ((and (some (lambda (name) (bare-name-p own name)) '("eval-when" "locally" "progn"))
                (search operator form :test #'char-equal))
           (loop with last = nil
                 for part in (rest (form-parts form array-dimension-limit))
                 for start = (form-start part 0 (length part))
                 do (setf last (or (argument-of operator (subseq part start)) last))
                 finally (return last))))))

(defun enter-readtable (form)
  "When the text FORM calls IN-READTABLE make the readtable that it names the current one, if the image has it."
  (let* ((name (argument-of "in-readtable" form))
         (package (and name (find-package "NAMED-READTABLES")))
         (finder (and package (find-symbol "FIND-READTABLE" package)))
         (readtable (and finder (fboundp finder)
                         (call-uninterning name (lambda () (ignore-errors (funcall finder (read-from-string name))))))))
    (when (readtablep readtable) (setf *readtable* (checking-readtable readtable)))))

(defun form-ends (text)
  "Return where the forms of TEXT end, in order. The second value is the condition at which that stopped, or NIL."
  (let ((ends '()) (*readtable* *readtable*))
    (with-input-from-string (in text)
      (handler-case (loop for start = (file-position in)
                          until (eq in (let ((*read-suppress* t)) (read-preserving-whitespace in nil in)))
                          do (let ((end (file-position in)))
                               (push end ends)
                               (enter-readtable (form-text text start end)))
                          finally (return (values (nreverse ends) nil)))
        (error (condition) (values (nreverse ends) condition))))))

(defun form-text (text start end)
  "Return the form that stands alone in TEXT from START to END, without what is before it."
  (subseq text (let ((*read-suppress* t)) (form-start text start end)) end))

(defun package-named-by (form)
  "Return the package that the text FORM makes the current one, or its name when there is no such package. Return NIL when
FORM does not do that."
  (let* ((name (argument-of "in-package" form))
         (designator (and name (let ((*package* (find-package "KEYWORD"))) (ignore-errors (read-from-string name))))))
    (and designator
         (typep designator '(or string symbol character))
         (or (find-package (string designator)) (string designator)))))

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
        with *readtable* = *readtable*
        for start = 0 then end
        for end in ends
        for begin = (let ((*read-suppress* t)) (form-start text start end))
        for form = (subseq text begin end)
        for entered = (package-named-by form)
        when (member begin starts)
          when (if (eq known t)
                   (reader-problem text begin end)
                   (progn (pushnew known missing :test #'equal) nil))
            collect it into found
        do (enter-readtable form)
           (when entered
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
                          (let ((*readtable* (checking-readtable *readtable*)) (*read-eval* nil))
                            (checked-text text starts)))))
