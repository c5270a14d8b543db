;;;; Keeps room for garbage collections. The collector copies live objects; without room for the
;;;; copies the image dies. So SBCL has three times the heap that the user asked for: a third for
;;;; live objects, a third for their copies, and a third for what other threads allocate while the
;;;; collecting thread waits for a CPU.

(in-package "LIVE-LISP.GUARD")

;;; The collector never copies a large vector: the vector has pages of its own, and the collector
;;; only moves these pages to another generation.

(sb-ext:defglobal **large-pages-known** nil
  "True when this SBCL marks pages as LARGE-PAGE-P assumes.")

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
  "True when any word on the page number PAGE is in use."
  (< 1 (or (page-slot page +page-words+) 0)))

;; A higher generation has the objects of SBCL's own core, which are never collected.
(defconstant +generations+ 6 "The number of generations that are collected, from 0.")

(defun copied-page-p (page oldest)
  "True when a collection up to the generation OLDEST would copy live objects on the page number
PAGE."
  (and (<= (or (page-slot page +page-generation+) 0) oldest)
       (not (large-page-p page))))

(defun heap-use (&optional (oldest (1- +generations+)))
  "Return the size in octets of the pages in use, and of those that a collection up to the
generation OLDEST could have to copy. Whole pages count: an object that leaves the rest of its page
empty does so in the copy too."
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
  "Return a thirty-second of the heap in octets. Less garbage than that is not worth a collection,
so that everything is collected at most 32 times while the heap fills once."
  (floor **heap-size** 32))

(defun oldest-with-much ()
  "Return the oldest generation that can have more garbage than LITTLE. A live object is copied once
for each collected generation above its own, so collecting empty generations too can take several
times as long."
  (or (position (little) (loop for generation below +generations+
                               collect (sb-ext:generation-bytes-allocated generation))
                :test #'< :from-end t)
      0))

(defun collect-up-to (oldest)
  "Collect the garbage in the generations from 0 to OLDEST."
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
  "Collect as COLLECT-MUCH does, as far as there is room for the copies. Collecting young
generations first makes room for collecting old ones. Return true when all were collected."
  ;; OLDEST is determined again for each collection: other threads can allocate much while this one
  ;; waits for a CPU.
  (loop for oldest = (oldest-with-much)
        for last = -1 then fitting
        for fitting = (position-if #'collectable-p
                                   (loop for generation from 0 to oldest collect generation)
                                   :from-end t)
        while (and fitting (< last fitting))
        do (collect-up-to fitting)
        when (= fitting oldest) return t))

(defun bound-nursery (usage)
  "Make the next collection begin before new objects fill more than half of the heap that USAGE
octets leave, whatever nursery size the program set: the other half is for the copies."
  (setf collection-trigger
        (min collection-trigger
             ;; At least a MB: SBCL itself takes no less.
             (+ (heap-usage) (max (* 1024 1024) (floor (- **heap-size** usage) 2))))))

(defun set-nursery ()
  "Make each collection begin after a twentieth of the heap that the user asked for was allocated.
SBCL by itself takes a twentieth of the whole heap."
  (setf (sb-ext:bytes-consed-between-gcs) (floor **heap-size** 20)
        ;; Otherwise the new size would hold only from the next collection on.
        collection-trigger (+ (heap-usage) (floor **heap-size** 20))))
