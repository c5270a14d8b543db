;;;; Finds the methods of a generic function that apply to given arguments, most specific first. No
;;;; code of the program is called: classes and specializers are compared by the rules of the
;;;; standard.

(in-package "LIVE-LISP.LOOK")

(defstruct (call-argument (:conc-name argument-)
                          (:constructor make-argument (kind value &optional variable)))
  "What is known about an argument of a call. KIND says what VALUE is:
:VALUE: the argument itself. VARIABLE is the variable from which it was taken, or NIL.
:CLASS: a class. The argument is some instance of this class.
:UNDEFINED: the same, but the class is not defined yet."
  kind value variable)

(define-shape written-argument ()
  "An argument of a call as it was written in the request: a name, a symbol, the object of an EQL
  specializer, or a literal."
  (kind (member "name" "symbol" "eql" "number" "string" "character")) (text string))

(define-shape argument-source ()
  "How the code of an example call gets an argument: from a variable, as a symbol or a literal, as a
  new instance of a class, or as the prototype of a class."
  (by (member "variable" "symbol" "literal" "instance" "prototype")) (text string))

;;; The arguments of a call

(defun parsed-argument (argument package)
  "ARGUMENT is a hash table from a request, with the strings \"kind\" and \"text\". For a name X,
the kind is \"name\" if the request has X, \"symbol\" for 'X or :X, and \"eql\" for (EQL X). Return
a CALL-ARGUMENT structure for the object or class that ARGUMENT denotes, or NIL if ARGUMENT denotes
none. Look names up in PACKAGE."
  (let ((kind (gethash "kind" argument)) (text (gethash "text" argument)))
    (flet ((symbol-of () (values (named-symbol text package))))
      (cond ((string= kind "name") (named-argument (symbol-of)))
            ;; A keyword that does not exist is the object of no EQL specializer. So use an
            ;; uninterned symbol, since the request must not intern a new keyword.
            ((and (string= kind "symbol")
                  (eql 0 (position #\: text))
                  (not (find-symbol (token-name (subseq text 1)) "KEYWORD")))
             (make-argument :value (make-symbol (token-name (subseq text 1)))))
            ((string= kind "symbol") (make-argument :value (symbol-of)))
            ((string= kind "eql")
             (or (global-value (symbol-of)) (make-argument :value (symbol-of))))
            (t (let ((value (nil-if-program-fails (literal kind text))))
                 (and value (make-argument :value value))))))))

(defun named-argument (symbol)
  "Return a CALL-ARGUMENT structure for SYMBOL. It stands for an instance of the class SYMBOL or, if
SYMBOL names no class, for the value of the variable SYMBOL. Return NIL if SYMBOL names neither a
class nor a variable."
  (let ((class (find-class symbol nil)))
    (cond ((and class (forward-referenced-p class)) (make-argument :undefined class))
          (class (make-argument :class class))
          (t (global-value symbol)))))

(defun global-value (symbol)
  "Return a CALL-ARGUMENT structure for the value of the global variable or constant SYMBOL. Return
NIL if SYMBOL is no such variable or is unbound."
  (and (member (variable-kind symbol) '(:special :constant :global :always-bound))
       (boundp symbol)
       (make-argument :value (symbol-value symbol) symbol)))

(defun literal (kind text)
  "Return the object that TEXT denotes. KIND is \"string\", \"character\" or the name of another
kind of literal. The server has checked that TEXT is such a literal."
  (cond ((string= kind "string") (coerce text 'simple-string))
        ((string= kind "character") (if (= 1 (length text)) (char text 0) (name-char text)))
        (t (with-standard-io-syntax (let ((*read-eval* nil)) (values (read-from-string text)))))))

(defun argument-class (argument)
  "Return the class of ARGUMENT, a CALL-ARGUMENT structure."
  (let ((value (argument-value argument)))
    (if (eq (argument-kind argument) :value) (class-of value) value)))

(defun argument-text (argument)
  "Return text for ARGUMENT, a CALL-ARGUMENT structure: the name of its class, or an EQL specializer
with its object. If the object is no literal, the EQL specializer shows the variable instead."
  (let ((value (argument-value argument)) (variable (argument-variable argument)))
    (cond ((not (eq (argument-kind argument) :value)) (class-text value))
          ((and variable (not (typep value '(or symbol number character string))))
           (format nil "(EQL ~A)" (symbol-text variable)))
          (t (format nil "(EQL ~A)" (value-text value))))))

(defun value-text (object)
  "Return text for OBJECT: a literal as it is printed, any other object as #<CLASS>. No print method
of the program runs."
  (typecase object
    ((or symbol number character string) (plain-text 100 object))
    (t (format nil "#<~A>" (class-text (class-of object))))))

(defun argument-source (argument)
  "Return a JSON object that says how code can get the object that ARGUMENT, a CALL-ARGUMENT
structure, stands for. \"text\" is a variable, a class, a symbol or a literal. \"by\" says which:
\"variable\", \"symbol\", \"literal\", or for a class \"instance\" or \"prototype\". Return NIL for
a literal of more than 200 characters."
  (let ((value (argument-value argument)) (variable (argument-variable argument)))
    (cond (variable (object "by" "variable" "text" (symbol-text variable)))
          ((not (eq (argument-kind argument) :value))
           (object "by" (if (typep value '(or standard-class structure-class))
                            "instance"
                            "prototype")
                   "text" (class-text value)))
          ((symbolp value) (object "by" "symbol" "text" (symbol-text value)))
          (t (let ((text (plain-text 200 value)))
               (and (<= (length text) 200) (object "by" "literal" "text" text)))))))

;;; Applicable methods and their order

(defun applicable-methods (function arguments)
  "ARGUMENTS is a list of CALL-ARGUMENT structures for a call of the generic function FUNCTION.
Return two values: a list of the methods that apply, most specific first, and a list of (METHOD
POSITIONS) lists for the methods that perhaps apply. POSITIONS lists the positions, counted from 0,
of the arguments that make this uncertain: only some instances of their classes match the
specializers of METHOD."
  (let ((precedences (loop for argument in arguments
                           collect (precedence (argument-class argument))))
        (order (precedence-positions function))
        (sure '()) (perhaps '()))
    (dolist (method (sb-mop:generic-function-methods function))
      (let ((matches (mapcar #'specializer-match
                             (sb-mop:method-specializers method) arguments precedences)))
        (cond ((member nil matches))
              ((member :perhaps matches)
               (push (list method
                           (loop for match in matches
                                 for position from 0
                                 when (eq match :perhaps) collect position))
                     perhaps))
              (t (push method sure)))))
    (values (stable-sort (nreverse sure)
                         (lambda (one other) (more-specific-p one other order precedences)))
            (nreverse perhaps))))

(defun specializer-match (specializer argument precedence)
  "Return T if ARGUMENT, a CALL-ARGUMENT structure, matches SPECIALIZER, NIL if not, and :PERHAPS if
only some instances of the class of ARGUMENT match. PRECEDENCE is the class precedence list of this
class."
  (let* ((value (argument-value argument))
         (of-class (eq (argument-kind argument) :class)))
    (flet ((perhaps-of-p (class)
             ;; An argument of class INTEGER may be a FIXNUM.
             (and of-class (abstract-p value) (member value (precedence class)))))
      (cond ((typep specializer 'class)
             (cond ((member specializer precedence) t)
                   ((perhaps-of-p specializer) :perhaps)))
            (of-class
             (let ((class (class-of (sb-mop:eql-specializer-object specializer))))
               (and (or (eq class value) (perhaps-of-p class)) :perhaps)))
            (t (eql (sb-mop:eql-specializer-object specializer) value))))))

(defun abstract-p (class)
  "Return true if CLASS is a built-in class such as INTEGER, all of whose instances belong to its
subclasses."
  (and (typep class 'built-in-class) (sb-mop:class-direct-subclasses class) t))

(defun precedence (class)
  "Return the class precedence list of CLASS without finalizing CLASS. Return NIL if a superclass is
not defined."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (and (notany #'forward-referenced-p (ancestors class))
           (nil-if-program-fails
             (standard-precedence-list class (sb-mop:class-direct-superclasses class))))))

(defun more-specific-p (one other order precedences)
  "Return true if the method ONE is more specific than the method OTHER. ORDER lists positions of
arguments, from 0, in the order in which specializers are compared. PRECEDENCES lists the class
precedence lists of the arguments' classes."
  (loop for position in order
        for a = (elt (sb-mop:method-specializers one) position)
        for b = (elt (sb-mop:method-specializers other) position)
        unless (eq a b)
          ;; An EQL specializer is more specific than a class.
          return (cond ((not (typep a 'class)) t)
                       ((not (typep b 'class)) nil)
                       (t (let ((precedence (elt precedences position)))
                            (< (or (position a precedence) 0) (or (position b precedence) 0)))))))

(defun precedence-positions (function)
  "Return a list of the positions, from 0, of the required parameters of the generic function
FUNCTION, in argument precedence order."
  (let ((required (required-parameters function)))
    (loop for parameter in (sb-mop:generic-function-argument-precedence-order function)
          collect (position parameter required))))

(defun required-parameters (function)
  "Return a list of the required parameters of the generic function FUNCTION."
  (let ((arglist (sb-mop:generic-function-lambda-list function)))
    (ldiff arglist (member-if (lambda (part) (member part lambda-list-keywords)) arglist))))

(defun condition-text (method positions)
  "Return text for the condition under which METHOD is applicable, such as \"argument 1 is of class
INTEGER\". POSITIONS lists the positions, from 0, of the arguments concerned."
  (format nil "~{~A~^ and ~}"
          (loop for position in positions
                for specializer = (elt (sb-mop:method-specializers method) position)
                collect (if (typep specializer 'class)
                            (format nil "argument ~D is of class ~A" (1+ position)
                                    (class-text specializer))
                            (format nil "argument ~D is eql to ~A" (1+ position)
                                    (value-text (sb-mop:eql-specializer-object specializer)))))))
