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
  "Return RESTARTS as JSON objects, *RESTART-LIMIT* of them at most."
  (loop for restart in restarts
        repeat *restart-limit*
        collect (object "name" (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
                        "report" (print-safely 200 restart "~A"))))

(defun more-than (limit count)
  "Return by how much COUNT is more than LIMIT, or NIL."
  (and (> count limit) (- count limit)))

(defun condition-data (condition calls on-stack)
  "Return CONDITION, signalled below CALLS, as a JSON object: type, text, restarts, frames. When those are ON-STACK, it
tells how many more there are."
  (let ((type (type-of condition)) (restarts (active-restarts condition)))
    (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
            "text" (report-text 4000 condition)
            "near" (near-condition condition)
            "restarts" (restarts-data restarts)
            "moreRestarts" (more-than *restart-limit* (length restarts))
            "frames" (frames-data calls)
            "moreFrames" (and on-stack
                              (>= (length calls) *frame-limit*)
                              (more-than *frame-limit* (length (user-frames)))))))
