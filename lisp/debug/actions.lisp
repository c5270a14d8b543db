;;;; Passes requests to the thread of a held error, and makes that thread go on.

(in-package "LIVE-LISP.DEBUG")

(defun claim-held (held)
  "Reserve HELD for the caller, and return true, if its thread waits for a command; else return NIL.
A thread that has just answered takes a moment until it waits again: give it half a second."
  (loop repeat 500
        while (or (eq (held-command held) :starting)
                  (and (held-command held) (held-user held) (job-answered (held-user held))))
        do (sleep 0.001))
  (null (sb-ext:compare-and-swap (held-command held) nil :claimed)))

(defun command-held (held command)
  "Have the thread of HELD, which CLAIM-HELD has reserved, call COMMAND, a function of no
arguments."
  (setf (held-command held) command)
  (sb-thread:signal-semaphore (held-gate held)))

(defun why-not-there (number)
  "Return a JSON object that says that the held error NUMBER is in use, or why no error with this
NUMBER is held."
  (let ((held (held-numbered number)))
    (object (if held "busy" "gone") t
            "why" (cond (held nil)
                        ((cdr (assoc number **ended**)))
                        (t "there was none of that number"))
            "held" (newest-numbers))))

(defun begin-for-held (id name arguments begin)
  "Begin the request ID for the operation NAME: claim the held error that ARGUMENTS name, and call
BEGIN with it. If it is not held, or another request uses it, answer that."
  (let* ((number (gethash "error" arguments)) (held (held-numbered number)))
    (if (and held (claim-held held))
        (funcall begin held)
        (start-job id name (lambda () (list "value" (why-not-there number)))))))

;;; Going on

(defun take-over-job (held id)
  "Make the job that HELD stopped, which was answered, the job of the request ID, so that this
request gets its next answer. Return the job."
  (let ((job (held-job held)))
    (captured (job-output job) :reset t)
    (remhash (job-id job) **jobs**)
    (setf (capture-successor (job-output job)) nil
          (job-throws job) 0
          (job-frames job) nil
          (job-unheld job) nil
          (job-notes job) '()
          (job-answered job) nil
          (job-id job) id
          (gethash id **jobs**) job)
    job))

(defun left-by (held)
  "Return the function LEAVING for a job that runs a form in the thread of HELD. It is called when
the form has left HELD for good, as by a restart. The answer is then that of the held job. If HELD
has no job, its thread, one of the program, just continues."
  (lambda (guest)
    (setf (held-end held) "a form evaluated in its thread left it by a non-local exit")
    (if (null (held-job held))
        (answer guest (list "value" (object "goesOn" t)))
        (let ((id (job-id guest)))
          (setf (job-answered guest) t
                (capture-successor (job-output guest)) **background**
                (job-notes (take-over-job held id)) (list "left" t))))))

(defun look-in-thread (id name function arguments)
  "Begin the request ID for the operation NAME: call FUNCTION, which returns a plist for the answer,
in the thread of the held error that ARGUMENTS name."
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

(defun make-follower (held id name)
  "Return a job for the request ID of the operation NAME. The job runs nothing. It only reports how
the thread of HELD, a thread of the program, continues."
  (let ((job (make-job id name)))
    (setf (job-thread job) (held-thread held)
          (job-follows job) t
          (gethash id **jobs**) job
          (held-guest held) job)
    job))

(defun refuse (held job &rest members)
  "Answer JOB, which uses HELD, with a JSON object of MEMBERS, which say why HELD does not go on as
asked. HELD stays held."
  (answer job (list "value" (make-json-object members)))
  (if (job-follows job) (end-job job) (park held job)))

(defun go-on-in-thread (id name function arguments)
  "Begin the request ID for the operation NAME, which makes the thread of a held error go on.
FUNCTION is not called."
  (declare (ignore function))
  (begin-for-held id name arguments
                  (lambda (held)
                    (let ((job (if (held-job held)
                                   (take-over-job held id)
                                   (make-follower held id name))))
                      (setf (held-user held) job)
                      (command-held held (lambda () (go-on held job arguments)))))))

(defun follow-no-more (job)
  "If JOB only reports on a thread of the program, answer its request with the news that the thread
continues."
  (when (job-follows job)
    (answer job (list "value" (object "goesOn" t)))
    (end-job job)))

(defun end-held (held job)
  "End HELD for JOB: abort the call that it stopped, or let a waiting thread of the program go on."
  (setf (held-end held) "it was ended")
  (cond ((or (job-follows job) (held-signalled held))
         (follow-no-more job)
         (throw held nil))
        (t (throw job (list "aborted" t)))))

;;; By a restart

(defun named-restart (held name)
  "Return a list of the restart of HELD that NAME means and its name, or NIL. NAME is the number of
a restart that was shown, or the name of any restart."
  (let ((number (ignore-errors (parse-integer name))))
    (if number
        (and (<= 0 number) (nth number (held-restarts held)))
        (or (find name (held-restarts held) :key #'second :test #'string-equal)
            (loop for restart in (held-offered held)
                  when (string-equal name (restart-name restart))
                    return (list restart (string (restart-name restart))))))))

(defun invoke-held-restart (held job name)
  "Go on from HELD for JOB by the restart NAME, with the values that were evaluated for it."
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
             ;; A rebuild of the image invokes noted restarts by their names, without values.
             (unless values (note-restart restart))
             (apply #'invoke-restart restart values)
             ;; The restart has returned, as it may.
             (setf (held-end held) nil)
             (unless (job-follows job) (refuse held job "returned" found)))))))

