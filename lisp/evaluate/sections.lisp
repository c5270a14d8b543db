;;;; Loads a file in sections if the file cannot be compiled as a whole, because one of its forms
;;;; names a package or a symbol that exists only after the forms before it are loaded. LOAD can
;;;; load such a file, because it evaluates each form before it reads the next.
;;;;
;;;; COMPILE-FILE always reads a whole file. So for each section it compiles the whole file, with a
;;;; readtable that hides the top-level forms outside of the section (READTABLE-FOR-SECTION).
;;;; READS-P and COMPILE-SOURCE are defined in scripts.lisp.

(in-package "LIVE-LISP.EVALUATE")

(defstruct (section (:constructor make-section (file &optional (begin 0) end)))
  "A part of FILE that is compiled and loaded separately.
BEGIN, END: the file positions between which its top-level forms are. END is NIL for the end of
FILE.
PLACE: while the section is compiled, the position of the form that was read last, or NIL.
RUNS: true if RUNS-CODE-P is true of a form of the section that was read already."
  file begin end (place nil) (runs nil))

(defvar *within-form* nil
  "True while the reader reads a top-level form of a section. A list within that form is then no
top-level form.")

(defun runs-code-p (form)
  "Return true if loading FORM may call a function that creates a package or a symbol. Return NIL
for definitions and for calls of the user's macros: a package that they define exists as soon as
they are compiled."
  (let ((operator (and (consp form) (first form))))
    (and operator
         (symbolp operator)
         (not (member operator '(in-package declaim)))
         (not (starts-p (symbol-name operator) "DEF"))
         (or (null (macro-function operator))
             (eq (symbol-package operator) (find-package "COMMON-LISP"))))))

(defun stop-section (section)
  "A name is missing at the PLACE of SECTION, a SECTION structure. Throw :STOPPED to the CATCH in
COMPILE-SECTION if the forms of SECTION before this place may create the name when they are loaded.
They may if some of them run code, or if SECTION is not the first section of its file."
  (when (and (section-place section)
             (> (section-place section) (section-begin section))
             (or (section-runs section) (plusp (section-begin section))))
    (throw section :stopped)))

(deftype missing-name ()
  "The type of errors about a package that does not exist, or a symbol that a package lacks."
  '(and package-error (not sb-ext:package-lock-violation)))

(defmacro stopping-at-names ((section) &body body)
  "Evaluate BODY. If BODY signals a MISSING-NAME error that it does not handle, call STOP-SECTION
with SECTION, a SECTION structure."
  `(handler-bind ((missing-name (lambda (condition)
                                  (declare (ignore condition))
                                  (stop-section ,section))))
     ,@body))

(defun read-in-section (section stream read)
  "Call READ, a function that reads a top-level form from STREAM, and return its values. For a form
before the beginning of SECTION, a SECTION structure, return NIL instead of the form, unless it is
an IN-PACKAGE or DECLAIM form. After the end of SECTION, skip the rest of STREAM and return NIL."
  (let ((place (file-position stream)) (end (section-end section)))
    (cond ((and end (>= place end))
           (loop while (read-char stream nil)))
          (t
           (setf (section-place section) place)
           (let* ((values (multiple-value-list (stopping-at-names (section) (funcall read))))
                  (form (first values)))
             ;; The reader macro of a comment returns no values.
             (cond ((null values) (values))
                   ((>= place (section-begin section))
                    (when (runs-code-p form) (setf (section-runs section) t))
                    form)
                   ((typep form '(cons (member in-package declaim))) form)))))))

(defun reader-in-section (section function)
  "FUNCTION is a reader macro function. Return another one that calls FUNCTION, but for a top-level
form of the file of SECTION, a SECTION structure, calls it through READ-IN-SECTION."
  (lambda (stream &rest arguments)
    (flet ((read-it ()
             (let ((*within-form* t)) (apply function stream arguments))))
      (if (or *within-form*
              *read-suppress*
              ;; The reader reads the feature expression after #+ in this package. Such an
              ;; expression is no top-level form.
              (eq *package* (find-package "KEYWORD"))
              (not (reads-p stream (section-file section))))
          (read-it)
          (read-in-section section stream #'read-it)))))

(defparameter *macro-character-limit* #x10000
  "The upper limit of the character codes that are searched for reader macros: the end of Unicode's
basic plane.")

(defun map-characters (visit)
  "Call the function VISIT with each character that may have a reader macro: those with codes below
*MACRO-CHARACTER-LIMIT*."
  (dotimes (code *macro-character-limit*) (funcall visit (code-char code))))

(defun readtable-for-section (section readtable)
  "Return a copy of READTABLE whose macro characters call READ-IN-SECTION at top level, so that only
the forms in SECTION, a SECTION structure, have an effect. Top-level forms that begin with no macro
character are symbols and numbers, which have no effect anyway."
  (let ((copy (copy-readtable readtable)))
    (flet ((dispatching-p (char)
             (nil-if-program-fails (get-dispatch-macro-character char #\a readtable) t))
           (wrap-dispatched (char)
             (map-characters
              (lambda (sub)
                ;; The reader converts SUB to upper case, and no digit can be one.
                (let ((function (and (char= sub (char-upcase sub))
                                     (not (digit-char-p sub))
                                     (get-dispatch-macro-character char sub readtable))))
                  (when function
                    (set-dispatch-macro-character char sub (reader-in-section section function)
                                                  copy)))))))
      (map-characters
       (lambda (char)
         (multiple-value-bind (function within-tokens) (get-macro-character char readtable)
           (cond ((null function))
                 ((dispatching-p char) (wrap-dispatched char))
                 (t (set-macro-character char (reader-in-section section function) within-tokens
                                         copy)))))))
    copy))

(defun compile-section (section fasl readtable)
  "Compile SECTION, a SECTION structure, into FASL, and return the values of COMPILE-FILE. Stop and
return :STOPPED at a MISSING-NAME error if the forms before the current one may create the missing
name when they are loaded. READTABLE, from PREPARE-FILE, is the readtable for the file."
  (catch section
    (stopping-at-names (section)
      (compile-source (section-file section) fasl (readtable-for-section section readtable)))))

(defun unread-name-p (condition)
  "Return true if CONDITION, a COMPILER-ERROR, reports that a file cannot be read because of a
MISSING-NAME error."
  (let ((unreadable (encapsulated-condition condition)))
    (and (typep unreadable 'unreadable-file)
         (typep (encapsulated-condition unreadable) 'missing-name))))

(defun compile-whole (section fasl readtable)
  "Compile SECTION, a SECTION structure for a whole file, into FASL with READTABLE. Return the
values of COMPILE-FILE. If a MISSING-NAME error stops the compilation, compile again by
COMPILE-SECTION, and return its values."
  (flet ((compile-it ()
           (handler-bind (((or missing-name compiler-error)
                            (lambda (condition)
                              (when (or (typep condition 'missing-name)
                                        (unread-name-p condition))
                                (return-from compile-it :missing)))))
             (compile-source (section-file section) fasl readtable))))
    (multiple-value-bind (made warnings failure) (compile-it)
      (if (eq made :missing)
          (compile-section section fasl readtable)
          (values made warnings failure)))))

(defun load-in-sections (first fasl readtable load)
  "Load a file in sections. FIRST is the SECTION structure of the whole file, for which
COMPILE-SECTION has returned :STOPPED. Compile each section into FASL with READTABLE, and call LOAD,
which loads FASL. Return true if COMPILE-FILE reported a failure. If a form cannot be read, throw to
SECTION-UNREADABLE."
  (loop with file = (section-file first) and begin = 0 and failed = nil
        with end = (section-place first)
        for section = (make-section file begin end)
        do (multiple-value-bind (made warnings failure) (compile-section section fasl readtable)
             (declare (ignore warnings))
             (cond ((eq made :stopped) (setf end (section-place section)))
                   ((null made) (throw 'section-unreadable nil))
                   (t (funcall load)
                      (when failure (setf failed t))
                      (when (null end) (return failed))
                      (setf begin end
                            end nil))))))
