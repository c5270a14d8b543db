;;;; A shop with mistakes, for bench/debugging.mjs. What things cost is in examples/prices.lisp.

(defpackage "SHOP"
  (:use "COMMON-LISP" "PRICES")
  (:export "TOTAL" "TAKE-IN" "REPORT" "START-WORKER" "ORDER"))

(in-package "SHOP")

(defvar *taken* '()
  "The numbers that were taken in, the last first.")

(defvar *orders* '()
  "The names of things that the worker is to do.")

(defvar *answers* '()
  "What the worker has found, the last first.")

(defun number-of (text)
  "Return the number that TEXT says."
  (values (parse-integer text)))

(defun take-in (texts)
  "Take in the numbers that TEXTS say, and return how many there are then."
  (dolist (text texts)
    (push (number-of text) *taken*))
  (length *taken*))

(defun line-of (name)
  "Return a line about the thing NAME."
  (format nil "~A: ~D" name (+ 0 (price name))))

(defun report (name)
  "Return a line about the thing NAME, or NIL when there is none."
  (handler-case (line-of name)
    (error () nil)))

(defun work ()
  "Do one order after the other, until one fails."
  (handler-case
      (loop (if *orders*
                (push (total (list (pop *orders*))) *answers*)
                (sleep 0.01)))
    (error (failure) (format *error-output* "The worker ends: ~A~%" failure))))

(defun start-worker ()
  "Start the worker."
  (sb-thread:make-thread #'work :name "worker"))

(defun order (name)
  "Have the worker find what the thing NAME costs."
  (push name *orders*))
