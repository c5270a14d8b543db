;;;; Detects whether an evaluation changed settings for reading, printing and compiling.

(in-package "LIVE-LISP.JOURNAL")

(defun library-variables ()
  "Return a list of the variables with which ASDF and Quicklisp find libraries. Leave out those that
do not exist or are unbound."
  (loop for (package name) in '(("ASDF" "*CENTRAL-REGISTRY*") ("ASDF" "*SOURCE-REGISTRY-PARAMETER*")
                                ("ASDF" "*OUTPUT-TRANSLATIONS-PARAMETER*")
                                ("QUICKLISP-CLIENT" "*LOCAL-PROJECT-DIRECTORIES*"))
        for symbol = (contrib-symbol package name)
        when (and symbol (boundp symbol)) collect symbol))

(defun settings-now (symbols)
  "Return an alist from SYMBOLS, a list of bound variables, to their values."
  (loop for symbol in symbols collect (cons symbol (symbol-value symbol))))

(defun settings-same-p (settings)
  "Return true if each variable in SETTINGS, an alist from variables to values, still has its value.
This must be fast, because it runs for each evaluated form."
  (declare (optimize speed) (type list settings))
  (loop for (symbol . value) in settings
        always (eq value (symbol-value (the symbol symbol)))))

(defun global-settings ()
  "Return an alist from the settings that all threads share, variables such as *FEATURES*, to their
values."
  (settings-now (list* '*features* '*modules* '*default-pathname-defaults* 'sb-ext:*evaluator-mode*
                       (library-variables))))

(defun shows-p (form symbols)
  "Return true if one of SYMBOLS, a list, occurs among the first 1000 conses and atoms of FORM."
  (let ((steps 1000))
    (labels ((shown-p (tree)
               (cond ((minusp (decf steps)) nil)
                     ((consp tree) (or (shown-p (car tree)) (shown-p (cdr tree))))
                     (t (and tree (member tree symbols :test #'eq))))))
      (shown-p form))))

(defvar *compared-settings* '()
  "An alist from the settings of this thread, the variables in *STYLE-VARIABLES*, to their values at
the last comparison.")

(defun thread-settings ()
  "Return an alist from the settings of this thread, the variables in *STYLE-VARIABLES*, to their
values."
  (settings-now *style-variables*))

(defun note-settings (form globals mark alone)
  "If the evaluation of FORM, which has ended, changed settings, record this in *EFFECTS*. GLOBALS
is the result of GLOBAL-SETTINGS and MARK the MARK structure of the readtable, both from before the
evaluation. Another job can have changed the settings that all threads share. So ignore a change of
these unless FORM names such a setting, or ALONE is true, which means that no other job ran."
  (let ((same (settings-same-p *compared-settings*))
        (shared (not (and (settings-same-p globals) (eq mark (readtable-mark *readtable*))))))
    (unless same (setf *compared-settings* (thread-settings)))
    (when (or (not same)
              (and shared (or alone (shows-p form (append (mapcar #'car globals) *by-name*)))))
      (setf (effects-builds *effects*) t
            (effects-restyles *effects*) t)
      ;; If the readtable can read nothing, no image could be rebuilt.
      (unless (readable-p *readtable*) (setf (effects-damages *effects*) t)))))

(sb-ext:defglobal **eval** #'eval
  "SBCL's own function EVAL. User code can redefine EVAL, but does not change this value.")

(defun evaluate-noting (form effects)
  "Evaluate FORM, record its effects in EFFECTS, an EFFECTS structure, and return a list of the
values of FORM."
  (let ((*effects* effects) (globals (nil-if-program-fails (global-settings)))
        (mark (mark-before *readtable*))
        (begun (and (alone-p) **jobs-begun**)))
    (unwind-protect (multiple-value-list (call-user-code (lambda () (funcall **eval** form))))
      ;; Do not use WITH-ISOLATION here: these calls look at the settings as FORM has left them.
      (nil-if-program-fails
        (note-operator form)
        (note-settings form globals mark (eql begun **jobs-begun**))))))

;;; The compiler's policy, which a rebuilt image must have when it compiles a form

(sb-ext:defglobal **first-policy** compiler-policy
  "The policy of the compiler at the time when the backend was loaded.")

(defun policy-list (policy)
  "Return a list of (PACKAGE NAME VALUE) lists, such as (\"COMMON-LISP\" \"SPEED\" 1), one for each
quality of POLICY, a policy of the compiler."
  (loop for (quality value) in (policy-qualities policy)
        when (and (symbolp quality) (symbol-package quality) (integerp value))
          collect (list (package-name (symbol-package quality)) (symbol-name quality) value)))

(defun policy-data (policy)
  "Return a list of (PACKAGE NAME VALUE) lists for the qualities of POLICY, a policy of the
compiler, whose values differ from **FIRST-POLICY**."
  (unless (or (null policy) (eq policy **first-policy**) (equalp policy **first-policy**))
    (set-difference (policy-list policy) (policy-list **first-policy**) :test #'equal)))

(defun proclaim-policy (data)
  "Proclaim the qualities of **FIRST-POLICY**, changed by DATA, a list from POLICY-DATA."
  (unless (and (null data) (eq compiler-policy **first-policy**))
    (proclaim (cons 'optimize
                    (loop for (package name value) in (append data (policy-list **first-policy**))
                          for home = (find-package package)
                          for quality = (and home (find-symbol name home))
                          when (and quality (not (member quality qualities :key #'first)))
                            collect (list quality value) into qualities
                          finally (return qualities))))))
