;;;; Removes from the image the definitions that are no longer in their file.

(in-package "LIVE-LISP.SOURCES")

(defun forget-info (symbol kinds)
  "Remove the information of some kinds about SYMBOL from SBCL's globaldb. KINDS is a list of
(CATEGORY KIND...) lists, keywords as in KNOWN. A list without a KIND stands for all kinds in its
category."
  (loop for (category . names) in kinds
        do (loop for kind across known-kinds
                 when (and kind (eq category (kind-category kind))
                           (or (null names) (member (kind-name kind) names)))
                   do (forget-values symbol (list (kind-number kind))))))

(defun forget-class (symbol)
  "Remove the class or structure SYMBOL from the image."
  (when (find-class symbol nil) (setf (find-class symbol) nil))
  (forget-info symbol '((:typed-structure) (:source-location :typed-structure))))

(defun home-package (definition)
  "Return the package of the name of DEFINITION or, for an export or a package, the package that it
is about. Return the current package if there is none. The result is to be the current package while
DEFINITION is removed, since SBCL does not enforce the lock of the current package."
  (let ((symbol (name-symbol (definition-name definition)))
        (identity (definition-identity definition)))
    (or (cond ((packagep identity) (and (package-name identity) identity))
              ((symbolp symbol) (symbol-package symbol)))
        *package*)))

(defun forget-definition (definition)
  "Remove DEFINITION, a DEFINITION structure, from the image: for example, make its function
unbound."
  (let ((name (definition-name definition)) (identity (definition-identity definition))
        (*package* (home-package definition)))
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

;;; Definitions that an answer has listed as no longer in their files (LIST-AS-OLD in compare.lisp)

(sb-ext:defglobal **listed** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table whose keys are the DEFINITION structures that an answer has listed as no longer
in their files. The values are the plists from REASONS at that time.")

(defun listed-p (definition)
  "Return true if an answer has listed DEFINITION as missing from its file."
  (nth-value 1 (gethash definition **listed**)))

(define-operation ("nothing-listed" :inline t :gives null) ()
  "Forget which definitions were listed in answers, so that later answers list them again. The
server calls this after it has built a lost image again. The answers of its loads have listed
definitions, but no user has seen these answers."
  (clrhash **listed**)
  nil)

;;; Removing definitions

(defun files-with-same (definition)
  "Return a list of the paths of the files whose last load made a definition of the same kind and
name as DEFINITION. DEFINITION has replaced these definitions, so if it were removed, the image
would have no definition of this kind and name."
  (loop for file being the hash-values of **files**
        when (same-in-file definition file) collect (source-file-path file)))

(define-shape used-at ()
  "A top-level form of a file that uses something."
  (file string) (form integer "The number of the form in the file."))

(define-shape kept-item (item)
  "A definition, and the reasons why it is not removed."
  (because (list string) :optional "Texts that name definitions and data that need it, or the error
of its removal.")
  (used-at (list used-at) :optional
   "Top-level forms that need it, or that would make it if the image did not have it.")
  (defined-in (list string) :optional
   "Files that have another definition of it, which this one has replaced."))

(defun reasons (definition removed)
  "Return a plist for a JSON object of the reasons why DEFINITION must not be removed, or NIL.
REMOVED is the list of all definitions to be removed."
  (let ((files (files-with-same definition)))
    (multiple-value-bind (texts forms) (needs definition removed)
      (unless (or files texts forms)
        ;; Code like (unless (fboundp 'f) (defun f ...)) may have made no F because of DEFINITION.
        (setf texts (guarding-evaluations definition) forms (guarding-forms definition)))
      (and (or files texts forms)
           (list "because" (page texts 0 3)
                 "usedAt" (page forms 0 3)
                 "definedIn" (page files 0 3))))))

(defun parts-of (stay definitions)
  "Return a list of those DEFINITIONS that are parts of a definition in the list STAY, directly or
indirectly. For example, the accessors of a class and their generic functions are parts of the
class."
  (let ((parts '()))
    (loop for part = (find-if (lambda (definition)
                                (and (not (member definition parts :test #'eq))
                                     (not (member definition stay :test #'eq))
                                     (part-of-others-p definition (append parts stay))))
                              definitions)
          while part do (push part parts))
    parts))

(defun staying (definitions removed)
  "REMOVED lists all definitions that are to be removed. Return an alist with an entry for each of
DEFINITIONS that must stay. The value is the result of the function REASONS, or NIL if the
definition stays only because it is part of another definition that must stay."
  (let ((stay '()))
    (flet ((others (list)
             (remove-if (lambda (definition) (assoc definition stay :test #'eq)) list)))
      ;; A definition that stays can need others, so search until no more are found.
      (loop for found = (loop for definition in (others definitions)
                              for reasons = (reasons definition (others removed))
                              when reasons collect (cons definition reasons))
            while found
            do (setf stay (append stay found)
                     stay (append stay (mapcar #'list
                                               (parts-of (mapcar #'car stay) definitions))))))
    stay))

(defun forget-order (definition)
  "Return a number to sort definitions for removal. The number of DEFINITION is lower than those of
the definitions on which it can depend."
  (case (definition-kind definition) (:method 0) (:export 2) (:class 3) (:package 4) (t 1)))

(defun take-out (definitions removed)
  "Remove DEFINITIONS from the image, except those that something needs. REMOVED lists all
definitions that are to be removed. Return two alists. The first has a JSON object for each removed
definition. The second has the reasons for each definition that stays, as the function STAYING
returns them."
  (let* ((left (staying definitions removed)) (gone '())
         (leaving (remove-if (lambda (definition) (assoc definition left :test #'eq))
                             definitions)))
    ;; Code that was compiled with a removed macro, for example, still contains its expansion.
    ;; Record such code now, since it cannot be found after the removal.
    (note-outdated (mapcar #'definition-name (remove-if-not #'compiled-in-p leaving)) '())
    (dolist (definition (stable-sort (copy-list leaving) #'< :key #'forget-order))
      (let* ((data (item-data definition))
             (failure (handler-case
                          (progn (call-user-code (lambda () (forget-definition definition))) nil)
                        (error (condition) condition))))
        (if failure
            (push (list definition "because" (list (report-text 200 failure))) left)
            (push (cons definition data) gone))))
    (values gone left)))

(defun users-first (packages)
  "Return a list of PACKAGES, definitions of packages, sorted so that each package comes before the
packages that it uses."
  (loop while packages
        collect (let* ((left (mapcar #'definition-identity packages))
                       (next (or (find-if (lambda (package)
                                            (null (intersection (package-used-by-list package) left
                                                                :test #'eq)))
                                          packages :key #'definition-identity)
                                 ;; Packages can use each other in a circle.
                                 (first packages))))
                  (setf packages (remove next packages :test #'eq))
                  next)))

(defun removal-steps (definitions)
  "Return a list of lists of DEFINITIONS, one list for each step, in the order of their removal.
Variables come first, since the value of a variable can be an instance of a class that is to be
removed. Packages come last, each in a list of its own."
  (flet ((of-kinds (&rest kinds)
           (remove-if-not (lambda (definition) (member (definition-kind definition) kinds))
                          definitions)))
    (let ((variables (of-kinds :variable :constant :symbol-macro)) (packages (of-kinds :package)))
      (list* variables
             (remove-if (lambda (definition)
                          (or (member definition variables) (member definition packages)))
                        definitions)
             (mapcar #'list (users-first packages))))))

(defun map-removal-steps (visit definitions)
  "DEFINITIONS are to be removed in several steps (REMOVAL-STEPS). For each step, call the function
VISIT with two lists: the definitions to remove in this step, and the definitions that all steps
together will remove, as far as this is known already."
  (loop for step in (removal-steps definitions)
        ;; The first step removes variables, and only the second decides which structures are
        ;; removed. So the first step assumes that parts of structures stay, such as constructors.
        ;; It keeps a variable that a constructor uses.
        for removed = (main-definitions definitions) then definitions
        do (funcall visit step removed)))

(defun planned-staying (definitions)
  "Return an alist. Its keys are those of DEFINITIONS that FORGET-ALL would probably not remove. A
value is a list of reasons, from REASONS, or NIL if the definition is a part of another that stays.
FORGET-ALL can decide otherwise: once it has removed some definitions, others may not be needed."
  (let ((*planning* t) (all '()))
    (map-removal-steps (lambda (step removed) (setf all (append (staying step removed) all)))
                       definitions)
    all))

(defparameter *users-shown* 10 "The maximum number of users of a removed function in an answer.")

(define-shape gone-item (item)
  "A definition that was removed."
  (users (list string) :optional "Texts for definitions that still use the removed function.")
  (used-at (list used-at) :optional "Top-level forms that use it.")
  (users-total integer :optional "The number of all such users.")
  (in-data (list string) :optional
   "Texts for definitions that do not use it, but have its name in their data.")
  (in-data-at (list used-at) :optional "Top-level forms that have its name in their data only."))

(defun with-users (definition data)
  "DATA is a JSON object about DEFINITION, which was removed. Return DATA. But if DEFINITION defines
a function, return a copy of DATA with further members about the code that still uses the
function."
  (if (eq (definition-kind definition) :function)
      (multiple-value-bind (users mentions) (users-of-names (list (definition-name definition)))
        (multiple-value-bind (texts forms) (code-texts users '())
          (multiple-value-bind (holders places) (code-texts mentions '())
            (make-json-object
             (append (json-object-members data)
                     (list "users" (page texts 0 *users-shown*)
                           "usedAt" (page forms 0 *users-shown*)
                           "usersTotal" (+ (length texts) (length forms))
                           "inData" (page holders 0 *users-shown*)
                           "inDataAt" (page places 0 *users-shown*)))))))
      data))

(defun forget-all (definitions)
  "Remove DEFINITIONS from the image, except those that must stay. Return two values: an alist from
the removed definitions to JSON objects, and a list of JSON objects, with reasons, for the
definitions that stay."
  (let ((main (main-definitions definitions)) (all-gone '()) (all-left '()))
    (map-removal-steps (lambda (step removed)
                         (multiple-value-bind (gone left) (take-out step removed)
                           (setf all-gone (append gone all-gone) all-left (append left all-left))))
                       definitions)
    (flet ((sorted (entries)
             ;; Leave out entries without reasons: they are parts of definitions that stay.
             (loop for definition in (stable-sort (copy-list definitions) #'< :key #'forget-order)
                   for entry = (assoc definition entries :test #'eq)
                   when (cdr entry) collect entry)))
      (values (sorted (remove-if-not (lambda (entry) (member (car entry) main :test #'eq))
                                     all-gone))
              (loop for (definition . reasons) in (sorted all-left)
                    collect (apply #'item-data definition reasons))))))

(defun forget-old (path which)
  "Remove the definitions that the file PATH, a native truename, no longer makes. Do so only if the
load of this file just ended normally. WHICH is T or \"listed\". If it is \"listed\", do so only if
earlier answers have listed all these definitions. Return two values: a plist for a JSON object
about these definitions, and a list of the DEFINITION structures that this function tried to
remove."
  (let* ((file (find path (noted-files *loaded*) :key #'source-file-path
                     :test #'equal))
         (old (and file (old-definitions file))))
    (when (or (not (equal which "listed")) (every #'listed-p (main-definitions old)))
      (multiple-value-bind (gone left) (forget-all old)
        ;; Show more of these than of others, since no later answer can show removed definitions.
        (values (list "gone" (loop for (definition . data) in (page gone 0 *shown-removals-limit*)
                                   collect (with-users definition data))
                      "goneTotal" (length gone)
                      "left" (page left 0 *shown-items-limit*)
                      "leftTotal" (length left))
                old)))))
