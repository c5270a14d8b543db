;;;; Compiles the backend in another SBCL process, once for each version of the backend and of SBCL,
;;;; and loads it into this image. For an SBCL that the server starts itself, the server compiles
;;;; the backend. This file is for the others: an image that somebody else runs (attaching.lisp),
;;;; and an image that a command has started (command.lisp).

(eval-when (:compile-toplevel :load-toplevel :execute)
  (require "SB-POSIX"))

(defpackage "LIVE-LISP.ATTACH"
  (:use "COMMON-LISP"))

(in-package "LIVE-LISP.ATTACH")

(defun home-folder ()
  "Return the native name of the user's home folder without a slash at the end. Take it from the
password database, because Emacs and the client of the server can have different values of HOME."
  (string-right-trim "/" (sb-posix:passwd-dir (sb-posix:getpwuid (sb-posix:getuid)))))

(defun variable-of (name)
  "Return the value of the environment variable NAME, or NIL if it is not set or empty."
  (let ((value (sb-ext:posix-getenv name)))
    (and value (plusp (length value)) value)))

(defun private-folder (folder)
  "Make FOLDER, a native name, if it does not exist, and remove the access of other users. Return
FOLDER. Signal an error if it belongs to another user or others still have access."
  (ensure-directories-exist (sb-ext:parse-native-namestring (concatenate 'string folder "/")))
  (let ((before (sb-posix:stat folder)))
    (when (= (sb-posix:stat-uid before) (sb-posix:getuid)) (sb-posix:chmod folder #o700)))
  (let ((stat (sb-posix:stat folder)))
    (unless (and (= (sb-posix:stat-uid stat) (sb-posix:getuid))
                 (zerop (logand #o077 (sb-posix:stat-mode stat))))
      (error "Another user owns or can use the folder ~A, so live-lisp does not use it. Remove ~\
              it, or change its owner and mode."
             folder)))
  folder)

(defun backends-folder ()
  "Return the native name of the folder in which compiled backends are kept."
  (private-folder (concatenate 'string (home-folder) "/.cache/live-lisp/backends")))

(defun compile-backend (base folder &rest environment)
  "Compile the backend in another SBCL process. FOLDER is the pathname of the folder with its
sources. BASE is the beginning of the path of the fasl to make. ENVIRONMENT lists additional
environment variables for the process, strings such as \"NAME=value\"."
  (sb-ext:run-program sb-ext:*runtime-pathname*
                      (list "--core" (sb-ext:native-namestring sb-ext:*core-pathname*)
                            "--noinform" "--no-sysinit" "--no-userinit" "--disable-debugger"
                            "--load" (sb-ext:native-namestring (merge-pathnames "boot.lisp" folder))
                            "--quit")
                      :environment
                      (append environment
                              (list (concatenate 'string "LIVE_LISP_FASL=" base)
                                    "LIVE_LISP_WORKERS=4"
                                    (format nil "LIVE_LISP_SERVER=~D" (sb-posix:getpid)))
                              (sb-ext:posix-environ))
                      :input nil :output nil :error nil))

(defun fasl-of (base)
  "Return the pathname of the compiled backend for this version of SBCL. BASE, a native name, is its
path without the version and type."
  (sb-ext:parse-native-namestring (format nil "~A-~A.fasl" base (lisp-implementation-version))))

(defun kept-backend (base compile)
  "Return the pathname of the compiled backend for this version of SBCL. BASE, a native name, is its
path without the version and type. If there is no such file, call the function COMPILE with BASE.
Signal an error if COMPILE did not make the file."
  (let ((fasl (fasl-of base)))
    (unless (probe-file fasl) (funcall compile base))
    (unless (probe-file fasl)
      (error "live-lisp could not compile its backend into ~A with ~A. Check that the disk ~\
              is not full, and that this program takes the options of SBCL."
             (let ((folder (make-pathname :name nil :type nil :version nil :defaults fasl)))
               (string-right-trim "/" (sb-ext:native-namestring folder)))
             sb-ext:*runtime-pathname*))
    fasl))

(defun load-backend (fasl)
  "Load FASL, the compiled backend, with standard syntax, and print nothing."
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*load-verbose* nil) (*load-print* nil)
          (*compile-verbose* nil) (*compile-print* nil)
          (*macroexpand-hook* 'funcall) (*break-on-signals* nil))
      (handler-bind ((warning #'muffle-warning))
        (load fasl)))))
