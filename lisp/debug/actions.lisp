;;;; Passes requests to the thread that holds an error, and makes that thread continue.
;;;;
;;;; A request reserves the HELD structure of the error (held.lisp) with CLAIM-HELD. With
;;;; COMMAND-HELD it hands over a function that the stopped thread calls. LOOK-IN-THREAD runs a
;;;; request as a separate job in that thread.
;;;;
;;;; GO-ON-IN-THREAD makes the thread continue. If the error has stopped a job, the job gets the id
;;;; of the request, so that its next answer answers the request. If the error is in a thread of the
;;;; program, which has no job, MAKE-FOLLOWER makes a job that only reports how the thread goes on.
;;;; GO-ON then invokes a restart, leaves a frame, makes the call of a frame again, or ends the job.
;;;; A throw to a HELD structure is caught in holding.lisp: the error then takes its usual course. A
;;;; throw to a JOB structure ends the job, and the thrown members are its answer.
;;;;
;;;; LOOK-IN-THREAD and GO-ON-IN-THREAD run in the thread that receives the request. GO-ON and all
;;;; functions that it calls run in the stopped thread.

(in-package "LIVE-LISP.DEBUG")

(define-shape debug-value ()
  "Data about a held error and its frames, or the reason why a request about them failed."
  (gone boolean :optional "True when this session holds no error with the requested number.")
  (busy boolean :optional "True when another call uses the error.")
  (held-by string :optional
   "The server that holds the error, when that is another server of the same image.")
  (why string :optional
   "Why the error is not held, or why the call of the frame cannot be made again.")
  (held (list integer) :optional "Numbers of the errors that are held.")
  (no-frame integer :optional "Number of the requested frame, when it does not exist.")
  (frames integer :optional "How many frames can be shown.")
  (no-restart string :optional "The requested restart, when it does not exist.")
  (restarts (list string) :optional "Names of the restarts that exist.")
  (no-form boolean :optional "True when there is no form to evaluate again.")
  (frame integer :optional "Number of the frame that the request is about.")
  (again boolean :optional "True when the call of this frame can be made again.")
  (nearest integer :optional "Number of the nearest frame whose call can be made again.")
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
  "Begin the request with the id ID for the operation NAME: call FUNCTION in the thread that is
stopped at a held error. ARGUMENTS, a hash table, contains the number of the error. FUNCTION returns
a plist of JSON members."
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
  "Return a function for the slot LEAVING of a job that evaluates a form in the stopped thread of
HELD, a HELD structure. END-JOB calls the function with this job if a non-local exit has left the
form, so that the stopped code continues. If a call of the client runs that code, the next answer of
this call is also the answer to the request of the job. Otherwise a thread of the program runs it,
and the function answers that this thread continues."
  (lambda (guest)
    (setf (held-end held) "a form evaluated in its thread left it by a non-local exit")
    (if (null (held-job held))
        (answer guest (list "value" (object "goesOn" t)))
        (let* ((output (job-output guest)) (follow (shiftf (capture-followed output) nil)))
          ;; END-JOB must send no answer: the next answer of the call has the id of GUEST.
          (setf (job-answered guest) t)
          ;; What the thread still writes into the output of the job belongs to no call.
          (setf (capture-successor output) (session-background (job-session guest)))
          (setf (job-notes (take-over-job held (job-id guest) follow)) (list "left" t))))))

;;; Continuing from a held error, at which a thread is stopped for debugging

(defun go-on-in-thread (id name function arguments)
  "Begin the request with the id ID for the operation NAME, which lets a thread continue that is
stopped at a held error. ARGUMENTS, a hash table, contains the number of the error, and the way to
continue, for GO-ON. FUNCTION, the body of the operation, is not called."
  (declare (ignore function))
  (begin-for-held id name arguments
                  (lambda (held)
                    (let ((job (if (held-job held)
                                   (take-over-job held id (gethash "follow" arguments))
                                   (make-follower held id name))))
                      (setf (held-user held) job)
                      (command-held held (lambda () (go-on held job arguments)))))))

