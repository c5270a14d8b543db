;;;; Records the files loaded into this image, and the definitions that each of them made.

(in-package "LIVE-LISP.SOURCES")

(defstruct (source-file (:constructor make-source-file (path)))
  "A loaded file.
PATH: its native truename.
SERIAL: the number of the last load that ended normally, or 0.
FAILED: true if the last load did not end normally.
TEXT: the loaded text, or NIL if it is unknown.
DATE: the date of the file at the load.
COMPILED: the date of the loaded fasl, or NIL if it is unknown.
FORMER: a list of (FORM . PACKAGE) pairs, newest first. FORM is the text, from PLAIN-FORM, of a form
that an earlier text of the file had, and that may define something unknown to SBCL.
PARTS: a list of forms, as texts from PLAIN-FORM, that were loaded without the rest of the file
after TEXT was loaded.
SOURCES: a list of the debug sources of code from the last load.
DEFINITIONS: a hash table from results of DEFINITION-KEY to DEFINITION structures."
  path (serial 0) (failed nil) (text nil) (date nil) (compiled nil) (former '()) (parts '()) (sources '())
  (definitions (make-hash-table :test 'equal)))

(sb-ext:defglobal **files** (make-hash-table :test 'equal :synchronized t)
  "A hash table from the paths of loaded files, native truenames, to SOURCE-FILE structures.")
(sb-ext:defglobal **texts-read** (make-hash-table :test 'equal :synchronized t)
  "A hash table from paths of files to (DATE . TEXT) pairs: the date and text of a file when SBCL
began to compile it or to load it as source. An entry is removed when the load is recorded.")
(sb-ext:defglobal **former-texts** '()
  "A list of (PATH DATE TEXT) lists, newest first: older versions of loaded files from which code in
the image can be.")
(sb-ext:defglobal **evaluated-texts** '()
  "A list of (TEXT PACKAGE SYMBOL...) lists, newest first, for evaluated forms that may contain a
definition. TEXT is the text of the form, and PACKAGE the name of the package in which the form was
read. Each SYMBOL is one that the form changed.")
(defparameter *former-limit* 4000000 "The maximum size, in octets, of the texts in **FORMER-TEXTS**.")
(defparameter *evaluated-texts-limit* 1000 "The maximum number of forms in **EVALUATED-TEXTS**.")
(sb-ext:defglobal **serial** 0 "The number of the last recorded load.")
(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "live-lisp sources")
  "A lock that a thread holds while it records a load.")

(sb-ext:defglobal **evaluated** (make-hash-table :test 'equal :synchronized t)
  "A hash table for the definitions that evaluated forms made, from results of DEFINITION-KEY to
lists (IDENTITY TIME BY DEFINITION): an object such as the function, a universal time, the beginning
of the form's text or NIL, and the DEFINITION structure.")

(sb-ext:defglobal **variables-evaluated** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from variables that evaluated forms have set or declared special to (BY . WHAT)
pairs. BY is the beginning of the text of the last such form. WHAT is :VALUE if this form set the
variable, and :SPECIAL if this form declared the variable special.")

(sb-ext:defglobal **exported** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from symbols exported by calls of EXPORT outside a DEFPACKAGE to alists. Such
an alist has for each package the number of the last load or evaluation with such a call.")

(defparameter *evaluated-limit* 10000 "The maximum number of definitions in **EVALUATED**.")

(defvar *source-copy* nil
  "A pair (COPY . ORIGINAL) of paths while a copy of the file ORIGINAL is loaded in its place, else
NIL.")

(defun file-path (name)
  "Return the native truename of the file that SBCL calls NAME. For the copy in *SOURCE-COPY*,
return the truename of the original file."
  (let ((path (or (ignore-errors
                   (sb-ext:native-namestring
                    (truename (translate-logical-pathname (parse-namestring name)))))
                  name)))
    (if (and *source-copy* (equal path (car *source-copy*))) (cdr *source-copy*) path)))

(defun known-file (path)
  "Return the SOURCE-FILE structure of PATH, a native truename. If there is none, make it."
  (or (gethash path **files**)
      (setf (gethash path **files**) (make-source-file path))))

(defun loaded-date (path)
  "Return the date that the file PATH, a native truename, had when it was loaded last. Return NIL if
this date is unknown."
  (let ((file (gethash path **files**)))
    (and file (source-file-date file))))

(defun known-text (path)
  "Return the text that the file PATH, a native truename, had when it was loaded. Return NIL if this
text is unknown."
  (let ((file (gethash path **files**)))
    (and file (source-file-text file))))

(defun keep-text (path)
  "Record the present text of the file PATH, a native truename, as the loaded text. Use this for a
load that was not recorded."
  (let ((file (known-file path)) (pathname (sb-ext:parse-native-namestring path)))
    (set-text file (read-text pathname) (ignore-errors (file-write-date pathname)))))

(defun beginning-of (text)
  "Return the beginning of TEXT, an evaluated form, on one line."
  (shortened 80 (on-one-line text)))

(defun evaluation-text (by)
  "Return text for the evaluated form that begins with BY."
  (format nil "the evaluated form ~A" by))

(defun keep-evaluated (text package changed)
  "TEXT is the text of an evaluated form, PACKAGE the name of the package in which the form was
read, and CHANGED a list of the symbols that the form changed. Add these to **EVALUATED-TEXTS** if
the form may contain a definition."
  (when (or (search "def" text :test #'char-equal) (search "setf" text :test #'char-equal))
    (push (list* text package changed) **evaluated-texts**)
    (let ((last (nthcdr (1- *evaluated-texts-limit*) **evaluated-texts**)))
      (when last (setf (rest last) '())))))

(defun keep-former-text (path date text)
  "Add TEXT, the version of the file PATH with the date DATE, to **FORMER-TEXTS**. Do nothing if
DATE or TEXT is NIL."
  (when (and date text)
    (push (list path date text) **former-texts**)
    (loop for rest on **former-texts**
          sum (length (third (first rest))) into size
          when (> size *former-limit*) do (setf (rest rest) '()))))

(defun version-date (path date text)
  "Return the date that identifies TEXT, a version of the file PATH, a native truename with the
write date DATE. This is DATE, unless another version has it already, since dates are whole seconds.
Then return the next date without another version."
  (let* ((file (gethash path **files**))
         (versions (list* (list path (and file (source-file-date file))
                                (and file (source-file-text file)))
                          **former-texts**)))
    (loop while (loop for (of taken other) in versions
                        thereis (and (eql date taken) (equal path of) (not (equal text other))))
          do (incf date)
          finally (return date))))

(defun set-text (file text date)
  "Record TEXT and DATE, which can be NIL, as the text and date of the version of the file FILE that
was loaded to its end last."
  (unless (eql date (source-file-date file))
    (keep-former-text (source-file-path file) (source-file-date file) (source-file-text file)))
  (setf (source-file-text file) text (source-file-date file) date (source-file-parts file) '()))

(defun note-read (file)
  "Record in **TEXTS-READ** the date and text of FILE, a truename, which SBCL begins to read."
  (setf (gethash (sb-ext:native-namestring file) **texts-read**)
        (cons (file-write-date file) (read-text file))))

(defun loaded-paths ()
  "Return a list of the paths of the loaded files whose texts are known."
  (loop for file being the hash-values of **files**
        when (source-file-text file) collect (source-file-path file)))

(define-operation ("loaded-below" :gives boolean)
    ((folders (list string) "Native truenames of folders, with a slash at the end."))
  "Return true if a load of a file in one of FOLDERS has begun or ended."
  (loop for path being the hash-keys of **files**
          thereis (loop for folder in folders
                        thereis (eql (mismatch folder path) (length folder)))))

(setf **text-as-loaded**
      (lambda (path date)
        (let ((file (gethash path **files**)) (read (gethash path **texts-read**)))
          (cond ((and file (eql date (source-file-date file))) (source-file-text file))
                ((third (find-if (lambda (former)
                                   (and (eql date (second former)) (equal path (first former))))
                                 **former-texts**)))
                ((eql date (car read)) (cdr read)))))
      **version-as-loaded**
      (lambda (path created)
        (let* ((file (gethash path **files**)) (last (and file (source-file-text file)))
               (text (if created (funcall **text-as-loaded** path created) last))
               (mark (and text (mark-of text))) (latest (and last (mark-of last))))
          (values (or created (and last (source-file-date file)))
                  mark
                  (and (not (equal mark latest)) latest)))))

(defun text-marked (path mark)
  "Return a loaded text of the file PATH, a native truename, that has MARK, a string from MARK-OF.
Return NIL if there is none."
  (let ((file (gethash path **files**)))
    (find-if (lambda (text) (and text (marked-p text mark)))
             (list* (and file (source-file-text file))
                    (cdr (gethash path **texts-read**))
                    (loop for (former nil text) in **former-texts**
                          when (equal path former) collect text)))))

(define-shape loaded-text ()
  "A text that the image has loaded, with a character for each octet, and the features under which
  it was read. `text` is absent when the server has it, and both are when it is no longer kept."
  (text string :optional) (features (list string) :optional))

(define-operation ("loaded-texts" :gives (list loaded-text))
    ((versions (list (object (file string) (mark string) (now string)))
      "Files, each with the mark of a text that was loaded of it, and the digest of its text now."))
  "Return for each of VERSIONS the text that was loaded, unless its digest is the present one."
  (loop for version in versions
        for text = (text-marked (gethash "file" version) (gethash "mark" version))
        for reading = (and text (gethash text **readings**))
        collect (object "features" (and text (feature-names (reading-features reading)))
                        "text" (and text
                                    (not (equal (gethash "now" version) (reading-digest reading)))
                                    text))))

(defun map-file-definitions (visit file)
  "Call the function VISIT with each DEFINITION structure of FILE, a SOURCE-FILE structure."
  (maphash (lambda (key definition) (declare (ignore key)) (funcall visit definition))
           (source-file-definitions file)))

(defun definitions-if (wanted file)
  "Return a list of the definitions of the file FILE that satisfy the predicate WANTED."
  (let ((found '()))
    (map-file-definitions (lambda (definition)
                            (when (funcall wanted definition) (push definition found)))
                          file)
    found))

(defun not-made-again-p (definition file)
  "Return true if DEFINITION belongs to the file FILE, but the last load of FILE did not make it
again."
  (< (definition-serial definition) (source-file-serial file)))

(defun same-method-p (one other)
  "Return true if ONE and OTHER, methods of one generic function, have the same qualifiers and
specializers."
  (and (equal (method-qualifiers one) (method-qualifiers other))
       (equal (sb-mop:method-specializers one) (sb-mop:method-specializers other))))

(defun for-same-method-p (definition other)
  "Return true if the definition OTHER is of a method with the same generic function, qualifiers and
specializers as the method of DEFINITION."
  (and (eq (definition-kind other) :method)
       (equal (definition-name definition) (definition-name other))
       (same-method-p (definition-identity definition) (definition-identity other))))

(defun same-in-file (definition file)
  "Return the definition of the file FILE with the kind and name of DEFINITION. If DEFINITION is a
method, the qualifiers and specializers must be the same too. Return NIL if FILE has no such
definition, or if the last load of FILE did not make it."
  (let ((same (if (eq (definition-kind definition) :method)
                  (first (definitions-if (lambda (other) (for-same-method-p definition other)) file))
                  (gethash (key-of definition) (source-file-definitions file)))))
    (and same (not (not-made-again-p same file)) same)))

(defun made-elsewhere-p (definition file)
  "Return true if the last load of another file than FILE, or a form that was evaluated later, has
also made DEFINITION of the file FILE. This is possible only for a definition whose identity stays
the same when the definition is made again: a package, an export, or a function that was set to an
existing function."
  (flet ((same-p (other)
           (and other (eq (definition-identity other) (definition-identity definition)))))
    (or (loop with key = (key-of definition)
              for other being the hash-values of **files**
              for made = (and (not (eq other file)) (gethash key (source-file-definitions other)))
              thereis (and (same-p made) (not (not-made-again-p made other))))
        (let ((evaluated (fourth (gethash (key-of definition) **evaluated**))))
          (and (same-p evaluated)
               (> (definition-serial evaluated) (definition-serial definition)))))))

(defun note-exported (exported serial)
  "Record in **EXPORTED** that the load or evaluation with the number SERIAL has exported symbols by
calls of EXPORT. EXPORTED is a list of (PACKAGE SYMBOL...) lists, the slot EXPORTED of a TOUCHED
structure."
  (loop for (package . symbols) in exported
        do (dolist (symbol symbols)
             (when (symbolp symbol)
               (setf (gethash symbol **exported**)
                     (acons package serial
                            (remove package (gethash symbol **exported**)
                                    :key #'car :test #'eq)))))))

(defun exported-since-p (definition)
  "Return true if DEFINITION is of an export that a call of EXPORT outside a DEFPACKAGE made again,
in the same load or a later one."
  (and (eq (definition-kind definition) :export)
       (let ((last (assoc (definition-identity definition)
                          (gethash (definition-name definition) **exported**)
                          :test #'eq)))
         (and last (>= (cdr last) (definition-serial definition))))))

(defun kept-by-methods-p (definition file)
  "Return true if DEFINITION of the file FILE is of a generic function that has methods from other
files, or methods that the last load of FILE made again."
  (notevery (lambda (method)
              (let ((made (gethash method (source-file-definitions file))))
                (and made (not-made-again-p made file))))
            (methods-of-definition definition)))

(defun old-p (definition file)
  "Return true if the image still has DEFINITION of the file FILE, although the last load of FILE
did not make it again."
  (and (not-made-again-p definition file)
       (current-p definition)
       (not (kept-by-methods-p definition file))
       (not (exported-since-p definition))
       (not (made-elsewhere-p definition file))))

(defun old-definitions (file)
  "Return a sorted list of the definitions of the file FILE that its last load did not make again,
although the image still has them. Remove definitions from FILE that the image no longer has."
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

(defun definition-text (definition)
  "Return text that names DEFINITION with its kind."
  (format nil "~A ~A" (kind-text (definition-kind definition) (definition-name definition))
          (item-name definition)))

(defun sort-definitions (definitions)
  "Return the list DEFINITIONS sorted by the texts that answers show for them."
  (mapcar #'cdr (sort (loop for definition in definitions
                            collect (cons (definition-text definition) definition))
                      #'string< :key #'car)))

(defun loaded-text (file sources &optional compiled)
  "Return two values: the text of the just loaded file FILE, or NIL if the file may have changed
since, and its date at the load. SOURCES lists debug sources, with this date, of code from the load.
COMPILED is the date of the loaded fasl, or NIL."
  (let* ((name (if (equal (source-file-path file) (cdr *source-copy*))
                   (car *source-copy*)
                   (source-file-path file)))
         (path (sb-ext:parse-native-namestring name))
         (read (gethash name **texts-read**))
         (date (if read (car read) (ignore-errors (file-write-date path))))
         (dates (loop for source in sources
                      when (source-date source) collect (source-date source))))
    (remhash name **texts-read**)
    (if (and compiled (not read) (eql compiled (source-file-compiled file)))
        ;; The same fasl was loaded again. The file may have changed in the second of its date.
        (values (source-file-text file) (source-file-date file))
        (values (and date
                     (if dates (member date dates) (or (null compiled) (<= date compiled)))
                     ;; Another image may have compiled the file before a change in the same second.
                     (or read (not (eql date compiled)))
                     (if read (cdr read) (read-text path)))
                (or (first dates)
                    (if (and date compiled) (min date compiled) date))))))

(defun complete-sources (file sources)
  "Store the positions of forms in SOURCES, a list of debug sources of the file FILE. SBCL stores
these positions only at the end of a load. Without this function, the positions of code from a
failed load would be unknown."
  (multiple-value-bind (text date) (loaded-text file sources)
    (keep-former-text (source-file-path file) date text)
    (dolist (source sources)
      (when (and text +source-positions+ (null (slot-value source +source-positions+)))
        (setf (slot-value source +source-positions+) (form-positions text))))))

;;; Definitions that are part of other definitions

(defun structure-names (symbol)
  "Return a list of the names of the functions that DEFSTRUCT made for the structure SYMBOL."
  (let ((description (or (ignore-errors (defstruct-description symbol))
                         (known :typed-structure :info symbol))))
    (when description
      (append (mapcar #'first (description-constructors description))
              (loop for slot in (description-slots description)
                    for accessor = (structure-slot-accessor slot)
                    collect accessor collect (list 'setf accessor))
              (list (description-copier description) (description-predicate description))))))

(defun structure-layout (definition)
  "Return a pair of the layout of the structure of DEFINITION, and a list of the names of the
functions that its DEFSTRUCT made. Return NIL if DEFINITION is of no structure."
  (let* ((name (definition-name definition))
         (cell (and (eq (definition-kind definition) :class) (class-cell name)))
         (classoid (and cell (cell-classoid cell))))
    (and classoid
         (ignore-errors (defstruct-description name))
         (cons (classoid-layout classoid) (remove nil (structure-names name) :key #'name-symbol)))))

(defun made-by-methods-p (definition others)
  "Return true if DEFINITION is of a generic function without a DEFGENERIC, and the list OTHERS has
a definition of one of its methods."
  (let ((function (generic-function-named (definition-name definition))))
    (and function
         (eq function (definition-identity definition))
         (some (lambda (other)
                 (and (eq (definition-kind other) :method)
                      (eq function (sb-mop:method-generic-function (definition-identity other)))))
               others))))

(defun said-by-others-p (definition others)
  "Return true if answers leave out DEFINITION because it is part of a definition in the list
OTHERS. DEFINITION is then a method made by the form of a class, a function made by a DEFSTRUCT, or
a generic function made by a DEFMETHOD."
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
                                ;; An evaluated form has no number.
                                (or (typep identity 'sb-mop:standard-accessor-method)
                                    (eql (definition-number definition)
                                         (definition-number other))))))
                       (sb-mop:method-specializers identity)))
        (:function (or (and (member name (structures) :test #'equal) t)
                       (made-by-methods-p definition others)))))))

(defun main-definitions (definitions)
  "Return a list of those DEFINITIONS that are not part of another one among them."
  (remove-if (lambda (definition) (said-by-others-p definition definitions)) definitions))
