;;;; Records in shared memory which requests have begun to run. The server reads it once this process has ended, and
;;;; sends the others again. Recording one is a write of one word.

(in-package "LIVE-LISP.JOBS")

(defconstant +begun-words+ 512 "How many requests the memory has a word for; more never run at once.")

(sb-ext:defglobal **begun-place** nil "The address of the shared memory, or NIL.")

(defun open-begun (descriptor)
  "Map the shared memory of the file DESCRIPTOR, if there is one, and close DESCRIPTOR."
  (let ((address (sb-alien:alien-funcall
                  (sb-alien:extern-alien "mmap" (function sb-alien:unsigned-long sb-alien:unsigned-long sb-alien:unsigned-long
                                                          sb-alien:int sb-alien:int sb-alien:int sb-alien:long))
                  ;; PROT_READ and PROT_WRITE, MAP_SHARED
                  0 (* 8 +begun-words+) 3 1 descriptor 0)))
    (unless (= address (1- (expt 2 64)))
      (setf **begun-place** address)
      (close-file descriptor))))

(defun note-begun (id)
  "Record that the request ID begins to run."
  (when **begun-place**
    (setf (sb-sys:sap-ref-64 (sb-sys:int-sap **begun-place**) (* 8 (mod id +begun-words+))) id)))
