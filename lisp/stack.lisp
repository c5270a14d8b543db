;;;; The guard page at the end of a control stack, which SBCL does not always put back.

(in-package "LIVE-LISP.AGENT")

(defun protect-stack-again ()
  "Protect the guard page of this thread's stack when exhausting the stack unprotected it.
SBCL does that only when the stack grows back to there; it gives the stack of a thread that
ended before to a new one, which then dies with the whole image when it grows so far."
  (let ((slot (internal-value ("SB-VM" "THREAD-STATE-WORD-SLOT")))
        (this (internal-value ("SB-VM" "THREAD-THIS-SLOT"))))
    (when (and slot this (sb-sys:find-foreign-symbol-address "reset_thread_control_stack_guard_page"))
      (let ((thread (internal-call ("SB-VM" "CURRENT-THREAD-OFFSET-SAP") (this) (sb-sys:int-sap 0))))
        (when (and (plusp (sb-sys:sap-int thread))
                   (zerop (sb-sys:sap-ref-8 thread (* sb-vm:n-word-bytes slot))))
          (sb-alien:alien-funcall
           (sb-alien:extern-alien "reset_thread_control_stack_guard_page"
                                  (function sb-alien:void sb-sys:system-area-pointer))
           thread))))))
