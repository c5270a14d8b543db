;;;; Internals of SBCL: frames and their local variables, conditions of the compiler, reading and
;;;; printing of code. The macros DEFINE-INTERNAL and so on are in sbcl.lisp, which explains their
;;;; parameters. Each name that is declared here needs a test in probes.lisp (DEFINE-PROBE). A list
;;;; of four strings names two places: the second is for an SBCL that lacks the first. A form after
;;;; the list is evaluated in an SBCL that lacks the internal.

(in-package "LIVE-LISP.BASE")

;;; Frames

(define-ability "frames" :without "errors and interrupted calls show no frames")

(define-internal top-frame () "Return the stack frame of this call." ("SB-DI" "TOP-FRAME"))
(define-internal frame-below (frame)
  "Return the frame of the function that called the function of FRAME, or NIL."
  ("SB-DI" "FRAME-DOWN"))
(define-internal frame-function (frame)
  "Return the debug function (an SB-DI:DEBUG-FUN) of FRAME." ("SB-DI" "FRAME-DEBUG-FUN"))
(define-internal given-name (function)
  "Return the name that SBCL gave to FUNCTION, a debug function." ("SB-DI" "DEBUG-FUN-NAME"))
(define-internal debug-kind (function)
  "Return the kind of FUNCTION, a debug function. The kind of top-level forms is :TOPLEVEL, and that
of the code that takes optional and keyword arguments from the stack is :MORE."
  ("SB-DI" "DEBUG-FUN-KIND"))
(define-internal-name +top-level-form+
  "A symbol. The name of a debug function of kind :TOPLEVEL is a list that begins with it."
  ("SB-C" "TOP-LEVEL-FORM"))
(define-internal-name +frame-arguments+
  "The name of the function that returns a list of the arguments of a frame. In newer SBCLs, its
second argument is the largest number of arguments to return."
  ("SB-DEBUG" "FRAME-ARGS-AS-LIST"))
(define-internal with-more-arguments (name arguments info)
  "ARGUMENTS is a list of all arguments of a frame of kind :MORE, of which the last two are the
address and the number of the arguments that the function has not taken yet. Return as second value
a list with these arguments in place of the two."
  ("SB-DEBUG" "CLEAN-&MORE-PROCESSOR")
  (values name (butlast arguments 2) info))
(define-internal plain-lambda-list (function)
  "Return the lambda list that FUNCTION records." ("SB-KERNEL" "%FUN-LAMBDA-LIST"))

(defun debug-name (function)
  "Return the name of FUNCTION, a debug function: a symbol, a list, or a string for a C function."
  (let ((name (given-name function)))
    ;; Since SBCL 2.4.3 the name of a top-level form is a string too.
    (if (and (stringp name) (eq :toplevel (debug-kind function))) (list +top-level-form+) name)))

