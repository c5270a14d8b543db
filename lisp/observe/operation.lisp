;;;; Defines the operations observe-calls, observe-profile, observe-heap and observe-times. They
;;;; evaluate the code of the request as a part of the job (CALL-AS-JOB-PART in
;;;; evaluate/evaluate.lisp).

(in-package "LIVE-LISP.OBSERVE")

(define-shape observed-base (remarks)
  "The part that the answers of all observe operations have in common."
  (values (list (list printed-value)) :optional)
  (value (or lookup-failure observe-refusal) :optional))

(define-shape observed-calls ()
  "The calls of the observed functions during a recording."
  (functions (list observed-function) :optional
   "The observed functions that were called most often.")
  (observed integer "Number of all observed functions.")
  (calls integer "Number of calls of the observed functions.")
  (total integer "How many of these calls were recorded.")
  (kept integer "How many of the recorded calls were kept.")
  (shrunk boolean :optional
   "True when few calls were kept, because more would have filled the heap.")
  (milliseconds real)
  (slower real :optional "Factor by which the recording slowed the program.")
  (rows (list recorded-call) :optional) (types (list observed-types) :optional))

(defparameter *value-characters* 300
  "The approximate number of characters shown of the values of an observed form.")
(defparameter *measured-characters* 100
  "The approximate number of characters shown of the values of a measured form.")

