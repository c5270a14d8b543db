;;;; Keeps code of the user from ending the image.

(defpackage "LIVE-LISP.GUARD"
  (:use "COMMON-LISP" "LIVE-LISP.BASE" "LIVE-LISP.JOBS")
  (:implement "LIVE-LISP" "LIVE-LISP.GUARD")
  (:export "BOUND-MEMORY" "FREE-CHILDREN" "GIVE-BACK-ZEROS"
           "GUARD-THREADS" "OF-JOB-P" "PROTECT-THIS-THREAD" "GUARD-BACKEND-THREADS"
           "WATCH-MEMORY" "NOTE-THREADS"
           "NOTE-EXITS" "LEAVE"
           "SET-UNTIL-STOP" "NOTE-EXIT" "AWAIT-PROGRAM" "**STOPPED**" "**AT-STOP**"))

(in-package "LIVE-LISP.GUARD")

(claim-package)
