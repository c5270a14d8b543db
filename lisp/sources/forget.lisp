;;;; Removes definitions from the image that a file no longer makes.

(in-package "LIVE-LISP.SOURCES")

(defun forget-info (symbol kinds)
  "Remove SBCL's global information of KINDS about SYMBOL. KINDS are lists of a category and of
kinds in this category; without kinds, all in the category are removed."
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
  "Return the package to make current while DEFINITION is removed: SBCL does not enforce the lock of
the current package."
  (let ((symbol (name-symbol (definition-name definition)))
        (identity (definition-identity definition)))
    (or (cond ((packagep identity) (and (package-name identity) identity))
              ((symbolp symbol) (symbol-package symbol)))
        *package*)))

(defun forget-definition (definition)
  "Remove DEFINITION from the image."
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

;;; What answers have listed

(sb-ext:defglobal **listed** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A table whose keys are the DEFINITIONs that answers have listed as no longer in their file.")

(defun note-listed (definition)
  "Record that an answer lists DEFINITION as no longer in its file."
  (setf (gethash definition **listed**) t))

(defun listed-p (definition)
  "True when an answer has listed DEFINITION as no longer in its file."
  (values (gethash definition **listed**)))

(define-operation "nothing-listed" ()
  "Forget what answers have listed. The image was built again, and no answer has told of it yet."
  (clrhash **listed**)
  nil)

;;; What depends on a definition

(defun method-on-p (method class)
  "True when METHOD specializes on CLASS."
  (member class (sb-mop:method-specializers method) :test #'eq))

(defun class-dependents (class old)
  "Return texts for the subclasses and methods that need CLASS and are not among OLD, definitions to
be removed."
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
  "Return texts for what needs PACKAGE: packages that use it, and at most 3 of its own symbols that
have definitions."
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
  "Return texts for what still needs DEFINITION, if it is a class or a package. OLD are definitions
to be removed, which do not count."
  (case (definition-kind definition)
    (:class (let ((class (find-class (definition-name definition) nil)))
              (and class (class-dependents class old))))
    (:package (package-dependents (definition-identity definition)))))

(defun forget-order (definition)
  "Return the rank of DEFINITION in the order of removal, in which dependents come first."
  (case (definition-kind definition) (:method 0) (:export 2) (:class 3) (:package 4) (t 1)))

(defun forget-all (definitions)
  "Remove DEFINITIONS from the image. Return two lists of JSON objects: the removed definitions, and
those left, with the reasons."
  (let ((main (main-definitions definitions)) (gone '()) (left '()))
    (dolist (definition (stable-sort (copy-list definitions) #'< :key #'forget-order))
      (let* ((needed (dependents definition definitions))
             (data (item-data definition "because" (page needed 0 3)))
             (failure (and (null needed)
                           (nth-value 1
                                      (ignore-errors
                                       (call-user-code (lambda ()
                                                         (forget-definition definition))))))))
        (cond (needed (push data left))
              (failure
               (push (item-data definition "because" (list (report-text 200 failure))) left))
              ((member definition main :test #'eq) (push data gone)))))
    (values (nreverse gone) (nreverse left))))

(defun forget-old (path which)
  "Remove definitions from the image that the file PATH, a native truename, no longer makes, if it
was just loaded to its end. If WHICH is \"listed\", do so only if answers have listed all of them.
Return two values: a plist of JSON members about the definitions that were removed, and about those
that could not be; and the DEFINITIONs that it tried to remove."
  (let* ((file (find path (and *loaded* (noted-files *loaded*)) :key #'source-file-path
                     :test #'equal))
         (old (and file (old-definitions file))))
    (when (or (not (equal which "listed")) (every #'listed-p (main-definitions old)))
      (multiple-value-bind (gone left) (forget-all old)
        ;; More of these are shown than of others, since no later answer shows what is gone.
        (values (list "gone" (page gone 0 *told-of-removal*)
                      "goneTotal" (length gone)
                      "left" (page left 0 *told-limit*)
                      "leftTotal" (length left))
                old)))))
