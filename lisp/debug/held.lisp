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

(defun held-in-session ()
  "Return a list of the HELD structures of the errors that this session holds, newest first."
  (remove *session* **held** :key #'held-session :test-not #'eq))

(defun held-numbered (number)
  "Return the HELD structure of the error with NUMBER, as answers of this session show it, or NIL."
  (find (number-shown-as number) (held-in-session) :key #'held-number))

(defun shown-held-number (held)
  "Return the number by which answers of this session mean the held error HELD."
  (shown-number (held-number held)))

(defun newest-numbers ()
  "Return a sorted list of the numbers of the errors that this session holds."
  (sort (mapcar #'shown-held-number (held-in-session)) #'<))

(defun note-held (condition seconds job)
  "Add a new HELD structure for CONDITION, SECONDS and JOB to **HELD**, and return it. Return NIL if
this session holds *HELD-LIMIT* errors already, or has ended."
  (sb-thread:with-mutex (**held-lock**)
    (when (and (< (length (held-in-session)) *held-limit*) (not (session-ended *session*)))
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

(defun held-frames (held)
  "Return a list of the frames of the held error HELD that have numbers in answers, newest first.
Frames that answers fold together have none."
  (remove-if #'folded-p (held-stack held)))

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
