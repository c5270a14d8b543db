;;;; The supported test frameworks, and the wrappers around their functions that record the tests
;;;; that run. A file for each framework calls DEFINE-FRAMEWORK. While tests run, CALL-WITH-PROBES
;;;; wraps the functions that a framework lists as probes (WRAP in base/wrapping.lisp).
;;;;
;;;; A "home" is a package of a loaded framework, or of a copy of the framework under another name.

(in-package "LIVE-LISP.TESTS")

(defstruct (framework (:constructor make-framework
                                    (name packages probes entries holding protocol)))
  "A test framework.
NAME: a string.
PACKAGES: a list of the names that its package can have.
PROBES: a list of (FUNCTION-NAME WRAPPER) lists. While tests run, WRAPPER is called in place of the
function. It takes the package, the original function and the list of arguments.
ENTRIES: a function that takes the package, and returns a list of ENTRY structures for its tests and
suites.
HOLDING: a list of (VARIABLE-NAME VALUE) lists. With these values, errors reach the debugger.
PROTOCOL: a list of names of functions and variables. A package that has all of them counts as a
copy of the framework."
  name packages probes entries holding protocol)

(defstruct (entry (:constructor make-entry (name suite runner)))
  "A test, or a suite of tests if SUITE is true. NAME is the name of the test or suite in its test
framework. RUNNER is a function without arguments that runs the test or suite without a report."
  name suite runner)

(sb-ext:defglobal **frameworks** '()
  "A list of the FRAMEWORK structures of all supported test frameworks, the last defined first.")

