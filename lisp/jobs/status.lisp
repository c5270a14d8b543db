;;;; Reports the state of the image and its jobs. The reader thread runs this code, so it must
;;;; neither wait long for a lock nor run user code. Data that is not available soon is left out.
;;;; The frames of a running job are recorded by its own thread, which GLANCE-AT interrupts for
;;;; that.

(in-package "LIVE-LISP.JOBS")

;;; Jobs

(defparameter *glance-frames* 5 "The largest number of frames of a running job that are shown.")
(defparameter *glance-seconds* 0.03
  "The largest number of seconds for which the reader thread waits until jobs have recorded their
frames.")

(defun job-file (job)
  "Return the native name of the file that JOB is compiling or loading, or NIL if there is none."
  (flet ((value (symbol)
           (and (job-thread job)
                (handler-case (sb-thread:symbol-value-in-thread symbol (job-thread job))
                  (sb-thread:symbol-value-in-thread-error () nil)))))
    (let ((file (or (value '*compile-file-truename*) (value '*load-truename*))))
      (and (pathnamep file) (native-name file)))))

(defun last-line (capture)
  "Return the last non-blank line in CAPTURE, or its last 100 characters. Return NIL if there is
none, or if another thread keeps the lock of CAPTURE. A carriage return begins a line too, because
programs use it to overwrite a line."
  (let* ((breaks '(#\Newline #\Return))
         (kept (sb-thread:with-recursive-lock ((capture-lock capture) :timeout 0.01)
                 (let ((tail (tail-string capture)))
                   (if (string= tail "")
                       (subseq (capture-head capture) 0 (capture-head-fill capture))
                       tail))))
         (text (string-right-trim '(#\Space #\Tab #\Newline #\Return) (or kept "")))
         (break (position-if (lambda (char) (member char breaks)) text :from-end t))
         (line (subseq text (if break (1+ break) 0))))
    (cond ((string= line "") nil)
          ((<= (length line) 100) line)
          (t (concatenate 'string "..." (subseq line (- (length line) 100)))))))

(define-shape job-progress ()
  "State of a running job, from the backend."
  (characters integer :optional "How many characters the job has written.")
  (last-line string :optional "The end of the last line that the job has written.")
  (file string :optional "The file that the job compiles or loads now.")
  (collected-milliseconds integer :optional
   "Milliseconds of garbage collection while the job ran."))

(defun job-state (job)
  "Return a plist of JSON members that describe the state of JOB: its output, its file and the time
of garbage collections."
  (let* ((output (job-output job)) (total (+ (capture-taken output) (capture-total output))))
    (list "characters" total
          "lastLine" (and (plusp total) (last-line output))
          "collectedMilliseconds" (job-collected job)
          "file" (job-file job))))

(define-operation ("progress" :server-only t :inline t :gives job-progress) (job)
  "Return the state of a job, or NIL if it has ended."
  (let ((job (session-job job)))
    (and job (make-json-object (job-state job)))))

;;; Frames of running jobs

(defparameter *glance-stack* 200000
  "The number of octets of the stack that must be free for a thread to examine its frames. The guard
pages at the end of the stack take about half of them.")

(defun stack-space-p ()
  "Return true if this thread has enough free stack to examine its frames. A thread that has
exhausted its stack must not reach the end of the stack again before the stack is unwound."
  (let ((left (stack-left)))
    (or (null left) (> left *glance-stack*))))

(defun glance-data ()
  "Return a list of texts for the newest calls of user code on the stack of this thread. Printing
these calls runs no user code."
  (loop with *may-read-spans* = nil
        for call in (page (remove-if #'folded-p (calls-on-stack)) 0 *glance-frames*)
        collect (on-one-line (printing-locals (print-safely 200 (car call))))))

(defun glance (job done)
  "Record the frames of JOB in its slot GLANCE. Then signal DONE, a semaphore, even if an error or a
throw prevents the recording. The thread of JOB calls this."
  (let ((frames '()))
    (unwind-protect
         (unless (or (job-looking job) (not (stack-space-p)))
           ;; INTERRUPT-THREAD disables interrupts. Enable them, so that the job can be interrupted.
           (setf frames (nil-if-unknown (sb-sys:with-interrupts (glance-data)))))
      (setf (job-glance job) frames)
      (sb-thread:signal-semaphore done))))

(defun glance-at (jobs)
  "Make each job in the list JOBS record its frames in its slot GLANCE, and wait for all of them, at
most *GLANCE-SECONDS*. Skip a job that has not yet recorded its frames for an earlier call."
  (let ((done (sb-thread:make-semaphore :name "live-lisp glance")) (asked 0))
    (dolist (job jobs)
      (when (and (job-interruptible job) (not (eq (job-glance job) :asked)))
        (setf (job-glance job) :asked)
        (handler-case
            (progn (sb-thread:interrupt-thread (job-thread job)
                                               (let ((job job)) (lambda () (glance job done))))
                   (incf asked))
          (error () (setf (job-glance job) nil)))))
    (when (plusp asked)
      (sb-thread:wait-on-semaphore done :n asked :timeout *glance-seconds*))))

;;; The image

(defun unanswered-jobs ()
  "Return a list of the jobs in **JOBS**. A job whose error is held is among them, although its
request has been answered."
  (sb-ext:with-locked-hash-table (**jobs**)
    (loop for job being the hash-values of **jobs** collect job)))

(defun short-thread-name (thread)
  "Return the name of THREAD on one line of about 60 characters."
  (let ((name (sb-thread:thread-name thread)))
    (cond ((not (stringp name)) "(no name)")
          ((> (length name) 60) (concatenate 'string (on-one-line (subseq name 0 60)) "..."))
          (t (on-one-line name)))))

(defun program-threads (threads)
  "Return a list of the threads among THREADS that the program has made."
  (remove-if (lambda (thread)
               (let ((name (sb-thread:thread-name thread)))
                 (or (eq thread (sb-thread:main-thread))
                     (starts-p name "live-lisp ")
                     (equal name "finalizer"))))
             threads))

;;; In JOB-PROGRESS, CHARACTERS is optional because the server begins with an empty progress. The
;;; two shapes that follow require it.

(define-shape backend-job (job-progress)
  "State of a running job, from the backend."
  (id integer) (frames (list string) :optional) (characters integer))

(define-shape others-job (job-progress)
  "A call that the image runs for another server."
  (operation string)
  (server string :optional "Identifies that server, such as `process 123`.")
  (milliseconds integer) (frames (list string) :optional) (characters integer))

(define-shape backend-status ()
  "State of the image, from the backend."
  (version string) (package string)
  (heap-used integer "How many octets of the heap are in use.")
  (heap-size integer "How many octets the heap can have.")
  (collected-milliseconds integer "Milliseconds spent in garbage collections.")
  (threads integer) (program-threads integer)
  (thread-names (list string) :optional "Names of the program's threads, at most ten.")
  (libraries (object (name string) (file string) (loaded boolean :optional)
                     (failure string :optional))
   :optional
   "The user's library manager: its name, the file that sets it up, and whether it is loaded or why
   it could not be loaded.")
  (jobs (list backend-job) :optional) (others (list others-job) :optional))

(defun job-data (job)
  "Return a plist of JSON members about JOB, a running job: its state, and the frames that its slot
GLANCE contains."
  (let ((glance (job-glance job)))
    (list* "frames" (and (listp glance) glance) (job-state job))))

(defun others-data (jobs)
  "Return a list of JSON objects about those of JOBS that work for other sessions and have not been
answered yet."
  (loop for job in (sort (remove *session* jobs :key #'job-session) #'< :key #'job-made)
        unless (job-answered job)
          collect (make-json-object
                   (list* "operation" (job-operation job)
                          "server" (session-server (job-session job))
                          "milliseconds" (floor (* 1000 (- (get-internal-real-time) (job-made job)))
                                                internal-time-units-per-second)
                          (job-data job)))))

(define-operation ("status" :server-only t :inline t :gives backend-status) ()
  "Return the state of the image: memory, threads, package, the running jobs of this server with
their frames, and those of other servers."
  (let ((jobs (unanswered-jobs))
        (threads (remove-if #'spare-thread-p (sb-thread:list-all-threads))))
    (glance-at jobs)
    (let ((own (program-threads threads)))
      (object "version" (lisp-implementation-version)
              "package" (package-name (session-package))
              "libraries" (library-manager-data)
              "heapUsed" (heap-usage)
              "heapSize" **heap-size**
              "collectedMilliseconds" (collected-milliseconds)
              "threads" (length threads)
              "programThreads" (length own)
              "threadNames" (mapcar #'short-thread-name (page own 0 10))
              "others" (others-data jobs)
              "jobs" (loop for job in jobs
                           when (eq *session* (job-session job))
                             collect (make-json-object
                                      (list* "id" (job-id job) (job-data job))))))))

;;; The CPU time of a thread

(defun first-line-of (path)
  "Return the first line of the file PATH, or NIL if it cannot be read."
  (nil-if-unreadable (with-open-file (in path) (read-line in))))

(defun spent (thread)
  "Return three values: the milliseconds for which THREAD has run, the milliseconds for which it has
waited for a CPU, and true if it is running or waiting for a CPU now. Return NIL if the system does
not report these. A thread that seems to hang may only lack CPU time."
  (let* ((folder (thread-folder thread))
         (times (first-line-of (concatenate 'string folder "schedstat")))
         (state (first-line-of (concatenate 'string folder "stat"))))
    (when (and times state)
      (multiple-value-bind (ran end) (parse-integer times :junk-allowed t)
        (values (floor ran 1000000)
                (floor (parse-integer times :start end :junk-allowed t) 1000000)
                ;; The state is two characters after the name of the thread, which is in
                ;; parentheses and can itself contain parentheses.
                (char= #\R (char state (+ 2 (position #\) state :from-end t)))))))))

(define-shape job-cpu-times ()
  "How a job's thread has spent its time."
  (ran real "Milliseconds for which the thread has run.")
  (waited real "Milliseconds for which the thread has waited for a CPU.")
  (ready boolean "True when the thread runs or waits for a CPU now."))

(define-operation ("spent" :server-only t :inline t :gives job-cpu-times) (job)
  "Return how the thread of a job has spent its time, or NIL if that is unknown."
  (let ((job (session-job job)))
    (multiple-value-bind (ran waited ready) (and job (job-thread job) (spent (job-thread job)))
      (when ran (object "ran" ran "waited" waited "ready" (json-boolean ready))))))
