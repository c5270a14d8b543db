;;;; Finds the functions whose calls a request wants recorded, compiles the condition on the
;;;; arguments of these calls, and finds the reasons why a probe (see probes.lisp) may miss calls.

(in-package "LIVE-LISP.OBSERVE")

(define-shape observe-refusal ()
  "Why a request to observe was refused."
  (large-heap boolean :optional "True when the heap is too large to be walked.")
  (no-function string :optional "A requested name that names no function.")
  (natures (list string) :optional "What this name names instead.")
  (package-functions integer :optional
   "Number of functions in the requested package, when it has none or too many.")
  (in string :optional "Name of this package, or which of the request's texts cannot be read.")
  (limit integer :optional "Maximum number of functions that can be observed at once.")
  (where string :optional
   "The requested condition on the arguments of calls, a form, when it does not compile.")
  (name string :optional "Name of the function for which the form does not compile.")
  (why string :optional "Why the form does not compile.")
  (parameters (list string) :optional "The parameters of the function, which the form can use.")
  (built-in string :optional "The requested function, when it belongs to SBCL.")
  (unreadable unreadable :optional "Why a text of the request cannot be read.")
  (no-profiler boolean :optional "True when this SBCL has no profiler.")
  (busy boolean :optional "True when the profiler is in use already."))

