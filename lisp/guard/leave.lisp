;;;; Ends the image: sends what the jobs have written, and ends the processes that it started.

(in-package "LIVE-LISP.GUARD")

(defun tell-written ()
  "Send what each job has written so far, because the image is about to end."
  (loop for id being the hash-keys of **jobs**
        for written = (job-written id)
        when written do (send (object "id" id "written" written))))

(defun tell-who-exits ()
  "Tell the server when a call exits, and no other thread: then it is not what keeps running that ends the image."
  (when *job* (send (object "exits" (job-id *job*)))))

(defun tell-before-exit ()
  "Have every exit that user code asks for tell what was written before, and whether a call asks for it."
  (encapsulate 'sb-ext:exit 'live-lisp
               (lambda (exit &rest options)
                 (ignore-errors (tell-written) (tell-who-exits) (wait-until-read))
                 (apply exit options))))

;;; Exit hooks do not see every exit. User code can remove them, and a thread that a signal reaches just after it begins
;;; runs none.
(defun note-exits ()
  "Have each exit be known before it ends the other threads."
  (when +end-other-threads+
    (encapsulate +end-other-threads+ 'live-lisp
                 (lambda (function)
                   (setf **exiting** t)
                   (sb-thread:with-recursive-lock (**making-spare**))
                   (funcall function)))))

(defun environment-of (process)
  "Return the environment of PROCESS, the name of a folder in /proc, as octets, or NIL."
  (ignore-errors
   (with-open-file (in (format nil "/proc/~A/environ" process) :element-type '(unsigned-byte 8))
     (let* ((octets (make-array 100000 :element-type '(unsigned-byte 8)))
            (length (read-sequence octets in)))
       (subseq octets 0 length)))))

(defun processes-with (mark)
  "Return the numbers of the processes whose environment has the string MARK, without this one."
  (let ((mark (map 'vector #'char-code mark)) (found '()))
    (map-folder (lambda (folder)
                  (let* ((name (car (last (pathname-directory folder))))
                         (process (ignore-errors (parse-integer name)))
                         (environment (and process (/= process (own-process)) (environment-of name))))
                    (when (and environment (search mark environment))
                      (push process found))))
                "/proc/" :files nil :classify-symlinks nil :errorp nil)
    found))

(defconstant +kill+ 9 "The signal SIGKILL.")

(defun end-descendants ()
  "End the processes that this image started. The server does that for an image that ends before it."
  (let ((mark (sb-ext:posix-getenv "LIVE_LISP_IMAGE")))
    (when mark
      (loop repeat 3
            for left = (ignore-errors (processes-with (concatenate 'string "LIVE_LISP_IMAGE=" mark)))
            while left
            do (dolist (process left) (signal-process process +kill+))))))

(defun leave (code)
  "End the image with CODE because the server has gone."
  (ignore-errors (end-descendants))
  (end-image code))

(setf **on-peer-gone** #'leave)
