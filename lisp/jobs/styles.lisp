;;;; How the session reads and prints: in which way that is not the standard one, and how it becomes that again.

(in-package "LIVE-LISP.JOBS")

(defparameter *style-variables*
  (set-difference *session-variables* '(*package* *random-state* * ** *** + ++ +++ / // /// -))
  "Those of *SESSION-VARIABLES* that say how is read and printed.")

(defun fresh-value (symbol first)
  "Return the value that SYMBOL, which had FIRST at the start, has in a fresh SBCL. An object that it names, code can have
changed."
  (case symbol
    (*readtable* (copy-readtable nil))
    (*print-pprint-dispatch* (copy-pprint-dispatch nil))
    (*package* (usable-package first))
    (t first)))

(defun call-in-fresh-session (function)
  "Call FUNCTION with the session's variables bound as in a fresh SBCL. Nothing of that lasts."
  (with-session-variables (mapcar #'fresh-value *session-variables* **first-session**)
    (funcall function)))

(defun call-in-session-copy (function)
  "Call FUNCTION with the session's variables bound as they are. Nothing of that lasts."
  (with-session-variables (sb-thread:with-mutex (**session-lock**) (copy-list **session**))
    (funcall function)))

(define-operation ("renew-session" :inline t) ()
  "Have the session read and print as a fresh SBCL does. The rest of it stays."
  (sb-thread:with-mutex (**session-lock**)
    (loop for symbol in *session-variables*
          for firsts on **first-session**
          for place on **session**
          do (when (member symbol *style-variables* :test #'eq)
               (let ((fresh (fresh-value symbol (car firsts))))
                 ;; Other threads read and print by the object that was changed too.
                 (when (eq (car place) (sb-ext:symbol-global-value symbol))
                   (ignore-errors (setf (sb-ext:symbol-global-value symbol) fresh)))
                 (setf (car firsts) fresh
                       (car place) fresh)))))
  t)

;;; Telling

(sb-ext:defglobal **told-styles** '() "In which way the session was not the standard one when that was told last, as STYLES returns.")

(defun styles ()
  "Return in which way the session reads and prints otherwise than a fresh SBCL: the symbols and the values of variables,
in pairs. Of the readtable it is a text, or :OTHER when that cannot be told. This is asked for every call, so it is
quick."
  (loop for symbol in *session-variables*
        for first in **first-session**
        for value in **session**
        for differs = (cond ((eq symbol '*readtable*)
                             (ignore-errors (let ((text (mark-text (readtable-mark value)))) (and text (list symbol text)))))
                            ((and (not (eql value first))
                                  ;; Another table of pretty printers need not print otherwise.
                                  (not (eq symbol '*print-pprint-dispatch*))
                                  (member symbol *style-variables* :test #'eq))
                             (list symbol value)))
        when differs collect differs))

(defun style-data (style)
  "Return STYLE, of STYLES, as a JSON object with the name and the value of the variable."
  (destructuring-bind (symbol value) style
    (object "name" (symbol-name symbol)
            "value" (if (eq symbol '*readtable*) value (printing-plainly (print-safely 100 value))))))

(defun style-members ()
  "Return the member that tells in which way the session reads and prints otherwise than a fresh SBCL, once after each
change of that."
  (let* ((*print-pprint-dispatch* **pretty-printers**) (styles (styles)) (told **told-styles**))
    (unless (equal styles told)
      (setf **told-styles** styles)
      (let ((new (set-difference styles told :test #'equal)))
        (and new (list "styles" (mapcar #'style-data (reverse new))))))))