(define-shape observed-function ()
  "An observed function."
  (name string) (calls integer)
  (every integer :optional
   "N, when only every Nth call was recorded, because there were too many calls.")
  (unseen (member "inline" "compiler-macro" "block" "itself") :optional
   "Why some calls of the function are not seen.")
  (apart place :optional
   "The place of the function's definition, when recursive calls are not seen, because they were
   compiled as jumps.")
  (gone boolean :optional "True when the name is no longer a function.")
  (failed integer :optional
   "For how many calls the form that tests the arguments signalled an error.")
  (failure string :optional "The text of such an error."))

(defparameter *function-limit* 500
  "The maximum number of functions in a package that can be observed together.")

;;; The functions that a request names

(defun observed-names (texts package)
  "Return a list of the function names that TEXTS denote in PACKAGE, without duplicates. A text that
ends with a colon, such as \"APP:\", denotes all functions of that package."
  (let ((names '()))
    (dolist (text texts (reverse names))
      (let ((end (1- (length text))))
        (dolist (name (if (and (plusp end) (char= (char text end) #\:))
                          (package-functions (named-package (string-right-trim ":" text)))
                          (list (observed-name text package))))
          (pushnew name names :test #'equal))))))

(defun observed-name (text package)
  "Return the function name that TEXT denotes in PACKAGE. If TEXT names no function, or an ordinary
function of SBCL, end the operation with an error answer."
  (multiple-value-bind (name symbol) (named-target text package)
    (cond ((not (global-function-p name))
           (fail-lookup "noFunction" (name-text name)
                        "natures" (if (and (symbolp name) (special-operator-p name))
                                      '("SPECIAL OPERATOR")
                                      (natures symbol))))
          ((built-in-p name) (fail-lookup "builtIn" (name-text name)))
          (t name))))

(defun package-functions (package)
  "Return a list of the names of the functions with PACKAGE as home package that can be observed. If
there are none, or too many, end the operation with an error answer."
  (let ((names (home-names package (lambda (name)
                                     (and (global-function-p name) (not (built-in-p name)))))))
    (if (<= 1 (length names) *function-limit*)
        names
        (fail-lookup "packageFunctions" (length names) "in" (package-name package)
                     "limit" *function-limit*))))

(defun built-in-p (name)
  "Return true if NAME is an ordinary function of SBCL. Probes miss most calls of such a function,
since SBCL's own code calls it directly, not by its name. For some of these functions, SBCL
needs minutes to install a wrapper, and cannot be interrupted meanwhile."
  (let ((function (plain-definition name)))
    (and (not (typep function 'generic-function))
         (sbcl-file-p (code-file (code-of function))))))

;;; Choosing the calls to record

(defun chooser (name text package)
  "Return a compiled function that decides whether a call of the function NAME is recorded: it takes
the arguments of the call, and returns the value of the forms in TEXT. These forms can use the
parameters of NAME as variables. Read TEXT in PACKAGE or, if PACKAGE is NIL, in the package of NAME.
If TEXT cannot be read or compiled, end the operation with an error answer."
  (let* ((symbol (name-symbol name))
         (home (or package (usable-package (symbol-package symbol))))
         (parameters (bare-parameters (function-parameters name)))
         (problem nil))
    (flet ((fail (why)
             (fail-lookup "where" text "name" (name-text name) "why" why
                          "parameters" (mapcar #'symbol-name (parameter-variables parameters)))))
      (let* ((forms (multiple-value-bind (forms unreadable) (let ((*package* home)) (forms-in text))
                      (when unreadable
                        (fail (json-member "text" unreadable)))
                      forms))
             (lambda-list (named-in home parameters))
             (*error-output* (make-broadcast-stream)))
        (unless forms (fail "it has no form"))
        (prog1 (handler-bind ((warning (lambda (warning)
                                         (unless (typep warning 'style-warning)
                                           (setf problem (report-text 200 warning)))
                                         (muffle-warning warning))))
                 (compile nil
                          `(lambda ,lambda-list
                             (declare (ignorable ,@(parameter-variables lambda-list)))
                             ,@forms)))
          (when problem (fail problem)))))))

(defun function-parameters (name)
  "Return the lambda list of the function NAME. If SBCL has not kept it, return (&REST ARGUMENTS),
which accepts any arguments."
  (let* ((function (plain-definition name))
         (parameters (if (typep function 'generic-function)
                         (sb-mop:generic-function-lambda-list function)
                         (plain-lambda-list function))))
    (if (listp parameters) parameters '(&rest arguments))))

(defun bare-parameters (parameters)
  "Return a copy of the lambda list PARAMETERS with NIL in place of each default form, since a
default form may have side effects. Leave out supplied-p parameters, and &AUX with all that follows.
If PARAMETERS has &KEY, add &ALLOW-OTHER-KEYS."
  (append (loop with section = nil ; The last lambda list keyword.
                for parameter in parameters
                until (member parameter
                              (set-difference lambda-list-keywords
                                              '(&optional &rest &key &allow-other-keys)))
                do (when (member parameter lambda-list-keywords) (setf section parameter))
                collect (if (and (consp parameter) (member section '(&optional &key)))
                            (list (first parameter) nil)
                            parameter))
          (and (member '&key parameters)
               (not (member '&allow-other-keys parameters))
               '(&allow-other-keys))))

(defun named-in (package parameters)
  "Return a copy of the lambda list PARAMETERS for forms that are read in PACKAGE. If PACKAGE has a
symbol with the name of a variable in PARAMETERS, this symbol replaces the variable in the copy."
  (sublis (loop for variable in (parameter-variables parameters)
                for symbol = (find-symbol (symbol-name variable) package)
                when (and symbol (not (constantp symbol))) collect (cons variable symbol))
          parameters))

(defun parameter-variables (parameters)
  "Return a list of the variables that the lambda list PARAMETERS binds."
  (loop for parameter in parameters
        for name = (if (consp parameter) (first parameter) parameter)
        ;; In ((KEYWORD VARIABLE) ...), NAME-SYMBOL returns VARIABLE.
        for variable = (name-symbol name)
        unless (member variable lambda-list-keywords) collect variable))

;;; Calls that a probe may miss

(defun unseen-calls (name)
  "Return a string for the reason why some calls of the function NAME may bypass its probe:
\"inline\" if SBCL may compile them without a call, \"compiler-macro\", or \"block\" if the function
was compiled together with others. Return NIL if there is no such reason."
  (let ((function (plain-definition name)))
    ;; The compiler has a :SOURCE-TRANSFORM for the accessors of a structure, and an :INFO for the
    ;; functions that it knows.
    (cond ((or (eq 'inline (known :function :inlinep name))
               (known :function :source-transform name)
               (known :function :info name))
           "inline")
          ((compiler-macro-function name) "compiler-macro")
          ((and (typep function 'simple-function) (rest (code-names (function-code function))))
           "block"))))

(defun code-names (code)
  "Return a list of the names of functions in the code object CODE that are symbols or (SETF
symbol)."
  (loop for index below (code-functions code)
        for name = (plain-function-name (code-function code index))
        when (and name (or (symbolp name) (typep name '(cons (eql setf))))) collect name))

(defun place-if-unnamed (name)
  "Return a JSON object with the source location of the function NAME if its code does not refer to
NAME. In such code, SBCL compiles a recursive call to a jump, which no probe can record. Whether
there is such a call, the server finds out from the source. Otherwise, or if the location is
unknown, return NIL."
  (let ((function (plain-definition name)))
    (when (and (typep function 'simple-function)
               (not (member name (called-names (function-code function)) :test #'equal)))
      (place-data (introspect "FIND-DEFINITION-SOURCE" function)))))
