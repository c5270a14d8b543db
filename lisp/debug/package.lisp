;;;; Holds errors for debugging: the thread of a held error waits where the error was signalled,
;;;; until a request makes it continue. Also inspects objects and other threads.

(defpackage "LIVE-LISP.DEBUG"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS" "LIVE-LISP.LOOK" "LIVE-LISP.JOURNAL"
        "LIVE-LISP.EVALUATE")
  (:import-from "LIVE-LISP.GUARD" "**AT-STOP**"))

(in-package "LIVE-LISP.DEBUG")

(claim-package)
