;;;; The variables that last between calls, as in a REPL. Each evaluation binds
;;;; its own copies and puts back what it changed, so evaluations that run side
;;;; by side do not disturb each other.

(in-package "LIVE-LISP.AGENT")

(defparameter *session-variables*
  '(*package* *readtable* *read-base* *read-default-float-format* *read-eval*
    *print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym*
    *print-length* *print-level* *print-lines* *print-miser-width* *print-pprint-dispatch*
    *print-pretty* *print-radix* *print-readably* *print-right-margin*
    *break-on-signals* *random-state*
    * ** *** + ++ +++ / // /// -)
  "What an evaluation binds and what lasts until the next one.")

(sb-ext:defglobal **session-lock** (sb-thread:make-mutex :name "live-lisp session")
  "Held while **SESSION** is read or changed.")

(sb-ext:defglobal **session** nil "The values of *SESSION-VARIABLES*, in that order.")

(defun start-session ()
  "Set the session to the values that a fresh SBCL has."
  (setf **session**
        (progv '(*package*) (list (find-package "COMMON-LISP-USER"))
          (progv '(* ** *** + ++ +++ / // /// -) '(nil nil nil nil nil nil nil nil nil nil)
            (mapcar #'symbol-value *session-variables*)))))

(defun session-value (symbol)
  "Return the value that SYMBOL has in the session."
  (nth (position symbol *session-variables*) **session**))

(defun usable-package (package)
  "Return PACKAGE, or COMMON-LISP-USER (KEYWORD without it) when PACKAGE was deleted."
  ;; Compiled inline, FIND-PACKAGE remembers a package that is deleted.
  (declare (notinline find-package))
  (if (and (packagep package) (package-name package))
      package
      (or (find-package "COMMON-LISP-USER") (find-package "KEYWORD"))))

(defun session-package ()
  "Return the current package of the session."
  (usable-package (session-value '*package*)))

(defun call-in-session (package function)
  "Call FUNCTION with the session's variables bound, in PACKAGE unless it is NIL,
and keep in the session those that it changed, also when it is left by a throw."
  (let* ((before (sb-thread:with-mutex (**session-lock**) (copy-list **session**)))
         (cell (nthcdr (position '*package* *session-variables*) before)))
    (setf (car cell) (or package (usable-package (car cell))))
    (progv *session-variables* before
      ;; This does not last: with it set, no later call could set it back.
      (unwind-protect (let ((*read-suppress* nil))
                        (funcall function))
        (let ((after (mapcar #'symbol-value *session-variables*)))
          (sb-thread:with-mutex (**session-lock**)
            (loop for old in before
                  for new in after
                  for place on **session**
                  unless (eq old new) do (setf (car place) new))))))))
