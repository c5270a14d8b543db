;;;; Settings for the errors of a call: which restarts to invoke, and whether to hold other errors
;;;; for debugging. The code that holds errors is in debug/, which is loaded later and sets
;;;; **HOLD-FUNCTION** and **ON-BREAK**. CALL-IN-JOB (operations.lisp) binds the settings of a call.
;;;; CALL-AS-JOB-PART (evaluate/evaluate.lisp) binds the records of the restarts that the call has
;;;; invoked.

(in-package "LIVE-LISP.JOBS")

(define-shape hold ()
  "Options of an operation that runs code."
  (hold integer :optional
   "For how many seconds an error is held. Without this option, an error ends the operation.")
  (held-above integer :optional
   "Highest number of an error that an earlier image has held. The next held error gets a higher
   number.")
  (restarts (list string) :optional "Names of restarts to invoke when an error offers them.")
  (debug-level integer :optional "The DEBUG quality to compile the code with."))

(define-shape held-error ()
  "A held error, without its condition. The thread that signalled the error waits until a call
  resumes it."
  (error integer "Number of the error.")
  (seconds integer "For how many seconds after each use the error is held.")
  (thread string :optional
   "Name of the thread that signalled the error, if it is a thread of the program.")
  (signalled boolean :optional
   "True when the error was held while it was being signalled. Once it is released, a handler of
   the program handles it.")
  (timed boolean :optional "True when the macro TIME measures the call that the error stopped.")
  (frames integer :optional "How many frames the tool debug can show; there can be more.")
  (slots (list (object (name string) (value string :optional) (id string :optional))) :optional)
  (takes (list string) :optional
   "The lambda list of each restart's function, in the order of the restarts.")
  (locks (list string) :optional "Names of the locks that the thread holds."))

(define-shape holding ()
  "What an operation reports on an error that is held and has stopped it, and on restarts that were
  invoked."
  (held held-error :optional "The error that stopped the operation and is held.")
  (not-held string :optional
   "Why the error of the operation is not held, although the request asked for that.")
  (taken (list (object (restart string) (text string))) :optional
   "The restarts that the request had chosen in advance and that were invoked, each with the text
   of the condition.")
  (taken-total integer :optional "Number of all such restarts, when `taken` does not list all.")
  (needing-values (list string) :optional
   "Names of the restarts that the request had chosen in advance and that an error offered, but that
   were not invoked, because they need arguments.")
  (went-on-by (list string) :optional
   "Names of all restarts by which the operation continued after an error, including restarts that
   were invoked for held errors."))

(defvar *hold-seconds* nil
  "The number of seconds for which to hold each error of this call for debugging, or NIL to hold
none.")

(sb-ext:defglobal **held-above** 0 "The highest number that an earlier image has given to a held
error, or 0.")

(sb-ext:defglobal **hold-function** (constantly nil)
  "A function of a condition and a job. It holds the condition for debugging in the thread of the
job. If that is impossible, it returns the reason as text.")

(sb-ext:defglobal **on-break** nil
  "NIL, or a function of a condition, by which a watch of debug/watch.lisp records errors. The
debugger hook calls it first, with the condition.")

(defvar *progress-functions* '()
  "A list of functions without parameters. Each returns a plist of members, about the work that this
call has done so far, for the answer that reports an error. They are called when the call is stopped
at an error that is held for debugging.")

(defvar *debug-level* nil
  "The DEBUG quality with which this call compiles, or NIL for the DEBUG quality of the session.")

;;; Restarts chosen in advance

(defvar *chosen-restarts* '()
  "The names, as texts, of the restarts that this call invokes when they are available. The first
available one is invoked.")

(defun names-among (value)
  "Return a list of the strings in VALUE, a list of names of restarts from a message. VALUE can be
another object if the journal is damaged: then return NIL."
  (and (listp value) (remove-if-not #'stringp value)))

(defvar *restarts-taken* nil
  "A hash table of the chosen restarts that this call has invoked, or NIL while none are recorded. A
key is a list of three texts: the name of the restart, and the type and the report of the condition.
A value is a pair: the index of the restart in the order of invocation, and true if the condition
was about the redefinition of a structure or constant (REDEFINES-COMPILED-P).")

(defvar *restarts-needing-values* '()
  "The names of chosen restarts that this call did not invoke, because their functions need
arguments, newest first.")

(defvar *went-on-by* '()
  "A list of the names of the restarts that this call has invoked after errors, newest first.")

(defun note-restart (restart)
  "Add the name of RESTART, which is about to be invoked, to *WENT-ON-BY*. Skip a restart without a
name, because a later call could not choose it."
  (when (and *restarts-taken* (restart-name restart))
    (push (string (restart-name restart)) *went-on-by*)))

(defun restarts-until (before)
  "Return a list, without duplicates and oldest first, of the names of the restarts that were
invoked after *WENT-ON-BY* had the value BEFORE."
  (remove-duplicates (reverse (ldiff *went-on-by* before)) :test #'string= :from-end t))

(defparameter *restarts-taken-limit* 20
  "The largest number of restarts in *RESTARTS-TAKEN* that an answer lists.")

(defvar *program-breaks* nil
  "The value that *BREAK-ON-SIGNALS* had when the program entered the debugger.")
(defvar *program-hook* nil
  "The value that *INVOKE-DEBUGGER-HOOK* had when the program entered the debugger.")

(defun call-as-program (function)
  "Call FUNCTION, which calls code of the program within the debugger hook. Bind
*INVOKE-DEBUGGER-HOOK* and *BREAK-ON-SIGNALS* to the values that they had when the program entered
the debugger."
  (let ((sb-ext:*invoke-debugger-hook* *program-hook*) (*break-on-signals* *program-breaks*))
    (funcall function)))

(defun restart-lambda-list (restart)
  "Return the lambda list of the function of RESTART, or NIL if it is unknown."
  (let* ((function (restart-function restart))
         (parameters (and (functionp function) (plain-lambda-list function))))
    (and (listp parameters) parameters)))

(defun restart-required-count (restart)
  "Return the number of required arguments of the function of RESTART, or 0 if it is unknown."
  (or (position-if (lambda (parameter) (member parameter lambda-list-keywords))
                   (restart-lambda-list restart))
      (length (restart-lambda-list restart))))

(defun redefines-compiled-p (condition)
  "Return true if CONDITION is an error because a structure or a constant would be redefined. Code
that was compiled before contains the old definition."
  (or (typep condition 'sb-ext:defconstant-uneql)
      ;; SBCL has no condition type for the redefinition of a structure.
      (and (typep condition 'simple-error)
           (eq 'structure-object (first (simple-condition-format-arguments condition)))
           (search "redefine" (simple-condition-format-control condition))
           t)))

(defun taken-redefined-count ()
  "Return the number of the restarts in *RESTARTS-TAKEN* that were invoked because a structure or a
constant would be redefined (REDEFINES-COMPILED-P). If it has grown during a load, code that was
loaded before may contain the old definition."
  (loop for (nil . redefines) being the hash-values of *restarts-taken* count redefines))

(defun note-taken (key redefines)
  "Add a restart that was invoked to the table *RESTARTS-TAKEN*, unless it is there. KEY is its key
in this table. REDEFINES is true if the restart was invoked because a structure or a constant would
be redefined (REDEFINES-COMPILED-P)."
  (unless (gethash key *restarts-taken*)
    (setf (gethash key *restarts-taken*) (cons (hash-table-count *restarts-taken*) redefines))))

(defun call-taking-again (function)
  "Call FUNCTION, which does work of this job a second time, and return its values. It may signal
the same conditions as the first time. So forget meanwhile which restarts were invoked, and allow
each to be invoked once more. Afterwards *RESTARTS-TAKEN* has those of both times."
  (let ((again (make-hash-table :test 'equal)))
    (unwind-protect (let ((*restarts-taken* again)) (funcall function))
      (maphash (lambda (key taken) (note-taken key (cdr taken))) again))))

(defun take-chosen-restart (condition)
  "Invoke the first of *CHOSEN-RESTARTS* that is available for CONDITION and needs no arguments.
Return if there is none. Skip a restart that was invoked for a condition of the same type and report
already: one that tries again could be invoked forever."
  (loop for name in *chosen-restarts*
        for restart = (find name (active-restarts condition)
                            :key (lambda (each) (string (restart-name each))) :test #'string-equal)
        for key = (and restart
                       (list (string (restart-name restart)) (class-text (class-of condition))
                             (report-text 200 condition)))
        do (cond
             ((or (null restart) (gethash key *restarts-taken*)))
             ((plusp (restart-required-count restart))
              (pushnew (first key) *restarts-needing-values* :test #'string=))
             (t
              (note-taken key (nil-if-program-fails (redefines-compiled-p condition)))
              (note-restart restart)
              ;; Leave out this restart, so that an error within it does not invoke it again without
              ;; end.
              (let ((*chosen-restarts* (remove name *chosen-restarts*)))
                (call-as-program (lambda () (invoke-restart restart))))))))

(defun taken-members ()
  "Return a plist of JSON members about restarts for the answer of this call: the first
*RESTARTS-TAKEN-LIMIT* restarts in *RESTARTS-TAKEN*; the number of all restarts in it, if there are
more; the names of the restarts that the caller chose but that need arguments; and the names of all
restarts by which this call continued after errors."
  (let ((count (hash-table-count *restarts-taken*)))
    (list "taken" (loop with rows = (make-array (min count *restarts-taken-limit*))
                        for key being the hash-keys of *restarts-taken* using (hash-value taken)
                        for number = (car taken)
                        when (< number (length rows))
                          do (destructuring-bind (name type text) key
                               (declare (ignore type))
                               (setf (aref rows number) (object "restart" name "text" text)))
                        finally (return (coerce rows 'list)))
          "takenTotal" (and (> count *restarts-taken-limit*) count)
          "needingValues" (reverse *restarts-needing-values*)
          "wentOnBy" (restarts-until '()))))
