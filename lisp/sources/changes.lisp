;;;; Finds the definitions that a load of a changed file changes: values of variables, macros,
;;;; methods, and functions whose code contains one of these. The functions in loads.lisp call
;;;; these functions after a load. The old text of a file is that of its load before, and a pair
;;;; (NEW . OLD) consists of definitions of the same name from the two loads.

(in-package "LIVE-LISP.SOURCES")

(defvar *plain-forms* '()
  "An alist from texts of files to the vectors of their top-level forms, the results of PLAIN-FORMS.
This cache is bound to NIL for each load.")

(defun forms-of (text)
  "Return the vector of the top-level forms of TEXT, each form as text. *PLAIN-FORMS* caches the
vector."
  (cdr (or (assoc text *plain-forms* :test #'eq)
           (first (push (cons text (plain-forms text)) *plain-forms*)))))

(defun form-of (definition text)
  "Return the top-level form that made DEFINITION, as text, or NIL if this form is unknown. TEXT is
the loaded text of the file of DEFINITION, or NIL."
  (let* ((forms (and text (forms-of text)))
         (number (and forms (definition-number definition))))
    (and number (< number (length forms)) (aref forms number))))

(defun literal-differs-p (text value)
  "Return true if TEXT is a literal number or string, T or NIL, and is not EQUALP to VALUE."
  (and (or (find (char text 0) "\"+-0123456789") (member text '("t" "nil") :test #'string-equal))
       (let ((*read-eval* nil)
             (*package* (find-package "KEYWORD"))
             (*readtable* (copy-readtable nil)))
         (nil-if-unreadable
           (let ((literal (read-from-string text)))
             (cond ((string-equal text "t") (not (eq value t)))
                   ((string-equal text "nil") (and value t))
                   ((symbolp literal) nil) ; Symbols such as -X begin like numbers.
                   (t (not (equalp literal value)))))))))

(defun inline-p (definition)
  "Return true if the function of DEFINITION is declaimed inline now."
  (eq (known :function :inlinep (definition-name definition)) 'inline))

(defun compiled-in-p (definition)
  "Return true if code that uses DEFINITION contains the code or the value of DEFINITION. For
example, code that uses a macro contains its expansion."
  (case (definition-kind definition)
    ((:macro :compiler-macro :symbol-macro :constant) t)
    (:function (or (definition-inlined definition) (inline-p definition)))))

(defun deciding-part (definition form)
  "FORM is the text of the form of DEFINITION. Return the part of FORM that must differ if
DEFINITION is to count as changed. For a variable or a constant, this part is the text of the value.
For other definitions, it is FORM."
  (if (and form (member (definition-kind definition) '(:variable :constant)))
      (values (form-value form (definition-name definition)))
      form))

(defun form-before (definition text)
  "Return the part of the form that made DEFINITION that decides whether a new form differs from it
(see DECIDING-PART). Take the part saved in DEFINITION-BASELINE or, if none is saved, that in TEXT.
TEXT is the text of the file when DEFINITION was made."
  (or (definition-baseline definition)
      (deciding-part definition (form-of definition text))))

(defun save-baseline (definition text)
  "TEXT is the text of the file when DEFINITION was made. Save the result of FORM-BEFORE in
DEFINITION-BASELINE if later forms are compared with it: for a variable, and if COMPILED-IN-P."
  (when (or (eq (definition-kind definition) :variable) (compiled-in-p definition))
    (setf (definition-baseline definition) (form-before definition text))))

(defun save-baselines (file text serial)
  "TEXT was the text of the file FILE at load number SERIAL. Call SAVE-BASELINE for the definitions
that were made by this load, and by no later one."
  (map-file-definitions (lambda (definition)
                          (when (= serial (definition-serial definition))
                            (save-baseline definition text)))
                        file))

(defparameter *most-former* 1000 "The maximum number of forms in SOURCE-FILE-FORMER of a file.")

(defun entered-package (form)
  "Return the name of the package in the last IN-PACKAGE form in FORM, the text of a form, or NIL."
  (let ((entered (argument-of "in-package" form)))
    (and entered
         (if (find #\" entered)
             (string-trim "\"" entered)
             (string-upcase (string-left-trim "#:" entered))))))

(defun keep-former-forms (file old-text text)
  "OLD-TEXT is the last loaded text of FILE, a SOURCE-FILE structure, and TEXT its present text. If
a form of OLD-TEXT is absent from TEXT and looks like a definition, add it to the forms in
SOURCE-FILE-FORMER of FILE. Do nothing if a text cannot be split into forms."
  (let* ((changed (and old-text text (string/= old-text text)))
         (old (and changed (forms-of old-text))) (new (and changed (forms-of text)))
         (now (make-hash-table :test 'equal)) (package nil))
    (when (and old new)
      (loop for form across new do (setf (gethash form now) t))
      ;; Take the package from IN-PACKAGE forms. FORM-PACKAGE could read the file again, and so run
      ;; reader macros of the user while this thread holds **LOCK**.
      (loop for form across old
            do (setf package (or (entered-package form) package))
               (when (and package
                          (not (gethash form now))
                          (definer-p (or (first (form-parts form 1)) "")))
                 (push (cons form package) (source-file-former file))))
      (when (nthcdr *most-former* (source-file-former file))
        (setf (source-file-former file) (subseq (source-file-former file) 0 *most-former*))))))

(defun still-unset-p (definition)
  "A variable can keep its value in a load, although the file gives it another value. Return true if
this happened to the variable of DEFINITION, and it still has the kept value."
  (let ((symbol (definition-name definition)))
    (and (definition-kept definition)
         (boundp symbol)
         (eql (symbol-value symbol) (sb-ext:weak-pointer-value (definition-kept definition))))))

(defun note-set (symbol)
  "Record that a form has set the variable SYMBOL, perhaps to the same value as before. Answers list
the variables that kept their values although a loaded file gives them other values. From now on,
they leave out SYMBOL."
  (sb-thread:with-mutex (**lock**)
    (loop with key = (definition-key :variable symbol nil)
          for file being the hash-values of **files**
          for definition = (gethash key (source-file-definitions file))
          when definition do (setf (definition-kept definition) nil))))

(defun note-unset (definition old old-text text value)
  "The load of a file did not set the variable of DEFINITION, which still has VALUE. TEXT is the
text of the file, OLD-TEXT the text loaded before, and OLD the definition of the variable in
OLD-TEXT, or NIL. Compare the form for the variable in TEXT with an earlier one: the form in
OLD-TEXT or, if the load of OLD-TEXT did not set the variable either, the older form that did. But
if the program has assigned the variable since then, the earlier form is that in OLD-TEXT. If the
two forms give different values, record this in DEFINITION, and return DEFINITION. Otherwise return
NIL. If OLD is NIL, there is no earlier form: compare the value in TEXT, if a literal, with VALUE."
  (let* ((symbol (definition-name definition))
         (assigned (and old (definition-says old) (not (still-unset-p old))))
         (form (and (or (null old) (definition-baseline old) (not (equal text old-text)))
                    (form-of definition text))))
    (when form
      (multiple-value-bind (says plain) (form-value form symbol)
        (let* ((earlier (cond (assigned (deciding-part old (form-of old old-text)))
                              (old (form-before old old-text))))
               (differs (cond (earlier (string/= earlier says))
                              ((null old) (and plain (literal-differs-p says value))))))
          (when differs
            ;; "" differs from all forms, so the next load finds a difference too.
            (setf (definition-baseline definition) (or earlier "")
                  (definition-says definition) (if plain says t)
                  (definition-kept definition) (sb-ext:make-weak-pointer value))
            definition))))))

(defun unset-variables (pairs definitions old-text text values)
  "TEXT was just loaded, and OLD-TEXT is the text that was loaded before it. Return a list of those
DEFINITIONS whose variables kept their old values in this load, as with DEFVAR, although TEXT gives
them other values than OLD-TEXT. PAIRS is a list of (NEW . OLD) pairs of definitions. VALUES is a
hash table from variables to their values before the load."
  (loop for definition in definitions
        for symbol = (definition-name definition)
        for (value recorded) = (and (eq (definition-kind definition) :variable)
                                    (multiple-value-list (gethash symbol values)))
        when (and recorded (boundp symbol) (eq value (symbol-value symbol))
                  (note-unset definition (cdr (assoc definition pairs :test #'eq)) old-text text
                              value))
          collect definition))

(defun changed-names (pairs old-text text)
  "PAIRS is a list of (NEW . OLD) pairs of definitions. OLD-TEXT is the old text of the file, and
TEXT the new text. Each can be NIL. Return a list of the names of the definitions that satisfy
COMPILED-IN-P, such as macros, and whose forms differ in OLD-TEXT and TEXT. Code that uses such a
definition is outdated."
  (unless (or (null old-text) (null text) (string= old-text text))
    (loop for (new . old) in pairs
          when (and (or (compiled-in-p new) (compiled-in-p old))
                    (not (equal (form-before old old-text) (deciding-part new (form-of new text)))))
            collect (definition-name new))))

(defun changed-kinds (file serial)
  "Return a list of the names that have changed between macro and function, in either direction,
since load number SERIAL of the file FILE."
  (flet ((changed-p (definition)
           (let ((kind (definition-kind definition)) (name (definition-name definition)))
             (and (= serial (definition-serial definition))
                  (member kind '(:macro :function))
                  (symbolp name)
                  (fboundp name)
                  (not (eq (eq kind :macro) (and (macro-function name) t)))))))
    (mapcar #'definition-name (definitions-if #'changed-p file))))

(defun replaces-method-p (method other)
  "METHOD and OTHER are methods of the same generic function. Return true if METHOD has the
specializers and qualifiers of OTHER, and both are from the same file but from different forms."
  (let ((file (identity-file method)))
    (and (same-method-p method other)
         file
         (equal file (identity-file other))
         (not (eql (identity-form method) (identity-form other))))))

(defun doubled-methods (log)
  "Return a list of DOUBLED structures for the methods that another form of the same file has
replaced during a load. This happens when two forms of a file define the same method. LOG is the LOG
of a RECORDING structure, newest first."
  (loop with methods = (remove-if #'symbolp log)
        for (name . method) in methods
        ;; A method that was replaced belongs to no generic function.
        for replacement = (and (null (sb-mop:method-generic-function method))
                               (find-if (lambda (entry)
                                          (and (equal (car entry) name)
                                               (attached-p (cdr entry))
                                               (replaces-method-p (cdr entry) method)))
                                        methods))
        when replacement collect (make-doubled name (cdr replacement) method)))

;;; Functions compiled with a definition that has changed

(defun token-in-p (name form)
  "FORM is the text of a form without comments, as PLAIN-FORM returns it. Return true if it contains
the string NAME as a whole token outside of strings. Ignore letter case."
  (let ((end (length form)) (index 0))
    (flet ((part-p (place) (and (< -1 place end) (not (find (char form place) " ()'`,\"#;:|")))))
      (loop while (< index end)
            do (let ((char (char form index)))
                 (cond ((char= char #\\) (incf index 2))
                       ((char= char #\") (setf index (quoted-end form index end)))
                       ((and (string-equal name form :start2 index
                                           :end2 (min end (+ index (length name))))
                             (not (part-p (1- index)))
                             (not (part-p (+ index (length name)))))
                        (return t))
                       (t (incf index))))))))

(defun definition-function (definition)
  "Return the simple function that DEFINITION made, or NIL."
  (let ((identity (definition-identity definition)))
    (case (definition-kind definition)
      (:method
       (let ((function (method-function identity))) (and function (simple-function function))))
      ((:function :macro)
       (and (typep identity '(and function (not generic-function))) (simple-function identity))))))

(defun uses-in-texts (symbol fresh &optional (token (symbol-name symbol)))
  "SYMBOL is a symbol macro, type or structure, whose uses SBCL does not record as cross references.
Return a list of COMPILED-USE structures for the definitions that may use SYMBOL, since their forms
contain the string TOKEN. Leave out functions whose debug sources are in the list FRESH: they have
just been compiled."
  (let ((uses '()))
    (loop for file being the hash-values of **files**
          for text = (source-file-text file)
          for forms = (and text
                           (search (symbol-name symbol) text :test #'char-equal)
                           (forms-of text))
          do (map-file-definitions
              (lambda (definition)
                (let ((function (definition-function definition))
                      (number (definition-number definition)))
                  ;; TEXT is from the last load. So leave out a definition that only an older
                  ;; load made: its form may not be in TEXT.
                  (when (and forms function number (< number (length forms))
                             (>= (definition-serial definition) (source-file-serial file))
                             (current-p definition)
                             (not (member (function-source function) fresh :test #'eq))
                             (token-in-p token (aref forms number)))
                    (push (make-compiled-use symbol (definition-name definition) function)
                          uses))))
              file))
    uses))

(defun note-uses (uses)
  "Add USES, a list of COMPILED-USE structures, to **OUTDATED**, the list of code that was compiled
with old definitions. Keep at most *OUTDATED-LIMIT* elements in all."
  (setf **outdated**
        (let ((all (union (remove-duplicates uses :test #'same-use-p) **outdated**
                          :test #'same-use-p)))
          (subseq all 0 (min (length all) *outdated-limit*)))))

(defun note-outdated (names fresh)
  "Add to **OUTDATED** the functions whose code contains old definitions of NAMES. Leave out
functions whose debug sources are in the list FRESH: they have just been compiled."
  (when names
    (note-uses (append (uses-of names fresh)
                       (loop for name in names
                             when (and (symbolp name) (eq (known :variable :kind name) :macro))
                               append (uses-in-texts name fresh))))))

(defun note-users-of-layouts (laid-out fresh)
  "LAID-OUT is a list of LAID-OUT structures: structures of the program whose layout has changed.
Add to **OUTDATED** the code that was compiled for an old layout: code that refers to the layout,
code into which functions of the structure were compiled, and code that contains the quoted name of
the structure, for example as a type. Leave out functions whose debug sources are in the list FRESH:
they have just been compiled."
  (dolist (structure laid-out)
    (let* ((symbol (laid-out-name structure))
           (names (laid-out-functions structure))
           (uses (append (layout-users symbol (laid-out-layout structure) fresh)
                         (loop for use in (uses-of names fresh)
                               collect (make-compiled-use symbol (compiled-use-user use)
                                                          (compiled-use-function use)))
                         (uses-in-texts symbol fresh (format nil "'~A" (symbol-name symbol))))))
      (note-uses (remove-if (lambda (user) (member user names :test #'equal)) uses
                            :key #'compiled-use-user)))))

;;; Forms that define a name with another number each time

(defun name-without-digits (definition)
  "Return text for the kind and the name of DEFINITION, with the digits removed from the name.
Return NIL if the name has no digits."
  (let ((name (name-symbol (definition-name definition))))
    (and (symbolp name)
         (some #'digit-char-p (symbol-name name))
         (format nil "~A ~A ~A" (definition-kind definition) (consp (definition-name definition))
                 (remove-if #'digit-char-p (symbol-name name))))))

(defun making-form (definition text)
  "If the form of DEFINITION in TEXT does not contain the name of DEFINITION, return the form as
text: then a macro has computed the name. Otherwise return NIL. Also return NIL if DEFINITION
defines a function that was made under another name, since it is unknown which form gave it the
present name."
  (let* ((form (form-of definition text)) (name (definition-name definition))
         (function (definition-function definition))
         (own (and function (plain-function-name function))))
    (and form
         (or (null function)
             (equal own name)
             ;; SBCL gives the function of a macro a list with the macro's name as its name.
             (and (typep own '(cons t (cons t))) (equal (second own) name)))
         (not (token-in-p (string (name-symbol name)) form))
         form)))

(defun numbered-by-form (definition text)
  "Return a pair for DEFINITION, made by a form in TEXT: the name of DEFINITION without its digits,
and the text of the form. If one form makes FOO1 at one load and FOO2 at the next, the pairs for
FOO1 and FOO2 are EQUAL. Return NIL if the name has no digits, or if the form contains the name,
since then it makes the same name at each load."
  (let* ((name (name-without-digits definition)) (form (and name (making-form definition text))))
    (and form (cons name form))))

(defun drop-numbered-anew (file definitions pairs old-text text)
  "The same form can define FOO1 at one load and FOO2 at the next. Remove FOO1, the older
definition, from FILE, a SOURCE-FILE structure. The names must differ only in their digits, and one
form must have made both definitions. DEFINITIONS lists the definitions of the new load, TEXT is the
text that it loaded, and OLD-TEXT is the text of the load before. PAIRS lists (NEW . OLD) pairs of
definitions with the same name, which this function leaves alone."
  (let ((anew (loop for definition in definitions
                    for numbered = (and (not (assoc definition pairs :test #'eq))
                                        (numbered-by-form definition text))
                    when numbered collect numbered))
        (table (source-file-definitions file)))
    (when anew
      (maphash (lambda (key definition)
                 (when (and (not (member definition definitions :test #'eq))
                            (member (numbered-by-form definition old-text) anew :test #'equal))
                   (remhash key table)))
               table))))
