;;;; The guard pages at the ends of a thread's stacks, which SBCL does not always put there, nor always back.

(in-package "LIVE-LISP.BASE")

(defun thread-word (slot)
  "Return the address of this thread's own structure and the word in its SLOT, or NIL for the address."
  (let ((this (internal-value ("SB-VM" "THREAD-THIS-SLOT"))))
    (when this
      (let ((thread (internal-call ("SB-VM" "CURRENT-THREAD-OFFSET-SAP") (this) (sb-sys:int-sap 0))))
        (when (plusp (sb-sys:sap-int thread))
          (values thread (sb-sys:sap-ref-word thread (* sb-vm:n-word-bytes slot))))))))

(sb-ext:defglobal **last-guards**
    (remove nil (mapcar #'sb-sys:find-foreign-symbol-address
                        '("protect_control_stack_hard_guard_page" "protect_binding_stack_hard_guard_page"
                          "protect_alien_stack_hard_guard_page")))
  "The addresses of the functions of the runtime that protect the last page of a stack.")

(defun guard-stacks ()
  "Protect the last pages of this thread's stacks, which SBCL does for the main thread only. While the guard page
before is open, as in a cleanup form, the stack would grow into another thread's memory and spoil it unseen; now
the image ends there."
  (dolist (address **last-guards**)
    (sb-alien:alien-funcall
     (sb-alien:sap-alien (sb-sys:int-sap address) (function sb-alien:void sb-alien:int sb-alien:unsigned-long))
     1 0)))

(defun far-from-guard-p ()
  "True when the stack has not grown near its end, where resetting the guard page overwrites what is there.
A cleanup form runs on the stack of what it cleans up after."
  (let ((slot (internal-value ("SB-VM" "THREAD-CONTROL-STACK-START-SLOT"))))
    (when slot
      (multiple-value-bind (thread start) (thread-word slot)
        (and thread
             (> (- (sb-sys:sap-int (internal-call ("SB-VM" "CURRENT-SP") () (sb-sys:int-sap 0))) start)
                (* 8 sb-c:+backend-page-bytes+)))))))

(defun protect-stack-again ()
  "Protect the guard page of this thread's stack when exhausting the stack unprotected it.
SBCL does that only when the stack grows back to there; it gives the stack of a thread that
ended before to a new one, which then dies with the whole image when it grows so far."
  (let ((slot (internal-value ("SB-VM" "THREAD-STATE-WORD-SLOT")))
        (reset (sb-sys:find-foreign-symbol-address "reset_thread_control_stack_guard_page")))
    (when (and slot reset (far-from-guard-p))
      (multiple-value-bind (thread state) (thread-word slot)
        (when (and thread (zerop (ldb (byte 8 0) state)))
          (sb-alien:alien-funcall
           (sb-alien:sap-alien (sb-sys:int-sap reset) (function sb-alien:void sb-sys:system-area-pointer))
           thread))))))
