;;;; Lists the parts of an object, without running code of the user.

(in-package "LIVE-LISP.DEBUG")

(defstruct (part (:constructor make-part (name value &optional why made)))
  "A part of an object: its NAME as text, and its VALUE, or WHY it has none. MADE is true when the
value is a fresh list. An id for it would be lost at once, since nothing else refers to the list."
  name value why made)

(defparameter *sorted-limit* 2000 "A hash table with at most this many keys is sorted.")

(defun printed (object)
  "Return OBJECT printed on one line, in at most 200 characters, without code of the user."
  (on-one-line (local-text object :limit 200 :length 5)))

(defun plain-parts (&rest names-and-values)
  "Return parts of NAMES-AND-VALUES, names and values in turn."
  (loop for (name value) on names-and-values by #'cddr
        collect (make-part name value nil (consp value))))

(defun list-parts (list)
  "Return the elements of LIST as parts, up to the first cons that was seen before; a dotted list
has its tail, too."
  (loop with seen = (make-hash-table :test 'eq)
        for index from 0 below 100000
        for rest = list then (cdr rest)
        while (and (consp rest) (not (gethash rest seen)))
        do (setf (gethash rest seen) t)
        collect (make-part (princ-to-string index) (car rest)) into parts
        finally (return (if (null rest)
                            parts
                            (append parts
                                    (list (make-part (if (consp rest) "circular" "tail") rest)))))))

(defun array-parts (array)
  "Return the elements of ARRAY as parts, named by their indexes."
  (if (vectorp array)
      (loop for index from 0 below (min (length array) 100000)
            collect (make-part (princ-to-string index) (aref array index)))
      (loop with dimensions = (array-dimensions array)
            for index from 0 below (min (array-total-size array) 100000)
            collect (make-part (format nil "~{~D~^ ~}" (loop with rest = index
                                                             with subscripts = '()
                                                             for dimension in (reverse dimensions)
                                                             do (push (mod rest dimension)
                                                                      subscripts)
                                                                (setf rest (floor rest dimension))
                                                             finally (return subscripts)))
                               (row-major-aref array index)))))

(defun table-parts (table)
  "Return the values in TABLE as parts, named by their keys. Sort them by the keys if there are at
most *SORTED-LIMIT*."
  (let ((parts (loop for key being the hash-keys of table using (hash-value value)
                     repeat 100000
                     collect (make-part (printed key) value))))
    (if (> (length parts) *sorted-limit*)
        parts
        (sort parts (lambda (one other)
                      (let ((a (ignore-errors (parse-integer one)))
                            (b (ignore-errors (parse-integer other))))
                        (if (and a b) (< a b) (string< one other))))
              :key #'part-name))))

(defun slot-parts (object)
  "Return the slots of OBJECT as parts. A slot that is unbound, or that only code of the user could
read, has a WHY that says so."
  (let ((told (inner-slots object)))
    (loop for slot in (sb-mop:class-slots (class-of object))
          for name = (sb-mop:slot-definition-name slot)
          for pair = (assoc name told)
          collect (cond (pair (make-part (symbol-name name) (cdr pair)))
                        ((member (class-of (class-of object))
                                 (list (find-class 'standard-class) (find-class 'structure-class)))
                         (make-part (symbol-name name) nil "unbound"))
                        (t (make-part (symbol-name name) nil
                                      "only code of the program can read it"))))))

(defun function-parts (function)
  "Return the name, the parameters, the file and the closed-over values of FUNCTION as parts."
  (append (plain-parts "name" (ignore-errors (plain-function-name function))
                       "parameters" (ignore-errors (plain-lambda-list function)))
          (let ((source (introspect "FIND-DEFINITION-SOURCE" function)))
            (and source
                 (introspect "DEFINITION-SOURCE-PATHNAME" source)
                 (plain-parts "file"
                              (namestring (introspect "DEFINITION-SOURCE-PATHNAME" source)))))
          (when (closure-p function)
            (loop for value in (closed-over function)
                  for index from 0
                  collect (make-part (format nil "closed ~D" index)
                                 (if (value-cell-p value) (cell-value value) value))))))

(defun symbol-parts (symbol)
  "Return the package of SYMBOL, its value, function, class and property list as parts."
  (append (plain-parts "package" (symbol-package symbol))
          (list (if (boundp symbol)
                    (make-part "value" (symbol-value symbol))
                    (make-part "value" nil "unbound")))
          (when (fboundp symbol)
            (plain-parts "function" (or (macro-function symbol) (plain-definition symbol))))
          (when (find-class symbol nil) (plain-parts "class" (find-class symbol)))
          (when (symbol-plist symbol) (list (make-part "plist" (symbol-plist symbol))))))

(defun package-parts (package)
  "Return the properties of PACKAGE as parts."
  (if (package-name package)
      (plain-parts "name" (package-name package) "nicknames" (package-nicknames package)
                   "uses" (mapcar #'package-name (package-use-list package))
                   "used by" (mapcar #'package-name (package-used-by-list package))
                   "locked" (sb-ext:package-locked-p package)
                   "external" (loop for symbol being the external-symbols of package count symbol))
      (plain-parts "deleted" t)))

(defun thread-parts (thread)
  "Return the properties of THREAD as parts."
  (let ((lock (ignore-errors (waited-for thread))))
    (append (plain-parts "name" (sb-thread:thread-name thread)
                         "alive" (sb-thread:thread-alive-p thread))
            (when lock (plain-parts "waits for" lock)))))

(defun stream-parts (stream)
  "Return the properties of STREAM, which is no Gray stream, as parts."
  (flet ((told (function) (ignore-errors (funcall function stream))))
    (append (plain-parts "open" (told #'open-stream-p) "input" (told #'input-stream-p)
                         "output" (told #'output-stream-p)
                         "element type" (told #'stream-element-type))
            (when (typep stream 'file-stream)
              (plain-parts "file" (told #'pathname) "position" (told #'file-position))))))

(defun class-parts (class)
  "Return the properties of CLASS as parts."
  (plain-parts "name" (class-name class)
               "superclasses" (mapcar #'class-name (sb-mop:class-direct-superclasses class))
               "subclasses" (mapcar #'class-name (sb-mop:class-direct-subclasses class))
               "slots" (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class))))

(defun object-parts (object)
  "Return the parts of OBJECT, at most 100000."
  (typecase object
    (symbol (symbol-parts object))
    (cons (list-parts object))
    (string '())
    (array (array-parts object))
    (hash-table (table-parts object))
    (function (function-parts object))
    (package (package-parts object))
    (sb-thread:thread (thread-parts object))
    (class (class-parts object))
    ((and stream (not (or standard-object))) (stream-parts object))
    ((or standard-object structure-object condition) (slot-parts object))))
