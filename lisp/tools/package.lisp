;;;; Lets the user's Lisp code call tools and define tools.

(defpackage "LIVE-LISP.TOOLS"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.JOURNAL" "LIVE-LISP.EVALUATE")
  (:implement "LIVE-LISP" "LIVE-LISP.TOOLS"))

(in-package "LIVE-LISP.TOOLS")

(claim-package)
