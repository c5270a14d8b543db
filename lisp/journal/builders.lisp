;;;; What builds the image by its name: the operators that define, the functions and places that
;;;; build, and which of them change the Lisp system itself.

(in-package "LIVE-LISP.JOURNAL")

(sb-ext:defglobal **system-packages**
    (remove-if-not #'sb-ext:package-locked-p (list-all-packages))
  "The packages that are locked from the start: those of the system, and LIVE-LISP.")

(sb-ext:defglobal **first-packages** (list-all-packages) "The packages that there are from the start.")

(defun system-package-p (package)
  "True when PACKAGE is one of the system or of the agent."
  (or (member package **system-packages** :test #'eq) (own-package-p package)))

(defun system-symbol-p (symbol)
  "True when the home of SYMBOL is a package of the system or of the agent."
  (system-package-p (symbol-package symbol)))

;;; What defines

(defparameter *builders*
  (let ((table (make-hash-table :test 'eq)))
    (dolist (name '(export unexport import shadowing-import shadow use-package unuse-package intern unintern
                    make-package rename-package delete-package proclaim load require provide
                    fmakunbound makunbound add-method remove-method ensure-generic-function
                    set-macro-character set-dispatch-macro-character make-dispatch-macro-character
                    set-syntax-from-char set-pprint-dispatch load-logical-pathname-translations compile
                    sb-ext:add-package-local-nickname sb-ext:remove-package-local-nickname
                    sb-ext:lock-package sb-ext:unlock-package sb-ext:add-implementation-package
                    sb-ext:restrict-compiler-policy sb-alien:load-shared-object
                    sb-mop:ensure-class sb-mop:ensure-class-using-class sb-mop:ensure-generic-function-using-class
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
               (or (own-package-p package) (member package packages :test #'eq))
               (member name '("CL-USER" "COMMON-LISP-USER" "CL" "COMMON-LISP" "KEYWORD" "LIVE-LISP" "LIVE-LISP-USER")
                       :test #'string=))))))

(defun damages-p (operator arguments)
  "True when a call of OPERATOR, a definer or a builder, with ARGUMENTS changes the system itself."
  (let ((first (first arguments)))
    (case operator
      ((sb-ext:without-package-locks sb-ext:with-unlocked-packages sb-ext:disable-package-locks) t)
      (sb-ext:unlock-package (or (null (literal first)) (named-among-p first **system-packages**)))
      ((delete-package rename-package) (named-among-p first **first-packages**))
      ((fmakunbound makunbound unintern compile) (system-name-p (literal first)))
      (declaim (some (lambda (spec) (and (consp spec) (eq (car spec) 'sb-ext:disable-package-locks))) arguments))
      (defpackage (named-among-p first **system-packages**))
      ((defmethod) (and (symbolp first) first (own-package-p (symbol-package first))))
      (t (and (definer-p operator) (system-name-p first))))))
