;;;; Ends the image: sends the output that the jobs have written, and ends the processes that the
;;;; image started.

(in-package "LIVE-LISP.GUARD")

(defun tell-written ()
  "Send the server the output that each job has written so far, because the image is about to end."
  (loop for id being the hash-keys of **jobs**
        for written = (job-written id)
        when written do (send (object "id" id "written" written))))

(defun told-before-exit (exit &rest options)
  "Hook: tell the server the output of the jobs. Then call EXIT with OPTIONS."
  (apart (tell-written) (wait-until-read))
  (apply exit options))

(define-hook sb-ext:exit told-before-exit)

(defun tell-before-exit ()
  "Make every call of EXIT first tell the server what TOLD-BEFORE-EXIT tells."
  (install-hooks 'told-before-exit))

;;; Exit hooks do not notice every exit: user code can remove them, and a thread that a signal
;;; reaches just after it has begun runs none.
(defun exit-noted (function &rest arguments)
  "Hook: set **EXITING**, and wait for a spare thread that is being made. Then call FUNCTION, by
which an exit ends the other threads, with ARGUMENTS."
  (setf **exiting** t)
  (sb-thread:with-recursive-lock (**making-spare**))
  (apply function arguments))

(define-hook +end-other-threads+ exit-noted)

(defun note-exits ()
  "Make each exit do what EXIT-NOTED does."
  (install-hooks 'exit-noted))

(defun environment-of (process)
  "Return the first 100000 octets of the environment of PROCESS, a process id as decimal text; NIL
when it is unknown."
  (ignore-errors
   (with-open-file (in (format nil "/proc/~A/environ" process) :element-type '(unsigned-byte 8))
     (let* ((octets (make-array 100000 :element-type '(unsigned-byte 8)))
            (length (read-sequence octets in)))
       (subseq octets 0 length)))))

(defun processes-with (mark)
  "Return the ids of the processes whose environment contains the string MARK, without this
process."
  (let ((mark (map 'vector #'char-code mark)) (found '()))
    (map-folder (lambda (folder)
                  (let* ((name (car (last (pathname-directory folder))))
                         (process (ignore-errors (parse-integer name)))
                         (environment (and process
                                           (/= process (own-process))
                                           (environment-of name))))
                    (when (and environment (search mark environment))
                      (push process found))))
                "/proc/" :files nil :classify-symlinks nil :errorp nil)
    found))

(defconstant +kill+ 9 "The signal SIGKILL.")

(defun end-descendants ()
  "End the processes that this image started, and the processes that those started. All have this
image's LIVE_LISP_IMAGE in their environments. Search for them at most three times, since some can
start others before they end. When the image ends before the server, the server does this instead."
  (let ((mark (sb-ext:posix-getenv "LIVE_LISP_IMAGE")))
    (when mark
      (loop repeat 3
            for left = (ignore-errors (processes-with (concatenate 'string "LIVE_LISP_IMAGE="
                                                                   mark)))
            while left
            do (dolist (process left) (signal-process process +kill+))))))

(defun leave (code)
  "End the image with CODE because the server has gone."
  (ignore-errors (end-descendants))
  (end-image code))

(setf **on-peer-gone** #'leave)
