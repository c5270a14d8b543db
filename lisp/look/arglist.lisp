;;;; The operation arglist, which returns how a function, macro or special operator is called, and
;;;; the lambda lists of a generic function's methods.

(in-package "LIVE-LISP.LOOK")

(defun setf-expander (symbol)
  "Return SBCL's record of the DEFSETF or DEFINE-SETF-EXPANDER of SYMBOL, or NIL."
  (known :setf :expander symbol))

(defun function-kind (name)
  "Return the kind of the function name NAME as in answers, such as \"MACRO\", or NIL if it names no
function."
  (cond ((not (fboundp name))
         (and (consp name) (setf-expander (second name)) "SETF EXPANDER"))
        ((typep (plain-definition name) 'generic-function) "GENERIC-FUNCTION")
        ((consp name) "SETF FUNCTION")
        ((special-operator-p name) "SPECIAL OPERATOR")
        (t (callable-nature name))))

(defun short-expander-arglist (function)
  "FUNCTION is the function in a short DEFSETF. Return the lambda list of the place as text: the one
of FUNCTION without the last parameter, the new value. If FUNCTION has other than required
parameters, it is unknown: return \"(&REST ARGUMENTS)\". Return NIL if SBCL has not kept the lambda
list of FUNCTION."
  (multiple-value-bind (arglist unknown) (introspect "FUNCTION-LAMBDA-LIST" function)
    (cond (unknown nil)
          ((intersection arglist lambda-list-keywords) "(&REST ARGUMENTS)")
          (t (arglist-text (butlast arglist))))))

(defun expander-arglist (expander)
  "Return the lambda list of EXPANDER, from SETF-EXPANDER, as text, without the new value. Return
NIL if SBCL has not kept it."
  (typecase expander
    (function (recorded-arglist expander))
    ((cons t function) (recorded-arglist (cdr expander)))
    ((cons symbol) (short-expander-arglist (car expander)))))

(defun name-arglist-members (name)
  "Return a plist of JSON members about the lambda list of NAME, the name of a function or of a setf
expander."
  (if (fboundp name)
      (arglist-members name)
      (list "arglist" (expander-arglist (setf-expander (second name))))))

(defun arglist-data (name)
  "Return a plist of JSON members about the lambda list of the function name NAME. If SBCL has not
kept it, add the places of the function's definitions."
  (let ((members (name-arglist-members name)))
    (if (or (second members) (not (fboundp name)))
        members
        (list* "sources" (function-sources name) members))))

(defun call-text (name)
  "Return NAME, a function name, with its lambda list as text."
  (format nil "~A~:[, arguments not recorded~; ~:*~A~]" (name-text name)
          (second (name-arglist-members name))))

(defun declaimed (name)
  "Return a list of what was declaimed about the function NAME, such as (\"FTYPE\" \"INLINE\")."
  (let ((inline (known :function :inlinep name)))
    (remove nil (list (and (declared-type-p name) "FTYPE")
                      (and (member inline '(inline notinline)) (symbol-name inline))))))

(defun setf-text (symbol)
  "Return (SETF SYMBOL) with its lambda list as text. Return NIL if it is neither a function nor an
expander."
  (let ((name (list 'setf symbol)))
    (and (function-kind name)
         (call-text name))))

;;; Methods

(defun method-arglist (method)
  "Return the qualifiers and the specialized lambda list of METHOD as text, as in a DEFMETHOD form."
  (let* ((arglist (sb-mop:method-lambda-list method))
         (specializers (sb-mop:method-specializers method))
         (others (arglist-text (nthcdr (length specializers) arglist))))
    (format nil "~{~A ~}(~{~A~^ ~})"
            (mapcar (lambda (qualifier) (plain-text 100 qualifier)) (method-qualifiers method))
            (append (loop for parameter in arglist
                          for specializer in specializers
                          collect (if (eq specializer (find-class 't))
                                      (symbol-name parameter)
                                      (format nil "(~A ~A)" (symbol-name parameter)
                                              (specializer-text specializer))))
                    (and (string/= others "()")
                         (list (subseq others 1 (1- (length others)))))))))

(defun combination-text (function)
  "Return the method combination of FUNCTION, a generic function, as text, or NIL for the standard
one."
  (let* ((combination (sb-mop:generic-function-method-combination function))
         (type (combination-name combination))
         (options (combination-options combination)))
    (and type (not (eq type 'standard))
         (format nil "~A~@[ ~A~]" (symbol-text type) (and options (plain-text 200 options))))))

(defun generic-members (function methods offset limit)
  "Return a plist of JSON members about FUNCTION, a generic function. If METHODS is true, include
LIMIT of its methods from OFFSET on."
  (let ((all (sb-mop:generic-function-methods function)))
    (list "combination" (combination-text function)
          "methodCount" (length all)
          "methods" (and methods (mapcar #'method-arglist (page all offset limit))))))

;;; The operation

(define-operation "arglist" (name package methods offset limit)
  "Return how the function NAME of PACKAGE is called. If METHODS is true, add the lambda lists of a
generic function's methods, LIMIT of them from OFFSET on."
  (multiple-value-bind (target symbol setf) (named-target name package)
    (let ((kind (function-kind target)))
      (call-user-code
       (lambda ()
         (make-json-object
          (list* "name" (name-text target)
                 "natures" (if setf '() (natures symbol))
                 "kind" kind
                 "type" (function-type-text target)
                 "declaimed" (declaimed target)
                 "documentation" (and kind (doc-text (if (fboundp target) target symbol)
                                                     (if (fboundp target) 'function 'setf)))
                 "compilerMacro" (and (compiler-macro-function target)
                                      (or (recorded-arglist (compiler-macro-function target))
                                          "arguments not recorded"))
                 "setf" (and (not setf) (setf-text symbol))
                 (append (and kind (arglist-data target))
                         (and (equal kind "GENERIC-FUNCTION")
                              (generic-members (plain-definition target) methods offset
                                               limit))))))))))
