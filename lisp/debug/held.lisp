;;;; Held errors. The thread of a held error is stopped where the error was signalled, with all its
;;;; frames, and runs the requests of the tool debug about the error. A request that only inspects
;;;; runs as a separate job in that thread. A request to continue a call gets the next answer of the
;;;; job of that call, such as its result or a report of another held error.

(in-package "LIVE-LISP.DEBUG")

(defparameter *held-limit* 10
  "The largest number of errors that one session can hold at the same time.")

(defparameter *ended-limit* 50
  "The largest number of elements of **ENDED**.")

(defstruct (held (:constructor make-held (number condition seconds job signalled)))
  "An error that is held: THREAD is stopped where CONDITION was signalled.
NUMBER: a number that no other error of this image has. Answers show it as SHOWN-NUMBER converts it.
CONDITION: the error, held in THREAD until no request has used it for SECONDS.
JOB: the job that the error has stopped, or NIL in a thread of the program.
SESSION: the session that holds the error. Requests of other sessions cannot use it.
STACK: a list of the frames of the thread.
OFFERED: a list of all restarts. RESTARTS: a list of (RESTART NAME REPORT) lists, the restarts to
show in an answer.
LOCKS: a list of the names of the locks that the thread holds.
SIGNALLED: true if handlers of the program have not run yet.
TIMED: true if the error was signalled in a form that the macro TIME measures.
VALUES: a list of lists of values that debug-eval has kept. A restart is invoked with the first
value of each list, or a frame returns the first list.
COMMAND: the next command of the thread. It is :STARTING before the thread first waits, NIL while
the thread waits, :CLAIMED once a request has reserved the thread, then a function from this
request, and :OVER at the end.
GATE: a semaphore that a request signals after it has set COMMAND to a function.
GUEST: the job of COMMAND until COMMAND begins. If COMMAND never begins, FORGET-HELD ends this job.
USER: the job that uses the error, or was the last to use it.
END: a text with the reason why the error is no longer held, or NIL."
  number condition seconds job signalled (guest nil) (user nil)
  (session *session*)
  (thread sb-thread:*current-thread*)
  (gate (sb-thread:make-semaphore :name "live-lisp held"))
  (command :starting)
  (timed nil)
  (stack '()) (offered '()) (restarts '()) (locks '()) (values '()) (end nil))

(sb-ext:defglobal **held** '() "A list of HELD structures, newest first: the errors that are held.")

(sb-ext:defglobal **held-count** 0 "The number of the error that was held last.")

(sb-ext:defglobal **ended** '()
  "A list of (NUMBER SESSION REASON) lists, newest first, for the errors that are no longer held:
the number of the error, the number of its session, and a text.")

(sb-ext:defglobal **held-lock** (sb-thread:make-mutex :name "live-lisp held errors")
  "The mutex that a thread holds while it changes **HELD**, **HELD-COUNT** or **ENDED**.")

(defvar *held* nil
  "The HELD structure of the error at which this thread is stopped, while the thread runs the
commands of requests about this error. Otherwise NIL.")

(defun held-in-session ()
  "Return a list of the HELD structures of the errors that this session holds, newest first."
  (remove *session* **held** :key #'held-session :test-not #'eq))

(defun held-numbered (number)
  "Return the HELD structure of the error that has NUMBER in answers to this session, or NIL."
  (find (number-shown-as number) (held-in-session) :key #'held-number))

(defun shown-held-number (held)
  "Return the number of HELD, a HELD structure, in answers to this session."
  (shown-number (held-number held)))

(defun shown-held-numbers ()
  "Return a sorted list of the numbers of the errors that this session holds. They are the numbers
in answers."
  (sort (mapcar #'shown-held-number (held-in-session)) #'<))

(defun note-held (condition seconds job signalled)
  "Add a new HELD structure to **HELD** and return it. The arguments are values for its slots.
Return NIL if this session holds *HELD-LIMIT* errors already, or has ended."
  (sb-thread:with-mutex (**held-lock**)
    (when (and (< (length (held-in-session)) *held-limit*) (not (session-ended *session*)))
      ;; **HELD-ABOVE** is the highest number that an error had in an image that was lost.
      (let ((held (make-held (setf **held-count** (1+ (max **held-count** **held-above**)))
                             condition seconds job signalled)))
        (push held **held**)
        held))))

(defun forget-held (held)
  "Remove HELD, a HELD structure, from **HELD**, and add the reason to **ENDED**."
  (setf (held-command held) :over)
  (when (held-guest held) (end-job (held-guest held)))
  (sb-thread:with-mutex (**held-lock**)
    (setf **held** (remove held **held**)
          **ended** (page (cons (list (held-number held) (session-number (held-session held))
                                      (or (held-end held) "its thread was ended, or left it"))
                                **ended**)
                          0 *ended-limit*))))

(defun why-ended (number)
  "Return a text with the reason why the error that has NUMBER in answers is no longer held, or that
there was no such error."
  (destructuring-bind (&optional found session why) (assoc (number-shown-as number) **ended**)
    (cond ((null found) "there was no error with that number")
          ((eql session (session-number *session*)) why)
          (t "another server of this image held it"))))

(defun holder-text (held)
  "Return a text that names the server that holds HELD, a HELD structure."
  (or (session-server (held-session held)) "a process whose number is not known"))

(defun held-frames (held)
  "Return a list of the frames of HELD, a HELD structure, newest first. The index of a frame is its
number in answers. Leave out the FOLDED structures, which stand for frames that are not shown in
answers."
  (remove-if #'folded-p (held-stack held)))

;;; Commands: a request reserves the thread by CLAIM-HELD and gives it a function by COMMAND-HELD.
;;; The thread waits in NEXT-COMMAND and calls the function in SERVE.

(defun call-without-handlers (function)
  "Call FUNCTION without the handlers of the program, so that they do not handle errors in
FUNCTION."
  (if +handlers+ ; NIL in an SBCL without this variable.
      (progv (list +handlers+) (list first-handlers)
        (funcall function))
      (funcall function)))

(defun claim-held (held)
  "If the thread of HELD, a HELD structure, is waiting for a command, reserve HELD for the caller
and return true. Otherwise return NIL. A thread that has just answered a request soon waits again,
so try for about half a second."
  (flet ((about-to-wait-p ()
           (or (eq (held-command held) :starting)
               ;; A command whose request was answered is about to return.
               (and (held-command held) (held-user held) (job-answered (held-user held))))))
    (loop repeat 500
          while (about-to-wait-p)
          do (sleep 0.001)))
  (null (sb-ext:compare-and-swap (held-command held) nil :claimed)))

(defun command-held (held command)
  "Make the thread of HELD, a HELD structure, call COMMAND, a function without parameters. The
caller must have reserved HELD by CLAIM-HELD."
  (setf (held-command held) command)
  (sb-thread:signal-semaphore (held-gate held)))

(defun next-command (held)
  "Wait until a request gives a command to HELD, a HELD structure, and return the command. It is a
function without parameters. Return NIL if no command comes within HELD-SECONDS."
  (setf (held-command held) nil)
  (if (sb-thread:wait-on-semaphore (held-gate held) :timeout (held-seconds held))
      (held-command held)
      (let ((claimed (sb-ext:compare-and-swap (held-command held) nil :over)))
        (when claimed
          ;; A request has just reserved HELD, and will signal the semaphore at once.
          (sb-thread:wait-on-semaphore (held-gate held))
          (held-command held)))))

(defun serve (held)
  "Run the commands for HELD, a HELD structure, in its thread until none comes for HELD-SECONDS. A
command that makes the program continue does not return."
  ;; Drop the *HOLD-SECONDS* of the stopped call: CALL-IN-JOB and GO-ON bind it for a command.
  (let ((*held* held) (*hold-seconds* nil))
    (loop for command = (next-command held)
          while command
          do (setf (held-guest held) nil)
             (funcall command))))
