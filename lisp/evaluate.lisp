;;;; Evaluation: forms are read and evaluated one by one, so that IN-PACKAGE counts
;;;; for what follows; warnings are collected with the form they are about.

(in-package "LIVE-LISP.AGENT")

(defparameter *value-limit* 10000 "Characters of one printed value.")
(defparameter *warning-limit* 50 "Warnings that are kept; the rest is counted.")

;;; Warnings

(defvar *warnings* nil "The warnings of this call, newest first.")
(defvar *warning-count* 0 "How many there were.")
(defvar *redefined* nil "The texts of the redefinitions of this call, newest first.")
(defvar *form-number* nil "The number of the form that is evaluated, from 1.")

(defun severity (condition)
  "Return how CONDITION is classed: warning, style-warning or note."
  (typecase condition
    (style-warning "style-warning")
    (warning "warning")
    (t "note")))

(defun compiling-file ()
  "Return the native name of the file that is compiled or loaded, or NIL."
  (let ((path (or *compile-file-truename* *load-truename*)))
    (and path (ignore-errors (sb-ext:native-namestring path)))))

(defun error-context ()
  "Return the form that the compiler is about, and the offset in the file of the
top-level form around it; both NIL when no compiler is at work."
  (let ((context (ignore-errors (internal-call ("SB-C" "FIND-ERROR-CONTEXT") (nil)))))
    (when context
      (values (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-ORIGINAL-FORM") (context))
              (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-POSITION") (context))
              (ignore-errors
               (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-CONTEXT") (context)))))))

(defun definition-text (context)
  "Return the innermost definition that the compiler's CONTEXT names, or NIL."
  (let ((form (first (last context))))
    (when (consp form)
      (printing-plainly (print-safely 120 form "~{~A~^ ~}")))))

(defun record-warning (condition)
  "Keep CONDITION with the form it is about."
  (incf *warning-count*)
  (when (< (length *warnings*) *warning-limit*)
    (multiple-value-bind (form offset context) (error-context)
      (push (object "severity" (severity condition)
                    "text" (let ((*print-pretty* t) (*print-right-margin* 100)) (print-safely 1000 condition "~A"))
                    "form" (and form (let ((*print-pretty* nil) (*print-length* 10) (*print-level* 4)) (print-safely 200 form)))
                    "definition" (definition-text context)
                    "formNumber" *form-number*
                    "file" (compiling-file)
                    "offset" offset)
            *warnings*))))

(defun note-warning (condition)
  "Handle a WARNING or a compiler note: keep it and go on. Redefinitions are told
apart, because replacing a definition is what a redefining form is for."
  (cond ((typep condition 'sb-kernel:redefinition-warning)
         (when (< (length *redefined*) *warning-limit*)
           (push (print-safely 200 condition "~A") *redefined*)))
        (t (record-warning condition)))
  (let ((restart (find-restart 'muffle-warning condition)))
    (when restart (invoke-restart restart))))

(defun call-collecting-warnings (function)
  "Call FUNCTION in one compilation unit with warnings kept and not printed."
  (handler-bind ((warning #'note-warning)
                 (sb-ext:compiler-note #'note-warning))
    (let ((output *error-output*)
          (*error-output* (make-broadcast-stream)))
      (with-compilation-unit ()
        (let ((*error-output* output))
          (funcall function))))))

(defun warning-members ()
  "Return the members of an answer that tell what was warned about."
  (list "warnings" (reverse *warnings*)
        "warningCount" (and (plusp *warning-count*) *warning-count*)
        "redefined" (reverse *redefined*)))

;;; Reading

(defun line-and-column (text offset)
  "Return the line and the column, from 1, of OFFSET in TEXT."
  (let ((newline (position #\Newline text :end offset :from-end t)))
    (values (1+ (count #\Newline text :end offset))
            (if newline (- offset newline) (1+ offset)))))

(defun skip-to-form (stream)
  "Step over white space and line comments and return where the next form begins, or
NIL at the end."
  (loop for char = (peek-char t stream nil nil)
        while (eql char #\;) do (read-line stream nil)
        finally (return (and char (file-position stream)))))

(defun reader-text (condition)
  "Return what the reader's CONDITION says without the stream it names."
  (typecase condition
    (end-of-file "the text ends inside this form")
    (simple-condition
     (print-safely 500 (handler-case (apply #'format nil (simple-condition-format-control condition)
                                            (simple-condition-format-arguments condition))
                         (error () (princ-to-string condition)))
                   "~A"))
    (t (print-safely 500 condition "~A"))))

(defun present-cells (package)
  "Return copies of the symbol vectors of PACKAGE, or NIL where this SBCL has none."
  (loop for cells in (package-cells package)
        when cells collect (copy-seq cells)))

(defun unintern-new (package before)
  "Take out of PACKAGE the symbols that are not in the vectors BEFORE: those that a
form interned that then could not be read."
  (let ((known (make-hash-table :test 'eq)))
    (dolist (cells before)
      (loop for cell across cells do (setf (gethash cell known) t)))
    (with-package-iterator (next package :internal :external)
      (loop
        (multiple-value-bind (more symbol) (next)
          (unless more (return))
          (unless (or (gethash symbol known) (boundp symbol) (fboundp symbol))
            (unintern symbol package)))))))

(defun read-form (stream text start)
  "Read the next form of STREAM, which begins at START in TEXT. A form that cannot be
read ends the call with a text that says what is wrong and where (S2.16); the symbols it
interned are taken out again."
  (let* ((package *package*) (before (present-cells package)))
    (handler-bind
        ((error
           (lambda (condition)
             (multiple-value-bind (line column) (line-and-column text start)
               (multiple-value-bind (at-line at-column) (line-and-column text (min (length text) (file-position stream)))
                 (when before (unintern-new package before))
                 (throw 'unreadable
                   (object "text" (reader-text condition)
                           "number" *form-number* "line" line "column" column
                           "atLine" at-line "atColumn" at-column)))))))
      (call-user-code (lambda () (read stream nil stream))))))

;;; Evaluating

(defun value-data (value)
  "Return VALUE printed as by ~S, bounded."
  (multiple-value-bind (text cut)
      (bounded-string *value-limit* (lambda (stream) (prin1 value stream)))
    (if cut (object "text" text "cut" t) (object "text" text))))

(defun evaluate-form (form)
  "Evaluate FORM as a REPL does, and return the list of its values printed."
  (setf - form)
  (let ((values (multiple-value-list (call-user-code (lambda () (eval form))))))
    (setf /// // // / / values
          *** ** ** * * (first values)
          +++ ++ ++ + + form)
    (call-user-code (lambda () (mapcar #'value-data values)))))

(defvar *done* nil "The printed values of the forms that were evaluated, newest first.")

(defun evaluate-text (text)
  "Read and evaluate the forms of TEXT one by one, adding the values of each to *DONE*.
Return the members of the answer that only tell what could not be read."
  (let ((stream (make-string-input-stream text)))
    (list "unreadable"
          (catch 'unreadable
            (loop for start = (skip-to-form stream)
                  while start
                  do (incf *form-number*)
                     (let ((form (read-form stream text start)))
                       (when (eq form stream) (decf *form-number*) (return))
                       (push (or (evaluate-form form) :empty) *done*)))))))

(defun call-as-job-part (package function)
  "Call FUNCTION, which returns members, in the session in PACKAGE with warnings kept;
return its members, or those that tell why it was left, with the warnings."
  (let ((*warnings* '()) (*warning-count* 0) (*redefined* '()) (members '()))
    (call-in-session package
                     (lambda ()
                       (setf members (job-result *job* (lambda () (call-collecting-warnings function)))
                             members (list* "package" (package-name (usable-package *package*)) members))))
    (append members (warning-members))))

(define-operation ("evaluate" :members t) (code package)
  "Evaluate the forms of the text CODE in PACKAGE, or in the session's. The answer has
the values of each form that was evaluated, also when a later one signals."
  (let* ((package (and package (named-package package)))
         (*form-number* 0)
         (*done* '())
         (members (call-as-job-part package (lambda () (evaluate-text code)))))
    (list* "formNumber" *form-number*
           "values" (loop for values in (reverse *done*)
                          collect (if (eq values :empty) #() values))
           members)))
