;;;; Finds the job or thread that fills the heap, and ends it before collections run out of room.
;;;; How much room a collection needs, and how often SBCL collects, is decided in collection.lisp.
;;;;
;;;; GUARD-HEAP runs after each garbage collection, in the thread that collected because it found no
;;;; more room. JUDGE-GROWERS assumes that the octets by which the heap has grown belong to the job
;;;; of that thread, and counts them in a GROWER structure. When the heap is nearly full,
;;;; JUDGE-FAIRLY collects all garbage, or as much as there is room for, and counts again, so that
;;;; no job or thread is ended because of garbage. END-GROWERS ends the jobs and threads that have
;;;; filled most of the heap. The hash table **STARTERS**, from threads to jobs or :BACKEND, is in
;;;; threads.lisp.
;;;; Here, the size of the heap is **HEAP-SIZE**: the octets that live objects may take, a third or
;;;; half of SBCL's heap. LITTLE and the functions that measure and collect are in collection.lisp.

(in-package "LIVE-LISP.GUARD")

(define-ability "heap guard" :without "a call that exhausts the heap ends the image")

(defstruct (grower (:constructor make-grower (key least)))
  "A job, or a thread without a job, that has allocated octets. KEY is the job or thread. GROWTH is
the estimated number of these octets that are still in use. LEAST is the smallest number of octets
that the whole heap had in use since KEY began to allocate. All octets of KEY came on top of LEAST,
so GROWTH is at most the difference between the present use of the heap and LEAST."
  key (growth 0) least)

