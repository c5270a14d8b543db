;;;; Finds the definitions that are part of another definition, such as the functions of a
;;;; structure.

(in-package "LIVE-LISP.SOURCES")

(defun structure-described (name)
  "Return SBCL's description of the structure NAME, or NIL. Instances of the structure may be lists
or vectors."
  (or (defstruct-description name nil) (known :typed-structure :info name)))

(defun structure-names (symbol)
  "Return a list of the names of the functions that DEFSTRUCT made for the structure SYMBOL."
  (let ((description (structure-described symbol)))
    (and description (structure-functions description))))

(defun structure-layout (definition)
  "Return a pair of the layout of the structure of DEFINITION, and a list of the names of the
functions that its DEFSTRUCT made. Return NIL if DEFINITION defines no structure."
  (let* ((name (definition-name definition))
         (cell (and (eq (definition-kind definition) :class) (class-cell name)))
         (classoid (and cell (cell-classoid cell))))
    (and classoid
         (defstruct-description name nil)
         (cons (classoid-layout classoid) (structure-names name)))))

(defun made-by-methods-p (definition others)
  "Return true if DEFINITION stands for a generic function that has no DEFGENERIC, and the list
OTHERS has a definition of one of its methods."
  (let ((function (generic-function-named (definition-name definition))))
    (and function
         (eq function (definition-identity definition))
         (some (lambda (other)
                 (and (eq (definition-kind other) :method)
                      (eq function (sb-mop:method-generic-function (definition-identity other)))))
               others))))

(defun part-of-others-p (definition others)
  "Return true if DEFINITION is part of a definition in the list OTHERS, so that it is not shown by
itself in answers. This holds for a method made by the form of a class, a function made by a
DEFSTRUCT, and a generic function made by a DEFMETHOD."
  (let ((name (definition-name definition)) (identity (definition-identity definition)))
    (flet ((old-class-p (class)
             (find-if (lambda (other) (and (eq (definition-kind other) :class)
                                           (eq (definition-name other) (class-name class))))
                      others))
           (structures ()
             (loop for other in others
                   when (member (definition-kind other) '(:class :typed-structure))
                     append (structure-names (definition-name other)))))
      (case (definition-kind definition)
        (:method (some (lambda (class)
                         (let ((other (and (typep class 'class) (old-class-p class))))
                           (and other
                                ;; The form of the class made the method if the forms of both have
                                ;; the same number. For evaluated forms, both numbers are NIL.
                                (or (typep identity 'sb-mop:standard-accessor-method)
                                    (eql (definition-number definition)
                                         (definition-number other))))))
                       (sb-mop:method-specializers identity)))
        (:function (or (and (member name (structures) :test #'equal) t)
                       (made-by-methods-p definition others)))))))

(defun main-definitions (definitions)
  "Return the list DEFINITIONS without the definitions that are part of another definition in it."
  (remove-if (lambda (definition) (part-of-others-p definition definitions)) definitions))
