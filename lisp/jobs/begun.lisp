;;;; Which requests have begun to run, where the server can read it once this process has ended: one that had not is sent
;;;; again. To note one is to write a word to memory that both share.

(in-package "LIVE-LISP.JOBS")

(defconstant +begun-words+ 512 "How many requests the memory has a word for; more never run at once.")

(sb-ext:defglobal **begun-place** nil "The address of the memory, or NIL when none is shared.")

(defun open-begun (descriptor)
  "Share the memory of the file DESCRIPTOR, where there is one, and close that."
  (let ((address (sb-alien:alien-funcall
                  (sb-alien:extern-alien "mmap" (function sb-alien:unsigned-long sb-alien:unsigned-long sb-alien:unsigned-long
                                                          sb-alien:int sb-alien:int sb-alien:int sb-alien:long))
                  ;; To be read and written, by both.
                  0 (* 8 +begun-words+) 3 1 descriptor 0)))
    (unless (= address (1- (expt 2 64)))
      (setf **begun-place** address)
      (close-file descriptor))))

(defun note-begun (id)
  "Note that the request ID begins to run."
  (when **begun-place**
    (setf (sb-sys:sap-ref-64 (sb-sys:int-sap **begun-place**) (* 8 (mod id +begun-words+))) id)))
