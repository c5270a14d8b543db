;;;; Declares the types of the JSON values that the server and the backend exchange. Each room, a
;;;; folder of lisp/, declares the objects that it builds. scripts/operations.mjs writes the
;;;; server's types, and the tables of the page about the wire, from these declarations and those of
;;;; the operations.

;;; A type is STRING, INTEGER, REAL, BOOLEAN, NULL, ANYTHING, the name of a shape or of another
;;; type, or one of these lists:
;;;   (LIST type)         an array of any length
;;;   (TUPLE type ...)    an array with an element of each type; those after &OPTIONAL can be absent
;;;   (MAP type)          an object with any names of members
;;;   (OBJECT member ...) an object with these members, as in DEFINE-SHAPE
;;;   (MEMBER text ...)   one of these strings
;;;   (NULLABLE type), (OR type ...)

(in-package "LIVE-LISP.BASE")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun json-key (symbol)
    "Return the JSON key of SYMBOL, the name of a parameter or member: \"formNumber\" for
FORM-NUMBER."
    (let ((words (string-capitalize (symbol-name symbol))))
      (setf (char words 0) (char-downcase (char words 0)))
      (remove #\- words)))

  (defun type-key (symbol)
    "Return the name that the type SYMBOL has on the server: \"TestResult\" for TEST-RESULT."
    (remove #\- (string-capitalize (symbol-name symbol))))

  (defun wire-type (type)
    "Return TYPE, a type as in DEFINE-SHAPE, in the form that FITS-P takes: symbols such as STRING
and LIST become keywords, and names of other types become strings."
    (flet ((kept (name) (intern (symbol-name name) "KEYWORD")))
      (cond ((atom type)
             (if (member type '("STRING" "INTEGER" "REAL" "BOOLEAN" "NULL" "ANYTHING" "&OPTIONAL")
                         :test #'string=)
                 (kept type)
                 (type-key type)))
            ((eq (first type) 'member) (cons :member (rest type)))
            (t (cons (kept (first type))
                     (if (string= (first type) "OBJECT")
                         (mapcar #'wire-member (rest type))
                         (mapcar #'wire-type (rest type))))))))

  (defun wire-member (member)
    "Return a list (KEY TYPE OPTIONAL WORDS) for MEMBER, a list (NAME TYPE [:OPTIONAL] [WORDS]). KEY
is the JSON key, TYPE the result of WIRE-TYPE, OPTIONAL true for an optional member, and WORDS the
description or NIL."
    (destructuring-bind (name type &rest more) member
      (list (json-key name) (wire-type type) (eq (first more) :optional)
            (find-if #'stringp more)))))

(defvar *wire-types* (make-hash-table :test 'equal)
  "A hash table from names of types on the server, strings, to lists (TYPE WORDS PARENTS). TYPE is a
result of WIRE-TYPE, and WORDS a description. PARENTS lists the names of shapes whose members an
object of the type has too.")

(defmacro define-shape (name (&rest parents) documentation &body members)
  "Declare NAME, with the string DOCUMENTATION, as a type of JSON objects. Such an object has
MEMBERS, lists (NAME TYPE [:OPTIONAL] [WORDS]), and the members of the shapes PARENTS. A member in
MEMBERS can narrow the type of the same member in PARENTS."
  `(setf (gethash ,(type-key name) *wire-types*)
         '((:object ,@(mapcar #'wire-member members)) ,documentation
           ,(mapcar #'type-key parents))))

(defmacro define-wire-type (name type documentation)
  "Declare NAME, with the string DOCUMENTATION, as another name of the wire type TYPE."
  `(setf (gethash ,(type-key name) *wire-types*) '(,(wire-type type) ,documentation ())))

(defun whole-number (value)
  "Return VALUE, or an integer if VALUE is a float without a fraction. The server writes large
integers with an exponent, so the backend reads them as floats."
  (if (and (floatp value) (= value (ftruncate value))) (values (truncate value)) value))

(defun fits-tuple-p (values types)
  "Return true if VALUES, a list, fits TYPES, a list of types from WIRE-TYPE: each value is of the
type at its position. Values for the types after :&OPTIONAL may be missing."
  (loop with optional = nil
        for type in types
        do (cond ((eq type :&optional) (setf optional t))
                 ((null values) (return optional))
                 ((not (fits-p (pop values) type)) (return nil)))
        finally (return (null values))))

(defun shape-members (name)
  "Return a list of the members of the shape NAME, a string, and of its parents. Each member is a
list (KEY TYPE OPTIONAL WORDS), as WIRE-MEMBER returns it."
  (destructuring-bind (type words parents) (gethash name *wire-types*)
    (declare (ignore words))
    (append (rest type) (mapcan (lambda (parent) (copy-list (shape-members parent))) parents))))

(defun fits-members-p (value members)
  "Return true if VALUE is a hash table that fits MEMBERS, a list of lists (KEY TYPE OPTIONAL WORDS)
from WIRE-MEMBER: each member has its type, or is optional and absent."
  (and (hash-table-p value)
       (loop for (key type optional) in members
             for found = (gethash key value)
             always (or (and optional (null found)) (fits-p found type)))))

(defun fits-p (value type)
  "Return true if VALUE, read from JSON, is of TYPE, a result of WIRE-TYPE. If VALUE is NIL, it was
null, false or an empty array in the JSON, so it fits all of these types."
  (destructuring-bind (kind . parts) (if (listp type) type (list type))
    (case kind
      (:anything t)
      (:null (null value))
      (:string (stringp value))
      (:integer (integerp (whole-number value)))
      (:real (realp value))
      (:boolean (member value '(t nil)))
      (:object (fits-members-p value parts))
      (:map (and (hash-table-p value)
                 (loop for each being the hash-values of value
                       always (fits-p each (first parts)))))
      (:list (and (listp value) (loop for each in value always (fits-p each (first parts)))))
      (:tuple (and (listp value) (fits-tuple-p value parts)))
      (:nullable (or (null value) (fits-p value (first parts))))
      (:or (loop for part in parts thereis (fits-p value part)))
      (:member (member value parts :test #'equal))
      (t (let ((named (first (gethash kind *wire-types*))))
           (if (eq :object (first named))
               (fits-members-p value (shape-members kind))
               (fits-p value named)))))))

(defun wire-type-text (type)
  "Return TYPE, a result of WIRE-TYPE, as text for an error message, such as (list string)."
  (cond ((stringp type) type)
        ((symbolp type) (string-downcase type))
        ((eq (first type) :member) (format nil "~{~S~^ or ~}" (rest type)))
        ((eq (first type) :object) "object")
        (t (format nil "(~(~A~)~{ ~A~})" (first type) (mapcar #'wire-type-text (rest type))))))
