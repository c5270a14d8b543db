;;;; Measures the time and memory that forms take, and compares two forms.

(in-package "LIVE-LISP.OBSERVE")

(define-shape taken-time ()
  "The cost of one run of a form."
  (median real "Median of the measured times, in milliseconds.")
  (low real "Lower quartile, in milliseconds.")
  (high real "Upper quartile, in milliseconds.")
  (octets integer "Octets that one run allocated.")
  (times integer "How many runs were measured together."))

(define-shape compared-times ()
  "The costs of two forms that ran alternately."
  (rounds integer)
  (cpu boolean :optional "True when the times are CPU time; else they are real time.")
  (one taken-time) (other taken-time))

(defparameter *round-milliseconds* 5
  "The minimum number of milliseconds for which a form is repeated in one round.")
(defparameter *rounds* 200 "The maximum number of rounds in which two forms are measured.")
(defparameter *rounds-at-least* 5 "The minimum number of rounds in which two forms are measured.")
(defparameter *slow-rounds* 2
  "The minimum number of rounds if one call takes longer than the time for all rounds.")

(deftype internal-time ()
  "The type of values of GET-INTERNAL-REAL-TIME and GET-INTERNAL-RUN-TIME. With this declaration,
the measuring code calls no generic arithmetic, which would show in a profile."
  '(unsigned-byte 62))

(declaim (inline seconds-between))
(defun seconds-between (time later)
  "Return the number of seconds from TIME to LATER, both internal times."
  (declare (type internal-time time later))
  (/ (float (- later time) 1d0) (float internal-time-units-per-second 1d0)))

(defun seconds-since (time)
  "Return the number of seconds since TIME, a value of GET-INTERNAL-REAL-TIME."
  (seconds-between time (get-internal-real-time)))

;;; The output of a form that is run again

(defun call-quietly (function)
  "Call FUNCTION, which runs forms again, and return its values. Discard the output of the forms,
since the answer already has the output of their first run. Without this, the backend's functions
that capture output would appear in a profile."
  (flet ((quiet (stream) (if (captured-p stream) (make-broadcast-stream) stream)))
    (let ((*standard-output* (quiet *standard-output*)) (*error-output* (quiet *error-output*))
          (*trace-output* (quiet *trace-output*)))
      (funcall function))))

;;; Waiting for a CPU that other threads or processes use

(defun waited-seconds ()
  "Return the number of seconds that this thread has waited for a CPU since it began. Return 0 if
the operating system does not provide this number."
  (let ((waited (nth-value 1 (spent sb-thread:*current-thread*))))
    (if waited (/ (float (the internal-time waited) 1d0) 1000d0) 0d0)))

(defparameter *waited-limit* 15d0
  "A measurement leaves out the time for which its thread waited for a CPU, but at most this number
of seconds.")

(defun over-p (passed limit waited)
  "Return true if a measurement has taken longer than LIMIT seconds. PASSED is the number of seconds
since it began, and WAITED the result of WAITED-SECONDS at that moment. First subtract from PASSED
the time for which this thread waited for a CPU meanwhile, but at most *WAITED-LIMIT* seconds."
  (declare (type double-float passed limit waited))
  ;; WAITED-SECONDS takes longer than many measured forms, so it is called only if necessary.
  (and (> passed limit)
       (> (- passed
             (min (- (the double-float (waited-seconds)) waited) (the double-float *waited-limit*)))
          limit)))

(defstruct (taken (:constructor make-taken (seconds cpu octets)))
  "The average cost of a call, or the total cost of several calls: real time in SECONDS, CPU time in
seconds as CPU, and OCTETS of memory."
  (seconds 0d0 :type double-float) (cpu 0d0 :type double-float) (octets 0d0 :type double-float))

(defun measured (function times)
  "Call FUNCTION as often as the number TIMES says, and return a TAKEN structure with the average
cost of a call."
  (declare (type function function) (type (and fixnum (integer 1)) times))
  (let ((octets-before (sb-ext:get-bytes-consed))
        (cpu-before (get-internal-run-time))
        (begun (get-internal-real-time)))
    (declare (type internal-time octets-before cpu-before begun))
    (dotimes (index times) (funcall function))
    (let ((seconds (seconds-between begun (get-internal-real-time)))
          (cpu (seconds-between cpu-before (get-internal-run-time)))
          (octets (float (- (the internal-time (sb-ext:get-bytes-consed)) octets-before) 1d0))
          (count (float times 1d0)))
      (make-taken (/ seconds count) (/ cpu count) (/ octets count)))))

(defun times-needed (function)
  "Return two values: the number of calls of FUNCTION that take long enough together to be measured
as one round, and a TAKEN structure with the average cost of a call in such a round."
  (loop for times = 1 then (* times 2)
        for waited = (waited-seconds)
        for taken = (measured function times)
        until (over-p (* times (taken-seconds taken)) (/ *round-milliseconds* 1d3) waited)
        finally (return (values times taken))))

(defun quantile (numbers part)
  "Return the element of the list NUMBERS below which the fraction PART of the elements lies. For
example, return the median for 1/2, and the lower quartile for 1/4."
  (nth (min (1- (length numbers)) (floor (* part (length numbers))))
       (sort (copy-list numbers) #'<)))

(defun taken-data (rounds times reader)
  "ROUNDS is a list of TAKEN structures for rounds of TIMES calls, and READER a reader of TAKEN,
such as TAKEN-CPU. Return a JSON object with the median and quartiles, in milliseconds, of the
values of READER, and the median of the octets."
  (let ((numbers (mapcar reader rounds)))
    (object "median" (* 1000 (quantile numbers 1/2))
            "low" (* 1000 (quantile numbers 1/4))
            "high" (* 1000 (quantile numbers 3/4))
            "octets" (round (quantile (mapcar #'taken-octets rounds) 1/2))
            "times" times)))

(defun mostly-runs-p (rounds denied)
  "Return true if the measured code mostly used a CPU, and did not sleep or wait for input. ROUNDS
is a list of TAKEN structures, the costs of the code. DENIED is the fraction of the time in which
the thread waited for a CPU. A twentieth of the rest of the time is enough."
  (let ((cpu (reduce #'+ rounds :key #'taken-cpu))
        (seconds (reduce #'+ rounds :key #'taken-seconds)))
    (> cpu (* 0.05 seconds (- 1 denied)))))

(defun compare-forms (one other seconds)
  "Call the functions ONE and OTHER in turn for about SECONDS, and return a JSON object with their
costs. The times are CPU times if both functions mostly use a CPU, else real times."
  (let* ((begun (get-internal-real-time)) (waited (waited-seconds))
         (first-one (multiple-value-list (times-needed one)))
         (first-other (multiple-value-list (times-needed other)))
         (times-one (first first-one)) (times-other (first first-other))
         (ones (list (second first-one))) (others (list (second first-other)))
         (slow (loop for taken in (append ones others) thereis (> (taken-seconds taken) seconds)))
         (least (if slow *slow-rounds* *rounds-at-least*)))
    ;; TIMES-NEEDED has measured round 0.
    (loop for round from 1 below *rounds*
          until (and (>= round least) (over-p (seconds-since begun) (float seconds 1d0) waited))
          do (flet ((one () (push (measured one times-one) ones))
                    (other () (push (measured other times-other) others)))
               ;; The order alternates, because a form may have to do work that the form before it
               ;; has caused, such as collecting garbage.
               (cond ((evenp round) (one) (other))
                     (t (other) (one)))))
    (let* ((denied (/ (- (waited-seconds) waited) (seconds-since begun)))
           (cpu (and (mostly-runs-p ones denied) (mostly-runs-p others denied)))
           (reader (if cpu #'taken-cpu #'taken-seconds)))
      (object "rounds" (length ones)
              "cpu" cpu
              "one" (taken-data ones times-one reader)
              "other" (taken-data others times-other reader)))))

;;; Repeating for a profile

(defparameter *enough-seconds* 2d0
  "The number of seconds that suffice for a profile of a form: real seconds in mode :TIME, else CPU
seconds.")
(defparameter *enough-octets* (* 64d0 1024 1024)
  "The number of allocated octets that suffice for a profile in mode :ALLOC.")

(defparameter *batch-seconds* 0.002d0
  "The minimum number of seconds for a batch of calls. Calls that take less time are measured in
batches.")

(defun enough-p (mode taken)
  "TAKEN is a TAKEN structure with the total costs of several calls. Return true if these calls are
enough for a profile in MODE, such as :CPU."
  (or (> (if (eq mode :time) (taken-seconds taken) (taken-cpu taken))
         (the double-float *enough-seconds*))
      (and (eq mode :alloc) (> (taken-octets taken) (the double-float *enough-octets*)))))

(defun call-repeatedly (function mode seconds)
  "Call FUNCTION repeatedly until its calls are enough for a profile in MODE, such as :CPU, or for
at most SECONDS. Return two values: the number of calls, and a TAKEN structure with the average cost
of a call."
  (let ((all (make-taken 0d0 0d0 0d0))
        (runs 0)
        (batch 1)
        (limit (float seconds 1d0))
        (waited (waited-seconds)))
    (declare (type (and fixnum (integer 0)) runs batch))
    ;; The costs of this loop are measured with the calls, so measure quick calls in batches.
    (loop (let* ((taken (measured function batch))
                 (count (float batch 1d0))
                 (passed (* count (taken-seconds taken))))
            (incf runs batch)
            (setf all (make-taken (+ (taken-seconds all) passed)
                                  (+ (taken-cpu all) (* count (taken-cpu taken)))
                                  (+ (taken-octets all) (* count (taken-octets taken)))))
            (when (< passed (the double-float *batch-seconds*)) (setf batch (* 2 batch))))
          (when (or (over-p (taken-seconds all) limit waited) (enough-p mode all))
            (let ((count (float runs 1d0)))
              (return (values runs (make-taken (/ (taken-seconds all) count)
                                               (/ (taken-cpu all) count)
                                               (/ (taken-octets all) count)))))))))
