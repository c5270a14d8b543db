;;;; Runs jobs in the main thread of the image, which otherwise waits. GUI libraries and signal
;;;; handlers may need to run in this thread.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **main-gate** nil
  "The semaphore on which the main thread waits for a job. NIL if the main thread runs no jobs: in
an image that somebody else runs, and after the server has gone.")

(sb-ext:defglobal **errand** nil
  "NIL, or a pair (JOB . FUNCTION): the job that the main thread is running or will run, and the
function of the job.")

(defun errand-job ()
  "Return the job in **ERRAND** if its request has not been answered, else NIL. Also return a job
whose error is held, although its request has been answered. Such a job has the negative number of
the error as id."
  (let ((job (first **errand**)))
    (and job
         (eq job (gethash (job-id job) **jobs**))
         (or (not (job-answered job)) (minusp (job-id job)))
         job)))

(defun start-job-in-main (id operation function)
  "Start a job in the main thread for the request with the id ID of the operation OPERATION, a name.
The job calls FUNCTION. If the main thread runs no jobs or is busy, start no job, but send an answer
with the member \"mainThread\". It contains the id of the job that the main thread runs, if any."
  (let ((other (errand-job)) (job (make-job id operation)))
    (cond ((or other (null **main-gate**))
           (send (object "id" id "mainThread" (object "job" (and other (job-id other))))))
          (t
           (setf **jobs-begun** (logand (1+ **jobs-begun**) most-positive-fixnum)
                 (job-thread job) (sb-thread:main-thread)
                 (job-waits job) t
                 (gethash id **jobs**) job
                 **errand** (cons job (lambda () (sb-sys:with-interrupts (funcall function)))))
           (sb-thread:signal-semaphore **main-gate**)))))

(defun start-evaluation (id operation function arguments)
  "Start a job for the request with the id ID of the operation OPERATION, a name. The job calls
FUNCTION. ARGUMENTS is the hash table of the request's arguments. If its value for \"mainThread\" is
true, the job runs in the main thread, else in a thread of its own."
  (if (gethash "mainThread" arguments)
      (start-job-in-main id operation function)
      (start-job id operation function)))

(defun run-errand ()
  "Run the job in **ERRAND** if there is one that has not begun. Afterwards restore the
floating-point modes of this thread."
  (let ((errand **errand**) (modes (float-modes)))
    (when (and errand (sb-ext:compare-and-swap (job-waits (first errand)) t nil))
      (unwind-protect
           (run-job (first errand) (rest errand))
        (setf (float-modes) modes)
        (sb-ext:compare-and-swap (symbol-value '**errand**) errand nil)))))

(defun take-errands ()
  "From now on, allow jobs to be started in the main thread. The main thread must then call
RUN-ERRANDS."
  (setf **main-gate** (sb-thread:make-semaphore :name "live-lisp main")))

(defun run-errands ()
  "Run jobs in this thread, the main thread, until END-ERRANDS is called. The main thread must
outlive its jobs: a throw to *THREAD-END*, which ends other threads, ends only the running job here.
An interrupt from the keyboard interrupts the running job. When no job runs, it has no effect."
  (with-no-handlers
    (sb-sys:without-interrupts
      (loop for gate = **main-gate**
            while gate
            do (let ((*thread-end* (list :ended)))
                 (catch *thread-end*
                   (handler-case
                       (sb-sys:with-local-interrupts (sb-thread:wait-on-semaphore gate))
                     (sb-sys:interactive-interrupt () nil))
                   (sb-sys:allow-with-interrupts (run-errand))))))))

(defun end-errands ()
  "Make the main thread return from RUN-ERRANDS."
  (let ((gate (shiftf **main-gate** nil)))
    (when gate (sb-thread:signal-semaphore gate))))
