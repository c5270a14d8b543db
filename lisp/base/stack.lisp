;;;; Sets the guard pages at the ends of a thread's stacks, which SBCL does not always set, nor
;;;; always reset.

(in-package "LIVE-LISP.BASE")

(defun thread-word (slot)
  "Return the address of this thread's structure, and the word in its slot number SLOT; NIL when
they are unknown."
  (when this-slot
    (let ((thread (thread-slot this-slot)))
      (when (plusp (sb-sys:sap-int thread))
        (values thread (sb-sys:sap-ref-word thread (* word-octets slot)))))))

(defun guard-stacks ()
  "Protect the last pages of this thread's stacks; SBCL does that for the main thread only.
Otherwise a stack with an open guard page, as in a cleanup form, could grow into another thread's
memory unseen. Now the image ends there."
  (let ((thread (thread-word this-slot)))
    (when thread
      (protect-control-stack 1 thread)
      (protect-binding-stack 1 thread)
      (protect-alien-stack 1 thread))))

(defun stack-start ()
  "Return the lowest address of this thread's stack, towards which it grows; NIL when it is
unknown."
  (when stack-start-slot
    (multiple-value-bind (thread start) (thread-word stack-start-slot)
      (and thread start))))

(defun stack-left ()
  "Return how many octets of this thread's stack are left, or NIL when that is unknown."
  (let ((start (stack-start)))
    (and start (- (sb-sys:sap-int (stack-pointer)) start))))

(defun far-from-guard-p ()
  "True when more of this thread's stack is left than 8 guard pages. Resetting the guard page nearer
to the end would overwrite data: a cleanup form still runs on the exhausted stack."
  (let ((left (stack-left)))
    (and left (> left (* 8 guard-octets)))))

(defun protect-stack-again ()
  "Protect the guard page of this thread's stack again, if exhausting the stack unprotected it. SBCL
does that only when the stack shrinks back to that page. When the thread ends, a new one gets its
stack, and would then end the whole image by exhausting it."
  (when (and state-slot (far-from-guard-p))
    (multiple-value-bind (thread state) (thread-word state-slot)
      (when (and thread (zerop (ldb (byte 8 0) state)))
        (reset-guard-page thread)))))

(defun clear-stack ()
  "Write zeros to the free rest of this thread's stack. A later thread gets this stack, and the
collector keeps what old words there seem to point to. SBCL's SCRUB-CONTROL-STACK stops at the first
4 KB of zeros, which a signal can leave."
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
  "Clear the part of this thread's stack that was used last. This is quick enough for the end of
each thread."
  (sb-sys:scrub-control-stack))
