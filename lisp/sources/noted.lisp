;;;; The facts about the loads of an operation that its answer reports: above all, what they changed
;;;; of classes that have instances.

(in-package "LIVE-LISP.SOURCES")

(defstruct (noted (:constructor make-noted ()))
  "The facts about a load that answers report.
FILES: a list of SOURCE-FILE structures for the files that were loaded to their ends.
DOUBLES: a list of (NAME METHOD OTHER) lists, where METHOD has replaced OTHER from the same file.
UNSET: a list of DEFINITION structures of variables that kept their values, although the file has
other values.
RESLOTTED: a list of (CLASS NEW-SLOTS GONE-SLOTS) lists for classes with changed slots.
LAID-OUT: a list of lists (NAME OLD-LAYOUT FUNCTION-NAME...) for structures with a changed
layout. The functions are those that DEFSTRUCT made."
  (files '()) (doubles '()) (unset '()) (reslotted '()) (laid-out '()))

(defvar *loaded* nil
  "The NOTED structure to which the recorded loads of this operation add their facts, or NIL. An
operation can load a file or a system more than once.")

(defun note-layouts (pairs noted)
  "Add structures whose layouts have changed to the LAID-OUT of NOTED. PAIRS is a list of (NEW .
OLD) definitions."
  (loop for (new . old) in pairs
        for (before . names) = (definition-layout old)
        for (now . more) = (definition-layout new)
        unless (eq before now)
          do (when before
               (push (list* (definition-name old) before (union names more :test #'equal))
                     (noted-laid-out noted)))))

(defun reslotted (touched)
  "Return a list of (CLASS NEW-SLOTS GONE-SLOTS) lists, one for each class in TOUCHED, a TOUCHED
structure, whose direct slots have changed. NEW-SLOTS and GONE-SLOTS are lists of slot names. A slot
that instances keep, because it moved to a superclass or a subclass, is in neither list."
  (loop for class being the hash-keys of (touched-slots touched) using (hash-value before)
        for (own . all) = before and now = (own-slots class)
        for new = (set-difference (set-difference now own) all)
        for gone = (set-difference (set-difference own now) (slots-with-inherited class))
        when (and (or new gone) (eq class (find-class (class-name class) nil)))
          collect (list class new gone)))

(defun structure-slots ()
  "Return a hash table from each structure class to a pair of its layout, and a property list of the
names and types of its slots."
  (let ((table (make-hash-table :test 'eq)))
    (labels ((note-below (class)
               (dolist (below (sb-mop:class-direct-subclasses class))
                 (unless (gethash below table)
                   (setf (gethash below table)
                         (ignore-errors
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
             (unless (find layout (noted-laid-out *loaded*) :key #'second :test #'eq)
               (push (list (class-name class) layout) (noted-laid-out *loaded*)))
        finally (return found)))
