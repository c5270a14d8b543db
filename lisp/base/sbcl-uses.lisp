;;;; Internals of SBCL: which code uses which names, and how code gets into the image. The macros
;;;; DEFINE-INTERNAL and so on are in sbcl.lisp, which explains their parameters. Each name that is
;;;; declared here needs a test in probes.lisp (DEFINE-PROBE).

(in-package "LIVE-LISP.BASE")

;;; Cross references

(define-ability "cross-references"
  :without "who_calls and who_references find only what the constants of code tell")

(define-internal function-xrefs (function)
  "Return the cross references, in packed form, of FUNCTION, a SIMPLE-FUNCTION."
  ("SB-KERNEL" "%SIMPLE-FUN-XREFS"))
(define-internal map-packed-xrefs (function xrefs)
  "Call FUNCTION with the kind, the name and the form number of each reference in XREFS, packed
cross references. From SBCL 2.6.1 to 2.6.4, only the first reference to a name has its form number.
Each later reference to the name has the difference from the form number of the reference before
it."
  ("SB-C" "MAP-PACKED-XREF-DATA"))
(define-internal without-xrefs-p (name)
  "Return true if SBCL keeps no cross references to NAME. Before 2.4, SBCL calls this function
INTERNAL-NAME-P, and later it has another function of that name."
  ("SB-C" "XREF-INTERNAL-NAME-P" "SB-C" "INTERNAL-NAME-P"))

(declaim (notinline probed))
(defun probed (&rest arguments)
  "Return ARGUMENTS. This is an example function for PROBE to call."
  arguments)

(defun probe (argument)
  "Call PROBED twice, as an example for *DIFFERENCES*. For the second call, SBCL records the form
number, which is large here, or the difference from the form number of the first call, which is
small. *DIFFERENCES* finds out which."
  (list (list argument) (list argument) (list argument) (list argument) (list argument)
        (probed (probed argument))))

