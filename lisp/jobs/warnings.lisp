;;;; Collects the warnings while code of the user is compiled and run. They are kept as data, each
;;;; with the form that it is about, and not printed.

(in-package "LIVE-LISP.JOBS")

(defparameter *warning-limit* 40
  "At most this many warnings of each severity are kept; the rest is counted.")

(defstruct (remarks (:constructor make-remarks ()))
  "The warnings of a call. WARNINGS are those that are kept, newest first. COUNT counts all, NOTES
the compiler's notes among them, FILE-NOTES the notes about files. KEYS identify warnings. CALLS are
lists of one of WARNINGS, the call that it is about, and the function that the call was checked
against. REDEFINED are texts, newest first. LACKS-MANAGER is true when a file names the library
manager, and none is set up."
  (warnings '()) (count 0) (notes 0) (file-notes 0) (keys '()) (calls '()) (redefined '())
  (lacks-manager nil))

(defvar *remarks* (make-remarks) "The remarks of this call.")
(defvar *form-number* nil "The number of the form being evaluated, from 1.")

(defun severity (condition)
  "Return the severity of CONDITION: warning, undefined (a style warning about something that is
used and not defined), style-warning or note."
  (typecase condition
    (style-warning
     (if (eql 0 (search "undefined " (warning-text condition))) "undefined" "style-warning"))
    (warning "warning")
    (t "note")))

(defun compiling-file ()
  "Return the native name of the file that COMPILE-FILE compiles now, else of the file that LOAD
loads now, else NIL."
  (let ((path (or *compile-file-truename* *load-truename*)))
    (and path (ignore-errors (sb-ext:native-namestring path)))))

(defun context-data ()
  "Return what the compiler works on, as far as that is known. The values are the form, the
definitions around it, the octet offset of the top-level form, the file's native truename, and the
offset in characters at which the form begins in the file. Return NIL while the compiler works on
nothing."
  (let ((context (ignore-errors (error-context nil))))
    (when context
      (let* ((name (context-file context))
             (file (and (pathnamep name)
                        (ignore-errors (sb-ext:native-namestring (truename name))))))
        (values (context-form context)
                (context-definitions context)
                (context-offset context)
                file
                (and file (ignore-errors (context-start context file))))))))

