;;;; The possible users of names: the functions that can be found by a name, as its function,
;;;; method, macro or expander. The name is said to reach them.

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
  "Return the symbol of NAME, a function name. A name that is no list is returned as it is."
  (if (consp name) (second name) name))

(defun name-before-p (one other)
  "True when function name ONE precedes OTHER in answers (contract S3.9 in
docs/develop/contracts.md); FOO precedes (SETF FOO)."
  (let ((key-1 (name-symbol one)) (key-2 (name-symbol other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

;;; SBCL's debug names of functions

(defun root-of (name)
  "NAME is the debug name of a function, which can be nested in others. Return the name of the
outermost function around it, or the name of the function itself when it is in none. Return
:TOP-LEVEL when that function has no name."
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
  "Return the function name in ROOT, a value of ROOT-OF, or NIL when ROOT has none. ROOT can be a
function name itself, or a list such as (FAST-METHOD F (T))."
  (cond ((eq root :top-level) nil)
        ((plain-name-p root) root)
        ((and (consp root) (symbolp (first root)) (consp (rest root)) (plain-name-p (second root)))
         (second root))))

(defun form-name-p (name)
  "True when NAME is a debug name that SBCL gives to the code of a whole top-level form."
  (or (stringp name)
      (and (consp name)
           (symbolp (first name))
           (or (string= (first name) "TOP-LEVEL-FORM")
               (and (eq (first name) 'lambda) (null (second name)))))))

(defun enclosing-name (caller)
  "CALLER is the debug name of a function, which can be nested in others. Return the global name of
the outermost function, or NIL when it has none."
  (name-in-root (root-of caller)))

(defun system-name-p (caller)
  "True when CALLER, a debug name, is of a function named by a symbol of SBCL, or of one nested in
it."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-symbol name)))))
    (and package
         (or (eq package (find-package "COMMON-LISP"))
             (eql 0 (search "SB-" (package-name package)))))))

;;; The functions that a name reaches

(defparameter *user-kinds*
  '((:function . nil) (:method . nil) (:macro . nil)
    (:compiler-macro . "compiler macro") (:type . "type expander") (:setf . "setf expander")
    (:report . "condition report"))
  "The kinds of function that a name can reach, each with the word for it in answers; NIL when the
word is not shown.")

(defun expander (category name)
  "Return the function that expands uses of NAME as a type or a place (CATEGORY is :TYPE or :SETF),
or NIL."
  (let ((known (known category :expander name)))
    (if (consp known) (find-if #'functionp (list (car known) (cdr known))) known)))

(defun map-reached (visit name)
  "Call VISIT with the kind, a key of *USER-KINDS*, of each simple function that NAME reaches, and
the function. Leaves out a closure made by a function of another name."
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
  "Code that possibly uses names: the simple FUNCTION, which the name NAME reaches as KIND, a key of
*USER-KINDS*. A user without NAME has one of two other kinds. For :LOOSE, FUNCTION is a weak pointer
to a code object that perhaps only data keeps alive. :OWN is for functions of SBCL such as templates
of its compiler. TEXT caches a pair: the package of NAME, and NAME as text."
  name kind function (text nil))

(defun reached-p (user)
  "True when the name of USER still reaches its function as the same kind."
  (let ((name (user-name user)) (kind (user-kind user)) (function (user-function user)))
    (flet ((see (kind-now function-now)
             (when (and (eq function function-now) (eq kind kind-now)) (return-from reached-p t))))
      (cond ((not (and (eq kind :function) (fboundp name) (eq function (plain-definition name))))
             (map-reached #'see name)
             nil)
            ;; A shortcut: MAP-REACHED would return the same, but takes several times as long.
            ((symbol-package (name-symbol name)) t)))))

(defun kind-word (kind)
  "Return the word in answers for KIND, a key of *USER-KINDS*, or NIL when none is shown."
  (cdr (assoc kind *user-kinds*)))

(defun kind-text (user)
  "Return the word in answers for the kind of USER, or NIL when none is shown."
  (kind-word (user-kind user)))

(defun user-code (user)
  "Return the code object of USER, or NIL when it was garbage collected."
  (let ((function (user-function user)))
    (cond ((typep function 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value function))
          (function (function-code function)))))

(defun name-of (user)
  "Return the function name by which answers show USER, or NIL. Top-level forms have none."
  (and (user-p user) (user-name user)))

(defun user-before-p (one other)
  "True when user ONE precedes OTHER in answers: by name, then by package. Those without a name come
last."
  (let ((name-1 (name-of one)) (name-2 (name-of other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))
