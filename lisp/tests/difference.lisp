;;;; Where two values differ first, for values that are too long to be told, or that do not say what they hold.

(in-package "LIVE-LISP.TESTS")

(defparameter *compared-parts* 100000 "How many parts of two values are compared.")
(defparameter *characters-of-part* 20 "How many characters count as a part.")
(defparameter *compared-depth* 50 "How deep objects within each other are.")

(defun nothing-p (part)
  "True when PART stands for one that a value does not have."
  (eq part '%nothing))

;;; What two values have in each place

(defun call-with-elements (function one other)
  "Call FUNCTION with each place of the lists ONE and OTHER, and with what these have there."
  (loop for index from 0
        while (and (consp one) (consp other))
        do (funcall function index (pop one) (pop other))
        finally (cond ((and (consp one) (null other)) (funcall function index (car one) '%nothing))
                      ((and (null one) (consp other)) (funcall function index '%nothing (car other)))
                      (t (funcall function :cdr one other)))))

(defun call-with-places (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, of arrays. Of two of other dimensions only vectors are compared."
  (flet ((part (array index) (if (< index (array-total-size array)) (row-major-aref array index) '%nothing))
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
          (funcall function (cons :subscripts (subscripts index)) (part one index) (part other index))))))

(defun call-with-entries (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, of hash tables, whose places are keys."
  (loop for key being the hash-keys of one using (hash-value value)
        do (funcall function (cons :key key) value (gethash key other '%nothing)))
  (loop for key being the hash-keys of other using (hash-value value)
        when (nothing-p (gethash key one '%nothing)) do (funcall function (cons :key key) '%nothing value)))

(defun call-with-slots (function one other)
  "Call FUNCTION as CALL-WITH-ELEMENTS does, of instances of a class, whose places are slots."
  (let ((slots (inner-slots one)) (others (inner-slots other)))
    (loop for (name . value) in (union slots others :key #'car)
          for (one other) = (loop for known in (list slots others)
                                  collect (let ((pair (assoc name known))) (if pair (cdr pair) '%nothing)))
          do (funcall function (cons :slot name) one other))))

(defun caller-of-places (one other)
  "Return the function that calls another with each place of ONE and OTHER, or NIL when they are not of one kind with parts."
  (flet ((both-p (type) (and (typep one type) (typep other type))))
    (cond ((both-p 'cons) #'call-with-elements)
          ((both-p 'string) nil)
          ((both-p 'array)
           (and (or (both-p 'vector) (equal (array-dimensions one) (array-dimensions other))) #'call-with-places))
          ((both-p 'hash-table) #'call-with-entries)
          ((and (both-p '(or standard-object structure-object condition)) (eq (class-of one) (class-of other)))
           #'call-with-slots))))

(defun alike-p (exactly one other)
  "True when ONE and OTHER are alike. Of what is no plain value only the class counts, and the type of a number only EXACTLY."
  (flet ((plain-p (object) (typep object '(or symbol number character pathname))))
    (if (or (plain-p one) (plain-p other))
        (if exactly (equal one other) (equalp one other))
        (eq (class-of one) (class-of other)))))

(defun other-character (exactly one other limit)
  "Return where the strings ONE and OTHER differ first, below LIMIT, or NIL. Case counts only EXACTLY."
  (loop for index below (min limit (max (length one) (length other)))
        unless (and (< index (length one))
                    (< index (length other))
                    (let ((char (char one index)) (other (char other index)))
                      (if exactly (char= char other) (char-equal char other))))
          return index))

(defun first-difference (exactly one other)
  "Return a list of the path to where ONE and OTHER differ first, EXACTLY or not, and of what they have there. The path is a
list of places, the outermost first. Return NIL when no difference is found."
  (let ((left *compared-parts*))
    (labels ((found (path one other) (return-from first-difference (list (reverse path) one other)))
             (look-strings (path one other)
               (let ((place (other-character exactly one other (* left *characters-of-part*))))
                 (when place (found (cons place path) one other))
                 (decf left (floor (length one) *characters-of-part*))))
             (look (path one other depth)
               (when (minusp (decf left)) (return-from first-difference nil))
               (let ((caller (and (not (eq one other)) (< depth *compared-depth*) (caller-of-places one other))))
                 (cond ((eq one other))
                       (caller (funcall caller
                                        (lambda (place one other) (look (cons place path) one other (1+ depth)))
                                        one other))
                       ((and (stringp one) (stringp other)) (look-strings path one other))
                       ((not (alike-p exactly one other)) (found path one other))))))
      (look '() one other 0)
      nil)))

(defun difference (one other)
  "Return where ONE and OTHER differ first, as FIRST-DIFFERENCE does. Case and the type of a number count only when nothing
else differs: there are predicates that they do not count for."
  ;; Another thread can change them meanwhile.
  (ignore-errors (or (first-difference nil one other) (first-difference t one other))))

;;; How it reads

(defparameter *part-of-value* 24 "Characters of a part that differs.")
(defparameter *before-difference* 6 "Characters of a string that are told before the first that differs.")

(defparameter *outer-places* 6 "How many places of a long path are told at its beginning, and at its end.")

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
        ((cons (eql :subscripts)) (format out "~{[~D]~}" (cdr place)))
        ((cons (eql :key)) (format out "[~A]" (printing-briefly *part-of-value* (cdr place) package)))
        ((cons (eql :slot)) (format out ".~(~A~)" (cdr place)))))))

(defun string-part (string place)
  "Return the part of STRING around PLACE as text in which line breaks can be seen."
  (let* ((start (if (> place (+ *before-difference* 3)) (- place *before-difference*) 0))
         (end (min (length string) (+ start *part-of-value*))))
    (with-output-to-string (out)
      (format out "\"~:[...~;~]" (zerop start))
      (loop for char across (subseq string start end)
            do (case char
                 (#\Newline (write-string "\\n" out))
                 (#\Tab (write-string "\\t" out))
                 (#\Return (write-string "\\r" out))
                 ((#\" #\\) (format out "\\~A" char))
                 (t (if (graphic-char-p char) (write-char char out) (format out "\\x~X;" (char-code char))))))
      (format out "~:[...~;~]\"" (= end (length string))))))

(defun part-text (part package)
  "Return PART, in which a value differs, as text, with names as in PACKAGE."
  (if (nothing-p part) "nothing" (printing-briefly *part-of-value* part package)))

(defun difference-texts (one other package)
  "Return the parts in which ONE and OTHER differ first as texts, and the path to them as a third value. Return NIL when no
difference is found, or when the values are of different kinds."
  (destructuring-bind (&optional path one other) (difference one other)
    (when path
      (multiple-value-call #'values
        (if (and (stringp one) (stringp other))
            (let ((place (first (last path)))) (values (string-part one place) (string-part other place)))
            (values (part-text one package) (part-text other package)))
        (path-text path package)))))
