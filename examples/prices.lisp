;;;; A web application whose requests fail for some names. docs/debugging.md shows how it is fixed while a request waits.

(defpackage "PRICES"
  (:use "COMMON-LISP" "HUNCHENTOOT")
  (:export "SERVE"))

(in-package "PRICES")

(defvar *prices* '(("lamp" . 30) ("desk"))
  "What each thing costs.")

(defun price (name)
  "Return what the thing NAME costs."
  (cdr (assoc name *prices* :test #'string=)))

(defun total (names)
  "Return what the things NAMES cost together."
  (loop for name in names
        sum (price name)))

(define-easy-handler (basket :uri "/basket") (a b)
  (format nil "Total: ~D" (total (list a b))))

(defun serve ()
  "Start the application at a free port of this machine, and return that."
  (acceptor-port (start (make-instance 'easy-acceptor :port 0 :address "127.0.0.1"
                                                      :access-log-destination nil :message-log-destination nil))))
