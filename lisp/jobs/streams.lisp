;;;; The standard streams of jobs.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **stream-format** '(:utf-8 :replacement #\ufffd)
  "The external format of the standard streams of a fresh SBCL.")

(sb-ext:defglobal **input** nil
  "An input stream for characters and octets that is at its end, or NIL before the first job.")

(defun ended-input ()
  "Return an input stream that is at its end, so that a job reads nothing from the standard input of
the process. Make a new one if the program has closed the last one."
  ;; LOAD-TIME-VALUE fetches SBCL's functions when the backend is loaded, because a program can
  ;; redefine them later.
  (let ((input **input**))
    (if (and input (open-stream-p input))
        input
        (setf **input** (funcall (load-time-value #'open)
                                 #p"/dev/null"
                                 :element-type :default
                                 :external-format **stream-format**)))))

(defun format-of-stream (function &rest arguments)
  "Hook: FUNCTION is the original STREAM-EXTERNAL-FORMAT. Call it with ARGUMENTS. A stream that
writes to a capture has no external format. For such a stream, return the format that standard
output has in a fresh SBCL."
  (if (and arguments (captured-p (first arguments)))
      **stream-format**
      (apply function arguments)))

(define-hook stream-external-format format-of-stream)

(defun listen-for-formats ()
  "Install the hook of FORMAT-OF-STREAM, so that STREAM-EXTERNAL-FORMAT works for the streams of
jobs."
  (install-hooks 'format-of-stream))

(defmacro with-job-streams ((capture) &body body)
  "Evaluate BODY with standard output streams that write to CAPTURE, and standard input streams at
their end. In an image that somebody else runs, also bind SBCL's own streams, such as
SB-SYS:*STDIN*, so that BODY does not use the terminal of the person who runs the image."
  (let ((input (gensym "INPUT")) (output (gensym "OUTPUT")) (terminal (gensym "TERMINAL")))
    ;; LOAD-TIME-VALUE fetches SBCL's function when the backend is loaded, because a program can
    ;; redefine it later. The job cannot be interrupted here yet.
    `(let* ((,input (ended-input))
            (,output (capturing ,capture))
            (,terminal (funcall (load-time-value #'make-two-way-stream) ,input ,output))
            (*thread-capture* ,capture)
            (*standard-input* ,input) (*standard-output* ,output)
            (*error-output* ,output) (*trace-output* ,output)
            (*query-io* ,terminal) (*debug-io* ,terminal) (*terminal-io* ,terminal))
       (progv (and **attached** '(sb-sys:*stdin* sb-sys:*stdout* sb-sys:*stderr* sb-sys:*tty*))
           (list ,input ,output ,output ,terminal)
         ,@body))))
