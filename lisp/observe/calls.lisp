;;;; Renders recorded calls as rows of a tree, after recording has ended.

(in-package "LIVE-LISP.OBSERVE")

(defparameter *argument-limit* 8 "At most this many arguments or values of a call are shown.")
(defparameter *argument-characters* 80
  "At most this many characters of an argument or value are shown.")
(defparameter *least-characters* 12 "An argument or value may always take this many characters.")
(defparameter *shown-characters* 2000
  "All arguments and values together may take about this many characters.")

(defun object-text (object)
  "Return OBJECT, an argument or value, printed without user code."
  (if (gone-object-p object)
      (format nil "#<~A, which was on the stack>" (class-text (gone-object-class object)))
      (shortened *argument-characters* (local-text object))))

(defun objects-texts (objects)
  "Return texts for the first *ARGUMENT-LIMIT* of OBJECTS, and \"...\" if there are more."
  (append (mapcar #'object-text (page objects 0 *argument-limit*))
          (and (nthcdr *argument-limit* objects) '("..."))))

(defun call-text (call)
  "Return CALL as text: (function argument ...)."
  (format nil "(~A~{ ~A~})" (name-text (probe-name (call-probe call)))
          (objects-texts (call-arguments call))))

;;; Who called

(defun caller-name (call)
  "Return the debug name of the function that called CALL, or NIL when it is unknown."
  (let ((code (call-code call)))
    (ignore-errors (and code (debug-name (debug-at code (call-offset call)))))))

(defun caller-text (call above)
  "Return the caller of CALL as text. ABOVE is the recorded call shown around CALL, or NIL. Return
NIL if the caller is unknown, the observed form, or the function of ABOVE, which need not be shown."
  (let ((name (caller-name call)))
    (unless (or (null name)
                (form-name-p name)
                (ours-p name)
                (and above
                     (equal (if (method-name-p name) (second name) name)
                            (probe-name (call-probe above)))))
      (shortened 100 (function-text name)))))

(defun form-name-p (name)
  "True when NAME is SBCL's debug name for an evaluated form."
  (equal name '(lambda ())))

(defun function-text (name)
  "Return the debug name NAME as text."
  (cond ((stringp name) name)
        ((symbolp name) (symbol-text name))
        ((and (typep name '(cons (eql setf) (cons symbol null)))) (name-text name))
        (t (printing-plainly (print-safely 100 name)))))

(defun computed-methods (call)
  "CALL is a call of a generic function. Return the methods that it enters by the rules of its
method combination, in order."
  (let* ((name (probe-name (call-probe call)))
         (function (and (fboundp name) (plain-definition name))))
    (when (and function
               (eq function (probe-generic (call-probe call)))
               (notany #'gone-object-p (call-arguments call)))
      (ignore-errors
       (entered-methods function
                        (compute-applicable-methods function (call-arguments call)))))))

(defun method-in-line (call)
  "Return the method that SBCL evaluated in line in CALL, or NIL. SBCL enters no method if the only
one that applies reads or sets a slot or returns a constant. Code of the program that chooses
methods can leave it out."
  (let ((methods (and (eq :returned (call-how call)) (computed-methods call))))
    (and methods
         (null (rest methods))
         (null (deciding-method (probe-generic (call-probe call)) methods))
         (first methods))))

(defun method-texts (call)
  "Return texts for the methods that CALL has entered, in order, and \"...\" if it may have entered
others. The list is empty for a call of a function that is not generic."
  (let* ((entered (reverse (call-entered call)))
         (methods (cond ((null (probe-generic (call-probe call))) '())
                        ((null +called-method+) (computed-methods call))
                        ((or entered (call-cut call)) entered)
                        (t (let ((method (method-in-line call))) (and method (list method)))))))
    (append (mapcar #'method-arglist methods) (and (call-cut call) '("...")))))

;;; Rows

(defun above (call shown)
  "Return the innermost call around CALL that is a key of the table SHOWN, or NIL."
  (loop for around = (call-parent call) then (call-parent around)
        while around
        when (gethash around shown) return around))

(defun condition-text (condition)
  "Return the report of CONDITION. If one of its slots has an object that was allocated on a stack
and no longer exists, return the slots instead."
  (shortened 100
             (if (loop for (nil . value) in (inner-slots condition)
                       always (eq value (without-gone value)))
                 (on-one-line (report-text 200 condition))
                 (local-text condition))))

(defun ended-members (call)
  "Return a plist of JSON members about how CALL ended."
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

(defun call-row (call shown job)
  "Return CALL as a JSON object. SHOWN is a table from the shown calls to their depths, and the
depth of CALL is set in it. JOB is the observing job."
  (let ((above (above call shown)) (thread (call-thread call)))
    (setf (gethash call shown) (if above (1+ (gethash above shown)) 0))
    (make-json-object
     (list* "depth" (gethash call shown)
            "call" (call-text call)
            "caller" (caller-text call above)
            "thread" (and (not (and job (eq thread (job-thread job)))) (short-thread-name thread))
            "methods" (method-texts call)
            (ended-members call)))))

(defun argument-room (calls)
  "Return the number of characters for each argument and value of CALLS."
  (let ((objects (loop for call in calls
                       sum (+ (min *argument-limit* (length (call-arguments call)))
                              (min *argument-limit* (length (call-values call)))))))
    (max *least-characters*
         (min *argument-characters* (floor *shown-characters* (max 1 objects))))))

(defun call-rows (calls job)
  "Return CALLS, observed by JOB, as JSON objects, in the order in which they began."
  (let ((shown (make-hash-table :test 'eq)) (*argument-characters* (argument-room calls)))
    (dolist (call calls) (setf (gethash call shown) 0))
    (loop for call in calls collect (call-row call shown job))))

(defun most-called (observation)
  "Return the probes of OBSERVATION, sorted by the number of calls, the highest first."
  (stable-sort (copy-list (observation-probes observation)) #'> :key #'probe-calls))

(defun function-rows (observation)
  "Return JSON objects for the 20 functions of OBSERVATION with the most calls: their names, numbers
of calls, why some calls are not recorded, and the place of one that can call itself unseen."
  (loop for probe in (most-called observation)
        for name = (probe-name probe)
        repeat 20
        collect (object "name" (name-text name)
                        "calls" (probe-calls probe)
                        "every" (and (plusp (probe-mask probe)) (1+ (probe-mask probe)))
                        "unseen" (and (fboundp name) (unseen-calls name))
                        "apart" (and (fboundp name) (ignore-errors (place-without-own-name name)))
                        "gone" (not (fboundp name))
                        "failed" (and (plusp (probe-failed probe)) (probe-failed probe))
                        "failure" (and (probe-failure probe) (class-text (probe-failure probe))))))

(defparameter *slower-limit* 50 "SLOWER returns at most this factor.")

(defun slower (observation)
  "Return the factor by which recording has slowed the program during OBSERVATION, estimated from
CALL-COST, and at most *SLOWER-LIMIT*. Return NIL if recording took at most a tenth of the time."
  (let* ((lasted (- (observation-ended observation) (observation-begun observation)))
         (cost (* (observation-next observation) (call-cost))))
    (and (> cost (floor lasted 10))
         (/ lasted (max (- lasted cost) (/ lasted *slower-limit*)) 1d0))))

(defun observation-members (observation)
  "Return a plist of JSON members with the totals of OBSERVATION."
  (list "functions" (function-rows observation)
        "observed" (length (observation-probes observation))
        "calls" (reduce #'+ (observation-probes observation) :key #'probe-calls)
        "total" (observation-next observation)
        "shrunk" (observation-shrunk observation)
        "milliseconds" (milliseconds (- (observation-ended observation)
                                        (observation-begun observation)))
        "slower" (slower observation)))
