;;;; Jobs: what runs for a request, what it says, and how it ends.

(defpackage "LIVE-LISP.JOBS"
  (:use "COMMON-LISP" "LIVE-LISP.BASE")
  (:export "*SESSION-VARIABLES*" "*FRESH-READTABLE*" "START-SESSION" "SESSION-PACKAGE" "CALL-IN-SESSION"
           "READABLE-P"
           "JOB-P" "JOB-ID" "JOB-THREAD" "*JOB*" "**JOBS**" "**BEGUN**" "ALONE-P" "**BEFORE-JOBS**" "**MAKE-THREAD**" "**BACKGROUND**"
           "**CROWDED**" "**EXITING**" "EXITING-P" "CALL-USER-CODE" "INTERRUPT-JOB" "JOB-RESULT" "JOB-WRITTEN"
           "DEBUGGER-HOOK" "*THREAD-END*" "CURRENT-THREAD-NAME" "*ERROR-KEEPER*"
           "DEFINE-OPERATION" "PERFORM" "PAGE" "FAIL-LOOKUP"
           "*REMARKS*" "MAKE-REMARKS" "*FORM-NUMBER*" "CALL-COLLECTING-WARNINGS"
           "WARNING-MEMBERS" "READER-TEXT"
           "*FORM-TEXT*" "KEEP-ERROR"))

(in-package "LIVE-LISP.JOBS")

(claim-package)
