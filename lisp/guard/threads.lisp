;;;; What the agent does about threads that user code makes.

(in-package "LIVE-LISP.GUARD")

(defun guarded (function)
  "Return a function for a new thread that does what FUNCTION does. A condition that nobody handles ends the thread,
whatever the global hook is by then. Once its stack is unwound, it is made ready for the next thread that gets it. The
guard page is put back, and nothing is left there that would seem to live."
  (lambda (&rest arguments)
    (guard-stacks)
    (let* ((sb-ext:*invoke-debugger-hook* #'debugger-hook)
           (*thread-end* (list 'ended))
           (values (catch *thread-end* (multiple-value-list (apply function arguments)))))
      (protect-stack-again)
      (scrub-stack)
      (if (eq values *thread-end*)
          (sb-thread:abort-thread)
          (values-list values)))))

(defun guard-threads ()
  "Make each thread that is made from now on a guarded one."
  (encapsulate 'sb-thread:make-thread 'live-lisp
               (lambda (make function &rest options)
                 ;; What is no function SBCL refuses.
                 (apply make (if (typep function '(or function symbol)) (guarded function) function) options))))

(sb-ext:defglobal **own-threads** '()
  "The threads that the agent cannot do without.")

(defun refusing-for-own (function thread arguments)
  "Call FUNCTION, which does something to THREAD, with ARGUMENTS, unless THREAD is one of the agent's own. Killing all
threads is a common thing to do. An exit ends those too."
  (cond ((exiting-p) (apply function thread arguments))
        ;; It does nothing yet that could be ended, and what it will do is not meant.
        ((spare-thread-p thread) nil)
        ((not (member thread **own-threads**)) (apply function thread arguments))
        ;; SBCL itself interrupts the main thread for some signals.
        (*job* (warn "The thread ~A answers the server, so it is left alone." (sb-thread:thread-name thread)))))

(defun own-thread ()
  "Have this thread be one that user code can neither end nor interrupt once GUARD-OWN-THREADS was called."
  (push sb-thread:*current-thread* **own-threads**))

(defun guard-own-threads ()
  "Keep user code from ending or interrupting the threads that the agent cannot do without."
  (dolist (name '(sb-thread:terminate-thread sb-thread:interrupt-thread))
    (let ((ends (eq name 'sb-thread:terminate-thread)))
      (encapsulate name 'live-lisp
                   (lambda (function thread &rest arguments)
                     (when ends (note-ender thread))
                     (refusing-for-own function thread arguments))))))
