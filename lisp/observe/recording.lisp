;;;; Records calls. A PROBE is a wrapper around a function. It records the calls of this function
;;;; for an OBSERVATION, with arguments, values and times, and does not change what a call does. The
;;;; memory for the records is limited, however often the function is called. probes.lisp installs
;;;; the probes, calls.lisp shows the calls.
;;;;
;;;; RECORDER makes the wrapper of a probe. For each call, the wrapper calls DUE-P, which decides
;;;; whether to record it, and then RECORD-CALL, which makes a CALL structure (NEW-CALL), keeps it
;;;; (KEEP-CALL), and records how the call ended (CALL-RECORDED).

(in-package "LIVE-LISP.OBSERVE")

;;; Time

(declaim (inline now))
(defun now ()
  "Return the time of the system's monotonic clock in nanoseconds, a fixnum."
  (multiple-value-bind (seconds nanoseconds) (clock-time 1)
    (declare (type (unsigned-byte 31) seconds nanoseconds))
    (+ (* 1000000000 seconds) nanoseconds)))

(defun milliseconds (nanoseconds)
  "Convert the number NANOSECONDS to milliseconds, and return a float."
  (/ nanoseconds 1d6))

;;; The data that is recorded

(defparameter *first-calls* 1000 "The maximum number of first calls that an observation keeps.")
(defparameter *last-calls* 1000 "The maximum number of last calls that an observation keeps.")
(defparameter *calls-when-full* 20
  "The maximum number of last calls that an observation keeps once the heap has grown too much.")

