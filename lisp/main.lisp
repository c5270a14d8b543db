;;;; The life of the agent: it greets, then its reader thread takes messages until the channel ends, which ends the
;;;; image.

(defpackage "LIVE-LISP.AGENT"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.GUARD" "LIVE-LISP.LOOK" "LIVE-LISP.JOURNAL")
  (:export "MAIN" "SAVE"))

(in-package "LIVE-LISP.AGENT")

(claim-package)

(defun collector-addresses ()
  "Return the addresses of two words of the runtime: one shows that garbage is being collected, when nothing of Lisp can
answer; the other changes with each collection. Return NIL where they are unknown."
  (let ((active (runtime-address "gc_active_p"))
        (trigger (runtime-address "auto_gc_trigger")))
    (and active trigger (object "active" active "trigger" trigger))))

(defun greet ()
  "Send the first messages."
  (send (object "hello" +protocol-version+ "without" (lacking-abilities)
                "fallbacks" (loop for (name instead missing) in (fallbacks-in-use)
                                  collect (object "ability" name "instead" instead "missing" missing))
                "collector" (collector-addresses)))
  (send-features :again t))

(defun read-messages ()
  "Take messages until the channel ends or breaks; either ends the image. While the image exits by itself this thread is
only unwound, so that the exit code stays."
  (own-thread)
  (handler-case
      ;; Code of the user must have no part in what this thread prints.
      (call-in-fresh-session
       (lambda ()
         (loop with *reading* = t and *break-on-signals* = nil
               for message = (receive)
               while message do (perform message))))
    (error (failure)
      (send (object "fault" (print-safely 500 failure "~A")))))
  (leave 0))

