;;;; Defines the operation unused-functions, which returns the functions of a package that nothing
;;;; uses.

(in-package "LIVE-LISP.LOOK")

(defun generated-p (symbol name)
  "Return true if DEFSTRUCT made the function NAME, which is SYMBOL or (SETF SYMBOL). A program
seldom uses all functions that DEFSTRUCT makes."
  ;; For the functions of a structure, SBCL keeps a cons here, and not a function.
  (or (consp (known :function :source-transform name))
      (and (symbolp name) (constructed-structure symbol) t)
      (and (symbolp name)
           (starts-p (symbol-name symbol) "COPY-")
           (consp (known :function :info name)))))

(defun typed-structure-functions (package)
  "Return a hash table whose keys are names of functions that DEFSTRUCT made. It has those of each
structure whose instances are lists or vectors and whose name has the home package PACKAGE."
  (let ((names (make-hash-table :test 'equal)))
    (dolist (symbol (home-symbols package) names)
      (when (typed-structure symbol)
        (dolist (name (structure-functions (typed-structure symbol)))
          (setf (gethash name names) t))))))

(defun declared-variable-p (symbol code)
  "Return true if a constant of the code object CODE contains a declaration about the variable
SYMBOL, such as (DECLARE (IGNORE SYMBOL)). This occurs in macros whose expansions contain such a
declaration."
  (labels ((bare-p (specifier)
             (and (proper-length specifier)
                  (not (member (first specifier) '(inline notinline ftype optimize)))
                  (member symbol (rest specifier) :test #'eq)))
           (find-in (part depth)
             (when (plusp depth)
               (loop for rest = part then (cdr rest)
                     repeat 2000
                     while (consp rest)
                     do (when (and (eq 'declare (car rest))
                                   (proper-length (cdr rest))
                                   (some #'bare-p (cdr rest)))
                          (return-from declared-variable-p t))
                        (find-in (car rest) (1- depth))))))
    (map-constants (lambda (constant) (find-in constant 50)) code)
    nil))

(defun mentioner (index name)
  "Return the name of a function in INDEX that contains the symbol NAME as data, or NIL. A
declaration about the variable NAME does not count as data."
  (loop for user in (users-of index name '(:mention))
        for code = (and (user-p user) (user-code user))
        for by = (name-of user)
        unless (or (null by) (equal by name) (and code (declared-variable-p name code)))
          return by))

(define-shape unused-row ()
  "A function or macro that no code uses except itself."
  (name string) (macro boolean :optional)
  (homes (list string) :optional
   "For a macro: names of the packages in which its name is accessible.")
  (self boolean :optional "True when the function calls itself.")
  (mentioned string :optional
   "Name of a function or macro that contains the name only in its data.")
  (template boolean :optional "True when `mentioned` is a macro.")
  (external boolean :optional "True when the package exports the name.")
  (documentation string :optional "First line of the docstring."))

(define-shape unused-data ()
  "The functions of a package that no code uses except the function itself."
  (package string)
  (functions integer "How many functions the package has.")
  (interpreted boolean :optional) (unheard boolean :optional)
  (unread (list unread-file) :optional)
  (files (list string) :optional "Source files of the code that was searched for uses.")
  (without-entry (list string) :optional
   "Names of functions whose only users are unused functions or functions in this list.")
  (rows (list unused-row) :optional))

(defun external-p (name)
  "Return true if the home package of the function NAME, a symbol or (SETF SYMBOL), exports it."
  (let ((symbol (name-symbol name)))
    (eq :external (nth-value 1 (find-symbol (symbol-name symbol) (symbol-package symbol))))))

(defun unused-row-data (index name)
  "If nothing in INDEX uses the function NAME except NAME itself, return a JSON object about NAME.
Else return NIL."
  (let* ((symbol (name-symbol name))
         (users (users-of index name '(:calls :macroexpands :constant)))
         (others (remove name users :key #'name-of :test #'equal))
         (mentioner (and (symbolp name) (null others) (mentioner index symbol))))
    (unless others
      (object "name" (name-text name)
              "macro" (and (symbolp name) (macro-function name) t)
              "self" (and users t)
              "mentioned" (and mentioner (name-text mentioner))
              "template" (and mentioner (symbolp mentioner) (macro-function mentioner) t)
              "homes" (and (symbolp name) (macro-function name) (packages-with symbol))
              "external" (external-p name)
              "documentation" (first-line (doc-text name 'function))))))

;;; Functions that only unused functions use

(defun other-users (index name)
  "Return a list of the names of the definitions that use the function NAME according to INDEX. The
definition of NAME itself is left out. Code without a name, such as a top-level form, gives NIL."
  (remove name (mapcar #'name-of (users-of index name '(:calls :macroexpands :constant)))
          :test #'equal))

(defun used-anyway-p (index name users known)
  "Return true if the function NAME counts as used even if no other function of its package is used:
it is exported, it is a macro, a function contains NAME as data, or a function of another package or
code without a name uses it. USERS is a list from OTHER-USERS. The keys of the hash table KNOWN are
the names of the functions of the package. INDEX is the index of uses."
  (or (external-p name)
      (and (symbolp name) (or (macro-function name) (mentioner index name)) t)
      (notevery (lambda (user) (gethash user known)) users)))

(defun without-entry (index names)
  "NAMES is a list of the names of all functions of a package. Return a list of those functions that
are used, but only by each other or by unused functions: no chain of uses leads to them from a
function that satisfies USED-ANYWAY-P. INDEX is the index of uses."
  (let ((known (make-hash-table :test 'equal)) (uses (make-hash-table :test 'equal))
        (reached (make-hash-table :test 'equal)) (queue '()) (with-users '()))
    (flet ((reach (name)
             (unless (gethash name reached)
               (setf (gethash name reached) t)
               (push name queue))))
      (dolist (name names) (setf (gethash name known) t))
      (dolist (name names)
        (let ((users (other-users index name)))
          (when users (push name with-users))
          (cond ((used-anyway-p index name users known) (reach name))
                (t (dolist (user users) (push name (gethash user uses)))))))
      (loop while queue do (mapc #'reach (gethash (pop queue) uses))))
    (remove-if (lambda (name) (gethash name reached)) (nreverse with-users))))

(define-operation ("unused-functions" :gives (or unused-data lookup-failure))
    ((package string "The name of the package.")
     within)
  "Return the functions of a package that no code uses except the function itself, exported ones
first."
  (let* ((home (named-package package))
         (typed (typed-structure-functions home))
         (names (sort (home-names home (lambda (name)
                                         (and (fboundp name)
                                              (not (generated-p (name-symbol name) name))
                                              (not (gethash name typed)))))
                      #'name-before-p))
         (*within* (and within (system-files within))))
    (with-index (index)
      (let ((unused (loop for name in names
                          for data = (unused-row-data index name)
                          when data collect data))
            (without (without-entry index names)))
        (flet ((external-row-p (row)
                 (json-member "external" row)))
          (object "package" (package-name home)
                  "functions" (length names)
                  "interpreted" (and **interpreted** t)
                  "unheard" (not **listening**)
                  "unread" (unread-data)
                  "files" (if *within*
                              (loop for file being the hash-keys of *within* collect file)
                              (files-of index))
                  "withoutEntry" (mapcar #'name-text without)
                  "rows" (page (append (remove-if-not #'external-row-p unused)
                                       (remove-if #'external-row-p unused))
                               0 10000)))))))
