;;;; Keeps room for garbage collections. The collector copies live objects, and without room for the
;;;; copies the image ends. So the server starts its own image with three times the heap that the
;;;; user asked for: a third for live objects, a third for their copies, and a third for objects
;;;; that other threads allocate while the collecting thread waits for a CPU. An image that somebody
;;;; else runs has the heap that it was started with: there, half of it is for live objects.

(in-package "LIVE-LISP.GUARD")

;;; The collector never copies a large vector. Such a vector has pages of its own, and the collector
;;; only moves these pages to another generation.

(sb-ext:defglobal **large-pages-known** nil
  "True if this SBCL marks the pages of large objects with +LARGE-PAGE+.")

(defconstant +large-page+ 16 "The flag of a heap page that belongs to a single large object.")

(defun large-page-p (page)
  "Return true if the heap page with number PAGE belongs to a single large object."
  (logtest +large-page+ (or (page-slot page +page-flags+) 0)))

(defun large-pages-known-p ()
  "Return true if LARGE-PAGE-P returns true for a page of a large vector and false for that of a
small one."
  (flet ((large-p (object)
           (sb-sys:with-pinned-objects (object)
             (large-page-p (page-index (object-address object))))))
    (and (large-p (make-array (* 8 page-octets) :element-type '(unsigned-byte 8)))
         (not (large-p (make-array 8 :element-type '(unsigned-byte 8)))))))

(defun page-used-p (page)
  "Return true if any word on the heap page with number PAGE is in use."
  (< 1 (or (page-slot page +page-words+) 0)))

;; Higher generations have the objects of SBCL's own core, which are never collected.
(defconstant +generations+ 6
  "The number of generations that can be collected. They are numbered from 0.")

(defun copied-page-p (page oldest)
  "Return true if a collection of the generations up to OLDEST, a number, would copy the live
objects on the heap page with number PAGE."
  (and (<= (or (page-slot page +page-generation+) 0) oldest)
       (not (large-page-p page))))

(defun heap-use (&optional (oldest (1- +generations+)))
  "Return two numbers of octets: the size of all heap pages in use, and the size of those whose
objects a collection of the generations up to OLDEST, a number, might copy. Count whole pages, even
if they are only partly used, because a page that gets the copies may be only partly used too."
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
  "Return the smallest number of octets of garbage that is worth a collection: a thirty-second of
**HEAP-SIZE**. So everything is collected at most 32 times while the heap fills once."
  (floor **heap-size** 32))

(defun oldest-with-much ()
  "Return the number of the oldest generation that has more octets than the result of LITTLE. Return
0 if there is none. To collect older generations too would free little, and could take several times
as long, because SBCL then copies an object once for each generation."
  (or (position (little) (loop for generation below +generations+
                               collect (sb-ext:generation-bytes-allocated generation))
                :test #'< :from-end t)
      0))

(defun collect-up-to (oldest)
  "Collect the garbage in the generations from 0 to OLDEST, a number."
  ;; SB-EXT:GC collects the generations younger than the value of :GEN.
  (sb-ext:gc :gen (1+ oldest)))

(defun collect-much ()
  "Collect the garbage in the generations from 0 to the result of OLDEST-WITH-MUCH. To collect older
ones would free little."
  (collect-up-to (oldest-with-much)))

(defun collectable-p (oldest)
  "Return true if the heap has room for everything that a collection of the generations up to
OLDEST, a number, might copy."
  (multiple-value-bind (usage copied) (heap-use oldest)
    (< copied (- (sb-ext:dynamic-space-size) usage))))

(defun collect-what-fits ()
  "Collect the generations that COLLECT-MUCH would collect. If there is no room for copies of their
live objects, collect younger generations first to make room. Return true if all of them were
collected in the end."
  ;; Determine OLDEST anew for each collection: other threads can allocate much while this one waits
  ;; for a CPU.
  (loop for oldest = (oldest-with-much)
        for last = -1 then fitting
        for fitting = (position-if #'collectable-p
                                   (loop for generation from 0 to oldest collect generation)
                                   :from-end t)
        while (and fitting (< last fitting))
        do (collect-up-to fitting)
        when (= fitting oldest) return t))

(defun bound-nursery (usage)
  "Make the next collection begin when new objects have filled half of the free part of the heap, or
earlier if the program has set an earlier collection. The collector copies the new objects into the
other half. USAGE is the number of octets in use."
  (setf collection-trigger
        (min collection-trigger
             ;; Use at least a MB, because SBCL itself uses no less.
             (+ (heap-usage) (max (* 1024 1024) (floor (- **heap-size** usage) 2))))))

(defun set-nursery ()
  "Make a collection begin after each allocation of a twentieth of **HEAP-SIZE**. By default SBCL
waits for a twentieth of its whole heap, which is three times as large as **HEAP-SIZE**."
  (setf (sb-ext:bytes-consed-between-gcs) (floor **heap-size** 20)
        ;; Set the trigger too. SBCL uses the new size only after the next collection.
        collection-trigger (+ (heap-usage) (floor **heap-size** 20))))
