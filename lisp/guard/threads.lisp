;;;; Guards the threads that user code makes, by two hooks on MAKE-THREAD: STARTER-NOTED records the
;;;; job that makes a thread, and with GUARDED-MADE the thread calls its function by RUN-GUARDED. In
;;;; an image that somebody else runs, timers and interrupts of jobs run in CALL-IN-THEIR-THREAD,
;;;; too. DEBUGGER-HOOK is in jobs/unhandled.lisp, and *THREAD-END* in jobs/interrupts.lisp.

(in-package "LIVE-LISP.GUARD")

(sb-ext:defglobal **stopped** nil "True once the backend has been removed from this image.")

(defun thread-debugger-hook (condition hook)
  "Call DEBUGGER-HOOK with CONDITION and HOOK. Threads of the program have this function as
*INVOKE-DEBUGGER-HOOK*. Once the backend is removed from the image, call the global value of that
variable instead, if it has one. If this function returns, SBCL enters its debugger."
  (if **stopped**
      (let ((global (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)))
        (when global (funcall global condition global)))
      (debugger-hook condition hook)))

(sb-ext:defglobal **starters** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A hash table from threads to the jobs that started them. The value for a thread that the reader
thread started to run jobs is :BACKEND.")

(defun starter-noted (function &rest arguments)
  "Hook: FUNCTION makes a thread. Call it with ARGUMENTS, and return the thread. Record in
**STARTERS** the job that starts the thread: the job of this thread, or else the value for this
thread in **STARTERS**. If this is the reader thread, record :BACKEND."
  (let ((starter (or *job*
                     (gethash sb-thread:*current-thread* **starters**)
                     (and *reading* :backend)))
        (thread (apply function arguments)))
    (when starter (setf (gethash thread **starters**) starter))
    thread))

(define-hook sb-thread:make-thread starter-noted)

(defvar *of-job* nil "True in a thread that a job started, directly or through other threads.")

(defun of-job-p ()
  "Return true if this thread runs a job, or a job started it, directly or through other threads."
  (or *job* *of-job*))

(defun call-taken (call)
  "Take the function and the arguments out of CALL, a cons (FUNCTION . ARGUMENTS), and call the
function with them. This is a tail call, so that no frame of the backend keeps objects that the
program no longer uses."
  (if (cdr call)
      (apply (the function (shiftf (car call) nil)) (shiftf (cdr call) nil))
      ;; APPLY would leave a reference to the function in a part of the stack that the frame of the
      ;; function then uses. The garbage collector would treat it as a live reference.
      (funcall (the function (shiftf (car call) nil)))))

(defun call-apart (call)
  "CALL is a cons (FUNCTION . ARGUMENTS). Call FUNCTION with ARGUMENTS. Meanwhile the standard
streams are those of the session, not the terminal of the person who runs this image."
  (with-job-streams ((session-background *session*)) (call-taken call)))

(defun run-guarded (call of-job channel session)
  "A new thread of the program calls this. CALL is a cons (FUNCTION . ARGUMENTS). Call FUNCTION with
ARGUMENTS, and with *OF-JOB*, *CHANNEL* and *SESSION* bound to the other parameters. An unhandled
condition ends the thread. Afterwards protect the guard page of the stack again and clear the stack,
because SBCL reuses it for another thread."
  (guard-stacks)
  (let* ((sb-ext:*invoke-debugger-hook* #'thread-debugger-hook)
         (*of-job* of-job) (*channel* channel) (*session* session)
         (*thread-end* (list :ended))
         (values (catch *thread-end*
                   (multiple-value-list (if **attached** (call-apart call) (call-taken call))))))
    (protect-stack-again)
    (scrub-stack)
    ;; LEAVE-THREAD, which ends the thread, throws the tag itself as the value.
    (if (eq values *thread-end*)
        (sb-thread:abort-thread)
        (values-list values))))

(defun guarded (function)
  "Return a function for a new thread. The returned function calls FUNCTION with the arguments that
it gets, by RUN-GUARDED. The call belongs to the job, channel and session of the thread that calls
GUARDED. The returned function can be called only once."
  (let ((call (list function)) (of-job (of-job-p)) (channel *channel*) (session *session*))
    (lambda (&rest arguments)
      (setf (cdr call) arguments)
      ;; This is a tail call, so that no frame of the backend keeps ARGUMENTS.
      (run-guarded call of-job channel session))))

(defun callable-p (object)
  "Return true if OBJECT is a function or a symbol with a global function."
  (typecase object
    (function t)
    (symbol
     (and (fboundp object) (not (macro-function object)) (not (special-operator-p object))))))

(defun guarded-made (make &rest arguments)
  "Hook: MAKE makes a thread. Call it with ARGUMENTS. If the first argument is callable, as the
function of a thread must be, replace it by a function that calls it by RUN-GUARDED (see GUARDED).
In an image that somebody else runs, do this only in threads of jobs."
  (if (and arguments
           (callable-p (first arguments))
           (or (not **attached**) (of-job-p)))
      (apply make (guarded (coerce (first arguments) 'function)) (rest arguments))
      (apply make arguments)))

(define-hook sb-thread:make-thread guarded-made)

;;; SBCL runs the function of a timer in a new thread or in any other, and the function of an
;;; interrupt in the interrupted thread. In an image that somebody else runs, this can be a thread
;;; of that person. So the functions of a job's timers and interrupts get their own error handling.

(defun call-in-their-thread (call channel session)
  "Call CALL-APART with CALL, a cons (FUNCTION . ARGUMENTS), with *CHANNEL* bound to CHANNEL and
*SESSION* to SESSION. An unhandled condition ends only this call and not the thread, because the
thread can belong to the person who runs the image."
  (let* ((sb-ext:*invoke-debugger-hook* #'thread-debugger-hook) (*debugger-hook* nil)
         (*of-job* t) (*channel* channel) (*session* session)
         (*thread-end* (list :left)))
    (catch *thread-end* (call-apart call))))

(defun apart-from-theirs (function)
  "Return a function without parameters that calls FUNCTION, a function designator. If it is called
in a thread that belongs to no job, it calls FUNCTION by CALL-IN-THEIR-THREAD, with the values that
*CHANNEL* and *SESSION* have now."
  (let ((function (coerce function 'function)) (channel *channel*) (session *session*))
    (lambda ()
      (if (of-job-p)
          (funcall function)
          (call-in-their-thread (list function) channel session)))))

(defun timer-made (make &rest arguments)
  "Hook: MAKE makes a timer. Call it with ARGUMENTS. In a thread of a job, replace the first
argument, the function of the timer, by one that keeps its errors away from other people's threads
(APART-FROM-THEIRS)."
  (if (and arguments (callable-p (first arguments)) (of-job-p))
      (apply make (apart-from-theirs (first arguments)) (rest arguments))
      (apply make arguments)))

(define-hook sb-ext:make-timer timer-made)

(defun interrupting-apart (interrupt &rest arguments)
  "Hook: INTERRUPT is the original INTERRUPT-THREAD. Call it with ARGUMENTS. In a thread of a job,
replace the second argument, the function to call in the interrupted thread, by one that keeps its
errors away from other people's threads (APART-FROM-THEIRS)."
  (if (and (rest arguments) (callable-p (second arguments)) (of-job-p))
      (apply interrupt (first arguments) (apart-from-theirs (second arguments)) (cddr arguments))
      (apply interrupt arguments)))

(define-hook sb-thread:interrupt-thread interrupting-apart)

(defun note-threads ()
  "Install the hook that records for each new thread which job has started it."
  (install-hooks 'starter-noted))

(defun guard-threads ()
  "Install the hook that makes each new thread call its function by RUN-GUARDED. In an image that
somebody else runs, install the hooks for timers and interrupts of jobs too."
  (install-hooks 'guarded-made)
  (when **attached** (install-hooks 'timer-made 'interrupting-apart)))

;;; Keeping user code from ending or interrupting the backend's own threads

(sb-ext:defglobal **backend-threads** '()
  "A list of the threads that the backend needs. User code cannot end them.")

(defun refusing-for-backend (function &rest arguments)
  "FUNCTION ends or interrupts a thread, the first of ARGUMENTS. Programs often end all threads,
so protect those of the backend: for such a thread do nothing, but warn if a job makes the call and
the thread answers the server. For another thread, and while the process exits, call FUNCTION with
ARGUMENTS."
  (let ((thread (first arguments)))
    (cond ((exiting-p) (apply function arguments))
          ;; The spare thread does nothing yet. Ending it would end a later job, which the program
          ;; does not intend.
          ((and thread (spare-thread-p thread)) nil)
          ((not (member thread **backend-threads**)) (apply function arguments))
          ;; Without a job there is no answer that could show the warning.
          (*job* (warn "The thread ~A answers the server, so it is left alone."
                       (sb-thread:thread-name thread))))))

(defun ending-noted (function &rest arguments)
  "Hook: FUNCTION ends the thread that is the first of ARGUMENTS. Record that the current thread
ends that thread. Then call FUNCTION with ARGUMENTS, unless REFUSING-FOR-BACKEND refuses the call."
  (when (typep (first arguments) 'sb-thread:thread) (note-ender (first arguments)))
  (apply #'refusing-for-backend function arguments))

(defun interrupting (function &rest arguments)
  "Hook: FUNCTION interrupts a thread. Call it with ARGUMENTS, of which the first is the thread. For
a thread of the backend, REFUSING-FOR-BACKEND refuses the call. The main thread can always be
interrupted, because it only waits for jobs."
  (if (eq (first arguments) (sb-thread:main-thread))
      (apply function arguments)
      (apply #'refusing-for-backend function arguments)))

(define-hook sb-thread:terminate-thread ending-noted)

(define-hook sb-thread:interrupt-thread interrupting)

(defun protect-this-thread ()
  "Add this thread to **BACKEND-THREADS**. After GUARD-BACKEND-THREADS was called, user code cannot
end this thread. User code can interrupt this thread only if it is the main thread."
  (push sb-thread:*current-thread* **backend-threads**))

(defun guard-backend-threads ()
  "Install the hooks that keep user code from ending or interrupting the threads in
**BACKEND-THREADS**."
  (install-hooks 'ending-noted 'interrupting))