(defun given-arguments (frame)
  "Return a list of the arguments of FRAME, at most 20, in the form in which SBCL keeps them. For a
method, the list contains arguments that SBCL adds."
  (let* ((limit 20)
         (arguments (cond ((null +frame-arguments+) '())
                          ((rest (plain-lambda-list (fdefinition +frame-arguments+)))
                           (funcall +frame-arguments+ frame limit))
                          (t (funcall +frame-arguments+ frame)))))
    (if (and (eq :more (debug-kind (frame-function frame)))
             ;; A list that the limit cut short does not end with an address and a number.
             (< 1 (length arguments) limit))
        (nth-value 1 (with-more-arguments (debug-name (frame-function frame)) arguments '()))
        arguments)))

;;; Source places of frames

(define-ability "places of frames"
  :without "frames have no file and line, and those of SBCL itself are shown too")

(define-internal frame-place (frame)
  "Return the code location (an SB-DI:CODE-LOCATION) that FRAME is executing."
  ("SB-DI" "FRAME-CODE-LOCATION"))
(define-internal place-source (place)
  "Return the debug source of the code location PLACE." ("SB-DI" "CODE-LOCATION-DEBUG-SOURCE"))
(define-internal place-top-level-form (place)
  "Return the number of the top-level form that contains the code location PLACE, or NIL."
  ("SB-DI" "CODE-LOCATION-TOPLEVEL-FORM-OFFSET"))
(define-internal place-form-number (place)
  "Return the number of the form at the code location PLACE, counted within its top-level form."
  ("SB-DI" "CODE-LOCATION-FORM-NUMBER"))
(define-internal-type core-source
  "The type of debug sources of code that was not compiled from a file."
  ("SB-C" "CORE-DEBUG-SOURCE"))
(define-internal source-form (source)
  "SOURCE is the CORE-SOURCE of code that EVAL or COMPILE has compiled. Return the form from which
the code was compiled. SBCL counts subforms from the beginning of this form, even if the code was
compiled while a file was loaded."
  ("SB-C" "CORE-DEBUG-SOURCE-FORM"))

;;; Local variables of frames, and the objects in them

(define-ability "locals" :without "errors show fewer local variables")

(define-internal-variable thread-clock
  "The number of the clock that measures the CPU time of a thread, or NIL if it is unknown. It
differs between operating systems."
  ("SB-UNIX" "CLOCK-THREAD-CPUTIME-ID"))
(define-internal debug-variables (function)
  "Return a vector of the local variables of FUNCTION, a debug function."
  ("SB-DI" "DEBUG-FUN-DEBUG-VARS")
  #())
(define-internal variable-symbol (variable)
  "Return the symbol that names VARIABLE, a variable of a frame." ("SB-DI" "DEBUG-VAR-SYMBOL"))
(define-internal variable-validity (variable place)
  "Return :VALID if VARIABLE has a known value at the code location PLACE. Otherwise return another
keyword."
  ("SB-DI" "DEBUG-VAR-VALIDITY"))
(define-internal variable-value (variable frame)
  "Return the value that VARIABLE has in FRAME." ("SB-DI" "DEBUG-VAR-VALUE"))
(define-internal layout-of (object)
  "Return the layout of OBJECT." ("SB-KERNEL" "WRAPPER-OF" "SB-KERNEL" "LAYOUT-OF"))
(define-internal outdated-layout-p (layout)
  "Return true if instances with LAYOUT are outdated, because their class was redefined."
  ("SB-PCL" "INVALID-WRAPPER-P" "SB-KERNEL" "LAYOUT-INVALID") t)
(define-internal-place unbound-marker
  "The object that marks a slot of an instance as unbound." ("SB-PCL" "+SLOT-UNBOUND+"))
(define-internal instance-length (object)
  "Return the number of words of OBJECT, a structure or condition."
  ("SB-KERNEL" "%INSTANCE-LENGTH") 0)
(define-internal instance-word (object index)
  "Return the word at INDEX of OBJECT, a structure or condition." ("SB-KERNEL" "%INSTANCE-REF"))
(define-internal-name +assigned-slots+
  "The name of the slot of a condition structure in which SBCL keeps the values of the slots that
were set."
  ("SB-KERNEL" "ASSIGNED-SLOTS"))
(define-internal slot-index (class slot)
  "Return the index of the word for SLOT in a structure or condition of CLASS. CLASS and SLOT are
symbols, which are not evaluated."
  ("SB-KERNEL" "GET-DSD-INDEX") nil)
(define-internal condition-assignments (condition)
  "Return the slots of CONDITION that were set, with their values: a plist, or in newer SBCLs an
alist."
  ("SB-KERNEL" "CONDITION-ASSIGNED-SLOTS"))

(defun assigned-slots (condition)
  "Return a plist with the name and the value of each slot of CONDITION that was set."
  (let ((assignments (condition-assignments condition)))
    (if (consp (first assignments))
        (loop for (slot . value) in assignments append (list slot value))
        assignments)))

(define-internal plain-function-name (function)
  "Return the name that SBCL has stored in FUNCTION." ("SB-KERNEL" "%FUN-NAME"))

(defmacro first-condition-word ()
  "A condition object ends with words for the initargs that MAKE-CONDITION got: names and values.
Expand into the index of the first such word, or into MOST-POSITIVE-FIXNUM if this SBCL has none."
  (if (and +assigned-slots+ (internal-symbol "SB-KERNEL" "GET-DSD-INDEX"))
      ;; CONDITION is the class here, not a variable.
      `(1+ (slot-index condition ,+assigned-slots+))
      most-positive-fixnum))

;;; Leaving a frame, running its call again, and evaluating forms in it

(define-ability "frame actions"
  :without
  "a held error shows its frames and takes restarts, but debug cannot run a frame again or evaluate in it")

(define-internal frame-tag (frame)
  "Return true if the code of FRAME has a tag to unwind to. Leaving a frame without such a tag
corrupts memory."
  ("SB-DEBUG" "FRAME-HAS-DEBUG-TAG-P"))
(define-internal leave-frame (frame function)
  "Unwind the stack to FRAME and call FUNCTION. Its values become the values of the call of FRAME."
  ("SB-DEBUG" "UNWIND-TO-FRAME-AND-CALL"))
(define-internal function-component (function)
  "Return the code object that contains the code of FUNCTION, a debug function."
  ("SB-DI" "COMPILED-DEBUG-FUN-COMPONENT"))
(define-internal returning-convention (compiled)
  "Return the convention by which the function of COMPILED, a record from COMPILED-DEBUG, returns
its values. It is :STANDARD, or another object if only the callers of the function know the
convention."
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
  "Return the function object that FUNCTION, a debug function, describes, or NIL."
  ("SB-DI" "DEBUG-FUN-FUN"))
(define-internal-name +handlers+
  "The name of the variable that holds the established handlers."
  ("SB-KERNEL" "*HANDLER-CLUSTERS*"))
(define-internal-variable first-handlers
  "The handlers that are established when a thread begins."
  ("SB-KERNEL" "**INITIAL-HANDLER-CLUSTERS**"))
(define-internal-name +restarts+
  "The name of the variable that holds the established restarts."
  ("SB-KERNEL" "*RESTART-CLUSTERS*"))
(define-internal-name +deadline+ "The name of the variable that holds the current deadline."
  ("SB-IMPL" "*DEADLINE*"))
(define-internal closed-over (closure)
  "Return a list of the values that CLOSURE closes over." ("SB-KERNEL" "%CLOSURE-VALUES") '())
(define-internal value-cell-p (object)
  "Return true if OBJECT is a value cell. A value cell holds a variable that a closure assigns."
  ("SB-DI" "INDIRECT-VALUE-CELL-P"))
(define-internal cell-value (cell) "Return the value in CELL, a value cell."
  ("SB-KERNEL" "VALUE-CELL-REF"))
(define-internal restart-function (restart)
  "Return the function that RESTART calls." ("SB-KERNEL" "RESTART-FUNCTION"))

;;; Locks

(define-ability "locks" :without "debug does not tell which locks a thread holds or waits for")

(define-internal word-object (word signals)
  "Return two values: the object to which the integer WORD, a tagged pointer, points, and true. If
it points to no object, return NIL as second value, or signal an error if SIGNALS is true."
  ("SB-KERNEL" "MAKE-LISP-OBJ") (values nil nil))
(define-internal close-region ()
  "Close the memory region in which this thread allocates. Since SBCL 2.5, WORD-OBJECT finds no
objects in a region that is open."
  ("SB-VM" "CLOSE-THREAD-ALLOC-REGION"))
(define-internal-variable instance-tag
  "The lowest four bits of a pointer to an instance, its lowtag."
  ("SB-VM" "INSTANCE-POINTER-LOWTAG") 3)
(define-internal-variable filler-tag
  "The widetag in the lowest octet of a filler header. The collector puts a filler where objects of a
page are dead. The upper half of its header has its number of words." ("SB-VM" "FILLER-WIDETAG"))
(define-internal-variable stack-end-slot
  "The index of the thread slot that holds the end of the control stack."
  ("SB-VM" "THREAD-CONTROL-STACK-END-SLOT"))
(define-internal waited-for (thread)
  "Return the lock that THREAD waits for, or NIL." ("SB-THREAD" "THREAD-WAITING-FOR"))

;;; Conditions of the compiler, and their contexts

(define-ability "error-contexts" :without "warnings do not tell which form they are about")

(define-internal error-context (parts)
  "Return the compiler's current error context, or NIL. An error context describes the form that a
warning is about. The backend always passes NIL as PARTS."
  ("SB-C" "FIND-ERROR-CONTEXT"))
(define-internal context-form (context)
  "Return the form that CONTEXT, an error context, describes."
  ("SB-C" "COMPILER-ERROR-CONTEXT-ORIGINAL-FORM"))
(define-internal context-definitions (context)
  "Return a list of the definitions around the form of the error context CONTEXT, such as ((DEFUN
F))."
  ("SB-C" "COMPILER-ERROR-CONTEXT-CONTEXT"))
(define-internal context-offset (context)
  "Return the file offset of the top-level form of the error context CONTEXT."
  ("SB-C" "COMPILER-ERROR-CONTEXT-FILE-POSITION"))
(define-internal context-file (context)
  "Return the pathname of the file of the error context CONTEXT. If it has no file, return an object
that is no pathname."
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
  "Return the position of the form that CONDITION, an UNREADABLE-FILE, is about, as a cons (LINE .
COLUMN). Return NIL if it is unknown."
  ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE-LINE/COL"))
(define-internal stream-position (stream)
  "Return the position of STREAM as a list such as ((:LINE 3))."
  ("SB-KERNEL" "STREAM-ERROR-POSITION-INFO"))
(define-internal-type unreadable-file
  "The type of conditions with which COMPILE-FILE reports that it cannot read a form."
  ("SB-C" "INPUT-ERROR-IN-COMPILE-FILE"))
(define-internal-type compiled-program-error
  "The type of errors that compiled code signals where a form could not be compiled."
  ("SB-INT" "COMPILED-PROGRAM-ERROR"))
(define-internal-type compiler-error
  "The type of errors that the compiler finds in a form. The compiler replaces such a form by code
that signals an error."
  ("SB-C" "COMPILER-ERROR"))
(define-internal-name +warned+
  "The name of the variable that becomes the second value of COMPILE and COMPILE-FILE."
  ("SB-C" "*WARNINGS-P*"))
(define-internal-name +failed+
  "The name of the variable that becomes the third value of COMPILE and COMPILE-FILE."
  ("SB-C" "*FAILURE-P*"))
(define-internal-name +in-unit+
  "The name of a variable that is true within a compilation unit."
  ("SB-C" "*COMPILATION-UNIT*" "SB-C" "*IN-COMPILATION-UNIT*"))
(define-internal-type redefinition
  "The type of warnings about a redefinition." ("SB-KERNEL" "REDEFINITION-WARNING"))
(define-internal-type uninteresting-redefinition
  "The type of those warnings that SBCL signals if the new definition comes from the same place in
the source."
  ("SB-KERNEL" "UNINTERESTING-REDEFINITION"))

(define-internal-type other-proclamation
  "The type of warnings that a proclaimed type differs from the type proclaimed before."
  ("SB-KERNEL" "PROCLAMATION-MISMATCH"))
(define-internal-type other-package
  "The type of warnings that a package has more in it than its DEFPACKAGE form says."
  ("SB-INT" "PACKAGE-AT-VARIANCE"))

;;; Printing of code

(define-ability "code printing"
  :without "code and messages are printed with the program's own printer settings")

(define-internal-name +print-depth+
  "The name of the variable that holds the current depth of printing."
  ("SB-KERNEL" "*CURRENT-LEVEL-IN-PRINT*"))
(define-internal-name +print-references+
  "The name of the variable that controls whether a condition's report has references to manuals."
  ("SB-INT" "*PRINT-CONDITION-REFERENCES*"))
(define-internal-name +quasiquote+
  "The name of the operator of the form that SBCL reads from a backquote." ("SB-INT" "QUASIQUOTE"))
(define-internal-name +named-lambda+
  "The name of SBCL's operator for a lambda expression with a name." ("SB-INT" "NAMED-LAMBDA"))
(define-internal-type comma
  "The type of the objects that the reader makes for a comma in a backquoted form."
  ("SB-IMPL" "COMMA"))
(define-internal comma-p (object) "Return true if OBJECT is a COMMA." ("SB-INT" "COMMA-P"))
(define-internal comma-expression (comma) "Return the expression after COMMA, a COMMA object."
  ("SB-INT" "COMMA-EXPR"))
(define-internal comma-kind (comma)
  "Return an object that stands for the syntax of COMMA: a comma alone, followed by @, or followed
by a period."
  ("SB-INT" "COMMA-KIND"))
(define-internal make-comma (expression kind)
  "Return a COMMA object, the comma in front of EXPRESSION. KIND is a result of COMMA-KIND."
  ("SB-INT" "UNQUOTE"))
(define-internal-type unprintable
  "The type of objects that print as a given text between #< and >."
  ("SB-DEBUG" "UNPRINTABLE-OBJECT" "SB-INT" "UNPRINTABLE-OBJECT"))
(define-internal make-unprintable
                 (text)
  "Return an object that prints as #<TEXT>."
  ("SB-INT" "MAKE-UNPRINTABLE-OBJECT")
                 (make-symbol text))

;;; The readtable, the compiler's policy, and hooks for definitions

(define-ability "readtable and policy"
  :without
  "a lost image is rebuilt without changes of the readtable and of the compiler's policy")

(define-internal macro-characters
                 (readtable)
  "Return a vector of the macro functions of READTABLE for the characters with codes below 128."
  ("SB-IMPL" "BASE-CHAR-MACRO-ARRAY")
  #())
(define-internal character-syntax
                 (readtable)
  "Return a vector of the syntax types in READTABLE of the characters with codes below 128."
  ("SB-IMPL" "BASE-CHAR-SYNTAX-ARRAY")
  #())
(define-internal other-characters (readtable)
  "Return a hash table of the characters of READTABLE that are not constituents and have codes from
128 on."
  ("SB-IMPL" "EXTENDED-CHAR-TABLE"))
(define-internal dispatch-table (function)
  "FUNCTION is the macro function of a dispatching macro character, such as #. Return the table that
maps sub-characters to the functions of this character."
  ("SB-IMPL" "%DISPATCH-MACRO-CHAR-TABLE"))
(define-internal closure-p (function)
  "Return true if FUNCTION is a closure." ("SB-KERNEL" "CLOSUREP"))
(define-internal-name +policy+ "The name of the variable that holds the compiler's policy."
  ("SB-C" "*POLICY*"))
(define-internal-variable compiler-policy
  "The policy of the compiler." ("SB-C" "*POLICY*"))
(define-internal policy-qualities (policy)
  "Return POLICY as a list such as ((SPEED 1) (SAFETY 1))." ("SB-C" "POLICY-TO-DECL-SPEC"))

(define-ability "effects"
  :without
  "a lost image is rebuilt only from forms that are seen to define something, and symbols that unreadable text has made stay")

(define-internal-name +name-check+
  "The name of the function that SBCL calls before it defines or undefines a name. It signals an
error if the home package of the symbol is locked."
  ("SB-KERNEL" "ASSERT-SYMBOL-HOME-PACKAGE-UNLOCKED" "SB-IMPL"
  "ASSERT-SYMBOL-HOME-PACKAGE-UNLOCKED"))
(define-internal-name +package-check+
  "The name of the function that SBCL calls before it changes a package. It signals an error if the
package is locked."
  ("SB-IMPL" "ASSERT-PACKAGE-UNLOCKED"))
(define-internal-name +define-package+ "The name of the function behind DEFPACKAGE."
  ("SB-IMPL" "%DEFPACKAGE"))
(define-internal-name +proclaim+ "The name of the function behind PROCLAIM and DECLAIM."
  ("SB-C" "%PROCLAIM"))

(define-ability "loading" :without "while a file is loaded, *LOAD-TRUENAME* is its fasl")

(define-internal load-fasl
                 (stream verbose print)
  "Load the fasl in STREAM. VERBOSE and PRINT have the meaning of LOAD's keyword arguments."
  ("SB-FASL" "LOAD-AS-FASL")
                 (load stream))
(define-internal-name +load-fasl+ "The name of the function that loads the fasl in a stream."
  ("SB-FASL" "LOAD-AS-FASL"))

(defun fasl-path-p (path)
  "Return true if PATH, a native namestring, ends in the file type of fasls, such as fasl."
  (equal (pathname-type (sb-ext:parse-native-namestring path))
         (pathname-type (compile-file-pathname "source"))))

(defun compiled-from (fasl)
  "Return the pathname of the source file that the header of FASL names, or NIL if it names none.
FASL is a pathname."
  (nil-if-unreadable
    (with-open-file (in fasl :external-format '(:utf-8 :replacement #\?))
      (loop with words = "  compiled from "
            repeat 4
            for line = (read-line in)
            when (eql (mismatch words line) (length words))
              return (with-standard-io-syntax
                       (let ((*read-eval* nil))
                         (parse-namestring
                          (read-from-string line t nil :start (length words)))))))))

;;; SBCL's code walker, built in or in a contrib that can be loaded later

(define-ability "macroexpand-all" :without "macroexpand_form cannot expand all forms within a form")

(define-late-internal code-walker
  "Return SBCL's function that expands all macro forms within a form, or NIL while there is none."
  ("SB-WALKER" "MACROEXPAND-ALL" "SB-CLTL2" "MACROEXPAND-ALL"))
