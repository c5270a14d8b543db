;;;; Tests of lisp/look: names as people write them, and code as text.

(in-package "LIVE-LISP-TESTS")

(defun named (text)
  "Return the symbol that TEXT names in the package of the tests, or :NONE."
  (handler-case (live-lisp.look:named-symbol text "LIVE-LISP-TESTS")
    (error () :none)))

(deftest named-symbol
    (mapcar #'named '("point" "POINT" "cl:car" "live-lisp-tests::point" "#'point" "'point" ":key"))
  (point point car point point point :key))
(deftest natures
    (mapcar #'live-lisp.look:natures '(car *print-length* pi defun if point))
  (("FUNCTION") ("VARIABLE") ("VARIABLE") ("MACRO") ("FUNCTION") ("CLASS")))
(deftest plain-text
    (values (live-lisp.look:plain-text 100 '(car "a" #\b 1.5 point))
            (live-lisp.look:plain-text 100 (make-instance 'point)))
  "(CAR \"a\" #\\b 1.5 LIVE-LISP-TESTS::POINT)" "#<LIVE-LISP-TESTS::POINT>")
