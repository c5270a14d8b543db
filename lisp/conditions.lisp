;;;; A condition as data: its type, what it reports, the restarts and the top
;;;; frames. Reports and printed arguments may run user code that fails or never
;;;; ends, so each is guarded, bounded, and done inside the job.

(in-package "LIVE-LISP.AGENT")

(defparameter *frame-limit* 15 "How many frames an answer shows at most.")

(defmacro printing-plainly (&body body)
  "Evaluate BODY with printer settings that are short and independent of the session."
  `(let ((*print-pretty* nil) (*print-length* 5) (*print-level* 3) (*print-circle* nil)
         (*print-readably* nil) (*print-base* 10) (*print-radix* nil) (*print-case* :upcase)
         (*print-escape* t) (*print-gensym* t) (*print-array* t) (*print-lines* nil)
         (*package* (find-package "KEYWORD")))
     ,@body))

(defun print-safely (limit object &optional (format "~S"))
  "Return OBJECT printed by FORMAT in at most LIMIT characters; an error on the way
gives a text that says so."
  (multiple-value-bind (text cut)
      (bounded-string limit
                      (lambda (stream)
                        (handler-case (format stream format object)
                          (error (failure)
                            (format stream "#<~A: printing it signalled ~A>"
                                    (type-of object) (type-of failure))))))
    (if cut (concatenate 'string text "...") text)))

(defun frame-name (frame)
  "Return the name of the function of FRAME."
  (sb-di:debug-fun-name (sb-di:frame-debug-fun frame)))

(defun describe-frame (frame)
  "Return FRAME as a call with its arguments, as far as they are known."
  (printing-plainly
    (print-safely 240 (cons (frame-name frame)
                            (handler-case (internal-call ("SB-DEBUG" "FRAME-ARGS-AS-LIST") (frame))
                              (error () '()))))))

(defparameter *machinery*
  '("ERROR" "CERROR" "SIGNAL" "BREAK" "%BREAK" "WARN" "INVOKE-DEBUGGER" "RUN-HOOK" "EVAL"
    "SIMPLE-EVAL-IN-LEXENV" "%SIMPLE-EVAL" "SIMPLE-EVAL-PROGN-BODY" "INTERNAL-ERROR"
    "INVOKE-INTERRUPTION" "RUN-INTERRUPTION" "SIGNAL-HANDLER" "SIGNAL-EMULATION-WRAPPER"
    "INTERRUPT-THREAD" "CALL-WITH-SANE-IO-SYNTAX")
  "Functions of the system between user code and the agent.")

(defun machinery-p (name)
  "True when NAME belongs to the part of the system that signals or interrupts,
which tells a reader nothing about their program."
  (let* ((symbol (if (consp name) (find-if #'symbolp (reverse name)) name))
         (package (and (symbolp symbol) symbol (symbol-package symbol))))
    (or (stringp name)
        (and package
             (or (eq package #.*package*)
                 (and (member (symbol-name symbol) *machinery* :test #'string=)
                      (or (eq package (find-package "COMMON-LISP"))
                          (eql 0 (search "SB-" (package-name package))))))))))

(defun user-frames ()
  "Return the frames of this thread from the newest down to where the agent called
user code, without the machinery at both ends."
  (let ((frames '()) (depth 0))
    (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
          while (and frame (< depth 2000) (not (eq (frame-name frame) 'call-user-code)))
          do (incf depth)
             (push frame frames))
    (flet ((trim (frames)
             (member-if-not (lambda (frame) (machinery-p (frame-name frame))) frames)))
      (trim (reverse (trim frames))))))

(defun frames-data ()
  "Return the newest frames as strings, at most *FRAME-LIMIT*."
  (handler-case
      (loop for frame in (user-frames)
            repeat *frame-limit*
            collect (describe-frame frame))
    (error () '())))

(defvar *end-call* nil "The agent's own restart, below every restart of user code.")

(defun restarts-data (condition)
  "Return the restarts that were active when CONDITION was signalled, without the
agent's own."
  (loop for restart in (ldiff (compute-restarts condition) (member *end-call* (compute-restarts condition)))
        repeat 20
        collect (object "name" (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
                        "report" (print-safely 200 restart "~A"))))

(defun symbol-text (symbol)
  "Return SYMBOL as PACKAGE::NAME without bars, or #:NAME without a package."
  (let ((package (symbol-package symbol)))
    (if package
        (format nil "~A::~A" (package-name package) (symbol-name symbol))
        (format nil "#:~A" (symbol-name symbol)))))

(defun condition-data (condition)
  "Return CONDITION as a JSON object: type, text, restarts, frames."
  (let ((type (type-of condition)))
    (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
            "text" (let ((*print-length* 50) (*print-level* 10) (*print-circle* nil) (*print-readably* nil))
                     (print-safely 4000 condition "~A"))
            "restarts" (restarts-data condition)
            "frames" (frames-data))))
