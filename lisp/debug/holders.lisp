;;;; The operation holders: finds what keeps an object alive. WALK goes through all objects that the
;;;; program can reach, the nearest first, and PATH-TO returns the way to one of them. Nothing here
;;;; looks at the memory of other threads or walks the heap, so other threads continue meanwhile.
;;;; What the agent itself refers to is never reached: its symbols are no roots, and its structures
;;;; are not looked into.

(in-package "LIVE-LISP.DEBUG")

(defparameter *walk-limit* 3000000 "The maximum number of objects to go through.")

(defun walk-object-limit ()
  "Return the maximum number of objects that a walk can visit with the free room of the heap."
  ;; Each object takes about 90 octets of a table while that grows.
  (max 0 (min *walk-limit* (floor (- **heap-size** (heap-usage)) 150))))

(defstruct (thread-root (:constructor make-thread-root (thread symbol)))
  "A place in which the thread named THREAD refers to objects: its binding of SYMBOL or, if SYMBOL
is NIL, its stack."
  thread symbol)

;;; The references of one object

(defun map-slots (visit object)
  "Call the function VISIT with the value, the keyword :SLOT and the name of each slot of OBJECT
that can be read without running code of the program."
  (loop for (name . value) in (all-slots object)
        do (funcall visit value :slot name)))

