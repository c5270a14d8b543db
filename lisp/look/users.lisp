;;;; Who uses names: the parts of compiled code that answers tell apart, what each is called, and whether it still is.

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

;;; Users. A user is a function name, or a TOP-FORM. Or it is a list of its kind, the name that it is shown by, and what
;;; SBCL calls it.

(defstruct (top-form (:constructor make-top-form (source number &key key part form)))
  "A top-level form that SBCL ran. Of a file, it has its SOURCE and its NUMBER there. That is NIL when SBCL made one piece
of code of several. SITES then are lists of the numbers of a form and of a call in it. Else it has its FORM, a weak
pointer, and a KEY, of which the first are its operator and name. PART is a text for what of it runs, or NIL. CALLS and
MENTIONS are names. KEPT is true when something stays of it, and ID is its number in the index."
  source number key part form (calls '()) (mentions '()) (sites '()) (kept nil) (id nil))

(defun top-form-name (place)
  "Return the name that PLACE, which is of no file, defines, or NIL."
  (second (top-form-key place)))

(defparameter *user-kinds*
  '(("FAST-METHOD" :method nil) ("SLOW-METHOD" :method nil) ("METHOD" :method nil)
    ("MACRO-FUNCTION" :macro nil)
    ("COMPILER-MACRO" :compiler-macro "compiler macro")
    ("TYPE-EXPANDER" :type "type expander")
    ("SETF-EXPANDER" :setf "setf expander") ("%DEFSETF" :setf "setf expander")
    ("CONDITION-REPORT" :report "condition report")
    (nil :within nil) (nil :alias nil))
  "How the names begin that SBCL gives to what is no plain function, our words for those, and those of answers.")

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

(defun user-for (root)
  "Return the user that ROOT, from ROOT-OF, is. Templates of SBCL's compiler and their like have the kind :OWN."
  (if (plain-name-p root)
      root
      (let ((kind (and (consp root)
                       (symbolp (first root))
                       (second (assoc (symbol-name (first root)) *user-kinds* :test #'equal)))))
        (if (and kind (plain-name-p (second root)) (second root))
            (list kind (second root) root)
            (list :own nil root)))))

(defun user-root (user)
  "Return what SBCL calls USER, which is no place."
  (if (and (consp user) (keywordp (first user))) (third user) user))

(defun user-name (user)
  "Return the function name that USER is shown by, or NIL."
  (cond ((top-form-p user) nil)
        ((and (consp user) (keywordp (first user))) (second user))
        (t user)))

(defun form-name-p (name)
  "True when NAME is what SBCL calls the function that is a whole top-level form."
  (and (consp name)
       (symbolp (first name))
       (or (string= (first name) "TOP-LEVEL-FORM")
           (and (eq (first name) 'lambda) (null (second name))))))

(defun root-in (code function)
  "Return the root of FUNCTION in CODE. SBCL says of an inner function in which block it is, or only in which file. So one
whose root is not in CODE is within the first function there that has a name of its own."
  (let* ((name (simple-function-name function)) (root (root-of name)))
    (if (or (= 1 (code-functions code)) (equal name root) (form-name-p name))
        root
        (let ((others (loop for index below (code-functions code)
                            for other = (simple-function-name (code-function code index))
                            when (equal other (root-of other)) collect other)))
          (cond ((member root others :test #'equal) root)
                (others (first others))
                (t root))))))

(defun roots-in (code)
  "Return the different roots of the functions in CODE."
  (let ((roots '()))
    (dotimes (index (code-functions code) roots)
      (pushnew (root-in code (code-function code index)) roots :test #'equal))))

(defun nameless-functions (code)
  "Return the functions of CODE that are in none with a name."
  (loop for index below (code-functions code)
        for function = (code-function code index)
        when (eq :top-level (root-in code function)) collect function))

(defun users-in (code)
  "Return the users that CODE has, without its top-level forms."
  (flet ((bears-p (root)
           (loop for index below (code-functions code)
                   thereis (equal root (simple-function-name (code-function code index))))))
    (loop for root in (roots-in code)
          unless (eq root :top-level)
            collect (if (and (plain-name-p root) (not (bears-p root)))
                        (list :within root root)
                        (user-for root)))))

(defun map-constants (visit code)
  "Call VISIT with each constant of CODE that its functions share."
  (loop for index from (+ words-before-functions (* words-for-function (code-functions code))) below (code-words code)
        do (funcall visit (code-word code index))))

(defun refers-p (code name)
  "True when CODE has the function NAME as a constant."
  (map-constants (lambda (constant)
                   (when (and (typep constant 'cell) (eq name (cell-name constant))) (return-from refers-p t)))
                 code))

(defun kept-parameters-p (list &optional defaults (depth 10))
  "True when LIST is of names as SBCL keeps a lambda list: without defaults. DEFAULTS is true behind &OPTIONAL or &KEY. It
has at most 200 parameters, and lists in at most DEPTH others."
  (loop for rest = list then (cdr rest)
        repeat 201
        while (consp rest)
        do (let ((part (car rest)))
             (cond ((member part '(&optional &key)) (setf defaults t))
                   ((symbolp part))
                   ((not (and (consp part)
                              (plusp depth)
                              (or (not defaults) (null (cdr part)))
                              (kept-parameters-p part nil (1- depth))))
                    (return nil))))
        finally (return (symbolp rest))))

(defun behind-check-p (list code)
  "True when LIST stands among the constants of CODE behind a function that checks arguments, with only such lists between."
  (let ((behind nil))
    (map-constants (lambda (constant)
                     (when (eq constant list) (return-from behind-check-p behind))
                     (setf behind (if (typep constant 'cell)
                                      (member (cell-name constant) (list +checks-list+ +checks-rest+ +checks-keys+) :test #'equal)
                                      (and behind (consp constant) (kept-parameters-p constant)))))
                   code)))

(defun beside-lambda-lists-p (list code)
  "True when LIST, behind a function that checks arguments, is data of CODE. It is mostly of functions, and there are more
such lists than calls that check."
  (let ((functions 0) (lists 0))
    (labels ((visit (part)
               (cond ((consp part) (visit (car part)) (visit (cdr part)))
                     (part (incf functions (if (fboundp part) 1 -1))))))
      (visit list))
    (map-constants (lambda (each) (when (and (consp each) (kept-parameters-p each) (behind-check-p each code)) (incf lists)))
                   code)
    (and (plusp functions)
         (> lists (count-if (lambda (name) (member name (list +checks-list+ +checks-rest+ +checks-keys+)))
                            (names-in-xrefs code))))))

(defun lambda-list-p (constant code)
  "True when CONSTANT, of CODE, is a lambda list that SBCL keeps for the error about wrong arguments. That of a macro has in
front what it is of. One of DESTRUCTURING-BIND is known by its keywords, or it stands behind the function that checks it."
  (and (consp constant)
       (let ((of (first constant)))
         (or (and (consp of) (eq :macro (first of)) (consp (rest of)) (cddr of) (symbolp (cddr of)))
             (and (kept-parameters-p constant)
                  (loop for check in (list +checks-list+ +checks-rest+ +checks-keys+)
                          thereis (and check (refers-p code check)))
                  (or (and (behind-check-p constant code) (not (beside-lambda-lists-p constant code)))
                      (loop for rest = constant then (cdr rest)
                            repeat 201
                            while (consp rest)
                              thereis (member (car rest) lambda-list-keywords))))))))

(defun method-alone-p (code)
  "True when CODE has one user, a method, and no more of its form than what makes the function of that."
  (let ((users (users-in code)))
    (and (null (rest users))
         (consp (first users))
         (eq :method (first (first users)))
         ;; The evaluator itself adds the method of a DEFMETHOD that stands alone.
         (not (and +add-method+ (refers-p code +add-method+))))))

(defun names-in-xrefs (code)
  "Return the names in the cross references of the functions of CODE."
  (let ((names '()))
    (dotimes (index (code-functions code) names)
      (let ((xrefs (packed-xrefs (code-function code index))))
        (when xrefs
          (map-xrefs (lambda (kind name number) (declare (ignore kind number)) (push name names)) xrefs))))))

;;; Whose they are

(defun enclosing-name (caller)
  "Return the name of the function that CALLER, what SBCL calls one, is or is in; NIL when that has no global name."
  (let ((root (root-of caller)))
    (and (not (eq root :top-level)) (user-name (user-for root)))))

(defun system-name-p (caller)
  "True when CALLER, what SBCL calls a function, is named by a symbol of SBCL's own."
  (let* ((name (enclosing-name caller))
         (symbol (if (consp name) (second name) name))
         (package (and symbol (symbolp symbol) (symbol-package symbol))))
    (and package
         (or (eq package (find-package "COMMON-LISP")) (eql 0 (search "SB-" (package-name package)))))))

(defun own-name-p (caller)
  "True when CALLER, what SBCL calls a function, is named by a symbol of the agent."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-key name)))))
    (and package (own-package-p package) t)))

(defun code-file (code)
  "Return the name of the file that CODE is from, or NIL."
  (ignore-errors (source-name (information-source (code-information code)))))

;;; Is it still there?

(defun code-of (function)
  "Return the code of FUNCTION, which can be a closure; NIL when it has none of its own."
  (typecase function
    (simple-function (function-code function))
    (generic-function nil)
    (function (let ((simple (simple-function function)))
                (and (typep simple 'simple-function) (function-code simple))))
    (cons (code-of (cdr function)))))

(defun function-code-p (name code)
  "True when CODE has the global function NAME, also while that is traced."
  (let ((function (global-function name)))
    (and function
         (symbol-package (name-key name))
         (or (eq code (code-of function))
             (and (closure-p function)
                  (eq code (code-of (fdefinition name))))))))

(defvar *method-codes* nil "The code of the methods of generic functions that this answer has looked at, by those.")

(defun method-codes (generic-function)
  "Return the code of each method of GENERIC-FUNCTION."
  (let ((table (or *method-codes* (setf *method-codes* (make-hash-table :test 'eq)))))
    (or (gethash generic-function table)
        (setf (gethash generic-function table)
              (loop for method in (sb-mop:generic-function-methods generic-function)
                    for fast = (method-function method)
                    collect (code-of (or fast (sb-mop:method-function method))))))))

(defun method-code-p (name code)
  "True when CODE is that of a method of the generic function NAME."
  (let ((function (and (fboundp name) (symbol-package (name-key name)) (fdefinition name))))
    (and (typep function 'generic-function)
         (member code (method-codes function) :test #'eq)
         t)))

(defun user-there-p (user code)
  "True when USER, which is no place, still is what CODE does."
  (if (and (consp user) (keywordp (first user)))
      (destructuring-bind (kind name root) user
        (declare (ignore root))
        (and name
             (symbol-package (name-key name))
             (ecase kind
               (:method (method-code-p name code))
               (:macro (and (symbolp name) (eq code (code-of (macro-function name)))))
               (:compiler-macro (eq code (code-of (compiler-macro-function name))))
               (:type (eq code (code-of (known :type :expander name))))
               (:setf (eq code (code-of (known :setf :expander name))))
               (:report (let ((classoid (and (find-class name nil) (classoid name))))
                          (and classoid (eq code (code-of (condition-report classoid))))))
               (:within (fboundp name))
               (:alias (function-code-p name code)))))
      (function-code-p user code)))

(defun kind-text (user)
  "Return the word of answers for what USER is, or NIL for a function."
  (and (consp user)
       (third (find (first user) *user-kinds* :key #'second))))
