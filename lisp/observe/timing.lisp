;;;; How long forms take, how much memory they take, and which of two takes less.

(in-package "LIVE-LISP.OBSERVE")

(defparameter *round-milliseconds* 5 "For how long a form is repeated at least before its time counts.")
(defparameter *rounds* 200 "How often two forms are measured at most, and how often at least.")
(defparameter *rounds-at-least* 5 "The least of these.")

(defun seconds-since (time)
  "Return how many seconds have passed since TIME, of GET-INTERNAL-REAL-TIME."
  (/ (- (get-internal-real-time) time) (float internal-time-units-per-second 1d0)))

(defstruct (taken (:constructor make-taken (seconds cpu octets)))
  "What calls took: SECONDS, those of the CPU, and OCTETS of memory."
  seconds cpu octets)

(defun measured (function times)
  "Call FUNCTION so many TIMES and return what a call of these took."
  (declare (type function function) (type fixnum times))
  (let ((octets (sb-ext:get-bytes-consed)) (cpu (get-internal-run-time)) (begun (get-internal-real-time)))
    (dotimes (index times) (funcall function))
    (let ((seconds (seconds-since begun))
          (cpu (/ (- (get-internal-run-time) cpu) (float internal-time-units-per-second 1d0)))
          (octets (- (sb-ext:get-bytes-consed) octets)))
      (make-taken (/ seconds times) (/ cpu times) (/ octets times)))))

(defun times-needed (function)
  "Return how often FUNCTION must be called so that its time can be measured."
  (loop for times = 1 then (* times 2)
        for taken = (measured function times)
        until (>= (* 1000 times (taken-seconds taken)) *round-milliseconds*)
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

(defun mostly-runs-p (rounds)
  "True when what took the time of ROUNDS was the CPU, and not waiting."
  (let ((cpu (reduce #'+ rounds :key #'taken-cpu)) (seconds (reduce #'+ rounds :key #'taken-seconds)))
    (> cpu (* 0.05 seconds))))

(defun compare-forms (one other seconds)
  "Call the functions ONE and OTHER in turn for about so many SECONDS, and return what they took as a JSON object."
  (let* ((begun (get-internal-real-time))
         (times-one (times-needed one)) (times-other (times-needed other))
         (ones '()) (others '()))
    (loop for round from 0 below *rounds*
          until (and (>= round *rounds-at-least*) (> (seconds-since begun) seconds))
          do (flet ((one () (push (measured one times-one) ones))
                    (other () (push (measured other times-other) others)))
               ;; What comes first takes what the other left, such as garbage.
               (cond ((evenp round) (one) (other))
                     (t (other) (one)))))
    (let* ((cpu (and (mostly-runs-p ones) (mostly-runs-p others)))
           (reader (if cpu #'taken-cpu #'taken-seconds)))
      (object "rounds" (length ones)
              "cpu" cpu
              "one" (taken-data ones times-one reader)
              "other" (taken-data others times-other reader)))))

;;; Repeating for a profile

(defparameter *enough-seconds* 2 "For how many seconds of the CPU, or of time, a form is repeated until a profile tells of it.")
(defparameter *enough-octets* (* 64 1024 1024) "How many octets it takes until a profile of memory does.")

(defparameter *batch-seconds* 0.002 "How long calls take at least between which nothing else is done, where they are many.")

(defun enough-p (mode taken)
  "True when calls have TAKEN enough for a profile of MODE."
  (or (> (if (eq mode :time) (taken-seconds taken) (taken-cpu taken)) *enough-seconds*)
      (and (eq mode :alloc) (> (taken-octets taken) *enough-octets*))))

(defun call-repeatedly (function mode seconds)
  "Call FUNCTION until a profile of MODE has enough samples, or SECONDS have passed. Return how often, and what a call took."
  (let ((all (make-taken 0 0 0)) (runs 0) (batch 1))
    ;; What is done between calls would count as theirs.
    (loop (let* ((taken (measured function batch)) (passed (* batch (taken-seconds taken))))
            (incf runs batch)
            (setf all (make-taken (+ (taken-seconds all) passed)
                                  (+ (taken-cpu all) (* batch (taken-cpu taken)))
                                  (+ (taken-octets all) (* batch (taken-octets taken)))))
            (when (< passed *batch-seconds*) (setf batch (* 2 batch))))
          (when (or (> (taken-seconds all) seconds) (enough-p mode all))
            (return (values runs (make-taken (/ (taken-seconds all) runs)
                                             (/ (taken-cpu all) runs)
                                             (round (taken-octets all) runs))))))))
