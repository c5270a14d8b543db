;;;; A JOB is a request that can run user code. It runs in a thread of its own, chosen by
;;;; threads.lisp or main-thread.lisp. This file has the structure, the table of jobs, and the
;;;; answer of a job. run-job.lisp runs a job, interrupts.lisp ends one from another thread, and
;;;; unhandled.lisp ends one at a condition that nothing has handled.

(in-package "LIVE-LISP.JOBS")

(defun collected-milliseconds ()
  "Return the number of milliseconds that garbage collections have taken since the image began."
  (let ((time sb-ext:*gc-run-time*))
    (if (realp time) (floor (* 1000 time) internal-time-units-per-second) 0)))

(defstruct (job (:constructor make-job (id operation)))
  "A request that runs in a thread of its own.
ID, OPERATION: the id of the request, and the name of its operation.
THREAD: the thread of the job, or NIL before it is known.
CHANNEL, SESSION: those of the server that sent the request.
MADE: the internal real time at which the job was made.
COLLECTED-BEFORE: the value of (COLLECTED-MILLISECONDS) at the start of the job.
OUTPUT: the capture of its output.
NOTES: a plist of additional answer members.
BEGUN, TERMINATING, ANSWERED: true once its function is called, once TERMINATE-JOB was called, and
once the answer is sent.
INTERRUPTIBLE: true while a throw can end the job.
WAITING: the reason of an interrupt that came before INTERRUPTIBLE was true.
THROWS: how often an interrupt has thrown to the end of the job.
ENDER: the name of another thread that ended the job, or NIL.
LEAVING: NIL or a function. If the thread leaves the job before it is answered, END-JOB calls this
function with the job instead of sending an answer.
WAITS: true until the main thread begins the job. Before the job is run or answered, WAITS must be
set to NIL by COMPARE-AND-SWAP.
FOLLOWS: true if the job only reports how a thread of the program continues.
FRAMES: the frames at the first interrupt, as JSON objects.
LOOKING: true while the stack of the job is examined.
GLANCE: the frames that the operation \"status\" returns, or :ASKED until the thread has recorded
them.
UNHELD: the reason why an error was not held for debugging.
CROWDED: true if garbage must be collected after the job."
  id operation (thread nil) (channel *channel*) (session *session*) (made (get-internal-real-time))
  (collected-before (collected-milliseconds))
  (output (make-capture 6000 6000)) (notes '())
  (begun nil) (terminating nil) (answered nil)
  (interruptible nil) (waiting nil) (throws 0) (ender nil) (leaving nil) (waits nil) (follows nil)
  (frames nil) (looking nil) (glance nil) (unheld nil) (crowded nil))

(sb-ext:defglobal **heap-size** (sb-ext:dynamic-space-size)
  "The number of octets that live objects may take in the heap.")

(sb-ext:defglobal **exiting** nil
  "True once the program has called EXIT. SBCL has a variable for this too, but only the exiting
thread sees its value.")

(defun exiting-p ()
  "Return true if the program has called EXIT, in this thread or another."
  (or **exiting** exit-under-way))

(defvar *job* nil "The job that this thread runs or works for, or NIL.")

(sb-ext:defglobal **jobs** (make-hash-table :synchronized t)
  "A hash table from the ids of requests to the running jobs.")

(sb-ext:defglobal **jobs-begun** 0 "The number of jobs that have begun.")

(defun renumber-job (job id)
  "Change the id of JOB, a running job, to ID. Other threads find JOB in **JOBS** at all times."
  (sb-ext:with-locked-hash-table (**jobs**)
    (remhash (job-id job) **jobs**)
    (setf (job-id job) id
          (gethash id **jobs**) job)))

(defun session-job (id)
  "Return the running job with the id ID if it works for the server of *CHANNEL*. Otherwise return
NIL, so that a server cannot reach the jobs of another server."
  (let ((job (gethash id **jobs**)))
    (and job (eq *channel* (job-channel job)) job)))

(defun thread-name-for (operation)
  "Return a name, a string, for the thread of a job of OPERATION, the name of an operation."
  (concatenate 'string "live-lisp " operation))

(defun current-thread-name ()
  "Return the name of this thread as text of at most 100 characters."
  (print-safely 100 (or (sb-thread:thread-name sb-thread:*current-thread*) "without a name") "~A"))

;;; Answers

(defun background-stream ()
  "Return a stream for the output of threads that run no job. The next answer of the session
contains this output."
  (capturing (session-background *session*)))

(define-shape job-answer ()
  "The members that the answer of any job can have besides those of its operation. At most one of
CONDITION, INTERRUPTED and ABORTED is there; without one the job ended well."
  (output output :optional "What the job has written.")
  (background output :optional "What other threads have written since the last answer.")
  (changes (list string) :optional
   "In an image that somebody else runs: names that this person or other servers have defined since
   the last answer, or texts for what they have loaded.")
  (more-changes integer :optional "The number of older changes.")
  (condition condition :optional "A condition that no handler handled.")
  (interrupted interrupted-member :optional)
  (aborted boolean :optional "True when the ABORT restart of the job was invoked."))

(defun answer-frame (id members)
  "Return a buffer with the frame of the answer to the request with the id ID. MEMBERS is a plist of
JSON members. If they are too long for a frame, return the frame of an answer with an error
instead."
  (let* ((frame (frame-octets (make-json-object (list* "id" id members))))
         (length (buffer-fill frame)))
    (if (> length +frame-limit+)
        (frame-octets
         (object "id" id
                 "condition"
                 (object "type" "COMMON-LISP::ERROR"
                         "text" (format nil
                                        "The answer is too large: it takes ~D octets; the limit ~
                                         is ~D. Ask for less in one call."
                                        length +frame-limit+))))
        frame)))

(defun send-answer (job members)
  "Send the answer of JOB with MEMBERS, a plist of JSON members, on *CHANNEL*, unless JOB has been
answered."
  (send-features)
  (let ((frame (answer-frame (job-id job)
                             (list* "output" (captured (job-output job))
                                    "background" (captured (session-background *session*) :reset t)
                                    (append (changes-of-others) (job-notes job) members)))))
    ;; If an error or the end of the thread prevents the sending, END-JOB sends another answer.
    (sb-sys:without-interrupts
      (unless (shiftf (job-answered job) t) (send-frame frame)))))

(defun answer (job members)
  "Answer the request of JOB with MEMBERS, a plist of JSON members, unless it has been answered.
Later output of the job's threads goes to the background output of its session, and so into the next
answer."
  (unless (job-answered job)
    ;; Do this before the answer is sent. Once the server has the answer, another job can begin, and
    ;; write to a stream that the program has kept from this job.
    (setf (capture-successor (job-output job)) (session-background (job-session job))
          (capture-followed (job-output job)) nil)
    (let ((*channel* (job-channel job)) (*session* (job-session job)))
      (send-answer job members))))
