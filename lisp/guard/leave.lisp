;;;; Ends the image. Before that, sends the output of the jobs to the server, and ends the processes
;;;; that the image started.

(in-package "LIVE-LISP.GUARD")

(defun send-written ()
  "Send the server the output that each job has written so far, because the image is about to end."
  (loop for id being the hash-keys of **jobs**
        for written = (job-written id)
        when written do (send (object "id" id "written" written))))

(defun output-sent-before-exit (exit &rest options)
  "Hook: send the output of the jobs to the server. Then call EXIT, the original function, with
OPTIONS."
  (with-isolation (send-written) (wait-until-read))
  (apply exit options))

(define-hook sb-ext:exit output-sent-before-exit)

;;; Exit hooks do not notice every exit: user code can remove the hooks, and a thread that a signal
;;; reaches just after it has begun runs no exit hooks.
(defun exit-noted (function &rest arguments)
  "Hook: set **EXITING**, and wait while another thread makes a spare thread. Then call FUNCTION, by
which an exit ends the other threads, with ARGUMENTS."
  (setf **exiting** t)
  (sb-thread:with-recursive-lock (**making-spare**))
  (apply function arguments))

(define-hook +end-other-threads+ exit-noted)

(defun note-exits ()
  "Install the hooks by which the agent notices each exit, and first sends the output of the jobs to
the server."
  (install-hooks 'output-sent-before-exit 'exit-noted))

(defun environment-of (process)
  "Return the first 100000 octets of the environment of PROCESS, a process id as decimal text.
Return NIL when they are unknown."
  (nil-if-unreadable
    (with-open-file (in (format nil "/proc/~A/environ" process) :element-type '(unsigned-byte 8))
      (let* ((octets (make-array 100000 :element-type '(unsigned-byte 8)))
             (length (read-sequence octets in)))
        (subseq octets 0 length)))))

(defun processes-with (mark)
  "Return a list of the ids of the processes, except this one, whose environment contains the string
MARK."
  (let ((mark (map 'vector #'char-code mark)) (found '()))
    (map-folder (lambda (folder)
                  (let* ((name (car (last (pathname-directory folder))))
                         (process (number-in name))
                         (environment (and process
                                           (/= process (process-id))
                                           (environment-of name))))
                    (when (and environment (search mark environment))
                      (push process found))))
                "/proc/" :files nil :classify-symlinks nil :errorp nil)
    found))

(defconstant +kill+ 9 "The number of the signal SIGKILL, which no process can handle.")

(defun end-descendants ()
  "Kill the processes whose environment has the LIVE_LISP_IMAGE of this image: those that it
started, and their descendants. Search three times, since a process can start others before it is
killed."
  (let ((mark (sb-ext:posix-getenv "LIVE_LISP_IMAGE")))
    (when mark
      (loop repeat 3
            for left = (processes-with (concatenate 'string "LIVE_LISP_IMAGE=" mark))
            while left
            do (dolist (process left) (signal-process process +kill+))))))

(defun leave (code)
  "End the image with exit code CODE because the server has gone."
  (ignore-errors (end-descendants))
  (end-image code))

(setf **on-peer-gone** #'leave)
