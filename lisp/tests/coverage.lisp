;;;; Finds what tests run: chooses the files that are measured, and records which definitions each
;;;; test reaches.

(in-package "LIVE-LISP.TESTS")

;;; Files

(defun folder-of (system)
  "Return the native truename of the folder in which SYSTEM is defined, or NIL."
  (let ((file (ignore-errors (truename (asdf-call "SYSTEM-SOURCE-FILE" system)))))
    (and file
         (sb-ext:native-namestring (make-pathname :name nil :type nil :version nil
                                                  :defaults file)))))

(defun paths-of (systems &optional others)
  "Return the paths of the files of SYSTEMS; with OTHERS also those of the systems that they need."
  (remove-duplicates (loop for system in systems
                           append (mapcar #'cdr (source-components system others)))
                     :test #'string= :from-end t))

(defun measured-paths (names root)
  "Return the paths of the files to measure when the systems NAMES are tested: files of these
systems and of systems that they need, below ROOT or the folders of their .asd files; without NAMES
all loaded files below ROOT. Files of test systems are left out, unless there are no others: then
the tests are in the files of the program."
  (let* ((systems (remove nil (mapcar #'system-of names)))
         (folders (list* root (remove nil (mapcar #'folder-of systems))))
         (paths (remove-if-not (lambda (path) (within-p path folders))
                               (if names
                                   (paths-of (remove-duplicates (mapcan #'tested-with systems)) t)
                                   (loaded-paths)))))
    (or (set-difference paths (paths-of (test-systems)) :test #'string=) paths)))

;;; The forms of a file that can have definitions

(defun operator-of (form package)
  "Return the symbol that is the operator of the text FORM in PACKAGE, or NIL."
  (symbol-read (or (first (form-parts form 1)) "") package))

(defun occurrences (part text)
  "Return how often PART is in TEXT, in any letter case."
  (loop for place = (search part text :test #'char-equal)
                  then (search part text :test #'char-equal :start2 (1+ place))
        while place count t))

(defun note-all-missed (text)
  "Count as not measured the functions and methods that TEXT defines."
  (dolist (operator '("(defun " "(defmethod "))
    (loop repeat (occurrences operator text) do (note-missed))))

(defun put-stand-in (form operator content start)
  "Put the text FORM into CONTENT at START, with OPERATOR replaced by its macro in *STAND-INS*."
  (let* ((text (first (form-parts form 1)))
         (place (+ start (search text form)))
         (colon (position #\: text :from-end t))
         (name (symbol-name (cdr (assoc operator *stand-ins*)))))
    (replace content form :start1 start)
    (fill content #\Space :start place :end (+ place (length text)))
    (replace content text :start1 place :end2 (if colon (1+ colon) 0))
    (replace content name :start1 (+ place (if colon (1+ colon) 0)))))

(defun can-define-p (operator)
  "True when a form with OPERATOR can have a definition, or affects how other forms are read or
compiled."
  (and operator
       (macro-function operator)
       (or (member operator '(defun defmethod defgeneric in-package declaim))
           (not (of-system-p operator)))))

(defun definitions-only (text)
  "Return TEXT with a number in place of each top-level form that can have no definition, or NIL
when it cannot be read. The second value has the packages that TEXT enters."
  (let ((bounds (form-bounds text)) (package (find-package "COMMON-LISP-USER"))
        (content (make-string (length text) :initial-element #\Space)) (packages '()))
    (when bounds
      (loop for (start . end) across bounds
            for form = (subseq text start end)
            for entered = (package-entered form)
            for operator = (operator-of form (if (packagep entered) (setf package entered) package))
            do (when (packagep entered) (pushnew entered packages))
               (cond ((can-define-p operator) (replace content form :start1 start))
                     ((assoc operator *stand-ins*) (put-stand-in form operator content start))
                     (t (setf (char content start) #\0)
                        ;; Functions in a LET share its variables, which a second compilation would
                        ;; make anew.
                        (when (and operator (special-operator-p operator))
                          (note-all-missed form)))))
      (values content packages))))

(defun inline-names (packages)
  "Return the names of the inline functions of PACKAGES."
  (let ((names '()))
    (dolist (package packages names)
      (do-symbols (symbol package)
        (when (eq package (symbol-package symbol))
          (dolist (name (list symbol (list 'setf symbol)))
            (when (eq 'inline (known :function :inlinep name))
              (pushnew name names :test #'equal))))))))

;;; Compiling and loading these forms

(defun compile-quietly (copy fasl file)
  "Compile COPY, some forms of FILE, into FASL. Return the truename of FASL, or NIL when a form has
an error."
  (let ((wrong nil) (*error-output* (make-broadcast-stream))
        (*standard-output* (make-broadcast-stream))
        (*package* (find-package "COMMON-LISP-USER"))
        (*macroexpand-hook* (measuring-hook *macroexpand-hook*)))
    (flet ((note (condition) (declare (ignore condition)) (setf wrong t)))
      (handler-bind ((compiler-error #'note)
                     (unreadable-file #'note)
                     (warning #'muffle-warning)
                     (sb-ext:compiler-note #'muffle-warning))
        (let ((made (ignore-errors (compile-part copy fasl file))))
          (and (not wrong) made))))))

(defun load-measured (fasl path)
  "Load FASL, compiled from the file PATH to be measured, and record its parts and the code that
marks them."
  (let ((names (loop for name being the hash-keys of (first coverage-info) collect name))
        (codes (rest coverage-info))
        (*passing* t))
    (handler-bind ((warning #'muffle-warning))
      (load-compiled fasl (sb-ext:parse-native-namestring path)))
    (loop for name being the hash-keys of (first coverage-info) using (hash-value parts)
          unless (member name names :test #'equal)
            do (push (list path (file-parts parts) (ldiff (rest coverage-info) codes))
                     (covering-records **covering**))
               (remhash name (first coverage-info)))))

(defun measure-file (path content folder number)
  "Measure the definitions in CONTENT, those of the file PATH. FOLDER is the native name of a
directory for fasls, NUMBER a number for this file alone."
  (let* ((*measured-file* path)
         (source (sb-ext:parse-native-namestring path))
         (fasl (sb-ext:parse-native-namestring (format nil "~A/~D/measured.fasl" folder number)))
         (definitions (covering-definitions **covering**))
         (before (fill-pointer definitions))
         (made (progn (ensure-directories-exist fasl)
                      (compile-quietly (copy-beside fasl source content) fasl source))))
    (cond (made (load-measured made path))
          ;; The definitions need other forms of the file, such as one that changes the readtable.
          (t (setf (fill-pointer definitions) before)
             (note-all-missed content)))))

(defun measure-files (paths folder)
  "Measure the definitions of the files PATHS. FOLDER is the native name of a directory for fasls."
  (let ((contents '()) (*inline-names* '()))
    (dolist (path paths)
      (multiple-value-bind (content packages)
          (let ((text (known-text path))) (and text (definitions-only text)))
        (if content (push (cons path content) contents) (note-missed))
        (setf *inline-names* (union (inline-names packages) *inline-names* :test #'equal))))
    (loop for (path . content) in (reverse contents)
          for number from 1
          do (measure-file path content folder number))))

(defun cover (paths folder left)
  "Begin to measure the definitions of the files PATHS, except tests, whose names are LEFT. FOLDER
is the native name of a directory for fasls."
  (let ((*left-names* left) (*frameworks-homes* (all-homes)))
    (call-with-quiet-compiler
     (lambda ()
       (call-in-folder-of (sb-ext:parse-native-namestring (format nil "~A/made" folder))
                          (lambda () (measure-files paths folder)))))))

;;; Which definitions a test reached

(defvar *covering* nil "The COVERING of the run that this thread is in, or NIL.")

(defun reached-text (definitions)
  "Return a hexadecimal bit mask of the DEFINITIONS that were reached; the first of them has the
lowest bit."
  (let ((bits 0))
    (loop for definition across definitions
          for bit from 0
          when (measured-reached definition) do (setf (logbitp bit bits) t))
    (format nil "~(~X~)" bits)))

(defun call-noting-reached (function note)
  "Call FUNCTION. If definitions are measured, then call NOTE with the REACHED-TEXT of those that it
reached."
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

;;; Results

(defun marked-parts (codes)
  "Return a table whose keys are the parts that the code in CODES, entries of COVERAGE-INFO, has
marked."
  (let ((marked (make-hash-table :test 'equal)))
    (dolist (code (mapcan #'marking-code codes) marked)
      (dolist (parts (and (marks-reader) (funcall (marks-reader) code)))
        (dolist (part parts) (setf (gethash part marked) t))))))

(defun constant-branch (part form)
  "Return the path in the top-level FORM of PART, a branch that never ran, if it is an atom in an
IF: SBCL does not mark atoms by themselves. Else return NIL."
  (destructuring-bind (kind &optional test &rest around) part
    (let* ((elements (rest (reverse around)))
           (choice (reduce (lambda (form element)
                             (and (listp form) (ignore-errors (nth element form))))
                           elements
                           :initial-value form))
           (element (if (eq kind :then) 2 3)))
      (and (consp choice)
           (eq 'if (first choice))
           (eql 1 test)
           (nthcdr element choice)
           (atom (nth element choice))
           (append elements (list element))))))

(defun parts-never-run (record forms)
  "Return a table from form numbers to the paths of the parts that never ran. RECORD is one of
COVERING-RECORDS, FORMS is as COVERING-FORMS."
  (destructuring-bind (path parts codes) record
    (let ((marked (marked-parts codes)) (table (make-hash-table)))
      (loop for (part . state) in parts
            do (unless (or (eq state t) (gethash part marked))
                 (let* ((number (first (last part)))
                        (within (if (symbolp (first part))
                                    (constant-branch part (gethash (list path number) forms))
                                    (rest (reverse part)))))
                   (when within (push within (gethash number table))))))
      table)))

(defun coverage-data (covering)
  "Return the results of COVERING as a JSON object."
  (let ((tables (loop for record in (covering-records covering)
                      collect (cons (first record)
                                    (parts-never-run record (covering-forms covering))))))
    (flet ((never (definition)
             (let ((table (cdr (assoc (measured-file definition) tables :test #'equal))))
               (and table
                  (measured-reached definition)
                  (remove-if-not (lambda (within)
                                   (eql (length (measured-part definition))
                                        (mismatch (measured-part definition) within)))
                                 (gethash (measured-form definition) table))))))
      (object "missed" (covering-missed covering)
              "definitions" (loop for definition across (covering-definitions covering)
                                  collect (object "name" (name-text (measured-name definition))
                                                  "file" (measured-file definition)
                                                  "form" (measured-form definition)
                                                  "part" (measured-part definition)
                                                  "reached" (measured-reached definition)
                                                  "never" (never definition)))))))

(defun check-measurable ()
  "Call FAIL-LOOKUP when this SBCL cannot measure coverage."
  (unless (ignore-errors (require "SB-COVER") (and (marks-reader) +coverage-quality+))
    (fail-lookup "unmeasured" "missing")))

(defun call-covering (function)
  "Call FUNCTION with a new COVERING, and return its value. Whatever happens, undo what the COVERING
has put. Calls FAIL-LOOKUP when another run is measured."
  (check-measurable)
  (let ((covering (make-covering)))
    (unwind-protect
         (if (sb-ext:compare-and-swap (symbol-value '**covering**) nil covering)
             (fail-lookup "unmeasured" "busy")
             (funcall function covering))
      (when (eq covering **covering**)
        (take-all covering)
        (setf **covering** nil)))))
