;;;; Describes recorded calls as rows of a tree, after recording has ended. The structures CALL,
;;;; PROBE, OBSERVATION and GONE-OBJECT are in recording.lisp.

(in-package "LIVE-LISP.OBSERVE")

(define-shape recorded-call ()
  "A recorded call. Exactly one of the members `values`, `left`, `running` and `passed` says how
  the call ended."
  (depth integer "Depth of the call in the tree of recorded calls.")
  (call string) (caller string :optional) (thread string :optional)
  (methods (list string) :optional
   "The methods that the call of a generic function entered, in order. The last element is '...' if
   the call may have entered others.")
  (milliseconds real :optional)
  (values (list string) :optional "The values that the call returned, as printed.")
  (left boolean :optional "True when a non-local exit (THROW, RETURN-FROM, GO) ended the call.")
  (running boolean :optional "True when the call still ran at the end of the recording.")
  (passed boolean :optional
   "True when a tail call replaced the frame of this call, so that its return was not seen.")
  (condition (object (type string) (text string)) :optional))

(defparameter *argument-limit* 8
  "The maximum number of arguments, and of values, shown of a call.")

(defparameter *argument-characters* 80
  "The maximum number of characters shown of an argument or value.")

(defparameter *least-characters* 12
  "The smallest number of characters to which an argument or value is cut, even if there are many of
them.")

(defparameter *shown-characters* 2000
  "The approximate number of characters of all arguments and values in an answer together.")

(defun call-rows (calls job)
  "Return a list of JSON objects for CALLS, observed by JOB, in the order in which they began."
  (let ((shown (make-hash-table :test 'eq)) (*argument-characters* (argument-length calls)))
    (dolist (call calls) (setf (gethash call shown) 0))
    ;; CALL-ROW replaces the 0 by the depth. A caller begins before its callees, so their rows find
    ;; its depth.
    (loop for call in calls collect (call-row call shown job))))

(defun argument-length (calls)
  "Return the maximum number of characters to show of each argument and value of CALLS, a list of
CALL structures."
  (let ((objects (loop for call in calls
                       sum (+ (min *argument-limit* (length (call-arguments call)))
                              (min *argument-limit* (length (call-values call)))))))
    (max *least-characters*
         (min *argument-characters* (floor *shown-characters* (max 1 objects))))))

(defun call-row (call shown job)
  "Return a JSON object for CALL, a CALL structure observed by JOB. SHOWN is a hash table from the
calls in the answer to their depths in the tree. Set the depth of CALL in SHOWN."
  (let ((above (above call shown)) (thread (call-thread call)))
    (setf (gethash call shown) (if above (1+ (gethash above shown)) 0))
    (make-json-object
     (list* "depth" (gethash call shown)
            "call" (call-text call)
            "caller" (caller-text call above)
            "thread" (and (not (and job (eq thread (job-thread job)))) (short-thread-name thread))
            "methods" (method-texts call)
            (ended-members call)))))

(defun above (call shown)
  "Return the nearest caller of CALL, direct or indirect, among the keys of the hash table SHOWN.
Return NIL if there is none."
  (loop for around = (call-parent call) then (call-parent around)
        while around
        when (gethash around shown) return around))

(defun call-text (call)
  "Return text for CALL, a CALL structure: (function argument ...)."
  (format nil "(~A~{ ~A~})" (name-text (probe-name (call-probe call)))
          (objects-texts (call-arguments call))))

(defun objects-texts (objects)
  "Return a list of texts for the first *ARGUMENT-LIMIT* of OBJECTS, and \"...\" if there are more."
  (append (mapcar #'object-text (page objects 0 *argument-limit*))
          (and (nthcdr *argument-limit* objects) '("..."))))

(defun object-text (object)
  "Return OBJECT, an argument or value, as text, without running code of the program."
  (if (gone-object-p object)
      (format nil "#<~A, which was on the stack>" (class-text (gone-object-class object)))
      (shortened *argument-characters* (local-text object))))

;;; Callers

(defun caller-text (call above)
  "CALL is a CALL structure, and ABOVE is NIL or the recorded call around CALL in the answer. Return
text for the caller of CALL. Return NIL if the caller is unknown. Also return NIL if the caller is
the observed form, a function of the backend, or the function of ABOVE."
  (let* ((code (call-code call))
         (name (nil-if-unknown (and code (debug-name (debug-at code (call-offset call)))))))
    (unless (or (null name)
                (evaluated-form-name-p name)
                (backend-name-p name)
                (and above
                     (equal (if (method-name-p name) (second name) name)
                            (probe-name (call-probe above)))))
      (shortened 100 (function-text name)))))

(defun evaluated-form-name-p (name)
  "Return true if NAME is SBCL's debug name for an evaluated form."
  (equal name '(lambda ())))

(defun function-text (name)
  "Return text for NAME, the debug name of a function."
  (cond ((stringp name) name)
        ((symbolp name) (symbol-text name))
        ((and (typep name '(cons (eql setf) (cons symbol null)))) (name-text name))
        (t (printing-plainly (print-safely 100 name)))))

;;; The methods that a call entered

(defun method-texts (call)
  "Return a list of texts for the methods that CALL has entered, in order. Append \"...\" if CALL
may have entered more methods. Return NIL if the function is not generic."
  (let* ((entered (reverse (call-entered call)))
         (methods (cond ((null (probe-generic (call-probe call))) '())
                        ;; This SBCL cannot record which methods are entered.
                        ((null +called-method+) (computed-methods call))
                        ((or entered (call-cut call)) entered)
                        (t (let ((method (method-in-line call))) (and method (list method)))))))
    (append (mapcar #'method-arglist methods) (and (call-cut call) '("...")))))

(defun method-in-line (call)
  "CALL is a CALL structure. If a call has only one applicable method, and this method reads or sets
a slot or returns a constant, SBCL does not enter the method. Return this method if CALL is such a
call. Return NIL otherwise, or if the program has defined its own rules for the choice of methods."
  (let ((methods (and (eq :returned (call-how call)) (computed-methods call))))
    (and methods
         (null (rest methods))
         (null (deciding-method (probe-generic (call-probe call)) methods))
         (first methods))))

(defun computed-methods (call)
  "CALL is a call of a generic function. Return a list of the methods that CALL enters by the rules
of the method combination, in order. Return NIL if the name of the function has another function
now, if an argument is gone from the stack, or if the program's rules signal an error."
  (let* ((name (probe-name (call-probe call)))
         (function (and (fboundp name) (plain-definition name))))
    (when (and function
               (eq function (probe-generic (call-probe call)))
               (notany #'gone-object-p (call-arguments call)))
      (nil-if-program-fails
        (entered-methods function
                         (compute-applicable-methods function (call-arguments call)))))))

;;; The end of a call

(defun ended-members (call)
  "Return a plist for a JSON object about the end of CALL, a CALL structure."
  (append
   (ecase (call-how call)
     (:running (list "running" t))
     (:passed (list "passed" t))
     (:returned (list "values" (or (objects-texts (call-values call)) #())))
     (:left (list "left" t
                  "condition" (let ((condition (call-condition call)))
                                (and condition
                                     (object "type" (class-text (class-of condition))
                                             "text" (condition-text condition)))))))
   (and (plusp (call-ended call))
        (list "milliseconds" (milliseconds (- (call-ended call) (call-begun call)))))))

(defun condition-text (condition)
  "Return the report of CONDITION as text. But if a slot contains an object whose dynamic extent has
ended, return the slots as text instead, because the report function could read the memory of this
object."
  (shortened 100
             (if (loop for (nil . value) in (inner-slots condition)
                       always (eq value (without-gone value)))
                 (on-one-line (report-text 200 condition))
                 (local-text condition))))

;;; Totals

(defparameter *slower-limit* 50 "The maximum value that SLOWER returns.")

(defun observation-members (observation)
  "Return a plist for a JSON object with the totals of OBSERVATION, an OBSERVATION structure."
  (list "functions" (function-rows observation)
        "observed" (length (observation-probes observation))
        "calls" (reduce #'+ (observation-probes observation) :key #'probe-calls)
        "total" (observation-next observation)
        "shrunk" (observation-shrunk observation)
        "milliseconds" (milliseconds (- (observation-ended observation)
                                        (observation-begun observation)))
        "slower" (slower observation)))

(defun slower (observation)
  "Return an estimate of the factor by which recording has slowed down the program during
OBSERVATION, at most *SLOWER-LIMIT*. Return NIL if recording took at most a tenth of the time."
  (let* ((lasted (- (observation-ended observation) (observation-begun observation)))
         (cost (* (observation-next observation) (call-cost))))
    ;; Without recording, the program would have run for LASTED minus COST. COST is an estimate,
    ;; which can exceed LASTED.
    (and (> cost (floor lasted 10))
         ;; The division by 1D0 makes the ratio a float.
         (/ lasted (max (- lasted cost) (/ lasted *slower-limit*)) 1d0))))

(defun function-rows (observation)
  "Return a list of JSON objects of the shape OBSERVED-FUNCTION (observed.lisp) for the 20 functions
with the most calls in OBSERVATION, an OBSERVATION structure."
  (loop for probe in (most-called observation)
        for name = (probe-name probe)
        repeat 20
        collect (object "name" (name-text name)
                        "calls" (probe-calls probe)
                        ;; Every Nth call is recorded: MASK is 0, or N - 1 with N a power of two.
                        "every" (and (plusp (probe-mask probe)) (1+ (probe-mask probe)))
                        "unseen" (and (fboundp name) (unseen-calls name))
                        "apart" (and (fboundp name) (place-if-unnamed name))
                        "gone" (not (fboundp name))
                        "failed" (and (plusp (probe-failed probe)) (probe-failed probe))
                        "failure" (and (probe-failure probe) (class-text (probe-failure probe))))))

(defun most-called (observation)
  "Return a list of the PROBE structures of OBSERVATION, those with the most calls first."
  (stable-sort (copy-list (observation-probes observation)) #'> :key #'probe-calls))
