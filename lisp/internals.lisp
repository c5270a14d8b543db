;;;; Determines which internals of SBCL the backend can use. In another SBCL version, an internal
;;;; name can mean something else, so each internal is tried on an example, called its probe (see
;;;; base/probes.lisp). Probes run in a child process, because a wrong internal can end or hang the
;;;; process that uses it. SB-POSIX may not be loaded yet when this file is read, so its functions
;;;; are looked up by INTERN at run time.

(defpackage "LIVE-LISP.INTERNALS"
  (:use "COMMON-LISP")
  (:export "*PROVEN*" "*UNPROVEN*" "PROBE-INTERNALS" "BACKEND-FILES" "SOURCE" "IN-CHILD"
           "END-OF-PROCESS" "PROCESS-ID" "MAKE-TEMPORARY-FOLDER"))

(in-package "LIVE-LISP.INTERNALS")

(defparameter *folder*
  (let ((file #.(or *compile-file-truename* *load-truename*)))
    (make-pathname :name nil :type nil :version nil :defaults file))
  "The folder of the backend's sources.")

(defun source (name)
  "Return the pathname of the source file NAME, such as \"base/json\"."
  (merge-pathnames (concatenate 'string name ".lisp") *folder*))

(defun files-of (components &optional (folder ""))
  "Return a list of the names of the source files in COMPONENTS, the :COMPONENTS list of a DEFSYSTEM
form. Each name begins with the string FOLDER."
  (loop for (kind name . options) in components
        append (ecase kind
                 (:file (list (concatenate 'string folder name)))
                 (:module (files-of (getf options :components)
                                    (concatenate 'string folder name "/"))))))

(defun backend-files ()
  "Return the names of the backend's files, such as \"base/json\", in the order in which they are
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
  "Wait for the end of the process with the id ID, and return its status from waitpid(2): 0 if it
exited with 0."
  (nth-value 1 (funcall (intern "WAITPID" "SB-POSIX") id 0)))

(defvar *proven* '()
  "A list of the names of the internals and abilities whose probe, a test in base/probes.lisp, has
succeeded.")
(defvar *unproven* '()
  "A list of (NAME WHY) lists: the name of an internal or ability whose probe, a test in
base/probes.lisp, has failed, and the reason as text.")

(defparameter *patience* 60
  "The number of seconds without output after which a process with probes counts as hanging. A probe
takes milliseconds.")

(defun run-probes (start files descriptor)
  "Run the probes, the tests in base/probes.lisp, from the probe number START (from 0) to the last.
Write their results as lists to the file DESCRIPTOR. Probes create files whose names begin with the
string FILES."
  (let ((out (sb-sys:make-fd-stream descriptor :output t :external-format :utf-8))
        (nowhere (funcall (intern "OPEN" "SB-POSIX") "/dev/null" 1)))
    ;; Discard the standard output and error output: the runtime prints a message there for each
    ;; exhausted stack.
    (dolist (stream '(1 2)) (funcall (intern "DUP2" "SB-POSIX") nowhere stream))
    ;; Interpreted, these files load much faster than if each form were compiled.
    (let ((sb-ext:*evaluator-mode* :interpret))
      (loop for name in (backend-files)
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
  "Add a list (NAME WHY) to *UNPROVEN*, unless it has one for NAME. NAME is the name of an internal
or ability, and WHY a text with the reason why the backend cannot use it."
  (unless (assoc name *unproven* :test #'string=) (push (list name why) *unproven*)))

(defun take-results (in)
  "Read the results of probes, the tests in base/probes.lisp, from the stream IN. Add them to
*PROVEN* and *UNPROVEN*. Return two values: the number of probes that are done, and true if no
probe is left to run. A probe that hung or made its process end also counts as done. A result is a
list (RESULT . NAMES). NAMES are the internals and abilities that the probe tries. RESULT is :BEGINS
before the probe. After it, RESULT is :RIGHT or a text about the failure."
  ;; DONE is the number of probes that are done, and BEGUN the NAMES of the probe that began last.
  (let ((done 0) (begun '()))
    ;; IN ends when the process has ended. An error is usually the timeout of IN (*PATIENCE*).
    (loop for (result . names) = (handler-case (read in nil '(:lost))
                                   (error () '(:stands-still)))
          do (case result
               (:end (return (values done t)))
               (:begins (setf begun names))
               (:right (incf done)
                (setf *proven* (append names *proven*)))
               ((:lost :stands-still)
                (loop for name in (or begun '("everything"))
                      do (note-unproven name
                                        (if (eq result :lost) "ended the process" "stood still")))
                ;; If no probe has begun, none would begin in a new process.
                (return (values (1+ done) (null begun))))
               (t (incf done)
                  (dolist (name names) (note-unproven name result)))))))

(defun run-all-probes (files)
  "Run all probes in a child process, and record their results. When a probe hangs or makes its
process end, run the probes that follow in a new process. Probes create files whose names begin with
the string FILES."
  (loop with start = 0
        do (multiple-value-bind (from to) (funcall (intern "PIPE" "SB-POSIX"))
             (let* ((id (in-child (lambda () (run-probes start files to))))
                    (in (progn (funcall (intern "CLOSE" "SB-POSIX") to)
                               (sb-sys:make-fd-stream from :input t :timeout *patience*
                                                      :external-format :utf-8))))
               (multiple-value-bind (done none-left) (let ((*read-eval* nil)) (take-results in))
                 (close in)
                 (ignore-errors (funcall (intern "KILL" "SB-POSIX") id 9))
                 (end-of-process id)
                 (when none-left (return))
                 (incf start done))))))

(defun probe-internals (files)
  "Run the probes, the tests in base/probes.lisp, and set *PROVEN* and *UNPROVEN*. A probe may have
succeeded only because of another internal that failed. So run all probes again without the failed
internals, until no more fail. Probes create files whose names begin with the string FILES."
  (handler-case
      (loop for before = (length *unproven*)
            do (setf *proven* '())
               (run-all-probes files)
            until (= before (length *unproven*)))
    (error (failure) (note-unproven "everything" (format nil "cannot be tried (~A)" failure)))))

(defun process-id ()
  "Return the process id as an integer."
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
  "Return the list that PRINT-RESULTS prints in another process of this SBCL. This process cannot
run the probes itself if it has several threads, because SBCL then cannot fork. If the core is part
of the executable file, that file may be another program than SBCL: then return a list that says
that nothing was tried."
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
