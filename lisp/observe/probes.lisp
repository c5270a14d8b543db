;;;; Chooses functions to observe, and installs and removes their probes.

(in-package "LIVE-LISP.OBSERVE")

(defparameter *function-limit* 500 "At most this many functions of a package are observed at once.")

(defun observable-p (name)
  "True when NAME names a function, not a macro or special operator."
  (and (fboundp name)
       (not (and (symbolp name) (or (macro-function name) (special-operator-p name))))))

(defun built-in-p (name)
  "True when NAME is a function of SBCL, and not generic. Calls of such functions cannot be observed
well: SBCL's code calls them directly, not by their names. Changing these calls takes minutes for
some functions, and cannot be interrupted."
  (let ((function (plain-definition name)))
    (and (not (typep function 'generic-function))
         (eql 0 (search "SYS:" (or (code-file (code-of function)) ""))))))

(defun observed-name (text package)
  "Return the function name that TEXT denotes in PACKAGE. Calls FAIL-LOOKUP if it is no function, or
is BUILT-IN-P."
  (multiple-value-bind (name symbol) (named-target text package)
    (cond ((not (observable-p name))
           (fail-lookup "noFunction" (name-text name)
                        "natures" (if (and (symbolp name) (special-operator-p name))
                                      '("SPECIAL OPERATOR")
                                      (natures symbol))))
          ((built-in-p name) (fail-lookup "builtIn" (name-text name)))
          (t name))))

(defun package-functions (package)
  "Return the names of the functions at home in PACKAGE that can be observed. Calls FAIL-LOOKUP if
there are none, or too many."
  (let ((names '()))
    (do-symbols (symbol package)
      (when (eq package (symbol-package symbol))
        (dolist (name (list symbol (list 'setf symbol)))
          (when (and (observable-p name) (not (built-in-p name)))
            (pushnew name names :test #'equal)))))
    (if (<= 1 (length names) *function-limit*)
        names
        (fail-lookup "packageFunctions" (length names) "in" (package-name package)
                     "limit" *function-limit*))))

(defun observed-names (texts package)
  "Return the function names that TEXTS denote in PACKAGE, without duplicates. A text that ends with
a colon, such as APP:, denotes all functions of this package."
  (let ((names '()))
    (dolist (text texts (reverse names))
      (let ((end (1- (length text))))
        (dolist (name (if (and (plusp end) (char= (char text end) #\:))
                          (package-functions (named-package (string-right-trim ":" text)))
                          (list (observed-name text package))))
          (pushnew name names :test #'equal))))))

;;; Which calls are recorded

(defun bare-parameters (parameters)
  "Return the lambda list PARAMETERS with NIL for all default forms, as these may have side effects,
and with &ALLOW-OTHER-KEYS after &KEY."
  (append (loop with place = nil
                for parameter in parameters
                until (member parameter
                              (set-difference lambda-list-keywords
                                              '(&optional &rest &key &allow-other-keys)))
                do (when (member parameter lambda-list-keywords) (setf place parameter))
                collect (if (and (consp parameter) (member place '(&optional &key)))
                            (list (first parameter) nil)
                            parameter))
          (and (member '&key parameters)
               (not (member '&allow-other-keys parameters))
               '(&allow-other-keys))))

(defun parameter-variables (parameters)
  "Return the variables that the lambda list PARAMETERS binds."
  (loop for parameter in parameters
        for name = (if (consp parameter) (first parameter) parameter)
        for variable = (if (consp name) (second name) name)
        unless (member variable lambda-list-keywords) collect variable))

(defun function-parameters (name)
  "Return the lambda list of the function NAME. If SBCL has not kept it, return one that accepts any
arguments."
  (let* ((function (plain-definition name))
         (parameters (if (typep function 'generic-function)
                         (sb-mop:generic-function-lambda-list function)
                         (plain-lambda-list function))))
    (if (listp parameters) parameters '(&rest arguments))))

(defun named-in (package parameters)
  "Return a copy of the lambda list PARAMETERS for forms that are read in PACKAGE: for each
variable, use the symbol of PACKAGE with the same name, if there is one."
  (sublis (loop for variable in (parameter-variables parameters)
                for symbol = (find-symbol (symbol-name variable) package)
                when (and symbol (not (constantp symbol))) collect (cons variable symbol))
          parameters))

(defun chooser (name text package)
  "Return a compiled function that takes the arguments of the function NAME, and evaluates the forms
of TEXT with its parameters bound. TEXT is read in PACKAGE, or if it is NIL in the package of NAME.
Calls FAIL-LOOKUP if the forms cannot be read or compiled."
  (let* ((symbol (if (consp name) (second name) name))
         (home (or package (usable-package (symbol-package symbol))))
         (parameters (bare-parameters (function-parameters name)))
         (said nil))
    (flet ((fail (why)
             (fail-lookup "where" text "name" (name-text name) "why" why
                          "parameters" (mapcar #'symbol-name (parameter-variables parameters)))))
      (let* ((forms (multiple-value-bind (forms unreadable) (let ((*package* home)) (forms-in text))
                      (when unreadable
                        (fail (second (member "text" (json-object-members unreadable)
                                              :test #'equal))))
                      forms))
             (named (named-in home parameters))
             (*error-output* (make-broadcast-stream)))
        (unless forms (fail "it has no form"))
        (prog1 (handler-bind ((warning (lambda (warning)
                                         (unless (typep warning 'style-warning)
                                           (setf said (report-text 200 warning)))
                                         (muffle-warning warning))))
                 (compile nil
                          `(lambda ,named
                             (declare (ignorable ,@(parameter-variables named)))
                             ,@forms)))
          (when said (fail said)))))))

;;; The methods that calls enter. SBCL makes the code that calls the methods of a generic function
;;; when it is called, and makes it anew after a probe was installed or removed. Only then is a
;;; method wrapped, in that code: the method object and its functions stay as they are.

(sb-ext:defglobal **entered-functions** '()
  "The generic functions of installed probes. One that has several is there as often.")
(sb-ext:defglobal **entered-lock** (sb-thread:make-mutex :name "live-lisp entered methods")
  "Held while **ENTERED-FUNCTIONS** changes.")

(defun noting-entries (original function method code fast)
  "Wrapper around SBCL's +CALLED-METHOD+: call ORIGINAL with the other arguments, and return the
function that it returns. If a probe records FUNCTION, that notes before that METHOD is entered."
  (let ((code (funcall original function method code fast)))
    (declare (type function code))
    (if (and method (member function **entered-functions** :test #'eq))
        (lambda (&rest arguments)
          (note-entry function method)
          (apply code arguments))
        code)))

(defun note-entries-of (function)
  "Have the methods of FUNCTION, a generic function, noted from now on when they are entered. The
code that calls them must be made anew then."
  (sb-thread:with-mutex (**entered-lock**)
    (push function **entered-functions**)
    (when (and (null (rest **entered-functions**)) +called-method+)
      (wrap +called-method+ 'noting-entries #'noting-entries))))

(defun forget-entries-of (function)
  "Undo one call of NOTE-ENTRIES-OF."
  (sb-thread:with-mutex (**entered-lock**)
    (setf **entered-functions** (remove function **entered-functions** :count 1))
    (when (and (null **entered-functions**) +called-method+)
      (unwrap +called-method+ 'noting-entries))))

;;; Probes

(defun put-probe (probe)
  "Install PROBE, which then records calls of its function."
  (let* ((name (probe-name probe)) (function (plain-definition name)))
    (when (typep function 'generic-function)
      (setf (probe-generic probe) function)
      (note-entries-of function))
    (wrap name (probe-key probe) (recorder probe))))

(defun take-probe (probe)
  "Remove PROBE. Its function may no longer exist, or may be no function of this name any more."
  (let* ((name (probe-name probe))
         (generic (probe-generic probe))
         (named (and (fboundp name) (eq generic (plain-definition name)))))
    (when generic (forget-entries-of generic))
    (unwrap name (probe-key probe))
    (when (and generic (not named)) (release-generic generic (probe-key probe)))))

(defun make-probes (observation names where package)
  "Make probes for the functions NAMES, store them in OBSERVATION, and return them. WHERE is NIL or
the text of a form that must be true for calls to record. PACKAGE is as for CHOOSER."
  (let ((choosers (loop for name in names collect (and where (chooser name where package)))))
    (setf (observation-probes observation) (loop for name in names
                                                 for chooser in choosers
                                                 collect (make-probe name observation chooser)))))

(defun end-observation (observation)
  "End OBSERVATION, and remove all its probes."
  (setf (observation-active observation) nil)
  (unless (observation-ended observation) (setf (observation-ended observation) (now)))
  (let ((*unrecorded* t))
    (mapc #'take-probe (observation-probes observation))))

(defun call-observed (observation function)
  "Call FUNCTION while OBSERVATION records calls, and return its values."
  ;; Interrupts are enabled only while FUNCTION runs. Otherwise an interrupt might prevent the
  ;; removal of the probes.
  (sb-sys:without-interrupts
    (unwind-protect
         (progn
           (let ((*unrecorded* t))
             (mapc #'put-probe (observation-probes observation)))
           (setf (observation-begun observation) (now))
           (sb-sys:with-local-interrupts (funcall function)))
      (end-observation observation))))

;;; Calls that a probe may miss

(defun code-names (code)
  "Return the names of the functions in CODE, a code object, that are symbols or (SETF symbol)."
  (loop for index below (code-functions code)
        for name = (plain-function-name (code-function code index))
        when (and name (or (symbolp name) (typep name '(cons (eql setf))))) collect name))

(defun unseen-calls (name)
  "Return a word for the reason why some calls of the function NAME may bypass its probe:
\"inline\", \"compiler-macro\", or \"block\" for a function compiled together with others. Return
NIL if there is none."
  (let ((function (plain-definition name)))
    (cond ((or (eq 'inline (known :function :inlinep name))
               (known :function :source-transform name)
               (known :function :info name))
           "inline")
          ((compiler-macro-function name) "compiler-macro")
          ((and (typep function 'simple-function) (rest (code-names (function-code function))))
           "block"))))

(defun place-without-own-name (name)
  "Return the place of the function NAME as a JSON object if its code does not refer to NAME: calls
of it in its own source were compiled as jumps, which no probe sees. Else return NIL, also when the
function has no place."
  (let ((function (plain-definition name)))
    (when (and (typep function 'simple-function)
               (not (member name (called-names (function-code function)) :test #'equal)))
      (place-data (introspect "FIND-DEFINITION-SOURCE" function)))))
