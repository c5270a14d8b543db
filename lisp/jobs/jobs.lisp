;;;; Runs each request that can run user code in a thread of its own, as a JOB. A throw, which no
;;;; handler can stop, can end the request at any time.
;;;;
;;;; RUN-JOB, at the end, is the life of a job: **BEFORE-JOBS**, JOB-RESULT, ANSWER, END-JOB.
;;;; JOB-RESULT catches the throws to the job: LEAVE-JOB throws for an interrupt, LEAVE-BY-CONDITION
;;;; for a condition that nobody handled. What is thrown is a property list of answer members.
;;;;
;;;; For a condition that nobody handled, SBCL calls DEBUGGER-HOOK. This calls the hook of the
;;;; program and then ANSWER-CONDITION, which tries to continue the job (GO-ON-OTHERWISE), and else
;;;; ends it (LEAVE-BY-CONDITION), ends a thread without a job (END-THREAD), or reports that the
;;;; agent is broken (FAIL-JOB).
;;;;
;;;; threads.lisp and main-thread.lisp choose the thread of a job, conditions.lisp describes
;;;; conditions, and hold.lisp stops a job at an error for debugging.

(in-package "LIVE-LISP.JOBS")

(defun collected-milliseconds ()
  "Return the number of milliseconds that garbage collections have taken since the image began."
  (let ((time sb-ext:*gc-run-time*))
    (if (realp time) (floor (* 1000 time) internal-time-units-per-second) 0)))

