;;;; Internals of SBCL: who calls a function and when, and which parts of code ran.

(in-package "LIVE-LISP.BASE")

(define-ability "recorded calls" "observe tells no callers of a call, and only rough times")

(define-internal clock-time (clock)
  "Return the time of CLOCK in seconds and nanoseconds. Clock 1 is monotonic."
  ("SB-UNIX" "CLOCK-GETTIME")
  (multiple-value-bind (seconds rest) (floor (get-internal-real-time) internal-time-units-per-second)
    (values seconds (floor (* 1000000000 rest) internal-time-units-per-second))))
(define-internal caller-address ()
  "Return the address to which the function around this call returns, or NIL." ("SB-KERNEL" "%CALLER-PC"))
(define-internal code-at (address)
  "Return the code object that contains ADDRESS, a number, or NIL." ("SB-DI" "CODE-HEADER-FROM-PC"))
(define-internal code-start (code)
  "Return the address of the first instruction of CODE." ("SB-KERNEL" "CODE-INSTRUCTIONS") (sb-sys:int-sap 0))
(define-internal debug-at (code offset)
  "Return the debugger's description of the function at OFFSET in CODE." ("SB-DI" "DEBUG-FUN-FROM-PC"))
(define-internal on-stack-p (object)
  "True when OBJECT is on the stack of this thread, and so is gone when its function returns."
  ("SB-EXT" "STACK-ALLOCATED-P"))

(define-ability "coverage" "run_tests does not tell what its tests ran")

(define-internal-variable coverage-info
  "A list: a table of code that marks what of it runs, by the name of the file; then the entries for MARKING-CODE."
  ("SB-C" "*CODE-COVERAGE-INFO*"))
(define-late-internal file-parts-reader
  "Return the function that returns the parts in an entry of that table as a vector; older SBCLs have a list there, and no
such function." ("SB-C" "COVERED-FILE-PATHS"))

(defun file-parts (entry)
  "Return the parts of a file that are marked when they run, each a list of the part and, when that is known, T if it
ran. ENTRY is from the table in COVERAGE-INFO."
  (if (listp entry)
      entry
      (map 'list #'list (funcall (file-parts-reader) entry))))

(defun marking-code (entry)
  "Return a list of the code in ENTRY, of the rest of COVERAGE-INFO: a weak pointer or, since 2.6, a weak vector."
  (remove nil (if (vectorp entry) (coerce entry 'list) (list (sb-ext:weak-pointer-value entry)))))
(define-internal-name +coverage-quality+
  "Names the quality of the compiler by which code marks what of it runs." ("SB-C" "STORE-COVERAGE-DATA"))
(define-internal-variable source-paths
  "While a top-level form is compiled, a table of the places of its parts in it." ("SB-C" "*SOURCE-PATHS*"))
(define-late-internal marks-reader
  "Return the function that returns which parts of a code object have run, or NIL." ("SB-COVER" "GET-COVERAGE"))
