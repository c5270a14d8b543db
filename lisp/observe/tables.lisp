;;;; Finds hash tables in which many keys have the same hash, so that each look-up compares many
;;;; keys. Examines the tables that the functions of a profile can reach: through the variables that
;;;; they use, and through the variables over which they close.

(in-package "LIVE-LISP.OBSERVE")

(define-shape crowded-table ()
  "A hash table in which many keys have the same hash."
  (variable string "The name of the variable, or of the closure, from which it was reached.")
  (test string) (count integer "The number of its keys that were examined.")
  (sharing integer "The largest number of keys with the same hash."))

(defparameter *most-keys* 1000000 "The maximum number of keys that are examined in all tables.")
(defparameter *most-objects* 1000
  "The maximum number of objects that are examined to find the tables of one variable.")

(defun tables-within (object)
  "Return a list of the hash tables that can be reached from OBJECT through data of the program.
Examine at most *MOST-OBJECTS* objects."
  (let ((left (list object)) (seen (make-hash-table :test 'eq)) (tables '()))
    (loop while (and left (< (hash-table-count seen) *most-objects*))
          do (let ((part (pop left)))
               (unless (gethash part seen)
                 (setf (gethash part seen) t)
                 (if (hash-table-p part)
                     (push part tables)
                     (map-parts (lambda (inner) (push inner left)) part)))))
    tables))

(defun variables-used (functions)
  "Return a list of the bound variables of the program that FUNCTIONS use."
  (let ((variables '()))
    (dolist (function functions variables)
      (map-constants (lambda (constant)
                       (when (and constant (symbolp constant) (program-symbol-p constant)
                                  (boundp constant))
                         (pushnew constant variables)))
                     (code-of function)))))

(defun closures-among (functions)
  "Return a list of (NAME . CLOSURE) pairs. NAME is the name of one of FUNCTIONS that is defined
globally, and CLOSURE its definition. Leave out functions that are no closures."
  (loop for function in functions
        for name = (plain-function-name function)
        ;; The name of a method, for example, is no name of a global function.
        for definition = (and (plain-name-p name) (fboundp name) (plain-definition name))
        when (and definition (closure-p definition)) collect (cons name definition)))

(defun crowded-tables (functions)
  "Return a list of JSON objects for hash tables in which many keys have the same hash. Search the
values of the variables that FUNCTIONS use, and the closures among FUNCTIONS."
  (loop with left = *most-keys*
        for (name . object) in (append (loop for variable in (variables-used functions)
                                             collect (cons variable (symbol-value variable)))
                                       (closures-among functions))
        append (loop for table in (tables-within object)
                     ;; The hash function can be one of the program.
                     for (sharing count)
                       = (unless (eq (hash-table-test table) 'eq)
                           (nil-if-program-fails
                             (multiple-value-list
                              (call-user-code (lambda () (sharing-keys table left))))))
                     do (decf left (or count 0))
                     when (and count (>= sharing *crowd*))
                       collect (object "variable" (name-text name)
                                       "test" (symbol-text (hash-table-test table))
                                       "count" count
                                       "sharing" sharing))))
