;;;; Defines the operation impact, which returns what a change of a definition affects, such as
;;;; methods, callers and tests. Other files compute parts of the answer: about classes
;;;; (class-impact.lisp), about functions that the definition is compiled into (compiled-in.lisp),
;;;; and about what breaks when the definition is removed (removal.lisp).

(in-package "LIVE-LISP.LOOK")

(define-shape impact-data ()
  "What a change of a definition affects, besides its callers."
  (name string) (natures (list string) :optional)
  (slot-of (list string) :optional
   "Names of the first classes that have a direct slot of this name; sent when no function or class
   has this name.")
  (kind string :optional "Kind of the function; absent when the name is no function.")
  (type boolean :optional "True when the name names a type but no class.")
  (place boolean :optional "True when (setf NAME) is defined, by a function or a setf expander.")
  (in string "The package in which the name was looked up.")
  (homes (list string) :optional "All names of the packages in which the symbol is accessible.")
  (naming (list place) :optional
   "Functions whose code calls the definition, also by inlined code. The `description` of each is
   its name.")
  (finding (list place) :optional
   "Functions in the packages `homes` that look up symbols by name. The `description` of each is
   its name.")
  (finding-count integer :optional "Number of all functions that `finding` could list.")
  (finding-unrecorded boolean :optional
   "True when this SBCL does not record who calls INTERN and the like.")
  (files (list string) :optional "Source files of the loaded code.")
  (holders (list string) :optional
   "Functions into which SBCL has compiled the definition: an expansion, the code of an inline
   function, or the value of a constant.")
  (perhaps-holders (list string) :optional
   "Functions that call the definition, and may also have it compiled in.")
  (expanders (list string) :optional
   "Macros, and names with compiler macros, that call the function when they expand.")
  (expanded (list string) :optional
   "Functions into which SBCL has compiled expansions that `expanders` made.")
  (inline boolean :optional) (compiler-macro boolean :optional) (arglist string :optional)
  (accepted string :optional
   "The lambda list that all methods of the generic function accept together, when it differs from
   `arglist`.")
  (method-count integer :optional)
  (methods (list (object (place place) (arglist string))) :optional)
  (test-systems integer :optional
   "How many of the systems that ASDF knows contain the tests of other systems.")
  (tests-more integer :optional
   "How many callers were followed in the search for tests, if there are more.")
  (test-count integer :optional) (tests (list place) :optional)
  (test-files (list string) :optional
   "Files of the systems that contain tests; of a function, only when no test is known to reach
   it.")
  (class string :optional "Kind of the class that has the name.")
  (slots (list string) :optional)
  (include string :optional "Name of the structure that the structure includes (:INCLUDE).")
  (structure-users (list string) :optional
   "Functions that call a function which DEFSTRUCT made for the structure, such as an accessor.")
  (superclasses (list string) :optional
   "Direct superclasses of the class as PACKAGE::NAME, without the default superclass.")
  (superclasses-gone (list string) :optional
   "Classes that would no longer be superclasses, direct or not, with the requested direct
   superclasses.")
  (superclasses-come (list string) :optional
   "The requested superclasses that are no superclasses yet.")
  (superclasses-unknown (list string) :optional
   "The requested superclasses that are no classes in the image. With any of these, it is not known
   which superclasses would be gone.")
  (inherited-slots (list string) :optional "The slots that the class would no longer inherit.")
  (accessors (list class-function) :optional) (initargs (list class-initargs) :optional)
  (subclass-count integer :optional) (subclasses (list place) :optional)
  (instances integer :optional "Absent when the instances were not counted.")
  (specialized (list (object (name string) (place place))) :optional
   "Methods that specialize on the class, except its accessors, each with the name of its generic
   function. This member and those that follow are sent only for a removal.")
  (symbol-macro string :optional "What the symbol macro expands into, if the name is one.")
  (typed-structure (list string) :optional
   "The functions that DEFSTRUCT made, if the name is that of a structure that is a vector or a
   list.")
  (combination boolean :optional "True when the name is that of a method combination.")
  (combined (list string) :optional "Generic functions with that method combination.")
  (package boolean :optional
   "True when the name is that of a package. `homes` are then all its names and nicknames.")
  (system boolean :optional "True when the name is that of a system.")
  (used-by (list string) :optional
   "Packages that use the package, or registered systems that depend on the system.")
  (symbol-count integer :optional "How many symbols are at home in the package."))

(define-operation ("impact" :gives (or impact-data lookup-failure))
    (name package limit
     (redefined boolean :optional "True if a class gets a new definition.")
     (superclasses (list string) :optional "The direct superclasses in the new definition.")
     (removed boolean :optional
      "True if the definition goes away. Then `name` can also be that of a package or system."))
  "Return what a change of a function, macro or class affects besides its callers, at most LIMIT of
each kind."
  (let* ((named-package (and removed (package-meant name package)))
         (system (and removed (null named-package) (system-meant name package))))
    (cond
      (system (make-json-object (system-members system)))
      (named-package
       (with-index (index)
         (make-json-object (list* "testFiles" (test-file-names)
                                  (package-members named-package index)))))
      (t
       (multiple-value-bind (target symbol setf in) (named-target name package)
         (let ((class (and (not setf) (find-class symbol nil))))
           (with-index (index)
             (make-json-object
              (append (name-members index target symbol setf)
                      (list "in" (package-name in))
                      (and (function-kind target) (function-members index target symbol limit))
                      (compiled-in-members index target)
                      (and class
                           (changed-class-members index class limit
                                                  (if redefined superclasses :same) in))
                      (and removed (not setf) (removal-members symbol class))
                      (and removed
                           (not (function-kind target))
                           (list* "testFiles" (test-file-names)
                                  (finding-members index symbol limit))))))))))))

(defun name-members (index target symbol setf)
  "Return a plist for a JSON object about the definitions of the name TARGET, which is (SETF SYMBOL)
if SETF is true, else SYMBOL. INDEX is the index of uses."
  (let* ((kind (function-kind target)) (class (and (not setf) (find-class symbol nil)))
         (methods (and (equal kind "GENERIC-FUNCTION")
                       (sb-mop:generic-function-methods (plain-definition target)))))
    (list "name" (name-text target)
          "natures" (if setf '() (exact-natures symbol))
          "kind" kind
          "type" (and (not setf) (null class) (type-name-p symbol) t)
          "place" (and (not setf) (function-kind (list 'setf symbol)) t)
          "slotOf" (and (not setf) (null kind) (null class) (page (classes-with-slot symbol) 0 5))
          "homes" (packages-with symbol)
          "files" (files-of index)
          "inline" (and (eq (known :function :inlinep target) 'inline) t)
          "compilerMacro" (and (compiler-macro-function target) t)
          "methodCount" (and methods (length methods))
          "methods" (loop for method in (page methods 0 2000)
                          collect (object "place" (method-data method)
                                          "arglist" (arglist-text
                                                     (sb-mop:method-lambda-list method)))))))

(defun classes-with-slot (symbol)
  "Return a sorted list of the names, as texts, of the classes with a direct slot SYMBOL."
  (sort (loop for class in (classes-below (find-class t))
              ;; The program can define a method of this reader for a metaclass, and the method can
              ;; fail.
              when (find symbol (nil-if-program-fails (sb-mop:class-direct-slots class))
                         :key #'sb-mop:slot-definition-name)
                collect (class-text class))
        #'string<))

(defun changed-class-members (index class limit superclasses in)
  "Return a plist for a JSON object about a change of CLASS, with LIMIT of its subclasses. INDEX is
the index of uses. SUPERCLASSES lists the names of the direct superclasses of CLASS after the
change, as texts that are read in the package IN, or is :SAME."
  (append (and (structure-description class)
               (list "structureUsers" (page (structure-users index class) 0 2000)))
          (and (not (forward-referenced-p class))
               (if (eq superclasses :same)
                   (class-members class limit (sb-mop:class-direct-superclasses class) '())
                   (multiple-value-bind (classes unknown) (read-classes superclasses in)
                     (class-members class limit (or classes (list (default-superclass class)))
                                    unknown))))))

(defun structure-users (index class)
  "Return a sorted list of the names, as texts, of the functions in INDEX that call a function made
by DEFSTRUCT for CLASS or for a structure class that includes CLASS."
  (let ((names (mapcan #'structure-function-names
                       (remove-if-not #'structure-description (cons class (classes-below class)))))
        (found '()))
    (dolist (name names)
      (map-uses (lambda (user kind)
                  (when (and (member kind *call-kinds*)
                             (name-of user)
                             (not (member (name-of user) names :test #'equal))
                             (reached-p user))
                    (pushnew user found :key #'name-of :test #'equal)))
                index name))
    (mapcar #'shown-name (sort found #'user-before-p))))

;;; A function

(defun function-members (index target symbol limit)
  "Return a plist for a JSON object about the function TARGET. TARGET is the symbol SYMBOL or a list
(SETF SYMBOL). The object has at most LIMIT tests, and at most LIMIT functions that look up symbols
by name, and so may call TARGET (see FINDING-MEMBERS). INDEX is the index of uses."
  (append (name-arglist-members target)
          (list "naming" (naming-data index target 2000))
          (finding-members index symbol limit)
          (test-data index target limit)))

(defun naming-data (index target limit)
  "Return a list of JSON objects with the names and source locations of at most LIMIT functions in
INDEX whose code calls the function TARGET. Include functions that call TARGET from inlined code,
although SBCL records no cross reference for such calls. Leave out functions from no file or from a
file of SBCL."
  (let ((found '()))
    (map-uses (lambda (user kind)
                (when (and (member kind *call-kinds*) (name-of user) (reached-p user)
                           (code-file (user-code user))
                           (not (sbcl-file-p (code-file (user-code user)))))
                  (push user found)))
              index target)
    (users-data found limit)))

(defun finding-members (index symbol limit)
  "Return a plist for a JSON object about the functions in INDEX that look up symbols by name, and
so may call the function SYMBOL of the program: the number of these functions, and the first LIMIT
of them. Leave out a function whose name is in a package in which SYMBOL is not accessible."
  (when (program-symbol-p symbol)
    (let ((users (functions-finding-names index (packages-with symbol))))
      (list "finding" (users-data users limit)
            "findingCount" (length users)
            "findingUnrecorded" (not (xrefs-kept-p 'intern))))))

(defun users-data (users limit)
  "Return a list of JSON objects with the name and source location of the first LIMIT of USERS, a
list of USER structures."
  (loop for user in users
        repeat limit
        for place = (function-place (user-function user))
        collect (make-json-object
                 (list* "description" (shown-name user)
                        (and place
                             (code-place-members place (date-of (code-place-file place))))))))

;;; Tests. A test is a top-level form in a file of a system that tests another system.

(defun test-data (index target limit)
  "Return a plist for a JSON object about the tests that use the function name TARGET, directly or
through other functions: their number, and LIMIT of them. A test is a top-level form in a file of
one of the TEST-SYSTEMS. INDEX is the index of uses."
  (multiple-value-bind (files systems) (test-files)
    (multiple-value-bind (users more) (if (plusp systems) (reaching index target) '())
      (let ((tests (tests-among users files)))
        (list "testSystems" systems
              "testsMore" (and more *most-reaching*)
              "tests" (loop for place in (page tests 0 limit)
                            for file = (code-place-file place)
                            collect (make-json-object
                                     (list* "file" file
                                            "form" (code-place-form place)
                                            (version-members file (code-place-created place)
                                                             (date-of file)))))
              "testCount" (length tests)
              "testFiles" (and (null tests) (test-file-names)))))))

(defun tests-among (users files)
  "USERS is a list of USER and TOP-FORM structures. FILES is a hash table whose keys are names of
files. Return a sorted list of CODE-PLACE structures for the top-level forms in these files that
contain one of USERS."
  (let ((places (loop for user in users
                      for place = (use-place user)
                      when (and place
                                (code-place-form place)
                                (gethash (code-place-file place) files))
                        collect place)))
    (flet ((identity-of (place)
             (list (code-place-file place) (code-place-form place) (code-place-created place))))
      (sort (remove-duplicates places :key #'identity-of :test #'equal) #'place-before-p))))

(defun use-place (user)
  "Return a CODE-PLACE structure for the place of the code that USER, a USER or TOP-FORM structure,
stands for. Return NIL if this code is from no file."
  (if (top-form-p user)
      (let ((source (top-form-source user)))
        (make-code-place (values (native-file (file-load-name source))) (top-form-number user)
                         (file-load-read source)))
      (function-place (user-function user))))

(defun place-before-p (one other)
  "Return true if the CODE-PLACE structure ONE precedes OTHER, by file, then by form number."
  (if (string= (code-place-file one) (code-place-file other))
      (< (code-place-form one) (code-place-form other))
      (string< (code-place-file one) (code-place-file other))))

(defun test-files ()
  "Return two values: a hash table with the native names of the files of all test systems (see
TEST-SYSTEMS) as keys, and the number of these systems."
  (let ((systems (test-systems)) (files (make-hash-table :test 'equal)))
    (dolist (system systems)
      (dolist (file (component-files system)) (setf (gethash file files) t)))
    (values files (length systems))))

(defun test-file-names ()
  "Return a list of the native names of at most 500 files of the TEST-SYSTEMS."
  (page (loop for file being the hash-keys of (test-files) collect file) 0 500))

(defun test-systems ()
  "Return a list of the ASDF systems that contain tests of other systems. A system counts if another
system lists it for its TEST-OP, or if PERFORMS-TEST-P is true of it."
  (let* ((systems (remove nil (mapcar (lambda (name) (asdf-value "REGISTERED-SYSTEM" name))
                                      (asdf-value "REGISTERED-SYSTEMS"))))
         (named (loop for system in systems
                      append (remove (asdf-value "COMPONENT-NAME" system) (tested-by system)
                                     :test #'equal))))
    (remove-if-not (lambda (system)
                     (or (member (asdf-value "COMPONENT-NAME" system) named :test #'equal)
                         (performs-test-p system)))
                   systems)))

(defun tested-by (system)
  "Return a list of strings: the systems that the ASDF system SYSTEM lists for its TEST-OP."
  (let ((operation (contrib-symbol "ASDF" "TEST-OP")) (names '()))
    (dolist (entry (asdf-value "COMPONENT-IN-ORDER-TO" system) names)
      (when (eq (if (consp entry) (first entry) entry) operation)
        (dolist (dependency (rest entry))
          (dolist (name (if (consp dependency) (rest dependency) '()))
            (when (typep name '(or string symbol))
              (push (string-downcase (string name)) names))))))))

(defun performs-test-p (system)
  "Return true if the ASDF system SYSTEM seems to contain the tests of another system: SYSTEM has a
PERFORM method for TEST-OP, and depends on a system whose .asd file is in the folder of SYSTEM or in
an enclosing folder."
  (let ((perform (contrib-function "ASDF" "PERFORM")) (operation (contrib-symbol "ASDF" "TEST-OP")))
    (and perform operation (find-class operation nil)
         (some (lambda (method)
                 (destructuring-bind (on &optional of) (sb-mop:method-specializers method)
                   (and (eq on (find-class operation))
                        (typep of 'sb-mop:eql-specializer)
                        (eq system (sb-mop:eql-specializer-object of)))))
               (sb-mop:generic-function-methods (plain-definition perform)))
         (some (lambda (name) (defined-around-p system name))
               (asdf-value "SYSTEM-DEPENDS-ON" system)))))

(defun defined-around-p (system name)
  "SYSTEM is an ASDF system. Return true if NAME names another ASDF system, whose .asd file is in
the folder of SYSTEM's .asd file or in an enclosing folder."
  (flet ((folder (system)
           (let ((file (asdf-value "SYSTEM-SOURCE-FILE" system)))
             (and file (pathname-directory file)))))
    (let* ((other (and (typep name '(or string symbol))
                       (asdf-value "REGISTERED-SYSTEM" (string-downcase (string name)))))
           (inner (folder system)) (outer (and other (folder other))))
      (and inner
           outer
           (not (eq other system))
           ;; OUTER is equal to INNER, or INNER begins with it.
           (eql (length outer) (or (mismatch outer inner :test #'equal) (length outer)))))))
