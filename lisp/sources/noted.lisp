;;;; What the answer of an operation reports about the loads of this operation. Most of these facts
;;;; are changes of classes that have instances.

(in-package "LIVE-LISP.SOURCES")

(defstruct (doubled (:constructor make-doubled (name method other)))
  "A method that a load replaced because two forms of a file define it. NAME is the name of the
generic function. OTHER is the replaced method, and METHOD the new one."
  name method other)

(defstruct (reslotted (:constructor make-reslotted (class new gone)))
  "A change of the direct slots of CLASS. NEW and GONE are lists of slot names."
  class new gone)

(defstruct (laid-out (:constructor make-laid-out (name layout &optional functions)))
  "A change of the layout of the structure NAME. LAYOUT is its old layout. FUNCTIONS lists the names
of the functions that DEFSTRUCT made."
  name layout functions)

(defstruct (noted (:constructor make-noted ()))
  "The facts that an answer reports about a load.
FILES: a list of SOURCE-FILE structures for the files that were loaded to their ends.
DOUBLES: a list of DOUBLED structures, for methods that two forms of a file define.
UNSET: a list of DEFINITION structures of variables that kept their values, although the file has
other values.
RESLOTTED: a list of RESLOTTED structures, for classes whose direct slots changed.
LAID-OUT: a list of LAID-OUT structures, for structures whose layout changed."
  (files '()) (doubles '()) (unset '()) (reslotted '()) (laid-out '()))

(defvar *loaded* nil
  "The NOTED structure to which the recorded loads of this operation add their facts, or NIL. An
operation can load a file or a system more than once.")

(defun note-layouts (pairs noted)
  "PAIRS is a list of (NEW . OLD) pairs of definitions. For each structure whose layout has changed,
add a LAID-OUT structure to the slot LAID-OUT of NOTED, a NOTED structure."
  (loop for (new . old) in pairs
        for (before . names) = (definition-layout old)
        for (now . more) = (definition-layout new)
        unless (eq before now)
          do (when before
               (push (make-laid-out (definition-name old) before (union names more :test #'equal))
                     (noted-laid-out noted)))))

(defun reslotted-classes (recording)
  "Return a list of RESLOTTED structures for the classes in RECORDING, a RECORDING structure, whose
direct slots have changed. A slot that has moved to a superclass or a subclass is neither new nor
gone, since instances keep it."
  (loop for class being the hash-keys of (recording-slots recording) using (hash-value before)
        for (own . all) = before and now = (direct-slot-names class)
        for new = (set-difference (set-difference now own) all)
        for gone = (set-difference (set-difference own now) (slots-with-inherited class))
        when (and (or new gone) (eq class (find-class (class-name class) nil)))
          collect (make-reslotted class new gone)))

(defun structure-slots ()
  "Return a hash table from each structure class to a pair (LAYOUT . SLOTS). SLOTS is a property
list of the names and types of its slots."
  (let ((table (make-hash-table :test 'eq)))
    (labels ((note-below (class)
               (dolist (below (sb-mop:class-direct-subclasses class))
                 (unless (gethash below table)
                   (setf (gethash below table)
                         (nil-if-unknown
                           (cons (classoid-layout (classoid (class-name below)))
                                 (loop for slot in (sb-mop:class-slots below)
                                       collect (sb-mop:slot-definition-name slot)
                                       collect (sb-mop:slot-definition-type slot)))))
                   (note-below below)))))
      (note-below (find-class 'structure-object)))
    table))

(defun note-relaid (before)
  "Add to *LOADED* the structures whose slots differ from those in BEFORE, a table from
STRUCTURE-SLOTS. Return true if there are any."
  (loop with after = (structure-slots) and found = nil
        for class being the hash-keys of before using (hash-value old)
        for (layout . slots) = old
        unless (equal slots (cdr (gethash class after)))
          do (setf found t)
             (unless (find layout (noted-laid-out *loaded*) :key #'laid-out-layout :test #'eq)
               (push (make-laid-out (class-name class) layout) (noted-laid-out *loaded*)))
        finally (return found)))
