;;;; Records the top-level forms that SBCL has evaluated or loaded, and the names that they use.
;;;; When code is made or run, loads.lisp records only the evaluated form (NOTE-DEFINER) or the
;;;; FILE-LOAD. When a request needs the names, reread.lisp finds them: by READ-DEFINER for an
;;;; evaluated form, or by reading the file. NOTE-TOP-FORM then puts them into **FORMS-USING**.
;;;; FORM-USES is defined in walk.lisp, *USE-KINDS* in uses.lisp.

(in-package "LIVE-LISP.LOOK")

(defstruct (file-load (:constructor make-file-load (name mark created)))
  "The last load of a file.
NAME: the name of the file.
MARK: an object unique to the load.
CREATED: the write date of the file at the load.
READ: the write date of the version that the backend has read again to find uses of names, or NIL.
STATE: :UNREAD before this reading, then T, or text with the reason why the result may be wrong.
FORMS: a list of the TOP-FORM structures for forms of the file in which uses were found.
MADE: NIL, or a hash table whose keys are the names of functions that run-time code calls. Run-time
code is what forms of the file compiled while they ran, for example with COMPILE."
  name mark created (read nil) (state :unread) (forms '()) (made nil))

(defun note-made (load names)
  "LOAD is the FILE-LOAD structure of a file. While a form of this file ran, it compiled code, for
example with COMPILE. This code calls the functions NAMES, a list. Record NAMES in LOAD."
  (let ((made (or (file-load-made load)
                  (setf (file-load-made load)
                        (make-hash-table :test 'equal :synchronized t)))))
    (dolist (name names) (setf (gethash name made) t))))

(defun made-call-p (load name)
  "Return true if code that NOTE-MADE has recorded in LOAD calls the function NAME. LOAD is a
FILE-LOAD structure or NIL."
  (let ((made (and load (file-load-made load))))
    (and made (gethash name made))))

(sb-ext:defglobal **sources** (make-hash-table :test 'equal :synchronized t)
  "A hash table from the names of loaded source files to their FILE-LOAD structures.")

(defstruct (top-form (:constructor make-top-form (source number &key key part form package uses)))
  "A top-level form that SBCL has run.
SOURCE, NUMBER: for a form in a file, the FILE-LOAD structure of the file, and the form's number.
KEY, PART: for a form outside files, the list from DEFINER-KEY, and the text from PART-RUN.
FORM, PACKAGE: for a form outside files that READ-DEFINER has not examined yet, the form itself, and
the package in which it was evaluated.
USES: a FORM-USES structure."
  source number key part form package uses)

(defun top-form-name (top-form)
  "Return the name that TOP-FORM, a form outside files, defines. Return NIL for a form in a file."
  (second (top-form-key top-form)))

(sb-ext:defglobal **forms-using** (make-hash-table :test 'equal :synchronized t)
  "A hash table from a name to a list of the TOP-FORM structures for forms that use the name.")

(sb-ext:defglobal **definers** (make-hash-table :test 'equal :synchronized t)
  "A hash table from DEFINER-KEY lists, such as (DEFVAR *X*), to TOP-FORM structures. Each is for a
form that is from no file and may be a definition.")

(defun top-form-current-p (top-form)
  "Return true if TOP-FORM, a TOP-FORM structure, is current. A form in a file is no longer current
once the file is loaded again, and a form outside files once a later form with the same DEFINER-KEY
was evaluated, or the symbol that it defines was uninterned."
  (let ((source (top-form-source top-form)) (name (top-form-name top-form)))
    (if source
        (eq source (gethash (file-load-name source) **sources**))
        (and (or (stringp name) (symbol-package (name-symbol name)))
             (eq top-form (gethash (top-form-key top-form) **definers**))))))

(defun note-top-form (top-form)
  "TOP-FORM is a TOP-FORM structure. Add it to the lists in **FORMS-USING** for the names that it
uses. Remove TOP-FORM structures that are not current from these lists."
  (flet ((note (name)
           (sb-ext:with-locked-hash-table (**forms-using**)
             (setf (gethash name **forms-using**)
                   (cons top-form
                         (remove-if-not #'top-form-current-p (gethash name **forms-using**)))))))
    (let ((uses (top-form-uses top-form)))
      (mapc #'note (remove (top-form-name top-form)
                           (remove-duplicates (append (form-uses-calls uses)
                                                      (form-uses-inner uses)
                                                      (form-uses-data uses)
                                                      (form-uses-variables uses))
                                              :test #'equal)
                           :test #'equal)))))

(defun use-kinds (top-form name)
  "Return a list of the kinds, from *USE-KINDS*, of the uses of NAME in TOP-FORM. A call of
NAME has the kind :CONSTANT here, like other uses of NAME as a function. NAME in data or as a
variable has the kind :MENTION."
  (let* ((uses (top-form-uses top-form)) (data (member name (form-uses-data uses))))
    (append (and (or (member name (form-uses-calls uses) :test #'equal)
                     (member name (form-uses-inner uses) :test #'equal)
                     ;; The form contains NAME as data, and its file has compiled code that
                     ;; calls NAME.
                     (and data (made-call-p (top-form-source top-form) name)))
                 '(:constant))
            (and (or data (member name (form-uses-variables uses))) '(:mention)))))

;;; Evaluated forms that are not from a file

(defun definer-head-p (form)
  "Return true if FORM may be a definition: it calls a macro with a name as first argument. Return
NIL for a dotted or circular list."
  (let ((operator (first form)) (name (and (proper-length form) (second form))))
    (and name
         (symbolp operator)
         (or (stringp name) (and (plain-name-p name) (not (keywordp name))))
         (macro-function operator))))

(defun evaluated-definition-p (name)
  "NAME is a symbol or a string. Return true if a form that may define NAME was evaluated, and this
form is from no file."
  (sb-ext:with-locked-hash-table (**definers**)
    (loop for (nil defined) being the hash-keys of **definers**
            thereis (equal name defined))))

(defun definer-key (form)
  "FORM may be a definition. Return its key in the table **DEFINERS**: a list of its operator, its
name and, for a DEFMETHOD, its qualifiers and specializers as text. A later form with an EQUAL key
replaces FORM."
  (list* (first form)
         (second form)
         (when (eq 'defmethod (first form)) (list (plain-text 500 (method-head form))))))

(defun parts-run (form)
  "Return a list of strings, such as \"specializer\", for the parts of FORM, a definition, that are
evaluated outside the functions that it defines. Only DEFMETHOD, DEFCLASS and DEFINE-CONDITION have
such parts here."
  (case (first form)
    (defmethod
     (append (when (load-time-forms form) '("load-time value"))
             (when (specializer-forms form) '("specializer"))))
    ((defclass define-condition)
     (append (when (find-if (lambda (slot)
                              (and (consp slot)
                                   (proper-length slot)
                                   (member :initform (rest slot))))
                            (and (proper-length (fourth form)) (fourth form)))
               '("slot initform"))
             (when (find-if (lambda (option) (typep option '(cons (eql :default-initargs))))
                            (nthcdr 4 form))
               '("default initarg"))))))

(defun part-run (form)
  "Return a string for the part of FORM, a definition, that is evaluated outside the functions that
it defines, such as \"specializer\". If there are several such parts, return the operator of FORM in
lower case. If there is none, return NIL."
  (let ((parts (parts-run form)))
    (if (rest parts) (string-downcase (first form)) (first parts))))

(defun note-definer (form)
  "FORM is a definition that is evaluated outside a file. Return the TOP-FORM structure in
**DEFINERS** whose form is EQ to FORM. If there is none, make one. It replaces the structure of an
earlier form with the same DEFINER-KEY."
  (let* ((key (definer-key form)) (known (gethash key **definers**)))
    (if (and known (eq form (top-form-form known)))
        known
        (setf (gethash key **definers**)
              (make-top-form nil nil :key key :form form :package *package*)))))

(sb-ext:defglobal **claimed** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A weak hash table that maps each code object that was not compiled from a file to its maker. The
maker is the TOP-FORM structure of an evaluated form, or the FILE-LOAD structure of the load during
which the code was made.")

(defun unread-definers ()
  "Return a list of the TOP-FORM structures in **DEFINERS** whose forms READ-DEFINER has not
examined yet."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**definers**)
      (loop for top-form being the hash-values of **definers**
            when (top-form-form top-form) do (push top-form unread)))
    (nreverse unread)))

(defvar *began* nil
  "The internal real time at which this thread began to answer a request. WITH-INDEX binds it.")

(defun throws ()
  "Return how often the job of this thread was interrupted."
  (if *job* (job-throws *job*) 0))

(defun most-of-time-p (start)
  "Return true if more than half of the time since *BEGAN* came after START, an internal real time."
  (let ((now (get-internal-real-time)))
    (> (* 2 (- now start)) (- now *began*))))

(defmacro reading-again ((again) &body body)
  "Evaluate BODY, which reads forms again and runs macros of the program. If an interrupt ends BODY,
evaluate AGAIN, so that the next request reads these forms. But do not evaluate AGAIN if BODY has
taken most of the time since *BEGAN*: BODY would probably take too long for the next request, too."
  (let ((start (gensym)) (throws (gensym)))
    `(let ((,start (get-internal-real-time)) (,throws (throws)))
       (unwind-protect (progn ,@body)
         (unless (or (= ,throws (throws)) (most-of-time-p ,start))
           ,again)))))

(defun read-definer (top-form)
  "TOP-FORM is a TOP-FORM structure from UNREAD-DEFINERS. Record the names that its form uses, and
remove the form from it. If the form turns out to be no definition, remove TOP-FORM from
**DEFINERS**. The form is a definition in three cases: its operator is in *DEFINERS-OF-FUNCTIONS*;
its expansion contains the defined name (TOP-FORM-NAME) as quoted data; or the defined name is a
string, and the form uses any names."
  (let* ((form (shiftf (top-form-form top-form) nil)) (key (top-form-key top-form))
         (name (top-form-name top-form)) (package (top-form-package top-form))
         (*package* (if (package-name package) package *package*)) (read nil))
    (when form
      (reading-again ((unless read (setf (top-form-form top-form) form)))
        (let* ((uses (without-traces (uses-of-parts (parts-of-form form))))
               (defined (and uses (member name (form-uses-data uses) :test #'equal))))
          (sb-sys:without-interrupts
            (setf read t)
            (cond ((or defined
                       (member (first key) *definers-of-functions*)
                       (and uses (stringp name)))
                   (when uses
                     (setf (top-form-part top-form) (part-run form)
                           (top-form-uses top-form) uses)
                     (note-top-form top-form)))
                  ((eq top-form (gethash key **definers**)) (remhash key **definers**)))))))))
