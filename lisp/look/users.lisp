;;;; The possible users of names: the functions that a name reaches, as function, method, macro or expander.

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
  "Return a function name as text: PACKAGE::NAME or PACKAGE::(SETF NAME)."
  (if (symbolp name)
      (symbol-text name)
      (format nil "~A::(~A ~A)" (package-text (second name)) (symbol-name (first name)) (symbol-name (second name)))))

(defun name-symbol (name)
  "Return the symbol of NAME, a function name. A name that is no list is returned as it is."
  (if (consp name) (second name) name))

(defun name-before-p (one other)
  "True when function name ONE precedes OTHER in answers (S3.9); FOO precedes (SETF FOO)."
  (let ((key-1 (name-symbol one)) (key-2 (name-symbol other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

;;; SBCL's debug names of functions

(defun root-of (name)
  "Return the outermost function that contains the one with the debug name NAME: its name, or :TOP-LEVEL."
  (let ((within (and (consp name) (ignore-errors (member :in name)))))
    (cond ((and within (consp (rest within)) (null (cddr within))) (root-of (second within)))
          ((stringp name) :top-level)
          ((not (consp name)) name)
          ((and (symbolp (first name))
                (member (symbol-name (first name)) '("LAMBDA" "NAMED-LAMBDA" "FLET" "LABELS" "TOP-LEVEL-FORM") :test #'string=))
           :top-level)
          (t name))))

(defun name-in-root (root)
  "Return the function name in ROOT, from ROOT-OF: F of F itself, or of a list such as (FAST-METHOD F (T)). Else NIL."
  (cond ((eq root :top-level) nil)
        ((plain-name-p root) root)
        ((and (consp root) (symbolp (first root)) (consp (rest root)) (plain-name-p (second root))) (second root))))

(defun form-name-p (name)
  "True when NAME is the debug name of a whole top-level form."
  (or (stringp name)
      (and (consp name)
           (symbolp (first name))
           (or (string= (first name) "TOP-LEVEL-FORM")
               (and (eq (first name) 'lambda) (null (second name)))))))

(defun enclosing-name (caller)
  "Return the global name of the function that CALLER, a debug name, is or is nested in; NIL when it has none."
  (name-in-root (root-of caller)))

(defun system-name-p (caller)
  "True when CALLER, a debug name, belongs to a symbol of SBCL's own."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-symbol name)))))
    (and package
         (or (eq package (find-package "COMMON-LISP")) (eql 0 (search "SB-" (package-name package)))))))

;;; The functions that a name reaches

(defparameter *user-kinds*
  '((:function . nil) (:method . nil) (:macro . nil)
    (:compiler-macro . "compiler macro") (:type . "type expander") (:setf . "setf expander")
    (:report . "condition report"))
  "The kinds of function that a name can reach, each with its word in answers; NIL for those called functions.")

(defun expander (category name)
  "Return the function that expands uses of NAME as a type or a place (CATEGORY is :TYPE or :SETF), or NIL."
  (let ((known (known category :expander name)))
    (if (consp known) (find-if #'functionp (list (car known) (cdr known))) known)))

(defun map-reached (visit name)
  "Call VISIT with the kind, a key of *USER-KINDS*, of each simple function that NAME reaches, and the function. Leaves
out a closure made by a function of another name."
  (flet ((see (kind function)
           (let ((simple (and (functionp function)
                              (not (typep function '(or sb-mop:funcallable-standard-object interpreted-function)))
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
  "A possible user of names: the function NAME, which reaches the simple FUNCTION as KIND. A user without NAME has
another KIND: :LOOSE when FUNCTION is a weak pointer to a code object that perhaps only data keeps alive, :OWN for
templates of SBCL's compiler and the like. TEXT caches the package and the text of NAME."
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
  "Return the word of answers for KIND, a key of *USER-KINDS*, or NIL for a function."
  (cdr (assoc kind *user-kinds*)))

(defun kind-text (user)
  "Return the word of answers for what USER is, or NIL for a function."
  (kind-word (user-kind user)))

(defun user-code (user)
  "Return the code object of USER, or NIL when it was collected."
  (let ((function (user-function user)))
    (cond ((typep function 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value function))
          (function (function-code function)))))

(defun name-of (user)
  "Return the function name by which USER is shown, or NIL."
  (and (user-p user) (user-name user)))

(defun user-before-p (one other)
  "True when user ONE precedes OTHER in answers: by name, then by package. Those without a name come last."
  (let ((name-1 (name-of one)) (name-2 (name-of other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))
