;;;; Runs jobs in the main thread of the image, which else waits. Libraries for windows and handlers
;;;; of signals can want that thread.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **main-gate** nil
  "The semaphore on which the main thread waits for a job. NIL when it runs none: in an image that
somebody else runs, and once the server is gone.")

(sb-ext:defglobal **errand** nil
  "NIL, or a pair of the job that the main thread runs or is to run, and the job's function.")

(defun errand-job ()
  "Return the job that the main thread runs or is to run, or NIL when that is over: when its answer
was sent, and not because of a held error, whose number is then the negative id of the job."
  (let ((job (first **errand**)))
    (and job
         (eq job (gethash (job-id job) **jobs**))
         (or (not (job-answered job)) (minusp (job-id job)))
         job)))

(defun start-job-in-main (id operation function)
  "Start a job as START-JOB does, but in the main thread. If that runs no jobs, or runs another one,
answer with the member \"mainThread\", which says so."
  (let ((other (errand-job)) (job (make-job id operation)))
    (cond ((or other (null **main-gate**))
           (send (object "id" id "mainThread" (object "job" (and other (job-id other))))))
          (t
           (setf **begun** (logand (1+ **begun**) most-positive-fixnum)
                 (job-thread job) (sb-thread:main-thread)
                 (job-waits job) t
                 (gethash id **jobs**) job
                 **errand** (cons job (lambda () (sb-sys:with-interrupts (funcall function)))))
           (sb-thread:signal-semaphore **main-gate**)))))

(defun start-evaluation (id operation function arguments)
  "Start a job in the main thread when ARGUMENTS ask for that, else in a thread of its own."
  (if (gethash "mainThread" arguments)
      (start-job-in-main id operation function)
      (start-job id operation function)))

(defun run-errand ()
  "Run the job that was given to the main thread, if any. Its floating-point modes end with it."
  (let ((errand **errand**) (modes (float-modes)))
    (when (and errand (sb-ext:compare-and-swap (job-waits (first errand)) t nil))
      (unwind-protect
           (run-job (first errand) (rest errand))
        (setf (float-modes) modes)
        (sb-ext:compare-and-swap (symbol-value '**errand**) errand nil)))))

(defun take-errands ()
  "Let jobs be given to the main thread, which then must call RUN-ERRANDS."
  (setf **main-gate** (sb-thread:make-semaphore :name "live-lisp main")))

(defun run-errands ()
  "Run jobs in this thread, the main one, until END-ERRANDS is called. Whatever would end the thread
of a job only ends that job here. An interrupt from the keyboard, which arrives in this thread,
reaches a job, or nobody while the thread waits for one; elsewhere it would end the image."
  (with-no-handlers
    (sb-sys:without-interrupts
      (loop for gate = **main-gate**
            while gate
            do (let ((*thread-end* (list 'ended)))
                 (catch *thread-end*
                   (handler-case
                       (sb-sys:with-local-interrupts (sb-thread:wait-on-semaphore gate))
                     (sb-sys:interactive-interrupt () nil))
                   (sb-sys:allow-with-interrupts (run-errand))))))))

(defun end-errands ()
  "Have the main thread return from RUN-ERRANDS."
  (let ((gate (shiftf **main-gate** nil)))
    (when gate (sb-thread:signal-semaphore gate))))
