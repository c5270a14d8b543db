;;;; Who fills the heap. After each collection, which runs in the thread that had no more room, what
;;;; survived is put down to the job of that thread, and the one that grew most is ended before a later
;;;; collection could find no room.

(in-package "LIVE-LISP.GUARD")

(defstruct (grower (:constructor make-grower (key least)))
  "What KEY, a job or a thread that works for none, has made: GROWTH octets of it live, as far as is
known. LEAST is the smallest usage of the heap since it began: what is above can be its own."
  key (growth 0) least)

(sb-ext:defglobal **growers** (make-hash-table :test 'eq)
  "The growers, by key. Only who holds **GUARDING** uses it.")

(sb-ext:defglobal **starters** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The jobs that started threads, by thread.")

(sb-ext:defglobal **guarding** (sb-thread:make-mutex :name "live-lisp memory")
  "Held while growth is put down.")

(sb-ext:defglobal **usage** 0 "The octets that were in use after the last collection.")

(sb-ext:defglobal **reclaimed** 0 "The least octets that were in use since all was collected for want of room.")

;;; Who grows

(defun start-thread-for-job (function &rest arguments)
  "Call FUNCTION, which makes a thread, with ARGUMENTS and note for which job that is. A thread
that such a thread makes is for the same job."
  (let ((job (or *job* (gethash sb-thread:*current-thread* **starters**)))
        (thread (apply function arguments)))
    (when job (setf (gethash thread **starters**) job))
    thread))

(defun jobs-now ()
  "Return the jobs that run, read without the lock of the table: a thread that holds it can wait here."
  (loop for job being the hash-values of **jobs** collect job))

(defun running-job-p (job)
  "True while JOB runs."
  (eq job (gethash (job-id job) **jobs**)))

(defun own-thread-p (thread)
  "True when THREAD is one of the agent's own or of SBCL's."
  (or *reading*
      (system-thread-p thread)
      (eq thread (sb-thread:main-thread))))

(defun growing-here ()
  "Return for what this thread works: a job, the thread itself, or NIL for one of the agent's own."
  (let* ((thread sb-thread:*current-thread*)
         (job (or *job* (gethash thread **starters**))))
    (cond ((and job (running-job-p job)) job)
          ((own-thread-p thread) nil)
          (t thread))))

(defun grower-lives-p (key)
  "True while KEY, a job or a thread, runs."
  (if (job-p key) (running-job-p key) (sb-thread:thread-alive-p key)))

(defun put-down-growth (usage)
  "Put what USAGE, the octets in use now, is above that of the last collection down to whoever caused this
one; to all jobs that run when it was nobody's."
  (let ((delta (- usage (shiftf **usage** usage)))
        (here (growing-here)))
    (dolist (key (if here (list here) (jobs-now)))
      (let ((grower (or (gethash key **growers**)
                        (setf (gethash key **growers**) (make-grower key (- usage delta))))))
        (incf (grower-growth grower) delta)))
    (loop for key being the hash-keys of **growers** using (hash-value grower)
          do (setf (grower-least grower) (min usage (grower-least grower))
                   (grower-growth grower) (max 0 (min (grower-growth grower) (- usage (grower-least grower)))))
             (unless (grower-lives-p key) (remhash key **growers**)))
    (when (zerop (hash-table-count **growers**)) (setf **largest** 0))))

(defun living-growers ()
  "Return the growers, the largest first."
  (sort (loop for grower being the hash-values of **growers** collect grower) #'> :key #'grower-growth))

;;; What is done about it

(defun end-growing-thread (thread)
  "End THREAD, which works for no job that could tell."
  (flet ((leave ()
           (format **background** "~&The thread ~A was ended because it was about to exhaust the heap.~%"
                   (current-thread-name))
           (sb-thread:abort-thread)))
    (ignore-errors (sb-thread:interrupt-thread thread #'leave))))

(defun end-growers (keys)
  "End KEYS, jobs with the threads that they started and threads. This thread comes last, as it goes on with nothing."
  (let* ((here sb-thread:*current-thread*)
         (jobs (remove-if-not #'job-p keys))
         (threads (append (set-difference keys jobs)
                          (loop for thread being the hash-keys of **starters** using (hash-value job)
                                when (member job jobs) collect thread)))
         (own (find here jobs :key #'job-thread)))
    (setf **crowded** (union threads (union (mapcar #'job-thread jobs) **crowded**)))
    (dolist (job (remove own jobs)) (interrupt-job (job-id job) "heap"))
    (mapc #'end-growing-thread (remove here threads))
    (when own (interrupt-job (job-id own) "heap"))
    (when (member here threads) (end-growing-thread here))))

(defun make-room ()
  "Collect what those left that were ended, once they have: what is collected before stays for long."
  (when **crowded**
    (dolist (thread (remove sb-thread:*current-thread* (shiftf **crowded** nil)))
      (sb-thread:join-thread thread :default nil :timeout 1))
    (sb-ext:gc :full t)))

(defun too-large-p (growth sum copied young usage size)
  "True when a grower must be ended that has made GROWTH of the SUM that all have, with USAGE of SIZE octets in use
and COPIED of them such as a collection copies, YOUNG of these of what jobs made lately: one has made much while there
would soon be no room to collect that once it is ended, or there would soon be none to copy what all have made."
  (let ((room (- size usage)) (soon (soon-made copied size)))
    (or (and (> copied (floor room 2)) (> growth (floor size 5)))
        (and (plusp **collectable**) (> growth (floor size 10)) (> (+ young soon) (floor (* 4 room) 5)))
        (and (> growth (min (floor size 100) (floor room 8)))
             (> (+ (min sum copied) soon) room)))))

(defun soon-made (copied size)
  "Return how many octets are made before a collection that is begun too late for COPIED, of a heap of SIZE, could be
bounded: a vector that grows is copied to one of twice its size."
  (+ (* 3 (sb-ext:bytes-consed-between-gcs))
     (if (and **extends** (> copied (floor size 16))) (* 2 **largest**) 0)))

(defun growers-to-end (copied young usage size)
  "Return what must be ended, as TOO-LARGE-P has it: the largest jobs until there is room for what the others made, and
when the largest is a thread all that have made much, for nobody waits for them."
  (let* ((growers (living-growers)) (largest (first growers))
         (sum (reduce #'+ growers :key #'grower-growth)))
    (cond ((not (and largest (too-large-p (grower-growth largest) sum copied young usage size))) '())
          ((job-p (grower-key largest))
           (loop for grower in growers
                 for first = t then nil
                 while (or first (> (+ sum (soon-made copied size)) (- size usage)))
                 do (decf sum (grower-growth grower))
                 when (job-p (grower-key grower)) collect (grower-key grower)))
          (t (loop for grower in growers
                   when (and (not (job-p (grower-key grower))) (> (grower-growth grower) (floor size 100)))
                     collect (grower-key grower))))))

(defun judge-growers ()
  "Put down the growth since the last collection, bound the next ones, and return what must be ended."
  (multiple-value-bind (usage octets) (heap-use)
    (let ((size (sb-ext:dynamic-space-size)))
      (bound-collections (- size usage) octets)
      (put-down-growth usage)
      (growers-to-end (if octets (reduce #'+ octets) usage)
                      (if octets (+ (aref octets 0) (aref octets 1)) usage)
                      usage size))))

(defun judge-fairly ()
  "Return what must be ended, once what can be collected is: garbage is no growth. That is not tried again before
a thirty-second of the heap has been filled."
  (let ((ends (judge-growers)))
    (setf **reclaimed** (min **usage** **reclaimed**))
    (when (and ends (> **usage** (+ **reclaimed** (floor (sb-ext:dynamic-space-size) 32))))
      (sb-ext:gc :full t)
      (setf ends (judge-growers)
            **reclaimed** **usage**))
    ends))

(defun guard-heap ()
  "Runs after every garbage collection."
  (unless (sb-thread:holding-mutex-p **guarding**)
    ;; Whoever comes meanwhile waits, or other threads could fill the heap before this one goes on.
    (let ((ends (sb-thread:with-mutex (**guarding**) (judge-fairly))))
      (when ends (end-growers ends)))))

(defun keep-guard ()
  "Put the guard of the heap back when user code took it away."
  (pushnew #'guard-heap sb-ext:*after-gc-hooks*))

(defun prepare-heap ()
  "Before a job, put the guard of the heap back and make room for what the job will make."
  (keep-guard)
  (make-room)
  (settle))

(defun watch-memory ()
  "Begin to guard the heap."
  (push #'prepare-heap **before-jobs**)
  (setf **large-pages-known** (ignore-errors (large-pages-known-p))
        **usage** (heap-use))
  (encapsulate 'sb-thread:make-thread 'live-lisp-memory #'start-thread-for-job)
  (encapsulate 'sb-ext:gc 'live-lisp #'collect-bounded)
  (when +collect+
    (encapsulate +collect+ 'live-lisp
                 (lambda (collect generation)
                   (bound-next-collection)
                   (funcall collect generation))))
  (keep-guard))