(defstruct (observation (:constructor make-observation (&optional job)))
  "A recording of calls.
JOB: the observing job.
ACTIVE: true while calls are recorded.
PROBES: a list of the installed PROBE structures.
BEGUN, ENDED: values of the function NOW. ENDED is NIL until the recording ends.
NEXT: the number of the next call.
FIRST: a vector of the first calls. LAST: a ring buffer with the last calls.
HEAP-LIMIT: once more octets than this are in use in the heap, only few calls are kept.
SHRUNK: true once the heap has exceeded HEAP-LIMIT."
  job (active t) (probes '()) (begun (now)) (ended nil)
  (next 0 :type sb-ext:word)
  (first (make-array *first-calls* :initial-element nil) :type simple-vector)
  (last (make-array *last-calls* :initial-element nil) :type simple-vector)
  (heap-limit (+ (heap-usage) (floor (- **heap-size** (heap-usage)) 2))
              :type (or fixnum unsigned-byte))
  (shrunk nil))

(defstruct (probe (:constructor make-probe (name observation where)))
  "A wrapper around the function NAME that records its calls for OBSERVATION.
WHERE: NIL, or a function of the arguments that returns true for calls to record.
KEY: a symbol that identifies the wrapper.
GENERIC: the function if it is generic, else NIL.
CALLS: the number of all calls.
MASK: a bit mask that grows if calls come too fast. A call is recorded only if its number has no bit
in common with MASK.
SINCE: the time when the rate of calls was last checked.
FAILED, FAILURE: the number of errors in WHERE, and the class of the last error."
  name observation where (key (make-symbol "OBSERVED")) (generic nil)
  (calls 0 :type sb-ext:word) (mask 0 :type (unsigned-byte 16)) (since 0 :type fixnum)
  (failed 0 :type sb-ext:word) (failure nil))

(defstruct (call (:constructor make-call
                               (probe arguments parent depth code offset thread stack begun how)))
  "A call of the function of PROBE with ARGUMENTS.
PARENT: the innermost recorded call around this call, or NIL.
DEPTH: the number of recorded calls around this call.
CODE, OFFSET: the code object of the caller, and the offset in it to which the call returns.
THREAD, STACK: the thread of the call, and the lowest address of its stack.
BEGUN, ENDED: values of the function NOW. ENDED is 0 until the end is recorded.
HOW: :RUNNING, :RETURNED, :LEFT after a non-local exit, or :PASSED if the end is not recorded.
CONDITION: the last condition signalled during the call.
ENTERED: a list of the methods that the call has entered, newest first.
CUT: true if ENTERED may lack methods that the call has entered."
  probe (number 0 :type fixnum) arguments parent (depth 0 :type fixnum) code (offset 0 :type fixnum)
  thread stack
  (begun 0 :type fixnum) (ended 0 :type fixnum) (values '()) how (condition nil)
  (entered '() :type list) (cut nil))

(defstruct (gone-object (:constructor make-gone-object (class)))
  "A stand-in for an object of CLASS with dynamic extent. The object no longer exists after the
call."
  class)

(defvar *unrecorded* nil
  "True while this thread runs code of a probe. Calls from such code are not recorded.")
(defvar *innermost* nil "The CALL structure of the innermost recorded call in this thread, or NIL.")

(defparameter *depth-limit* 500
  "The end of a call is not recorded if the call is nested in at least this many recorded calls.")
(defparameter *stack-limit* 262144
  "The end of a call is not recorded if the stack has fewer free octets than this when the call
begins.")
(defconstant +quick-calls+ 65536
  "The number of calls of a function after which the rate of its calls is checked again.")
(defparameter *calls-a-second* 500000
  "All calls of a function are recorded as long as there are at most so many calls a second.")

(defun kept-objects (objects)
  "Return the list OBJECTS with a GONE-OBJECT structure in place of each object that is allocated on
the stack."
  (if (loop for object in objects thereis (on-stack-p object))
      (loop for object in objects
            collect (if (on-stack-p object) (make-gone-object (class-of object)) object))
      objects))

(defun keep-few (observation)
  "From now on, keep only the last *CALLS-WHEN-FULL* calls in OBSERVATION, an OBSERVATION
structure."
  (setf (observation-shrunk observation) t
        (observation-heap-limit observation) most-positive-fixnum
        (observation-first observation) (vector)
        (observation-last observation) (make-array *calls-when-full* :initial-element nil)))

(defun keep-call (call)
  "CALL is a CALL structure. Give CALL the next number in the observation of its probe, and keep
CALL there. If the heap has grown too much, keep fewer calls from now on."
  (let* ((observation (probe-observation (call-probe call)))
         (number (sb-ext:atomic-incf (observation-next observation)))
         (first (observation-first observation)) (last (observation-last observation)))
    (setf (call-number call) number)
    (if (< number (length first))
        (setf (svref first number) call)
        (setf (svref last (mod number (length last))) call))
    (when (> (heap-usage) (observation-heap-limit observation)) (keep-few observation))))

(defun chosen-p (probe arguments)
  "Return true if PROBE must record a call with ARGUMENTS, because the function in its slot WHERE
returns true or the slot is NIL. The function runs within WITH-INTERRUPTIBLE-ISOLATION, but its
output goes where the output of the program goes."
  (let ((where (probe-where probe)) (output *standard-output*) (*unrecorded* t))
    (or (null where)
        (with-interruptible-isolation
          (handler-case (let ((*standard-output* output)) (apply where arguments))
            (error (failure)
              (sb-ext:atomic-incf (probe-failed probe))
              (setf (probe-failure probe) (class-of failure))
              nil))))))

;;; The functions that follow run at each recorded call. They do not run in WITH-ISOLATION, which
;;; would take twice as long as all of them together. They do not need it: they only read the clock,
;;; and make, set and compare objects. So they signal nothing, use no variable of the program, and
;;; call no function that can have a probe.
;;;
;;; A timer of the program can interrupt them and throw out of them. If the end of a call is to be
;;; recorded, KEEP-CALL therefore runs only inside the UNWIND-PROTECT that records this end.

(defun new-call (probe arguments address)
  "Return a new CALL structure for a call that begins now, with ARGUMENTS, of the function of PROBE,
a PROBE structure. ADDRESS is the return address of the call, or NIL."
  (let* ((parent *innermost*) (depth (if parent (1+ (call-depth parent)) 0))
         (code (and address (code-at address)))
         (stack (stack-start))
         (free (if stack (- (sb-sys:sap-int (stack-pointer)) stack) *stack-limit*)))
    (make-call probe (kept-objects arguments) parent depth code
               (if code (- address (sb-sys:sap-int (code-start code))) 0)
               sb-thread:*current-thread* stack (now)
               ;; A call whose end is recorded takes stack, so a loop of tail calls would exhaust
               ;; the stack.
               (if (and (< depth *depth-limit*) (>= free *stack-limit*)) :running :passed))))

(defun end-call (call how values)
  "Record that CALL, a CALL structure, has ended with the list VALUES. HOW is :RETURNED, or :LEFT
after a non-local exit."
  (setf (call-ended call) (now)
        (call-values call) (kept-objects values)
        (call-how call) how))

(defparameter *entered-limit* 100 "The maximum number of entered methods recorded for one call.")

(defun note-entry (function method)
  "METHOD of the generic function FUNCTION begins to run. Record this if the innermost recorded call
of this thread is a call of FUNCTION. If several observations record that call, each has its own
CALL structure for it. Then record METHOD in all of these."
  (unless *unrecorded*
    (loop with observations = '()
          for call = *innermost* then (call-parent call)
          while (and call (eq function (probe-generic (call-probe call))))
          until (member (probe-observation (call-probe call)) observations)
          do (push (probe-observation (call-probe call)) observations)
             (cond ((call-cut call))
                   ((nthcdr (1- *entered-limit*) (call-entered call)) (setf (call-cut call) t))
                   (t (push method (call-entered call)))))))

(defun note-unrecorded (probe)
  "A call of the function of PROBE begins, but does not become *INNERMOST*, because the call or its
end is not recorded. If the innermost recorded call in this thread is a call of the same function,
stop adding entered methods to its record, since these may belong to the call that begins."
  (let ((call *innermost*))
    (when (and call (not *unrecorded*) (eq probe (call-probe call)))
      (setf (call-cut call) t))))

(defun note-condition (call condition)
  "Record in CALL, a CALL structure, that CONDITION was signalled, unless CONDITION is allocated on
the stack."
  (unless (on-stack-p condition) (setf (call-condition call) condition)))

(defun call-recorded (call function arguments)
  "Add CALL, a CALL structure, to the recorded calls (KEEP-CALL). Then call FUNCTION with ARGUMENTS,
and return the values. Record in CALL how FUNCTION ended."
  (let ((ended nil))
    (unwind-protect
         (let ((values (multiple-value-list
                        (let ((*innermost* call))
                          (keep-call call)
                          (backend-handler-bind ((condition (lambda (condition)
                                                            (note-condition call condition))))
                            (apply function arguments))))))
           (end-call call :returned values)
           (setf ended t)
           (values-list values))
      (unless ended (end-call call :left '())))))

(defun record-call (probe function &rest arguments)
  "Call FUNCTION, the original function of PROBE, with ARGUMENTS, and return its values. Record the
call if the function in the slot WHERE of PROBE returns true for ARGUMENTS, or if this slot is NIL."
  (let* ((pointer (caller-address)) (address (and pointer (sb-sys:sap-int pointer)))
         (call (and (chosen-p probe arguments) (new-call probe arguments address))))
    (cond ((and call (eq :running (call-how call))) (call-recorded call function arguments))
          (t (when call (keep-call call))
             (note-unrecorded probe)
             (apply function arguments)))))

(note-frame 'record-call :between)
(note-frame 'call-recorded :between)

(defun spare-calls (probe number)
  "The function of PROBE is about to be called, after NUMBER earlier calls. If the last
+QUICK-CALLS+ calls came too fast, record fewer calls from now on, unless PROBE has a function in
its slot WHERE."
  (let ((now (now)))
    (when (and (plusp number)
               (null (probe-where probe))
               (< (* (- now (probe-since probe)) *calls-a-second*) (* +quick-calls+ 1000000000)))
      (setf (probe-mask probe) (min 1023 (1+ (* 2 (probe-mask probe))))))
    (setf (probe-since probe) now)))

(declaim (inline due-p))
(defun due-p (probe)
  "Count a call of the function of PROBE. Return true if the call is to be recorded, as far as this
does not depend on its arguments. RECORD-CALL then looks at the arguments with the function in the
slot WHERE of PROBE. Return NIL for a call in the reader thread (*READING*). Also return NIL while
interrupts are disabled, as inside a lock of SBCL, because recording takes some of these locks."
  (and (observation-active (probe-observation probe))
       (not *unrecorded*)
       (not *reading*)
       sb-sys:*interrupts-enabled*
       (not collection-inhibited)
       (let ((number (sb-ext:atomic-incf (probe-calls probe))))
         (when (zerop (mod number +quick-calls+)) (spare-calls probe number))
         (zerop (logand number (probe-mask probe))))))

(defun recorder (probe)
  "Return the wrapper for the function of PROBE. The wrapper takes the original function and the
arguments, and calls the original. It records the call if DUE-P is true and the function WHERE of
PROBE returns true."
  (lambda (function &rest arguments)
    (cond ((due-p probe) (apply #'record-call probe function arguments))
          (t (note-unrecorded probe)
             (apply function arguments)))))

;;; The calls that were kept

(defun kept-calls (observation)
  "Return a list of the calls that OBSERVATION has kept, in the order in which they began."
  (let ((calls (append (coerce (observation-first observation) 'list)
                       (coerce (observation-last observation) 'list))))
    (sort (remove nil calls) #'< :key #'call-number)))

(sb-ext:defglobal **call-cost** nil
  "The cost of recording a call, in nanoseconds, or NIL if it was not measured yet.")

(defun call-cost ()
  "Return the cost of recording a call, in nanoseconds. Measure it at the first call."
  (or **call-cost**
      (let* ((probe (make-probe 'identity (make-observation) nil))
             (recorder (recorder probe))
             (begun (now)))
        (declare (type function recorder))
        (dotimes (index 2000) (funcall recorder #'identity index))
        (setf **call-cost** (max 1 (floor (- (now) begun) 2000))))))
