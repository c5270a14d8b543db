;;;; Runs the agent. It greets the server, then its reader thread receives messages until the
;;;; channel to the server ends. Then the image ends too.

(defpackage "LIVE-LISP.AGENT"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.GUARD" "LIVE-LISP.LOOK"
        "LIVE-LISP.JOURNAL")
  (:export "MAIN" "SAVE" "SERVE"))

(in-package "LIVE-LISP.AGENT")

(claim-package)

(defun collector-addresses ()
  "Return the addresses of two words of the runtime, which the server reads, as a JSON object. The
word \"active\" is set during a garbage collection, when Lisp cannot answer. The word \"trigger\"
changes with each collection. Return NIL where the addresses are unknown."
  (let ((active (runtime-address "gc_active_p"))
        (trigger (runtime-address "auto_gc_trigger")))
    (and active trigger (object "active" active "trigger" trigger))))

(defun greet ()
  "Send the first messages to the server: a greeting with the abilities that this SBCL lacks and the
fallbacks in use, then the features."
  (send (object "hello" +protocol-version+ "without" (lacking-abilities)
                "fallbacks" (loop for (name without missing) in (fallbacks-in-use)
                                  collect (object "ability" name "instead" without
                                                  "missing" missing))
                "collector" (collector-addresses)))
  (send-features :again t))

(defun read-messages ()
  "Receive messages and perform them until the channel ends or breaks. Then end the image. When the
program exits, SBCL unwinds this thread, which then does not call LEAVE, so that the program's exit
code is kept."
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
  "Have SBCL enter its debugger on errors again, in all threads except this one. An error in this
thread ends the thread."
  (let ((sb-ext:*invoke-debugger-hook* nil))
    (sb-ext:enable-debugger))
  (setf (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) nil))

