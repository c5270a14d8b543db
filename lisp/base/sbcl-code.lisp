;;;; Internals of SBCL: frames and their local variables, conditions of the compiler, reading and
;;;; printing of code. The macros DEFINE-INTERNAL and so on are in sbcl.lisp, which explains their
;;;; parameters. Each name that is declared here needs a row in probes.lisp.

(in-package "LIVE-LISP.BASE")

;;; Frames

(define-ability "frames" :without "errors and interrupted calls show no frames")

(define-internal top-frame () "Return the stack frame of this call." ("SB-DI" "TOP-FRAME"))
(define-internal frame-below (frame) "Return the frame that called FRAME, or NIL."
  ("SB-DI" "FRAME-DOWN"))
(define-internal frame-function (frame)
  "Return the debug function (an SB-DI:DEBUG-FUN) of FRAME." ("SB-DI" "FRAME-DEBUG-FUN"))
(define-internal given-name (function)
  "Return the name that SBCL gave to the debug function FUNCTION." ("SB-DI" "DEBUG-FUN-NAME"))
(define-internal debug-kind (function)
  "Return the kind of the debug function FUNCTION: :TOPLEVEL for top-level forms."
  ("SB-DI" "DEBUG-FUN-KIND"))
(define-internal-name +top-level-form+
  "The first element of the name of a debug function of the kind :TOPLEVEL."
  ("SB-C" "TOP-LEVEL-FORM"))
(define-internal-name +frame-arguments+
  "The name of the function that returns a list of a frame's arguments. In newer SBCLs it takes the
largest number of arguments as a second argument."
  ("SB-DEBUG" "FRAME-ARGS-AS-LIST"))
(define-internal plain-lambda-list (function)
  "Return the lambda list that SBCL keeps in FUNCTION." ("SB-KERNEL" "%FUN-LAMBDA-LIST"))

(defun debug-name (function)
  "Return the name of the debug function FUNCTION: a symbol, a list, or a string for a C function."
  (let ((name (given-name function)))
    ;; Since SBCL 2.4.3 the name of a top-level form is a string too.
    (if (and (stringp name) (eq :toplevel (debug-kind function))) (list +top-level-form+) name)))

;;; Source places of frames

(define-ability "places of frames"
  :without "frames have no file and line, and those of SBCL itself are shown too")

(define-internal frame-place (frame)
  "Return the code location (an SB-DI:CODE-LOCATION) at which FRAME is."
  ("SB-DI" "FRAME-CODE-LOCATION"))
(define-internal place-source (place)
  "Return the debug source of the code location PLACE." ("SB-DI" "CODE-LOCATION-DEBUG-SOURCE"))
(define-internal place-top-level-form (place)
  "Return the number of the top-level form of the code location PLACE, or NIL."
  ("SB-DI" "CODE-LOCATION-TOPLEVEL-FORM-OFFSET"))
(define-internal place-form-number (place)
  "Return the number that the form at the code location PLACE has within its top-level form."
  ("SB-DI" "CODE-LOCATION-FORM-NUMBER"))
(define-internal-type core-source "Debug sources of code that was not loaded from a fasl."
  ("SB-C" "CORE-DEBUG-SOURCE"))
(define-internal source-form (source)
  "Return the form that EVAL or COMPILE compiled while a file was loaded. SOURCE is the CORE-SOURCE
of the code. SBCL's numbers of subforms then count within this form, not within the file."
  ("SB-C" "CORE-DEBUG-SOURCE-FORM"))

;;; Local variables of frames, and the objects in them

(define-ability "locals" :without "errors show fewer local variables")

(define-internal-variable thread-clock
  "The number of the clock that measures a thread's CPU time, or NIL when it is unknown. Operating
systems have different numbers for it."
  ("SB-UNIX" "CLOCK-THREAD-CPUTIME-ID"))
