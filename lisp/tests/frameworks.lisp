;;;; What is known of a framework of tests, and how its functions tell of the tests that they run.

(in-package "LIVE-LISP.TESTS")

(defstruct (framework (:constructor make-framework (name packages probes entries holding finish protocol)))
  "A framework. PACKAGES are the names that its package can have. PROBES are pairs of the name of a function of it and of
what is called instead while tests run. That takes the package, what the name named, and the list of the arguments.
ENTRIES returns the tests and suites of a package as ENTRY structures. HOLDING are pairs of the name of a variable and
the value with which errors come to the debugger. FINISH takes what a run has written, for what only that tells, or is
NIL. PROTOCOL are the names of what a copy of it in any package has of its own."
  name packages probes entries holding finish protocol)

(defstruct (entry (:constructor make-entry (name suite runner)))
  "A test, or a SUITE of them. RUNNER is a function that runs it without a report."
  name suite runner)

(sb-ext:defglobal **frameworks** '() "The frameworks, those that were defined last first.")

(defun define-framework (name packages &key probes entries holding finish protocol)
  "Define the framework NAME, as MAKE-FRAMEWORK takes it. PROTOCOL are further names than those of its probes."
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
  "Evaluate BODY with the variables of PACKAGE of NAMES-AND-VALUES bound, as far as there are such."
  `(call-with-values-bound ,package (list ,@(loop for (name value) in names-and-values collect `(cons ,name ,value)))
                           (lambda () ,@body)))

(defun call-with-values-bound (package bindings function)
  "Call FUNCTION with the variables of PACKAGE bound that BINDINGS, pairs of a name and a value, have."
  (let ((known (loop for (name . value) in bindings
                     for symbol = (home-symbol package name)
                     when symbol collect (cons symbol value))))
    (progv (mapcar #'car known) (mapcar #'cdr known) (funcall function))))

;;; Probes. They are there while tests run.

(defstruct (run (:constructor make-run (skip seed)))
  "A run of tests. SKIP are the names of those that are left out. Random numbers follow from SEED, an integer or NIL.
RESULTS are what came of the tests, newest first, and NOTED is how many failures are told in full. SEEN is how many tests
began, those that are left out too. UNSEEN are the names of systems of which none did."
  skip seed (results '()) (noted 0) (seen 0) (unseen '()))

(defvar *run* nil "The run of tests that this thread is in, or NIL.")

(defvar *tested-systems* '() "The names of the systems that ASDF is testing in this thread, the innermost first.")

(sb-ext:defglobal **runs** 0 "How many runs there are now.")
(sb-ext:defglobal **probed** '() "The functions with probes.")
(sb-ext:defglobal **probes-lock** (sb-thread:make-mutex :name "live-lisp probes") "Held while these change.")

(defun probe-for (package around)
  "Return the function that calls AROUND in the place of a function of PACKAGE, in a run."
  (lambda (original &rest arguments)
    (if *run*
        (funcall around package original arguments)
        (apply original arguments))))

(defun own-p (name package)
  "True when the symbol NAME of PACKAGE is from there, and names a function, a macro or a variable."
  (let ((symbol (find-symbol name package)))
    (and symbol (eq package (symbol-package symbol)) (or (fboundp symbol) (boundp symbol)))))

(defun framework-homes (framework)
  "Return the packages that have FRAMEWORK, or a copy of it."
  (let ((protocol (framework-protocol framework)))
    (union (remove nil (mapcar #'find-package (framework-packages framework)))
           (and protocol
                (loop for package in (list-all-packages)
                      when (loop for name in protocol always (own-p name package)) collect package)))))

(defun all-homes ()
  "Return the packages that have a framework."
  (loop for framework in **frameworks** append (framework-homes framework)))

(defun homes-with (package)
  "Return the packages of the framework that PACKAGE has, or just that."
  (or (loop for framework in **frameworks**
            for homes = (framework-homes framework)
            when (member package homes) return homes)
      (list package)))

(defun call-leaving-errors (hold function)
  "Call FUNCTION. With HOLD an error in it comes to the debugger before the framework handles it."
  (if hold
      (handler-bind ((error #'invoke-debugger)) (funcall function))
      (funcall function)))

(defun add-probes ()
  "Probe the functions of all frameworks that are loaded and that have no probes yet."
  (sb-thread:with-mutex (**probes-lock**)
    (dolist (framework **frameworks**)
      (dolist (package (framework-homes framework))
        (loop for (name around) in (framework-probes framework)
              for function = (contrib-function (package-name package) name)
              do (when (and function (not (member function **probed**)))
                   (push function **probed**)
                   (encapsulate function 'live-lisp-tests (probe-for package around))))))))

(defun note-unseen (seen operation component)
  "Note COMPONENT when OPERATION has tested it as its definition says, and no test has begun since SEEN had."
  (when (and (= seen (run-seen *run*))
             (operation-p operation "TEST-OP")
             (typep component (contrib-symbol "ASDF" "SYSTEM"))
             (own-test-p component))
    (pushnew (component-name component) (run-unseen *run*) :test #'equal)))

(defun perform-and-probe (original &rest arguments)
  "Call ORIGINAL, by which ASDF performs each action, with ARGUMENTS. Probe what it has loaded, and note systems whose tests
were not seen."
  (destructuring-bind (operation component) arguments
    (let ((seen (and *run* (run-seen *run*)))
          (*tested-systems* (if (and *run* (operation-p operation "TEST-OP"))
                                (adjoin (component-name component) *tested-systems* :test #'equal)
                                *tested-systems*)))
      (multiple-value-prog1 (apply original arguments)
        (when *run*
          (add-probes)
          (note-unseen seen operation component))))))

(defun call-with-probes (function)
  "Call FUNCTION while the functions of frameworks tell of the tests that they run."
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
  "Call FUNCTION. When this call holds its errors, frameworks leave them to the debugger meanwhile."
  (let ((bindings (and *hold*
                       (loop for framework in **frameworks**
                             append (loop for package in (framework-homes framework)
                                          append (loop for (name value) in (framework-holding framework)
                                                       for symbol = (home-symbol package name)
                                                       when symbol collect (cons symbol value)))))))
    (progv (mapcar #'car bindings) (mapcar #'cdr bindings) (funcall function))))
