;;;; Defines the operation arglist, which returns how a function, macro or special operator is
;;;; called, and the lambda lists of a generic function's methods.

(in-package "LIVE-LISP.LOOK")

(defun setf-expander (symbol)
  "Return SBCL's record of the DEFSETF or DEFINE-SETF-EXPANDER form for the place SYMBOL, or NIL if
there is none."
  (known :setf :expander symbol))

(defun function-kind (name)
  "Return a string for the kind of function that NAME, a symbol or (SETF symbol), names: \"MACRO\",
\"SPECIAL OPERATOR\", \"SETF EXPANDER\" and so on. For a NAME with a compiler macro but no function,
return \"COMPILER MACRO\". Return NIL if NAME names none of these."
  (cond ((not (fboundp name))
         (cond ((and (consp name) (setf-expander (second name))) "SETF EXPANDER")
               ((compiler-macro-function name) "COMPILER MACRO")))
        ((typep (plain-definition name) 'generic-function) "GENERIC-FUNCTION")
        ((consp name) "SETF FUNCTION")
        ;; For a special operator, CALLABLE-NATURE returns "FUNCTION".
        ((special-operator-p name) "SPECIAL OPERATOR")
        (t (callable-nature name))))

(defun short-expander-arglist (function)
  "FUNCTION is the update function of a short DEFSETF. Return the lambda list of the DEFSETF as
text: the lambda list of FUNCTION without its last parameter, the new value. Return \"(&REST
ARGUMENTS)\" if FUNCTION has optional, rest or keyword parameters, because any of these may then get
the new value. Return NIL if FUNCTION is undefined or SBCL has not kept its lambda list."
  (multiple-value-bind (arglist unknown) (introspect "FUNCTION-LAMBDA-LIST" function)
    (cond ((or unknown (not (fboundp function))) nil)
          ((intersection arglist lambda-list-keywords) "(&REST ARGUMENTS)")
          (t (arglist-text (butlast arglist))))))

(defun expander-arglist (expander)
  "EXPANDER is SBCL's record of a DEFSETF or DEFINE-SETF-EXPANDER form, from SETF-EXPANDER. Return
the lambda list of the place as text, without the parameter for the new value. Return NIL if SBCL
has not kept this lambda list."
  (typecase expander
    ;; DEFINE-SETF-EXPANDER
    (function (recorded-arglist expander))
    ;; The long form of DEFSETF. The CAR is the number of new values.
    ((cons t function) (recorded-arglist (cdr expander)))
    ;; The short form of DEFSETF. The CAR is the update function.
    ((cons symbol) (short-expander-arglist (car expander)))))

(defun name-arglist-members (name)
  "Return the plist (\"arglist\" TEXT). NAME names a function, a setf expander or a compiler macro.
TEXT is its lambda list, such as \"(X &OPTIONAL Y)\", or NIL if SBCL has not kept the lambda list.
For a generic function, add \"accepted\", the lambda list with the keywords of all its methods."
  (let ((expander (and (consp name) (setf-expander (second name)))))
    (cond ((fboundp name) (arglist-members name))
          (expander (list "arglist" (expander-arglist expander)))
          (t (list "arglist" (recorded-arglist (compiler-macro-function name)))))))

(defun arglist-data (name)
  "Return a plist with the lambda list of the function NAME, for a JSON object. If SBCL has not kept
the lambda list, add \"sources\", the source locations of the function."
  (let ((members (name-arglist-members name)))
    (if (or (second members) (not (fboundp name)))
        members
        (list* "sources" (function-sources name) members))))

(defun call-text (name)
  "Return text with the function name NAME and its lambda list. If SBCL has not kept the lambda
list, the text says so."
  (format nil "~A~:[, arguments not recorded~; ~:*~A~]" (name-text name)
          (second (name-arglist-members name))))

(defun declaimed (name)
  "Return a list of strings for the proclamations of the function NAME: \"FTYPE\" if the program has
declaimed the type of NAME, and \"INLINE\" or \"NOTINLINE\" if the program has declaimed NAME inline
or notinline."
  (let ((inline (known :function :inlinep name)))
    (remove nil (list (and (declared-type-p name) "FTYPE")
                      (and (member inline '(inline notinline)) (symbol-name inline))))))

(defun setf-call-text (symbol)
  "Return text with the name (SETF SYMBOL) and its lambda list. Return NIL if this name has neither
a function nor a setf expander."
  (let ((name (list 'setf symbol)))
    (and (function-kind name)
         (call-text name))))

;;; Lambda lists of methods

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
  "Return the method combination of the generic function FUNCTION, with its options, as text. Return
NIL for the standard combination."
  (let* ((combination (sb-mop:generic-function-method-combination function))
         (type (combination-name combination))
         (options (combination-options combination)))
    (and type (not (eq type 'standard))
         (format nil "~A~@[ ~A~]" (symbol-text type) (and options (plain-text 200 options))))))

(defun generic-members (function methods offset limit)
  "Return a plist for a JSON object: the method combination of the generic function FUNCTION and the
number of its methods. If METHODS is true, add the lambda lists of LIMIT methods from OFFSET on."
  (let ((all (sb-mop:generic-function-methods function)))
    (list "combination" (combination-text function)
          "methodCount" (length all)
          "methods" (and methods (mapcar #'method-arglist (page all offset limit))))))

;;; The operation

(define-shape arglist-data ()
  "How a function is called."
  (name string) (natures (list string) :optional)
  (kind string :optional "Kind of the function; absent when the name is no function.")
  (arglist string :optional
   "Absent when SBCL keeps no lambda list. Then `sources` says where the function is defined.")
  (sources (list place) :optional)
  (accepted string :optional
   "The lambda list that all methods of the generic function accept together, when it differs from
   `arglist`.")
  (type string :optional) (declaimed (list string) :optional) (documentation string :optional)
  (compiler-macro string :optional "Lambda list of the function's compiler macro.")
  (setf string :optional
   "An example of a form that sets the place by the SETF function of the name.")
  (combination string :optional) (method-count integer :optional)
  (methods (list string) :optional))

(define-operation ("arglist" :gives (or arglist-data lookup-failure))
    (name package
     (methods boolean :optional "True for the lambda lists of methods, too.")
     offset limit)
  "Return how to call a function: lambda list, type, documentation."
  ;; If NAME is (SETF SYMBOL), TARGET is this list.
  (multiple-value-bind (target symbol setf-name-p) (named-target name package)
    (let ((kind (function-kind target)))
      (call-user-code
       (lambda ()
         (make-json-object
          (list* "name" (name-text target)
                 "natures" (if setf-name-p '() (exact-natures symbol))
                 "kind" kind
                 "type" (function-type-text target)
                 "declaimed" (declaimed target)
                 "documentation" (and kind (if (fboundp target)
                                               (doc-text target 'function)
                                               (doc-text symbol 'setf)))
                 "compilerMacro" (and (compiler-macro-function target)
                                      (or (recorded-arglist (compiler-macro-function target))
                                          "arguments not recorded"))
                 "setf" (and (not setf-name-p) (setf-call-text symbol))
                 (append (and kind (arglist-data target))
                         (and (equal kind "GENERIC-FUNCTION")
                              (generic-members (plain-definition target) methods offset
                                               limit))))))))))
