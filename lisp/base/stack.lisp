;;;; Protects the guard pages at the ends of a thread's stacks. SBCL does not protect all of them in
;;;; every thread, and does not always protect a guard page again after a stack was exhausted.

(in-package "LIVE-LISP.BASE")

(defun thread-word (slot)
  "Return two values for this thread: the address of its structure in SBCL's runtime, and the word
in the slot with index SLOT of that structure. Return NIL if this SBCL does not give the address."
  (when this-slot
    (let ((thread (thread-slot this-slot)))
      (when (plusp (sb-sys:sap-int thread))
        (values thread (sb-sys:sap-ref-word thread (* word-octets slot)))))))

(defun guard-stacks ()
  "Protect the last page of each stack of this thread. SBCL itself does this only in the main
thread. After a stack overflow, the guard page next to the last page stays unprotected for a while.
If the stack overflows again meanwhile, the image ends, and no memory of another thread is
overwritten."
  (let ((thread (thread-word this-slot)))
    (when thread
      (protect-control-stack 1 thread)
      (protect-binding-stack 1 thread)
      (protect-alien-stack 1 thread))))

(defun stack-start ()
  "Return the lowest address of this thread's stack, an integer, or NIL when it is unknown. The
stack grows down to this address."
  (when stack-start-slot
    (multiple-value-bind (thread start) (thread-word stack-start-slot)
      (and thread start))))

(defun stack-left ()
  "Return the number of octets of this thread's stack that are still free, or NIL if it is unknown."
  (let ((start (stack-start)))
    (and start (- (sb-sys:sap-int (stack-pointer)) start))))

(defun far-from-guard-p ()
  "Return true if the unused part of this thread's stack is larger than 8 guard pages. If less is
left, a cleanup form may be running after a stack exhaustion, and resetting the guard page would
overwrite the form's data."
  (let ((left (stack-left)))
    (and left (> left (* 8 guard-octets)))))

(defun protect-stack-again ()
  "Protect the guard page of this thread's stack again if SBCL left it unprotected after a stack
exhaustion. SBCL gives the stack to a later thread. If that thread exhausted the unprotected stack,
the image would end."
  (when (and state-slot (far-from-guard-p))
    (multiple-value-bind (thread state) (thread-word state-slot)
      (when (and thread (zerop (ldb (byte 8 0) state)))
        (reset-guard-page thread)))))

(defun clear-stack ()
  "Write zeros to the unused part of this thread's stack. Old words there can point to objects,
which the garbage collector would then keep. SBCL's SCRUB-CONTROL-STACK stops at the first 4 KB of
zeros."
  (when (far-from-guard-p)
    (let* ((stack (stack-pointer))
           (end (sb-sys:sap-int stack))
           ;; The last three pages of a stack are guard pages.
           (begin (+ (- end (stack-left)) (* 4 guard-octets))))
      (declare (type (unsigned-byte 62) begin end))
      (loop for offset of-type (signed-byte 62) from (- begin end) below 0 by word-octets
            unless (zerop (sb-sys:sap-ref-word stack offset))
              do (setf (sb-sys:sap-ref-word stack offset) 0)))))

(defun scrub-stack ()
  "Clear the part of this thread's stack that was used last. Unlike CLEAR-STACK, this is fast enough
for the end of each thread."
  (sb-sys:scrub-control-stack))
