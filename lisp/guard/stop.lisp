;;;; Takes the agent out of the image: all that it has put into SBCL, its threads and its connection.
;;;; Its packages stay, with what they define.

(in-package "LIVE-LISP.GUARD")

(sb-ext:defglobal **stopped** nil "True once the agent was taken out of this image.")

(sb-ext:defglobal **settings-before** '()
  "Pairs of a variable that the agent has set and the value that it had before.")

(sb-ext:defglobal **at-stop** '()
  "Functions without arguments that take something out of the image. STOP calls them.")

(defun set-until-stop (symbol value)
  "Set the global value of SYMBOL to VALUE until the agent is taken out of the image."
  (push (cons symbol (sb-ext:symbol-global-value symbol)) **settings-before**)
  (setf (sb-ext:symbol-global-value symbol) value))

(defun note-exit ()
  "An exit hook: record that the process exits."
  (setf **exiting** t))

(defun restore-settings ()
  "Give the variables that the agent has set the values that they had."
  (loop for (symbol . value) in (shiftf **settings-before** '())
        do (setf (sb-ext:symbol-global-value symbol) value))
  (setf sb-ext:*exit-hooks* (remove #'note-exit sb-ext:*exit-hooks*)))

(defun end-other-jobs ()
  "End the jobs of other threads, and wait for each of these threads, at most a second."
  (let ((others (loop for job in (jobs-now) unless (eq job *job*) collect job)))
    (dolist (job others) (interrupt-job (job-id job) "ending"))
    (dolist (thread (remove sb-thread:*current-thread* (mapcar #'job-thread others)))
      (when (and thread (not (eq thread (sb-thread:main-thread))))
        (sb-thread:join-thread thread :default nil :timeout 1)))))

(defun live-lisp:stop ()
  "Take live-lisp out of this image, which goes on as a plain SBCL: its hooks, settings, threads and
connection. Its server answers the running calls with that, and its next call gets another image, or
a refusal where somebody else runs this one. Return T, or NIL when there was nothing to take out."
  (unless (sb-ext:compare-and-swap (symbol-value '**stopped**) nil t)
    (setf **keeps-spare** nil
          **on-peer-gone** (constantly nil))
    (tell-written)
    (send (object "stopped" t))
    (wait-until-read)
    (end-other-jobs)
    (uninstall-hooks)
    (unwrap-all)
    (restore-settings)
    (leave-memory)
    (lift-limits)
    (close-channel)
    (end-spare)
    (mapc #'funcall (shiftf **at-stop** '()))
    t))

(defun await-program ()
  "Wait until no thread runs but this one and those of SBCL."
  (loop for thread = (find-if-not (lambda (thread)
                                    (or (eq thread sb-thread:*current-thread*)
                                        (system-thread-p thread)))
                                  (sb-thread:list-all-threads))
        while thread
        do (sb-thread:join-thread thread :default nil)))
