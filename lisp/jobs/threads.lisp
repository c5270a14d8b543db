;;;; Runs jobs in threads. Making a thread takes longer than everything else in a short job, so a
;;;; spare thread is kept ready. Each thread runs only one job, so no state of an evaluation reaches
;;;; another one. Each job first sends its answer, and then makes the spare thread for the next job.
;;;; So a program that lists the threads sees none come or go while it runs, unless its job begins
;;;; directly after another job.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **make-thread** 'sb-thread:make-thread
  "The function, or its name, that makes the thread of a job. It takes the arguments of
SB-THREAD:MAKE-THREAD.")

(defstruct (spare (:constructor make-spare ()))
  "A thread that is ready to run a job. THREAD waits for the semaphore GATE, then calls RUN-LAST
with JOB and FUNCTION. JOB is :BEGINS until the thread waits, NIL while it waits, then the job. It
is :GONE if the thread must not run a job any more."
  (gate (sb-thread:make-semaphore :name "live-lisp spare")) thread (job :begins) (function nil))

(sb-ext:defglobal **spare** nil
  "The SPARE structure of the thread that is ready for the next job, or NIL.")

(defun run-last (job function)
  "Call RUN-JOB with JOB and FUNCTION, as the last work of this thread. Then make
the spare thread for a later job. The spare thread inherits the floating-point modes of this thread,
so first restore those that JOB has changed."
  ;; Record the thread here, because the thread that made this one may record it only after the job
  ;; has begun.
  (setf (job-thread job) sb-thread:*current-thread*)
  (let ((modes (float-modes)))
    (unwind-protect (run-job job function)
      (setf (float-modes) modes)
      (keep-spare))))

(defun run-in-new-thread (job function)
  "Make a thread that calls RUN-LAST with JOB and FUNCTION. If the system cannot make a thread,
answer the request of JOB with the error."
  (handler-case
      (setf (job-thread job)
            (funcall **make-thread** (lambda () (as-backend-thread (run-last job function)))
                     :name (thread-name-for (job-operation job))))
    (error (condition)
      (remhash (job-id job) **jobs**)
      (let ((why (report-text 500 condition)))
        ;; If the error has another reason, it is a failure of the backend, and the server then
        ;; replaces the image.
        (unless (search "OS thread" why) (error condition))
        (send (object "id" (job-id job)
                      "condition"
                      (object "type" (class-text (class-of condition))
                              "text"
                              (format nil
                                      "The image could not make a thread for this call (~A), so ~
                                       nothing was done. End threads that are not needed, or ~
                                       restart the image."
                                      why))))))))

;;; The spare thread

(sb-ext:defglobal **keeps-spare** nil
  "True in an image that the server started, once the guards of the image are installed.")

