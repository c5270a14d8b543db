;;;; Internals of SBCL: callers of functions, clocks, entered methods, hashes, and coverage. The
;;;; macros DEFINE-INTERNAL and so on are in sbcl.lisp, which explains their parameters. Each name
;;;; that is declared here needs a test in probes.lisp (DEFINE-PROBE).

(in-package "LIVE-LISP.BASE")

(define-ability "recorded calls"
  :without "observe shows no callers of a call, and only rough times")

(define-internal clock-time (clock)
  "Return two values: the seconds and the nanoseconds of the clock with the number CLOCK. Clock 1 is
monotonic."
  ("SB-UNIX" "CLOCK-GETTIME")
  (multiple-value-bind (seconds rest)
      (floor (get-internal-real-time) internal-time-units-per-second)
    (values seconds (floor (* 1000000000 rest) internal-time-units-per-second))))
(define-internal caller-address ()
  "Return the return address of the function whose code contains this form, or NIL."
  ("SB-KERNEL" "%CALLER-PC"))
(define-internal code-at (address)
  "Return the code object that contains ADDRESS, an integer, or NIL."
  ("SB-DI" "CODE-HEADER-FROM-PC"))
(define-internal code-start (code)
  "Return the address of the first instruction of CODE, a code object."
  ("SB-KERNEL" "CODE-INSTRUCTIONS")
                 (sb-sys:int-sap 0))
(define-internal debug-at (code offset)
  "Return the debug function (an SB-DI:DEBUG-FUN) for the instruction at OFFSET in CODE, a code
object."
  ("SB-DI" "DEBUG-FUN-FROM-PC"))
(define-internal on-stack-p (object)
  "Return true if OBJECT has dynamic extent on the stack of this thread. Such an object is invalid
once the function that made it returns."
  ("SB-EXT" "STACK-ALLOCATED-P"))

(define-ability "entered methods"
  :without
  "observe computes which methods a call of a generic function enters, instead of recording them")

(define-internal-name +called-method+
  "The name of the function that an effective method calls for each method, and that TRACE uses to
wrap methods. It returns the function to call. Its arguments are the generic function; the method,
or NIL; the function of the method; and true if this function is a fast one. A fast function takes
two more arguments before those of the method."
  ("SB-PCL" "MAYBE-TRACE-METHOD"))
(define-internal release-generic (function key)
  "Remove the wrapper with KEY from FUNCTION, a generic function. This also works if FUNCTION is no
longer the definition of a name."
  ("SB-IMPL" "UNENCAPSULATE-GENERIC-FUNCTION"))

(define-ability "hashes"
  :without "profiles and inspect do not tell which hash tables have keys with the same hash")

(define-internal hash-function (table)
  "Return the function with which TABLE, a hash table, computes the hash of a key."
  ("SB-IMPL" "HASH-TABLE-HASH-FUN"))

(define-ability "coverage" :without "run_tests does not tell what its tests ran")

(define-internal-variable coverage-info
  "A list with SBCL's records of coverage. The first element is a hash table from file names to
entries that FILE-PARTS reads. The other elements are entries that MARKING-CODE reads."
  ("SB-C" "*CODE-COVERAGE-INFO*"))
(define-late-internal file-parts-reader
  "Return SBCL's function that takes an entry of the hash table in COVERAGE-INFO and returns a
vector of the parts of the file. Return NIL in older SBCLs, in which the entry is a list of the
parts."
  ("SB-C" "COVERED-FILE-PATHS"))

(defun file-parts (entry)
  "ENTRY is the entry of a file in the hash table that is the first element of COVERAGE-INFO. Return
a list of lists (PART), one for each part of the file of which SBCL can record whether it has run.
In older SBCLs, the list is (PART T) once the part has run."
  (if (listp entry)
      entry
      (map 'list #'list (funcall (file-parts-reader) entry))))

(defun marking-code (entry)
  "Return a list of the code objects in ENTRY, an element of COVERAGE-INFO after the first. ENTRY is
a weak pointer, or a weak vector since SBCL 2.6."
  (remove nil (if (vectorp entry) (coerce entry 'list) (list (sb-ext:weak-pointer-value entry)))))
(define-internal-name +coverage-quality+
  "The name of the OPTIMIZE quality with which compiled code records which of its parts run."
  ("SB-C" "STORE-COVERAGE-DATA"))
(define-internal-variable source-paths
  "While SBCL compiles a top-level form, a hash table from the subforms of this form to their source
paths."
  ("SB-C" "*SOURCE-PATHS*"))
(define-late-internal marks-reader
  "Return the function of SB-COVER that takes a code object and returns the parts of it that have
run. Return NIL while SB-COVER is not loaded."
  ("SB-COVER" "GET-COVERAGE"))
