;;;; Plans a run of tests: chooses the systems to test, and the systems to load first, even if ASDF
;;;; considers them unchanged. This file calls functions of ASDF by name (ASDF-CALL), because ASDF
;;;; may not be loaded yet. The operation comes first, then the functions that it calls.
;;;; UNLOADED-USERS and CHANGED-PATHS are for operations.lisp.

(in-package "LIVE-LISP.TESTS")

(define-shape system-to-load ()
  "A system that is to be loaded."
  (name string)
  (force boolean :optional
   "True when ASDF would not notice that the system has changed, so the load must be forced."))

(define-shape test-plan (perhaps-missing)
  "The systems to test, and the systems to load before the tests."
  (systems (list string) :optional) (loads (list system-to-load) :optional)
  (unread (list missing-system) :optional
   "Systems of the workspace whose definitions cannot be read, because they need missing systems."))

(define-shape test-plan-data (remarks)
  "The answer to a request to plan a run of tests."
  (value test-plan :optional))

(defstruct (dependency (:constructor make-dependency (system tested)))
  "A SYSTEM that ASDF needs for the test of another system. TESTED is true if SYSTEM is tested too,
and NIL if SYSTEM is only loaded."
  system tested)

(defstruct (planned-load (:constructor make-planned-load (system forced)))
  "A system to load before the tests. FORCED is true if ASDF does not notice that the system has
changed, so that its load must be forced."
  system forced)

