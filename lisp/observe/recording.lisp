;;;; Records calls. A probe wraps a function, and records arguments, values and times, without
;;;; changing what the call does. Memory for the records is limited, however often the function is
;;;; called.

(in-package "LIVE-LISP.OBSERVE")

;;; Time

(declaim (inline now))
(defun now ()
  "Return a monotonic time in nanoseconds, a fixnum."
  (multiple-value-bind (seconds nanoseconds) (clock-time 1)
    (declare (type (unsigned-byte 31) seconds nanoseconds))
    (+ (* 1000000000 seconds) nanoseconds)))

(defun milliseconds (nanoseconds)
  "Return NANOSECONDS in milliseconds, a float."
  (/ nanoseconds 1d6))

;;; What is recorded

(defparameter *first-calls* 1000 "The first calls are kept, up to this many.")
(defparameter *last-calls* 1000 "The last calls are kept, up to this many.")
(defparameter *calls-when-full* 20
  "Once the heap has grown too much, only this many last calls are kept.")

(defstruct (observation (:constructor make-observation (&optional job)))
  "The recording of calls for JOB. Calls are recorded while ACTIVE is true. PROBES are the installed
PROBEs. NEXT is the number of the next call. FIRST has the first calls, LAST is a ring buffer with
the last ones. When the heap has more than ROOM octets, SHRUNK is set to true, and only few calls
are kept. BEGUN and ENDED are times from NOW."
  job (active t) (probes '()) (begun (now)) (ended nil)
  (next 0 :type sb-ext:word)
  (first (make-array *first-calls* :initial-element nil) :type simple-vector)
  (last (make-array *last-calls* :initial-element nil) :type simple-vector)
  (room (+ (heap-usage) (floor (- **heap-size** (heap-usage)) 2)) :type (or fixnum unsigned-byte))
  (shrunk nil))

(defstruct (probe (:constructor make-probe (name observation where)))
  "Records calls of the function NAME for OBSERVATION. WHERE is NIL, or a function of the arguments
that returns true for calls to record. KEY identifies the wrapper. GENERIC is the function if it is
generic, else NIL. CALLS counts all calls. A call is
recorded only if its number has no bit in common with MASK, which grows if calls come too fast.
SINCE is the time when their rate was last checked. FAILED counts errors in WHERE, and FAILURE is
the class of the last one."
  name observation where (key (make-symbol "OBSERVED")) (generic nil)
  (calls 0 :type sb-ext:word) (mask 0 :type (unsigned-byte 16)) (since 0 :type fixnum)
  (failed 0 :type sb-ext:word) (failure nil))

(defstruct (call (:constructor make-call
                               (probe arguments parent depth code offset thread stack begun how)))
  "A call of the function of PROBE with ARGUMENTS. PARENT is the innermost recorded call around it,
or NIL. DEPTH is the number of recorded calls around it. It returns to the position OFFSET in CODE.
STACK is the start address of the stack of its THREAD. HOW is :RUNNING, :RETURNED, :LEFT after a
throw, or :PASSED if its end is not recorded. CONDITION is the condition last signalled during the
call. ENTERED has the methods that the call has entered, the last first. CUT is true when it has
entered others, or may have."
  probe (number 0 :type fixnum) arguments parent (depth 0 :type fixnum) code (offset 0 :type fixnum)
  thread stack
  (begun 0 :type fixnum) (ended 0 :type fixnum) (values '()) how (condition nil)
  (entered '() :type list) (cut nil))

(defstruct (gone-object (:constructor make-gone-object (class)))
  "Stands for an object of CLASS that was allocated on the stack, and so does not exist any more
when the call has ended."
  class)

(defvar *unrecorded* nil
  "True while this thread runs code of a probe: calls by it are not recorded.")
(defvar *innermost* nil "The innermost CALL in this thread, or NIL.")

(defparameter *depth-limit* 500
  "If a call has this many recorded calls around it, its end is not recorded.")
(defparameter *stack-limit* 262144
  "If fewer octets of the stack are left, the end of a call is not recorded.")
(defconstant +quick-calls+ 65536
  "The rate of calls of a function is checked each time it has been called this many times.")
(defparameter *calls-a-second* 500000
  "Up to this many calls of a function per second, all are recorded.")

(defun kept-objects (objects)
  "Return the list OBJECTS with a GONE-OBJECT in place of each object that is allocated on the
stack."
  (if (loop for object in objects thereis (on-stack-p object))
      (loop for object in objects
            collect (if (on-stack-p object) (make-gone-object (class-of object)) object))
      objects))

(defun keep-few (observation)
  "Have OBSERVATION keep only the last *CALLS-WHEN-FULL* calls from now on."
  (setf (observation-shrunk observation) t
        (observation-room observation) most-positive-fixnum
        (observation-first observation) (vector)
        (observation-last observation) (make-array *calls-when-full* :initial-element nil)))

(defun keep-call (call)
  "Give CALL the next number in the observation of its probe, and keep it there."
  (let* ((observation (probe-observation (call-probe call)))
         (number (sb-ext:atomic-incf (observation-next observation)))
         (first (observation-first observation)) (last (observation-last observation)))
    (setf (call-number call) number)
    (if (< number (length first))
        (setf (svref first number) call)
        (setf (svref last (mod number (length last))) call))
    (when (> (heap-usage) (observation-room observation)) (keep-few observation))))

(defun chosen-p (probe arguments)
  "True when PROBE must record a call with ARGUMENTS. WHERE is evaluated APART-FOR-LONG, but its
output is the program's."
  (let ((where (probe-where probe)) (output *standard-output*) (*unrecorded* t))
    (or (null where)
        (apart-for-long
          (handler-case (let ((*standard-output* output)) (apply where arguments))
            (error (failure)
              (sb-ext:atomic-incf (probe-failed probe))
              (setf (probe-failure probe) (class-of failure))
              nil))))))

;;; What follows runs at each recorded call, and not APART, which would take twice as long as all of
;;; it. It reads the clock, and makes, sets and compares objects. So it signals nothing, uses no
;;; variable of the program, and calls nothing that can be recorded. A timer of the program can
;;; interrupt it as it can the program: a call is kept only when a throw out of it is seen.

(defun new-call (probe arguments address)
  "Return a CALL of the function of PROBE with ARGUMENTS that begins now. ADDRESS is its return
address, or NIL."
  (let* ((parent *innermost*) (depth (if parent (1+ (call-depth parent)) 0))
         (code (and address (code-at address)))
         (stack (stack-start))
         (left (if stack (- (sb-sys:sap-int (stack-pointer)) stack) *stack-limit*)))
    (make-call probe (kept-objects arguments) parent depth code
               (if code (- address (sb-sys:sap-int (code-start code))) 0)
               sb-thread:*current-thread* stack (now)
               ;; Waiting for the end of a call takes stack: a loop of tail calls would exhaust it.
               (if (and (< depth *depth-limit*) (>= left *stack-limit*)) :running :passed))))

(defun end-call (call how values)
  "Record that CALL ended with VALUES. HOW is the value for CALL-HOW."
  (setf (call-ended call) (now)
        (call-values call) (kept-objects values)
        (call-how call) how))

(defparameter *entered-limit* 100 "At most this many methods that a call enters are recorded.")

(defun note-entry (function method)
  "Record that METHOD of FUNCTION, a generic function, was entered: in the innermost recorded call
of this thread, if that is a call of FUNCTION, and in what other observations recorded of this
call."
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
  "Note that a call of the function of PROBE is not recorded. Methods that are entered from now on
can be this call's, so none is recorded in the call of the same function that is around it."
  (let ((call *innermost*))
    (when (and call (not *unrecorded*) (eq probe (call-probe call)))
      (setf (call-cut call) t))))

(defun note-condition (call condition)
  "Record that CONDITION was signalled in CALL."
  (unless (on-stack-p condition) (setf (call-condition call) condition)))

(defun call-recorded (call function arguments)
  "Keep CALL, call FUNCTION with ARGUMENTS, and return its values. Record in CALL how this ends."
  (let ((ended nil))
    (unwind-protect
         (let ((values (multiple-value-list
                        (let ((*innermost* call))
                          (keep-call call)
                          (handler-bind ((condition (lambda (condition)
                                                      (note-condition call condition))))
                            (apply function arguments))))))
           (end-call call :returned values)
           (setf ended t)
           (values-list values))
      (unless ended (end-call call :left '())))))

(defun record-call (probe function &rest arguments)
  "Call FUNCTION, the original function of PROBE, with ARGUMENTS, and return its values. Record the
call if PROBE must."
  (let* ((address (let ((address (caller-address))) (and address (sb-sys:sap-int address))))
         (call (and (chosen-p probe arguments) (new-call probe arguments address))))
    (cond ((and call (eq :running (call-how call))) (call-recorded call function arguments))
          (t (when call (keep-call call))
             (note-unrecorded probe)
             (apply function arguments)))))

(note-frame 'record-call :between)
(note-frame 'call-recorded :between)

(defun spare-calls (probe number)
  "If the last +QUICK-CALLS+ calls of PROBE's function, before the call with NUMBER, came too fast,
have PROBE record fewer. A PROBE with a WHERE is left as it is."
  (let ((now (now)))
    (when (and (plusp number)
               (null (probe-where probe))
               (< (* (- now (probe-since probe)) *calls-a-second*) (* +quick-calls+ 1000000000)))
      (setf (probe-mask probe) (min 1023 (1+ (* 2 (probe-mask probe))))))
    (setf (probe-since probe) now)))

(declaim (inline due-p))
(defun due-p (probe)
  "Count a call of the function of PROBE. Return true if the call must be recorded, provided that
WHERE allows it. Calls while interrupts are disabled, as within SBCL's own locks, are neither
counted nor recorded, since recording takes some of these locks."
  (and (observation-active (probe-observation probe))
       (not *unrecorded*)
       (not *reading*)
       sb-sys:*interrupts-enabled*
       (not collection-inhibited)
       (let ((number (sb-ext:atomic-incf (probe-calls probe))))
         (when (zerop (mod number +quick-calls+)) (spare-calls probe number))
         (zerop (logand number (probe-mask probe))))))

(defun recorder (probe)
  "Return the function that wraps the function of PROBE. It is called with the original function and
the arguments, and records the call if it is DUE-P."
  (lambda (function &rest arguments)
    (cond ((due-p probe) (apply #'record-call probe function arguments))
          (t (note-unrecorded probe)
             (apply function arguments)))))

;;; The calls that were kept

(defun kept-calls (observation)
  "Return the calls kept by OBSERVATION, in the order in which they began."
  (let ((calls (append (coerce (observation-first observation) 'list)
                       (coerce (observation-last observation) 'list))))
    (sort (remove nil calls) #'< :key #'call-number)))

(defun call-stacks (calls)
  "Return the start addresses of the stacks of CALLS, without duplicates."
  (remove nil (remove-duplicates (mapcar #'call-stack calls))))

(sb-ext:defglobal **call-cost** nil
  "The cost of recording a call in nanoseconds, or NIL before it is measured.")

(defun call-cost ()
  "Return the cost of recording a call in nanoseconds. It is measured once."
  (or **call-cost**
      (let* ((probe (make-probe 'identity (make-observation) nil))
             (recorder (recorder probe))
             (begun (now)))
        (declare (type function recorder))
        (dotimes (index 2000) (funcall recorder #'identity index))
        (setf **call-cost** (max 1 (floor (- (now) begun) 2000))))))
