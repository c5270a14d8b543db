;;;; Passes requests to the thread that holds an error, and makes that thread continue.
;;;;
;;;; A request reserves the HELD structure of the error (held.lisp) by CLAIM-HELD, and gives it a
;;;; function by COMMAND-HELD, which the stopped thread calls. LOOK-IN-THREAD runs a request as a
;;;; job of its own in that thread. GO-ON-IN-THREAD gives the request the next answer of the job
;;;; that the error has stopped, and GO-ON then takes a restart, leaves a frame, makes the call of a
;;;; frame again, or ends the job. For a thread of the program, which has no job, MAKE-FOLLOWER
;;;; makes one that only reports.

(in-package "LIVE-LISP.DEBUG")

(define-shape debug-value ()
  "What is known of a held error and its frames, or the reason why a request about them failed."
  (gone boolean :optional "True when the error is not held, or no longer.")
  (busy boolean :optional "True when another call uses the error.")
  (held-by string :optional
   "The server that holds the error, when that is another server of the same image.")
  (why string :optional "Why the error is not held, or why the frame cannot be run again.")
  (held (list integer) :optional "Numbers of the errors that are held.")
  (no-frame integer :optional "The requested frame, when it does not exist.")
  (frames integer :optional "How many frames can be shown.")
  (no-restart string :optional "The requested restart, when it does not exist.")
  (restarts (list string) :optional "Names of the restarts that exist.")
  (no-form boolean :optional "True when there is no form to evaluate again.")
  (frame integer :optional "Number of the frame that the request is about.")
  (again boolean :optional "True when this frame can be run again.")
  (nearest integer :optional "Number of the nearest frame that can be run again.")
  (form boolean :optional "True when the evaluated form can be evaluated again.")
  (call frame :optional) (locals (list local) :optional) (package string :optional)
  (restart string :optional "Name of a restart that was called with too few arguments.")
  (takes string :optional
   "Lambda list of `restart`, the restart that was called with too few arguments.")
  (returned string :optional
   "Name of a restart whose function returned, although restarts should make a non-local exit.")
  (goes-on boolean :optional
   "True when the thread that had the error, a thread of the program, now continues."))

(defun look-in-thread (id name function arguments)
  "Begin request ID of the operation NAME: call FUNCTION in the thread that is stopped at a held
error. ARGUMENTS, a hash table, has the number of the error. FUNCTION returns a plist for the
answer."
  (begin-for-held id name arguments
                  (lambda (held)
                    (let ((job (make-job id name)))
                      (setf (job-thread job) (held-thread held)
                            (job-leaving job) (left-by held)
                            (gethash id **jobs**) job
                            (held-guest held) job
                            (held-user held) job)
                      (command-held held (lambda ()
                                           (call-without-handlers (lambda ()
                                                                    (run-job job function)))))))))

(defun left-by (held)
  "Return a function for the slot LEAVING of a job that runs a form in the thread stopped at the
held error HELD. The function takes this job. It is called when the form has ended the stop by a
non-local exit, for example by invoking a restart. It gives the request of this job the next answer
of the job that HELD had stopped. If HELD is in a thread of the program, there is no such job: then
it answers that the thread continues."
  (lambda (guest)
    (setf (held-end held) "a form evaluated in its thread left it by a non-local exit")
    (if (null (held-job held))
        (answer guest (list "value" (object "goesOn" t)))
        (let* ((output (job-output guest)) (follow (shiftf (capture-followed output) nil)))
          (setf (job-answered guest) t
                (capture-successor output) (session-background (job-session guest))
                (job-notes (take-over-job held (job-id guest) follow)) (list "left" t))))))

;;; Continuing from a held error, at which a thread is stopped for debugging

(defun go-on-in-thread (id name function arguments)
  "Begin request ID of the operation NAME: make a thread continue that is stopped at a held error.
ARGUMENTS, a hash table, has the number of the error, and says how to continue, as for GO-ON.
FUNCTION, the body of the operation, does nothing and is not called."
  (declare (ignore function))
  (begin-for-held id name arguments
                  (lambda (held)
                    (let ((job (if (held-job held)
                                   (take-over-job held id (gethash "follow" arguments))
                                   (make-follower held id name))))
                      (setf (held-user held) job)
                      (command-held held (lambda () (go-on held job arguments)))))))

