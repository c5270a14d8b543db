;;;; The files that were loaded into this image, and what each defined.

(in-package "LIVE-LISP.SOURCES")

(defstruct (source-file (:constructor make-source-file (path)))
  "A file that was loaded. PATH is its native true name. SERIAL is the number of the last load that ended well, 0 before
the first. FAILED is true when the last one did not. TEXT is what was loaded then, or NIL when that is not known, DATE the file's date. SOURCES are what
the debugger knows of the code of the last load."
  path (serial 0) (failed nil) (text nil) (date nil) (sources '()) (definitions (make-hash-table :test 'equal)))

(sb-ext:defglobal **files** (make-hash-table :test 'equal :synchronized t) "The files that were loaded, by path.")
(sb-ext:defglobal **unnoted-texts** (make-hash-table :test 'equal :synchronized t)
  "The texts, as they were loaded, of files of which no load was noted, by path.")
(sb-ext:defglobal **serial** 0 "The number of the load that was noted last.")
(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "live-lisp sources") "Held while a load is noted.")

(sb-ext:defglobal **evaluated** (make-hash-table :test 'equal :synchronized t)
  "What was defined from no file, by its key. Each is a list of the identity, the time, the beginning of the form or NIL,
and the definition.")

(defparameter *evaluated-limit* 10000 "How many definitions from no file are kept.")

(defvar *source-copy* nil "A pair of the paths of a copy and of the file that it stands for, or NIL.")

(defun file-path (name)
  "Return the native true name of the file that SBCL calls NAME; the file of a copy."
  (let ((path (or (ignore-errors
                   (sb-ext:native-namestring (truename (translate-logical-pathname (parse-namestring name)))))
                  name)))
    (if (and *source-copy* (equal path (car *source-copy*))) (cdr *source-copy*) path)))

(defun known-file (path)
  "Return what is known of the file PATH, a native true name, anew when there is nothing yet."
  (or (gethash path **files**)
      (setf (gethash path **files**) (make-source-file path))))

(defun known-text (path)
  "Return the text of the file PATH, a native true name, as it was loaded, or NIL when that is not known."
  (let ((file (gethash path **files**)))
    (or (and file (source-file-text file)) (gethash path **unnoted-texts**))))

(defun keep-text (path)
  "Keep that the file PATH, a native true name, was loaded as it is now, though no load of it was noted."
  (setf (gethash path **unnoted-texts**) (read-text (sb-ext:parse-native-namestring path))))

(defun loaded-paths ()
  "Return the paths of the files that were loaded and whose text is known."
  (loop for file being the hash-values of **files** when (source-file-text file) collect (source-file-path file)))

(define-operation "loaded-below" (folders)
  "True when a file in one of FOLDERS, native true names that end with a slash, was loaded or begun to be loaded."
  (loop for path being the hash-keys of **files**
          thereis (loop for folder in folders thereis (eql (mismatch folder path) (length folder)))))

(setf **text-as-loaded** (lambda (path date)
                            (let ((file (gethash path **files**)))
                              (and file (eql date (source-file-date file)) (source-file-text file)))))

(defun map-file-definitions (visit file)
  "Call VISIT with each definition of FILE."
  (maphash (lambda (key definition) (declare (ignore key)) (funcall visit definition))
           (source-file-definitions file)))

(defun exported-elsewhere-p (definition file)
  "True when the last load of another file than FILE exported what DEFINITION did."
  (let ((key (definition-key :export (definition-name definition) (definition-identity definition))))
    (loop for other being the hash-values of **files**
          for same = (and (not (eq other file)) (gethash key (source-file-definitions other)))
          thereis (and same (>= (definition-serial same) (source-file-serial other))))))

(defun old-p (definition file)
  "True when the image has DEFINITION, which the last load of FILE did not make any more."
  (and (< (definition-serial definition) (source-file-serial file))
       (current-p definition)
       (not (kept-by-methods-p definition))
       (not (and (eq (definition-kind definition) :export) (exported-elsewhere-p definition file)))))

(defun old-definitions (file)
  "Return what the image has of FILE and its last load did not define any more, in the order of its kinds and names.
What the image has no more is forgotten."
  (let ((old '()) (gone '()))
    (map-file-definitions (lambda (definition)
                            (cond ((old-p definition file) (push definition old))
                                  ((and (< (definition-serial definition) (source-file-serial file))
                                        (not (current-p definition)))
                                   (push definition gone))))
                          file)
    (dolist (definition gone)
      (remhash (key-of definition) (source-file-definitions file)))
    (sort-definitions old)))

(defun sort-definitions (definitions)
  "Return DEFINITIONS in the order of how they read."
  (flet ((text (definition)
           (format nil "~A ~A" (kind-text (definition-kind definition) (definition-name definition))
                   (item-name definition))))
    (mapcar #'cdr (sort (loop for definition in definitions collect (cons (text definition) definition))
                        #'string< :key #'car))))

(defun loaded-text (path sources)
  "Return the text of the file PATH, whose code is from SOURCES, and its date. It is NIL when it is not what was loaded."
  (let* ((date (ignore-errors (file-write-date (sb-ext:parse-native-namestring (if *source-copy* (car *source-copy*) path)))))
         (dates (loop for source in sources when (source-date source) collect (source-date source))))
    (values (and (or (null dates) (member date dates))
                 (read-text (sb-ext:parse-native-namestring (if *source-copy* (car *source-copy*) path))))
            (or (first dates) date))))

(defun complete-sources (path sources)
  "Let SBCL know where the forms of the file PATH are, whose code is from SOURCES. It notes that at the end of a load, and
tells of no place before."
  (let ((text (loaded-text path sources)))
    (dolist (source sources)
      (when (and text +source-positions+ (null (slot-value source +source-positions+)))
        (setf (slot-value source +source-positions+) (form-positions text))))))

;;; What goes without saying

(defun structure-names (symbol)
  "Return the names of the functions that the structure SYMBOL made."
  (let ((description (or (ignore-errors (defstruct-description symbol)) (known :typed-structure :info symbol))))
    (when description
      (append (mapcar #'first (description-constructors description))
              (loop for slot in (description-slots description)
                    for accessor = (structure-slot-accessor slot)
                    collect accessor collect (list 'setf accessor))
              (list (description-copier description) (description-predicate description))))))

(defun structure-layout (definition)
  "Return the layout of the structure of DEFINITION as it is now, and the names of the functions that it made, in a pair. Return
NIL for anything else."
  (let* ((name (definition-name definition))
         (cell (and (eq (definition-kind definition) :class) (class-cell name)))
         (classoid (and cell (cell-classoid cell))))
    (and classoid
         (ignore-errors (defstruct-description name))
         (cons (classoid-layout classoid) (remove nil (structure-names name) :key #'name-symbol)))))

(defun said-by-others-p (definition others)
  "True when DEFINITION is part of a class or a structure among OTHERS, and goes without saying."
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
        (:function (and (member name (structures) :test #'equal) t))))))

(defun main-definitions (definitions)
  "Return those of DEFINITIONS that are not part of others."
  (remove-if (lambda (definition) (said-by-others-p definition definitions)) definitions))
