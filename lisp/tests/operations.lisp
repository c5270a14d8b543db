;;;; The operation test-run, which runs the tests of systems, or tests by name

(in-package "LIVE-LISP.TESTS")

(defun all-entries ()
  "Return the tests and suites of all loaded frameworks, as ENTRYs."
  (loop for framework in **frameworks**
        append (loop for package in (framework-homes framework)
                     append (handler-case (funcall (framework-entries framework) package)
                              ;; This version of the framework may keep its tests elsewhere. Other
                              ;; frameworks' tests are found.
                              (error () '())))))

(defun entry-text (entry)
  "Return the name of ENTRY as text."
  (test-text (entry-name entry)))

(defun bare-name (entry)
  "Return the name of ENTRY as text without a package."
  (let ((name (entry-name entry)))
    (if (symbolp name) (symbol-name name) (entry-text entry))))

(defun meant-names (text)
  "Return the names that TEXT can mean: TEXT itself, and with two colons if it has one."
  (let ((colon (position #\: text)))
    (list* text
           (and colon
                (not (search "::" text))
                (list (concatenate 'string (if (zerop colon) "KEYWORD" (subseq text 0 colon)) ":"
                                   (subseq text colon)))))))

(defun entries-named (text entries)
  "Return those of ENTRIES whose full name is TEXT. If there are none, return those whose name
without a package is TEXT. Letter case is ignored."
  (loop for name in (meant-names text)
          thereis (or (remove name entries :key #'entry-text :test-not #'string-equal)
                      (remove name entries :key #'bare-name :test-not #'string-equal))))

(defun entries-of-name (name entries)
  "Return those of ENTRIES that NAME names. Call FAIL-LOOKUP if there are none, or tests with
different full names."
  (let* ((found (entries-named name entries))
         (texts (remove-duplicates (mapcar #'entry-text found) :test #'string=)))
    (cond ((null found)
           (fail-lookup "missing" name "known" (page (mapcar #'entry-text entries) 0 5000)))
          ((rest texts) (fail-lookup "several" name "known" (page texts 0 100)))
          (t found))))

(defun entries-again (names entries)
  "Return two values: those of ENTRIES whose full names are among NAMES, and those of NAMES that are
no longer names of ENTRIES."
  (let ((found (loop for name in names
                     append (remove name entries :key #'entry-text :test-not #'string=))))
    (values found (set-difference names (mapcar #'entry-text found) :test #'string=))))

(defun other-tests (names entries)
  "Return the names of at most 5000 tests among ENTRIES, without suites, that are not among NAMES."
  (let ((known (make-hash-table :test 'equal)))
    (dolist (name names) (setf (gethash name known) t))
    (page (loop for entry in entries
                for text = (entry-text entry)
                unless (or (entry-suite entry) (shiftf (gethash text known) t)) collect text)
          0 5000)))

(defun entries-of-package (package entries)
  "Return the tests among ENTRIES whose names are in PACKAGE."
  (remove-if-not (lambda (entry)
                   (and (not (entry-suite entry)) (eq package (package-of (entry-name entry)))))
                 entries))

(defun packages-data (entries)
  "Return JSON objects for at most 20 packages of the tests among ENTRIES, each with its number of
tests."
  (let ((counts (make-hash-table :test 'equal)))
    (dolist (entry entries)
      (let ((package (package-of (entry-name entry))))
        (when (and package (not (entry-suite entry)))
          (incf (gethash (package-name package) counts 0)))))
    (page (loop for name being the hash-keys of counts using (hash-value count)
                collect (object "package" name "tests" count))
          0 20)))

(defun run-entries (entries)
  "Run ENTRIES one after the other."
  (dolist (entry entries)
    (call-user-code (entry-runner entry))))

(defun test-system (name)
  "Have ASDF test the system NAME. Return NIL, or the list from NEEDED-SYSTEM if a system is
missing."
  (call-noting
   (lambda (&aux (*tested-systems* (list name)))
     (call-user-code
      (lambda ()
        (call-telling-needed (lambda ()
                               (asdf-call "OPERATE" (contrib-symbol "ASDF" "TEST-OP") name))))))))

(defun finish-run ()
  "Have the loaded frameworks record those results that only the output of the run shows."
  (let ((output (output-text (job-output *job*))))
    (dolist (framework **frameworks**)
      (when (and output (framework-finish framework) (framework-homes framework))
        (funcall (framework-finish framework) output)))))

(defun run-chosen (systems entries)
  "Test SYSTEMS, names of systems, and run ENTRIES, while the wrappers of the test frameworks are
installed. Return a plist of JSON members about systems that could not be tested because another is
missing."
  (call-with-probes
   (lambda ()
     (call-holding
      (lambda ()
        (call-with-quiet-compiler
         (lambda ()
           (let ((needs (loop for name in systems
                              for needed = (test-system name)
                              when needed
                                collect (missing-data (first needed) name (second needed)))))
             (run-entries entries)
             (finish-run)
             (list "needs" needs)))))))))

(defun call-measuring (folder root systems function)
  "Call FUNCTION, which runs tests and returns JSON members, with one argument: NIL if FOLDER is
NIL, else a function that begins to measure coverage. FOLDER is a directory for fasls. Files of
SYSTEMS and files below ROOT are measured. Return the members, with the coverage added."
  (if (null folder)
      (funcall function nil)
      (call-covering
       (lambda (covering)
         (let* ((*covering* covering)
                (members (funcall function
                                  (lambda ()
                                    (cover (measured-paths systems root) folder
                                           (mapcar #'entry-name (all-entries)))))))
           (take-all covering)
           (list* "coverage" (coverage-data covering) members))))))

(define-operation ("test-run" :members t) (systems name again others package skip seed folder root)
  "Test SYSTEMS, names, by ASDF; or run the test or suite NAME, the tests with the full names AGAIN,
or the tests of PACKAGE. SKIP are names of tests to leave out. SEED, if given, determines random
numbers. With FOLDER, measure coverage, as CALL-MEASURING does with ROOT. Return the result of each
test, the files below ROOT that have changed since they were loaded, and the variables that kept
their values, although these files have others. With OTHERS, return also the names of tests that are
not in AGAIN."
  (let* ((*run* (make-run skip seed))
         (entries (and (or name again others package) (all-entries)))
         (all entries)
         (gone '())
         (chosen (cond (package (entries-of-package (named-package package) entries))
                       (name (entries-of-name name entries))
                       (again (setf (values entries gone) (entries-again again entries))
                              entries)))
         (members (call-measuring
                   folder root systems
                   (lambda (measure)
                     (call-as-job-part nil (lambda ()
                                             (when measure (funcall measure))
                                             (call-with-seed ""
                                                             (lambda ()
                                                               (run-chosen systems chosen)))))))))
    (list* "tests" (results-data *run*)
           "gone" gone
           "unseen" (reverse (run-unseen *run*))
           "stale" (and root (page (changed-paths root) 0 100))
           "others" (and others (other-tests again all))
           "packages" (and (null (run-results *run*)) (packages-data (all-entries)))
           (append (and root (unset-below root)) members))))
