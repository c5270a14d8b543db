;;;; What things cost, with a mistake. basket.lisp serves it, and bench/debugging.mjs measures how it is found.

(defpackage "PRICES"
  (:use "COMMON-LISP")
  (:export "*PRICES*" "PRICE" "TOTAL"))

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
