;;;; Guards the threads that user code makes, and the agent's own threads against user code.

(in-package "LIVE-LISP.GUARD")

(defun guarded (function)
  "Return a function for a new thread that calls FUNCTION. An unhandled condition ends the thread, whatever the global
debugger hook is by then. At the end the stack is prepared for the next thread that gets it: its guard page is put back,
and old words that would look like live pointers are cleared."
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

(defun callable-p (object)
  "True when OBJECT is a function, or a symbol that names one."
  (typecase object
    (function t)
    (symbol (and (fboundp object) (not (macro-function object)) (not (special-operator-p object))))))

(defun guard-threads ()
  "Guard each thread that is made from now on."
  (encapsulate 'sb-thread:make-thread 'live-lisp
               (lambda (make function &rest options)
                 ;; Any other object goes on to SBCL, which signals an error.
                 (apply make (if (callable-p function) (guarded (coerce function 'function)) function) options))))

(sb-ext:defglobal **own-threads** '()
  "The threads that the agent cannot do without.")

(defun refusing-for-own (function thread arguments)
  "Call FUNCTION, which ends or interrupts THREAD, with THREAD and ARGUMENTS, unless THREAD is one of the agent's own:
programs often kill all threads. During an exit, end the agent's threads too."
  (cond ((exiting-p) (apply function thread arguments))
        ;; The spare thread does nothing yet. Ending it would end a later job, which is not meant.
        ((spare-thread-p thread) nil)
        ((not (member thread **own-threads**)) (apply function thread arguments))
        ;; Without a job it is SBCL itself, which interrupts the main thread for some signals: no warning then.
        (*job* (warn "The thread ~A answers the server, so it is left alone." (sb-thread:thread-name thread)))))

(defun own-thread ()
  "Make this thread one that user code can neither end nor interrupt once GUARD-OWN-THREADS was called."
  (push sb-thread:*current-thread* **own-threads**))

(defun guard-own-threads ()
  "Keep user code from ending or interrupting the threads that the agent cannot do without."
  (dolist (name '(sb-thread:terminate-thread sb-thread:interrupt-thread))
    (let ((ends (eq name 'sb-thread:terminate-thread)))
      (encapsulate name 'live-lisp
                   (lambda (function thread &rest arguments)
                     (when ends (note-ender thread))
                     (refusing-for-own function thread arguments))))))
