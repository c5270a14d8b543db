;;;; Records the top-level forms that SBCL ran, and what they use.

(in-package "LIVE-LISP.LOOK")

(defstruct (file-load (:constructor make-file-load (name mark created)))
  "The last load of a file. NAME is the file's name, CREATED the date that the file had then. MARK
is an object that is unique to the load. STATE is :UNREAD, then T when the file was read again to
its end, or a text that says why that ended early. PLACES are those of its TOP-FORMs that use
something. MADE has the names of the functions called by code that its forms made at run time."
  name mark created (state :unread) (places '()) (made '()))

(sb-ext:defglobal **sources** (make-hash-table :test 'equal :synchronized t)
  "The FILE-LOAD of each file, by the name of the file.")

(defstruct (top-form (:constructor make-top-form (source number &key key part form package uses)))
  "A top-level form that SBCL ran. A form of a file has SOURCE, a FILE-LOAD, and its NUMBER in the
file. A form of no file has a KEY, from DEFINER-KEY, and a PART, from PART-RUN. Until READ-DEFINER
has looked at it, it also has its FORM and the PACKAGE in which it was evaluated. USES is what it
uses, from USES-OF-PARTS."
  source number key part form package uses)

(defun top-form-name (place)
  "Return the name that PLACE, a top-level form, defines; NIL for one of a file."
  (second (top-form-key place)))

(sb-ext:defglobal **places** (make-hash-table :test 'equal :synchronized t)
  "A table from names to lists of the top-level forms that use them.")

(sb-ext:defglobal **definers** (make-hash-table :test 'equal :synchronized t)
  "A table from keys, from DEFINER-KEY, to the top-level forms of no file that can be definitions.")

(defun place-there-p (place)
  "True when PLACE, a TOP-FORM, is current: its file was not loaded again, and the name that the
form defines was not defined again."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (eq source (gethash (file-load-name source) **sources**))
        (and (or (stringp name) (symbol-package (name-symbol name)))
             (eq place (gethash (top-form-key place) **definers**))))))

(defun note-place (place)
  "Enter PLACE in **PLACES** under the names that it uses, and drop outdated forms of these names."
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
  "Return a list of the positions in *USE-KINDS* for how PLACE, a TOP-FORM, uses NAME: NIL when it
does not."
  (let* ((uses (top-form-uses place)) (data (member name (form-uses-data uses))))
    (append (and (or (member name (form-uses-calls uses) :test #'equal)
                     (member name (form-uses-inner uses) :test #'equal)
                     ;; The form has NAME as data, and made code that calls it.
                     (and data
                          (top-form-source place)
                          (member name (file-load-made (top-form-source place)))))
                 '(5))
            (and (or data (member name (form-uses-variables uses))) '(6)))))

;;; Forms that were evaluated, and are of no file

(defun definer-head-p (form)
  "True when FORM can be a definition: a macro call whose first argument is a name."
  (let ((operator (first form)) (name (and (consp (rest form)) (second form))))
    (and name
         (symbolp operator)
         (or (stringp name) (and (plain-name-p name) (not (keywordp name))))
         (macro-function operator))))

(defun definer-key (form)
  "Return the key of FORM, which can be a definition: a list of its operator and its name. A later
form with the same key replaces it. A name can have several methods, so the keys of methods also
have their qualifiers and specializers, as text."
  (list* (first form)
         (second form)
         (when (eq 'defmethod (first form)) (list (plain-text 500 (method-head form))))))

(defun parts-run (form)
  "Return texts for those parts of FORM, a definition, that run outside its functions. Return NIL
for operators that have only one such part."
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
  "Return a text that tells which part of FORM, a definition, runs: the one from PARTS-RUN, the
operator when there are several, or NIL when there is none."
  (let ((parts (parts-run form)))
    (if (rest parts) (string-downcase (first form)) (first parts))))

(defun note-definer (form)
  "Record FORM, which can be a definition and is evaluated outside a file, and return a TOP-FORM for
it. It replaces the recorded one with the same key. For FORM itself a second time, return the
recorded one."
  (let* ((key (definer-key form)) (known (gethash key **definers**)))
    (if (and known (eq form (top-form-form known)))
        known
        (setf (gethash key **definers**)
              (make-top-form nil nil :key key :form form :package *package*)))))

(sb-ext:defglobal **claimed** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A table from code objects of no file to what made them: a TOP-FORM, or the FILE-LOAD during which
they were made.")

(defun unread-definers ()
  "Return the top-level forms of no file whose uses are not known yet."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**definers**)
      (loop for place being the hash-values of **definers**
            when (top-form-form place) do (push place unread)))
    (nreverse unread)))

(defun read-definer (place)
  "Find out what PLACE, from UNREAD-DEFINERS, uses, and forget its form. Then forget PLACE itself
unless it is a definition: its operator is known to define, or its name is among its data."
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
