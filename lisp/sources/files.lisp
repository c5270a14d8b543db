;;;; Records the files loaded into this image, and what each of them defined.

(in-package "LIVE-LISP.SOURCES")

(defstruct (source-file (:constructor make-source-file (path)))
  "A loaded file. PATH is its native truename. SERIAL is the number of the last load that ended
normally, or 0. FAILED is true if the last load did not end normally. TEXT is the text that was
loaded, or NIL if it is unknown, and DATE the file's date then. SOURCES are the debug sources of
code from the last load. DEFINITIONS is a table from DEFINITION-KEYs to DEFINITIONs."
  path (serial 0) (failed nil) (text nil) (date nil) (sources '())
  (definitions (make-hash-table :test 'equal)))

(sb-ext:defglobal **files** (make-hash-table :test 'equal :synchronized t)
  "A table from paths to SOURCE-FILEs.")
(sb-ext:defglobal **unnoted-texts** (make-hash-table :test 'equal :synchronized t)
  "A table from paths of files to their texts as loaded, for files whose load was not recorded.")
(sb-ext:defglobal **serial** 0 "The number of the last recorded load.")
(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "live-lisp sources")
  "Held while a load is recorded.")

(sb-ext:defglobal **evaluated** (make-hash-table :test 'equal :synchronized t)
  "A table for definitions made by evaluated forms. A key is a DEFINITION-KEY. A value is a list of
the definition's identity, the universal time, the beginning of the form's text or NIL, and the
DEFINITION.")

(defparameter *evaluated-limit* 10000 "At most this many definitions from no file are kept.")

(defvar *source-copy* nil
  "While a copy of a file is loaded, a pair of the copy's path and the file's path. Else NIL.")

(defun file-path (name)
  "Return the native truename of the file with SBCL's name NAME. For a copy, return the truename of
the original."
  (let ((path (or (ignore-errors
                   (sb-ext:native-namestring
                    (truename (translate-logical-pathname (parse-namestring name)))))
                  name)))
    (if (and *source-copy* (equal path (car *source-copy*))) (cdr *source-copy*) path)))

(defun known-file (path)
  "Return the SOURCE-FILE of PATH, a native truename. If there is none, make one."
  (or (gethash path **files**)
      (setf (gethash path **files**) (make-source-file path))))

(defun known-text (path)
  "Return the text of the file PATH, a native truename, as it was loaded, or NIL if this is
unknown."
  (let ((file (gethash path **files**)))
    (or (and file (source-file-text file)) (gethash path **unnoted-texts**))))

(defun keep-text (path)
  "Keep the current text of the file PATH, a native truename, as loaded, in **UNNOTED-TEXTS**. The
load was not recorded."
  (setf (gethash path **unnoted-texts**) (read-text (sb-ext:parse-native-namestring path))))

(defun loaded-paths ()
  "Return the paths of the loaded files whose text is known."
  (loop for file being the hash-values of **files**
        when (source-file-text file) collect (source-file-path file)))

(define-operation "loaded-below" (folders)
  "Return true if the load of any file in FOLDERS has at least begun. FOLDERS are native truenames
that end with a slash."
  (loop for path being the hash-keys of **files**
          thereis (loop for folder in folders
                        thereis (eql (mismatch folder path) (length folder)))))

(setf **text-as-loaded**
      (lambda (path date)
        (let ((file (gethash path **files**)))
          (and file (eql date (source-file-date file)) (source-file-text file)))))

(defun map-file-definitions (visit file)
  "Call VISIT with each definition of FILE."
  (maphash (lambda (key definition) (declare (ignore key)) (funcall visit definition))
           (source-file-definitions file)))

(defun definitions-if (wanted file)
  "Return the definitions of FILE of which the predicate WANTED is true."
  (let ((found '()))
    (map-file-definitions (lambda (definition)
                            (when (funcall wanted definition) (push definition found)))
                          file)
    found))

(defun exported-elsewhere-p (definition file)
  "True when the last load of another file than FILE made the same export as DEFINITION."
  (let ((key (definition-key :export (definition-name definition)
                             (definition-identity definition))))
    (loop for other being the hash-values of **files**
          for same = (and (not (eq other file)) (gethash key (source-file-definitions other)))
          thereis (and same (>= (definition-serial same) (source-file-serial other))))))

(defun not-made-again-p (definition file)
  "True when the last load of FILE did not make DEFINITION, of FILE, again."
  (< (definition-serial definition) (source-file-serial file)))

(defun kept-by-methods-p (definition file)
  "True when DEFINITION, of FILE, is of a generic function with methods that other files made, or
that the last load of FILE made again."
  (notevery (lambda (method)
              (let ((made (gethash method (source-file-definitions file))))
                (and made (not-made-again-p made file))))
            (methods-of-definition definition)))

(defun old-p (definition file)
  "True when the image still has DEFINITION, of FILE, but the last load of FILE did not make it
again."
  (and (not-made-again-p definition file)
       (current-p definition)
       (not (kept-by-methods-p definition file))
       (not (and (eq (definition-kind definition) :export)
                 (exported-elsewhere-p definition file)))))

(defun old-definitions (file)
  "Return the definitions of FILE that are OLD-P, sorted by kind and name. From the table of FILE,
remove definitions that its last load did not make again and that the image no longer has."
  (let ((old '()) (gone '()))
    (map-file-definitions (lambda (definition)
                            (cond ((old-p definition file) (push definition old))
                                  ((and (not-made-again-p definition file)
                                        (not (current-p definition)))
                                   (push definition gone))))
                          file)
    (dolist (definition gone)
      (remhash (key-of definition) (source-file-definitions file)))
    (sort-definitions old)))

(defun sort-definitions (definitions)
  "Return DEFINITIONS sorted by their texts in answers."
  (flet ((text (definition)
           (format nil "~A ~A" (kind-text (definition-kind definition) (definition-name definition))
                   (item-name definition))))
    (mapcar #'cdr (sort (loop for definition in definitions
                              collect (cons (text definition) definition))
                        #'string< :key #'car))))

(defun loaded-text (path sources)
  "Return two values: the text of the file PATH, or NIL if it has changed since it was loaded, and
its date at the load. SOURCES, debug sources of code from this load, have this date."
  (let* ((date (ignore-errors (file-write-date (sb-ext:parse-native-namestring
                                                (if *source-copy* (car *source-copy*) path)))))
         (dates (loop for source in sources
                      when (source-date source) collect (source-date source))))
    (values (and (or (null dates) (member date dates))
                 (read-text
                  (sb-ext:parse-native-namestring (if *source-copy* (car *source-copy*) path))))
            (or (first dates) date))))

(defun complete-sources (path sources)
  "Store the positions of forms in SOURCES, debug sources of the file PATH. SBCL does so only at the
end of a load. Without this, the places of code from a failed load would be unknown."
  (let ((text (loaded-text path sources)))
    (dolist (source sources)
      (when (and text +source-positions+ (null (slot-value source +source-positions+)))
        (setf (slot-value source +source-positions+) (form-positions text))))))

;;; Definitions that are part of others

(defun structure-names (symbol)
  "Return the names of the functions that DEFSTRUCT made for SYMBOL."
  (let ((description (or (ignore-errors (defstruct-description symbol))
                         (known :typed-structure :info symbol))))
    (when description
      (append (mapcar #'first (description-constructors description))
              (loop for slot in (description-slots description)
                    for accessor = (structure-slot-accessor slot)
                    collect accessor collect (list 'setf accessor))
              (list (description-copier description) (description-predicate description))))))

(defun structure-layout (definition)
  "Return a pair of the current layout of the structure of DEFINITION, and the names of the
functions that DEFSTRUCT made. Return NIL if it is no structure."
  (let* ((name (definition-name definition))
         (cell (and (eq (definition-kind definition) :class) (class-cell name)))
         (classoid (and cell (cell-classoid cell))))
    (and classoid
         (ignore-errors (defstruct-description name))
         (cons (classoid-layout classoid) (remove nil (structure-names name) :key #'name-symbol)))))

(defun made-by-methods-p (definition others)
  "True when DEFINITION is of a generic function that no DEFGENERIC made, and that has methods among
OTHERS."
  (let ((function (generic-function-named (definition-name definition))))
    (and function
         (eq function (definition-identity definition))
         (some (lambda (other)
                 (and (eq (definition-kind other) :method)
                      (eq function (sb-mop:method-generic-function (definition-identity other)))))
               others))))

(defun said-by-others-p (definition others)
  "True when DEFINITION is part of others among OTHERS: a method made by the form of a class, a
function that DEFSTRUCT made, or a generic function that methods made. Answers omit it."
  (let ((name (definition-name definition)) (identity (definition-identity definition)))
    (flet ((old-class-p (class)
             (find-if (lambda (other) (and (eq (definition-kind other) :class)
                                           (eq (definition-name other) (class-name class))))
                      others))
           (structures ()
             (loop for other in others
                   when (member (definition-kind other) '(:class :typed-structure))
                     append (structure-names (definition-name other)))))
      (case (definition-kind definition)
        (:method (some (lambda (class)
                         (let ((other (and (typep class 'class) (old-class-p class))))
                           (and other
                                (eql (definition-number definition) (definition-number other)))))
                       (sb-mop:method-specializers identity)))
        (:function (or (and (member name (structures) :test #'equal) t)
                       (made-by-methods-p definition others)))))))

(defun main-definitions (definitions)
  "Return DEFINITIONS without those that are part of others among them."
  (remove-if (lambda (definition) (said-by-others-p definition definitions)) definitions))
