;;;; The definitions that files made. This file checks if the image still has them, and describes
;;;; them for answers.

(in-package "LIVE-LISP.SOURCES")

(defstruct (definition (:constructor make-definition
                                     (kind name identity serial &optional location)))
  "A definition of NAME as KIND, such as :FUNCTION, by a file or an evaluated form.
NAME: a symbol or a function name such as (SETF AREA). It is the name of the generic function for a
method, the exported symbol for an export, and a string for a package.
IDENTITY: an object that a later definition of NAME does not share, such as a function. It is the
method for a method, and the package for an export or a package.
LOCATION: for an export or a package, the source location.
SERIAL: the number of the load or evaluation that made the definition, or of a later load of its
file whose text can still make it. If it is less than the number of the last load of the file, the
definition was not made again (NOT-MADE-AGAIN-P).
BASELINE: NIL while the backend still keeps the text of the file with the form that made the
definition. Before it replaces this text by a newer one, it saves the DECIDING-PART of the form
here.
SAYS: set for a variable that kept its value although the loaded file gives it another one. It is
the text of the value in the file, or T if this text is not a simple literal.
KEPT: a weak pointer to the value that the variable kept.
FORM: the number of the top-level form in the loaded text of the file. If it is NIL,
DEFINITION-NUMBER returns the number that SBCL has recorded.
BY-CODE: true if the form ran code that made the definition, such as a call of EVAL. SBCL's number
of the form is then wrong.
MAKER: the text of the form, saved when the file no longer makes the definition.
INLINED: true if the function was declaimed inline at the load.
LAYOUT: for a structure, the value of STRUCTURE-LAYOUT."
  kind name identity serial (location nil) (baseline nil) (says nil) (kept nil) (form nil)
  (by-code nil) (maker nil) (inlined nil) (layout nil))

(defun recorded-number (definition)
  "Return SBCL's number of the top-level form of DEFINITION, or NIL. For a definition that EVAL
made, this is the number of a form within the evaluated form."
  (identity-form (or (definition-location definition) (definition-identity definition))))

(defun definition-number (definition)
  "Return the number of the top-level form of DEFINITION in the loaded text of its file, or NIL if
it is unknown."
  (or (definition-form definition)
      (and (not (definition-by-code definition)) (recorded-number definition))))

(defun definition-key (kind name identity)
  "Return the key, for an EQUAL hash table, of the definition of NAME as KIND, such as :FUNCTION,
with IDENTITY, an object such as a function. A later definition with an EQUAL key replaces the
definition. The key of a method is the method object, so a redefined method gets another key."
  (case kind
    (:method identity)
    ((:export :package) (list kind name identity))
    (t (cons kind name))))

(defun key-of (definition)
  "Return the key of DEFINITION, from DEFINITION-KEY, for an EQUAL hash table."
  (definition-key (definition-kind definition) (definition-name definition)
                  (definition-identity definition)))

(defun exported-p (symbol package)
  "Return true if SYMBOL is an external symbol of PACKAGE. Return NIL if PACKAGE was deleted."
  (and (package-name package)
       (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
         (and (eq found symbol) (eq status :external)))))

(defun current-p (definition)
  "Return true if the image still has DEFINITION, and no later definition has replaced it."
  (let ((name (definition-name definition)) (identity (definition-identity definition)))
    (case (definition-kind definition)
      (:method (attached-p identity))
      (:export (exported-p name identity))
      (:package (and (package-name identity) t))
      (t (eq identity (identity-now (definition-kind definition) name))))))

(defun generic-function-named (name)
  "Return the generic function that NAME names, or NIL."
  (let ((function (and (global-function-p name) (plain-definition name))))
    (and (typep function 'generic-function) function)))

(defun methods-of-definition (definition)
  "Return a list of the methods of the generic function that DEFINITION defines. A caller that gets
some need not look for a DEFGENERIC form, since a DEFMETHOD form makes its generic function too.
Return NIL if DEFINITION defines no generic function."
  (and (eq (definition-kind definition) :function)
       (let ((function (generic-function-named (definition-name definition))))
         (and function (sb-mop:generic-function-methods function)))))

;;; Describing definitions in answers

(defun function-name-text (name)
  "Return NAME, a function name, as text."
  (cond ((symbolp name) (symbol-text name))
        ((symbolp (second name))
         (format nil "(~A ~A)" (symbol-name (first name)) (symbol-text (second name))))
        (t (printing-plainly (print-safely 100 name)))))

(defun method-name-text (name method)
  "Return text for METHOD, of the generic function NAME: the name, the qualifiers, and the
specializers in parentheses."
  (format nil "~A~{ ~A~} (~{~A~^ ~})" (function-name-text name)
          (mapcar (lambda (qualifier) (printing-plainly (print-safely 50 qualifier)))
                  (method-qualifiers method))
          (mapcar #'specializer-text (sb-mop:method-specializers method))))

(defun class-kind (symbol)
  "Return \"structure\", \"condition\" or \"class\" for the class SYMBOL."
  (typecase (find-class symbol nil)
    (structure-class "structure")
    (condition-class "condition")
    (t "class")))

(defun kind-text (kind name)
  "Return the string with which answers describe a definition of NAME as KIND, such as \"generic
function\"."
  (case kind
    (:class (class-kind name))
    (:typed-structure "structure")
    (:function (if (generic-function-named name) "generic function" "function"))
    (t (substitute #\Space #\- (string-downcase (symbol-name kind))))))

(defun item-name (definition)
  "Return text that names DEFINITION in answers. For a method, it includes the specializers."
  (let ((name (definition-name definition)) (identity (definition-identity definition)))
    (case (definition-kind definition)
      (:method (method-name-text name identity))
      (:package name)
      (:export (format nil "~A of ~A" (symbol-text name) (package-name identity)))
      (t (function-name-text name)))))

(defparameter *shown-items-limit* 20
  "The maximum number of definitions shown for one kind of difference.")
(defparameter *shown-removals-limit* 200
  "The maximum number of definitions shown that a load removed, or that the next load can remove.")

(define-shape item ()
  "A definition."
  (kind string "The kind of the definition, such as function.")
  (name string "The name, with package prefixes."))

(defun item-data (definition &rest members)
  "Return a JSON object with the kind and the name of DEFINITION, and with the plist MEMBERS."
  (make-json-object (list* "kind" (kind-text (definition-kind definition)
                                             (definition-name definition))
                           "name" (item-name definition)
                           members)))

(defun definition-text (definition)
  "Return text that names DEFINITION with its kind."
  (format nil "~A ~A" (kind-text (definition-kind definition) (definition-name definition))
          (item-name definition)))

(defun sort-definitions (definitions)
  "Return the list DEFINITIONS sorted by their texts in answers."
  (mapcar #'cdr (sort (loop for definition in definitions
                            collect (cons (definition-text definition) definition))
                      #'string< :key #'car)))
