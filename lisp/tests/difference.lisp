;;;; Shows the first difference of two values as text. DIFFERENCE, which finds it, is in
;;;; jobs/difference.lisp.

(in-package "LIVE-LISP.TESTS")

(defparameter *part-of-value* 24
  "The maximum number of characters shown of a part that differs.")
(defparameter *before-difference* 6
  "The number of characters of a string shown before the first difference.")

(defparameter *outer-places* 6
  "The number of positions shown at each end of a long path.")

(defun path-text (path package)
  "Return text such as \"[2].name\" for PATH, a list of positions such as 2 or (:SLOT NAME), from
DIFFERENCE. Print names as in PACKAGE."
  (with-output-to-string (out)
    (dolist (place (if (<= (length path) (* 2 *outer-places*))
                       path
                       (append (subseq path 0 *outer-places*) '(:more) (last path *outer-places*))))
      (case place
        (:more (write-string "..." out))
        (:cdr (write-string ".cdr" out)))
      (typecase place
        (integer (format out "[~D]" place))
        ;; An array without dimensions has one element, without subscripts.
        ((cons (eql :subscripts)) (format out "~:[[]~;~:*~{[~D]~}~]" (cdr place)))
        ((cons (eql :key))
         (format out "[~A]" (printing-briefly *part-of-value* (cdr place) package)))
        ((cons (eql :slot)) (format out ".~(~A~)" (cdr place)))))))

(defun string-part (string place &optional (quote "\""))
  "Return at most *PART-OF-VALUE* characters of STRING around index PLACE, with the string QUOTE
before and after them. Escape line breaks and other control characters."
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
  "PART is one of the two differing parts that DIFFERENCE returns. Return text of at most LIMIT
characters for PART, with names as in PACKAGE. Return \"nothing\" if PART marks that one of the
compared values has no such part (NOTHING-P)."
  (if (nothing-p part) "nothing" (printing-briefly limit part package)))

(defparameter *printed-characters* 1000
  "The maximum number of characters in which PART-TEXTS searches for the first difference of two
texts.")

(defun part-texts (one other package)
  "ONE and OTHER are two differing parts. Return a text for each. If the texts begin alike, return
excerpts that begin near their first difference. Print names as in PACKAGE."
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
  "Return three texts for the first difference of ONE and OTHER: the differing part of ONE, the
differing part of OTHER, and the path to these parts. The path is empty if ONE and OTHER differ as a
whole. Return NIL if there is no difference. Print names as in PACKAGE."
  (destructuring-bind (&optional (path nil found) one other) (difference one other)
    (when found
      (multiple-value-call #'values
        (if (and (stringp one) (stringp other))
            (let ((place (first (last path))))
              (values (string-part one place) (string-part other place)))
            (part-texts one other package))
        (path-text path package)))))
