;;;; Errors that are held: their thread stands where they were signalled, until somebody says how it goes on.

(defpackage "LIVE-LISP.DEBUG"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.JOURNAL" "LIVE-LISP.EVALUATE"))

(in-package "LIVE-LISP.DEBUG")

(claim-package)
