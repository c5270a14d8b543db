;;;; Finds the first difference of two values. This is for values whose texts do not show the
;;;; difference, because they are too long or do not show the contents.

(in-package "LIVE-LISP.JOBS")

(defparameter *compared-parts* 100000
  "The largest number of pairs of parts of two values that are compared.")
(defparameter *characters-of-part* 20
  "The number of characters of a string that count as one part towards *COMPARED-PARTS*.")
(defparameter *compared-depth* 50 "The nesting depth from which on objects are not compared.")

(defun nothing-p (part)
  "Return true if PART is the symbol %NOTHING, which stands for a part that one of two values
lacks."
  (eq part '%nothing))

;;; Visiting the parts of two values in pairs

(defun call-with-elements (function one other)
  "Call FUNCTION for each position in the lists ONE and OTHER, with the position and the two
elements there. A position is an index, or :CDR for the tails of dotted lists. If one list is
shorter, pass %NOTHING once for its missing element. Stop in circular lists after one or two
rounds."
  ;; This is Brent's algorithm: the marks move at each power of two, and a later round meets them.
  ;; If both lists still have elements at the end, both are circular.
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
  "Call FUNCTION for each position in the arrays ONE and OTHER, with the position and the two
elements there. The position in vectors is an index. In arrays, which must have the same dimensions,
it is (:SUBSCRIPTS subscript...)."
  (flet ((element (vector index)
           (if (< index (length vector)) (aref vector index) '%nothing))
         (subscripts (index)
           (loop for (nil . inner) on (array-dimensions one)
                 collect (multiple-value-bind (subscript rest) (floor index (reduce #'* inner))
                           (setf index rest)
                           subscript))))
    (if (and (vectorp one) (vectorp other))
        (loop for index below (max (length one) (length other))
              do (funcall function index (element one index) (element other index)))
        (dotimes (index (array-total-size one))
          (funcall function (cons :subscripts (subscripts index))
                   (row-major-aref one index) (row-major-aref other index))))))

(defparameter *parts-of-key* 1000
  "The largest number of parts of a hash table key that is compared. A search for a larger key takes
too long.")

(defun finite-p (key)
  "Return true if KEY, a key of a hash table, is not circular and has at most *PARTS-OF-KEY* parts.
To compute the hash of any other key could take forever."
  (let ((left *parts-of-key*))
    (labels ((look (part)
               (when (minusp (decf left)) (return-from finite-p nil))
               (when (consp part) (look (car part)) (look (cdr part)))))
      (look key)
      t)))

(defun call-with-entries (function one other)
  "Call FUNCTION for each key in the hash tables ONE and OTHER, with three arguments: the position,
a cons (:KEY . key), and the values of the key in ONE and in OTHER. The value is the symbol %NOTHING
if the table lacks the key."
  (loop for key being the hash-keys of one using (hash-value value)
        when (finite-p key)
          do (funcall function (cons :key key) value (gethash key other '%nothing)))
  (loop for key being the hash-keys of other using (hash-value value)
        when (and (finite-p key) (nothing-p (gethash key one '%nothing)))
          do (funcall function (cons :key key) '%nothing value)))

(defun call-with-slots (function one other)
  "Call FUNCTION for each slot of ONE and OTHER, instances of the same class, with the position
(:SLOT name) and the two values. For an unbound slot, pass the symbol %NOTHING."
  (let ((slots (inner-slots one)) (other-slots (inner-slots other)))
    (flet ((value-in (slots name)
             (let ((pair (assoc name slots))) (if pair (cdr pair) '%nothing))))
      (loop for (name) in (union slots other-slots :key #'car)
            do (funcall function (cons :slot name)
                        (value-in slots name) (value-in other-slots name))))))

(defun visitor-of-parts (one other)
  "Return the function that visits the parts of ONE and OTHER in pairs, such as CALL-WITH-SLOTS.
Return NIL if one of them has no parts, or if they have parts of different kinds. Also return NIL if
both are strings, for which FIRST-DIFFERENCE uses the faster OTHER-CHARACTER."
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
  "Return true if ONE and OTHER are equal symbols, numbers, characters or pathnames, or if both are
other objects of the same class, and of the same dimensions if they are arrays. If EXACTLY is false,
ignore letter case and the types of numbers."
  (flet ((plain-p (object) (typep object '(or symbol number character pathname))))
    (if (or (plain-p one) (plain-p other))
        (if exactly (equal one other) (equalp one other))
        (and (eq (class-of one) (class-of other))
             (or (not (arrayp one))
                 (vectorp one)
                 (equal (array-dimensions one) (array-dimensions other)))))))

(defun other-character (exactly one other limit)
  "Return the first index below LIMIT at which the strings ONE and OTHER differ, or NIL. If EXACTLY
is false, ignore letter case."
  (loop for index below (min limit (max (length one) (length other)))
        unless (and (< index (length one))
                    (< index (length other))
                    (let ((char (char one index)) (other (char other index)))
                      (if exactly (char= char other) (char-equal char other))))
          return index))

(defparameter *others-of-part* 8
  "The largest number of comparisons that COMPARED-BEFORE-P records for one object.")

(defun compared-before-p (seen depth one other)
  "Return true if SEEN records a comparison of ONE with OTHER at nesting depth DEPTH or less.
Otherwise return NIL, and record this comparison in SEEN. But record at most *OTHERS-OF-PART*
comparisons of ONE. SEEN is a hash table from objects to alists from other objects to depths."
  (let* ((known (gethash one seen)) (pair (assoc other known :test #'eq)))
    (cond (pair (or (<= (cdr pair) depth) (progn (setf (cdr pair) depth) nil)))
          ((< (length known) *others-of-part*) (push (cons other depth) (gethash one seen)) nil))))

(defun first-difference (one other &key exactly)
  "Return a list (PATH PART OTHER-PART) for the first difference of ONE and OTHER, or NIL. PATH is a
list of positions such as 3, :CDR or (:SLOT name), the outermost first. If EXACTLY is false, ignore
letter case and the types of numbers. NIL does not mean that the values are equal: the difference
can be beyond *COMPARED-PARTS* or *COMPARED-DEPTH*."
  ;; Objects can refer to each other, as child and parent do. SEEN prevents endless loops.
  (let ((left *compared-parts*) (seen (make-hash-table :test 'eq)))
    (labels ((found (path one other) (return-from first-difference (list (reverse path) one other)))
             (look-strings (path one other)
               (let ((place (other-character exactly one other (* left *characters-of-part*))))
                 (when place (found (cons place path) one other))
                 (decf left (floor (length one) *characters-of-part*))))
             (look (path one other depth)
               (when (minusp (decf left)) (return-from first-difference nil))
               (unless (eq one other)
                 (let ((visitor (and (< depth *compared-depth*) (visitor-of-parts one other))))
                   (cond (visitor (unless (compared-before-p seen depth one other)
                                    (funcall visitor
                                             (lambda (place one other)
                                               (look (cons place path) one other (1+ depth)))
                                             one other)))
                         ((and (stringp one) (stringp other)) (look-strings path one other))
                         ((not (alike-p exactly one other)) (found path one other)))))))
      (look '() one other 0)
      nil)))

(defun difference (one other)
  "Return a list (PATH PART OTHER-PART), as FIRST-DIFFERENCE does, for the first difference of ONE
and OTHER, or NIL. A difference in letter case or in the types of numbers counts only if there is no
other: the program may have compared with a predicate that ignores it, such as EQUALP."
  (nil-if-program-fails
    (or (first-difference one other) (first-difference one other :exactly t))))