(defun take-over ()
  "Prepare the image for messages: nothing reads from the terminal, the debugger is off, and output
of threads without a job is kept."
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
  "Evaluate BODY. The caller runs in the main thread, where signals to the process arrive, such as
an interrupt, although they are for the program and not for the agent. So such a signal, or a
serious condition, ends BODY silently. After that, unblock signals: after a throw out of the handler
of a memory fault, other signals, such as the signal of an exit, would stay blocked."
  `(handler-case (progn ,@body)
     ((or sb-sys:interactive-interrupt serious-condition) ()
       (allow-signals))))

(sb-ext:defglobal **origin** nil
  "In an image that was started from a saved core, the value of (ORIGIN) in the process that SAVE
saved. Otherwise NIL.")

(defun origin ()
  "Return a list of the pathname of this process's core file, its length in octets, and its write
date."
  (with-open-file (in sb-ext:*core-pathname* :element-type '(unsigned-byte 8))
    (list sb-ext:*core-pathname* (file-length in) (file-write-date in))))

(defun return-to-origin ()
  "For an image that SAVE saved: set SB-EXT:*CORE-PATHNAME* back to the original core, because an
SBCL that the program starts needs that core. End the process if the original file has been
replaced."
  (let ((origin **origin**))
    (setf sb-ext:*core-pathname* (first origin))
    (when +link-core+ (unencapsulate +link-core+ 'live-lisp))
    (unless (equal (nil-if-unreadable (origin)) origin)
      (sb-ext:exit :code 1 :abort t))))

(defun begin-listening ()
  "Load the contribs, and install the hooks that lookups and calls need."
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
  "Prepare an image that the server started for lookups and calls. This is done before the greeting.
A saved core has it done already."
  (begin-listening)
  (free-children))

(defun guard ()
  "Install the guards that make SBCL go through all its code when they are installed. This is done
after the greeting. A saved core has it done already."
  (note-exits)
  (guard-threads)
  (setf **keeps-spare** t)
  ;; The code that shows frames compiles some of its functions at first use. Use it now: when a call
  ;; is interrupted later, the program may have made compiling impossible.
  (frames-data '(((list "a" :b 1)))))

(defconstant +patience+ 5
  "The increment for nice(2) in a process that saves a core: its niceness is raised by this
number.")

(defun can-save-p ()
  "Return true if this process can save a usable core: it runs the file that the environment
variable LIVE_LISP_PROGRAM names, and its core is a separate file."
  (let ((runtime (truename sb-ext:*runtime-pathname*)))
    (and (string= (sb-ext:native-namestring runtime) (sb-ext:posix-getenv "LIVE_LISP_PROGRAM"))
         (not (equal runtime (truename sb-ext:*core-pathname*))))))

(defun save ()
  "Make all preparations that need no server, and save this process, which has loaded the agent, as
the core file that the environment variable LIVE_LISP_CORE names. Never return: exit with 3 if this
program can never be saved, and with 1 if saving failed."
  (unless (can-save-p) (sb-ext:exit :code 3 :abort t))
  ;; The process lowers its own priority. The server could do so only after starting it, when
  ;; bubblewrap may already have started SBCL as another process.
  (sb-alien:alien-funcall (sb-alien:extern-alien "nice" (function sb-alien:int sb-alien:int))
                          +patience+)
  ;; The server does not run a core that others could write to.
  (sb-alien:alien-funcall (sb-alien:extern-alien "umask"
                                                 (function sb-alien:unsigned-int
                                                           sb-alien:unsigned-int))
                          #o077)
  (setf **origin** (origin))
  (prepare)
  (guard-agent-threads)
  (guard)
  ;; Do not let SAVE-LISP-AND-DIE link all code again. Linking takes a second, half of the time of a
  ;; save, and SBCL's own code is linked already.
  (when +link-core+ (encapsulate +link-core+ 'live-lisp (constantly nil)))
  (sb-ext:save-lisp-and-die (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_CORE")))
  (sb-ext:exit :code 1 :abort t))

(defun end-with-server (signal)
  "Have Linux send SIGNAL to this process when the server ends. SIGNAL is a number, or 0 for no
signal. Does nothing on other systems."
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
  "Wait for the program to end after the agent was removed from this image: exit when the program
has no threads any more, and at the latest when the server ends."
  (end-with-server 9)
  (await-program)
  (sb-ext:exit :code 0))

(defun main (&key (in 3) (out in) (begun (and (= in 3) 4)) silence)
  "Run the agent on the file descriptors IN and OUT, the channel to the server. Never return. When
the program exits, SBCL ends the reader thread first and this main thread last, so after the end of
the reader thread this thread waits for SBCL to end it. BEGUN is the descriptor of the memory that
is shared with the server, or NIL. If SILENCE is given, the server counts as gone when it says
nothing for this number of seconds."
  (end-with-server 9)
  #+linux (when (server-gone-p in) (end-image 3))
  (setf *channel* (open-channel in :out out :silence silence))
  (when begun (open-begun begun))
  (when **origin** (return-to-origin))
  (take-over)
  (unless **origin** (prepare))
  (greet)
  ;; Do this before the first message is performed, because that message can be code that ends all
  ;; threads.
  (protect-this-thread)
  (unless **origin** (steadily (guard-agent-threads)))
  (take-errands)
  (let ((reader (sb-thread:make-thread #'read-messages :name "live-lisp reader")))
    (push (lambda ()
            (end-with-server 9)
            (sb-thread:join-thread reader :default nil :timeout 5))
          **at-stop**)
    ;; A signal of 0 turns the kernel's signal off. From now on the reader thread notices the end of
    ;; the server, and then also ends the processes that the image started.
    (end-with-server 0)
    (unless **origin** (steadily (guard)))
    (if-able "card table" (steadily (give-back-zeros)))
    (run-errands)
    (loop
      (steadily
        (sb-thread:join-thread reader :default nil)
        (when **stopped** (leave-to-program))
        (when **exiting** (sleep 5))
        (leave 0)))))
