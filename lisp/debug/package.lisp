;;;; Held errors: their threads wait where they were signalled, until a request says how to
;;;; continue.

(defpackage "LIVE-LISP.DEBUG"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.JOURNAL"
        "LIVE-LISP.EVALUATE")
  (:import-from "LIVE-LISP.GUARD" "**AT-STOP**"))

(in-package "LIVE-LISP.DEBUG")

(claim-package)
