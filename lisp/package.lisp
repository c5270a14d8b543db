;;;; The one package of the agent. Nothing in it is looked up by name at run
;;;; time, so that evaluated code may rename or delete packages freely.

(defpackage "LIVE-LISP.AGENT"
  (:use "COMMON-LISP")
  (:export "MAIN"))
