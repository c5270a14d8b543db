;;;; Tests of lisp/sources and lisp/tests: forms in texts, and what differs between two values.

(in-package "LIVE-LISP-TESTS")

(deftest form-positions
    (let ((text "; a (comment)
#| and #| (one) |# |#
(defun f () \"(\") #+nothing (g) 'x"))
      (loop for (start . end) across (live-lisp.sources:form-bounds text)
            collect (subseq text start end)))
  ("(defun f () \"(\") " "'x"))

;;; The first difference of two values

(defun differing (one other)
  "Return a list of the texts of the first parts in which ONE and OTHER differ, and their path."
  (multiple-value-list
   (live-lisp.tests::difference-texts one other (find-package "LIVE-LISP-TESTS"))))

(deftest difference.equal (differing '(1 (2 3)) '(1 (2 3))) (nil))
(deftest difference.list (differing '(1 (2 3)) '(1 (2 4))) ("3" "4" "[1][1]"))
(deftest difference.shorter (differing '(1 2) '(1)) ("2" "nothing" "[1]"))
(deftest difference.string (differing "abc" "abd") ("\"abc\"" "\"abd\"" "[2]"))
(deftest difference.slot (differing (make-pair :left 1) (make-pair :left 2)) ("1" "2" ".left"))
(deftest difference.circular
    (let ((one (list 1 2)) (other (list 1 2)))
      (setf (cddr one) one (cddr other) other)
      (differing one other))
  (nil))
(deftest difference.dimensions (first (differing #2A((1)) #2A((1 2)))) "#2A((1))")
(deftest difference.table
    (let ((one (make-hash-table)) (other (make-hash-table)))
      (setf (gethash :a one) 1 (gethash :a other) 2)
      (differing one other))
  ("1" "2" "[:a]"))

(deftest parts.excluded
    (let ((form "(progn #+nowhere-at-all (foo #.(error \"It was read.\")) (bar gone:name) (baz))"))
      (values (live-lisp.sources::parts-at-top-level form) (find-symbol "BAZ")))
  ("(bar gone:name)" "(baz)") nil)
