;;;; Internals of SBCL: the symbol tables of packages, and SBCL's information about names and
;;;; classes. The macros DEFINE-INTERNAL and so on are in sbcl.lisp, which explains their
;;;; parameters. Each name that is declared here needs a test in probes.lisp (DEFINE-PROBE).

(in-package "LIVE-LISP.BASE")

;;; Packages

(define-ability "symbol-tables" :without "searches for symbols are slower")

(define-internal internal-table (package)
  "Return SBCL's table of the internal symbols of PACKAGE."
  ("SB-IMPL" "PACKAGE-INTERNAL-SYMBOLS"))
(define-internal external-table (package)
  "Return SBCL's table of the external symbols of PACKAGE."
  ("SB-IMPL" "PACKAGE-EXTERNAL-SYMBOLS"))
(define-internal symbol-cells (table)
  "Return the vector of the symbols in TABLE, SBCL's table of a package's symbols, or a cons with
this vector in its car or cdr."
  ("SB-IMPL" "PACKAGE-HASHTABLE-CELLS" "SB-IMPL" "SYMTBL-CELLS"))

(defun table-cells (table)
  "Return the simple vector of the symbols in TABLE, the internal or external table of a package.
Return NIL if this SBCL has no such vector."
  (let ((cells (and table (symbol-cells table))))
    (typecase cells
      (simple-vector cells)
      ((cons simple-vector) (car cells))
      ((cons t simple-vector) (cdr cells)))))

(defun package-cells (package)
  "Return a list of two simple vectors with the internal and the external symbols of PACKAGE. They
also have elements that are no symbols."
  (list (table-cells (internal-table package)) (table-cells (external-table package))))

;;; SBCL's information about names

(define-ability "compiler definitions"
  :without
  "compile_form leaves more of what a form defines, and less is told of functions, variables and types")