(sb-ext:defglobal **making-spare** (sb-thread:make-mutex :name "live-lisp making")
  "The mutex that a thread holds while it makes a spare thread. An exit ends all threads, and must
wait for this mutex first, because a thread that is making another one cannot be ended.")

(defun spare-thread-p (thread)
  "Return true if THREAD is the spare thread."
  (let ((spare **spare**))
    (and spare (eq thread (spare-thread spare)))))

(defun run-spare (spare)
  "Wait until SPARE, a SPARE structure, gets a job, and run the job. The thread of SPARE calls this.
If the thread is ended before the job begins, run the job in another thread."
  (sb-sys:without-interrupts
    (unwind-protect
         (sb-sys:with-local-interrupts
           (sb-ext:compare-and-swap (spare-job spare) :begins nil)
           (sb-thread:wait-on-semaphore (spare-gate spare))
           (when (job-p (spare-job spare))
             (run-last (spare-job spare) (spare-function spare))))
      (let ((job (sb-ext:compare-and-swap (spare-job spare) nil :gone)))
        (cond ((or (not (job-p job)) (job-answered job)))
              ((or (job-terminating job) (exiting-p)) (end-job job))
              (t (run-in-new-thread job (spare-function spare))))))))

(defun hand-over (spare job function)
  "Give JOB and FUNCTION, the function of the job, to the thread of SPARE, a SPARE structure. Return
true, or NIL if the thread does not wait yet or has ended."
  (let ((thread (spare-thread spare)))
    (setf (spare-function spare) function
          (job-thread job) thread)
    (let ((taken (null (sb-ext:compare-and-swap (spare-job spare) nil job))))
      (if taken
          (setf (sb-thread:thread-name thread) (thread-name-for (job-operation job)))
          (setf (spare-job spare) :gone))
      ;; The thread of a spare that is :GONE must wake too, to end.
      (sb-thread:signal-semaphore (spare-gate spare))
      taken)))

(defun keep-spare ()
  "Make a spare thread for the next job unless there is one already. If that fails, the next job
gets a new thread."
  (when **keeps-spare**
    (sb-thread:with-recursive-lock (**making-spare**)
      (unless (or **spare** (exiting-p))
        (let ((spare (make-spare)))
          (ignore-errors
           (setf (spare-thread spare)
                 (funcall **make-thread** (lambda () (as-backend-thread (run-spare spare)))
                          :name (thread-name-for "spare"))
                 **spare** spare)))))))

(defun end-spare ()
  "End the spare thread, if there is one."
  (let ((spare (shiftf **spare** nil)))
    (when (and spare (spare-thread spare))
      (unless-thread-ended (sb-thread:terminate-thread (spare-thread spare)))
      (sb-thread:join-thread (spare-thread spare) :default nil :timeout 1))))

(defun take-spare ()
  "Set **SPARE** to NIL and return its former value, in one atomic step, so that no other job takes
the same spare thread."
  (loop for spare = **spare**
        when (eq spare (sb-ext:compare-and-swap (symbol-value '**spare**) spare nil)) return spare))

(defun start-job (id operation function)
  "Start a job for the request with the id ID of the operation OPERATION, a name. The job calls
FUNCTION, which returns a plist of JSON members."
  (let ((job (make-job id operation)) (spare (take-spare)))
    (setf **jobs-begun** (logand (1+ **jobs-begun**) most-positive-fixnum))
    (setf (gethash id **jobs**) job)
    (unless (and spare (hand-over spare job function))
      (run-in-new-thread job function))))

;;; Other jobs

(defun alone-p ()
  "Return true if no job is running except the job of this thread."
  (sb-ext:with-locked-hash-table (**jobs**)
    (loop for job being the hash-values of **jobs**
          always (or (eq job *job*) (job-answered job)))))

;;; Threads that other threads end, and threads that end without being unwound

(defun note-ender (thread)
  "Record that this thread ends THREAD, if THREAD is another thread and runs a job."
  (unless (eq thread sb-thread:*current-thread*)
    (sb-ext:with-locked-hash-table (**jobs**)
      (loop for job being the hash-values of **jobs**
            when (and (eq thread (job-thread job)) (not (job-terminating job)))
              do (setf (job-ender job) (current-thread-name))))))

(defun thread-folder (thread)
  "Return the path of the folder below /proc in which Linux describes THREAD."
  (concatenate 'string "/proc/self/task/" (decimal-digits (thread-number thread)) "/"))

(defun file-exists-p (path)
  "Return true if the file PATH exists. Do not open it."
  (zerop (sb-alien:alien-funcall
          (sb-alien:extern-alien "access" (function sb-alien:int sb-alien:c-string sb-alien:int))
          path 0)))

(defun thread-vanished-p (thread)
  "Return true if THREAD has ended without unwinding its stack, as by pthread_exit. SBCL still
considers such a thread alive."
  (and (plusp (thread-number thread))
       (not (file-exists-p (thread-folder thread)))
       ;; Without this folder, the system lists no threads at all, and then a missing folder of a
       ;; thread means nothing.
       (file-exists-p "/proc/self/task")))

(defun end-dead-jobs ()
  "Call END-JOB for the jobs whose threads have ended without calling it. Signal an error if a
thread has ended without unwinding its stack: the garbage collector waits for such a thread forever,
so the image is lost."
  (sb-ext:with-locked-hash-table (**jobs**)
    (loop for job being the hash-values of **jobs**
          for thread = (job-thread job)
          do (when (and thread (not (job-answered job)))
               (if (sb-thread:thread-alive-p thread)
                   (when (thread-vanished-p thread)
                     (error 'lost-thread
                            :format-control "The thread of a call was ended without being unwound, ~
                                             for example by pthread_exit."))
                   (end-if-dead job))))))
