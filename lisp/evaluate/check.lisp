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
      ;; A script can begin with the name of its interpreter, which LOAD passes over.
      (when (eql 0 (search "#!" text :end2 (min 2 (length text)))) (read-line in nil))
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
        for entered = (package-entered form)
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

(define-operation ("check-text" :members t) (text starts file)
  "Tell where the forms of TEXT, of FILE, end, and what the reader says to those that begin at STARTS. Each is read in the
package that the forms before it enter. Nothing is evaluated or stays interned."
  (call-as-job-part nil (lambda ()
                          (let ((*readtable* (checking-readtable *readtable*)) (*read-eval* nil)
                                (*package* (or (package-at-start file) *package*)))
                            (checked-text text starts)))))
