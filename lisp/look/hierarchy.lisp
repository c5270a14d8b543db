;;;; Defines the operation class-hierarchy, which returns the classes above and below a class.

(in-package "LIVE-LISP.LOOK")

(defun class-before-p (one other)
  "Return true if the class ONE comes before the class OTHER in answers. Classes are sorted by name,
then by package, by code point (contract C10 in docs/develop/contracts.md). Classes without a
name come last."
  (let ((name-1 (class-name one)) (name-2 (class-name other)))
    (cond ((not (and name-1 (symbolp name-1))) nil)
          ((not (and name-2 (symbolp name-2))) t)
          (t (symbol-before-p name-1 name-2)))))

(defun subclasses (class)
  "Return a list of the direct subclasses of CLASS, sorted by name."
  (sort (copy-list (sb-mop:class-direct-subclasses class)) #'class-before-p))

(defun classes-below (class)
  "Return a list of all direct and indirect subclasses of CLASS, sorted by name."
  (let ((seen (make-hash-table :test 'eq)))
    (labels ((visit (class)
               (dolist (subclass (sb-mop:class-direct-subclasses class))
                 (unless (shiftf (gethash subclass seen) t) (visit subclass)))))
      (visit class))
    (sort (loop for each being the hash-keys of seen collect each) #'class-before-p)))

(defun tree-rows (class)
  "Return a list of (SUBCLASS LEVEL AGAIN) lists for the classes below CLASS, in depth-first order.
LEVEL is 0 for a direct subclass of CLASS. AGAIN is true if the subclasses of SUBCLASS follow an
earlier row of SUBCLASS, and so are not repeated after this row."
  (let ((shown (make-hash-table :test 'eq)) (rows '()))
    (labels ((visit (class level)
               (dolist (subclass (subclasses class))
                 (let ((again (and (sb-mop:class-direct-subclasses subclass)
                                   (shiftf (gethash subclass shown) t))))
                   (push (list subclass level again) rows)
                   (unless again
                     (visit subclass (1+ level)))))))
      (visit class 0))
    (nreverse rows)))

(defun up-members (class)
  "Return a plist for a JSON object: the direct superclasses of CLASS, and all its superclasses. A
class that is not finalized has no precedence list, so list all its known superclasses."
  (flet ((texts (classes)
           (loop for class in classes
                 collect (format nil "~A~:[~; (not defined)~]" (class-text class)
                                 (forward-referenced-p class)))))
    (list "supers" (texts (sb-mop:class-direct-superclasses class))
          "ancestors" (texts (ancestors class)))))

(define-shape class-hierarchy-data (class-head)
  "A class, the classes above it and those below."
  (metaclass string) (supers (list string) :optional)
  (ancestors (list string) :optional
   "The class precedence list, or the known part of it when the class is not finalized.")
  (subclasses integer :optional) (direct-subclasses integer :optional)
  (row-count integer :optional)
  (rows (list (object (name string) (level integer) (again boolean :optional))) :optional
   "The tree of subclasses, in depth-first order. `again` is true when an earlier row of the same
   class has its subclasses below it."))

(define-operation ("class-hierarchy" :gives (or class-hierarchy-data lookup-failure))
    (name package
     (up boolean :optional "True for its superclasses.")
     (down boolean :optional "True for the tree of its subclasses.")
     offset limit)
  "Return a class, its superclasses, and the tree of its subclasses."
  (let* ((class (named-class name package)) (symbol (named-symbol name package)))
    (call-user-code
     (lambda ()
       (let ((rows (and down (tree-rows class))))
         (make-json-object
          (append (class-head class symbol)
                  (list "metaclass" (class-text (class-of class)))
                  (and up (up-members class))
                  (and down
                       (list "subclasses" (length (classes-below class))
                             "directSubclasses" (length (sb-mop:class-direct-subclasses class))
                             "rowCount" (length rows)
                             "rows" (loop for (below level again) in (page rows offset limit)
                                          collect (object "name" (class-text below) "level" level
                                                          "again" again)))))))))))
