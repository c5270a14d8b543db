;;;; Top-level forms that SBCL ran, and what they use.

(in-package "LIVE-LISP.LOOK")

(defstruct (file-load (:constructor make-file-load (name mark created)))
  "A file that was loaded, as it was when it was CREATED. MARK tells this time from others. STATE is :UNREAD until it was
read again, then T, or a text that says why that ended early. PLACES are its forms that use something, MADE the names of
functions that code calls which they made."
  name mark created (state :unread) (places '()) (made '()))

(sb-ext:defglobal **sources** (make-hash-table :test 'equal :synchronized t)
  "What is known of the last load of each file, by the name of the file.")

(defstruct (top-form (:constructor make-top-form (source number &key key part form package uses)))
  "A top-level form that SBCL ran. Of a file, it has its SOURCE and its NUMBER there. Else it has a KEY, of which the first
are its operator and name, PART, a text for what of it runs, or NIL, and until somebody asks its FORM and the PACKAGE in
which that was evaluated. USES is what it uses, from USES-OF-PARTS."
  source number key part form package uses)

(defun top-form-name (place)
  "Return the name that PLACE, which is of no file, defines, or NIL."
  (second (top-form-key place)))

(sb-ext:defglobal **places** (make-hash-table :test 'equal :synchronized t)
  "The top-level forms that use a name, by that.")

(sb-ext:defglobal **definers** (make-hash-table :test 'equal :synchronized t)
  "The top-level forms without a file that can define a name, by their keys.")

(defun place-there-p (place)
  "True when PLACE is the last that was there: its file was not loaded again, nor its name defined again."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (eq source (gethash (file-load-name source) **sources**))
        (and (or (stringp name) (symbol-package (name-key name)))
             (eq place (gethash (top-form-key place) **definers**))))))

(defun note-place (place)
  "Note what PLACE uses. What is there no more is forgotten of these names."
  (flet ((note (name)
           (sb-ext:with-locked-hash-table (**places**)
             (setf (gethash name **places**)
                   (cons place (remove-if-not #'place-there-p (gethash name **places**)))))))
    (let ((uses (top-form-uses place)))
      (mapc #'note (remove (top-form-name place)
                           (remove-duplicates (append (form-uses-calls uses) (form-uses-inner uses) (form-uses-data uses)
                                                      (form-uses-variables uses))
                                              :test #'equal)
                           :test #'equal)))))

(defun use-kinds (place name)
  "Return the positions in *USE-KINDS* of how PLACE uses NAME."
  (let* ((uses (top-form-uses place)) (data (member name (form-uses-data uses))))
    (append (and (or (member name (form-uses-calls uses) :test #'equal)
                     (member name (form-uses-inner uses) :test #'equal)
                     ;; What it has as data, it made code of.
                     (and data (top-form-source place) (member name (file-load-made (top-form-source place)))))
                 '(5))
            (and (or data (member name (form-uses-variables uses))) '(6)))))

;;; Forms that were evaluated, and are of no file

(defun definer-head-p (form)
  "True when FORM can be a definition: a macro call that begins with a name."
  (let ((operator (first form)) (name (and (consp (rest form)) (second form))))
    (and name
         (symbolp operator)
         (or (stringp name) (and (plain-name-p name) (not (keywordp name))))
         (macro-function operator))))

(defun definer-key (form)
  "Return what FORM, which can be a definition, is known by: its operator and its name. Another of the same key takes its
place. A name can have several methods, so of those the qualifiers and specializers are in it too, as text."
  (list* (first form)
         (second form)
         (when (eq 'defmethod (first form)) (list (plain-text 500 (method-head form))))))

(defun parts-run (form)
  "Return texts for the parts of FORM, a definition, that SBCL runs apart from its functions, when it can have several."
  (case (first form)
    (defmethod
     (append (when (load-time-forms form) '("load-time value"))
             (when (specializer-forms form) '("specializer"))))
    ((defclass define-condition)
     (append (when (some (lambda (slot) (and (consp slot) (member :initform (rest slot)))) (fourth form)) '("slot initform"))
             (when (assoc :default-initargs (nthcdr 4 form)) '("default initarg"))))))

(defun part-run (form)
  "Return a text for the part of FORM, a definition, that runs. Where that may be any of several it is the operator, and NIL
where the operator says it."
  (let ((parts (parts-run form)))
    (if (rest parts) (string-downcase (first form)) (first parts))))

(defun note-definer (form)
  "Note that FORM, which can be a definition and is of no file, is evaluated, and return its place. It takes that of the last of
its key."
  (let* ((key (definer-key form)) (known (gethash key **definers**)))
    (if (and known (eq form (top-form-form known)))
        known
        (setf (gethash key **definers**) (make-top-form nil nil :key key :form form :package *package*)))))

(sb-ext:defglobal **claimed** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "What speaks for a piece of code of no file, by that: the top-level form that made it, or the load while which it was made.")

(defun unread-definers ()
  "Return the top-level forms without a file of which nobody asked yet what they use."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**definers**)
      (loop for place being the hash-values of **definers**
            when (top-form-form place) do (push place unread)))
    (nreverse unread)))

(defun read-definer (place)
  "Find out what PLACE, of UNREAD-DEFINERS, uses, and forget its form. It stays when it tells somebody the name that it
defines."
  (let ((form (shiftf (top-form-form place) nil)) (name (top-form-name place)) (key (top-form-key place))
        (*package* (if (package-name (top-form-package place)) (top-form-package place) *package*)))
    (when form
      (let* ((uses (without-traces (uses-of-parts (parts-of-form form)))) (defined (and uses (member name (form-uses-data uses) :test #'equal))))
        (cond ((or defined (member (first key) *definers-of-functions*) (and uses (stringp name)))
               (when uses
                 (setf (top-form-part place) (part-run form)
                       (top-form-uses place) uses)
                 (note-place place)))
              ((eq place (gethash key **definers**)) (remhash key **definers**)))))))
