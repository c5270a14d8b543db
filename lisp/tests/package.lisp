;;;; Tests: how those of each framework are run, and what came of each.

(defpackage "LIVE-LISP.TESTS"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.SOURCES" "LIVE-LISP.EVALUATE"))

(in-package "LIVE-LISP.TESTS")

(claim-package)
