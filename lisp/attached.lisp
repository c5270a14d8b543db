;;;; Runs the backend in an image that somebody else started. The backend serves the wire protocol
;;;; on a socket, and does not change that person's debugger, streams, threads or settings. Images
;;;; that the server starts do not load this file.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (require "SB-BSD-SOCKETS")
  (require "SB-POSIX"))

(in-package "LIVE-LISP.BACKEND")

;;; Functions of SBCL that jobs must not call, because they end the image

(define-condition not-ours (error)
  ((operation :initarg :operation :reader not-ours-operation))
  (:documentation
    "The error when a job calls a function that would end the image. OPERATION is the name of this
function, a string.")
  (:report (lambda (condition stream)
             (format stream "~A would end this image, which somebody else runs, so it was refused. ~
                             To end a thread, call (sb-thread:abort-thread) in that thread."
                     (not-ours-operation condition)))))

(defun exit-refused (function &rest arguments)
  "Hook: FUNCTION ends the process. Call FUNCTION with ARGUMENTS. In a thread of a job, signal
NOT-OURS instead."
  (when (of-job-p) (error 'not-ours :operation "EXIT"))
  (apply function arguments))

(defun save-refused (function &rest arguments)
  "Hook: FUNCTION saves a core and ends the process. Call FUNCTION with ARGUMENTS. In a thread of a
job, signal NOT-OURS instead."
  (when (of-job-p) (error 'not-ours :operation "SAVE-LISP-AND-DIE"))
  (apply function arguments))

(define-hook sb-ext:exit exit-refused)
(define-hook sb-ext:save-lisp-and-die save-refused)

;;; Preparing the image

(defun settle ()
  "Prepare the image for jobs: install the backend's hooks and guards, and lock the backend's
packages."
  ;; The initial **ON-PEER-GONE** ends the image when a server has gone.
  (setf **on-peer-gone** (constantly nil)
        **stopped** nil
        **attached** t)
  (note-beginning)
  (begin-listening)
  (guard-threads)
  (install-hooks 'exit-refused 'save-refused)
  (if-able "heap guard" (watch-memory))
  ;; A locked package signals an error when code redefines one of its functions. Without its
  ;; functions the backend could not be stopped.
  (mapc #'sb-ext:lock-package **backend-packages**))

(define-operation ("begin-session" :server-only t :inline t :gives boolean)
    ((server string "A text that identifies this server among those of the image.")
     (trees (list string)
      "Native names of folders. ASDF also finds systems in them and below them."))
  "Store in the session the text that identifies the server, and its folders of systems."
  (setf (session-server *session*) server
        (session-trees *session*) (coerce trees 'list))
  nil)

;;; Servers that change files and load them take turns

(sb-ext:defglobal **turn** '()
  "NIL if no session has the turn. Otherwise a list (SESSION COUNT TIME): the session that has the
turn, the number of its calls that have taken it and not given it back, and the universal time when
the first of these calls took it.")
(sb-ext:defglobal **turn-lock** (sb-thread:make-mutex :name "live-lisp turn")
  "The mutex that a thread holds while it reads or changes **TURN**.")

(define-shape turn-holder ()
  "The server that has the turn."
  (server string "The text by which it identified itself in `begin-session`.")
  (seconds integer "For how many seconds it has had the turn."))

(define-operation ("take-turn" :inline t :gives (nullable turn-holder)) ()
  "Take the turn, the right to change files and load them, which one server of the image has at a
time. Return NIL on success. If another server has the turn, return that server. A session that
takes the turn several times gives it back as often."
  (sb-thread:with-mutex (**turn-lock**)
    (destructuring-bind (&optional holder (count 0) (time (get-universal-time))) **turn**
      (cond ((member holder (list nil *session*))
             (setf **turn** (list *session* (1+ count) time))
             nil)
            (t (object "server" (or (session-server holder) "unknown")
                       "seconds" (- (get-universal-time) time)))))))

(defun drop-turn (count)
  "If *SESSION* has the turn, subtract COUNT, an integer, from the number of its calls that hold the
turn. If none is left, no session has the turn any more."
  (sb-thread:with-mutex (**turn-lock**)
    (destructuring-bind (&optional holder (left 0) time) **turn**
      (when (eq holder *session*)
        (setf **turn** (and (> left count) (list holder (- left count) time)))))))

(define-operation ("give-turn" :inline t :gives boolean) ()
  "Give back the turn. Do nothing if the session does not have it."
  (drop-turn 1)
  nil)

(defun leave-turn ()
  "Take the turn (see **TURN**) away from *SESSION*, however often the session has taken it. Do
nothing if the session does not have the turn."
  (drop-turn most-positive-fixnum))

(pushnew 'leave-turn **at-session-end**)

;;; Removing the backend from the image

(defun all-backend-packages ()
  "Return a list of the packages of the backend, including LIVE-LISP, the package that programs
use."
  (adjoin (symbol-package 'live-lisp:stop) **backend-packages**))

(defun backend-symbols ()
  "Return a list of the symbols whose home package is one of the backend's packages."
  (loop for package in (all-backend-packages)
        append (home-symbols package)))

(defun remove-class (class)
  "Remove CLASS, a class of the backend, from the image: remove its methods, its links from its
superclasses, and its name."
  (dolist (method (copy-list (sb-mop:specializer-direct-methods class)))
    (let ((function (sb-mop:method-generic-function method)))
      (when function (remove-method function method))))
  (dolist (super (sb-mop:class-direct-superclasses class))
    (sb-mop:remove-direct-subclass super class))
  (setf (find-class (class-name class)) nil))

(defun remove-package (package)
  "Delete PACKAGE, a package of the backend, even if other packages use it."
  (sb-ext:unlock-package package)
  (dolist (user (package-used-by-list package)) (unuse-package package user))
  (dolist (used (package-use-list package)) (unuse-package used package))
  (handler-bind ((package-error #'continue)) (delete-package package)))

(defun vanish ()
  "Remove the classes, macros and packages of the backend from the image, so that the garbage
collector can free the rest. Leave functions and variables, because this function and its callers
still use them. Remove the macros, because SLIME keeps the symbol of each macro, and all code of the
backend would stay reachable from it."
  (sb-ext:without-package-locks
    (let ((symbols (backend-symbols)) (packages (all-backend-packages)))
      (dolist (symbol symbols)
        (let ((class (find-class symbol nil)))
          (when (and class (eq (class-name class) symbol)) (ignore-errors (remove-class class))))
        (when (macro-function symbol) (fmakunbound symbol)))
      (dolist (name '("LIVE-LISP-USER" "LIVE-LISP.ATTACH"))
        (let ((package (find-package name))) (when package (remove-package package))))
      (dolist (package packages)
        (when (package-name package) (remove-package package))))))

;;; Serving

(defun listening-socket (path)
  "Return a Unix socket that listens at PATH. Only this user can connect. The name PATH appears only
once the socket listens, so a client that sees PATH can connect. Signal an error if PATH exists."
  (let ((socket (make-instance 'sb-bsd-sockets:local-socket :type :stream))
        (unnamed (concatenate 'string path "~"))
        (mask (sb-posix:umask #o177)))
    (unwind-protect (sb-bsd-sockets:socket-bind socket unnamed)
      (sb-posix:umask mask))
    (unwind-protect (progn (sb-bsd-sockets:socket-listen socket 8)
                           (sb-posix:link unnamed path))
      (sb-posix:unlink unnamed))
    socket))

(defun end-jobs ()
  "Interrupt the jobs that run for the server of *CHANNEL*. That server has gone, so nobody reads
their answers."
  (dolist (job (unanswered-jobs))
    (when (eq *channel* (job-channel job)) (interrupt-job job "ending"))))

(defun open-session ()
  "Make a new session the session of this connection. Its reader and printer variables have the
values of a fresh SBCL, and not those that the person who runs the image has set. The operation
begin-session later stores in it what the server tells about itself."
  (setf *session* (make-session :changes-sent **change-count**))
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*print-pretty* t) (*readtable* (copy-readtable nil))
          (*break-on-signals* nil) (*random-state* (make-random-state nil)))
      (start-session))))

(defun serve-messages ()
  "Send the greeting, then receive and perform the messages on *CHANNEL*. Return when the server
closes the channel, or after a message that cannot be read."
  (greet)
  (handler-case
      (loop with *reading* = t
            for message = (receive)
            while message do (perform message))
    (error (failure)
      (send (object "fault" (print-safely 500 failure "~A"))))))

(defun serve-connection (connection)
  "Serve the server at the other end of CONNECTION, a socket. An error in the backend closes the
connection. It does not open the debugger of the person who runs the image."
  (let ((*channel* (open-channel (sb-bsd-sockets:socket-file-descriptor connection)))
        (*session* nil))
    (block nil
      (let ((*break-on-signals* nil) (*debugger-hook* nil)
            (sb-ext:*invoke-debugger-hook* (lambda (failure hook)
                                             (declare (ignore failure hook))
                                             (return))))
        (unwind-protect
             (progn (open-session)
                    (call-in-fresh-session #'serve-messages))
          (unless **stopped** ; STOP itself ends the jobs and restores the settings.
            (end-session)
            (end-jobs)
            (mapc #'funcall **at-session-end**))
          (close-channel *channel*)
          (sb-bsd-sockets:socket-close connection))))))

(defun next-connection (socket)
  "Wait for the next connection to SOCKET, and return it. Return NIL once SOCKET is closed. After
another error, such as too many open files, try again."
  (loop
    (handler-case (return (sb-bsd-sockets:socket-accept socket))
      ((or sb-bsd-sockets:bad-file-descriptor-error sb-bsd-sockets:invalid-argument-error) ()
        (return nil))
      (error () (sleep 0.1)))))

(defun connection-threads ()
  "Return a list of the threads that serve connections, without this thread."
  (loop for thread in (remove sb-thread:*current-thread* (sb-thread:list-all-threads))
        when (equal "live-lisp connection" (sb-thread:thread-name thread)) collect thread))

(defun accept-connections (socket)
  "Answer the requests of each MCP server that connects to SOCKET in a new thread, until SOCKET is
closed."
  (loop for connection = (next-connection socket)
        while connection
        do (let ((connection connection))
             (sb-thread:make-thread (lambda () (as-backend-thread (serve-connection connection)))
                                    :name "live-lisp connection"))))

(defun remove-files (paths)
  "Remove the files PATHS, a list of native names. Skip files that do not exist."
  (dolist (path paths) (remove-file (sb-ext:parse-native-namestring path))))

(defun close-serving (socket files)
  "Remove FILES, a list of at most two native names: SOCKET and its entry file, by which servers
find the image. Close SOCKET. Do nothing if that was done before."
  ;; The thread can belong to the person who runs the image, and that person can have set this
  ;; variable.
  (let ((*break-on-signals* nil))
    (remove-files files)
    (ignore-errors (sb-bsd-sockets:socket-close socket))))

(defun serve-socket (socket files)
  "Serve on SOCKET until it is closed or this thread is ended, by STOP or otherwise. Then call
CLOSE-SERVING with SOCKET and FILES."
  (unwind-protect (accept-connections socket)
    (close-serving socket files)))

(defun stop-serving (thread)
  "End THREAD, which serves on a socket, and wait for its end and for the ends of the threads that
serve connections, for at most 5 seconds each. STOP has closed the channels of the connections.
Afterwards the person who runs the image can save a core, which SBCL does only when no other thread
runs."
  (unless-thread-ended (sb-thread:terminate-thread thread))
  (dolist (each (cons thread (connection-threads)))
    (sb-thread:join-thread each :default nil :timeout 5)))

(defun serve (path &key entry)
  "Start a thread that serves the wire protocol on the Unix socket PATH to any number of servers,
and return the thread. Signal an error if PATH exists. The image continues when a server
disconnects. ENTRY is NIL or the name of a file. When the backend is stopped or the image exits,
remove this file and the socket."
  (let ((socket (listening-socket path)) (files (remove nil (list path entry))))
    (settle)
    (let ((thread (sb-thread:make-thread (lambda () (as-backend-thread (serve-socket socket files)))
                                         :name "live-lisp server"))
          (at-exit (lambda () (remove-files files))))
      (push at-exit sb-ext:*exit-hooks*)
      ;; SBCL saves no core while other threads run, and a core with the backend in it would not
      ;; work.
      (push 'live-lisp:stop sb-ext:*save-hooks*)
      (push (lambda ()
              (setf sb-ext:*exit-hooks* (remove at-exit sb-ext:*exit-hooks*)
                    sb-ext:*save-hooks* (remove 'live-lisp:stop sb-ext:*save-hooks*))
              (stop-serving thread)
              ;; THREAD does this at its end, unless it was ended before it began.
              (close-serving socket files)
              (vanish))
            **at-stop**)
      thread)))

(defun write-entry (path &rest members)
  "Write a JSON object with MEMBERS, a plist from names to strings or integers, to the file PATH.
PATH appears only when the file is complete."
  (let ((part (concatenate 'string path "~")) (buffer (make-buffer)))
    (write-json (make-json-object members) buffer)
    (with-open-file (out (sb-ext:parse-native-namestring part) :direction :output
                         :if-exists :supersede :element-type '(unsigned-byte 8))
      (write-sequence (buffer-octets buffer) out :end (buffer-fill buffer)))
    (sb-posix:rename part path)))
