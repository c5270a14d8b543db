;;;; Short ids for objects in answers. An id does not keep its object alive. After the object is
;;;; collected, the id is gone.

(in-package "LIVE-LISP.JOBS")

(defparameter *id-limit* 5000 "At most this many ids are known: the oldest are dropped.")

(sb-ext:defglobal **ids** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The ids of objects, by object.")
(sb-ext:defglobal **objects** (make-hash-table :synchronized t) "Weak pointers to objects, by id.")
(sb-ext:defglobal **last-id** 0 "The last id given to an object.")
(sb-ext:defglobal **ids-lock** (sb-thread:make-mutex :name "live-lisp ids")
  "Held while an id is given.")

(defun has-parts-p (object)
  "True when OBJECT has parts that printing may leave out, so that an id is useful."
  (not (typep object '(or number symbol character string pathname package))))

(defun object-id (object &optional (useful (has-parts-p object)))
  "Return the id of OBJECT as text, such as @12, or NIL if that is not USEFUL."
  (when useful
    (sb-thread:with-mutex (**ids-lock**)
      (let ((id (or (gethash object **ids**) (incf **last-id**))))
        (setf (gethash object **ids**) id
              (gethash id **objects**) (sb-ext:make-weak-pointer object))
        (remhash (- id *id-limit*) **objects**)
        (concatenate 'string "@" (decimal-digits id))))))

(defun object-of-id (id)
  "Return two values: the object with ID, a number, and whether it still exists."
  (let ((pointer (gethash id **objects**)))
    (if pointer (sb-ext:weak-pointer-value pointer) (values nil nil))))
