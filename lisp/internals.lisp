;;;; Finds the internals of SBCL that the agent can use. In another SBCL, a name can mean something
;;;; else. So each internal is tried on an example, its probe (base/probes.lisp). Probes run in a
;;;; child process, since a wrong internal can end or hang its process.

(defpackage "LIVE-LISP.INTERNALS"
  (:use "COMMON-LISP")
  (:export "*PROVEN*" "*UNPROVEN*" "PROBE-INTERNALS" "AGENT-FILES" "SOURCE" "IN-CHILD"
           "END-OF-PROCESS" "PROCESS-ID" "MAKE-TEMPORARY-FOLDER"))

(in-package "LIVE-LISP.INTERNALS")

(defparameter *folder*
  (let ((file #.(or *compile-file-truename* *load-truename*)))
    (make-pathname :name nil :type nil :version nil :defaults file))
  "The folder of the agent's sources.")

(defun source (name)
  "Return the pathname of the source file NAME, such as \"base/json\"."
  (merge-pathnames (concatenate 'string name ".lisp") *folder*))

(defun files-of (components &optional (folder ""))
  "Return the names of the files in COMPONENTS, a list as in DEFSYSTEM, below FOLDER."
  (loop for (kind name . options) in components
        append (ecase kind
                 (:file (list (concatenate 'string folder name)))
                 (:module (files-of (getf options :components)
                                    (concatenate 'string folder name "/"))))))

(defun agent-files ()
  "Return the names of the agent's files, such as \"base/json\", in the order in which they are
loaded. live-lisp.asd lists them."
  (with-open-file (in (merge-pathnames "live-lisp.asd" *folder*) :external-format :utf-8)
    (let ((*package* (find-package "LIVE-LISP.INTERNALS")) (*read-eval* nil))
      (files-of (getf (cddr (read in)) :components)))))

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
      (loop for name in (agent-files)
            until (string= name "base/probes")
            do (load (source name))))
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
  "Set *PROVEN* and *UNPROVEN*. A probe may have succeeded only because of another internal that
failed. So all probes run again without the failed internals, until no more fail. FILES is as for
RUN-PROBES."
  (handler-case
      (loop for before = (length *unproven*)
            do (setf *proven* '())
               (run-all-probes files)
            until (= before (length *unproven*)))
    (error (failure) (note-unproven "everything" (format nil "cannot be tried (~A)" failure)))))

(defun process-id ()
  "Return the id of this process."
  (funcall (intern "GETPID" "SB-POSIX")))

(defun make-temporary-folder ()
  "Make a folder for temporary files, with access for this user only, and return its name. The name
contains the process id of the server, as the names of the server's own temporary folders do. If no
server started this process, the name contains the id of this process instead."
  (funcall (intern "MKDTEMP" "SB-POSIX")
           (format nil "~A/live-lisp-~A-XXXXXX" (or (sb-ext:posix-getenv "TMPDIR") "/tmp")
                   (or (sb-ext:posix-getenv "LIVE_LISP_SERVER") (process-id)))))

(defun print-results ()
  "Run the probes, and print *PROVEN* and *UNPROVEN* as one list."
  (let ((folder (make-temporary-folder)))
    (probe-internals (concatenate 'string folder "/probe"))
    (funcall (intern "RMDIR" "SB-POSIX") folder)
    (with-standard-io-syntax (print (list *proven* *unproven*)))))

(defun results-of-another-sbcl ()
  "Return the list that PRINT-RESULTS prints in another process of this SBCL: this process can have
threads, with which SBCL cannot fork. If this program has its core in itself, it may not be SBCL:
then return a list that says that nothing was tried."
  (if (equal sb-ext:*runtime-pathname* sb-ext:*core-pathname*)
      '(() (("everything" "this program has its core in itself")))
      (let* ((forms (list "(require \"SB-POSIX\")"
                          (format nil "(load ~S)" (namestring (source "internals")))
                          "(live-lisp.internals::print-results)"))
             (options (list* "--core" (sb-ext:native-namestring sb-ext:*core-pathname*)
                             "--noinform" "--no-sysinit" "--no-userinit" "--disable-debugger"
                             (loop for form in forms append (list "--eval" form))))
             (output (with-output-to-string (out)
                       (sb-ext:run-program sb-ext:*runtime-pathname* (append options '("--quit"))
                                           :output out))))
        (with-standard-io-syntax
          (let ((*read-eval* nil))
            (read-from-string output))))))
