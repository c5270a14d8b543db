;;;; Finds what the removal of a definition would break or lose: other definitions, code that was
;;;; loaded or evaluated, and living data. NEEDS comes first, then its functions for each
;;;; kind of definition. DEFINITION and its IDENTITY are defined in items.lisp; METHOD-OF,
;;;; KIND-REACHED and USERS-OF-CONSTANTS in users.lisp; USERS-OF-NAMES in look/xref.lisp; MAP-PARTS
;;;; in look/class-impact.lisp.

(in-package "LIVE-LISP.SOURCES")

(defvar *planning* nil
  "True while a removal is only planned. Then an instance in the value of a variable is no reason to
keep its class, and a symbol no reason to keep its package: the removal may remove the instance and
the symbol first.")

(defun needs (definition removed)
  "Return what the removal of DEFINITION would break or lose, in two lists: texts for definitions
and data, and JSON objects for top-level forms, with the file and number of each. Leave out the
definitions in the list REMOVED, which are to be removed too."
  (case (definition-kind definition)
    (:class (class-needs definition removed))
    (:variable (variable-needs definition removed))
    (:method-combination (combination-needs definition removed))
    (:package (unless *planning* (package-needs definition removed)))))

;;; Classes

(defun class-needs (definition removed)
  "Return a list of texts for the subclasses, methods, code and instances that need the class of
DEFINITION. Leave out definitions in the list REMOVED. Search the heap for instances only if
nothing else needs the class."
  (let* ((name (definition-name definition)) (class (find-class name nil)))
    (when class
      (let* ((cell (class-cell name)) (classoid (and cell (cell-classoid cell)))
             (layout (and classoid (classoid-layout classoid))))
        (or (append (needed-by-definitions class removed)
                    ;; Compiled code refers to a class by one of these three objects.
                    (needed-by-constants name
                                         (lambda (constant)
                                           (and constant
                                                (or (eq constant cell) (eq constant layout)
                                                    (eq constant class))))
                                         removed))
            (unless (and *planning* (find :variable removed :key #'definition-kind))
              (needed-by-instances class)))))))

(defun needed-by-definitions (class removed)
  "Return a list of texts for the subclasses and methods that need CLASS, except those in the list
REMOVED."
  (append (loop for sub in (sb-mop:class-direct-subclasses class)
                unless (or (not (eq sub (find-class (class-name sub) nil)))
                           (find-if (lambda (definition)
                                      (and (eq (definition-kind definition) :class)
                                           (eq (definition-name definition) (class-name sub))))
                                    removed))
                  collect (format nil "class ~A" (class-text sub)))
          (loop for method in (sb-mop:specializer-direct-methods class)
                for function = (sb-mop:method-generic-function method)
                for name = (and function (sb-mop:generic-function-name function))
                when (and function
                          (member class (sb-mop:method-specializers method) :test #'eq)
                          (attached-p method)
                          (not (core-symbol-p (name-symbol name)))
                          (not (find method removed :key #'definition-identity :test #'eq)))
                  collect (format nil "method ~A" (method-name-text name method)))))

(defun needed-by-constants (symbol wanted removed)
  "SYMBOL names a definition, such as a class. The predicate WANTED is true of constants that code
contains because of it, such as the layout of the class. Return a list of texts for the definitions
whose code has such a constant. Leave out the definitions in the list REMOVED."
  (remove-duplicates (loop for use in (users-of-constants symbol wanted '())
                           for name = (compiled-use-user use)
                           for function = (compiled-use-function use)
                           unless (removed-name-p name (method-of function name) removed)
                             collect (need-text name function))
                     :test #'string=))

(defun needed-by-instances (class)
  "Return a list of one text with the number of the instances of CLASS in the heap, or NIL if there
are none. If the heap is too large to search, the text says so."
  (let ((count (instance-count class)))
    (cond ((null count) (list "instances that may be in the heap, which is too large to search"))
          ((plusp count) (list (format nil "~D instance~:P" count))))))

;;; Variables

(defun variable-needs (definition removed)
  "DEFINITION is the definition of a variable, and REMOVED a list of definitions. Return two lists:
texts for definitions and data that use the variable, and JSON objects for top-level forms that use
it. The first also has a text for the last evaluated form that set the variable or declared it
special."
  (let* ((symbol (definition-name definition)) (evaluation (evaluation-needing symbol)))
    (multiple-value-bind (texts forms) (needed-by-code (list symbol) removed)
      (values (if evaluation (cons evaluation texts) texts) forms))))

(defun evaluation-needing (symbol)
  "Return text for the last evaluated form that declared the variable SYMBOL special or set it.
Return NIL if there is no such form, or if the form only set SYMBOL and SYMBOL is unbound now."
  (destructuring-bind (&optional by . what) (gethash symbol **variables-evaluated**)
    (and by
         (or (eq what :special) (boundp symbol))
         (evaluation-text by))))

;;; Method combinations

(defun combination-needs (definition removed)
  "Return a list of texts for the generic functions with the method combination of DEFINITION. Leave
out the definitions in the list REMOVED."
  (let ((texts '()))
    (map-global-names
     (lambda (name)
       (let ((function (and (typep name 'program-name) (generic-function-named name))))
         (when (and function
                    (eq (definition-name definition)
                        (combination-name (sb-mop:generic-function-method-combination function)))
                    (not (removed-name-p name nil removed)))
           (push (format nil "generic function ~A" (function-name-text name)) texts)))))
    (sort texts #'string<)))

;;; Packages

(defun package-needs (definition removed)
  "DEFINITION is the definition of a package, and REMOVED a list of definitions. Return two lists,
as NEEDS does. Search the code, and then the values of variables, only if nothing else needs the
package, since these searches take longer."
  (let* ((package (definition-identity definition))
         (texts (append (needed-by-packages package) (needed-by-home-symbols package)))
         (symbols (and (null texts) (home-symbols package))))
    (if (null symbols)
        texts
        (multiple-value-bind (texts forms)
            (needed-by-code (append symbols (loop for symbol in symbols collect `(setf ,symbol)))
                            removed)
          (if (or texts forms)
              (values texts forms)
              (needed-by-values (lambda (symbol) (eq (symbol-package symbol) package))))))))

(defun needed-by-packages (package)
  "Return a list of texts for the packages that use PACKAGE, have a local nickname for it, or have
one of its symbols, and for the session if PACKAGE is its current package."
  (append (loop for user in (package-used-by-list package)
                collect (format nil "package ~A" (package-name user)))
          (loop for user in (sb-ext:package-locally-nicknamed-by-list package)
                collect (format nil "the local nickname in package ~A" (package-name user)))
          (let ((symbols (home-symbols package)))
            (from-packages
             (lambda (other)
               (let ((import (and (not (eq other package))
                                  (not (member other (package-used-by-list package)))
                                  (find-if (lambda (symbol) (present-p symbol other)) symbols))))
                 (and import
                      (list (format nil "the import of ~A in package ~A"
                                    (symbol-text import) (package-name other))))))))
          (and (eq package (session-package)) (list "the session, whose current package it is"))))

(defun needed-by-home-symbols (package)
  "Return a list of at most 3 texts for symbols whose home package is PACKAGE and that have
definitions or are EQL specializers of methods."
  (page (loop for symbol in (home-symbols package)
              when (defined-p symbol)
                collect (symbol-text symbol)
              else
                append (loop for method in (sb-mop:specializer-direct-methods
                                            (sb-mop:intern-eql-specializer symbol))
                             for function = (sb-mop:method-generic-function method)
                             when function
                               collect (format nil "method ~A"
                                               (method-name-text
                                                (sb-mop:generic-function-name function) method))))
        0 3))

;;; Code

(defun needed-by-code (names removed)
  "Find the code that uses one of NAMES or contains it as data, except definitions in the list
REMOVED. Return two lists, as CODE-TEXTS does: texts that name functions, and JSON objects for
top-level forms."
  (multiple-value-bind (users mentions) (users-of-names names)
    (code-texts (append users mentions) removed)))

(defun code-texts (users removed)
  "USERS is a list of functions and top-level forms from USERS-OF-NAMES, each as a list from
USER-PARTS. Return two lists: texts that name the functions, and JSON objects with the file and the
number of each form. Leave out functions that are no longer in force, and definitions in the list
REMOVED."
  (let ((texts '()) (forms '()))
    (loop for (name function file number) in users
          do (cond (file (push (list (file-path file) number) forms))
                   ((null name) (push "an anonymous function" texts))
                   ((null function)
                    (push (format nil "the evaluated definition of ~A" (name-text name)) texts))
                   ((stays-p name function removed) (push (need-text name function) texts))))
    (flet ((before-p (one other)
             (or (string< (first one) (first other))
                 (and (string= (first one) (first other)) (< (second one) (second other))))))
      (values (remove-duplicates (nreverse texts) :test #'string=)
              (loop for (file number) in (sort forms #'before-p)
                    collect (object "file" file "form" number))))))

(defun stays-p (name function removed)
  "Return true if FUNCTION, a simple function, is still a definition of NAME and stays one. REMOVED
lists the definitions that are to be removed."
  (and (in-force-p name function)
       (not (removed-name-p name (method-of function name) removed))))

(defun removed-name-p (name identity removed)
  "REMOVED lists the definitions that are to be removed. Return true if one of them is a definition
of NAME with the identity IDENTITY, an object such as a function. If IDENTITY is NIL, any definition
of NAME counts."
  (find-if (lambda (definition)
             (and (equal (definition-name definition) name)
                  (or (null identity) (eq (definition-identity definition) identity))))
           removed))

(defun need-text (name function)
  "Return text for FUNCTION, a simple function that is a definition of NAME, such as \"method F
(K)\"."
  (format nil "~A ~A"
          (case (kind-reached name function) (:macro "macro") (:method "method") (t "function"))
          (user-text name function)))

;;; Variables and property lists whose values contain a symbol

(defparameter *most-parts* 500000
  "The maximum number of objects that are examined in a search through the values of variables.")

(defun needed-by-values (wanted)
  "Return a list of texts that name the variables and property lists whose values contain a symbol
for which the function WANTED returns true. If the values are too large to search, return a list of
one text that says so."
  (catch 'too-many-parts
    (return-from needed-by-values (values-with wanted)))
  (list "values of variables, which are too large to search"))

(defun values-with (wanted)
  "Search the values of the program's variables, and the property lists of its symbols, for symbols
for which the function WANTED returns true. Return a list of texts for the variables and property
lists with such a symbol."
  (let ((seen (make-hash-table :test 'eq)) (texts '()))
    (flet ((look (symbol object format)
             (when (reaches-p wanted object seen)
               (pushnew (format nil format (symbol-text symbol)) texts :test #'string=))))
      (map-program-symbols
       (lambda (symbol)
         (when (boundp symbol) (look symbol (symbol-value symbol) "the value of ~A"))
         (when (symbol-plist symbol)
           (look symbol (symbol-plist symbol) "the property list of ~A"))))
      (sort texts #'string<))))

(defun map-program-symbols (visit)
  "Call the function VISIT with each symbol of the program."
  (map-packages
   (lambda (package)
     (unless (backend-package-p package)
       (do-symbols (symbol package)
         (when (and (eq (symbol-package symbol) package) (program-symbol-p symbol))
           (funcall visit symbol)))))))

(defun reaches-p (wanted object seen)
  "Return true if OBJECT is a symbol that satisfies the predicate WANTED, or contains one at any
depth. SEEN is an EQ hash table with the objects already examined as keys. Add the objects examined
here. Throw to TOO-MANY-PARTS if SEEN has *MOST-PARTS* objects."
  (let ((left (list object)))
    (flet ((look (part)
             (cond ((symbolp part) (when (funcall wanted part) (return-from reaches-p t)))
                   ((typep part '(or number character string)))
                   ((gethash part seen))
                   ((>= (hash-table-count seen) *most-parts*) (throw 'too-many-parts nil))
                   (t (setf (gethash part seen) t)
                      (push part left)))))
      (when (symbolp object) (look object))
      (loop while left do (map-parts #'look (pop left)))
      nil)))

