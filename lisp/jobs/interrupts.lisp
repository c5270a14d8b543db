;;;; Ends jobs from other threads. An interrupt ends the job by a THROW, which JOB-RESULT catches.
;;;; No handler of the program can stop a THROW. The thrown object is a property list of JSON
;;;; members for the answer. TERMINATE-JOB ends the thread of a job that has ignored an interrupt.

(in-package "LIVE-LISP.JOBS")

(define-wire-type reason
    (member "timeout" "cancelled" "interrupt" "ending" "heap" "terminated" "ended")
  "Why a call was interrupted: its time was up ('timeout'), the client cancelled it ('cancelled'),
  the tool interrupt ended it ('interrupt'), the server ends ('ending'), the heap was full
  ('heap'), the server had to terminate the thread ('terminated'), or the thread ended for another
  reason ('ended').")

(define-shape work-left ()
  "The work that the backend must still do before it can answer this request. The backend keeps its
  progress, and the next such request continues the work."
  (what (member "names" "files")
   "'names' while the backend reads the code of the definitions in the image, and 'files' while it
    reads loaded files again.")
  (count integer "The number of names or files that are still to be read."))

(define-shape interrupted-member ()
  "The backend's report on an interrupted call."
  (reason reason) (frames (list frame) :optional)
  (left work-left :optional)
  (cut-short boolean :optional
   "True when the cleanup forms of the call did not run to their end.")
  (collected-milliseconds integer :optional
   "Milliseconds of garbage collection while the call ran.")
  (ended-by string :optional "Name of the thread that ended the thread of the call.")
  (not-begun boolean :optional "True when the call ended before any part of it ran."))

(defun job-collected (job)
  "Return the number of milliseconds that garbage collections have taken since JOB began, or NIL if
it is 0."
  (let ((milliseconds (- (collected-milliseconds) (job-collected-before job))))
    (and (plusp milliseconds) milliseconds)))

(defvar *work-left* nil
  "NIL or, while this thread does work that a later call can continue, a function without
parameters. The function returns two values: the string \"names\" or \"files\", and the number of
names or files that are still to be read. It returns NIL if nothing is left.")

(defun work-left-data ()
  "Return a JSON object of shape WORK-LEFT for the work of this thread, or NIL."
  (multiple-value-bind (what count) (and *work-left* (funcall *work-left*))
    (and what (object "what" what "count" count))))

(defun interruption (job reason)
  "Return a plist of JSON members for an interrupt of JOB: REASON, a text, and the state in which
the interrupt found JOB. If the program has called EXIT, return only a member that says so, because
the exit continues."
  (if (exiting-p)
      (list "exiting" t)
      (list "interrupted" (object "reason" reason
                                  "endedBy" (job-ender job)
                                  "notBegun" (json-boolean (not (job-begun job)))
                                  "cutShort" (> (job-throws job) 1)
                                  "collectedMilliseconds" (job-collected job)
                                  "left" (work-left-data)
                                  "frames" (job-frames job)))))

(defun end-job (job)
  "Answer the request of JOB if it has no answer yet, and remove JOB from **JOBS**. If the slot
LEAVING of JOB has a function, call it instead of answering, unless TERMINATE-JOB or EXIT has ended
the thread. The thread of JOB calls END-JOB when it ends for any reason."
  (if (and (job-leaving job) (not (job-answered job)) (not (job-terminating job)) (not (exiting-p)))
      (funcall (job-leaving job) job)
      (answer job (interruption job (if (job-terminating job) "terminated" "ended"))))
  (when (and *channel* (exiting-p)) (wait-until-read))
  (when (eq job (gethash (job-id job) **jobs**)) (remhash (job-id job) **jobs**)))

(defun end-if-dead (job)
  "If the thread of JOB has ended, call END-JOB for JOB. The thread usually does this itself, but it
cannot if, for example, it was ended before it began."
  (let ((thread (job-thread job)))
    (when (and thread (not (sb-thread:thread-alive-p thread)))
      (end-job job))))

;;; Ending the function of a job

(defun call-user-code (function)
  "Call FUNCTION and return its values. All frames newer than the frame of CALL-USER-CODE count as
user code. So CALL-USER-CODE must not make a tail call, which would remove its own frame."
  (values-list (multiple-value-list (funcall function))))

(note-frame 'call-user-code :user-code)

(defmacro looking ((job) &body body)
  "Evaluate BODY with the slot LOOKING of JOB true. BODY examines the stack of JOB, and can run user
code."
  `(let ((*print-pprint-dispatch* **pretty-printers**))
     (setf (job-looking ,job) t)
     (unwind-protect (progn ,@body)
       (setf (job-looking ,job) nil))))

(defun leave-job (job reason)
  "Record the frames of JOB, and end JOB by a throw. REASON is a text for the answer. The thread of
JOB calls this. Printing the frames runs user code, which may never end, so a second
interrupt records only the names of functions. If JOB is not interruptible yet, only record REASON."
  (cond ((job-interruptible job)
         (cond ((job-frames job))
               ;; The backend itself works, and no code of the program is on the stack. So the
               ;; answer reports how much of this work is left, and no frames.
               ((and (work-left-data) (not (program-running-p))))
               ((job-looking job) (setf (job-frames job) (names-data)))
               (t (looking (job)
                    (setf (job-frames job) (sb-sys:with-interrupts (frames-data))))))
         (incf (job-throws job))
         (throw job (interruption job reason)))
        (t (setf (job-waiting job) reason))))

(defun interrupt-job (job reason)
  "Interrupt JOB with REASON, a text. Do nothing if JOB is NIL. If JOB runs no code itself,
but waits for a thread of the program, answer the request of JOB, and let that thread continue. If
JOB has not begun because it waits for the main thread, answer its request, and never run it."
  (when job
    (cond
      ((job-follows job) (answer job (interruption job reason)))
      ((sb-ext:compare-and-swap (job-waits job) t nil)
       (answer job (interruption job reason))
       (end-job job))
      (t (when (job-thread job)
           (unless-thread-ended
             (sb-thread:interrupt-thread (job-thread job) (lambda () (leave-job job reason)))))
         (end-if-dead job)))))

(defvar *thread-end* nil
  "NIL, or the tag of a CATCH, a list. This thread can throw to the tag. If the tag is (:ENDED), the
throw ends the thread. If it is (:LEFT), the throw ends only a call, and the thread continues.")

(defun leave-thread ()
  "End this thread, which runs no job. Throw to *THREAD-END* if there is such a tag."
  (if *thread-end*
      (throw *thread-end* *thread-end*)
      (sb-thread:abort-thread)))

(defun terminate-job (job)
  "End the thread of JOB, which has ignored an interrupt. Do nothing if JOB is NIL, or only reports
how a thread of the program continues. If JOB runs in the main thread, end only JOB, because the end
of the main thread would end the image."
  (when (and job (not (job-follows job)))
    (setf (job-terminating job) t)
    (when (job-thread job)
      (unless-thread-ended
        (if (eq (job-thread job) (sb-thread:main-thread))
            (sb-thread:interrupt-thread (job-thread job) #'leave-thread)
            (sb-thread:terminate-thread (job-thread job)))))))
