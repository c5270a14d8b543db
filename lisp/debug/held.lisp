;;;; Held errors. A held error is one whose thread is stopped, so that the tool debug can look at
;;;; it. The thread waits with all its frames, and runs the requests about the error. A request that
;;;; only inspects runs as a job of its own in that thread. A request to continue gets the next
;;;; answer of the job that the error has stopped.

(in-package "LIVE-LISP.DEBUG")

(defparameter *held-limit* 10 "The maximum number of errors held at the same time.")
(defparameter *ended-limit* 50
  "The maximum number of errors in **ENDED**.")

(defstruct (held (:constructor make-held (number condition seconds job)))
  "An error that is held: THREAD is stopped where CONDITION was signalled.
NUMBER: a number that no other error of this image has.
CONDITION: the error, held in THREAD until no request has used it for SECONDS.
JOB: the job that the error has stopped, or NIL in a thread of the program.
SESSION: the session that holds the error. Requests of other sessions do not reach it.
STACK: a list of the frames of the thread.
OFFERED: a list of all restarts. RESTARTS: a list of those that answers show.
LOCKS: a list of the names of the locks that the thread holds.
SIGNALLED: true if handlers of the program have not run yet.
TIMED: true if the call is inside TIME.
VALUES: a list of lists of values that were evaluated for continuing.
COMMAND: what the thread does next. It is :STARTING before the thread first waits, NIL while the
thread waits, :CLAIMED once a request has reserved the thread, then the function that this request
has given, and :OVER at the end. A request that has given a function signals the semaphore GATE.
GUEST: the job of COMMAND until COMMAND begins.
USER: the job that uses the error, or was the last to do so.
END: a text that says how the holding has ended."
  number condition seconds job (guest nil) (user nil)
  (session *session*)
  (thread sb-thread:*current-thread*)
  (gate (sb-thread:make-semaphore :name "live-lisp held"))
  (command :starting)
  (signalled nil) (timed nil)
  (stack '()) (offered '()) (restarts '()) (locks '()) (values '()) (end nil))

(sb-ext:defglobal **held** '() "A list of HELD structures for the errors that are held, newest
first.")
(sb-ext:defglobal **held-count** 0 "The number of the last error that was held.")
(sb-ext:defglobal **ended** '()
  "A list of (NUMBER SESSION REASON) lists for the errors no longer held, newest first: the number
of the error, the number of its session, and a text.")
(sb-ext:defglobal **held-lock** (sb-thread:make-mutex :name "live-lisp held errors")
  "A lock that a thread holds while it changes **HELD**, **HELD-COUNT** or **ENDED**.")

(defvar *held* nil "The HELD structure of the error whose commands this thread runs, or NIL.")

(defun own-held ()
  "Return a list of the HELD structures of the errors that this session holds, newest first."
  (remove *session* **held** :key #'held-session :test-not #'eq))

(defun held-numbered (number)
  "Return the HELD structure of the error with NUMBER, as answers of this session show it, or NIL."
  (find (number-shown-as number) (own-held) :key #'held-number))

(defun shown-held-number (held)
  "Return the number by which answers of this session mean the held error HELD."
  (shown-number (held-number held)))

(defun newest-numbers ()
  "Return a sorted list of the numbers of the errors that this session holds."
  (sort (mapcar #'shown-held-number (own-held)) #'<))

(defun note-held (condition seconds job)
  "Add a new HELD structure for CONDITION, SECONDS and JOB to **HELD**, and return it. Return NIL if
this session holds *HELD-LIMIT* errors already, or has ended."
  (sb-thread:with-mutex (**held-lock**)
    (when (and (< (length (own-held)) *held-limit*) (not (session-ended *session*)))
      (let ((held (make-held (setf **held-count** (1+ (max **held-count** **held-above**)))
                             condition seconds job)))
        (push held **held**)
        held))))

(defun forget-held (held)
  "Remove HELD, a HELD structure, from **HELD**, and record the reason in **ENDED**."
  (setf (held-command held) :over)
  (when (held-guest held) (end-job (held-guest held)))
  (sb-thread:with-mutex (**held-lock**)
    (setf **held** (remove held **held**)
          **ended** (page (cons (list (held-number held) (session-number (held-session held))
                                      (or (held-end held) "its thread was ended, or left it"))
                                **ended**)
                          0 *ended-limit*))))

(defun why-ended (number)
  "Return text with the reason why the error with NUMBER, as answers show it, is not held any more,
or that there was none."
  (destructuring-bind (&optional found session why) (assoc (number-shown-as number) **ended**)
    (cond ((null found) "there was no error with that number")
          ((eql session (session-number *session*)) why)
          (t "another server of this image held it"))))

(defun holder-text (held)
  "Return a text that names the server whose call is stopped at HELD, a held error."
  (or (session-server (held-session held)) "a process whose number is not known"))

;;; Showing a held error, at which a thread is stopped, in an answer

(defun slots-data (condition)
  "Return a list of JSON objects for the slots of CONDITION. For a condition class of the system,
return NIL, since its report shows the slots."
  (unless (system-class-p condition)
    (loop for (name . value) in (ignore-errors (inner-slots condition))
          repeat 10
          collect (object "name" (symbol-name name) "value" (local-text value)
                          "id" (object-id value)))))

(defun parameter-text (parameter)
  "Return PARAMETER, an element of a restart function's lambda list, as text. RESTART-CASE makes
some parameters with meaningless names. For these, return \"value\"."
  (let* ((symbol (if (consp parameter) (first parameter) parameter))
         (package (and (symbolp symbol) (symbol-package symbol))))
    (cond ((member symbol lambda-list-keywords) (string-downcase symbol))
          ((or (null package) (sb-ext:package-locked-p package)) "value")
          (t (string-downcase (symbol-name symbol))))))

(defun restart-parameters (restart)
  "Return the lambda list of the function of RESTART as text. Return NIL if it is empty or unknown."
  (let ((parameters (ignore-errors (plain-lambda-list (restart-function restart)))))
    (and (listp parameters)
         (remove '&optional parameters)
         (format nil "~{~A~^ ~}" (mapcar #'parameter-text parameters)))))

(defun held-frames (held)
  "Return a list of the frames of the held error HELD that have numbers in answers, newest first.
Frames that answers fold together have none."
  (remove-if #'folded-p (held-stack held)))

(defun held-data (held)
  "Return a JSON object with the parts of HELD, a HELD structure, that answers show besides its
condition."
  (object "error" (shown-held-number held)
          "seconds" (held-seconds held)
          "thread" (and (null (held-job held)) (short-thread-name (held-thread held)))
          "signalled" (held-signalled held)
          "timed" (held-timed held)
          "slots" (slots-data (held-condition held))
          "frames" (length (held-frames held))
          "takes" (loop for (restart) in (held-restarts held)
                        collect (or (restart-parameters restart) ""))
          "locks" (held-locks held)))

(defun offered-restarts (held)
  "Return a list of the restarts for the condition of the held error HELD. If SBCL has entered the
debugger because of *BREAK-ON-SIGNALS*, leave out the restarts that it offers for this break."
  (let* ((restarts (active-restarts (held-condition held)))
         (last (and (held-signalled held)
                    (position-if (lambda (restart)
                                   (member (string (restart-name restart)) '("RESET" "REASSIGN")
                                           :test #'string=))
                                 restarts :end (min 4 (length restarts)) :from-end t))))
    (if last (nthcdr (1+ last) restarts) restarts)))

(defun note-stack (held)
  "Record in the held error HELD the frames, restarts and locks of this thread."
  (setf (held-stack held) (folded-user-frames)
        (held-offered held) (offered-restarts held)
        (held-restarts held) (values (shown-restarts (held-offered held)))
        (held-locks held) (own-locks)
        (held-timed held) (and (find 'sb-ext:call-with-timing (user-frames) :key #'frame-name) t)))

(defun why-not-noted (held)
  "Call NOTE-STACK with HELD, a HELD structure. Return NIL, or text with the reason of a failure. No
error may leave this function: SBCL is in its debugger here, and would ask at the terminal what to
do."
  (handler-case (progn (note-stack held) nil)
    (error (failure) (format nil "its frames cannot be listed: ~A" (report-text 200 failure)))))

(defun printed-values (values)
  "Return JSON data for the list VALUES, as answers show the values of one form."
  (let ((data (printing-values (values-data values))))
    (if (eq data :empty) #() data)))

;;; Commands: a request reserves the thread by CLAIM-HELD and gives it a function by COMMAND-HELD.
;;; The thread waits in NEXT-COMMAND and calls the function in SERVE.

(defun call-without-handlers (function)
  "Call FUNCTION without the handlers of the program, which must not handle errors in FUNCTION."
  (if +handlers+
      (progv (list +handlers+) (list first-handlers)
        (funcall function))
      (funcall function)))

(defun claim-held (held)
  "If the thread of HELD, a HELD structure, is waiting for a command, reserve HELD for the caller
and return true. Else return NIL. A thread that has just answered needs a moment until it waits
again, so wait for it at most about half a second."
  (loop repeat 500
        while (or (eq (held-command held) :starting)
                  (and (held-command held) (held-user held) (job-answered (held-user held))))
        do (sleep 0.001))
  (null (sb-ext:compare-and-swap (held-command held) nil :claimed)))

(defun command-held (held command)
  "Make the thread of the held error HELD call COMMAND, a function of no arguments. CLAIM-HELD must
have reserved HELD for the caller."
  (setf (held-command held) command)
  (sb-thread:signal-semaphore (held-gate held)))

(defun next-command (held)
  "Wait until a request gives the held error HELD a command, and return the command. Return NIL if
none comes within HELD-SECONDS."
  (setf (held-command held) nil)
  (if (sb-thread:wait-on-semaphore (held-gate held) :timeout (held-seconds held))
      (held-command held)
      (unless (null (sb-ext:compare-and-swap (held-command held) nil :over))
        ;; A request has just reserved HELD, and will signal the semaphore at once.
        (sb-thread:wait-on-semaphore (held-gate held))
        (held-command held))))

(defun serve (held)
  "Run the commands for the held error HELD in its thread until none comes for HELD-SECONDS. A
command that makes the program continue does not return."
  (let ((*held* held) (*hold-seconds* nil))
    (loop for command = (next-command held)
          while command
          do (setf (held-guest held) nil)
             (funcall command))))

(defun why-not-held (condition)
  "Return text with the reason why CONDITION cannot be held in this thread now, or NIL."
  (cond ((or (typep condition 'storage-condition) (not (room-on-stack-p)))
         "the stack or the heap has no room left for that")
        ((or (not sb-sys:*interrupts-enabled*) collection-inhibited)
         "it was signalled where its thread cannot be interrupted")))

(defun too-many-text ()
  "Return a clause that says that no more errors can be held, and which ones are held."
  (format nil "~D errors are held already: ~{~D~^, ~}" *held-limit* (newest-numbers)))

(defun held-calls (frames)
  "Return a list of calls for FRAMES, as from FRAME-CALLS. For a frame of the system, replace the
place by the plist (\"system\" T)."
  (loop for frame in frames
        for call in (frame-calls frames)
        collect (if (or (folded-p frame) (not (system-frame-p frame)))
                    call
                    (cons (car call) (list "system" t)))))

(defun held-members (held keeper)
  "Return a plist of answer members about HELD, a HELD structure: \"condition\", a JSON object for
the condition with its stack, and \"held\", the object from HELD-DATA. KEEPER is NIL or a function
that keeps the condition, as *ERROR-KEEPER* does."
  (multiple-value-bind (frames more) (first-frames (held-stack held))
    (list "condition" (let ((*offered-restarts* (held-offered held)))
                        (described (held-condition held) keeper t (held-calls frames) more))
          "held" (held-data held))))

(defun park (held job)
  "Give JOB, which is stopped at HELD and whose request was answered, an id that no request has: the
number of HELD with a minus sign. Under this id, it stays in the table of running jobs."
  (renumber-job job (- (held-number held))))

(defvar *follower* nil
  "The job that reports the values of a call that a thread of the program makes again, during this
call. Else NIL.")

(defun serve-for-thread (held)
  "Run the commands for the held error HELD in its thread, which is a thread of the program. Return
when a command ends HELD, or when none has come for HELD-SECONDS."
  (format (background-stream) "~&Error ~D is held in the thread ~A: ~A~%"
          (shown-held-number held) (current-thread-name)
          (class-text (class-of (held-condition held))))
  (when (and *follower* (not (job-answered *follower*)))
    (answer *follower* (held-members held nil)))
  (catch held
    (serve held)
    (setf (held-end held) "its time was over, so its thread went on by itself")))

(defun serve-for-job (held job)
  "Answer JOB that the held error HELD has stopped it, and run the commands for HELD. Return when a
command ends HELD. If none comes for HELD-SECONDS, abort the job."
  (let ((sb-ext:*invoke-debugger-hook* #'debugger-hook) (*held* held))
    (answer job (looking (job)
                  (append (held-members held (and (not (held-signalled held)) *error-keeper*))
                          (loop for function in *progress-functions* append (funcall function)))))
    (park held job)
    (catch held
      (serve held)
      (setf (held-end held) "its time was over, so its call was ended")
      (throw job (list "aborted" t)))))

(defun hold-condition (condition seconds job &optional signalled)
  "Hold CONDITION in this thread until no request has used it for SECONDS, then return NIL. If that
is impossible, return text with the reason. JOB is the job of this thread or NIL. SIGNALLED is true
if handlers of the program have not run yet."
  (or (why-not-held condition)
      (let ((held (note-held condition seconds job)))
        (if (null held)
            (too-many-text)
            (unwind-protect
                 (progn (setf (held-signalled held) signalled)
                        (or (why-not-noted held)
                            (progn (if job (serve-for-job held job) (serve-for-thread held)) nil)))
              (forget-held held))))))

(setf **hold-function** (lambda (condition job) (hold-condition condition *hold-seconds* job)))