(defstruct (job (:constructor make-job (id operation)))
  "A request that runs in a thread of its own.
ID, OPERATION: the id of the request, and the name of its operation.
THREAD: its thread, or NIL before this is known.
CHANNEL, SESSION: those of the server that sent the request.
MADE: the internal real time at which the job was made.
COLLECTED-BEFORE: the value of (COLLECTED-MILLISECONDS) at its start.
OUTPUT: the capture of its output.
NOTES: a property list of further answer members.
BEGUN, TERMINATING, ANSWERED: true once its function is called, once TERMINATE-JOB was called, and
once the answer is sent.
INTERRUPTIBLE: true while a throw can end the job.
WAITING: the reason of an interrupt that came before the job was interruptible.
THROWS: the number of throws to its end so far.
ENDER: the name of another thread that ended the job.
LEAVING: NIL or a function. If a throw passes the end of the job, it is called with the job, and no
answer is sent.
WAITS: true until the main thread begins the job. Before the job is run or answered, WAITS must be
set to NIL by COMPARE-AND-SWAP.
FOLLOWS: true if the job only reports the progress of a thread of the program.
FRAMES: its frames at the first interrupt, as JSON objects.
LOOKING: true while its stack is examined.
GLANCE: frames for the operation \"status\", or :ASKED until the thread has recorded them.
UNHELD: the reason why an error was not held for debugging.
CROWDED: true if garbage must be collected after the job."
  id operation (thread nil) (channel *channel*) (session *session*) (made (get-internal-real-time))
  (collected-before (collected-milliseconds))
  (output (make-capture 6000 6000)) (notes '())
  (begun nil) (terminating nil) (answered nil)
  (interruptible nil) (waiting nil) (throws 0) (ender nil) (leaving nil) (waits nil) (follows nil)
  (frames nil) (looking nil) (glance nil) (unheld nil) (crowded nil))

(sb-ext:defglobal **exiting** nil
  "True once the program has asked for an exit. SBCL has a variable for this too, but only the
exiting thread sees the value of that variable.")

(sb-ext:defglobal **heap-exhausting-threads** '()
  "A list of threads without a job that exhausted the heap. Garbage is collected before the next
job.")

(sb-ext:defglobal **collect-much** (constantly nil)
  "A function without parameters that collects garbage. A job that exhausted the heap calls this
function at its end, to make room for the next job.")

(sb-ext:defglobal **heap-size** (sb-ext:dynamic-space-size)
  "The number of octets that live objects can take in the heap.")

(sb-ext:defglobal **before-jobs** '()
  "A list of functions without parameters, in the reverse order of their addition. Each job calls
them in its thread before it does anything else.")

(defvar *job* nil "The job that this thread runs or helps with, or NIL.")

(sb-ext:defglobal **jobs** (make-hash-table :synchronized t)
  "A hash table from the ids of requests to the running jobs.")

(defun renumber-job (job id)
  "Give JOB, a running job, the id ID. Other threads always find JOB in **JOBS**."
  (sb-ext:with-locked-hash-table (**jobs**)
    (remhash (job-id job) **jobs**)
    (setf (job-id job) id
          (gethash id **jobs**) job)))

(sb-ext:defglobal **jobs-begun** 0 "The number of jobs that have begun.")

;;; Answers

(defun background-stream ()
  "Return a stream for output of threads that no job waits for. The next answer of the session shows
this output."
  (capturing (session-background *session*)))

(define-shape job-answer ()
  "The members that the answer of any job can have besides those of its operation. At most one of
CONDITION, INTERRUPTED and ABORTED is there; without one the job ended well."
  (output output :optional "What the job has written.")
  (background output :optional "What other threads have written since the last answer.")
  (changes (list string) :optional
   "In an image that somebody else runs: names that the person or other servers have defined since
   the last answer, or texts for what they have loaded.")
  (more-changes integer :optional "The number of older changes.")
  (condition condition :optional "A condition that no handler handled.")
  (interrupted interrupted-member :optional)
  (aborted boolean :optional "True when the ABORT restart of the job was invoked."))

(defun answer-frame (id members)
  "Return the wire frame, octets, of the answer to the request ID with MEMBERS, a plist of answer
members. If MEMBERS are too long for a frame, return the frame of an answer with an error instead."
  (let* ((frame (frame-octets (make-json-object (list* "id" id members))))
         (length (buffer-fill frame)))
    (if (> length +frame-limit+)
        (frame-octets
         (object "id" id
                 "condition"
                 (object "type" "COMMON-LISP::ERROR"
                         "text" (format nil
                                        "The answer is too large: it takes ~D octets, of ~D at ~
                                         most. Ask for less in one call."
                                        length +frame-limit+))))
        frame)))

(defun send-answer (job members)
  "Send the answer of JOB with MEMBERS, a plist, on *CHANNEL*, unless JOB has been answered."
  (send-features)
  (let ((frame (answer-frame (job-id job)
                             (list* "output" (captured (job-output job))
                                    "background" (captured (session-background *session*) :reset t)
                                    (append (changes-of-others) (job-notes job) members)))))
    ;; If an error or the end of the thread prevents the sending, END-JOB sends another answer.
    (sb-sys:without-interrupts
      (unless (shiftf (job-answered job) t) (send-frame frame)))))

(defun answer (job members)
  "Answer JOB with MEMBERS, a plist, unless it has been answered. Later output of the job's threads
goes to the background of its session, and so into the next answer."
  (unless (job-answered job)
    ;; Do this before the answer: once the server has that, another job can write to a stream of
    ;; this one.
    (setf (capture-successor (job-output job)) (session-background (job-session job))
          (capture-followed (job-output job)) nil)
    (let ((*channel* (job-channel job)) (*session* (job-session job)))
      (send-answer job members))))

(defun job-collected (job)
  "Return the number of milliseconds that garbage collections have taken since JOB began. Return NIL
instead of 0."
  (let ((milliseconds (- (collected-milliseconds) (job-collected-before job))))
    (and (plusp milliseconds) milliseconds)))

(defun exiting-p ()
  "Return true if the program asked for an exit, in this thread or another."
  (or **exiting** exit-under-way))

;;; Interrupts

(define-wire-type reason
    (member "timeout" "cancelled" "interrupt" "ending" "heap" "terminated" "ended")
  "Why a call was interrupted: its time was up ('timeout'), the client cancelled it ('cancelled'),
  the tool interrupt ended it ('interrupt'), the server ends ('ending'), the heap was full
  ('heap'), the server had to terminate the thread ('terminated'), or the thread ended for another
  reason ('ended').")

(define-shape interrupted-member ()
  "The agent's report on an interrupted call."
  (reason reason) (frames (list frame) :optional)
  (cut-short boolean :optional
   "True when the cleanup forms of the call did not run to their end.")
  (collected-milliseconds integer :optional
   "Milliseconds of garbage collection while the call ran.")
  (ended-by string :optional "Name of the thread that ended the thread of the call.")
  (not-begun boolean :optional "True when the call ended before any part of it ran."))

(defun interruption (job reason)
  "Return a property list of answer members for an interrupt of JOB: the REASON, a text, and whether
cleanup forms were cut short. If the program asked for an exit, return only a member that says so,
since the exit continues."
  (if (exiting-p)
      (list "exiting" t)
      (list "interrupted" (object "reason" reason
                                  "endedBy" (job-ender job)
                                  "notBegun" (json-boolean (not (job-begun job)))
                                  "cutShort" (> (job-throws job) 1)
                                  "collectedMilliseconds" (job-collected job)
                                  "frames" (job-frames job)))))

(defun call-user-code (function)
  "Call FUNCTION and return its values. All frames newer than the frame of CALL-USER-CODE count as
user code. So CALL-USER-CODE must not make a tail call, which would remove its own frame."
  (values-list (multiple-value-list (funcall function))))

(note-frame 'call-user-code :user-code)

(defmacro looking ((job) &body body)
  "Evaluate BODY, which examines the stack of JOB and can run user code, with JOB-LOOKING true."
  `(let ((*print-pprint-dispatch* **pretty-printers**))
     (setf (job-looking ,job) t)
     (unwind-protect (progn ,@body)
       (setf (job-looking ,job) nil))))

(defun leave-job (job reason)
  "Record the frames of JOB, and throw to the end of JOB with REASON for the answer. Call this in
the thread of JOB. Rendering the frames runs user code, which may never end, so a second interrupt
records only names of functions. If JOB is not interruptible yet, record REASON for later."
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
  "Call END-JOB for JOB if the thread of JOB has ended without calling END-JOB, for example because
the thread was ended before it had begun."
  (let ((thread (job-thread job)))
    (when (and thread (not (sb-thread:thread-alive-p thread)))
      (end-job job))))

(defun own-job (id)
  "Return the running job with the id ID if the job works for the server of *CHANNEL*, else NIL. A
server cannot reach the jobs of another server."
  (let ((job (gethash id **jobs**)))
    (and job (eq *channel* (job-channel job)) job)))

(defun interrupt-job (job reason)
  "Interrupt JOB, or do nothing if JOB is NIL. If JOB only follows a thread of the program, answer
JOB, and let the thread continue. If JOB still waits for the main thread, answer JOB without running
it."
  (when job
    (cond
      ((job-follows job) (answer job (interruption job reason)))
      ((sb-ext:compare-and-swap (job-waits job) t nil)
       (answer job (interruption job reason))
       (end-job job))
      (t (ignore-errors
          (sb-thread:interrupt-thread (job-thread job) (lambda () (leave-job job reason))))
         (end-if-dead job)))))

;;; Conditions that nobody handled

(defun condition-members (condition &rest calls)
  "Pass CONDITION to *ERROR-KEEPER*, and return a plist of answer members about CONDITION. CALLS are
the values of CALLS-ON-STACK from when CONDITION was signalled. If CALLS are absent, the frames of
CONDITION must still be on the stack."
  (list "condition" (if calls
                        (apply #'described condition *error-keeper* nil calls)
                        (multiple-value-call #'described condition *error-keeper* t
                                             (calls-on-stack)))
        "notHeld" (and *job* (job-unheld *job*))))

(defun leave-by-condition (job condition)
  "Throw a plist of answer members about CONDITION to the end of JOB. If the stack is exhausted,
throw a function that returns the plist instead: it is called when the stack is unwound."
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

(defvar *thread-end* nil
  "NIL, or the tag of a CATCH that ends this thread: the list (:ENDED), or (:LEFT) if a throw only
ends a call in a thread that goes on.")

(defun leave-thread ()
  "End this thread, which runs no job, by a throw to *THREAD-END* if possible."
  (if *thread-end*
      (throw *thread-end* *thread-end*)
      (sb-thread:abort-thread)))

(defun terminate-job (job)
  "End the thread of JOB, which has ignored an interrupt. Do nothing if JOB is NIL. In the main
thread, end only JOB, since the end of the main thread would end the image."
  (when (and job (not (job-follows job)))
    (setf (job-terminating job) t)
    (ignore-errors
     (if (eq (job-thread job) (sb-thread:main-thread))
         (sb-thread:interrupt-thread (job-thread job) #'leave-thread)
         (sb-thread:terminate-thread (job-thread job))))))

(defun unless-broken (value function)
  "Call FUNCTION and return its value. If FUNCTION signals an error or enters the debugger, return
VALUE."
  (catch 'broken
    (let ((sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                           (declare (ignore failure hook))
                                           (throw 'broken value))))
      (handler-case (funcall function)
        (error () value)))))

(defun end-thread (condition)
  "End this thread, which has no job, because nothing has handled CONDITION. Keep CONDITION as an
error, and print a message about it."
  (let ((name (current-thread-name)))
    (unless-broken nil (lambda ()
                         (unless (typep condition 'storage-condition)
                           (multiple-value-call #'described condition **thread-error-keeper** t
                                                (calls-on-stack)))))
    (format (background-stream)
            "~&~:[The~;What ran in the~] thread ~A was ended by an unhandled ~A: ~A~%"
            (or (eq sb-thread:*current-thread* (sb-thread:main-thread))
                (eq :left (first *thread-end*)))
            name
            (unless-broken "condition" (lambda () (print-safely 100 (type-of condition))))
            (unless-broken "its report enters the debugger"
                           (lambda () (report-text 1000 condition)))))
  (leave-thread))

(defun fail-job (job condition)
  "Answer JOB with a fault, and end its thread. Call this for a CONDITION in the agent's own code,
which shows that the agent is broken. The server then replaces the image."
  (unless (shiftf (job-answered job) t)
    (let ((*channel* (job-channel job)))
      (send (object "id" (job-id job) "fault" (report-text 500 condition)))))
  (sb-thread:abort-thread))

(defun damage-p (condition)
  "Return true if CONDITION is that a function or variable of the agent is undefined, because
evaluated code has removed it."
  (and (typep condition 'cell-error)
       ;; A program can make a condition of this type without a name.
       (agent-name-p (ignore-errors (cell-error-name condition)))))

(defun thread-name-for (operation)
  "Return the name, a string, for the thread of a job of OPERATION."
  (concatenate 'string "live-lisp " operation))

(defun job-to-begin ()
  "Return the job for which this thread was made if its function has not been called yet, else NIL.
A condition signalled so early is a failure of the agent."
  (let* ((thread sb-thread:*current-thread*) (name (sb-thread:thread-name thread)))
    (sb-ext:with-locked-hash-table (**jobs**)
      (loop for job being the hash-values of **jobs**
            when (and (not (job-begun job))
                      ;; The thread can get here before the reader thread has stored the thread in
                      ;; the job.
                      (member (job-thread job) (list thread nil))
                      (equal name (thread-name-for (job-operation job))))
              return job))))

(defun leave-broken (condition)
  "End the job or the thread in which CONDITION was signalled. Call this when the debugger hook
itself has failed for CONDITION."
  (cond ((null *job*) (leave-thread))
        ((job-interruptible *job*) (leave-by-condition *job* condition))
        (t (fail-job *job* condition))))

(defun call-as-debugger (condition hook function)
  "FUNCTION is part of the debugger hook HOOK. Call FUNCTION for CONDITION. SBCL binds the variable
of the hook to NIL, so that after an error in FUNCTION SBCL's debugger would wait for input. So bind
the variable again, and bind *BREAK-ON-SIGNALS* to NIL."
  (let ((*program-breaks* *break-on-signals*)
        (*program-hook* (or hook #'debugger-hook))
        (*break-on-signals* nil)
        (sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                         (declare (ignore failure hook))
                                         (leave-broken condition))))
    (funcall function)))

(defun go-on-otherwise (condition)
  "Try to continue a job after CONDITION, which nothing has handled: have ASDF try again, load the
library manager, invoke one of *CHOSEN-RESTARTS*, or hold the error, which stops this thread for
debugging. Return if none of these is possible."
  (retry-replaced condition)
  (retry-with-libraries condition)
  (load-manager-for-file condition)
  (take-chosen-restart condition)
  (when *hold-seconds* (setf (job-unheld *job*) (funcall **hold-function** condition *job*))))

(defun answer-condition (condition)
  "End the job or thread in which CONDITION was signalled and not handled. Describe CONDITION in the
answer of the job or, in a thread without a job, in a printed message."
  ;; FORMAT uses *PRINT-PPRINT-DISPATCH* even for strings, and the program may have set it.
  (let ((*print-pprint-dispatch* **pretty-printers**))
    (cond ((null *job*)
           (let ((job (job-to-begin)))
             (if job (fail-job job condition) (end-thread condition))))
          ((and (job-interruptible *job*) (not (damage-p condition)))
           (unless (job-looking *job*) (go-on-otherwise condition))
           (leave-by-condition *job* condition))
          (t (fail-job *job* condition)))))

(defun programs-hook ()
  "Return the value of *DEBUGGER-HOOK* if the program may have set it. In an image that the server
did not start, return NIL for the global value, since that opens the debugger of a person, as SLIME
does."
  (unless (and **attached**
               (eq *debugger-hook* (sb-ext:symbol-global-value '*debugger-hook*)))
    *debugger-hook*))

;;; Timeouts that miss the program's handlers
;;;
;;; SBCL calls a handler, and tests if a condition has the handler's type, with only the handlers
;;; outside of it established. A timeout of the program that occurs just then, while SBCL runs the
;;; agent's handler of warnings, misses the program's handlers.

(defvar *handlers-outside* '()
  "SBCL's list of the handlers that were established before the agent's handler of warnings.")

(defun signal-again-later (condition)
  "If CONDITION is a timeout that has missed the program's handlers, continue now, and signal it
again in a millisecond."
  (let ((continue (and +handlers+
                       (typep condition 'sb-ext:timeout)
                       (tailp (symbol-value +handlers+) *handlers-outside*)
                       (find-restart 'continue condition))))
    (when continue
      (sb-ext:schedule-timer (sb-ext:make-timer (lambda () (cerror "Continue." condition))
                                                :thread sb-thread:*current-thread*)
                             0.001)
      (invoke-restart continue))))

(defun debugger-hook (condition hook)
  "Call the program's *DEBUGGER-HOOK*, if any, with CONDITION. Then end the job or thread in which
CONDITION was signalled. This function is the global value of *INVOKE-DEBUGGER-HOOK*. HOOK is the
value when SBCL called it."
  (signal-again-later condition)
  (call-as-debugger
   condition hook
   (lambda ()
     (when **on-break** (funcall **on-break** condition))
     (let ((user (programs-hook)))
       ;; The agent's own threads do not call the program's hook.
       (when (and user (or *job* *thread-end*))
         (let ((*debugger-hook* nil))
           (call-as-program (lambda () (funcall user condition user))))))
     (when (typep condition 'heap-exhausted)
       (if *job*
           (setf (job-crowded *job*) t)
           (push sb-thread:*current-thread* **heap-exhausting-threads**)))
     (answer-condition condition))))

(defmacro as-own-thread (&body body)
  "Evaluate BODY, the work of a thread of the agent, so that an error ends the thread and opens no
debugger. AS-OWN-THREAD is a macro because in an image that the server did not start, any function
of the agent can have been redefined."
  `(let ((*debugger-hook* nil) (*break-on-signals* nil) (*macroexpand-hook* 'funcall)
         (sb-ext:*invoke-debugger-hook*
           (lambda (condition hook)
             (let ((sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                                    (declare (ignore failure hook))
                                                    (sb-thread:abort-thread))))
               (debugger-hook condition hook)
               (sb-thread:abort-thread)))))
     ,@body))

;;; The streams of a job

(sb-ext:defglobal **stream-format** '(:utf-8 :replacement #\ufffd)
  "The external format of the standard streams of a fresh SBCL.")

(sb-ext:defglobal **input** nil
  "A stream for characters and octets that is at its end, or NIL before the first job.")

(defun ended-input ()
  "Return an input stream that is at its end, so that nothing is read from the standard input of the
process. If the program has closed the last such stream, make a new one."
  ;; LOAD-TIME-VALUE fetches SBCL's functions when the agent is loaded, because a program can
  ;; redefine them later.
  (let ((input **input**))
    (if (and input (open-stream-p input))
        input
        (setf **input** (funcall (load-time-value #'open)
                                 #p"/dev/null"
                                 :element-type :default
                                 :external-format **stream-format**)))))

(defun format-of-stream (function &rest arguments)
  "Hook: call FUNCTION, which returns the external format of a stream, with ARGUMENTS. A stream that
writes to a capture has no external format. For such a stream, return the format of the standard
output of a fresh SBCL."
  (if (and arguments (captured-p (first arguments)))
      **stream-format**
      (apply function arguments)))

(define-hook stream-external-format format-of-stream)

(defun listen-for-formats ()
  "Install the hook of FORMAT-OF-STREAM, so that STREAM-EXTERNAL-FORMAT works for the streams of
jobs."
  (install-hooks 'format-of-stream))

(defmacro with-job-streams ((capture) &body body)
  "Evaluate BODY with output streams that write to CAPTURE, and input streams at their end. In an
image that the server did not start, bind SBCL's own streams, such as SB-SYS:*STDIN*, too, so that
BODY does not use the terminal of a person."
  (let ((input (gensym "INPUT")) (output (gensym "OUTPUT")) (terminal (gensym "TERMINAL")))
    ;; LOAD-TIME-VALUE is used for the reason in ENDED-INPUT. The job cannot be interrupted here
    ;; yet.
    `(let* ((,input (ended-input))
            (,output (capturing ,capture))
            (,terminal (funcall (load-time-value #'make-two-way-stream) ,input ,output))
            (*standard-input* ,input) (*standard-output* ,output)
            (*error-output* ,output) (*trace-output* ,output)
            (*query-io* ,terminal) (*debug-io* ,terminal) (*terminal-io* ,terminal))
       (progv (and **attached** '(sb-sys:*stdin* sb-sys:*stdout* sb-sys:*stderr* sb-sys:*tty*))
           (list ,input ,output ,output ,terminal)
         ,@body))))

;;; The life of a job

(defun job-result (job function)
  "Call FUNCTION, which returns a plist of answer members, and return this plist. After a throw to
JOB, return the plist that was thrown."
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
  "Answer JOB if it has no answer yet, or call the function in its slot LEAVING, and remove JOB from
**JOBS**. Call this when the thread of JOB ends for any reason."
  (if (and (job-leaving job) (not (job-answered job)) (not (job-terminating job)) (not (exiting-p)))
      (funcall (job-leaving job) job)
      (answer job (interruption job (if (job-terminating job) "terminated" "ended"))))
  (when (exiting-p) (ignore-errors (wait-until-read)))
  (when (eq job (gethash (job-id job) **jobs**)) (remhash (job-id job) **jobs**)))

(defun run-here (job function)
  "Call FUNCTION as the work of JOB in this thread, and answer JOB, with the present values of the
session's variables."
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
  "Call the functions in **BEFORE-JOBS**, then FUNCTION, and answer JOB, even if this thread is
ended earlier. In an image that the server did not start, do not print with the global values of the
session's variables, which are a person's."
  (if **attached**
      (let ((*channel* (job-channel job)) (*session* (job-session job)))
        (with-session-variables (session-first *session*)
          (call-finding-trees (lambda () (run-here job function)))))
      (run-here job function)))
