;;;; Records, at the end of a load or an evaluation, which definitions it made.

(in-package "LIVE-LISP.SOURCES")

(defstruct (noted (:constructor make-noted ()))
  "What answers report of a load. FILES are the SOURCE-FILEs that were loaded to their ends. DOUBLES
are from the function DOUBLES. UNSET are DEFINITIONs of variables that kept their values, although
the file has others. RESLOTTED are lists of a class with changed slots, a list of the names of its
new slots, and a list of the names of removed ones. LAID-OUT are lists of the name of a structure
with a changed layout, the old layout, and the names of the functions that DEFSTRUCT made."
  (files '()) (doubles '()) (unset '()) (reslotted '()) (laid-out '()))

(defvar *loaded* nil "The NOTED of the load last recorded by this thread, or NIL.")

;;; The new definitions

(defun package-definitions (exports serial)
  "Return DEFINITIONs for the packages in EXPORTS, a slot of TOUCHED, and for the symbols that they
export. SERIAL is the number of the load."
  (loop for (package location . symbols) in exports
        when (and (package-name package) (typep location 'source-location))
          collect (make-definition :package (package-name package) package serial location)
          and append (loop for symbol in symbols
                           when (symbolp symbol)
                             collect (make-definition :export symbol package serial location))))

(defun method-definitions (log serial)
  "Return DEFINITIONs for the methods in LOG, a TOUCHED-LOG, and for each of their generic functions
that a method definition made, without a DEFGENERIC. Leave out generic functions named in locked
packages. SERIAL is the number of the load."
  (loop for (name . method) in (remove-if #'symbolp log)
        for function = (and (attached-p method) (sb-mop:method-generic-function method))
        for home = (symbol-package (name-symbol name))
        when function
          collect (make-definition :method name method serial)
        when (and function
                  home
                  (not (sb-ext:package-locked-p home))
                  (eq function (function-identity function)))
          collect (make-definition :function name function serial)))

(defun set-again-p (kind name touched)
  "True when KIND is :FUNCTION and TOUCHED records that the function of NAME was set, perhaps to the
same function."
  (and (eq kind :function) (gethash name (touched-functions touched))))

(defun new-definitions (touched serial path)
  "Return DEFINITIONs for all new definitions according to TOUCHED. SERIAL is the number of the
load, PATH the loaded file, or NIL."
  (let ((new '()))
    (maphash (lambda (symbol before)
               (map-definitions (lambda (kind name identity)
                                  (unless (or (and (member identity before :test #'eq)
                                                   (not (and path (set-again-p kind name touched))))
                                              (typep identity 'generic-function))
                                    (push (make-definition kind name identity serial) new)))
                                symbol))
             (touched-before touched))
    (append new
            (method-definitions (touched-log touched) serial)
            (package-definitions (touched-exports touched) serial))))

(defun definition-file-name (definition)
  "Return SBCL's name of the file of DEFINITION, or NIL."
  (let ((identity (definition-identity definition)))
    (cond ((definition-location definition) (identity-file (definition-location definition)))
          ((typep identity 'generic-function) (generic-function-file identity))
          (t (identity-file identity)))))

;;; The files to which new definitions belong

(defun shows-load-p (definition file)
  "True when DEFINITION, of FILE, shows that FILE was just loaded. A function shows this if it is
not from code of the load of FILE recorded before. A generic function or an accessor never shows
it."
  (let ((identity (definition-identity definition)))
    (typecase identity
      ((or generic-function sb-mop:standard-accessor-method) nil)
      (function (not (member (function-source identity) (source-file-sources file) :test #'eq)))
      (t t))))

(defun note-evaluated (definition by)
  "Record in **EVALUATED** that DEFINITION is from no file. BY is NIL, or the beginning of the text
of the form that made it."
  (when (< (hash-table-count **evaluated**) *evaluated-limit*)
    (setf (gethash (key-of definition) **evaluated**)
          (list (definition-identity definition) (get-universal-time) by definition))))

(defun thing-touched (definition)
  "Return the key for DEFINITION in the tables of a TOUCHED: a symbol, package or method."
  (case (definition-kind definition)
    ((:package :export :method) (definition-identity definition))
    (t (name-symbol (definition-name definition)))))

(defun fasl-path-p (path)
  "True when PATH, a native name, names a fasl."
  (equal (pathname-type (sb-ext:parse-native-namestring path))
         (pathname-type (compile-file-pathname "source"))))

(defun paths-of (definition files)
  "Return the paths in FILES, a slot MAKERS or AROUND of TOUCHED, for DEFINITION, without
duplicates."
  (remove-duplicates (mapcar (lambda (file) (file-path (namestring file)))
                             (gethash (thing-touched definition) files))
                     :test #'equal))

(defun made-within-p (definition touched file)
  "True when DEFINITION was not made by FILE, but by a file loaded during the load or compilation of
FILE. If the other file used COMPILE or EVAL, SBCL takes FILE for the source."
  (flet ((in-p (files) (member (source-file-path file) (paths-of definition files) :test #'equal)))
    (and (in-p (touched-around touched)) (not (in-p (touched-makers touched))))))

(defun other-maker (definition touched path)
  "DEFINITION was made during the load of the file PATH, and SBCL knows no file for it. Return the
path of the file that made it. Return NIL if this is PATH, and T if it is unknown, as for a fasl."
  (let ((others (remove path (paths-of definition (touched-makers touched)) :test #'equal)))
    (cond ((null others) nil)
          ((or (rest others) (fasl-path-p (first others))) t)
          (t (first others)))))

(defun by-file (definitions touched path by)
  "Return DEFINITIONS in groups: lists of a SOURCE-FILE and its definitions. If SBCL knows no file
for a definition, it belongs to the file that made it during the load of the file PATH. If PATH is
NIL, it is in no group, but recorded as made by a form whose text begins with BY, unless TOUCHED
records that a load made it."
  (let ((files (make-hash-table :test 'equal)) (groups (make-hash-table :test 'eq)))
    (dolist (definition definitions)
      (let* ((name (definition-file-name definition))
             (file (and name (or (gethash name files)
                                 (setf (gethash name files) (known-file (file-path name)))))))
        (cond ((and file
                    (not (made-within-p definition touched file))
                    (or (not (typep (definition-identity definition)
                                    '(and function (not generic-function))))
                        (shows-load-p definition file)))
               (push definition (gethash file groups)))
              (path (let ((other (other-maker definition touched path)))
                      (unless (eq other t)
                        (push definition (gethash (known-file (or other path)) groups)))))
              ((not (gethash (name-symbol (definition-name definition)) (touched-loaded touched)))
               (note-evaluated definition by)))))
    (loop for file being the hash-keys of groups using (hash-value group)
          collect (cons file group))))

(defparameter *reached-kinds* '((:type . :type) (:setf-expander . :setf) (:class . :report))
  "An alist from kinds of definitions with an identity that is no function, to the kinds with which
MAP-REACHED visits their functions.")

(defun made-function (definition)
  "Return the function made by DEFINITION. Return NIL if there is none, or if it is a method."
  (let ((identity (definition-identity definition))
        (reached (cdr (assoc (definition-kind definition) *reached-kinds*))))
    (cond ((typep identity '(and function (not generic-function))) identity)
          (reached (map-reached (lambda (kind function)
                                  (when (eq kind reached) (return-from made-function function)))
                                (definition-name definition))
                   nil))))

(defun fresh-sources (definitions)
  "Return the debug sources of the functions made by DEFINITIONS."
  (remove-duplicates (loop for definition in definitions
                           for function = (made-function definition)
                           for source = (and function
                                             (identity-file function)
                                             (function-source function))
                           when source collect source)
                     :test #'eq))

(defun enter (file definitions)
  "Put DEFINITIONS into the table of FILE. Return a list of pairs (NEW . OLD), one for each of them
that replaces a definition of FILE."
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

(defun failed-p (definition failed)
  "True when DEFINITION is among FAILED, a slot of TOUCHED: it was changed by a load that did not
end normally."
  (let ((name (name-symbol (definition-name definition)))
        (identity (definition-identity definition)))
    (if (member (definition-kind definition) '(:package :export))
        (find identity failed :test #'eq)
        (find-if (lambda (entry) (if (consp entry) (eq (cdr entry) identity) (eq entry name)))
                 failed))))

(defun drop-replaced-methods (file)
  "Drop the methods of FILE that other methods have replaced."
  (let ((table (source-file-definitions file)))
    (maphash (lambda (key definition)
               (when (and (eq (definition-kind definition) :method)
                          (null (sb-mop:method-generic-function key)))
                 (remhash key table)))
             table)))

(defun note-file (file definitions touched noted)
  "Record that FILE was loaded to its end and made DEFINITIONS, which are new. TOUCHED has the
changes of the load. Put what answers report into NOTED. Return the names of changed definitions
that are compiled into their users, such as macros."
  (let* ((sources (fresh-sources definitions)) (old-text (source-file-text file))
         (old-serial (source-file-serial file))
         (pairs (enter file definitions)))
    (multiple-value-bind (text date) (loaded-text (source-file-path file) sources)
      (drop-numbered-anew file definitions pairs old-text text)
      (unless (equal text old-text) (keep-forms file old-text old-serial))
      (setf (source-file-serial file) **serial**
            (source-file-failed file) nil
            (source-file-text file) text
            (source-file-date file) date
            (source-file-sources file) sources)
      (remhash (source-file-path file) **unnoted-texts**)
      (drop-replaced-methods file)
      (keep-conditional file old-text text old-serial)
      (push file (noted-files noted))
      (note-layouts pairs noted)
      (setf (noted-unset noted)
            (append (noted-unset noted)
                    (unset-variables pairs definitions old-text text (touched-values touched))))
      (append (changed-kinds file old-serial) (changed-names pairs old-text text)))))

(defun note-layouts (pairs noted)
  "Record structures in NOTED whose layouts differ between the two definitions of a pair. PAIRS is
from ENTER."
  (loop for (new . old) in pairs
        for (before . names) = (definition-layout old)
        for (now . more) = (definition-layout new)
        unless (eq before now)
          do (when before
               (push (list* (definition-name old) before (union names more :test #'equal))
                     (noted-laid-out noted)))))

(defvar *form-numbers* nil
  "NIL, except while only some forms of a file are loaded again. Then a vector with an element for
each top-level form of the file as it is now: the number of the form in the text loaded before, or
NIL for a new form.")

(defun same-forms-p (old-text text)
  "True when each form of TEXT that has an old number in *FORM-NUMBERS* is the same as the form of
OLD-TEXT with this number."
  (let ((old (and old-text (forms-of old-text))) (new (and text (forms-of text))))
    (and old new
         (= (length new) (length *form-numbers*))
         (loop for number across *form-numbers*
               for form across new
               always (or (null number)
                          (and (< number (length old)) (string= form (aref old number))))))))

(defun renumber (file definitions old-text)
  "Update the form numbers of the definitions of FILE, except DEFINITIONS, from *FORM-NUMBERS*. If
the form of a definition is in OLD-TEXT but no longer in the file, treat the definition as made by
an older load. Keep this form as its baseline if later loads must compare their definitions with
it."
  (map-file-definitions
   (lambda (definition)
     (unless (member definition definitions :test #'eq)
       (let* ((number (definition-number definition))
              (now (and number (position number *form-numbers*))))
         (cond (now (setf (definition-form definition) now))
               ((and number (= (definition-serial definition) (source-file-serial file)))
                (when (or (eq (definition-kind definition) :variable) (compiled-in-p definition))
                  (setf (definition-baseline definition) (form-before definition old-text)))
                (decf (definition-serial definition)))))))
   file))

(defun note-part (file definitions touched noted)
  "Do as NOTE-FILE does, with the same arguments, after a load of only those forms of FILE that are
new according to *FORM-NUMBERS*."
  (dolist (definition definitions) (setf (definition-serial definition) (source-file-serial file)))
  (let* ((old-text (source-file-text file)) (text (read-text (sb-ext:parse-native-namestring
                                                              (source-file-path file))))
         (same (same-forms-p old-text text)) (pairs (enter file definitions)))
    (drop-numbered-anew file definitions pairs old-text text)
    (note-layouts pairs noted)
    (prog1 (changed-names pairs old-text text)
      (setf (noted-unset noted)
            (append (noted-unset noted)
                    (unset-variables pairs definitions old-text text (touched-values touched))))
      (unless same
        (dolist (definition definitions)
          (when (or (eq (definition-kind definition) :variable) (compiled-in-p definition))
            (setf (definition-baseline definition) (form-before definition text)))))
      (when same
        (renumber file definitions old-text)
        (setf (source-file-text file) text
              (source-file-date file)
              (ignore-errors
               (file-write-date (sb-ext:parse-native-namestring (source-file-path file))))))
      (setf (source-file-sources file)
            (append (fresh-sources definitions) (source-file-sources file)))
      (drop-replaced-methods file)
      (push file (noted-files noted)))))

(defun loaded-p (definition touched)
  "True when DEFINITION was made by a load according to TOUCHED, not by compiling its file before
the load."
  (gethash (if (eq (definition-kind definition) :method)
               (name-symbol (definition-name definition))
               (thing-touched definition))
           (touched-loaded touched)))

(defun group-failed-p (group touched done path)
  "GROUP is a list as from BY-FILE. Return true if its file was not loaded to the end. This is so if
one of its definitions is in the slot FAILED of TOUCHED. It is also so if the load of PATH did not
end normally, so that DONE is false, and the file is PATH or was only compiled."
  (destructuring-bind (file . definitions) group
    (or (some (lambda (definition) (failed-p definition (touched-failed touched))) definitions)
        (and (not done)
             (or (equal (source-file-path file) path)
                 (notany (lambda (definition) (loaded-p definition touched)) definitions))))))

(defun note-group (group touched done path noted)
  "Record GROUP, a list of a SOURCE-FILE and its definitions that are new according to TOUCHED. PATH
is the file whose load is recorded, or NIL. The file of GROUP can be another one, loaded meanwhile.
DONE is true if the load ended normally. Put what answers report into NOTED. Return the names of
changed definitions that are COMPILED-IN-P."
  (destructuring-bind (file . definitions) group
    (let ((failed (group-failed-p group touched done path)))
      (cond ((and (not failed)
                  (or (equal (source-file-path file) path)
                      (some (lambda (definition) (shows-load-p definition file)) definitions)))
             (if (and *form-numbers* (equal (source-file-path file) path))
                 (note-part file definitions touched noted)
                 (note-file file definitions touched noted)))
            (t (complete-sources (source-file-path file) (fresh-sources definitions))
               (enter file definitions)
               (setf (source-file-failed file) failed)
               '())))))

(defun reslotted (touched)
  "Return the classes whose slots have changed according to TOUCHED, as lists of a class, the names
of its new slots, and the names of removed slots."
  (loop for class being the hash-keys of (touched-slots touched) using (hash-value before)
        for now = (own-slots class)
        for new = (set-difference now before) and gone = (set-difference before now)
        when (and (or new gone) (eq class (find-class (class-name class) nil)))
          collect (list class new gone)))

(defun note-load (touched done path by)
  "Record the changes in TOUCHED. They are from loading the file PATH, or if this is NIL, from
evaluating a form whose text begins with BY. DONE is true if this ended normally. Set *LOADED*."
  (let* ((touched (if (touched-p touched) touched (make-touched)))
         (*plain-forms* '())
         (serial (incf **serial**))
         (groups (by-file (new-definitions touched serial path) touched path by))
         (noted (make-noted)))
    (when (and path (not (assoc path groups :key #'source-file-path :test #'equal)))
      (push (list (known-file path)) groups))
    (let ((names (loop for group in groups append (note-group group touched done path noted)))
          (fresh (loop for (nil . definitions) in groups append (fresh-sources definitions))))
      (note-outdated names fresh)
      (note-users-of-layouts (noted-laid-out noted) fresh))
    (setf (noted-doubles noted) (and done (doubles (touched-log touched)))
          (noted-reslotted noted) (reslotted touched)
          *loaded* noted)))

(defun call-noting (function &key path by)
  "Call FUNCTION, and record what it defines. It loads the file PATH, a native truename, or
evaluates a form. BY is a function without arguments that returns the beginning of the form's text.
Within another CALL-NOTING in this thread, only call FUNCTION: the outer one records all."
  (if *touched*
      (funcall function)
      (let ((*touched* :nothing-yet) (done nil))
        (unwind-protect (multiple-value-prog1 (funcall function) (setf done t))
          (when (or path (touched-p *touched*))
            (let ((touched (shiftf *touched* nil)))
              (apart-for-long
               (sb-thread:with-mutex (**lock**)
                 (note-load touched done path (and by (funcall by)))))))))))

(defun call-loading (function)
  "Call FUNCTION, which loads a file, and record what it defines."
  (call-noting (lambda () (call-in-load function))))