(defun take-over-job (held id follow)
  "Give the job that is stopped at HELD, a HELD structure, the id ID of a new request, so that this
request gets the next answer of the job. The first request of the job was answered already. If
FOLLOW is true, the server takes the output of the job in parts. Return the job."
  (let ((job (held-job held)))
    (captured (job-output job) :reset t) ; The answer that reported the error had this output.
    (when follow (follow (job-output job)))
    ;; From now on the output, interrupts and notes of JOB belong to the new request.
    (setf (capture-successor (job-output job)) nil
          (job-throws job) 0
          (job-frames job) nil
          (job-unheld job) nil
          (job-notes job) '()
          (job-answered job) nil)
    (renumber-job job id)
    job))

(defun make-follower (held id name)
  "Return a new job for the request with the id ID of the operation NAME. HELD is a HELD structure
for an error in a thread of the program, which has no job of its own. The new job runs nothing. It
only reports how that thread continues."
  (let ((job (make-job id name)))
    (setf (job-thread job) (held-thread held)
          (job-follows job) t
          (gethash id **jobs**) job
          (held-guest held) job)
    job))

(defun go-on (held job arguments)
  "Make the thread of HELD, a HELD structure, continue. ARGUMENTS, the hash table of a request,
contains the way to continue. JOB is the job of the request. Return only after a failure: then JOB
was answered with the reason."
  ;; The code that continues needs the settings of its call, not those of the debugger and of SERVE.
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
  "Stop holding HELD, a HELD structure, for the request of JOB. If the stopped call runs in a thread
of the program, or if the program's own handlers of the error have not run yet, let the call
continue. Otherwise abort it."
  (setf (held-end held) "it was ended")
  (cond ((or (job-follows job) (held-signalled held))
         (follow-no-more job)
         (throw held nil))
        (t (throw job (list "aborted" t)))))

(defun follow-no-more (job)
  "If JOB only reports how a thread of the program continues, end JOB. If its request was not
answered yet, first answer it with the report that the thread continues."
  (when (job-follows job)
    (answer job (list "value" (object "goesOn" t)))
    (end-job job)))

(defun refuse (held job &rest members)
  "Answer the request of JOB: the thread of HELD, a HELD structure, cannot continue in the requested
way. MEMBERS is a plist from which the JSON object of the answer is made. It contains the reason.
The error stays held."
  (answer job (list "value" (make-json-object members)))
  (if (job-follows job) (end-job job) (park held job)))

;;; Continuing by a restart

(defun invoke-held-restart (held job name)
  "Invoke the restart called NAME, a text, for the request of JOB, so that the thread of HELD, a
HELD structure, continues. If debug-eval has kept values for the restart, these are its arguments.
They are used up even if the restart is refused."
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
             ;; Record the restart only if it has no values: when the server rebuilds a lost image,
             ;; it invokes recorded restarts by name and without values.
             (unless values (note-restart restart))
             (apply #'invoke-restart restart values)
             ;; INVOKE-RESTART has returned: the restart function did not transfer control.
             (setf (held-end held) nil)
             (unless (job-follows job) (refuse held job "returned" found)))))))

