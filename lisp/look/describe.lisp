;;;; Defines the operation describe, which returns all definitions that a symbol names.
;;;; base/sbcl-definitions.lisp defines the names for SBCL's internals: METHOD-COMBINATIONS is a
;;;; table of SBCL, and CONDITION-CLASS a type.

(in-package "LIVE-LISP.LOOK")

(defun recorded-arglist (function)
  "FUNCTION is a function or a function name. Return the lambda list of FUNCTION as text. The lambda
list of a generic function includes the keywords of all its methods. Return NIL if SBCL has not kept
the lambda list, as with a DEBUG quality of 0."
  (handler-case
      (multiple-value-bind (arglist unknown) (introspect "FUNCTION-LAMBDA-LIST" function)
        (and (not unknown) (arglist-text arglist)))
    ;; SBCL warns about a generic function that has neither a lambda list nor methods.
    (warning () nil)))

(defun generic-arglist (function)
  "Return the lambda list of the generic function FUNCTION as text, without keywords of the methods.
Return NIL if FUNCTION has no lambda list."
  (handler-case (arglist-text (sb-mop:generic-function-lambda-list function))
    (warning () nil)))

(defun arglist-members (name)
  "Return a plist with \"arglist\", the lambda list of the function NAME as text or NIL. For a
generic function, add \"accepted\": the lambda list with the keywords of all its methods.
\"accepted\" is NIL if the methods add no keywords."
  (let ((function (and (not (and (symbolp name) (macro-function name))) (plain-definition name)))
        (recorded (recorded-arglist name)))
    (if (typep function 'generic-function)
        (let ((own (generic-arglist function)))
          (list "arglist" own "accepted" (and (not (equal own recorded)) recorded)))
        (list "arglist" recorded))))

(defun type-arglist (symbol)
  "Return the lambda list of the type SYMBOL as text, or NIL if SBCL has not kept it."
  (multiple-value-bind (arglist known) (introspect "DEFTYPE-LAMBDA-LIST" symbol)
    (and known (listp arglist) (arglist-text arglist))))

(defun place-data (source &optional description function)
  "Return a JSON object with the file and position of SOURCE, a definition source of SB-INTROSPECT,
and the text DESCRIPTION. Return NIL if SOURCE has no file. If SOURCE is the location of a method,
FUNCTION is the method function: SBCL records the write date of the file only with its code."
  (let* ((path (introspect "DEFINITION-SOURCE-PATHNAME" source))
         (file (and path (translated (namestring path))))
         (written (or (introspect "DEFINITION-SOURCE-FILE-WRITE-DATE" source)
                      ;; When the backend compiles some forms of a file, it passes the date of the
                      ;; file to the compiler, which keeps it with each class.
                      (getf (introspect "DEFINITION-SOURCE-PLIST" source) :live-lisp-date)
                      (let ((place (and function (function-place function))))
                        (and place (code-place-created place))))))
    (when path
      (let ((form (first (introspect "DEFINITION-SOURCE-FORM-PATH" source))))
        (make-json-object
         (list* "file" file
                "offset" (introspect "DEFINITION-SOURCE-CHARACTER-OFFSET" source)
                "form" form
                "description" description
                (append (version-members file written (date-of file))
                        (span-members file written form
                                      (introspect "DEFINITION-SOURCE-FORM-NUMBER" source)
                                      '()))))))))

(defun source-data (name type)
  "Return a list of JSON objects with the source locations of NAME as TYPE, a definition type of
SB-INTROSPECT such as :FUNCTION."
  (remove nil (mapcar #'place-data (introspect "FIND-DEFINITION-SOURCES-BY-NAME" name type))))

(defun method-description (method)
  "Return the qualifiers and specializers of METHOD as text."
  (format nil "~{~S ~}(~{~A~^ ~})" (method-qualifiers method)
          (loop for specializer in (sb-mop:method-specializers method)
                collect (specializer-text specializer))))

(sb-ext:defglobal **evaluation-of** (constantly nil)
  "The function that EVALUATION-DATA calls, set by sources/compare.lisp. Its arguments are a name or
a method, and keywords for kinds of definitions, such as :FUNCTION. It returns a JSON object about
the evaluation that made the current definition of one of these kinds, or NIL if no evaluated form
made such a definition.")

(define-shape evaluated ()
  "An evaluation that made a definition."
  (time integer "When the form was evaluated, in seconds since 1970.")
  (by string :optional "The form, or its beginning and \"...\"."))

(defun evaluation-data (name &rest kinds)
  "Return a JSON object about the evaluation that made the current definition of NAME, a name or a
method. KINDS are keywords such as :FUNCTION for the kinds of definitions to look for. Return NIL if
no such evaluation is known."
  (apply **evaluation-of** name kinds))

(sb-ext:defglobal **maker-of** (constantly nil)
  "A function with the arguments of EVALUATION-DATA, set by sources/compare.lisp. It returns three
values: the path of the loaded file whose code made the definition, the number of the top-level form
that ran this code, counted in the last loaded text of the file, and the defined object. An unknown
value is NIL.")

(defun maker-members (name &rest kinds)
  "SBCL has recorded no source location for NAME. KINDS are keywords, such as :FUNCTION, for the
kind of its definition. Return a plist of JSON members with the file and the top-level form whose
code made this definition. The form, or both, can be unknown."
  (multiple-value-bind (path form object) (apply **maker-of** name kinds)
    ;; For a generic function without a DEFGENERIC, the places of its methods are shown instead.
    (cond ((typep object 'generic-function) nil)
          (form (list* "byCode" t (json-object-members (loaded-place path form))))
          (path (list "maker" path)))))

(defun numbered-anew (source name kinds)
  "SOURCE is a JSON object with a source location that SBCL has recorded for NAME. KINDS are
keywords, such as :FUNCTION, for the kind of the definition. Return a JSON object with the location
in the last loaded text of the file, or SOURCE if nothing differs. The number of the top-level form
in SOURCE can be from an earlier text. SBCL records the date of the file only for functions, so for
other definitions this cannot be seen in SOURCE."
  (multiple-value-bind (path form object) (apply **maker-of** name kinds)
    (if (and form
             (not (typep object '(and function (not generic-function))))
             (equal path (json-member "file" source))
             (not (eql form (json-member "form" source))))
        (loaded-place path form)
        source)))

(defun sources-or-maker (sources name &rest kinds)
  "Return the list SOURCES of source locations, each corrected by NUMBERED-ANEW. If SOURCES is
empty, return a list with the place of the code that made the definition of NAME, or NIL if unknown.
KINDS are keywords such as :FUNCTION for the kinds of definitions to look for."
  (if sources
      (loop for source in sources collect (numbered-anew source name kinds))
      (let ((members (apply #'maker-members name kinds)))
        (and members (list (make-json-object members))))))

(defun method-data (method)
  "Return a JSON object with the source location, qualifiers and specializers of METHOD."
  (let ((description (method-description method))
        (function (and (not (typep method 'sb-mop:standard-accessor-method))
                       (method-function method))))
    (or (place-data (introspect "FIND-DEFINITION-SOURCE" method) description function)
        (make-json-object
         (list* "description" description
                "evaluated" (evaluation-data method :method)
                (maker-members method :method))))))

(defvar *packages-searched* nil
  "NIL, or a hash table from packages to the results of VARIABLES-BY-VALUE. Code that describes many
methods binds this to a new table, so that each package is searched only once.")

(defun variables-by-value (package)
  "Return an EQ hash table from values to the variables of PACKAGE that have them. If several
variables have the same value, the table has the one whose name sorts first."
  (let ((table (make-hash-table :test 'eq)))
    (with-package-iterator (next package :internal :external)
      (loop
        (multiple-value-bind (more symbol) (next)
          (unless more (return table))
          ;; Another thread can unbind SYMBOL between BOUNDP and SYMBOL-VALUE.
          (let ((value (and (eq package (symbol-package symbol))
                            (boundp symbol)
                            (handler-case (symbol-value symbol) (unbound-variable () nil)))))
            (when (and value (not (typep value '(or symbol number character))))
              (let ((other (gethash value table)))
                (when (or (null other) (string< symbol other))
                  (setf (gethash value table) symbol))))))))))

(defun variable-holding (object packages)
  "Return a variable that has the value OBJECT, and whose home package is one of PACKAGES. Return
NIL if there is none."
  (loop for package in packages
          thereis (gethash object (if *packages-searched*
                                      (or (gethash package *packages-searched*)
                                          (setf (gethash package *packages-searched*)
                                                (variables-by-value package)))
                                      (variables-by-value package)))))

(defun specializer-packages (specializer)
  "SPECIALIZER is an EQL specializer for an object. Return a list of the packages in which to search
for a variable with this object as its value. They are the home packages of the name of the object's
class, and of the names of the generic functions with a method for SPECIALIZER."
  (let ((names (list* (class-name (class-of (sb-mop:eql-specializer-object specializer)))
                      (loop for method in (sb-mop:specializer-direct-methods specializer)
                            for function = (sb-mop:method-generic-function method)
                            for name = (and function (sb-mop:generic-function-name function))
                            collect (name-symbol name)))))
    (remove-duplicates (loop for name in names
                             when (and name (symbolp name) (symbol-package name))
                               collect (symbol-package name)))))

(defun identity-text (object)
  "Return text such as #<CLASS {1001234567}> for OBJECT, without calling its print method."
  (let ((*print-readably* nil))
    (with-output-to-string (stream)
      (print-unreadable-object (object stream :identity t)
        (write-string (class-text (class-of object)) stream)))))

(defun specializer-text (specializer)
  "Return text for SPECIALIZER as in a DEFMETHOD form. For an EQL specializer, the text has the
object if this is a literal, else a variable with the object as value, else the class and address of
the object. The object itself is not printed, since its print method may fail or never end."
  (if (typep specializer 'class)
      (class-text specializer)
      (let ((object (sb-mop:eql-specializer-object specializer)))
        (if (typep object '(or symbol number character string))
            (plain-text 100 (list 'eql object))
            (let ((variable (variable-holding object (specializer-packages specializer))))
              (if variable
                  (format nil "(EQL ~A)" (symbol-text variable))
                  (format nil "(EQL ~A)" (identity-text object))))))))

(defun doc-text (name type)
  "Return at most 4000 characters of the documentation of NAME as TYPE, or NIL."
  (let ((text (nil-if-program-fails (documentation name type))))
    (and (stringp text) (shortened 4000 text))))

(defun function-sources (name)
  "Return a list of JSON objects with the source locations of the function NAME."
  (loop for type in (if (consp name)
                        '(:function :generic-function)
                        '(:function :generic-function :macro :special-operator))
        append (source-data name type)))

(defun methods-members (function offset limit)
  "Return a plist with \"methodCount\" and \"methods\" for FUNCTION, with LIMIT of its methods from
OFFSET on. Both values are NIL unless FUNCTION is a generic function."
  (let ((methods (and (typep function 'generic-function)
                      (sb-mop:generic-function-methods function)))
        (*packages-searched* (make-hash-table :test 'eq)))
    (list "methodCount" (and methods (length methods))
          "methods" (mapcar #'method-data (page methods offset limit)))))

(define-shape thing ()
  "One meaning of a symbol, such as its function or its class."
  (nature string)
  (arglist string :optional "Absent when SBCL keeps no lambda list.")
  (accepted string :optional
   "The lambda list that all methods of the generic function accept together, when it differs from
   `arglist`.")
  (type string :optional) (documentation string :optional) (method-count integer :optional)
  (methods (list place) :optional
   "Places of the first methods. Their descriptions are qualifiers and specializers.")
  (compiler-macro boolean :optional) (inline string :optional) (supers (list string) :optional)
  (slots (list string) :optional)
  (value (object (text string) (type string :optional)) :optional)
  (evaluated evaluated :optional "The evaluation that made the definition, when no file did.")
  (sources (list place) :optional))

(defun callable-data (symbol offset limit)
  "Return a JSON object about the function, macro or special operator SYMBOL, or NIL if there is
none. For a generic function, include at most LIMIT of its methods, starting at OFFSET."
  (when (fboundp symbol)
    (let ((type (and (not (macro-function symbol)) (not (special-operator-p symbol))
                     (introspect "FUNCTION-TYPE" symbol)))
          (nature (callable-nature symbol)))
      (make-json-object
       (append (list "nature" (if (special-operator-p symbol) "SPECIAL OPERATOR" nature))
               (arglist-members symbol)
               (list "type" (type-text 500 type)
                     "documentation" (doc-text symbol 'function))
               (methods-members (and (equal nature "GENERIC-FUNCTION") (plain-definition symbol))
                                offset limit)
               (list "compilerMacro" (and (compiler-macro-function symbol) t)
                     "inline" (let ((inline (known :function :inlinep symbol)))
                                (and (member inline '(inline notinline)) (symbol-name inline)))
                     "evaluated" (evaluation-data symbol :function :macro)
                     "sources" (sources-or-maker (function-sources symbol)
                                                 symbol :function :macro)))))))

(defun setf-data (symbol offset limit)
  "Return a JSON object about the function or setf expander for (SETF SYMBOL), or NIL if there is
none. For a generic function, include at most LIMIT of its methods, starting at OFFSET."
  (let ((name (list 'setf symbol)))
    (cond ((fboundp name)
           (make-json-object
            (append (list "nature" "SETF FUNCTION")
                    (arglist-members name)
                    (methods-members (plain-definition name) offset limit)
                    (list "documentation" (doc-text name 'function)
                          "evaluated" (evaluation-data name :function)
                          "sources" (sources-or-maker (function-sources name) name :function)))))
          ((known :setf :expander symbol)
           (object "nature" "SETF EXPANDER"
                   "documentation" (doc-text symbol 'setf)
                   "evaluated" (evaluation-data symbol :setf-expander)
                   "sources" (sources-or-maker (source-data symbol :setf-expander)
                                               symbol :setf-expander))))))

(defun condition-class-p (class)
  "Return true if DEFINE-CONDITION made CLASS."
  (typep class 'condition-class))

(defun class-nature (class)
  "Return a string that names the kind of CLASS, such as \"STRUCTURE CLASS\"."
  (typecase class
    (structure-class "STRUCTURE CLASS")
    (built-in-class "BUILT-IN CLASS")
    (sb-mop:forward-referenced-class "FORWARD-REFERENCED CLASS")
    (t (if (condition-class-p class) "CONDITION CLASS" "CLASS"))))

(defun class-data (symbol)
  "Return a JSON object about the class, typed structure or type SYMBOL, or NIL if there is none."
  (let ((class (find-class symbol nil)))
    (cond (class
           (object "nature" (class-nature class)
                   "supers" (loop for super in (sb-mop:class-direct-superclasses class)
                                  collect (class-text super))
                   "slots" (loop for slot in (sb-mop:class-direct-slots class)
                                 collect (symbol-text (sb-mop:slot-definition-name slot)))
                   "documentation" (doc-text symbol 'type)
                   "evaluated" (evaluation-data symbol :class)
                   "sources" (sources-or-maker (loop for type in '(:class :structure :condition)
                                                     append (source-data symbol type))
                                               symbol :class)))
          ((typed-structure symbol)
           (object "nature" "TYPED STRUCTURE"
                   "type" (plain-text 200 (description-type (typed-structure symbol)))
                   "slots" (loop for slot in (description-slots (typed-structure symbol))
                                 collect (symbol-text (structure-slot-name slot)))
                   "documentation" (doc-text symbol 'structure)
                   "evaluated" (evaluation-data symbol :typed-structure)
                   "sources" (sources-or-maker (source-data symbol :structure)
                                               symbol :typed-structure)))
          ((type-name-p symbol)
           (object "nature" "TYPE"
                   "arglist" (type-arglist symbol)
                   "documentation" (doc-text symbol 'type)
                   "evaluated" (evaluation-data symbol :type)
                   "sources" (sources-or-maker (source-data symbol :type) symbol :type))))))

(defun global-value-data (symbol kind)
  "Return a JSON object with the global value of the variable SYMBOL, as text, and the type of this
value. KIND is from VARIABLE-KIND. For a symbol macro (:MACRO), return its expansion. Return NIL if
SYMBOL is unbound."
  (cond ((eq kind :macro)
         (object "text" (plain-text 1000 (macroexpand-1 symbol))))
        ((boundp symbol)
         (let ((value (symbol-value symbol)))
           (object "text" (local-text value :length 20 :package (session-package))
                   "type" (plain-text 200 (class-name (class-of value))))))))

(defun variable-data (symbol)
  "Return a JSON object about the variable SYMBOL, or NIL if SYMBOL is no variable."
  (let ((kind (variable-kind symbol)))
    (when kind
      (object "nature" (ecase kind
                         (:special "SPECIAL VARIABLE")
                         (:constant "CONSTANT")
                         (:macro "SYMBOL MACRO")
                         ((:global :always-bound) "GLOBAL VARIABLE"))
              "value" (global-value-data symbol kind)
              "documentation" (doc-text symbol 'variable)
              "evaluated" (evaluation-data symbol :variable :constant :symbol-macro)
              "sources" (sources-or-maker (loop for type in '(:variable :constant :symbol-macro)
                                                append (source-data symbol type))
                                          symbol :variable :constant :symbol-macro)))))

(defun declared-type-p (name)
  "Return true if the program itself declaimed the type of the function NAME. Return NIL if the
compiler derived the type."
  (eq :declared (known :function :where-from name)))

(defun function-type-text (name)
  "Return the type of the function NAME as text, or NIL if the type is unknown. If the function does
not exist yet, return the type that the program has declaimed for it."
  (type-text 1000
             (cond ((and (symbolp name) (or (macro-function name) (special-operator-p name))) nil)
                   ((fboundp name) (introspect "FUNCTION-TYPE" name))
                   ((declared-type-p name)
                    (let ((type (known :function :type name)))
                      (type-specifier type))))))

(defun further-data (symbol)
  "Return a list of JSON objects about rare definitions that SYMBOL names: a method combination, a
compiler macro, a declaimed type without a function, a declaration, an alien variable or type."
  (flet ((thing (present nature type &rest members)
           (and present
                (make-json-object
                 (list* "nature" nature
                        (append members (list "sources" (source-data symbol type))))))))
    (remove
     nil
     (list
      (thing (gethash symbol method-combinations) "METHOD COMBINATION" :method-combination
             "documentation" (doc-text symbol 'method-combination))
      (thing (compiler-macro-function symbol) "COMPILER MACRO" :compiler-macro
             "arglist" (recorded-arglist (compiler-macro-function symbol)))
      (thing (and (declared-type-p symbol) (not (fboundp symbol))) "DECLAIMED FUNCTION" :function
             "type" (function-type-text symbol))
      (thing (known :declaration :known symbol) "DECLARATION" :declaration)
      (thing (eq :alien (known :variable :kind symbol)) "ALIEN VARIABLE" :variable)
      (thing (member (known :alien-type :kind symbol) '(:primitive :defined)) "ALIEN TYPE"
             :alien-type)))))

(defun things (symbol offset limit)
  "Return a list of JSON objects, one for each definition that SYMBOL names. For a generic function,
include at most LIMIT of its methods, starting at OFFSET."
  (append (remove nil (list (callable-data symbol offset limit) (setf-data symbol offset limit)
                            (class-data symbol) (variable-data symbol)))
          (further-data symbol)
          (let ((package (find-package (symbol-name symbol))))
            (and package
                 (list (object "nature" "PACKAGE" "documentation" (doc-text package t)))))))

(define-shape describe-data ()
  "All that a symbol names."
  (symbol string) (label string) (status string) (home string :optional)
  (home-status string :optional)
  (in string "The package in which the symbol was looked up.")
  (natures (list string) :optional) (things (list thing) :optional)
  (near (list string) :optional "Similar names, when the symbol names nothing.")
  (properties (list string) :optional))

(define-operation ("describe" :gives (or describe-data lookup-failure)) (name package offset limit)
  "Return the definitions of a symbol. If the symbol has none, add similar names: the name may be
misspelt, and a form with the same mistake may have interned the symbol."
  (multiple-value-bind (symbol status setf in) (named-symbol name package)
    (declare (ignore setf))
    (let ((home (symbol-package symbol)) (*package* (session-package)))
      (call-user-code
       (lambda (&aux (things (things symbol offset limit)))
         (object "symbol" (symbol-text symbol)
                 "label" (label symbol)
                 "status" (string-downcase (symbol-name status))
                 "homeStatus" (and home
                                   (string-downcase
                                    (symbol-name
                                     (nth-value 1 (find-symbol (symbol-name symbol) home)))))
                 "home" (and home (package-name home))
                 "in" (package-name in)
                 "natures" (natures symbol)
                 "things" things
                 "near" (and (null things)
                             home
                             (near-symbols (symbol-name symbol) home #'names-something-p
                                           :hidden t))
                 "properties" (loop for (key) on (symbol-plist symbol) by #'cddr
                                    ;; A property list can be circular.
                                    repeat 1000 collect (plain-text 100 key))))))))
