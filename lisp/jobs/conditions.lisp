;;;; A condition as data: its type, what it reports, the restarts and the top
;;;; frames. Reports and printed arguments may run user code that fails or never
;;;; ends, so each is guarded, bounded, and done inside the job.

(in-package "LIVE-LISP.JOBS")

(defvar *end-call* nil "The agent's own restart, below every restart of user code.")

(defun restarts-data (condition)
  "Return the restarts that were active when CONDITION was signalled, without the
agent's own."
  (loop for restart in (compute-restarts condition)
        until (eq restart *end-call*)
        repeat 20
        collect (object "name" (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
                        "report" (print-safely 200 restart "~A"))))

(defun condition-data (condition &optional (calls (calls-on-stack)))
  "Return CONDITION, signalled below CALLS, as a JSON object: type, text, restarts, frames."
  (let ((type (type-of condition)))
    (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
            "text" (report-text 4000 condition)
            "near" (near-condition condition)
            "restarts" (restarts-data condition)
            "frames" (frames-data calls))))
