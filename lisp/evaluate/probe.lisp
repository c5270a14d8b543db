;;;; Tests whether the image still works. The server asks for this when calls fail in a way that the
;;;; image itself may have caused.

(in-package "LIVE-LISP.EVALUATE")

(defparameter *probe*
  "#+CL:NIL 1 (CL:LIST (CL:WHEN CL:T 1) \"a\" #\\b 1.5 (CL:FUNCALL (CL:LAMBDA () :C)))"
  "The text of a form with the value (1 \"a\" #\\b 1.5 :C). To evaluate it, SBCL must expand macros
and compile.")

(defun idle-compiler ()
  "Return the thread that holds the compiler's lock although it does not run, or NIL. Skip the
threads of jobs, because the server can end a job."
  (let ((holder (and compiler-lock (sb-thread:mutex-owner compiler-lock))))
    (when (and holder
               (not (eq holder sb-thread:*current-thread*))
               (loop for job being the hash-values of **jobs** never (eq holder (job-thread job))))
      (let ((before (first (spent holder))))
        (sleep 0.3)
        (and before
             (eq holder (sb-thread:mutex-owner compiler-lock))
             (eql before (first (spent holder)))
             holder)))))

(defun fresh-session-works-p ()
  "Return true if the form *PROBE* can be read, evaluated and printed in a fresh session."
  (let ((*form-number* 0) (*form-text* nil) (*value-budget* *value-limit*) (*evaluated-values* '()))
    (call-in-fresh-session (lambda () (evaluate-text *probe*)))
    (equal "(1 \"a\" #\\b 1.5 :C)" (json-member "text" (first (first *evaluated-values*))))))

(defun error-report-works-p ()
  "Return true if an error and the frames on the stack can be described."
  (handler-bind ((error (lambda (condition)
                          (loop for frame = (top-frame) then (frame-below frame)
                                repeat 10
                                while frame do (frame-call frame))
                          (return-from error-report-works-p
                            (and (multiple-value-call #'condition-data condition (shown-frames))
                                 t)))))
    (error "An error to be told.")))

(defun collection-works-p ()
  "Collect garbage, which runs the program's *AFTER-GC-HOOKS* and finalizers. Return true if the
image still works afterwards, in this thread and in a new one. If a hook ends the image, this
function does not return."
  (sb-ext:gc)
  (and (fresh-session-works-p)
       (error-report-works-p)
       (sb-thread:join-thread (sb-thread:make-thread #'fresh-session-works-p
                                                     :name "live-lisp probe"))))

(define-shape probe-data ()
  "Whether the image works."
  (works boolean :optional "Absent when the test did not end normally.")
  (holder string :optional "The name of a thread that keeps all others from compiling."))

(define-operation ("probe" :server-only t :members t :gives probe-data)
    ((session boolean :optional "True to test a copy of the session instead of a fresh one.")
     (exercise boolean :optional "True to collect garbage and start a thread, too."))
  "Return whether a form can be read, evaluated and printed."
  (let ((holder (and (not session) (idle-compiler))))
    (list "holder" (and holder (short-thread-name holder))
          "works" (json-boolean
                   (cond (session (call-in-session-copy #'works-p))
                         (exercise (collection-works-p))
                         (t (fresh-session-works-p)))))))
