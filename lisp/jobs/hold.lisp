;;;; What a call decides about its errors in advance: which restarts to take, and whether to hold
;;;; other errors. The code that holds them is loaded later.

(in-package "LIVE-LISP.JOBS")

(defvar *hold* nil
  "For how many seconds an error of this call is held before it ends the call, or NIL when errors
are not held.")

(sb-ext:defglobal **held-above** 0 "The number of the last error that an earlier image has held.")

(sb-ext:defglobal **holder** (constantly nil)
  "A function of a condition and a job. It holds the condition in the thread of the job. If it
cannot, it returns a text that says why.")

(sb-ext:defglobal **on-break** nil
  "A function that is called with each condition that reaches the debugger, before all else, or
NIL.")

(defvar *so-far* '()
  "Functions of no arguments. Each returns members about what this call has done so far, for the
answer that a held error gives before the call ends.")

(defvar *debug-level* nil
  "The DEBUG quality with which this call compiles, or NIL for that of the session.")

;;; Restarts that were chosen in advance

(defvar *chosen-restarts* '()
  "The names of the restarts that this call invokes when they are offered, best first.")

(defun names-among (value)
  "Return the strings in VALUE, the names of restarts from a message. A damaged journal can have
other values there."
  (and (listp value) (remove-if-not #'stringp value)))

(defvar *taken* nil
  "The chosen restarts that this call has invoked, a hash table. A key is a list of the restart's
name, the condition's type and the condition's report, all texts. A value is a pair of the position
of the restart in the order of invocation, from 0, and of REDEFINES-COMPILED-P of the condition.")

(defvar *went-on-by* '()
  "The names of the restarts by which this call went on from errors, the newest first.")

(defun note-restart (restart)
  "Note that this call goes on by RESTART, if it has a name, which a later call can choose."
  (when (and *taken* (restart-name restart))
    (push (string (restart-name restart)) *went-on-by*)))

(defun restarts-until (before)
  "Return the names of the restarts by which this call went on since *WENT-ON-BY* was BEFORE: each
once, the oldest first."
  (remove-duplicates (reverse (ldiff *went-on-by* before)) :test #'string= :from-end t))

(defparameter *taken-told* 20 "An answer lists at most this many restarts of *TAKEN*.")

(defvar *program-breaks* nil
  "The value of *BREAK-ON-SIGNALS* when the program entered the debugger.")
(defvar *program-hook* nil
  "The value of *INVOKE-DEBUGGER-HOOK* when the program entered the debugger.")

(defun call-as-program (function)
  "Call FUNCTION, code of the program, from the debugger hook, with the program's own hook and
*BREAK-ON-SIGNALS*."
  (let ((sb-ext:*invoke-debugger-hook* *program-hook*) (*break-on-signals* *program-breaks*))
    (funcall function)))

(defun restart-required-count (restart)
  "Return how many arguments the function of RESTART requires; 0 when that is unknown."
  (let ((parameters (ignore-errors (plain-lambda-list (restart-function restart)))))
    (if (listp parameters)
        (length (ldiff parameters
                       (member-if (lambda (parameter) (member parameter lambda-list-keywords))
                                  parameters)))
        0)))

(defun redefines-compiled-p (condition)
  "True when CONDITION asks whether to redefine a structure or a constant. Code that was compiled
before has the old definition compiled in."
  (or (typep condition 'sb-ext:defconstant-uneql)
      ;; SBCL has no condition type for the redefinition of a structure.
      (and (typep condition 'simple-error)
           (eq 'structure-object (first (simple-condition-format-arguments condition)))
           (search "redefine" (simple-condition-format-control condition))
           t)))

(defun taken-redefined-count ()
  "Return how many restarts in *TAKEN* were for conditions of which REDEFINES-COMPILED-P is true."
  (loop for (nil . redefines) being the hash-values of *taken* count redefines))

(defun note-taken (key redefines)
  "Note in *TAKEN* that this call invokes the restart of KEY, a key of *TAKEN*, unless that is noted
already. REDEFINES is the value of REDEFINES-COMPILED-P for the condition."
  (unless (gethash key *taken*)
    (setf (gethash key *taken*) (cons (hash-table-count *taken*) redefines))))

(defun call-taking-again (function)
  "Call FUNCTION, which repeats what this call has done, and return its value. Meanwhile the chosen
restarts are invoked also for conditions for which they were invoked before."
  (let* ((before *taken*) (*taken* (make-hash-table :test 'equal)) (again *taken*))
    (unwind-protect (funcall function)
      (let ((*taken* before))
        (maphash (lambda (key taken) (note-taken key (cdr taken))) again)))))

(defun take-chosen-restart (condition)
  "Invoke the first chosen restart that is offered for CONDITION and needs no argument. It is
invoked once for equal conditions, since a restart that only tries again could do so for ever."
  (loop for name in *chosen-restarts*
        for restart = (find name (active-restarts condition)
                            :key (lambda (each) (string (restart-name each))) :test #'string-equal)
        for key = (and restart
                       (list (string (restart-name restart)) (class-text (class-of condition))
                             (report-text 200 condition)))
        do (when (and restart
                      (zerop (restart-required-count restart))
                      (not (gethash key *taken*)))
             (note-taken key (ignore-errors (redefines-compiled-p condition)))
             (note-restart restart)
             ;; An error of the restart itself must not invoke the restart again, and so on without
             ;; end.
             (let ((*chosen-restarts* (remove name *chosen-restarts*)))
               (call-as-program (lambda () (invoke-restart restart)))))))

(defun taken-members ()
  "Return the members with the first restarts in *TAKEN*, their number when these are not all, and
the names of all restarts by which this call went on."
  (let ((count (hash-table-count *taken*)))
    (list "taken" (loop with rows = (make-array (min count *taken-told*))
                        for key being the hash-keys of *taken* using (hash-value taken)
                        for number = (car taken)
                        when (< number (length rows))
                          do (destructuring-bind (name type text) key
                               (declare (ignore type))
                               (setf (aref rows number) (object "restart" name "text" text)))
                        finally (return (coerce rows 'list)))
          "takenTotal" (and (> count *taken-told*) count)
          "wentOnBy" (restarts-until '()))))
