;;;; Tests of the backend that need no server. SB-RT runs them: a test is a form, and the values
;;;; that it must return. (asdf:test-system "live-lisp") loads and runs them.

(defpackage "LIVE-LISP-TESTS"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS")
  (:import-from "SB-RT" "DEFTEST")
  (:export "RUN"))

(in-package "LIVE-LISP-TESTS")

(defun run ()
  "Run all tests, and print those that fail. Return true when none fails."
  (sb-rt:do-tests))

(defun ascii (buffer)
  "Return the octets in BUFFER as a string of ASCII characters."
  (map 'string #'code-char (subseq (buffer-octets buffer) 0 (buffer-fill buffer))))

(defun json (value)
  "Return VALUE written as JSON."
  (let ((buffer (make-buffer 1)))
    (write-json value buffer)
    (ascii buffer)))

(defun parsed (text)
  "Return the value of the JSON in TEXT, which is ASCII."
  (live-lisp.base::parse-json (map 'octets #'char-code text)))
