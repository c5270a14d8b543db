;;;; What evaluating a form did to the image. SBCL asks the locks of packages before it defines or undefines a name or
;;;; changes a package, whoever tells it to: we listen there. Methods, loads and settings it does not ask about.

(in-package "LIVE-LISP.JOURNAL")

(defstruct (effects (:constructor make-effects ()))
  "What a part of a form did. BUILDS is true when the next image needs it, DAMAGES when it changed the system itself.
RESTYLES is true when it can change how forms are read and printed. NAMES has the texts of the names that it defined."
  (builds nil) (damages nil) (restyles nil) (names '()))

(defvar *effects* nil "The effects of what this thread evaluates, or NIL while nobody asks.")

(defparameter *name-limit* 100 "How many names of one form are noted.")

;;; Whose a name is

(sb-ext:defglobal **system-packages** (remove-if-not #'sb-ext:package-locked-p (list-all-packages))
  "The packages that are locked from the start: those of the system, and LIVE-LISP.")

(sb-ext:defglobal **first-packages** (list-all-packages) "The packages that there are from the start.")

(defun system-package-p (package)
  "True when PACKAGE is one of the system or of the agent."
  (or (member package **system-packages** :test #'eq) (own-package-p package)))

(defun system-symbol-p (symbol)
  "True when the home of SYMBOL is a package of the system or of the agent."
  (system-package-p (symbol-package symbol)))

(defun library-symbol-p (symbol)
  "True when the home of SYMBOL is a package of ASDF or Quicklisp."
  (let ((package (symbol-package symbol)))
    (and package
         (some (lambda (start) (eql 0 (search start (package-name package)))) '("ASDF" "UIOP" "QUICKLISP" "QL" "OCICL")))))

;;; Noting

(defun name-text (name)
  "Return NAME, a symbol or (SETF symbol), as text with its package; NIL for what is no name of a program."
  (cond ((symbolp name) (and (symbol-package name) (symbol-text name)))
        ((typep name '(cons (eql setf) (cons symbol null)))
         (let ((text (name-text (second name)))) (and text (concatenate 'string "(SETF " text ")"))))))

;;; Listening

(defmacro noting (&body body)
  "Evaluate BODY, which notes an effect, when somebody asks for effects. No failure of it reaches the program."
  `(when *effects* (ignore-errors ,@body)))

(defun note-building ()
  "Note that what runs builds the image."
  (noting (setf (effects-builds *effects*) t)))

(defun note-name (name)
  "Note that NAME was defined, undefined or declared. Return its symbol when it is a name of a program, else NIL."
  (let ((text (name-text name)) (symbol (if (consp name) (second name) name)))
    (when text
      (setf (effects-builds *effects*) t)
      (when (< (length (effects-names *effects*)) *name-limit*)
        (pushnew text (effects-names *effects*) :test #'string=))
      symbol)))

(defun starts-p (text &rest beginnings)
  "True when TEXT is a string that begins with one of BEGINNINGS. It is asked whenever code sets a symbol, so it is quick."
  (declare (dynamic-extent beginnings) (optimize speed))
  (when (simple-string-p text)
    (dolist (beginning beginnings nil)
      (declare (simple-string beginning))
      (when (and (<= (length beginning) (length text))
                 (dotimes (index (length beginning) t)
                   (unless (char= (schar beginning index) (schar text index)) (return nil))))
        (return t)))))

(defun name-checked (check name &rest doing)
  "Call CHECK, which asks the lock of the home of NAME whether DOING something to that is allowed. Note what is done when
it does more than compile."
  (declare (dynamic-extent doing))
  (when (and *touched* (not (starts-p (first doing) "binding" "setting the value")))
    (if (starts-p (first doing) "setting fdefinition") (touch-function name) (touch name)))
  (noting
    (unless (starts-p (first doing) "binding" "declaring" "proclaiming" "setting the value")
      (let ((symbol (note-name name)))
        (when (and symbol (system-symbol-p symbol)) (setf (effects-damages *effects*) t)))))
  (apply check name doing))

(defvar *interned* :unasked "The packages and names, in pairs, that this thread interned, newest first; :UNASKED while nobody asks.")

(defun package-checked (check package &rest doing)
  "Call CHECK, which asks the lock of PACKAGE whether DOING something to that is allowed, and note it. Interning is noted
apart: reading interns too, and so does much code that only looks a symbol up."
  (if (starts-p (first doing) "interning")
      (when (listp *interned*) (push (cons package (second doing)) *interned*))
      (noting
        (setf (effects-builds *effects*) t)
        (when (or (system-package-p package)
                  (and (starts-p (first doing) "deleting" "renaming") (member package **first-packages** :test #'eq)))
          (setf (effects-damages *effects*) t))))
  (apply check package doing))

(defun method-changed (change generic-function method)
  "Call CHANGE, which adds METHOD to GENERIC-FUNCTION or takes it away, and note that."
  (noting
    (let ((symbol (note-name (sb-mop:generic-function-name generic-function))))
      (when symbol
        (when (system-symbol-p symbol) (setf (effects-restyles *effects*) t))
        (when (own-package-p (symbol-package symbol)) (setf (effects-damages *effects*) t)))))
  (multiple-value-prog1 (funcall change generic-function method)
    (when (sb-mop:method-generic-function method) (touch-method method))))

(defun called-whole (function &rest arguments)
  "Call FUNCTION with ARGUMENTS, and note that this builds the image, but not what it does in turn."
  (note-building)
  (let ((*effects* nil)) (apply function arguments)))

(defun building-called (function &rest arguments)
  "Call FUNCTION with ARGUMENTS, and note that this builds the image."
  (note-building)
  (apply function arguments))

(defun file-compiled (function &rest arguments)
  "Call FUNCTION, which compiles a file, with ARGUMENTS. What that defines is for the compiler."
  (let ((*effects* nil) (*touched* nil)) (apply function arguments)))

(defun file-loaded (function &rest arguments)
  "Call FUNCTION, which loads a file, with ARGUMENTS, note that this builds the image, and which definitions it made."
  (note-building)
  (let ((*effects* nil)) (call-loading (lambda () (apply function arguments)))))

(defun package-defined (function &rest arguments)
  "Call FUNCTION, which defines a package, with ARGUMENTS, and note that this builds the image."
  (note-building)
  (let* ((*defining-package* (or (find-if (lambda (argument) (typep argument 'source-location)) arguments) t))
         (package (apply function arguments)))
    (touch-exports '() package)
    package))

(defun exported (function symbols &rest package)
  "Call FUNCTION, which exports SYMBOLS of PACKAGE, and note that."
  (touch-exports symbols (or (first package) *package*))
  (apply function symbols package))

(defun variable-defined (function symbol &rest arguments)
  "Call FUNCTION, which defines the variable SYMBOL, with ARGUMENTS, and note that."
  (touch-variable symbol)
  (apply function symbol arguments))

(defun constructors-declared (function description)
  "Call FUNCTION, which declares the constructors of the structure of DESCRIPTION, and note that it is defined."
  (touch (description-name description))
  (funcall function description))

(defun name-defined (function name &rest arguments)
  "Call FUNCTION, which makes or changes what NAME is, with ARGUMENTS, and note that."
  (touch name)
  (apply function name arguments))

(defun generic-function-defined (function name &rest arguments)
  "Call FUNCTION, which makes or changes the generic function NAME, with ARGUMENTS, and note that. What stands in the way
of it goes first."
  (touch name)
  ;; Arguments that are no pairs are refused by the function itself.
  (let ((lambda-list (loop for (name value) on arguments by #'cddr
                           when (eq name :lambda-list) return value
                           finally (return :none))))
    (unless (eq lambda-list :none)
      (making-way name lambda-list (find-if (lambda (argument) (typep argument 'source-location)) arguments) 'defgeneric)))
  (apply function name arguments))

(defun method-defined (function class name qualifiers specializers lambda-list &rest more)
  "Call FUNCTION, which adds a method to the generic function NAME, with all arguments. What stands in the way of it goes
first."
  (touch name)
  (making-way name lambda-list (find-if (lambda (argument) (typep argument 'source-location)) more) 'defmethod)
  (apply function class name qualifiers specializers lambda-list more))

(sb-ext:defglobal **hears-interning** nil "True when *INTERNED* is told what is interned.")

(defun hears-interning-p ()
  "True when interning a symbol is noted, which is tried."
  (let ((*interned* '()) (package (symbol-package 'hears-interning-p)))
    (unintern (intern "a name that nothing has" package) package)
    (and *interned* t)))

(defun listen-for-effects ()
  "Have SBCL tell *EFFECTS* and *INTERNED* from now on."
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

;;; What only its name tells

(defparameter *by-name*
  '(intern proclaim provide sb-ext:lock-package sb-ext:unlock-package sb-ext:restrict-compiler-policy
    set-macro-character set-dispatch-macro-character make-dispatch-macro-character set-syntax-from-char
    set-pprint-dispatch readtable-case sb-ext:readtable-normalization
    logical-pathname-translations load-logical-pathname-translations)
  "Functions and places that build without a word to anybody.")

(defun definer-p (operator)
  "True when OPERATOR names a macro of the system or a library that defines or declares something."
  (and (symbolp operator)
       (macro-function operator)
       (or (eq operator 'declaim) (starts-p (symbol-name operator) "DEF"))
       (or (system-symbol-p operator) (library-symbol-p operator))
       (not (eq operator 'live-lisp:define-tool))))

(defun literal (form)
  "Return what FORM is when it is a literal or quoted, else NIL."
  (cond ((and (consp form) (eq (car form) 'quote) (consp (cdr form))) (cadr form))
        ;; A symbol without a home was a keyword before its package was deleted.
        ((symbolp form) (and (or (keywordp form) (null (symbol-package form))) form))
        ((stringp form) form)))

(defun unlocks-system-p (form)
  "True when FORM opens the lock of a package of the system."
  (case (car form)
    ((sb-ext:without-package-locks sb-ext:with-unlocked-packages sb-ext:disable-package-locks) t)
    (sb-ext:unlock-package
     (let ((name (literal (second form))))
       (or (null name) (system-package-p (ignore-errors (find-package name))))))
    (declaim (some (lambda (spec) (and (consp spec) (eq (car spec) 'sb-ext:disable-package-locks))) (cdr form)))))

(defun note-operator (form)
  "Note what the operator of FORM tells, which has been evaluated."
  (when (consp form)
    (let ((operator (if (and (eq (car form) 'setf) (consp (second form))) (car (second form)) (car form))))
      (cond ((definer-p operator) (setf (effects-builds *effects*) t))
            ((or (member operator *by-name* :test #'eq)
                 ;; A list that is changed in its place is still the same object.
                 (and (member operator '(setf setq)) (eq (second form) '*features*)))
             (setf (effects-builds *effects*) t
                   (effects-restyles *effects*) t)))
      (when (unlocks-system-p form) (setf (effects-damages *effects*) t)))))