(defun named-restart (held name)
  "Return a list (RESTART NAME) or (RESTART NAME REPORT) for the restart of HELD, a HELD structure,
that NAME denotes, or NIL. NAME is a text: the number of a restart in an answer, or the name of any
restart."
  (let ((number (number-in name)))
    (if number
        (and (<= 0 number) (nth number (held-restarts held)))
        (or (find name (held-restarts held) :key #'second :test #'string-equal)
            (loop for restart in (held-offered held)
                  when (string-equal name (restart-name restart))
                    return (list restart (string (restart-name restart))))))))

;;; Continuing from a frame

(defun retry-held (held job number)
  "HELD is a HELD structure, and NUMBER the number of one of its frames. For the request of JOB,
make the call of this frame again. If NUMBER is NIL, evaluate the current form again. If this is not
possible, answer with the reason."
  (let ((frame (frame-numbered held number)))
    (cond ((and (null number) (form-again-p job))
           (setf (held-end held) "its form was evaluated again")
           (evaluate-again))
          ((null number) (refuse held job "noForm" t "nearest" (nearest-frame held 0)))
          ((null frame) (refuse held job "noFrame" number "frames" (length (held-frames held))))
          (t (multiple-value-bind (function why) (frame-call-again frame)
               (if function
                   (leave-held-frame held job number function "was run again")
                   (refuse held job "frame" number "why" why
                           "nearest" (nearest-frame held (1+ number))
                           "form" (form-again-p job))))))))

(defun return-from-held (held job number)
  "HELD is a HELD structure, and NUMBER the number of one of its frames, or NIL for the newest frame
of the program. For the request of JOB, make this frame return the first list of values in
HELD-VALUES. If this is not possible, answer with the reason. The values are used up in any case."
  (let* ((number (or number (position (default-frame held) (held-frames held))))
         (frame (frame-numbered held number))
         (values (first (shiftf (held-values held) '()))))
    (cond ((null frame) (refuse held job "noFrame" number "frames" (length (held-frames held))))
          ((why-not-left frame)
           (refuse held job "frame" number "why" (why-not-left frame)
                   "nearest" (position-if-not #'why-not-left (held-frames held)
                                              :start (1+ number))))
          (t (leave-held-frame held job number (lambda () (values-list values)) "returned")))))

(defun leave-held-frame (held job number function how)
  "HELD is a HELD structure, and NUMBER the number of one of its frames. Unwind the stack to this
frame, call FUNCTION there, and return its values from the frame. JOB is the job of the request for
this. HOW is a text that completes \"its frame NUMBER ...\" in later answers."
  (setf (held-end held) (format nil "its frame ~D ~A" number how))
  (leave-frame (frame-numbered held number) (following job function)))

(defun following (job function)
  "If JOB has its own code to run, return FUNCTION. Otherwise JOB only reports how a thread of the
program continues. Then return a function that calls FUNCTION and answers the request of JOB with
the values, or by FOLLOW-NO-MORE if FUNCTION does not return."
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
  "Return true if JOB performs the operation evaluate. Only then can its current form be evaluated
again."
  (and (string= (job-operation job) "evaluate") (not (job-follows job))))

(defun frame-numbered (held number)
  "Return the frame of HELD, a HELD structure, that has NUMBER in answers, or NIL."
  (and (integerp number) (<= 0 number) (nth number (held-frames held))))

(defun default-frame (held)
  "Return the newest frame of HELD, a HELD structure, that belongs to the program. If there is none,
return the newest frame."
  (or (find-if-not #'system-frame-p (held-frames held)) (first (held-frames held))))

(defun nearest-frame (held number)
  "Search the frames of HELD, a HELD structure, from the frame with NUMBER on. Return the number of
the first one whose call can be made again, or NIL if there is none."
  (loop for frame in (nthcdr number (held-frames held))
        for index from number
        when (frame-call-again frame) return index))

;;; Reserving a held error, and giving its thread a command

(defun begin-for-held (id name arguments begin)
  "Reserve the held error whose number is in ARGUMENTS, a hash table, for the request with the id ID
of the operation NAME. Then call BEGIN with the HELD structure. If the error cannot be
reserved, answer the request with the reason from WHY-NOT-THERE."
  (let* ((number (gethash "error" arguments)) (held (held-numbered number)))
    (if (and held (claim-held held))
        (funcall begin held)
        (start-job id name (lambda () (list "value" (why-not-there number)))))))

(defun why-not-there (number)
  "Return a JSON object with the reason why a request cannot use the held error with NUMBER: another
request uses it, another server holds it, or it is not held."
  (let* ((held (held-numbered number))
         (foreign (and (null held) (find (number-shown-as number) **held** :key #'held-number))))
    (object (if held "busy" "gone") t
            "heldBy" (and foreign (holder-text foreign))
            "why" (and (null held) (null foreign) (why-ended number))
            "held" (shown-held-numbers))))

;;; The end of the session

(defun release-held ()
  "Let the threads of the program that are stopped at errors of this session continue. Leave the
stopped calls of the session to END-JOBS, which interrupts them."
  (dolist (held (held-in-session))
    (unless (held-job held)
      ;; If a request is using the error, CLAIM-HELD fails. The thread then continues after this
      ;; request, because it waits for no further command.
      (setf (held-seconds held) 0)
      (when (claim-held held)
        (command-held held (lambda ()
                             (setf (held-end held) "its server has gone")
                             (throw held nil)))))))

(pushnew 'release-held **at-session-end**)
