;;;; How much room collections have. The collector copies what lives, and without room for the copies the image dies.
;;;; So SBCL has twice the heap that the user asked for: what lives takes one half at most.

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

(defun copied-page-p (page)
  "True when a collection of all would copy what lives on the page number PAGE."
  (not (or (large-page-p page)
           (<= +generations+ (or (page-slot page +page-generation+) 0)))))

(defun heap-use ()
  "Return how many octets the pages in use have, and how many of those a collection of all would have to copy. An
object that leaves the rest of a page empty does so again in its copy, so pages count."
  (let ((used 0) (copied 0))
    (declare (type (unsigned-byte 62) used copied))
    (if **large-pages-known**
        (dotimes (page pages-in-use (values used copied))
          (when (page-used-p page)
            (incf used page-octets)
            (when (copied-page-p page)
              (incf copied page-octets))))
        (values (heap-usage) (heap-usage)))))

(defun little ()
  "Return how many octets are too few to collect garbage for. It is a thirty-second of the heap: while that fills once,
all is collected 32 times at most."
  (floor **heap-size** 32))

(defun collect-much ()
  "Collect all generations up to the oldest whose garbage can be much. What lives is copied once for each that is
collected after its own. So to collect the empty ones too can take several times as long."
  (let ((oldest (position (little) (loop for generation below +generations+
                                         collect (sb-ext:generation-bytes-allocated generation))
                          :test #'< :from-end t)))
    ;; SBCL collects those that are younger than the one that it is told.
    (sb-ext:gc :gen (1+ (or oldest 0)))))

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
