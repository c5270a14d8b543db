;;;; Finds the methods of a generic function that apply to given arguments, most specific first. No
;;;; code of the program is called: classes and specializers are compared by the rules of the
;;;; standard.

(in-package "LIVE-LISP.LOOK")

;;; An argument is one of the lists (:VALUE object), followed by the variable that was given for the
;;; object, if any; (:CLASS class) for any instance of the class; and (:UNDEFINED class) for a class
;;; that is not defined yet

(defun literal (kind text)
  "Return the object that TEXT denotes. KIND is the kind of the literal, which the server has
checked."
  (cond ((string= kind "string") (coerce text 'simple-string))
        ((string= kind "character") (if (= 1 (length text)) (char text 0) (name-char text)))
        (t (with-standard-io-syntax (let ((*read-eval* nil)) (values (read-from-string text)))))))

(defun global-value (symbol)
  "Return a list of :VALUE, the value of the global variable or constant SYMBOL, and SYMBOL, or
NIL."
  (and (member (variable-kind symbol) '(:special :constant :global :always-bound))
       (boundp symbol)
       (list :value (symbol-value symbol) symbol)))

(defun named-argument (symbol)
  "Return the argument that SYMBOL denotes: the class SYMBOL, or else the value of the variable
SYMBOL, or else NIL."
  (let ((class (find-class symbol nil)))
    (cond ((and class (forward-referenced-p class)) (list :undefined class))
          (class (list :class class))
          (t (global-value symbol)))))

(defun parsed-argument (argument package)
  "Return the argument that ARGUMENT, a hash table with the keys \"kind\" and \"text\", denotes, or
NIL. Names are looked up in PACKAGE."
  (let ((kind (gethash "kind" argument)) (text (gethash "text" argument)))
    (flet ((symbol-of () (values (named-symbol text package))))
      (cond ((string= kind "name") (named-argument (symbol-of)))
            ;; No method specializes on a keyword that does not exist, and asking must not create
            ;; the keyword.
            ((and (string= kind "symbol")
                  (eql 0 (position #\: text))
                  (not (find-symbol (token-name (subseq text 1)) "KEYWORD")))
             (list :value (make-symbol (token-name (subseq text 1)))))
            ((string= kind "symbol") (list :value (symbol-of)))
            ((string= kind "eql") (or (global-value (symbol-of)) (list :value (symbol-of))))
            (t (let ((value (ignore-errors (literal kind text))))
                 (and value (list :value value))))))))

(defun argument-class (argument)
  "Return the class of ARGUMENT."
  (if (eq (first argument) :value) (class-of (second argument)) (second argument)))

(defun value-text (object)
  "Return OBJECT, the value of an argument, as text, without running code of the program."
  (typecase object
    ((or symbol number character string) (plain-text 100 object))
    (t (format nil "#<~A>" (class-text (class-of object))))))

(defun argument-text (argument)
  "Return ARGUMENT as text for answers: a class by its name, a value as an EQL specializer, an
object that is no literal by the variable that was given for it."
  (destructuring-bind (kind value &optional variable) argument
    (cond ((not (eq kind :value)) (class-text value))
          ((and variable (not (typep value '(or symbol number character string))))
           (format nil "(EQL ~A)" (symbol-text variable)))
          (t (format nil "(EQL ~A)" (value-text value))))))

(defun argument-source (argument)
  "Return a JSON object that says how code gets an object as ARGUMENT says, or NIL if its text would
be too long: by the name of a \"variable\", by allocating an \"instance\" of a class or taking its
\"prototype\", or as a \"symbol\" or other \"literal\"."
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
  "Return the precedence list of CLASS without finalizing it, or NIL when a superclass is
undefined."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (and (notany #'forward-referenced-p (ancestors class))
           (ignore-errors (standard-precedence-list class
                                                    (sb-mop:class-direct-superclasses class))))))

(defun abstract-p (class)
  "True when CLASS, such as INTEGER, has no instances other than those of its subclasses."
  (and (typep class 'built-in-class) (sb-mop:class-direct-subclasses class) t))

(defun fits (specializer argument precedence)
  "Return T when ARGUMENT matches SPECIALIZER, NIL when it does not. Return :PERHAPS when this
depends on the object and only its class is known. PRECEDENCE is the precedence list of this class."
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
  "True when the method ONE is more specific than OTHER. ORDER is a list of the positions of
arguments, in the order in which they are compared. PRECEDENCES has, for each argument, the
precedence list of its class."
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
  "Return the methods of FUNCTION, a generic function, that are applicable to ARGUMENTS, most
specific first. The second value is a list for the methods that may be applicable, of lists of the
method and of the positions of the arguments that decide."
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
  "Return the required parameters of the generic FUNCTION."
  (let ((arglist (sb-mop:generic-function-lambda-list function)))
    (ldiff arglist (member-if (lambda (part) (member part lambda-list-keywords)) arglist))))

(defun precedence-positions (function)
  "Return the positions of the required parameters of FUNCTION, a generic function, in argument
precedence order."
  (let ((required (required-parameters function)))
    (loop for parameter in (sb-mop:generic-function-argument-precedence-order function)
          collect (position parameter required))))

(defun condition-text (method positions)
  "Return a text that says what the arguments at POSITIONS, a list of indices, must be so that
METHOD is applicable."
  (format nil "~{~A~^ and ~}"
          (loop for position in positions
                for specializer = (elt (sb-mop:method-specializers method) position)
                collect (if (typep specializer 'class)
                            (format nil "argument ~D is of class ~A" (1+ position)
                                    (class-text specializer))
                            (format nil "argument ~D is eql to ~A" (1+ position)
                                    (value-text (sb-mop:eql-specializer-object specializer)))))))
