;;;; Runs the backend. It greets the server, then its reader thread receives messages until the
;;;; channel to the server ends. Then the image ends too.

(defpackage "LIVE-LISP.BACKEND"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.GUARD" "LIVE-LISP.LOOK"
        "LIVE-LISP.JOURNAL")
  (:export "MAIN" "SAVE" "SERVE"))

(in-package "LIVE-LISP.BACKEND")

(claim-package)

(defun collector-addresses ()
  "Return a JSON object with the addresses of two words of SBCL's runtime, or NIL if they are
unknown. The server reads these words. \"active\" is set during a garbage collection, when Lisp
cannot answer. \"trigger\" changes with each collection."
  (let ((active (runtime-address "gc_active_p"))
        (trigger (runtime-address "auto_gc_trigger")))
    (and active trigger (object "active" active "trigger" trigger))))

(defun greet ()
  "Send two messages to the server: the greeting, and the list of features. The greeting contains
the abilities that this SBCL lacks and the fallbacks in use."
  (send (object "hello" +protocol-version+ "without" (lacking-abilities)
                "fallbacks" (loop for (name without missing) in (fallbacks-in-use)
                                  collect (object "ability" name "instead" without
                                                  "missing" missing))
                "collector" (collector-addresses)))
  (send-features :again t))

(defun read-messages ()
  "Receive messages and perform them until the channel ends or breaks. Then end the image with exit
code 0. But when the program calls EXIT, SBCL unwinds this thread, and the exit code of the program
stays."
  (protect-this-thread)
  (unwind-protect
       (handler-case
           ;; Run in a fresh session, so that the user's settings do not change what this thread
           ;; prints.
           (call-in-fresh-session
            (lambda ()
              (loop with *reading* = t and *break-on-signals* = nil
                    for message = (receive)
                    while message do (perform message))))
         (error (failure)
           (send (object "fault" (print-safely 500 failure "~A")))))
    (end-errands))
  (unless **stopped** (leave 0)))

(defun leave-debugger ()
  "Let SBCL enter its debugger on errors again, in all threads except this one. In this thread the
debugger stays off, so an error ends the thread."
  (let ((sb-ext:*invoke-debugger-hook* nil))
    (sb-ext:enable-debugger))
  (setf (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) nil))

