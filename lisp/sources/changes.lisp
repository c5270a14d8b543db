;;;; Finds what another text of a file changes in its definitions: values of variables, macros, methods.

(in-package "LIVE-LISP.SOURCES")

(defvar *plain-forms* '() "A cache for one load: the forms of texts, from PLAIN-FORMS, by text.")

(defun forms-of (text)
  "Return the PLAIN-FORMS of TEXT, cached for one load."
  (cdr (or (assoc text *plain-forms* :test #'eq)
           (first (push (cons text (plain-forms text)) *plain-forms*)))))

(defun form-of (definition text)
  "Return the top-level form of DEFINITION in TEXT, or NIL when it is not found."
  (let* ((forms (and text (forms-of text)))
         (number (and forms (definition-number definition))))
    (and number (< number (length forms)) (aref forms number))))

(defun literal-differs-p (text value)
  "True when TEXT is a literal number or string, T or NIL, and VALUE is something else."
  (and (or (find (char text 0) "\"+-0123456789") (member text '("t" "nil") :test #'string-equal))
       (let ((*read-eval* nil) (*package* (find-package "KEYWORD")) (*readtable* (copy-readtable nil)))
         (handler-case (let ((literal (read-from-string text)))
                         (cond ((string-equal text "t") (not (eq value t)))
                               ((string-equal text "nil") (and value t))
                               ((symbolp literal) nil)
                               (t (not (equalp literal value)))))
           (error () nil)))))

(defun inline-p (definition)
  "True when the function of DEFINITION is declaimed inline."
  (eq (known :function :inlinep (definition-name definition)) 'inline))

(defun compiled-in-p (definition)
  "True when users of DEFINITION have its code or its value compiled in."
  (case (definition-kind definition)
    ((:macro :compiler-macro :symbol-macro :constant) t)
    (:function (or (definition-inlined definition) (inline-p definition)))))

(defun telling-part (definition form)
  "Return the part of the text FORM that matters for DEFINITION: of a variable or a constant its value, else all."
  (if (and form (member (definition-kind definition) '(:variable :constant)))
      (values (form-value form (definition-name definition)))
      form))

(defun form-before (definition text)
  "Return the form of DEFINITION, or of a variable its value, when it was made. TEXT is its file's text of that time."
  (or (definition-baseline definition)
      (telling-part definition (form-of definition text))))

(defun keep-forms (file text serial)
  "Keep the forms, in TEXT, of what the load SERIAL of FILE made and the next one did not: they can come back."
  (map-file-definitions (lambda (definition)
                          (when (and (= serial (definition-serial definition))
                                     (or (eq (definition-kind definition) :variable) (compiled-in-p definition)))
                            (setf (definition-baseline definition) (form-before definition text))))
                        file))

(defun still-unset-p (definition)
  "True when the variable of DEFINITION, which a load left unset, still has the value that it had then."
  (let ((symbol (definition-name definition)))
    (and (boundp symbol)
         (eql (symbol-value symbol) (sb-ext:weak-pointer-value (definition-kept definition))))))

(defun note-unset (definition old old-text text value)
  "If DEFINITION, of a variable, says in TEXT something else than what gave it VALUE, note that in DEFINITION and return
it. OLD is its definition in the file as loaded before, with OLD-TEXT, or NIL. A value that the program gave it since
does not count."
  (let* ((symbol (definition-name definition))
         (form (and (or (null old) (definition-baseline old) (not (equal text old-text)))
                    (not (and old (definition-says old) (not (still-unset-p old))))
                    (form-of definition text))))
    (when form
      (multiple-value-bind (says plain) (form-value form symbol)
        (let ((base (and old (form-before old old-text))))
          (when (cond (base (string/= base says))
                      ((null old) (and plain (literal-differs-p says value))))
            (setf (definition-baseline definition) (or base "")
                  (definition-says definition) (if plain says t)
                  (definition-kept definition) (sb-ext:make-weak-pointer value))
            definition))))))

(defun unset-variables (pairs definitions old-text text values)
  "Return those of DEFINITIONS whose variables a load should have set, but did not. PAIRS has the definitions that they
replace; VALUES is of a TOUCHED."
  (loop for definition in definitions
        for symbol = (definition-name definition)
        for (value kept) = (and (eq (definition-kind definition) :variable)
                                (multiple-value-list (gethash symbol values)))
        when (and kept (boundp symbol) (eq value (symbol-value symbol))
                  (note-unset definition (cdr (assoc definition pairs :test #'eq)) old-text text value))
          collect definition))

(defun changed-names (pairs old-text text)
  "Return the names in PAIRS, from ENTER, of what is compiled into users and has another form in TEXT than in OLD-TEXT."
  (unless (or (null old-text) (null text) (string= old-text text))
    (loop for (new . old) in pairs
          when (and (or (compiled-in-p new) (compiled-in-p old))
                    (not (equal (form-before old old-text) (telling-part new (form-of new text)))))
            collect (definition-name new))))

(defun changed-kinds (file serial)
  "Return the names that the load SERIAL of FILE made macros and that are functions now, or the other way round."
  (let ((names '()))
    (map-file-definitions
     (lambda (definition)
       (let ((kind (definition-kind definition)) (name (definition-name definition)))
         (when (and (= serial (definition-serial definition))
                    (member kind '(:macro :function))
                    (symbolp name)
                    (fboundp name)
                    (not (eq (eq kind :macro) (and (macro-function name) t))))
           (push name names))))
     file)
    names))

(defun same-method-p (one other)
  "True when the methods ONE and OTHER, of one function, have the same qualifiers and specializers."
  (and (equal (method-qualifiers one) (method-qualifiers other))
       (equal (sb-mop:method-specializers one) (sb-mop:method-specializers other))))

(defun took-place-p (method other)
  "True when METHOD replaces OTHER, of the same function and file, from another form of the file."
  (let ((file (identity-file method)))
    (and (same-method-p method other)
         file
         (equal file (identity-file other))
         (not (eql (identity-form method) (identity-form other))))))

(defun doubles (log)
  "Return lists of a function's name, a method in LOG, newest first, and another that it replaced from another form."
  (loop with methods = (remove-if #'symbolp log)
        for (name . other) in methods
        for taker = (and (null (sb-mop:method-generic-function other))
                         (find-if (lambda (entry)
                                    (and (equal (car entry) name)
                                         (attached-p (cdr entry))
                                         (took-place-p (cdr entry) other)))
                                  methods))
        when taker collect (list name (cdr taker) other)))

;;; Users that were compiled with what has changed

(defun token-in-p (name form)
  "True when the text FORM, from PLAIN-FORM, has the symbol NAME in it, outside strings."
  (let ((end (length form)) (index 0))
    (flet ((part-p (place) (and (< -1 place end) (not (find (char form place) " ()'`,\"#;:|")))))
      (loop while (< index end)
            do (let ((char (char form index)))
                 (cond ((char= char #\\) (incf index 2))
                       ((char= char #\") (setf index (quoted-end form index end)))
                       ((and (string-equal name form :start2 index :end2 (min end (+ index (length name))))
                             (not (part-p (1- index)))
                             (not (part-p (+ index (length name)))))
                        (return t))
                       (t (incf index))))))))

(defun definition-function (definition)
  "Return the simple function of DEFINITION, or NIL when it has none."
  (let ((identity (definition-identity definition)))
    (case (definition-kind definition)
      (:method (let ((function (method-function identity))) (and function (simple-function function))))
      ((:function :macro) (and (typep identity '(and function (not generic-function))) (simple-function identity))))))

(defun uses-in-texts (symbol fresh &optional (token (symbol-name symbol)))
  "Return lists of SYMBOL, a user and its function, as USES-OF does. Users are what forms define that have TOKEN in the texts
of the files that were loaded. SBCL has no cross references of symbol macros, nor of types."
  (let ((uses '()))
    (loop for file being the hash-values of **files**
          for text = (source-file-text file)
          for forms = (and text (search (symbol-name symbol) text :test #'char-equal) (forms-of text))
          do (map-file-definitions
              (lambda (definition)
                (let ((function (definition-function definition)) (number (definition-number definition)))
                  ;; Definitions of older loads have no form in this text.
                  (when (and forms function number (< number (length forms))
                             (>= (definition-serial definition) (source-file-serial file))
                             (current-p definition)
                             (not (member (function-source function) fresh :test #'eq))
                             (token-in-p token (aref forms number)))
                    (push (list symbol (definition-name definition) function) uses))))
              file))
    uses))

(defun note-uses (uses)
  "Note USES, which are as USES-OF returns them."
  (setf **outdated** (let ((all (union (remove-duplicates uses :test #'equal) **outdated** :test #'equal)))
                       (subseq all 0 (min (length all) *outdated-limit*)))))

(defun note-outdated (names fresh)
  "Record the users of NAMES, which changed and are compiled in, but not those in code of the sources FRESH."
  (when names
    (note-uses (append (uses-of names fresh)
                       (loop for name in names
                             when (and (symbolp name) (eq (known :variable :kind name) :macro))
                               append (uses-in-texts name fresh))))))

(defun note-users-of-layouts (laid-out fresh)
  "Note the users of the structures LAID-OUT, as a NOTED has them, but those in code of the sources FRESH. They are the code
that has the layout from before, that has functions of the structure compiled in, or that names it as a type by a quote."
  (loop for (symbol layout . names) in laid-out
        do (note-uses (remove-if (lambda (use) (member (second use) names :test #'equal))
                                 (append (layout-users symbol layout fresh)
                                         (loop for (nil user function) in (uses-of names fresh)
                                               collect (list symbol user function))
                                         (uses-in-texts symbol fresh (format nil "'~A" (symbol-name symbol))))))))

;;; Forms that define something only where it does not exist

(defun same-macro-p (form old new)
  "True when the operator of the text FORM has the same DEFMACRO in OLD and NEW, forms of a file, or in neither."
  (let ((operator (or (first (form-parts form 1)) "")))
    (flet ((definition-in (forms)
             (find-if (lambda (other)
                        (destructuring-bind (&optional (definer "") (name "")) (form-parts other 2)
                          (and (string-equal definer "defmacro") (string-equal name operator))))
                      forms)))
      (equal (definition-in old) (definition-in new)))))

(defun keep-conditional (file old-text text old-serial)
  "Count as made again what the load OLD-SERIAL of FILE, of OLD-TEXT, made, if TEXT has the same form and it has the
name. Such a form defines something only where it does not exist."
  (let ((old (and old-text (forms-of old-text))) (new (and text (forms-of text))))
    (when (and old new)
      (map-file-definitions
       (lambda (definition)
         (when (= old-serial (definition-serial definition))
           (let* ((number (or (definition-form definition)
                              (identity-form (or (definition-location definition) (definition-identity definition)))))
                  (form (and number (< number (length old)) (aref old number)))
                  (now (and form (position form new :test #'string=))))
             (when (and now
                        (token-in-p (string (name-symbol (definition-name definition))) form)
                        (same-macro-p form old new)
                        (current-p definition))
               (setf (definition-serial definition) (source-file-serial file)
                     (definition-form definition) now)))))
       file))))

;;; Forms that define another name each time

(defun name-without-digits (definition)
  "Return the kind and the name of DEFINITION as text without digits; NIL when it has none, or its name is no symbol."
  (let ((name (name-symbol (definition-name definition))))
    (and (symbolp name)
         (some #'digit-char-p (symbol-name name))
         (format nil "~A ~A ~A" (definition-kind definition) (consp (definition-name definition))
                 (remove-if #'digit-char-p (symbol-name name))))))

(defun making-form (definition text)
  "Return the form of DEFINITION in TEXT if the name does not stand in it, else NIL. For an alias of a function no form
is known."
  (let* ((form (form-of definition text)) (name (definition-name definition))
         (function (definition-function definition)) (own (and function (plain-function-name function))))
    (and form
         (or (null function)
             (equal own name)
             ;; SBCL calls that of a macro so.
             (and (typep own '(cons t (cons t))) (equal (second own) name)))
         (not (token-in-p (string (name-symbol name)) form))
         form)))

(defun numbered-by-form (definition text)
  "Return a key shared by the numbered variants (FOO1, FOO2) that one form of TEXT makes: the name of DEFINITION without
digits, and the form. Return NIL without a number, or when the name stands in the form."
  (let* ((name (name-without-digits definition)) (form (and name (making-form definition text))))
    (and form (cons name form))))

(defun drop-numbered-anew (file definitions pairs old-text text)
  "Forget what a form of FILE, with OLD-TEXT, made under names that macros number, if the form made that again under
other numbers. DEFINITIONS, of TEXT, have these. PAIRS has those of them that replaced others."
  (let ((anew (loop for definition in definitions
                    for numbered = (and (not (assoc definition pairs :test #'eq)) (numbered-by-form definition text))
                    when numbered collect numbered))
        (table (source-file-definitions file)))
    (when anew
      (maphash (lambda (key definition)
                 (when (and (not (member definition definitions :test #'eq))
                            (member (numbered-by-form definition old-text) anew :test #'equal))
                   (remhash key table)))
               table))))
