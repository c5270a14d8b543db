;;;; Records the top-level forms that SBCL has evaluated or loaded, and the names that they use.

(in-package "LIVE-LISP.LOOK")

(defstruct (file-load (:constructor make-file-load (name mark created)))
  "The last load of a file.
NAME, CREATED: the name of the file, and its date at the load.
MARK: an object unique to the load.
READ: the date of the version of the file in which uses of names were found, or NIL.
STATE: :UNREAD, then T or, if the uses found may be wrong, text with the reason.
PLACES: a list of TOP-FORM structures for the forms in which uses were found.
MADE: NIL, or a hash table whose keys are the names of functions called by code that forms of the
file compiled while they ran."
  name mark created (read nil) (state :unread) (places '()) (made nil))

(defun note-made (load names)
  "Record in LOAD, the FILE-LOAD structure of a file, that its forms compiled code while they ran,
as with COMPILE, and that this code calls the functions NAMES."
  (let ((made (or (file-load-made load)
                  (setf (file-load-made load)
                        (make-hash-table :test 'equal :synchronized t)))))
    (dolist (name names) (setf (gethash name made) t))))

(defun made-call-p (load name)
  "Return true if code that the forms of a file compiled while they ran calls the function NAME.
LOAD is the FILE-LOAD structure of the file, or NIL."
  (let ((made (and load (file-load-made load))))
    (and made (gethash name made))))

(sb-ext:defglobal **sources** (make-hash-table :test 'equal :synchronized t)
  "A hash table from the names of loaded source files to their FILE-LOAD structures.")

(defstruct (top-form (:constructor make-top-form (source number &key key part form package uses)))
  "A top-level form that SBCL has run.
SOURCE, NUMBER: for a form in a file, the FILE-LOAD structure and the number of the form.
KEY, PART: for a form outside files, the list from DEFINER-KEY and the text from PART-RUN.
FORM, PACKAGE: such a form, and the package of its evaluation, until READ-DEFINER examines it.
USES: a FORM-USES structure."
  source number key part form package uses)

(defun top-form-name (place)
  "Return the name that PLACE, a TOP-FORM structure for a form outside files, defines. Return NIL
for a form in a file."
  (second (top-form-key place)))

(sb-ext:defglobal **places** (make-hash-table :test 'equal :synchronized t)
  "A hash table from names to lists of the TOP-FORM structures for forms that use them.")

(sb-ext:defglobal **definers** (make-hash-table :test 'equal :synchronized t)
  "A hash table from DEFINER-KEY lists, such as (DEFVAR *X*), to the TOP-FORM structures for forms
outside files that may be definitions.")

(defun place-there-p (place)
  "Return true if PLACE, a TOP-FORM structure, is current. It is outdated if its file was loaded
again or, for a form outside files, if a later form has defined the same name."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (eq source (gethash (file-load-name source) **sources**))
        (and (or (stringp name) (symbol-package (name-symbol name)))
             (eq place (gethash (top-form-key place) **definers**))))))

(defun note-place (place)
  "Add PLACE, a TOP-FORM structure, to the lists in **PLACES** for the names that its form uses.
Remove TOP-FORM structures that are not current from these lists."
  (flet ((note (name)
           (sb-ext:with-locked-hash-table (**places**)
             (setf (gethash name **places**)
                   (cons place (remove-if-not #'place-there-p (gethash name **places**)))))))
    (let ((uses (top-form-uses place)))
      (mapc #'note (remove (top-form-name place)
                           (remove-duplicates (append (form-uses-calls uses)
                                                      (form-uses-inner uses)
                                                      (form-uses-data uses)
                                                      (form-uses-variables uses))
                                              :test #'equal)
                           :test #'equal)))))

(defun use-kinds (place name)
  "Return a list of kinds of uses, from *USE-KINDS*: :CONSTANT if the form of PLACE, a TOP-FORM
structure, calls NAME, and :MENTION if it has NAME in its data or as a variable."
  (let* ((uses (top-form-uses place)) (data (member name (form-uses-data uses))))
    (append (and (or (member name (form-uses-calls uses) :test #'equal)
                     (member name (form-uses-inner uses) :test #'equal)
                     ;; The form has NAME in its data, and its file has compiled code that
                     ;; calls NAME.
                     (and data (made-call-p (top-form-source place) name)))
                 '(:constant))
            (and (or data (member name (form-uses-variables uses))) '(:mention)))))

;;; Evaluated forms that are not from a file

(defun definer-head-p (form)
  "Return true if FORM may be a definition: it calls a macro with a name as first argument."
  (let ((operator (first form)) (name (and (consp (rest form)) (second form))))
    (and name
         (symbolp operator)
         (or (stringp name) (and (plain-name-p name) (not (keywordp name))))
         (macro-function operator))))

(defun evaluated-definition-p (name)
  "Return true if a form outside files that may be a definition of NAME, a symbol or a string, was
evaluated."
  (sb-ext:with-locked-hash-table (**definers**)
    (loop for (nil defined) being the hash-keys of **definers**
            thereis (equal name defined))))

(defun definer-key (form)
  "Return a list of the operator of FORM, a definition, and the name in it. For a DEFMETHOD, add
text for the qualifiers and specializers. A later form with an EQUAL list replaces the definition."
  (list* (first form)
         (second form)
         (when (eq 'defmethod (first form)) (list (plain-text 500 (method-head form))))))

(defun parts-run (form)
  "Return a list of strings such as \"specializer\": the parts of FORM, a DEFMETHOD, DEFCLASS or
DEFINE-CONDITION, that are evaluated outside the functions that it defines. Else return NIL."
  (case (first form)
    (defmethod
     (append (when (load-time-forms form) '("load-time value"))
             (when (specializer-forms form) '("specializer"))))
    ((defclass define-condition)
     (append (when (some (lambda (slot) (and (consp slot) (member :initform (rest slot))))
                         (fourth form))
               '("slot initform"))
             (when (assoc :default-initargs (nthcdr 4 form)) '("default initarg"))))))

(defun part-run (form)
  "Return text for the part of FORM, a definition, that is evaluated outside the functions that it
defines, such as \"specializer\". For several such parts, return the operator of FORM in lower case.
Return NIL if there is none."
  (let ((parts (parts-run form)))
    (if (rest parts) (string-downcase (first form)) (first parts))))

(defun note-definer (form)
  "Return the TOP-FORM structure in **DEFINERS** for FORM, a definition that is evaluated outside a
file. If there is none for the same object FORM, make it. It replaces the structure of an earlier
form with the same DEFINER-KEY."
  (let* ((key (definer-key form)) (known (gethash key **definers**)))
    (if (and known (eq form (top-form-form known)))
        known
        (setf (gethash key **definers**)
              (make-top-form nil nil :key key :form form :package *package*)))))

(sb-ext:defglobal **claimed** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A weak hash table from code objects that are from no file to their makers. A maker is a TOP-FORM
structure, or the FILE-LOAD structure of the load during which the code was made.")

(defun unread-definers ()
  "Return a list of the TOP-FORM structures in **DEFINERS** whose uses of names READ-DEFINER has not
recorded yet."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**definers**)
      (loop for place being the hash-values of **definers**
            when (top-form-form place) do (push place unread)))
    (nreverse unread)))

(defun read-definer (place)
  "Record the names that the form of PLACE, a TOP-FORM structure from UNREAD-DEFINERS, uses, and
drop the form. If it is no definition after all, remove PLACE from **DEFINERS**."
  (let ((form (shiftf (top-form-form place) nil)) (name (top-form-name place))
        (key (top-form-key place))
        (*package* (if (package-name (top-form-package place)) (top-form-package place) *package*)))
    (when form
      (let* ((uses (without-traces (uses-of-parts (parts-of-form form))))
             (defined (and uses (member name (form-uses-data uses) :test #'equal))))
        (cond ((or defined (member (first key) *definers-of-functions*) (and uses (stringp name)))
               (when uses
                 (setf (top-form-part place) (part-run form)
                       (top-form-uses place) uses)
                 (note-place place)))
              ((eq place (gethash key **definers**)) (remhash key **definers**)))))))
