;;;; Lists the parts of an object, without running code of the program. OBJECT-PARTS, at the end,
;;;; chooses the function for the type of the object. inspect.lisp shows the parts.

(in-package "LIVE-LISP.DEBUG")

(defstruct (part (:constructor make-part (name value &optional why made)))
  "A part of an object. NAME is a text. VALUE is the value. If there is no value, WHY is a text with
the reason. MADE is true if the value is a list that was made for the answer. Answers give such a
list no id by which the agent could inspect it later, because it is garbage after the answer."
  name value why made)

(defparameter *sorted-limit* 2000
  "The largest number of keys for which the keys of a hash table are shown sorted.")

(defparameter *part-limit* 100000
  "The largest number of parts of an object that inspect lists. For an object with more parts,
OBJECT-PARTS returns one part more than this number, by which INSPECTION sees that there are more.")

(defun printed (object)
  "Return OBJECT printed on one line of at most 200 characters. Run no code of the program."
  (on-one-line (local-text object :limit 200 :length 5)))

(defun plain-parts (&rest names-and-values)
  "Return a list of PART structures. NAMES-AND-VALUES has the name and the value of each part in
turn."
  (loop for (name value) on names-and-values by #'cddr
        collect (make-part name value nil (consp value))))

(defun list-parts (list)
  "Return a list of PART structures for the elements of LIST. For a dotted or circular list, and for
one with more than *PART-LIMIT* elements, the last one is for the tail."
  (loop with seen = (make-hash-table :test 'eq)
        for rest = list then (cdr rest)
        for index from 0 below *part-limit*
        while (and (consp rest) (not (gethash rest seen)))
        do (setf (gethash rest seen) t)
        collect (make-part (decimal-digits index) (car rest)) into parts
        finally (return (if (null rest)
                            parts
                            (append parts
                                    (list (make-part (if (gethash rest seen) "circular" "tail")
                                                     rest)))))))

(defun subscripts-text (index dimensions)
  "Return the subscripts of the element with the row-major index INDEX in an array with DIMENSIONS,
as text such as \"1 0\". Do not use the printer, because the session can have set it to call code of
the program."
  (let ((text nil))
    (dolist (dimension (reverse dimensions) (or text ""))
      (multiple-value-bind (outer-index subscript) (floor index dimension)
        (setf text (concatenate 'string (decimal-digits subscript) (and text " ") text)
              index outer-index)))))

(defun array-parts (array)
  "Return a list of PART structures for the elements of ARRAY. The name of a part is the subscripts
of the element."
  (if (vectorp array)
      (loop for index from 0 below (min (length array) (1+ *part-limit*))
            collect (make-part (decimal-digits index) (aref array index)))
      (loop with dimensions = (array-dimensions array)
            for index from 0 below (min (array-total-size array) (1+ *part-limit*))
            collect (make-part (subscripts-text index dimensions) (row-major-aref array index)))))

(defun table-parts (table)
  "Return a list of PART structures for the values in TABLE, a hash table. The name of a part is its
key, printed. Sort the parts by name, integers by value, if there are at most *SORTED-LIMIT*."
  (let ((parts (loop for key being the hash-keys of table using (hash-value value)
                     repeat (1+ *part-limit*)
                     collect (make-part (printed key) value))))
    (if (> (length parts) *sorted-limit*)
        parts
        (sort parts (lambda (one other)
                      (let ((a (number-in one))
                            (b (number-in other)))
                        (if (and a b) (< a b) (string< one other))))
              :key #'part-name))))

(defun slot-parts (object)
  "Return a list of PART structures for the slots of OBJECT. If a slot is unbound, or only code of
the program could read it, its part has a reason in place of a value."
  (let* ((plain (plain-slots-p object))
         (readable (and (or plain (typep object 'condition)) (all-slots object))))
    (flet ((why-unread ()
             (cond ((outdated-p object) "made before its class was redefined")
                   (plain "unbound")
                   (t "only code of the program can read it"))))
      (loop for slot in (sb-mop:class-slots (class-of object))
            for name = (sb-mop:slot-definition-name slot)
            for pair = (assoc name readable)
            collect (if pair
                        (make-part (symbol-name name) (cdr pair))
                        (make-part (symbol-name name) nil (why-unread)))))))

(defun function-parts (function)
  "Return a list of PART structures for FUNCTION: its name, its lambda list, its file and its
closed-over values."
  (append (plain-parts "name" (plain-function-name function)
                       "parameters" (if (typep function 'generic-function)
                                        (sb-mop:generic-function-lambda-list function)
                                        (plain-lambda-list function)))
          (let ((source (introspect "FIND-DEFINITION-SOURCE" function)))
            (and source
                 (introspect "DEFINITION-SOURCE-PATHNAME" source)
                 (plain-parts "file"
                              (namestring (introspect "DEFINITION-SOURCE-PATHNAME" source)))))
          (when (closure-p function)
            (loop for value in (closed-over function)
                  for index from 0
                  collect (make-part (concatenate 'string "closed-over " (decimal-digits index))
                                 (if (value-cell-p value) (cell-value value) value))))))

(defun symbol-parts (symbol)
  "Return a list of PART structures for SYMBOL: its package, value, function, class and property
list."
  (append (plain-parts "package" (symbol-package symbol))
          (list (if (boundp symbol)
                    (make-part "value" (symbol-value symbol))
                    (make-part "value" nil "unbound")))
          (when (fboundp symbol)
            (plain-parts "function" (or (macro-function symbol) (plain-definition symbol))))
          (when (find-class symbol nil) (plain-parts "class" (find-class symbol)))
          (when (symbol-plist symbol) (list (make-part "plist" (symbol-plist symbol))))))

(defun package-parts (package)
  "Return a list of PART structures for the properties of PACKAGE, such as its nicknames."
  (if (package-name package)
      (plain-parts "name" (package-name package) "nicknames" (package-nicknames package)
                   "uses" (mapcar #'package-name (package-use-list package))
                   "used by" (mapcar #'package-name (package-used-by-list package))
                   "locked" (sb-ext:package-locked-p package)
                   "external" (loop for symbol being the external-symbols of package count symbol))
      (plain-parts "deleted" t)))

(defun thread-parts (thread)
  "Return a list of PART structures for THREAD: its name, whether it is alive, and the lock that it
waits for."
  (let ((lock (waited-for thread)))
    (append (plain-parts "name" (sb-thread:thread-name thread)
                         "alive" (sb-thread:thread-alive-p thread))
            (when lock (plain-parts "waits for" lock)))))

(defun stream-parts (stream)
  "Return a list of PART structures for the properties of STREAM, which must not be a Gray stream."
  (flet ((reported (function) (nil-if-program-fails (funcall function stream))))
    (append (plain-parts "open" (reported #'open-stream-p) "input" (reported #'input-stream-p)
                         "output" (reported #'output-stream-p)
                         "element type" (reported #'stream-element-type))
            (when (typep stream 'file-stream)
              (plain-parts "file" (reported #'pathname) "position" (reported #'file-position))))))

(defun class-parts (class)
  "Return a list of PART structures for CLASS: its name, superclasses, subclasses and slots."
  (plain-parts "name" (class-name class)
               "superclasses" (mapcar #'class-name (sb-mop:class-direct-superclasses class))
               "subclasses" (mapcar #'class-name (sb-mop:class-direct-subclasses class))
               "slots" (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class))))

(defun object-parts (object)
  "Return a list of PART structures for the parts of OBJECT."
  (typecase object
    (symbol (symbol-parts object))
    (cons (list-parts object))
    (string '()) ; The answer shows the text of a string, so its characters are no parts.
    (array (array-parts object))
    (hash-table (table-parts object))
    (generic-function (function-parts object))
    (sb-mop:funcallable-standard-object
     (append (slot-parts object) (plain-parts "function" (instance-function object))))
    (function (function-parts object))
    (package (package-parts object))
    (sb-thread:thread (thread-parts object))
    (class (class-parts object))
    ;; A Gray stream is a STANDARD-OBJECT, and its stream functions are code of the program.
    ((and stream (not standard-object)) (stream-parts object))
    ((or standard-object structure-object condition) (slot-parts object))))
