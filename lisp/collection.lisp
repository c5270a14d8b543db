;;;; What is collected when the heap gets full. The collector copies what lives, so it needs as much room
;;;; again as it collects, and when it finds none the image dies. So what is too large to be copied is not
;;;; collected.

(in-package "LIVE-LISP.AGENT")

;; Above these are the objects of SBCL's own core, which are never collected.
(defconstant +generations+ 6 "How many generations are collected.")

(sb-ext:defglobal **collectable** (1- +generations+)
  "The oldest generation that the next collection can take by itself.")

(sb-ext:defglobal **usual** nil
  "While it is tight, what is set otherwise then: how often the youngest generation is collected before it gets
older, and how much is made between two collections.")

;;; Large vectors are never copied: each has pages of its own that are only marked anew.

(sb-ext:defglobal **large-pages-known** nil "True when this SBCL marks pages as LARGE-PAGE-P takes it.")

(defmacro page-slot (page slot)
  "Return SLOT, the name of one, of the page number PAGE; NIL where this SBCL's table of pages is another."
  (let ((table (internal-symbol "SB-VM" "PAGE-TABLE")) (slot (internal-symbol "SB-VM" slot)))
    (and table slot (internal-symbol "SB-VM" "WORDS-USED*")
         `(sb-alien:slot (sb-alien:deref ,table ,page) ',slot))))

(defmacro page-count ()
  "Return how many pages are in use, or 0 where this SBCL does not tell."
  (or (internal-symbol "SB-VM" "NEXT-FREE-PAGE") 0))

(defun large-page-p (page)
  "True when the page number PAGE is of one large object only."
  (logtest 16 (or (page-slot page "FLAGS") 0)))

(defun large-pages-known-p ()
  "True when LARGE-PAGE-P is right about a large vector and a small one."
  (flet ((large-p (object)
           (sb-sys:with-pinned-objects (object)
             (large-page-p (internal-call ("SB-VM" "FIND-PAGE-INDEX")
                                          ((sb-kernel:get-lisp-obj-address object)) 0)))))
    (and (large-p (make-array (* 8 sb-vm:gencgc-page-bytes) :element-type '(unsigned-byte 8)))
         (not (large-p (make-array 8 :element-type '(unsigned-byte 8)))))))

(defun copied-octets ()
  "Return a vector with how much of each generation a collection would have to copy."
  (let ((octets (make-array +generations+)))
    (dotimes (generation +generations+)
      (setf (aref octets generation) (sb-ext:generation-bytes-allocated generation)))
    (when **large-pages-known**
      (dotimes (page (page-count))
        (let ((generation (page-slot page "GEN")))
          (when (and (large-page-p page) (< -1 generation +generations+))
            (decf (aref octets generation) sb-vm:gencgc-page-bytes)))))
    (map-into octets (lambda (size) (max size 0)) octets)))

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
  (let ((size (sb-ext:dynamic-space-size)) (usage (sb-kernel:dynamic-usage)))
    (if (<= usage (floor size 3))
        (1- +generations+)
        (collectable-generation (copied-octets) (floor (* 4 (- size usage)) 5)))))

(defun set-oldest-collected (oldest)
  "Let the next collection take the generations up to OLDEST by itself, and none that is older."
  (unless (= oldest **collectable**)
    (loop for generation from 1 below +generations+
          do (setf (sb-ext:generation-minimum-age-before-gc generation)
                   (if (<= generation oldest) 0.75d0 most-positive-double-float)))
    (setf **collectable** oldest))
  ;; After a large vector was made the collector takes one generation more, whatever its age.
  (when (and (zerop oldest) (sb-sys:find-foreign-symbol-address "large_allocation"))
    (setf (sb-alien:extern-alien "large_allocation" sb-alien:unsigned-long) 0)))

(defun bound-next-collection ()
  "Runs before every collection: one vector can have taken half of the heap since the last."
  (ignore-errors (set-oldest-collected (collectable-now))))

(defun set-pace (age nursery)
  "Let the youngest generation be collected AGE times before it gets older, and a collection begin when NURSERY
octets were made."
  (setf (sb-ext:generation-number-of-gcs-before-promotion 0) age
        (sb-ext:bytes-consed-between-gcs) nursery)
  ;; Else that would count from the next collection on only.
  (when (sb-sys:find-foreign-symbol-address "auto_gc_trigger")
    (setf (sb-alien:extern-alien "auto_gc_trigger" sb-alien:unsigned-long)
          (+ (sb-kernel:dynamic-usage) nursery))))

(defun tighten (room)
  "Have the young generation copied only once, and before it is large, as there is little ROOM."
  (unless **usual**
    (setf **usual** (list (sb-ext:generation-number-of-gcs-before-promotion 0)
                          (sb-ext:bytes-consed-between-gcs))))
  (set-pace 0 (max 1000000 (min (second **usual**) (floor room 4)))))

(defun loosen ()
  "Let the young generation be collected as usual again."
  (when **usual**
    (apply #'set-pace (shiftf **usual** nil))))

(defun bound-collections (usage size)
  "See to it that the next collections find room, with USAGE of SIZE octets in use. When much must be copied the young
generation is copied only once, and before it is large. Return how many octets of all, or USAGE, are copied."
  (if (<= usage (floor size 3))
      (progn (loosen) usage)
      (let* ((copied (copied-octets)) (sum (reduce #'+ copied)))
        (if (> sum (floor (- size usage) 2))
            (tighten (- size usage))
            (loosen))
        sum)))

;;; What lives, where there is no room to copy all that could

(defun sweep-garbage (gc)
  "Have GC, SBCL's function, overwrite all garbage where it is; that frees no memory. Return whether it was done: the
marking takes its queue from the pages above all that are in use, and ends the image when they do not suffice."
  (let* ((pages (floor (sb-ext:dynamic-space-size) sb-vm:gencgc-page-bytes)) (free (- pages (page-count)))
         (oldest (internal-value ("SB-VM" "+PSEUDO-STATIC-GENERATION+"))))
    (when (and oldest **large-pages-known** (> free (floor pages 32)))
      (call-unlimited gc :gen (1+ oldest))
      t)))

(defun copied-page-p (address)
  "True when a collection would copy what is at ADDRESS."
  (let ((page (internal-call ("SB-VM" "FIND-PAGE-INDEX") (address) -1)))
    (and (<= 0 page)
         (< -1 (page-slot page "GEN") +generations+)
         (not (large-page-p page)))))

(defun living-octets ()
  "Return how much a collection would have to copy, once the garbage is overwritten: with zeros, or ones in a cons."
  (let ((living 0))
    (declare (type (unsigned-byte 62) living))
    (internal-call ("SB-VM" "MAP-ALLOCATED-OBJECTS")
                   ((lambda (object type size)
                      (declare (ignore type) (type (unsigned-byte 62) size))
                      (let* ((address (logandc2 (sb-kernel:get-lisp-obj-address object) sb-vm:lowtag-mask))
                             (word (sb-sys:sap-ref-word (sb-sys:int-sap address) 0))
                             (next (sb-sys:sap-ref-word (sb-sys:int-sap address) sb-vm:n-word-bytes)))
                        (unless (and (= word next) (member word '(0 #.(1- (expt 2 sb-vm:n-word-bits)))))
                          (when (copied-page-p address) (incf living size)))))
                    :dynamic))
    living))

(defun living-fit-p ()
  "True when there is room to copy what lives, once the garbage is overwritten."
  (< (living-octets)
     (floor (* 4 (- (sb-ext:dynamic-space-size) (sb-kernel:dynamic-usage))) 5)))

(defun collect-bounded (gc &rest arguments &key full (gen 0))
  "Call GC, SBCL's function, as the program does with ARGUMENTS, but no further than there is room to copy: what that
frees can be room for more, and when it is not, what lives is found out."
  (loop with wanted = (if full (1- +generations+) (min gen (1- +generations+)))
        for before = -1 then oldest
        for oldest = (collectable-now)
        do (when (>= oldest wanted) (return (apply gc arguments)))
        while (> oldest before)
        do (funcall gc :gen (1+ oldest))
        finally (when (and (sweep-garbage gc) (living-fit-p))
                  (apply gc arguments))))
