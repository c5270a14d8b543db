;;;; What a thread has done with its time. Who was denied the CPU has not shown that it stands still.

(in-package "LIVE-LISP.JOBS")

(defun first-line-of (path)
  "Return the first line of the file PATH, or NIL."
  (ignore-errors (with-open-file (in path) (read-line in))))

(defun spent (thread)
  "Return for how many milliseconds THREAD has run and has waited for a CPU, and whether it does one of both now. Return NIL
where the system does not tell."
  (let* ((folder (thread-folder thread))
         (times (first-line-of (concatenate 'string folder "schedstat")))
         (state (first-line-of (concatenate 'string folder "stat"))))
    (ignore-errors
     (multiple-value-bind (ran end) (parse-integer times :junk-allowed t)
       (list (floor ran 1000000)
             (floor (parse-integer times :start end :junk-allowed t) 1000000)
             ;; Behind the name, which can have any characters.
             (char= #\R (char state (+ 2 (position #\) state :from-end t)))))))))

(define-operation ("spent" :inline t) (job)
  "Tell what the thread of JOB has done with its time, in milliseconds; null where that is not known."
  (let* ((job (gethash job **jobs**)) (spent (and job (job-thread job) (spent (job-thread job)))))
    (when spent
      (destructuring-bind (ran waited ready) spent
        (object "ran" ran "waited" waited "ready" (json-boolean ready))))))
