;;;; Records, at the end of a load or an evaluation, the definitions that it made. CALL-NOTING, near
;;;; the end of this file, is the entry. While the load runs, recording.lisp collects the changes in
;;;; a RECORDING structure. Then NOTE-LOAD makes DEFINITION structures of them, BY-FILE groups these
;;;; by file, and NOTE-GROUP records each group: by NOTE-PART if only some forms of the file were
;;;; loaded, else by NOTE-FILE.

(in-package "LIVE-LISP.SOURCES")

;;; Finding the new definitions

(defun package-definitions (exports serial)
  "Return a list of new DEFINITION structures for packages and for the symbols that they export.
EXPORTS is a list of lists (PACKAGE LOCATION SYMBOL...). SERIAL is the number of the load."
  (loop for (package location . symbols) in exports
        when (and (package-name package) (typep location 'source-location))
          collect (make-definition :package (package-name package) package serial location)
          and append (loop for symbol in symbols
                           when (symbolp symbol)
                             collect (make-definition :export symbol package serial location))))

(defun method-definitions (log serial)
  "LOG is the slot LOG of a RECORDING structure. Return a list of new DEFINITION structures for the
methods in LOG. Add one for the generic function of each method, unless a DEFGENERIC has made it or
the package of its name belongs to SBCL. SERIAL is the number of the load."
  (loop for (name . method) in (remove-if #'symbolp log)
        for function = (and (attached-p method) (sb-mop:method-generic-function method))
        when function
          collect (make-definition :method name method serial)
        when (and function
                  (symbol-package (name-symbol name))
                  (not (core-symbol-p (name-symbol name)))
                  (eq function (function-identity function)))
          collect (make-definition :function name function serial)))

(defun new-definitions (recording serial)
  "Return a list of new DEFINITION structures for all definitions that were made according to
RECORDING, a RECORDING structure. SERIAL is the number of the load or evaluation."
  (let ((new '()))
    (dolist (symbol (changed-symbols recording))
      (let ((change (change-of symbol recording)))
        (map-definitions (lambda (kind name identity)
                           ;; METHOD-DEFINITIONS adds generic functions that no DEFGENERIC made.
                           (unless (or (typep identity 'generic-function)
                                       (and (member identity (change-before change) :test #'eq)
                                            (not (member (cons kind name)
                                                         (change-assigned change)
                                                         :test #'equal))))
                             (push (make-definition kind name identity serial) new)))
                         symbol)))
    (append new
            (method-definitions (recording-log recording) serial)
            (package-definitions (recording-defpackages recording) serial))))

(defun definition-file-name (definition)
  "Return SBCL's name of the file of DEFINITION, or NIL if it is from no file."
  (let ((identity (definition-identity definition)))
    (cond ((definition-location definition) (identity-file (definition-location definition)))
          ((typep identity 'generic-function) (generic-function-file identity))
          (t (identity-file identity)))))

;;; Finding the files to which new definitions belong

(defun shows-load-p (definition file)
  "DEFINITION is a new definition of the file FILE. Return true if its code does not come from the
last load of FILE that was recorded. This proves that FILE was loaded again just now. Return NIL for
a generic function or an accessor, since these prove nothing."
  (let ((identity (definition-identity definition)))
    (typecase identity
      ((or generic-function sb-mop:standard-accessor-method) nil)
      (function (not (member (function-source identity) (source-file-sources file) :test #'eq)))
      (t t))))

(defun note-evaluated (definition by)
  "Add DEFINITION, which is from no file, to **EVALUATED**. BY is the beginning of the text of the
evaluated form that made DEFINITION, or NIL."
  (when (< (hash-table-count **evaluated**) *evaluated-limit*)
    (setf (gethash (key-of definition) **evaluated**) (make-evaluation definition by))))

(defun note-variables (evaluated by)
  "Add the variables that an evaluated form has changed to **VARIABLES-EVALUATED**. EVALUATED is a
list of (VARIABLE . WHAT) pairs, newest first, from the slot EVALUATED of a RECORDING structure.
WHAT is :VALUE or :SPECIAL, as in the table. BY is the beginning of the text of the form. After a
load, BY is NIL, and nothing is added."
  (when by
    (loop for (symbol . what) in (reverse evaluated)
          do (setf (gethash symbol **variables-evaluated**) (cons by what)))))

(defun definition-change (definition recording)
  "Return the CHANGE structure for DEFINITION from RECORDING, a RECORDING structure, or NIL if there
is none. If DEFINITION is of a package or an export, the structure is for the package. If it is of a
method, the structure is for the method. Otherwise it is for the symbol in the name of DEFINITION."
  (change-of (case (definition-kind definition)
               ((:package :export :method) (definition-identity definition))
               (t (name-symbol (definition-name definition))))
             recording))

(defun source-of-fasl (fasl source)
  "FASL is the pathname of a fasl, and SOURCE the pathname in its header. Return the pathname of the
source file: SOURCE if it is absolute, else the file with the name of SOURCE in the folder of FASL.
SOURCE is relative if COMPILE-FILE was called with a relative pathname."
  (if (eq :absolute (first (pathname-directory source)))
      source
      (make-pathname :name (pathname-name source) :type (pathname-type source) :version nil
                     :defaults fasl)))

(defun paths-of (files)
  "Return a list of the paths of FILES, a list of truenames, without duplicates."
  (remove-duplicates (mapcar (lambda (file) (file-path (namestring file))) files) :test #'equal))

(defun made-within-p (definition recording file)
  "Return true if FILE, a SOURCE-FILE structure, did not make DEFINITION itself: while FILE was
loaded or compiled, it loaded another file, and that file made DEFINITION. Even then, SBCL can have
recorded FILE as the source: it does so if the other file used COMPILE or EVAL. RECORDING is the
RECORDING structure of the load."
  (let ((change (definition-change definition recording)))
    (flet ((in-p (files) (member (source-file-path file) (paths-of files) :test #'equal)))
      (and change (in-p (change-outer-files change)) (not (in-p (change-files change)))))))

(defun making-path (definition recording path)
  "DEFINITION was made during the load of the file PATH, and SBCL has recorded no file for it.
Return the path of the file that made DEFINITION: PATH, or a file that was loaded meanwhile. Return
NIL if this file is unknown. RECORDING is the RECORDING structure of the load."
  (let* ((change (definition-change definition recording))
         (others (and change (remove path (paths-of (change-files change)) :test #'equal))))
    (cond ((null others) path)
          ((or (rest others) (fasl-path-p (first others))) nil)
          (t (first others)))))

(defun note-form (definition file recording)
  "Record in DEFINITION the number of the top-level form of FILE, a SOURCE-FILE structure, that made
DEFINITION, or NIL if the number is unknown. RECORDING, the RECORDING structure of the load, tells
which forms ran. Also set the slot BY-CODE of DEFINITION: to true if SBCL has recorded no form, a
form that did not run, or form 0, as it does when a form makes the definition by EVAL."
  (let* ((path (source-file-path file)) (recorded (recorded-number definition))
         (name (definition-file-name definition)) (change (definition-change definition recording))
         (ran (loop for (file-name . number) in (and change (change-forms change))
                    when (and file-name number (equal path (file-path file-name)))
                      collect number)))
    (cond ((if ran (member recorded ran) (and recorded name (equal path (file-path name))))
           ;; For a definition that EVAL made, SBCL records the form number 0.
           (setf (definition-form definition) recorded
                 (definition-by-code definition) (zerop recorded)))
          (t (setf (definition-form definition) (and (null (rest ran)) (first ran))
                   (definition-by-code definition) t)))))

(defun loaded-p (definition recording)
  "Return true if a load made DEFINITION, according to RECORDING, a RECORDING structure. Return NIL
if DEFINITION was made while its file was compiled, and not again by the load of the fasl."
  (let ((change (definition-change definition recording))) (and change (change-loaded change))))

(defun by-file (definitions recording path by)
  "Group DEFINITIONS by the files that made them, according to RECORDING, a RECORDING structure.
Return a list of lists (FILE DEFINITION...), in which FILE is a SOURCE-FILE structure. After a load,
PATH is the path of the loaded file. After an evaluation, PATH is NIL, and BY is the beginning of
the text of the evaluated form. A definition without a file that this form made goes into
**EVALUATED**, not into the list."
  (let ((files (make-hash-table :test 'equal)) (groups (make-hash-table :test 'eq)))
    (dolist (definition definitions)
      (let* ((name (definition-file-name definition))
             (file (and name (or (gethash name files)
                                 (setf (gethash name files) (known-file (file-path name)))))))
        (cond ((and file
                    (not (made-within-p definition recording file))
                    ;; FILE did not make a function now whose code is from its last load. Such a
                    ;; function was only named again, as by (SETF FDEFINITION).
                    (or (not (typep (definition-identity definition)
                                    '(and function (not generic-function))))
                        (shows-load-p definition file)))
               (push definition (gethash file groups)))
              (path (let ((maker (making-path definition recording path)))
                      (when maker (push definition (gethash (known-file maker) groups)))))
              ((not (loaded-p definition recording)) (note-evaluated definition by)))))
    (loop for file being the hash-keys of groups using (hash-value group)
          do (dolist (definition group) (note-form definition file recording))
          collect (cons file group))))

(defparameter *reached-kinds* '((:type . :type) (:setf-expander . :setf) (:class . :report))
  "Some definitions make a function that is not their DEFINITION-IDENTITY, such as the expander of a
DEFTYPE. This alist maps the kinds of these definitions to the kinds with which MAP-REACHED visits
such functions.")

(defun made-function (definition)
  "Return the function that DEFINITION has made. Return NIL if there is none, or if it is a method."
  (let ((identity (definition-identity definition))
        (reached (cdr (assoc (definition-kind definition) *reached-kinds*))))
    (cond ((typep identity '(and function (not generic-function))) identity)
          (reached (map-reached (lambda (kind function)
                                  (when (eq kind reached) (return-from made-function function)))
                                (definition-name definition))
                   nil))))

(defun fresh-sources (definitions)
  "Return a list of the debug sources of the functions that DEFINITIONS have made."
  (remove-duplicates (loop for definition in definitions
                           for function = (made-function definition)
                           for source = (and function
                                             (identity-file function)
                                             (function-source function))
                           when source collect source)
                     :test #'eq))

(defun enter-definitions (file definitions)
  "Add DEFINITIONS to FILE, a SOURCE-FILE structure. Return a list of (NEW . OLD) pairs for those
DEFINITIONS that replace a definition of FILE."
  (loop with table = (source-file-definitions file)
        for definition in definitions
        for key = (key-of definition)
        for old = (gethash key table)
        do (setf (gethash key table) definition
                 (definition-inlined definition)
                 (and (eq (definition-kind definition) :function) (inline-p definition))
                 (definition-layout definition) (structure-layout definition))
        when old collect (cons definition old)))

;;; Recording a load

(defun note-loaded ()
  "Record in the RECORDING structure of this thread that the load of *LOAD-TRUENAME*, a source file
or a fasl, has ended. Do not record a file that defines systems, since ASDF records it."
  (with-recording (recording)
    (let* ((fasl (and (fasl-path-p (sb-ext:native-namestring *load-truename*)) *load-truename*))
           (from (if fasl (compiled-from fasl) *load-truename*))
           (source (and from (probe-file (if fasl (source-of-fasl fasl from) from)))))
      (when (and source (not (equal (pathname-type source) "asd")))
        (push (cons (file-path (namestring source)) (and fasl (file-write-date fasl)))
              (recording-loads recording))))))

(defun load-of (file recording)
  "Return the pair (PATH . DATE) from NOTE-LOADED for the file FILE in RECORDING, a RECORDING
structure. Return NIL if FILE was not loaded to its end, or if this is unknown."
  (assoc (source-file-path file) (recording-loads recording) :test #'equal))

(defun failed-p (definition failed)
  "FAILED lists the changes of loads that did not end normally. Each element is a package, a symbol,
or a cons whose cdr is the identity of a definition. Return true if one of them is a change of
DEFINITION."
  (let ((name (name-symbol (definition-name definition)))
        (identity (definition-identity definition)))
    (if (member (definition-kind definition) '(:package :export))
        (find identity failed :test #'eq)
        (find-if (lambda (entry) (if (consp entry) (eq (cdr entry) identity) (eq entry name)))
                 failed))))

(defun drop-replaced-methods (file)
  "Remove from FILE, a SOURCE-FILE structure, the definitions of methods that other methods in the
image have replaced."
  (let ((table (source-file-definitions file)))
    (maphash (lambda (key definition)
               (when (and (eq (definition-kind definition) :method)
                          (null (sb-mop:method-generic-function key)))
                 (remhash key table)))
             table)))

(defun note-file (file definitions recording noted)
  "Record that the file FILE was loaded to its end and made DEFINITIONS. RECORDING is the RECORDING
structure of the load. Add the facts for answers to NOTED, a NOTED structure. Return a list of
names, such as those of changed macros: code that uses these names must be compiled again."
  (let* ((sources (fresh-sources definitions)) (old-text (source-file-text file))
         (old-serial (source-file-serial file)) (compiled (cdr (load-of file recording)))
         (pairs (enter-definitions file definitions)))
    (multiple-value-bind (text date) (loaded-text file sources compiled)
      (drop-numbered-anew file definitions pairs old-text text)
      (unless (equal text old-text) (save-baselines file old-text old-serial))
      (keep-former-forms file old-text text)
      (setf (source-file-serial file) **serial**
            (source-file-failed file) nil
            (source-file-compiled file) compiled
            (source-file-sources file) sources)
      (set-text file text date)
      (drop-replaced-methods file)
      (mark-perhaps-made file old-text text old-serial)
      (pushnew file (noted-files noted) :test #'eq)
      (note-layouts pairs noted)
      (setf (noted-unset noted)
            (append (noted-unset noted)
                    (unset-variables pairs definitions old-text text (recording-values recording))))
      (append (changed-kinds file old-serial) (changed-names pairs old-text text)))))

(defstruct (part-load (:constructor make-part-load (numbers text whole)))
  "A load of only some forms of a file.
NUMBERS: a vector with an element for each form of the present text of the file. The element is the
number of the same top-level form in the text loaded before, or NIL for a form to load.
TEXT: the text of the file with spaces in place of all forms that are not loaded. Their line ends
stay, so that each loaded form keeps its position.
WHOLE: the whole text of the file, as READ-TEXT would return it, if the file is not on the machine
of the image. Otherwise NIL."
  numbers text whole)

(defvar *part-load* nil
  "The PART-LOAD structure of the load that this thread performs, or NIL if it loads whole files.")

(defun lines-of (text)
  "Return a list of the lines of TEXT."
  (loop for start = 0 then (1+ end)
        for end = (position #\Newline text :start start)
        collect (subseq text start end)
        while end))

(defun same-lines-p (old-text text part-text)
  "PART-TEXT has as many lines as TEXT. Return true if all lines of TEXT that differ from the lines
of PART-TEXT at the same places occur in OLD-TEXT, in the same order."
  (let ((old (lines-of old-text)))
    (loop for line in (lines-of text)
          for part in (lines-of part-text)
          always (or (string= line part)
                     (let ((found (member line old :test #'string=)))
                       (when found (setf old (rest found)) t))))))

(defun same-forms-p (old-text text part)
  "Return true if the forms of TEXT that are not loaded again are the same as in OLD-TEXT, the text
loaded before. PART, a PART-LOAD structure, has the numbers that such forms had in OLD-TEXT. If the
texts cannot be split into forms, compare the lines that belong to no loaded form instead."
  (let ((old (and old-text (forms-of old-text))) (new (and text (forms-of text))))
    (cond ((and old new)
           (and (= (length new) (length (part-load-numbers part)))
                (loop for number across (part-load-numbers part)
                      for form across new
                      always (or (null number)
                                 (and (< number (length old))
                                      (string= form (aref old number)))))))
          (t (and old-text text (same-lines-p old-text text (part-load-text part)))))))

(defun forms-loaded (text part)
  "Return a list of those forms of TEXT that are loaded according to PART, a PART-LOAD structure."
  (loop for form across (or (and text (forms-of text)) #())
        for number across (part-load-numbers part)
        unless number collect form))

(defun renumber (file definitions old-text numbers)
  "Give each definition of the file FILE, except DEFINITIONS, the number that its form has in the
present text, according to NUMBERS, the slot of a PART-LOAD. If the present text no longer has the
form, first call SAVE-BASELINE with OLD-TEXT, the text that was loaded before, then mark the
definition as made by an older load."
  (map-file-definitions
   (lambda (definition)
     (unless (member definition definitions :test #'eq)
       (let* ((number (definition-number definition))
              ;; Do not look NUMBER up if OLD-TEXT cannot be split into forms without
              ;; evaluation: the server then numbers its forms in another way.
              (now (and number (forms-of old-text) (position number numbers))))
         (cond (now (setf (definition-form definition) now))
               ((and number (= (definition-serial definition) (source-file-serial file)))
                (save-baseline definition old-text)
                (decf (definition-serial definition)))))))
   file))

(defun note-part (file part definitions recording noted)
  "Record that only some top-level forms of FILE, a SOURCE-FILE structure, were loaded, according to
PART, a PART-LOAD structure. They made DEFINITIONS. The RECORDING structure RECORDING has the
changes of the load. Store the facts that the answer reports in NOTED, a NOTED structure. Return a
list of names, such as those of changed macros: code that uses these names must be compiled again."
  ;; A load of some forms gives the file no new number, so their definitions get its present one.
  (dolist (definition definitions) (setf (definition-serial definition) (source-file-serial file)))
  (let* ((old-text (source-file-text file))
         (text (or (part-load-whole part)
                   (read-text (sb-ext:parse-native-namestring (source-file-path file)))))
         (others-same (same-forms-p old-text text part))
         (pairs (enter-definitions file definitions)))
    (drop-numbered-anew file definitions pairs old-text text)
    (note-layouts pairs noted)
    (prog1 (changed-names pairs old-text text) ; This compares with the baselines so far.
      (setf (noted-unset noted)
            (append (noted-unset noted)
                    (unset-variables pairs definitions old-text text (recording-values recording))))
      (unless others-same
        (dolist (definition definitions) (save-baseline definition text)))
      (let* ((path (source-file-path file))
             (written (date-of path))
             (date (if written
                       (version-date path written text)
                       (loop for source in (fresh-sources definitions)
                             thereis (source-date source)))))
        (cond (others-same
               (renumber file definitions old-text (part-load-numbers part))
               (keep-former-forms file old-text text)
               (set-text file text date)
               ;; RENUMBER has given this number to definitions whose forms are gone.
               (mark-perhaps-made file old-text text (1- (source-file-serial file))))
              (t (keep-former-text path date text)
                 (setf (source-file-parts file)
                       (append (forms-loaded text part) (source-file-parts file))))))
      (setf (source-file-sources file)
            (append (fresh-sources definitions) (source-file-sources file)))
      (drop-replaced-methods file)
      (pushnew file (noted-files noted) :test #'eq))))

(defun group-failed-p (group recording done path)
  "GROUP is a list (FILE DEFINITION...). Return true if FILE was not loaded to its end. There are
two cases. First, a failed load changed one of the definitions. Second, DONE is NIL because the load
of the file PATH failed, and FILE is this file or one that was compiled and not yet loaded.
RECORDING is the RECORDING structure of the load."
  (destructuring-bind (file . definitions) group
    (or (some (lambda (definition) (failed-p definition (recording-failed recording))) definitions)
        (and (not done)
             ;; A file that is loaded in sections can fail after the load of its first sections.
             (or (equal (source-file-path file) path)
                 (and (not (load-of file recording))
                      (notany (lambda (definition) (loaded-p definition recording))
                              definitions)))))))

(defun note-group (group recording done path noted)
  "Record GROUP, a list (FILE DEFINITION...), as part of the load of the file PATH, or of an
evaluation if PATH is NIL. DONE is true if the load ended normally. The RECORDING
structure RECORDING has the changes of the load. Store the facts that the answer reports in NOTED, a
NOTED structure. Return a list of names, such as those of changed macros: code that uses these names
must be compiled again."
  (destructuring-bind (file . definitions) group
    (let ((failed (group-failed-p group recording done path)))
      (cond ((and (not failed)
                  (or (equal (source-file-path file) path)
                      (load-of file recording)
                      (some (lambda (definition) (shows-load-p definition file)) definitions)))
             (if (and *part-load* (equal (source-file-path file) path))
                 (note-part file *part-load* definitions recording noted)
                 (note-file file definitions recording noted)))
            (t (complete-sources file (fresh-sources definitions))
               (enter-definitions file definitions)
               (setf (source-file-failed file) failed)
               '())))))

(defun note-load (recording done path by)
  "RECORDING is a RECORDING structure with changes, or :NOTHING-YET. Record these changes, and add
facts for answers to *LOADED*. The load of the file PATH has made the changes. If PATH is NIL, the
evaluation of a form has made them, and the text of the form begins with BY. DONE is true if the
load or evaluation ended normally."
  (let* ((recording (if (recording-p recording) recording (make-recording)))
         (*plain-forms* '())
         (serial (incf **serial**))
         (groups (by-file (new-definitions recording serial) recording path by))
         (noted (or *loaded* (make-noted))))
    (note-exported (recording-exported recording) serial)
    (note-variables (recording-evaluated recording) by)
    (dolist (loaded (remove nil (cons path (mapcar #'car (recording-loads recording)))))
      (unless (assoc loaded groups :key #'source-file-path :test #'equal)
        (push (list (known-file loaded)) groups)))
    (let ((names (loop for group in groups append (note-group group recording done path noted)))
          (fresh (loop for (nil . definitions) in groups append (fresh-sources definitions))))
      (note-outdated names fresh)
      (note-users-of-layouts (noted-laid-out noted) fresh))
    (setf (noted-doubles noted) (append (and done (doubled-methods (recording-log recording)))
                                        (noted-doubles noted))
          (noted-reslotted noted) (append (noted-reslotted noted) (reslotted-classes recording)))))

(defun call-noting (function &key path by)
  "Call FUNCTION, which loads the file PATH, a native truename, or evaluates a form, and record the
definitions that it makes. BY is a function without arguments that returns the form's text. A nested
call in the same thread only calls FUNCTION."
  (if *recording*
      (funcall function)
      (let ((*recording* :nothing-yet) (done nil) (package (package-name *package*)))
        (unwind-protect (multiple-value-prog1 (funcall function) (setf done t))
          (let ((recording (shiftf *recording* nil)) (text (and by (funcall by))))
            (when text
              (keep-evaluated text package
                              (and (recording-p recording) (changed-symbols recording))))
            (when (or path (recording-p recording))
              (with-interruptible-isolation
               (sb-thread:with-mutex (**lock**)
                 (note-load recording done path (and text (beginning-of text)))))))))))

(defun call-loading (function)
  "Call FUNCTION, which loads a file, and record the definitions that it makes."
  (call-noting (lambda () (call-in-load function))))
