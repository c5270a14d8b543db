;;;; What another text of a file changes in the definitions that it made: values, macros, methods.

(in-package "LIVE-LISP.SOURCES")

(defvar *plain-forms* '() "The forms of the texts that this load looked at, from PLAIN-FORMS, by text.")

(defun forms-of (text)
  "Return the top-level forms of TEXT as PLAIN-FORMS does, which is asked once in a load."
  (cdr (or (assoc text *plain-forms* :test #'eq)
           (first (push (cons text (plain-forms text)) *plain-forms*)))))

(defun form-of (definition text)
  "Return the top-level form of DEFINITION in TEXT, or NIL when it is not found."
  (let* ((forms (and text (forms-of text)))
         (number (and forms (definition-number definition))))
    (and number (< number (length forms)) (aref forms number))))

(defun literal-differs-p (text value)
  "True when TEXT is a number, a string, T or NIL, and VALUE is something else."
  (and (or (find (char text 0) "\"+-0123456789") (member text '("t" "nil") :test #'string-equal))
       (let ((*read-eval* nil) (*package* (find-package "KEYWORD")) (*readtable* (copy-readtable nil)))
         (handler-case (let ((literal (read-from-string text)))
                         (cond ((string-equal text "t") (not (eq value t)))
                               ((string-equal text "nil") (and value t))
                               ((symbolp literal) nil)
                               (t (not (equalp literal value)))))
           (error () nil)))))

(defun compiled-in-p (definition)
  "True when users of DEFINITION have its code compiled in."
  (case (definition-kind definition)
    ((:macro :compiler-macro) t)
    (:function (and (eq (known :function :inlinep (definition-name definition)) 'inline) t))))

(defun form-before (definition text)
  "Return the form of DEFINITION, or of a variable its value, as it was when it was made; TEXT is that of its file then."
  (or (definition-baseline definition)
      (let ((form (form-of definition text)))
        (if (and form (eq (definition-kind definition) :variable))
            (values (form-value form (definition-name definition)))
            form))))

(defun keep-forms (file text serial)
  "Keep the forms of what the load SERIAL of FILE, of TEXT, made, and the one after it did not: it can come back."
  (map-file-definitions (lambda (definition)
                          (when (and (= serial (definition-serial definition))
                                     (or (eq (definition-kind definition) :variable) (compiled-in-p definition)))
                            (setf (definition-baseline definition) (form-before definition text))))
                        file))

(defun note-unset (definition old old-text text value)
  "When DEFINITION, of a variable, says in TEXT something else than what gave it VALUE, note that in it, and return it.
OLD is what it was in the file as it was loaded before, which had OLD-TEXT, or NIL."
  (let* ((symbol (definition-name definition))
         (form (and (or (null old) (definition-baseline old) (not (equal text old-text)))
                    (form-of definition text))))
    (when form
      (multiple-value-bind (says plain) (form-value form symbol)
        (let ((base (and old (form-before old old-text))))
          (when (cond (base (string/= base says))
                      ((null old) (and plain (literal-differs-p says value))))
            (setf (definition-baseline definition) (or base "")
                  (definition-says definition) (if plain says t))
            definition))))))

(defun unset-variables (pairs definitions old-text text values)
  "Return those of DEFINITIONS that are of variables which a load did not set, and should have. PAIRS has what they take
the place of; VALUES is of a TOUCHED."
  (loop for definition in definitions
        for symbol = (definition-name definition)
        for (value kept) = (and (eq (definition-kind definition) :variable)
                                (multiple-value-list (gethash symbol values)))
        when (and kept (boundp symbol) (eq value (symbol-value symbol))
                  (note-unset definition (cdr (assoc definition pairs :test #'eq)) old-text text value))
          collect definition))

(defun changed-names (pairs old-text text)
  "Return the names of the macros and inline functions in PAIRS, from ENTER, whose forms have changed."
  (unless (or (null old-text) (null text) (string= old-text text))
    (loop for (new . old) in pairs
          when (and (compiled-in-p new) (not (equal (form-before old old-text) (form-of new text))))
            collect (definition-name new))))

(defun same-method-p (one other)
  "True when the methods ONE and OTHER, of the same function, are for the same arguments."
  (and (equal (method-qualifiers one) (method-qualifiers other))
       (equal (sb-mop:method-specializers one) (sb-mop:method-specializers other))))

(defun took-place-p (method other)
  "True when METHOD, of the same function, stands in another form of the file of OTHER and is for the same arguments."
  (let ((file (identity-file method)))
    (and (same-method-p method other)
         file
         (equal file (identity-file other))
         (not (eql (identity-form method) (identity-form other))))))

(defun doubles (log)
  "Return pairs of a method in LOG, newest first, and one whose place it took, each after the function's name."
  (loop with methods = (remove-if #'symbolp log)
        for (name . other) in methods
        for taker = (and (null (sb-mop:method-generic-function other))
                         (find-if (lambda (entry)
                                    (and (equal (car entry) name)
                                         (attached-p (cdr entry))
                                         (took-place-p (cdr entry) other)))
                                  methods))
        when taker collect (list name (cdr taker) other)))
