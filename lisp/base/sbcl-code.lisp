;;;; Internals of SBCL: frames and their local variables, conditions of the compiler, reading and
;;;; printing of code.

(in-package "LIVE-LISP.BASE")

;;; Frames

(define-ability "frames" "errors and interrupted calls tell no frames")

(define-internal top-frame () "Return the frame of this call." ("SB-DI" "TOP-FRAME"))
(define-internal frame-below (frame) "Return the frame that called FRAME, or NIL."
                 ("SB-DI" "FRAME-DOWN"))
(define-internal frame-function (frame)
  "Return the debugger's description of the function of FRAME." ("SB-DI" "FRAME-DEBUG-FUN"))
(define-internal given-name (function)
  "Return the name that SBCL gave to FUNCTION, from FRAME-FUNCTION." ("SB-DI" "DEBUG-FUN-NAME"))
(define-internal debug-kind (function)
  "Return the kind of FUNCTION, from FRAME-FUNCTION: :TOPLEVEL for top-level forms."
                 ("SB-DI" "DEBUG-FUN-KIND"))
(define-internal-name +top-level-form+ "The first element of a :TOPLEVEL function's name."
                      ("SB-C" "TOP-LEVEL-FORM"))
(define-internal-name +frame-arguments+
  "Names the function that returns a list of a frame's arguments. In newer SBCLs it also takes their
largest number."
  ("SB-DEBUG" "FRAME-ARGS-AS-LIST"))
(define-internal plain-lambda-list (function)
  "Return the lambda list that SBCL keeps in FUNCTION." ("SB-KERNEL" "%FUN-LAMBDA-LIST"))

(defun debug-name (function)
  "Return the name of FUNCTION, from FRAME-FUNCTION: a symbol, a list, or a string for a function in
C."
  (let ((name (given-name function)))
    ;; Since 2.4.3 a top-level form has a string for its name too.
    (if (and (stringp name) (eq :toplevel (debug-kind function))) (list +top-level-form+) name)))

;;; Source places of frames

(define-ability "places of frames"
                "frames have no file and line, and those of SBCL itself are shown too")

(define-internal frame-place (frame) "Return the code location at which FRAME is."
                 ("SB-DI" "FRAME-CODE-LOCATION"))
(define-internal place-source (place)
  "Return the debug source of PLACE." ("SB-DI" "CODE-LOCATION-DEBUG-SOURCE"))
(define-internal place-top-level-form (place)
  "Return the number of the top-level form of PLACE, or NIL."
                 ("SB-DI" "CODE-LOCATION-TOPLEVEL-FORM-OFFSET"))
(define-internal place-form-number (place)
  "Return the number that the form of PLACE has in its top-level form."
                 ("SB-DI" "CODE-LOCATION-FORM-NUMBER"))
(define-internal-type core-source "Debug sources of code that is from no fasl."
                      ("SB-C" "CORE-DEBUG-SOURCE"))
(define-internal source-form (source)
  "Return the form of which EVAL or COMPILE made the code of SOURCE, a CORE-SOURCE, while its file
was loaded. SBCL numbers forms within that form then, not within the file."
  ("SB-C" "CORE-DEBUG-SOURCE-FORM"))

;;; Local variables of frames, and the objects in them

(define-ability "locals" "errors tell fewer local variables")

(define-internal-variable thread-clock
  "The number of the clock of a thread's CPU time, or NIL when it is unknown. Operating systems
number it differently."
  ("SB-UNIX" "CLOCK-THREAD-CPUTIME-ID"))
