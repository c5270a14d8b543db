;;;; Runs the agent in an image that somebody else started. The agent serves the wire protocol on a
;;;; socket, and does not change the image's debugger, streams and threads. Such an image loads this
;;;; file after the agent. Images that the server starts do not load it.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (require "SB-BSD-SOCKETS")
  (require "SB-POSIX"))

(in-package "LIVE-LISP.AGENT")

(export '(serve))

(defun listening-socket (path)
  "Return a Unix socket that listens at PATH. Only this user can connect. The name PATH appears only
once the socket listens, so a client that sees PATH can connect. Signal an error if PATH exists."
  (let ((socket (make-instance 'sb-bsd-sockets:local-socket :type :stream))
        (unnamed (concatenate 'string path "~"))
        (mask (sb-posix:umask #o177)))
    (unwind-protect (sb-bsd-sockets:socket-bind socket unnamed)
      (sb-posix:umask mask))
    (unwind-protect (progn (sb-bsd-sockets:socket-listen socket 1)
                           (sb-posix:link unnamed path))
      (sb-posix:unlink unnamed))
    socket))

(defun end-jobs ()
  "Interrupt the running jobs, because their server has gone and nobody reads their answers."
  (loop for id being the hash-keys of **jobs**
        do (interrupt-job id "ending")))

(defun serve-connection (connection)
  "Serve the server at the other end of CONNECTION, a socket, until it closes the connection or
sends an unreadable message."
  (unwind-protect
       (progn
         (open-channel (sb-bsd-sockets:socket-file-descriptor connection))
         (greet)
         (handler-case
             (loop with *reading* = t
                   for message = (receive)
                   while message do (perform message))
           (error (failure)
             (send (object "fault" (print-safely 500 failure "~A"))))))
    (unless **stopped** (end-jobs))
    (sb-bsd-sockets:socket-close connection)))

(defun stop-serving (thread socket path)
  "End THREAD, which serves on SOCKET, a socket that listens at PATH. Close SOCKET, and remove the
name PATH."
  (sb-thread:terminate-thread thread)
  (sb-thread:join-thread thread :default nil :timeout 5)
  (sb-bsd-sockets:socket-close socket)
  (ignore-errors (sb-posix:unlink path)))

(defun serve (path)
  "Start a thread that serves the wire protocol on the Unix socket PATH, to one server after
another. Return the thread. The image continues when a server disconnects. Signal an error if PATH
exists."
  (let ((socket (listening-socket path)))
    (setf **on-peer-gone** (constantly nil)
          **stopped** nil)
    (start-session)
    (note-beginning)
    (ignore-errors (require "SB-INTROSPECT"))
    (ignore-errors (require "SB-CLTL2"))
    (tell-formats)
    (let ((thread (sb-thread:make-thread
                   (lambda () (loop (serve-connection (sb-bsd-sockets:socket-accept socket))))
                   :name "live-lisp server")))
      (push (lambda () (stop-serving thread socket path)) **at-stop**)
      thread)))