(defun prepared-form (code)
  "Evaluate all forms of the text CODE except the last. Return the last form compiled as a function
without arguments. If a form cannot be read, end the operation with an error answer."
  (multiple-value-bind (form unreadable) (last-form code)
    (when unreadable (fail-lookup "unreadable" unreadable "in" code))
    (compile nil `(lambda () ,form))))

(defun shown-values (values &optional (limit *measured-characters*))
  "Return JSON data for VALUES, a list of the values of a form, in about LIMIT characters."
  (let ((*value-budget* limit))
    (printing-values (call-user-code (lambda () (values-data values))))))

;;; Observing calls

(defun observe-calls (observation code seconds)
  "Record calls in OBSERVATION, an OBSERVATION structure, while the forms of the text CODE run or,
if CODE is NIL, for SECONDS. Return a plist for a JSON object with the values of CODE, or NIL if
CODE is NIL."
  (let* ((function (if code
                       (prepared-form code)
                       (lambda () (sleep seconds) (values))))
         (values (multiple-value-list
                  (call-observed observation (lambda () (call-user-code function))))))
    (and code (list "values" (list (shown-values values *value-characters*))))))

(defun calls-members (observation types limit)
  "Return a plist for a JSON object about the calls that OBSERVATION has recorded: the last LIMIT
calls or, if TYPES is true, the types of the arguments and values of the LIMIT functions with the
most calls."
  (let* ((calls (kept-calls observation))
         ;; The calls have returned, so objects that were on their stacks must not be read.
         (*gone-stacks* (remove nil (remove-duplicates (mapcar #'call-stack calls)))))
    (list "kept" (length calls)
          "rows" (and (not types) (call-rows (last calls limit) (observation-job observation)))
          "types" (and types
                       (loop for probe in (page (most-called observation) 0 limit)
                             collect (types-of probe
                                               (remove probe calls :key #'call-probe
                                                       :test-not #'eq)))))))

(define-shape observe-calls-data (observed-base)
  "The answer to a request to record calls."
  (observed observed-calls :optional))

(define-operation ("observe-calls" :members t :gives observe-calls-data)
    ((functions (list string) "Names of functions, or of packages.")
     (code string :optional "The text of the forms to run.")
     (seconds real :optional "For how long to wait, without code.")
     package
     (where string :optional
      "The text of a form over the parameters, which is true for the calls to record.")
     (types boolean :optional
      "True to report the types of arguments and values instead of the calls.")
     (limit integer "The maximum number of calls to show."))
  "Record the calls of FUNCTIONS while CODE runs, or for some SECONDS."
  (let* ((home (and package (named-package package)))
         (observation (make-observation *job*))
         (names (observed-names functions package)))
    ;; Measure the cost of recording now, since measuring it during the recording would slow the
    ;; observed functions.
    (call-cost)
    (make-probes observation names where home)
    (let ((members (call-as-job-part home (lambda () (observe-calls observation code seconds)))))
      ;; If the preparation of CODE has failed, the observation never began, so it has no end.
      (if (observation-ended observation)
          (list* "observed" (make-json-object (append (observation-members observation)
                                                      (calls-members observation types limit)))
                 members)
          members))))

;;; Taking profiles

(defun first-run (function)
  "Call FUNCTION for the first time. Return two values: a list of its values, and the number of
milliseconds that the call took without waiting for a CPU."
  (let* ((waited (waited-seconds))
         (began (get-internal-real-time))
         (values (multiple-value-list (call-user-code function)))
         (seconds (seconds-since began)))
    (values values (* 1000 (max 0d0 (- seconds (- (waited-seconds) waited)))))))

(defun observe-profile (mode code seconds top)
  "Sample stacks in MODE, such as :CPU, while the forms of the text CODE run repeatedly or, if CODE
is NIL, for SECONDS. Run CODE once before, for its values. Return a plist for a JSON object about at
most TOP functions."
  (let* ((function (and code (prepared-form code)))
         ;; Without CODE, these stay as they are.
         (values '()) (first-milliseconds nil) (runs nil) (taken nil))
    (when function (setf (values values first-milliseconds) (first-run function)))
    (call-sampled mode (lambda ()
                         (if function
                             (multiple-value-setq (runs taken)
                               (call-user-code
                                (lambda ()
                                  (call-quietly
                                   (lambda () (call-repeatedly function mode seconds))))))
                             (sleep seconds))))
    (list "values" (and code (list (shown-values values)))
          "observed" (make-json-object
                      (list* "runs" runs
                             "first" first-milliseconds
                             "milliseconds" (and taken (* 1000 (taken-seconds taken)))
                             "cpu" (and taken (* 1000 (taken-cpu taken)))
                             "octets" (and taken (round (taken-octets taken)))
                             (profile-members mode top
                                              (and taken (* runs (taken-octets taken)))))))))

(define-shape observe-profile-data (observed-base)
  "The answer to a request for a profile."
  (observed profile :optional))

(define-operation ("observe-profile" :members t :gives observe-profile-data)
    ((mode (member "cpu" "alloc" "time") "What is sampled: CPU time, allocation or real time.")
     (code string :optional "The text of the forms to repeat.")
     (seconds real "For how long to sample at most.")
     package
     (top integer "The maximum number of functions to show."))
  "Sample stacks while CODE runs repeatedly or, without CODE, for SECONDS."
  (let ((home (and package (named-package package))) (mode (intern (string-upcase mode) "KEYWORD")))
    ;; Load the profiler, or end the operation with an error answer if this SBCL has none.
    (profiler "START-PROFILING")
    ;; The program may be using the profiler itself, or another request holds the lock.
    (when (or (profiler-value "*PROFILING*")
              (not (sb-thread:grab-mutex **profiling** :waitp nil)))
      (fail-lookup "busy" t))
    (unwind-protect (call-as-job-part home (lambda () (observe-profile mode code seconds top)))
      (sb-thread:release-mutex **profiling**))))

;;; Counting objects

(define-shape observe-heap-data (observed-base)
  "The answer to a request to count the objects in the heap."
  (observed counted-heap :optional))

(defun observe-heap (code seconds)
  "Run the forms of the text CODE, and return a plist for a JSON object with the values. If CODE is
NIL, wait for SECONDS, and return NIL."
  (if code
      (let ((function (prepared-form code)))
        (list "values" (list (shown-values (multiple-value-list (call-user-code function))))))
      (progn (sleep seconds) '())))

(define-operation ("observe-heap" :members t :gives observe-heap-data)
    ((code string :optional "The text of the forms to run.")
     (seconds real :optional "For how long to wait, without code.")
     (package string :optional "The package whose classes to show.")
     (limit integer "The maximum number of classes to show."))
  "Count the objects in the heap by class, and compare with an earlier count. With CODE or SECONDS,
this is a count before CODE runs or the wait begins, otherwise the count of the previous request."
  (let* ((package (and package (named-package package)))
         (observing (or code seconds))
         (before (if observing (count-heap) **last-heap-count**))
         (members (and observing
                       (call-as-job-part package (lambda () (observe-heap code seconds))))))
    (list* "observed" (heap-data (count-heap) before package limit) members)))

;;; Comparing the times of two forms

(define-shape observe-times-data (observed-base)
  "The answer to a request to compare the times of two forms."
  (compared compared-times :optional)
  (firsts (tuple real real) :optional
   "How many milliseconds the first calls of both forms took, which `compared` leaves out.")
  (same boolean :optional "True when no difference was found in the values of both forms.")
  (at (member "form" "against") :optional "Which form was prepared or run last."))

(define-operation ("observe-times" :members t :gives observe-times-data)
    ((code string "The text of forms, the last of which is measured.")
     (against string "The text of the other forms.")
     (seconds real "For how long to measure.")
     package)
  "Call the last forms of CODE and AGAINST in turn, and return their times."
  (let ((at nil))
    ;; If a form fails, AT is the name of that form.
    (flet ((prepared (name code)
             (setf at name)
             (let ((function (prepared-form code)))
               (declare (type function function))
               (lambda () (setf at name) (funcall function)))))
      (let ((members (call-as-job-part
                      (and package (named-package package))
                      (lambda ()
                        (let* ((one (prepared "form" code))
                               (other (prepared "against" against))
                               (firsts (loop for function in (list one other)
                                             collect (multiple-value-list (first-run function))))
                               (values (mapcar #'first firsts)))
                          (list "firsts" (mapcar #'second firsts)
                                "compared" (call-user-code
                                            (lambda ()
                                              (call-quietly
                                               (lambda () (compare-forms one other seconds)))))
                                "same" (null (apply #'difference values))
                                "values" (mapcar #'shown-values values)))))))
        (list* "at" at members)))))
