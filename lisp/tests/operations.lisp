;;;; The operation test-run: runs the tests of systems, or tests by name.

(in-package "LIVE-LISP.TESTS")

(defun all-entries ()
  "Return the tests and suites that all frameworks know."
  (loop for framework in **frameworks**
        append (loop for package in (framework-homes framework)
                     append (handler-case (funcall (framework-entries framework) package)
                              ;; This version of the framework keeps its tests elsewhere; those of
                              ;; others are found.
                              (error () '())))))

(defun entry-text (entry)
  "Return the name of ENTRY as text."
  (test-text (entry-name entry)))

(defun bare-name (entry)
  "Return the name of ENTRY without a package."
  (let ((name (entry-name entry)))
    (if (symbolp name) (symbol-name name) (entry-text entry))))

(defun meant-names (text)
  "Return the names that TEXT can mean: TEXT itself, and, if it is a symbol with one colon, the
whole name of that."
  (let ((colon (position #\: text)))
    (list* text
           (and colon
                (not (search "::" text))
                (list (concatenate 'string (if (zerop colon) "KEYWORD" (subseq text 0 colon)) ":"
                                   (subseq text colon)))))))

(defun entries-named (text entries)
  "Return those of ENTRIES whose whole name TEXT means, or else those whose name without a package
it means."
  (loop for name in (meant-names text)
          thereis (or (remove name entries :key #'entry-text :test-not #'string-equal)
                      (remove name entries :key #'bare-name :test-not #'string-equal))))

(defun entries-of-name (name entries)
  "Return those of ENTRIES that NAME names. Calls FAIL-LOOKUP when NAME names none, or different
ones."
  (let* ((found (entries-named name entries))
         (texts (remove-duplicates (mapcar #'entry-text found) :test #'string=)))
    (cond ((null found)
           (fail-lookup "missing" name "known" (page (mapcar #'entry-text entries) 0 5000)))
          ((rest texts) (fail-lookup "several" name "known" (page texts 0 100)))
          (t found))))

(defun entries-again (names entries)
  "Return those of ENTRIES whose whole names are among NAMES; and those of NAMES that no longer
exist."
  (let ((found (loop for name in names
                     append (remove name entries :key #'entry-text :test-not #'string=))))
    (values found (set-difference names (mapcar #'entry-text found) :test #'string=))))

(defun other-tests (names entries)
  "Return at most 5000 names of tests, not suites, that are among ENTRIES and not among NAMES, each
once."
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
  "Return the packages of the tests among ENTRIES, and how many each has, as JSON objects."
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
  "Have ASDF test the system NAME. Return NIL, or the list from NEEDED-SYSTEM when another system is
missing."
  (call-noting
   (lambda (&aux (*tested-systems* (list name)))
     (call-user-code
      (lambda ()
        (call-telling-needed (lambda ()
                               (asdf-call "OPERATE" (contrib-symbol "ASDF" "TEST-OP") name))))))))

(defun finish-run ()
  "Have the loaded frameworks record what only the output of the run shows."
  (let ((output (output-text (job-output *job*))))
    (dolist (framework **frameworks**)
      (when (and output (framework-finish framework) (framework-homes framework))
        (funcall (framework-finish framework) output)))))

(defun run-chosen (systems entries)
  "Test SYSTEMS and run ENTRIES, under probes. Return the members about what could not be tested."
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
  "Call FUNCTION, which runs tests, with a function that begins to measure. Return its members and
those about coverage of files below ROOT and of SYSTEMS. Without FOLDER, a directory for fasls, its
argument is NIL and nothing is measured."
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
  "Test SYSTEMS, names, by ASDF, or run the test or suite NAME, those with the names AGAIN, or the
tests of PACKAGE. With OTHERS return the names of tests not in AGAIN. SKIP are names of tests to
leave out. SEED, if given, determines random numbers. Return the result of each test, the files
below ROOT that have changed since they were loaded, and their variables that were left unset. With
FOLDER return the coverage, as CALL-MEASURING does with ROOT."
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
