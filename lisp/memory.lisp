;;;; The heap as it fills up. The collector copies what lives, so it needs as much room again as it
;;;; collects, and when it finds none the image dies. After each collection, which runs in the
;;;; thread that had no more room, what survived is put down to the job of that thread; the one that grew
;;;; most is ended before the next collection could find no room, and what is too large to copy is not
;;;; collected.

(in-package "LIVE-LISP.AGENT")

(defstruct (grower (:constructor make-grower (least)))
  "What a job, or a thread that works for none, has made: GROWTH octets of it live, as far as is
known. LEAST is the smallest usage of the heap since it began: what is above can be its own."
  (growth 0) least)

(sb-ext:defglobal **growers** (make-hash-table :test 'eq :weakness :key)
  "The growers, by job or thread. Only who holds **GUARDING** uses it.")

(sb-ext:defglobal **starters** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The jobs that started threads, by thread.")

(sb-ext:defglobal **guarding** (sb-thread:make-mutex :name "live-lisp memory")
  "Held while growth is put down.")

(sb-ext:defglobal **usage** 0 "The octets that were in use after the last collection.")

;; Above these are the objects of SBCL's own core, which are never collected.
(defconstant +generations+ 6 "How many generations are collected.")

(sb-ext:defglobal **collectable** (1- +generations+)
  "The oldest generation that can be collected while it is tight.")

(sb-ext:defglobal **usual-age** nil
  "How often the youngest generation is usually collected before it gets older, while it is
not so; else NIL.")

;;; Who grows

(defun start-thread-for-job (function &rest arguments)
  "Call FUNCTION, which makes a thread, with ARGUMENTS and note for which job that is. A thread
that such a thread makes is for the same job."
  (let ((job (or *job* (gethash sb-thread:*current-thread* **starters**)))
        (thread (apply function arguments)))
    (when job (setf (gethash thread **starters**) job))
    thread))

(defun running-job-p (job)
  "True while JOB runs."
  (eq job (gethash (job-id job) **jobs**)))

(defun own-thread-p (thread)
  "True when THREAD is one of the agent's own or of SBCL's."
  (or *reading*
      (internal-call ("SB-THREAD" "THREAD-EPHEMERAL-P") (thread))
      (eq thread (internal-call ("SB-THREAD" "MAIN-THREAD") ()))))

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
one; to all jobs that run when it was nobody's. Return what all growers have made and the largest as a list."
  (let* ((delta (- usage (shiftf **usage** usage)))
         (here (growing-here))
         (keys (if here
                   (list here)
                   (loop for job being the hash-values of **jobs** collect job)))
         (sum 0) (largest nil) (most 0))
    (dolist (key keys)
      (let ((grower (or (gethash key **growers**)
                        (setf (gethash key **growers**) (make-grower (- usage delta))))))
        (incf (grower-growth grower) delta)))
    (loop for key being the hash-keys of **growers** using (hash-value grower)
          do (setf (grower-least grower) (min usage (grower-least grower))
                   (grower-growth grower) (max 0 (min (grower-growth grower) (- usage (grower-least grower)))))
             (when (grower-lives-p key)
               (incf sum (grower-growth grower))
               (when (> (grower-growth grower) most)
                 (setf largest key most (grower-growth grower)))))
    (loop for key being the hash-keys of **growers**
          unless (grower-lives-p key) do (remhash key **growers**))
    (values sum largest most)))

;;; What is done about it

(defun end-growing-thread (thread)
  "End THREAD, which works for no job that could tell."
  (flet ((leave ()
           (format **background** "~&The thread ~A was ended because it was about to exhaust the heap.~%"
                   (current-thread-name))
           (sb-thread:abort-thread)))
    (ignore-errors (sb-thread:interrupt-thread thread #'leave))))

(defun end-grower (key)
  "End KEY, a job with the threads that it started or a thread. This thread comes last, as it
goes on with nothing."
  (let* ((here sb-thread:*current-thread*)
         (threads (if (job-p key)
                      (loop for thread being the hash-keys of **starters** using (hash-value job)
                            when (eq job key) collect thread)
                      (list key))))
    (setf **crowded** t)
    (flet ((end-job-first (first)
             (when (and (job-p key) (eq first (not (eq here (job-thread key)))))
               (interrupt-job (job-id key) "heap"))))
      (end-job-first t)
      (mapc #'end-growing-thread (remove here threads))
      (end-job-first nil)
      (when (member here threads) (end-growing-thread here)))))

(defun too-large-p (growth sum usage size)
  "True when a grower must be ended that has made GROWTH of the SUM that all have, with USAGE of SIZE
octets in use: what all made could not be copied with what is made until then, or one has made more than a
fifth while more than two fifths are in use."
  (or (and (> usage (floor (* 2 size) 5)) (> growth (floor size 5)))
      (and (> growth (floor size 100))
           (> (+ sum (* 2 (sb-ext:bytes-consed-between-gcs))) (- size usage)))))

;;; What is collected

(defun copied-octets ()
  "Return a vector with how much of each generation a collection would have to copy. Large vectors stay where
they are, each on pages of its own."
  (let ((sums (make-array 7 :initial-element 0)))
    (dotimes (generation 7 sums)
      (setf (aref sums generation) (sb-ext:generation-bytes-allocated generation)))))

(defun collectable-generation (usage size)
  "Return the oldest generation that can be collected, with all that are younger, where USAGE of SIZE octets are
in use and as much as is usual will be made before."
  (let ((room (- size usage (* 2 (sb-ext:bytes-consed-between-gcs)))) (sum 0) (oldest 0)
        (octets (copied-octets)))
    (dotimes (generation +generations+ (1- +generations+))
      (incf sum (aref octets generation))
      (when (> sum room) (return oldest))
      (setf oldest generation))))

(defun bound-collections (usage size)
  "See to it that the next collections find room, with USAGE of SIZE octets in use. When it gets tight the young
generation is copied only once, and generations that are too large to be copied are not collected."
  (let* ((tight (> usage (floor size 3)))
         (oldest (if tight (collectable-generation usage size) (1- +generations+))))
    (when (or tight **usual-age**)
      (setf **collectable** oldest)
      (loop for generation from 1 below +generations+
            do (setf (sb-ext:generation-minimum-age-before-gc generation)
                     (if (<= generation oldest) 0.75d0 most-positive-double-float)))
      (cond ((and tight (null **usual-age**))
             (shiftf **usual-age** (sb-ext:generation-number-of-gcs-before-promotion 0) 0))
            ((not tight)
             (shiftf (sb-ext:generation-number-of-gcs-before-promotion 0) **usual-age** nil))))))

(defun collect-bounded (gc &rest arguments &key full (gen 0))
  "Call GC, SBCL's function, as the program does with ARGUMENTS, but for generations that are too large to be
copied: the image would die."
  (if (and **usual-age** (> (if full 6 gen) **collectable**))
      (funcall gc :gen (1+ **collectable**))
      (apply gc arguments)))

(defun guard-heap ()
  "Runs after every garbage collection. Another that comes meanwhile is passed over."
  (let ((usage (sb-kernel:dynamic-usage)) (size (sb-ext:dynamic-space-size)) (end nil))
    (unless (sb-thread:holding-mutex-p **guarding**)
      (sb-thread:with-mutex (**guarding** :wait-p nil)
        (bound-collections usage size)
        (multiple-value-bind (sum largest most) (put-down-growth usage)
          (when (and largest (too-large-p most sum usage size))
            (setf end largest)))))
    (when end (end-grower end))))

(defun watch-memory ()
  "Begin to guard the heap."
  (setf **usage** (sb-kernel:dynamic-usage))
  (sb-int:encapsulate 'sb-thread:make-thread 'live-lisp #'start-thread-for-job)
  (sb-int:encapsulate 'sb-ext:gc 'live-lisp #'collect-bounded)
  (push #'guard-heap sb-ext:*after-gc-hooks*))
