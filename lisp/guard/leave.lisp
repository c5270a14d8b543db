;;;; Ends the image. Before that, sends the output of the jobs to the server, and ends the processes
;;;; that the image started.

(in-package "LIVE-LISP.GUARD")

(defun send-written ()
  "Send the server the output that each job has written so far. The backend calls this before the
image ends or the backend is removed."
  (loop for id being the hash-keys of **jobs**
        for written = (job-written id)
        when written do (send (object "id" id "written" written))))

(defun output-sent-before-exit (exit &rest options)
  "Hook: EXIT is the original function. Send the output of the jobs to the server, then call EXIT
with OPTIONS."
  (with-isolation (send-written) (wait-until-read))
  (apply exit options))

(define-hook sb-ext:exit output-sent-before-exit)

;;; SBCL's exit hooks do not notice every exit, so the functions that exit are hooked here. User
;;; code can remove exit hooks, and a thread does not run them if a signal reaches it just after its
;;; start.
(defun exit-noted (function &rest arguments)
  "Hook: FUNCTION is SBCL's function with which an exit ends the other threads. Set **EXITING**.
Wait while another thread is making the spare thread, in which the next job will run: a thread that
is making one cannot be ended. Then call FUNCTION with ARGUMENTS."
  (setf **exiting** t)
  (sb-thread:with-recursive-lock (**making-spare**))
  (apply function arguments))

(define-hook +end-other-threads+ exit-noted)

(defun note-exits ()
  "Install the hooks that notice each exit, and send the output of the jobs before SBCL exits."
  (install-hooks 'output-sent-before-exit 'exit-noted))

(defun environment-of (process)
  "Return the first 100000 octets of the environment of the process with the id PROCESS, a string of
digits. Return NIL if they cannot be read."
  (nil-if-unreadable
    (with-open-file (in (format nil "/proc/~A/environ" process) :element-type '(unsigned-byte 8))
      (let* ((octets (make-array 100000 :element-type '(unsigned-byte 8)))
             (length (read-sequence octets in)))
        (subseq octets 0 length)))))

(defun processes-with (mark)
  "Return a list of the ids of the other processes whose environment contains the string MARK."
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
  "Kill the processes that have this image's LIVE_LISP_IMAGE in their environment: those that the
image started, and their descendants. Search three times, because a process can start others before
it is killed."
  (let ((mark (sb-ext:posix-getenv "LIVE_LISP_IMAGE")))
    (when mark
      (loop repeat 3
            for left = (processes-with (concatenate 'string "LIVE_LISP_IMAGE=" mark))
            while left
            do (dolist (process left) (signal-process process +kill+))))))

(defun leave (code)
  "Kill the processes that the image started, then end the image with the exit code CODE. The
backend calls this when the server is gone."
  (ignore-errors (end-descendants))
  (end-image code))

(setf **on-peer-gone** #'leave)
