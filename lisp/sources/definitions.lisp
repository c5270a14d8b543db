;;;; Finds the definitions of a symbol. Each definition has an identity, an object such as its
;;;; function, or SBCL's source location for it. Whenever the definition is evaluated, it gets a new
;;;; identity.

(in-package "LIVE-LISP.SOURCES")

;;; The source file and form of a definition

(defun function-source (function)
  "Return SBCL's debug source object for the code of FUNCTION, or NIL."
  (nil-if-unknown
    (information-source (code-information (function-code (simple-function function))))))

(defun location-of (identity)
  "IDENTITY is the object that a definition made: a source location, a method, or SBCL's record of a
DEFSETF. Return the source location of the definition, or NIL if IDENTITY has none."
  (typecase identity
    (source-location identity)
    ;; SBCL's record of a DEFSETF.
    ((cons t cons) (location-of (cddr identity)))
    ;; CLASS-LOCATION also takes a method or a generic function.
    (method (location-of (class-location identity)))))

(defun generic-function-file (function)
  "Return the name of the file that defines a method of the generic function FUNCTION, or NIL if
none is from a file."
  (some #'identity-file (sb-mop:generic-function-methods function)))

(defun without-record (identity)
  "If IDENTITY is SBCL's record of a DEFSETF with a lambda list and a body, return the function in
it. Else return IDENTITY."
  (if (typep identity '(cons t function)) (cdr identity) identity))

(deftype ordinary-function ()
  "The type of functions whose own code object tells their source."
  '(and function (not generic-function)))

(defun identity-file (identity)
  "IDENTITY is the object that a definition made: a function, a method, a source location, or SBCL's
record of a DEFSETF. Return SBCL's name of the file with the definition. Return NIL if the
definition is from no file or from a file of SBCL."
  (let* ((identity (without-record identity))
         (name (if (typep identity 'ordinary-function)
                   (let ((source (function-source identity))) (and source (source-name source)))
                   (let ((location (location-of identity)))
                     (and location (location-name location))))))
    (and name (not (sbcl-file-p name)) name)))

(defun identity-form (identity)
  "IDENTITY is the object that a definition made, such as a function or a source location. Return
the number of the top-level form that made the definition. Return NIL if the number is unknown, as
for a definition that EVAL or COMPILE made."
  (let* ((identity (without-record identity)) (location (location-of identity)))
    (cond (location (location-form location))
          ((and (typep identity 'ordinary-function) (identity-file identity))
           (first (introspect "DEFINITION-SOURCE-FORM-PATH"
                              (introspect "FIND-DEFINITION-SOURCE" identity)))))))

;;; All definitions of a name

(defun noted-kinds ()
  "Return a list of (KEYWORD . NUMBER) pairs for the kinds of definitions for which SBCL's global
information has a source location. NUMBER is SBCL's number of the kind."
  (loop for kind across known-kinds
        when (and kind (eq (kind-category kind) :source-location))
          collect (cons (kind-name kind) (kind-number kind))))

(defparameter *noted-kinds* (noted-kinds) "The result of NOTED-KINDS, computed once.")

(defun class-identity (symbol)
  "Return an object that is new whenever the class SYMBOL is defined: the source location of the
class or, without one, the class itself. Return NIL if SYMBOL names no class. Do not call
FIND-CLASS: SBCL makes the object of some classes only when it is first asked for it."
  (let* ((cell (class-cell symbol))
         (classoid (and cell (cell-classoid cell)))
         (class (and cell (cell-class cell))))
    (and classoid
         (or (and class (nil-if-unknown (location-of (class-location class))))
             (classoid-location classoid)
             class))))

(defun function-identity (function)
  "Return an object that is new whenever FUNCTION is defined. For a generic function with a source
location, this is the source location. For any other function, it is FUNCTION itself."
  (or (and (typep function 'generic-function)
           (nil-if-unknown (location-of (class-location function))))
      function))

(defun map-functions-named (visit name)
  "Call the function VISIT with three arguments for each definition of NAME, a function name: the
kind, such as :MACRO, NAME, and the identity, an object such as a function."
  (when (fboundp name)
    (let ((macro (and (symbolp name) (macro-function name))))
      (if macro
          (funcall visit :macro name macro)
          (funcall visit :function name (function-identity (plain-definition name))))))
  (let ((expander (compiler-macro-function name)))
    (when expander (funcall visit :compiler-macro name expander))))

(defun map-definitions (visit symbol)
  "Call the function VISIT with three arguments for each definition of SYMBOL and of (SETF SYMBOL):
the kind, such as :CLASS, the name, and the identity, an object such as a function or source
location."
  (map-functions-named visit symbol)
  (map-functions-named visit (list 'setf symbol))
  (let ((class (class-identity symbol))
        (type (or (known :type :source-location symbol) (known :type :expander symbol)))
        (expander (known :setf :expander symbol))
        (combination (gethash symbol method-combinations)))
    (when class (funcall visit :class symbol class))
    (when (and type (not class)) (funcall visit :type symbol type))
    (when expander (funcall visit :setf-expander symbol expander))
    (when (and combination (combination-location combination))
      (funcall visit :method-combination symbol (combination-location combination))))
  (loop for (kind . number) in *noted-kinds*
        for value = (known-value symbol number)
        when value do (funcall visit kind symbol value)))

(defun identity-now (kind name)
  "Return the identity of the current definition of NAME as KIND, such as :FUNCTION, or NIL if there
is none. The identity is an object, such as a function, that is new for a new definition."
  (map-definitions (lambda (other-kind other-name identity)
                     (when (and (eq kind other-kind) (equal name other-name))
                       (return-from identity-now identity)))
                   (name-symbol name)))

(defun attached-p (method)
  "Return true if METHOD belongs to a generic function that is still the definition of its own
name."
  (let* ((function (sb-mop:method-generic-function method))
         (name (and function (sb-mop:generic-function-name function))))
    (and function
         ;; The name of a generic function can be any object.
         (handler-case (eq function (plain-definition name))
           ((or type-error undefined-function) () nil))
         (member method (sb-mop:generic-function-methods function) :test #'eq)
         t)))

(defun defined-p (symbol)
  "Return true if SYMBOL or (SETF SYMBOL) has a definition of any kind."
  (map-definitions (lambda (&rest definition)
                     (declare (ignore definition))
                     (return-from defined-p t))
                   symbol))

;;; Symbols in packages

(defun accessible-p (symbol package)
  "Return true if SYMBOL is accessible in PACKAGE."
  (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
    (and status (eq found symbol))))

(defun present-p (symbol package)
  "Return true if SYMBOL is present in PACKAGE, and not only inherited."
  (and (accessible-p symbol package)
       (not (eq :inherited (nth-value 1 (find-symbol (symbol-name symbol) package))))))
