;;;; Loads the backend into this image and serves the image on a socket, where servers that work in
;;;; the same folder find it. attach.lisp loads this file with a standard readtable. The backend is
;;;; compiled in another SBCL process, once for each version of the backend and of SBCL.

(load (merge-pathnames "kept-backend.lisp" *load-truename*))

(in-package "LIVE-LISP.ATTACH")

(defparameter *folder* (make-pathname :name nil :type nil :version nil :defaults *load-truename*)
  "The folder of the backend's sources.")

(defun serving-folder ()
  "Return the native name of the folder in which servers look for images."
  (private-folder (or (variable-of "LIVE_LISP_SERVING")
                      (concatenate 'string (home-folder) "/.cache/live-lisp/serving"))))

;;; The compiled backend

(defun digest (files)
  "Return a 64-bit hash of the names and the contents of FILES, a list of pathnames."
  (let ((hash #xcbf29ce484222325)
        (octets (make-array 65536 :element-type '(unsigned-byte 8))))
    (declare (type (unsigned-byte 64) hash) (optimize speed)
             (type (simple-array (unsigned-byte 8) (*)) octets))
    (flet ((add (octet)
             (setf hash (ldb (byte 64 0) (* (logxor hash octet) #x100000001b3)))))
      (declare (inline add))
      (dolist (file files hash)
        (loop for char across (the string (enough-namestring file *folder*))
              do (add (char-code char)))
        (with-open-file (in file :element-type '(unsigned-byte 8))
          (loop for end of-type fixnum = (read-sequence octets in)
                until (zerop end)
                do (dotimes (index end) (add (aref octets index)))))))))

(defun backend-digest ()
  "Return the digest of the backend's source files as a string in base 36."
  (let ((files (sort (directory (merge-pathnames "**/*.lisp" *folder*)) #'string<
                     :key #'namestring)))
    (string-downcase (format nil "~36R" (digest files)))))

(defun compiled-backend (digest)
  "Return the pathname of the compiled backend with DIGEST, a string from BACKEND-DIGEST. Compile
the backend first if that file does not exist. Signal an error if it cannot be compiled."
  (kept-backend (format nil "~A/attached-~A" (backends-folder) digest)
              (lambda (base)
                (format t "~&; live-lisp compiles its backend for SBCL ~A, once.~%"
                        (lisp-implementation-version))
                (finish-output)
                (compile-backend base *folder* "LIVE_LISP_ATTACHED=1"))))

;;; Serving

(defun workspace ()
  "Return the native name of the folder that this image works in: *DEFAULT-PATHNAME-DEFAULTS*, which
SLIME and SLY set, merged with the current folder of the process. Signal an error if that is no
folder."
  (let* ((defaults *default-pathname-defaults*)
         (*default-pathname-defaults*
           (sb-ext:parse-native-namestring (sb-posix:getcwd) nil #p"" :as-directory t))
         (folder (handler-case
                     (truename (make-pathname :name nil :type nil :version nil
                                              :defaults (merge-pathnames defaults)))
                   (file-error () nil))))
    (unless (and folder (null (pathname-name folder)))
      (error "*DEFAULT-PATHNAME-DEFAULTS* is ~S, which is not a folder. It must be the folder ~
              that this image serves, so bind it: ~
              (let ((*default-pathname-defaults* #p\"/srv/shop/\")) (load ~S))"
             defaults (sb-ext:native-namestring (merge-pathnames "attach.lisp" *folder*))))
    (sb-ext:native-namestring folder)))

(defun take-out-other ()
  "Stop the backend that is already in this image, if there is one. Signal an error if LIVE-LISP
names a package that does not belong to the backend."
  (let ((package (find-package "LIVE-LISP")))
    (cond ((null package))
          ((find-package "LIVE-LISP.BASE")
           (let ((stop (find-symbol "STOP" package)))
             (when (and stop (fboundp stop)) (funcall stop))))
          (t (error "The package ~A of this image has the name or nickname LIVE-LISP, which ~
                     live-lisp needs, so nothing was loaded. Rename that package, and enter the ~
                     line again."
                    (package-name package))))))

(defun serve (digest)
  "Make this image accept servers on a socket. First remove a backend that is already in this image,
and load the compiled backend with DIGEST, a string from BACKEND-DIGEST. Write an entry file, by
which servers find the image. Return the name under which servers find it."
  (take-out-other)
  (let* ((folder (serving-folder))
         (name (format nil "sbcl-~D" (sb-posix:getpid)))
         (socket (format nil "~A/~A.socket" folder name))
         (entry (format nil "~A/~A.json" folder name))
         (workspace (workspace)))
    (load-backend (compiled-backend digest))
    (dolist (path (list socket entry))
      (handler-case (sb-posix:unlink path) (sb-posix:syscall-error ())))
    (funcall (find-symbol "SERVE" "LIVE-LISP.BACKEND") socket :entry entry)
    (funcall (find-symbol "WRITE-ENTRY" "LIVE-LISP.BACKEND") entry
             "name" name "pid" (sb-posix:getpid) "workspace" workspace "socket" socket
             "started" (- (get-universal-time) (encode-universal-time 0 0 0 1 1 1970 0))
             "lisp" (format nil "SBCL ~A" (lisp-implementation-version)))
    (format t "~&; live-lisp serves this image as ~A to agents that work in ~A. (live-lisp:stop) ~\
               ends the service.~%"
            name workspace)
    name))

(let ((*print-pretty* nil)) (serve (backend-digest)))
