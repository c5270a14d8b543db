;;;; How a program runs: recorded calls of functions, profiles, and times that are compared.

(defpackage "LIVE-LISP.OBSERVE"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.EVALUATE"))

(in-package "LIVE-LISP.OBSERVE")

(claim-package)
