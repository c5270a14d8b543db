;;;; Keeps room for collections. The collector copies live objects, and without room for the copies the image dies. So
;;;; SBCL has three times the heap that the user asked for: a third for live objects, a third for their copies, and the
;;;; rest for what threads allocate while the collecting thread waits for a CPU.

(in-package "LIVE-LISP.GUARD")

;;; Large vectors are never copied: each has pages of its own, which only get new marks.

(sb-ext:defglobal **large-pages-known** nil "True when this SBCL marks pages as LARGE-PAGE-P assumes.")

(defun large-page-p (page)
  "True when the page number PAGE belongs to one large object only."
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
  "True when a collection up to the generation OLDEST would copy live objects on the page number PAGE."
  (and (<= (or (page-slot page +page-generation+) 0) oldest)
       (not (large-page-p page))))

(defun heap-use (&optional (oldest (1- +generations+)))
  "Return how many octets the pages in use have, and how many of them a collection up to the generation OLDEST would
have to copy. Whole pages count: an object that leaves the rest of a page empty does so again in its copy."
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
  "Return the number of octets that are too few to collect garbage for: a thirty-second of the heap. So everything is
collected at most 32 times while the heap fills once."
  (floor **heap-size** 32))

(defun oldest-with-much ()
  "Return the oldest generation that can have much garbage. A live object is copied once for each collected generation
above its own, so collecting empty ones too can take several times as long."
  (or (position (little) (loop for generation below +generations+
                               collect (sb-ext:generation-bytes-allocated generation))
                :test #'< :from-end t)
      0))

(defun collect-up-to (oldest)
  "Collect the generations up to OLDEST."
  ;; SBCL collects the generations younger than :GEN.
  (sb-ext:gc :gen (1+ oldest)))

(defun collect-much ()
  "Collect all generations up to the oldest that can have much garbage."
  (collect-up-to (oldest-with-much)))

(defun collectable-p (oldest)
  "True when there is room for all that a collection up to the generation OLDEST could copy."
  (multiple-value-bind (usage copied) (heap-use oldest)
    (< copied (- (sb-ext:dynamic-space-size) usage))))

(defun collect-what-fits ()
  "Collect as COLLECT-MUCH does, as far as there is room. Collecting the young makes room for collecting the old. Return
true when all was collected."
  ;; Other threads go on while the collecting thread waits for a CPU, and have allocated much by then.
  (loop for oldest = (oldest-with-much)
        for last = -1 then fitting
        for fitting = (position-if #'collectable-p (loop for generation from 0 to oldest collect generation)
                                   :from-end t)
        while (and fitting (< last fitting))
        do (collect-up-to fitting)
        when (= fitting oldest) return t))

(defun bound-nursery (usage)
  "Make the next collection begin before more than half of the room that USAGE octets leave is taken, whatever the
program set. So new objects find room, and so do their copies."
  (setf collection-trigger
        (min collection-trigger
             ;; A MB: SBCL itself takes no less.
             (+ (heap-usage) (max (* 1024 1024) (floor (- **heap-size** usage) 2))))))

(defun set-nursery ()
  "Make collections begin after as much allocation as SBCL takes for a heap of our size: a twentieth of it."
  (setf (sb-ext:bytes-consed-between-gcs) (floor **heap-size** 20)
        ;; Else that would count only from the next collection on.
        collection-trigger (+ (heap-usage) (floor **heap-size** 20))))
