;;;; Sources: what each loaded file defined, and what of that the image still has.

(defpackage "LIVE-LISP.SOURCES"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK")
  (:export "*TOUCHED*" "TOUCH" "TOUCH-FUNCTION" "TOUCH-METHOD" "TOUCH-EXPORTS" "TOUCH-VARIABLE" "*DEFINING-PACKAGE*" "CALL-LOADING"
           "CALL-NOTING" "*SOURCE-COPY*" "*LOADED*" "AGREEMENT" "FORGET-OLD" "COMPARE-FILES" "FORM-START" "FORM-PARTS"))

(in-package "LIVE-LISP.SOURCES")

(claim-package)
