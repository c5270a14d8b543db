;;;; Held errors. The thread of a held error waits with all its frames, and runs the requests about
;;;; the error. A request that only looks is a job of its own in that thread; a request to go on
;;;; gets the next answer of the held job.

(in-package "LIVE-LISP.DEBUG")

(defparameter *held-limit* 10 "At most this many errors are held at once.")
(defparameter *ended-limit* 50
  "How the holding of an error ended is kept for at most this many errors.")

(defstruct (held (:constructor make-held (number condition seconds job)))
  "The error NUMBER: CONDITION, held in THREAD for SECONDS after each use. JOB is the job that it
stopped, or NIL in a thread of the program. STACK are its frames, from TOLD-FRAMES. OFFERED are its
restarts, RESTARTS those that are shown, and LOCKS the names of locks that the thread holds. TIMED
is true when TIME measures the call. VALUES are lists of values that were evaluated to go on with.
COMMAND is the function that the thread calls once GATE is open, NIL while it waits, :STARTING
before it waits, and :OVER at the end. GUEST is the job of COMMAND, until COMMAND begins; USER is
the job that uses the error, or did last."
  number condition seconds job (guest nil) (user nil)
  (thread sb-thread:*current-thread*)
  (gate (sb-thread:make-semaphore :name "live-lisp held"))
  (command :starting)
  (signalled nil) (timed nil)
  (stack '()) (offered '()) (restarts '()) (locks '()) (values '()) (end nil))

(sb-ext:defglobal **held** '() "The errors that are held, newest first.")
(sb-ext:defglobal **held-count** 0 "The number of the error that was held last.")
(sb-ext:defglobal **ended** '()
  "The numbers of the last errors that were held, with what became of each, as text.")
(sb-ext:defglobal **held-lock** (sb-thread:make-mutex :name "live-lisp held errors")
  "Held while **HELD**, **HELD-COUNT** and **ENDED** change.")

(defvar *held* nil "The held error whose commands this thread runs, or NIL.")

(defun held-numbered (number)
  "Return the held error NUMBER, or NIL."
  (find number **held** :key #'held-number))

(defun newest-numbers ()
  "Return the sorted numbers of the errors that are held."
  (sort (mapcar #'held-number **held**) #'<))

(defun note-held (condition seconds job)
  "Make a HELD for CONDITION, SECONDS and JOB, add it to **HELD**, and return it. Return NIL when
*HELD-LIMIT* errors are held already."
  (sb-thread:with-mutex (**held-lock**)
    (when (< (length **held**) *held-limit*)
      (let ((held (make-held (setf **held-count** (1+ (max **held-count** **held-above**)))
                             condition seconds job)))
        (push held **held**)
        held))))

(defun forget-held (held)
  "Record that HELD is no longer held."
  (setf (held-command held) :over)
  (when (held-guest held) (end-job (held-guest held)))
  (sb-thread:with-mutex (**held-lock**)
    (setf **held** (remove held **held**)
          **ended** (page (acons (held-number held)
                                 (or (held-end held) "its thread was ended, or left it") **ended**)
                          0 *ended-limit*))))

;;; How an answer shows a held error

(defun slots-data (condition)
  "Return the slots of CONDITION as JSON objects; none for a condition of the system, whose report
shows them."
  (unless (system-class-p condition)
    (loop for (name . value) in (ignore-errors (inner-slots condition))
          repeat 10
          collect (object "name" (symbol-name name) "value" (local-text value)
                          "id" (object-id value)))))

(defun parameter-text (parameter)
  "Return PARAMETER of a lambda list as text. A name that RESTART-CASE made, which says nothing,
becomes \"value\"."
  (let* ((symbol (if (consp parameter) (first parameter) parameter))
         (package (and (symbolp symbol) (symbol-package symbol))))
    (cond ((member symbol lambda-list-keywords) (string-downcase symbol))
          ((or (null package) (sb-ext:package-locked-p package)) "value")
          (t (string-downcase (symbol-name symbol))))))

(defun restart-parameters (restart)
  "Return the lambda list of the function of RESTART as text, or NIL when it is empty or unknown."
  (let ((parameters (ignore-errors (plain-lambda-list (restart-function restart)))))
    (and (listp parameters)
         (remove '&optional parameters)
         (format nil "~{~A~^ ~}" (mapcar #'parameter-text parameters)))))

(defun held-frames (held)
  "Return the frames of HELD that have numbers in answers, the newest first: all but the folded
ones."
  (remove-if #'folded-p (held-stack held)))

(defun held-data (held)
  "Return what an answer says of HELD besides its condition, as a JSON object."
  (object "error" (held-number held)
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
  "Return the restarts for HELD. If a watch recorded the error, leave out the restarts of the break
by which SBCL stopped when the error was signalled."
  (let* ((restarts (active-restarts (held-condition held)))
         (last (and (held-signalled held)
                    (position-if (lambda (restart)
                                   (member (string (restart-name restart)) '("RESET" "REASSIGN")
                                           :test #'string=))
                                 restarts :end (min 4 (length restarts)) :from-end t))))
    (if last (nthcdr (1+ last) restarts) restarts)))

(defun note-stack (held)
  "Note in HELD what is on this thread's stack: frames, restarts, and locks."
  (setf (held-stack held) (told-frames)
        (held-offered held) (offered-restarts held)
        (held-restarts held) (values (told-restarts (held-offered held)))
        (held-locks held) (own-locks)
        (held-timed held) (and (find 'sb-ext:call-with-timing (user-frames) :key #'frame-name) t)))

(defun why-not-noted (held)
  "Call NOTE-STACK with HELD. Return NIL, or a text that says why that failed. An error must not
leave this function: SBCL is in its debugger here, and would ask at the terminal what to do."
  (handler-case (progn (note-stack held) nil)
    (error (failure) (format nil "its frames cannot be told: ~A" (report-text 200 failure)))))

(defun printed-values (values)
  "Return the list VALUES as an answer shows the values of one form."
  (let ((data (printing-values (values-data values))))
    (if (eq data :empty) #() data)))

;;; Waiting, and commands

(defun call-without-handlers (function)
  "Call FUNCTION without the handlers of the program: errors in FUNCTION do not concern them."
  (if +handlers+
      (progv (list +handlers+) (list first-handlers)
        (funcall function))
      (funcall function)))

(defun next-command (held)
  "Wait until a request gives HELD a command. Return the command, or NIL when none came in the
seconds of HELD."
  (if (sb-thread:wait-on-semaphore (held-gate held) :timeout (held-seconds held))
      (held-command held)
      (unless (null (sb-ext:compare-and-swap (held-command held) nil :over))
        ;; A request has just claimed HELD, and opens the gate at once.
        (sb-thread:wait-on-semaphore (held-gate held))
        (held-command held))))

(defun serve (held)
  "Run the commands for HELD, in its thread, until its time is over. A command that lets the program
continue never returns here."
  (let ((*held* held) (*hold* nil))
    (loop
      (setf (held-command held) nil)
      (let ((command (next-command held)))
        (when (null command) (return))
        (setf (held-guest held) nil)
        (funcall command)))))

(defun why-not-held (condition)
  "Return why CONDITION cannot be held here, or NIL."
  (cond ((or (typep condition 'storage-condition) (not (room-on-stack-p)))
         "there is no room to hold it")
        ((or (not sb-sys:*interrupts-enabled*) collection-inhibited)
         "it was signalled where its thread cannot be interrupted")))

(defun too-many-text ()
  "Return a clause of a sentence that says that no more errors can be held."
  (format nil "~D errors are held already: ~{~D~^, ~}" *held-limit* (newest-numbers)))

(defun held-calls (frames)
  "Return the calls of FRAMES as FRAME-CALLS does, but frames of the system with the member
\"system\" and no place."
  (loop for frame in frames
        for call in (frame-calls frames)
        collect (if (or (folded-p frame) (not (system-frame-p frame)))
                    call
                    (cons (car call) (list "system" t)))))

(defun held-members (held keeper)
  "Return a plist of JSON members about HELD. KEEPER, a value of *ERROR-KEEPER* or NIL, keeps its
condition."
  (multiple-value-bind (frames more) (first-frames (held-stack held))
    (list "condition" (let ((*offered* (held-offered held)))
                        (described (held-condition held) keeper t (held-calls frames) more))
          "held" (held-data held))))

(defun park (held job)
  "Give JOB, which HELD stopped and which was answered, an id that no request has: the negative
number of HELD. So it stays among the running jobs."
  (remhash (job-id job) **jobs**)
  (setf (job-id job) (- (held-number held))
        (gethash (job-id job) **jobs**) job))

(defvar *follower* nil
  "While a thread of the program runs a frame again, the job that reports the values of the frame;
else NIL.")

(defun serve-for-thread (held)
  "Run the commands for HELD in its thread, which is one of the program. Return when HELD is let go,
or its time is over."
  (format **background-stream** "~&Error ~D is held in the thread ~A: ~A~%"
          (held-number held) (current-thread-name) (class-text (class-of (held-condition held))))
  (when (and *follower* (not (job-answered *follower*)))
    (answer *follower* (held-members held nil)))
  (catch held
    (serve held)
    (setf (held-end held) "its time was over, so its thread went on without us")))

(defun serve-for-job (held job)
  "Answer JOB that HELD has stopped it, and run the commands for HELD. Return when HELD is let go;
the call ends when its time is over."
  (let ((sb-ext:*invoke-debugger-hook* #'debugger-hook) (*held* held))
    (answer job (looking (job)
                  (append (held-members held (and (not (held-signalled held)) *error-keeper*))
                          (loop for function in *so-far* append (funcall function)))))
    (park held job)
    (catch held
      (serve held)
      (setf (held-end held) "its time was over, so its call was ended")
      (throw job (list "aborted" t)))))

(defun hold-condition (condition seconds job &optional signalled)
  "Hold CONDITION in this thread until it is not used for SECONDS. JOB is the job that this thread
runs, or NIL in a thread of the program. SIGNALLED is true when handlers of the program have not run
yet. Return NIL once CONDITION was let go, or a text that says why it cannot be held."
  (or (why-not-held condition)
      (let ((held (note-held condition seconds job)))
        (if (null held)
            (too-many-text)
            (unwind-protect
                 (progn (setf (held-signalled held) signalled)
                        (or (why-not-noted held)
                            (progn (if job (serve-for-job held job) (serve-for-thread held)) nil)))
              (forget-held held))))))

(setf **holder** (lambda (condition job) (hold-condition condition *hold* job)))