(defvar *unread* '()
  "A list of JSON objects from MISSING-DATA, one for each system of the workspace whose definition
needs another system that is missing.")

(define-operation ("test-plan" :members t :gives test-plan-data)
    ((system string :optional "The name of the system to test.")
     (root string :optional "The native name of a folder: the systems below it are tested.")
     (known boolean :optional "True to leave out systems that were never loaded."))
  "Return which systems to test, SYSTEM or those below ROOT, and which systems to load before."
  (call-as-job-part
   nil
   (lambda ()
     (sb-thread:with-mutex (**load-lock**)
       (load-asdf)
       (scan-systems)
       (call-finding-all
        (lambda (&aux (*unread* '()))
          (list "value" (if system
                            (plan-of-system system known)
                            (plan-data (systems-to-test root) known)))))))))

(defun plan-of-system (name known)
  "Return a JSON object from PLAN-DATA for the system NAME and KNOWN. If this system is missing, or
its definition needs a missing system, return a JSON object about the missing system instead."
  (multiple-value-bind (system needed) (found-system name)
    (cond (system (plan-data (list system) known))
          (needed (destructuring-bind (missing by) needed
                    (missing-data missing (string-left-trim "#:" name) by)))
          (t (missing-data (string-downcase name) (string-downcase name))))))

(defun plan-data (systems known)
  "Return a JSON object with the plan for testing SYSTEMS: their names, the systems to load first,
and the systems that need a missing system (*UNREAD*). If KNOWN is true, leave out of the systems to
load each of SYSTEMS that was never loaded."
  (let ((loads (loop for system in (remove-duplicates (mapcan #'tested-with systems) :from-end t)
                     append (loads-before system known))))
    (object "systems" (mapcar #'component-name systems)
            "unread" (reverse *unread*)
            ;; The tests of another system can also need a system that is tested itself.
            "loads" (loop for load in (remove-duplicates loads :key #'planned-load-system
                                                               :from-end t)
                          collect (object "name" (component-name (planned-load-system load))
                                          "force" (planned-load-forced load))))))

(defun loads-before (system known)
  "Return a list of PLANNED-LOAD structures, in order, for the systems to load before the tests of
SYSTEM: the systems that SYSTEM needs and whose changes ASDF does not notice, and SYSTEM itself if
ASDF would load it. If KNOWN is true, leave out SYSTEM if it was never loaded. Also call KEEP-TEXTS
with SYSTEM, so that the next plan finds later changes of files whose load was not recorded."
  (let* ((needed (loop for other in (needed-systems system)
                       when (unnoticed-change-p other)
                         collect (make-planned-load other t)))
         (forced (or (unnoticed-change-p system) (doubtful-system-p system)))
         (wanted (or (not known) (asdf-call "COMPONENT-LOADED-P" system))))
    ;; Call KEEP-TEXTS only now: UNNOTICED-CHANGE-P and DOUBTFUL-SYSTEM-P must not see the texts
    ;; that it records.
    (keep-texts system)
    (if (and wanted (or forced (to-load-p system)))
        (append needed (list (make-planned-load system forced)))
        needed)))

;;; The systems to test

(defun systems-to-test (root)
  "Return a list of the systems defined below ROOT, the native name of a folder, that can be tested,
sorted by name. Leave out a system that ASDF also tests when it tests another system in the list."
  (let* ((below (or (systems-below root)
                    ;; The .asd files may have been made after ASDF has searched its registry.
                    (progn (scan-systems :again t)
                           (setf *unread* '())
                           (systems-below root))))
         (systems (remove-if-not #'tests-something-p below))
         (inner (loop for system in systems
                      append (remove system (tested-with system :loaded nil)))))
    (remove-if (lambda (system) (member system inner)) systems)))

(defun systems-below (root)
  "ROOT is the native name of a directory. Return a list, sorted by name, of the ASDF systems that
are defined in files below it."
  (let ((files (loop for file being the hash-values of (or (registry) (make-hash-table))
                     for path = (native-truename file)
                     when (starts-p path root) collect path)))
    (dolist (file files)
      (read-system (pathname-name (sb-ext:parse-native-namestring file))))
    (loop for name in (sort (copy-list (asdf-call "REGISTERED-SYSTEMS")) #'string<)
          for system = (asdf-call "REGISTERED-SYSTEM" name)
          for file = (native-truename (asdf-value "SYSTEM-SOURCE-FILE" system))
          when (member file files :test #'equal) collect system)))

(defun read-system (name)
  "Make ASDF read the definition of the system NAME. If this definition needs a missing system, push
a JSON object about the missing system onto *UNREAD*."
  (nil-if-program-fails
    (let ((needed (nth-value 1 (found-system name))))
      (when needed
        (destructuring-bind (missing by) needed
          (push (missing-data missing name by) *unread*))))))

(defun unloaded-users (systems root)
  "Return a list of the names of the systems below ROOT, the native name of a folder, that depend on
one of SYSTEMS, a list of names, and are not loaded."
  (loop with *unread* = '()
        for user in (systems-below root)
        when (and (not (asdf-call "COMPONENT-LOADED-P" user))
                  (intersection systems
                                (mapcar #'needed-name (asdf-call "SYSTEM-DEPENDS-ON" user))
                                :test #'string-equal))
          collect (component-name user)))

(defun component-name (system)
  "Return the name of the ASDF system SYSTEM as a string."
  (asdf-call "COMPONENT-NAME" system))

;;; The work of ASDF for a test of a system

(defun tests-something-p (system)
  "Return true if testing SYSTEM has an effect: SYSTEM tests other systems, or has a TEST-OP method
of its own."
  (or (some #'dependency-tested (test-dependencies system)) (test-method-p system)))

(defun test-method-p (system)
  "Return true if the ASDF system SYSTEM has a PERFORM method for TEST-OP."
  (find-method (symbol-function (contrib-symbol "ASDF" "PERFORM")) '()
               (list (find-class (contrib-symbol "ASDF" "TEST-OP"))
                     (sb-mop:intern-eql-specializer system))
               nil))

(defun tested-with (system &key (loaded t))
  "Return a list of SYSTEM and all systems that ASDF tests when it tests SYSTEM, dependencies first.
If LOADED is true, include those that ASDF only loads."
  (let ((seen '()) (order '()))
    (labels ((visit (system)
               (unless (member system seen)
                 (push system seen)
                 (dolist (dependency (test-dependencies system))
                   (let ((other (dependency-system dependency)))
                     (cond ((dependency-tested dependency) (visit other))
                           (loaded (pushnew other order)))))
                 (setf order (cons system (remove system order))))))
      (visit system))
    (reverse order)))

(defun test-dependencies (system)
  "Return a list of DEPENDENCY structures for the systems on which the TEST-OP of the ASDF system
SYSTEM depends."
  (loop with testing = (asdf-call "MAKE-OPERATION" (contrib-symbol "ASDF" "TEST-OP"))
        for (operation . components) in (asdf-call "COMPONENT-DEPENDS-ON" testing system)
        for tested = (operation-p operation "TEST-OP")
        when (or tested (operation-p operation "LOAD-OP"))
          append (loop for component in components
                       for other = (system-of component)
                       when (and other (not (eq other system)))
                         collect (make-dependency other tested))))

(defun operation-p (operation name)
  "Return true if OPERATION, an ASDF operation or its name, has the string NAME, such as
\"TEST-OP\", as name."
  (let ((class (contrib-symbol "ASDF" name)))
    (if (symbolp operation) (string= (symbol-name operation) name) (typep operation class))))

(defun system-of (component)
  "COMPONENT is an ASDF component or a name. Return COMPONENT if it is an ASDF system, or the ASDF
system that COMPONENT names. Return NIL for another kind of component, or if the named system cannot
be found."
  (if (typep component '(or string symbol))
      (nil-if-program-fails (find-system component))
      (and (typep component (contrib-symbol "ASDF" "SYSTEM")) component)))

;;; Changes that ASDF does not notice, because it compares dates in whole seconds

(defun unnoticed-change-p (system)
  "Return true if the text of a file of SYSTEM has changed since it was loaded, but ASDF considers
the file unchanged."
  (loop for (component . path) in (source-components system)
        for text = (known-text path)
          thereis (and text (seems-unchanged-p component) (other-text-p path text))))

(defun keep-texts (system)
  "Record the present text of files of SYSTEM as their loaded text. Do this only for a file whose
load was not recorded, and that is certainly older than its fasl."
  (loop for (component . path) in (source-components system)
        do (when (and (not (known-text path))
                      (asdf-call "COMPONENT-LOADED-P" component)
                      (multiple-value-bind (unchanged same-second) (seems-unchanged-p component)
                        (and unchanged (not same-second))))
             (keep-text path))))

(defun changed-paths (root)
  "Return a list of the paths of loaded files below ROOT, the native name of a directory, whose
texts have changed since they were loaded."
  (loop for path in (loaded-paths)
        for text = (and (starts-p path root) (known-text path))
        when (and text (other-text-p path text)) collect path))

(defun to-load-p (system)
  "Return true if ASDF has something to do to load SYSTEM, or cannot load it because another system
is missing."
  (multiple-value-bind (needed actions)
      (call-for-needed
       (lambda ()
         (asdf-call "PLAN-ACTIONS"
                    (asdf-call "MAKE-PLAN" nil (contrib-symbol "ASDF" "LOAD-OP") system))))
    (or needed actions)))
