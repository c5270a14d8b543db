;;;; Loads the agent when the cache has no fasl of it, and compiles a fasl for the next start. Where
;;;; that is not possible, it loads the source. It reads these environment variables. LIVE_LISP_FASL
;;;; is the path of the fasl, without the SBCL version. LIVE_LISP_SERVER is the process id of the
;;;; server: names of temporary files contain it, so that those of ended servers can be removed. If
;;;; LIVE_LISP_WORKERS is set, this number of processes compile the fasl, and the agent is not
;;;; loaded. If LIVE_LISP_STRICT is set, compiler warnings are printed and SBCL exits with 1.
;;;; Otherwise warnings are ignored.

(defpackage "LIVE-LISP.BOOT" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BOOT")

(defparameter *rooms*
  '(("base" "package" "sbcl" "sbcl-code" "sbcl-definitions" "sbcl-observe" "sbcl-system" "sbcl-uses"
     "probes" "own" "wrapping" "json" "capture" "stack" "printing" "wire")
    ("jobs" "package" "begun" "readtables" "session" "asdf" "spans" "places" "frames" "near"
     "conditions" "hold" "features" "jobs" "threads" "operations" "spent" "styles" "warnings" "ids"
     "locals" "status")
    ("guard" "package" "address-space" "threads" "collection" "memory" "leave")
    ("look" "package" "names" "symbols" "code" "users" "holds" "runs" "walk" "top-forms" "texts"
     "loads" "uses" "index" "sites" "systems" "rows" "xref" "describe" "arglist" "packages"
     "classes" "hierarchy" "dispatch" "combination" "ranked" "unused" "class-impact" "impact")
    ("sources" "package" "definitions" "touched" "texts" "items" "files" "users" "changes" "loads"
     "forget" "compare" "displaced" "disk" "naming" "renaming")
    ("journal" "package" "context" "effects" "settings" "assignments" "journal" "replay")
    ("evaluate" "package" "evaluate" "systems" "scripts" "load" "system-files" "undo" "compile"
     "expand" "check" "probe")
    ("debug" "package" "locks" "held" "leaving" "actions" "operations" "threads" "watch" "parts"
     "inspect")
    ("observe" "package" "recording" "probes" "calls" "types" "previous" "samples" "timing"
     "operation")
    ("tests" "package" "plan" "frameworks" "measured" "coverage" "texts" "difference" "results"
     "checks" "fiveam" "rt" "fiasco" "stefil" "ptester" "xlunit" "parachute" "rove" "lift" "clunit"
     "lisp-unit2" "prove" "try" "operations")
    ("tools" "package" "crossing" "call-tool" "tools" "registry" "schemas" "run-tool"))
  "The folders (rooms) of the agent, each with its files. A file uses only names from files before
it.")

