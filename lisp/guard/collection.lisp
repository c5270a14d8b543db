;;;; How much room collections have. The collector copies what lives, and without room for the copies the image dies.
;;;; So SBCL has three times the heap that the user asked for: what lives takes a third at most, its copy as much. The
;;;; rest is for what threads make while the one that shall collect waits for a CPU.

(in-package "LIVE-LISP.GUARD")

;;; Large vectors are never copied: each has pages of its own that are only marked anew.

(sb-ext:defglobal **large-pages-known** nil "True when this SBCL marks pages as LARGE-PAGE-P takes it.")

(defun large-page-p (page)
  "True when the page number PAGE is of one large object only."
  (logtest 16 (or (page-slot page +page-flags+) 0)))

(defun large-pages-known-p ()
  "True when LARGE-PAGE-P is right about a large vector and a small one."
  (flet ((large-p (object)
           (sb-sys:with-pinned-objects (object)
             (large-page-p (page-index (object-address object))))))
    (and (large-p (make-array (* 8 page-octets) :element-type '(unsigned-byte 8)))
         (not (large-p (make-array 8 :element-type '(unsigned-byte 8)))))))

(defun page-used-p (page)
  "True when there is anything on the page number PAGE."
  (< 1 (or (page-slot page +page-words+) 0)))

;; Above these are the objects of SBCL's own core, which are never collected.
(defconstant +generations+ 6 "How many generations are collected.")

(defun copied-page-p (page oldest)
  "True when a collection up to the generation OLDEST would copy what lives on the page number PAGE."
  (and (<= (or (page-slot page +page-generation+) 0) oldest)
       (not (large-page-p page))))

(defun heap-use (&optional (oldest (1- +generations+)))
  "Return how many octets the pages in use have, and how many of those a collection up to the generation OLDEST would
have to copy. An object that leaves the rest of a page empty does so again in its copy, so pages count."
  (let ((used 0) (copied 0))
    (declare (type (unsigned-byte 62) used copied))
    (if **large-pages-known**
        (dotimes (page pages-in-use (values used copied))
          (when (page-used-p page)
            (incf used page-octets)
            (when (copied-page-p page oldest)
              (incf copied page-octets))))
        (values (heap-usage) (heap-usage)))))

(defun little ()
  "Return how many octets are too few to collect garbage for. It is a thirty-second of the heap: while that fills once,
all is collected 32 times at most."
  (floor **heap-size** 32))

(defun oldest-with-much ()
  "Return the oldest generation whose garbage can be much. What lives is copied once for each that is collected after
its own. So to collect the empty ones too can take several times as long."
  (or (position (little) (loop for generation below +generations+
                               collect (sb-ext:generation-bytes-allocated generation))
                :test #'< :from-end t)
      0))

(defun collect-up-to (oldest)
  "Collect the generations up to OLDEST."
  ;; SBCL collects those that are younger than the one that it is told.
  (sb-ext:gc :gen (1+ oldest)))

(defun collect-much ()
  "Collect all generations up to the oldest whose garbage can be much."
  (collect-up-to (oldest-with-much)))

(defun collectable-p (oldest)
  "True when there is room for all that a collection up to the generation OLDEST could copy."
  (multiple-value-bind (usage copied) (heap-use oldest)
    (< copied (- (sb-ext:dynamic-space-size) usage))))

(defun collect-what-fits ()
  "Collect as COLLECT-MUCH does, as far as there is room. What collecting the young frees is room to collect the old.
Return true when all was collected."
  ;; SBCL lets other threads go on while the one that shall collect waits for a CPU. They have made much by then.
  (loop for oldest = (oldest-with-much)
        for last = -1 then fitting
        for fitting = (position-if #'collectable-p (loop for generation from 0 to oldest collect generation)
                                   :from-end t)
        while (and fitting (< last fitting))
        do (collect-up-to fitting)
        when (= fitting oldest) return t))

(defun bound-nursery (usage)
  "See to it that the next collection begins before more than half of the room is taken that USAGE octets leave,
whatever the program set. So what is made until then finds room too, with its copy."
  (setf collection-trigger
        (min collection-trigger
             ;; A MB: SBCL itself takes no less.
             (+ (heap-usage) (max (* 1024 1024) (floor (- **heap-size** usage) 2))))))

(defun set-nursery ()
  "Have collections begin when as much was made as SBCL takes for a heap of our size: a twentieth of it."
  (setf (sb-ext:bytes-consed-between-gcs) (floor **heap-size** 20)
        ;; Else that would count from the next collection on only.
        collection-trigger (+ (heap-usage) (floor **heap-size** 20))))
