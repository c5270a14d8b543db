;;;; Loads the agent when there is no fasl of it in the cache: compiles it there for
;;;; the next start, or, where that is not possible, loads its source.
;;;; LIVE_LISP_FASL is the file to make, without the SBCL version.

(defpackage "LIVE-LISP.BOOT" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BOOT")

(defparameter *files*
  '("package" "internals" "json" "wire" "capture" "session" "stack" "conditions" "limits" "jobs" "threads" "operations"
    "names" "symbols" "code" "xref" "describe" "warnings" "locals" "status"
    "builders" "building" "assignments" "context" "journal" "evaluate" "load" "undo" "compile" "crossing" "call-tool"
    "tools" "registry" "schemas" "run-tool" "arglist" "packages" "classes" "hierarchy" "expand"
    "collection" "memory" "leave" "main")
  "The files of the agent, each using only those before it.")

(defun source (name)
  "Return the source file NAME."
  (merge-pathnames (concatenate 'string name ".lisp") *load-truename*))

(defun join-files (parts target)
  "Write the octets of the files PARTS to TARGET, one after the other."
  (with-open-file (out target :direction :output :element-type '(unsigned-byte 8) :if-exists :supersede)
    (dolist (part parts)
      (with-open-file (in part :element-type '(unsigned-byte 8))
        (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8))))
          (read-sequence octets in)
          (write-sequence octets out))))))

(defun compile-agent (target)
  "Compile and load the agent, and leave its fasl as TARGET, whole or not at all."
  (let* ((unique (format nil "~A.~36R" target (random (expt 36 8) (make-random-state t))))
         (parts (loop for name in *files*
                      for part = (format nil "~A.~A" unique name)
                      do (load (compile-file (source name) :output-file part))
                      collect part)))
    (unwind-protect
         (progn (join-files parts unique)
                (rename-file unique target))
      (mapc (lambda (part) (ignore-errors (delete-file part))) parts))))

(let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil)
      (*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream))
      (base (sb-ext:posix-getenv "LIVE_LISP_FASL")))
  (handler-bind ((warning #'muffle-warning))
    (handler-case (compile-agent (sb-ext:parse-native-namestring
                                  (format nil "~A-~A.fasl" base (lisp-implementation-version))))
      (error ()
        (handler-bind ((error (lambda (condition) (format sb-sys:*stderr* "~&~A~%" condition))))
          (dolist (name *files*) (load (source name))))))))
