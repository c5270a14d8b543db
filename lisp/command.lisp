;;;; Turns an SBCL that a command has started, perhaps on another machine, into an image of the
;;;; server. The server sends kept-backend.lisp and this file to its REPL, then a call of
;;;; BECOME-IMAGE (src/image/process/bootstrap.ts). No file of live-lisp is needed on that machine.

(in-package "LIVE-LISP.ATTACH")

(defun move-standard-streams ()
  "Move the standard input and output of this process to two other file descriptors, and return
these. Child processes do not inherit them, so only the backend reads and writes messages of the
wire. Afterwards descriptor 0 reads from /dev/null, and descriptor 1 writes to the standard error."
  (flet ((moved (descriptor)
           (let ((copy (sb-posix:dup descriptor)))
             ;; FD_CLOEXEC, which SB-POSIX lacks, is 1.
             (sb-posix:fcntl copy sb-posix:f-setfd 1)
             copy)))
    (let ((in (moved 0)) (out (moved 1)) (nowhere (sb-posix:open "/dev/null" sb-posix:o-rdonly)))
      (sb-posix:dup2 nowhere 0)
      (sb-posix:dup2 2 1)
      (sb-posix:close nowhere)
      (values in out))))

;;; The exchange with the server before the backend is loaded: lines of ASCII, and files

(defun send-line (stream control &rest arguments)
  "Format the line CONTROL, a format control, with ARGUMENTS, and write it to STREAM, a binary
stream."
  (let ((line (let ((*print-pretty* nil)) (format nil "~?~%" control arguments))))
    (write-sequence (map '(vector (unsigned-byte 8)) #'char-code line) stream)
    (finish-output stream)))

(defun receive-line (stream)
  "Return the next line of STREAM, a binary stream. Signal an error if STREAM ends before the line
does."
  (with-output-to-string (line)
    (loop for octet = (read-byte stream)
          until (= octet 10)
          do (write-char (code-char octet) line))))

(defun receive-file (stream folder)
  "Receive a file from STREAM, a binary stream, and write it below FOLDER, a native name. STREAM has
first a line with the length and the name of the file, then its content."
  (let* ((line (receive-line stream))
         (space (position #\Space line))
         (octets (make-array (parse-integer line :end space) :element-type '(unsigned-byte 8)))
         (path (sb-ext:parse-native-namestring
                (concatenate 'string folder "/" (subseq line (1+ space))))))
    (unless (= (read-sequence octets stream) (length octets))
      (error "The connection to live-lisp ended before all of its Lisp code had arrived."))
    (ensure-directories-exist path)
    (with-open-file (out path :direction :output :element-type '(unsigned-byte 8)
                              :if-exists :supersede)
      (write-sequence octets out))))

;;; The compiled backend

(defun temporary-folder ()
  "Make a folder that only this user can enter, and return its native name."
  (let ((places (remove nil (list (variable-of "TMPDIR") "/tmp" "/var/tmp" "/dev/shm"))))
    (dolist (place places
                   (error "live-lisp needs a writable folder for its compiled backend, but none of ~
                           ~{~A~^, ~} is writable. Have the command of --image provide one, ~
                           as docker run --tmpfs /tmp:exec does."
                          places))
      (let ((folder (handler-case (sb-posix:mkdtemp (concatenate 'string place
                                                                 "/live-lisp-XXXXXX"))
                      (sb-posix:syscall-error () nil))))
        (when folder (return folder))))))

(defun kept-base (identity)
  "Return the path prefix under which this machine keeps the compiled backend of version IDENTITY, a
string. Return NIL if the folder of compiled backends is not writable."
  (let ((folder (ignore-errors (backends-folder))))
    (and folder
         (zerop (handler-case (progn (sb-posix:access folder sb-posix:w-ok) 0) (error () 1)))
         (format nil "~A/command-~A" folder identity))))

(defun remove-folder (folder)
  "Remove FOLDER, a native name, with all that is in it."
  (handler-case
      (sb-ext:delete-directory (sb-ext:parse-native-namestring folder nil #p"" :as-directory t)
                               :recursive t)
    (file-error ())))

(defun receive-backend (in out identity)
  "Load the compiled backend of version IDENTITY, a string. If this machine has no copy, request the
sources from the server on OUT, receive them on IN, and compile them. IN and OUT are binary
streams."
  (let* ((base (kept-base identity))
         (fasl (and base (probe-file (fasl-of base)))))
    (send-line out "LIVE-LISP-READY ~A ~D ~A ~{~A~^ ~}" (lisp-implementation-version)
               (if (> (integer-length most-positive-fixnum) 32) 64 32)
               (if fasl "kept" "none") *features*)
    (let ((count (parse-integer (receive-line in))))
      (if (zerop count)
          (load-backend fasl)
          (let ((folder (temporary-folder)))
            (unwind-protect
                 (progn
                   (loop repeat count do (receive-file in folder))
                   (load-backend
                    (kept-backend (or base (concatenate 'string folder "/backend"))
                                (lambda (base)
                                  (compile-backend base (sb-ext:parse-native-namestring
                                                       folder nil #p"" :as-directory t))))))
              (remove-folder folder)))))))

(defun become-image (identity &key (without "") folder registry silence)
  "Answer the requests of the server that is connected to standard input and output. Never return:
the process ends when that connection ends. IDENTITY, a string, is the version of the backend.
WITHOUT is the value for LIVE_LISP_WITHOUT: the abilities that the backend must not use. FOLDER is
the workspace or NIL. REGISTRY is the value for CL_SOURCE_REGISTRY, by which ASDF finds systems, or
NIL. SILENCE is NIL or a number of seconds: a server that sends nothing for so long counts as gone."
  (multiple-value-bind (in out) (move-standard-streams)
    ;; SBCL merges relative names with *DEFAULT-PATHNAME-DEFAULTS*, which it has set at its start.
    (when folder
      (handler-case
          (progn
            (sb-posix:chdir folder)
            (setf *default-pathname-defaults*
                  (sb-ext:parse-native-namestring (sb-posix:getcwd) nil #p"" :as-directory t)))
        (sb-posix:syscall-error ())))
    (when registry (sb-posix:setenv "CL_SOURCE_REGISTRY" registry 1))
    (sb-posix:setenv "LIVE_LISP_WITHOUT" without 1)
    ;; The backend recognizes by this variable the processes that the image has started, and ends
    ;; them with the image. If the command runs on the server's machine, the server has set the
    ;; variable already.
    (sb-posix:setenv "LIVE_LISP_IMAGE"
                     (format nil "~D-~36R" (sb-posix:getpid)
                             (random (expt 36 12) (make-random-state t)))
                     0)
    (with-standard-io-syntax
      (let ((*print-readably* nil) (*print-pretty* t) (*break-on-signals* nil))
        ;; After the backend's files, the server sends nothing until it has received the greeting.
        ;; So the buffer of INPUT contains no message when INPUT is dropped.
        (let ((input (sb-sys:make-fd-stream in :element-type '(unsigned-byte 8)))
              (output (sb-sys:make-fd-stream out :output t :element-type '(unsigned-byte 8))))
          (receive-backend input output identity))
        (funcall (find-symbol "MAIN" "LIVE-LISP.BACKEND") :in in :out out :silence silence)))))
