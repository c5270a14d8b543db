;;;; Collects the warnings that user code causes while it is compiled and run. A warning that would
;;;; be printed to the output of the call is kept as data instead, together with the form that it is
;;;; about. The program notices no difference from a plain SBCL: a warning is still printed to a
;;;; stream of the program's own, COMPILE returns the same values, and a compilation unit of the
;;;; program ends where it would end.
;;;;
;;;; CALL-COLLECTING-WARNINGS handles the conditions of a call by NOTE-WARNING, which stores them in
;;;; *REMARKS*: redefinitions by KEEP-REMARK, all others by KEEP-WARNING. At the end of the call,
;;;; WARNING-MEMBERS returns the warnings as members of the answer. WARNING-NOW leaves out a warning
;;;; that a later definition of the call has made obsolete.
;;;;
;;;; The values of +WARNED+, +FAILED+, +IN-UNIT+ and +HANDLERS+ are names of SBCL's internal
;;;; variables. A value is NIL if this SBCL does not have the variable.

(in-package "LIVE-LISP.JOBS")

(defparameter *warning-limit* 40
  "The largest number of warnings of each severity that are kept. Further warnings are only
counted.")

(defstruct (kept (:constructor make-kept (key data call called undefined)))
  "A warning that is kept.
KEY: a list (SEVERITY TEXT FORM DEFINITION FORM-NUMBER), by which KEPT-BEFORE-P recognizes the
warning if it is repeated.
DATA: the warning as a JSON object.
CALL, CALLED: the call form that the warning is about, and the function that was called. Both are
NIL if it is about no call.
UNDEFINED: the list (KIND NAME) from UNDEFINED-BY, or NIL."
  key data call called undefined)

(defstruct (remarks (:constructor make-remarks ()))
  "The warnings of a call.
WARNINGS: a list of KEPT structures, newest first.
OMITTED: the number of further warnings, beyond *WARNING-LIMIT*.
NOTES, FILE-NOTES: the numbers of compiler notes, kept or omitted, and of those about files.
REDEFINED: a list of texts about redefinitions, newest first.
LACKS-MANAGER: true if a file uses a package of a library manager and the user has none."
  (warnings '()) (omitted 0) (notes 0) (file-notes 0) (redefined '()) (lacks-manager nil))

(defvar *remarks* (make-remarks) "The REMARKS structure of the current call.")
(defvar *form-number* nil "The number of the form being evaluated, counted from 1.")

;;; The place and the text of a warning

(defun severity (condition)
  "Return the severity of CONDITION, a string: \"warning\", \"undefined\" for a style warning about
an undefined name, \"style-warning\", or \"note\"."
  (typecase condition
    (style-warning (if (undefined-by condition) "undefined" "style-warning"))
    (warning "warning")
    (t "note")))

(defun compiling-file ()
  "Return the native name of the file being compiled or, if there is none, of the file being loaded,
or NIL. For a fasl, return the name of its source file if there is one."
  (cond (*compile-file-truename* (native-name *compile-file-truename*))
        (*load-truename*
         (let* ((loaded (native-name *load-truename*))
                (source (and (fasl-path-p loaded) (compiled-from *load-truename*))))
           (or (and source (native-truename source)) loaded)))))

(defun context-data ()
  "Return five values about the form that the compiler is processing, each NIL if it is unknown: the
form, the list of definitions around it, the octet offset of its top-level form, the native truename
of the file, and the offset of the form in characters."
  (let ((context (nil-if-unknown (error-context nil))))
    (when context
      (let* ((name (context-file context))
             (file (and (pathnamep name)
                        (native-truename name))))
        (values (context-form context)
                (context-definitions context)
                ;; If a form is compiled while a file is loaded, its offset is not one in the file.
                (and file (context-offset context))
                file
                (and file (nil-if-unknown (context-start context file))))))))

(defun context-start (context file)
  "Return the offset in characters at which the form of CONTEXT, an error context of the compiler,
begins in FILE, a native truename. Return NIL if it is unknown."
  (let ((path (context-path context)))
    (first (span-of (spans-known file nil) (path-top-level-form path) (path-number path) '()))))

(defun definition-text (context)
  "Return the last, innermost element of CONTEXT, a list of definitions such as ((DEFUN F)), as
text. Return NIL if there is none, or if it is only a PROGN."
  (let ((form (first (last context))))
    (when (and (consp form) (not (string= "PROGN" (princ-to-string (first form)))))
      (without-middle-digits (printing-plainly (print-safely 120 form "~{~A~^ ~}"))))))

(defun reader-text (condition)
  "Return the report of CONDITION, a condition from the reader, without the part that describes the
stream."
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
  "FORM is the form about which the compiler warns. Return true if FORM is not a part of a
definition, but the whole definition or its lambda expression. CONTEXT is a list of the definitions
around the warning, the innermost last, such as ((DEFUN F))."
  (let ((operator (and (consp form) (car form))) (definition (first (last context))))
    (and (symbolp operator)
         (or (eq operator +named-lambda+)
             (and (consp definition)
                  (string= (symbol-name operator) (princ-to-string (first definition))))))))

(defun unreadable-place (condition)
  "Return a text with the line at which an unreadable form begins, or at which reading stopped.
CONDITION, an UNREADABLE-FILE, reports the form. Return NIL if SBCL knows no line."
  (destructuring-bind (&optional line . column)
      (unreadable-line condition)
    (if line
        (format nil "the form begins at line ~D, column ~D" line (1+ column))
        (let ((info (nil-if-unknown (stream-position (stream-error-stream condition)))))
          (when (assoc :line info)
            (format nil "reading stopped at line ~D" (second (assoc :line info))))))))

(defun warning-text (condition)
  "Return the report of CONDITION as text. For a file that could not be read, return the report of
the reader and the line."
  (if (typep condition 'unreadable-file)
      (format nil "cannot be read: ~A~@[ (~A)~]"
              (reader-text (encapsulated-condition condition))
              (unreadable-place condition))
      (report-text 1000 condition)))

;;; Calls that are checked again
;;;
;;; Files are compiled one after another. A call in the first file is checked against the function's
;;; old definition, even if the second file replaces the function. So such a call is checked again
;;; when the warnings are shown.

(defun function-called (form)
  "Return the global function that FORM calls, or NIL if it calls none. Also return NIL for a
function with a compiler macro, because that may change the call."
  (let ((name (and (consp form) (proper-length form) (first form))))
    (and name
         (symbolp name)
         (fboundp name)
         (not (macro-function name))
         (not (special-operator-p name))
         (not (compiler-macro-function name))
         (plain-definition name))))

(defun about-call-p (condition form)
  "Return true if CONDITION is a style warning only about the call FORM, a list: its format
arguments are integers, NIL or symbols from FORM."
  (and (typep condition '(and style-warning simple-condition))
       (let ((named (simple-condition-format-arguments condition)))
         (and named
              (loop for each in named
                    always (or (integerp each)
                               (and (symbolp each) (or (null each) (member each form)))))))))

(defun new-call-warning (form)
  "Compile a copy of FORM, a call, with variables in place of all arguments except keywords. Return
the text of the compiler's warning about the copy, or NIL if there is none."
  (let* ((text nil)
         (parameters '())
         (arguments (loop for each in (rest form)
                          collect (if (keywordp each)
                                      each
                                      (first (push (gensym "ARGUMENT") parameters))))))
    ;; Do not declare the function NOTINLINE here: then the compiler would not check the call.
    (handler-bind ((warning (lambda (condition)
                              (setf text (or text (warning-text condition)))
                              (muffle-warning condition)))
                   (sb-ext:compiler-note #'muffle-warning))
      (with-compilation-unit (:override t)
        (compile nil `(lambda ,parameters (,(first form) ,@arguments)))))
    text))

(defun defined-now-p (kind name)
  "Return true if NAME is defined now. KIND says as what: :FUNCTION, :VARIABLE or :TYPE."
  (ecase kind
    (:function (and (typep name '(or symbol (cons (eql setf) (cons symbol null)))) (fboundp name)))
    (:variable (or (boundp name) (not (member (known :variable :kind name) '(:unknown nil)))))
    (:type (sb-ext:valid-type-specifier-p name))))

(defun checked-call (warning form)
  "WARNING is a JSON object for an earlier warning about the call FORM. Compile a call like FORM. If
the compiler no longer warns, return NIL. Otherwise return a copy of WARNING with the text of the
new warning."
  (let ((text (new-call-warning form)) (members (copy-list (json-object-members warning))))
    (when text
      (setf (second (member "text" members :test #'equal)) text)
      (make-json-object members))))

(defun warning-now (kept)
  "Return the JSON object to show for KEPT, a KEPT structure. Return NIL if it is about an undefined
name that is defined by now. If it is about a call of a function, and this function was redefined
since, return the result of CHECKED-CALL."
  (let ((data (kept-data kept)) (call (kept-call kept)))
    (cond ((and (kept-undefined kept) (apply #'defined-now-p (kept-undefined kept))) nil)
          ((or (null call) (eq (kept-called kept) (function-called call))) data)
          (t (checked-call data call)))))

;;; Keeping warnings

(defparameter *against-before*
  "(This compares with what the image had before; in a fresh image there may be no such warning.)"
  "The text below a warning about a difference from the earlier state of the image.")

(defun shown-warning-text (condition)
  "Return the report of CONDITION as text. Add *AGAINST-BEFORE* if CONDITION is about a difference
from the earlier state of the image."
  (format nil "~A~@[~%  ~A~]"
          (warning-text condition)
          (and (typep condition '(or other-proclamation other-package)) *against-before*)))

(defun kept-before-p (key)
  "Return true if *REMARKS* has a warning with KEY (see the slot KEY of KEPT). If FORM and
DEFINITION in KEY are NIL, compare only the other three: loading a file repeats warnings of its
compilation, but without a place."
  (destructuring-bind (severity text form definition number) key
    (find-if (lambda (other)
               (or (equal key other)
                   (and (null form)
                        (null definition)
                        (equal (list severity text number)
                               (list (first other) (second other) (fifth other))))))
             (remarks-warnings *remarks*) :key #'kept-key)))

(defun room-for-p (severity)
  "Return true if *REMARKS* has fewer than *WARNING-LIMIT* warnings of SEVERITY, a string."
  (< (count severity (remarks-warnings *remarks*)
            :key (lambda (kept) (first (kept-key kept))) :test #'string=)
     *warning-limit*))

(define-shape warning ()
  "A warning, or a note of the compiler."
  (severity (member "error" "warning" "undefined" "style-warning" "note")) (text string)
  (near (list string) :optional "Names similar to an undefined name.")
  (form string :optional) (definition string :optional) (form-number integer :optional)
  (file string :optional)
  (offset integer :optional "Octet offset of the top-level form in the file.")
  (start integer :optional
   "Index in the file, in characters, of the start of the innermost form that caused the warning."))

(defun keep-warning (severity condition)
  "Add CONDITION to *REMARKS* as a warning of SEVERITY, a string, with the form that it is about.
Skip CONDITION if *REMARKS* has an equal warning."
  (multiple-value-bind (form context offset file start) (context-data)
    (let* ((file (cond (file)
                       ((or form *compile-file-truename* (not *load-truename*)) (compiling-file))
                       ;; Code of the program warns while its fasl is loaded, as FiveAM does when a
                       ;; test is defined again. That is not about the text of the source.
                       (t (native-name *load-truename*))))
           (text (shown-warning-text condition))
           (called (function-called form))
           (call (and called (about-call-p condition form) form))
           (undefined (undefined-by condition))
           (form (and form
                      (not (whole-definition-p form context))
                      (without-middle-digits (printing-plainly (print-safely 200 form)))))
           (definition (definition-text context))
           (key (list severity text form definition *form-number*)))
      (unless (kept-before-p key)
        (when (string= severity "note")
          (incf (remarks-notes *remarks*))
          (when file (incf (remarks-file-notes *remarks*))))
        (if (room-for-p severity)
            (push (make-kept key
                             (object "severity" severity
                                     "text" text
                                     "near" (near-condition condition)
                                     "form" form
                                     "definition" definition
                                     "formNumber" *form-number*
                                     "file" file
                                     "offset" offset
                                     "start" start)
                             call called undefined)
                  (remarks-warnings *remarks*))
            (incf (remarks-omitted *remarks*)))))))

(defun keep-remark (condition)
  "Add CONDITION, a warning or compiler note, to *REMARKS*. Store a redefinition in the slot
REDEFINED, because the user meant to replace the definition."
  (cond ((asdf-remark-p condition))
        ((not (typep condition 'redefinition))
         (keep-warning (severity condition) condition))
        ;; A definition from the same place in the source, for example from a file that is loaded
        ;; again, is uninteresting.
        ((and (not (nil-if-program-fails (typep condition 'uninteresting-redefinition)))
              (< (length (remarks-redefined *remarks*)) *warning-limit*))
         (pushnew (report-text 200 condition) (remarks-redefined *remarks*) :test #'string=))))

;;; Handling the conditions of a call

(defvar *loads-in-spite* nil
  "True while a tool compiles files that it will load even if there are warnings. COMPILE-FILE then
reports no failure.")

(defun mark-compilation (&key failed)
  "Record for the call of COMPILE or COMPILE-FILE in this thread, if there is one, that it had
warnings and, if FAILED is true, that it failed. The call then returns these values. SBCL itself
records this only when it prints the warning."
  (unless (and *loads-in-spite* *compile-file-truename*)
    (dolist (variable (list +warned+ (and failed +failed+)))
      (when (and variable (boundp variable)) (setf (symbol-value variable) t)))))

(defun note-warning (condition)
  "Handle CONDITION, a warning or compiler note that would be printed to the output of this call:
keep it, and muffle it."
  ;; SBCL neither prints a condition that it muffles itself nor counts it for the values of COMPILE.
  (when (and (captured-p *error-output*)
             (not (nil-if-program-fails (typep condition sb-ext:*muffled-warnings*))))
    (keep-remark condition)
    (when (typep condition 'warning)
      (mark-compilation :failed (not (typep condition 'style-warning))))
    (let ((restart (find-restart 'muffle-warning condition)))
      (when restart (invoke-restart restart)))))

(defun note-compiler-error (condition)
  "Record CONDITION, a COMPILER-ERROR, as a warning. The compiler signals it for an error in a form,
and compiles code that signals this error at run time. COMPILE-FILE also signals it when it cannot
read a file. If the reason is that the file needs the user's library manager, such as Quicklisp,
load the manager and let ASDF try again."
  (let ((problem (encapsulated-condition condition)))
    (retry-with-libraries problem)
    (when (lacks-manager-p (unread-cause problem))
      (setf (remarks-lacks-manager *remarks*) t))
    (when (captured-p *error-output*) (keep-warning "error" problem))))

(defun call-with-quiet-compiler (function)
  "Call FUNCTION, and muffle the compiler's notes. Meanwhile COMPILE-FILE and LOAD print no progress
messages."
  (let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil) (*load-print* nil))
    (handler-bind ((sb-ext:compiler-note #'muffle-warning))
      (funcall function))))

(defun call-in-unit (function)
  "Call FUNCTION in one compilation unit of its own. The unit prints nothing at its end."
  (let* ((output *error-output*)
         ;; Discards what the unit prints at its end.
         (*error-output* (capturing (make-capture 0 0))))
    ;; Do not join an outer unit. While an error is held for debugging in that unit, its thread runs
    ;; other calls. A call that joined the unit would get the warnings of its end much too late.
    (with-compilation-unit (:override t
                            :policy (and *debug-level* `(optimize (debug ,*debug-level*))))
      ;; Do not discard what FUNCTION itself prints.
      (let ((*error-output* output)) (funcall function)))))

(defun call-outside-units (function)
  "Call FUNCTION outside of all compilation units. Then a unit of the program is an outermost unit,
as in a plain SBCL, and prints its warnings when it ends. If *DEBUG-LEVEL* is set, call FUNCTION in
a unit instead, because only a unit can set the level."
  (if (or *debug-level* (null +in-unit+))
      (call-in-unit function)
      (progv (list +in-unit+) '(nil)
        (funcall function))))

(defun call-collecting-warnings (function &key together)
  "Call FUNCTION, and keep in *REMARKS* the warnings that would be printed to the output of this
call. If TOGETHER is true, compile everything in one compilation unit."
  ;; SIGNAL-AGAIN-LATER (unhandled.lisp) uses *HANDLERS-OUTSIDE*.
  (let ((*handlers-outside* (and +handlers+ (symbol-value +handlers+))))
    (backend-handler-bind ((warning #'note-warning)
                         (sb-ext:compiler-note #'note-warning)
                         (compiler-error #'note-compiler-error))
      ;; Without a limit, each use of an undefined variable is reported with its place. Above a
      ;; limit, SBCL would only count the uses. An undefined function is reported once for a file.
      (let ((sb-ext:*undefined-warning-limit* nil))
        (if together (call-in-unit function) (call-outside-units function))))))

(defun forget-undefined ()
  "Remove the warnings about undefined names from *REMARKS*. This is for an evaluation that an error
has ended: the message of the error already has the undefined name that matters."
  (setf (remarks-warnings *remarks*) (remove-if #'kept-undefined (remarks-warnings *remarks*))))

(define-shape remarks (holding)
  "What an operation that runs user code returns besides its value."
  (warnings (list warning) :optional) (warning-count integer :optional)
  (note-count integer :optional "How many of the warnings are compiler notes.")
  (file-note-count integer :optional "How many of these compiler notes are about files.")
  (redefined (list string) :optional)
  (without-manager boolean :optional
   "True when a file uses a package of a library manager, and no manager is set up.")
  (displaced (list old-item) :optional
   "Methods that a load removed, because they do not fit the new lambda list of their generic
   function.")
  (displaced-total integer :optional) (package string :optional)
  (fresh-readtable boolean :optional
   "True when the session's readtable was replaced, because it could read no form any more.")
  (styles (list (object (name string) (value string))) :optional
   "Variables that make the session read or print differently from a fresh SBCL. Sent only when
   they have changed."))

(defun warning-members ()
  "Return a plist of JSON members about the warnings of this call."
  (let* ((warnings (remove nil (mapcar #'warning-now (reverse (remarks-warnings *remarks*)))))
         (count (+ (length warnings) (remarks-omitted *remarks*))))
    (list "warnings" warnings
          "warningCount" (and (plusp count) count)
          "noteCount" (and (plusp (remarks-notes *remarks*)) (remarks-notes *remarks*))
          "fileNoteCount" (and (plusp (remarks-file-notes *remarks*))
                               (remarks-file-notes *remarks*))
          "redefined" (reverse (remarks-redefined *remarks*))
          "withoutManager" (remarks-lacks-manager *remarks*))))
