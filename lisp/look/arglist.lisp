;;;; How a function, macro or special operator is called: its lambda list and type, and
;;;; those of the methods of a generic function.

(in-package "LIVE-LISP.LOOK")

(defun setf-expander (symbol)
  "Return what DEFSETF or DEFINE-SETF-EXPANDER left for SYMBOL, or NIL."
  (known :setf :expander symbol))

(defun function-kind (name)
  "Return what the function name NAME stands for, or NIL when it is no function."
  (cond ((not (fboundp name))
         (and (consp name) (setf-expander (second name)) "SETF EXPANDER"))
        ((typep (fdefinition name) 'generic-function) "GENERIC-FUNCTION")
        ((consp name) "SETF FUNCTION")
        ((special-operator-p name) "SPECIAL OPERATOR")
        (t (callable-nature name))))

(defun expander-arglist (expander)
  "Return the lambda list of EXPANDER, what SETF-EXPANDER returned: without the new value.
Of the short form of DEFSETF, whose function takes that last, only when it takes no more
than required arguments."
  (typecase expander
    (function (introspect "FUNCTION-LAMBDA-LIST" expander))
    ((cons t function) (introspect "FUNCTION-LAMBDA-LIST" (cdr expander)))
    ((cons symbol) (let ((arglist (introspect "FUNCTION-LAMBDA-LIST" (car expander))))
                     (if (intersection arglist lambda-list-keywords) '(&rest arguments) (butlast arglist))))))

(defun name-arglist (name)
  "Return the lambda list of what the function name NAME stands for, as text."
  (arglist-text (cond ((not (fboundp name)) (expander-arglist (setf-expander (second name))))
                      ((consp name) (introspect "FUNCTION-LAMBDA-LIST" (fdefinition name)))
                      (t (introspect "FUNCTION-LAMBDA-LIST" name)))))

(defun declared-type-p (name)
  "True when the type of the function NAME was declaimed, and is not what the compiler found."
  (eq :declared (known :function :where-from name)))

(defun function-type-text (name)
  "Return the type of the function NAME as text, or NIL when nothing is known. A type can be
declaimed before there is a function."
  (type-text 1000
             (cond ((and (symbolp name) (or (macro-function name) (special-operator-p name))) nil)
                   ((fboundp name) (introspect "FUNCTION-TYPE" name))
                   ((declared-type-p name)
                    (let ((type (known :function :type name)))
                      (type-specifier type))))))

(defun declaimed (name)
  "Return what is declaimed of the function NAME, a list of strings."
  (let ((inline (known :function :inlinep name)))
    (remove nil (list (and (declared-type-p name) "FTYPE")
                      (and (member inline '(inline notinline)) (symbol-name inline))))))

(defun setf-text (symbol)
  "Return how (SETF SYMBOL) is called, or NIL when it is no function and has no expander."
  (let ((name (list 'setf symbol)))
    (and (function-kind name)
         (format nil "~A ~A" (name-text name) (name-arglist name)))))

;;; Methods

(defun method-arglist (method)
  "Return the qualifiers and the specialized lambda list of METHOD, as in a DEFMETHOD form."
  (let* ((arglist (sb-mop:method-lambda-list method))
         (specializers (sb-mop:method-specializers method))
         (others (arglist-text (nthcdr (length specializers) arglist))))
    (format nil "~{~A ~}(~{~A~^ ~})"
            (mapcar (lambda (qualifier) (plain-text 100 qualifier)) (method-qualifiers method))
            (append (loop for parameter in arglist
                          for specializer in specializers
                          collect (if (eq specializer (find-class 't))
                                      (symbol-name parameter)
                                      (format nil "(~A ~A)" (symbol-name parameter) (specializer-text specializer))))
                    (and (string/= others "()")
                         (list (subseq others 1 (1- (length others)))))))))

(defun combination-text (function)
  "Return how the generic FUNCTION combines its methods, when not as usual, else NIL."
  (let* ((combination (sb-mop:generic-function-method-combination function))
         (type (combination-name combination))
         (options (combination-options combination)))
    (and type (not (eq type 'standard))
         (format nil "~A~@[ ~A~]" (symbol-text type) (and options (plain-text 200 options))))))

(defun generic-members (function methods offset limit)
  "Return the members of the answer that are about the generic FUNCTION; with METHODS, at
most LIMIT of its methods from OFFSET on."
  (let ((all (sb-mop:generic-function-methods function)))
    (list "combination" (combination-text function)
          "methodCount" (length all)
          "methods" (and methods (mapcar #'method-arglist (page all offset limit))))))

;;; The operation

(define-operation "arglist" (name package methods offset limit)
  "Tell how what NAME of PACKAGE names as a function is called; of a generic function with
METHODS also how its methods are, of which LIMIT are told from OFFSET on."
  (multiple-value-bind (symbol status setf) (named-symbol name package)
    (declare (ignore status))
    (let* ((target (if setf (list 'setf symbol) symbol)) (kind (function-kind target)))
      (call-user-code
       (lambda ()
         (make-json-object
          (list* "name" (name-text target)
                 "natures" (if setf '() (natures symbol))
                 "kind" kind
                 "arglist" (and kind (name-arglist target))
                 "type" (function-type-text target)
                 "declaimed" (declaimed target)
                 "documentation" (and kind (doc-text (if (fboundp target) target symbol)
                                                     (if (fboundp target) 'function 'setf)))
                 "compilerMacro" (and (compiler-macro-function target)
                                      (arglist-text (introspect "FUNCTION-LAMBDA-LIST" (compiler-macro-function target))))
                 "setf" (and (not setf) (setf-text symbol))
                 (and (equal kind "GENERIC-FUNCTION")
                      (generic-members (fdefinition target) methods offset limit)))))))))
