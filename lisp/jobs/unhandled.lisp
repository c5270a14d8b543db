;;;; Ends jobs and threads in which a condition was not handled. SBCL calls DEBUGGER-HOOK for such a
;;;; condition. DEBUGGER-HOOK calls the hook of the program, and then ANSWER-CONDITION. This tries
;;;; to continue the job (GO-ON-OTHERWISE), and else ends it (LEAVE-BY-CONDITION), ends a thread
;;;; without a job (END-THREAD), or reports that the backend is broken (FAIL-JOB). conditions.lisp
;;;; describes conditions, and hold.lisp stops a job at an error for debugging.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **heap-exhausting-threads** '()
  "A list of threads without a job in which the heap was exhausted. The backend collects their
garbage before the next job.")

;;; Ending a job or a thread

(defun condition-members (condition &rest calls)
  "Return a plist of JSON members about CONDITION, and pass CONDITION to *ERROR-KEEPER*. If the
stack was unwound since CONDITION was signalled, CALLS must be the values that CALLS-ON-STACK
returned before. Otherwise leave CALLS out, so that the calls now on the stack are described."
  (list "condition" (if calls
                        (apply #'described condition *error-keeper* nil calls)
                        (multiple-value-call #'described condition *error-keeper* t
                                             (calls-on-stack)))
        "notHeld" (and *job* (job-unheld *job*))))

(defun leave-by-condition (job condition)
  "Throw a plist of JSON members about CONDITION to the end of JOB. If the stack is exhausted, throw
a function that returns the plist, so that JOB can call this function after the stack is unwound."
  (throw job
    (cond ((job-looking job)
           (list "condition"
                 (object "type" (class-text (class-of condition))
                         "text" "It was signalled while another condition was described.")))
          ((and (typep condition 'storage-condition) (not (typep condition 'heap-exhausted)))
           (let ((calls (multiple-value-list (calls-on-stack))))
             (lambda () (looking (job) (apply #'condition-members condition calls)))))
          (t
           ;; An error while CONDITION is described comes here again, to the first clause.
           (let ((sb-ext:*invoke-debugger-hook* #'debugger-hook)
                 (*sparing* (typep condition 'heap-exhausted)))
             (looking (job) (condition-members condition)))))))

(defun unless-broken (value function)
  "Call FUNCTION, without arguments, and return its value. Return VALUE if FUNCTION signals an error
or enters the debugger."
  (catch 'broken
    (let ((sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                           (declare (ignore failure hook))
                                           (throw 'broken value))))
      (handler-case (funcall function)
        (error () value)))))

(defun end-thread (condition)
  "End this thread, which has no job, because nothing has handled CONDITION. Keep CONDITION as an
error of the session, and print a message about it."
  (let ((name (current-thread-name)))
    (unless-broken nil (lambda ()
                         (unless (typep condition 'storage-condition)
                           (multiple-value-call #'described condition **thread-error-keeper** t
                                                (calls-on-stack)))))
    (format (background-stream)
            ;; After LEAVE-THREAD, the main thread and a thread with the tag (:LEFT) go on.
            "~&~:[The~;What ran in the~] thread ~A was ended by an unhandled ~A: ~A~%"
            (or (eq sb-thread:*current-thread* (sb-thread:main-thread))
                (eq :left (first *thread-end*)))
            name
            (unless-broken "condition" (lambda () (print-safely 100 (type-of condition))))
            (unless-broken "its report enters the debugger"
                           (lambda () (report-text 1000 condition)))))
  (leave-thread))

;;; Failures of the backend

(define-condition lost-thread (simple-error) ()
  (:documentation
   "The error of a thread that has ended without being unwound. The garbage collector waits for such
a thread forever."))

(defun damage-p (condition)
  "Return true if CONDITION is the error about an undefined function or unbound variable, and the
backend defines that function or variable. Evaluated code has then removed the definition."
  (and (typep condition 'cell-error)
       (backend-name-p (part-of-condition #'cell-error-name condition))))

(defparameter *failure-frames* 100
  "The largest number of frames in the report of a failure of the backend.")

(defun frame-lines ()
  "Return a list of texts for the newest frames of this thread, also those of SBCL and of the
backend, with their arguments. Print them without running user code."
  (loop for frame = (top-frame) then (frame-below frame)
        repeat *failure-frames*
        while frame
        collect (frame-text (frame-call frame))))

(defun report-failure (what condition)
  "Send the server a report about CONDITION, which was signalled in the backend's own code, with the
frames of this thread. WHAT is a text that says what the backend was doing. The server writes the
report to its log. Do nothing if the report cannot be made: the backend may be damaged."
  (unless-broken
   nil
   (lambda ()
     (send (object "failure"
                   (format nil "~A: ~A~%~A~%~{  ~A~%~}" what (class-text (class-of condition))
                           (report-text 4000 condition) (frame-lines)))))))

(defun fatal-p (condition)
  "Return true if CONDITION, an error in the backend's own code, can have made the image unusable.
This holds if CONDITION shows that a function or variable of the backend is gone, or that memory is
exhausted or damaged. It also holds if this thread was in the middle of a message to the server."
  (or (damage-p condition)
      (typep condition '(or storage-condition sb-sys:memory-fault-error lost-thread))
      (sending-p)))

(defun failure-text (begun condition)
  "Return the text of the answer to a request in which the backend failed by CONDITION. BEGUN is
true if code of the program may have run for the request."
  (format nil
          "live-lisp failed~:[, so nothing was done~; after the call had run, so its result is ~
           lost, but its effects remain~] (~A). The image is kept. ~
           ~:[Call again~;Check what the call did before you repeat it~]; the server's standard ~
           error has the details for a bug report."
          begun
          (string-right-trim "." (report-text 500 condition))
          begun))

(defun send-failure (id begun condition)
  "Answer the request with the id ID, in which the backend's own code has signalled CONDITION. BEGUN
is true if code of the program may have run for the request. If CONDITION is FATAL-P, answer with a
fault: the server then replaces the image."
  (send (if (fatal-p condition)
            (object "id" id "fault" (report-text 500 condition))
            (object "id" id
                    "condition" (object "type" (class-text (class-of condition))
                                        "text" (failure-text begun condition))))))

(defun fail-job (job condition)
  "Answer the request of JOB, in which the backend's own code has signalled CONDITION, and end the
thread of JOB. If the work of JOB has begun, answer by SEND-FAILURE. But a backend that cannot begin
a job, or from which evaluated code has removed a part (DAMAGE-P), is of no use. Then answer with
\"fault\", for which the server replaces the image. If the work has not begun, the server sends the
same request to the new image."
  (unless (shiftf (job-answered job) t)
    (let ((*channel* (job-channel job)) (sent nil))
      (unwind-protect
           (unless (damage-p condition)
             (report-failure (format nil "The backend failed ~:[before~;after~] it began ~
                                          operation ~A"
                                     (job-begun job) (job-operation job))
                             condition)
             (when (job-begun job)
               (send-failure (job-id job) t condition)
               (setf sent t)))
        ;; A damaged backend may be unable to send more than this.
        (unless sent (send (object "id" (job-id job) "fault" (report-text 500 condition)))))))
  (leave-thread))

;;; The debugger hook

(defun job-to-begin ()
  "Return the job for which this thread was made, if the function of the job has not been called
yet. Otherwise return NIL. A condition signalled so early is a failure of the backend."
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
  "End the job or the thread in which CONDITION was signalled, because the debugger hook itself has
failed for CONDITION."
  (cond ((null *job*) (leave-thread))
        ((job-interruptible *job*) (leave-by-condition *job* condition))
        (t (fail-job *job* condition))))

(defun call-as-debugger (condition hook function)
  "Call FUNCTION, which is a part of the debugger hook HOOK and handles CONDITION. SBCL has bound
*INVOKE-DEBUGGER-HOOK* to NIL, so after an error in FUNCTION, its debugger would wait for input. To
prevent this, bind the variable to a function that ends the job. Bind *BREAK-ON-SIGNALS* to NIL."
  (let ((*program-breaks* *break-on-signals*)
        (*program-hook* (or hook #'debugger-hook))
        (*break-on-signals* nil)
        (sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                         (declare (ignore failure hook))
                                         (leave-broken condition))))
    (funcall function)))

(defun go-on-otherwise (condition)
  "Try to continue the job of this thread after CONDITION, which nothing has handled: let ASDF try
again, load the library manager, invoke one of *CHOSEN-RESTARTS*, or hold the error, which stops
this thread for debugging. Return if none of these is possible."
  (retry-replaced condition)
  (retry-with-libraries condition)
  (load-manager-for-file condition)
  (take-chosen-restart condition)
  (when *hold-seconds* (setf (job-unheld *job*) (funcall **hold-function** condition *job*))))

(defun answer-condition (condition)
  "End the job or thread in which CONDITION was signalled and not handled. The answer of the job
describes CONDITION. In a thread without a job, print a message instead."
  ;; FORMAT uses *PRINT-PPRINT-DISPATCH* even for strings, and the program may have set it.
  (let ((*print-pprint-dispatch* **pretty-printers**))
    (cond ((null *job*)
           (let ((job (job-to-begin)))
             (if job (fail-job job condition) (end-thread condition))))
          ;; Code of the program can run for a job only while the job is interruptible. Otherwise
          ;; the backend itself has failed, so FAIL-JOB is called.
          ((and (job-interruptible *job*) (not (damage-p condition)))
           (unless (job-looking *job*) (go-on-otherwise condition))
           (leave-by-condition *job* condition))
          (t (fail-job *job* condition)))))

(defun programs-hook ()
  "Return the value of *DEBUGGER-HOOK* if the program may have set it. Return NIL for the global
value in an image that somebody else runs: a hook such as that of SLIME opens the debugger of the
person who runs the image."
  (unless (and **attached**
               (eq *debugger-hook* (sb-ext:symbol-global-value '*debugger-hook*)))
    *debugger-hook*))

;;; Timeouts that miss the program's handlers
;;;
;;; While SBCL calls a handler, or tests if a condition has the type of the handler, only the
;;; handlers outside of it are established. The backend's handlers of warnings are outside of the
;;; program's handlers. So if a timeout of the program occurs while SBCL runs a handler of the
;;; backend, the program's handlers do not see it. +HANDLERS+ is the name of SBCL's variable for the
;;; list of the established handlers, or NIL in an SBCL without this variable.

(defvar *handlers-outside* '()
  "SBCL's list of the handlers that were established outside of the backend's handlers of
warnings. CALL-COLLECTING-WARNINGS binds this. If the current list is a tail of this one, SBCL runs
a handler of the backend.")

(defun signal-again-later (condition)
  "If CONDITION is a timeout that occurred while the program's handlers were not established, invoke
its CONTINUE restart, and signal it again after a millisecond. Otherwise return."
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
  "Call the program's *DEBUGGER-HOOK*, if there is one, with CONDITION. Then end the job or thread
in which CONDITION was signalled. In an image that the server started, this function is the global
value of *INVOKE-DEBUGGER-HOOK*. In all images, jobs bind that variable to it (RUN-HERE). HOOK is
the value that the variable had when SBCL called this function."
  (signal-again-later condition)
  (call-as-debugger
   condition hook
   (lambda ()
     (when **on-break** (funcall **on-break** condition))
     (let ((user (programs-hook)))
       ;; The backend's own threads do not call the program's hook.
       (when (and user (or *job* *thread-end*))
         (let ((*debugger-hook* nil))
           (call-as-program (lambda () (funcall user condition user))))))
     (when (typep condition 'heap-exhausted)
       (if *job*
           (setf (job-crowded *job*) t)
           (push sb-thread:*current-thread* **heap-exhausting-threads**)))
     (answer-condition condition))))

(defmacro as-backend-thread (&body body)
  "Evaluate BODY, the work of a thread of the backend. An error in it ends the thread, and opens no
debugger. This is a macro because the user can redefine any function of the backend in an image that
somebody else runs."
  `(let ((*debugger-hook* nil) (*break-on-signals* nil) (*macroexpand-hook* 'funcall)
         (sb-ext:*invoke-debugger-hook*
           (lambda (condition hook)
             (let ((sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                                    (declare (ignore failure hook))
                                                    (sb-thread:abort-thread))))
               (debugger-hook condition hook)
               (sb-thread:abort-thread)))))
     ,@body))
