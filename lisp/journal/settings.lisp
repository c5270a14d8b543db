;;;; Detects whether an evaluation changed settings for reading, printing and compiling.

(in-package "LIVE-LISP.JOURNAL")

(defun library-variables ()
  "Return a list of the variables by which ASDF and Quicklisp find libraries. Leave out symbols that
do not exist or are unbound."
  (loop for (package name) in '(("ASDF" "*CENTRAL-REGISTRY*") ("ASDF" "*SOURCE-REGISTRY-PARAMETER*")
                                ("ASDF" "*OUTPUT-TRANSLATIONS-PARAMETER*")
                                ("QUICKLISP-CLIENT" "*LOCAL-PROJECT-DIRECTORIES*"))
        for symbol = (contrib-symbol package name)
        when (and symbol (boundp symbol)) collect symbol))

(defun settings-now (symbols)
  "Return an alist from SYMBOLS, bound variables, to their values."
  (loop for symbol in symbols collect (cons symbol (symbol-value symbol))))

(defun settings-same-p (settings)
  "Return true if the variables in SETTINGS, an alist from SETTINGS-NOW, still have these values.
This must be fast, since it runs for each evaluated form."
  (declare (optimize speed) (type list settings))
  (loop for (symbol . value) in settings
        always (eq value (symbol-value (the symbol symbol)))))

(defun global-settings ()
  "Return an alist, as from SETTINGS-NOW, of the settings that all threads share."
  (settings-now (list* '*features* '*modules* '*default-pathname-defaults* 'sb-ext:*evaluator-mode*
                       (library-variables))))

(defun shows-p (form symbols)
  "Return true if one of SYMBOLS occurs among the first 1000 conses and atoms of FORM."
  (let ((steps 1000))
    (labels ((shown-p (tree)
               (cond ((minusp (decf steps)) nil)
                     ((consp tree) (or (shown-p (car tree)) (shown-p (cdr tree))))
                     (t (and tree (member tree symbols :test #'eq))))))
      (shown-p form))))

(defvar *compared-settings* '()
  "An alist, from THREAD-SETTINGS, of the settings of this thread when they were last compared.")

(defun thread-settings ()
  "Return an alist, as from SETTINGS-NOW, of the settings of this thread."
  (settings-now *style-variables*))

(defun note-settings (form globals mark alone)
  "Record in *EFFECTS* a change of settings by FORM. GLOBALS is the alist of the shared settings,
and MARK the mark of the readtable, before FORM ran. A change of a shared setting counts only if
ALONE is true, since no other job ran, or if FORM names a setting."
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
  "SBCL's own EVAL. It is kept here because user code can redefine the function EVAL.")

(defun evaluate-noting (form effects)
  "Evaluate FORM, record its effects in EFFECTS, an EFFECTS structure, and return a list of its
values."
  (let ((*effects* effects) (globals (nil-if-program-fails (global-settings)))
        (mark (mark-before *readtable*))
        (begun (and (alone-p) **jobs-begun**)))
    (unwind-protect (multiple-value-list (call-user-code (lambda () (funcall **eval** form))))
      ;; Do not use WITH-ISOLATION here: these calls look at the settings as FORM has left them.
      (nil-if-program-fails
        (note-operator form)
        (note-settings form globals mark (eql begun **jobs-begun**))))))

;;; The compiler's policy, so that a rebuilt image compiles forms under the same one

(sb-ext:defglobal **first-policy** compiler-policy
  "The policy of the compiler when the agent was loaded.")

(defun policy-list (policy)
  "Return a list of (PACKAGE NAME VALUE) lists, such as (\"COMMON-LISP\" \"SPEED\" 1), for the
qualities of POLICY, a policy of the compiler."
  (loop for (quality value) in (policy-qualities policy)
        when (and (symbolp quality) (symbol-package quality) (integerp value))
          collect (list (package-name (symbol-package quality)) (symbol-name quality) value)))

(defun policy-data (policy)
  "Return those elements of POLICY-LIST for POLICY, a policy of the compiler, that differ from
**FIRST-POLICY**, or NIL."
  (unless (or (null policy) (eq policy **first-policy**) (equalp policy **first-policy**))
    (set-difference (policy-list policy) (policy-list **first-policy**) :test #'equal)))

(defun proclaim-policy (data)
  "Proclaim **FIRST-POLICY** with the changes in DATA, a list from POLICY-DATA."
  (unless (and (null data) (eq compiler-policy **first-policy**))
    (proclaim (cons 'optimize
                    (loop for (package name value) in (append data (policy-list **first-policy**))
                          for home = (find-package package)
                          for quality = (and home (find-symbol name home))
                          when (and quality (not (member quality qualities :key #'first)))
                            collect (list quality value) into qualities
                          finally (return qualities))))))
