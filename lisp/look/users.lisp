;;;; Who uses names: the functions that a name reaches, and what each is there.

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

(defun name-key (name)
  "Return the symbol by which a function name is sorted."
  (if (symbolp name) name (second name)))

(defun name-before-p (one other)
  "The order of function names in answers (S3.9)."
  (let ((key-1 (name-key one)) (key-2 (name-key other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

;;; What SBCL calls functions

(defun root-of (name)
  "Return what contains the function that SBCL calls NAME: the name of the outermost function, or :TOP-LEVEL."
  (let ((within (and (consp name) (ignore-errors (member :in name)))))
    (cond ((and within (consp (rest within)) (null (cddr within))) (root-of (second within)))
          ((stringp name) :top-level)
          ((not (consp name)) name)
          ((and (symbolp (first name))
                (member (symbol-name (first name)) '("LAMBDA" "NAMED-LAMBDA" "FLET" "LABELS" "TOP-LEVEL-FORM") :test #'string=))
           :top-level)
          (t name))))

(defun name-in-root (root)
  "Return the function name in ROOT, from ROOT-OF: of a method, a macro and the like the one that it is for. NIL without one."
  (cond ((eq root :top-level) nil)
        ((plain-name-p root) root)
        ((and (consp root) (symbolp (first root)) (consp (rest root)) (plain-name-p (second root))) (second root))))

(defun form-name-p (name)
  "True when NAME is what SBCL calls the function that is a whole top-level form."
  (or (stringp name)
      (and (consp name)
           (symbolp (first name))
           (or (string= (first name) "TOP-LEVEL-FORM")
               (and (eq (first name) 'lambda) (null (second name)))))))

(defun enclosing-name (caller)
  "Return the name of the function that CALLER, what SBCL calls one, is or is in; NIL when that has no global name."
  (name-in-root (root-of caller)))

(defun system-name-p (caller)
  "True when CALLER, what SBCL calls a function, is named by a symbol of SBCL's own."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-key name)))))
    (and package
         (or (eq package (find-package "COMMON-LISP")) (eql 0 (search "SB-" (package-name package)))))))

;;; The functions that a name reaches

(defparameter *user-kinds*
  '((:function . nil) (:method . nil) (:macro . nil)
    (:compiler-macro . "compiler macro") (:type . "type expander") (:setf . "setf expander")
    (:report . "condition report"))
  "What a function can be to the name that reaches it, and what answers call that; NIL stands for a function.")

(defun expander (category name)
  "Return the function by which uses of NAME as a type or a place, which CATEGORY says, are expanded, or NIL."
  (let ((known (known category :expander name)))
    (if (consp known) (find-if #'functionp (list (car known) (cdr known))) known)))

(defun map-reached (visit name)
  "Call VISIT with each function that NAME reaches: what it is there, a key of *USER-KINDS*, and the function, a simple one.
A closure that another function of a name made is none."
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
    (when (and (plain-name-p name) (symbol-package (name-key name)))
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
  "The function NAME, which reaches the simple FUNCTION as a thing of KIND. Without a name it is code: KIND is :LOOSE for
what may be kept by data only, and :OWN for templates of SBCL's compiler and their like. FUNCTION is a weak pointer to loose
code. TEXT is what answers call it, with the package of that."
  name kind function (text nil))

(defun reached-p (user)
  "True when the name of USER still reaches its function as a thing of its kind."
  (let ((name (user-name user)) (kind (user-kind user)) (function (user-function user)))
    (flet ((see (kind-now function-now)
             (when (and (eq function function-now) (eq kind kind-now)) (return-from reached-p t))))
      (cond ((not (and (eq kind :function) (fboundp name) (eq function (plain-definition name))))
             (map-reached #'see name)
             nil)
            ;; MAP-REACHED would see the same, in several times as long.
            ((symbol-package (name-key name)) t)))))

(defun kind-word (kind)
  "Return the word of answers for KIND, a key of *USER-KINDS*, or NIL for a function."
  (cdr (assoc kind *user-kinds*)))

(defun kind-text (user)
  "Return the word of answers for what USER is, or NIL for a function."
  (kind-word (user-kind user)))

(defun user-code (user)
  "Return the code of USER, or NIL when that is gone."
  (let ((function (user-function user)))
    (cond ((typep function 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value function))
          (function (function-code function)))))

(defun name-of (user)
  "Return the function name that USER is shown by, or NIL."
  (and (user-p user) (user-name user)))

(defun user-before-p (one other)
  "The order of users in answers: by name, then by package, functions of a name first. Those without a name come last."
  (let ((name-1 (name-of one)) (name-2 (name-of other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))
