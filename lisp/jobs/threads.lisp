;;;; The thread of a job. To make one takes longer than all that a short job does, so one stands ready. That too serves
;;;; one job only, and ends: nothing of an evaluation reaches another.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **make-thread** 'sb-thread:make-thread
  "What makes the thread of a job: a function that is called as SB-THREAD:MAKE-THREAD is.")

(defun run-in-new-thread (job function)
  "Make a thread that runs JOB by calling FUNCTION, or answer JOB that there can be none."
  (handler-case
      (setf (job-thread job)
            (funcall **make-thread** #'run-job :name (thread-name-for (job-operation job))
                                               :arguments (list job function)))
    (error (condition)
      (remhash (job-id job) **jobs**)
      (let ((why (report-text 500 condition)))
        ;; Anything else is a failure of the agent, which costs the image.
        (unless (search "OS thread" why) (error condition))
        (send (object "id" (job-id job)
                      "condition" (object "type" (class-text (class-of condition))
                                          "text" (format nil "The image could not make a thread for this call (~A). Nothing was done; end threads that it does not need, or restart it."
                                                         why))))))))

;;; The thread that stands ready

(defstruct (spare (:constructor make-spare ()))
  "A THREAD that waits until its GATE is open, and then runs JOB by calling FUNCTION. JOB is :BEGINS until the thread
waits, NIL until one is handed over, and :GONE when the thread is to run none."
  (gate (sb-thread:make-mutex :name "live-lisp spare")) thread (job :begins) (function nil))

(sb-ext:defglobal **spare** nil "The spare that stands ready, or NIL. Only who reads messages sets it.")

(sb-ext:defglobal **keeps-spare** nil "True in an image of our own once its guards stand.")

(sb-ext:defglobal **making-spare** (sb-thread:make-mutex :name "live-lisp making")
  "Held while a spare is made. An exit must wait for that: it ends all threads, and none that is making another hears it.")

(defun spare-thread-p (thread)
  "True when THREAD is the one that stands ready."
  (let ((spare **spare**))
    (and spare (eq thread (spare-thread spare)))))

(defun run-spare (spare)
  "The life of the thread of SPARE. When it is ended before its job has begun, another thread runs that."
  (sb-sys:without-interrupts
    (unwind-protect
         (sb-sys:with-local-interrupts
           (sb-ext:compare-and-swap (spare-job spare) :begins nil)
           (sb-thread:with-mutex ((spare-gate spare)))
           (when (job-p (spare-job spare))
             (run-job (spare-job spare) (spare-function spare))))
      (let ((job (sb-ext:compare-and-swap (spare-job spare) nil :gone)))
        (cond ((or (not (job-p job)) (job-answered job)))
              ((or (job-terminating job) (exiting-p)) (end-job job))
              (t (run-in-new-thread job (spare-function spare))))))))

(defun hand-over (spare job function)
  "Have SPARE run JOB by calling FUNCTION. Return true unless its thread does not wait yet, or has ended."
  (let ((thread (spare-thread spare)))
    (setf (spare-function spare) function
          (job-thread job) thread)
    (let ((taken (null (sb-ext:compare-and-swap (spare-job spare) nil job))))
      (if taken
          (setf (sb-thread:thread-name thread) (thread-name-for (job-operation job)))
          (setf (spare-job spare) :gone))
      (sb-thread:release-mutex (spare-gate spare))
      taken)))

(defun keep-spare ()
  "Make a thread that stands ready for the next job. Without one the job gets a new thread."
  (when **keeps-spare**
    (sb-thread:with-recursive-lock (**making-spare**)
      (unless (exiting-p)
        (let ((spare (make-spare)))
          (sb-thread:grab-mutex (spare-gate spare))
          (ignore-errors
           (setf (spare-thread spare)
                 (funcall **make-thread** #'run-spare :name (thread-name-for "spare") :arguments (list spare))
                 **spare** spare)))))))

(defun start-job (id operation function)
  "Start a job for the request ID that calls FUNCTION, which returns the members of
its answer."
  (let ((job (make-job id operation)) (spare (shiftf **spare** nil)))
    (setf **begun** (logand (1+ **begun**) most-positive-fixnum))
    (setf (gethash id **jobs**) job)
    (unless (and spare (hand-over spare job function))
      (run-in-new-thread job function))
    (keep-spare)))

;;; Who else runs

(defun alone-p ()
  "True when no other job than this thread's runs."
  (sb-ext:with-locked-hash-table (**jobs**)
    (loop for job being the hash-values of **jobs**
          always (or (eq job *job*) (job-answered job)))))

;;; Threads that others end, or that have ended without a word

(defun note-ender (thread)
  "Note that this thread ends THREAD, when that is the one of another job."
  (unless (eq thread sb-thread:*current-thread*)
    (sb-ext:with-locked-hash-table (**jobs**)
      (loop for job being the hash-values of **jobs**
            when (and (eq thread (job-thread job)) (not (job-terminating job)))
              do (setf (job-ender job) (current-thread-name))))))

(defun thread-folder (thread)
  "Return the folder in which Linux tells of THREAD."
  (concatenate 'string "/proc/self/task/" (decimal-digits (thread-number thread)) "/"))

(defun there-p (path)
  "True when there is a file PATH. No descriptor is needed for that."
  (zerop (sb-alien:alien-funcall
          (sb-alien:extern-alien "access" (function sb-alien:int sb-alien:c-string sb-alien:int)) path 0)))

(defun gone-p (thread)
  "True when THREAD is none of the process any more though it was not unwound. Lisp still takes it for one."
  (and (plusp (thread-number thread))
       (not (there-p (thread-folder thread)))
       ;; Where that is there, threads are told.
       (there-p "/proc/self/task")))

(defun end-dead-jobs ()
  "End the jobs whose threads have ended without doing so. One that was not even unwound keeps the collector from ever
stopping all threads, so that is a failure of the image."
  (sb-ext:with-locked-hash-table (**jobs**)
    (loop for job being the hash-values of **jobs**
          for thread = (job-thread job)
          do (when (and thread (not (job-answered job)))
               (if (sb-thread:thread-alive-p thread)
                   (when (gone-p thread) (error "The thread of a call was ended past Lisp, as by pthread_exit."))
                   (end-if-dead job))))))
