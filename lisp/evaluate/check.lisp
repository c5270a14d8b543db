;;;; Checks the text of a file with the Lisp reader: where each form ends, and why a form cannot be
;;;; read. Nothing is evaluated, and new symbols are uninterned again.

(in-package "LIVE-LISP.EVALUATE")

(defun checking-readtable (readtable)
  "Return a copy of READTABLE in which #. reads a form and does not evaluate it."
  (let ((copy (copy-readtable readtable)))
    (nil-if-program-fails
      (set-dispatch-macro-character #\# #\. (lambda (stream character number)
                                              (declare (ignore character number))
                                              (read stream t nil t)
                                              nil)
                                    copy))
    copy))

(defun enter-readtable (form)
  "If FORM, the text of a form, is an IN-READTABLE form, and the image has the readtable that FORM
names, set *READTABLE* to a copy from CHECKING-READTABLE. Otherwise do nothing."
  (let* ((name (argument-of "in-readtable" form))
         (package (and name (find-package "NAMED-READTABLES")))
         (finder (and package (find-symbol "FIND-READTABLE" package)))
         (readtable (and finder (fboundp finder)
                         (call-uninterning name
                                           (lambda ()
                                             (nil-if-program-fails
                                               (funcall finder (read-from-string name))))))))
    (when (readtablep readtable) (setf *readtable* (checking-readtable readtable)))))

(defun form-begin (text start end)
  "Return the index in TEXT at which a form begins. The form ends at END, and only white space and
comments are between START and the form."
  (let ((*read-suppress* t)) (form-start text start end)))

(defun package-there (packages place)
  "Return the package in which the form at PLACE, an index, is read. If the package does not exist,
return its name. PACKAGES is a list of (PLACE NAME) lists in order: forms from PLACE on are read in
the package NAME, or in the current package if NAME is NIL."
  (let ((name (second (find place packages :key #'first :test #'>= :from-end t))))
    (if name (or (find-package name) name) *package*)))

(defun enter-readtable-there (text start end packages)
  "If the form of TEXT between the indexes START and END is an IN-READTABLE form, set *READTABLE* to
its readtable. PACKAGES is a list of (PLACE NAME) lists in order: forms from PLACE on are read in
the package NAME."
  (let* ((begin (form-begin text start end)) (package (package-there packages begin))
         (*package* (if (packagep package) package *package*)))
    (enter-readtable (subseq text begin end))))

(defun form-ends (text packages)
  "Return two values: a list of the indexes at which the forms of TEXT end, in order, and the
condition that stopped the reading, or NIL. PACKAGES is a list of (PLACE NAME) lists in order: forms
from PLACE on are read in the package NAME."
  (let ((ends '()) (*readtable* *readtable*))
    (with-input-from-string (in text)
      ;; The first line of a script can begin with #!, and LOAD skips this line.
      (when (starts-p text "#!") (read-line in nil))
      (handler-case
          (loop for start = (file-position in)
                until (eq in (let ((*read-suppress* t)) (read-preserving-whitespace in nil in)))
                do (let ((end (file-position in)))
                     (push end ends)
                     (enter-readtable-there text start end packages))
                finally (return (values (nreverse ends) nil)))
        (error (condition) (values (nreverse ends) condition))))))

(defun call-uninterning (text function)
  "Call FUNCTION, which reads from TEXT, and return its value. Afterwards, even after a non-local
exit, unintern the symbols that reading has interned."
  (let ((*interned* '()))
    (unwind-protect (funcall function)
      (unintern-new (interned-symbols *interned*) text))))

(defun reader-problem (text start end)
  "Return NIL if the form of TEXT between the indexes START and END can be read. Otherwise return a
JSON object with the reason. Its member \"name\" is true if the form names a missing package or
symbol, because another form can define that."
  (let ((form (subseq text start end)))
    (call-uninterning
     form
     (lambda ()
       (handler-case (progn (read-from-string form) nil)
         (error (condition)
           (object "start" start
                   "text" (reader-text condition)
                   "name" (typep condition 'package-error))))))))

(defun problems (text ends starts packages)
  "Read the forms of TEXT that begin at one of STARTS, a list of indexes. ENDS lists the ends of all
forms. PACKAGES is a list of (PLACE NAME) lists in order: forms from PLACE on are read in the
package NAME. Leave out forms whose package is missing. Return two values: a list of JSON objects
for the forms that cannot be read, and a list of the names of missing packages."
  (loop with missing = '()
        with *readtable* = *readtable*
        for start = 0 then end
        for end in ends
        for begin = (form-begin text start end)
        for package = (package-there packages begin)
        when (member begin starts)
          when (if (packagep package)
                   (let ((*package* package)) (reader-problem text begin end))
                   (progn (pushnew package missing :test #'equal) nil))
            collect it into found
        do (enter-readtable-there text start end packages)
        finally (return (values found missing))))

(define-shape checked-text ()
  "What the reader found in a text. Offsets are in characters, as Lisp counts them."
  (ends (list integer) :optional "For each form that was read, the offset of its end.")
  (stopped string :optional "Why the text after these forms cannot be read.")
  (problems (list (object (start integer) (text string) (name boolean :optional))) :optional
   "Problems with forms. `name` is true when the problem is a package or a symbol.")
  (missing (list string) :optional
   "Packages that do not exist. Forms in these packages were not checked."))

(defun checked-text (text starts packages)
  "Return a plist with \"value\", a JSON object: the ends of the forms of TEXT, the reason why the
reading stopped, and the problems of the forms at STARTS, a list of indexes. PACKAGES is a list of
(PLACE NAME) lists in order: forms from PLACE on are read in the package NAME."
  (multiple-value-bind (ends condition) (call-user-code (lambda () (form-ends text packages)))
    (multiple-value-bind (problems missing)
        (call-user-code (lambda () (problems text ends starts packages)))
      (list "value" (object "ends" ends
                            "stopped" (and condition (reader-text condition))
                            "problems" problems
                            "missing" missing)))))

(define-shape check-data (remarks)
  "The answer to a check of a text."
  (value checked-text :optional))

(define-operation ("check-text" :members t :gives check-data)
    ((text string "The text of a file.")
     (starts (list integer) "The offsets of the forms to check.")
     (packages (list (tuple integer (nullable string)))
      "Offsets from which on forms are read in the package with this name, or in the session's
      package."))
  "Return where the forms of TEXT end, and why the reader rejects forms at STARTS. Evaluate nothing,
and leave no new symbols interned."
  (call-as-job-part nil (lambda ()
                          (let ((*readtable* (checking-readtable *readtable*)) (*read-eval* nil))
                            (checked-text text starts packages)))))
