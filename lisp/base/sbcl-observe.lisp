;;;; Internals of SBCL: callers of functions, clocks, entered methods, and coverage.

(in-package "LIVE-LISP.BASE")

(define-ability "recorded calls" "observe tells no callers of a call, and only rough times")

(define-internal clock-time (clock)
  "Return the time of CLOCK in seconds and nanoseconds. Clock 1 is monotonic."
  ("SB-UNIX" "CLOCK-GETTIME")
  (multiple-value-bind (seconds rest)
      (floor (get-internal-real-time) internal-time-units-per-second)
    (values seconds (floor (* 1000000000 rest) internal-time-units-per-second))))
(define-internal caller-address ()
  "Return the address to which the function around this call returns, or NIL."
                 ("SB-KERNEL" "%CALLER-PC"))
(define-internal code-at (address)
  "Return the code object that contains ADDRESS, a number, or NIL." ("SB-DI" "CODE-HEADER-FROM-PC"))
(define-internal code-start
                 (code)
  "Return the address of the first instruction of CODE."
                 ("SB-KERNEL" "CODE-INSTRUCTIONS")
                 (sb-sys:int-sap 0))
(define-internal debug-at (code offset)
  "Return the debugger's description of the function at OFFSET in CODE."
                 ("SB-DI" "DEBUG-FUN-FROM-PC"))
(define-internal on-stack-p (object)
  "True when OBJECT is on the stack of this thread, and so is gone when its function returns."
  ("SB-EXT" "STACK-ALLOCATED-P"))

(define-ability
 "entered methods"
 "observe computes which methods a call of a generic function enters, instead of recording them")

(define-internal-name +called-method+
  "Names the function that returns the function by which an effective method calls a method. TRACE
wraps methods in it. It takes a generic function, a method or NIL, the function of the method, and
true when this is a fast one: that takes two other arguments before those of the method."
  ("SB-PCL" "MAYBE-TRACE-METHOD"))
(define-internal release-generic (function key)
  "Remove the wrapper KEY of FUNCTION, a generic function that no name needs to have any more."
  ("SB-IMPL" "UNENCAPSULATE-GENERIC-FUNCTION"))

(define-ability "coverage" "run_tests does not tell what its tests ran")

(define-internal-variable coverage-info
  "A list: a hash table from a file's name to the file's entry for FILE-PARTS, then the entries for
MARKING-CODE."
  ("SB-C" "*CODE-COVERAGE-INFO*"))
(define-late-internal file-parts-reader
  "Return SBCL's function that returns, as a vector, the parts in an entry of the table in
COVERAGE-INFO; NIL in older SBCLs, where the entry itself is the list of parts."
                      ("SB-C" "COVERED-FILE-PATHS"))

(defun file-parts (entry)
  "Return the parts of a file that coverage marks, each as a list of the part and, in older SBCLs, T
if it ran. ENTRY is the file's entry in the table in COVERAGE-INFO."
  (if (listp entry)
      entry
      (map 'list #'list (funcall (file-parts-reader) entry))))

(defun marking-code (entry)
  "Return a list of the code in ENTRY, a later element of COVERAGE-INFO: a weak pointer or, since
2.6, a weak vector."
  (remove nil (if (vectorp entry) (coerce entry 'list) (list (sb-ext:weak-pointer-value entry)))))
(define-internal-name +coverage-quality+
  "Names the OPTIMIZE quality with which code marks its parts when they run."
                      ("SB-C" "STORE-COVERAGE-DATA"))
(define-internal-variable source-paths
  "While a top-level form is compiled, a table from its parts to their source paths."
                          ("SB-C" "*SOURCE-PATHS*"))
(define-late-internal marks-reader
  "Return SB-COVER's function that returns which parts of a code object have run, or NIL."
                      ("SB-COVER" "GET-COVERAGE"))
