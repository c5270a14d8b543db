;;;; What the image may take of the machine besides its heap. Its address space is bounded, so that foreign
;;;; code that allocates for ever gets no more and fails, and the system need not end some process.

(in-package "LIVE-LISP.AGENT")

(defconstant +address-space+ 9 "RLIMIT_AS of Linux; other systems hold no process to it.")

(sb-ext:defglobal **limited** nil
  "The limits of the address space that this image set, a vector of the soft and the hard one in octets; NIL
when it set none.")

(sb-ext:defglobal **unlimited** nil "The limits that there were before, as **LIMITED**.")

(sb-ext:defglobal **lifting** 0 "How many calls go on for which the limit is lifted.")

(sb-ext:defglobal **lifting-lock** (sb-thread:make-mutex :name "live-lisp limits")
  "Held while the limit changes.")

(defmacro limit-call (name limits)
  "Call getrlimit or setrlimit, whichever NAME says, with LIMITS. Return whether it did what it should."
  `(sb-sys:with-pinned-objects (,limits)
     (zerop (sb-alien:alien-funcall
             (sb-alien:extern-alien ,name (function sb-alien:int sb-alien:int sb-sys:system-area-pointer))
             +address-space+ (sb-sys:vector-sap ,limits)))))

(defun set-limits (limits)
  "Make LIMITS those of this process; return whether that worked."
  (limit-call "setrlimit" limits))

(defun address-space ()
  "Return how many octets of address space this process uses."
  (with-open-file (in "/proc/self/statm")
    (let ((digits (read-line in)))
      (* (parse-integer digits :junk-allowed t) (sb-alien:alien-funcall
                                                 (sb-alien:extern-alien "getpagesize" (function sb-alien:int)))))))

(defun limit-address-space (megabytes)
  "Let this process use MEGABYTES more of address space than it does now, where the system holds it to that."
  (when (and megabytes (find :linux *features*))
    (let ((before (make-array 2 :element-type '(unsigned-byte 64)))
          (limit (+ (address-space) (* 1024 1024 megabytes))))
      (when (limit-call "getrlimit" before)
        (let ((limited (copy-seq before)))
          (setf (aref limited 0) (min limit (aref before 0)))
          (when (set-limits limited)
            (setf **unlimited** before
                  **limited** limited)))))))

(defun call-unlimited (function &rest arguments)
  "Call FUNCTION with ARGUMENTS while the address space is not bounded: what it starts is not bounded either."
  (flet ((change (step)
           (sb-thread:with-mutex (**lifting-lock**)
             (incf **lifting** step)
             (when **limited** (set-limits (if (plusp **lifting**) **unlimited** **limited**))))))
    (change 1)
    (unwind-protect (apply function arguments)
      (change -1))))

(defun bound-memory ()
  "Bound the address space as the server asks. Child processes are not bounded: some, such as node and
java, reserve more than they ever use."
  (ignore-errors
   (limit-address-space (parse-integer (or (sb-ext:posix-getenv "LIVE_LISP_MEMORY_MB") "") :junk-allowed t)))
  (when (internal-function "SB-IMPL" "SPAWN")
    (sb-int:encapsulate (internal-symbol "SB-IMPL" "SPAWN") 'live-lisp #'call-unlimited)))
