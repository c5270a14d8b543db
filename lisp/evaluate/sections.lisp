;;;; Loads a file in sections if it cannot be compiled as a whole, because one of its forms names a
;;;; package or a symbol that exists only after the forms before are loaded. LOAD can load such a
;;;; file, because it evaluates each form before it reads the next.

(in-package "LIVE-LISP.EVALUATE")

(defstruct (section (:constructor make-section (file &optional (begin 0) end)))
  "A section of FILE: the top-level forms from the position BEGIN to END, or to the end of FILE if
END is NIL. While the section is compiled, PLACE is the position of the form that was read last, or
NIL. RUNS is true if an earlier form of the section runs code when it is loaded."
  file begin end (place nil) (runs nil))

(defvar *within-form* nil
  "True while a top-level form of a SECTION that begins with a macro character is read.")

(defun runs-code-p (form)
  "True when loading FORM calls a function. Definitions and forms with the user's macros do not
count: a package that only such a form makes exists once the form is compiled."
  (let ((operator (and (consp form) (first form))))
    (and operator
         (symbolp operator)
         (not (member operator '(in-package declaim)))
         (not (eql 0 (search "DEF" (symbol-name operator))))
         (or (null (macro-function operator))
             (eq (symbol-package operator) (find-package "COMMON-LISP"))))))

(defun stop-section (section)
  "Leave COMPILE-SECTION, which then returns :STOPPED. Do so only if loading the forms of SECTION
before its PLACE can help: these forms run code, or an earlier section was loaded."
  (when (and (section-place section)
             (> (section-place section) (section-begin section))
             (or (section-runs section) (plusp (section-begin section))))
    (throw section :stopped)))

(deftype missing-name ()
  "Errors about a package that does not exist, or about a symbol that a package does not have."
  '(and package-error (not sb-ext:package-lock-violation)))

(defmacro stopping-at-names ((section) &body body)
  "Evaluate BODY. If BODY signals a MISSING-NAME and does not handle it, call STOP-SECTION with
SECTION."
  `(handler-bind ((missing-name (lambda (condition)
                                  (declare (ignore condition))
                                  (stop-section ,section))))
     ,@body))

(defun read-in-section (section stream read)
  "Return the values of the function READ, which reads a top-level form from STREAM: the form, or
nothing, as for a comment. If the form is before SECTION, return NIL instead, unless it is an
IN-PACKAGE or DECLAIM form. If it is after SECTION, skip the rest of STREAM and return NIL."
  (let ((place (file-position stream)) (end (section-end section)))
    (cond ((and end (>= place end))
           (loop while (read-char stream nil)))
          (t
           (setf (section-place section) place)
           (let* ((values (multiple-value-list (stopping-at-names (section) (funcall read))))
                  (form (first values)))
             (cond ((null values) (values))
                   ((>= place (section-begin section))
                    (when (runs-code-p form) (setf (section-runs section) t))
                    form)
                   ((typep form '(cons (member in-package declaim))) form)))))))

(defun reader-in-section (section function)
  "Return a reader macro function for SECTION: it reads what FUNCTION, a reader macro function,
reads, but top-level forms by READ-IN-SECTION."
  (lambda (stream &rest arguments)
    (flet ((read-it ()
             (let ((*within-form* t)) (apply function stream arguments))))
      (if (or *within-form*
              *read-suppress*
              ;; The reader reads the feature expression after #+ in this package.
              (eq *package* (find-package "KEYWORD"))
              (not (reads-p stream (section-file section))))
          (read-it)
          (read-in-section section stream #'read-it)))))

(defparameter *macro-character-limit* #x10000
  "Reader macros are looked for only among characters with lower codes: the basic plane of Unicode.")

(defun map-characters (visit)
  "Call VISIT with each character that may have a reader macro."
  (dotimes (code *macro-character-limit*) (funcall visit (code-char code))))

(defun readtable-for-section (section readtable)
  "Return a copy of READTABLE with which READ-IN-SECTION reads the top-level forms of SECTION that
begin with a macro character. Other top-level forms are symbols and numbers, which do nothing."
  (let ((copy (copy-readtable readtable)))
    (flet ((dispatching-p (char)
             (handler-case (progn (get-dispatch-macro-character char #\a readtable) t)
               (error () nil)))
           (wrap-dispatched (char)
             (map-characters
              (lambda (sub)
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
  "Compile SECTION into FASL, and return the values of COMPILE-FILE. If a MISSING-NAME stops the
compilation, and the forms before it are to be loaded first, return :STOPPED: these forms end at the
PLACE of SECTION. READTABLE is the readtable for the file, from PREPARE-FILE."
  (catch section
    (stopping-at-names (section)
      (compile-source (section-file section) fasl (readtable-for-section section readtable)))))

(defun unread-name-p (condition)
  "Return true if CONDITION, a COMPILER-ERROR, is about a file that cannot be read because of a
MISSING-NAME."
  (let ((unreadable (encapsulated-condition condition)))
    (and (typep unreadable 'unreadable-file)
         (typep (encapsulated-condition unreadable) 'missing-name))))

(defun compile-whole (section fasl readtable)
  "Compile SECTION, which is a whole file, into FASL, and return the values of COMPILE-FILE. If a
MISSING-NAME stops the compilation, compile SECTION once more by COMPILE-SECTION, and return its
values."
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
  "Load a file in sections. FIRST is the section of the whole file in which COMPILE-SECTION has
stopped. Compile each section into FASL, and call LOAD, a function without parameters that loads
FASL. Throw to SECTION-UNREADABLE if a section cannot be read. READTABLE is a readtable from
PREPARE-FILE. Return true if COMPILE-FILE reported a failure for some section."
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
