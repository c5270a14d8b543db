;;;; The session: variables that keep their values between calls, as in a REPL. Each evaluation
;;;; binds all of them, and stores those that it changed, so that evaluations that run at the same
;;;; time do not disturb each other.

(in-package "LIVE-LISP.JOBS")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *session-variables*
    '(*package* *readtable* *read-base* *read-default-float-format* *read-eval*
      *print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym*
      *print-length* *print-level* *print-lines* *print-miser-width* *print-pprint-dispatch*
      *print-pretty* *print-radix* *print-readably* *print-right-margin*
      *break-on-signals* *random-state*
      * ** *** + ++ +++ / // /// -)
    "A list of the variables that each evaluation binds, and whose values the session keeps for the
next evaluation."))

(defmacro with-session-variables (values &body body)
  "Evaluate BODY with *SESSION-VARIABLES* bound to the elements of VALUES, a list. The expansion
uses LET*, not PROGV: PROGV would check for each variable whether it may be bound, which takes
longer than a short evaluation. It uses LET*, not LET: LET would compute all values before it binds
a variable, and so leave them on the stack, which would keep them alive."
  (let ((left (gensym "LEFT")))
    `(let* ((,left ,values)
            ,@(loop for variable in *session-variables* collect `(,variable (pop ,left))))
       ,@body)))

