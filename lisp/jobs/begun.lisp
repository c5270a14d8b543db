;;;; Records which requests have begun to run, in memory that is shared with the server. After this
;;;; process has ended, the server reads this memory, and sends the requests that had not begun to
;;;; the next image. Recording a request takes a single store.

(in-package "LIVE-LISP.JOBS")

(defconstant +begun-words+ 512
  "The number of words in the memory shared with the server. Requests whose ids differ by a multiple
of this number share a word. When a request begins, its id is stored in its word, so the word
contains the highest such id.")

(sb-ext:defglobal **begun-place** nil "The address of the shared memory, or NIL.")

(defun open-begun (descriptor)
  "DESCRIPTOR is the file descriptor of the memory shared with the server. Map this memory into this
process, and close DESCRIPTOR. Do nothing if it cannot be mapped."
  (let ((address (sb-alien:alien-funcall
                  (sb-alien:extern-alien "mmap" (function sb-alien:unsigned-long
                                                          sb-alien:unsigned-long
                                                          sb-alien:unsigned-long
                                                          sb-alien:int sb-alien:int sb-alien:int
                                                          sb-alien:long))
                  ;; 3 is PROT_READ and PROT_WRITE, 1 is MAP_SHARED.
                  0 (* 8 +begun-words+) 3 1 descriptor 0)))
    ;; The descriptor of what cannot be mapped is another one: that of the channel to the server, if
    ;; a command has started this image.
    (unless (= address (1- (expt 2 64)))
      (setf **begun-place** address)
      (close-file descriptor))))

(defun note-begun (id)
  "Record in the shared memory that the request with the id ID begins to run. Do nothing if the word
for this request (+BEGUN-WORDS+) already contains a higher id."
  (when **begun-place**
    (symbol-macrolet ((word (sb-sys:sap-ref-64 (sb-sys:int-sap **begun-place**)
                                               (* 8 (mod id +begun-words+)))))
      (when (< word id) (setf word id)))))
