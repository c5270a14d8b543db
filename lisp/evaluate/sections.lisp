;;;; Loads a file in sections if it cannot be compiled as a whole, because one of its forms names a
;;;; package or a symbol that exists only once the forms before are loaded. LOAD, which evaluates
;;;; each form before it reads the next, loads such a file.

(in-package "LIVE-LISP.EVALUATE")

(defstruct (section (:constructor make-section (file &optional (begin 0) end)))
  "A section of FILE: its top-level lists from the position BEGIN to END, or to the end of FILE if
END is NIL. While it is compiled, PLACE is the position of the list that was read last, or NIL, and
RUNS is true if a list before that runs code when it is loaded."
  file begin end (place nil) (runs nil))

(defvar *within-list* nil "True while a top-level list of a SECTION is read.")

(defun runs-code-p (form)
  "True when FORM, loaded, calls a function. Definitions and forms of the user's macros do not
count: packages that only those make exist once the forms are compiled."
  (let ((operator (and (consp form) (first form))))
    (and operator
         (symbolp operator)
         (not (member operator '(in-package declaim)))
         (not (eql 0 (search "DEF" (symbol-name operator))))
         (or (null (macro-function operator))
             (eq (symbol-package operator) (find-package "COMMON-LISP"))))))

(defun stop-section (section)
  "If the forms of SECTION before the one at its PLACE run code, or a section before was loaded,
leave COMPILE-SECTION, which returns :STOPPED then."
  (when (and (section-place section)
             (> (section-place section) (section-begin section))
             (or (section-runs section) (plusp (section-begin section))))
    (throw section :stopped)))

(deftype missing-name ()
  "An error about a package that does not exist, or that has no such symbol."
  '(and package-error (not sb-ext:package-lock-violation)))

(defmacro stopping-at-names ((section) &body body)
  "Evaluate BODY. Call STOP-SECTION with SECTION at a MISSING-NAME that BODY does not handle."
  `(handler-bind ((missing-name (lambda (condition)
                                  (declare (ignore condition))
                                  (stop-section ,section))))
     ,@body))

(defun read-in-section (section stream read)
  "Return the top-level list that READ, a function without arguments, reads from STREAM. Before
SECTION return NIL instead, unless the list says how others are read or compiled. Behind SECTION
return NIL, and leave nothing to read in STREAM."
  (let ((place (file-position stream)) (end (section-end section)))
    (cond ((and end (>= place end))
           (loop while (read-char stream nil)))
          (t
           (setf (section-place section) place)
           (let ((form (stopping-at-names (section) (funcall read))))
             (cond ((>= place (section-begin section))
                    (when (runs-code-p form) (setf (section-runs section) t))
                    form)
                   ((typep form '(cons (member in-package declaim))) form)))))))

(defun readtable-for-section (section readtable)
  "Return a copy of READTABLE with which READ-IN-SECTION reads the top-level lists of SECTION."
  (let ((copy (copy-readtable readtable)) (read-list (get-macro-character #\( readtable)))
    (set-macro-character
     #\( (lambda (stream char)
           (flet ((read-it ()
                    (let ((*within-list* t)) (funcall read-list stream char))))
             (if (or *within-list*
                     *read-suppress*
                     ;; The reader reads the condition behind #+ in this package.
                     (eq *package* (find-package "KEYWORD"))
                     (not (reads-p stream (section-file section))))
                 (read-it)
                 (read-in-section section stream #'read-it))))
     nil copy)
    copy))

(defun compile-section (section fasl readtable)
  "Compile SECTION into FASL, and return the values of COMPILE-FILE. If that fails because of a
MISSING-NAME, and the forms before are to be loaded first, return :STOPPED: these forms end at the
PLACE of SECTION. READTABLE is from PREPARE-FILE."
  (catch section
    (stopping-at-names (section)
      (compile-source (section-file section) fasl (readtable-for-section section readtable)))))

(defun unread-name-p (condition)
  "True when CONDITION, a COMPILER-ERROR, is about a file that cannot be read because of a
MISSING-NAME."
  (let ((unreadable (encapsulated-condition condition)))
    (and (typep unreadable 'unreadable-file)
         (typep (encapsulated-condition unreadable) 'missing-name))))

(defun compile-whole (section fasl readtable)
  "Compile SECTION, all of a file, into FASL, and return the values of COMPILE-FILE. If that fails
because of a MISSING-NAME, compile it once more by COMPILE-SECTION, and return its values."
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
  "Load a file in sections. FIRST is all of it; COMPILE-SECTION has stopped in it. Compile each
section into FASL, and call LOAD, a function without arguments, which loads that. Throw to
SECTION-UNREADABLE if a section cannot be read. READTABLE is from PREPARE-FILE. Return true if some
form did not compile well."
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
