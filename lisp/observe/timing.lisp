;;;; How long forms take, how much memory they take, and which of two takes less.

(in-package "LIVE-LISP.OBSERVE")

(defparameter *round-milliseconds* 5 "For how long a form is repeated at least before its time counts.")
(defparameter *rounds* 200 "How often two forms are measured at most, and how often at least.")
(defparameter *rounds-at-least* 5 "The least of these.")

(deftype internal-time ()
  "What GET-INTERNAL-REAL-TIME and GET-INTERNAL-RUN-TIME return. What samples are taken of must not call generic arithmetic:
that would be in the profile."
  '(unsigned-byte 62))

(declaim (inline seconds-between))
(defun seconds-between (time later)
  "Return how many seconds passed from TIME to LATER, internal times."
  (declare (type internal-time time later))
  (/ (float (- later time) 1d0) (float internal-time-units-per-second 1d0)))

(defun seconds-since (time)
  "Return how many seconds have passed since TIME, of GET-INTERNAL-REAL-TIME."
  (seconds-between time (get-internal-real-time)))

;;; Where others have the CPU

(defun waited-seconds ()
  "Return for how many seconds this thread has waited for a CPU since it began; 0 where the system does not tell."
  (let ((spent (spent sb-thread:*current-thread*)))
    (if spent (/ (float (the internal-time (second spent)) 1d0) 1000d0) 0d0)))

(defparameter *waited-limit* 15d0 "For how many seconds of waiting for a CPU a measurement goes on longer than it was to.")

(defun over-p (passed limit waited)
  "True when of the seconds that have PASSED more than LIMIT did not go by in waiting for a CPU. When they began,
WAITED-SECONDS were WAITED."
  (declare (type double-float passed limit waited))
  ;; To ask the system costs more than many a form.
  (and (> passed limit)
       (> (- passed (min (- (the double-float (waited-seconds)) waited) (the double-float *waited-limit*))) limit)))

(defstruct (taken (:constructor make-taken (seconds cpu octets)))
  "What calls took: SECONDS, those of the CPU, and OCTETS of memory."
  (seconds 0d0 :type double-float) (cpu 0d0 :type double-float) (octets 0d0 :type double-float))

(defun measured (function times)
  "Call FUNCTION so many TIMES and return what a call of these took."
  (declare (type function function) (type (and fixnum (integer 1)) times))
  (let ((octets (sb-ext:get-bytes-consed)) (cpu (get-internal-run-time)) (begun (get-internal-real-time)))
    (declare (type internal-time octets cpu begun))
    (dotimes (index times) (funcall function))
    (let ((seconds (seconds-between begun (get-internal-real-time)))
          (cpu (seconds-between cpu (get-internal-run-time)))
          (octets (float (- (the internal-time (sb-ext:get-bytes-consed)) octets) 1d0))
          (count (float times 1d0)))
      (make-taken (/ seconds count) (/ cpu count) (/ octets count)))))

(defun times-needed (function)
  "Return how often FUNCTION must be called so that its time can be measured."
  (loop for times = 1 then (* times 2)
        for waited = (waited-seconds)
        for taken = (measured function times)
        until (over-p (* times (taken-seconds taken)) (/ *round-milliseconds* 1d3) waited)
        finally (return times)))

(defun quantile (numbers part)
  "Return the one of NUMBERS below which PART of them are."
  (nth (min (1- (length numbers)) (floor (* part (length numbers)))) (sort (copy-list numbers) #'<)))

(defun taken-data (rounds times reader)
  "Return what the calls of ROUNDS took, each of so many TIMES, by READER, as a JSON object."
  (let ((numbers (mapcar reader rounds)))
    (object "median" (* 1000 (quantile numbers 1/2))
            "low" (* 1000 (quantile numbers 1/4))
            "high" (* 1000 (quantile numbers 3/4))
            "octets" (round (quantile (mapcar #'taken-octets rounds) 1/2))
            "times" times)))

(defun mostly-runs-p (rounds denied)
  "True when what took the time of ROUNDS was the CPU, and not waiting. DENIED is the part of it in which there was no CPU."
  (let ((cpu (reduce #'+ rounds :key #'taken-cpu)) (seconds (reduce #'+ rounds :key #'taken-seconds)))
    (> cpu (* 0.05 seconds (- 1 denied)))))

(defun compare-forms (one other seconds)
  "Call the functions ONE and OTHER in turn for about so many SECONDS, and return what they took as a JSON object."
  (let* ((begun (get-internal-real-time)) (waited (waited-seconds))
         (times-one (times-needed one)) (times-other (times-needed other))
         (ones '()) (others '()))
    (loop for round from 0 below *rounds*
          until (and (>= round *rounds-at-least*) (over-p (seconds-since begun) (float seconds 1d0) waited))
          do (flet ((one () (push (measured one times-one) ones))
                    (other () (push (measured other times-other) others)))
               ;; What comes first takes what the other left, such as garbage.
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

(defparameter *enough-seconds* 2d0 "For how many seconds of the CPU, or of time, a form is repeated until a profile tells of it.")
(defparameter *enough-octets* (* 64d0 1024 1024) "How many octets it takes until a profile of memory does.")

(defparameter *batch-seconds* 0.002d0 "How long calls take at least between which nothing else is done, where they are many.")

(defun enough-p (mode taken)
  "True when calls have TAKEN enough for a profile of MODE."
  (or (> (if (eq mode :time) (taken-seconds taken) (taken-cpu taken)) (the double-float *enough-seconds*))
      (and (eq mode :alloc) (> (taken-octets taken) (the double-float *enough-octets*)))))

(defun call-repeatedly (function mode seconds)
  "Call FUNCTION until a profile of MODE has enough samples, or SECONDS have passed. Return how often, and what a call took."
  (let ((all (make-taken 0d0 0d0 0d0)) (runs 0) (batch 1) (limit (float seconds 1d0)) (waited (waited-seconds)))
    (declare (type (and fixnum (integer 0)) runs batch))
    ;; What is done between calls would count as theirs.
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