;;; By a frame

(defun frame-numbered (held number)
  "Return the frame of HELD that is shown as NUMBER, or NIL."
  (and (integerp number) (<= 0 number) (nth number (held-frames held))))

(defun default-frame (held)
  "Return the newest frame of HELD that belongs to the program, else the newest."
  (or (find-if-not #'system-frame-p (held-frames held)) (first (held-frames held))))

(defun nearest-frame (held number)
  "Return the number of the first frame of HELD, from the frame NUMBER on, that can be run again, or
NIL."
  (loop for frame in (nthcdr number (held-frames held))
        for index from number
        when (frame-call-again frame) return index))

(defun following (job function)
  "Return FUNCTION. But if JOB only follows a thread of the program, return a function that also
answers JOB with the values of FUNCTION."
  (if (job-follows job)
      (lambda ()
        (let ((values '()) (*follower* job))
          (unwind-protect (progn (setf values (multiple-value-list (funcall function)))
                                 (let ((*value-budget* 10000))
                                   (answer job (list "values" (list (printed-values values))))))
            (follow-no-more job))
          (values-list values)))
      function))

(defun leave-held-frame (held job number function how)
  "Unwind to the frame NUMBER of HELD for JOB, and have it return the values of FUNCTION. HOW, a
text, says what became of the frame."
  (setf (held-end held) (format nil "its frame ~D ~A" number how))
  (leave-frame (frame-numbered held number) (following job function)))

(defun form-again-p (job)
  "True when JOB evaluates forms: the current form can be evaluated again."
  (and (string= (job-operation job) "evaluate") (not (job-follows job))))

(defun retry-held (held job number)
  "Run the frame NUMBER of HELD again for JOB; without NUMBER, evaluate the form again."
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
  "Have the frame NUMBER of HELD return, for JOB, the values that were evaluated for it."
  (let* ((number (or number (position (default-frame held) (held-frames held))))
         (frame (frame-numbered held number))
         (values (first (shiftf (held-values held) '()))))
    (cond ((null frame) (refuse held job "noFrame" number "frames" (length (held-frames held))))
          ((why-not-left frame)
           (refuse held job "frame" number "why" (why-not-left frame)
                       "nearest"
                   (position-if-not #'why-not-left (held-frames held) :start (1+ number))))
          (t (leave-held-frame held job number (lambda () (values-list values)) "returned")))))

(defun go-on (held job arguments)
  "Go on from HELD for JOB in the way that ARGUMENTS, a table from a message, say. Returns only if
that fails: JOB was answered why then."
  (let ((*hold* (held-seconds held)) (sb-ext:*invoke-debugger-hook* #'debugger-hook) (*held* nil)
        (*break-on-signals* *program-breaks*)
        (number (gethash "frame" arguments)))
    (cond ((gethash "end" arguments) (end-held held job))
          ((gethash "restart" arguments)
           (invoke-held-restart held job (gethash "restart" arguments)))
          ((gethash "retry" arguments) (retry-held held job number))
          (t (return-from-held held job number)))))
