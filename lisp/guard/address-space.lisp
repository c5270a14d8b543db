;;;; Limits the address space of the image, which also limits the memory outside its heap. Foreign
;;;; code that allocates without end then fails. Without the limit, the operating system would run
;;;; out of memory and kill some process. CALL-UNLIMITED lifts the limit while a thread or a process
;;;; is made. The last section gives unused memory of SBCL's card table back to the system.

(in-package "LIVE-LISP.GUARD")

(defconstant +address-space+ 9
  "The number of RLIMIT_AS on Linux. Other systems do not enforce this limit.")

(defconstant +reserve+ (* 256 1024 1024)
  "The number of octets that KEEP-RESERVE leaves free below the limit when it raises the limit.")

(defconstant +reserves+ 8
  "The number of times that the limit can be raised before the process must free memory.")

(defstruct (limits (:constructor make-limits (before now &aux (first (aref now 0)))))
  "The limits of the address space of this process. A limit is a vector (SOFT HARD) of two numbers
of octets.
BEFORE: the limit that the process had at first.
NOW: the limit that the backend set. It is in force only while LIFTING is 0.
FIRST: the first soft limit that the backend set.
RESERVES: the number of times that NOW can still be raised.
LIFTING: the number of running calls of CALL-UNLIMITED."
  before now first (reserves +reserves+) (lifting 0))

(sb-ext:defglobal **limits** nil
  "The LIMITS structure of this image, or NIL if the backend set no limit.")

(sb-ext:defglobal **limits-lock** (sb-thread:make-mutex :name "live-lisp limits")
  "The mutex that a thread holds while it changes a limit.")

