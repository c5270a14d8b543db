;;;; Evaluation, loading, compilation and expansion.

(defpackage "LIVE-LISP.EVALUATE"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.SOURCES" "LIVE-LISP.JOURNAL")
  (:export "PRINTING-VALUES" "CALL-AS-JOB-PART" "VALUES-DATA" "*VALUE-BUDGET*" "EVALUATE-CODE" "FORMS-IN" "EVALUATE-AGAIN"))

(in-package "LIVE-LISP.EVALUATE")

(claim-package)
