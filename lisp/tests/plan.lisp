;;;; Plans a test run: which systems are tested, and which are loaded first, even if ASDF takes them
;;;; for unchanged.

(in-package "LIVE-LISP.TESTS")

(defun operation-p (operation name)
  "True when OPERATION, a symbol or an instance of ASDF's, is the operation with NAME, a string."
  (let ((class (contrib-symbol "ASDF" name)))
    (if (symbolp operation) (string= (symbol-name operation) name) (typep operation class))))

(defun system-of (component)
  "Return the system that COMPONENT, from a dependency in ASDF, is or names; else NIL."
  (if (typep component '(or string symbol))
      (ignore-errors (find-system component))
      (and (typep component (contrib-symbol "ASDF" "SYSTEM")) component)))

(defun test-operation ()
  "Return ASDF's TEST-OP."
  (asdf-call "MAKE-OPERATION" (contrib-symbol "ASDF" "TEST-OP")))

(defun systems-before (system)
  "Return a pair for each system that testing SYSTEM depends on by its definition: true if tested
too, and the system."
  (loop for (operation . components) in (asdf-call "COMPONENT-DEPENDS-ON" (test-operation) system)
        when (or (operation-p operation "TEST-OP") (operation-p operation "LOAD-OP"))
          append (loop for component in components
                       for other = (system-of component)
                       when (and other (not (eq other system)))
                         collect (cons (operation-p operation "TEST-OP") other))))

(defun tested-with (system)
  "Return SYSTEM and all systems that are loaded or tested when it is tested, dependencies first."
  (let ((seen '()) (order '()))
    (labels ((visit (system tested)
               (unless (member system seen)
                 (push system seen)
                 (when tested
                   (loop for (tests . other) in (systems-before system) do (visit other tests)))
                 (push system order))))
      (visit system t))
    (reverse order)))

(defun own-test-p (system)
  "True when the definition of SYSTEM itself says what testing SYSTEM does."
  (find-method (symbol-function (contrib-symbol "ASDF" "PERFORM")) '()
               (list (find-class (contrib-symbol "ASDF" "TEST-OP"))
                     (sb-mop:intern-eql-specializer system))
               nil))

(defun tests-something-p (system)
  "True when testing SYSTEM does anything, by its definition."
  (or (some #'car (systems-before system)) (own-test-p system)))

(defun component-name (system)
  "Return the name of SYSTEM."
  (asdf-call "COMPONENT-NAME" system))

;;; What ASDF takes for unchanged, because it compares whole seconds

(defun seems-unchanged-p (component)
  "True when the source of COMPONENT is no newer than its fasl, in seconds; and true when both are
of the same second."
  (let ((source (ignore-errors (file-write-date (asdf-call "COMPONENT-PATHNAME" component))))
        (fasl (compiled-date component)))
    (and source fasl (values (<= source fasl) (= source fasl)))))

(defun source-components (system &optional others)
  "Return pairs of each source file of SYSTEM, a component, and its native truename. With OTHERS
come those of the systems that it needs."
  (loop for component in (lisp-files system others)
        for path = (ignore-errors (sb-ext:native-namestring
                                   (truename (asdf-call "COMPONENT-PATHNAME" component))))
        when path collect (cons component path)))

(defun unnoticed-p (system)
  "True when the image or the fasls can lack a change of SYSTEM, and ASDF would not notice."
  (loop for (component . path) in (source-components system)
        for text = (known-text path)
          thereis (multiple-value-bind (unchanged same-second) (seems-unchanged-p component)
                    (if text
                        (and unchanged (other-text-p path text))
                        same-second))))

(defun keep-texts (system loads)
  "Keep the texts of the files of SYSTEM as loaded: all of them if LOADS is true, else those that
certainly are."
  (loop for (component . path) in (source-components system)
        unless (known-text path)
          do (when (or loads (equal '(t nil) (multiple-value-list (seems-unchanged-p component))))
               (keep-text path))))

(defun changed-paths (root)
  "Return the files below ROOT, the native name of a directory, whose text is not the one that was
loaded."
  (loop for path in (loaded-paths)
        for text = (and (eql 0 (search root path)) (known-text path))
        when (and text (other-text-p path text)) collect path))

(defun to-load-p (system)
  "True when ASDF has something to do to load SYSTEM, or cannot, since another system is missing."
  (let ((actions '()))
    (or (call-telling-needed
         (lambda ()
           (setf actions
                 (asdf-call "PLAN-ACTIONS"
                            (asdf-call "MAKE-PLAN" nil (contrib-symbol "ASDF" "LOAD-OP") system)))))
        actions)))

;;; Systems of the workspace

(defvar *unread* '()
  "MISSING-DATA of systems of the workspace whose definitions need systems that are missing.")

(defun read-system (name)
  "Have ASDF read the definition of the system NAME. If another system is missing for that, note it
in *UNREAD*."
  (ignore-errors
   (let ((needed (nth-value 1 (found-system name))))
     (when needed (push (missing-data (first needed) name (second needed)) *unread*)))))

(defun systems-below (root)
  "Return the systems that files below ROOT, the native name of a directory, define, sorted by
name."
  (let ((files (loop for file being the hash-values of (or (registry) (make-hash-table))
                     for path = (ignore-errors (sb-ext:native-namestring (truename file)))
                     when (and path (eql 0 (search root path))) collect path)))
    (dolist (file files)
      (read-system (pathname-name (sb-ext:parse-native-namestring file))))
    (loop for name in (sort (copy-list (asdf-call "REGISTERED-SYSTEMS")) #'string<)
          for system = (asdf-call "REGISTERED-SYSTEM" name)
          for file = (ignore-errors
                      (sb-ext:native-namestring (truename (asdf-call "SYSTEM-SOURCE-FILE" system))))
          when (member file files :test #'equal) collect system)))

(defun systems-to-test (root)
  "Return those systems below ROOT whose definitions say how they are tested, without those that
another of them tests."
  (let* ((below (or (systems-below root)
                    ;; The .asd files can have been written after ASDF looked.
                    (progn (asdf-call "INITIALIZE-SOURCE-REGISTRY")
                           (setf *unread* '())
                           (systems-below root))))
         (systems (remove-if-not #'tests-something-p below))
         (inner (loop for system in systems append (remove system (tested-with system)))))
    (set-difference systems inner)))

(defun plan-data (systems known)
  "Return the test plan of SYSTEMS as a JSON object: their names, and the systems to load first, by
force where needed. With KNOWN, only those that are loaded already."
  (object "systems" (mapcar #'component-name systems)
          "unread" (reverse *unread*)
          "loads" (loop for system in (remove-duplicates (mapcan #'tested-with systems) :from-end t)
                        for force = (unnoticed-p system)
                        for loads = (and (or (not known) (asdf-call "COMPONENT-LOADED-P" system))
                                         (or force (to-load-p system)))
                        do (keep-texts system loads)
                        when loads
                          collect (object "name" (component-name system) "force" force))))

(define-operation ("test-plan" :members t) (system root known)
  "Return which systems are loaded before SYSTEM is tested, or those below ROOT, the native name of
a directory. With KNOWN, only those that are loaded already."
  (call-as-job-part
   nil
   (lambda ()
     (sb-thread:with-mutex (**load-lock**)
       (load-asdf)
       (asdf-call "ENSURE-SOURCE-REGISTRY")
       (call-finding-all
        (lambda (&aux (*unread* '()))
          (multiple-value-bind (found needed) (and system (found-system system))
            (list "value"
                  (cond (found (plan-data (list found) known))
                        (needed (missing-data (first needed) (string-left-trim "#:" system)
                                              (second needed)))
                        (system (missing-data (string-downcase system) (string-downcase system)))
                        (t (plan-data (reverse (systems-to-test root)) known)))))))))))
