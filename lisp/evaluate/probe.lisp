;;;; Whether the image still works. The server asks when calls fail in a way that can be the image's own fault.

(in-package "LIVE-LISP.EVALUATE")

(defparameter *probe* "#+CL:NIL 1 (CL:LIST (CL:WHEN CL:T 1) \"a\" #\\b 1.5 (CL:FUNCALL (CL:LAMBDA () :C)))"
  "What a working image evaluates to (1 \"a\" #\\b 1.5 :C). It is expanded and compiled.")

(defun evaluated-text (text)
  "Evaluate the one form of TEXT as EVALUATE does, and return its value as that shows it."
  (let ((*form-number* 0) (*form-text* nil) (*value-budget* *value-limit*) (*done* '()))
    (evaluate-text text)
    (loop for (name value) on (json-object-members (first (first *done*))) by #'cddr
          when (string= name "text") return value)))

(defun idle-compiler ()
  "Return the thread that holds the compiler's lock and does not run, unless it is one of a call, which can be ended."
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
  "True when the form can be read, evaluated and printed in a fresh session."
  (equal (call-in-fresh-session (lambda () (evaluated-text *probe*))) "(1 \"a\" #\\b 1.5 :C)"))

(defun tells-errors-p ()
  "True when an error can be told with the calls on the stack."
  (handler-bind ((error (lambda (condition)
                          (loop for frame = (top-frame) then (frame-below frame)
                                repeat 10
                                while frame do (frame-call frame))
                          (return-from tells-errors-p
                            (and (multiple-value-call #'condition-data condition (shown-frames)) t)))))
    (error "An error to be told.")))

(defun exercised-p ()
  "True when the image works, here and in a new thread, also after a collection. A hook can end it meanwhile."
  (sb-ext:gc)
  (and (fresh-session-works-p)
       (tells-errors-p)
       (sb-thread:join-thread (sb-thread:make-thread #'fresh-session-works-p :name "live-lisp probe"))))

(define-operation ("probe" :members t) (session exercise)
  "Tell whether a form can be read, evaluated and printed in a fresh session, or with the variables of the SESSION. Nothing
of that lasts. Tell also whose thread holds the compiler's lock without running, if one does. To EXERCISE collects garbage
and starts a thread as well, and tells how many threads and timers of the program there are."
  (let ((holder (and (not session) (idle-compiler))))
    (list "holder" (and holder (short-thread-name holder))
          "running" (and exercise (+ (length (program-threads (sb-thread:list-all-threads)))
                                     (length (sb-ext:list-all-timers))))
          "works" (json-boolean
                   (cond (session (call-in-session-copy #'works-p))
                         (exercise (exercised-p))
                         (t (fresh-session-works-p)))))))