(sb-ext:defglobal **growers** (make-hash-table :test 'eq)
  "A hash table from jobs, and threads without a job, to GROWER structures. A thread that uses the
table must hold the mutex **GUARDING**.")

(sb-ext:defglobal **guarding** (sb-thread:make-mutex :name "live-lisp memory")
  "The mutex that a thread holds while it charges growth of the heap to jobs and threads.")

(sb-ext:defglobal **usage** 0 "The number of octets that were in use after the last collection.")

(sb-ext:defglobal **reclaimed** 0
  "The smallest number of octets in use since the last collection that JUDGE-FAIRLY made of all
garbage.")

(defun guard-heap ()
  "Charge the growth of the heap to jobs and threads, and end those that have filled too much of it.
This function runs after every garbage collection, in the thread that collected."
  (unless (sb-thread:holding-mutex-p **guarding**)
    ;; Another thread that has collected waits here. Otherwise it could fill the heap before this
    ;; thread continues.
    (let ((ends (with-isolation (sb-thread:with-mutex (**guarding**) (judge-fairly)))))
      (when ends (end-growers ends)))))

(defun judge-fairly ()
  "Return a list of the jobs and threads to end, from JUDGE-GROWERS. Garbage must not count as
growth. So before any are ended, call COLLECT-WHAT-FITS to collect garbage, and judge again. Return
NIL if the heap has grown too little since the last such collection."
  (let ((ends (judge-growers))) ; This also sets **USAGE**.
    (setf **reclaimed** (min **usage** **reclaimed**))
    (unless (or (null ends) (<= **usage** (+ **reclaimed** (little))))
      (let ((collected-all (collect-what-fits)))
        (prog1 (judge-growers)
          (when collected-all (setf **reclaimed** **usage**)))))))

(defun judge-growers ()
  "Charge the growth of the heap since the last collection to jobs and threads. Limit the memory
that can be allocated before the next collection. Return a list of the jobs and threads to end."
  (let ((usage (heap-use)))
    (bound-nursery usage)
    (charge-growth usage)
    (growers-to-end usage)))

;;; Charging growth to jobs and threads

(defun charge-growth (usage)
  "Charge the growth of the heap since the previous collection to the jobs and threads that
GROWING-NOW returns. USAGE is the number of octets in use now: store it in **USAGE**. If octets were
freed, reduce what is charged to each job and thread. Forget jobs and threads that have ended."
  (let ((growth (- usage (shiftf **usage** usage))))
    (dolist (key (growing-now))
      (let ((grower (or (gethash key **growers**)
                        (setf (gethash key **growers**) (make-grower key (- usage growth))))))
        (incf (grower-growth grower) growth))))
  (loop for key being the hash-keys of **growers** using (hash-value grower)
        do (setf (grower-least grower) (min usage (grower-least grower))
                 (grower-growth grower)
                 (max 0 (min (grower-growth grower) (- usage (grower-least grower)))))
           (unless (grower-lives-p key) (remhash key **growers**))))

(defun growing-now ()
  "Return a list of the jobs and threads to which the growth of the heap is charged after a
collection in this thread. In a thread of the person who runs the image, return NIL."
  (case (thread-role)
    (:backend (possible-growers))
    (:theirs '())
    (:job (list (or *job* (gethash sb-thread:*current-thread* **starters**))))
    (:thread (list sb-thread:*current-thread*))))

(defun thread-role ()
  "Return a keyword for the code that the current thread runs: :JOB for code of a job, :BACKEND for
code of the backend, :THREAD for other code, and :THEIRS for other code in an image that somebody
else runs. The thread of a job runs code of the backend before and after the code of the job."
  (let* ((thread sb-thread:*current-thread*)
         (starter (gethash thread **starters**))
         (main (eq thread (sb-thread:main-thread))))
    (cond (*job* (if (job-interruptible *job*) :job :backend))
          ((and **attached** main) :theirs)
          ;; *READING* is true in the thread that receives the messages of the server.
          ((or *reading* (eq :backend starter) (system-thread-p thread) main) :backend)
          ((and starter (running-job-p starter)) :job)
          (**attached** :theirs)
          (t :thread))))

(defun possible-growers ()
  "Return a list of the jobs and threads that may have made the heap grow: the jobs that are running
user code, and the keys of **GROWERS**."
  (union (remove-if-not #'job-interruptible (jobs-now))
         (loop for key being the hash-keys of **growers** collect key)))

(defun jobs-now ()
  "Return a list of the running jobs. This can run during a garbage collection. So read the table
**JOBS** without its lock: the thread that holds the lock may wait for the end of the collection."
  (loop for job being the hash-values of **jobs** collect job))

(defun running-job-p (job)
  "Return true if JOB is still in the table of running jobs."
  (eq job (gethash (job-id job) **jobs**)))

(defun grower-lives-p (key)
  "Return true if KEY, a job or a thread, is still running."
  (if (job-p key) (running-job-p key) (sb-thread:thread-alive-p key)))

;;; Choosing and ending the jobs and threads that grow too much

(defun growers-to-end (usage)
  "Return a list of the jobs or threads to end when USAGE octets of the heap are in use. Consider
only those that have filled too much of the heap (TOO-LARGE-P). If the one that has filled most is a
job, return as many jobs as must end before enough of the heap is free (FULL-P), those that have
filled most first. If it is a thread without a job, return all such threads: no answer depends on
them."
  (let* ((growers (sort (loop for grower being the hash-values of **growers**
                              when (too-large-p (grower-growth grower) usage) collect grower)
                        #'> :key #'grower-growth))
         (keys (mapcar #'grower-key growers)))
    (if (job-p (first keys))
        (loop with left = usage
              for grower in growers
              while (full-p left)
              when (job-p (grower-key grower))
                collect (grower-key grower) and do (decf left (grower-growth grower)))
        (remove-if #'job-p keys))))

(defun full-p (usage)
  "Return true if less than a tenth of **HEAP-SIZE** is left when USAGE octets are in use."
  ;; A twentieth of the heap can be allocated before a collection begins, and another twentieth
  ;; until all threads have stopped for the collection.
  (> usage (* 9 (floor **heap-size** 10))))

(defun too-large-p (growth usage)
  "Return true if a job or thread that has filled GROWTH octets of the heap must end. USAGE is the
number of octets in use in the whole heap. The job or thread must end if the heap is nearly full and
GROWTH is more than an eighth of the room that is left."
  ;; A job or thread with less growth did not fill the heap, and its end would free almost nothing.
  ;; The limit shrinks with the room that is left, so the heap never gets full.
  (and (full-p usage) (> growth (max 0 (floor (- **heap-size** usage) 8)))))

(defun end-growers (keys)
  "End the jobs and threads in the list KEYS, and the threads that these jobs started. If the
current thread is among them, end it last, because that is a non-local exit from this function."
  (let* ((here sb-thread:*current-thread*)
         (jobs (remove-if-not #'job-p keys))
         (threads (append (set-difference keys jobs)
                          (loop for thread being the hash-keys of **starters**
                                  using (hash-value job)
                                when (member job jobs) collect thread)))
         (own (find here jobs :key #'job-thread)))
    (setf **heap-exhausting-threads** (union threads **heap-exhausting-threads**))
    ;; The thread of a crowded job collects garbage before it answers.
    (dolist (job jobs) (setf (job-crowded job) t))
    (dolist (job (remove own jobs)) (interrupt-job job "heap"))
    (mapc #'end-growing-thread (remove here threads))
    (when own (interrupt-job own "heap"))
    (when (member here threads) (end-growing-thread here))))

(defun end-growing-thread (thread)
  "End THREAD, which runs no job. Write a message about this to the background output, because no
answer can contain it."
  (flet ((end-here ()
           (format (background-stream)
                   "~&The thread ~A was ended because it was about to exhaust the heap.~%"
                   (current-thread-name))
           (sb-thread:abort-thread)))
    (unless-thread-ended (sb-thread:interrupt-thread thread #'end-here))))

(defun collect-after-growers ()
  "Wait until the threads in **HEAP-EXHAUSTING-THREADS** are gone, for at most a second each. They
have exhausted the heap, or END-GROWERS has ended them. Then collect their garbage. If it were
collected before their end, SBCL would move their objects to an older generation, which is seldom
collected."
  (when **heap-exhausting-threads**
    (dolist (thread (remove sb-thread:*current-thread* (shiftf **heap-exhausting-threads** nil)))
      (sb-thread:join-thread thread :default nil :timeout 1))
    (clear-stack)
    (collect-much)))

;;; When the heap is guarded

(defmacro hooks-run-here-p ()
  "Expand into T if this SBCL calls the *AFTER-GC-HOOKS* in the collecting thread, else into NIL.
Newer SBCLs call them in another thread. That is too late, and does not show the thread that
allocates."
  (let ((thread nil))
    (flet ((note () (setf thread sb-thread:*current-thread*)))
      (push #'note sb-ext:*after-gc-hooks*)
      (unwind-protect (sb-ext:gc)
        (setf sb-ext:*after-gc-hooks* (remove #'note sb-ext:*after-gc-hooks*)))
      ;; Without +AFTER-COLLECTION+, COLLECTED cannot be installed, so these hooks must do.
      (or (null +after-collection+) (eq thread sb-thread:*current-thread*)))))

(defun keep-guard ()
  "Add GUARD-HEAP to the *AFTER-GC-HOOKS* again, in case user code has removed it. Do this only if
this SBCL calls these hooks in the collecting thread."
  (when (hooks-run-here-p) (pushnew #'guard-heap sb-ext:*after-gc-hooks*)))

(defun collected (function &rest arguments)
  "Hook: a thread calls FUNCTION after it has collected garbage. Call it with ARGUMENTS, then call
GUARD-HEAP."
  (multiple-value-prog1 (apply function arguments)
    (guard-heap)))

(note-frame 'collected :entry)

(define-hook +after-collection+ collected)

(defun note-collections ()
  "Make GUARD-HEAP run after each collection, in the collecting thread."
  (unless (hooks-run-here-p)
    (install-hooks 'collected))
  (keep-guard))

(defun prepare-heap ()
  "Prepare the heap for a job: install the guard again if user code has removed it, and collect the
garbage of jobs that were ended."
  (keep-guard)
  (collect-after-growers))

(sb-ext:defglobal **nursery-before** nil
  "The number of octets between collections before the backend set it, or NIL if the backend did not
set it.")

(defun leave-memory ()
  "Stop guarding the heap, and restore the number of octets between collections that
**NURSERY-BEFORE** records."
  (setf **before-jobs** (remove #'prepare-heap **before-jobs**)
        sb-ext:*after-gc-hooks* (remove #'guard-heap sb-ext:*after-gc-hooks*))
  (when **nursery-before**
    (setf (sb-ext:bytes-consed-between-gcs) **nursery-before**)))

(defun watch-memory ()
  "Begin to guard the heap. Set **HEAP-SIZE**, the number of octets that may be in use: a third of
the heap, or half of it in an image that somebody else runs. Set the number of octets between
collections too, unless somebody else runs the image."
  (setf **nursery-before** (and (not **attached**) (sb-ext:bytes-consed-between-gcs))
        **heap-size** (floor (sb-ext:dynamic-space-size) (if **attached** 2 3))
        **large-pages-known** (ignore-errors (large-pages-known-p)))
  (unless **attached** (set-nursery))
  (setf **usage** (heap-use))
  (push #'prepare-heap **before-jobs**)
  (setf **collect-much** #'collect-much)
  (note-collections))
