;;;; Guards the threads that user code makes, and the agent's own threads against user code.

(in-package "LIVE-LISP.GUARD")

(defun guarded (function)
  "Return a function for a new thread that calls FUNCTION. An unhandled condition ends the thread,
whatever the global debugger hook is by then. At the end the stack is prepared for the next thread
that gets it: its guard page is put back, and old words that would look like live pointers are
cleared."
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
    (symbol
     (and (fboundp object) (not (macro-function object)) (not (special-operator-p object))))))

(defun guarded-made (make &rest arguments)
  "Hook: call MAKE, which makes a thread, with ARGUMENTS. Guard the first of them, the function of
the thread. If it is another object, pass it to MAKE as it is: SBCL signals an error."
  (if (and arguments (callable-p (first arguments)))
      (apply make (guarded (coerce (first arguments) 'function)) (rest arguments))
      (apply make arguments)))

(define-hook sb-thread:make-thread guarded-made)

(defun guard-threads ()
  "Guard each thread that is made from now on."
  (install-hooks 'guarded-made))

(sb-ext:defglobal **own-threads** '()
  "The threads that the agent cannot do without.")

(defun refusing-for-own (function &rest arguments)
  "Call FUNCTION, which ends or interrupts a thread, the first of ARGUMENTS, with ARGUMENTS, unless
the thread is one of the agent's own: programs often kill all threads. During an exit, end
the agent's threads too."
  (let ((thread (first arguments)))
    (cond ((exiting-p) (apply function arguments))
          ;; The spare thread does nothing yet. Ending it would end a later job, which is not meant.
          ((and thread (spare-thread-p thread)) nil)
          ((not (member thread **own-threads**)) (apply function arguments))
          ;; A thread without a job has no answer in which the warning could be told.
          (*job* (warn "The thread ~A answers the server, so it is left alone."
                       (sb-thread:thread-name thread))))))

(defun ending-noted (function &rest arguments)
  "Hook: record that this thread ends another, the first of ARGUMENTS, and do what REFUSING-FOR-OWN
does with FUNCTION."
  (when (typep (first arguments) 'sb-thread:thread) (note-ender (first arguments)))
  (apply #'refusing-for-own function arguments))

(defun interrupting (function &rest arguments)
  "Hook: call FUNCTION, which interrupts a thread, the first of ARGUMENTS, with ARGUMENTS, unless
REFUSING-FOR-OWN refuses that. The main thread only waits for jobs, so it may be interrupted."
  (if (eq (first arguments) (sb-thread:main-thread))
      (apply function arguments)
      (apply #'refusing-for-own function arguments)))

(define-hook sb-thread:terminate-thread ending-noted)
(define-hook sb-thread:interrupt-thread interrupting)

(defun own-thread ()
  "Make this thread one that user code can neither end nor, unless it is the main thread, interrupt
once GUARD-OWN-THREADS was called."
  (push sb-thread:*current-thread* **own-threads**))

(defun guard-own-threads ()
  "Keep user code from ending or interrupting the threads that the agent cannot do without."
  (install-hooks 'ending-noted 'interrupting))
