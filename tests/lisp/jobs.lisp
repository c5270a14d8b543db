;;;; Tests of lisp/jobs: names near a missing one, and objects printed without user code.

(in-package "LIVE-LISP-TESTS")

(defun distance (one other)
  "Return the edit distance of ONE and OTHER up to 3, or NIL."
  (funcall (live-lisp.jobs::slip-counter one 3) (coerce other 'simple-string)))

(deftest distance.same (distance "mapcar" "MAPCAR") 0)
(deftest distance.kinds
    (values (distance "mapcar" "mapca") (distance "mapcar" "mapxcar") (distance "mapcar" "mapcor")
            (distance "mapcar" "mpacar"))
  1 1 1 1)
(deftest distance.far (distance "mapcar" "reduce") nil)
(deftest nearness (mapcar #'nearness '("abc" "abcd" "abcdefgh" "abcdefghijklm")) (nil 1 2 3))
(deftest near-name
    (member "MAPCAR" (near-condition (make-condition 'undefined-function :name 'mapcra))
            :test #'search)
  ("COMMON-LISP::MAPCAR"))

;;; LOCAL-TEXT

(defvar *printed* nil "True when a print method of these tests was called.")
(defclass point () ((x :initform 1) (y :initform (vector 1 2)) (unset)))
(defmethod print-object ((point point) stream)
  (declare (ignore stream))
  (setf *printed* t)
  (error "No."))
(defstruct pair left right)

(deftest local-text.instance
    (let ((*printed* nil)) (values (local-text (make-instance 'point)) *printed*))
  "#<LIVE-LISP-TESTS::POINT X 1 Y #(1 2)>" nil)
(deftest local-text.structure (local-text (make-pair :left 1))
  "#S(LIVE-LISP-TESTS::PAIR :LEFT 1 :RIGHT NIL)")
(deftest local-text.package (local-text '(point :a) :package (find-package "LIVE-LISP-TESTS"))
  "(POINT :A)")
(deftest local-text.length (local-text (loop for i below 9 collect i) :length 3) "(0 1 2 ...)")
(deftest local-text.limit (local-text (make-string 30 :initial-element #\a) :limit 5) "\"aaaa...")
(deftest local-text.number
  (values (local-text (expt 10 99)) (local-text (expt 10 100)) (local-text (- 1 (expt 2 400)))
          (local-text (list 1 (/ (expt 10 100) 3))) (local-text (expt 2 100000)))
  "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
  "#<10000000000000000000...0000000000, 101 digits>"
  "#<-2582249878086908589...2747493375, 121 digits>"
  "(1 #<10000000000000000000...00000000/3, 102 digits>)"
  "#<NUMBER of 100002 bits>")
(deftest local-text.circular
    (let ((list (list 1))) (setf (cdr list) list) (local-text list :length 3))
  "(1 1 1 ...)")
