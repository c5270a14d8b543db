;;;; Finds the references that keep an object alive, for the operation inspect. A WALK visits all
;;;; objects that the program can reach, the nearest first, and PATH-TO returns the path to one of
;;;; them. Nothing here reads the memory of other threads or walks the heap, so other threads
;;;; continue meanwhile. References of the backend itself are not followed: its symbols are no
;;;; roots, and the walk does not enter its structures.

(in-package "LIVE-LISP.DEBUG")

(defparameter *walk-limit* 3000000 "The largest number of objects that a walk visits.")

(defun walk-object-limit ()
  "Return the largest number of objects that a walk can visit with the free room of the heap."
  ;; The hash table of a walk takes about 90 octets for each object while it grows. The rest of the
  ;; 150 octets is for the queue and for a reserve.
  (max 0 (min *walk-limit* (floor (- **heap-size** (heap-usage)) 150))))

(defstruct (thread-root (:constructor make-thread-root (thread symbol)))
  "A root in a thread: a place where a walk through the heap begins. THREAD is the name of the
thread. If SYMBOL is NIL, the root is the stack of the thread. Otherwise it is the thread's binding
of the variable SYMBOL."
  thread symbol)

;;; The references of one object

(defun map-slots (visit object)
  "Call the function VISIT with three arguments for each slot of OBJECT: the value, the keyword
:SLOT, and the name. Skip slots that cannot be read without running code of the program."
  (loop for (name . value) in (all-slots object)
        do (funcall visit value :slot name)))

