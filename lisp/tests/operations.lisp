;;;; Defines the operation test-run, which runs the tests of ASDF systems, or tests by name.
;;;; RUN-CHOSEN runs them with the wrappers of the frameworks installed (frameworks.lisp), and
;;;; CALL-MEASURING measures coverage meanwhile (coverage.lisp).

(in-package "LIVE-LISP.TESTS")

(defun all-entries ()
  "Return a list of ENTRY structures for all tests and suites of all loaded test frameworks."
  (loop for framework in **frameworks**
        append (loop for package in (framework-homes framework)
                     ;; Another version of the framework may keep its tests elsewhere. The tests
                     ;; of other frameworks are still returned.
                     append (nil-if-program-fails
                              (funcall (framework-entries framework) package)))))

(defun entry-text (entry)
  "Return the full name of ENTRY, an ENTRY structure, as text."
  (test-text (entry-name entry)))

(defun inherited-name (text)
  "TEXT names a symbol, such as PKG:TEST, where PKG may only inherit or import the symbol. Return
the name of the symbol as text, with its home package as prefix. Return NIL if TEXT has no prefix,
or if there is no such symbol."
  (let* ((colon (position #\: text))
         (package (and colon (plusp colon) (find-package (string-upcase (subseq text 0 colon))))))
    (when package
      (let ((symbol (find-symbol (string-upcase (string-left-trim ":" (subseq text colon)))
                                 package)))
        (and symbol (symbol-text symbol))))))

(defun meant-names (text)
  "Return a list of the names that TEXT can mean. These are TEXT itself, and the full name of the
symbol that the reader finds for TEXT. If TEXT has a single colon, the list also has the same text
with two colons."
  (let ((colon (position #\: text)) (inherited (inherited-name text)))
    (list* text
           (append (and colon
                        (not (search "::" text))
                        (list (concatenate 'string
                                           (if (zerop colon) "KEYWORD" (subseq text 0 colon)) ":"
                                           (subseq text colon))))
                   (and inherited (list inherited))))))

(defun entries-named (text entries)
  "ENTRIES is a list of ENTRY structures. Return a list of the entries with the full name TEXT. If
there are none, return a list of the entries whose name without a package is TEXT. Ignore letter
case."
  (loop for name in (meant-names text)
          thereis (or (remove name entries :key #'entry-text :test-not #'string-equal)
                      (remove name entries
                              :key (lambda (entry) (bare-text (entry-name entry)))
                              :test-not #'string-equal))))

(defun entries-of-name (name entries)
  "ENTRIES is a list of ENTRY structures. Return a list of the entries that NAME, a text, names. If
there are none, or entries with different full names, end the operation with an error answer."
  (let* ((found (entries-named name entries))
         (texts (remove-duplicates (mapcar #'entry-text found) :test #'string=)))
    (cond ((null found)
           (fail-lookup "missing" name "known" (page (mapcar #'entry-text entries) 0 5000)))
          ((rest texts) (fail-lookup "several" name "known" (page texts 0 100)))
          (t found))))

(defun entries-again (names entries)
  "ENTRIES is a list of ENTRY structures. Return two lists: the entries whose full names are in the
list NAMES, and the NAMES that no entry has."
  (let ((found (loop for name in names
                     append (remove name entries :key #'entry-text :test-not #'string=))))
    (values found (set-difference names (mapcar #'entry-text found) :test #'string=))))

(defun other-tests (names entries)
  "ENTRIES is a list of ENTRY structures. Return a list of the full names of at most 5000 tests
among them that are not in the list NAMES. Leave out suites."
  (let ((known (make-hash-table :test 'equal)))
    (dolist (name names) (setf (gethash name known) t))
    (page (loop for entry in entries
                for text = (entry-text entry)
                unless (or (entry-suite entry) (shiftf (gethash text known) t)) collect text)
          0 5000)))

(defun entries-of-package (package entries)
  "ENTRIES is a list of ENTRY structures. Return a list of those that are tests, not suites, and
whose names are in PACKAGE. A test that is named like the function it tests has a name that PACKAGE
inherits."
  (flet ((in-package-p (name)
           (if (symbolp name) (accessible-p name package) (eq package (package-of name)))))
    (remove-if-not (lambda (entry)
                     (and (not (entry-suite entry)) (in-package-p (entry-name entry))))
                   entries)))

(defun packages-data (entries)
  "Return a list of JSON objects for at most 20 packages that contain names of tests in ENTRIES,
each with the number of these tests."
  (let ((counts (make-hash-table :test 'equal)))
    (dolist (entry entries)
      (let ((package (package-of (entry-name entry))))
        (when (and package (not (entry-suite entry)))
          (incf (gethash (package-name package) counts 0)))))
    (page (loop for name being the hash-keys of counts using (hash-value count)
                collect (object "package" name "tests" count))
          0 20)))

(defun test-system (name)
  "Test the ASDF system NAME by its TEST-OP. Return NIL. But if the test needs another system that
is missing, return a list of the name of that system and the name of what needs it."
  (call-noting
   (lambda (&aux (*tested-systems* (list name)))
     (call-user-code
      (lambda ()
        (call-for-needed (lambda ()
                           (asdf-call "OPERATE" (contrib-symbol "ASDF" "TEST-OP") name))))))))

(defun run-chosen (systems entries root)
  "Test SYSTEMS, a list of names of ASDF systems, and run ENTRIES, a list of ENTRY structures.
Return a plist for a JSON object. \"needs\" lists those of SYSTEMS that need a missing system. ROOT
is the name of a folder, or NIL. If no test has run, \"unloaded\" lists systems below ROOT that are
not loaded."
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
             (dolist (entry entries) (call-user-code (entry-runner entry)))
             (list "needs" needs
                   "unloaded" (and root
                                   systems
                                   (null (run-results *run*))
                                   (call-finding-all (lambda ()
                                                       (unloaded-users systems root)))))))))))))

(defun call-measuring (folder root systems function)
  "Call FUNCTION, which runs tests and returns a plist for a JSON object, and return this plist. If
FOLDER is NIL, measure no coverage, and pass NIL to FUNCTION. Otherwise FOLDER is a directory for
fasls. Then pass a function without parameters, which FUNCTION must call to begin the measurement.
Measure the coverage of the files of SYSTEMS and of the files below ROOT, and add it to the plist."
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

(define-shape test-lookup ()
  "Why no test ran."
  (unmeasured (member "missing" "busy") :optional
   "Why coverage cannot be measured: this SBCL cannot measure it, or another run is being
   measured.")
  (missing string :optional "The requested name, when no test has it.")
  (several string :optional "The requested name, when it fits several tests.")
  (known (list string) :optional
   "Names of tests that exist or, with `several`, that the name fits."))

(define-shape test-run-data (remarks)
  "The answer to a request to run tests."
  (tests (list test-result) :optional) (parts (list test-part) :optional)
  (needs (list missing-system) :optional
   "Systems that ASDF does not find, each with the system that depends on it and so was not tested
   completely.")
  (packages (list (object (package string) (tests integer))) :optional
   "The packages that have tests, when no test ran.")
  (unloaded (list string) :optional
   "Systems below the root that depend on a tested one and are not loaded, when no test ran.")
  (gone (list string) :optional
   "Names of tests that were requested to run again, but no longer exist.")
  (former (list (object (test string) (file string))) :optional
   "Tests that the image has, and that did not run because FILE, which defined them, no longer has
   them.")
  (stale (list string) :optional
   "Files below the root that have changed since the image loaded them.")
  (unset (list unset-variable) :optional
   "Variables defined in files below the root that were bound already, so that a load did not set
   them.")
  (unset-total integer :optional)
  (unseen (list string) :optional
   "Systems that were tested, but in which no test of a known framework was seen.")
  (others (list string) :optional "Names of all tests that did not run; sent on request.")
  (coverage coverage-data :optional) (value (or lookup-failure test-lookup) :optional))

(define-operation ("test-run" :members t :holds t :gives test-run-data)
    ((systems (list string) :optional "Names of systems to test.")
     (name string :optional "The name of a test or a suite to run.")
     (again (list string) :optional "Full names of tests to run.")
     (others boolean :optional "True for the names of the tests that are not in AGAIN.")
     (package string :optional "The package whose tests to run.")
     (skip (list string) :optional "Full names of tests to leave out.")
     (seed integer :optional "A seed for random numbers.")
     (folder string :optional
      "The folder for fasls of measured code; without it, coverage is not measured.")
     (root string :optional
      "The folder whose changed files are reported and whose code is measured."))
  "Run the tests of SYSTEMS, of a name or a package, or those that are to run AGAIN."
  (let* ((*run* (make-run skip seed))
         (entries (and (or name again others package) (all-entries)))
         (gone '())
         (chosen (cond (package (entries-of-package (named-package package) entries))
                       (name (entries-of-name name entries))
                       (again (multiple-value-bind (found missing) (entries-again again entries)
                                (setf gone missing)
                                found))))
         (single (and name (null (rest chosen)) (not (entry-suite (first chosen)))))
         (members (call-measuring
                   folder root systems
                   (lambda (measure)
                     (setf (run-reports-passed *run*) single)
                     (call-as-job-part nil (lambda ()
                                             (when measure (funcall measure))
                                             (call-with-seed ""
                                                             (lambda ()
                                                               (run-chosen systems chosen
                                                                           root)))))))))
    (list* "tests" (results-data *run*)
           "gone" gone
           "unseen" (reverse (run-untested *run*))
           "former" (loop for (text . path) in (reverse (run-former *run*))
                          collect (object "test" text "file" path))
           "stale" (and root (page (changed-paths root) 0 100))
           "others" (and others (other-tests again entries))
           "packages" (and (null (run-results *run*)) (packages-data (all-entries)))
           (append (and root (unset-below root)) members))))