(defmacro limit-call (name limit)
  "Call the C function NAME, getrlimit or setrlimit, for the address space. LIMIT is a vector (SOFT
HARD). Return true on success."
  `(sb-sys:with-pinned-objects (,limit)
     (zerop (sb-alien:alien-funcall
             (sb-alien:extern-alien ,name
                                    (function sb-alien:int sb-alien:int sb-sys:system-area-pointer))
             +address-space+ (sb-sys:vector-sap ,limit)))))

(defun set-limits (limit)
  "Set the limit of the address space to LIMIT, a vector (SOFT HARD). Return true on success."
  (limit-call "setrlimit" limit))

(defun address-space ()
  "Return the number of octets of address space that this process uses, or NIL when it is unknown."
  ;; The first number in the file is the number of pages. The array is filled with spaces, so that
  ;; octets that are not read do not matter to PARSE-INTEGER.
  (let ((octets (make-array 24 :element-type '(unsigned-byte 8) :initial-element 32))
        (file (open-file "/proc/self/statm" 0 0)))
    (when file
      (sb-sys:with-pinned-objects (octets)
        (read-file file (sb-sys:vector-sap octets) (length octets)))
      (close-file file)
      (let ((pages (parse-integer (map 'string #'code-char octets) :junk-allowed t)))
        (and pages
             (* pages
                (sb-alien:alien-funcall (sb-alien:extern-alien "getpagesize"
                                                               (function sb-alien:int)))))))))

(defun limit-address-space (megabytes)
  "Limit the address space of this process to the octets in use now plus MEGABYTES. Do nothing if
MEGABYTES is NIL, or on systems other than Linux, which do not enforce the limit."
  (let ((before (make-array 2 :element-type '(unsigned-byte 64)))
        (used (and megabytes (find :linux *features*) (address-space))))
    (when (and used (limit-call "getrlimit" before))
      (let ((now (copy-seq before)))
        (setf (aref now 0) (min (+ used (* 1024 1024 megabytes)) (aref before 0)))
        (when (set-limits now)
          (setf **limits** (make-limits before now)))))))

(defun keep-reserve (limits)
  "Update the soft limit in the slot NOW of LIMITS, a LIMITS structure. If the process has nearly
reached the limit, raise it, because a garbage collection that cannot get memory would end the
image. Raise it at most +RESERVES+ times. Once the process has freed memory, set the limit back to
the value in the slot FIRST, so that it can be raised +RESERVES+ times again."
  (let ((used (address-space)) (now (limits-now limits)) (first-soft (limits-first limits)))
    (cond ((null used))
          ((< used (- first-soft +reserve+))
           (setf (aref now 0) first-soft
                 (limits-reserves limits) +reserves+))
          ((and (plusp (limits-reserves limits)) (< (- (aref now 0) used) (floor +reserve+ 2)))
           (decf (limits-reserves limits))
           (setf (aref now 0) (min (+ used +reserve+) (aref (limits-before limits) 0)))))))

(defun call-unlimited (function &rest arguments)
  "Hook: FUNCTION makes a thread or a process. Call it with ARGUMENTS, and lift the limit of the
address space meanwhile. A process that FUNCTION starts then has no limit either."
  (flet ((change (limits step)
           (sb-thread:with-mutex (**limits-lock**)
             (when (zerop (incf (limits-lifting limits) step)) (keep-reserve limits))
             ;; LIFT-LIMITS may have been called since this call took LIMITS from **LIMITS**.
             (when (eq limits **limits**)
               (set-limits (if (plusp (limits-lifting limits))
                               (limits-before limits)
                               (limits-now limits)))))))
    (let ((limits **limits**))
      (when limits (change limits 1))
      (unwind-protect (apply function arguments)
        (when limits (change limits -1))))))

(setf **make-thread** (lambda (&rest options)
                        ;; Lift the limit, so that threads can be made even when the address space
                        ;; is used up.
                        (apply #'call-unlimited #'sb-thread:make-thread options)))

(defun bound-memory ()
  "If the environment variable LIVE_LISP_MEMORY_MB is set, limit the address space to this number of
megabytes."
  (limit-address-space (number-in (or (sb-ext:posix-getenv "LIVE_LISP_MEMORY_MB") ""))))

(defun lift-limits ()
  "Restore the limit that this process had before LIMIT-ADDRESS-SPACE. A call of CALL-UNLIMITED that
is in progress then leaves the limit as it is."
  (sb-thread:with-mutex (**limits-lock**)
    (let ((limits (shiftf **limits** nil)))
      (when limits (set-limits (limits-before limits))))))

(define-hook +spawn+ call-unlimited)

(defun free-children ()
  "Install the hook that makes SBCL start child processes without the limit of the address space.
Some programs, such as node and java, reserve more address space than they ever use."
  (install-hooks 'call-unlimited))

;;; SBCL writes zeros to its whole card table, a MB for each GB of its heap, and so the whole table
;;; takes memory. Most of the table is unused until the heap fills.

(defconstant +give-back+ 4
  "The number of MADV_DONTNEED on Linux. It gives memory back to the system. The memory has only
zeros when it is used again.")

(defconstant +chunk+ 65536
  "The number of octets in a chunk of the card table. GIVE-BACK-ZEROS gives back whole chunks. The
number is a multiple of every system's page size.")

(defun zeros-p (address)
  "Return true if the chunk of +CHUNK+ octets at ADDRESS has only zeros."
  (declare (type (unsigned-byte 62) address))
  (loop with chunk = (sb-sys:int-sap address)
        for index of-type fixnum from 0 below +chunk+ by 8
        always (zerop (sb-sys:sap-ref-64 chunk index))))

(defun give-back-zeros ()
  "Give the chunks of the card table that have only zeros back to the system. Their memory still
reads as zeros."
  (when (and (find :linux *features*) card-marks card-bits)
    (let* ((start (sb-sys:sap-int card-marks)) (end (+ start (ash 1 card-bits))))
      ;; Stop collections, which could write to a chunk between the test and the call that gives it
      ;; back.
      (sb-sys:without-gcing
        (loop for chunk from (* +chunk+ (ceiling start +chunk+)) to (- end +chunk+) by +chunk+
              when (zeros-p chunk)
                do (sb-alien:alien-funcall
                    (sb-alien:extern-alien "madvise" (function sb-alien:int sb-alien:unsigned-long
                                                               sb-alien:unsigned-long sb-alien:int))
                    chunk +chunk+ +give-back+))))))

(define-ability "address-space limits" :without "foreign code can use up the memory")
(define-check **limits**)
