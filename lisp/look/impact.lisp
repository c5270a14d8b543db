;;;; What a change of a definition concerns: who calls it, the methods that go by it, and the tests that reach it.

(in-package "LIVE-LISP.LOOK")

;;; Who calls whom, over all code but SBCL's own

(defun map-callees (visit function)
  "Call VISIT with the names of what FUNCTION, a simple one, calls or expands."
  (let ((xrefs (packed-xrefs function)))
    (when xrefs
      (map-xrefs (lambda (kind used number)
                   (declare (ignore number))
                   (when (member kind '(:calls :macroexpands)) (funcall visit used)))
                 xrefs))))

(defun map-nameless (visit)
  "Call VISIT with the name and function of each function of the program that has no global name. SBCL keeps no cross
references for those that stand outside of others."
  (map-code (lambda (code)
              (let ((file (code-file code)))
                (when (and file (not (eql 0 (search "SYS:" file))))
                  (dotimes (i (code-functions code))
                    (let ((function (code-function code i)))
                      (unless (or (packed-xrefs function) (plain-name-p (plain-function-name function)))
                        (funcall visit (plain-function-name function) function)))))))))

(defun calls-by-callee ()
  "Return a table of lists of a caller and its function, by the name of what they call or expand."
  (let ((table (make-hash-table :test 'equal)))
    (labels ((note (used caller function)
               (let ((known (gethash used table)))
                 ;; What one function uses comes together. To look through all users of SETF each time takes seconds.
                 (unless (eq function (second (first known)))
                   (setf (gethash used table) (cons (list caller function) known))))))
      (map-functions (lambda (caller function)
                       (unless (system-name-p caller)
                         (map-callees (lambda (used) (note used caller function)) function))))
      (map-nameless (lambda (caller function)
                      (dolist (used (code-names function)) (note used caller function)))))
    table))

(defparameter *most-reaching* 5000 "How many functions are followed to the tests that reach a name.")

(defun reaching (target)
  "Return lists of a caller and its function for all that call TARGET, a function name, directly or by way of others. Return
besides whether they are too many to follow all."
  (let ((table (calls-by-callee)) (seen (make-hash-table :test 'equal)) (functions (make-hash-table :test 'eq))
        (pending (list target)) (found '()) (left *most-reaching*))
    (setf (gethash target seen) t)
    (loop while (and pending (plusp left))
          do (dolist (use (gethash (pop pending) table))
               (destructuring-bind (caller function) use
                 (unless (shiftf (gethash function functions) t)
                   (decf left)
                   (push use found)
                   (let ((name (enclosing-name caller)))
                     (when (and name (not (shiftf (gethash name seen) t))) (push name pending)))))))
    (values found (and pending t))))

;;; Tests: what is in a file of a system that tests another

(defun tested-by (system)
  "Return the names of the systems that SYSTEM names for its TEST-OP."
  (let ((operation (contrib-symbol "ASDF" "TEST-OP")) (names '()))
    (dolist (entry (asdf-value "COMPONENT-IN-ORDER-TO" system) names)
      (when (eq (if (consp entry) (first entry) entry) operation)
        (dolist (dependency (rest entry))
          (dolist (name (if (consp dependency) (rest dependency) '()))
            (when (typep name '(or string symbol)) (push (string-downcase (string name)) names))))))))

(defun performs-test-p (system)
  "True when SYSTEM has a way of its own to be tested, and depends on another of the same file: it is that one's test."
  (let ((perform (contrib-function "ASDF" "PERFORM")) (operation (contrib-symbol "ASDF" "TEST-OP"))
        (file (asdf-value "SYSTEM-SOURCE-FILE" system)))
    (and perform operation file (find-class operation nil)
         (some (lambda (method)
                 (destructuring-bind (on &optional of) (sb-mop:method-specializers method)
                   (and (eq on (find-class operation))
                        (typep of 'sb-mop:eql-specializer)
                        (eq system (sb-mop:eql-specializer-object of)))))
               (sb-mop:generic-function-methods (fdefinition perform)))
         (some (lambda (name)
                 (let ((other (and (typep name '(or string symbol)) (asdf-value "REGISTERED-SYSTEM" (string-downcase (string name))))))
                   (and other (equal file (asdf-value "SYSTEM-SOURCE-FILE" other)))))
               (asdf-value "SYSTEM-DEPENDS-ON" system)))))

(defun test-systems ()
  "Return the systems that ASDF knows as tests of others: their TEST-OP says so."
  (let* ((systems (remove nil (mapcar (lambda (name) (asdf-value "REGISTERED-SYSTEM" name))
                                      (asdf-value "REGISTERED-SYSTEMS"))))
         (named (loop for system in systems
                      append (remove (asdf-value "COMPONENT-NAME" system) (tested-by system) :test #'equal))))
    (remove-if-not (lambda (system)
                     (or (member (asdf-value "COMPONENT-NAME" system) named :test #'equal)
                         (performs-test-p system)))
                   systems)))

(defun place-before-p (one other)
  "The order of places from FUNCTION-PLACE: by file, then by offset."
  (if (string= (first one) (first other))
      (< (or (second one) 0) (or (second other) 0))
      (string< (first one) (first other))))

(defun test-data (target limit)
  "Return the members of the answer about the tests that reach TARGET, a function name, LIMIT of them."
  (let* ((systems (test-systems)) (files (make-hash-table :test 'equal)))
    (dolist (system systems)
      (dolist (file (component-files system)) (setf (gethash file files) t)))
    (multiple-value-bind (uses more) (if systems (reaching target) '())
      (let ((found (loop for (nil function) in uses
                         for place = (function-place function)
                         when (and place (gethash (first place) files)) collect (list function place))))
        (setf found (sort (remove-duplicates found :key #'second :test #'equal) #'place-before-p :key #'second))
        (list "testSystems" (length systems)
              "testsMore" (and more t)
              "testFiles" (and (null found) (page (loop for file being the hash-keys of files collect file) 0 500))
              "tests" (loop for (nil (file offset form created)) in (page found 0 limit)
                            collect (object "file" file "offset" offset "form" form "changed" (changed-p file created)))
              "testCount" (length found))))))

;;; The operation

(defun naming-data (target limit)
  "Return the functions with a name whose code names the function TARGET, LIMIT of them, as JSON objects with their places.
What is inlined into a function, it calls without a cross reference."
  (let ((found '()))
    (map-code (lambda (code)
                (let ((file (code-file code)))
                  (when (and file (not (eql 0 (search "SYS:" file))) (plusp (code-functions code)))
                    (let* ((function (code-function code 0)) (name (enclosing-name (plain-function-name function))))
                      (when (and name (member target (code-names function) :test #'equal))
                        (push (list name function) found)))))))
    (loop for (name function) in found
          repeat limit
          for (file offset form created) = (function-place function)
          collect (object "description" (name-text name) "file" file "offset" offset "form" form
                          "changed" (changed-p file created)))))

(defun method-lambda-data (method)
  "Return where METHOD is as a JSON object, with its lambda list."
  (object "place" (method-data method) "arglist" (arglist-text (sb-mop:method-lambda-list method))))

(define-operation "impact" (name package limit)
  "Tell what a change of the function, macro or class NAME of PACKAGE concerns besides its callers: LIMIT of each kind."
  (multiple-value-bind (symbol status setf in) (named-symbol name package)
    (declare (ignore status))
    (let* ((target (if setf (list 'setf symbol) symbol)) (kind (function-kind target))
           (class (and (not setf) (find-class symbol nil)))
           (methods (and (equal kind "GENERIC-FUNCTION") (sb-mop:generic-function-methods (fdefinition target)))))
      (make-json-object
       (append (list "name" (name-text target)
                     "natures" (if setf '() (natures symbol))
                     "kind" kind
                     "type" (and (not setf) (null class) (type-name-p symbol) t)
                     "in" (package-name in)
                     "homes" (packages-with symbol)
                     "files" (loaded-files)
                     "features" (feature-names)
                     "inline" (and (eq (known :function :inlinep target) 'inline) t)
                     "compilerMacro" (and (compiler-macro-function target) t)
                     "methodCount" (and methods (length methods))
                     "methods" (mapcar #'method-lambda-data (page methods 0 2000)))
               (and kind (name-arglist-members target))
               (and kind (list "naming" (naming-data target 2000)))
               (and kind (test-data target limit))
               (and class (not (forward-referenced-p class)) (class-members class limit)))))))
