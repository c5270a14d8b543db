;;;; What is collected when the heap gets full. The collector copies what lives, so it needs as much room
;;;; again as it collects, and when it finds none the image dies. So what is too large to be copied is not
;;;; collected.

(in-package "LIVE-LISP.GUARD")

;; Above these are the objects of SBCL's own core, which are never collected.
(defconstant +generations+ 6 "How many generations are collected.")

(sb-ext:defglobal **collectable** (1- +generations+)
  "The oldest generation that the next collection can take by itself.")

(sb-ext:defglobal **usual** nil
  "While it is tight, what is set otherwise then: how often the youngest generation is collected before it gets
older, and how much is made between two collections.")

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

(defun count-pages ()
  "Return how many octets the pages in use have, and a vector with how many of each generation a collection would have
to copy. An object that leaves the rest of a page empty does so again where it is copied to, so pages count."
  (let ((used 0) (octets (make-array +generations+ :initial-element 0)))
    (declare (type (unsigned-byte 62) used))
    (dotimes (page pages-in-use)
      (when (page-used-p page)
        (incf used page-octets)
        (let ((generation (page-slot page +page-generation+)))
          (unless (or (large-page-p page) (not (< -1 generation +generations+)))
            (incf (aref octets generation) page-octets)))))
    (values used octets)))

(defun heap-use ()
  "Return how many octets of the heap are in use and, unless that is little, a vector with how many of each generation a
collection would have to copy."
  (let ((usage (heap-usage)))
    (cond ((<= usage (floor (sb-ext:dynamic-space-size) 6)) usage)
          (**large-pages-known** (count-pages))
          (t (let ((octets (make-array +generations+)))
               (dotimes (generation +generations+ (values usage octets))
                 (setf (aref octets generation) (sb-ext:generation-bytes-allocated generation))))))))

;;; How far collections go

(defun collectable-generation (copied room)
  "Return the oldest generation that can be collected, with all that are younger, when there is ROOM for what
of COPIED, what each has, lives."
  (let ((sum 0) (oldest 0))
    (dotimes (generation +generations+ oldest)
      (incf sum (aref copied generation))
      (when (> sum room) (return oldest))
      (setf oldest generation))))

(defun collectable-now ()
  "Return the oldest generation that could be collected now. Copying leaves pages partly empty."
  (multiple-value-bind (usage copied) (heap-use)
    (if copied
        (collectable-generation copied (floor (* 4 (- (sb-ext:dynamic-space-size) usage)) 5))
        (1- +generations+))))

(sb-ext:defglobal **settling** nil "True while what has survived its jobs is made old.")

(defun set-oldest-collected (oldest)
  "Let the next collection take the generations up to OLDEST by itself, and none that is older. What survives there is
not moved into one that cannot be collected, of which it would become a part for good; but the youngest is, or it would
be copied again and again."
  (unless (= oldest **collectable**)
    (loop for generation from 1 below +generations+
          do (setf (sb-ext:generation-minimum-age-before-gc generation)
                   (if (<= generation oldest) 0.75d0 most-positive-double-float)))
    (setf **collectable** oldest))
  (setf oldest-collected (if **settling** (1- +generations+) (max 1 oldest))))

(sb-ext:defglobal **largest** 0 "The octets of the last object that was large for this heap.")
(sb-ext:defglobal **extends** nil
  "True when that was to take the place of another, as of a vector that is pushed to: the next can be twice as large.")

(defun note-largest (octets)
  "Note that the largest object since the last collection has OCTETS."
  (when (> octets (floor (sb-ext:dynamic-space-size) 64))
    (setf **extends** (<= (floor (* 5 **largest**) 4) octets (floor (* 5 **largest**) 2))
          **largest** octets)))

(defun bound-next-collection ()
  "Runs before every collection: one vector can have taken half of the heap since the last."
  (handler-case
      (let ((oldest (collectable-now)))
        (set-oldest-collected oldest)
        (note-largest (or large-object-octets 0))
        ;; After a large vector was made the collector takes one generation more, whatever its age.
        (when (zerop oldest)
          (setf large-object-octets 0)))
    (serious-condition () nil)))

(defun set-pace (age nursery)
  "Let the youngest generation be collected AGE times before it gets older, and a collection begin when NURSERY
octets were made."
  (setf (sb-ext:generation-number-of-gcs-before-promotion 0) age
        (sb-ext:bytes-consed-between-gcs) nursery)
  ;; Else that would count from the next collection on only.
  (setf collection-trigger (+ (heap-usage) nursery)))

(defun tighten (room)
  "Have the young generation copied only once, and before it is large, as there is little ROOM: each thread can make as
much as one alone before the world stops."
  (unless **usual**
    (setf **usual** (list (sb-ext:generation-number-of-gcs-before-promotion 0)
                          (sb-ext:bytes-consed-between-gcs))))
  (set-pace 0 (max 1000000 (min (second **usual**)
                                (floor room (* 4 (length (sb-thread:list-all-threads))))))))

(defun loosen ()
  "Let the young generation be collected as usual again."
  (when **usual**
    (apply #'set-pace (shiftf **usual** nil))))

(defun bound-collections (room copied)
  "See to it that the next collections find ROOM when COPIED is what each generation would have to copy, or NIL for
little. When that is much, or ROOM is not, the young generation is copied only once, and before it is large."
  (if (and copied
           (or (> (reduce #'+ copied) (floor room 4))
               (< room (* 4 (or (second **usual**) (sb-ext:bytes-consed-between-gcs))))))
      (tighten room)
      (loosen)))

(defun collect-bounded (gc &rest arguments &key full (gen 0))
  "Call GC, SBCL's function, as the program does with ARGUMENTS, but no further than there is room to copy: what that
frees can be room for more."
  (flet ((collect (&rest arguments)
           ;; Calls of the program do not come by where those of the runtime do.
           (bound-next-collection)
           (apply gc arguments)))
    (loop with wanted = (if full (1- +generations+) (min gen (1- +generations+)))
          for before = -1 then oldest
          for oldest = (collectable-now)
          do (when (>= oldest wanted) (return (apply #'collect arguments)))
          while (> oldest before)
          do (collect :gen (1+ oldest)))))

(defun settle ()
  "Before a job that is the only one, while there is little room, make what is young old: with what the job makes it
would have to be copied, and soon that could not be collected either."
  (when (and **usual** (= 1 (hash-table-count **jobs**)))
    (let ((octets (nth-value 1 (heap-use))))
      (when (and octets (> (+ (aref octets 0) (aref octets 1)) (floor (sb-ext:dynamic-space-size) 32)))
        (setf **settling** t)
        (unwind-protect (sb-ext:gc :gen 2)
          (setf **settling** nil))))))