(defun define-framework (name packages &key probes entries holding protocol)
  "Define the test framework NAME. The other arguments are the values of the slots of the FRAMEWORK
structure. To PROTOCOL, if it is not empty, add the names of the functions in PROBES."
  (push (make-framework name packages probes entries holding
                        (and protocol (append (mapcar #'first probes) protocol)))
        **frameworks**))

(defun home-symbol (package name)
  "Return the symbol named NAME, a string, in PACKAGE, or NIL if there is none."
  (contrib-symbol (package-name package) name))

(defun home-call (package name &rest arguments)
  "Apply the function named NAME, a string, in PACKAGE to ARGUMENTS, and return its values."
  (apply (home-symbol package name) arguments))

(defun home-value (package name)
  "Return the value of the variable named NAME, a string, in PACKAGE. Return NIL if this variable is
unbound or does not exist."
  (let ((symbol (home-symbol package name)))
    (and symbol (boundp symbol) (symbol-value symbol))))

(defun home-type-p (package name object)
  "Return true if OBJECT is an instance of the class named NAME, a string, in PACKAGE."
  (let ((symbol (home-symbol package name)))
    (and symbol (find-class symbol nil) (typep object symbol))))

(defmacro with-home-values ((package &rest names-and-values) &body body)
  "Evaluate BODY with variables of PACKAGE bound. NAMES-AND-VALUES are (NAME FORM) lists: the name
of a variable, a string, and a form for its value. Ignore variables that do not exist."
  `(call-with-values-bound ,package
                           (list ,@(loop for (name value) in names-and-values
                                         collect `(cons ,name ,value)))
                           (lambda () ,@body)))

(defun call-with-values-bound (package bindings function)
  "Call FUNCTION with variables of PACKAGE bound. BINDINGS is an alist from names of variables,
strings, to values. Ignore names for which PACKAGE has no variable."
  (let ((known (loop for (name . value) in bindings
                     for symbol = (home-symbol package name)
                     when symbol collect (cons symbol value))))
    (progv (mapcar #'car known) (mapcar #'cdr known) (funcall function))))

;;; Wrappers, which are installed while tests run

(defmacro apart-from-tests (&body body)
  "Evaluate BODY, which records or prints results, isolated from the tests but with their *PACKAGE*.
Return the values of BODY. Return NIL if BODY would have entered the debugger."
  (let ((package (gensym "PACKAGE")))
    `(let ((,package *package*))
       (with-interruptible-isolation (let ((*package* ,package)) ,@body)))))

(defstruct (run (:constructor make-run (skip seed)))
  "A run of tests.
SKIP: a list of names of tests to leave out.
SEED: NIL, or an integer that determines random numbers.
FORMER: a list of (TEXT . PATH) pairs: tests that did not run because the file PATH, which defined
them, no longer has them.
RESULTS: a list of RESULT structures, newest first.
NOTED: the number of failures recorded in full.
BEGUN: the number of tests that have begun or were left out.
UNTESTED: a list of the names of tested systems of which no test has begun.
REPORTS-PASSED: true if the forms of checks that pass are recorded."
  skip seed (reports-passed nil) (former '()) (results '()) (noted 0) (begun 0) (untested '()))

(defvar *run* nil "The RUN structure of the run of tests that this thread belongs to, or NIL.")

(defvar *tested-systems* '()
  "A list of the names of the systems that ASDF is testing in this thread, the innermost first.")

(sb-ext:defglobal **runs** 0 "The number of runs of tests in progress.")
(sb-ext:defglobal **probed** '() "A list of the names of the functions that have wrappers.")
(sb-ext:defglobal **probes-lock** (sb-thread:make-mutex :name "live-lisp probes")
  "A lock that a thread holds while it uses **RUNS** and **PROBED**.")

(defun probe-for (package around)
  "AROUND is a wrapper of a function of PACKAGE. Return a function that takes the original function
and its arguments. During a run of tests, it calls AROUND with PACKAGE, the original function and
the list of arguments. Otherwise it calls only the original function."
  (lambda (original &rest arguments)
    (if *run*
        (funcall around package original arguments)
        (apply original arguments))))

(defun home-p (name package)
  "Return true if PACKAGE is the home package of a symbol named NAME, a string, and this symbol
names a function, a macro or a variable."
  (let ((symbol (find-symbol name package)))
    (and symbol (eq package (symbol-package symbol)) (or (fboundp symbol) (boundp symbol)))))

(defun framework-homes (framework)
  "Return a list of the packages of FRAMEWORK, a FRAMEWORK structure, and of the packages of copies
of this framework. Return an empty list if the framework is not loaded."
  (let ((protocol (framework-protocol framework)))
    (union (remove nil (mapcar #'find-package (framework-packages framework)))
           (and protocol
                (from-packages (lambda (package)
                                 (when (loop for name in protocol always (home-p name package))
                                   (list package))))))))

(defun all-homes ()
  "Return a list of the packages of all loaded test frameworks and of copies of them."
  (loop for framework in **frameworks** append (framework-homes framework)))

;; For sources/guarding.lisp, which is loaded earlier and does not know the frameworks.
(setf **test-operator-p**
      (lambda (symbol) (and symbol (member (symbol-package symbol) (all-homes) :test #'eq))))

(defun homes-with (package)
  "Return a list of the packages of the test framework to which PACKAGE belongs. If PACKAGE belongs
to no test framework, the list has only PACKAGE."
  (or (loop for framework in **frameworks**
            for homes = (framework-homes framework)
            when (member package homes) return homes)
      (list package)))

(defun add-probes ()
  "Install the wrappers of the loaded frameworks on their functions. Skip functions that already
have a wrapper."
  (sb-thread:with-mutex (**probes-lock**)
    (dolist (framework **frameworks**)
      (dolist (package (framework-homes framework))
        (loop for (name around) in (framework-probes framework)
              for function = (contrib-function (package-name package) name)
              do (when (and function (not (member function **probed**)))
                   (push function **probed**)
                   (wrap function 'live-lisp-tests (probe-for package around))))))))

(defun note-untested (begun operation component)
  "Record the ASDF system COMPONENT as a tested system without tests, if three conditions hold: ASDF
has performed TEST-OP as OPERATION on COMPONENT, COMPONENT has a TEST-OP method of its own, and the
number of tests that have begun is still BEGUN."
  (when (and (= begun (run-begun *run*))
             (operation-p operation "TEST-OP")
             (typep component (contrib-symbol "ASDF" "SYSTEM"))
             (test-method-p component))
    (pushnew (component-name component) (run-untested *run*) :test #'equal)))

(defun perform-and-probe (original &rest arguments)
  "Wrapper around ASDF's PERFORM: call ORIGINAL with ARGUMENTS, an operation and a component, and
return its values. Then wrap the functions of test frameworks that were loaded meanwhile, and call
NOTE-UNTESTED with the component."
  (destructuring-bind (operation component) arguments
    (let ((begun (and *run* (run-begun *run*)))
          (*tested-systems* (if (and *run* (operation-p operation "TEST-OP"))
                                (adjoin (component-name component) *tested-systems* :test #'equal)
                                *tested-systems*)))
      (multiple-value-prog1 (apply original arguments)
        (when *run*
          (apart-from-tests
            (add-probes)
            (note-untested begun operation component)))))))

(defun call-with-probes (function)
  "Call FUNCTION while the wrappers around functions of ASDF and of the test frameworks are
installed. If several runs of tests are in progress, the run that ends last removes the wrappers."
  (sb-thread:with-mutex (**probes-lock**)
    (when (and (= 1 (incf **runs**)) (contrib-function "ASDF" "PERFORM"))
      (let ((performer (contrib-function "ASDF" "PERFORM")))
        (push performer **probed**)
        (wrap performer 'live-lisp-tests #'perform-and-probe))))
  (unwind-protect (progn (add-probes) (funcall function))
    (sb-thread:with-mutex (**probes-lock**)
      (when (zerop (decf **runs**))
        (dolist (name (shiftf **probed** '()))
          (unwrap name 'live-lisp-tests))))))

(defun call-holding (function)
  "Call FUNCTION. If *HOLD-SECONDS* is true, bind variables of the test frameworks so that errors
reach the debugger."
  (let ((bindings
         (and *hold-seconds*
              (loop for framework in **frameworks**
                    append (loop for package in (framework-homes framework)
                                 append (loop for (name value) in (framework-holding framework)
                                              for symbol = (home-symbol package name)
                                              when symbol collect (cons symbol value)))))))
    (progv (mapcar #'car bindings) (mapcar #'cdr bindings) (funcall function))))
