;;;; What the image may take of the machine besides its heap. Its address space is bounded, so that foreign
;;;; code that allocates for ever gets no more and fails, and the system need not end some process.

(in-package "LIVE-LISP.GUARD")

(defconstant +address-space+ 9 "RLIMIT_AS of Linux; other systems hold no process to it.")

(sb-ext:defglobal **limited** nil
  "The limits of the address space that this image set, a vector of the soft and the hard one in octets; NIL
when it set none.")

(sb-ext:defglobal **unlimited** nil "The limits that there were before, as **LIMITED**.")

(defconstant +reserve+ (* 256 1024 1024) "Octets by which the limit is raised when it is reached.")

(sb-ext:defglobal **reserves** 8 "How often the limit can still be raised.")

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
  "Return how many octets of address space this process uses, or NIL when that cannot be told."
  (let ((octets (make-array 24 :element-type '(unsigned-byte 8) :initial-element 32))
        (file (open-file "/proc/self/statm" 0 0)))
    (when file
      (sb-sys:with-pinned-objects (octets)
        (read-file file (sb-sys:vector-sap octets) (length octets)))
      (close-file file)
      (let ((pages (parse-integer (map 'string #'code-char octets) :junk-allowed t)))
        (and pages (* pages (sb-alien:alien-funcall (sb-alien:extern-alien "getpagesize" (function sb-alien:int)))))))))

(defun limit-address-space (megabytes)
  "Let this process use MEGABYTES more of address space than it does now, where the system holds it to that."
  (let ((before (make-array 2 :element-type '(unsigned-byte 64)))
        (used (and megabytes (find :linux *features*) (address-space))))
    (when (and used (limit-call "getrlimit" before))
      (let ((limited (copy-seq before)))
        (setf (aref limited 0) (min (+ used (* 1024 1024 megabytes)) (aref before 0)))
        (when (set-limits limited)
          (setf **unlimited** before
                **limited** limited))))))

(defun keep-reserve ()
  "Raise the limit a little when it is reached: without any room a collection ends the image. What is left in memory by
calls that fail is bounded by how often that can be."
  (let ((used (address-space)))
    (when (and used (plusp **reserves**) (< (- (aref **limited** 0) used) (floor +reserve+ 2)))
      (decf **reserves**)
      (setf (aref **limited** 0) (min (+ used +reserve+) (aref **unlimited** 0))))))

(defun call-unlimited (function &rest arguments)
  "Call FUNCTION with ARGUMENTS while the address space is not bounded: what it starts is not bounded either."
  (flet ((change (step)
           (sb-thread:with-mutex (**lifting-lock**)
             (incf **lifting** step)
             (when **limited**
               (when (zerop **lifting**) (keep-reserve))
               (set-limits (if (plusp **lifting**) **unlimited** **limited**))))))
    (change 1)
    (unwind-protect (apply function arguments)
      (change -1))))

(setf **make-thread** (lambda (&rest options)
                        ;; Also when the address space is used up.
                        (apply #'call-unlimited #'sb-thread:make-thread options)))

(defun bound-memory ()
  "Bound the address space as the server asks. Child processes are not bounded: some, such as node and
java, reserve more than they ever use."
  (ignore-errors
   (limit-address-space (parse-integer (or (sb-ext:posix-getenv "LIVE_LISP_MEMORY_MB") "") :junk-allowed t)))
  (when +spawn+
    (encapsulate +spawn+ 'live-lisp #'call-unlimited)))

(define-ability "address-space limits" "foreign code can use up the memory")
(define-check **limited**)
