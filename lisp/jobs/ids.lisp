;;;; Gives objects in answers short ids. An id does not keep its object alive. Once the object is
;;;; collected, the id is no longer valid. An id is valid only in the sessions whose answers
;;;; contained it. So in an image that several servers share, no server can use an id that it did
;;;; not get.

(in-package "LIVE-LISP.JOBS")

(defparameter *id-limit* 5000
  "The largest number of ids that are known at the same time. A new id then replaces the oldest
one.")

(sb-ext:defglobal **ids** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from objects to their ids.")
(sb-ext:defglobal **objects** (make-hash-table :synchronized t)
  "A hash table from ids to lists (POINTER . SESSIONS). POINTER is a weak pointer to the object, and
SESSIONS lists the numbers of the sessions whose answers contained the id.")
(sb-ext:defglobal **last-id** 0 "The id that was given last.")
(sb-ext:defglobal **ids-lock** (sb-thread:make-mutex :name "live-lisp ids")
  "The mutex that a thread holds while it gives an id to an object.")

(defun has-parts-p (object)
  "Return true if OBJECT has parts that its printed form may leave out, so that an id is useful."
  (not (typep object '(or number symbol character string pathname package))))

(defun object-id (object &optional (useful (has-parts-p object)))
  "Return the id of OBJECT as text, such as \"@12\". Give OBJECT a new id if it has none. Return NIL
if USEFUL is false, which is the default for an object without parts."
  (when useful
    (sb-thread:with-mutex (**ids-lock**)
      (let ((id (or (gethash object **ids**) (incf **last-id**))))
        (setf (gethash object **ids**) id
              (gethash id **objects**)
              (cons (sb-ext:make-weak-pointer object)
                    (adjoin (session-number *session*) (rest (gethash id **objects**)))))
        (remhash (- id *id-limit*) **objects**)
        (concatenate 'string "@" (decimal-digits (shown-number id)))))))

(defun object-of-id (id)
  "Return three values for ID, a number: its object, true if the object still exists, and true if
only other sessions got the id. In that last case the first two values are NIL."
  (destructuring-bind (&optional pointer &rest sessions)
      (gethash (number-shown-as id) **objects**)
    (cond ((null pointer) (values nil nil nil))
          ((member (session-number *session*) sessions) (sb-ext:weak-pointer-value pointer))
          (t (values nil nil t)))))
