;;;; Internals of SBCL: strings, stacks, the heap, the encapsulation of functions, threads, and the
;;;; process. The macros DEFINE-INTERNAL and so on are in sbcl.lisp, which explains their
;;;; parameters. Each name that is declared here needs a test in probes.lisp (DEFINE-PROBE).

(in-package "LIVE-LISP.BASE")

;;; Strings

;; The text after :WITHOUT says what the user loses without the ability.
(define-ability "string data" :without "long strings are sent more slowly")

(define-internal-name +with-array-data+
  "The name of the operator into which WITH-STRING-DATA expands." ("SB-KERNEL" "WITH-ARRAY-DATA"))

(defmacro with-string-data ((data start end) string &body body)
  "Evaluate BODY with the variables DATA, START and END bound. DATA is a simple string, whose
characters from index START to END are those of STRING."
  (if +with-array-data+
      `(,+with-array-data+ ((,data ,string) (,start) (,end) :check-fill-pointer t) ,@body)
      `(let* ((,data (coerce ,string 'simple-string)) (,start 0) (,end (length ,data))) ,@body)))

;;; Stacks

(define-ability "stack guards" :without "code that exhausts the stack twice ends the image")

(define-internal stack-pointer ()
  "Return the stack pointer of this thread, an address." ("SB-VM" "CURRENT-SP") (sb-sys:int-sap 0))
(define-internal thread-slot (index)
  "Return the address in the slot with number INDEX of the structure of this thread in SBCL's
runtime."
  ("SB-VM" "CURRENT-THREAD-OFFSET-SAP") (sb-sys:int-sap 0))
(define-internal-variable this-slot
  "The index of the thread slot that holds the address of the thread's own structure."
  ("SB-VM" "THREAD-THIS-SLOT"))
(define-internal-variable stack-start-slot
  "The index of the thread slot that holds the start of the control stack."
  ("SB-VM" "THREAD-CONTROL-STACK-START-SLOT"))
(define-internal-variable state-slot
  "The index of the thread slot with the state of the guard page in its lowest octet. The octet is 0
while the page is unprotected."
  ("SB-VM" "THREAD-STATE-WORD-SLOT"))
(define-internal-variable word-octets "The number of octets in a word." ("SB-VM" "N-WORD-BYTES") 8)
(define-internal-variable guard-octets
  "The number of octets in a guard page." ("SB-C" "+BACKEND-PAGE-BYTES+") 32768)
(define-runtime-variable stack-octets sb-alien:unsigned-long
  "The number of octets in a control stack."
                         "thread_control_stack_size")
(define-runtime-function protect-control-stack
                         ((protect sb-alien:int) (thread sb-sys:system-area-pointer))
  "If PROTECT is 1, protect the last page of the control stack of the thread at the address THREAD."
                         "protect_control_stack_hard_guard_page")
(define-runtime-function protect-binding-stack
                         ((protect sb-alien:int) (thread sb-sys:system-area-pointer))
  "If PROTECT is 1, protect the last page of the binding stack of the thread at the address THREAD."
                         "protect_binding_stack_hard_guard_page")
(define-runtime-function protect-alien-stack
                         ((protect sb-alien:int) (thread sb-sys:system-area-pointer))
  "If PROTECT is 1, protect the last page of the alien stack of the thread at the address THREAD."
                         "protect_alien_stack_hard_guard_page")
(define-runtime-function reset-guard-page ((thread sb-sys:system-area-pointer))
  "Protect the guard page of the control stack of the thread at the address THREAD again."
  "reset_thread_control_stack_guard_page")

;;; The heap

(define-ability "heap pages"
  :without "the heap is guarded less exactly, and locks and holders on stacks are not found")

(define-internal heap-usage () "Return the number of octets of the heap that are in use."
  ("SB-KERNEL" "DYNAMIC-USAGE") 0)
(define-internal-variable page-octets "The number of octets in a page of the heap."
  ("SB-VM" "GENCGC-PAGE-BYTES") 32768)
(define-internal-place pages-in-use "The number of pages of the heap that are in use."
  ("SB-VM" "NEXT-FREE-PAGE") 0)
(define-internal page-index (address) "Return the number of the heap page that contains ADDRESS."
  ("SB-VM" "FIND-PAGE-INDEX") 0)
(define-internal object-address (object)
  "Return the address of OBJECT, with its lowtag." ("SB-KERNEL" "GET-LISP-OBJ-ADDRESS") 0)
(define-internal-name +page-table+
  "The name of the runtime's table of heap pages." ("SB-VM" "PAGE-TABLE"))
(define-internal-name +page-flags+
  "The name of the slot for the flags of a page in the table that +PAGE-TABLE+ names."
  ("SB-VM" "FLAGS"))
(define-internal-name +page-generation+
  "The name of the slot for the generation of a page in the table that +PAGE-TABLE+ names."
  ("SB-VM" "GEN"))
(define-internal-name +page-words+
  "The name of the slot for the number of used words of a page in the table that +PAGE-TABLE+ names.
The lowest bit of the number has another meaning."
  ("SB-VM" "WORDS-USED*"))

(defmacro page-slot (page slot)
  "Expand into a form for a slot of heap page PAGE, a number, in the runtime's table of pages. SLOT
is a constant such as +PAGE-FLAGS+, whose value is the name of the slot. Expand into NIL if this
SBCL lacks the table or the slot."
  (let ((slot (symbol-value slot)))
    (and +page-table+ +page-words+ slot
         `(sb-alien:slot (sb-alien:deref ,+page-table+ ,page) ',slot))))

(define-internal-type heap-exhausted "The type of errors that report an exhausted heap."
  ("SB-KERNEL" "HEAP-EXHAUSTED-ERROR"))
(define-internal-variable collection-inhibited
  "True while garbage collection is inhibited, as within WITHOUT-GCING."
  ("SB-KERNEL" "*GC-INHIBIT*"))
(define-internal-name +after-collection+
  "The name of the function that a thread calls after it has collected garbage."
  ("SB-KERNEL" "POST-GC"))
(define-runtime-variable collection-trigger sb-alien:unsigned-long
  "The number of octets in use in the heap at which the next garbage collection begins."
  "auto_gc_trigger")

(defun runtime-address (name)
  "Return the address of the C runtime's variable or function NAME, a string, or NIL if it has
none."
  (sb-sys:find-foreign-symbol-address name))

;;; The card table

(define-ability "card table" :without "an image takes 2 MB more of memory for each GB of its heap")

(define-runtime-variable card-marks sb-sys:system-area-pointer
  "The address of the card table. The table has an octet for each card, which is a small part of the
heap."
                         "gc_card_mark")
(define-runtime-variable card-bits sb-alien:int
  "The number of bits in an index into the card table."
                         "gc_card_table_nbits")

;;; Encapsulation of SBCL's functions

(define-ability "encapsulation"
  :without "threads, garbage collections, exits and child processes of your code are not guarded")

(define-internal encapsulate (name key function)
  "Wrap the function NAME: each call of NAME calls FUNCTION with the original function and the
arguments. KEY identifies the wrapper."
  ("SB-INT" "ENCAPSULATE"))
(define-internal unencapsulate (name key)
  "Remove the wrapper with KEY from the function NAME." ("SB-INT" "UNENCAPSULATE"))
(define-internal inner-function (function)
  "Return the function inside FUNCTION's wrappers, or FUNCTION if it has none."
  ("SB-EXT" "UNENCAPSULATED-FUNCTION" "SB-IMPL" "STRIP-ENCAPSULATION") function)

(sb-ext:defglobal **behind** (make-hash-table :test 'eq)
  "A hash table from the functions of installed hooks to the original functions that they
replaced.")

(defun behind-hooks (function)
  "Return the original function behind FUNCTION if FUNCTION is the function of a hook. Otherwise
return FUNCTION."
  (loop for each = function then before
        for before = (gethash each **behind**)
        while before
        finally (return each)))

(defun plain-definition (name)
  "Return the function of NAME without the backend's hooks and without wrappers such as that of
TRACE. Since SBCL 2.6.6, FDEFINITION returns the outermost wrapper."
  (behind-hooks (inner-function (fdefinition name))))

(define-internal-name +spawn+
  "The name of the function with which SBCL starts a child process." ("SB-IMPL" "SPAWN"))
(define-internal-name +end-other-threads+
  "The name of the function with which an exit ends the other threads."
  ("SB-THREAD" "%EXIT-OTHER-THREADS"))

;;; Cores

(define-here +link-core+
  (defconstant +link-core+ (internal-symbol "SB-VM" "STATICALLY-LINK-CORE")
    "The name of a function that SBCL calls before it saves a core. It turns calls through function
names into direct calls. The backend skips it when it saves its own core (main.lisp). Newer SBCLs
make direct calls when they load code, and have no such function."))

;;; Threads and the process

(define-ability "process"
  :without
  "less is told of threads and exits, and processes that your code started can outlive the image")

(define-internal system-thread-p (thread)
  "Return true if THREAD is one of SBCL's own threads." ("SB-THREAD" "THREAD-EPHEMERAL-P"))
(define-internal thread-number
                 (thread)
  "Return the operating system's id of THREAD, or 0 before THREAD runs."
  ("SB-THREAD" "THREAD-OS-TID")
                 0)
(define-internal-variable compiler-lock
  "The mutex that a thread holds while it compiles."
  ("SB-KERNEL" "**WORLD-LOCK**" "SB-C" "**WORLD-LOCK**"))
(define-internal-variable exit-under-way
  "True in a thread that is ending because the process exits." ("SB-IMPL" "*EXIT-IN-PROGRESS*"))
(define-internal float-modes ()
  "Return the floating-point modes of this thread. They can be set with SETF. A new thread has the
modes of the thread that makes it."
  ("SB-VM" "FLOATING-POINT-MODES"))
(define-internal allow-signals ()
  "Unblock signals in this thread, so that signals to the process reach it again."
  ("SB-UNIX" "UNBLOCK-DEFERRABLE-SIGNALS"))
(define-internal end-process
                 (code &rest options)
  "End the process with exit code CODE. With the option :ABORT T, end it at once."
  ("SB-SYS" "OS-EXIT")
                 (sb-ext:exit :code code :abort t))
(define-internal map-folder (function folder &rest options)
  "Call FUNCTION with the pathname of each entry of FOLDER. OPTIONS, keyword arguments, select files
or folders."
  ("SB-IMPL" "MAP-DIRECTORY"))
(define-internal process-id () "Return the id of this process." ("SB-UNIX" "UNIX-GETPID")
  (parse-integer (first (last (pathname-directory (truename "/proc/self/"))))))
(define-internal signal-process (process signal)
  "Send SIGNAL, a number, to the process with the id PROCESS." ("SB-UNIX" "UNIX-KILL"))
(define-internal control-device (descriptor request place)
  "Call ioctl(2) on the file DESCRIPTOR with the request number REQUEST. The result is written to
the address PLACE. Return true on success."
  ("SB-UNIX" "UNIX-IOCTL"))
(define-internal open-file (name flags mode)
  "Open the file NAME with FLAGS and MODE as for open(2). Return a file descriptor, or NIL on
failure."
  ("SB-UNIX" "UNIX-OPEN"))
(define-internal read-file (descriptor place count)
  "Read at most COUNT octets from the file DESCRIPTOR to the address PLACE."
  ("SB-UNIX" "UNIX-READ"))
(define-internal close-file (descriptor) "Close the file DESCRIPTOR." ("SB-UNIX" "UNIX-CLOSE"))

;;; File names that SBCL cannot decode

(define-ability "file names"
  :without "a file whose name is not UTF-8 hides the systems in its folder and below")

(define-internal-name +map-names+
  "The name of the function with which SBCL lists a folder. The first argument of that function is a
function. SBCL calls it with another function, which returns the next name on each call, and NIL at
the end."
  ("SB-IMPL" "CALL-WITH-NATIVE-DIRECTORY-ITERATOR"))
(define-internal-type undecodable-name
  "The type of the error that SBCL signals for a file name that it cannot decode."
  ("SB-INT" "C-STRING-DECODING-ERROR"))

(defvar *skipping-undecodable* nil
  "True while listings of folders in this thread skip names that cannot be decoded.")

(defun list-decodable (list-names function &rest arguments)
  "A wrapper of SBCL's function for listing a folder (+MAP-NAMES+). LIST-NAMES is that function, and
FUNCTION and ARGUMENTS are its arguments. LIST-NAMES calls FUNCTION with a function that returns the
next name. If *SKIPPING-UNDECODABLE* is true in this thread, call FUNCTION instead with a function
that skips the names that cannot be decoded."
  (if *skipping-undecodable*
      (flet ((list-with (next)
               (funcall function
                        (lambda ()
                          (loop (handler-case (return (funcall next)) (undecodable-name ())))))))
        (apply list-names #'list-with arguments))
      (apply list-names function arguments)))

(defun call-skipping-undecodable (function)
  "Call FUNCTION, and return its values. Meanwhile DIRECTORY skips files whose names cannot be
decoded. Without this function, one such name makes DIRECTORY signal an error. Only one thread at a
time may call this."
  (if (and +map-names+ (not *skipping-undecodable*))
      (let ((*skipping-undecodable* t))
        (encapsulate +map-names+ 'live-lisp-names #'list-decodable)
        (unwind-protect (funcall function)
          (unencapsulate +map-names+ 'live-lisp-names)))
      (funcall function)))
