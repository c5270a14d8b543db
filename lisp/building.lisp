;;;; Which evaluated forms build the image, so that they are needed to build it again: definitions,
;;;; changes of packages, of the readtable and of what the reader and compiler go by, loads, and
;;;; what undoes these. Nothing is expanded twice: what macros of the user gave is noted.

(in-package "LIVE-LISP.AGENT")

(sb-ext:defglobal **system-packages**
    (list* (find-package "LIVE-LISP") (find-package "LIVE-LISP.AGENT")
           (remove-if-not #'sb-ext:package-locked-p (list-all-packages)))
  "The packages that are no user's: those that are locked from the start, and the agent's.")

(sb-ext:defglobal **first-packages** (list-all-packages) "The packages that there are from the start.")

(defvar *expansions* nil
  "The forms of macros of the user that this evaluation expanded, newest first, each with what it gave.")
(defvar *expansion-room* 0 "How many more are noted.")
(defvar *steps* 0 "How many more forms are looked at within the form that was evaluated.")
(defvar *damages* nil "True when something in the form that is looked at changes the Lisp system itself.")

(defun system-symbol-p (symbol)
  "True when the home of SYMBOL is a package of the system or of the agent."
  (member (symbol-package symbol) **system-packages** :test #'eq))

(defun expand-noting (function form environment)
  "The *MACROEXPAND-HOOK* of an evaluation."
  (let ((expansion (funcall function form environment)))
    (when (and (consp form) (symbolp (car form)) (not (system-symbol-p (car form)))
               (plusp *expansion-room*))
      (decf *expansion-room*)
      (push (cons form expansion) *expansions*))
    expansion))

;;; What defines

(defparameter *builders*
  (let ((table (make-hash-table :test 'eq)))
    (dolist (name '(export unexport import shadowing-import shadow use-package unuse-package intern unintern
                    make-package rename-package delete-package proclaim load require provide
                    fmakunbound makunbound add-method remove-method ensure-generic-function
                    set-macro-character set-dispatch-macro-character make-dispatch-macro-character
                    set-syntax-from-char set-pprint-dispatch load-logical-pathname-translations
                    sb-ext:add-package-local-nickname sb-ext:remove-package-local-nickname
                    sb-ext:lock-package sb-ext:unlock-package sb-ext:add-implementation-package
                    sb-ext:restrict-compiler-policy sb-alien:load-shared-object sb-mop:ensure-class
                    live-lisp:register-tool))
      (setf (gethash name table) t))
    table)
  "Functions of the system that build the image.")

(defparameter *library-builders*
  '("LOAD-SYSTEM" "LOAD-SYSTEMS" "LOAD-SYSTEMS*" "OPERATE" "OOS" "MAKE" "REQUIRE-SYSTEM" "LOAD-ASD" "QUICKLOAD"
    "INITIALIZE-SOURCE-REGISTRY" "INITIALIZE-OUTPUT-TRANSLATIONS" "REGISTER-LOCAL-PROJECTS" "CLEAR-SYSTEM")
  "Those of ASDF and Quicklisp, which can come later.")

(defparameter *building-places*
  '(fdefinition symbol-function macro-function compiler-macro-function find-class documentation
    readtable-case logical-pathname-translations sb-ext:readtable-normalization)
  "Places that are definitions.")

(defparameter *settings*
  (list* '*features* '*default-pathname-defaults* 'sb-ext:*evaluator-mode*
         (set-difference *session-variables* '(*package* *random-state* * ** *** + ++ +++ / // /// -)))
  "Variables of the system that say how code is read, printed and compiled.")

(defun library-symbol-p (symbol)
  "True when the home of SYMBOL is a package of ASDF or Quicklisp."
  (let ((package (symbol-package symbol)))
    (and package
         (some (lambda (start) (eql 0 (search start (package-name package)))) '("ASDF" "UIOP" "QUICKLISP" "QL" "OCICL")))))

(defun builder-p (symbol)
  "True when SYMBOL names a function that builds the image."
  (or (gethash symbol *builders*)
      (and (not (system-symbol-p symbol)) (library-symbol-p symbol)
           (member (symbol-name symbol) *library-builders* :test #'string=))))

(defun definer-p (operator)
  "True when OPERATOR names a macro of the system or a library that defines or declares something."
  (and (macro-function operator)
       (or (eq operator 'declaim) (eql 0 (search "DEF" (symbol-name operator))))
       (or (system-symbol-p operator) (library-symbol-p operator))
       (not (eq operator 'live-lisp:define-tool))))

;;; What damages

(defun literal (form)
  "Return what FORM is when it is a literal or quoted, else NIL."
  (cond ((and (consp form) (eq (car form) 'quote) (consp (cdr form))) (cadr form))
        ;; A symbol without a home was a keyword before its package was deleted.
        ((symbolp form) (and (or (keywordp form) (null (symbol-package form))) form))
        ((stringp form) form)))

(defun system-name-p (name)
  "True when NAME, of a definition, is a symbol of the system or (SETF of one), or begins with one."
  (loop while (consp name)
        do (setf name (if (and (eq (car name) 'setf) (consp (cdr name))) (cadr name) (car name))))
  (and name (symbolp name) (system-symbol-p name)))

(defun named-among-p (designator packages)
  "True when DESIGNATOR, a form, is a literal that names one of PACKAGES, or named it before it was
deleted or renamed."
  (let ((name (literal designator)))
    (and (typep name '(or string symbol character))
         name
         (let ((package (find-package name)))
           (if package
               (member package packages :test #'eq)
               (member name '("CL-USER" "COMMON-LISP-USER" "CL" "COMMON-LISP" "KEYWORD" "LIVE-LISP" "LIVE-LISP-USER")
                       :test #'string=))))))

(defun damages-p (operator arguments)
  "True when a call of OPERATOR, a definer or a builder, with ARGUMENTS changes the system itself."
  (let ((first (first arguments)))
    (case operator
      ((sb-ext:without-package-locks sb-ext:with-unlocked-packages sb-ext:disable-package-locks) t)
      (sb-ext:unlock-package (or (null (literal first)) (named-among-p first **system-packages**)))
      ((delete-package rename-package) (named-among-p first **first-packages**))
      ((fmakunbound makunbound unintern) (system-name-p (literal first)))
      (declaim (some (lambda (spec) (and (consp spec) (eq (car spec) 'sb-ext:disable-package-locks))) arguments))
      (defpackage (named-among-p first **system-packages**))
      ((defmethod) (and (symbolp first) first (eq (symbol-package first) (find-package "LIVE-LISP.AGENT"))))
      (t (and (definer-p operator) (system-name-p first))))))

;;; Looking at a form

(defun any-builds-p (forms)
  "True when one of FORMS builds the image."
  (loop while (consp forms) thereis (builds-p (pop forms))))

(defun any-used-builds-p (forms)
  "True when one of FORMS, whose values are used, builds the image. Code that interns a symbol to
use it is mostly about to call a function."
  (any-builds-p (remove 'intern forms :key (lambda (form) (and (consp form) (car form))))))

(defun bindings-build-p (bindings)
  "True when the initial value of one of BINDINGS, of a LET, builds the image."
  (and (consp bindings)
       (any-used-builds-p (loop for binding in bindings
                                when (and (consp binding) (consp (cdr binding))) collect (cadr binding)))))

(defun setting-builds-p (place)
  "True when setting PLACE builds the image."
  (cond ((symbolp place)
         (or (member place *settings* :test #'eq) (library-symbol-p place)))
        ((and (consp place) (member (car place) *building-places* :test #'eq))
         (when (and (not (eq (car place) 'documentation)) (system-name-p (literal (second place))))
           (setf *damages* t))
         t)))

(defun settings-build-p (arguments)
  "True when a SETF with ARGUMENTS builds the image."
  (loop for (place value) on arguments by #'cddr
          thereis (or (setting-builds-p place) (builds-p value))))

(defun function-builds-p (designator)
  "True when calling DESIGNATOR, a form, builds the image as far as it shows."
  (let ((function (if (and (consp designator) (eq (car designator) 'function) (consp (cdr designator)))
                      (cadr designator)
                      (and (consp designator) designator))))
    (cond ((symbolp function) (builder-p function))
          ((eq (car function) 'lambda) (any-builds-p (cddr function))))))

(defun evaluating-builds-p (form)
  "True when evaluating the value of FORM builds the image as far as it shows."
  (and (consp form)
       (consp (cdr form))
       (case (car form)
         (quote (builds-p (cadr form)))
         (sb-int:quasiquote (let ((made (cadr form)))
                              (and (consp made) (symbolp (car made)) (builds-p made))))
         (list (let ((operator (literal (cadr form))))
                 (and operator (symbolp operator) (definer-p operator)))))))

(defun expansion-builds-p (form)
  "True when what the macro form FORM stands for builds the image."
  (let ((operator (car form)) (noted (assoc form *expansions* :test #'eq)))
    (cond (noted (builds-p (cdr noted)))
          ;; It was expanded where nobody noted it; the name must do.
          ((not (system-symbol-p operator))
           (and (macro-function operator) (eql 0 (search "DEF" (symbol-name operator)))))
          ((macro-function operator)
           (builds-p (ignore-errors (macroexpand-1 form))))
          ;; A function of the system evaluates its arguments and does nothing else that matters here.
          (t (any-used-builds-p (cdr form))))))

(defun operator-builds-p (form)
  "True when FORM, whose operator neither defines nor builds, builds the image by what is in it."
  (destructuring-bind (operator &rest arguments) form
    (case operator
      ((quote function declare) nil)
      ((progn locally block tagbody prog1 prog2 multiple-value-prog1 unwind-protect catch the if when unless
        and or time ignore-errors values)
       (any-builds-p arguments))
      ((let let*) (or (bindings-build-p (first arguments)) (any-builds-p (cdr arguments))))
      ((flet labels macrolet symbol-macrolet handler-bind eval-when with-compilation-unit
        multiple-value-bind)
       (any-builds-p (cdr arguments)))
      ((handler-case restart-case) (builds-p (first arguments)))
      ((setq setf psetq psetf) (settings-build-p arguments))
      ((push pushnew) (or (setting-builds-p (second arguments)) (builds-p (first arguments))))
      ((pop incf decf remf) (setting-builds-p (first arguments)))
      (eval (evaluating-builds-p (first arguments)))
      ((mapc mapcar mapcan funcall apply maphash) (function-builds-p (first arguments)))
      (map (function-builds-p (second arguments)))
      (in-package nil)
      (t (expansion-builds-p form)))))

(defun builds-p (form)
  "True when evaluating FORM builds the image; sets *DAMAGES* when it changes the system itself."
  (when (and (consp form) (plusp (decf *steps*)) (ignore-errors (list-length form)))
    (let ((operator (car form)))
      (cond ((consp operator)
             (and (eq (car operator) 'lambda) (any-builds-p (cddr operator))))
            ((not (symbolp operator)) nil)
            ((or (definer-p operator) (builder-p operator)
                 (member operator '(sb-ext:without-package-locks sb-ext:with-unlocked-packages) :test #'eq))
             (when (damages-p operator (cdr form)) (setf *damages* t))
             t)
            (t (operator-builds-p form))))))

(defun building-parts (form)
  "Return whether FORM builds the image, which parts of it are to be left out then (paths of
indexes into PROGN and its like), and whether it has some that change the system itself."
  (cond ((not (and (consp form)
                   (member (car form) '(progn locally eval-when) :test #'eq)
                   (ignore-errors (list-length form))))
         (let* ((*damages* nil) (builds (builds-p form)))
           (values (and builds (not *damages*)) '() *damages*)))
        (t
         (let ((builds nil) (without '()) (damages nil))
           (loop for part in (cdr form)
                 for index from 1
                 when (and (consp part) (not (eq (car part) 'declare))
                           (not (and (eq (car form) 'eval-when) (= index 1))))
                   do (multiple-value-bind (part-builds inner part-damages) (building-parts part)
                        (when part-builds (setf builds t))
                        (when part-damages (setf damages t))
                        (if part-builds
                            (dolist (path inner) (push (cons index path) without))
                            (push (list index) without))))
           (values builds (and builds (nreverse without)) damages)))))

;;; What was set

(defparameter *setters* '(setq setf psetq psetf push pushnew pop incf decf remf) "What changes a place.")

(defun variables-in (tree)
  "Return the global variables of the user that stand in TREE, which is no data."
  (cond ((minusp (decf *steps*)) '())
        ((consp tree)
         (unless (eq (car tree) 'quote)
           (nconc (variables-in (car tree)) (variables-in (cdr tree)))))
        ((and tree (symbolp tree) (not (keywordp tree)) (boundp tree) (not (constantp tree))
              (not (system-symbol-p tree)))
         (list tree))))

(defun set-variables (form)
  "Return the global variables of the user that FORM can have set where it shows."
  (when (and (consp form) (plusp (decf *steps*)) (not (eq (car form) 'quote)))
    (nconc (when (member (car form) *setters* :test #'eq)
             (variables-in (case (car form)
                             ((setq psetq setf psetf) (loop for place in (cdr form) by #'cddr collect place))
                             ((push pushnew) (list (third form)))
                             (t (list (second form))))))
           (loop for rest = form then (cdr rest)
                 while (consp rest)
                 nconc (set-variables (car rest))))))
