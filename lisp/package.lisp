;;;; The packages of the agent: its own, and the one for code of the user. Nothing in
;;;; them is looked up by name at run time, so that evaluated code may rename or delete
;;;; packages freely.

(defpackage "LIVE-LISP"
  (:use)
  (:export "CALL-TOOL" "TOOL-ERROR" "TOOL-ERROR-TOOL" "TOOL-ERROR-MESSAGE"))

(defpackage "LIVE-LISP.AGENT"
  (:use "COMMON-LISP")
  (:export "MAIN"))