(defun context-start (context file)
  "Return the offset in characters at which the form of CONTEXT begins in FILE, a native truename,
or NIL."
  (let ((path (context-path context)))
    (values (span-of (spans-known file nil) (path-top-level-form path) (path-number path) '()))))

(defun definition-text (context)
  "Return as text the innermost definition in CONTEXT, the definitions from CONTEXT-DATA; NIL when
there is none, or when it is only a PROGN."
  (let ((form (first (last context))))
    (when (and (consp form) (not (string= "PROGN" (princ-to-string (first form)))))
      (printing-plainly (print-safely 120 form "~{~A~^ ~}")))))

(defun reader-text (condition)
  "Return the report of CONDITION, which the reader signalled, without the description of the stream
in it."
  (typecase condition
    (end-of-file "the text ends inside this form")
    ((and simple-condition reader-error)
     (handler-case
         (values (bounded-string 500 (lambda (stream)
                                       (apply #'format stream
                                              (simple-condition-format-control condition)
                                              (simple-condition-format-arguments condition)))))
       (error () (print-safely 500 condition "~A"))))
    (t (report-text 500 condition))))

(defun whole-definition-p (form context)
  "True when FORM is all of the definition that CONTEXT names, so that showing both is redundant."
  (let ((operator (and (consp form) (car form))) (definition (first (last context))))
    (and (symbolp operator)
         (or (eq operator +named-lambda+)
             (and (consp definition)
                  (string= (symbol-name operator) (princ-to-string (first definition))))))))

(defun unreadable-place (condition)
  "Return as text where the unreadable form that CONDITION is about begins. Else return where
reading stopped, or NIL when SBCL knows neither."
  (destructuring-bind (&optional line . column)
      (unreadable-line condition)
    (if line
        (format nil "the form begins at line ~D, column ~D" line (1+ column))
        (let ((info (ignore-errors (stream-position (stream-error-stream condition)))))
          (when (assoc :line info)
            (format nil "reading stopped at line ~D" (second (assoc :line info))))))))

(defun warning-text (condition)
  "Return the report of CONDITION as text. When CONDITION says that a file cannot be read, return
the reader's report and the place instead."
  (if (typep condition 'unreadable-file)
      (format nil "cannot be read: ~A~@[ (~A)~]"
              (reader-text (encapsulated-condition condition))
              (unreadable-place condition))
      (report-text 1000 condition)))

;;; Files are compiled one after the other, so a call in the first file is checked against the old
;;; version of a function that the second file replaces.

(defun function-called (form)
  "Return the global function that FORM calls, or NIL. Return NIL also for a function with a
compiler macro, which can change the call."
  (let ((name (and (consp form) (ignore-errors (list-length form)) (first form))))
    (and name
         (symbolp name)
         (fboundp name)
         (not (macro-function name))
         (not (special-operator-p name))
         (not (compiler-macro-function name))
         (plain-definition name))))

(defun about-call-p (condition form)
  "True when CONDITION is only about how FORM, a list, calls its function. It is a style warning
then whose format arguments are only integers, NIL and symbols from FORM."
  (and (typep condition '(and style-warning simple-condition))
       (let ((named (simple-condition-format-arguments condition)))
         (and named
              (loop for each in named
                    always (or (integerp each)
                               (and (symbolp each) (or (null each) (member each form)))))))))

(defun call-text (form)
  "Return the text of the warning that the compiler gives now for a call like FORM, or NIL when it
gives none. Keywords stay; all other arguments are replaced by variables."
  (let* ((text nil)
         (parameters '())
         (arguments (loop for each in (rest form)
                          collect (if (keywordp each)
                                      each
                                      (first (push (gensym "ARGUMENT") parameters))))))
    ;; The function is not declared NOTINLINE here: the compiler would not check the call then.
    (handler-bind ((warning (lambda (condition)
                              (setf text (or text (warning-text condition)))
                              (muffle-warning condition)))
                   (sb-ext:compiler-note #'muffle-warning))
      (with-compilation-unit (:override t)
        (compile nil `(lambda ,parameters (,(first form) ,@arguments)))))
    text))

(defun warning-now (warning)
  "Return WARNING, a JSON object. If it is about a call of a function that was replaced since,
return it with the warning about a call of the new function, or NIL when the call fits the new
function."
  (destructuring-bind (&optional form function) (rest (assoc warning (remarks-calls *remarks*)))
    (if (or (null form) (eq function (function-called form)))
        warning
        (let ((text (call-text form)) (members (copy-list (json-object-members warning))))
          (when text
            (setf (second (member "text" members :test #'equal)) text)
            (make-json-object members))))))

(defun keep-warning (severity condition)
  "Keep CONDITION in *REMARKS* as a warning of SEVERITY, with the form that it is about. A warning
that the compiler signals more than once counts once."
  (multiple-value-bind (form context offset file start) (context-data)
    (let* ((file (or file (compiling-file)))
           (text (warning-text condition))
           (called (function-called form))
           (call (and called (about-call-p condition form) form))
           (form (and form
                      (not (whole-definition-p form context))
                      (printing-plainly (print-safely 200 form))))
           (definition (definition-text context))
           (key (list severity text form definition *form-number*)))
      (unless (member key (remarks-keys *remarks*) :test #'equal)
        (incf (remarks-count *remarks*))
        (when (string= severity "note")
          (incf (remarks-notes *remarks*))
          (when file (incf (remarks-file-notes *remarks*))))
        (when (< (count severity (remarks-keys *remarks*) :key #'first :test #'string=)
                 *warning-limit*)
          (push key (remarks-keys *remarks*))
          (push (object "severity" severity
                        "text" text
                        "near" (near-condition condition)
                        "form" form
                        "definition" definition
                        "formNumber" *form-number*
                        "file" file
                        "offset" offset
                        "start" start)
                (remarks-warnings *remarks*))
          (when call
            (push (list (first (remarks-warnings *remarks*)) call called)
                  (remarks-calls *remarks*))))))))

(defun uninteresting-p (redefinition)
  "True when the warning REDEFINITION is about a definition from the same place as the new one, as
when a file is loaded again."
  (ignore-errors (typep redefinition 'uninteresting-redefinition)))

(defun note-warning (condition)
  "Handle a WARNING or a compiler note: keep it and go on. Redefinitions are kept apart, because
replacing a definition is what a redefining form is for."
  (cond ((about-names-p condition))
        ((not (typep condition 'redefinition))
         (keep-warning (severity condition) condition))
        ((and (not (uninteresting-p condition))
              (< (length (remarks-redefined *remarks*)) *warning-limit*))
         (pushnew (report-text 200 condition) (remarks-redefined *remarks*) :test #'string=)))
  (let ((restart (find-restart 'muffle-warning condition)))
    (when restart (invoke-restart restart))))

(defun note-compiler-error (condition)
  "Keep CONDITION, for which the compiler compiles an error at run time, and go on. COMPILE-FILE
itself signals no error for a file that it cannot read, so this is where ASDF is made to try again."
  (let ((problem (encapsulated-condition condition)))
    (retry-with-libraries problem)
    (when (lacks-manager-p (unread-cause problem))
      (setf (remarks-lacks-manager *remarks*) t))
    (keep-warning "error" problem)))

(defun call-collecting-warnings (function)
  "Call FUNCTION in one compilation unit with warnings kept and not printed."
  (handler-bind ((warning #'note-warning)
                 (sb-ext:compiler-note #'note-warning)
                 (compiler-error #'note-compiler-error))
    (let ((output *error-output*)
          (*error-output* (make-broadcast-stream))
          ;; Each use of an undefined variable is reported with its place: beyond a limit they would
          ;; only be counted. An undefined function is reported once for a file.
          (sb-ext:*undefined-warning-limit* nil))
      ;; This call can run while an error is held in another compilation unit, which ends much
      ;; later.
      (with-compilation-unit (:override t
                                        :policy (and *debug-level*
                                                     `(optimize (debug ,*debug-level*))))
        (let ((*error-output* output))
          (funcall function))))))

(defun warning-members ()
  "Return the members of an answer about warnings."
  (let* ((warnings (remove nil (mapcar #'warning-now (reverse (remarks-warnings *remarks*)))))
         (count (- (remarks-count *remarks*)
                   (- (length (remarks-warnings *remarks*)) (length warnings)))))
    (list "warnings" warnings
          "warningCount" (and (plusp count) count)
          "noteCount" (and (plusp (remarks-notes *remarks*)) (remarks-notes *remarks*))
          "fileNoteCount" (and (plusp (remarks-file-notes *remarks*))
                               (remarks-file-notes *remarks*))
          "redefined" (reverse (remarks-redefined *remarks*))
          "withoutManager" (remarks-lacks-manager *remarks*))))
