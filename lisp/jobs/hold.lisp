;;;; What a call decides about its errors in advance: which restarts to take, and whether to hold other errors. The code
;;;; that holds them is loaded later.

(in-package "LIVE-LISP.JOBS")

(defvar *hold* nil "For how many seconds an error of this call is held before it ends that, or NIL.")

(sb-ext:defglobal **held-above** 0 "The number of the last error that an earlier image has held.")

(sb-ext:defglobal **holder** (constantly nil)
  "A function of a condition and a job that holds the condition in its thread. It returns why it does not.")

(sb-ext:defglobal **on-break** nil
  "A function that is called with each condition that reaches the debugger, before all else, or NIL.")

(defvar *so-far* '() "Functions that return members of this call's answer, for an answer that is given before its end.")

(defvar *debug-level* nil "The DEBUG quality with which this call compiles, or NIL for that of the session.")

;;; Restarts that were chosen in advance

(defvar *chosen-restarts* '() "The names of the restarts that this call takes when they are offered, best first.")

(defvar *taken* nil
  "The restarts that this call has invoked because they were chosen: a table of numbers, in order, by lists of the restart's
name, the condition's type and the condition's text.")

(defparameter *taken-told* 20 "An answer lists at most this many of these restarts.")

(defvar *program-breaks* nil "The value of *BREAK-ON-SIGNALS* when the program entered the debugger.")
(defvar *program-hook* nil "The value of *INVOKE-DEBUGGER-HOOK* when the program entered the debugger.")

(defun call-as-program (function)
  "Call FUNCTION, code of the program, from the debugger hook, with the program's own hook and *BREAK-ON-SIGNALS*."
  (let ((sb-ext:*invoke-debugger-hook* *program-hook*) (*break-on-signals* *program-breaks*))
    (funcall function)))

(defun restart-required-count (restart)
  "Return how many arguments the function of RESTART requires, as far as that is known."
  (let ((parameters (ignore-errors (plain-lambda-list (restart-function restart)))))
    (if (listp parameters)
        (length (ldiff parameters (member-if (lambda (parameter) (member parameter lambda-list-keywords)) parameters)))
        0)))

(defun take-chosen-restart (condition)
  "Invoke the first chosen restart that CONDITION offers. It is invoked once for equal conditions, since one that only
tries again could do so for ever."
  (loop for name in *chosen-restarts*
        for restart = (find name (active-restarts condition)
                            :key (lambda (each) (string (restart-name each))) :test #'string-equal)
        for key = (and restart (list (string (restart-name restart)) (class-text (class-of condition)) (report-text 200 condition)))
        do (when (and restart
                      (zerop (restart-required-count restart))
                      (not (gethash key *taken*)))
             (setf (gethash key *taken*) (hash-table-count *taken*))
             ;; An error of the restart itself must not invoke the restart again, and so on without end.
             (let ((*chosen-restarts* (remove name *chosen-restarts*)))
               (call-as-program (lambda () (invoke-restart restart)))))))

(defun taken-members ()
  "Return the members with the first restarts that this call has invoked, and their number when these are not all."
  (let ((count (hash-table-count *taken*)))
    (list "taken" (loop with rows = (make-array (min count *taken-told*))
                        for key being the hash-keys of *taken* using (hash-value number)
                        when (< number (length rows))
                          do (destructuring-bind (name type text) key
                               (declare (ignore type))
                               (setf (aref rows number) (object "restart" name "text" text)))
                        finally (return (coerce rows 'list)))
          "takenTotal" (and (> count *taken-told*) count))))
