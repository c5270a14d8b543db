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
         (*package* (or (find-package "COMMON-LISP") *package*))
         ;; It can be done while something else is printed.
         ,@(let ((level (internal-symbol "SB-KERNEL" "*CURRENT-LEVEL-IN-PRINT*")))
             (and level `((,level 0)))))
     ,@body))

(defun print-safely (limit object &optional (format "~S"))
  "Return OBJECT printed by FORMAT in at most LIMIT characters; an error on the way
gives a text that says so."
  (multiple-value-bind (text cut)
      (bounded-string limit
                      (lambda (stream)
                        (handler-case (format stream format object)
                          (serious-condition (failure)
                            ;; The next object to print may use up the stack as well.
                            (protect-stack-again)
                            (let ((*print-pretty* nil))
                              (format stream "#<~A: printing it signalled ~A>"
                                      (type-of object) (type-of failure)))))))
    (if cut (concatenate 'string text "...") text)))

(defun frame-name (frame)
  "Return the name of the function of FRAME."
  (sb-di:debug-fun-name (sb-di:frame-debug-fun frame)))

(defun frame-arguments (frame)
  "Return the arguments of FRAME, as far as they are known."
  (let ((function (internal-function "SB-DEBUG" "FRAME-ARGS-AS-LIST")))
    (cond ((null function) '())
          ;; Newer ones want to know how many.
          ((rest (sb-kernel:%fun-lambda-list (fdefinition function))) (funcall function frame 20))
          (t (funcall function frame)))))

(defun frame-call (frame)
  "Return FRAME as a list: the function's name and its arguments."
  (cons (frame-name frame)
        (handler-case (frame-arguments frame)
          (error () '()))))

(defparameter *signalling*
  '("ERROR" "CERROR" "SIGNAL" "BREAK" "%BREAK" "WARN" "INVOKE-DEBUGGER" "RUN-HOOK" "EVAL"
    "SIMPLE-EVAL-IN-LEXENV" "%SIMPLE-EVAL" "SIMPLE-EVAL-PROGN-BODY"
    "WITH-SIMPLE-CONDITION-RESTARTS")
  "Functions of the system between user code and the agent.")

(defun name-symbols (name)
  "Return the symbols in NAME, which may be a list such as (FLET X :IN Y)."
  (cond ((consp name) (append (name-symbols (car name)) (name-symbols (cdr name))))
        ((and name (symbolp name)) (list name))))

(defun named-p (name names)
  "True when a symbol of the system in NAME is called one of NAMES."
  (loop for symbol in (name-symbols name)
        for package = (symbol-package symbol)
          thereis (and package
                       (member (symbol-name symbol) names :test #'string=)
                       (or (eq package (find-package "COMMON-LISP"))
                           (eql 0 (search "SB-" (package-name package)))))))

(defun ours-p (name)
  "True when NAME is of a function of the agent."
  (some (lambda (symbol) (eq (symbol-package symbol) #.*package*)) (name-symbols name)))

(defun machinery-p (name)
  "True when NAME belongs to the part of the system that signals and evaluates, which
tells a reader nothing about their program."
  (or (stringp name) (ours-p name) (named-p name *signalling*)))

(defparameter *entries*
  '("INVOKE-INTERRUPTION" "RUN-HANDLER" "INTERNAL-ERROR" "CONTROL-STACK-EXHAUSTED-ERROR"
    "HEAP-EXHAUSTED-ERROR" "CALL-HOOKS")
  "Functions through which a signal, a trap or the collector enters Lisp.")

(defun entry-p (name)
  "True when the frames above one of NAME are the system's or the agent's."
  (or (named-p name *entries*)
      (member 'capture (name-symbols name))))

(defun form-p (name)
  "True when NAME is how SBCL names the function that it makes of a form to evaluate."
  (equal name '(lambda ())))

(defun loader-p (name)
  "True when NAME is of the compiler or the loader, as all that is between the agent and a
top-level form of a file, or begins a thread."
  (let ((symbols (set-difference (name-symbols name) '(flet labels lambda :in))))
    (or (null symbols)
        (named-p name '("LOAD" "COMPILE-FILE" "CALL-WITH-LOAD-BINDINGS" "LOAD-AS-SOURCE" "EVAL-TLF"
                            "SUB-COMPILE-FILE" "CALL-WITH-LOADER-PACKAGE-NAMES"))
        (every (lambda (symbol)
                 (member (package-name (symbol-package symbol)) '("SB-C" "SB-FASL" "SB-THREAD" "SB-UNIX")
                         :test #'string=))
               symbols))))

(defun without-machinery (frames &key loader)
  "Return FRAMES from the first that is of user code; with LOADER, those of the compiler and
the loader count as machinery too."
  (member-if-not (lambda (frame)
                   (let ((name (frame-name frame)))
                     (or (machinery-p name) (form-p name) (and loader (loader-p name)))))
                 frames))

(defun below-entry (frames)
  "Return FRAMES without those above the oldest entry of a signal, a trap or the collector,
nor the foreign ones through which it came, which can be a few frames down."
  (let* ((entry (position-if (lambda (frame) (entry-p (frame-name frame))) frames :from-end t))
         (below (if entry (nthcdr (1+ entry) frames) frames))
         (foreign (and entry
                       (position-if (lambda (frame) (stringp (frame-name frame)))
                                    below :end (min 6 (length below)) :from-end t))))
    (if foreign (nthcdr (1+ foreign) below) below)))

(defun below-wait (frames)
  "Return FRAMES without those in which LIVE-LISP:CALL-TOOL waits for its answer."
  (let ((wait (position 'wait-for-tool frames :key #'frame-name)))
    (if wait (nthcdr (1+ wait) frames) frames)))

(defun user-frames ()
  "Return the frames of this thread from the newest down to where the agent called
user code, without the machinery at both ends."
  (let ((frames (loop for frame = (sb-di:top-frame) then (sb-di:frame-down frame)
                      for depth from 0 below 2000
                      while (and frame (not (eq (frame-name frame) 'call-user-code)))
                      unless (eq (frame-name frame) 'expand-remembering) collect frame)))
    (reverse (without-machinery (reverse (without-machinery (below-wait (below-entry frames)))) :loader t))))

(defun calls-on-stack ()
  "Return the newest calls of user code on the stack as lists, at most *FRAME-LIMIT*."
  (handler-case
      (loop for frame in (user-frames)
            repeat *frame-limit*
            collect (frame-call frame))
    (error () '())))

(defun frames-data (&optional (calls (calls-on-stack)))
  "Return CALLS, from CALLS-ON-STACK, as strings."
  (printing-plainly
    (loop for call in calls collect (print-safely 240 call))))

(defun names-data ()
  "Return the same as FRAMES-DATA without the arguments, whose print methods can never end."
  (frames-data (loop for (name) in (calls-on-stack) collect (list name))))

(defvar *end-call* nil "The agent's own restart, below every restart of user code.")

(defun restarts-data (condition)
  "Return the restarts that were active when CONDITION was signalled, without the
agent's own."
  (loop for restart in (compute-restarts condition)
        until (eq restart *end-call*)
        repeat 20
        collect (object "name" (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
                        "report" (print-safely 200 restart "~A"))))

(defun symbol-text (symbol)
  "Return SYMBOL as PACKAGE::NAME without bars, or #:NAME without a package."
  (let ((package (symbol-package symbol)))
    (if package
        (format nil "~A::~A" (package-name package) (symbol-name symbol))
        (format nil "#:~A" (symbol-name symbol)))))

(defun class-text (class)
  "Return the name of CLASS, with its package; of one without a name, what it is."
  (let ((name (class-name class)))
    (if (and name (symbolp name))
        (symbol-text name)
        (format nil "#<unnamed ~A>" (symbol-text (class-name (class-of class)))))))

(defun on-one-line (text)
  "Return TEXT with each line break and the space around it replaced by one space."
  (with-output-to-string (out)
    (loop with gap = nil
          for char across text
          do (cond ((not (find char '(#\Space #\Newline #\Tab)))
                    (when gap (write-char #\Space out))
                    (setf gap nil)
                    (write-char char out))
                   (t (setf gap t))))))

(sb-ext:defglobal **pretty-printers** (copy-pprint-dispatch nil)
  "The pretty printers of a fresh SBCL: those of the session can fail or never end.")

(defun report-text (limit condition)
  "Return what CONDITION reports in at most LIMIT characters, without references to
manuals: on one line where only the pretty printer broke it into several."
  (let ((*package* (usable-package *package*))
        (*print-length* 50) (*print-level* 10) (*print-circle* nil) (*print-readably* nil)
        (*print-case* :upcase) (*print-base* 10) (*print-radix* nil) (*print-array* t)
        (*print-gensym* t) (*print-lines* nil) (*print-right-margin* nil)
        (*print-pprint-dispatch* **pretty-printers**)
        (references (internal-symbol "SB-INT" "*PRINT-CONDITION-REFERENCES*")))
    (flet ((report (pretty)
             (let ((*print-pretty* pretty))
               (progv (and references (list references)) '(nil)
                 (print-safely limit condition "~A")))))
      (let ((plain (report nil)))
        (if (find #\Newline plain) plain (on-one-line (report t)))))))

(defun condition-data (condition &optional (calls (calls-on-stack)))
  "Return CONDITION, signalled below CALLS, as a JSON object: type, text, restarts, frames."
  (let ((type (type-of condition)))
    (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
            "text" (report-text 4000 condition)
            "restarts" (restarts-data condition)
            "frames" (frames-data calls))))
