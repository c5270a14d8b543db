;;;; What the last observation of the same functions saw, so that the first call can be told that differs.

(in-package "LIVE-LISP.OBSERVE")

(defparameter *compared-calls* 500 "How many calls of an observation are kept to compare the next one with.")
(defparameter *previous-limit* 20 "Of how many groups of functions.")

(sb-ext:defglobal **previous** '()
  "What was seen last of groups of functions, newest first: lists of their names as text, and of the calls as text.")
(sb-ext:defglobal **previous-lock** (sb-thread:make-mutex :name "live-lisp observed") "Held while **PREVIOUS** changes.")

(defun without-addresses (text)
  "Return TEXT without the addresses by which objects without a name are printed."
  (with-output-to-string (out)
    (loop with start = 0
          for open = (search " {" text :start2 start)
          for close = (and open (position #\} text :start open))
          while close
          do (let ((address (every (lambda (char) (digit-char-p char 16)) (subseq text (+ open 2) close))))
               (write-string text out :start start :end (if address open (1+ close)))
               (setf start (1+ close)))
          finally (write-string text out :start start))))

(defun ended-text (call)
  "Return how CALL ended, as text."
  (case (call-how call)
    (:returned (format nil "=> ~:[no values~;~:*~{~A~^, ~}~]" (objects-texts (call-values call))))
    (:left (format nil "left by ~:[a throw~;~:*~A~]"
                   (let ((condition (call-condition call))) (and condition (class-text (class-of condition))))))
    (t "whose end was not seen")))

(defun compared-text (call)
  "Return CALL and how it ended as text that is the same for calls that are alike."
  (without-addresses (format nil "~A ~A" (call-text call) (ended-text call))))

(defun compared-texts (observation)
  "Return the first calls of OBSERVATION by the thread that observed, as text."
  (let ((thread (job-thread (observation-job observation))))
    (loop for call in (kept-calls observation)
          while (< (call-number call) *first-calls*)
          when (eq thread (call-thread call)) collect (compared-text call) into texts
          finally (return (page texts 0 *compared-calls*)))))

(defun difference (before now)
  "Return the first difference between BEFORE and NOW, lists of calls as text, as a JSON object."
  (loop for index from 0
        for (one . more-before) on before
        for (other . more-now) on now
        while (equal one other)
        finally (return (let ((one (nth index before)) (other (nth index now)))
                          (object "same" index
                                  "before" one
                                  "now" other
                                  "calls" (length now)
                                  "differs" (not (equal one other)))))))

(defun compared-data (observation compare)
  "Keep what OBSERVATION saw. With COMPARE, return how that differs from what was kept before, as a JSON object."
  (let ((names (sort (mapcar (lambda (probe) (name-text (probe-name probe))) (observation-probes observation)) #'string<))
        (now (compared-texts observation)))
    (sb-thread:with-mutex (**previous-lock**)
      (let ((before (assoc names **previous** :test #'equal)))
        (setf **previous** (page (acons names now (remove before **previous**)) 0 *previous-limit*))
        (and compare
             (if before (difference (cdr before) now) (object "none" t)))))))
