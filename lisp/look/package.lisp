;;;; Look-ups: what there is in the image. Nothing here changes it.

(defpackage "LIVE-LISP.LOOK"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS")
  (:export "NAMED-PACKAGE" "NAMED-SYMBOL" "NATURES" "LOADED-FILES"
           "SAME-CELLS-P"
           "CODE-PRINTERS"
           "INTROSPECT" "*PASSING*" "TEST-SYSTEMS"
           "LISTEN-FOR-CODE" "PLACE-DATA" "FUNCTION-SOURCES"
           "COMPONENT-FILES" "SYSTEM-PARTS" "REGISTERED-SYSTEM" "NEEDED-NAME" "NAME-TEXT" "METHOD-ARGLIST" "PLAIN-TEXT" "FUNCTION-TYPE-TEXT" "DECLARED-TYPE-P"))

(in-package "LIVE-LISP.LOOK")

(claim-package)
