;;;; Evaluation: forms are read and evaluated one by one, so that IN-PACKAGE counts
;;;; for what follows; warnings are collected with the form they are about.

(in-package "LIVE-LISP.AGENT")

(defparameter *value-limit* 10000 "Characters of one printed value.")
(defparameter *warning-limit* 40 "Warnings of each severity that are kept; the rest is counted.")

;;; Warnings

(defvar *warnings* nil "The warnings of this call, newest first.")
(defvar *warning-count* 0 "How many there were.")
(defvar *warning-keys* nil "What tells those that were kept apart.")
(defvar *redefined* nil "The texts of the redefinitions of this call, newest first.")
(defvar *form-number* nil "The number of the form that is evaluated, from 1.")

(defun severity (condition)
  "Return how CONDITION is classed: warning, undefined (a style warning about something
that is used and not defined), style-warning or note."
  (typecase condition
    (style-warning (if (eql 0 (search "undefined " (warning-text condition))) "undefined" "style-warning"))
    (warning "warning")
    (t "note")))

(defun compiling-file ()
  "Return the native name of the file that is compiled or loaded, or NIL."
  (let ((path (or *compile-file-truename* *load-truename*)))
    (and path (ignore-errors (sb-ext:native-namestring path)))))

(defun error-context ()
  "Return what the compiler is about, as far as it is known: the form, the names of the
definitions around it, the offset in the file of the top-level form, and the file."
  (let ((context (ignore-errors (internal-call ("SB-C" "FIND-ERROR-CONTEXT") (nil)))))
    (when context
      (let ((file (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-NAME") (context))))
        (values (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-ORIGINAL-FORM") (context))
                (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-CONTEXT") (context))
                (internal-call ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-POSITION") (context))
                (and (pathnamep file) (ignore-errors (sb-ext:native-namestring (truename file)))))))))

(defun definition-text (context)
  "Return the innermost definition that the compiler's CONTEXT names, or NIL."
  (let ((form (first (last context))))
    (when (consp form)
      (printing-plainly (print-safely 120 form "~{~A~^ ~}")))))

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

(defun whole-definition-p (form context)
  "True when FORM is all of the definition that CONTEXT names, so that showing it too says
nothing new."
  (let ((operator (and (consp form) (car form))) (definition (first (last context))))
    (and (symbolp operator)
         (or (eq operator 'sb-int:named-lambda)
             (and (consp definition)
                  (string= (symbol-name operator) (princ-to-string (first definition))))))))

(defun unreadable-place (condition)
  "Return where the form begins that CONDITION, of a file that cannot be read, is about, or
where reading stopped, as far as SBCL knows; NIL when it knows neither."
  (destructuring-bind (&optional line . column)
      (internal-call ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE-LINE/COL") (condition))
    (if line
        (format nil "the form begins at line ~D, column ~D" line (1+ column))
        (let ((info (ignore-errors (internal-call ("SB-KERNEL" "STREAM-ERROR-POSITION-INFO")
                                                  ((stream-error-stream condition))))))
          (when (assoc :line info)
            (format nil "reading stopped at line ~D" (second (assoc :line info))))))))

(defun warning-text (condition)
  "Return what CONDITION says; of a file that cannot be read, what the reader says and
where."
  (if (typep condition (internal-symbol "SB-C" "INPUT-ERROR-IN-COMPILE-FILE"))
      (format nil "cannot be read: ~A~@[ (~A)~]"
              (reader-text (internal-call ("SB-C" "ENCAPSULATED-CONDITION") (condition) condition))
              (unreadable-place condition))
      (report-text 1000 condition)))

(defun keep-warning (severity condition)
  "Keep CONDITION, of SEVERITY, with the form that it is about. The compiler signals some
more than once; those count once."
  (multiple-value-bind (form context offset file) (error-context)
    (let* ((text (warning-text condition))
           (form (and form
                      (not (whole-definition-p form context))
                      (printing-plainly (print-safely 200 form))))
           (definition (definition-text context))
           (key (list severity text form definition *form-number*)))
      (unless (member key *warning-keys* :test #'equal)
        (incf *warning-count*)
        (when (< (count severity *warning-keys* :key #'first :test #'string=) *warning-limit*)
          (push key *warning-keys*)
          (push (object "severity" severity
                        "text" text
                        "form" form
                        "definition" definition
                        "formNumber" *form-number*
                        "file" (or file (compiling-file))
                        "offset" offset)
                *warnings*))))))

(defun uninteresting-p (redefinition)
  "True when the warning REDEFINITION is about a definition that comes from where the
new one comes from, as when a file is loaded again."
  (let ((type (internal-symbol "SB-KERNEL" "UNINTERESTING-REDEFINITION")))
    (and type (ignore-errors (typep redefinition type)))))

(defun note-warning (condition)
  "Handle a WARNING or a compiler note: keep it and go on. Redefinitions are told
apart, because replacing a definition is what a redefining form is for."
  (cond ((not (typep condition 'sb-kernel:redefinition-warning))
         (keep-warning (severity condition) condition))
        ((and (not (uninteresting-p condition)) (< (length *redefined*) *warning-limit*))
         (pushnew (report-text 200 condition) *redefined* :test #'string=)))
  (let ((restart (find-restart 'muffle-warning condition)))
    (when restart (invoke-restart restart))))

(defun note-compiler-error (condition)
  "Keep CONDITION, an error that the compiler will turn into one at run time, and go on."
  (keep-warning "error" (internal-call ("SB-C" "ENCAPSULATED-CONDITION") (condition) condition)))

(defun call-collecting-warnings (function)
  "Call FUNCTION in one compilation unit with warnings kept and not printed."
  (handler-bind ((warning #'note-warning)
                 (sb-ext:compiler-note #'note-warning)
                 (sb-c:compiler-error #'note-compiler-error))
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

(defun packages-in (text)
  "Return the packages that TEXT names before two colons: what it reads can intern there."
  (let ((packages '()))
    (loop for colon = (search "::" text) then (search "::" text :start2 (+ colon 2))
          while colon
          do (let* ((start (position-if (lambda (char) (find char '(#\Space #\Newline #\Tab #\( #\) #\' #\` #\, #\@ #\")))
                                        text :end colon :from-end t))
                    (package (find-package (string-upcase (subseq text (if start (1+ start) 0) colon)))))
               (when package (pushnew package packages))))
    packages))

(defun present-symbols (packages)
  "Return, for each of PACKAGES, a list of it and copies of its symbol vectors; packages
whose vectors this SBCL does not show are left out."
  (loop for package in packages
        for cells = (and package (package-cells package))
        when (every #'simple-vector-p cells)
          collect (cons package (mapcar #'copy-seq cells))))

(defun unintern-new (before)
  "Take out of their packages the symbols that are not in BEFORE, what PRESENT-SYMBOLS
returned: those that a form interned that then could not be read."
  (loop for (package . vectors) in before
        do (let ((known (make-hash-table :test 'eq)))
             (dolist (cells vectors)
               (loop for cell across cells do (setf (gethash cell known) t)))
             (with-package-iterator (next package :internal :external)
               (loop
                 (multiple-value-bind (more symbol) (next)
                   (unless more (return))
                   (unless (or (gethash symbol known) (fboundp symbol)
                               (and (boundp symbol) (not (keywordp symbol))))
                     (unintern symbol package))))))))

(defun read-form (stream text start packages)
  "Read the next form of STREAM, which begins at START in TEXT and can intern symbols in
PACKAGES too. A form that cannot be
read ends the call with a text that says what is wrong and where (S2.16); the symbols it
interned are taken out again."
  (let ((before (present-symbols (adjoin *package* packages))))
    (handler-bind
        ((error
           (lambda (condition)
             (multiple-value-bind (line column) (line-and-column text start)
               (multiple-value-bind (at-line at-column) (line-and-column text (min (length text) (file-position stream)))
                 (unintern-new before)
                 (throw 'unreadable
                   (object "text" (reader-text condition)
                           "number" *form-number* "line" line "column" column
                           "atLine" at-line "atColumn" at-column)))))))
      (call-user-code (lambda () (read stream nil stream))))))

;;; Evaluating

(defun hidden-length (value)
  "Return the length of VALUE, a list or a vector, when *PRINT-LENGTH* hides a part of it."
  (let ((length (typecase value
                  (list (ignore-errors (list-length value)))
                  (string nil)
                  (vector (length value)))))
    (and length *print-length* (> length *print-length*) length)))

(defvar *value-budget* 0 "How many characters the printed values of this call may still take.")

(defun value-data (value)
  "Return VALUE printed as by ~S, bounded, and its true length where only a part is shown."
  (multiple-value-bind (text cut)
      (bounded-string (min *value-limit* *value-budget*) (lambda (stream) (prin1 value stream)))
    (decf *value-budget* (length text))
    (object "text" text "cut" cut "length" (hidden-length value))))

(defun values-data (values)
  "Return VALUES, a list, printed, or :EMPTY; those for which the call has no more room are
only counted."
  (loop for rest on values
        for index from 0
        while (and (plusp *value-budget*) (< index 100))
        collect (value-data (first rest)) into printed
        finally (return (cond (rest (append printed (list (object "omitted" (length rest)))))
                              (printed)
                              (t :empty)))))

(defun evaluate-form (form)
  "Evaluate FORM as a REPL does, and return the list of its values printed."
  (setf - form)
  (let ((values (multiple-value-list (call-user-code (lambda () (eval form))))))
    (setf /// // // / / values
          *** ** ** * * (first values)
          +++ ++ ++ + + form)
    (call-user-code (lambda () (values-data values)))))

(defvar *done* nil "The printed values of the forms that were evaluated, newest first.")

(defun evaluate-text (text)
  "Read and evaluate the forms of TEXT one by one, adding the values of each to *DONE*.
Return the members of the answer that only tell what could not be read."
  (let ((stream (make-string-input-stream text))
        (packages (cons (find-package "KEYWORD") (packages-in text))))
    (list "unreadable"
          (catch 'unreadable
            (loop for start = (skip-to-form stream)
                  while start
                  do (incf *form-number*)
                     (let ((form (read-form stream text start packages)))
                       (when (eq form stream) (decf *form-number*) (return))
                       (push (evaluate-form form) *done*)))))))

(defun call-as-job-part (package function)
  "Call FUNCTION, which returns members, in the session in PACKAGE with warnings kept;
return its members, or those that tell why it was left, with the warnings."
  (let ((*warnings* '()) (*warning-count* 0) (*warning-keys* '()) (*redefined* '()) (members '()))
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
         (*value-budget* (* 3 *value-limit*))
         (*done* '())
         (members (call-as-job-part package (lambda () (evaluate-text code)))))
    (list* "formNumber" *form-number*
           "values" (loop for values in (reverse *done*)
                          collect (if (eq values :empty) #() values))
           members)))