(defparameter *files*
  (append (loop for (room . names) in *rooms*
                append (loop for name in names collect (concatenate 'string room "/" name)))
          '("main"))
  "The files of the agent in the order in which they are loaded.")

(defvar *warnings* '()
  "Texts of the compiler's warnings, and of errors that prevented the compilation, newest first.")

(defun source (name)
  "Return the pathname of the source file NAME, such as \"base/json\"."
  (merge-pathnames (concatenate 'string name ".lisp") *load-truename*))

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
  "Add the text of CONDITION, with its file, to *WARNINGS*. Muffle it if it is a warning."
  (push (format nil "~A: ~A" (or *compile-file-pathname* *load-pathname*) condition) *warnings*)
  (when (typep condition 'warning) (muffle-warning condition)))

(defun compile-part (name part)
  "Compile the source file NAME to the fasl PART, and return the pathname of PART."
  (handler-bind ((warning #'note-condition))
    (compile-file (source name) :output-file part)))

(defun end-with-parent ()
  "Have Linux send this process SIGKILL when its parent ends."
  #+linux (sb-alien:alien-funcall
           (sb-alien:extern-alien "prctl"
                                  (function sb-alien:int sb-alien:int sb-alien:unsigned-long))
           1 9))

(defun in-child (function)
  "Call FUNCTION in a child process, and return the id of this process. The child exits with 0 when
FUNCTION returns, and with 1 after an error."
  (let ((id (funcall (intern "FORK" "SB-POSIX"))))
    (when (zerop id)
      (end-with-parent)
      (sb-ext:exit :code (handler-case (progn (funcall function) 0) (error () 1)) :abort t))
    id))

(defun end-of-process (id)
  "Wait for the end of the process ID, and return its status as waitpid reports it: 0 if it exited
with 0."
  (nth-value 1 (funcall (intern "WAITPID" "SB-POSIX") id 0)))

(defun compile-side-by-side (parts workers)
  "Compile PARTS in WORKERS processes at once. PARTS is an alist from names of source files to paths
of fasls. First load all sources interpreted, so that each file finds the macros and structures of
others. This takes a thirtieth of the time. The last source is left out, as it unexports the agent's
symbols. Macros stay interpreted: compiling them would cost more time than it saves. Signal an error
if a process fails."
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
            (error "A process that compiled a part of the agent failed.")))))))

;;; Finding the internals of SBCL that the agent can use. In another SBCL, a name can mean something
;;; else. So each internal is tried on an example, its probe (lisp/base/probes.lisp). Probes run in
;;; a child process, since a wrong internal can end or hang its process.

(defvar *proven* '() "The names of the internals and abilities whose probes succeeded.")
(defvar *unproven* '()
  "Lists of the name of an internal or ability whose probe failed, and the reason as text.")

(defparameter *patience* 60
  "After this many seconds a probe counts as hanging. Probes take milliseconds.")

(defun run-probes (start files descriptor)
  "Run all probes from number START on, counted from 0. Write their results to the file DESCRIPTOR.
FILES is a prefix for the names of files that probes make."
  (let ((out (sb-sys:make-fd-stream descriptor :output t :external-format :utf-8))
        (nowhere (funcall (intern "OPEN" "SB-POSIX") "/dev/null" 1)))
    ;; The runtime prints a message for each exhausted stack.
    (dolist (stream '(1 2)) (funcall (intern "DUP2" "SB-POSIX") nowhere stream))
    (let ((sb-ext:*evaluator-mode* :interpret))
      (loop for name in (rest (assoc "base" *rooms* :test #'string=))
            until (string= name "probes")
            do (load (source (concatenate 'string "base/" name)))))
    (load (source "base/probes"))
    (funcall (intern "RUN-PROBES" "LIVE-LISP.BASE") start files
             (lambda (result names)
               (format out "~S~%" (cons result names))
               (finish-output out)))
    (format out "(:end)~%")
    (finish-output out)))

(defun note-unproven (name why)
  "Add NAME and WHY, the reason why the agent cannot use it, to *UNPROVEN*, unless NAME is there
already."
  (unless (assoc name *unproven* :test #'string=) (push (list name why) *unproven*)))

(defun take-results (in)
  "Read the results of probes from the stream IN, and record them. Return two values: the number of
probes that ended, failed ones included, and whether this is all of them."
  (let ((ended 0) (begun '()))
    (loop for (result . names) = (handler-case (read in nil '(:lost))
                                   (error () '(:stands-still)))
          do (case result
               (:end (return (values ended t)))
               (:begins (setf begun names))
               (:right (incf ended)
                (setf *proven* (append names *proven*)))
               ((:lost :stands-still)
                (loop for name in (or begun '("everything"))
                      do (note-unproven name
                                        (if (eq result :lost) "ended the process" "stood still")))
                (return (values (1+ ended) (null begun))))
               (t (incf ended)
                  (dolist (name names) (note-unproven name result)))))))

(defun run-all-probes (files)
  "Run all probes. If a probe ends its process or hangs, run the probes after it in another process.
FILES is as for RUN-PROBES."
  (loop with start = 0
        do (multiple-value-bind (from to) (funcall (intern "PIPE" "SB-POSIX"))
             (let* ((id (in-child (lambda () (run-probes start files to))))
                    (in (progn (funcall (intern "CLOSE" "SB-POSIX") to)
                               (sb-sys:make-fd-stream from :input t :timeout *patience*
                                                      :external-format :utf-8))))
               (multiple-value-bind (ended all) (let ((*read-eval* nil)) (take-results in))
                 (close in)
                 (ignore-errors (funcall (intern "KILL" "SB-POSIX") id 9))
                 (end-of-process id)
                 (when all (return))
                 (incf start ended))))))

(defun probe-internals (files)
  "Find the internals of SBCL that the agent can use. A probe may have succeeded only because of
another internal that failed. So all probes run again without the failed internals, until no more
fail. FILES is as for RUN-PROBES."
  (loop for before = (length *unproven*)
        do (setf *proven* '())
           (run-all-probes files)
        until (= before (length *unproven*))))

(defun set-umask (mask)
  "Set the umask of this process to MASK, and return the old umask."
  (sb-alien:alien-funcall (sb-alien:extern-alien "umask"
                                                 (function sb-alien:unsigned-int
                                                           sb-alien:unsigned-int))
                          mask))

(defun writable-p (name)
  "True when a file NAME, which does not exist, can be created."
  (handler-case (with-open-file (out name :direction :output :if-exists :error)
                  (delete-file out))
    (error () nil)))

(defun process-id ()
  "Return the id of this process."
  (funcall (intern "GETPID" "SB-POSIX")))

(defun make-temporary-folder ()
  "Make a folder for temporary files that only this user may enter, and return its name. The name
contains LIVE_LISP_SERVER, as do the names of the server's temporary folders."
  (funcall (intern "MKDTEMP" "SB-POSIX")
           (format nil "~A/live-lisp-~A-XXXXXX" (or (sb-ext:posix-getenv "TMPDIR") "/tmp")
                   (sb-ext:posix-getenv "LIVE_LISP_SERVER"))))

(defun compile-agent (target)
  "Compile the agent into the fasl TARGET, which appears only when it is complete. Load the agent
too, unless LIVE_LISP_WORKERS is set. Signal an error if compiling or loading fails. If the folder
of TARGET is not writable, as in a sandbox, load the agent but keep no fasl."
  ;; Without SB-POSIX the probes cannot run, so the agent would be compiled without any internals.
  (ignore-errors (require "SB-POSIX"))
  (let* ((beside (format nil "~A.~A.~36R" target (sb-ext:posix-getenv "LIVE_LISP_SERVER")
                         (random (expt 36 8) (make-random-state t))))
         (folder (unless (writable-p beside) (ignore-errors (make-temporary-folder))))
         (maker (and folder (process-id)))
         (unique (if folder (concatenate 'string folder "/agent") beside))
         (parts (loop for name in *files*
                      collect (cons name (format nil "~A.~A" unique (substitute #\- #\/ name)))))
         (workers (sb-ext:posix-getenv "LIVE_LISP_WORKERS"))
         ;; The server does not load a fasl that others could write to.
         (mask (set-umask #o077)))
    (unwind-protect
         (progn
           (handler-case (probe-internals unique)
             (error (failure)
               (push (list "everything" (format nil "cannot be tried (~A)" failure)) *unproven*)))
           (if workers
               (compile-side-by-side parts (parse-integer workers))
               (loop for (name . part) in parts do (load (compile-part name part))))
           (unless folder
             (handler-case (progn (join-files (mapcar #'cdr parts) unique)
                                  (rename-file unique target))
               (error (failure) (note-condition failure)))))
      (set-umask mask)
      (dolist (part (cons unique (mapcar #'cdr parts))) (ignore-errors (delete-file part)))
      ;; A probe of EXIT runs in a child process that unwinds to here. The child must not remove the
      ;; folder.
      (when (and folder (eql maker (process-id)))
        (ignore-errors (funcall (intern "RMDIR" "SB-POSIX") folder))))))

(let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil)
      (*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream))
      (base (sb-ext:posix-getenv "LIVE_LISP_FASL")))
  (handler-bind ((warning #'muffle-warning))
    (handler-case (compile-agent (sb-ext:parse-native-namestring
                                  (format nil "~A-~A.fasl" base (lisp-implementation-version))))
      (error (failure)
        (note-condition failure)
        (unless (sb-ext:posix-getenv "LIVE_LISP_WORKERS")
          (handler-bind ((error (lambda (condition) (format sb-sys:*stderr* "~&~A~%" condition))))
            (dolist (name *files*) (load (source name)))))))))

(when (and *warnings* (sb-ext:posix-getenv "LIVE_LISP_STRICT"))
  (format sb-sys:*stderr* "~&~{~A~%~}" (reverse *warnings*))
  (sb-ext:exit :code 1 :abort t))
