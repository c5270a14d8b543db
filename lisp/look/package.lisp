;;;; Look-ups: what there is in the image. Nothing here changes it.

(defpackage "LIVE-LISP.LOOK"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS")
  (:export "NAMED-PACKAGE" "NATURES"
           "SAME-CELLS-P"
           "CODE-PRINTERS"
           "INTROSPECT"
           "LISTEN-FOR-CODE" "PLACE-DATA" "NAMED-SYMBOL" "FUNCTION-SOURCES"))

(in-package "LIVE-LISP.LOOK")

(claim-package)
