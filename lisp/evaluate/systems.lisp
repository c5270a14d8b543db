;;;; Finds ASDF systems, and the order in which they load files. ASDF is loaded when it is first
;;;; needed, so its functions are looked up by name here.

(in-package "LIVE-LISP.EVALUATE")

(defun asdf-call (name &rest arguments)
  "Call the function of ASDF named NAME, a string, with ARGUMENTS. Unlike ASDF-VALUE, which is
defined in look/systems.lisp, do not handle errors."
  (apply (contrib-function "ASDF" name) arguments))

(defun scan-systems (&key again)
  "Have ASDF search the directories of its source registry for systems, unless it has done so. If
AGAIN is true, it searches in any case."
  (call-skipping-undecodable
   (lambda ()
     (asdf-call (if again "INITIALIZE-SOURCE-REGISTRY" "ENSURE-SOURCE-REGISTRY")))))

(defun loaded-systems ()
  "Return a list of the names of the loaded systems. Return NIL if ASDF is not loaded."
  (and (contrib-function "ASDF" "ALREADY-LOADED-SYSTEMS") (asdf-call "ALREADY-LOADED-SYSTEMS")))

(defun registry ()
  "Return ASDF's hash table from system names to .asd files, or NIL if there is none."
  (let* ((symbol (contrib-symbol "ASDF" "*SOURCE-REGISTRY*"))
         (table (and symbol (symbol-value symbol))))
    (and (hash-table-p table) table)))

