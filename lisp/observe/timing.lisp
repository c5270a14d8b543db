;;;; Measures the time and memory that forms take, and compares two forms.

(in-package "LIVE-LISP.OBSERVE")

(defparameter *round-milliseconds* 5
  "In a round, a form is repeated for at least this many milliseconds.")
(defparameter *rounds* 200 "At most this many rounds of two forms are measured.")
(defparameter *rounds-at-least* 5 "At least this many rounds of two forms are measured.")
(defparameter *slow-rounds* 2
  "If one call takes longer than the time for all, at least this many rounds are measured.")

(deftype internal-time ()
  "The type of values of GET-INTERNAL-REAL-TIME and GET-INTERNAL-RUN-TIME. It is declared so that
sampled code calls no generic arithmetic, which would show in the profile."
  '(unsigned-byte 62))

(declaim (inline seconds-between))
(defun seconds-between (time later)
  "Return the seconds from TIME to LATER, internal times."
  (declare (type internal-time time later))
  (/ (float (- later time) 1d0) (float internal-time-units-per-second 1d0)))

(defun seconds-since (time)
  "Return the seconds since TIME, from GET-INTERNAL-REAL-TIME."
  (seconds-between time (get-internal-real-time)))

;;; Waiting for a CPU that other threads or processes use

(defun waited-seconds ()
  "Return the seconds that this thread has waited for a CPU since it began, or 0 if the system does
not disclose them."
  (let ((spent (spent sb-thread:*current-thread*)))
    (if spent (/ (float (the internal-time (second spent)) 1d0) 1000d0) 0d0)))

(defparameter *waited-limit* 15d0
  "Waiting for a CPU prolongs a measurement by at most this many seconds.")

(defun over-p (passed limit waited)
  "True when PASSED, the seconds since the beginning, is more than LIMIT. Seconds of waiting for a
CPU are not counted, up to *WAITED-LIMIT*. WAITED is the value of WAITED-SECONDS at the beginning."
  (declare (type double-float passed limit waited))
  ;; WAITED-SECONDS takes longer than many measured forms, so it is called only if necessary.
  (and (> passed limit)
       (> (- passed
             (min (- (the double-float (waited-seconds)) waited) (the double-float *waited-limit*)))
          limit)))

(defstruct (taken (:constructor make-taken (seconds cpu octets)))
  "The average cost of a call, or the total cost of calls: SECONDS, CPU seconds, and OCTETS of
memory."
  (seconds 0d0 :type double-float) (cpu 0d0 :type double-float) (octets 0d0 :type double-float))

(defun measured (function times)
  "Call FUNCTION TIMES times, and return the average cost of a call, a TAKEN."
  (declare (type function function) (type (and fixnum (integer 1)) times))
  (let ((octets (sb-ext:get-bytes-consed))
        (cpu (get-internal-run-time))
        (begun (get-internal-real-time)))
    (declare (type internal-time octets cpu begun))
    (dotimes (index times) (funcall function))
    (let ((seconds (seconds-between begun (get-internal-real-time)))
          (cpu (seconds-between cpu (get-internal-run-time)))
          (octets (float (- (the internal-time (sb-ext:get-bytes-consed)) octets) 1d0))
          (count (float times 1d0)))
      (make-taken (/ seconds count) (/ cpu count) (/ octets count)))))

(defun times-needed (function)
  "Return two values: how often FUNCTION must be called in a round so that its time is measurable,
and the cost of a call in such a round, a TAKEN."
  (loop for times = 1 then (* times 2)
        for waited = (waited-seconds)
        for taken = (measured function times)
        until (over-p (* times (taken-seconds taken)) (/ *round-milliseconds* 1d3) waited)
        finally (return (values times taken))))

(defun quantile (numbers part)
  "Return the quantile PART, a fraction, of NUMBERS: the element that is greater than this fraction
of them."
  (nth (min (1- (length numbers)) (floor (* part (length numbers))))
       (sort (copy-list numbers) #'<)))

(defun taken-data (rounds times reader)
  "Return a JSON object about ROUNDS, TAKENs for rounds of TIMES calls: the median and the quartiles
of the seconds that READER returns for them, in milliseconds, and the median of the octets."
  (let ((numbers (mapcar reader rounds)))
    (object "median" (* 1000 (quantile numbers 1/2))
            "low" (* 1000 (quantile numbers 1/4))
            "high" (* 1000 (quantile numbers 3/4))
            "octets" (round (quantile (mapcar #'taken-octets rounds) 1/2))
            "times" times)))

(defun mostly-runs-p (rounds denied)
  "True when ROUNDS, TAKENs, used a CPU for more than a twentieth of the time in which a CPU was
available. DENIED is the fraction of the time spent waiting for a CPU."
  (let ((cpu (reduce #'+ rounds :key #'taken-cpu))
        (seconds (reduce #'+ rounds :key #'taken-seconds)))
    (> cpu (* 0.05 seconds (- 1 denied)))))

(defun compare-forms (one other seconds)
  "Call the functions ONE and OTHER alternately for about SECONDS, and return their costs as a JSON
object. Times are CPU times if both mostly use the CPU, else real times."
  (let* ((begun (get-internal-real-time)) (waited (waited-seconds))
         (first-one (multiple-value-list (times-needed one)))
         (first-other (multiple-value-list (times-needed other)))
         (times-one (first first-one)) (times-other (first first-other))
         (ones (rest first-one)) (others (rest first-other))
         (slow (loop for taken in (append ones others) thereis (> (taken-seconds taken) seconds)))
         (least (if slow *slow-rounds* *rounds-at-least*)))
    (loop for round from 1 below *rounds*
          until (and (>= round least) (over-p (seconds-since begun) (float seconds 1d0) waited))
          do (flet ((one () (push (measured one times-one) ones))
                    (other () (push (measured other times-other) others)))
               ;; The order alternates, since a form may pay for what the form before it has left,
               ;; such as garbage.
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
  "This many seconds suffice for a profile of a form: CPU seconds, or in mode :TIME real seconds.")
(defparameter *enough-octets* (* 64d0 1024 1024)
  "This many octets suffice for a profile of memory.")

(defparameter *batch-seconds* 0.002d0
  "Quick calls are measured in batches that take at least this many seconds.")

(defun enough-p (mode taken)
  "True when TAKEN is enough for a profile of MODE."
  (or (> (if (eq mode :time) (taken-seconds taken) (taken-cpu taken))
         (the double-float *enough-seconds*))
      (and (eq mode :alloc) (> (taken-octets taken) (the double-float *enough-octets*)))))

(defun call-repeatedly (function mode seconds)
  "Call FUNCTION until its calls are ENOUGH-P for MODE, or for SECONDS. Return two values: the
number of calls, and the average cost of a call, a TAKEN."
  (let ((all (make-taken 0d0 0d0 0d0))
        (runs 0)
        (batch 1)
        (limit (float seconds 1d0))
        (waited (waited-seconds)))
    (declare (type (and fixnum (integer 0)) runs batch))
    ;; The work of this loop is measured with the calls, so quick calls are measured in batches.
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
