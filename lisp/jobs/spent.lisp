;;;; Measures how long a thread has run, and how long it has waited for a CPU. A thread that seems
;;;; stuck may only lack CPU time.

(in-package "LIVE-LISP.JOBS")

(defun first-line-of (path)
  "Return the first line of the file PATH, or NIL."
  (nil-if-unreadable (with-open-file (in path) (read-line in))))

(defun spent (thread)
  "Return a list of the milliseconds that THREAD has run, the milliseconds that it has waited for a
CPU, and true if it runs or waits for a CPU now. Return NIL if the system does not provide these
data."
  (let* ((folder (thread-folder thread))
         (times (first-line-of (concatenate 'string folder "schedstat")))
         (state (first-line-of (concatenate 'string folder "stat"))))
    (when (and times state)
      (multiple-value-bind (ran end) (parse-integer times :junk-allowed t)
       (list (floor ran 1000000)
             (floor (parse-integer times :start end :junk-allowed t) 1000000)
             ;; The state is two characters after the name of the thread, which is in parentheses
             ;; and can itself contain parentheses.
             (char= #\R (char state (+ 2 (position #\) state :from-end t)))))))))

(define-shape job-cpu-times ()
  "How a job's thread has spent its time."
  (ran real "Milliseconds for which the thread has run.")
  (waited real "Milliseconds for which the thread has waited for a CPU.")
  (ready boolean "True when the thread runs or waits for a CPU now."))

(define-operation ("spent" :server-only t :inline t :gives job-cpu-times) (job)
  "Return how the thread of a job has spent its time, or NIL if that is unknown."
  (let* ((job (session-job job)) (spent (and job (job-thread job) (spent (job-thread job)))))
    (when spent
      (destructuring-bind (ran waited ready) spent
        (object "ran" ran "waited" waited "ready" (json-boolean ready))))))