(define-internal known (category kind name)
  "Return two values: the information about NAME in the globaldb, SBCL's database of names, and true
if there is any. CATEGORY and KIND are keywords, as in (KNOWN :FUNCTION :KIND 'CAR)."
  ("SB-INT" "INFO"))
(define-internal symbol-knowledge (symbol)
  "Return all information in SBCL's globaldb about SYMBOL and about functions such as (SETF SYMBOL),
or NIL if there is none. The fallback T means that there may be some."
  ("SB-KERNEL" "SYMBOL-DBINFO" "SB-KERNEL" "SYMBOL-%INFO") t)
(define-internal-variable known-kinds
  "A vector of the kinds of information in SBCL's globaldb. Elements that are not in use are NIL."
  ("SB-IMPL" "*INFO-TYPES*")
  #())
(define-internal kind-category (kind)
  "Return the category, a keyword, of KIND, an element of KNOWN-KINDS."
  ("SB-IMPL" "META-INFO-CATEGORY"))
(define-internal kind-name (kind) "Return the keyword that names KIND, an element of KNOWN-KINDS."
  ("SB-IMPL" "META-INFO-KIND"))
(define-internal kind-number (kind) "Return the number of KIND, an element of KNOWN-KINDS."
  ("SB-INT" "META-INFO-NUMBER"))
(define-internal known-value (name number)
  "Return two values: the information about NAME in the globaldb, and true if there is any. NUMBER
is the number of the kind of information, from KIND-NUMBER."
  ("SB-IMPL" "GET-INFO-VALUE") (values nil nil))
(define-internal forget-values (name numbers)
  "Remove information about NAME from the globaldb. NUMBERS is a list of the numbers, from
KIND-NUMBER, of the kinds of information to remove."
  ("SB-INT" "CLEAR-INFO-VALUES"))
(define-internal know-value (name number value)
  "Store VALUE as information about NAME in the globaldb. NUMBER stands for the kind of information;
KIND-NUMBER returns it."
  ("SB-INT" "SET-INFO-VALUE"))
(define-internal forget-types ()
  "Clear the compiler's caches of types." ("SB-INT" "DROP-ALL-HASH-CACHES"))
(define-internal-type source-location
  "The type of SBCL's records of where something was defined: a file and the number of a top-level
form in it."
  ("SB-C" "DEFINITION-SOURCE-LOCATION"))
(define-internal location-name (location)
  "Return the name of the file of LOCATION, a SOURCE-LOCATION, or NIL."
  ("SB-C" "DEFINITION-SOURCE-LOCATION-NAMESTRING"))
(define-internal package-location (package)
  "Return the source location of PACKAGE." ("SB-IMPL" "PACKAGE-SOURCE-LOCATION"))
(define-internal-type class-missing
  "The type of errors about a name without a class. CELL-ERROR-NAME returns the name."
  ("SB-PCL" "CLASS-NOT-FOUND-ERROR"))
(define-internal type-specifier (type)
  "Return the type specifier of TYPE, an object of the compiler that stands for a type."
  ("SB-KERNEL" "TYPE-SPECIFIER"))

;;; Source files of definitions

(define-ability "definition sources"
  :without "a load does not tell which definitions the file no longer has")

(define-internal function-code (function)
  "Return the code object of FUNCTION, a SIMPLE-FUNCTION." ("SB-KERNEL" "FUN-CODE-HEADER"))
(define-internal code-information (code)
  "Return the debug information of the code object CODE." ("SB-KERNEL" "%CODE-DEBUG-INFO"))
(define-internal information-source (information)
  "Return the debug source in INFORMATION, a result of CODE-INFORMATION. A debug source describes
the file or form from which code was compiled."
  ("SB-C" "DEBUG-INFO-SOURCE"))
(define-internal source-name (source)
  "Return the name of the file that SOURCE, a debug source, records, or NIL if it records none."
  ("SB-C" "DEBUG-SOURCE-NAMESTRING"))
(define-internal source-date (source)
  "Return the write date that the file of SOURCE, a debug source, had when it was compiled."
  ("SB-C" "DEBUG-SOURCE-CREATED"))
(define-internal-name +source-namestring+
  "The name of a variable of the compiler. If its value is a namestring and not NIL, new code
records it as its source file, in place of the file that is compiled or loaded."
  ("SB-C" "*SOURCE-NAMESTRING*"))
(define-internal-name +source-plist+
  "The name of the variable with the property list that SBCL stores in the debug sources of new
code."
  ("SB-C" "*SOURCE-PLIST*"))
(define-internal-name +source-positions+
  "The name of the slot of a debug source that holds the offsets of the file's top-level forms. The
slot is NIL until the load of the file ends."
  ("SB-C" "START-POSITIONS"))
(define-internal location-form (location)
  "Return the number of the top-level form of LOCATION, a SOURCE-LOCATION, or NIL."
  ("SB-C" "DEFINITION-SOURCE-LOCATION-TOPLEVEL-FORM-NUMBER"))
;; The backend hooks the next four functions, to record what code defines (journal/effects.lisp).
(define-internal-name +declare-constructors+
  "The name of a function that a DEFSTRUCT calls first, with the description of the structure. A
DEFSTRUCT with :TYPE LIST calls it too."
  ("SB-KERNEL" "%PROCLAIM-DEFSTRUCT-CTORS"))
(define-internal-name +define-variable+
  "The name of the function behind DEFVAR." ("SB-IMPL" "%DEFVAR"))
(define-internal-name +define-alien-type+ "The name of the function behind DEFINE-ALIEN-TYPE."
  ("SB-ALIEN" "%DEFINE-ALIEN-TYPE"))
(define-internal-name +define-global+ "The name of the function behind DEFGLOBAL."
  ("SB-IMPL" "%DEFGLOBAL"))

;;; The compiler's objects for classes: cells, classoids and layouts. A classoid is the compiler's
;;; counterpart of a class, and a layout describes its instances. To undo the definition of a class,
;;; the backend restores all three (evaluate/undo.lisp).

(define-ability "compiled classes" :without "classes that compile_form defines stay defined")

(define-internal class-cell (name)
  "Return the cell that holds the compiler's classoid of the class named NAME. Return NIL if there
is none."
  ("SB-KERNEL" "FIND-CLASSOID-CELL"))
(define-internal cell-classoid (cell)
  "Return the classoid in CELL. It can be set with SETF." ("SB-KERNEL" "CLASSOID-CELL-CLASSOID"))
(define-internal cell-class (cell)
  "Return the class in CELL. It can be set with SETF." ("SB-KERNEL" "CLASSOID-CELL-PCL-CLASS"))
(define-internal classoid-location (classoid)
  "Return the source location of CLASSOID." ("SB-KERNEL" "CLASSOID-SOURCE-LOCATION"))
(define-internal class-location (class) "Return the source location of CLASS."
  ("SB-PCL" "DEFINITION-SOURCE"))
(define-internal classoid-state (classoid)
  "Return the symbol that records whether CLASSOID is sealed. It can be set with SETF."
  ("SB-KERNEL" "CLASSOID-STATE"))
(define-internal classoid-layout (classoid)
  "Return the layout of CLASSOID. It can be set with SETF."
  ("SB-KERNEL" "CLASSOID-WRAPPER" "SB-KERNEL" "CLASSOID-LAYOUT"))
(define-internal layout-classoid (layout)
  "Return the classoid of LAYOUT. It can be set with SETF."
  ("SB-KERNEL" "WRAPPER-CLASSOID" "SB-KERNEL" "LAYOUT-CLASSOID"))
(define-internal layout-inherits
                 (layout)
  "Return a vector of the layouts of the superclasses of LAYOUT's class."
  ("SB-KERNEL" "WRAPPER-INHERITS" "SB-KERNEL" "LAYOUT-INHERITS")
  #())
(define-internal remove-subclassoid (classoid super)
  "Remove CLASSOID from the subclasses of the classoid SUPER." ("SB-KERNEL" "REMOVE-SUBCLASSOID"))

;;; Structures and conditions, whose accessors and documentation SBCL keeps apart from those of
;;; other classes

(define-ability "class descriptions"
  :without "class_slots shows no accessors of structures and no documentation of conditions")

(define-internal defstruct-description (name error-p)
  "Return the description that DEFSTRUCT made of the structure NAME. If there is none, return NIL,
or signal an error if ERROR-P is true."
  ("SB-KERNEL" "FIND-DEFSTRUCT-DESCRIPTION"))
(define-internal description-name (description)
  "Return the name of the structure that DESCRIPTION describes."
  ("SB-KERNEL" "DD-NAME"))
(define-internal description-slots (description)
  "Return a list of the slots of the structure that DESCRIPTION describes."
  ("SB-KERNEL" "DD-SLOTS"))
(define-internal description-constructors (description)
  "Return a list of the constructors of the structure that DESCRIPTION describes. Each is a list
that begins with the name of the constructor."
  ("SB-KERNEL" "DD-CONSTRUCTORS"))
(define-internal description-type (description)
  "Return the representation of the structures that DESCRIPTION describes: STRUCTURE, VECTOR or
LIST."
  ("SB-KERNEL" "DD-TYPE"))
(define-internal description-copier (description)
  "Return the name of the copier of the structure that DESCRIPTION describes, or NIL."
  ("SB-KERNEL" "DD-COPIER-NAME"))
(define-internal description-predicate (description)
  "Return the name of the predicate of the structure that DESCRIPTION describes, or NIL."
  ("SB-KERNEL" "DD-PREDICATE-NAME"))
(define-internal structure-slot-name (slot)
  "Return the name of SLOT, an element of DESCRIPTION-SLOTS." ("SB-KERNEL" "DSD-NAME"))
(define-internal structure-slot-accessor (slot)
  "Return the name of the accessor of SLOT, an element of DESCRIPTION-SLOTS."
  ("SB-KERNEL" "DSD-ACCESSOR-NAME"))
(define-internal structure-slot-read-only-p (slot)
  "Return true if SLOT, an element of DESCRIPTION-SLOTS, is read-only."
  ("SB-KERNEL" "DSD-READ-ONLY"))
(define-internal-type condition-class
  "The metaclass of condition classes." ("SB-PCL" "CONDITION-CLASS"))
(define-internal classoid (name)
  "Return the compiler's classoid of the class NAME." ("SB-KERNEL" "FIND-CLASSOID"))
(define-internal classoid-slots (classoid)
  "Return the slots of CLASSOID, the classoid of a condition class."
  ("SB-KERNEL" "CONDITION-CLASSOID-SLOTS"))
(define-internal condition-slot-name (slot)
  "Return the name of SLOT, an element of CLASSOID-SLOTS." ("SB-KERNEL" "CONDITION-SLOT-NAME"))
(define-internal condition-slot-text (slot)
  "Return the documentation of SLOT, an element of CLASSOID-SLOTS, or NIL."
  ("SB-KERNEL" "CONDITION-SLOT-DOCUMENTATION"))
(define-internal combination-name (combination)
  "Return the name of COMBINATION, a method combination." ("SB-PCL" "METHOD-COMBINATION-TYPE-NAME"))
(define-internal combination-options (combination)
  "Return the options of COMBINATION, a method combination."
  ("SB-PCL" "METHOD-COMBINATION-OPTIONS"))
(define-internal-name +combination-options+
  "The name of the function that returns the options of a method combination. COMBINATION-OPTIONS
calls this function. Its name is needed to recognize a call of it in other code."
  ("SB-PCL" "METHOD-COMBINATION-OPTIONS"))

;;; Effective methods of generic functions

(define-ability "effective methods"
  :without
  "describe_symbol tells no order of methods in a long form of DEFINE-METHOD-COMBINATION, and not which methods call no next one")

(define-internal standard-precedence-list (class supers)
  "Return the class precedence list that the standard prescribes for CLASS with the direct
superclasses SUPERS."
  ("SB-PCL" "COMPUTE-STD-CPL") (list class))
(define-internal-variable long-combinations
  "A hash table from names of method combinations to the functions that the long form of
DEFINE-METHOD-COMBINATION makes."
  ("SB-PCL" "*LONG-METHOD-COMBINATION-FUNCTIONS*") (make-hash-table))
(define-internal-variable method-combinations
  "SBCL's hash table from names of method combinations to its records of them."
  ("SB-PCL" "**METHOD-COMBINATIONS**")
                          (make-hash-table))
(define-internal combination-location (record)
  "Return the source location of RECORD, a value in the table METHOD-COMBINATIONS."
  ("SB-PCL" "METHOD-COMBINATION-INFO-SOURCE-LOCATION"))
(define-internal-type standard-combination
  "The type of method combinations that are built in or that DEFINE-METHOD-COMBINATION defines."
  ("SB-PCL" "STANDARD-METHOD-COMBINATION"))
(define-internal-type short-combination
  "The type of method combinations that the short form of DEFINE-METHOD-COMBINATION defines."
  ("SB-PCL" "SHORT-METHOD-COMBINATION"))
(define-internal-type long-combination
  "The type of method combinations that the long form of DEFINE-METHOD-COMBINATION defines."
  ("SB-PCL" "LONG-METHOD-COMBINATION"))
(define-internal combination-operator (combination)
  "Return the operator of COMBINATION, a SHORT-COMBINATION."
  ("SB-PCL" "SHORT-COMBINATION-OPERATOR"))
(define-internal combination-plain-p (combination)
  "Return true if COMBINATION, a SHORT-COMBINATION, was defined with :IDENTITY-WITH-ONE-ARGUMENT. A
single applicable method is then called without the operator."
  ("SB-PCL" "SHORT-COMBINATION-IDENTITY-WITH-ONE-ARGUMENT"))
(define-internal-name +next-method-call+
  "The name of a macro that SBCL expands in the code of each method that contains CALL-NEXT-METHOD."
  ("SB-PCL" "FAST-CALL-NEXT-METHOD-BODY"))
(define-internal debug-parameters
                 (debug)
  "Return the lambda list of the debug function DEBUG, from FUNCTION-DEBUG. A parameter that the
code does not use appears as :DELETED, except in a function that was compiled for debugging."
  ("SB-DI" "DEBUG-FUN-LAMBDA-LIST")
                 '())
(define-internal cell-name (cell)
  "Return the name of the function in CELL, an object of the type CELL (sbcl-uses.lisp)."
  ("SB-KERNEL" "FDEFN-NAME"))
(define-internal function-attributes (info)
  "Return the attributes of a function, such as FLUSHABLE, as the bits of an integer. INFO is the
value of (KNOWN :FUNCTION :INFO NAME) for the function NAME."
  ("SB-C" "FUN-INFO-ATTRIBUTES") 0)
(define-internal attribute-names (attributes)
  "Return a list of the names of the attributes in ATTRIBUTES, an integer from FUNCTION-ATTRIBUTES."
  ("SB-C" "DECODE-IR1-ATTRIBUTES"))
(define-internal-name +coerce-callable+
  "The name of the function that turns a symbol into the function it names."
  ("SB-KERNEL" "%COERCE-CALLABLE-TO-FUN"))
(define-internal-name +qualifier-check+
  "The name of a function. A method combination that the long form of DEFINE-METHOD-COMBINATION
defined uses it to sort methods into method groups."
  ("SB-PCL" "QUALIFIER-CHECK-RUNTIME"))
