;;;; The journal: records which forms built the image, and rebuilds an image from them.

(defpackage "LIVE-LISP.JOURNAL"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.SOURCES")
  (:export "LISTEN-FOR-EFFECTS" "*INTERNED*" "NOTE-BUILDING" "LIBRARY-SYMBOL-P" "EVALUATE-REPORTING"
           "SHOWS-P" "WORKS-P" "NOTE-SET-BY"))

(in-package "LIVE-LISP.JOURNAL")

(claim-package)