(defun take-over ()
  "Make the image safe to talk to: nothing reads the terminal or enters the debugger, and what stray threads write is
kept."
  (setf sb-ext:*invoke-debugger-hook* #'debugger-hook
        ;; ASDF within an evaluation would print four useless lines a file.
        *compile-verbose* nil
        sb-ext:*evaluator-mode* :compile
        sb-ext:*exit-timeout* 1)
  (sb-ext:disable-debugger)
  (setf sb-ext:*invoke-debugger-hook* #'debugger-hook)
  (if-able "heap guard" (watch-memory))
  (if-able "address-space limits" (bound-memory))
  (push (lambda () (setf **exiting** t)) sb-ext:*exit-hooks*)
  (note-beginning)
  (setf sb-sys:*stdout* **background-stream**
        sb-sys:*stderr* **background-stream**)
  (start-session))

(defmacro steadily (&body body)
  "Evaluate BODY in the main thread. Signals to the process come here, and do not concern the agent. When a throw leaves
the handler of a fault, other signals stay blocked, and an exit would not be heard: unblock them."
  `(handler-case (progn ,@body)
     ((or sb-sys:interactive-interrupt serious-condition) ()
       (allow-signals))))

(sb-ext:defglobal **origin** nil "What ORIGIN returned for the process that SAVE saved as this image, or NIL.")

(defun origin ()
  "Return the core of this process, its length, and when it was written."
  (with-open-file (in sb-ext:*core-pathname* :element-type '(unsigned-byte 8))
    (list sb-ext:*core-pathname* (file-length in) (file-write-date in))))

(defun return-to-origin ()
  "Make this image, which SAVE made, name the core that it was made from: what the program starts needs that one. End
the process when that core is another by now."
  (let ((origin **origin**))
    (setf sb-ext:*core-pathname* (first origin))
    (when +link-core+ (unencapsulate +link-core+ 'live-lisp))
    (unless (equal (ignore-errors (origin)) origin)
      (sb-ext:exit :code 1 :abort t))))

(defun prepare ()
  "Do before the greeting what lookups and calls need, unless the core has it done."
  ;; Loaded now, because no lookup may intern anything later.
  (ignore-errors (require "SB-INTROSPECT"))
  (ignore-errors (require "SB-CLTL2"))
  (listen-for-effects)
  (listen-for-code)
  (listen-for-reading)
  (note-threads)
  (free-children))

(defun guard ()
  "Do what looks through all code, after the greeting, unless the core has it done."
  (tell-before-exit)
  (note-exits)
  (guard-threads)
  (setf **keeps-spare** t)
  ;; The code that shows frames is compiled at its first use. In a call that is interrupted, the program can have made
  ;; that impossible.
  (frames-data '(((list "a" :b 1)))))

(defconstant +patience+ 5 "By how much a process that saves a core raises its niceness, for nice(2).")

(defun can-save-p ()
  "True when this process is the program LIVE_LISP_PROGRAM, which does not have its core in itself."
  (let ((runtime (truename sb-ext:*runtime-pathname*)))
    (and (string= (sb-ext:native-namestring runtime) (sb-ext:posix-getenv "LIVE_LISP_PROGRAM"))
         (not (equal runtime (truename sb-ext:*core-pathname*))))))

(defun save ()
  "Save this process, which has loaded the agent, as the core LIVE_LISP_CORE, with all done that needs no server. Exit
with 3 when it never can, and with 1 when that failed."
  (unless (can-save-p) (sb-ext:exit :code 3 :abort t))
  ;; Not done where this is started: bubblewrap can have begun it by then.
  (sb-alien:alien-funcall (sb-alien:extern-alien "nice" (function sb-alien:int sb-alien:int)) +patience+)
  ;; A core that others could write to would not be run.
  (sb-alien:alien-funcall (sb-alien:extern-alien "umask" (function sb-alien:unsigned-int sb-alien:unsigned-int)) #o077)
  (setf **origin** (origin))
  (prepare)
  (guard-own-threads)
  (guard)
  ;; Linking takes a second, half of all, and SBCL's own code has it done.
  (when +link-core+ (encapsulate +link-core+ 'live-lisp (constantly nil)))
  (sb-ext:save-lisp-and-die (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_CORE")))
  (sb-ext:exit :code 1 :abort t))

(defun end-with-server (signal)
  "Have the system send SIGNAL to this process when the server ends, where it can; 0 is none."
  #+linux
  (sb-alien:alien-funcall (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long))
                          ;; PR_SET_PDEATHSIG
                          1 signal)
  #-linux signal)

(defun server-gone-p (channel)
  "True when the server has closed the file descriptor CHANNEL."
  (let ((octet (make-array 1 :element-type '(unsigned-byte 8))))
    (sb-sys:with-pinned-objects (octet)
      (zerop (sb-alien:alien-funcall
              (sb-alien:extern-alien "recv" (function sb-alien:long sb-alien:int sb-sys:system-area-pointer
                                                      sb-alien:unsigned-long sb-alien:int))
              ;; MSG_PEEK and MSG_DONTWAIT
              channel (sb-sys:vector-sap octet) 1 #x42)))))

(defun main ()
  "Run the agent on file descriptor 3. Never returns. An exit that the program asked for ends the reader first and this
thread last, so this one waits for its turn."
  (end-with-server 9)
  #+linux (when (server-gone-p 3) (end-image 3))
  (open-channel 3)
  (open-begun 4)
  (when **origin** (return-to-origin))
  (take-over)
  (unless **origin** (prepare))
  (greet)
  ;; Before the first message, which can be code that ends all threads.
  (own-thread)
  (unless **origin** (steadily (guard-own-threads)))
  (let ((reader (sb-thread:make-thread #'read-messages :name "live-lisp reader")))
    ;; From now on the reader notices that the server ends, and ends what the image started, too.
    (end-with-server 0)
    (unless **origin** (steadily (guard)))
    (if-able "card table" (steadily (give-back-zeros)))
    (loop
      (steadily
        (sb-thread:join-thread reader :default nil)
        (when **exiting** (sleep 5))
        (leave 0)))))

(close-rooms *package*)
