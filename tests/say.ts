// How code in the image writes to the channel of the backend.

/** Defines (say JSON), which sends a frame with that text. */
export const SAY = `(defun say (json)
  (let ((octets (make-array (+ 4 (length json)) :element-type '(unsigned-byte 8))))
    (dotimes (i 4) (setf (aref octets i) (ldb (byte 8 (- 24 (* 8 i))) (length json))))
    (replace octets (map 'vector #'char-code json) :start1 4)
    (sb-sys:without-interrupts
      (sb-thread:with-mutex ((live-lisp.base::channel-lock live-lisp.base::*channel*))
        (write-sequence octets (live-lisp.base::channel-out live-lisp.base::*channel*))
        (finish-output (live-lisp.base::channel-out live-lisp.base::*channel*))))))`;

/** The environment of a server whose image forges answers, so that they are not compared with declarations. */
export const FORGING = { LIVE_LISP_TEST_FORGES: '1' };