(defun map-table (visit table)
  "Call the function VISIT with each key and value that TABLE, a hash table, keeps alive. The other
two arguments of VISIT are :KEY and the key, or :VALUE-OF and the key."
  (let ((weakness (sb-ext:hash-table-weakness table)))
    ;; A weak table keeps a part of an entry while the other part lives.
    (maphash (lambda (key value)
               (when (member weakness '(nil :value)) (funcall visit key :key key))
               (when (member weakness '(nil :key :key-or-value))
                 (funcall visit value :value-of key)))
             table)))

(defun map-function (visit function)
  "Call the function VISIT with each object to which FUNCTION refers: its methods, slots,
closed-over values and code object. The other two arguments of VISIT are a keyword for the kind of
reference, and a detail or NIL."
  (when (typep function 'sb-mop:funcallable-standard-object) (map-slots visit function))
  (cond ((typep function 'generic-function)
         (dolist (method (sb-mop:generic-function-methods function))
           (funcall visit method :method nil)))
        ((typep function 'sb-mop:funcallable-standard-object)
         (funcall visit (instance-function function) :slot "FUNCTION"))
        (t (when (closure-p function)
             (dolist (value (closed-over function)) (funcall visit value :closed-over nil)))
           (let ((code (code-of function)))
             (when code (funcall visit code :code nil))))))

(defun map-symbol (visit symbol)
  "Call the function VISIT with the global value, the functions, the class and the property list of
SYMBOL. The other two arguments of VISIT are a keyword for the kind of reference, and SYMBOL or
(SETF SYMBOL)."
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
  "Call the function VISIT with three arguments for each object that OBJECT keeps alive: the object,
a keyword for the kind of reference, and a detail that distinguishes references of the same kind,
such as an index."
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
  "Return true if a search for references must look into OBJECT, because other objects can be alive
only through OBJECT. Return false for a symbol with a package, since it is a root. Return false for
an EQL specializer, since MAP-REFERENCES visits its object as a part of the method. Return false for
a structure of the backend."
  (typecase object
    (symbol (null (symbol-package object)))
    ((or package pathname sb-mop:eql-specializer) nil)
    (array (eq t (array-element-type object)))
    (structure-object (let ((type (type-of object)))
                        (not (and (symbolp type) (backend-package-p (symbol-package type))))))
    ((or cons function standard-object condition code) t)
    ;; Markers, which are elements of some vectors of SBCL, cannot be keys of a hash table.
    (t (value-cell-p object))))

;;; The roots

(defun map-root-symbols (visit system)
  "Call the function VISIT with each symbol that is a root. If SYSTEM is false, these are the
symbols in packages of the program, else those in packages of SBCL, which are locked. Variables such
as *, which keep values of a REPL, are no roots."
  (map-packages
   (lambda (package)
     (when (and (not (backend-package-p package))
                (if system
                    (core-package-p package)
                    (not (core-package-p package))))
       (do-symbols (symbol package)
         (when (and (eq package (symbol-package symbol))
                    (not (member symbol '(* ** *** / // /// + ++ +++ -))))
           (funcall visit symbol)))))))

(defun bound-here (symbols)
  "SYMBOLS is a list of variables. Return a list of (VARIABLE . VALUE) pairs for the variables that
this thread has bound to another object than their global value."
  (loop for symbol in symbols
        when (and (boundp symbol)
                  (not (eq (symbol-value symbol)
                           (global-value-of symbol))))
          collect (cons symbol (symbol-value symbol))))

(defun root-threads ()
  "Return a list of the threads of the program. A search for references begins at the objects on
their stacks and in their bindings of variables."
  (let ((threads (sb-thread:list-all-threads)))
    (append (program-threads threads)
            ;; In the server's own image, the main thread runs only the backend and jobs.
            (and **attached** (not (eq sb-thread:*current-thread* (sb-thread:main-thread)))
                 (list (sb-thread:main-thread))))))

(defun thread-references ()
  "Return two values: a list of (ROOT . OBJECT) pairs, and a list of the threads that did not
answer. ROOT is a THREAD-ROOT structure, and OBJECT an object to which it refers."
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
  "A breadth-first search through the objects of the program.
WANTED: a predicate for the objects to find.
MANY: true if WANTED can be true for many objects; then each such object is one hit. Otherwise
WANTED is true for one object, and each reference to it is one hit.
FROM: a hash table from each reached object to the object that refers to it, or to a root: a symbol
with a package, or a THREAD-ROOT.
HITS: a list of (OBJECT . HOLDER) pairs, newest first: a wanted object, and the object or root that
refers to it.
QUEUE: a vector of the reached objects, the nearest first.
NEXT: the index in QUEUE of the next object to visit.
LIMIT: the largest number of objects. FULL: true once there were more."
  wanted many (from (make-hash-table :test 'eq)) (hits '()) (next 0) full
  (limit (walk-object-limit))
  (queue (make-array 1000 :adjustable t :fill-pointer 0)))

(defun named-class-p (object)
  "Return true if OBJECT is a class that FIND-CLASS finds by its name. A walk enters such a class
only from a symbol. Otherwise it would go from one class over superclasses and subclasses to all
other classes."
  (and (typep object 'class) (eq object (find-class (class-name object) nil))))

(defun reach (walk parent object)
  "Record in WALK, a WALK structure, that PARENT, an object or a root, refers to OBJECT. Add OBJECT
to the queue if the walk must visit it."
  (let ((from (walk-from walk)) (wanted (funcall (walk-wanted walk) object)))
    (flet ((note-hit () (push (cons object parent) (walk-hits walk)))
           (passed-over-p ()
             (or (gethash object from)
                 (and (named-class-p object) (not (symbolp parent)))
                 (not (or wanted (holding-p object))))))
      (cond ((and wanted (not (walk-many walk))) (note-hit))
            ((passed-over-p))
            ((>= (hash-table-count from) (walk-limit walk)) (setf (walk-full walk) t))
            (t (setf (gethash object from) parent)
               (vector-push-extend object (walk-queue walk))
               (when wanted (note-hit)))))))

(defun look-further (walk)
  "Visit the objects in the queue of WALK, a WALK structure, and call REACH for each object to which
they refer. Continue until the queue is empty or WALK is full."
  (loop with queue = (walk-queue walk)
        while (< (walk-next walk) (length queue))
        until (walk-full walk)
        do (let ((object (aref queue (walk-next walk))))
             (incf (walk-next walk))
             (nil-if-program-fails
               (map-references (lambda (value kind detail)
                                 (declare (ignore kind detail))
                                 (reach walk object value))
                               object)))))

(defun reach-from-symbols (walk system)
  "Call REACH for the objects to which the root symbols refer. WALK is a WALK structure. SYSTEM is
true for the symbols of SBCL, and false for those of the program."
  (map-root-symbols (lambda (symbol)
                      (nil-if-program-fails
                        (map-symbol (lambda (value kind detail)
                                      (declare (ignore kind detail))
                                      (reach walk symbol value))
                                    symbol)))
                    system))

(defun walked (walk)
  "Visit the objects of the program for WALK, a WALK structure: first the objects that its symbols
reach, then those that bindings in threads reach, and last those that are only on stacks. Stacks
come last, because a word on a stack can be left over from an earlier call. If no wanted object was
found, visit the objects of SBCL too. Return two values: true if the objects of SBCL were visited,
and a list of the threads that did not answer."
  (multiple-value-bind (references silent) (thread-references)
    (reach-from-symbols walk nil)
    (look-further walk)
    (flet ((reach-from (wanted-p)
             (loop for (root . object) in references
                   when (funcall wanted-p root) do (reach walk root object))
             (look-further walk)))
      (reach-from #'thread-root-symbol)
      (reach-from (complement #'thread-root-symbol)))
    (let ((system (null (walk-hits walk))))
      (when system
        (reach-from-symbols walk t)
        (look-further walk))
      (values system silent))))

;;; The paths from roots to an object

(defun root-p (object)
  "Return true if OBJECT is a root of a walk: a THREAD-ROOT structure, or a symbol with a home
package."
  (or (thread-root-p object) (and (symbolp object) (symbol-package object))))

(defun path-to (walk object parent)
  "Return a list of the objects on the path from a root to OBJECT. The root comes first, then
objects that each refer to the next, then PARENT, which refers to OBJECT, and OBJECT. WALK is the
WALK structure that has found OBJECT."
  (loop with path = (list parent object)
        until (root-p (first path))
        do (push (gethash (first path) (walk-from walk)) path)
        finally (return path)))

(defun reference-kind (holder object)
  "Return two values: the kind of the reference from HOLDER to OBJECT, a keyword, and a detail such
as an index. Return NIL if HOLDER no longer refers to OBJECT."
  (if (thread-root-p holder)
      (values :thread holder)
      (block nil
        (nil-if-program-fails
          (map-references (lambda (value kind detail)
                            (when (eq value object) (return (values kind detail))))
                          holder))
        nil)))

(defun kind-text (kind detail passed)
  "Return a text for a reference, such as \"element 3\". KIND and DETAIL are the values of
REFERENCE-KIND. If the reference is in a list, PASSED is the number of conses before the cons that
contains it."
  ;; Do not use the printer, because the session can have set it to call code of the program.
  (flet ((text (&rest parts) (apply #'concatenate 'string parts)))
    (ecase kind
      ((nil) "no more, since it changed meanwhile,")
      (:variable (text "variable " (symbol-text detail)))
      (:function (text "function " (name-text detail)))
      (:class (text "class " (symbol-text detail)))
      (:plist (text "property list of " (symbol-text detail)))
      (:thread (let ((symbol (thread-root-symbol detail)))
                 (text (if symbol (text "binding of " (symbol-text symbol)) "stack")
                       " in thread " (thread-root-thread detail))))
      (:element (text "element " (decimal-digits passed)))
      (:rest (if (zerop passed) "CDR" (text "rest after element " (decimal-digits passed))))
      (:index (text "element " (decimal-digits detail)))
      (:key "key")
      (:value-of (text "value of " (printed detail)))
      (:slot (text "slot " (string detail)))
      (:method "method")
      (:specializer "EQL specializer")
      ((:closed-over :cell) "closed-over value")
      ((:code :constant) "constant in its code"))))

(define-shape holding-step ()
  "A reference on the way from a root to an object."
  (part string
   "The place of the reference: a root such as a variable, or a part of the object of the step
   before.")
  (value string "The object referred to, printed.")
  (id string :optional))

(defun path-data (path)
  "Return a list of JSON objects for the references on PATH, a list from PATH-TO. Show the conses of
a list as one object. Likewise, show a function, its code object and its value cells as one."
  (loop with passed = 0
        for (holder object . further) on path
        for (kind detail) = (multiple-value-list (reference-kind holder object))
        for next-cons-p = (and (eq kind :rest) (consp object))
        ;; A cons within a list, or a code object or value cell within a function, gets no JSON
        ;; object. The JSON object of the next reference tells how many conses were passed.
        if (and further (or next-cons-p (typep object 'code) (value-cell-p object)))
          do (when next-cons-p (incf passed))
        else
          collect (object "part" (kind-text kind detail (shiftf passed 0))
                          "value" (printed object)
                          "id" (object-id object))
        while further))

(defun path-likeness (walk parent known)
  "Return a list that stands for the path to PARENT: the classes of the objects on it, from PARENT
to the root, and last the root. Successive objects of one class count once. WALK is the WALK
structure. KNOWN is a hash table from objects to their lists. It is filled here, so that each part
of a path is followed only once, and the lists share their tails."
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
  "A path from a root to an object."
  (count integer
   "For a class, how many instances have a path with the same classes and the same root; else 1.")
  (steps (list holding-step)))

(define-shape holders ()
  "The references that keep an object, or the instances of a class, alive."
  (many boolean :optional "True for a class: the paths lead to its instances.")
  (found integer "How many references, or for a class how many instances, were found.")
  (ways (list holding-path) :optional) (total integer "How many different paths there are.")
  (system boolean :optional "True when the object was reached only from symbols of SBCL.")
  (full integer :optional
   "The number of objects after which the search stopped, when it did not visit all.")
  (silent (list string) :optional "Names of threads that did not report their references in time.")
  (unheld boolean :optional
   "True for a number, a character or a symbol with a package: no search is made for these."))

(defun like-hits (walk)
  "Return a list of rows (HIT COUNT) for the hits of WALK, a WALK structure. A hit is a pair (OBJECT
. PARENT): a wanted object, and an object or root that refers to it. If the slot MANY of WALK is
true, one row stands for all hits whose paths have the same PATH-LIKENESS: HIT is the nearest of
them, and COUNT their number. Otherwise each hit has a row of its own. The rows with the largest
COUNT come first. Among rows with the same COUNT, the nearest hit comes first."
  (let ((alike (make-hash-table :test 'equal)) (known (make-hash-table :test 'eq)) (rows '()))
    (dolist (hit (reverse (walk-hits walk)))
      (if (walk-many walk)
          (let* ((likeness (path-likeness walk (cdr hit) known)) (row (gethash likeness alike)))
            (if row
                (incf (second row))
                (push (setf (gethash likeness alike) (list hit 1)) rows)))
          (push (list hit 1) rows)))
    (stable-sort (nreverse rows) #'> :key #'second)))

(defun walk-for (object)
  "Return a new WALK structure that finds the references to OBJECT. If OBJECT is a class, the walk
finds the instances of the class and of its subclasses."
  (if (typep object 'class)
      (let* ((classes (cons object (classes-below object))) (prototypes (prototypes classes)))
        (make-walk (lambda (each)
                     (and (member (class-of each) classes :test #'eq)
                          (not (gethash each prototypes))))
                   t))
      (make-walk (lambda (each) (eq each object)))))

(defun holders-data (object limit)
  "Return a JSON object with at most LIMIT paths on which roots keep OBJECT alive. If OBJECT is a
class, the paths lead to its instances."
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
