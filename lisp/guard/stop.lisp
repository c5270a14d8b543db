;;;; Removes the backend from the image: its hooks and settings in SBCL, its threads and its
;;;; connection. The backend's packages stay, with their definitions, except in an image that
;;;; somebody else runs (VANISH in attached.lisp).

(in-package "LIVE-LISP.GUARD")

(sb-ext:defglobal **settings-before** '()
  "An alist from variables that the backend has set to their earlier global values.")

(sb-ext:defglobal **at-stop** '()
  "A list of functions without parameters that STOP calls last, to remove more of the backend from
the image.")

(defun set-until-stop (symbol value)
  "Set the global value of SYMBOL to VALUE. STOP restores the earlier value."
  (push (cons symbol (sb-ext:symbol-global-value symbol)) **settings-before**)
  (setf (sb-ext:symbol-global-value symbol) value))

(defun note-exit ()
  "An exit hook: record that the process exits."
  (setf **exiting** t))

(defun restore-settings ()
  "Restore the earlier values of the variables that the backend has set, and remove NOTE-EXIT from
the exit hooks."
  (loop for (symbol . value) in (shiftf **settings-before** '())
        do (setf (sb-ext:symbol-global-value symbol) value))
  (setf sb-ext:*exit-hooks* (remove #'note-exit sb-ext:*exit-hooks*)))

(defun end-other-jobs ()
  "Interrupt all jobs except the job of this thread, and wait for the end of their threads, for at
most a second each."
  (let ((others (loop for job in (jobs-now) unless (eq job *job*) collect job)))
    (dolist (job others) (interrupt-job job "ending"))
    (dolist (thread (remove sb-thread:*current-thread* (mapcar #'job-thread others)))
      (when (and thread (not (eq thread (sb-thread:main-thread))))
        (sb-thread:join-thread thread :default nil :timeout 1)))))

(defun live-lisp:stop ()
  "Remove live-lisp from this image: its hooks, settings, threads and connection. The image
continues as an SBCL without the backend. The server answers the running calls with a note about
this. Its next call gets another image, or a refusal if somebody else runs this image. Return T, or
NIL when live-lisp was removed before."
  (unless (sb-ext:compare-and-swap (symbol-value '**stopped**) nil t)
    (setf **keeps-spare** nil
          **on-peer-gone** (constantly nil))
    (send-written)
    (dolist (*channel* **channels**)
      (send (object "stopped" t))
      (wait-until-read))
    (end-other-jobs)
    (uninstall-hooks)
    (unwrap-all)
    (restore-settings)
    (leave-memory)
    (lift-limits)
    (mapc #'close-channel **channels**)
    (end-spare)
    (mapc #'funcall (shiftf **at-stop** '()))
    t))

(defun await-program ()
  "Wait until no threads are left except this one and SBCL's own threads."
  (loop for thread = (find-if-not (lambda (thread)
                                    (or (eq thread sb-thread:*current-thread*)
                                        (system-thread-p thread)))
                                  (sb-thread:list-all-threads))
        while thread
        do (sb-thread:join-thread thread :default nil)))