(sb-ext:defglobal **session-lock** (sb-thread:make-mutex :name "live-lisp session")
  "The mutex that a thread holds while it reads or changes the VALUES of a session, or changes its
ERRORS.")

(sb-ext:defglobal **sessions-begun** (list 0)
  "A list of one integer, which can be incremented atomically: the number of the newest session.")

(defstruct session
  "The session of a server.
VALUES: a list of the values of *SESSION-VARIABLES*, in the same order.
FIRST: the list VALUES at the start of the session.
REPORTED: the changed settings that were last reported to the server, as the function STYLES lists
them.
CHANGES-SENT: the value of **CHANGE-COUNT** at the last answer.
NUMBER: a number that no other session has.
SERIES: a cons (COUNT . INDEX): the number of images that the server has, and the index of this
image among them.
SERVER: a text that identifies the server, or NIL.
TREES: a list of native names of folders. While a job runs, ASDF also finds systems in them and
below them.
ERRORS: a list of the kept errors, newest first.
BACKGROUND: the capture with what threads without a job have written since the last answer.
ENDED: true once the connection of the server has ended.
UNDOING: a list of lists (FUNCTION). END-SESSION calls each FUNCTION, which takes no arguments. Each
call of CALL-UNTIL-SESSION-ENDS has its own list, and finds it by EQ.
LOCK: the mutex that a thread holds while it changes ENDED or UNDOING."
  (values '()) (first '()) (reported '()) (changes-sent 0)
  (number (sb-ext:atomic-incf (car **sessions-begun**)))
  (series '(1 . 0))
  (server nil)
  (trees '())
  (errors '())
  (background (make-capture 4000 4000))
  (ended nil)
  (undoing '())
  (lock (sb-thread:make-mutex :name "live-lisp session end")))

(defvar *session* (make-session)
  "The session of the server for which this thread works. In an image that the server started, all
threads have the same session.")

;;; Each image of a server has its own series of numbers for its objects and errors. So an id of one
;;; image is never an id of another.

(defun shown-number (number)
  "NUMBER is the number of an object or error in this image. Return the number that answers to this
session show for it."
  (destructuring-bind (count . index) (session-series *session*)
    (+ (* (1- number) count) index 1)))

(defun number-shown-as (shown)
  "Return the number of the object or error that has the number SHOWN in answers to this session.
Return 0 if SHOWN is a number of another image of the server: no object or error has the number 0."
  (destructuring-bind (count . index) (session-series *session*)
    (multiple-value-bind (number rest) (floor (- shown index 1) count)
      (if (zerop rest) (1+ number) 0))))

(sb-ext:defglobal **at-session-end** '()
  "A list of functions without parameters that remove the data of *SESSION* from the image. They are
called when the connection of its server has ended (SERVE-CONNECTION), so only in an image that
somebody else runs.")

(defun call-until-session-ends (begin function end)
  "Call BEGIN, which changes the image for this session, then FUNCTION, then END, which undoes the
change. Return the values of FUNCTION. Call END after a non-local exit too. If the session ends
earlier, END is called at that moment. If it has ended already, call only FUNCTION."
  (let ((session *session*) (undoing (list end)))
    (sb-sys:without-interrupts
      (unwind-protect
           (progn
             (sb-thread:with-mutex ((session-lock session))
               (unless (session-ended session)
                 (push undoing (session-undoing session))
                 (funcall begin)))
             (sb-sys:with-local-interrupts (funcall function)))
        (sb-thread:with-mutex ((session-lock session))
          (when (member undoing (session-undoing session) :test #'eq)
            (setf (session-undoing session) (remove undoing (session-undoing session) :test #'eq))
            (funcall end)))))))

(defun end-session ()
  "Mark *SESSION* as ended, and undo the changes that CALL-UNTIL-SESSION-ENDS has made for it in
jobs that still run."
  (sb-thread:with-mutex ((session-lock *session*))
    (setf (session-ended *session*) t)
    (loop for (end) in (shiftf (session-undoing *session*) '())
          do (ignore-errors (funcall end)))))

(defun start-session ()
  "Store the values for a new session in *SESSION*: the package COMMON-LISP-USER for *PACKAGE*, NIL
for the variables of the REPL such as * and +, and the current values of the other session
variables. The caller makes sure that these have the values of a fresh SBCL."
  (setf (session-values *session*)
        (progv '(*package*) (list (find-package "COMMON-LISP-USER"))
          (progv '(* ** *** + ++ +++ / // /// -) '(nil nil nil nil nil nil nil nil nil nil)
            (mapcar #'symbol-value *session-variables*)))
        (session-first *session*) (copy-list (session-values *session*))))

(defun session-value (symbol)
  "Return the value that SYMBOL, a session variable, has in the session."
  (nth (position symbol *session-variables*) (session-values *session*)))

(defun (setf session-value) (value symbol)
  "Set the value that SYMBOL, a session variable, has in the session to VALUE."
  (setf (nth (position symbol *session-variables*) (session-values *session*)) value))

(defun set-session-variable (symbol value)
  "Set the value of SYMBOL, a session variable, to VALUE for calls that begin later."
  (sb-thread:with-mutex (**session-lock**)
    (setf (session-value symbol) value)))

(defvar *fresh-readtable* nil
  "True if this call uses a fresh readtable, because no forms could be read with that of the
session.")

(defun usable-readtable (readtable)
  "Return READTABLE, or a copy of the standard readtable if forms cannot be read with READTABLE. In
that case, if READTABLE is the global value of *READTABLE*, replace that value too."
  (cond ((and (readtablep readtable) (readable-p readtable)) readtable)
        (t (let ((fresh (copy-readtable nil)))
             (when (eq readtable (sb-ext:symbol-global-value '*readtable*))
               (setf (sb-ext:symbol-global-value '*readtable*) fresh))
             (setf *fresh-readtable* t)
             fresh))))

(defun call-rebinding (function)
  "Call FUNCTION with the session variables bound again to their current values, as the next
evaluation would bind them."
  (with-session-variables (mapcar #'symbol-value *session-variables*)
    (funcall function)))

(defun session-package ()
  "Return the value of *PACKAGE* in the session, or a usable package if that was deleted."
  (usable-package (session-value '*package*)))

(defvar *values-before* '()
  "A list of the values that *SESSION-VARIABLES* had at the beginning of this call.")

(defun drop-last-values ()
  "Set the variables *, **, ***, /, // and /// to NIL, in this call and in the session, so that they
keep no object alive."
  (dolist (symbol '(* ** *** / // ///))
    (set symbol nil)
    ;; *VALUES-BEFORE* would keep the object alive too.
    (let ((cell (nthcdr (position symbol *session-variables*) *values-before*)))
      (when cell (setf (car cell) nil)))
    (set-session-variable symbol nil)))

(defun call-in-session (package function)
  "Call FUNCTION with the session variables bound to their values in the session. Bind *PACKAGE* to
PACKAGE unless that is NIL. Afterwards, even after a throw, store the values that FUNCTION has
changed in the session."
  (let* ((before (sb-thread:with-mutex (**session-lock**) (copy-list (session-values *session*))))
         (package-cell (nthcdr (position '*package* *session-variables*) before))
         (readtable-cell (nthcdr (position '*readtable* *session-variables*) before)))
    ;; The loop below compares with these elements, so it does not store PACKAGE in the session.
    (setf (car package-cell) (or package (usable-package (car package-cell)))
          (car readtable-cell) (usable-readtable (car readtable-cell)))
    (with-session-variables before
      ;; *READ-SUPPRESS* is not a session variable. If it stayed true, no form of a later call could
      ;; be read to reset it.
      (unwind-protect (let ((*read-suppress* nil) (*values-before* before))
                        (funcall function))
        (let ((after (mapcar #'symbol-value *session-variables*)))
          (sb-thread:with-mutex (**session-lock**)
            (loop for old in before
                  for new in after
                  for place on (session-values *session*)
                  unless (eq old new) do (setf (car place) new))
            ;; The loop stores only what differs between BEFORE and AFTER. Both have the fresh
            ;; readtable, so store it here.
            (when *fresh-readtable*
              (setf (session-value '*readtable*)
                    (nth (position '*readtable* *session-variables*) after)))))))))
