;;;; Finds the methods of a generic function that apply to given arguments, most specific first. No
;;;; code of the program is called: classes and specializers are compared by the rules of the
;;;; standard.

(in-package "LIVE-LISP.LOOK")

;;; The functions in this file represent an argument of the call by a list:
;;; (:VALUE object): a known object.
;;; (:VALUE object variable): a known object, given as the value of a variable.
;;; (:CLASS class): an unknown instance of a class.
;;; (:UNDEFINED class): an instance of a class that is not defined yet.

(defun literal (kind text)
  "Return the object that TEXT denotes. KIND is \"string\", \"character\" or the name of another
kind of literal. The server has checked that TEXT is such a literal."
  (cond ((string= kind "string") (coerce text 'simple-string))
        ((string= kind "character") (if (= 1 (length text)) (char text 0) (name-char text)))
        (t (with-standard-io-syntax (let ((*read-eval* nil)) (values (read-from-string text)))))))

(defun global-value (symbol)
  "Return the list (:VALUE object SYMBOL), where the object is the value of the global variable or
constant SYMBOL. Return NIL if SYMBOL is no such variable or is unbound."
  (and (member (variable-kind symbol) '(:special :constant :global :always-bound))
       (boundp symbol)
       (list :value (symbol-value symbol) symbol)))

(defun named-argument (symbol)
  "Return the argument that SYMBOL stands for: a list (:CLASS class) or (:UNDEFINED class) if SYMBOL
names a class, or a list (:VALUE object SYMBOL) if it is a variable with a value. Return NIL if it
is neither."
  (let ((class (find-class symbol nil)))
    (cond ((and class (forward-referenced-p class)) (list :undefined class))
          (class (list :class class))
          (t (global-value symbol)))))

(define-shape written-argument ()
  "An argument of a call as it was written in the request: a name, a symbol, the object of an EQL
  specializer, or a literal."
  (kind (member "name" "symbol" "eql" "number" "string" "character")) (text string))

(defun parsed-argument (argument package)
  "ARGUMENT is a hash table with the strings \"kind\" and \"text\". Return the argument that it
denotes as a list such as (:CLASS class) or (:VALUE object). Return NIL if it denotes nothing. Names
in the text are looked up in PACKAGE."
  (let ((kind (gethash "kind" argument)) (text (gethash "text" argument)))
    (flet ((symbol-of () (values (named-symbol text package))))
      (cond ((string= kind "name") (named-argument (symbol-of)))
            ;; A keyword that does not exist is the object of no EQL specializer. So use an
            ;; uninterned symbol, since the question must not create the keyword.
            ((and (string= kind "symbol")
                  (eql 0 (position #\: text))
                  (not (find-symbol (token-name (subseq text 1)) "KEYWORD")))
             (list :value (make-symbol (token-name (subseq text 1)))))
            ((string= kind "symbol") (list :value (symbol-of)))
            ((string= kind "eql") (or (global-value (symbol-of)) (list :value (symbol-of))))
            (t (let ((value (ignore-errors (literal kind text))))
                 (and value (list :value value))))))))

(defun argument-class (argument)
  "Return the class of ARGUMENT, a list such as (:CLASS class) or (:VALUE object)."
  (if (eq (first argument) :value) (class-of (second argument)) (second argument)))

(defun value-text (object)
  "Return text for OBJECT: a literal as it is printed, any other object as #<CLASS>. No print method
of the program runs."
  (typecase object
    ((or symbol number character string) (plain-text 100 object))
    (t (format nil "#<~A>" (class-text (class-of object))))))

(defun argument-text (argument)
  "Return text for ARGUMENT, a list (:CLASS class), (:UNDEFINED class) or (:VALUE object
[variable]). A class is shown by its name, and an object as an EQL specializer. If the object is no
literal, the specializer has the variable."
  (destructuring-bind (kind value &optional variable) argument
    (cond ((not (eq kind :value)) (class-text value))
          ((and variable (not (typep value '(or symbol number character string))))
           (format nil "(EQL ~A)" (symbol-text variable)))
          (t (format nil "(EQL ~A)" (value-text value))))))

(define-shape argument-source ()
  "How code gets an argument: from a variable, as a symbol or a literal, or as an allocated instance
or the prototype of a class."
  (by (member "variable" "symbol" "literal" "instance" "prototype")) (text string))

(defun argument-source (argument)
  "ARGUMENT is a list as PARSED-ARGUMENT returns. Return a JSON object for code that needs such an
argument: where the code can get an object. \"by\" is \"variable\" for the value of a variable,
\"instance\" for a new instance of a class, \"prototype\" for the prototype of a class, \"symbol\"
or \"literal\". Return NIL if the literal would be longer than 200 characters."
  (destructuring-bind (kind value &optional variable) argument
    (cond (variable (object "by" "variable" "text" (symbol-text variable)))
          ((not (eq kind :value))
           (object "by" (if (typep value '(or standard-class structure-class))
                            "instance"
                            "prototype")
                   "text" (class-text value)))
          ((symbolp value) (object "by" "symbol" "text" (symbol-text value)))
          (t (let ((text (plain-text 200 value)))
               (and (<= (length text) 200) (object "by" "literal" "text" text)))))))

;;; Applicable methods and their order

(defun precedence (class)
  "Return the class precedence list of CLASS without finalizing CLASS. Return NIL if a superclass is
not defined."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (and (notany #'forward-referenced-p (ancestors class))
           (ignore-errors (standard-precedence-list class
                                                    (sb-mop:class-direct-superclasses class))))))

(defun abstract-p (class)
  "Return true if CLASS is a built-in class such as INTEGER, which has only instances of its
subclasses."
  (and (typep class 'built-in-class) (sb-mop:class-direct-subclasses class) t))

(defun fits (specializer argument precedence)
  "ARGUMENT is a list (:VALUE object) or (:CLASS class), and PRECEDENCE is the class precedence list
of its class. Return T if ARGUMENT matches SPECIALIZER, and NIL if it does not. Return :PERHAPS if
only the class of ARGUMENT is known, and some instances of the class match and others do not."
  (let ((of-class (eq (first argument) :class)))
    (cond ((typep specializer 'class)
           (cond ((member specializer precedence) t)
                 ((and of-class
                       (abstract-p (second argument))
                       (member (second argument) (precedence specializer)))
                  :perhaps)))
          (of-class
           (let ((class (class-of (sb-mop:eql-specializer-object specializer))))
             (and (or (eq class (second argument))
                      (and (abstract-p (second argument))
                           (member (second argument) (precedence class))))
                  :perhaps)))
          (t (eql (sb-mop:eql-specializer-object specializer) (second argument))))))

(defun more-specific-p (one other order precedences)
  "Return true if the method ONE is more specific than OTHER. ORDER lists the positions of
arguments, from 0, in the order in which their specializers are compared. PRECEDENCES lists the
class precedence list of each argument's class."
  (loop for position in order
        for a = (elt (sb-mop:method-specializers one) position)
        for b = (elt (sb-mop:method-specializers other) position)
        unless (eq a b)
          return (and (or (not (typep a 'class))
                          (and (typep b 'class)
                               (let ((places (elt precedences position)))
                                 (< (or (position a places) 0) (or (position b places) 0)))))
                      t)))

(defun applicable-methods (function arguments)
  "ARGUMENTS are lists as PARSED-ARGUMENT returns. Return two values. The first is a list of the
methods of the generic function FUNCTION that are applicable to ARGUMENTS, most specific first. The
second is a list of (METHOD POSITIONS) lists for methods that are applicable only to some objects of
the classes in ARGUMENTS. POSITIONS lists the positions of the arguments that decide this, from 0."
  (let ((precedences (loop for argument in arguments
                           collect (precedence (argument-class argument))))
        (order (precedence-positions function))
        (sure '()) (perhaps '()))
    (dolist (method (sb-mop:generic-function-methods function))
      (let ((fits (mapcar #'fits (sb-mop:method-specializers method) arguments precedences)))
        (cond ((member nil fits))
              ((member :perhaps fits)
               (push (list method
                           (loop for fit in fits for i from 0 when (eq fit :perhaps) collect i))
                     perhaps))
              (t (push method sure)))))
    (values (stable-sort (nreverse sure)
                         (lambda (one other) (more-specific-p one other order precedences)))
            (nreverse perhaps))))

(defun required-parameters (function)
  "Return a list of the required parameters of the generic function FUNCTION."
  (let ((arglist (sb-mop:generic-function-lambda-list function)))
    (ldiff arglist (member-if (lambda (part) (member part lambda-list-keywords)) arglist))))

(defun precedence-positions (function)
  "Return a list of the positions, from 0, of the required parameters of the generic function
FUNCTION, in argument precedence order."
  (let ((required (required-parameters function)))
    (loop for parameter in (sb-mop:generic-function-argument-precedence-order function)
          collect (position parameter required))))

(defun condition-text (method positions)
  "Return text that says which arguments would make METHOD applicable, such as \"argument 1 is of
class INTEGER\". POSITIONS lists the positions of these arguments, from 0."
  (format nil "~{~A~^ and ~}"
          (loop for position in positions
                for specializer = (elt (sb-mop:method-specializers method) position)
                collect (if (typep specializer 'class)
                            (format nil "argument ~D is of class ~A" (1+ position)
                                    (class-text specializer))
                            (format nil "argument ~D is eql to ~A" (1+ position)
                                    (value-text (sb-mop:eql-specializer-object specializer)))))))
