;;;; Finds the job or thread that fills the heap. A collection runs in the thread that had no more
;;;; room, so what survives is charged to that thread's job. The job that grew most is ended before
;;;; a collection could find no room.

(in-package "LIVE-LISP.GUARD")

(define-ability "heap guard" "a call that exhausts the heap ends the image")

(defstruct (grower (:constructor make-grower (key least)))
  "What KEY, a job or a thread without a job, has allocated: GROWTH is the number of octets charged
to it that still live. LEAST is the smallest number of octets in use since the first charge: only
octets above that can be its own."
  key (growth 0) least)

(sb-ext:defglobal **growers** (make-hash-table :test 'eq)
  "The GROWER of each key, a job or a thread. Use this table only with the mutex **GUARDING**
held.")

(sb-ext:defglobal **starters** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The job that started a thread, by thread; :AGENT for threads that the reader thread started to
run jobs.")

(sb-ext:defglobal **guarding** (sb-thread:make-mutex :name "live-lisp memory")
  "Held while growth is charged.")

(sb-ext:defglobal **usage** 0 "The octets that were in use after the last collection.")

(sb-ext:defglobal **reclaimed** 0
  "The smallest number of octets in use since the last collection of all garbage that a lack of room
made necessary.")

;;; Charging growth to jobs and threads

(defun start-thread-for-job (function &rest arguments)
  "Hook: call FUNCTION, which makes a thread, with ARGUMENTS, and record the job that starts it. A
thread that such a thread makes in turn is recorded for the same job."
  (let ((starter (or *job*
                     (gethash sb-thread:*current-thread* **starters**)
                     (and *reading* :agent)))
        (thread (apply function arguments)))
    (when starter (setf (gethash thread **starters**) starter))
    thread))

(define-hook sb-thread:make-thread start-thread-for-job)

(defun jobs-now ()
  "Return the jobs that run. The table is read without its lock: a thread that holds the lock can be
waiting for the end of this collection."
  (loop for job being the hash-values of **jobs** collect job))

(defun running-job-p (job)
  "True while JOB runs."
  (eq job (gethash (job-id job) **jobs**)))

(defun own-thread-p (thread)
  "True when THREAD, the current one, belongs to the agent or to SBCL."
  (or *reading*
      (eq :agent (gethash thread **starters**))
      (system-thread-p thread)
      (eq thread (sb-thread:main-thread))))

(defun growing-here ()
  "Return the key to which this thread's growth is charged: a job, the thread itself, or NIL for one
of the agent's own. A job's thread counts as the agent's before and after the job's code runs."
  (let* ((thread sb-thread:*current-thread*)
         (job (gethash thread **starters**)))
    (cond (*job* (and (job-interruptible *job*) *job*))
          ((own-thread-p thread) nil)
          ((and job (running-job-p job)) job)
          (t thread))))

(defun grower-lives-p (key)
  "True while KEY, a job or a thread, runs."
  (if (job-p key) (running-job-p key) (sb-thread:thread-alive-p key)))

(defun possible-growers ()
  "Return the keys that can have grown: jobs that run code, and the keys of known growers."
  (union (remove-if-not #'job-interruptible (jobs-now))
         (loop for key being the hash-keys of **growers** collect key)))

(defun put-down-growth (usage)
  "USAGE octets are in use now. Charge the growth since the previous collection to the job or thread
that caused this collection. If the agent caused it, charge all jobs that run code and all known
growers."
  (let ((delta (- usage (shiftf **usage** usage)))
        (here (growing-here)))
    (dolist (key (if here (list here) (possible-growers)))
      (let ((grower (or (gethash key **growers**)
                        (setf (gethash key **growers**) (make-grower key (- usage delta))))))
        (incf (grower-growth grower) delta)))
    (loop for key being the hash-keys of **growers** using (hash-value grower)
          do (setf (grower-least grower) (min usage (grower-least grower))
                   (grower-growth grower)
                   (max 0 (min (grower-growth grower) (- usage (grower-least grower)))))
             (unless (grower-lives-p key) (remhash key **growers**)))))

(defun living-growers ()
  "Return the growers, the largest first."
  (sort (loop for grower being the hash-values of **growers** collect grower) #'>
        :key #'grower-growth))

;;; Ending the jobs and threads that grow too much

(defun end-growing-thread (thread)
  "End THREAD, which has no job to report its end, with a message in the background output."
  (flet ((end-here ()
           (format **background-stream**
                   "~&The thread ~A was ended because it was about to exhaust the heap.~%"
                   (current-thread-name))
           (sb-thread:abort-thread)))
    (ignore-errors (sb-thread:interrupt-thread thread #'end-here))))

(defun end-growers (keys)
  "End KEYS, jobs and threads, and the threads that the jobs started. This thread comes last: ending
it leaves this function."
  (let* ((here sb-thread:*current-thread*)
         (jobs (remove-if-not #'job-p keys))
         (threads (append (set-difference keys jobs)
                          (loop for thread being the hash-keys of **starters**
                                  using (hash-value job)
                                when (member job jobs) collect thread)))
         (own (find here jobs :key #'job-thread)))
    (setf **crowded** (union threads **crowded**))
    (dolist (job jobs) (setf (job-crowded job) t))
    (dolist (job (remove own jobs)) (interrupt-job (job-id job) "heap"))
    (mapc #'end-growing-thread (remove here threads))
    (when own (interrupt-job (job-id own) "heap"))
    (when (member here threads) (end-growing-thread here))))

(defun make-room ()
  "Wait until the growers that were told to end have ended, at most a second each, and collect what
they left. A collection before their end would move it to an older generation, which is seldom
collected."
  (when **crowded**
    (dolist (thread (remove sb-thread:*current-thread* (shiftf **crowded** nil)))
      (sb-thread:join-thread thread :default nil :timeout 1))
    (clear-stack)
    (collect-much)))

(defun full-p (usage)
  "True when USAGE octets in use leave too little room."
  ;; A tenth must be left: a twentieth is allocated before a collection begins, and as much until
  ;; all threads have stopped for it.
  (> usage (* 9 (floor **heap-size** 10))))

(defun too-large-p (growth usage)
  "True when the heap, with USAGE octets in use, is nearly full, and whoever made GROWTH of it must
end."
  ;; More than an eighth of the room that is left: a job that made less did not fill the heap, and
  ;; ending it would free next to nothing. Those that go on take less and less, so the heap never
  ;; gets full.
  (and (full-p usage) (> growth (max 0 (floor (- **heap-size** usage) 8)))))

(defun growers-to-end (usage)
  "Return the keys to end when USAGE octets are in use: the largest jobs, until the heap is not
FULL-P without them. If the largest grower is a thread, return all threads that have grown much
instead: nobody waits for them."
  (let* ((growers (remove-if-not (lambda (grower) (too-large-p (grower-growth grower) usage))
                                 (living-growers)))
         (keys (mapcar #'grower-key growers)))
    (if (job-p (first keys))
        (loop with left = usage
              for grower in growers
              while (full-p left)
              when (job-p (grower-key grower))
                collect (grower-key grower) and do (decf left (grower-growth grower)))
        (remove-if #'job-p keys))))

(defun judge-growers ()
  "Charge the growth since the last collection, and set when the next one begins. Return the keys to
end."
  (let ((usage (heap-use)))
    (bound-nursery usage)
    (put-down-growth usage)
    (growers-to-end usage)))

(defun judge-fairly ()
  "Return the keys to end, after collecting as much garbage as there is room for: garbage is no
growth. Return NIL while little was added since everything was last collected: that can be garbage,
and is too little for another collection."
  (let ((ends (judge-growers)))
    (setf **reclaimed** (min **usage** **reclaimed**))
    (unless (or (null ends) (<= **usage** (+ **reclaimed** (little))))
      (let ((all (collect-what-fits)))
        (prog1 (judge-growers)
          (when all (setf **reclaimed** **usage**)))))))

(defun guard-heap ()
  "Charge growth to jobs and threads, and end those that grew too much. Runs after every garbage
collection, in the thread that collected."
  (unless (sb-thread:holding-mutex-p **guarding**)
    ;; Another thread that has collected waits here. Otherwise it could fill the heap before this
    ;; one goes on.
    (let ((ends (apart (sb-thread:with-mutex (**guarding**) (judge-fairly)))))
      (when ends (end-growers ends)))))

(defmacro hooks-run-here-p ()
  "Expand to T when this SBCL calls *AFTER-GC-HOOKS* in the collecting thread. Newer SBCLs call them
in another thread: that is too late, and does not show which thread grows."
  (let ((thread nil))
    (flet ((note () (setf thread sb-thread:*current-thread*)))
      (push #'note sb-ext:*after-gc-hooks*)
      (unwind-protect (sb-ext:gc)
        (setf sb-ext:*after-gc-hooks* (remove #'note sb-ext:*after-gc-hooks*)))
      (or (null +after-collection+) (eq thread sb-thread:*current-thread*)))))

(defun keep-guard ()
  "Put GUARD-HEAP back into *AFTER-GC-HOOKS* if user code removed it, where this SBCL runs it from
there."
  (when (hooks-run-here-p) (pushnew #'guard-heap sb-ext:*after-gc-hooks*)))

(defun collected (function &rest arguments)
  "Hook: call FUNCTION, which a thread calls after it has collected garbage, with ARGUMENTS, and
guard the heap."
  (multiple-value-prog1 (apply function arguments)
    (guard-heap)))

(define-hook +after-collection+ collected)

(defun note-collections ()
  "Have GUARD-HEAP run after each collection, in the collecting thread."
  (unless (hooks-run-here-p)
    (install-hooks 'collected))
  (keep-guard))

(defun prepare-heap ()
  "Before a job, put the guard of the heap back and make room for what the job will make."
  (keep-guard)
  (make-room))

(defun note-threads ()
  "Record, from now on, for each new thread the job that makes it."
  (install-hooks 'start-thread-for-job))

(sb-ext:defglobal **nursery-before** nil
  "The value of BYTES-CONSED-BETWEEN-GCS before the heap was guarded, or NIL.")

(defun leave-memory ()
  "Guard the heap no more."
  (setf **before-jobs** (remove #'prepare-heap **before-jobs**)
        sb-ext:*after-gc-hooks* (remove #'guard-heap sb-ext:*after-gc-hooks*))
  (when **nursery-before**
    (setf (sb-ext:bytes-consed-between-gcs) **nursery-before**)))

(defun watch-memory ()
  "Begin to guard the heap. SBCL has three times the heap that the user asked for."
  (setf **nursery-before** (sb-ext:bytes-consed-between-gcs)
        **heap-size** (floor (sb-ext:dynamic-space-size) 3)
        **large-pages-known** (ignore-errors (large-pages-known-p)))
  (set-nursery)
  (setf **usage** (heap-use))
  (push #'prepare-heap **before-jobs**)
  (setf **collect-much** #'collect-much)
  (note-collections))
