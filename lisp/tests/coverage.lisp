;;;; Measures which definitions of some source files the tests reach. The code here chooses these
;;;; files, makes a copy of each file without the forms that define nothing, and compiles and loads
;;;; the copy. For that, measured.lisp rewrites each definition, so that the compiled code marks
;;;; each part of the definition that runs. coverage-data.lisp makes the result. The order of a run
;;;; (CALL-MEASURING in operations.lisp): CALL-COVERING makes the COVERING structure, COVER puts the
;;;; copies in place, the tests run, and TAKE-ALL (measured.lisp) removes the copies.

(in-package "LIVE-LISP.TESTS")

;;; The files to measure

(defun folder-of (system)
  "Return the native truename of the folder that has the .asd file of SYSTEM, or NIL."
  (let ((file (true-file (asdf-value "SYSTEM-SOURCE-FILE" system))))
    (and file
         (sb-ext:native-namestring (make-pathname :name nil :type nil :version nil
                                                  :defaults file)))))

(defun paths-of (systems &key others)
  "SYSTEMS is a list of ASDF systems. Return a list of the native truenames of their source files.
If OTHERS is true, add the files of the systems on which SYSTEMS depend."
  (remove-duplicates (loop for system in systems
                           append (mapcar #'cdr (source-components system :others others)))
                     :test #'string= :from-end t))

(defun measured-paths (names root)
  "Return a list of the native truenames of the files whose coverage is measured. ROOT is the native
name of a folder. If NAMES is empty, these are all loaded files below ROOT. Otherwise they are the
files of the systems NAMES and of the systems that these depend on, if they are below ROOT or below
the folder of one of NAMES. Leave out tests if other files remain."
  (let* ((systems (remove nil (mapcar #'system-of names)))
         (folders (cons root (remove nil (mapcar #'folder-of systems))))
         (paths (remove-if-not (lambda (path) (within-p path folders))
                               (if names
                                   (paths-of (remove-duplicates (mapcan #'tested-with systems))
                                             :others t)
                                   (loaded-paths)))))
    (or (set-difference paths (paths-of (test-systems)) :test #'string=) paths)))

;;; The forms of a file that can contain definitions of functions

(defun occurrences (part text)
  "Return the number of times that the string PART occurs in TEXT, in any letter case."
  (loop for place = (search part text :test #'char-equal)
                  then (search part text :test #'char-equal :start2 (1+ place))
        while place count t))

(defun note-all-missed (text)
  "Count each DEFUN and DEFMETHOD in TEXT as a definition without coverage."
  (dolist (operator '("(defun " "(defmethod "))
    (loop repeat (occurrences operator text) do (note-missed))))

(defun put-stand-in (form operator content start)
  "Copy FORM, a text, into the string CONTENT at index START. OPERATOR is the operator of FORM. In
the copy, put the macro that *STAND-INS* has for OPERATOR in its place. Keep a package prefix. The
name of the macro is never longer than that of OPERATOR, so spaces fill the rest."
  (let* ((spelled (first (form-parts form 1)))
         (place (+ start (search spelled form)))
         (colon (position #\: spelled :from-end t))
         (name (symbol-name (cdr (assoc operator *stand-ins*)))))
    (replace content form :start1 start)
    (fill content #\Space :start place :end (+ place (length spelled)))
    (replace content spelled :start1 place :end2 (if colon (1+ colon) 0))
    (replace content name :start1 (+ place (if colon (1+ colon) 0)))))

(defun can-define-p (operator)
  "Return true if a form with OPERATOR, a symbol or NIL, may contain definitions, or may change the
way in which later forms are read or compiled."
  (and operator
       (macro-function operator)
       (or (member operator '(defun defmethod defgeneric in-package declaim))
           (not (core-symbol-p operator)))))

(defun definitions-only (text path)
  "TEXT is the text of the file PATH, with one character for each octet. Return two values: a copy
of TEXT, and a list of the packages in which its forms are read. In the copy, a 0 stands in place of
each top-level form that defines no function that can be measured. The macros in *STAND-INS* replace
some operators. All forms keep their places and their numbers. Return NIL if TEXT cannot be read."
  (let ((bounds (form-bounds text))
        (content (make-string (length text) :initial-element #\Space)) (packages '()))
    (when bounds
      (loop for (start . end) across bounds
            for number from 0
            for form = (subseq text start end)
            ;; The date NIL stands for the newest version of the file.
            for package = (or (form-package path nil number) (find-package "COMMON-LISP-USER"))
            for operator = (symbol-read (or (first (form-parts form 1)) "") package)
            do (pushnew package packages)
               (cond ((can-define-p operator) (replace content form :start1 start))
                     ((assoc operator *stand-ins*) (put-stand-in form operator content start))
                     (t (setf (char content start) #\0)
                        ;; Functions in a LET share its variables. A copy of the LET would have
                        ;; other variables, so the copies of the functions would not share those of
                        ;; the originals.
                        (when (and operator (encloses-p operator)) (note-all-missed form)))))
      (values content packages))))

(defun inline-names (packages)
  "Return a list of the names of inline functions whose symbols have one of PACKAGES as home
package."
  (loop for package in packages
        append (home-names package (lambda (name) (eq 'inline (known :function :inlinep name))))))

;;; Compiling and loading the copies of files that have only definitions

(defun compile-quietly (copy fasl file)
  "COPY is a copy of FILE that has only the definitions of FILE. Compile COPY into the file FASL,
without printing warnings. Return the truename of FASL, or NIL if a form has an error."
  (let ((wrong nil) (*error-output* (make-broadcast-stream))
        (*standard-output* (make-broadcast-stream))
        (*package* (find-package "COMMON-LISP-USER"))
        (*macroexpand-hook* (measuring-hook *macroexpand-hook*)))
    (flet ((note (condition) (declare (ignore condition)) (setf wrong t)))
      (handler-bind ((compiler-error #'note)
                     (unreadable-file #'note)
                     (warning #'muffle-warning)
                     (sb-ext:compiler-note #'muffle-warning))
        (let ((made (nil-if-program-fails (compile-part copy fasl file))))
          (and (not wrong) made))))))

(defun load-measured (fasl path)
  "FASL was compiled from a copy of the file PATH that has only the definitions of this file. Load
FASL, and add a FILE-RECORD structure for PATH to COVERING-RECORDS. Return NIL if a form that is
evaluated at load time signals an error."
  ;; The first element of COVERAGE-INFO is a table, to which SBCL adds entries for the copy. The
  ;; other elements are for code, and SBCL puts those for the code of the copy in front of them.
  (let* ((names (loop for name being the hash-keys of (first coverage-info) collect name))
         (codes (rest coverage-info))
         (loaded (nil-if-program-fails
                   ;; Nothing records this code as new code of the image (look/loads.lisp).
                   (let ((*passing* t))
                     (handler-bind ((warning #'muffle-warning))
                       (load-compiled fasl (sb-ext:parse-native-namestring path))))
                   t)))
    (loop for name being the hash-keys of (first coverage-info) using (hash-value parts)
          unless (member name names :test #'equal)
            do (when loaded
                 (push (make-file-record path (file-parts parts) (ldiff (rest coverage-info) codes))
                       (covering-records **covering**)))
               (remhash name (first coverage-info)))
    loaded))

(defun measure-file (path content folder number)
  "Measure the coverage of the definitions in the file PATH. CONTENT is the text of this file from
DEFINITIONS-ONLY, which leaves out all other forms. FOLDER is the native name of a directory for
fasls. NUMBER is an integer that no other file has."
  (let* ((*measured-file* path)
         (*spans-loaded* (find-spans path nil))
         (*spans-read* (make-file-spans nil))
         (source (sb-ext:parse-native-namestring path))
         (fasl (sb-ext:parse-native-namestring (format nil "~A/~D/measured.fasl" folder number)))
         (definitions (covering-definitions **covering**))
         (before (fill-pointer definitions))
         (made (progn (ensure-directories-exist fasl)
                      (compile-quietly (copy-in-folder fasl source content) fasl source))))
    ;; The copy cannot be compiled if the definitions depend on forms that it lacks, such as one
    ;; that changes the readtable. It cannot be loaded if a LOAD-TIME-VALUE fails the second time.
    (unless (and made (load-measured made path))
      (setf (fill-pointer definitions) before)
      (note-all-missed content))))

(defun measure-files (paths folder)
  "Measure the coverage of the definitions in the files PATHS. FOLDER is the native name of a
directory for fasls."
  (let ((contents '()) (*inline-names* '()))
    (dolist (path paths)
      (multiple-value-bind (content packages)
          (let ((text (known-text path))) (and text (definitions-only text path)))
        (if content (push (cons path content) contents) (note-missed))
        (setf *inline-names* (union (inline-names packages) *inline-names* :test #'equal))))
    (loop for (path . content) in (reverse contents)
          for number from 1
          do (measure-file path content folder number))))

(defun cover (paths folder tests)
  "Begin to measure the coverage of the definitions in the files PATHS. TESTS lists the names of
tests, which are not measured. FOLDER is the native name of a directory for fasls."
  (let ((*test-names* tests) (*frameworks-homes* (all-homes)))
    (call-with-quiet-compiler
     (lambda ()
       ;; No file has the name "made": only its directory matters here.
       (call-in-folder-of (sb-ext:parse-native-namestring (format nil "~A/made" folder))
                          (lambda () (measure-files paths folder)))))))

;;; The definitions that a test reached

(defvar *covering* nil
  "The COVERING structure of the test run that this thread belongs to, or NIL. CALL-MEASURING
(operations.lisp) binds it to the value of **COVERING** in the thread that runs the tests. So this
is NIL in a thread of another run at the same time, which measures nothing.")

(defun reached-text (definitions)
  "Return a bit mask for DEFINITIONS, a vector of MEASURED structures, as hexadecimal text. Bit I,
from 0 for the lowest, is 1 if definition I was reached."
  (let ((bits 0))
    (loop for definition across definitions
          for bit from 0
          when (measured-reached definition) do (setf (logbitp bit bits) t))
    (format nil "~(~X~)" bits)))

(defun call-noting-reached (function note)
  "Call FUNCTION and return its values. If coverage is measured, also call the function NOTE with
the text from REACHED-TEXT for the definitions that FUNCTION reached."
  (if (null *covering*)
      (funcall function)
      (let* ((definitions (covering-definitions *covering*))
             (before (map 'vector #'measured-reached definitions)))
        (loop for definition across definitions do (setf (measured-reached definition) nil))
        (unwind-protect (funcall function)
          (funcall note (reached-text definitions))
          (loop for definition across definitions
                for earlier across before
                when earlier do (setf (measured-reached definition) t))))))

;;; Running tests with a measurement of coverage

(defun call-covering (function)
  "Call FUNCTION with a new COVERING structure, and return the value of FUNCTION. FUNCTION calls
COVER and then runs the tests. Afterwards, even after a non-local exit or when the session ends, put
the program's own definitions back in place of those that record coverage. If another run measures
coverage, or this SBCL cannot measure it, end the operation with an error answer."
  (require-contrib "SB-COVER")
  (unless (and (marks-reader) +coverage-quality+) (fail-lookup "unmeasured" "missing"))
  (let ((covering (make-covering)))
    (unwind-protect
         (if (sb-ext:compare-and-swap (symbol-value '**covering**) nil covering)
             (fail-lookup "unmeasured" "busy")
             (call-until-session-ends (constantly nil)
                                      (lambda () (funcall function covering))
                                      (lambda () (take-all covering))))
      (when (eq covering **covering**)
        ;; If the session ended earlier, FUNCTION may have put copies in place since.
        (take-all covering)
        (setf **covering** nil)))))
