;;;; The definitions made by files: whether the image still has them, and how answers show them.

(in-package "LIVE-LISP.SOURCES")

(defstruct (definition (:constructor make-definition
                                     (kind name identity serial &optional location)))
  "A definition of NAME as KIND by a file. A later definition of NAME has another IDENTITY. For a
method, this is the method; for an export or a package, it is the package, and LOCATION is the
source location. SERIAL is the number of the load. BASELINE is the FORM-BEFORE of the definition,
saved once the file has another form. If a variable kept its value in a load, SAYS is the text of
the value in the file, or T if it is unknown, and KEPT is a weak pointer to the kept value. FORM is
the number of the form in the file if it has changed since the load, because forms before it were
added or removed; else NIL. INLINED is true if the function was declaimed inline at the load. LAYOUT
is the STRUCTURE-LAYOUT of a structure."
  kind name identity serial (location nil) (baseline nil) (says nil) (kept nil) (form nil)
  (inlined nil) (layout nil))

(defun definition-number (definition)
  "Return the number of the top-level form of DEFINITION in the loaded text of its file, or NIL."
  (or (definition-form definition) (identity-form (definition-identity definition))))

(defun definition-key (kind name identity)
  "Return the key, compared by EQUAL, of a definition in the table of its file. KIND, NAME and
IDENTITY are slots of the DEFINITION."
  (case kind
    (:method identity)
    ((:export :package) (list kind name identity))
    (t (cons kind name))))

(defun key-of (definition)
  "Return the DEFINITION-KEY of DEFINITION."
  (definition-key (definition-kind definition) (definition-name definition)
                  (definition-identity definition)))

(defun exported-p (symbol package)
  "True when PACKAGE exports SYMBOL. NIL for a deleted package."
  (and (package-name package)
       (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
         (and (eq found symbol) (eq status :external)))))

(defun current-p (definition)
  "True when the image still has DEFINITION, and has not replaced it."
  (let ((name (definition-name definition)) (identity (definition-identity definition)))
    (case (definition-kind definition)
      (:method (attached-p identity))
      (:export (exported-p name identity))
      (:package (and (package-name identity) t))
      (t (eq identity (identity-now (definition-kind definition) name))))))

(defun generic-function-named (name)
  "Return the generic function that NAME names, or NIL."
  (let ((function (and (fboundp name)
                       (not (and (symbolp name) (macro-function name)))
                       (plain-definition name))))
    (and (typep function 'generic-function) function)))

(defun methods-of-definition (definition)
  "Return the methods of the generic function that DEFINITION made, or NIL. The forms of its methods
would make the function too."
  (and (eq (definition-kind definition) :function)
       (let ((function (generic-function-named (definition-name definition))))
         (and function (sb-mop:generic-function-methods function)))))

;;; Definitions in answers

(defun function-name-text (name)
  "Return NAME, a function name, as text."
  (cond ((symbolp name) (symbol-text name))
        ((symbolp (second name))
         (format nil "(~A ~A)" (symbol-name (first name)) (symbol-text (second name))))
        (t (printing-plainly (print-safely 100 name)))))

(defun method-name-text (name method)
  "Return METHOD, of the generic function NAME, as text: the name, the qualifiers, and the
specializers in parentheses."
  (format nil "~A~{ ~A~} (~{~A~^ ~})" (function-name-text name)
          (mapcar (lambda (qualifier) (printing-plainly (print-safely 50 qualifier)))
                  (method-qualifiers method))
          (mapcar #'specializer-text (sb-mop:method-specializers method))))

(defun class-kind (symbol)
  "Return the word for the kind of the class SYMBOL, such as \"structure\"."
  (typecase (find-class symbol nil)
    (structure-class "structure")
    (condition-class "condition")
    (t "class")))

(defun kind-text (kind name)
  "Return the word in answers for a definition of NAME as KIND."
  (case kind
    (:class (class-kind name))
    (:typed-structure "structure")
    (:function (if (generic-function-named name) "generic function" "function"))
    (t (substitute #\Space #\- (string-downcase (symbol-name kind))))))

(defun item-name (definition)
  "Return the name of DEFINITION as text."
  (let ((name (definition-name definition)) (identity (definition-identity definition)))
    (case (definition-kind definition)
      (:method (method-name-text name identity))
      (:package name)
      (:export (format nil "~A of ~A" (symbol-text name) (package-name identity)))
      (t (function-name-text name)))))

(defparameter *told-limit* 20 "At most this many definitions of one kind of difference are shown.")
(defparameter *told-of-removal* 200
  "At most this many definitions are shown that a load removed, or that the next load can remove.")

(defun item-data (definition &rest members)
  "Return DEFINITION as a JSON object with the further MEMBERS."
  (make-json-object (list* "kind" (kind-text (definition-kind definition)
                                             (definition-name definition))
                           "name" (item-name definition)
                           members)))
