;;;; Protects the guard pages at the ends of a thread's stacks. SBCL does not do so in every thread,
;;;; and does not always protect a page again after a stack was exhausted.

(in-package "LIVE-LISP.BASE")

(defun thread-word (slot)
  "Return two values: the address of this thread's structure, and the word in its slot number SLOT.
Return NIL when they are unknown."
  (when this-slot
    (let ((thread (thread-slot this-slot)))
      (when (plusp (sb-sys:sap-int thread))
        (values thread (sb-sys:sap-ref-word thread (* word-octets slot)))))))

(defun guard-stacks ()
  "Protect the last pages of this thread's stacks, which SBCL does only for the main thread. While
the guard page of a stack is unprotected, as in a cleanup form, the stack could otherwise grow into
the memory of another thread unnoticed. With protected last pages, the image ends instead."
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
  "Return the number of octets left of this thread's stack, or NIL when the number is unknown."
  (let ((start (stack-start)))
    (and start (- (sb-sys:sap-int (stack-pointer)) start))))

(defun far-from-guard-p ()
  "Return true if this thread's stack has more room left than 8 guard pages take. Nearer to the end,
a cleanup form may be running on the exhausted stack, and resetting the guard page would overwrite
its data."
  (let ((left (stack-left)))
    (and left (> left (* 8 guard-octets)))))

(defun protect-stack-again ()
  "Protect the guard page of this thread's stack again, if SBCL unprotected it when the stack was
exhausted. SBCL itself does so only when the stack shrinks back to that page. If a thread ended with
an unprotected page, a new thread would get the same stack, and would end the whole image by
exhausting it."
  (when (and state-slot (far-from-guard-p))
    (multiple-value-bind (thread state) (thread-word state-slot)
      (when (and thread (zerop (ldb (byte 8 0) state)))
        (reset-guard-page thread)))))

(defun clear-stack ()
  "Write zeros to the unused part of this thread's stack. A later thread gets the same stack, and
the garbage collector would keep objects to which old words in it seem to point. SBCL's
SCRUB-CONTROL-STACK is not enough: it stops at the first 4 KB of zeros, and a signal can leave such
a gap."
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
  "Clear the part of this thread's stack that was used last. This is quick enough to be done at the
end of each thread."
  (sb-sys:scrub-control-stack))