(define-internal debug-variables
                 (function)
  "Return a vector of the variables of FUNCTION, from FRAME-FUNCTION."
                 ("SB-DI" "DEBUG-FUN-DEBUG-VARS")
                 #())
(define-internal variable-symbol (variable)
  "Return the symbol that names VARIABLE, of a frame." ("SB-DI" "DEBUG-VAR-SYMBOL"))
(define-internal variable-validity (variable place)
  "Return :VALID when VARIABLE has its value at PLACE." ("SB-DI" "DEBUG-VAR-VALIDITY"))
(define-internal variable-value (variable frame)
  "Return the value that VARIABLE has in FRAME." ("SB-DI" "DEBUG-VAR-VALUE"))
(define-internal layout-of (object)
  "Return the layout of OBJECT." ("SB-KERNEL" "WRAPPER-OF" "SB-KERNEL" "LAYOUT-OF"))
(define-internal outdated-layout-p (layout)
  "True when the instances of LAYOUT are outdated."
                 ("SB-PCL" "INVALID-WRAPPER-P" "SB-KERNEL" "LAYOUT-INVALID") t)
(define-internal-place unbound-marker
  "The marker in an unbound slot of an instance." ("SB-PCL" "+SLOT-UNBOUND+"))
(define-internal instance-length (object)
  "Return how many words the structure or condition OBJECT has." ("SB-KERNEL" "%INSTANCE-LENGTH") 0)
(define-internal instance-word (object index)
  "Return the word of OBJECT at INDEX." ("SB-KERNEL" "%INSTANCE-REF"))
(define-internal-name +assigned-slots+
  "Names the slot of conditions in which SBCL keeps the slots that were set."
                      ("SB-KERNEL" "ASSIGNED-SLOTS"))
(define-internal slot-index (class slot)
  "Return the index of SLOT in a structure or condition of CLASS; neither is evaluated."
  ("SB-KERNEL" "GET-DSD-INDEX") nil)
(define-internal condition-assignments (condition)
  "Return a property list of the slots of CONDITION that were set and their values; in newer SBCLs
an association list."
  ("SB-KERNEL" "CONDITION-ASSIGNED-SLOTS"))

(defun assigned-slots (condition)
  "Return a property list of the slots of CONDITION that were set, and their values."
  (let ((assignments (condition-assignments condition)))
    (if (consp (first assignments))
        (loop for (slot . value) in assignments append (list slot value))
        assignments)))

(define-internal plain-function-name (function)
  "Return the name that SBCL keeps in FUNCTION." ("SB-KERNEL" "%FUN-NAME"))

(defmacro first-condition-word ()
  "Expand into the index of a condition's first word for the initargs of its creation, or
MOST-POSITIVE-FIXNUM."
  (if (and +assigned-slots+ (internal-symbol "SB-KERNEL" "GET-DSD-INDEX"))
      `(1+ (slot-index condition ,+assigned-slots+))
      most-positive-fixnum))

;;; Leaving a frame, running its call again, and evaluating forms in it

(define-ability
 "frame actions"
 "a held error shows its frames and takes restarts, but debug cannot run a frame again or evaluate in it")

(define-internal frame-tag (frame)
  "True when FRAME can be left: its code has a tag to unwind to. Leaving a frame without such a tag
spoils memory."
  ("SB-DEBUG" "FRAME-HAS-DEBUG-TAG-P"))
(define-internal leave-frame (frame function)
  "Unwind to FRAME, call FUNCTION, and return its values from FRAME."
                 ("SB-DEBUG" "UNWIND-TO-FRAME-AND-CALL"))
(define-internal function-component (function)
  "Return the code object of FUNCTION, from FRAME-FUNCTION."
                 ("SB-DI" "COMPILED-DEBUG-FUN-COMPONENT"))
(define-internal returning-convention (compiled)
  "Return how the function of COMPILED, from COMPILED-DEBUG, returns values: :STANDARD, or in a way
that only its callers know." ("SB-C" "COMPILED-DEBUG-FUN-RETURNS"))
(define-internal effective-function (function form)
  "Return a function for FORM, an effective method form of FUNCTION."
                 ("SB-PCL" "MAKE-EFFECTIVE-METHOD-FUNCTION"))
(define-internal call-effective (called arguments)
  "Call CALLED, from EFFECTIVE-FUNCTION, with ARGUMENTS, a list." ("SB-PCL" "INVOKE-EMF"))
(define-internal evaluate-in-frame
                 (frame form)
  "Return the values of FORM, evaluated with the variables of FRAME."
                 ("SB-DI" "EVAL-IN-FRAME")
                 (eval form))
(define-internal function-of-frame (function)
  "Return the function that FUNCTION, from FRAME-FUNCTION, describes, or NIL."
  ("SB-DI" "DEBUG-FUN-FUN"))
(define-internal-name +handlers+
  "Names the variable with the established handlers." ("SB-KERNEL" "*HANDLER-CLUSTERS*"))
(define-internal-variable first-handlers
  "The handlers that are established when a thread begins."
                          ("SB-KERNEL" "**INITIAL-HANDLER-CLUSTERS**"))
(define-internal-name +restarts+
  "Names the variable with the established restarts." ("SB-KERNEL" "*RESTART-CLUSTERS*"))
(define-internal-name +deadline+ "Names the variable with the deadline in force."
                      ("SB-IMPL" "*DEADLINE*"))
(define-internal closed-over (closure)
  "Return a list of the values that CLOSURE closes over." ("SB-KERNEL" "%CLOSURE-VALUES") '())
(define-internal value-cell-p (object)
  "True when OBJECT is the value cell of a variable that closures set."
                 ("SB-DI" "INDIRECT-VALUE-CELL-P"))
(define-internal cell-value (cell) "Return the value in CELL, a value cell."
                 ("SB-KERNEL" "VALUE-CELL-REF"))
(define-internal restart-function (restart)
  "Return the function that RESTART calls." ("SB-KERNEL" "RESTART-FUNCTION"))

;;; Locks

(define-ability "locks" "debug does not tell which locks a thread holds or waits for")

(define-internal word-object (word signals)
  "Return the object to which the integer WORD points, and whether there is one. If SIGNALS, signal
an error otherwise."
  ("SB-KERNEL" "MAKE-LISP-OBJ") (values nil nil))
(define-internal close-region ()
  "Close the region in which this thread allocates. Since 2.5 WORD-OBJECT finds no objects in an
open region."
  ("SB-VM" "CLOSE-THREAD-ALLOC-REGION"))
(define-internal-variable instance-tag "The lowest four bits of a pointer to an instance."
                          ("SB-VM" "INSTANCE-POINTER-LOWTAG") 3)
(define-internal-variable stack-end-slot
  "The index of the thread slot with the end of the stack."
                          ("SB-VM" "THREAD-CONTROL-STACK-END-SLOT"))
(define-internal waited-for (thread)
  "Return the lock that THREAD waits for, or NIL." ("SB-THREAD" "THREAD-WAITING-FOR"))

;;; Conditions of the compiler, and their contexts

(define-ability "error-contexts" "warnings do not tell which form they are about")

(define-internal error-context (parts)
  "Return the compiler's context at this moment, or NIL. PARTS are always NIL here."
                 ("SB-C" "FIND-ERROR-CONTEXT"))
(define-internal context-form (context)
  "Return the form that CONTEXT is about." ("SB-C" "COMPILER-ERROR-CONTEXT-ORIGINAL-FORM"))
(define-internal context-definitions (context)
  "Return the definitions around the form of CONTEXT, such as ((DEFUN F))."
                 ("SB-C" "COMPILER-ERROR-CONTEXT-CONTEXT"))
(define-internal context-offset (context)
  "Return the offset of the top-level form of CONTEXT in its file."
                 ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-POSITION"))
(define-internal context-file (context)
  "Return the pathname of the file of CONTEXT, or another object."
                 ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-NAME"))
(define-internal context-path (context)
  "Return the source path of the form that CONTEXT is about, for PATH-NUMBER."
                 ("SB-C" "COMPILER-ERROR-CONTEXT-PATH"))
(define-internal encapsulated-condition
                 (condition)
  "Return the condition that CONDITION, of the compiler, wraps."
                 ("SB-C" "ENCAPSULATED-CONDITION")
                 condition)
(define-internal unreadable-line (condition)
  "Return a cons of the line and the column of the form that CONDITION, an UNREADABLE-FILE, is
about, or NIL."
  ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE-LINE/COL"))
(define-internal stream-position (stream)
  "Return the position of STREAM as a list such as ((:LINE 3))."
                 ("SB-KERNEL" "STREAM-ERROR-POSITION-INFO"))
(define-internal-type unreadable-file
  "Conditions of COMPILE-FILE about a file that cannot be read."
                      ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE"))
(define-internal-type compiler-error
  "Errors of the compiler that it turns into errors at run time." ("SB-C" "COMPILER-ERROR"))
(define-internal-name +warned+
  "Names the variable of which COMPILE and COMPILE-FILE return the value as their second value."
  ("SB-C" "*WARNINGS-P*"))
(define-internal-name +failed+
  "Names the variable of which COMPILE and COMPILE-FILE return the value as their third value."
                      ("SB-C" "*FAILURE-P*"))
(define-internal-name +in-unit+
  "Names the variable that is not NIL within a compilation unit."
  ("SB-C" "*COMPILATION-UNIT*" "SB-C" "*IN-COMPILATION-UNIT*"))
(define-internal-type redefinition
  "Warnings that something is redefined." ("SB-KERNEL" "REDEFINITION-WARNING"))
(define-internal-type uninteresting-redefinition
  "Warnings that a definition is replaced by one from the same place in its source."
  ("SB-KERNEL" "UNINTERESTING-REDEFINITION"))

(define-internal-type other-proclamation
  "Warnings that a proclaimed type is another than the one that the image had."
                      ("SB-KERNEL" "PROCLAMATION-MISMATCH"))
(define-internal-type other-package
  "Warnings that a package has more than its DEFPACKAGE says." ("SB-INT" "PACKAGE-AT-VARIANCE"))

;;; Printing of code

(define-ability "code printing"
                "code and messages are printed with the program's own printer settings")

(define-internal-name +print-depth+
  "Names the variable with the current depth of printing." ("SB-KERNEL" "*CURRENT-LEVEL-IN-PRINT*"))
(define-internal-name +print-references+
  "Names the variable that says whether a report has references to manuals."
  ("SB-INT" "*PRINT-CONDITION-REFERENCES*"))
(define-internal-name +quasiquote+ "Names the operator of a backquote." ("SB-INT" "QUASIQUOTE"))
(define-internal-name +named-lambda+
  "Names the operator of a function with a name." ("SB-INT" "NAMED-LAMBDA"))
(define-internal-type comma "The objects that a comma in a backquote is read as."
                      ("SB-IMPL" "COMMA"))
(define-internal comma-p (object) "True when OBJECT is a COMMA." ("SB-INT" "COMMA-P"))
(define-internal comma-expression (comma) "Return the expression that follows COMMA."
                 ("SB-INT" "COMMA-EXPR"))
(define-internal comma-kind (comma) "Return an object that stands for , or ,@ or ,. in COMMA."
                 ("SB-INT" "COMMA-KIND"))
(define-internal make-comma (expression kind)
  "Return a COMMA of KIND, from COMMA-KIND, before EXPRESSION." ("SB-INT" "UNQUOTE"))
(define-internal-type unprintable
  "Objects that print as a text between #< and >."
                      ("SB-DEBUG" "UNPRINTABLE-OBJECT" "SB-INT" "UNPRINTABLE-OBJECT"))
(define-internal make-unprintable
                 (text)
  "Return an object that prints as #<TEXT>."
                 ("SB-INT" "MAKE-UNPRINTABLE-OBJECT")
                 (make-symbol text))

;;; The readtable, the compiler's policy, and hooks for definitions

(define-ability
 "readtable and policy"
 "a lost image is built again without changes of the readtable and of the compiler's policy")

(define-internal macro-characters
                 (readtable)
  "Return a vector of READTABLE's macro functions, by code below 128."
                 ("SB-IMPL" "BASE-CHAR-MACRO-ARRAY")
                 #())
(define-internal character-syntax
                 (readtable)
  "Return a vector of READTABLE's syntax, by character code below 128."
                 ("SB-IMPL" "BASE-CHAR-SYNTAX-ARRAY")
                 #())
(define-internal other-characters (readtable)
  "Return a hash table of READTABLE's special characters from code 128 on."
                 ("SB-IMPL" "EXTENDED-CHAR-TABLE"))
(define-internal dispatch-table (function)
  "Return the table of sub-characters of FUNCTION, a dispatching macro."
                 ("SB-IMPL" "%DISPATCH-MACRO-CHAR-TABLE"))
(define-internal closure-p (function) "True when FUNCTION is a closure." ("SB-KERNEL" "CLOSUREP"))
(define-internal-name +policy+ "Names the variable with the policy of the compiler."
                      ("SB-C" "*POLICY*"))
(define-internal-variable compiler-policy
  "The policy of the compiler." ("SB-C" "*POLICY*"))
(define-internal policy-qualities (policy)
  "Return POLICY as a list such as ((SPEED 1) (SAFETY 1))." ("SB-C" "POLICY-TO-DECL-SPEC"))

(define-ability
 "effects"
 "a lost image is built again only from forms that are seen to define something, and symbols that unreadable text has made stay")

(define-internal-name +name-check+
  "Names SBCL's check that the home package of a symbol is not locked. SBCL calls it before it
defines or undefines a name."
  ("SB-KERNEL" "ASSERT-SYMBOL-HOME-PACKAGE-UNLOCKED" "SB-IMPL"
   "ASSERT-SYMBOL-HOME-PACKAGE-UNLOCKED"))
(define-internal-name +package-check+
  "Names the check that SBCL calls before a package is changed."
                      ("SB-IMPL" "ASSERT-PACKAGE-UNLOCKED"))
(define-internal-name +define-package+ "Names the function behind DEFPACKAGE."
                      ("SB-IMPL" "%DEFPACKAGE"))
(define-internal-name +proclaim+ "Names the function behind PROCLAIM and DECLAIM."
                      ("SB-C" "%PROCLAIM"))

(define-ability "loading" "while a file is loaded, *LOAD-TRUENAME* is its fasl")

(define-internal load-fasl
                 (stream verbose print)
  "Load the fasl in STREAM. VERBOSE and PRINT are as for LOAD."
                 ("SB-FASL" "LOAD-AS-FASL")
                 (load stream))

;;; SBCL's code walker, built in or in a contrib that can be loaded later

(define-ability "macroexpand-all" "macroexpand_form cannot expand all forms within a form")

(define-late-internal code-walker
  "Return the function that expands all macros in a form, or NIL."
  ("SB-WALKER" "MACROEXPAND-ALL" "SB-CLTL2" "MACROEXPAND-ALL"))
