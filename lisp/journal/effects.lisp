;;;; Records what evaluating a form did to the image. SBCL checks package locks before it defines or undefines a name or
;;;; changes a package: hooks listen there. Methods, loads and settings have no such check, and are seen elsewhere.

(in-package "LIVE-LISP.JOURNAL")

(defstruct (effects (:constructor make-effects ()))
  "What a part of a form did. BUILDS is true when a rebuilt image needs it, DAMAGES when it changed the system itself,
RESTYLES when it can change how forms are read and printed. NAMES has the texts of the names that it defined."
  (builds nil) (damages nil) (restyles nil) (names '()))

(defvar *effects* nil "The effects of what this thread evaluates, or NIL while they are not recorded.")

(defparameter *name-limit* 100 "At most this many names of one form are recorded.")

;;; Whose a name is

(sb-ext:defglobal **system-packages** (remove-if-not #'sb-ext:package-locked-p (list-all-packages))
  "The packages that are locked from the start: those of the system, and LIVE-LISP.")

(sb-ext:defglobal **first-packages** (list-all-packages) "The packages that exist from the start.")

(defun system-package-p (package)
  "True when PACKAGE is one of the system or of the agent."
  (or (member package **system-packages** :test #'eq) (own-package-p package)))

(defun system-symbol-p (symbol)
  "True when the home of SYMBOL is a package of the system or of the agent."
  (system-package-p (symbol-package symbol)))

(defun library-symbol-p (symbol)
  "True when the home of SYMBOL is a package of ASDF or of a library manager."
  (let ((package (symbol-package symbol)))
    (and package
         (some (lambda (start) (eql 0 (search start (package-name package)))) '("ASDF" "UIOP" "QUICKLISP" "QL" "OCICL")))))

;;; Noting

(defun name-text (name)
  "Return NAME, a symbol or (SETF symbol), as text with its package; NIL for what is no name of a program."
  (cond ((symbolp name) (and (symbol-package name) (symbol-text name)))
        ((typep name '(cons (eql setf) (cons symbol null)))
         (let ((text (name-text (second name)))) (and text (concatenate 'string "(SETF " text ")"))))))

;;; Hooks

(defmacro noting (&body body)
  "Evaluate BODY, which records an effect, if effects are recorded. Its errors do not reach the program."
  `(when *effects* (ignore-errors ,@body)))

(defun note-building ()
  "Record that the running code builds the image."
  (noting (setf (effects-builds *effects*) t)))

(defun note-name (name)
  "Record that NAME was defined, undefined or declared. Return its symbol when it is a name of a program, else NIL."
  (let ((text (name-text name)) (symbol (if (consp name) (second name) name)))
    (when text
      (setf (effects-builds *effects*) t)
      (when (< (length (effects-names *effects*)) *name-limit*)
        (pushnew text (effects-names *effects*) :test #'string=))
      symbol)))

(defun starts-p (text &rest beginnings)
  "True when TEXT is a string that begins with one of BEGINNINGS. It is fast: code that sets a symbol runs it."
  (declare (dynamic-extent beginnings) (optimize speed))
  (when (simple-string-p text)
    (dolist (beginning beginnings nil)
      (declare (simple-string beginning))
      (when (and (<= (length beginning) (length text))
                 (dotimes (index (length beginning) t)
                   (unless (char= (schar beginning index) (schar text index)) (return nil))))
        (return t)))))

(defun name-checked (check name &rest doing)
  "Hook: call CHECK, which asks the lock of NAME's home whether it allows DOING something to NAME. Record what does more
than compile."
  (declare (dynamic-extent doing))
  (when (and *touched* (not (starts-p (first doing) "binding" "setting the value")))
    (if (starts-p (first doing) "setting fdefinition") (touch-function name) (touch name)))
  (noting
    (unless (starts-p (first doing) "binding" "declaring" "proclaiming" "setting the value")
      (let ((symbol (note-name name)))
        (when (and symbol (system-symbol-p symbol)) (setf (effects-damages *effects*) t)))))
  (apply check name doing))

(defvar *interned* :unasked "Pairs of a package and a name that this thread interned, newest first; or :UNASKED.")

(defun package-checked (check package &rest doing)
  "Hook: call CHECK, which asks the lock of PACKAGE whether it allows DOING something to it, and record that. Interning
is recorded apart: reading interns too, and so does much code that only looks a symbol up."
  (if (starts-p (first doing) "interning")
      (when (listp *interned*) (push (cons package (second doing)) *interned*))
      (noting
        (setf (effects-builds *effects*) t)
        (when (or (system-package-p package)
                  (and (starts-p (first doing) "deleting" "renaming") (member package **first-packages** :test #'eq)))
          (setf (effects-damages *effects*) t))))
  (apply check package doing))

(defun method-changed (change generic-function method)
  "Hook: call CHANGE, which adds METHOD to GENERIC-FUNCTION or removes it, and record that."
  (noting
    (let ((symbol (note-name (sb-mop:generic-function-name generic-function))))
      (when symbol
        (when (system-symbol-p symbol) (setf (effects-restyles *effects*) t))
        (when (own-package-p (symbol-package symbol)) (setf (effects-damages *effects*) t)))))
  (multiple-value-prog1 (funcall change generic-function method)
    (when (sb-mop:method-generic-function method) (touch-method method))))

(defun called-whole (function &rest arguments)
  "Hook: record that FUNCTION builds the image, and call it with ARGUMENTS. Its own effects are not recorded."
  (note-building)
  (let ((*effects* nil)) (apply function arguments)))

(defun building-called (function &rest arguments)
  "Hook: record that FUNCTION builds the image, and call it with ARGUMENTS."
  (note-building)
  (apply function arguments))

(defun file-compiled (function &rest arguments)
  "Hook: call FUNCTION, which compiles a file, with ARGUMENTS. What it defines is for the compiler, and not recorded."
  (let ((*effects* nil) (*touched* nil)) (apply function arguments)))

(defun file-loaded (function &rest arguments)
  "Hook: call FUNCTION, which loads a file, with ARGUMENTS. Record that this builds the image, and its definitions."
  (note-building)
  (let ((*effects* nil)) (call-loading (lambda () (apply function arguments)))))

(defun package-defined (function &rest arguments)
  "Hook: call FUNCTION, which defines a package, with ARGUMENTS, and record that this builds the image."
  (note-building)
  (let* ((*defining-package* (or (find-if (lambda (argument) (typep argument 'source-location)) arguments) t))
         (package (apply function arguments)))
    (touch-exports '() package)
    package))

(defun exported (function symbols &rest package)
  "Hook: record that FUNCTION exports SYMBOLS of PACKAGE, and call it."
  (touch-exports symbols (or (first package) *package*))
  (apply function symbols package))

(defun variable-defined (function symbol &rest arguments)
  "Hook: record that FUNCTION defines the variable SYMBOL, and call it with ARGUMENTS."
  (touch-variable symbol)
  (apply function symbol arguments))

(defun constructors-declared (function description)
  "Hook: record that the structure of DESCRIPTION is defined, and call FUNCTION, which declares its constructors."
  (touch (description-name description))
  (funcall function description))

(defun name-defined (function name &rest arguments)
  "Hook: record that FUNCTION makes or changes what NAME is, and call it with ARGUMENTS."
  (touch name)
  (apply function name arguments))

(defun generic-function-defined (function name &rest arguments)
  "Hook: record that FUNCTION makes or changes the generic function NAME, remove what blocks that, and call FUNCTION
with ARGUMENTS."
  (touch name)
  ;; FUNCTION itself refuses arguments that are no pairs.
  (let ((lambda-list (loop for (name value) on arguments by #'cddr
                           when (eq name :lambda-list) return value
                           finally (return :none))))
    (unless (eq lambda-list :none)
      (making-way name lambda-list (find-if (lambda (argument) (typep argument 'source-location)) arguments) 'defgeneric)))
  (apply function name arguments))

(defun method-defined (function class name qualifiers specializers lambda-list &rest more)
  "Hook: call FUNCTION, which adds a method to the generic function NAME, with all arguments, after removing what blocks
that."
  (touch name)
  (making-way name lambda-list (find-if (lambda (argument) (typep argument 'source-location)) more) 'defmethod)
  (apply function class name qualifiers specializers lambda-list more))

(sb-ext:defglobal **hears-interning** nil "True when *INTERNED* gets what is interned.")

(defun hears-interning-p ()
  "True when interning a symbol is recorded. Tries it."
  (let ((*interned* '()) (package (symbol-package 'hears-interning-p)))
    (unintern (intern "a name that nothing has" package) package)
    (and *interned* t)))

(defun listen-for-effects ()
  "Install the hooks: from now on SBCL's defining functions record into *EFFECTS* and *INTERNED*."
  (loop for (listener . names) in `((name-checked ,+name-check+)
                                    (package-checked ,+package-check+)
                                    (method-changed add-method remove-method)
                                    (building-called make-package ,+proclaim+)
                                    (package-defined ,+define-package+)
                                    (exported export)
                                    (variable-defined ,+define-variable+ ,+define-global+)
                                    (constructors-declared ,+declare-constructors+)
                                    (name-defined ,+define-alien-type+)
                                    (generic-function-defined ensure-generic-function)
                                    (method-defined ,+add-method+)
                                    (file-loaded load)
                                    (called-whole sb-alien:load-shared-object (setf documentation))
                                    (file-compiled compile-file))
        do (dolist (name names)
             (when name (encapsulate name 'live-lisp-journal (fdefinition listener)))))
  (setf **hears-interning** (hears-interning-p)))

;;; Effects that only a name shows

(defparameter *by-name*
  '(intern proclaim provide sb-ext:lock-package sb-ext:unlock-package sb-ext:restrict-compiler-policy
    set-macro-character set-dispatch-macro-character make-dispatch-macro-character set-syntax-from-char
    set-pprint-dispatch readtable-case sb-ext:readtable-normalization
    logical-pathname-translations load-logical-pathname-translations)
  "Functions and places that build the image, and that no hook sees.")

(defun definer-p (operator)
  "True when OPERATOR names a macro of the system or a library that defines or declares something."
  (and (symbolp operator)
       (macro-function operator)
       (or (eq operator 'declaim) (starts-p (symbol-name operator) "DEF"))
       (or (system-symbol-p operator) (library-symbol-p operator))
       (not (eq operator 'live-lisp:define-tool))))

(defun literal (form)
  "Return the object that FORM denotes when it is a literal or quoted, else NIL."
  (cond ((and (consp form) (eq (car form) 'quote) (consp (cdr form))) (cadr form))
        ;; A symbol without a home was a keyword before its package was deleted.
        ((symbolp form) (and (or (keywordp form) (null (symbol-package form))) form))
        ((stringp form) form)))

(defun unlocks-system-p (form)
  "True when FORM unlocks a package of the system."
  (case (car form)
    ((sb-ext:without-package-locks sb-ext:with-unlocked-packages sb-ext:disable-package-locks) t)
    (sb-ext:unlock-package
     (let ((name (literal (second form))))
       (or (null name) (system-package-p (ignore-errors (find-package name))))))
    (declaim (some (lambda (spec) (and (consp spec) (eq (car spec) 'sb-ext:disable-package-locks))) (cdr form)))))

(defun note-operator (form)
  "Record what the operator of FORM shows, which has been evaluated."
  (when (consp form)
    (let ((operator (if (and (eq (car form) 'setf) (consp (second form))) (car (second form)) (car form))))
      (cond ((definer-p operator) (setf (effects-builds *effects*) t))
            ((or (member operator *by-name* :test #'eq)
                 ;; A list that is changed in place is still the same object.
                 (and (member operator '(setf setq)) (eq (second form) '*features*)))
             (setf (effects-builds *effects*) t
                   (effects-restyles *effects*) t)))
      (when (unlocks-system-p form) (setf (effects-damages *effects*) t)))))
