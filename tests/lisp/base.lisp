;;;; Tests of lisp/base: JSON, bounded output, and printing.

(in-package "LIVE-LISP-TESTS")

;;; JSON

(deftest json.object (json (object "a" 1 "b" nil "c" "x")) "{\"a\":1,\"c\":\"x\"}")
(deftest json.member
    (let ((object (object "a" 1 "b" nil)))
      (values (json-member (string #\a) object) (json-member "b" object) (json-member "c" object)))
  1 nil nil)
(deftest json.lists (json (list 1 -2 (list "s"))) "[1,-2,[\"s\"]]")
(deftest json.booleans (json (list (json-boolean 5) (json-boolean nil))) "[true,false]")
(deftest json.string-escapes (json (format nil "\"\\~%~C" (code-char 1))) "\"\\\"\\\\\\n\\u0001\"")
(deftest json.above-16-bits (json (string (code-char #x1f600))) "\"\\ud83d\\ude00\"")
(deftest json.parse (let ((value (parsed "{\"a\":[1,-2.5,\"\\u00e4\",true,null]}")))
                      (values (hash-table-count value) (length (gethash "a" value))))
  1 5)
(deftest json.parse-pair (char-code (char (parsed "\"\\ud83d\\ude00\"") 0)) #x1f600)
(deftest json.round-trip
    (let ((text (coerce (loop for code from 0 below 3000 collect (code-char code)) 'string)))
      (string= text (parsed (json text))))
  t)
(deftest json.not-json (handler-case (parsed "{\"a\":") (error () :error)) :error)
(deftest frame.length
    (let ((octets (buffer-octets (frame-octets (object "a" 1)))))
      (values (aref octets 0) (aref octets 3)))
  0 7)

;;; Types of arguments

(defun fits (text &rest types)
  "Return for each of TYPES whether the value of the JSON TEXT is of it."
  (let ((value (parsed text)))
    (loop for type in types collect (and (fits-p value (wire-type type)) t))))

(deftest fits.simple (values (fits "\"a\"" 'string 'integer '(member "a" "b") '(or integer string))
                             (fits "1e22" 'string 'integer 'real)
                             (fits "null" 'string '(nullable string) 'boolean 'anything))
  (t nil t t) (nil t t) (nil t t t))
(deftest fits.lists (values (fits "[1,2]" '(list integer) '(tuple integer integer) '(tuple integer))
                            (fits "[1]" '(tuple integer &optional string) '(list string)))
  (t t nil) (t nil))
(deftest fits.objects
    (fits "{\"a\":1}" '(object (a integer)) '(object (a string)) '(object (b integer))
          '(object (a integer) (b integer :optional)) '(map integer))
  (t nil nil t t))
(deftest fits.shape (fits "{\"file\":\"a\",\"offset\":1}" 'place 'unreadable)
  (t nil))

;;; Bounded output

(deftest bounded.fits (bounded-string 5 (lambda (out) (write-string "abc" out))) "abc" nil)
(deftest bounded.cut (bounded-string 5 (lambda (out) (write-string "abcdefg" out))) "abcde" t)
(deftest bounded.endless (bounded-string 3 (lambda (out) (loop (write-char #\x out)))) "xxx" t)

(defun kept (head tail text)
  "Return what a capture with limits HEAD and TAIL keeps of TEXT: text, number of omitted, tail."
  (let ((capture (make-capture head tail)))
    (write-string text (capturing capture))
    (let ((members (json-object-members (captured capture))))
      (loop for name in '("text" "omitted" "tail")
            collect (second (member name members :test #'equal))))))

(deftest capture.whole (kept 5 5 "0123456789") ("0123456789" nil nil))
(deftest capture.middle-omitted (kept 3 2 "0123456789") ("012" 5 "89"))
(deftest capture.nothing (captured (make-capture 3 3)) nil)
(deftest capture.column
    (let ((out (capturing (make-capture 9 9))))
      (format out "ab~%c~&d")
      (sb-gray:stream-line-column out))
  1)

;;; Printing

(deftest shortened (values (shortened 3 "abcd") (shortened 4 "abcd")) "abc..." "abcd")
(deftest on-one-line (on-one-line (format nil "a  ~%  b c")) "a b c")
(deftest decimal-digits (values (decimal-digits 0) (decimal-digits 12345)) "0" "12345")
(deftest symbol-text (values (symbol-text 'car) (symbol-text :x) (symbol-text (make-symbol "Y")))
  "COMMON-LISP::CAR" "KEYWORD::X" "#:Y")
(deftest long-number
    (live-lisp.base::without-middle-digits (format nil "n ~D." (expt 10 150)))
  "n 10000000000000000000...0000000000 (151 digits).")
(deftest report-on-one-line
    (report-text 500 (make-condition 'simple-error :format-control "~@<a ~_~A~:>"
                                                   :format-arguments '(b)))
  "a B")

(define-condition silent (error) () (:report (lambda (condition stream)
                                               (declare (ignore condition stream))
                                               (error "No report."))))
(deftest report-that-fails (report-text 500 (make-condition 'silent))
  "#<SILENT: printing it signalled SIMPLE-ERROR>")

;;; Wrapped functions

(defun wrapped (number)
  "Return NUMBER + 1. The test below wraps this function."
  (1+ number))
(declaim (notinline wrapped))

(defun wrap-often (times)
  "Wrap WRAPPED in a wrapper of this thread and unwrap it again, TIMES times. Call WRAPPED after each
time, and return how often this has called the wrapper, which should have been removed."
  (let* ((key (make-symbol "KEY")) (called 0) (thread sb-thread:*current-thread*)
         (wrapper (lambda (function &rest arguments)
                    (when (eq thread sb-thread:*current-thread*) (incf called))
                    (apply function arguments))))
    (dotimes (count times called)
      (wrap 'wrapped key wrapper)
      (unwrap 'wrapped key)
      (wrapped count))))

(deftest wrapped-by-four-threads
    (loop for thread in (loop repeat 4
                              collect (sb-thread:make-thread #'wrap-often :arguments '(30000)))
          collect (sb-thread:join-thread thread))
  (0 0 0 0))

;;; NIL in place of an error

(defvar *without-value* nil "A variable of these tests.")

(deftest or-nil.files
    (list (native-truename "/nowhere/a") (true-file "/nowhere/*.lisp") (date-of "/nowhere/a")
          (native-name #p"*.lisp") (date-of nil) (true-file (make-broadcast-stream))
          (nil-if-unreadable (with-open-file (in "/nowhere/a") in)) (remove-file "/nowhere/a"))
  (nil nil nil nil nil nil nil nil))
(deftest or-nil.numbers
    (list (number-in "12") (number-in "@12" 1) (number-in "1x") (number-in "") (number-in "@" 1))
  (12 12 nil nil nil))
(deftest or-nil.lists
    (list (proper-length '()) (proper-length '(1 2)) (proper-length '(1 . 2))
          (let ((list (list 1))) (proper-length (setf (cdr list) list))) (proper-length "abc"))
  (0 2 nil nil nil))
(deftest or-nil.symbols
    (list (let ((*without-value* 1)) (makunbound '*without-value*) (global-value-of '*without-value*))
          (global-value-of (gensym)) (global-value-of '*read-base*))
  (nil nil 10))
(deftest or-nil.conditions
    (list (part-of-condition #'cell-error-name (make-condition 'unbound-variable))
          (part-of-condition #'cell-error-name (make-condition 'unbound-variable :name 'a)))
  (nil a))
(deftest or-nil.threads
    (let ((thread (sb-thread:make-thread (lambda ()))))
      (sb-thread:join-thread thread)
      (list (unless-thread-ended (sb-thread:interrupt-thread thread (lambda ())))
            (handler-case (unless-thread-ended (error "another")) (error () :signalled))))
  (nil :signalled))

;;; Names

(deftest names.starts
    (list (starts-p "abc" "x" "ab") (starts-p "ab" "abc") (starts-p nil "a") (starts-p "" "")
          (starts-p (make-array 3 :element-type 'character :fill-pointer 2 :initial-contents "abc")
                    "ab" "abc"))
  (t nil nil t t))
(deftest names.of-sbcl
    (list (sbcl-file-p "SYS:SRC;CODE;EVAL.LISP") (sbcl-file-p "/a/SYS:") (sbcl-file-p nil)
          (locked-symbol-p 'car) (locked-symbol-p 'json) (locked-symbol-p (make-symbol "A")))
  (t nil nil t nil nil))
