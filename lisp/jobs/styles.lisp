;;;; Finds which settings of the session for reading and printing differ from a fresh SBCL, and
;;;; resets them.

(in-package "LIVE-LISP.JOBS")

(defparameter *style-variables*
  (set-difference *session-variables* '(*package* *random-state* * ** *** + ++ +++ / // /// -))
  "A list of those *SESSION-VARIABLES* that control reading and printing.")

(defun fresh-value (symbol first)
  "Return the value that SYMBOL, a session variable, has in a fresh SBCL. This is FIRST, its value
at the start of the session, or a new object if code can modify the object."
  (case symbol
    (*readtable* (copy-readtable nil))
    (*print-pprint-dispatch* (copy-pprint-dispatch nil))
    (*package* (usable-package first))
    (t first)))

(defun call-in-fresh-session (function)
  "Call FUNCTION with the session variables bound to their values in a fresh SBCL. Changes that
FUNCTION makes to them are lost."
  (with-session-variables (mapcar #'fresh-value *session-variables* (session-first *session*))
    (funcall function)))

(defun call-in-session-copy (function)
  "Call FUNCTION with the session variables bound to their values in the session. Changes that
FUNCTION makes to them are lost."
  (with-session-variables (sb-thread:with-mutex (**session-lock**)
                            (copy-list (session-values *session*)))
    (funcall function)))

(define-operation ("renew-session" :server-only t :inline t :gives boolean) ()
  "Give the session's settings for reading and printing the values that they have in a fresh SBCL.
The other settings of the session stay."
  (sb-thread:with-mutex (**session-lock**)
    (loop for symbol in *session-variables*
          for firsts on (session-first *session*)
          for place on (session-values *session*)
          do (when (member symbol *style-variables* :test #'eq)
               (let ((fresh (fresh-value symbol (car firsts))))
                 ;; If the object is also the global value of the variable, other threads use it, so
                 ;; replace it there too.
                 (when (eq (car place) (sb-ext:symbol-global-value symbol))
                   (setf (sb-ext:symbol-global-value symbol) fresh))
                 (setf (car firsts) fresh
                       (car place) fresh)))))
  t)

;;; Settings that are shown in answers

(defun styles ()
  "Return a list of (VARIABLE VALUE) lists for the session's settings for reading and printing that
differ from those of a fresh SBCL. For *READTABLE*, VALUE is a text. This must be fast, because
every call uses it."
  (loop for symbol in *session-variables*
        for first in (session-first *session*)
        for value in (session-values *session*)
        for differs = (cond ((eq symbol '*readtable*)
                             (nil-if-program-fails
                               (let ((text (mark-text (readtable-mark value))))
                                 (and text (list symbol text)))))
                            ((and (not (eql value first))
                                  ;; Leave this table out: a program can replace it without an
                                  ;; effect on printing.
                                  (not (eq symbol '*print-pprint-dispatch*))
                                  (member symbol *style-variables* :test #'eq))
                             (list symbol value)))
        when differs collect differs))

(defun style-data (style)
  "Return a JSON object with the name and the value of the variable in STYLE, a (VARIABLE VALUE)
list from STYLES."
  (destructuring-bind (symbol value) style
    (object "name" (symbol-name symbol)
            "value" (if (eq symbol '*readtable*)
                        value
                        (printing-plainly (print-safely 100 value))))))

(defun style-members ()
  "Return a plist of JSON members with \"styles\": the settings from STYLES that no earlier answer
contained with the same value. Return NIL if there are none."
  (let* ((*print-pprint-dispatch* **pretty-printers**)
         (styles (styles)) (reported (session-reported *session*)))
    (unless (equal styles reported)
      (setf (session-reported *session*) styles)
      (let ((new (set-difference styles reported :test #'equal)))
        (and new (list "styles" (mapcar #'style-data (reverse new))))))))
