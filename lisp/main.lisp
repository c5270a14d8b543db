;;;; The life of the agent: it greets, then its reader thread takes messages until
;;;; the channel ends, and then the image ends too.

(defpackage "LIVE-LISP.AGENT"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.GUARD" "LIVE-LISP.JOURNAL")
  (:export "MAIN"))

(in-package "LIVE-LISP.AGENT")

(claim-package)

(defun collector-addresses ()
  "Return where the runtime tells that garbage is being collected, when nothing of Lisp can answer, and how
often it was, or NIL."
  (let ((active (runtime-address "gc_active_p"))
        (count (runtime-address "n_gcs")))
    (and active count (object "active" active "count" count))))

(defun greeting ()
  "Return the first message."
  (object "hello" +protocol-version+ "without" (lacking-abilities) "fallbacks" (fallbacks-in-use)
          "collector" (collector-addresses)))

(defun read-messages ()
  "Take messages until the channel ends or breaks; either ends the image. While the image
exits by itself this thread is only unwound, so that the exit code stays."
  (handler-case
      (loop with *reading* = t
            for message = (receive)
            while message do (perform message))
    (error (failure)
      (send (object "fault" (print-safely 500 failure "~A")))))
  (leave 0))

(defun take-over ()
  "Make the image safe to talk to: nothing reads the terminal, nothing enters the
debugger, and what stray threads write is kept."
  (setf sb-ext:*invoke-debugger-hook* #'debugger-hook
        sb-ext:*evaluator-mode* :compile
        sb-ext:*exit-timeout* 1)
  (sb-ext:disable-debugger)
  (setf sb-ext:*invoke-debugger-hook* #'debugger-hook)
  (watch-memory)
  (bound-memory)
  (push (lambda () (setf **exiting** t)) sb-ext:*exit-hooks*)
  (setf sb-sys:*stdout* **background**
        sb-sys:*stderr* **background**)
  (start-session))

(defmacro steadily (&body body)
  "Evaluate BODY in the main thread. Signals to the process come here, and whatever they are none of them is
to the agent. Left by a throw, the handler of a fault leaves the others blocked, and an exit would not be heard."
  `(handler-case (progn ,@body)
     ((or sb-sys:interactive-interrupt serious-condition) ()
       (allow-signals))))

(defun main ()
  "Run the agent on file descriptor 3. Returns never. An exit that the program asked for
ends the reader first and this thread last, so this one waits for its turn."
  (open-channel 3)
  (take-over)
  ;; Loaded now, because no lookup may intern anything later.
  (ignore-errors (require "SB-INTROSPECT"))
  (unless (code-walker) (ignore-errors (require "SB-CLTL2")))
  (listen-for-effects)
  (send (greeting))
  (let ((reader (sb-thread:make-thread #'read-messages :name "live-lisp reader")))
    ;; Each of these looks through all code, so the first answers do not wait for them.
    (steadily (guard-threads) (tell-before-exit) (note-exits) (guard-own-threads reader))
    (loop
      (steadily
        (sb-thread:join-thread reader :default nil)
        (when **exiting** (sleep 5))
        (leave 0)))))

(close-rooms *package*)
