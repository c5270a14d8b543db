;;;; Shows how a program runs: records calls of functions, takes profiles, and compares times.

(defpackage "LIVE-LISP.OBSERVE"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.EVALUATE"))

(in-package "LIVE-LISP.OBSERVE")

(claim-package)
