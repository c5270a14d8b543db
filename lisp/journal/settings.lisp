;;;; Settings: what reading, printing and compiling go by, and whether an evaluation changed it.

(in-package "LIVE-LISP.JOURNAL")

(defparameter *settings*
  (set-difference *session-variables* '(*package* *random-state* * ** *** + ++ +++ / // /// -))
  "Variables, bound in each evaluation, that say how code is read and printed.")

(defun library-variables ()
  "Return the variables that say where ASDF and Quicklisp find libraries, those that there are."
  (loop for (package name) in '(("ASDF" "*CENTRAL-REGISTRY*") ("ASDF" "*SOURCE-REGISTRY-PARAMETER*")
                                ("ASDF" "*OUTPUT-TRANSLATIONS-PARAMETER*")
                                ("QUICKLISP-CLIENT" "*LOCAL-PROJECT-DIRECTORIES*"))
        for symbol = (contrib-symbol package name)
        when (and symbol (boundp symbol)) collect symbol))

(defun settings-now (symbols)
  "Return a list of pairs of each of SYMBOLS, variables, and its value."
  (loop for symbol in symbols collect (cons symbol (symbol-value symbol))))

(defun settings-same-p (settings)
  "True when the variables in SETTINGS, from SETTINGS-NOW, have the values that they had. This is asked for every form
that is evaluated, so it is quick."
  (declare (optimize speed) (type list settings))
  (loop for (symbol . value) in settings
        always (eq value (symbol-value (the symbol symbol)))))

(sb-ext:defglobal **globals** '() "What all threads read and compile by, when it was looked at last, from SETTINGS-NOW.")

(defun global-settings ()
  "Return the settings that all threads share."
  (if (and **globals** (settings-same-p **globals**))
      **globals**
      (setf **globals** (settings-now (list* '*features* '*modules* '*default-pathname-defaults* 'sb-ext:*evaluator-mode*
                                             (library-variables))))))

(defun shows-p (form symbols)
  "True when one of SYMBOLS stands in FORM."
  (let ((steps 1000))
    (labels ((shown-p (tree)
               (cond ((minusp (decf steps)) nil)
                     ((consp tree) (or (shown-p (car tree)) (shown-p (cdr tree))))
                     (t (and tree (member tree symbols :test #'eq))))))
      (shown-p form))))

(sb-ext:defglobal **seen** '() "The settings of the thread that looked at its own last, from SETTINGS-NOW.")
(defvar *seen* '() "Those of this thread when it looked at them last.")

(defun thread-settings ()
  "Return the settings of this thread."
  (if (and **seen** (settings-same-p **seen**)) **seen** (setf **seen** (settings-now *settings*))))

(defun note-settings (form globals mark alone)
  "Note whether evaluating FORM changed the settings, or the readtable that had MARK. GLOBALS are the shared settings as
they were. What all threads share, another job can have changed: it counts when the job was ALONE, or FORM shows it."
  (let ((same (settings-same-p *seen*))
        (shared (not (and (settings-same-p globals) (eq mark (readtable-mark *readtable*))))))
    (unless same (setf *seen* (thread-settings)))
    (when (or (not same)
              (and shared (or alone (shows-p form (append (mapcar #'car globals) *by-name*)))))
      (setf (effects-builds *effects*) t
            (effects-restyles *effects*) t)
      ;; With a readtable that reads nothing no image could be built.
      (unless (readable-p *readtable*) (setf (effects-damages *effects*) t)))))

(sb-ext:defglobal **eval** #'eval "EVAL as it was before code of the user could redefine it.")

(defun evaluate-noting (form effects)
  "Evaluate FORM, return the list of its values, and note in EFFECTS what it does."
  (let ((*effects* effects) (globals (ignore-errors (global-settings))) (mark (mark-before *readtable*))
        (begun (and (alone-p) **begun**)))
    (unwind-protect (multiple-value-list (call-user-code (lambda () (funcall **eval** form))))
      (noting (note-operator form)
              (note-settings form globals mark (eql begun **begun**))))))
