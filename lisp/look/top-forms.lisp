;;;; Records the top-level forms that were evaluated or loaded, and what they use.

(in-package "LIVE-LISP.LOOK")

(defstruct (file-load (:constructor make-file-load (name mark created)))
  "The last load of a file. NAME is the file's name, CREATED its date at the load. MARK is an object
unique to the load. STATE is :UNREAD until the agent has read the file again to find uses of names.
Then it is T, or a text that says why the result may be wrong. PLACES are the TOP-FORMs of the file
in which such uses were found. When forms of the file compile code at run time, MADE has the names
of the functions that this code calls."
  name mark created (state :unread) (places '()) (made '()))

(sb-ext:defglobal **sources** (make-hash-table :test 'equal :synchronized t)
  "A table from names of files to their FILE-LOADs.")

(defstruct (top-form (:constructor make-top-form (source number &key key part form package uses)))
  "A top-level form that SBCL has run. A form of a file has SOURCE, a FILE-LOAD, and NUMBER, its
number in the file. Other forms have KEY, from DEFINER-KEY, and PART, from PART-RUN. Until
READ-DEFINER has examined such a form, it also has FORM, and PACKAGE, in which it was evaluated.
USES is its FORM-USES."
  source number key part form package uses)

(defun top-form-name (place)
  "Return the name that PLACE, a TOP-FORM from no file, defines. Return NIL for a form of a file."
  (second (top-form-key place)))

(sb-ext:defglobal **places** (make-hash-table :test 'equal :synchronized t)
  "A table from names to lists of the TOP-FORMs that use them.")

(sb-ext:defglobal **definers** (make-hash-table :test 'equal :synchronized t)
  "A table from keys, from DEFINER-KEY, to TOP-FORMs from no file that may be definitions.")

(defun place-there-p (place)
  "True when PLACE, a TOP-FORM, is current: its file was not loaded again, or the name that it
defines was not defined again."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (eq source (gethash (file-load-name source) **sources**))
        (and (or (stringp name) (symbol-package (name-symbol name)))
             (eq place (gethash (top-form-key place) **definers**))))))

(defun note-place (place)
  "Add PLACE, a TOP-FORM, to the lists in **PLACES** of the names that it uses. Drop outdated
TOP-FORMs from these lists."
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
  "Return a list of the kinds of uses of NAME by PLACE, a TOP-FORM, as positions in *USE-KINDS*."
  (let* ((uses (top-form-uses place)) (data (member name (form-uses-data uses))))
    (append (and (or (member name (form-uses-calls uses) :test #'equal)
                     (member name (form-uses-inner uses) :test #'equal)
                     ;; The form has NAME in its data, and made code that calls NAME.
                     (and data
                          (top-form-source place)
                          (member name (file-load-made (top-form-source place)))))
                 '(5))
            (and (or data (member name (form-uses-variables uses))) '(6)))))

;;; Evaluated forms that are not from a file

(defun definer-head-p (form)
  "True when FORM may be a definition: a macro call whose first argument is a name."
  (let ((operator (first form)) (name (and (consp (rest form)) (second form))))
    (and name
         (symbolp operator)
         (or (stringp name) (and (plain-name-p name) (not (keywordp name))))
         (macro-function operator))))

(defun definer-key (form)
  "Return the key of FORM, which may be a definition: a list of its operator and its name. For a
method, the list also has the qualifiers and specializers, as text. A later form with the same key
replaces FORM."
  (list* (first form)
         (second form)
         (when (eq 'defmethod (first form)) (list (plain-text 500 (method-head form))))))

(defun parts-run (form)
  "Return a list of texts for those parts of FORM, a definition, that are evaluated outside its
functions. Return NIL for operators that have only one such part."
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
  "Return a text for the part of FORM, a definition, that is evaluated: the one from PARTS-RUN, or
the operator if there are several. Return NIL if there is none."
  (let ((parts (parts-run form)))
    (if (rest parts) (string-downcase (first form)) (first parts))))

(defun note-definer (form)
  "Record FORM, which may be a definition and is evaluated outside a file. Return a new TOP-FORM for
it, which replaces the TOP-FORM with the same key. If the old TOP-FORM has the same FORM, return the
old one instead."
  (let* ((key (definer-key form)) (known (gethash key **definers**)))
    (if (and known (eq form (top-form-form known)))
        known
        (setf (gethash key **definers**)
              (make-top-form nil nil :key key :form form :package *package*)))))

(sb-ext:defglobal **claimed** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A table from code objects from no file to what made them: a TOP-FORM, or the FILE-LOAD during
which they were made.")

(defun unread-definers ()
  "Return the TOP-FORMs from no file whose uses are not known yet."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**definers**)
      (loop for place being the hash-values of **definers**
            when (top-form-form place) do (push place unread)))
    (nreverse unread)))

(defun read-definer (place)
  "Find what PLACE, from UNREAD-DEFINERS, uses, and forget its form. Drop PLACE if it is not a
definition. It is one if its operator is in *DEFINERS-OF-FUNCTIONS*, or its name is in its data."
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
