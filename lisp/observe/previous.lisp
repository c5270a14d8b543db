;;;; Keeps calls of the last observation of each group of functions. Compares them with the next
;;;; observation of the same group, to find the first call that differs.

(in-package "LIVE-LISP.OBSERVE")

(define-shape compared-calls ()
  "How the recorded calls differ from the calls of the previous recording."
  (none boolean :optional "True when there is no previous recording.")
  (same integer :optional "How many calls, from the first on, are equal in both recordings.")
  (calls integer :optional "Number of calls in this recording.")
  (calls-before integer :optional "Number of calls in the previous recording.")
  (differs boolean :optional)
  (before string :optional "The first call that differs, as the previous recording has it.")
  (now string :optional "The first call that differs, as this recording has it."))

(defparameter *compared-calls* 500
  "The maximum number of calls of an observation that are kept for the next comparison.")
(defparameter *previous-limit* 20
  "The maximum number of groups of functions whose calls are kept.")

(sb-ext:defglobal **previous** '()
  "A list of lists (NAMES CALLS PAIR...), one for the last observation of each group of functions,
newest first. NAMES lists the functions' names as texts, CALLS is the number of calls, and the pairs
are from COMPARED-TEXT for the first calls.")
(sb-ext:defglobal **previous-lock** (sb-thread:make-mutex :name "live-lisp observed")
  "A lock that a thread holds while it uses **PREVIOUS**.")

;;; A mark is a hash of the arguments and values of a call. The text of a call shows only the
;;; beginning of large objects, so different calls can have the same text. Their marks differ.

(defparameter *mark-parts* 2000
  "The maximum number of parts of a call's objects that are hashed.")
(defparameter *mark-depth* 100 "The maximum nesting depth at which objects are hashed.")

(defun mark-of (objects &optional (parts *mark-parts*))
  "Return a hash of the list OBJECTS and of at most PARTS parts of its elements, without running
code of the program. Of an instance of SBCL's own classes, hash only the class."
  (let ((mark 0) (around '()))
    (declare (type (unsigned-byte 50) mark))
    (labels ((add (integer) (setf mark (ldb (byte 50 0) (+ (* 31 mark) (ldb (byte 50 0) integer)))))
             (look-at-entries (table depth)
               ;; Equal tables can have their entries in different orders. So hash each entry by
               ;; itself, with a share of PARTS that does not depend on other entries, and add the
               ;; hashes.
               (let* ((before mark)
                      (room parts)
                      (sum 0)
                      (share (floor room (max 1 (hash-table-count table)))))
                 (when (plusp share)
                   (maphash (lambda (key value)
                              (setf mark 0 parts share)
                              (look key depth)
                              (look value depth)
                              (incf sum mark)
                              (decf room (- share parts)))
                            table))
                 (setf mark before parts room)
                 (add (hash-table-count table))
                 (add sum)))
             (look-into (object depth)
               (typecase object
                 (hash-table (look-at-entries object depth))
                 (array (mapc #'add (array-dimensions object))
                        (loop for index below (if (vectorp object)
                                                  (length object)
                                                  (array-total-size object))
                              while (plusp parts) do (look (row-major-aref object index) depth)))
                 (t (add (sxhash (class-text (class-of object))))
                    (loop for (name . value) in (inner-slots object)
                          while (plusp parts) do (add (sxhash name))
                                                 (look value depth)))))
             (look (object depth)
               (decf parts)
               (cond ((or (minusp parts) (minusp depth)))
                     ((left-stack-p object) (add 1))
                     ((consp object)
                      (add 2)
                      (loop while (and (consp object) (not (left-stack-p object)) (plusp parts))
                            do (look (pop object) (1- depth)))
                      (look object (1- depth)))
                     ((typep object '(or symbol character number string bit-vector pathname))
                      (add (sxhash object)))
                     ;; OBJECT is part of itself.
                     ((member object around :test #'eq) (add 3))
                     (t (push object around)
                        (look-into object (1- depth))
                        (pop around)))))
      (dolist (object objects mark) (look object *mark-depth*)))))

(defun without-addresses (text)
  "Return TEXT without the addresses that the printer prints for objects without a name."
  (with-output-to-string (out)
    (loop with start = 0
          for open = (search " {" text :start2 start)
          for close = (and open (position #\} text :start open))
          while close
          do (let ((address (every (lambda (char) (digit-char-p char 16))
                                   (subseq text (+ open 2) close))))
               (write-string text out :start start :end (if address open (1+ close)))
               (setf start (1+ close)))
          finally (write-string text out :start start))))

(defun ended-text (call)
  "Return text that says how CALL ended, such as \"=> 1\"."
  (case (call-how call)
    (:returned (format nil "=> ~:[no values~;~:*~{~A~^, ~}~]" (objects-texts (call-values call))))
    (:left (format nil "left ~:[by a throw~;after ~:*~A~]"
                   (let ((condition (call-condition call)))
                     (and condition (class-text (class-of condition))))))
    (t "whose end was not seen")))

(defun compared-text (call)
  "Return a pair (TEXT . MARK) for CALL. It is EQUAL for equal calls. TEXT shows the call and how it
ended. MARK is a hash of its arguments and values."
  (cons (without-addresses (format nil "~A ~A" (call-text call) (ended-text call)))
        (mark-of (append (call-arguments call) (call-values call)))))

(defun compared-texts (observation)
  "Return a list of (TEXT . MARK) pairs for the first calls of OBSERVATION, without calls in threads
other than the observing job's."
  (let ((thread (job-thread (observation-job observation))))
    (loop for call in (kept-calls observation)
          while (< (call-number call) *first-calls*)
          when (eq thread (call-thread call)) collect (compared-text call) into texts
          finally (return (page texts 0 *compared-calls*)))))

(defun difference (before calls-before now calls)
  "Return a JSON object about the first difference between BEFORE and NOW, lists of (TEXT . MARK)
pairs. CALLS-BEFORE and CALLS are the total numbers of calls in the two observations."
  (loop for index from 0
        for (one . more-before) on before
        for (other . more-now) on now
        while (equal one other)
        finally (return (let ((one (nth index before)) (other (nth index now)))
                          (object "same" index
                                  "before" (car one)
                                  "now" (car other)
                                  "callsBefore" calls-before
                                  "calls" calls
                                  "differs" (not (equal one other)))))))

(defun compared-data (observation compare)
  "Keep the calls of OBSERVATION for the next comparison. If COMPARE is true, return a JSON object
about the first difference from the last observation of the same functions. Else return NIL."
  (let ((names (sort (mapcar (lambda (probe) (name-text (probe-name probe)))
                             (observation-probes observation))
                     #'string<))
        (calls (observation-next observation))
        (now (compared-texts observation)))
    (sb-thread:with-mutex (**previous-lock**)
      (let ((before (assoc names **previous** :test #'equal)))
        (setf **previous**
              (page (cons (list* names calls now) (remove before **previous**)) 0 *previous-limit*))
        (and compare
             (if before (difference (cddr before) (second before) now calls) (object "none" t)))))))
