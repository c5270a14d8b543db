;;;; Collects the warnings that code of the user causes while it is compiled and run. Those that
;;;; would be printed to the output of the call are kept as data instead, each with the form that it
;;;; is about. The program's code gets what a plain SBCL gives it: a warning that it would find in a
;;;; stream of its own is printed there, COMPILE returns the same values, and a compilation unit of
;;;; the program ends where it would end.

(in-package "LIVE-LISP.JOBS")

(defparameter *warning-limit* 40
  "At most this many warnings of each severity are kept; others are only counted.")

(defstruct (remarks (:constructor make-remarks ()))
  "The warnings of a call. WARNINGS are the kept ones, newest first. COUNT counts all, NOTES only
the compiler's notes, FILE-NOTES only notes about files. KEYS identify the warnings. CALLS are lists
of one of WARNINGS, the call that it is about, and the function that was called. UNDEFINED are lists
of one of WARNINGS, a kind such as :FUNCTION, and a name that was undefined. REDEFINED are texts
about redefinitions, newest first. LACKS-MANAGER is true if a file names a library manager and none
is set up."
  (warnings '()) (count 0) (notes 0) (file-notes 0) (keys '()) (calls '()) (undefined '())
  (redefined '()) (lacks-manager nil))

(defvar *remarks* (make-remarks) "The REMARKS of this call.")
(defvar *form-number* nil "The number of the form being evaluated, counted from 1.")

(defun severity (condition)
  "Return the severity of CONDITION: \"warning\", \"undefined\", \"style-warning\" or \"note\".
\"undefined\" stands for a style warning about an undefined name."
  (typecase condition
    (style-warning
     (if (eql 0 (search "undefined " (warning-text condition))) "undefined" "style-warning"))
    (warning "warning")
    (t "note")))

(defun compiling-file ()
  "Return the native name of the file being compiled, or else of the file being loaded, or NIL."
  (let ((path (or *compile-file-truename* *load-truename*)))
    (and path (ignore-errors (sb-ext:native-namestring path)))))

(defun context-data ()
  "Return five values about what the compiler is working on: the form, the definitions around it,
the octet offset of the top-level form, the native truename of the file, and the offset in
characters at which the form begins in the file. Unknown ones are NIL."
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
  "Return the offset in characters at which the form of CONTEXT begins in FILE, a native truename.
Return NIL if it is unknown."
  (let ((path (context-path context)))
    (first (span-of (spans-known file nil) (path-top-level-form path) (path-number path) '()))))

(defun definition-text (context)
  "Return the innermost definition in CONTEXT, from CONTEXT-DATA, as text. Return NIL if there is
none, or only a PROGN."
  (let ((form (first (last context))))
    (when (and (consp form) (not (string= "PROGN" (princ-to-string (first form)))))
      (without-middle-digits (printing-plainly (print-safely 120 form "~{~A~^ ~}"))))))

(defun reader-text (condition)
  "Return the report of CONDITION, from the reader, without the description of the stream."
  (typecase condition
    (end-of-file "the text ends inside this form")
    ((and simple-condition reader-error)
     (handler-case
         (without-middle-digits
          (bounded-string 500 (lambda (stream)
                                (apply #'format stream
                                       (simple-condition-format-control condition)
                                       (simple-condition-format-arguments condition)))))
       (error () (print-safely 500 condition "~A"))))
    (t (report-text 500 condition))))

(defun whole-definition-p (form context)
  "True when FORM is the whole definition that CONTEXT names, so that only one of them is shown."
  (let ((operator (and (consp form) (car form))) (definition (first (last context))))
    (and (symbolp operator)
         (or (eq operator +named-lambda+)
             (and (consp definition)
                  (string= (symbol-name operator) (princ-to-string (first definition))))))))

(defun unreadable-place (condition)
  "Return a text about the place of the unreadable form that CONDITION is about: where the form
begins, or else where reading stopped. Return NIL if SBCL knows neither."
  (destructuring-bind (&optional line . column)
      (unreadable-line condition)
    (if line
        (format nil "the form begins at line ~D, column ~D" line (1+ column))
        (let ((info (ignore-errors (stream-position (stream-error-stream condition)))))
          (when (assoc :line info)
            (format nil "reading stopped at line ~D" (second (assoc :line info))))))))

(defun warning-text (condition)
  "Return the report of CONDITION as text. If a file could not be read, return the reader's report
and the place."
  (if (typep condition 'unreadable-file)
      (format nil "cannot be read: ~A~@[ (~A)~]"
              (reader-text (encapsulated-condition condition))
              (unreadable-place condition))
      (report-text 1000 condition)))

;;; Files are compiled one after another. So a call in the first file is checked against an old
;;; function, even if the second file replaces it.

(defun function-called (form)
  "Return the global function that FORM calls, or NIL. Return NIL also if it has a compiler macro,
which may change the call."
  (let ((name (and (consp form) (ignore-errors (list-length form)) (first form))))
    (and name
         (symbolp name)
         (fboundp name)
         (not (macro-function name))
         (not (special-operator-p name))
         (not (compiler-macro-function name))
         (plain-definition name))))

(defun about-call-p (condition form)
  "True when CONDITION is only about how the list FORM calls its function. This is a style warning
with format arguments that are integers, NIL or symbols from FORM."
  (and (typep condition '(and style-warning simple-condition))
       (let ((named (simple-condition-format-arguments condition)))
         (and named
              (loop for each in named
                    always (or (integerp each)
                               (and (symbolp each) (or (null each) (member each form)))))))))

(defun call-text (form)
  "Return the text of the compiler's warning about a call like FORM, if it is compiled now, or NIL
if there is no warning. Keywords in FORM stay; variables replace other arguments."
  (let* ((text nil)
         (parameters '())
         (arguments (loop for each in (rest form)
                          collect (if (keywordp each)
                                      each
                                      (first (push (gensym "ARGUMENT") parameters))))))
    ;; No NOTINLINE declaration here: with it, the compiler would not check the call.
    (handler-bind ((warning (lambda (condition)
                              (setf text (or text (warning-text condition)))
                              (muffle-warning condition)))
                   (sb-ext:compiler-note #'muffle-warning))
      (with-compilation-unit (:override t)
        (compile nil `(lambda ,parameters (,(first form) ,@arguments)))))
    text))

(defun undefined-by (condition)
  "When CONDITION says that something undefined is used, return its kind, such as :FUNCTION, and its
name in a list."
  (and (typep condition '(and warning simple-condition))
       (destructuring-bind (&optional kind name &rest more)
           (simple-condition-format-arguments condition)
         (and (member kind '(:function :variable :type))
              name
              (null more)
              (list kind name)))))

(defun defined-now-p (kind name)
  "True when NAME names a function, variable or type, as KIND says."
  (ecase kind
    (:function (and (typep name '(or symbol (cons (eql setf) (cons symbol null)))) (fboundp name)))
    (:variable (or (boundp name) (not (member (known :variable :kind name) '(:unknown nil)))))
    (:type (ignore-errors (sb-ext:valid-type-specifier-p name)))))

(defun checked-call (warning form)
  "Return WARNING, a JSON object about the call FORM, with the text of the warning about such a call
now, or NIL when the call fits the function that it has now."
  (let ((text (call-text form)) (members (copy-list (json-object-members warning))))
    (when text
      (setf (second (member "text" members :test #'equal)) text)
      (make-json-object members))))

(defun warning-now (warning)
  "Return WARNING, a JSON object, or NIL if what it calls undefined has been defined since. If it is
about a call of a function that was replaced since, return what CHECKED-CALL returns."
  (destructuring-bind (&optional form function) (rest (assoc warning (remarks-calls *remarks*)))
    (destructuring-bind (&optional kind name) (rest (assoc warning (remarks-undefined *remarks*)))
      (cond ((and kind (defined-now-p kind name)) nil)
            ((or (null form) (eq function (function-called form))) warning)
            (t (checked-call warning form))))))

(defparameter *against-before*
  "(This compares with what the image had before; in a fresh image there may be no such warning.)"
  "What is told below a warning about a difference from what the image had before.")

(defun told-text (condition)
  "Return the WARNING-TEXT of CONDITION, with *AGAINST-BEFORE* where that is so."
  (format nil "~A~@[~%  ~A~]"
          (warning-text condition)
          (and (typep condition '(or other-proclamation other-package)) *against-before*)))

(defun keep-warning (severity condition)
  "Keep CONDITION in *REMARKS* as a warning of SEVERITY, with the form that it is about. If the
compiler signals the same warning again, it is not counted again."
  (multiple-value-bind (form context offset file start) (context-data)
    (let* ((file (or file (compiling-file)))
           (text (told-text condition))
           (called (function-called form))
           (call (and called (about-call-p condition form) form))
           (undefined (undefined-by condition))
           (form (and form
                      (not (whole-definition-p form context))
                      (without-middle-digits (printing-plainly (print-safely 200 form)))))
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
          (when undefined
            (push (cons (first (remarks-warnings *remarks*)) undefined)
                  (remarks-undefined *remarks*)))
          (when call
            (push (list (first (remarks-warnings *remarks*)) call called)
                  (remarks-calls *remarks*))))))))

(defun uninteresting-p (redefinition)
  "True when REDEFINITION, a warning, is about a definition from the same place as the new one, as
when a file is loaded again."
  (ignore-errors (typep redefinition 'uninteresting-redefinition)))

(defun keep-remark (condition)
  "Keep CONDITION, a warning or a compiler note, in *REMARKS*. Redefinitions are kept separately, as
the user meant to replace the definition."
  (cond ((or (about-names-p condition) (repeated-by-asdf-p condition)))
        ((not (typep condition 'redefinition))
         (keep-warning (severity condition) condition))
        ((and (not (uninteresting-p condition))
              (< (length (remarks-redefined *remarks*)) *warning-limit*))
         (pushnew (report-text 200 condition) (remarks-redefined *remarks*) :test #'string=))))

(defvar *loads-in-spite* nil
  "True while a tool compiles files that it loads in spite of warnings: then COMPILE-FILE reports no
failure.")

(defun mark-compilation (&key failed)
  "Have the COMPILE or COMPILE-FILE that this thread runs return that it warned and, with FAILED,
that it failed. SBCL notes this itself only when it prints the warning."
  (unless (and *loads-in-spite* *compile-file-truename*)
    (dolist (variable (list +warned+ (and failed +failed+)))
      (when (and variable (boundp variable)) (setf (symbol-value variable) t)))))

(defun muffled-p (condition)
  "True when SBCL muffles CONDITION by itself: it then neither prints it nor counts it for COMPILE."
  (ignore-errors (typep condition sb-ext:*muffled-warnings*)))

(defun note-warning (condition)
  "Handle CONDITION, a warning or a compiler note that would be printed to the output of this call:
keep it, and continue without printing it."
  (when (and (captured-p *error-output*) (not (muffled-p condition)))
    (keep-remark condition)
    (when (typep condition 'warning)
      (mark-compilation :failed (not (typep condition 'style-warning))))
    (let ((restart (find-restart 'muffle-warning condition)))
      (when restart (invoke-restart restart)))))

(defun note-compiler-error (condition)
  "Handle CONDITION, which the compiler turns into an error at run time, as NOTE-WARNING handles a
warning. COMPILE-FILE itself signals no error for a file that it cannot read. So ASDF is made to
retry from here."
  (let ((problem (encapsulated-condition condition)))
    (retry-with-libraries problem)
    (when (lacks-manager-p (unread-cause problem))
      (setf (remarks-lacks-manager *remarks*) t))
    (when (captured-p *error-output*) (keep-warning "error" problem))))

(defun call-in-unit (function)
  "Call FUNCTION in one compilation unit, which prints nothing."
  (let ((output *error-output*)
        (*error-output* (capturing (make-capture 0 0))))
    ;; An error can be held meanwhile in another compilation unit, which ends much later.
    (with-compilation-unit (:override t
                            :policy (and *debug-level* `(optimize (debug ,*debug-level*))))
      (let ((*error-output* output))
        (funcall function)))))

(defun call-outside-units (function)
  "Call FUNCTION in no compilation unit, so that those of the program end where they do in a plain
SBCL. With *DEBUG-LEVEL* it needs a unit."
  (if (or *debug-level* (null +in-unit+))
      (call-in-unit function)
      (progv (list +in-unit+) '(nil)
        (funcall function))))

(defun call-collecting-warnings (function &key together)
  "Call FUNCTION. Keep the warnings that would be printed to the output of this call. With TOGETHER,
all that FUNCTION compiles is one compilation unit."
  (handler-bind ((warning #'note-warning)
                 (sb-ext:compiler-note #'note-warning)
                 (compiler-error #'note-compiler-error))
    ;; Each use of an undefined variable is reported with its place; above a limit, SBCL would only
    ;; count them. An undefined function is reported once for a file.
    (let ((sb-ext:*undefined-warning-limit* nil))
      (if together (call-in-unit function) (call-outside-units function)))))

(defun forget-undefined ()
  "Forget the warnings about undefined names: when an error ends a call, the error says which one
matters."
  (let ((undefined (mapcar #'first (remarks-undefined *remarks*))))
    (setf (remarks-warnings *remarks*)
          (remove-if (lambda (warning) (member warning undefined)) (remarks-warnings *remarks*)))
    (decf (remarks-count *remarks*) (length undefined))))

(defun warning-members ()
  "Return the answer members about the warnings of this call."
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