(defparameter *differences*
    ;; Ignore errors: this code runs before the tests in probes.lisp have shown that the internals
    ;; are right.
    (ignore-errors
     (let ((numbers '()) (xrefs (and (compiled-function-p #'probe) (function-xrefs #'probe))))
       (when (and (simple-vector-p xrefs) (plusp (length xrefs)))
         (map-packed-xrefs (lambda (kind name number)
                             (when (and (eq kind :calls) (eq name 'probed)) (push number numbers)))
                           xrefs))
       ;; The number for the second call was pushed last.
       (and (rest numbers) (< (first numbers) 4))))
  "True if MAP-PACKED-XREFS of this SBCL passes differences between form numbers (see there).")

(defun map-xrefs (function xrefs)
  "Call FUNCTION with the kind, the name and the form number of each reference in XREFS, packed
cross references. Some versions of SBCL store, instead of a form number, its difference to the
previous one. FUNCTION gets the form numbers even there."
  (if *differences*
      (let ((last-kind nil) (last-name nil) (last 0))
        (map-packed-xrefs (lambda (kind name number)
                            (setf last (if (and (eq kind last-kind) (equal name last-name))
                                           (+ last number)
                                           number)
                                  last-kind kind
                                  last-name name)
                            (funcall function kind name last))
                          xrefs))
      (map-packed-xrefs function xrefs)))

;;; Code that sets slots of structures

(define-ability "slots that are set"
  :without "who_calls finds code that sets slots of a structure in the sources only")

(define-internal-name +know-slot+
  "The name of the function with which SETF tests whether a place is a slot of a structure."
  ("SB-IMPL" "TRANSFORMABLE-STRUCT-SETF-P"))
(define-internal-name +record-expansion+
  "The name of the function that records that a macro was expanded."
  ("SB-C" "RECORD-MACROEXPANSION"))
(define-internal record-callee (name block path)
  "Record a call of the function NAME in the code that is being compiled. BLOCK is the compiler's
block that contains the call, and PATH the source path (see +FORM-PATHS+) of the call."
  ("SB-C" "RECORD-CALL"))
(define-internal-variable source-path
  "The source path of the form that this thread is compiling, or NIL." ("SB-C" "*CURRENT-PATH*"))

;;; Functions by their names

(define-ability "functions" :without "who_calls finds nobody")

(define-internal simple-function (function)
  "Return the simple function with the code of FUNCTION: FUNCTION itself, or the function that a
closure or a funcallable instance calls."
  ("SB-KERNEL" "%FUN-FUN") function)
(define-internal instance-function (function)
  "Return the function that FUNCTION, a funcallable instance, calls."
  ("SB-KERNEL" "%FUNCALLABLE-INSTANCE-FUN") function)
(define-internal simple-function-name (function)
  "Return the debug name of FUNCTION, a SIMPLE-FUNCTION." ("SB-KERNEL" "%SIMPLE-FUN-NAME"))
(define-internal-type simple-function
  "The type of compiled functions that are neither closures nor funcallable instances."
  ("SB-KERNEL" "SIMPLE-FUN"))
(define-internal-type interpreted-function
  "The type of functions that are interpreted, not compiled."
  ("SB-KERNEL" "INTERPRETED-FUNCTION"))
(define-internal method-function (method)
  "Return the function that SBCL usually calls for METHOD, or NIL."
  ("SB-PCL" "SAFE-METHOD-FAST-FUNCTION"))
(define-internal map-global-names (function)
  "Call FUNCTION with each name about which SBCL's globaldb has information."
  ("SB-INT" "CALL-WITH-EACH-GLOBALDB-NAME"))
(define-internal-type cell
  "The type of objects that hold the global function of a name. SBCL calls them fdefns."
  ("SB-KERNEL" "FDEFN"))
(define-internal called-function (name)
  "Return the function that a call of the global function NAME calls, including wrappers such as
that of TRACE."
  ("SB-KERNEL" "%COERCE-NAME-TO-FUN") (fdefinition name))
(define-internal-name +add-method+
  "The name of the function that a DEFMETHOD form calls to add the method."
  ("SB-PCL" "LOAD-DEFMETHOD"))
(define-internal-type handled-class
  "The type of cells for the condition type of a HANDLER-BIND clause."
  ("SB-KERNEL" "CLASSOID-CELL"))
(define-internal-name +checks-list+
  "The name of the function that checks arguments against the lambda list of a DESTRUCTURING-BIND."
  ("SB-C" "CHECK-DS-LIST"))
(define-internal-name +checks-rest+
  "The name of the function that does the work of +CHECKS-LIST+ for a lambda list with &REST or
&BODY."
  ("SB-C" "CHECK-DS-LIST/&REST"))
(define-internal-name +checks-keys+
  "The name of the function that does the work of +CHECKS-LIST+ for a lambda list with &KEY."
  ("SB-C" "CHECK-DS-LIST/&KEY"))
(define-internal condition-report (classoid)
  "Return the function that reports conditions of the class with CLASSOID, or NIL."
  ("SB-KERNEL" "CONDITION-CLASSOID-REPORT"))

;;; Code objects

(defun global-function-p (name)
  "Return true if NAME, a symbol or a list such as (SETF symbol), names a function, not a macro or a
special operator."
  (and (fboundp name)
       (not (and (symbolp name) (or (macro-function name) (special-operator-p name))))))

(defun global-function (name)
  "Return the function that a call of NAME calls, including wrappers such as that of TRACE, but
without the backend's hooks. Return NIL if NAME names no global function."
  (and (global-function-p name) (behind-hooks (called-function name))))

(define-ability "code" :without "who_calls and who_references leave out functions without a name")

(define-internal-type code
  "The type of code objects. A code object contains compiled code with one or more functions."
  ("SB-KERNEL" "CODE-COMPONENT"))
(define-internal code-functions (code)
  "Return the number of functions in the code object CODE." ("SB-KERNEL" "CODE-N-ENTRIES") 0)
(define-internal code-function (code index)
  "Return the function at INDEX in the code object CODE." ("SB-KERNEL" "%CODE-ENTRY-POINT"))
(define-internal code-words (code)
  "Return the number of words in the header of the code object CODE. Its constants end at this
index."
  ("SB-KERNEL" "CODE-HEADER-WORDS") 0)
(define-internal code-word (code index)
  "Return the word at INDEX in the header of the code object CODE, such as a constant."
  ("SB-KERNEL" "CODE-HEADER-REF"))
(define-internal-variable words-before-functions
  "The index of the first word that describes a function in a code object. In SBCL 2.4.7 and newer,
it is the index of the first constant."
  ("SB-VM" "CODE-CONSTANTS-OFFSET") 0)
(define-internal-variable words-for-function
  "The number of words that a code object has for each of its functions. The first of them is the
debug name of the function. Before SBCL 2.4.7 these words precede the constants."
  ("SB-VM" "CODE-SLOTS-PER-SIMPLE-FUN") 0)
(define-internal code-serial (code)
  "Return the unique number of the code object CODE." ("SB-KERNEL" "%CODE-SERIALNO"))
(define-internal-variable next-serial
  "The unique number that the next new code object gets."
  ("SB-FASL" "*CODE-SERIALNO*" "SB-C" "*CODE-SERIALNO*"))
(define-internal generation (object)
  "Return the number of the garbage collector's generation of OBJECT. A collection of one generation
does not collect the higher ones."
  ("SB-KERNEL" "GENERATION-OF") 0)
(define-internal-variable +never-collected+
  "The generation of the objects that were loaded with the core. It is never collected."
  ("SB-VM" "+PSEUDO-STATIC-GENERATION+") 6)
(define-internal function-debug (function)
  "Return the debug function (an SB-DI:DEBUG-FUN) of FUNCTION." ("SB-DI" "FUN-DEBUG-FUN"))
(define-internal compiled-debug (debug)
  "Return the compiler's record of the function that DEBUG, a debug function, describes."
  ("SB-DI" "COMPILED-DEBUG-FUN-COMPILER-DEBUG-FUN"))
(define-internal form-number (compiled)
  "Return the number of the top-level form that contains the function of COMPILED, a record from
COMPILED-DEBUG. Return NIL if the function comes from several forms."
  ("SB-C" "COMPILED-DEBUG-FUN-TLF-NUMBER"))

(define-internal source-offsets (source)
  "Return a vector of the offsets, in octets, of the top-level forms in the file of the debug source
SOURCE, or NIL."
  ("SB-C" "DEBUG-SOURCE-START-POSITIONS"))

(define-internal code-fixups (code)
  "Return an integer that packs several lists of numbers. The first list has the indices of the
linkage cells (see +NAME-OF-CELL+) through which CODE, a code object, calls functions."
  ("SB-VM" "%CODE-FIXUPS") 0)
(define-internal unpack-locations (packed)
  "Return the first list of numbers in the integer PACKED, a result of CODE-FIXUPS."
  ("SB-C" "UNPACK-CODE-FIXUP-LOCS"))

(defparameter *functions-first*
  (ignore-errors
   (let ((code (and (compiled-function-p #'probe) (function-code #'probe))))
     (and code
          (> (or (code-words code) 0) words-before-functions)
          (eq 'probe (code-word code words-before-functions)))))
  "True if a code object of this SBCL has the words for its functions before its constants.")

(defun first-constant (code)
  "Return the index of the first of the constants that the functions of CODE, a code object, share."
  (if *functions-first*
      (+ words-before-functions (* words-for-function (code-functions code)))
      words-before-functions))

;; This is no DEFINE-INTERNAL-NAME, because an SBCL without linkage cells lacks no ability.
(defconstant +name-of-cell+ (internal-symbol "SB-VM" "LINKAGE-ADDR->NAME")
  "The name of SBCL's function that takes the index of a linkage cell, and :INDEX to say that it is
an index. It returns the name of the function in the cell. NIL in SBCLs before 2.4.7, which have no
such function. Newer SBCLs call a global function through the linkage cell of its name. In older
ones, the constants of code contain a CELL for each function that the code calls.")

(defun linked-names (code)
  "Return a list of the names of the functions that CODE, a code object, calls through linkage
cells. Return NIL if this SBCL has no linkage cells."
  (when +name-of-cell+
    (loop for index in (unpack-locations (code-fixups code))
          collect (funcall +name-of-cell+ index :index))))

(defun map-named-code (visit)
  "Call the function VISIT with the code object of each global function, macro and method. This is
the fallback for WALK-CODE."
  (flet ((visit-function (function)
           (let ((simple (and (functionp function) (simple-function function))))
             (when (typep simple 'simple-function) (funcall visit (function-code simple))))))
    (map-global-names
     (lambda (name)
       (let ((function (or (and (symbolp name) (macro-function name))
                           (and (typep name '(or symbol (cons symbol (cons symbol null))))
                                ;; Some of these lists are not valid as names of functions.
                                (handler-case (fboundp name) (type-error () nil))
                                (fdefinition name)))))
         (if (typep function 'generic-function)
             (dolist (method (sb-mop:generic-function-methods function))
               (visit-function (method-function method)))
             (visit-function function)))))))

(define-internal walk-code
                 (visit)
  "Call VISIT with each code object in the heap."
  ("SB-VM" "MAP-CODE-OBJECTS")
                 (map-named-code visit))

(defun all-code ()
  "Return a list of all code objects in the heap. If another thread disturbs the walk of the heap,
walk again."
  (flet ((look ()
           (let ((found '()))
             (walk-code (lambda (code) (push code found)))
             found)))
    ;; SBCL signals an error when another thread allocates in the memory that this thread walks.
    (loop repeat 20
          do (handler-case (return (look)) (error () (sb-thread:thread-yield)))
          finally (return (look)))))

(defun map-code (visit)
  "Call the function VISIT with each code object in the heap. Unlike in WALK-CODE, other threads may
allocate memory meanwhile."
  (mapc visit (all-code)))

(defun map-functions (visit)
  "Call the function VISIT with the debug name and the function of each simple function in the
heap."
  (map-code (lambda (code)
              (dotimes (index (code-functions code))
                (let ((function (code-function code index)))
                  (funcall visit (plain-function-name function) function))))))

;;; Source texts

(define-ability "walking code"
  :without "who_calls and who_references leave out what top-level forms use")

(define-internal walk-form (form environment function)
  "Walk FORM with its macros expanded. Call FUNCTION with three arguments for FORM and for each form
in it: the form, its context and its environment. FUNCTION returns two values: the form to go on
with in place of its argument, and true if the parts of that form are not to be walked."
  ("SB-WALKER" "WALK-FORM"))

(define-internal file-kind (name)
  "Return :FILE if NAME, a native namestring, names a regular file and no symbolic link. Otherwise
return another value."
  ("SB-IMPL" "NATIVE-FILE-KIND") :file)

;;; Positions in a file of the objects that the reader makes

(define-ability "places"
  :without
  "calls, frames and warnings are told with their top-level forms, not with lines of their own")

(define-internal-type tracking-stream
  "The type of streams from which SBCL reads a file that it compiles or loads. Such a stream calls a
function, its observer, for each object that is read."
  ("SB-INT" "FORM-TRACKING-STREAM"))
(define-internal-name +tracking-stream+
  "The name of the class of tracking streams, for the argument :CLASS of OPEN."
  ("SB-INT" "FORM-TRACKING-STREAM"))
(define-internal stream-observer (stream)
  "Return the observer of STREAM, a TRACKING-STREAM. It can be set with SETF. SBCL calls this
function for each object that the reader makes, with its start and end position in characters and
the object."
  ("SB-INT" "FORM-TRACKING-STREAM-OBSERVER"))
(define-internal-name +make-observer+
  "The name of the function that makes the observer for a file that SBCL compiles."
  ("SB-C" "MAKE-FORM-TRACKING-STREAM-OBSERVER"))
(define-internal-name +load-source+
  "The name of the function that loads the source code in a stream."
  ("SB-INT" "LOAD-AS-SOURCE"))
(define-internal number-forms (form number)
  "Store the source path of each list in FORM in the table FORM-PATHS. NUMBER is the number of the
top-level form FORM in its file."
  ("SB-C" "FIND-SOURCE-PATHS"))
(define-internal-name +number-forms+ "The name of SBCL's function behind NUMBER-FORMS, for a hook."
  ("SB-C" "FIND-SOURCE-PATHS"))
(define-internal-name +form-paths+
  "The name of the variable with a hash table from each list in the form being compiled to its
source path. A source path is a list: a symbol, the number of the list, then positions in the
enclosing lists, from the inside out."
  ("SB-C" "*SOURCE-PATHS*"))
(define-internal-variable form-paths
  "The hash table in the variable that +FORM-PATHS+ names." ("SB-C" "*SOURCE-PATHS*"))
(define-internal-name +source-information+
  "The name of the variable with the compiler's record of the file that it is compiling."
  ("SB-C" "*SOURCE-INFO*"))
(define-internal-variable source-information
  "The compiler's record of the file that it is compiling, or NIL."
  ("SB-C" "*SOURCE-INFO*"))
(define-internal information-stream (information)
  "Return the stream in INFORMATION, the value of SOURCE-INFORMATION, or NIL."
  ("SB-C" "SOURCE-INFO-STREAM"))
(define-internal path-number (path)
  "Return the number of the form with the source path PATH." ("SB-C" "SOURCE-PATH-FORM-NUMBER"))
(define-internal path-top-level-form (path)
  "Return the number of the top-level form that contains the form with the source path PATH."
  ("SB-C" "SOURCE-PATH-TLF-NUMBER"))

;;; How code gets into the image

(define-ability "new code"
  :without
  "who_calls and who_references leave out forms that are evaluated once, such as initial values")

(define-internal-name +note-code+
  "The name of a function that SBCL calls with each new code object."
  ("SB-FASL" "POSSIBLY-LOG-NEW-CODE"))
(define-internal-name +evaluate-simply+
  "The name of the function that evaluates a form, without the compiler where possible. SBCL calls
it for the whole form, and again for parts such as the forms in a PROGN."
  ("SB-IMPL" "SIMPLE-EVAL-IN-LEXENV" "SB-INT" "SIMPLE-EVAL-IN-LEXENV"))
(define-internal-name +evaluate-compiled+
  "The name of the function that compiles a form and runs it once." ("SB-IMPL" "%SIMPLE-EVAL"))
(define-internal-name +interpret+
  "The name of the function that evaluates a form with the interpreter."
  ("SB-EVAL" "EVAL-IN-NATIVE-ENVIRONMENT"))
(define-internal-name +run-finalizers+
  "The name of the function that SBCL's finalizer thread calls after each garbage collection."
  ("SB-IMPL" "RUN-PENDING-FINALIZERS"))
(define-internal-variable evaluated-form
  "The whole form that this thread is evaluating." ("SB-IMPL" "*EVAL-SOURCE-CONTEXT*"))
(define-internal-variable evaluated-index
  "The number of the form EVALUATED-FORM in the file being loaded. NIL while no file is being
loaded."
  ("SB-IMPL" "*EVAL-TLF-INDEX*"))
