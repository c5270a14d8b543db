;;;; Finds the types of arguments and values in recorded calls (recording.lisp), and proposes an
;;;; FTYPE declaration. TYPES-OF, at the end, does this for the calls of one function.

(in-package "LIVE-LISP.OBSERVE")

(define-shape observed-place ()
  "The values that calls of a function passed for one parameter, or returned as one return value."
  (name string)
  (types (list (object (type string) (count integer))) :optional
   "The types of the values, and how many values were of each type.")
  (least string :optional "The least number.")
  (most string :optional "The greatest number."))

(define-shape observed-types ()
  "The types of the arguments and the return values that were seen in the calls of a function."
  (name string) (calls integer) (parameters (list observed-place) :optional)
  (values (list observed-place) :optional) (declared boolean :optional)
  (type string :optional "The type of the function as SBCL knows it.")
  (proposed string :optional
   "A `(declaim (ftype ...))` form as text, with the types of the recorded arguments and values."))

(defparameter *type-limit* 4
  "The maximum number of types in the proposed type of an argument or a returned value. If there are
more types, T is proposed.")

(defun type-to-declare (object)
  "Return the type specifier that a declaration should use for OBJECT. A GONE-OBJECT
(recording.lisp) stands for an object that was on the stack."
  (typecase object
    (gone-object (class-name (gone-object-class object)))
    (null 'null)
    ((eql t) 'boolean)
    (keyword 'keyword)
    (symbol 'symbol)
    (fixnum 'fixnum)
    (integer 'integer)
    (string (if (simple-string-p object) 'simple-string 'string))
    (cons 'cons)
    (character 'character)
    (bit-vector (if (simple-bit-vector-p object) 'simple-bit-vector 'bit-vector))
    (simple-vector 'simple-vector)
    (array `(,(if (typep object 'simple-array) 'simple-array 'array)
             ,(array-element-type object) ,(if (vectorp object) '(*) (array-rank object))))
    (function 'function)
    (complex 'complex)
    (number (type-of object))
    (t (let ((name (class-name (class-of object))))
         (if (and name (symbolp name) (symbol-package name)) name t)))))

(defun number-type (type)
  "Return the type specifier TYPE, but RATIO for a type such as (RATIO 1/2 1/2)."
  (if (and (consp type) (eq (first type) 'ratio)) 'ratio type))

(defstruct (tally (:constructor make-tally ()))
  "The types recorded for one parameter or value. TYPES is an alist from types to numbers of
objects. LEAST and MOST are the smallest and largest integer, or NIL."
  (types '()) (least nil) (most nil))

(defun count-type (tally object)
  "Add the type of OBJECT, an argument or value, to TALLY, a TALLY structure."
  (let* ((type (number-type (type-to-declare object)))
         (pair (assoc type (tally-types tally) :test #'equal)))
    (when (integerp object)
      (setf (tally-least tally) (min object (or (tally-least tally) object))
            (tally-most tally) (max object (or (tally-most tally) object))))
    (if pair (incf (cdr pair)) (push (cons type 1) (tally-types tally)))))

(defun joined-type (tally)
  "Return one type specifier that includes all types in TALLY, a TALLY structure."
  (let ((types (mapcar #'car (tally-types tally))))
    ;; JOIN replaces the types SOME by WHOLE, if all of SOME were seen.
    (flet ((join (some whole)
             (when (every (lambda (type) (member type types :test #'equal)) some)
               (setf types (cons whole (set-difference types some :test #'equal))))))
      (join '(fixnum integer) 'integer)
      (join '(simple-string string) 'string)
      (join '(keyword symbol) 'symbol)
      (join '(null boolean) 'boolean)
      (join '(null cons) 'list)
      (when (member 'symbol types) (setf types (set-difference types '(null boolean)))))
    (cond ((or (null types) (member t types) (> (length types) *type-limit*)) t)
          ((rest types) `(or ,@(sort types #'string< :key #'princ-to-string)))
          ((and (eq (first types) 'fixnum) (tally-least tally) (not (minusp (tally-least tally))))
           '(and fixnum unsigned-byte))
          (t (first types)))))

;;; Matching arguments to parameters

(defun places-of (parameters arguments)
  "Return a list of (PLACE . ARGUMENT) pairs that matches ARGUMENTS to the lambda list PARAMETERS.
PLACE is the variable of a parameter, a keyword, or &REST, which has a pair for each argument. Leave
out &REST if PARAMETERS also has &KEY. Leave out a keyword that PARAMETERS does not have, and its
argument."
  (let ((places '()) (section nil))
    (dolist (parameter parameters)
      (cond ((member parameter lambda-list-keywords)
             (setf section parameter)
             (when (member parameter '(&key &aux)) (return)))
            ((eq section '&rest))
            ((null arguments) (return))
            (t (push (cons (if (consp parameter) (first parameter) parameter) (pop arguments))
                     places))))
    (when (eq section '&key)
      (loop with known = (keywords-of parameters)
            for (keyword argument) on arguments by #'cddr
            when (member keyword known) do (push (cons keyword argument) places)))
    (when (and (member '&rest parameters) (not (member '&key parameters)))
      (dolist (argument arguments) (push (cons '&rest argument) places)))
    (reverse places)))

(defun keyword-of (parameter)
  "Return the keyword for PARAMETER, an element after &KEY in a lambda list."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    ;; NAME is a list in ((KEYWORD VARIABLE) DEFAULT).
    (if (consp name) (first name) (intern (symbol-name name) "KEYWORD"))))

(defun keywords-of (parameters)
  "Return a list of the keywords that the lambda list PARAMETERS accepts."
  (loop for parameter in (rest (member '&key parameters))
        until (member parameter lambda-list-keywords)
        collect (keyword-of parameter)))

(defun proposed-parameters (parameters types)
  "Return the list of parameter types for an FTYPE declaration of a function with the lambda list
PARAMETERS. TYPES is a function that takes a variable, a keyword or &REST, and returns a type."
  (let ((section nil) (proposed '()))
    (dolist (parameter parameters (reverse proposed))
      (cond ((member parameter '(&optional &rest &key &allow-other-keys))
             (push (setf section parameter) proposed))
            ((member parameter lambda-list-keywords) (return (reverse proposed)))
            ((eq section '&key)
             (let ((keyword (keyword-of parameter)))
               (push (list keyword (funcall types keyword)) proposed)))
            ((eq section '&rest) (push (funcall types '&rest) proposed))
            (t
             (push (funcall types (if (consp parameter) (first parameter) parameter)) proposed))))))

(defun proposed-values (values counts)
  "Return the values type for an FTYPE declaration of a function. VALUES is a list of TALLY
structures, one for each position of a returned value. COUNTS is a list of the numbers of values
that calls have returned. A value that not all of these calls returned becomes &OPTIONAL."
  (if (null counts)
      '*
      (let ((types (mapcar #'joined-type values)) (always (reduce #'min counts)))
        `(values ,@(subseq types 0 always) &optional ,@(nthcdr always types)))))

;;; Describing types in answers

(defun tally-data (name tally)
  "Return a JSON object for TALLY, a TALLY structure for the parameter or value called NAME."
  (object "name" (if (symbolp name) (symbol-name name) (princ-to-string name))
          "types" (loop for (type . count) in (page (stable-sort (copy-list (tally-types tally)) #'>
                                                                 :key #'cdr)
                                                    0 8)
                        collect (object "type" (bare-type-text type) "count" count))
          "least" (and (tally-least tally) (object-text (tally-least tally)))
          "most" (and (tally-least tally) (object-text (tally-most tally)))))

(defun bare-type-text (type)
  "Return text for the type specifier TYPE with package prefixes, so that it can be read in any
package."
  (plain-text 10000 type :case :downcase))

(defun types-of (probe calls)
  "Return a JSON object with the types of the arguments and values in CALLS, which PROBE has
recorded, and with a proposed declaration."
  (let* ((name (probe-name probe))
         (parameters (function-parameters name))
         (places '())
         (values '())
         (counts '()))
    (flet ((tally-of (place)
             (or (cdr (assoc place places))
                 (let ((tally (make-tally))) (push (cons place tally) places) tally)))
           (type-of-place (place)
             (let ((tally (cdr (assoc place places))))
               ;; Without a tally, no call had an argument for PLACE.
               (if tally (joined-type tally) t))))
      (dolist (call calls)
        (loop for (place . argument) in (places-of parameters (call-arguments call))
              do (count-type (tally-of place) argument))
        (when (eq :returned (call-how call))
          (pushnew (length (call-values call)) counts)
          (loop for value in (call-values call)
                for index from 0
                do (when (= index (length values))
                     (setf values (append values (list (make-tally)))))
                   (count-type (nth index values) value))))
      (object "name" (name-text name)
              "calls" (length calls)
              "parameters" (loop for (place . tally) in (reverse places)
                                 collect (tally-data place tally))
              "values" (loop for tally in values for index from 1 collect (tally-data index tally))
              "declared" (declared-type-p name)
              "type" (function-type-text name)
              "proposed" (and calls
                              (bare-type-text
                               `(declaim
                                 (ftype (function ,(proposed-parameters parameters #'type-of-place)
                                                  ,(proposed-values values counts))
                                        ,name))))))))
