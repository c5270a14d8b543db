;;;; Finds whether an evaluation changed settings for reading, printing and compiling.

(in-package "LIVE-LISP.JOURNAL")

(defparameter *settings*
  (set-difference *session-variables* '(*package* *random-state* * ** *** + ++ +++ / // /// -))
  "Variables, bound in each evaluation, that control how code is read and printed.")

(defun library-variables ()
  "Return the variables, of those that exist, by which ASDF and Quicklisp find libraries."
  (loop for (package name) in '(("ASDF" "*CENTRAL-REGISTRY*") ("ASDF" "*SOURCE-REGISTRY-PARAMETER*")
                                ("ASDF" "*OUTPUT-TRANSLATIONS-PARAMETER*")
                                ("QUICKLISP-CLIENT" "*LOCAL-PROJECT-DIRECTORIES*"))
        for symbol = (contrib-symbol package name)
        when (and symbol (boundp symbol)) collect symbol))

(defun settings-now (symbols)
  "Return pairs of each of SYMBOLS, variables, and its value."
  (loop for symbol in symbols collect (cons symbol (symbol-value symbol))))

(defun settings-same-p (settings)
  "True when the variables in SETTINGS, from SETTINGS-NOW, have their values still. Every evaluated form needs this, so
it is fast."
  (declare (optimize speed) (type list settings))
  (loop for (symbol . value) in settings
        always (eq value (symbol-value (the symbol symbol)))))

(sb-ext:defglobal **globals** '() "The settings that all threads share, as they were last examined, from SETTINGS-NOW.")

(defun global-settings ()
  "Return the settings that all threads share."
  (if (and **globals** (settings-same-p **globals**))
      **globals**
      (setf **globals** (settings-now (list* '*features* '*modules* '*default-pathname-defaults* 'sb-ext:*evaluator-mode*
                                             (library-variables))))))

(defun shows-p (form symbols)
  "True when one of SYMBOLS occurs in FORM, in its first 1000 parts."
  (let ((steps 1000))
    (labels ((shown-p (tree)
               (cond ((minusp (decf steps)) nil)
                     ((consp tree) (or (shown-p (car tree)) (shown-p (cdr tree))))
                     (t (and tree (member tree symbols :test #'eq))))))
      (shown-p form))))

(sb-ext:defglobal **seen** '() "The settings of the thread that last examined its own, from SETTINGS-NOW.")
(defvar *seen* '() "The settings of this thread when it last examined them.")

(defun thread-settings ()
  "Return the settings of this thread."
  (if (and **seen** (settings-same-p **seen**)) **seen** (setf **seen** (settings-now *settings*))))

(defun note-settings (form globals mark alone)
  "Record whether evaluating FORM changed settings, or the readtable that had MARK. GLOBALS are the shared settings
before. Another job can have changed these: a change counts if the job was ALONE, or FORM shows it."
  (let ((same (settings-same-p *seen*))
        (shared (not (and (settings-same-p globals) (eq mark (readtable-mark *readtable*))))))
    (unless same (setf *seen* (thread-settings)))
    (when (or (not same)
              (and shared (or alone (shows-p form (append (mapcar #'car globals) *by-name*)))))
      (setf (effects-builds *effects*) t
            (effects-restyles *effects*) t)
      ;; With a readtable that reads nothing, no image could be rebuilt.
      (unless (readable-p *readtable*) (setf (effects-damages *effects*) t)))))

(sb-ext:defglobal **eval** #'eval "EVAL as it was before code of the user could redefine it.")

(defun evaluate-noting (form effects)
  "Evaluate FORM, record in EFFECTS what it does, and return the list of its values."
  (let ((*effects* effects) (globals (ignore-errors (global-settings))) (mark (mark-before *readtable*))
        (begun (and (alone-p) **begun**)))
    (unwind-protect (multiple-value-list (call-user-code (lambda () (funcall **eval** form))))
      (noting (note-operator form)
              (note-settings form globals mark (eql begun **begun**))))))
