;;;; Finds the first difference of two values that are too long to show, or that print without their
;;;; contents.

(in-package "LIVE-LISP.TESTS")

(defparameter *compared-parts* 100000 "At most this many parts of two values are compared.")
(defparameter *characters-of-part* 20 "This many compared characters count as one part.")
(defparameter *compared-depth* 50 "Objects nested deeper are not compared.")

(defun nothing-p (part)
  "True when PART stands for a missing part: one value has no such place."
  (eq part '%nothing))

;;; The parts of two values, place by place

(defun call-with-elements (function one other)
  "Call FUNCTION with each place of the lists ONE and OTHER, and with the two elements there. A
place is an index, or :CDR for the tails of dotted lists. Stop after one or two rounds in circular
lists."
  (loop with mark = nil and other-mark = nil
        for index from 0
        while (and (consp one) (consp other) (not (and (eq one mark) (eq other other-mark))))
        do (when (= 1 (logcount index)) (setf mark one other-mark other))
           (funcall function index (pop one) (pop other))
        finally (cond ((and (consp one) (consp other)))
                      ((and (consp one) (null other)) (funcall function index (car one) '%nothing))
                      ((and (null one) (consp other))
                       (funcall function index '%nothing (car other)))
                      (t (funcall function :cdr one other)))))

(defun call-with-places (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, for the arrays ONE and OTHER. Two vectors may differ in
length; other arrays must have the same dimensions."
  (flet ((part (array index)
           (if (< index (array-total-size array)) (row-major-aref array index) '%nothing))
         (subscripts (index)
           (loop for (nil . inner) on (array-dimensions one)
                 collect (multiple-value-bind (subscript rest) (floor index (reduce #'* inner))
                           (setf index rest)
                           subscript))))
    (if (and (vectorp one) (vectorp other))
        (loop for index below (max (length one) (length other))
              do (funcall function index
                          (if (< index (length one)) (aref one index) '%nothing)
                          (if (< index (length other)) (aref other index) '%nothing)))
        (dotimes (index (array-total-size one))
          (funcall function (cons :subscripts (subscripts index)) (part one index)
                   (part other index))))))

(defparameter *parts-of-key* 1000
  "A hash table key with more parts is not looked up in the other table.")

(defun finite-p (key)
  "True when KEY is not circular and has at most *PARTS-OF-KEY* parts. To hash another KEY could
take forever."
  (let ((left *parts-of-key*))
    (labels ((look (part)
               (when (minusp (decf left)) (return-from finite-p nil))
               (when (consp part) (look (car part)) (look (cdr part)))))
      (look key)
      t)))

(defun call-with-entries (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, for the hash tables ONE and OTHER. The places are
keys."
  (loop for key being the hash-keys of one using (hash-value value)
        when (finite-p key)
          do (funcall function (cons :key key) value (gethash key other '%nothing)))
  (loop for key being the hash-keys of other using (hash-value value)
        when (and (finite-p key) (nothing-p (gethash key one '%nothing)))
          do (funcall function (cons :key key) '%nothing value)))

(defun call-with-slots (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, for ONE and OTHER, instances of a class. The places are
slots."
  (let ((slots (inner-slots one)) (others (inner-slots other)))
    (loop for (name . value) in (union slots others :key #'car)
          for (one other) = (loop for known in (list slots others)
                                  collect (let ((pair (assoc name known)))
                                            (if pair (cdr pair) '%nothing)))
          do (funcall function (cons :slot name) one other))))

(defun caller-of-places (one other)
  "Return the CALL-WITH-... function that goes through the parts of ONE and OTHER. Return NIL if
they have no parts, or parts of different kinds."
  (flet ((both-p (type) (and (typep one type) (typep other type))))
    (cond ((both-p 'cons) #'call-with-elements)
          ((both-p 'string) nil)
          ((both-p 'array)
           (and (or (both-p 'vector) (equal (array-dimensions one) (array-dimensions other)))
                #'call-with-places))
          ((both-p 'hash-table) #'call-with-entries)
          ((and (both-p '(or standard-object structure-object condition))
                (eq (class-of one) (class-of other)))
           #'call-with-slots))))

(defun alike-p (exactly one other)
  "True when the atoms ONE and OTHER are equal, or objects with parts have the same class. Letter
case and the types of numbers count only with EXACTLY."
  (flet ((plain-p (object) (typep object '(or symbol number character pathname))))
    (if (or (plain-p one) (plain-p other))
        (if exactly (equal one other) (equalp one other))
        (eq (class-of one) (class-of other)))))

(defun other-character (exactly one other limit)
  "Return the first index below LIMIT at which the strings ONE and OTHER differ, or NIL. Letter case
counts only with EXACTLY."
  (loop for index below (min limit (max (length one) (length other)))
        unless (and (< index (length one))
                    (< index (length other))
                    (let ((char (char one index)) (other (char other index)))
                      (if exactly (char= char other) (char-equal char other))))
          return index))

(defparameter *others-of-part* 8
  "For each object at most this many comparisons with other objects are remembered.")

(defun compared-p (seen depth one other)
  "True when ONE and OTHER were compared before at nesting depth DEPTH or less. SEEN is a table from
objects to alists from other objects to that depth. Else return NIL, and remember the comparison,
unless ONE has *OTHERS-OF-PART* already."
  (let* ((known (gethash one seen)) (pair (assoc other known :test #'eq)))
    (cond (pair (or (<= (cdr pair) depth) (progn (setf (cdr pair) depth) nil)))
          ((< (length known) *others-of-part*) (push (cons other depth) (gethash one seen)) nil))))

(defun first-difference (exactly one other)
  "Return a list of three elements: the path to the first difference of ONE and OTHER, and the two
parts there. The path is a list of places, the outermost first. EXACTLY is as for ALIKE-P. Return
NIL when no difference is found."
  ;; Objects can refer to each other, as a child to its parent. SEEN prevents endless rounds.
  (let ((left *compared-parts*) (seen (make-hash-table :test 'eq)))
    (labels ((found (path one other) (return-from first-difference (list (reverse path) one other)))
             (look-strings (path one other)
               (let ((place (other-character exactly one other (* left *characters-of-part*))))
                 (when place (found (cons place path) one other))
                 (decf left (floor (length one) *characters-of-part*))))
             (look (path one other depth)
               (when (minusp (decf left)) (return-from first-difference nil))
               (let ((caller (and (not (eq one other))
                                  (< depth *compared-depth*)
                                  (caller-of-places one other))))
                 (cond ((eq one other))
                       (caller (unless (compared-p seen depth one other)
                                 (funcall caller
                                          (lambda (place one other)
                                            (look (cons place path) one other (1+ depth)))
                                          one other)))
                       ((and (stringp one) (stringp other)) (look-strings path one other))
                       ((not (alike-p exactly one other)) (found path one other))))))
      (look '() one other 0)
      nil)))

(defun difference (one other)
  "Return the first difference of ONE and OTHER, as FIRST-DIFFERENCE does. Letter case and the types
of numbers count only if there is no other difference, as some predicates ignore them."
  ;; Another thread can change the values meanwhile, which may signal an error.
  (ignore-errors (or (first-difference nil one other) (first-difference t one other))))

;;; Rendering

(defparameter *part-of-value* 24 "At most this many characters are shown of a part that differs.")
(defparameter *before-difference* 6
  "This many characters of a string are shown before the first difference.")

(defparameter *outer-places* 6
  "For a long path, this many places at its beginning are shown, and as many at its end.")

(defun path-text (path package)
  "Return PATH, from DIFFERENCE, as text, with names as in PACKAGE."
  (with-output-to-string (out)
    (dolist (place (if (<= (length path) (* 2 *outer-places*))
                       path
                       (append (subseq path 0 *outer-places*) '(:more) (last path *outer-places*))))
      (case place
        (:more (write-string "..." out))
        (:cdr (write-string ".cdr" out)))
      (typecase place
        (integer (format out "[~D]" place))
        ;; An array without dimensions has one place, with no subscripts.
        ((cons (eql :subscripts)) (format out "~:[[]~;~:*~{[~D]~}~]" (cdr place)))
        ((cons (eql :key))
         (format out "[~A]" (printing-briefly *part-of-value* (cdr place) package)))
        ((cons (eql :slot)) (format out ".~(~A~)" (cdr place)))))))

(defun string-part (string place &optional (quote "\""))
  "Return the part of STRING around the index PLACE as text between two QUOTEs. Line breaks in it
are escaped."
  (let* ((start (if (> place (+ *before-difference* 3)) (- place *before-difference*) 0))
         (end (min (length string) (+ start *part-of-value*))))
    (with-output-to-string (out)
      (format out "~A~:[...~;~]" quote (zerop start))
      (loop for char across (subseq string start end)
            do (case char
                 (#\Newline (write-string "\\n" out))
                 (#\Tab (write-string "\\t" out))
                 (#\Return (write-string "\\r" out))
                 ((#\" #\\) (format out "~:[\\~;~]~A" (string= quote "") char))
                 (t (if (graphic-char-p char)
                        (write-char char out)
                        (format out "\\x~X;" (char-code char))))))
      (format out "~:[...~;~]~A" (= end (length string)) quote))))

(defun part-text (part package &optional (limit *part-of-value*))
  "Return PART, from FIRST-DIFFERENCE, as text of at most LIMIT characters, with names as in
PACKAGE."
  (if (nothing-p part) "nothing" (printing-briefly limit part package)))

(defparameter *printed-characters* 1000
  "At most this many characters are compared of the texts of two parts that begin alike.")

(defun part-texts (one other package)
  "Return ONE and OTHER, two parts that differ, as two texts, with names as in PACKAGE. If both
texts begin alike, as paths do, return excerpts that begin near the first difference."
  (flet ((texts (limit) (values (part-text one package limit) (part-text other package limit))))
    (multiple-value-bind (text other-text) (texts *part-of-value*)
      (if (string/= text other-text)
          (values text other-text)
          (multiple-value-bind (long other-long) (texts *printed-characters*)
            (let ((place (other-character t long other-long *printed-characters*)))
              (if place
                  (values (string-part long place "") (string-part other-long place ""))
                  (values text other-text))))))))

(defun difference-texts (one other package)
  "Return three texts: the first parts in which ONE and OTHER differ, and the path to these parts.
The path is empty if the values differ as a whole. Return NIL when no difference is found."
  (destructuring-bind (&optional (path nil found) one other) (difference one other)
    (when found
      (multiple-value-call #'values
        (if (and (stringp one) (stringp other))
            (let ((place (first (last path))))
              (values (string-part one place) (string-part other place)))
            (part-texts one other package))
        (path-text path package)))))
