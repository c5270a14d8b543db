;;;; Runs the user's tests, in any of several test frameworks, and records their results.

(defpackage "LIVE-LISP.TESTS"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.SOURCES"
        "LIVE-LISP.EVALUATE"))

(in-package "LIVE-LISP.TESTS")

(claim-package)
