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

;;; Files that are read again

(defmacro entering (name)
  "Make the package NAME current, as IN-PACKAGE does."
  `(in-package ,name))

(defun packages-in (text)
  "Return the names of the packages in which the forms of TEXT, of a file, are read."
  ;; RANDOM gives the same numbers in each new SBCL, so two runs at once would share a file.
  (let* ((folder (sb-posix:mkdtemp (format nil "~A/live-lisp-test-XXXXXX"
                                           (or (sb-posix:getenv "TMPDIR") "/tmp"))))
         (path (format nil "~A/forms.lisp" folder)))
    (unwind-protect
         (progn
           (with-open-file (out path :direction :output) (write-string text out))
           (loop for number from 0 below (count #\Newline text)
                 collect (package-name (form-package path nil number))))
      (remove-file path)
      (sb-posix:rmdir folder))))

(deftest form-package
    (packages-in "(cl:in-package \"LIVE-LISP-TESTS\")
(entering \"LIVE-LISP.JOBS\")
(progn (cl:in-package :live-lisp-tests) (list 'one))
(eval-when (:execute :load-toplevel :compile-toplevel) (in-package #:cl-user))
(print '(in-package \"LIVE-LISP-TESTS\"))
(print 'last)
")
  ("COMMON-LISP-USER" "LIVE-LISP-TESTS" "LIVE-LISP.JOBS" "LIVE-LISP-TESTS" "COMMON-LISP-USER"
   "COMMON-LISP-USER"))
