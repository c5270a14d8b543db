;;;; Counts the objects in the heap by class, and compares two such counts. COUNT-HEAP collects
;;;; garbage and counts. HEAP-DATA compares.

(in-package "LIVE-LISP.OBSERVE")

(define-shape counted-class ()
  "A class with its instances in the heap."
  (name string) (count integer) (octets integer)
  (more integer "How many more instances there are than in the previous count.")
  (more-octets integer "How many more octets the instances take than in the previous count."))

(define-shape counted-heap ()
  "The objects in the heap, by class."
  (octets integer "Octets of all objects that were counted.")
  (count integer "The number of these objects.")
  (more-octets integer "How many more octets there are than in the previous count.")
  (since real :optional "Seconds since the previous count; absent in the first count.")
  (rows (list counted-class) :optional
   "The classes that grew most or, in the first count, the largest classes.")
  (found integer "The number of classes that changed or, in the first count, that have instances."))

(defstruct (heap-count (:constructor make-heap-count (classes size)))
  "A count of the objects in the heap.
CLASSES: a hash table from classes to indexes in COUNTS and OCTETS. Index 0 is for objects of
classes that are not in the table.
SIZE: the length of COUNTS and OCTETS.
COUNTS, OCTETS: vectors of the numbers of objects, and of the octets that they take.
TIME: the internal real time of the count."
  classes size
  (counts (make-array size :element-type 'fixnum :initial-element 0)
   :type (simple-array fixnum (*)))
  (octets (make-array size :element-type 'fixnum :initial-element 0)
   :type (simple-array fixnum (*)))
  (time (get-internal-real-time)))

(sb-ext:defglobal **last-heap-count** nil
  "The newest HEAP-COUNT, or NIL. It keeps classes alive, but no instances.")

(defun empty-heap-count ()
  "Return a HEAP-COUNT structure for all existing classes, with all counts 0."
  (let ((classes (make-hash-table :test 'eq)) (index 0))
    (dolist (class (classes-below (find-class t)))
      (setf (gethash class classes) (incf index)))
    (make-heap-count classes (1+ index))))

(defun program-class-p (class)
  "Return true if CLASS belongs to the program."
  (let* ((name (class-name class)) (home (and (symbolp name) (symbol-package name))))
    (not (and home (or (backend-package-p home) (core-package-p home))))))

(defun walk-into (heap-count)
  "Count in HEAP-COUNT, a HEAP-COUNT structure, the objects that have survived the last garbage
collection. Return NIL if the heap is too large."
  (let* ((classes (heap-count-classes heap-count))
         (prototypes (prototypes (remove-if-not #'program-class-p
                                                (classes-below (find-class t)))))
         (counts (heap-count-counts heap-count))
         (octets (heap-count-octets heap-count))
         ;; Objects that other threads have allocated since the collection are in the youngest
         ;; generation. Leave this generation out. But if the table CLASSES is in it too, it also
         ;; has the older objects, so leave nothing out.
         (young (if (plusp (generation classes)) 0 -1)))
    (walk-heap (lambda (object type size)
                 (declare (ignore type))
                 (unless (or (eql young (generation object)) (gethash object prototypes))
                   (let ((index (gethash (class-of object) classes 0)))
                     (incf (aref counts index))
                     (incf (aref octets index) size)))))))

(defun count-heap ()
  "Collect garbage, and return a HEAP-COUNT of the remaining objects. If the heap is too large to be
walked, end the operation with an error answer."
  ;; SBCL signals an error when another thread allocates in the memory being walked. Then try again.
  (loop for tries from 1
        for result = (empty-heap-count)
        for walked = (progn (collect-garbage)
                            (handler-case (if (walk-into result) :whole :too-large)
                              (error (condition) (when (= tries 20) (error condition)))))
        do (ecase walked
             (:whole (return (setf **last-heap-count** result)))
             (:too-large (fail-lookup "largeHeap" t))
             ((nil)))))

(defun shown-class-p (class package)
  "Return true if CLASS is to be listed in the answer. If PACKAGE is not NIL, CLASS must be a class
of PACKAGE. Else CLASS must belong to the program or to COMMON-LISP, or be neither a structure class
nor a standard class."
  (let* ((name (class-name class)) (home (and (symbolp name) (symbol-package name))))
    (cond (package (eq home package))
          ((program-class-p class))
          (t (or (eq home (find-package "COMMON-LISP"))
                 (not (typep class '(or structure-class standard-class))))))))

(defstruct (class-count (:constructor make-class-count (class count octets more more-octets)))
  "The COUNT of the instances of CLASS and their size in OCTETS. MORE and MORE-OCTETS are the
differences to the same numbers in an earlier HEAP-COUNT."
  class count octets more more-octets)

(defun class-counts (now before package)
  "Return a list of CLASS-COUNT structures for the classes in NOW, a HEAP-COUNT, with the
differences to BEFORE, an earlier HEAP-COUNT or NIL. Leave out classes without a difference or, if
BEFORE is NIL, without instances. Include only classes of PACKAGE. If PACKAGE is NIL, include the
classes of the program and the classes that programs use."
  (loop for class being the hash-keys of (heap-count-classes now) using (hash-value index)
        for old = (and before (gethash class (heap-count-classes before)))
        for count = (aref (heap-count-counts now) index)
        for octets = (aref (heap-count-octets now) index)
        for more = (- count (if old (aref (heap-count-counts before) old) 0))
        for more-octets = (- octets (if old (aref (heap-count-octets before) old) 0))
        unless (or (and (zerop more) (zerop more-octets)) (not (shown-class-p class package)))
          collect (make-class-count class count octets more more-octets)))

(defun heap-data (now before package limit)
  "Return a JSON object with the numbers of NOW, a HEAP-COUNT, and the differences to BEFORE, an
earlier HEAP-COUNT or NIL. Include at most LIMIT of the CLASS-COUNTS in PACKAGE."
  (flet ((total (heap-count) (if heap-count (reduce #'+ (heap-count-octets heap-count)) 0)))
    (let ((rows (stable-sort (sort (class-counts now before package) #'>
                                   :key #'class-count-more-octets)
                             (lambda (one other) (and (program-class-p one)
                                                      (not (program-class-p other))))
                             :key #'class-count-class)))
      (object "octets" (total now)
              "count" (reduce #'+ (heap-count-counts now))
              "moreOctets" (- (total now) (total before))
              "since" (and before
                           (/ (float (- (heap-count-time now) (heap-count-time before)))
                              internal-time-units-per-second))
              "rows" (loop for row in (page rows 0 limit)
                           collect (object "name" (class-text (class-count-class row))
                                           "count" (class-count-count row)
                                           "octets" (class-count-octets row)
                                           "more" (class-count-more row)
                                           "moreOctets" (class-count-more-octets row)))
              "found" (length rows)))))
