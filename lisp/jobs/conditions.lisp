;;;; A condition as data: its type, what it reports, the restarts and the top
;;;; frames. Reports and printed arguments may run user code that fails or never
;;;; ends, so each is guarded, bounded, and done inside the job.

(in-package "LIVE-LISP.JOBS")

(defvar *end-call* nil "The agent's own restart, below every restart of user code.")

(defparameter *restart-limit* 20 "How many restarts an answer shows at most.")

(defun active-restarts (condition)
  "Return the restarts that were active when CONDITION was signalled, without the agent's own."
  (loop for restart in (compute-restarts condition)
        until (eq restart *end-call*)
        collect restart))

(defun restarts-data (restarts)
  "Return RESTARTS as JSON objects, *RESTART-LIMIT* of them at most. Of those that read the same only the newest is told:
INVOKE-RESTART takes that. The second value tells how many were not looked at, or is NIL."
  (loop with seen = '()
        for (restart . more) on restarts
        for name = (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
        for report = (print-safely 200 restart "~A")
        unless (member (list name report) seen :test #'equal)
          collect (progn (push (list name report) seen)
                         (object "name" name "report" report))
            into told
        until (>= (length seen) *restart-limit*)
        finally (return (values told (and more (length more))))))

(defun condition-data (condition calls &optional more)
  "Return CONDITION, signalled below CALLS and MORE others, as a JSON object: type, text, restarts, frames."
  (multiple-value-bind (restarts more-restarts) (restarts-data (active-restarts condition))
    (let ((type (type-of condition)) (frames (frames-data calls)))
      (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
              "text" (report-text 4000 condition)
              "near" (near-condition condition)
              "restarts" restarts
              "moreRestarts" more-restarts
              "frames" frames
              "moreFrames" more
              "features" (places-features frames)))))
