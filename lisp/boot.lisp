;;;; Loads the backend when the cache has no fasl of the backend, and compiles a fasl for the next
;;;; start. If compiling is not possible, it loads the source. It reads these environment variables.
;;;; LIVE_LISP_FASL is the path of the fasl, without the SBCL version. LIVE_LISP_SERVER is the
;;;; process id of the server: names of temporary files contain it, so that those of ended servers
;;;; can be removed. If LIVE_LISP_WORKERS is set, this number of processes compile the fasl, and the
;;;; backend is not loaded. If LIVE_LISP_ATTACHED is set, the fasl also contains attached.lisp, for
;;;; images that somebody else runs. If LIVE_LISP_STRICT is set, compiler warnings are printed and
;;;; SBCL exits with 1. Otherwise warnings are ignored.

(load (merge-pathnames "internals.lisp" *load-truename*))

(defpackage "LIVE-LISP.BOOT" (:use "COMMON-LISP" "LIVE-LISP.INTERNALS"))
(in-package "LIVE-LISP.BOOT")

(defparameter *files*
  (append (backend-files)
          (and (sb-ext:posix-getenv "LIVE_LISP_ATTACHED") '("attached"))
          '("closed"))
  "The names of the files in the backend's fasl, in the order in which they are loaded.")

(defvar *warnings* '()
  "A list of texts, newest first: the warnings of the compiler, and the errors that stopped a
compilation.")

(defun join-files (parts target)
  "Write the octets of the files PARTS to TARGET, one after the other."
  (with-open-file (out target :direction :output :element-type '(unsigned-byte 8)
                       :if-exists :supersede)
    (dolist (part parts)
      (with-open-file (in part :element-type '(unsigned-byte 8))
        (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8))))
          (read-sequence octets in)
          (write-sequence octets out))))))

(defun note-condition (condition)
  "Add a text to *WARNINGS*: the file being compiled or loaded, and CONDITION. Muffle CONDITION if
it is a warning."
  (push (format nil "~A: ~A" (or *compile-file-pathname* *load-pathname*) condition) *warnings*)
  (when (typep condition 'warning) (muffle-warning condition)))

(defun compile-part (name part)
  "Compile the source file NAME to the fasl PART, and return the pathname of PART."
  (multiple-value-bind (fasl warned failed)
      (handler-bind ((warning #'note-condition))
        (compile-file (source name) :output-file part))
    (declare (ignore warned))
    ;; The compiler signals no warning for an error in a form.
    (when failed
      (push (format nil "~A: has a form that cannot be compiled" (source name)) *warnings*))
    fasl))

(defun compile-side-by-side (parts workers)
  "Compile PARTS, an alist from names of source files to paths of fasls, in WORKERS processes at
once. First load all sources interpreted, so that each file finds the macros and structures of the
others. Such a load takes a thirtieth of the time of compiling. Do not load the last source, because
it unexports the backend's symbols. Leave the macros interpreted, because compiling them would cost
more time than it saves. Signal an error if a process fails."
  (let ((sb-ext:*evaluator-mode* :interpret))
    (loop for (name) in (butlast parts) do (load (source name)))
    (flet ((size (part)
             (with-open-file (in (source (first part))) (file-length in))))
      (let* ((ordered (sort (copy-list parts) #'> :key #'size))
             (shares (loop for worker below workers
                           collect (loop for part in (nthcdr worker ordered)
                                           by (lambda (rest) (nthcdr workers rest))
                                         collect part))))
        (dolist (id (loop for share in shares
                          collect (let ((share share))
                                    (in-child (lambda ()
                                                (loop for (name . part) in share
                                                      do (compile-part name part)))))))
          (unless (eql 0 (end-of-process id))
            (error "A process that compiled a part of the backend failed.")))))))

(defun set-umask (mask)
  "Set the umask of this process to MASK, and return the old umask."
  (sb-alien:alien-funcall (sb-alien:extern-alien "umask"
                                                 (function sb-alien:unsigned-int
                                                           sb-alien:unsigned-int))
                          mask))

(defun writable-p (name)
  "Return true if the file NAME can be created. NAME must not exist yet."
  (handler-case (with-open-file (out name :direction :output :if-exists :error)
                  (delete-file out))
    (error () nil)))

(defun compile-backend (target)
  "Compile the backend into the fasl TARGET. TARGET appears only when it is complete. Load the
backend too, unless LIVE_LISP_WORKERS is set. Signal an error if compiling or loading fails. If the
folder of TARGET is not writable, as in a sandbox, load the backend and write no TARGET."
  ;; Without SB-POSIX the probes cannot run, so the backend would be compiled without any internals.
  (ignore-errors (require "SB-POSIX"))
  (let* ((beside (format nil "~A.~A.~36R" target (sb-ext:posix-getenv "LIVE_LISP_SERVER")
                         (random (expt 36 8) (make-random-state t))))
         (folder (unless (writable-p beside) (ignore-errors (make-temporary-folder))))
         (maker (and folder (process-id)))
         (unique (if folder (concatenate 'string folder "/backend") beside))
         (parts (loop for name in *files*
                      collect (cons name (format nil "~A.~A" unique (substitute #\- #\/ name)))))
         (workers (sb-ext:posix-getenv "LIVE_LISP_WORKERS"))
         ;; The server does not load a fasl that others could write to.
         (mask (set-umask #o077)))
    (unwind-protect
         (progn
           (probe-internals unique)
           (if workers
               (compile-side-by-side parts (parse-integer workers))
               (loop for (name . part) in parts do (load (compile-part name part))))
           (unless folder
             (handler-case (progn (join-files (mapcar #'cdr parts) unique)
                                  (rename-file unique target))
               (error (failure) (note-condition failure)))))
      (set-umask mask)
      (dolist (part (cons unique (mapcar #'cdr parts)))
        (handler-case (delete-file part) (file-error ())))
      ;; A probe of EXIT runs in a child process that unwinds to here. The child must not remove the
      ;; folder.
      (when (and folder (eql maker (process-id)))
        (ignore-errors (funcall (intern "RMDIR" "SB-POSIX") folder))))))

(let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil)
      (*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream))
      (base (sb-ext:posix-getenv "LIVE_LISP_FASL")))
  (handler-bind ((warning #'muffle-warning))
    (handler-case (compile-backend (sb-ext:parse-native-namestring
                                  (format nil "~A-~A.fasl" base (lisp-implementation-version))))
      (error (failure)
        (note-condition failure)
        (unless (sb-ext:posix-getenv "LIVE_LISP_WORKERS")
          (handler-bind ((error (lambda (condition) (format sb-sys:*stderr* "~&~A~%" condition))))
            (dolist (name *files*) (load (source name)))))))))

(when (and *warnings* (sb-ext:posix-getenv "LIVE_LISP_STRICT"))
  (format sb-sys:*stderr* "~&~{~A~%~}" (reverse *warnings*))
  (sb-ext:exit :code 1 :abort t))
