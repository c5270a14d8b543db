;;;; Test frameworks, and the wrappers around their functions that record which tests run.

(in-package "LIVE-LISP.TESTS")

(defstruct (framework (:constructor make-framework
                                    (name packages probes entries holding finish protocol)))
  "A test framework. PACKAGES are names that its package can have. PROBES are lists of the name of
one of its functions and a wrapper: while tests run, the wrapper is called in place of the function,
with the package, the original function and the list of arguments. ENTRIES is a function that takes
the package and returns its tests and suites as ENTRYs. HOLDING are lists of a variable's name and
the value with which errors reach the debugger. FINISH is NIL or a function that takes the output of
a run and records results that only the output shows. PROTOCOL are names of functions and variables:
a package that has all of them is taken for a copy of the framework."
  name packages probes entries holding finish protocol)

(defstruct (entry (:constructor make-entry (name suite runner)))
  "A test, or a suite of tests if SUITE is true. RUNNER is a function without arguments that runs it
without a report."
  name suite runner)

(sb-ext:defglobal **frameworks** '() "All FRAMEWORKs, the last defined first.")

(defun define-framework (name packages &key probes entries holding finish protocol)
  "Define the framework NAME; the other parameters are slots of FRAMEWORK. The names of the wrapped
functions are added to PROTOCOL if it is given."
  (push (make-framework name packages probes entries holding finish
                        (and protocol (append (mapcar #'first probes) protocol)))
        **frameworks**))

(defun home-symbol (package name)
  "Return the symbol NAME of PACKAGE, or NIL."
  (contrib-symbol (package-name package) name))

(defun home-call (package name &rest arguments)
  "Call the function NAME of PACKAGE with ARGUMENTS."
  (apply (home-symbol package name) arguments))

(defun home-value (package name)
  "Return the value of the variable NAME of PACKAGE, or NIL where it has none."
  (let ((symbol (home-symbol package name)))
    (and symbol (boundp symbol) (symbol-value symbol))))

(defun home-type-p (package name object)
  "True when OBJECT is of the class NAME of PACKAGE."
  (let ((symbol (home-symbol package name)))
    (and symbol (find-class symbol nil) (typep object symbol))))

(defmacro with-home-values ((package &rest names-and-values) &body body)
  "Evaluate BODY with variables of PACKAGE bound. NAMES-AND-VALUES are lists of a variable's name
and a form. Variables that do not exist are skipped."
  `(call-with-values-bound ,package
                           (list ,@(loop for (name value) in names-and-values
                                         collect `(cons ,name ,value)))
                           (lambda () ,@body)))

(defun call-with-values-bound (package bindings function)
  "Call FUNCTION while variables of PACKAGE are bound. BINDINGS is an alist from names to values.
Variables that do not exist are skipped."
  (let ((known (loop for (name . value) in bindings
                     for symbol = (home-symbol package name)
                     when symbol collect (cons symbol value))))
    (progv (mapcar #'car known) (mapcar #'cdr known) (funcall function))))

;;; Probes, which are installed while tests run

(defmacro apart-from-tests (&body body)
  "Evaluate BODY, which notes or prints what tests do, APART-FOR-LONG from them, but in the package
that is current in them. Return its values, or NIL when it would have entered the debugger."
  (let ((package (gensym "PACKAGE")))
    `(let ((,package *package*))
       (apart-for-long (let ((*package* ,package)) ,@body)))))

(defstruct (run (:constructor make-run (skip seed)))
  "A run of tests. SKIP is a list of names of tests to leave out. SEED is NIL or an integer that
determines random numbers. RESULTS are RESULTs, newest first. NOTED counts the failures recorded in
full, SEEN the tests that began or were left out. UNSEEN are the names of tested systems of which no
test began."
  skip seed (results '()) (noted 0) (seen 0) (unseen '()))

(defvar *run* nil "The run of tests that this thread is in, or NIL.")

(defvar *tested-systems* '()
  "The names of the systems that ASDF is testing in this thread, the innermost first.")

(sb-ext:defglobal **runs** 0 "The number of runs under way.")
(sb-ext:defglobal **probed** '() "The names of the functions that have wrappers.")
(sb-ext:defglobal **probes-lock** (sb-thread:make-mutex :name "live-lisp probes")
  "Guards **RUNS** and **PROBED**.")

(defun probe-for (package around)
  "Return a function that SB-INT:ENCAPSULATE can put around a function of PACKAGE. During a run of
tests, it calls the wrapper AROUND with PACKAGE, the original function and the list of arguments.
Otherwise it only calls the original function."
  (lambda (original &rest arguments)
    (if *run*
        (funcall around package original arguments)
        (apply original arguments))))

(defun own-p (name package)
  "True when the symbol NAME is at home in PACKAGE and names a function, a macro or a variable."
  (let ((symbol (find-symbol name package)))
    (and symbol (eq package (symbol-package symbol)) (or (fboundp symbol) (boundp symbol)))))

(defun framework-homes (framework)
  "Return the packages of FRAMEWORK and of copies of it; NIL if it is not loaded."
  (let ((protocol (framework-protocol framework)))
    (union (remove nil (mapcar #'find-package (framework-packages framework)))
           (and protocol
                (loop for package in (list-all-packages)
                      when (loop for name in protocol always (own-p name package))
                        collect package)))))

(defun all-homes ()
  "Return the packages of all loaded frameworks."
  (loop for framework in **frameworks** append (framework-homes framework)))

(defun homes-with (package)
  "Return the packages of the framework of PACKAGE, or a list of PACKAGE when it has no framework."
  (or (loop for framework in **frameworks**
            for homes = (framework-homes framework)
            when (member package homes) return homes)
      (list package)))

(defun call-leaving-errors (hold function)
  "Call FUNCTION. If HOLD is true, an error in it enters the debugger before the framework can
handle it."
  (if hold
      (handler-bind ((error #'invoke-debugger)) (funcall function))
      (funcall function)))

(defun add-probes ()
  "Install the wrappers of loaded frameworks on those functions that do not have theirs yet."
  (sb-thread:with-mutex (**probes-lock**)
    (dolist (framework **frameworks**)
      (dolist (package (framework-homes framework))
        (loop for (name around) in (framework-probes framework)
              for function = (contrib-function (package-name package) name)
              do (when (and function (not (member function **probed**)))
                   (push function **probed**)
                   (encapsulate function 'live-lisp-tests (probe-for package around))))))))

(defun note-unseen (seen operation component)
  "Record that no test of the system COMPONENT was seen, if OPERATION was its TEST-OP, the system
defines itself how it is tested, and still only SEEN tests have begun."
  (when (and (= seen (run-seen *run*))
             (operation-p operation "TEST-OP")
             (typep component (contrib-symbol "ASDF" "SYSTEM"))
             (own-test-p component))
    (pushnew (component-name component) (run-unseen *run*) :test #'equal)))

(defun perform-and-probe (original &rest arguments)
  "Wrapper around ASDF's PERFORM: call ORIGINAL with ARGUMENTS. Then install the wrappers of
frameworks that were loaded meanwhile, and record a tested system of which no test was seen."
  (destructuring-bind (operation component) arguments
    (let ((seen (and *run* (run-seen *run*)))
          (*tested-systems* (if (and *run* (operation-p operation "TEST-OP"))
                                (adjoin (component-name component) *tested-systems* :test #'equal)
                                *tested-systems*)))
      (multiple-value-prog1 (apply original arguments)
        (when *run*
          (apart-from-tests
            (add-probes)
            (note-unseen seen operation component)))))))

(defun call-with-probes (function)
  "Call FUNCTION while the wrappers are installed. The last of several simultaneous runs removes
them."
  (sb-thread:with-mutex (**probes-lock**)
    (when (and (= 1 (incf **runs**)) (contrib-function "ASDF" "PERFORM"))
      (let ((performer (contrib-function "ASDF" "PERFORM")))
        (push performer **probed**)
        (encapsulate performer 'live-lisp-tests #'perform-and-probe))))
  (unwind-protect (progn (add-probes) (funcall function))
    (sb-thread:with-mutex (**probes-lock**)
      (when (zerop (decf **runs**))
        (dolist (name (shiftf **probed** '()))
          (unencapsulate name 'live-lisp-tests))))))

(defun call-holding (function)
  "Call FUNCTION. If the request holds errors, bind the frameworks' variables so that errors reach
the debugger."
  (let ((bindings
         (and *hold*
              (loop for framework in **frameworks**
                    append (loop for package in (framework-homes framework)
                                 append (loop for (name value) in (framework-holding framework)
                                              for symbol = (home-symbol package name)
                                              when symbol collect (cons symbol value)))))))
    (progv (mapcar #'car bindings) (mapcar #'cdr bindings) (funcall function))))
