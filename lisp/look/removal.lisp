;;;; Finds those effects of the removal of a definition that cannot be found in source files:
;;;; methods for a class, functions of a typed structure, generic functions with a method
;;;; combination, and users of a package.

(in-package "LIVE-LISP.LOOK")

(defun specialized-methods (class)
  "Return a list of the methods that specialize on CLASS. Leave out the accessors of CLASS, since
they are removed with CLASS."
  (remove-if (lambda (method)
               (or (null (sb-mop:method-generic-function method))
                   (typep method 'sb-mop:standard-accessor-method)))
             (sb-mop:specializer-direct-methods class)))

(defun named-method-data (method)
  "Return a JSON object with the name of the generic function of METHOD, and the source location of
METHOD."
  (object "name" (name-text (sb-mop:generic-function-name (sb-mop:method-generic-function method)))
          "place" (method-data method)))

(defun typed-structure-names (symbol)
  "SYMBOL names a structure that is a vector or a list. Return a list of the names of the functions
that the DEFSTRUCT of this structure made."
  (remove-if-not #'fboundp (structure-functions (typed-structure symbol))))

(defun combination-p (symbol)
  "Return true if SYMBOL names a method combination of the program."
  (and (program-symbol-p symbol) (gethash symbol method-combinations) t))

(defun combined-functions (symbol)
  "Return a sorted list of the names of the generic functions with the method combination SYMBOL."
  (let ((names '()))
    (map-global-names
     (lambda (name)
       (let ((function (and (plain-name-p name)
                            (global-function-p name)
                            (plain-definition name))))
         (when (and (typep function 'standard-generic-function)
                    (eq symbol
                        (combination-name (sb-mop:generic-function-method-combination function))))
           (pushnew name names :test #'equal)))))
    (sort names #'name-before-p)))

(defun removal-members (symbol class)
  "Return a plist for a JSON object about the uses of CLASS, a class or NIL, and about SYMBOL as a
symbol macro, a typed structure or a method combination."
  (list "specialized" (and class (mapcar #'named-method-data
                                         (page (specialized-methods class) 0 2000)))
        "symbolMacro" (and (eq :macro (variable-kind symbol))
                           (plain-text 200 (macroexpand-1 symbol)))
        "typedStructure" (and (typed-structure symbol)
                              (mapcar #'name-text (typed-structure-names symbol)))
        "combination" (and (combination-p symbol) t)
        "combined" (and (combination-p symbol)
                        (mapcar #'name-text (page (combined-functions symbol) 0 2000)))))

;;; Systems and packages

(defun system-meant (text package-name)
  "Return the registered ASDF system that TEXT names, or NIL. Return NIL, too, if PACKAGE-NAME is
not NIL, or if TEXT names a symbol in the session's package."
  (and (null package-name)
       (null (symbol-read text (session-package)))
       (registered-system (string-trim "#:\" " text))))

(defun system-members (system)
  "Return a plist for a JSON object about the registered ASDF systems that depend on the ASDF system
SYSTEM."
  (let ((name (asdf-value "COMPONENT-NAME" system)))
    (flet ((user-text (other)
             (format nil "~A~:[ (not loaded)~;~]" other
                     (asdf-value "COMPONENT-LOADED-P" (registered-system other))))
           (uses-p (other)
             (member name (asdf-value "SYSTEM-DEPENDS-ON" (registered-system other))
                     :key (lambda (dependency) (string (or (needed-name dependency) "")))
                     :test #'string-equal)))
      (list "name" name
            "system" t
            "in" ""
            "usedBy" (mapcar #'user-text
                             (sort (remove-if-not #'uses-p (asdf-value "REGISTERED-SYSTEMS"))
                                   #'string<))))))

(defun package-meant (text package-name)
  "Return the package that TEXT names, or NIL. Return NIL, too, if TEXT names a symbol with a
definition in the package PACKAGE-NAME or, if that is NIL, in the session's package."
  (let* ((marked (and (plusp (length text)) (find (char text 0) "#:\"")))
         (name (string-trim "#:\" " text))
         (package (let ((*package* (session-package)))
                    (or (find-package name) (find-package (string-upcase name)))))
         (within (if package-name
                     (find-package (string-upcase (string-left-trim "#:" package-name)))
                     (session-package)))
         (symbol (and within (symbol-read text within))))
    (and package (or marked (null symbol) (not (names-something-p symbol))) package)))

(defun names-for (package)
  "Return a list of all names of PACKAGE: its name, its nicknames, and the local nicknames that
other packages have for it."
  (remove-duplicates
   (list* (package-name package)
          (append (package-nicknames package)
                  (from-packages (lambda (other)
                                   (loop for (nickname . actual)
                                           in (sb-ext:package-local-nicknames other)
                                         when (eq actual package) collect nickname)))))
   :test #'string= :from-end t))

(defun package-members (package index)
  "Return a plist for a JSON object about the users of PACKAGE: all names of PACKAGE, the packages
that use it, and the files that may name it. INDEX is the index of uses."
  (list "name" (package-name package)
        "package" t
        "in" (package-name package)
        "homes" (names-for package)
        "usedBy" (sort (mapcar #'package-name (package-used-by-list package)) #'string<)
        "symbolCount" (length (home-symbols package))
        "files" (files-of index)))
