;;;; Finds all functions that belong to the definitions of a given name: the function with this
;;;; name, its methods, macro function, compiler macro function and expanders. Such a function is
;;;; called a user elsewhere in this folder, because its code uses other names.

(in-package "LIVE-LISP.LOOK")

;;; The functions that are definitions of a name

(defparameter *user-kinds*
  '((:function . nil) (:method . nil) (:macro . nil)
    (:compiler-macro . "compiler macro") (:type . "type expander") (:setf . "setf expander")
    (:report . "condition report"))
  "The kinds of functions that can be found by a name, as (KIND . WORD) pairs. WORD is the string to
show in answers with a function of this kind, or NIL to show none.")

(defun expander (category name)
  "If CATEGORY is :TYPE, return the function that expands the type NAME. If CATEGORY is :SETF,
return the function that expands the place NAME. Return NIL if there is no such function."
  (let ((known (known category :expander name)))
    (if (consp known) (find-if #'functionp (list (car known) (cdr known))) known)))

(defun map-reached (visit name)
  "Call the function VISIT for each function that is a definition of NAME: its function, its macro
function, its methods and so on. VISIT takes two arguments: the kind of the definition, a key of
*USER-KINDS*, and the simple function. Leave out a closure if a function of another name made it."
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
  "Return true if the function in USER, a USER structure, is still a definition of the name in USER,
of the kind in USER."
  (let ((name (user-name user)) (kind (user-kind user)) (function (user-function user)))
    (flet ((see (kind-now function-now)
             (when (and (eq function function-now) (eq kind kind-now)) (return-from reached-p t))))
      (cond ((not (and (eq kind :function) (fboundp name) (eq function (plain-definition name))))
             (map-reached #'see name)
             nil)
            ;; MAP-REACHED would give the same result, but takes several times as long.
            ((symbol-package (name-symbol name)) t)))))

(defun kind-word (kind)
  "Return the string for KIND, a key of *USER-KINDS*, in answers. Return NIL if answers have none."
  (cdr (assoc kind *user-kinds*)))

(defun kind-text (user)
  "Return the string for the kind of USER, a USER structure, in answers. Return NIL if answers have
none."
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
  "Return true if ONE comes before OTHER in answers. Both are USER or TOP-FORM structures. They are
sorted by name, then by package. A structure without a name comes last."
  (let ((name-1 (name-of one)) (name-2 (name-of other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))
