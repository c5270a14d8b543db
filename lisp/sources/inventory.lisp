;;;; Lists the definitions in the packages of loaded files, so that the server can compare two
;;;; images after the same loads.

(in-package "LIVE-LISP.SOURCES")

(defun paths-below (folders)
  "Return a list of the paths of the files in FOLDERS whose load has ended normally. FOLDERS are
native truenames with a slash at the end."
  (loop for file being the hash-values of **files**
        for path = (source-file-path file)
        when (and (plusp (source-file-serial file))
                  (apply #'starts-p path folders))
          collect path))

(defun home-of (definition)
  "Return the home package of the name of DEFINITION. If DEFINITION defines a package, return
that package, and if it is an export, the package that exports the symbol. Return NIL if the package
belongs to SBCL."
  (let* ((symbol (name-symbol (definition-name definition)))
         (package (if (member (definition-kind definition) '(:export :package))
                      (definition-identity definition)
                      (and (symbolp symbol) (symbol-package symbol)))))
    (and package (package-name package) (not (core-package-p package)) package)))

(defun packages-used-by (paths)
  "Return a list of the home packages of the names that the loaded files PATHS define. Leave out
packages of SBCL."
  (let ((packages '()))
    (dolist (path paths packages)
      (map-file-definitions (lambda (definition)
                              (let ((home (home-of definition)))
                                (when home (pushnew home packages))))
                            (known-file path)))))

(defun methods-about (symbol)
  "Return a list of the methods of the generic functions SYMBOL and (SETF SYMBOL), and of the
methods that specialize on the class SYMBOL."
  (append (loop for name in (list symbol (list 'setf symbol))
                for function = (generic-function-named name)
                when function append (sb-mop:generic-function-methods function))
          (let ((class (find-class symbol nil)))
            (and class (sb-mop:specializer-direct-methods class)))))

(defun map-package-definitions (visit package)
  "Call the function VISIT for each definition of a symbol whose home package is PACKAGE, and for
each method that METHODS-ABOUT returns for such a symbol. The three arguments of VISIT are the kind
and the name of the definition, and an object such as a function. VISIT gets some methods several
times."
  (dolist (symbol (home-symbols package))
    (map-definitions visit symbol)
    (loop for method in (methods-about symbol)
          for name = (sb-mop:generic-function-name (sb-mop:method-generic-function method))
          ;; Skip other names: SBCL gives them to its own functions that access slots of classes.
          when (or (symbolp name) (eq (first name) 'setf)) do (funcall visit :method name method))))

(defun within-files-p (identity paths)
  "IDENTITY is the object that a definition made, such as a function or a method. Return true if the
definition is from one of the files PATHS, from no file, or from a file that is not on the disk
now."
  (let* ((name (if (typep identity 'generic-function)
                   (generic-function-file identity)
                   (identity-file identity)))
         (path (and name (file-path name))))
    (or (null path)
        (member path paths :test #'string=)
        (null (true-file (sb-ext:parse-native-namestring path))))))

(defun summary-text (value)
  "Return a text for VALUE that is the same in every image with an equal value. It is the printed
form of a literal or a short list of literals, the number of elements of another list, a vector or a
hash table, and the class of any other object. Run no code of the user."
  (flet ((literal-p (value) (typep value '(or number character string symbol)))
         (counted (what count) (format nil "a ~A of ~D" what count)))
    (let ((length (and (consp value) (proper-length value))))
      (cond ((or (literal-p value) (and length (<= length 20) (every #'literal-p value)))
             (local-text value :limit 200 :length 20 :package (find-package "COMMON-LISP")))
            (length (counted "list" length))
            ((vectorp value) (counted "vector" (length value)))
            ((hash-table-p value) (counted "hash table" (hash-table-count value)))
            (t (format nil "an instance of ~A" (plain-text 200 (class-name (class-of value)))))))))

(define-shape inventory ()
  "The definitions in an image that belong to a set of files, for a comparison with another image."
  (files (list string) :optional "The files, native truenames.")
  (packages (list string) :optional "The packages of the names that the files define.")
  (items (list item) :optional
   "The definitions in these packages that one of the files made, or that no file made.")
  (variables (list (object (name string) (value string))) :optional
   "The variables among these definitions, with texts about their values, for comparison."))

(defun inventory (paths packages)
  "Return a JSON object of the shape INVENTORY with the definitions in PACKAGES. PATHS is the list
of the loaded files. Leave out a definition from another file, unless this file no longer exists."
  (let ((items (make-hash-table :test 'equal)) (variables '()))
    (flet ((visit (kind name identity)
             (let ((definition (make-definition kind name identity 0)))
               (when (within-files-p identity paths)
                 (setf (gethash (list (kind-text kind name) (item-name definition)) items)
                       (item-data definition))
                 (when (eq kind :variable)
                   (push (object "name" (symbol-text name)
                                 "value" (if (boundp name)
                                             (summary-text (symbol-value name))
                                             "unbound"))
                         variables))))))
      (dolist (package packages) (map-package-definitions #'visit package)))
    (object "files" paths
            "packages" (mapcar #'package-name packages)
            "items" (loop for item being the hash-values of items collect item)
            "variables" variables)))

(define-operation ("inventory" :gives inventory)
    ((folders (list string) :optional
      "Native truenames of folders, with a slash at the end. The operation looks only at definitions
      of loaded files in these folders.")
     (files (list string) :optional
      "Native truenames of files. If given, the operation ignores FOLDERS and looks at these files,
      except those that are not loaded.")
     (packages (list string) :optional
      "With FILES: the names of the packages to look at. Names that no package has are ignored."))
  "FILES or FOLDERS select loaded files. Return the definitions in some packages, if they come from
these files or from no existing file. The packages are PACKAGES if FILES are given, otherwise the
home packages of the names that the selected files define."
  (sb-thread:with-mutex (**lock**)
    (if files
        (inventory (intersection files (paths-below '("/")) :test #'string=)
                   (remove nil (mapcar #'find-package packages)))
        (let ((paths (paths-below folders))) (inventory paths (packages-used-by paths))))))
