;;;; Runs every request that can run user code in a thread of its own. The thread can be interrupted
;;;; at any time by a throw, which no handler can swallow.

(in-package "LIVE-LISP.JOBS")

(defun collected-milliseconds ()
  "Return the milliseconds of garbage collection since the image began."
  (let ((time sb-ext:*gc-run-time*))
    (if (realp time) (floor (* 1000 time) internal-time-units-per-second) 0)))

(defstruct (job (:constructor make-job (id operation)))
  "A request that runs in a thread of its own. ID is the request's id, OPERATION the name of its
operation. OUTPUT captures what it writes. COLLECTED-BEFORE is COLLECTED-MILLISECONDS at its
beginning. INTERRUPTIBLE is true while a throw can end it; WAITING is the reason of an interrupt
that came before that. FRAMES has its frames at the first interrupt as JSON objects, and THROWS
counts the throws to its end. LOOKING is true while its stack is examined. GLANCE has frames for the
operation status, or is :ASKED while the thread has not recorded them. BEGUN is true once it calls
its function, TERMINATING once TERMINATE-JOB ends its thread, ANSWERED once its answer is sent.
ENDER is the name of another thread that ended it. CROWDED is true when garbage must be collected
after it. UNHELD says why its error was not held. FOLLOWS is true when it only reports how a thread
of the program goes on. LEAVING, or NIL, is a function that is called with the job in place of an
answer when a throw passes the end of the job. NOTES are further members of the answer."
  id
  operation
  thread
  (output (make-capture 6000 6000))
  (collected-before (collected-milliseconds))
  (interruptible nil)
  (frames nil)
  (looking nil)
  (glance nil)
  (throws 0)
  (waiting nil)
  (terminating nil)
  (begun nil)
  (ender nil)
  (crowded nil)
  (unheld nil)
  (follows nil)
  (leaving nil)
  (notes '())
  (answered nil))

(sb-ext:defglobal **exiting** nil
  "True once the program asked for an exit; SBCL's own flag is local to the exiting thread.")

(sb-ext:defglobal **crowded** '()
  "The threads without a job that ended by heap exhaustion: their garbage is collected before the
next job.")

(sb-ext:defglobal **collect-much** (constantly nil)
  "A function of no arguments that collects garbage. The agent calls it after a job that exhausted
the heap (a CROWDED one), so that the next job has room.")

(sb-ext:defglobal **heap-size** (sb-ext:dynamic-space-size)
  "How many octets live objects in the heap can take.")

(sb-ext:defglobal **before-jobs** '()
  "Functions that each job calls in its thread before anything else, the last added first.")

(defvar *job* nil "The job that this thread works for, or NIL.")

(sb-ext:defglobal **jobs** (make-hash-table :synchronized t)
  "The running jobs, by the id of their request.")

(sb-ext:defglobal **begun** 0 "How many jobs have begun.")

(sb-ext:defglobal **background** (make-capture 4000 4000)
  "What threads that no job waits for have written since the last answer.")

(sb-ext:defglobal **background-stream** (capturing **background**)
  "The stream that writes to **BACKGROUND**.")

(defun answer-frame (id members)
  "Return the wire frame with MEMBERS as the answer to the request ID, or with an error when they
are too long for a frame."
  (let* ((frame (frame-octets (make-json-object (list* "id" id members))))
         (length (buffer-fill frame)))
    (if (> length +frame-limit+)
        (frame-octets
         (object "id" id
                 "condition"
                 (object
                  "type" "COMMON-LISP::ERROR"
                  "text"
                  (format
                   nil
                   "The answer takes ~D octets on the wire, of ~D at most; ask for less at once."
                   length +frame-limit+))))
        frame)))

(defun answer (job members)
  "Send the answer of JOB, a frame with the property list MEMBERS, unless it is sent already. What
its threads write after that goes into **BACKGROUND**, which the next answer shows."
  (unless (job-answered job)
    (send-features)
    (let ((frame (answer-frame (job-id job)
                               (list* "output" (captured (job-output job))
                                      "background" (captured **background** :reset t)
                                      (append (job-notes job) members)))))
      ;; If an error or the end of the thread comes before this, another answer is sent.
      (sb-sys:without-interrupts
        (unless (shiftf (job-answered job) t) (send-frame frame))))
    (setf (capture-successor (job-output job)) **background**)))

(defun job-collected (job)
  "Return the milliseconds of garbage collection since JOB began, or NIL for none."
  (let ((milliseconds (- (collected-milliseconds) (job-collected-before job))))
    (and (plusp milliseconds) milliseconds)))

(defun exiting-p ()
  "True when the program asked for an exit, in this thread or another."
  (or **exiting** exit-under-way))

(defun interruption (job reason)
  "Return the members of an answer that says that JOB was interrupted for REASON, a text, and
whether its cleanup forms were cut short. If the program asked for an exit, the answer only says
that: the exit goes on."
  (if (exiting-p)
      (list "exiting" t)
      (list "interrupted" (object "reason" reason
                                  "endedBy" (job-ender job)
                                  "notBegun" (json-boolean (not (job-begun job)))
                                  "cutShort" (> (job-throws job) 1)
                                  "collectedMilliseconds" (job-collected job)
                                  "frames" (job-frames job)))))

(defun call-user-code (function)
  "Call FUNCTION and return its values. Frames newer than the frame of this function are those of
user code. So the call of FUNCTION is no tail call: that would remove this frame."
  (values-list (multiple-value-list (funcall function))))

(note-frame 'call-user-code :user-code)

(defmacro looking ((job) &body body)
  "Evaluate BODY, which examines the stack of JOB and can run user code."
  `(let ((*print-pprint-dispatch* **pretty-printers**))
     (setf (job-looking ,job) t)
     (unwind-protect (progn ,@body)
       (setf (job-looking ,job) nil))))

(defun leave-job (job reason)
  "Runs in the thread of JOB: record its frames and throw to its end. Rendering the frames can run
user code that never ends, so a second interrupt records only names. A job that is not interruptible
yet is left as soon as it becomes so."
  (cond ((job-interruptible job)
         (cond ((job-frames job))
               ((job-looking job) (setf (job-frames job) (names-data)))
               (t (looking (job)
                    (setf (job-frames job) (sb-sys:with-interrupts (frames-data))))))
         (incf (job-throws job))
         (throw job (interruption job reason)))
        (t (setf (job-waiting job) reason))))

(defun current-thread-name ()
  "Return the name of this thread, as text."
  (print-safely 100 (or (sb-thread:thread-name sb-thread:*current-thread*) "without a name") "~A"))

(defun end-if-dead (job)
  "End JOB if its thread has ended and END-JOB was not called: a thread can be ended before it has
begun."
  (let ((thread (job-thread job)))
    (when (and thread (not (sb-thread:thread-alive-p thread)))
      (end-job job))))

(defun interrupt-job (id reason)
  "Interrupt the job ID, if it still runs. A job that only follows a thread of the program is
answered, and that thread goes on."
  (let ((job (gethash id **jobs**)))
    (cond
      ((null job))
      ((job-follows job) (answer job (interruption job reason)))
      (t
      (ignore-errors
       (sb-thread:interrupt-thread (job-thread job) (lambda () (leave-job job reason))))
      (end-if-dead job)))))

(defun terminate-job (id)
  "End the thread of the job ID, which ignored an interrupt."
  (let ((job (gethash id **jobs**)))
    (when (and job (not (job-follows job)))
      (setf (job-terminating job) t)
      (ignore-errors (sb-thread:terminate-thread (job-thread job))))))

(defun condition-members (condition &rest calls)
  "Keep CONDITION by *ERROR-KEEPER*, and return the members of an answer about it. CALLS are the
values of CALLS-ON-STACK when CONDITION was signalled. Without CALLS the frames must still be on the
stack of this thread."
  (list "condition" (if calls
                        (apply #'described condition *error-keeper* nil calls)
                        (multiple-value-call #'described condition *error-keeper* t
                                             (calls-on-stack)))
        "notHeld" (and *job* (job-unheld *job*))))

(defun leave-by-condition (job condition)
  "Throw the answer members about CONDITION to the end of JOB. An exhausted stack has no room to
describe CONDITION: then throw a function that returns the members, which is called once the stack
is unwound."
  (throw job
    (cond ((job-looking job)
           (list "condition"
                 (object "type" (class-text (class-of condition))
                         "text" "It was signalled while another condition was described.")))
          ((and (typep condition 'storage-condition) (not (typep condition 'heap-exhausted)))
           (let ((calls (multiple-value-list (calls-on-stack))))
             (lambda () (looking (job) (apply #'condition-members condition calls)))))
          (t
           (let ((sb-ext:*invoke-debugger-hook* #'debugger-hook)
                 (*sparing* (typep condition 'heap-exhausted)))
             (looking (job) (condition-members condition)))))))

(defvar *thread-end* nil "The CATCH tag to which a throw ends this thread, or NIL.")

(defun leave-thread ()
  "End this thread, which runs no job."
  (if *thread-end*
      (throw *thread-end* *thread-end*)
      (sb-thread:abort-thread)))

(defun unless-broken (value function)
  "Call FUNCTION and return its value. Return VALUE when FUNCTION signals an error or enters the
debugger."
  (catch 'broken
    (let ((sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                           (declare (ignore failure hook))
                                           (throw 'broken value))))
      (handler-case (funcall function)
        (error () value)))))

(defun end-thread (condition)
  "Keep and print CONDITION, which a thread without a job did not handle, and end the thread."
  (let ((name (current-thread-name)))
    (unless-broken nil (lambda ()
                         (unless (typep condition 'storage-condition)
                           (multiple-value-call #'described condition **thread-error-keeper** t
                                                (calls-on-stack)))))
    (format **background-stream** "~&The thread ~A was ended by an unhandled ~A: ~A~%"
            name
            (unless-broken "condition" (lambda () (print-safely 100 (type-of condition))))
            (unless-broken "its report enters the debugger"
                           (lambda () (report-text 1000 condition)))))
  (leave-thread))

(defun fail-job (job condition)
  "Answer JOB with a fault and end its thread: the agent's own part signalled CONDITION. The agent
is broken then, and the server replaces the image."
  (unless (shiftf (job-answered job) t)
    (send (object "id" (job-id job) "fault" (report-text 500 condition))))
  (sb-thread:abort-thread))

(defun damage-p (condition)
  "True when CONDITION says that a function or variable of the agent is undefined: evaluated code
removed it."
  (and (typep condition 'cell-error)
       ;; A program can make such a condition without a name.
       (ours-p (ignore-errors (cell-error-name condition)))))

(defun thread-name-for (operation)
  "Return the name of the thread of a job for OPERATION."
  (concatenate 'string "live-lisp " operation))

(defun job-to-begin ()
  "Return the job for which this thread was made if the job has not begun to call its function, else
NIL. A condition that comes before that is a failure of the agent."
  (let* ((thread sb-thread:*current-thread*) (name (sb-thread:thread-name thread)))
    (sb-ext:with-locked-hash-table (**jobs**)
      (loop for job being the hash-values of **jobs**
            when (and (not (job-begun job))
                      ;; The thread can run this before the reader thread has stored it in the job.
                      (member (job-thread job) (list thread nil))
                      (equal name (thread-name-for (job-operation job))))
              return job))))

(defun leave-broken (condition)
  "End the job or the thread that signalled CONDITION, after the debugger hook itself has failed."
  (cond ((null *job*) (leave-thread))
        ((job-interruptible *job*) (leave-by-condition *job* condition))
        (t (fail-job *job* condition))))

(defun call-as-debugger (condition hook function)
  "Call FUNCTION, the agent's part of the debugger hook, for CONDITION. HOOK is the debugger hook
that SBCL called. SBCL binds the hook to NIL meanwhile, so after an unhandled error in FUNCTION its
debugger would wait for a person. Here such an error ends the job or the thread instead.
*BREAK-ON-SIGNALS* is NIL, so that no signal in FUNCTION breaks."
  (let ((*program-breaks* *break-on-signals*)
        (*program-hook* (or hook #'debugger-hook))
        (*break-on-signals* nil)
        (sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                         (declare (ignore failure hook))
                                         (leave-broken condition))))
    (funcall function)))

(defun go-on-otherwise (condition)
  "Try to go on from CONDITION, which nobody handled in a job: retry, load the library manager,
invoke a chosen restart, or hold the error. Return when none of these is possible."
  (retry-replaced condition)
  (retry-with-libraries condition)
  (load-manager-for-file condition)
  (take-chosen-restart condition)
  (when *hold* (setf (job-unheld *job*) (funcall **holder** condition *job*))))

(defun answer-condition (condition)
  "End the job or the thread in which nobody handled CONDITION. A job answers with CONDITION;
another thread prints it."
  ;; FORMAT uses *PRINT-PPRINT-DISPATCH* even for strings, and the program can have set it.
  (let ((*print-pprint-dispatch* **pretty-printers**))
    (cond ((null *job*)
           (let ((job (job-to-begin)))
             (if job (fail-job job condition) (end-thread condition))))
          ((and (job-interruptible *job*) (not (damage-p condition)))
           (unless (job-looking *job*) (go-on-otherwise condition))
           (leave-by-condition *job* condition))
          (t (fail-job *job* condition)))))

(defun debugger-hook (condition hook)
  "The global *INVOKE-DEBUGGER-HOOK*: CONDITION ends its job or its thread, and the image lives on.
The program's *DEBUGGER-HOOK* is called first."
  (call-as-debugger
   condition hook
   (lambda ()
     (when **on-break** (funcall **on-break** condition))
     (let ((user *debugger-hook*))
       ;; The agent's own threads do not call the program's hook.
       (when (and user (or *job* *thread-end*))
         (let ((*debugger-hook* nil))
           (call-as-program (lambda () (funcall user condition user))))))
     (when (typep condition 'heap-exhausted)
       (if *job*
           (setf (job-crowded *job*) t)
           (push sb-thread:*current-thread* **crowded**)))
     (answer-condition condition))))

(defmacro with-job-streams ((capture) &body body)
  "Evaluate BODY with output going to CAPTURE, and every input stream at its end."
  (let ((input (gensym "INPUT")) (output (gensym "OUTPUT")) (terminal (gensym "TERMINAL")))
    ;; The input has the element type CHARACTER, so the terminal has it, too. LOAD-TIME-VALUE
    ;; fetches SBCL's functions when the agent is loaded: a program can redefine them, and the job
    ;; cannot be interrupted here yet.
    `(let* ((,input (funcall (load-time-value #'make-string-input-stream) ""))
            (,output (capturing ,capture))
            (,terminal (funcall (load-time-value #'make-two-way-stream) ,input ,output))
            (*standard-input* ,input) (*standard-output* ,output)
            (*error-output* ,output) (*trace-output* ,output)
            (*query-io* ,terminal) (*debug-io* ,terminal) (*terminal-io* ,terminal))
       ,@body)))

(defun job-result (job function)
  "Call FUNCTION, which returns the members of the answer. Return them, or members that say why
FUNCTION was left."
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

(defun end-job (job)
  "Runs when the thread of JOB ends, for whatever reason: answer JOB, or call its LEAVING, and
remove it from **JOBS**."
  (if (and (job-leaving job) (not (job-answered job)) (not (job-terminating job)) (not (exiting-p)))
      (funcall (job-leaving job) job)
      (answer job (interruption job (if (job-terminating job) "terminated" "ended"))))
  (when (exiting-p) (ignore-errors (wait-until-read)))
  (when (eq job (gethash (job-id job) **jobs**)) (remhash (job-id job) **jobs**)))

(defun run-job (job function)
  "The function of the thread of JOB: call **BEFORE-JOBS** and FUNCTION, and answer JOB. JOB is
answered also if the thread is ended before it calls FUNCTION: **BEFORE-JOBS**, such as collecting
garbage, can take long."
  (let ((*job* job) (*debugger-hook* nil) (sb-ext:*invoke-debugger-hook* #'debugger-hook)
        ;; Any call of a generic function can compile code, which calls this hook. It is bound, so
        ;; that a broken hook that an evaluation sets does not last: no later evaluation could reset
        ;; it.
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
