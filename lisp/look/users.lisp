;;;; A user is a function that uses other names. This file finds users by their own names: a name
;;;; "reaches" its function, its methods, its macro, its compiler macro and its expanders.

(in-package "LIVE-LISP.LOOK")

;;; Names of functions

(defun plain-name-p (name)
  "Return true if NAME is a symbol, a list (SETF symbol), or SBCL's (CAS symbol)."
  (or (symbolp name)
      (and (consp name)
           (member (first name) '(setf sb-ext:cas) :test #'eq)
           (consp (rest name))
           (null (cddr name))
           (symbolp (second name)))))

(defun name-text (name)
  "Return NAME, a symbol or a list such as (SETF symbol), as text with a package prefix:
PACKAGE::NAME or PACKAGE::(SETF NAME)."
  (if (symbolp name)
      (symbol-text name)
      (format nil "~A::(~A ~A)" (package-text (second name)) (symbol-name (first name))
              (symbol-name (second name)))))

(defun name-symbol (name)
  "Return the symbol in NAME, a symbol or a list such as (SETF symbol)."
  (if (consp name) (second name) name))

(defun name-before-p (one other)
  "Return true if answers show the function name ONE before OTHER. FOO precedes (SETF FOO) (contract
S3.9 in docs/develop/contracts.md)."
  (let ((key-1 (name-symbol one)) (key-2 (name-symbol other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

;;; SBCL's debug names of functions

(defun root-of (name)
  "Return the name of the outermost function around a function with the debug name NAME. For a
function that is not nested in another, return NAME. Return :TOP-LEVEL if the outermost function has
no name."
  (let ((within (and (consp name) (ignore-errors (member :in name)))))
    (cond ((and within (consp (rest within)) (null (cddr within))) (root-of (second within)))
          ((stringp name) :top-level)
          ((not (consp name)) name)
          ((and (symbolp (first name))
                (member (symbol-name (first name))
                        '("LAMBDA" "NAMED-LAMBDA" "FLET" "LABELS" "TOP-LEVEL-FORM")
                        :test #'string=))
           :top-level)
          (t name))))

(defun name-in-root (root)
  "Return the function name in ROOT, a result of ROOT-OF, or NIL if there is none. ROOT can be a
function name, a list such as (FAST-METHOD F (T)), or :TOP-LEVEL."
  (cond ((eq root :top-level) nil)
        ((plain-name-p root) root)
        ((and (consp root) (symbolp (first root)) (consp (rest root)) (plain-name-p (second root)))
         (second root))))

(defun form-name-p (name)
  "Return true if NAME is a debug name that SBCL gives to the code of a whole top-level form."
  (or (stringp name)
      (and (consp name)
           (symbolp (first name))
           (or (string= (first name) "TOP-LEVEL-FORM")
               (and (eq (first name) 'lambda) (null (second name)))))))

(defun enclosing-name (caller)
  "Return the global name of the outermost function around a function with the debug name CALLER.
Return NIL if the outermost function has no global name."
  (name-in-root (root-of caller)))

(defun system-name-p (caller)
  "Return true if the function with the debug name CALLER, or the outermost function around it, has
a name from Common Lisp or from an SBCL package."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-symbol name)))))
    (and package
         (or (eq package (find-package "COMMON-LISP"))
             (eql 0 (search "SB-" (package-name package)))))))

;;; The functions that are definitions of a name

(defparameter *user-kinds*
  '((:function . nil) (:method . nil) (:macro . nil)
    (:compiler-macro . "compiler macro") (:type . "type expander") (:setf . "setf expander")
    (:report . "condition report"))
  "The kinds of functions that can be found by a name, as (KIND . WORD) pairs. Answers show the
string WORD with a function of this kind. If WORD is NIL, answers show no word.")

(defun expander (category name)
  "If CATEGORY is :TYPE, return the function that expands the type NAME. If CATEGORY is :SETF,
return the function that expands the place NAME. Return NIL if there is no such function."
  (let ((known (known category :expander name)))
    (if (consp known) (find-if #'functionp (list (car known) (cdr known))) known)))

(defun map-reached (visit name)
  "Call the function VISIT with two arguments for each function that is a definition of NAME: its
kind, a key of *USER-KINDS*, and the simple function. Leave out closures made by a function with
another name."
  (flet ((see (kind function)
           (let ((simple (and (functionp function)
                              (not (typep function
                                          '(or sb-mop:funcallable-standard-object
                                            interpreted-function)))
                              (simple-function function))))
             (when (and (typep simple 'simple-function)
                        (or (and (eq simple function) (not (eq kind :method)))
                            (let ((root (root-of (simple-function-name simple))))
                              (or (eq root :top-level) (equal (name-in-root root) name)))))
               (funcall visit kind simple)))))
    (declare (dynamic-extent #'see))
    (when (and (plain-name-p name) (symbol-package (name-symbol name)))
      (let ((macro (and (symbolp name) (macro-function name))))
        (cond (macro (see :macro macro))
              ((not (fboundp name)))
              ((and (symbolp name) (special-operator-p name)))
              ((typep (plain-definition name) 'generic-function)
               (dolist (method (sb-mop:generic-function-methods (plain-definition name)))
                 (see :method (or (method-function method) (sb-mop:method-function method)))))
              (t (see :function (plain-definition name)))))
      (see :compiler-macro (compiler-macro-function name))
      (when (symbolp name)
        (see :type (expander :type name))
        (see :setf (expander :setf name))
        (when (and (eq :instance (known :type :kind name)) (subtypep name 'condition))
          (see :report (condition-report (classoid name))))))))

;;; Users of names

(defstruct (user (:constructor make-user (name kind function)))
  "Code that may use names.
NAME: the name of which FUNCTION is a definition, or NIL.
KIND: the kind of definition, a key of *USER-KINDS*. Without a NAME, it is :LOOSE or :OWN.
FUNCTION: a simple function. For :LOOSE, a weak pointer to a code object to which perhaps only data
refers. For :OWN, a function of SBCL, such as a template of its compiler.
TEXT: a cache, NIL or a pair of the home package of NAME and the text of NAME."
  name kind function (text nil))

(defun reached-p (user)
  "Return true if the name of USER, a USER structure, still has the function of USER as a definition
of the kind of USER."
  (let ((name (user-name user)) (kind (user-kind user)) (function (user-function user)))
    (flet ((see (kind-now function-now)
             (when (and (eq function function-now) (eq kind kind-now)) (return-from reached-p t))))
      (cond ((not (and (eq kind :function) (fboundp name) (eq function (plain-definition name))))
             (map-reached #'see name)
             nil)
            ;; MAP-REACHED would give the same result, but takes several times as long.
            ((symbol-package (name-symbol name)) t)))))

(defun kind-word (kind)
  "Return the string that answers show for KIND, a key of *USER-KINDS*, or NIL if they show none."
  (cdr (assoc kind *user-kinds*)))

(defun kind-text (user)
  "Return the string that answers show for the kind of USER, a USER structure, or NIL."
  (kind-word (user-kind user)))

(defun user-code (user)
  "Return the code object of USER, a USER structure, or NIL if the code was garbage collected."
  (let ((function (user-function user)))
    (cond ((typep function 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value function))
          (function (function-code function)))))

(defun name-of (user)
  "Return the function name of USER, a USER structure. Return NIL if USER has no name, or is a
TOP-FORM structure."
  (and (user-p user) (user-name user)))

(defun user-before-p (one other)
  "Return true if answers show ONE before OTHER, both USER or TOP-FORM structures: by name, then by
package. Those without a name come last."
  (let ((name-1 (name-of one)) (name-2 (name-of other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))
