;;;; Finds where two values differ first, if they are too long to show, or do not print what they
;;;; hold.

(in-package "LIVE-LISP.TESTS")

(defparameter *compared-parts* 100000 "At most this many parts of two values are compared.")
(defparameter *characters-of-part* 20 "This many characters count as one part.")
(defparameter *compared-depth* 50 "Objects nested deeper are not compared.")

(defun nothing-p (part)
  "True when PART stands for a part that a value does not have."
  (eq part '%nothing))

;;; What two values have at each place

(defun call-with-elements (function one other)
  "Call FUNCTION with each place of the lists ONE and OTHER, an index or :CDR, and with what these
have there. A circular list is traversed once or twice."
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
  "Call FUNCTION as CALL-WITH-ELEMENTS does, for arrays. Only vectors may differ in their
dimensions."
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

(defparameter *parts-of-key* 1000 "A key of a hash table with more parts is not looked up.")

(defun finite-p (key)
  "True when KEY is not a circular list and has few parts. To look up another KEY could take for
ever."
  (let ((left *parts-of-key*))
    (labels ((look (part)
               (when (minusp (decf left)) (return-from finite-p nil))
               (when (consp part) (look (car part)) (look (cdr part)))))
      (look key)
      t)))

(defun call-with-entries (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, for hash tables; the places are keys."
  (loop for key being the hash-keys of one using (hash-value value)
        when (finite-p key)
          do (funcall function (cons :key key) value (gethash key other '%nothing)))
  (loop for key being the hash-keys of other using (hash-value value)
        when (and (finite-p key) (nothing-p (gethash key one '%nothing)))
          do (funcall function (cons :key key) '%nothing value)))

(defun call-with-slots (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, for instances of a class; the places are slots."
  (let ((slots (inner-slots one)) (others (inner-slots other)))
    (loop for (name . value) in (union slots others :key #'car)
          for (one other) = (loop for known in (list slots others)
                                  collect (let ((pair (assoc name known)))
                                            (if pair (cdr pair) '%nothing)))
          do (funcall function (cons :slot name) one other))))

(defun caller-of-places (one other)
  "Return the CALL-WITH function above for the parts of ONE and OTHER, or NIL unless both have the
same kind of parts."
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
  "True when ONE and OTHER are alike: plain values equal, others of one class. Case and number type
count if EXACTLY."
  (flet ((plain-p (object) (typep object '(or symbol number character pathname))))
    (if (or (plain-p one) (plain-p other))
        (if exactly (equal one other) (equalp one other))
        (eq (class-of one) (class-of other)))))

(defun other-character (exactly one other limit)
  "Return the index, below LIMIT, at which the strings ONE and OTHER differ first, or NIL. With
EXACTLY, case counts."
  (loop for index below (min limit (max (length one) (length other)))
        unless (and (< index (length one))
                    (< index (length other))
                    (let ((char (char one index)) (other (char other index)))
                      (if exactly (char= char other) (char-equal char other))))
          return index))

(defparameter *others-of-part* 8
  "For each part at most this many comparisons with other parts are remembered.")

(defun compared-p (seen depth one other)
  "True when ONE and OTHER were compared before, at nesting depth DEPTH or less; the table SEEN maps
an object to an alist from the other object to that depth. Otherwise record the pair, if ONE has
room for it, and return NIL."
  (let* ((known (gethash one seen)) (pair (assoc other known :test #'eq)))
    (cond (pair (or (<= (cdr pair) depth) (progn (setf (cdr pair) depth) nil)))
          ((< (length known) *others-of-part*) (push (cons other depth) (gethash one seen)) nil))))

(defun first-difference (exactly one other)
  "Return a list of the path to where ONE and OTHER differ first, and of the parts that each has
there. The path is a list of places, outermost first. EXACTLY is as for ALIKE-P. Return NIL when no
difference is found."
  ;; SEEN, because objects can refer to each other, as a child to its parent.
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
  "Return where ONE and OTHER differ first, as FIRST-DIFFERENCE does. Case and the type of a number
count only when nothing else differs: some predicates ignore them."
  ;; Another thread can change them meanwhile.
  (ignore-errors (or (first-difference nil one other) (first-difference t one other))))

;;; Rendering

(defparameter *part-of-value* 24 "Characters shown of a part that differs.")
(defparameter *before-difference* 6 "Characters of a string shown before the first that differs.")

(defparameter *outer-places* 6
  "How many places are shown at the beginning of a long path, and at its end.")

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
        ;; An array without dimensions has a place too.
        ((cons (eql :subscripts)) (format out "~:[[]~;~:*~{[~D]~}~]" (cdr place)))
        ((cons (eql :key))
         (format out "[~A]" (printing-briefly *part-of-value* (cdr place) package)))
        ((cons (eql :slot)) (format out ".~(~A~)" (cdr place)))))))

(defun string-part (string place &optional (quote "\""))
  "Return the part of STRING around the index PLACE, between QUOTE, as text with visible line
breaks."
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
  "Return PART, in which a value differs, as text of at most LIMIT characters, with names as in
PACKAGE."
  (if (nothing-p part) "nothing" (printing-briefly limit part package)))

(defparameter *printed-characters* 1000 "Characters compared of two parts that begin alike.")

(defun part-texts (one other package)
  "Return the parts ONE and OTHER, in which values differ, as texts, with names as in PACKAGE. If
both begin alike, as names of files do, the texts begin near the first difference."
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
  "Return three texts: the parts in which ONE and OTHER differ first, and the path to them, which is
empty when the whole values differ. Return NIL when no difference is found."
  (destructuring-bind (&optional (path nil found) one other) (difference one other)
    (when found
      (multiple-value-call #'values
        (if (and (stringp one) (stringp other))
            (let ((place (first (last path))))
              (values (string-part one place) (string-part other place)))
            (part-texts one other package))
        (path-text path package)))))