(defun take-over ()
  "Prepare the image for messages: disable the debugger, install the guards of memory, collect the
output of threads that run no job, and start the session."
  ;; If this variable were true, ASDF would print four useless lines for each file that it compiles.
  (set-until-stop '*compile-verbose* nil)
  (set-until-stop 'sb-ext:*evaluator-mode* :compile)
  (set-until-stop 'sb-ext:*exit-timeout* 1)
  (sb-ext:disable-debugger)
  (push #'leave-debugger **at-stop**)
  (setf sb-ext:*invoke-debugger-hook* #'debugger-hook)
  (if-able "heap guard" (watch-memory))
  (if-able "address-space limits" (bound-memory))
  (push #'note-exit sb-ext:*exit-hooks*)
  (note-beginning)
  (let ((background (background-stream)))
    (set-until-stop 'sb-sys:*stdout* background)
    (set-until-stop 'sb-sys:*stderr* background))
  (start-session))

(defmacro steadily (&body body)
  "Evaluate BODY in the main thread. Signals to the process, such as an interrupt, arrive in this
thread. They are for the program, not for the backend. So an interrupt or a serious condition ends
BODY, and nothing else happens. Then unblock signals: a throw out of the handler of a memory fault
leaves them blocked."
  `(handler-case (progn ,@body)
     ((or sb-sys:interactive-interrupt serious-condition) ()
       (allow-signals))))

(sb-ext:defglobal **origin** nil
  "NIL, or in an image that was started from a core that SAVE made, the value that (ORIGIN) had in
the process that called SAVE.")

(defun origin ()
  "Return a list (PATHNAME LENGTH DATE) about the core file of this process. LENGTH is in octets,
and DATE is its write date."
  (with-open-file (in sb-ext:*core-pathname* :element-type '(unsigned-byte 8))
    (list sb-ext:*core-pathname* (file-length in) (file-write-date in))))

(defun return-to-origin ()
  "In an image that SAVE made, set SB-EXT:*CORE-PATHNAME* back to the core with which the saving
process was started. If the program starts another SBCL, that SBCL needs this core. Exit with code 1
if the file of this core has changed since SAVE."
  (let ((origin **origin**))
    (setf sb-ext:*core-pathname* (first origin))
    (when +link-core+ (unencapsulate +link-core+ 'live-lisp))
    (unless (equal (nil-if-unreadable (origin)) origin)
      (sb-ext:exit :code 1 :abort t))))

(defun begin-listening ()
  "Load the contribs of SBCL and install the hooks that the backend needs for lookups and calls."
  ;; Load the contribs now, because a lookup must not intern symbols later.
  (require-contrib "SB-INTROSPECT")
  (require-contrib "SB-CLTL2")
  (listen-for-formats)
  (listen-for-functions)
  (listen-for-effects)
  (listen-for-code)
  (listen-for-reading)
  (note-threads))

(defun prepare ()
  "Do the preparations that an image needs before its greeting: load contribs, and install the hooks
that must see all user code. An image that was started from a saved core has them already."
  (begin-listening)
  (free-children))

(defun guard ()
  "Install the hooks that protect the image from user code, such as those around exits and new
threads. An image does this after the greeting, because it takes long: SBCL walks all its code. In a
saved core they are installed already."
  (note-exits)
  (guard-threads)
  (setf **keeps-spare** t)
  ;; The code that shows frames compiles some of its functions at first use. Use it now: when a call
  ;; is interrupted later, the program may have made compiling impossible.
  (frames-data '(((list "a" :b 1)))))

(defconstant +patience+ 5
  "The argument of nice(2) in a process that saves a core: the priority of the process is lowered by
this number.")

(defun can-save-p ()
  "Return true if this process can save a usable core: it runs the program file that the environment
variable LIVE_LISP_PROGRAM names, and its core is in another file."
  (let ((runtime (truename sb-ext:*runtime-pathname*)))
    (and (string= (sb-ext:native-namestring runtime) (sb-ext:posix-getenv "LIVE_LISP_PROGRAM"))
         (not (equal runtime (truename sb-ext:*core-pathname*))))))

(defun save ()
  "Do the preparations that need no server, then save this process, with the backend, as the core
file that the environment variable LIVE_LISP_CORE names. Never return: exit with code 3 if this
program can never be saved, and with 1 if saving failed."
  (unless (can-save-p) (sb-ext:exit :code 3 :abort t))
  ;; The process lowers its own priority. The server could do so only after the start. By then,
  ;; bubblewrap may have started SBCL as a process of its own, which would keep its priority.
  (sb-alien:alien-funcall (sb-alien:extern-alien "nice" (function sb-alien:int sb-alien:int))
                          +patience+)
  ;; The server does not run a core that others could write to.
  (sb-alien:alien-funcall (sb-alien:extern-alien "umask"
                                                 (function sb-alien:unsigned-int
                                                           sb-alien:unsigned-int))
                          #o077)
  (setf **origin** (origin))
  (prepare)
  (guard-backend-threads)
  (guard)
  ;; Do not let SAVE-LISP-AND-DIE link all code again. Linking takes a second, half of the time of a
  ;; save, and SBCL's own code is linked already.
  (when +link-core+ (encapsulate +link-core+ 'live-lisp (constantly nil)))
  (sb-ext:save-lisp-and-die (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_CORE")))
  (sb-ext:exit :code 1 :abort t))

(defun end-with-server (signal)
  "Have Linux send SIGNAL to this process when its parent, the server, ends. SIGNAL is a signal
number, or 0 for no signal. Do nothing on other systems."
  #+linux
  (sb-alien:alien-funcall (sb-alien:extern-alien "prctl"
                                                 (function sb-alien:int sb-alien:int
                                                           sb-alien:unsigned-long))
                          ;; PR_SET_PDEATHSIG
                          1 signal)
  #-linux signal)

(defun server-gone-p (channel)
  "Return true if the server has closed its end of CHANNEL, the file descriptor of a socket."
  (let ((octet (make-array 1 :element-type '(unsigned-byte 8))))
    (sb-sys:with-pinned-objects (octet)
      (zerop (sb-alien:alien-funcall
              (sb-alien:extern-alien "recv" (function sb-alien:long sb-alien:int
                                                      sb-sys:system-area-pointer
                                                      sb-alien:unsigned-long sb-alien:int))
              ;; MSG_PEEK and MSG_DONTWAIT
              channel (sb-sys:vector-sap octet) 1 #x42)))))

(defun leave-to-program ()
  "Wait for the program to end after the backend was removed from this image. Then exit with code 0.
Linux kills the process if the server ends first."
  (end-with-server 9)
  (await-program)
  (sb-ext:exit :code 0))

(defun start-reader ()
  "Start the thread that receives messages, and return it. From now on this thread notices the end
of the server, and then also ends the processes that the image started. So the kernel sends no
signal any more when the server ends."
  (let ((reader (sb-thread:make-thread #'read-messages :name "live-lisp reader")))
    (push (lambda ()
            (end-with-server 9)
            (sb-thread:join-thread reader :default nil :timeout 5))
          **at-stop**)
    (end-with-server 0)
    reader))

(defun leave-after (reader)
  "Wait until READER, the reader thread, has ended, then end the process. Never return."
  (loop
    ;; An interrupt ends what STEADILY waits for, so the wait must begin again.
    (steadily
      (sb-thread:join-thread reader :default nil)
      (when **stopped** (leave-to-program))
      ;; Let the program's call of EXIT end the process, with the exit code of the program.
      (when **exiting** (sleep 5))
      (leave 0))))

(defun main (&key (in 3) (out in) (begun (and (= in 3) 4)) silence)
  "Run the backend in the main thread, with a reader thread that receives messages. Never return. IN
and OUT are file descriptors of the channel to the server. BEGUN is the descriptor of the memory
that is shared with the server, or NIL. The server passes the descriptors 3 and 4 to an image on
this machine (src/image/process/child.ts). SILENCE is NIL or a number of seconds: a server that
sends nothing for so long counts as gone. When the program exits, SBCL ends the reader thread first
and this thread last. Once the reader thread has ended, this thread only sleeps."
  (end-with-server 9)
  #+linux (when (server-gone-p in) (end-image 3))
  (setf *channel* (open-channel in :out out :silence silence))
  (when begun (open-begun begun))
  (let ((saved (and **origin** t))) ; In an image from a saved core, SAVE has done some steps.
    (when saved (return-to-origin))
    (take-over)
    (unless saved (prepare))
    (greet)
    ;; Do this before the first message is performed, because that message can be code that ends all
    ;; threads.
    (protect-this-thread)
    (unless saved (steadily (guard-backend-threads)))
    ;; Errands are jobs in this thread (jobs/main-thread.lisp).
    (take-errands)
    (let ((reader (start-reader)))
      (unless saved (steadily (guard)))
      (if-able "card table" (steadily (give-back-zeros)))
      ;; This returns when the reader thread ends.
      (run-errands)
      (leave-after reader))))