(defun map-table (visit table)
  "Call the function VISIT with each key, or value, that the hash table TABLE keeps alive, and two
more arguments: :KEY, or :VALUE-OF, and the key."
  (let ((weakness (sb-ext:hash-table-weakness table)))
    (maphash (lambda (key value)
               (when (member weakness '(nil :value)) (funcall visit key :key key))
               (when (member weakness '(nil :key :key-or-value))
                 (funcall visit value :value-of key)))
             table)))

(defun map-function (visit function)
  "Call VISIT with each object to which FUNCTION refers: methods, values closed over and constants."
  (cond ((typep function 'generic-function)
         (dolist (method (sb-mop:generic-function-methods function))
           (funcall visit method :method nil))
         (map-slots visit function))
        (t (when (closure-p function)
             (dolist (value (closed-over function)) (funcall visit value :closed-over nil)))
           (let ((code (code-of function)))
             (when code (funcall visit code :code nil))))))

(defun map-symbol (visit symbol)
  "Call the function VISIT with three arguments, as MAP-REFERENCES does, for the global value, the
functions, the class and the property list of SYMBOL."
  (when (boundp symbol)
    (funcall visit (global-value-of symbol) :variable symbol))
  (when (fboundp symbol)
    (funcall visit (or (macro-function symbol) (plain-definition symbol)) :function symbol))
  (let ((setter (list 'setf symbol)))
    (when (fboundp setter) (funcall visit (plain-definition setter) :function setter)))
  (let ((class (find-class symbol nil)))
    (when class (funcall visit class :class symbol)))
  (funcall visit (symbol-plist symbol) :plist symbol))

(defun map-references (visit object)
  "Call VISIT with each object that OBJECT keeps alive, a keyword for the kind of reference, and a
detail that identifies the reference among those of its kind, such as an index."
  (flet ((pass (value kind &optional detail) (funcall visit value kind detail)))
    (typecase object
      (cons (pass (car object) :element) (pass (cdr object) :rest))
      (symbol (map-symbol visit object))
      (hash-table (map-table visit object))
      (array (when (eq t (array-element-type object))
               (dotimes (index (array-total-size object))
                 (pass (row-major-aref object index) :index index))))
      (function (map-function visit object))
      (code (map-constants (lambda (constant) (pass constant :constant)) object))
      (method (dolist (specializer (sb-mop:method-specializers object))
                (when (typep specializer 'sb-mop:eql-specializer)
                  (pass (sb-mop:eql-specializer-object specializer) :specializer)))
              (pass (method-function object) :slot "FUNCTION"))
      ((or standard-object structure-object condition) (map-slots visit object))
      (t (when (value-cell-p object) (pass (cell-value object) :cell))))))

(defun holding-p (object)
  "True when OBJECT can keep others alive. Return false for symbols with a package, because they are
roots; for EQL specializers, because MAP-REFERENCES visits their objects from the methods; and for
objects of the agent."
  (typecase object
    (symbol (null (symbol-package object)))
    ((or package pathname sb-mop:eql-specializer) nil)
    (array (eq t (array-element-type object)))
    (structure-object (let ((type (type-of object)))
                        (not (and (symbolp type) (agent-package-p (symbol-package type))))))
    ((or cons function standard-object condition code) t)
    ;; Markers, which are elements of some vectors of SBCL, cannot be keys of a hash table.
    (t (value-cell-p object))))

;;; The roots

(defun map-root-symbols (visit system)
  "Call the function VISIT with each symbol that is a root: the symbols in packages of the program
or, if SYSTEM is true, in those of SBCL. Variables such as * that keep values of a REPL are no
roots."
  (map-packages
   (lambda (package)
     (when (and (not (agent-package-p package))
                (eq system (and (sb-ext:package-locked-p package) t)))
       (do-symbols (symbol package)
         (when (and (eq package (symbol-package symbol))
                    (not (member symbol '(* ** *** / // /// + ++ +++ -))))
           (funcall visit symbol)))))))

(defun bound-here (symbols)
  "Return a list of (SYMBOL . VALUE) pairs for those of SYMBOLS that have a binding in this thread."
  (loop for symbol in symbols
        when (and (boundp symbol)
                  (not (eq (symbol-value symbol)
                           (global-value-of symbol))))
          collect (cons symbol (symbol-value symbol))))

(defun stack-objects ()
  "Return a list of the objects to which words on the stack of this thread point. A word can be left
from a call that has returned, as for the garbage collector."
  (let ((objects '()))
    (close-region)
    (stack-words (lambda (word)
                   (multiple-value-bind (object valid) (word-object word nil)
                     (when valid (push object objects)))))
    objects))

(defun root-threads ()
  "Return a list of the threads of the program, whose stacks and bindings are roots."
  (let ((threads (sb-thread:list-all-threads)))
    (append (program-threads threads)
            ;; In our own image the main thread runs nothing but the agent.
            (and **attached** (not (eq sb-thread:*current-thread* (sb-thread:main-thread)))
                 (list (sb-thread:main-thread))))))

(defun thread-references ()
  "Return two lists: (ROOT . OBJECT) pairs of a THREAD-ROOT structure and an object to which it
refers, and the threads that did not answer."
  (let ((symbols '()))
    (map-root-symbols (lambda (symbol) (when (boundp symbol) (push symbol symbols))) nil)
    (multiple-value-bind (answers silent)
        (asked-threads (root-threads) (lambda () (cons (stack-objects) (bound-here symbols))))
      (values (loop for (thread objects . bound) in answers
                    for name = (short-thread-name thread)
                    for stack = (make-thread-root name nil)
                    append (loop for (symbol . value) in bound
                                 collect (cons (make-thread-root name symbol) value))
                    append (loop for object in objects collect (cons stack object)))
              silent))))

;;; The walk

(defstruct (walk (:constructor make-walk (wanted &optional many)))
  "A search, breadth first, through the objects of the program.
WANTED: a predicate for the objects that are searched for.
MANY: true if these can be many, so that each counts once. Else WANTED is for one object, and each
reference to it counts.
FROM: a hash table from each object that was reached to what refers to it: an object, a symbol with
a package or a THREAD-ROOT.
HITS: a list of (OBJECT . HOLDER) pairs, newest first: a wanted object, and what refers to it.
QUEUE: a vector of the objects that were reached, the nearest first. NEXT: the index in QUEUE of the
next object whose references are followed.
LIMIT: the maximum number of objects. FULL: true once there were more."
  wanted many (from (make-hash-table :test 'eq)) (hits '()) (next 0) full
  (limit (walk-object-limit))
  (queue (make-array 1000 :adjustable t :fill-pointer 0)))

(defun named-class-p (object)
  "True when OBJECT is a class that FIND-CLASS finds by its name. A walk enters such a class only
from a symbol. Otherwise the walk would go from each class, over superclasses and subclasses, to all
other classes."
  (and (typep object 'class) (eq object (find-class (class-name object) nil))))

(defun reach (walk parent object)
  "Record in WALK, a WALK structure, that PARENT refers to OBJECT."
  (let ((from (walk-from walk)) (wanted (funcall (walk-wanted walk) object)))
    (flet ((note-hit () (push (cons object parent) (walk-hits walk))))
      (cond ((and wanted (not (walk-many walk))) (note-hit))
            ((or (gethash object from)
                 (and (named-class-p object) (not (symbolp parent)))
                 (not (or wanted (holding-p object)))))
            ((>= (hash-table-count from) (walk-limit walk)) (setf (walk-full walk) t))
            (t (setf (gethash object from) parent)
               (vector-push-extend object (walk-queue walk))
               (when wanted (note-hit)))))))

(defun look-further (walk)
  "Call REACH for all objects that can be reached from the objects in the queue of WALK."
  (loop with queue = (walk-queue walk)
        while (< (walk-next walk) (length queue))
        until (walk-full walk)
        do (let ((object (aref queue (walk-next walk))))
             (incf (walk-next walk))
             ;; A slot of a structure can be unbound.
             (nil-if-program-fails
               (map-references (lambda (value kind detail)
                                 (declare (ignore kind detail))
                                 (reach walk object value))
                               object)))))

(defun reach-from-symbols (walk system)
  "Call REACH for the objects to which the root symbols refer. MAP-ROOT-SYMBOLS finds these symbols
for SYSTEM."
  (map-root-symbols (lambda (symbol)
                      (nil-if-program-fails
                        (map-symbol (lambda (value kind detail)
                                      (declare (ignore kind detail))
                                      (reach walk symbol value))
                                    symbol)))
                    system))

(defun walked (walk)
  "Go through the objects of the program for WALK and, if no wanted object was found, through those
of SBCL. Return two values: true if the objects of SBCL were searched, and a list of the threads
that did not answer."
  (multiple-value-bind (references silent) (thread-references)
    (reach-from-symbols walk nil)
    (loop for (root . object) in references do (reach walk root object))
    (look-further walk)
    (let ((system (null (walk-hits walk))))
      (when system
        (reach-from-symbols walk t)
        (look-further walk))
      (values system silent))))

;;; The ways to an object

(defun root-p (object)
  "True when OBJECT is a root, where ways begin: a thread root, or a symbol with a home package."
  (or (thread-root-p object) (and (symbolp object) (symbol-package object))))

(defun path-to (walk object parent)
  "Return a list of the objects on the way from a root to OBJECT, to which PARENT refers. WALK is
the WALK structure. The root comes first, and OBJECT last."
  (loop with path = (list parent object)
        until (root-p (first path))
        do (push (gethash (first path) (walk-from walk)) path)
        finally (return path)))

(defun reference-kind (holder object)
  "Return the kind and the detail of the reference from HOLDER to OBJECT, as MAP-REFERENCES passes
them. Return NIL if HOLDER does not refer to OBJECT any more."
  (if (thread-root-p holder)
      (values :thread holder)
      (block nil
        (nil-if-program-fails
          (map-references (lambda (value kind detail)
                            (when (eq value object) (return (values kind detail))))
                          holder))
        nil)))

(defun kind-text (kind detail passed)
  "Return a text for a reference of KIND with DETAIL. PASSED is the number of conses of a list
before the cons that has the reference."
  (ecase kind
    ((nil) "no more, since it changed meanwhile,")
    (:variable (format nil "variable ~A" (symbol-text detail)))
    (:function (format nil "function ~A" (name-text detail)))
    (:class (format nil "class ~A" (symbol-text detail)))
    (:plist (format nil "property list of ~A" (symbol-text detail)))
    (:thread (format nil "~:[stack~*~;binding of ~A~] in thread ~A"
                     (thread-root-symbol detail)
                     (and (thread-root-symbol detail) (symbol-text (thread-root-symbol detail)))
                     (thread-root-thread detail)))
    (:element (format nil "element ~D" passed))
    (:rest (if (zerop passed) "CDR" (format nil "rest after element ~D" passed)))
    (:index (format nil "element ~D" detail))
    (:key "key")
    (:value-of (format nil "value of ~A" (printed detail)))
    (:slot (format nil "slot ~A" detail))
    (:method "method")
    (:specializer "EQL specializer")
    ((:closed-over :cell) "closed-over value")
    ((:code :constant) "constant in its code")))

(define-shape holding-step ()
  "A reference on the way from a root to an object."
  (part string "What refers: a root such as a variable, or a part of the object before.")
  (value string "The object referred to, printed.")
  (id string :optional))

(defun path-data (path)
  "Return a list of JSON objects for the references on PATH, a list from PATH-TO. Treat the conses
of a list as one object, and also a function, its code and the cells of its variables."
  (loop with passed = 0
        for (holder object . further) on path
        for (kind detail) = (multiple-value-list (reference-kind holder object))
        for next-cons-p = (and (eq kind :rest) (consp object))
        ;; An object within a list or a function gets no row: the row of the next object counts it.
        if (and further (or next-cons-p (typep object 'code) (value-cell-p object)))
          do (when next-cons-p (incf passed))
        else
          collect (object "part" (kind-text kind detail (shiftf passed 0))
                          "value" (printed object)
                          "id" (object-id object))
        while further))

(defun path-likeness (walk parent known)
  "Return a list that represents the way to PARENT: the classes of the objects on it, from PARENT
on, and then the root. Successive objects of one class count once. KNOWN is a hash table from
objects to their lists. So each part of a way is followed once, up to an object in KNOWN or to the
root; the lists are then made on the way back, and share their ends."
  (loop with holders = '()
        for likeness = (if (root-p parent) (list parent) (gethash parent known))
        until likeness
        do (push parent holders)
           (setf parent (gethash parent (walk-from walk)))
        finally (dolist (holder holders)
                  (unless (eq (class-of holder) (first likeness))
                    (push (class-of holder) likeness))
                  (setf (gethash holder known) likeness))
                (return likeness)))

(define-shape holding-path ()
  "A way from a root to an object."
  (count integer
   "For a class, how many instances have a way with the same classes and the same root; else 1.")
  (steps (list holding-step)))

(define-shape holders ()
  "What keeps an object, or the instances of a class, alive."
  (many boolean :optional "True for a class: the ways are to its instances.")
  (found integer "How many references, or for a class how many instances, were found.")
  (ways (list holding-path) :optional) (total integer "How many different ways there are.")
  (system boolean :optional "True when only what belongs to SBCL leads to the object.")
  (full integer :optional "After how many objects the search ended, when there were more.")
  (silent (list string) :optional "Names of threads that did not tell what they hold.")
  (unheld boolean :optional "True for a number, a character or a symbol that is in a package."))

(defun like-hits (walk)
  "Return a list of lists (HIT COUNT) for the hits of WALK. For many objects, hits with ways that
are alike are one. Those with most objects come first, and of these the nearest."
  (let ((alike (make-hash-table :test 'equal)) (known (make-hash-table :test 'eq)) (rows '()))
    (dolist (hit (reverse (walk-hits walk)))
      (let* ((likeness (and (walk-many walk) (path-likeness walk (cdr hit) known)))
             (row (and likeness (gethash likeness alike))))
        (if row
            (incf (second row))
            (push (setf (gethash likeness alike) (list hit 1)) rows))))
    (stable-sort (nreverse rows) #'> :key #'second)))

(defun walk-for (object)
  "Return a new WALK structure for the references to OBJECT or, if OBJECT is a class, for the
instances of this class."
  (if (typep object 'class)
      (let* ((classes (cons object (classes-below object))) (prototypes (prototypes classes)))
        (make-walk (lambda (each)
                     (and (member (class-of each) classes :test #'eq)
                          (not (gethash each prototypes))))
                   t))
      (make-walk (lambda (each) (eq each object)))))

(defun holders-data (object limit)
  "Return a JSON object with at most LIMIT ways by which OBJECT, or the instances of a class, are
kept alive."
  (if (or (typep object '(or fixnum character single-float))
          (and (symbolp object) (symbol-package object)))
      (object "found" 0 "total" 0 "unheld" t)
      (let ((walk (walk-for object)))
        (multiple-value-bind (system silent) (walked walk)
          (let ((rows (like-hits walk)))
            (object "many" (walk-many walk)
                    "found" (length (walk-hits walk))
                    "ways" (loop for ((object . parent) count) in (page rows 0 limit)
                                 collect (object "count" count
                                                 "steps" (path-data (path-to walk object parent))))
                    "total" (length rows)
                    "system" (and system (walk-hits walk) t)
                    "full" (and (walk-full walk) (walk-limit walk))
                    "silent" (mapcar #'short-thread-name silent)))))))