(defun known-systems ()
  "Return a sorted list of the names of at most 5000 systems that ASDF can find."
  (let ((registry (registry)))
    (and registry
         (page (sort (loop for name being the hash-keys of registry collect name) #'string<) 0
               5000))))

(defun asd-data (name)
  "Tell why ASDF does not find the system NAME: return a JSON object with the .asd file in which
ASDF looks for it, and the names of the systems that this file defines instead. Return NIL if there
is no such file, or if it does define NAME."
  (let* ((registry (registry)) (file (and registry (gethash (primary-name name) registry)))
         ;; The registry has the name of a symbolic link, and the system has the name of its target.
         (target (and file (true-file file)))
         (systems (loop for other in (and target (asdf-call "REGISTERED-SYSTEMS"))
                        for source = (asdf-value "SYSTEM-SOURCE-FILE"
                                                 (asdf-value "REGISTERED-SYSTEM" other))
                        when (and source (equal target (true-file source)))
                          collect other)))
    (and target
         (not (member name systems :test #'string=))
         (object "file" (sb-ext:native-namestring file)
                 "systems" (page (sort systems #'string<) 0 20)))))

;;; The files of systems

(defun lisp-files (system &key others)
  "Return a list of ASDF components, the Lisp files of SYSTEM, an ASDF system. If OTHERS is true,
include the files of the systems that SYSTEM needs."
  (let ((type (contrib-symbol "ASDF" "CL-SOURCE-FILE")))
    ;; With its argument :COMPONENT-TYPE, REQUIRED-COMPONENTS would not look into modules.
    (remove-if-not (lambda (component) (typep component type))
                   (asdf-value "REQUIRED-COMPONENTS" system :other-systems others))))

(defun needed-systems (system)
  "Return a list of the ASDF systems that SYSTEM needs, in the order in which ASDF loads them."
  (remove-if-not (lambda (component) (and (typep component (contrib-symbol "ASDF" "SYSTEM"))
                                          (not (eq component system))))
                 (asdf-value "REQUIRED-COMPONENTS" system :other-systems t)))

(defun compile-operation ()
  "Return an instance of ASDF's COMPILE-OP."
  (asdf-call "MAKE-OPERATION" (contrib-symbol "ASDF" "COMPILE-OP")))

(defun gone-files (system)
  "Return a list of the native names of those source files of SYSTEM that no longer exist. ASDF does
not treat a missing file as a change of a loaded system."
  (loop for component in (lisp-files system)
        append (loop for file in (asdf-value "INPUT-FILES" (compile-operation) component)
                     when (nil-if-unreadable (not (probe-file file)))
                       collect (translated (namestring file)))))

(defun compiled-date (component)
  "Return the write date of the fasl of COMPONENT, an ASDF component for a Lisp file, or NIL if
there is no fasl."
  (date-of (first (asdf-value "OUTPUT-FILES" (compile-operation) component))))

(defun wait-past-fasls (system)
  "Wait, for about a second at most, until a new file gets a later write date than the fasls of
SYSTEM and of the systems that it needs. ASDF compares whole seconds, and considers a fasl current
if the source has the same second."
  (let ((dates (remove nil (mapcar #'compiled-date (lisp-files system :others t)))))
    (when dates
      (loop with last = (reduce #'max dates)
            repeat 24
            while (= last (get-universal-time)) do (sleep 0.05)))))

(defun seems-unchanged-p (component)
  "Return true if the source file of COMPONENT, an ASDF component, is not newer than its fasl. The
second value is true if both dates, in whole seconds, are the same: the source may then still be
newer."
  (let ((source (date-of (asdf-value "COMPONENT-PATHNAME" component)))
        (fasl (compiled-date component)))
    (and source fasl (values (<= source fasl) (= source fasl)))))

(defun source-components (system &key others)
  "Return an alist from ASDF components, the source files of SYSTEM, to their native truenames. If
OTHERS is true, include the files of the systems that SYSTEM needs."
  (loop for component in (lisp-files system :others others)
        for path = (native-truename (asdf-value "COMPONENT-PATHNAME" component))
        when path collect (cons component path)))

(defun doubtful-system-p (system)
  "Return true if ASDF may load SYSTEM from a fasl that is older than the source: a source file of
SYSTEM has the same date as its fasl, and the backend does not know which text of this file is
loaded."
  (loop for (component . path) in (source-components system)
          thereis (and (null (known-text path)) (nth-value 1 (seems-unchanged-p component)))))

(defun doubtful-systems (systems)
  "Return a list of the names of the systems in SYSTEMS, a list of ASDF systems, that satisfy
DOUBTFUL-SYSTEM-P."
  (mapcar (lambda (system) (asdf-call "COMPONENT-NAME" system))
          (remove-if-not #'doubtful-system-p systems)))

;;; Systems in files of another name: ASDF finds a system only in an .asd file of its own name.

(defun defines-system-p (text name)
  "Return true if TEXT, the text of an .asd file, contains a DEFSYSTEM form for the system NAME."
  (flet ((name-at (start)
           (let* ((begin (position-if-not (lambda (char)
                                            (find char
                                                  '(#\Space #\Tab #\Newline #\Return #\" #\# #\:
                                                    #\')))
                                          text :start start))
                  (end (and begin (+ begin (length name)))))
             (and begin
                  (< end (length text))
                  (string-equal name text :start2 begin :end2 end)
                  (find (char text end) '(#\" #\Space #\Tab #\Newline #\Return #\( #\)))))))
    (loop for found = (search "defsystem" text :test #'char-equal)
            then (search "defsystem" text :test #'char-equal :start2 (1+ found))
          while found
            thereis (name-at (+ found (length "defsystem"))))))

(defvar *passed-over* :unasked
  "A list of the .asd files that ASDF ignores because it uses others with the same names. :UNASKED
before the search for them.")

(defun map-asd-files (visit)
  "Call the function VISIT with each .asd file in the directories of ASDF's source registry. ASDF
scans these directories."
  (call-skipping-undecodable
   (lambda ()
     (loop for (directory . options) in (asdf-call "FLATTEN-SOURCE-REGISTRY")
           do (apply #'asdf-call "REGISTER-ASD-DIRECTORY" directory :collect visit options)))))

(defun passed-over-files ()
  "Return a list of the .asd files that ASDF ignores because it uses others with the same names.
Search for them only once in a load."
  (when (eq *passed-over* :unasked)
    (setf *passed-over* '())
    (map-asd-files (lambda (file)
                     (unless (equal file (gethash (pathname-name file) (registry)))
                       (push file *passed-over*)))))
  *passed-over*)

(defun defining-file (name)
  "An ASDF search function. Return an .asd file that defines the system NAME but has another name,
or NIL. Also return NIL if NAME is registered: ASDF would read the file again, and forget which
files of NAME are loaded."
  (let ((registry (registry)))
    (flet ((defining-p (file)
             (let ((text (read-text file))) (and text (defines-system-p text name)))))
      (when (and registry (plusp (length name)) (not (asdf-call "REGISTERED-SYSTEM" name)))
        (or (loop for file being the hash-values of registry when (defining-p file) return file)
            (find-if #'defining-p (passed-over-files)))))))

(defun primary-system (name)
  "An ASDF search function. If a registered system such as NAME/TESTS has the primary system NAME,
and no system NAME is registered, return a new system NAME without files, because newer versions of
ASDF make NAME/TESTS depend on NAME. Otherwise return NIL."
  (let ((other (and (null (asdf-call "REGISTERED-SYSTEM" name))
                    (find name (mapcar (lambda (each) (asdf-call "REGISTERED-SYSTEM" each))
                                       (asdf-call "REGISTERED-SYSTEMS"))
                          :key (lambda (system) (asdf-call "PRIMARY-SYSTEM-NAME" system))
                          :test #'equal))))
    (and other
         (make-instance (contrib-symbol "ASDF" "SYSTEM")
                        :name name :source-file (asdf-call "SYSTEM-SOURCE-FILE" other)))))

(defun call-finding-named (function)
  "Call FUNCTION. Meanwhile ASDF also finds a system whose .asd file has another name than the
system (DEFINING-FILE, PRIMARY-SYSTEM). Keep the search functions that FUNCTION adds to ASDF."
  (let ((searches (contrib-symbol "ASDF" "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*")))
    (if searches
        (let ((*passed-over* :unasked) (kept (symbol-value searches)))
          (unwind-protect
               (progv (list searches)
                   (list (append (list #'primary-system) kept (list #'defining-file)))
                 (unwind-protect (funcall function)
                   (setf kept (remove #'primary-system
                                      (remove #'defining-file (symbol-value searches))))))
            ;; Here PROGV has restored the old list.
            (setf (symbol-value searches) kept)))
        (funcall function))))

(defun call-finding-all (function)
  "Call FUNCTION, and return its values. Meanwhile ASDF also finds the systems of the workspace, and
systems whose .asd files have other names. This works even if ASDF was not loaded before the running
request."
  (call-finding-trees (lambda () (call-finding-named function))))

(sb-ext:defglobal **asd-files** nil
  "A hash table from file names to lists of the .asd files with these names in ASDF's source
registry. NIL before they were scanned.")
(sb-ext:defglobal **reported-twins** '()
  "A list of the names of the systems that TWINS-DATA has reported.")

(defun asd-files (name)
  "Return a list of the .asd files named NAME in the directories of ASDF's source registry. Scan
these only once. Call no search functions of ASDF, because some of them install systems."
  (unless **asd-files**
    (let ((files (make-hash-table :test 'equal)))
      (map-asd-files (lambda (file) (push file (gethash (pathname-name file) files))))
      (setf **asd-files** files)))
  (gethash name **asd-files**))

(defun twin-file (name)
  "Return two truenames of .asd files for the system NAME: one that ASDF does not use, and the one
that it uses. Return NIL if there is only one, or if the used one is not below the current folder."
  (let* ((system (asdf-call "REGISTERED-SYSTEM" name))
         (file (and system (asdf-call "SYSTEM-SOURCE-FILE" system)))
         (own (and file (string-equal name (pathname-name file)) (true-file file)))
         (folder (and own (true-file *default-pathname-defaults*))))
    (when (and folder (starts-p (namestring own) (namestring folder)))
      (loop for other in (asd-files name)
            for place = (true-file other)
            when (and place (not (equal place own)))
              return (values place own)))))

(define-shape twin ()
  "A system of which ASDF can find two definitions. Each such system is reported once."
  (name string)
  (file string "The .asd file from which the system was loaded.")
  (other string "Another .asd file that defines a system of this name."))

(defun twins-data (names)
  "Return a list of JSON objects for the systems named in NAMES that ASDF could also load from
another .asd file. NAMES lists systems that were just loaded. Skip a system from outside the current
folder, and one that was reported before."
  (call-user-code
   (lambda ()
     (loop for name in names
           for (other own) = (and (not (member name **reported-twins** :test #'string=))
                                  (multiple-value-list (twin-file name)))
           when other
             do (push name **reported-twins**)
             and collect (object "name" name
                                 "file" (sb-ext:native-namestring own)
                                 "other" (sb-ext:native-namestring other))))))

(defun names-meant (name)
  "Return a list of the system names that a user who writes NAME may mean, the likeliest first
and without duplicates: NAME if it is known, then known systems that differ from NAME only in letter
case, then NAME even if it is unknown, then NAME in lower case."
  (let ((alike (remove-if-not (lambda (known) (string-equal name known))
                              (append (asdf-call "REGISTERED-SYSTEMS") (known-systems)))))
    (remove-duplicates (append (and (member name alike :test #'string=) (list name))
                               alike
                               (list name (string-downcase name)))
                       :test #'string= :from-end t)))

(defun find-system (name)
  "Return the ASDF system that NAME means, a string with or without #: or : in front, or NIL. If it
is not found, let ASDF scan its directories, and then load the library manager."
  (let ((name (string-left-trim "#:" name)))
    (flet ((look ()
             (loop for each in (names-meant name) thereis (asdf-call "FIND-SYSTEM" each nil))))
      (or (look)
          (progn (scan-systems :again t)
                 (setf *passed-over* :unasked)
                 (look))
          (and (load-library-manager) (look))))))

;;; The library manager: Quicklisp, qlot or ocicl

(define-operation ("use-libraries" :server-only t :inline t :gives boolean)
    ((name string :optional "The name of the library manager; none by default.")
     (file string :optional "The file that sets it up.")
     (init-file string :optional
      "The name of the user's init file, if that was not loaded and can add systems."))
  "Set the library manager. Its file is loaded when systems or packages of the manager are first
needed."
  (setf **library-manager** (and name (list name file))
        **library-manager-due** (and name t)
        **init-file** init-file)
  t)

(defun installing-form (system missing)
  "Return the text of a form with which Quicklisp loads SYSTEM, a name, and installs MISSING, the
name of a system that it needs. Return NIL if Quicklisp is not loaded or does not have MISSING."
  (let ((find (contrib-function "QL-DIST" "FIND-SYSTEM")))
    (when (and find (nil-if-program-fails (funcall find missing)))
      (format nil "(ql:quickload ~S)" system))))

;;; The order in which files are loaded

(defun parent-p (component)
  "Return true if COMPONENT, an ASDF component, contains other components."
  (let ((parent (contrib-symbol "ASDF" "PARENT-COMPONENT")))
    (and parent (typep component parent))))

(defun true-names (files)
  "Return a list of the native truenames of FILES, a list of native names. For a file that does not
exist, the list contains its name from FILES."
  (loop for file in files
        collect (or (native-truename (sb-ext:parse-native-namestring file)) file)))

(defun planned-files (files)
  "FILES is a list of native truenames. Return a list, in load order, of the native truenames of the
files of some systems: of each registered system that contains one of FILES, and of the systems that
it needs. Do not leave out systems that seem not to be loaded: when an .asd file has changed, ASDF
forgets that its system is loaded."
  (loop for name in (and (contrib-function "ASDF" "REGISTERED-SYSTEM")
                         (asdf-call "REGISTERED-SYSTEMS"))
        for system = (asdf-call "REGISTERED-SYSTEM" name)
        when (intersection files (true-names (component-files system))
                           :test #'string=)
          append (true-names (loop for component in (asdf-value "REQUIRED-COMPONENTS" system
                                                                :other-systems t)
                                   unless (parent-p component)
                                     append (component-files component)))))

(defun in-load-order (files)
  "Return a list, without duplicates, of the native truenames of FILES, a list of native names, in
load order: a file comes after those that it needs. Files of no system come last."
  (let* ((files (remove-duplicates (true-names files) :test #'string= :from-end t))
         (plan (planned-files files)))
    (stable-sort files #'<
                 :key (lambda (file) (or (position file plan :test #'string=) (length plan))))))

(define-operation ("load-order" :gives (list string))
    ((files (list string) "Native names of files."))
  "Return FILES in the order in which their systems load them, followed by files that belong to no
system."
  (in-load-order files))
