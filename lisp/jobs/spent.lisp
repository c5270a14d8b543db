;;;; Measures how long a thread ran and waited. A thread that was starved of CPU need not be stuck.

(in-package "LIVE-LISP.JOBS")

(defun first-line-of (path)
  "Return the first line of the file PATH, or NIL."
  (ignore-errors (with-open-file (in path) (read-line in))))

(defun spent (thread)
  "Return a list of the milliseconds that THREAD has run, those that it has waited for a CPU, and
whether it runs or waits for one now. Return NIL where the system does not say."
  (let* ((folder (thread-folder thread))
         (times (first-line-of (concatenate 'string folder "schedstat")))
         (state (first-line-of (concatenate 'string folder "stat"))))
    (ignore-errors
     (multiple-value-bind (ran end) (parse-integer times :junk-allowed t)
       (list (floor ran 1000000)
             (floor (parse-integer times :start end :junk-allowed t) 1000000)
             ;; The state stands behind the name, which can have any characters.
             (char= #\R (char state (+ 2 (position #\) state :from-end t)))))))))

(define-operation ("spent" :inline t) (job)
  "Return how many milliseconds the thread of JOB has run (\"ran\") and waited for a CPU
(\"waited\"), and whether it runs or waits for one now (\"ready\"); null when that is unknown."
  (let* ((job (gethash job **jobs**)) (spent (and job (job-thread job) (spent (job-thread job)))))
    (when spent
      (destructuring-bind (ran waited ready) spent
        (object "ran" ran "waited" waited "ready" (json-boolean ready))))))
