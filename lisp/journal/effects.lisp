;;;; Records how evaluating a form changed the image, in *EFFECTS*. Hooks do this: SBCL checks
;;;; package locks before it defines or undefines a name or changes a package, so there are hooks on
;;;; these checks (NAME-CHECKED, PACKAGE-CHECKED). Other hooks are on functions such as ADD-METHOD
;;;; and LOAD. NOTE-OPERATOR finds effects that no hook notices, by the operator of the form.
;;;;
;;;; The hooks also serve other parts of the backend. The functions named RECORD-... record for
;;;; LIVE-LISP.SOURCES the names that were defined, while *RECORDING* is true. DISPLACING-CONFLICTS
;;;; removes methods that do not fit a new lambda list. In an image that somebody else runs,
;;;; NOTE-CHANGED-NAME records names for the answers of other servers.

(in-package "LIVE-LISP.JOURNAL")

(defstruct (effects (:constructor make-effects ()))
  "The effects of a part of an evaluated form.
BUILDS: true if the part must be evaluated again to rebuild a lost image.
DAMAGES: true if the part changed SBCL or the backend.
RESTYLES: true if the part can have changed how forms are read or printed.
NAMES: a list of the names that the part defined, as texts."
  (builds nil) (damages nil) (restyles nil) (names '()))

(defvar *effects* nil
  "The EFFECTS structure of the form that this thread is evaluating, or NIL while effects are not
recorded.")

(defparameter *name-limit* 100 "The largest number of names that are recorded for one form.")

;;; Whether a name belongs to SBCL, to a library or to the program

(sb-ext:defglobal **system-packages** (remove-if-not #'core-package-p (list-all-packages))
  "A list of the packages of SBCL, and LIVE-LISP.")

(sb-ext:defglobal **first-packages** (list-all-packages)
  "A list of the packages that existed when the backend was loaded.")

(defun system-package-p (package)
  "Return true if PACKAGE belongs to SBCL or to the backend."
  (or (member package **system-packages** :test #'eq) (backend-package-p package)))

(defun system-symbol-p (symbol)
  "Return true if the home package of SYMBOL belongs to SBCL or to the backend."
  (system-package-p (symbol-package symbol)))

(defun library-symbol-p (symbol)
  "Return true if the home package of SYMBOL belongs to ASDF or to a library manager."
  (let ((package (symbol-package symbol)))
    (and package
         (starts-p (package-name package) "ASDF" "UIOP" "QUICKLISP" "QL" "OCICL"))))

;;; Names as texts

(defun name-text (name)
  "Return NAME, a symbol or (SETF symbol), as text with its package. Return NIL for an uninterned
symbol or another object."
  (cond ((symbolp name) (and (symbol-package name) (symbol-text name)))
        ((typep name '(cons (eql setf) (cons symbol null)))
         (let ((text (name-text (second name))))
           (and text (concatenate 'string "(SETF " text ")"))))))

;;; Hooks

(defmacro noting (&body body)
  "Evaluate BODY, which changes the EFFECTS structure in *EFFECTS*, within WITH-ISOLATION. Skip BODY
if *EFFECTS* is NIL."
  `(when *effects* (with-isolation ,@body)))

(defun location-in (arguments)
  "Return the first SOURCE-LOCATION object in ARGUMENTS, a list, or NIL."
  (find-if (lambda (argument) (typep argument 'source-location)) arguments))

(defun note-building ()
  "Record in *EFFECTS* that the running code changes the image, so that a rebuild must run this code
again."
  (when *effects* (setf (effects-builds *effects*) t)))

(defun note-name (name)
  "Record in *EFFECTS*, which must not be NIL, that the name NAME was defined, undefined or
declared. Return the symbol in NAME. If NAME-TEXT returns NIL for NAME, record nothing and return
NIL."
  (let ((text (name-text name)) (symbol (name-symbol name)))
    (when text
      (setf (effects-builds *effects*) t)
      (when (< (length (effects-names *effects*)) *name-limit*)
        (pushnew text (effects-names *effects*) :test #'string=))
      symbol)))

(defun setter-kind (doing)
  "Return the kind of definition, such as :MACRO, if DOING is SBCL's text for an assignment of a
function object to a name. Otherwise return NIL."
  (cond ((starts-p doing "setting fdefinition" "setting the symbol-function") :function)
        ((starts-p doing "setting the macro-function") :macro)
        ((starts-p doing "setting the compiler-macro-function") :compiler-macro)))

(defun name-checked (check name &rest doing)
  "Hook: CHECK is SBCL's test whether a package lock forbids an operation on NAME. Call it with NAME
and DOING. Record the operation. DOING is a list that begins with a text such as \"declaring ...\".
Skip operations that only set a value or that serve only the compiler."
  (declare (dynamic-extent doing))
  (let ((text (first doing)))
    (when (and (or *recording* *effects* **attached**)
               (not (starts-p text "binding" "setting the value")))
      (when *recording* ; for LIVE-LISP.SOURCES
        (record-change name (setter-kind text))
        (when (and (starts-p text "globally declaring")
                   (member (second doing) '(special sb-ext:global) :test #'eq))
          (record-evaluated name :special)))
      (unless (starts-p text "declaring" "proclaiming")
        (noting ; for a rebuild
          (let ((symbol (note-name name)))
            (when (and symbol (system-symbol-p symbol)) (setf (effects-damages *effects*) t)))))
      ;; For the answers of other servers.
      (when (and **attached** (starts-p text "defining" "setting fdefinition"
                                        "setting the macro-function" "setting the symbol-function"))
        (with-isolation (note-changed-name (name-text name))))))
  (apply check name doing))
(define-hook +name-check+ name-checked)

(defvar *interned* :unasked
  "A list of (PACKAGE . NAME) pairs, newest first, for the symbols that were interned. It is
:UNASKED while interning is not recorded.")

(defun package-checked (check package &rest doing)
  "Hook: CHECK is SBCL's test whether a package lock forbids an operation on PACKAGE. Call it with
PACKAGE and DOING. Record the operation. DOING is a list that begins with a text such as \"deleting
...\". An interned symbol does not count as a change of the image, because the reader also interns
symbols. Record it only in *INTERNED*."
  (if (starts-p (first doing) "interning")
      (when (listp *interned*) (push (cons package (second doing)) *interned*))
      (noting
        (setf (effects-builds *effects*) t)
        (when (or (system-package-p package)
                  (and (starts-p (first doing) "deleting" "renaming")
                       (member package **first-packages** :test #'eq)))
          (setf (effects-damages *effects*) t))))
  (apply check package doing))
(define-hook +package-check+ package-checked)

(defun method-changed (change generic-function method)
  "Hook: CHANGE adds METHOD to GENERIC-FUNCTION or removes it. Call it with both, and record the
change."
  (noting
    (let ((symbol (note-name (sb-mop:generic-function-name generic-function))))
      (when symbol
        (when (system-symbol-p symbol) (setf (effects-restyles *effects*) t))
        (when (backend-package-p (symbol-package symbol)) (setf (effects-damages *effects*) t)))))
  (when **attached**
    (with-isolation
     (note-changed-name (name-text (sb-mop:generic-function-name generic-function)))))
  (multiple-value-prog1 (funcall change generic-function method)
    ;; METHOD has a generic function if CHANGE added it, and none if CHANGE removed it.
    (when (sb-mop:method-generic-function method) (record-method method))))
(define-hook add-method method-changed)
(define-hook remove-method method-changed)

(defun called-whole (function &rest arguments)
  "Hook: call FUNCTION with ARGUMENTS. Record that the image changed (NOTE-BUILDING), but not which
names FUNCTION defines."
  (note-building)
  (let ((*effects* nil)) (apply function arguments)))
(define-hook sb-alien:load-shared-object called-whole)
(define-hook (setf documentation) called-whole)

(defun building-called (function &rest arguments)
  "Hook: call FUNCTION with ARGUMENTS. Record that the image changed (NOTE-BUILDING), and also which
names FUNCTION defines."
  (note-building)
  (apply function arguments))
(define-hook make-package building-called)
(define-hook +proclaim+ building-called)

(defun file-compiled (function &rest arguments)
  "Hook: FUNCTION compiles a file. Call it with ARGUMENTS. Record no effects, because its
definitions serve only the compilation of this file."
  (let ((*effects* nil) (*recording* nil))
    (call-as-itself (first arguments) (lambda () (apply function arguments)))))
(define-hook compile-file file-compiled)

(defun file-loaded (function &rest arguments)
  "Hook: FUNCTION loads a file. Call it with ARGUMENTS. Record that the image changed, and the
definitions that the file makes."
  (note-building)
  (let ((*effects* nil))
    (call-noting-load (first arguments)
                      (lambda ()
                        (call-loading
                         (lambda ()
                           (call-as-itself (first arguments)
                                           (lambda () (apply function arguments)))))))))
(define-hook load file-loaded)

(defun compile-begun (function information)
  "Hook: SBCL calls FUNCTION with INFORMATION before it compiles a file. First record the text of
the file, unless the compiled code will not be loaded as the code of this file. Then call FUNCTION."
  (unless (or *spans-read* *file-of-copy*)
    (with-isolation (note-read *compile-file-truename*)))
  (funcall function information))
(define-hook +make-observer+ compile-begun)

(defun source-begun (function &rest arguments)
  "Hook: FUNCTION loads the source code in a stream. Call it with ARGUMENTS. Record the text of the
file before the call, and the load after it."
  (when *load-truename* (with-isolation (note-read *load-truename*)))
  (apply #'load-ended function arguments))
(define-hook +load-source+ source-begun)

(defun load-ended (function &rest arguments)
  "Hook: FUNCTION loads the source code or the fasl in a stream. Call it with ARGUMENTS. If it
returns, record the load."
  (multiple-value-prog1 (apply function arguments)
    (when *load-truename* (note-loaded))))
(define-hook +load-fasl+ load-ended)

(defun package-defined (function &rest arguments)
  "Hook: FUNCTION defines a package. Call it with ARGUMENTS. Record that the image changed, and the
exports of the package."
  (note-building)
  (let* ((*defining-package* (or (location-in arguments) t)) (package (apply function arguments)))
    (record-exports '() package)
    package))
(define-hook +define-package+ package-defined)

(defun exported (function &rest arguments)
  "Hook: FUNCTION exports symbols from a package. Record the symbols, and call FUNCTION with
ARGUMENTS."
  (record-exports (first arguments) (or (second arguments) *package*))
  (apply function arguments))
(define-hook export exported)

(defun variable-defined (function symbol &rest arguments)
  "Hook: FUNCTION defines the variable SYMBOL. Record SYMBOL, and call FUNCTION with SYMBOL and
ARGUMENTS."
  (record-variable symbol)
  (apply function symbol arguments))
(define-hook +define-variable+ variable-defined)
(define-hook +define-global+ variable-defined)

(defun constructors-declared (function description)
  "Hook: FUNCTION declares the constructors of a structure. Record the name of the structure that
DESCRIPTION describes, and call FUNCTION with DESCRIPTION."
  (record-change (description-name description))
  (funcall function description))
(define-hook +declare-constructors+ constructors-declared)

(defun name-defined (function name &rest arguments)
  "Hook: FUNCTION defines NAME. Record NAME, and call FUNCTION with NAME and ARGUMENTS."
  (record-change name)
  (apply function name arguments))
(define-hook +define-alien-type+ name-defined)

(defun generic-function-defined (function &rest arguments)
  "Hook: FUNCTION makes or changes a generic function. Call it with ARGUMENTS, of which the first is
the name. Before that, record the name, and remove methods that do not fit the new lambda list.
FUNCTION itself signals errors for invalid arguments."
  (let* ((name (first arguments))
         (lambda-list (loop for (key value) on (rest arguments) by #'cddr
                            when (eq key :lambda-list) return value
                            finally (return :none))))
    (record-change name)
    (unless (eq lambda-list :none)
      (displacing-conflicts name lambda-list (location-in arguments) 'defgeneric)))
  (apply function arguments))
(define-hook ensure-generic-function generic-function-defined)

(defun method-defined (function class name qualifiers specializers lambda-list &rest more)
  "Hook: FUNCTION adds a method to the generic function NAME. Call it with all other arguments.
Before that, record NAME, and remove methods that do not fit LAMBDA-LIST."
  (record-change name)
  (displacing-conflicts name lambda-list (location-in more) 'defmethod)
  (apply function class name qualifiers specializers lambda-list more))
(define-hook +add-method+ method-defined)

(defun listen-for-effects ()
  "Install the hooks on SBCL's defining functions that record into *EFFECTS*, *INTERNED* and
*RECORDING*."
  (install-hooks 'name-checked 'package-checked 'method-changed 'building-called 'called-whole
                 'package-defined 'exported 'variable-defined 'constructors-declared 'name-defined
                 'generic-function-defined 'method-defined
                 'file-loaded 'file-compiled 'compile-begun 'source-begun 'load-ended))

;;; Effects that the operator of a form shows

(defparameter *by-name*
  '(intern proclaim provide sb-ext:lock-package sb-ext:unlock-package
    sb-ext:restrict-compiler-policy set-macro-character set-dispatch-macro-character
    make-dispatch-macro-character set-syntax-from-char set-pprint-dispatch readtable-case
    sb-ext:readtable-normalization logical-pathname-translations load-logical-pathname-translations)
  "A list of operators that change the image, but call no function with a hook, so NOTE-OPERATOR
looks for them in forms. Some are accessors, and change the image in a SETF form.")

(defun definer-p (operator)
  "Return true if OPERATOR names a defining or declaring macro of SBCL, ASDF or a library manager."
  (and (symbolp operator)
       (macro-function operator)
       (or (eq operator 'declaim) (starts-p (symbol-name operator) "DEF"))
       (or (system-symbol-p operator) (library-symbol-p operator))
       (not (eq operator 'live-lisp:define-tool))))

(defun literal (form)
  "Return the object that FORM denotes if FORM is a quoted object, a keyword or a string. Otherwise
return NIL."
  (cond ((and (consp form) (eq (car form) 'quote) (consp (cdr form))) (cadr form))
        ;; A symbol without a home package was a keyword before its package was deleted.
        ((symbolp form) (and (or (keywordp form) (null (symbol-package form))) form))
        ((stringp form) form)))

(defun unlocks-system-p (form)
  "Return true if FORM, a list, unlocks a package of SBCL."
  (case (car form)
    ((sb-ext:without-package-locks sb-ext:with-unlocked-packages sb-ext:disable-package-locks) t)
    (sb-ext:unlock-package
     (let ((name (literal (second form))))
       (or (null name)
           (and (typep name '(or string symbol package))
                (system-package-p (find-package name))))))
    (declaim (some (lambda (spec) (and (consp spec) (eq (car spec) 'sb-ext:disable-package-locks)))
                   (cdr form)))))

(defun note-operator (form)
  "FORM was evaluated. Some operators, such as those in *BY-NAME*, have effects that no hook
notices. If FORM has such an operator, record the effects in *EFFECTS*."
  (when (and (consp form) (proper-length form))
    (let ((operator (if (and (eq (car form) 'setf) (consp (second form)))
                        (car (second form))
                        (car form))))
      (cond ((definer-p operator) (setf (effects-builds *effects*) t))
            ((or (member operator *by-name* :test #'eq)
                 ;; When a list is changed in place, the variable still has the same object, so
                 ;; comparing values would not show the change.
                 (and (member operator '(setf setq)) (eq (second form) '*features*)))
             (setf (effects-builds *effects*) t
                   (effects-restyles *effects*) t)))
      (when (unlocks-system-p form) (setf (effects-damages *effects*) t)))))
