;;;; Counts the keys of a hash table that have the same hash. A look-up compares its key with each
;;;; key of the same hash.

(in-package "LIVE-LISP.LOOK")

(defparameter *crowd* 16 "The least number of keys with the same hash that an answer mentions.")

(defun sharing-keys (table limit)
  "Return two values for the hash table TABLE: the largest number of keys with the same hash, and
the number of keys examined, at most LIMIT. This calls the hash function of TABLE, which can be a
function of the program."
  (if-able "hashes"
    (let ((counts (make-hash-table)) (function (hash-function table)))
      (loop for key being the hash-keys of table
            repeat limit
            do (incf (gethash (nth-value 0 (funcall function key)) counts 0)))
      (values (or (loop for count being the hash-values of counts maximize count) 0)
              (loop for count being the hash-values of counts sum count)))))

(defun hashed-by-system-p (table)
  "Return true if the hash function of the hash table TABLE is one of SBCL's and does not hash by
address."
  (if-able "hashes"
    (let ((name (plain-function-name (hash-function table))))
      (and (not (eq (hash-table-test table) 'eq))
           (symbolp name)
           (core-symbol-p name)))))
