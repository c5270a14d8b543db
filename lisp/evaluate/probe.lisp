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

(define-operation ("probe" :members t) (session)
  "Tell whether a form can be read, evaluated and printed in a fresh session, or with the variables of the SESSION. Nothing
of that lasts. Tell also whose thread holds the compiler's lock without running, if one does."
  (let ((holder (and (not session) (idle-compiler))))
    (list "holder" (and holder (short-thread-name holder))
          "works" (json-boolean
                   (if session
                       (call-in-session-copy #'works-p)
                       (equal (call-in-fresh-session (lambda () (evaluated-text *probe*)))
                              "(1 \"a\" #\\b 1.5 :C)"))))))
