;;;; Keeps user code from ending or interrupting the agent's own threads, by hooks on
;;;; TERMINATE-THREAD and INTERRUPT-THREAD.

(in-package "LIVE-LISP.GUARD")

(sb-ext:defglobal **agent-threads** '()
  "A list of the threads that the agent needs. User code cannot end them.")

(defun refusing-for-agent (function &rest arguments)
  "Call FUNCTION, which ends or interrupts a thread, with ARGUMENTS, whose first element is the
thread. For a thread of the agent, only warn, since programs often kill all threads, unless the
process exits."
  (let ((thread (first arguments)))
    (cond ((exiting-p) (apply function arguments))
          ;; The spare thread does nothing yet. Ending it would end a later job, which the program
          ;; does not intend.
          ((and thread (spare-thread-p thread)) nil)
          ((not (member thread **agent-threads**)) (apply function arguments))
          ;; Without a job there is no answer that could show the warning.
          (*job* (warn "The thread ~A answers the server, so it is left alone."
                       (sb-thread:thread-name thread))))))

(defun ending-noted (function &rest arguments)
  "Hook: record that this thread ends another one, the first of ARGUMENTS. Then call FUNCTION, which
ends a thread, with ARGUMENTS, unless REFUSING-FOR-AGENT refuses this."
  (when (typep (first arguments) 'sb-thread:thread) (note-ender (first arguments)))
  (apply #'refusing-for-agent function arguments))

(defun interrupting (function &rest arguments)
  "Hook: call FUNCTION, which interrupts a thread, with ARGUMENTS, whose first element is the
thread. Always call it for the main thread, which only waits for jobs. For another thread, leave the
call to REFUSING-FOR-AGENT."
  (if (eq (first arguments) (sb-thread:main-thread))
      (apply function arguments)
      (apply #'refusing-for-agent function arguments)))

(define-hook sb-thread:terminate-thread ending-noted)

(define-hook sb-thread:interrupt-thread interrupting)

(defun protect-this-thread ()
  "Protect this thread: once GUARD-AGENT-THREADS was called, user code cannot end it, nor interrupt
it unless it is the main thread."
  (push sb-thread:*current-thread* **agent-threads**))

(defun guard-agent-threads ()
  "Install the hooks that keep user code from ending or interrupting the threads in
**AGENT-THREADS**."
  (install-hooks 'ending-noted 'interrupting))
