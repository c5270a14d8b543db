;;;; Holds an error. HOLD-CONDITION records the stack of the thread that has signalled the error. In
;;;; a job, it then answers the job's request. In a thread of the program, it prints a message
;;;; instead. Then the thread waits for requests about the error, and runs their commands
;;;; (held.lisp).

(in-package "LIVE-LISP.DEBUG")

(defvar *follower* nil
  "NIL or, while a thread of the program makes a call again because a request told it to leave a
held error in this way, the job of this request. Its answer is to report the values of the call.")

(defun hold-condition (condition seconds job &key signalled)
  "Hold CONDITION: stop this thread, and serve requests about it until none comes for SECONDS. Then
return NIL. A request can also end the wait by a non-local exit, such as a restart. If CONDITION
cannot be held, return a text with the reason. After a return, the caller lets CONDITION take its
usual course: handlers run, or the job or thread ends. JOB is the job of this thread or NIL.
SIGNALLED is true if CONDITION is held before handlers of the program run, for a watch
(watch.lisp)."
  (or (why-not-held condition)
      (let ((held (note-held condition seconds job signalled)))
        (if (null held)
            (too-many-text)
            (unwind-protect
                 (or (note-stack-or-why-not held)
                     (progn (if job (serve-for-job held job) (serve-for-thread held)) nil))
              (forget-held held))))))

(defun why-not-held (condition)
  "Return a text with the reason why CONDITION cannot be held in this thread now, or NIL."
  (cond ((or (typep condition 'storage-condition) (not (stack-space-p)))
         "the stack or the heap has no room left for that")
        ((or (not sb-sys:*interrupts-enabled*) collection-inhibited)
         "it was signalled where its thread cannot be interrupted")))

(defun too-many-text ()
  "Return a text which says that no more errors can be held, with the numbers of the errors that
this session holds."
  (format nil "~D errors are held already: ~{~D~^, ~}" *held-limit* (shown-held-numbers)))

;;; The frames, restarts and locks of the stopped thread

(defun note-stack-or-why-not (held)
  "Record the frames, restarts and locks of this thread in HELD, a HELD structure, by NOTE-STACK.
Return NIL or, if this fails, a text with the reason. Handle all errors: SBCL is in its debugger
here, and after an unhandled error it would wait for a command at the terminal."
  (handler-case (progn (note-stack held) nil)
    (error (failure) (format nil "its frames cannot be listed: ~A" (report-text 200 failure)))))

(defun note-stack (held)
  "Record in HELD, a HELD structure, the frames, restarts and locks of this thread."
  (let* ((stack (folded-user-frames))
         (offered (offered-restarts held)))
    (setf (held-stack held) stack
          (held-offered held) offered
          (held-restarts held) (shown-restarts offered)
          (held-locks held) (locks-of-thread)
          (held-timed held)
          (and (find 'sb-ext:call-with-timing (user-frames) :key #'frame-name) t))))

(defun offered-restarts (held)
  "Return a list of the restarts for the condition of HELD, a HELD structure. If SBCL has entered
the debugger because of *BREAK-ON-SIGNALS* (HELD-SIGNALLED), leave out the restarts of this break.
They come first, are at most four, and the last is called RESET or REASSIGN."
  (let* ((restarts (active-restarts (held-condition held)))
         (last (and (held-signalled held)
                    (position-if (lambda (restart)
                                   (member (string (restart-name restart)) '("RESET" "REASSIGN")
                                           :test #'string=))
                                 restarts :end (min 4 (length restarts)) :from-end t))))
    (if last (nthcdr (1+ last) restarts) restarts)))

;;; The first answer, and the commands that follow

(defun serve-for-job (held job)
  "Answer the request of JOB with HELD, a HELD structure for the error that has stopped it. Then run
the commands for HELD, until one of them throws to the tag HELD. If no command comes within the
HELD-SECONDS of HELD, abort the job by a throw to the tag JOB."
  ;; SBCL has bound *INVOKE-DEBUGGER-HOOK* to NIL. Bind it again for errors in the commands.
  (let ((sb-ext:*invoke-debugger-hook* #'debugger-hook) (*held* held))
    (answer job (looking (job)
                  ;; If the condition is held while it is being signalled, the program can still
                  ;; handle it. So do not keep such a condition as an error of the session.
                  (append (held-members held (and (not (held-signalled held)) *error-keeper*))
                          (loop for function in *progress-functions* append (funcall function)))))
    (park held job)
    (catch held
      (serve held)
      ;; SERVE returns only if no command has come for HELD-SECONDS.
      (setf (held-end held) "its time was over, so its call was ended")
      (throw job (list "aborted" t)))))

(defun park (held job)
  "JOB is stopped at the error HELD, a HELD structure, and its request was answered. The
request is over, so change the id of JOB to minus the number of HELD, which is the id of no request.
JOB stays in the table of running jobs under this id."
  (renumber-job job (- (held-number held))))

(defun serve-for-thread (held)
  "Run the commands for HELD, a HELD structure, in its thread, which is a thread of the program.
Return when a command ends HELD by a throw to HELD, or when no command has come for HELD-SECONDS."
  (format (background-stream) "~&Error ~D is held in the thread ~A: ~A~%"
          (shown-held-number held) (current-thread-name)
          (class-text (class-of (held-condition held))))
  (when (and *follower* (not (job-answered *follower*)))
    (answer *follower* (held-members held nil)))
  (catch held
    (serve held)
    (setf (held-end held) "its time was over, so its thread went on by itself")))

;;; The members of an answer about a held error

(defun held-members (held keeper)
  "Return a plist of JSON members about HELD, a HELD structure: \"condition\", a JSON object for the
condition with its stack, and \"held\", the object from HELD-DATA. KEEPER is NIL, or a function that
keeps the condition for later requests and has the parameters of *ERROR-KEEPER*."
  (multiple-value-bind (frames more) (first-frames (held-stack held))
    (list "condition" (let ((*offered-restarts* (held-offered held)))
                        (described (held-condition held) keeper t (held-calls frames) more))
          "held" (held-data held))))

(defun held-calls (frames)
  "Return the list that FRAME-CALLS returns for FRAMES, but with the plist (\"system\" T) as the
place of each frame of the system."
  (loop for frame in frames
        for call in (frame-calls frames)
        collect (if (or (folded-p frame) (not (system-frame-p frame)))
                    call
                    (cons (car call) (list "system" t)))))

(defun held-data (held)
  "Return a JSON object with the parts of HELD, a HELD structure, that an answer shows in
addition to its condition."
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

(defun slots-data (condition)
  "Return a list of JSON objects for the first ten slots of CONDITION. If the class of CONDITION
belongs to the system, return NIL, because the report of CONDITION shows the slots."
  (unless (system-class-p condition)
    (loop for (name . value) in (nil-if-program-fails (inner-slots condition))
          repeat 10
          collect (object "name" (symbol-name name) "value" (local-text value)
                          "id" (object-id value)))))

(defun restart-parameters (restart)
  "Return the lambda list of the function of RESTART as text. Return NIL if it has no parameters or
is unknown."
  (let ((parameters (restart-lambda-list restart)))
    (and (remove '&optional parameters)
         (format nil "~{~A~^ ~}" (mapcar #'parameter-text parameters)))))

(defun parameter-text (parameter)
  "Return PARAMETER, an element of the lambda list of a restart function, as text. If its name means
nothing to a user, as when RESTART-CASE has made the name, return \"value\"."
  (let ((symbol (if (consp parameter) (first parameter) parameter)))
    (cond ((member symbol lambda-list-keywords) (string-downcase symbol))
          ((or (not (symbolp symbol)) (null (symbol-package symbol)) (core-symbol-p symbol))
           "value")
          (t (string-downcase (symbol-name symbol))))))

(defun printed-values (values)
  "Return JSON data for VALUES, a list of the values of one form, as answers show them."
  (printing-values (values-data values)))

(setf **hold-function** (lambda (condition job) (hold-condition condition *hold-seconds* job)))
