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

(defun call-with-file (text function)
  "Call FUNCTION with the native name of a temporary file that contains TEXT, and return its values."
  ;; RANDOM gives the same numbers in each new SBCL, so two runs at once would share a file.
  (let* ((folder (sb-posix:mkdtemp (format nil "~A/live-lisp-test-XXXXXX"
                                           (or (sb-posix:getenv "TMPDIR") "/tmp"))))
         (path (format nil "~A/forms.lisp" folder)))
    (unwind-protect
         (progn
           (with-open-file (out path :direction :output) (write-string text out))
           (funcall function path))
      (remove-file path)
      (sb-posix:rmdir folder))))

(defun packages-in (text)
  "Return the names of the packages in which the forms of TEXT, of a file, are read."
  (call-with-file text (lambda (path)
                         (loop for number from 0 below (count #\Newline text)
                               collect (package-name (form-package path nil number))))))

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
(deftest form-package.newest
    (call-with-file (format nil "(in-package \"LIVE-LISP.JOBS\")~%(print 1)~%")
                    (lambda (path)
                      (flet ((home (date) (package-name (form-package path date 1))))
                        (let ((before (home nil)))
                          (live-lisp.jobs::call-with-copy
                           (lambda (copy)
                             (funcall live-lisp.jobs::**reads-spans** copy :path path :date 1))
                           "(print 0) (print 1)")
                          (list before (home 1) (home nil))))))
  ("LIVE-LISP.JOBS" "COMMON-LISP-USER" "LIVE-LISP.JOBS"))

;;; Forms with commas, as within a backquote, and other parts that no form can be evaluated with

(defparameter *odd-parts*
  (let ((comma (second (second '`(a ,b)))) (splice (second (second '`(a ,@(mapcar #'b c))))))
    (list comma splice `(,comma) `(a . ,splice) `(,splice . d) '`(a . ,b) '``(a ,,@(mapcar #'b c))
          '(a . b) '((a) . b) 5 "s" nil 'point '(a) '(:default-initargs . b) '((a b))))
  "Objects to put where a form has a name, a list or a form.")

(defparameter *operators*
  '(progn eval-when defun defmacro defmethod defclass define-condition defvar defstruct let lambda
    function quote if setq locally macrolet flet declaim load-time-value set-macro-character
    sb-ext:unlock-package in-package entering list)
  "The operators of the forms with *ODD-PARTS*.")

(defun odd-forms ()
  "Return a list of forms: for each operator, each odd part in each place, and as the end of the
list."
  (loop for operator in *operators*
        append (loop for part in *odd-parts*
                     append (list (list operator part)
                                  (list operator 'point part)
                                  (list operator 'point '() part '(a))
                                  (list operator 'point part part part)
                                  (list operator '(:execute) part)
                                  (list* operator 'point part)
                                  (list* operator part)))))

(defun failures (function)
  "Call FUNCTION with each of the ODD-FORMS. Return a list of the forms and errors for which it
fails."
  (let ((*error-output* (make-broadcast-stream)))
    (loop for form in (remove-if-not #'consp (odd-forms))
          for problem = (handler-case (progn (funcall function form) nil)
                          (error (condition) condition))
          when problem collect (list form (type-of problem)))))

(defmacro survives (name (form) &body body)
  "Define a test with NAME that BODY fails for none of the ODD-FORMS, to which it binds FORM."
  `(deftest ,name (failures (lambda (,form) ,@body)) nil))

(survives odd-forms-walked (form)
  (live-lisp.look::uses-of-parts (live-lisp.look::parts-of-form form)))
(survives odd-forms-noted (form)
  (when (live-lisp.look::definer-head-p form)
    (live-lisp.look::evaluated-part form)
    (live-lisp.look::read-definer (live-lisp.look::note-definer form))))
(survives odd-forms-of-files (form)
  (live-lisp.look::sets-reader-p form)
  (live-lisp.look::without-effect-p form))
(survives odd-forms-numbered (form)
  (live-lisp.jobs::read-spans (vector) (live-lisp.jobs::form-numbers form 0)))
(survives odd-forms-printed (form)
  (live-lisp.look:plain-text 200 form)
  (live-lisp.look::arglist-text form))
(survives odd-forms-warned-of (form)
  (live-lisp.jobs::function-called form)
  (live-lisp.jobs::whole-definition-p form (list form))
  (live-lisp.jobs::definition-text (list form)))

;;; Names of tests

(deftest bare-text
    (mapcar #'live-lisp.tests::bare-text '(point "my.app::adds" "adds"))
  ("POINT" "adds" "adds"))
