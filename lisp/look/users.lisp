;;;; Users: functions that may use other names. A user is found by its own name, as the function,
;;;; method, macro or expander of the name. In these files, the name is said to reach the user.

(in-package "LIVE-LISP.LOOK")

;;; Names of functions

(defun plain-name-p (name)
  "True when NAME is a symbol, or of the form (SETF symbol) or SBCL's (CAS symbol)."
  (or (symbolp name)
      (and (consp name)
           (member (first name) '(setf sb-ext:cas) :test #'eq)
           (consp (rest name))
           (null (cddr name))
           (symbolp (second name)))))

(defun name-text (name)
  "Return NAME, a symbol or a list such as (SETF symbol), as text: PACKAGE::NAME or PACKAGE::(SETF
NAME)."
  (if (symbolp name)
      (symbol-text name)
      (format nil "~A::(~A ~A)" (package-text (second name)) (symbol-name (first name))
              (symbol-name (second name)))))

(defun name-symbol (name)
  "Return the symbol in NAME, a symbol or a list such as (SETF symbol)."
  (if (consp name) (second name) name))

(defun name-before-p (one other)
  "True when the function name ONE precedes OTHER in answers. FOO precedes (SETF FOO) (contract S3.9
in docs/develop/contracts.md)."
  (let ((key-1 (name-symbol one)) (key-2 (name-symbol other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

;;; SBCL's debug names of functions

(defun root-of (name)
  "NAME is the debug name of a function, which can be nested in others. Return the name of the
outermost function around it, or NAME if it is not nested. Return :TOP-LEVEL when the outermost
function has no name."
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
  "Return the function name in ROOT, a value of ROOT-OF, or NIL. ROOT can be a function name or a
list such as (FAST-METHOD F (T))."
  (cond ((eq root :top-level) nil)
        ((plain-name-p root) root)
        ((and (consp root) (symbolp (first root)) (consp (rest root)) (plain-name-p (second root)))
         (second root))))

(defun form-name-p (name)
  "True when NAME is SBCL's debug name for the code of a whole top-level form."
  (or (stringp name)
      (and (consp name)
           (symbolp (first name))
           (or (string= (first name) "TOP-LEVEL-FORM")
               (and (eq (first name) 'lambda) (null (second name)))))))

(defun enclosing-name (caller)
  "Return the global name of the outermost function around the function with the debug name CALLER,
or NIL when it has none."
  (name-in-root (root-of caller)))

(defun system-name-p (caller)
  "True when CALLER is the debug name of a function, perhaps nested, whose outermost function is
named by a symbol of SBCL or Common Lisp."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-symbol name)))))
    (and package
         (or (eq package (find-package "COMMON-LISP"))
             (eql 0 (search "SB-" (package-name package)))))))

;;; The functions that a name reaches

(defparameter *user-kinds*
  '((:function . nil) (:method . nil) (:macro . nil)
    (:compiler-macro . "compiler macro") (:type . "type expander") (:setf . "setf expander")
    (:report . "condition report"))
  "The kinds of functions that a name can reach, with the word for each in answers, or NIL if none
is shown.")

(defun expander (category name)
  "Return the function that expands uses of NAME, as a type if CATEGORY is :TYPE, or as a place if
it is :SETF. Return NIL if there is none."
  (let ((known (known category :expander name)))
    (if (consp known) (find-if #'functionp (list (car known) (cdr known))) known)))

(defun map-reached (visit name)
  "Call VISIT for each simple function that NAME reaches, with its kind, a key of *USER-KINDS*, and
the function. Leave out closures made by a function with another name."
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

;;; Users

(defstruct (user (:constructor make-user (name kind function)))
  "Code that may use names: FUNCTION, a simple function which NAME reaches as KIND, a key of
*USER-KINDS*. Users without NAME have other kinds. If KIND is :LOOSE, FUNCTION is a weak pointer to
a code object that perhaps only data refers to. If KIND is :OWN, FUNCTION is a function of SBCL,
such as a template of its compiler. TEXT is a cache: a pair of the package of NAME, and NAME as
text."
  name kind function (text nil))

(defun reached-p (user)
  "True when the name of USER still reaches the same function, as the same kind."
  (let ((name (user-name user)) (kind (user-kind user)) (function (user-function user)))
    (flet ((see (kind-now function-now)
             (when (and (eq function function-now) (eq kind kind-now)) (return-from reached-p t))))
      (cond ((not (and (eq kind :function) (fboundp name) (eq function (plain-definition name))))
             (map-reached #'see name)
             nil)
            ;; MAP-REACHED would find the same, but takes several times as long.
            ((symbol-package (name-symbol name)) t)))))

(defun kind-word (kind)
  "Return the word in answers for KIND, a key of *USER-KINDS*, or NIL."
  (cdr (assoc kind *user-kinds*)))

(defun kind-text (user)
  "Return the word in answers for the kind of USER, or NIL."
  (kind-word (user-kind user)))

(defun user-code (user)
  "Return the code object of USER, or NIL if it was garbage collected."
  (let ((function (user-function user)))
    (cond ((typep function 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value function))
          (function (function-code function)))))

(defun name-of (user)
  "Return the function name of USER for answers, or NIL. USER can be a TOP-FORM, which has none."
  (and (user-p user) (user-name user)))

(defun user-before-p (one other)
  "True when the user ONE precedes OTHER in answers: by name, then by package. Users without a name
come last."
  (let ((name-1 (name-of one)) (name-2 (name-of other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))
