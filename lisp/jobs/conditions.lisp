;;;; Renders a condition as data: its type, report, restarts and newest frames. Reports and printed
;;;; arguments may run user code that fails or never ends, so each is guarded, bounded, and done
;;;; within the job.

(in-package "LIVE-LISP.JOBS")

(defvar *end-call* nil
  "The agent's own restart, which ends the call. All restarts of user code are newer.")

(defparameter *restart-limit* 20 "An answer shows at most this many restarts.")

(defvar *offered* :active "The restarts to show, a list, or :ACTIVE for all that are active.")

(defun active-restarts (condition)
  "Return *OFFERED* if it is a list; else the restarts active when CONDITION was signalled, without
the agent's own."
  (if (listp *offered*)
      *offered*
      (loop for restart in (compute-restarts condition)
            until (eq restart *end-call*)
            collect restart)))

(defun told-restarts (restarts)
  "Return the first *RESTART-LIMIT* of RESTARTS as lists of a restart, its name and its report. Of
restarts with the same name and report only the newest is returned: INVOKE-RESTART invokes that. The
second value is the number of restarts after these, or NIL."
  (loop with seen = '()
        for (restart . more) on restarts
        for name = (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
        for report = (print-safely 200 restart "~A")
        unless (member (list name report) seen :test #'equal)
          collect (progn (push (list name report) seen)
                         (list restart name report))
            into told
        until (>= (length seen) *restart-limit*)
        finally (return (values told (and more (length more))))))

(defun restarts-data (condition)
  "Return a list of the first restarts for CONDITION as JSON objects, and the number of restarts
after these, or NIL. Return an empty list when the test function of a restart signals an error."
  (handler-case
      (multiple-value-bind (told more) (told-restarts (active-restarts condition))
        (values (loop for (nil name report) in told collect (object "name" name "report" report))
                more))
    (error () (values '() nil))))

(defun unbound-name (condition)
  "Return as text the name, with its package, of the variable that CONDITION says is unbound; NIL
for other conditions. The report of CONDITION does not serve: it omits the package of a symbol that
is accessible in the current package."
  ;; The program can make such a condition without a name.
  (let ((name (and (typep condition 'unbound-variable)
                   (ignore-errors (cell-error-name condition)))))
    (and name (symbolp name) (symbol-text name))))

(defun condition-data (condition calls &optional more)
  "Return CONDITION as a JSON object: type, text, restarts, frames. CALLS and MORE are from
CALLS-ON-STACK."
  (multiple-value-bind (restarts more-restarts) (restarts-data condition)
    (let ((type (type-of condition)))
      (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
              "text" (report-text 4000 condition)
              "variable" (unbound-name condition)
              "near" (near-condition condition)
              "missing" (missing-name-p condition)
              "withoutManager" (lacks-manager-p (unread-cause condition))
              "initFile" (init-file-lacking (unread-cause condition))
              "restarts" restarts
              "moreRestarts" more-restarts
              "frames" (handler-case (frames-data calls) (error () '()))
              "moreFrames" more))))

;;; Keeping conditions

(defvar *error-keeper* nil
  "A function that keeps the errors of this call, such as KEEP-ERROR, or NIL. Its arguments are a
condition, and whether the frames of the condition are still on the stack. It returns a function to
call with the CONDITION-DATA.")

(sb-ext:defglobal **thread-error-keeper** nil
  "A function as in *ERROR-KEEPER*, for errors that end threads without a job.")

(defun described (condition keeper on-stack calls &optional more)
  "Return the CONDITION-DATA of CONDITION, CALLS and MORE. Keep CONDITION by KEEPER, NIL or a
function as in *ERROR-KEEPER*, which is called with CONDITION and ON-STACK."
  (let* ((keep (and keeper (ignore-errors (funcall keeper condition on-stack))))
         (data (condition-data condition calls more)))
    (when keep (funcall keep data))
    data))