(define-internal debug-variables (function)
  "Return a vector of the variables of the debug function FUNCTION."
  ("SB-DI" "DEBUG-FUN-DEBUG-VARS")
  #())
(define-internal variable-symbol (variable)
  "Return the symbol that names VARIABLE, a variable of a frame." ("SB-DI" "DEBUG-VAR-SYMBOL"))
(define-internal variable-validity (variable place)
  "Return :VALID when VARIABLE has a known value at the code location PLACE."
  ("SB-DI" "DEBUG-VAR-VALIDITY"))
(define-internal variable-value (variable frame)
  "Return the value that VARIABLE has in FRAME." ("SB-DI" "DEBUG-VAR-VALUE"))
(define-internal layout-of (object)
  "Return the layout of OBJECT." ("SB-KERNEL" "WRAPPER-OF" "SB-KERNEL" "LAYOUT-OF"))
(define-internal outdated-layout-p (layout)
  "True when instances with LAYOUT are outdated."
  ("SB-PCL" "INVALID-WRAPPER-P" "SB-KERNEL" "LAYOUT-INVALID") t)
(define-internal-place unbound-marker
  "The marker in an unbound slot of an instance." ("SB-PCL" "+SLOT-UNBOUND+"))
(define-internal instance-length (object)
  "Return the number of words of OBJECT, a structure or condition."
  ("SB-KERNEL" "%INSTANCE-LENGTH") 0)
(define-internal instance-word (object index)
  "Return the word at INDEX of OBJECT, a structure or condition." ("SB-KERNEL" "%INSTANCE-REF"))
(define-internal-name +assigned-slots+
  "The name of the slot of conditions in which SBCL keeps the values of the slots that were set."
  ("SB-KERNEL" "ASSIGNED-SLOTS"))
(define-internal slot-index (class slot)
  "Return the index of SLOT in a structure or condition of CLASS. CLASS and SLOT are names, and are
not evaluated."
  ("SB-KERNEL" "GET-DSD-INDEX") nil)
(define-internal condition-assignments (condition)
  "Return a plist of the slots of CONDITION that were set and their values. Newer SBCLs return an
alist."
  ("SB-KERNEL" "CONDITION-ASSIGNED-SLOTS"))

(defun assigned-slots (condition)
  "Return a plist of the slots of CONDITION that were set and their values."
  (let ((assignments (condition-assignments condition)))
    (if (consp (first assignments))
        (loop for (slot . value) in assignments append (list slot value))
        assignments)))

(define-internal plain-function-name (function)
  "Return the name that SBCL keeps in FUNCTION." ("SB-KERNEL" "%FUN-NAME"))

(defmacro first-condition-word ()
  "Expand into the index of the first word of a condition that belongs to the initargs of its
creation. Where this SBCL has no such words, expand into MOST-POSITIVE-FIXNUM."
  (if (and +assigned-slots+ (internal-symbol "SB-KERNEL" "GET-DSD-INDEX"))
      `(1+ (slot-index condition ,+assigned-slots+))
      most-positive-fixnum))

;;; Leaving a frame, running its call again, and evaluating forms in it

(define-ability "frame actions"
  :without
  "a held error shows its frames and takes restarts, but debug cannot run a frame again or evaluate in it")

(define-internal frame-tag (frame)
  "True when the code of FRAME has a tag to unwind to, so that FRAME can be left. Leaving a frame
without such a tag corrupts memory."
  ("SB-DEBUG" "FRAME-HAS-DEBUG-TAG-P"))
(define-internal leave-frame (frame function)
  "Unwind the stack to FRAME, call FUNCTION, and return its values from FRAME."
  ("SB-DEBUG" "UNWIND-TO-FRAME-AND-CALL"))
(define-internal function-component (function)
  "Return the code object of the debug function FUNCTION."
  ("SB-DI" "COMPILED-DEBUG-FUN-COMPONENT"))
(define-internal returning-convention (compiled)
  "Return the convention by which the function of COMPILED, a record from COMPILED-DEBUG, returns
its values: :STANDARD, or another object for a convention known to its callers alone."
  ("SB-C" "COMPILED-DEBUG-FUN-RETURNS"))
(define-internal effective-function (function form)
  "Return a function for FORM, an effective method form of the generic function FUNCTION.
CALL-EFFECTIVE calls it."
  ("SB-PCL" "MAKE-EFFECTIVE-METHOD-FUNCTION"))
(define-internal call-effective (called arguments)
  "Call CALLED, the result of EFFECTIVE-FUNCTION, with the list ARGUMENTS." ("SB-PCL" "INVOKE-EMF"))
(define-internal evaluate-in-frame
                 (frame form)
  "Return the values of FORM, evaluated with the variables of FRAME."
  ("SB-DI" "EVAL-IN-FRAME")
                 (eval form))
(define-internal function-of-frame (function)
  "Return the function that the debug function FUNCTION describes, or NIL."
  ("SB-DI" "DEBUG-FUN-FUN"))
(define-internal-name +handlers+
  "The name of the variable with the established handlers." ("SB-KERNEL" "*HANDLER-CLUSTERS*"))
(define-internal-variable first-handlers
  "The handlers that are established when a thread begins."
  ("SB-KERNEL" "**INITIAL-HANDLER-CLUSTERS**"))
(define-internal-name +restarts+
  "The name of the variable with the established restarts." ("SB-KERNEL" "*RESTART-CLUSTERS*"))
(define-internal-name +deadline+ "The name of the variable with the deadline in force."
  ("SB-IMPL" "*DEADLINE*"))
(define-internal closed-over (closure)
  "Return a list of the values that CLOSURE closes over." ("SB-KERNEL" "%CLOSURE-VALUES") '())
(define-internal value-cell-p (object)
  "True when OBJECT is a value cell, which holds a variable that closures set."
  ("SB-DI" "INDIRECT-VALUE-CELL-P"))
(define-internal cell-value (cell) "Return the value in CELL, a value cell."
  ("SB-KERNEL" "VALUE-CELL-REF"))
(define-internal restart-function (restart)
  "Return the function that RESTART calls." ("SB-KERNEL" "RESTART-FUNCTION"))

;;; Locks

(define-ability "locks" :without "debug does not tell which locks a thread holds or waits for")

(define-internal word-object (word signals)
  "Return two values: the object to which the integer WORD points, and true if there is one. If
there is none and SIGNALS is true, signal an error."
  ("SB-KERNEL" "MAKE-LISP-OBJ") (values nil nil))
(define-internal close-region ()
  "Close the memory region in which this thread allocates. Since SBCL 2.5 WORD-OBJECT finds no
objects in an open region."
  ("SB-VM" "CLOSE-THREAD-ALLOC-REGION"))
(define-internal-variable instance-tag "The tag of a pointer to an instance: its lowest four bits."
  ("SB-VM" "INSTANCE-POINTER-LOWTAG") 3)
(define-internal-variable stack-end-slot
  "The index of the thread slot that holds the end of the control stack."
  ("SB-VM" "THREAD-CONTROL-STACK-END-SLOT"))
(define-internal waited-for (thread)
  "Return the lock that THREAD waits for, or NIL." ("SB-THREAD" "THREAD-WAITING-FOR"))

;;; Conditions of the compiler, and their contexts

(define-ability "error-contexts" :without "warnings do not tell which form they are about")

(define-internal error-context (parts)
  "Return the compiler's error context at this moment, or NIL. The agent always passes NIL as
PARTS."
  ("SB-C" "FIND-ERROR-CONTEXT"))
(define-internal context-form (context)
  "Return the form that the error context CONTEXT is about."
  ("SB-C" "COMPILER-ERROR-CONTEXT-ORIGINAL-FORM"))
(define-internal context-definitions (context)
  "Return the definitions around the form of the error context CONTEXT, such as ((DEFUN F))."
  ("SB-C" "COMPILER-ERROR-CONTEXT-CONTEXT"))
(define-internal context-offset (context)
  "Return the offset in the file of the top-level form of the error context CONTEXT."
  ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-POSITION"))
(define-internal context-file (context)
  "Return the pathname of the file of the error context CONTEXT. Without a file, return another
object."
  ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-NAME"))
(define-internal context-path (context)
  "Return the source path of the form that the error context CONTEXT is about."
  ("SB-C" "COMPILER-ERROR-CONTEXT-PATH"))
(define-internal encapsulated-condition
                 (condition)
  "Return the condition that CONDITION, a condition of the compiler, wraps."
  ("SB-C" "ENCAPSULATED-CONDITION")
                 condition)
(define-internal unreadable-line (condition)
  "Return a cons of line and column: the place of the form that CONDITION, an UNREADABLE-FILE, is
about. Return NIL when it is unknown."
  ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE-LINE/COL"))
(define-internal stream-position (stream)
  "Return the position of STREAM as a list such as ((:LINE 3))."
  ("SB-KERNEL" "STREAM-ERROR-POSITION-INFO"))
(define-internal-type unreadable-file
  "Conditions from COMPILE-FILE that a file cannot be read."
  ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE"))
(define-internal-type compiled-program-error
  "Errors that code signals in place of a form that could not be compiled."
  ("SB-INT" "COMPILED-PROGRAM-ERROR"))
(define-internal-type compiler-error
  "Errors that the compiler turns into errors at run time." ("SB-C" "COMPILER-ERROR"))
(define-internal-name +warned+
  "The name of the variable with the second value of COMPILE and COMPILE-FILE."
  ("SB-C" "*WARNINGS-P*"))
(define-internal-name +failed+
  "The name of the variable with the third value of COMPILE and COMPILE-FILE."
  ("SB-C" "*FAILURE-P*"))
(define-internal-name +in-unit+
  "The name of the variable that is not NIL within a compilation unit."
  ("SB-C" "*COMPILATION-UNIT*" "SB-C" "*IN-COMPILATION-UNIT*"))
(define-internal-type redefinition
  "Warnings that something is redefined." ("SB-KERNEL" "REDEFINITION-WARNING"))
(define-internal-type uninteresting-redefinition
  "Warnings that a definition is replaced by one from the same place in its source."
  ("SB-KERNEL" "UNINTERESTING-REDEFINITION"))

(define-internal-type other-proclamation
  "Warnings that a proclaimed type differs from the type that the image already had."
  ("SB-KERNEL" "PROCLAMATION-MISMATCH"))
(define-internal-type other-package
  "Warnings that a package has more than its DEFPACKAGE form says."
  ("SB-INT" "PACKAGE-AT-VARIANCE"))

;;; Printing of code

(define-ability "code printing"
  :without "code and messages are printed with the program's own printer settings")

(define-internal-name +print-depth+
  "The name of the variable with the current depth of printing."
  ("SB-KERNEL" "*CURRENT-LEVEL-IN-PRINT*"))
(define-internal-name +print-references+
  "The name of the variable that controls whether a condition's report has references to manuals."
  ("SB-INT" "*PRINT-CONDITION-REFERENCES*"))
(define-internal-name +quasiquote+
  "The name of the operator of a backquote." ("SB-INT" "QUASIQUOTE"))
(define-internal-name +named-lambda+
  "The name of SBCL's operator for a lambda expression with a name." ("SB-INT" "NAMED-LAMBDA"))
(define-internal-type comma "The objects that the reader makes of a comma in a backquoted form."
  ("SB-IMPL" "COMMA"))
(define-internal comma-p (object) "True when OBJECT is a COMMA." ("SB-INT" "COMMA-P"))
(define-internal comma-expression (comma) "Return the expression that follows COMMA."
  ("SB-INT" "COMMA-EXPR"))
(define-internal comma-kind (comma)
  "Return an object that says which kind of comma COMMA is: , or ,@ or ,."
  ("SB-INT" "COMMA-KIND"))
(define-internal make-comma (expression kind)
  "Return a COMMA before EXPRESSION. KIND is a result of COMMA-KIND." ("SB-INT" "UNQUOTE"))
(define-internal-type unprintable
  "Objects that print as a text between #< and >."
  ("SB-DEBUG" "UNPRINTABLE-OBJECT" "SB-INT" "UNPRINTABLE-OBJECT"))
(define-internal make-unprintable
                 (text)
  "Return an object that prints as #<TEXT>."
  ("SB-INT" "MAKE-UNPRINTABLE-OBJECT")
                 (make-symbol text))

;;; The readtable, the compiler's policy, and hooks for definitions

(define-ability "readtable and policy"
  :without
  "a lost image is built again without changes of the readtable and of the compiler's policy")

(define-internal macro-characters
                 (readtable)
  "Return a vector with READTABLE's macro functions for the character codes below 128."
  ("SB-IMPL" "BASE-CHAR-MACRO-ARRAY")
  #())
(define-internal character-syntax
                 (readtable)
  "Return a vector with READTABLE's syntax of each character code below 128."
  ("SB-IMPL" "BASE-CHAR-SYNTAX-ARRAY")
  #())
(define-internal other-characters (readtable)
  "Return a hash table of READTABLE's special characters with codes of 128 and more."
  ("SB-IMPL" "EXTENDED-CHAR-TABLE"))
(define-internal dispatch-table (function)
  "Return the table from sub-characters to functions of FUNCTION, the function of a dispatching
macro character."
  ("SB-IMPL" "%DISPATCH-MACRO-CHAR-TABLE"))
(define-internal closure-p (function) "True when FUNCTION is a closure." ("SB-KERNEL" "CLOSUREP"))
(define-internal-name +policy+ "The name of the variable with the policy of the compiler."
  ("SB-C" "*POLICY*"))
(define-internal-variable compiler-policy
  "The policy of the compiler." ("SB-C" "*POLICY*"))
(define-internal policy-qualities (policy)
  "Return POLICY as a list such as ((SPEED 1) (SAFETY 1))." ("SB-C" "POLICY-TO-DECL-SPEC"))

(define-ability "effects"
  :without
  "a lost image is built again only from forms that are seen to define something, and symbols that unreadable text has made stay")

(define-internal-name +name-check+
  "The name of SBCL's check that the home package of a symbol is not locked. SBCL calls it before it
defines or undefines a name."
  ("SB-KERNEL" "ASSERT-SYMBOL-HOME-PACKAGE-UNLOCKED" "SB-IMPL"
  "ASSERT-SYMBOL-HOME-PACKAGE-UNLOCKED"))
(define-internal-name +package-check+
  "The name of the check that SBCL calls before a package is changed."
  ("SB-IMPL" "ASSERT-PACKAGE-UNLOCKED"))
(define-internal-name +define-package+ "The name of the function behind DEFPACKAGE."
  ("SB-IMPL" "%DEFPACKAGE"))
(define-internal-name +proclaim+ "The name of the function behind PROCLAIM and DECLAIM."
  ("SB-C" "%PROCLAIM"))

(define-ability "loading" :without "while a file is loaded, *LOAD-TRUENAME* is its fasl")

(define-internal load-fasl
                 (stream verbose print)
  "Load the fasl from STREAM. VERBOSE and PRINT are as in a call of LOAD."
  ("SB-FASL" "LOAD-AS-FASL")
                 (load stream))
(define-internal-name +load-fasl+ "The name of the function that loads the fasl in a stream."
  ("SB-FASL" "LOAD-AS-FASL"))

(defun compiled-from (fasl)
  "Return the pathname of the source file in the header of FASL, a pathname, or NIL if there is
none."
  (nil-if-unreadable
    (with-open-file (in fasl :external-format '(:utf-8 :replacement #\?))
      (loop with words = "  compiled from "
            repeat 4
            for line = (read-line in)
            when (eql (mismatch words line) (length words))
              return (with-standard-io-syntax
                       (parse-namestring (read-from-string line t nil :start (length words))))))))

;;; SBCL's code walker, built in or in a contrib that can be loaded later

(define-ability "macroexpand-all" :without "macroexpand_form cannot expand all forms within a form")

(define-late-internal code-walker
  "Return the function that expands all macros in a form, or NIL."
  ("SB-WALKER" "MACROEXPAND-ALL" "SB-CLTL2" "MACROEXPAND-ALL"))
