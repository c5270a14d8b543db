;;;; Short ids for objects in answers. They keep no object alive: once it is collected, its id is
;;;; gone.

(in-package "LIVE-LISP.JOBS")

(defparameter *id-limit* 5000 "At most this many ids are known; the oldest are forgotten.")

(sb-ext:defglobal **ids** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The id of each object that has one.")
(sb-ext:defglobal **objects** (make-hash-table :synchronized t)
  "A weak pointer to the object of each id.")
(sb-ext:defglobal **last-id** 0 "The id that was given last.")
(sb-ext:defglobal **ids-lock** (sb-thread:make-mutex :name "live-lisp ids")
  "Held while an id is given.")

(defun has-parts-p (object)
  "True when printing OBJECT can show only a part of it, so that an id is of use."
  (not (typep object '(or number symbol character string pathname package))))

(defun object-id (object)
  "Return the id of OBJECT as text, such as @12; NIL for an object without parts."
  (when (has-parts-p object)
    (sb-thread:with-mutex (**ids-lock**)
      (let ((id (or (gethash object **ids**) (incf **last-id**))))
        (setf (gethash object **ids**) id
              (gethash id **objects**) (sb-ext:make-weak-pointer object))
        (remhash (- id *id-limit*) **objects**)
        (concatenate 'string "@" (decimal-digits id))))))

(defun object-of-id (id)
  "Return the object of ID, a number, and whether it still exists."
  (let ((pointer (gethash id **objects**)))
    (if pointer (sb-ext:weak-pointer-value pointer) (values nil nil))))
