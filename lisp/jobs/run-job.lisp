;;;; Runs a job in the current thread: the functions in **BEFORE-JOBS**, then JOB-RESULT, ANSWER and
;;;; END-JOB.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **before-jobs** '()
  "A list of functions without parameters. Each job calls them in its thread before it does anything
else.")

(sb-ext:defglobal **collect-much** (constantly nil)
  "A function without parameters that collects garbage. A job that has exhausted the heap calls it
at its end, to make room for the next job.")

(defun job-result (job function)
  "Call FUNCTION, which returns a plist of JSON members, and return this plist. A throw to JOB
can end FUNCTION. If a plist was thrown, return it. If a function was thrown, call that function in
place of FUNCTION."
  (let ((members
          (catch job
            (unwind-protect
                 (progn
                   (setf (job-begun job) t
                         (job-interruptible job) t)
                   (note-begun (job-id job))
                   (when (job-waiting job) (throw job (interruption job (job-waiting job))))
                   (restart-case (let ((*end-call* (find-restart 'abort)))
                                   (funcall function))
                     (abort () :report "End this call." (list "aborted" t))))
              (setf (job-interruptible job) nil)))))
    (protect-stack-again)
    (if (functionp members) (job-result job members) members)))

(defun run-here (job function)
  "Call FUNCTION, which returns a plist of JSON members, as the work of JOB in this thread, and
answer the request of JOB. The variables of the session keep their current values."
  (let ((*job* job) (*debugger-hook* nil) (sb-ext:*invoke-debugger-hook* #'debugger-hook)
        ;; Any call of a generic function can compile code, which calls this hook. The hook is bound
        ;; here, so that a broken hook that an evaluation has set is dropped: otherwise no later
        ;; evaluation could reset it.
        (*macroexpand-hook* 'funcall)
        (*replaced* '()))
    (unwind-protect
         (progn
           (mapc #'funcall **before-jobs**)
           (with-job-streams ((job-output job))
             (let ((members (job-result job function)))
               (when (job-crowded job)
                 (clear-stack)
                 (funcall **collect-much**))
               (answer job members))))
      (end-job job))))

(defun run-job (job function)
  "Call the functions in **BEFORE-JOBS**, then FUNCTION, and answer the request of JOB, even if this
thread is ended earlier. In an image that somebody else runs, bind the variables of the session,
because their global values belong to that person."
  (if **attached**
      (let ((*channel* (job-channel job)) (*session* (job-session job)))
        (with-session-variables (session-first *session*)
          (call-finding-trees (lambda () (run-here job function)))))
      (run-here job function)))
