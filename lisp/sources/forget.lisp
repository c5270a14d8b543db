;;;; Removes definitions from the image that their file no longer makes.

(in-package "LIVE-LISP.SOURCES")

(defun forget-info (symbol kinds)
  "Remove SBCL's global information about SYMBOL of the given KINDS. KINDS is a list of
lists (CATEGORY KIND...). A list without kinds means all kinds in this category."
  (loop for (category . names) in kinds
        do (loop for kind across known-kinds
                 when (and kind (eq category (kind-category kind))
                           (or (null names) (member (kind-name kind) names)))
                   do (forget-values symbol (list (kind-number kind))))))

(defun forget-class (symbol)
  "Remove the class or structure SYMBOL from the image."
  (when (find-class symbol nil) (setf (find-class symbol) nil))
  (forget-info symbol '((:typed-structure) (:source-location :typed-structure))))

(defun own-package (definition)
  "Return the package to make current while DEFINITION is removed: the one that it belongs to. SBCL
does not enforce the lock of the current package."
  (let ((symbol (name-symbol (definition-name definition)))
        (identity (definition-identity definition)))
    (or (cond ((packagep identity) (and (package-name identity) identity))
              ((symbolp symbol) (symbol-package symbol)))
        *package*)))

(defun forget-definition (definition)
  "Remove DEFINITION, a DEFINITION structure, from the image: for example, make its function
unbound."
  (let ((name (definition-name definition)) (identity (definition-identity definition))
        (*package* (own-package definition)))
    (ecase (definition-kind definition)
      ((:function :macro) (fmakunbound name))
      (:compiler-macro (setf (compiler-macro-function name) nil))
      (:method (remove-method (sb-mop:method-generic-function identity) identity))
      ((:class :typed-structure) (forget-class name))
      (:type
       (forget-info name '((:type :kind :expander :source-location :lambda-list :documentation))))
      (:setf-expander (forget-info name '((:setf :expander))))
      (:method-combination (remhash name method-combinations))
      ((:variable :constant :symbol-macro)
       (forget-info name '((:variable) (:source-location :variable :constant :symbol-macro)))
       (makunbound name))
      ((:declaration :alien-type)
       (let ((kind (definition-kind definition)))
         (forget-info name (list (list kind) (list :source-location kind)))))
      (:export (unexport name identity))
      (:package (delete-package identity)))
    (forget-types)))

;;; Definitions that answers have listed

(sb-ext:defglobal **listed** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table with DEFINITION structures as keys. Answers have listed these as no longer in
their files.")

(defun note-listed (definition)
  "Record that an answer has listed DEFINITION as no longer in its file."
  (setf (gethash definition **listed**) t))

(defun listed-p (definition)
  "Return true if an answer has listed DEFINITION as no longer in its file."
  (values (gethash definition **listed**)))

(define-operation ("nothing-listed" :inline t) ()
  "Forget which definitions answers have listed. The server calls this after it has built a lost
image again: loads in the new image have listed definitions, but no user has seen these lists."
  (clrhash **listed**)
  nil)

;;; Users of a definition that prevent its removal

(defun method-on-p (method class)
  "Return true if CLASS is one of the specializers of METHOD."
  (member class (sb-mop:method-specializers method) :test #'eq))

(defun class-dependents (class old)
  "Return a list of texts for the subclasses and methods that need CLASS. Leave out those in OLD, a
list of definitions that are to be removed too."
  (append (loop for sub in (sb-mop:class-direct-subclasses class)
                unless (or (not (eq sub (find-class (class-name sub) nil)))
                           (find-if (lambda (definition)
                                      (and (eq (definition-kind definition) :class)
                                           (eq (definition-name definition) (class-name sub))))
                                    old))
                  collect (format nil "class ~A" (class-text sub)))
          (loop for method in (sb-mop:specializer-direct-methods class)
                for function = (sb-mop:method-generic-function method)
                for name = (and function (sb-mop:generic-function-name function))
                when (and function
                          (method-on-p method class)
                          (attached-p method)
                          (not (sb-ext:package-locked-p
                                (or (symbol-package (name-symbol name))
                                    (find-package "COMMON-LISP-USER"))))
                          (not (find method old :key #'definition-identity :test #'eq)))
                  collect (format nil "method ~A" (method-name-text name method)))))

(defun package-dependents (package)
  "Return a list of texts for the users of PACKAGE: packages that use it, and at most 3 symbols at
home in it that have definitions."
  (append (loop for user in (package-used-by-list package)
                collect (format nil "package ~A" (package-name user)))
          (let ((named '()))
            (do-symbols (symbol package (page (nreverse named) 0 3))
              (when (and (eq (symbol-package symbol) package)
                         (progn (map-definitions (lambda (&rest definition)
                                                   (declare (ignore definition))
                                                   (push (symbol-text symbol) named))
                                                 symbol)
                                (> (length named) 3)))
                (return (page named 0 3)))))))

(defun dependents (definition old)
  "If DEFINITION is of a class or a package, return a list of texts for the definitions that still
need it. OLD lists definitions that are to be removed too and do not count."
  (case (definition-kind definition)
    (:class (let ((class (find-class (definition-name definition) nil)))
              (and class (class-dependents class old))))
    (:package (package-dependents (definition-identity definition)))))

(defun files-with-same (definition)
  "Return a list of the paths of the files whose last load made a definition with the kind and name
of DEFINITION, which has replaced that one. Without DEFINITION, the image would have neither."
  (loop for file being the hash-values of **files**
        when (same-in-file definition file) collect (source-file-path file)))

(defun forget-order (definition)
  "Return a number by which definitions are sorted for removal. The number of DEFINITION is lower
than that of definitions on which it can depend."
  (case (definition-kind definition) (:method 0) (:export 2) (:class 3) (:package 4) (t 1)))

(defun forget-all (definitions)
  "Remove DEFINITIONS from the image. Return two lists of JSON objects: for the removed definitions,
and for those that could not be removed, with the reasons."
  (let ((main (main-definitions definitions)) (gone '()) (left '()))
    (dolist (definition (stable-sort (copy-list definitions) #'< :key #'forget-order))
      (let* ((needed (dependents definition definitions))
             (files (files-with-same definition))
             (data (item-data definition "because" (page needed 0 3) "definedIn" (page files 0 3)))
             (failure (and (null needed)
                           (null files)
                           (nth-value 1
                                      (ignore-errors
                                       (call-user-code (lambda ()
                                                         (forget-definition definition))))))))
        (cond ((or needed files) (push data left))
              (failure
               (push (item-data definition "because" (list (report-text 200 failure))) left))
              ((member definition main :test #'eq) (push data gone)))))
    (values (nreverse gone) (nreverse left))))

(defun forget-old (path which)
  "Remove definitions from the image that the file PATH, a native truename, no longer makes. Do so
only if the last load was of this file and ended normally. If WHICH is \"listed\", do so only if
answers have listed all these definitions. Return a plist for a JSON object about the removed and
the remaining definitions, and a list of the DEFINITION structures that it tried to remove."
  (let* ((file (find path (and *loaded* (noted-files *loaded*)) :key #'source-file-path
                     :test #'equal))
         (old (and file (old-definitions file))))
    (when (or (not (equal which "listed")) (every #'listed-p (main-definitions old)))
      (multiple-value-bind (gone left) (forget-all old)
        ;; Show more of these than of others, since no later answer can show removed definitions.
        (values (list "gone" (page gone 0 *told-of-removal*)
                      "goneTotal" (length gone)
                      "left" (page left 0 *told-limit*)
                      "leftTotal" (length left))
                old)))))