(defun take-over-job (held id follow)
  "Give the job that the held error HELD has stopped to request ID, so that this request gets the
job's next answer. The job's own request was answered already. If FOLLOW is true, the server takes
the output of the job in parts. Return the job."
  (let ((job (held-job held)))
    (captured (job-output job) :reset t)
    (when follow (follow (job-output job)))
    (setf (capture-successor (job-output job)) nil
          (job-throws job) 0
          (job-frames job) nil
          (job-unheld job) nil
          (job-notes job) '()
          (job-answered job) nil)
    (renumber-job job id)
    job))

(defun make-follower (held id name)
  "Return a job for request ID of the operation NAME that runs nothing. It only reports how the
thread of the held error HELD, a thread of the program, continues."
  (let ((job (make-job id name)))
    (setf (job-thread job) (held-thread held)
          (job-follows job) t
          (gethash id **jobs**) job
          (held-guest held) job)
    job))

(defun go-on (held job arguments)
  "Make the thread of the held error HELD continue in the way that ARGUMENTS, a hash table from a
request, describes. JOB is the job of the request. This function returns only if that fails. Then
JOB was answered with the reason."
  (let ((*hold-seconds* (held-seconds held)) (sb-ext:*invoke-debugger-hook* #'debugger-hook)
        (*held* nil)
        (*break-on-signals* *program-breaks*)
        (number (gethash "frame" arguments)))
    (cond ((gethash "end" arguments) (end-held held job))
          ((gethash "restart" arguments)
           (invoke-held-restart held job (gethash "restart" arguments)))
          ((gethash "retry" arguments) (retry-held held job number))
          (t (return-from-held held job number)))))

(defun end-held (held job)
  "Stop holding the held error HELD, as JOB requests, and abort the call that it has stopped. But if
it is in a thread of the program, or if handlers of the program have not run yet, just continue."
  (setf (held-end held) "it was ended")
  (cond ((or (job-follows job) (held-signalled held))
         (follow-no-more job)
         (throw held nil))
        (t (throw job (list "aborted" t)))))

(defun follow-no-more (job)
  "If JOB only reports how a thread of the program continues, answer its request: the thread has
continued."
  (when (job-follows job)
    (answer job (list "value" (object "goesOn" t)))
    (end-job job)))

(defun refuse (held job &rest members)
  "Answer the request of JOB with a JSON object of the plist MEMBERS, which says why the thread of
the held error HELD does not continue as requested. The error stays held."
  (answer job (list "value" (make-json-object members)))
  (if (job-follows job) (end-job job) (park held job)))

;;; Continuing by a restart

(defun invoke-held-restart (held job name)
  "Continue from the held error HELD, as JOB requests, by invoking the restart that the text NAME
means. Its arguments are the values that were evaluated for this, if any."
  (destructuring-bind (&optional restart found report) (named-restart held name)
    (declare (ignore report))
    (let ((values (mapcar #'first (shiftf (held-values held) '()))))
      (cond ((null restart)
             (refuse held job "noRestart" name "restarts" (mapcar #'second (held-restarts held))))
            ((< (length values) (restart-required-count restart))
             (refuse held job "restart" found "takes" (restart-parameters restart)))
            (t
             (setf (held-end held) (format nil "it went on by its restart ~A" found))
             (follow-no-more job)
             ;; To rebuild a lost image, the server invokes recorded restarts by name and
             ;; without values.
             (unless values (note-restart restart))
             (apply #'invoke-restart restart values)
             ;; INVOKE-RESTART has returned: the restart function did not transfer control.
             (setf (held-end held) nil)
             (unless (job-follows job) (refuse held job "returned" found)))))))

(defun named-restart (held name)
  "Return a list of a restart of the held error HELD and its name, or NIL. The text NAME is the
number of a restart that an answer has shown, or the name of any restart."
  (let ((number (ignore-errors (parse-integer name))))
    (if number
        (and (<= 0 number) (nth number (held-restarts held)))
        (or (find name (held-restarts held) :key #'second :test #'string-equal)
            (loop for restart in (held-offered held)
                  when (string-equal name (restart-name restart))
                    return (list restart (string (restart-name restart))))))))

;;; Continuing from a frame

(defun retry-held (held job number)
  "As JOB requests, make the call of frame NUMBER of the held error HELD again. If NUMBER is NIL,
evaluate the current form again."
  (let ((frame (frame-numbered held number)))
    (cond ((and (null number) (form-again-p job))
           (setf (held-end held) "its form was evaluated again")
           (evaluate-again))
          ((null number) (refuse held job "noForm" t "nearest" (nearest-frame held 0)))
          ((null frame) (refuse held job "noFrame" number "frames" (length (held-frames held))))
          (t (multiple-value-bind (function why) (frame-call-again frame)
               (if
                function
                (leave-held-frame held job number function "was run again")
                (refuse held job "frame" number "why" why "nearest" (nearest-frame held (1+ number))
                        "form" (form-again-p job))))))))

(defun return-from-held (held job number)
  "As JOB requests, make frame NUMBER of the held error HELD return the values that were evaluated
for this. If NUMBER is NIL, use the newest frame that belongs to the program."
  (let* ((number (or number (position (default-frame held) (held-frames held))))
         (frame (frame-numbered held number))
         (values (first (shiftf (held-values held) '()))))
    (cond ((null frame) (refuse held job "noFrame" number "frames" (length (held-frames held))))
          ((why-not-left frame)
           (refuse held job "frame" number "why" (why-not-left frame)
                       "nearest"
                   (position-if-not #'why-not-left (held-frames held) :start (1+ number))))
          (t (leave-held-frame held job number (lambda () (values-list values)) "returned")))))

(defun leave-held-frame (held job number function how)
  "As JOB requests, unwind the stack to frame NUMBER of the held error HELD, and make this frame
return the values of FUNCTION. The text HOW completes the sentence \"its frame NUMBER ...\" for
later answers."
  (setf (held-end held) (format nil "its frame ~D ~A" number how))
  (leave-frame (frame-numbered held number) (following job function)))

(defun following (job function)
  "Return FUNCTION. But if JOB only reports how a thread of the program continues, return a function
that calls FUNCTION and also answers the request of JOB with its values."
  (if (job-follows job)
      (lambda ()
        (let ((values '()) (*follower* job))
          (unwind-protect (progn (setf values (multiple-value-list (funcall function)))
                                 (let ((*value-budget* 10000))
                                   (answer job (list "values" (list (printed-values values))))))
            (follow-no-more job))
          (values-list values)))
      function))

(defun form-again-p (job)
  "Return true if JOB is evaluating forms, so that the current form can be evaluated again."
  (and (string= (job-operation job) "evaluate") (not (job-follows job))))

(defun frame-numbered (held number)
  "Return the frame of the held error HELD that answers show with NUMBER, or NIL."
  (and (integerp number) (<= 0 number) (nth number (held-frames held))))

(defun default-frame (held)
  "Return the newest frame of the held error HELD that belongs to the program. If there is none,
return the newest frame."
  (or (find-if-not #'system-frame-p (held-frames held)) (first (held-frames held))))

(defun nearest-frame (held number)
  "Return the number of the first frame of the held error HELD, from frame NUMBER on, whose call can
be made again. Return NIL if there is none."
  (loop for frame in (nthcdr number (held-frames held))
        for index from number
        when (frame-call-again frame) return index))

;;; Reserving a held error, and giving its thread a command

(defun begin-for-held (id name arguments begin)
  "Begin request ID of the operation NAME. ARGUMENTS, a hash table, has the number of a held error,
at which a thread is stopped. Reserve this error, and call the function BEGIN with its HELD
structure. If the error is not held, or if another request is using it, answer the request with
that."
  (let* ((number (gethash "error" arguments)) (held (held-numbered number)))
    (if (and held (claim-held held))
        (funcall begin held)
        (start-job id name (lambda () (list "value" (why-not-there number)))))))

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

(defun why-not-there (number)
  "Return a JSON object that says that another request is using the held error NUMBER, that another
server holds it, or why no error with this number is held."
  (let* ((held (held-numbered number))
         (foreign (and (null held) (find (number-shown-as number) **held** :key #'held-number))))
    (object (if held "busy" "gone") t
            "heldBy" (and foreign (holder-text foreign))
            "why" (and (null held) (null foreign) (why-ended number))
            "held" (newest-numbers))))

;;; The end of the session

(defun release-held ()
  "Have the threads of the program go on that this session holds. Its calls are ended otherwise."
  (dolist (held (own-held))
    (unless (held-job held)
      ;; If a request still uses the error, its thread goes on after that.
      (setf (held-seconds held) 0)
      (when (claim-held held)
        (command-held held (lambda ()
                             (setf (held-end held) "its server has gone")
                             (throw held nil)))))))

(pushnew 'release-held **at-session-end**)
