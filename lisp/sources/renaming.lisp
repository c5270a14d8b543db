;;;; Renames a symbol: finds conflicts with the new name, and renames the symbol in the image after
;;;; the server has written the files. The server calls rename-facts, which changes nothing, and
;;;; writes the files. Then it calls rename-prepare, loads the files, and calls rename-finish. It
;;;; leaves out rename-finish if a load fails, or if other code still uses an old name.

(in-package "LIVE-LISP.SOURCES")

;;; The packages that have the symbol

(defun packages-where (test symbol)
  "Return a list of the packages for which TEST is true. TEST is a predicate that is called with
SYMBOL and a package."
  (from-packages (lambda (package) (and (funcall test symbol package) (list package)))))

(defun reached-packages (symbol)
  "Return a list of the packages in which a new name of SYMBOL would be accessible: the packages in
which SYMBOL is accessible, and the packages that use a package that exports SYMBOL."
  (remove-duplicates (append (packages-where #'accessible-p symbol)
                             (mapcan (lambda (package) (copy-list (package-used-by-list package)))
                                     (packages-where #'exported-p symbol)))))

;;; Conflicts with the new name

(define-shape name-conflict ()
  "Why a symbol cannot get its new name."
  (kind (member "keyword" "locked" "other" "taken")
   "`keyword`: the symbol is a keyword. `locked`: its home package is locked. `other`: the new name
   is another symbol in a package in which the symbol is accessible. `taken`: the new name already
   has a definition, such as a function or a variable.")
  (package string :optional "The package of the conflict.")
  (symbol string :optional "The symbol that has the new name in this package.")
  (natures (list string) :optional "What this symbol names."))

(defun conflict-in (symbol name package)
  "Return a JSON object with the reason why SYMBOL cannot be renamed to NAME in PACKAGE, or NIL. The
reason is \"taken\" if a symbol with this name and the same home package has a definition. The
reason is \"other\" if PACKAGE has a symbol with this name from another package."
  (multiple-value-bind (other status) (find-symbol name package)
    (cond ((null status) nil)
          ((not (eq (symbol-package other) (symbol-package symbol)))
           (object "kind" "other" "package" (package-name package) "symbol" (symbol-text other)))
          ((defined-p other)
           (object "kind" "taken" "package" (package-name package) "symbol" (symbol-text other)
                   "natures" (natures other))))))

(defun conflicts (symbol name)
  "Return a list of JSON objects with the reasons why SYMBOL cannot be renamed to NAME, or NIL if it
can."
  (append (cond ((keywordp symbol) (list (object "kind" "keyword")))
                ((locked-symbol-p symbol)
                 (list (object "kind" "locked"
                               "package" (package-name (symbol-package symbol))))))
          (loop for package in (reached-packages symbol)
                for conflict = (conflict-in symbol name package)
                when conflict collect conflict)))

;;; Structures that have the symbol as their name or as the name of a slot

(define-shape structure-data ()
  "A structure that the symbol names, or that has a slot of this name. Function names stand without
  their package."
  (name string)
  (slots (list (tuple string string)) :optional "Pairs of a slot and its accessor.")
  (constructors (list string) :optional)
  (taking-slots (list string) :optional
   "Constructors without a lambda list of their own, which take each slot as a keyword argument.")
  (predicate string :optional) (copier string :optional))

(defun structure-data (symbol description class)
  "Return a JSON object with the names of the structure CLASS, of its slots, and of the functions
that its DEFSTRUCT made. Return NIL unless SYMBOL is CLASS or the name of a slot. DESCRIPTION is
SBCL's defstruct description."
  (let ((slots (description-slots description)))
    (when (or (eq symbol class) (find symbol slots :key (lambda (slot) (structure-slot-name slot))))
      (object "name" (symbol-text class)
              "slots" (loop for slot in slots
                            for accessor = (structure-slot-accessor slot)
                            when accessor
                              collect (list (symbol-name (structure-slot-name slot))
                                            (symbol-name accessor)))
              "constructors" (loop for (name) in (description-constructors description)
                                   when name collect (symbol-name name))
              "takingSlots" (loop for (name . how) in (description-constructors description)
                                  when (and name (eq how :default)) collect (symbol-name name))
              "predicate" (and (description-predicate description)
                               (symbol-name (description-predicate description)))
              "copier" (and (description-copier description)
                            (symbol-name (description-copier description)))))))

(defun structures-named (symbol)
  "Return a list of JSON objects, from STRUCTURE-DATA, for all structures with SYMBOL as their name
or as the name of a slot."
  (let ((found '()))
    (dolist (package (packages-where #'accessible-p symbol) found)
      (dolist (name (home-symbols package))
        (let* ((description (structure-described name))
               (data (and description (structure-data symbol description name))))
          (when data (pushnew data found :test #'equal
                                         :key (lambda (data) (json-member "name" data)))))))))

;;; Classes that accept as an initarg the keyword with the name of the symbol

(defun classes-initialized (name)
  "Return a list of the classes for which a method such as INITIALIZE-INSTANCE accepts a keyword
with the name NAME, a string."
  (loop for function in '(initialize-instance reinitialize-instance shared-initialize)
        append (loop for method in (sb-mop:generic-function-methods (plain-definition function))
                     for (class) = (sb-mop:method-specializers method)
                     when (and (typep class 'class)
                               (member name (function-keywords method)
                                       :test #'string=))
                       collect class)))

(defun classes-with-slots (name)
  "Return a list of the classes with a direct slot whose initarg is a keyword with the name NAME, a
string."
  (remove-if-not (lambda (class)
                   (and (not (forward-referenced-p class))
                        (member name (slot-initargs class) :test #'string=)))
                 (classes-below (find-class 't))))

(defun heirs (name)
  "Find the classes that accept the keyword named NAME, a string, as initarg. Return a list with one
list of strings for each: the names of the class and of all its subclasses, without packages."
  (loop for class in (remove-duplicates (append (classes-initialized name)
                                                (classes-with-slots name)))
        collect (loop for each in (cons class (classes-below class))
                      for symbol = (class-name each)
                      when (and symbol (symbolp symbol)) collect (symbol-name symbol))))

;;; The forms that define the symbol

(defun definition-places (symbol)
  "Return a list of (PATH NUMBER) lists: the files and top-level forms of all definitions of
SYMBOL."
  (let ((places '()))
    (flet ((note (identity)
             (let ((file (identity-file identity)) (form (identity-form identity)))
               (when (and file form) (pushnew (list (file-path file) form) places :test #'equal)))))
      (map-definitions (lambda (kind name identity)
                         (declare (ignore kind name))
                         (if (typep identity 'generic-function)
                             (mapc #'note (sb-mop:generic-function-methods identity))
                             (note identity)))
                       symbol))
    places))

(defun made-with (symbol places)
  "Return a list of the names, as strings, that the forms at PLACES make from the name of SYMBOL, as
a DEFSTRUCT makes MAKE-AREA from AREA. These are the names of other symbols that one of the forms
defines, that have the same home package, and that contain the name of SYMBOL. PLACES is a list of
lists (PATH NUMBER): the path of a file, and the number of a top-level form in it."
  (let ((names '()))
    (loop for (path form) in places
          for file = (gethash path **files**)
          when file
            do (map-file-definitions
                (lambda (definition)
                  (let ((name (name-symbol (definition-name definition))))
                    (when (and (symbolp name)
                               (not (member (definition-kind definition) '(:export :package)))
                               (not (eq name symbol))
                               (eq (symbol-package name) (symbol-package symbol))
                               (search (symbol-name symbol) (symbol-name name))
                               (current-p definition)
                               (eql form (identity-form (definition-identity definition))))
                      (pushnew (symbol-name name) names :test #'equal))))
                file))
    names))

;;; The facts that the server needs to rename a symbol

(define-shape renaming-data ()
  "A symbol and its new name."
  (from string) (to string)
  (packages (list string) :optional "The packages in which the symbol is accessible.")
  (exporters (list string) :optional "The packages that export the symbol.")
  (unnamed boolean :optional "True when a symbol with the new name exists but names nothing.")
  (conflicts (list name-conflict) :optional))

(defun renaming-data (symbol name)
  "Return a JSON object with the facts for renaming SYMBOL to NAME: both names, the packages in
which SYMBOL is accessible, the packages that export it, true if the home package of SYMBOL already
has an internal symbol NAME, and the conflicts."
  (let ((home (symbol-package symbol)))
    (object "from" (symbol-name symbol)
            "to" name
            "packages" (mapcar #'package-name (packages-where #'accessible-p symbol))
            "exporters" (mapcar #'package-name (packages-where #'exported-p symbol))
            "unnamed" (and home (eq :internal (nth-value 1 (find-symbol name home))))
            "conflicts" (conflicts symbol name))))

(defun all-package-names ()
  "Return a list of (NAME PACKAGE-NAME) lists for all names and nicknames NAME of all packages."
  (from-packages (lambda (package)
                   (loop for name in (cons (package-name package) (package-nicknames package))
                         collect (list name (package-name package))))))

(defun all-local-nicknames ()
  "Return a list of (PACKAGE-NAME NICKNAME OTHER-NAME) lists for all packages. NICKNAME is a local
nickname for the package OTHER-NAME in the package PACKAGE-NAME."
  (from-packages (lambda (package)
                   (loop for (nickname . actual) in (sb-ext:package-local-nicknames package)
                         collect (list (package-name package) nickname (package-name actual))))))

(define-shape rename-facts ()
  "The facts that the server needs before it renames a symbol."
  (name string) (home string) (natures (list string) :optional)
  (places (list place) :optional
   "File and number of each top-level form that defines the symbol.")
  (made (list string) :optional
   "Other names that these forms define, such as MAKE-POINT for POINT, and that contain the
   symbol's name.")
  (structures (list structure-data) :optional)
  (heirs (list (list string)) :optional
   "For each class that takes an initarg of the symbol's name: the names, without package, of the
   class and of its subclasses.")
  (renamings (list renaming-data))
  (package-names (list (tuple string string)) :optional
   "Pairs of a name of a package and its proper name.")
  (local-nicknames (list (tuple string string string)) :optional
   "Triples of a package, a package-local nickname in it, and the package that the nickname stands
   for.")
  (files (list string) :optional))

(define-operation ("rename-facts" :gives (or rename-facts lookup-failure))
    (name package
     (to string "The new name.")
     (derived (list (tuple string string)) :optional
      "Pairs of an old and a new name of symbols that are renamed with it."))
  "Return the facts for renaming a symbol."
  (multiple-value-bind (symbol status) (named-symbol name package)
    (declare (ignore status))
    (let ((places (definition-places symbol)) (home (symbol-package symbol)))
      (make-json-object
       (list "name" (symbol-text symbol)
             "home" (if home (package-name home) "")
             "natures" (natures symbol)
             "places" (loop for (path form) in places collect (loaded-place path form))
             "made" (made-with symbol places)
             "structures" (structures-named symbol)
             "heirs" (heirs (symbol-name symbol))
             "renamings" (cons (renaming-data symbol to)
                               (loop for (old new) in derived
                                     for other = (find-symbol old home)
                                     when other collect (renaming-data other new)))
             "packageNames" (all-package-names)
             "localNicknames" (all-local-nicknames)
             "files" (remove-duplicates (append (loaded-files)
                                                (loop for path being the hash-keys of **files**
                                                      collect path))
                                        :test #'equal))))))

;;; Renaming in the image

;;; SBCL does not enforce the lock of the current package. So the functions below make a package the
;;; current one before they change its symbols.

(sb-ext:defglobal **replaced** '()
  "A list of the symbols that the last operation rename-prepare has replaced. Empty after the
operation rename-finish.")

(defun pairs-in (home names)
  "Return a list of (OLD . NEW) pairs of symbols of the package named HOME. NAMES is a list of
(OLD-NAME NEW-NAME) lists. OLD has this package as home package, and NEW is interned there. Skip an
OLD-NAME without such a symbol."
  (let* ((package (find-package home)) (*package* package))
    (loop for (old new) in names
          for symbol = (find-symbol old package)
          when (and symbol (eq (symbol-package symbol) package))
            collect (cons symbol (intern new package)))))

(defun move-exports (old new)
  "Import the symbol NEW into all packages in which the symbol OLD is present, and export NEW where
OLD is exported. Where OLD is a shadowing symbol, make NEW a shadowing symbol and unintern OLD."
  (dolist (package (packages-where #'present-p old))
    (let ((*package* package))
      (if (member old (package-shadowing-symbols package))
          (shadowing-import new package)
          (import new package))))
  (dolist (package (packages-where #'exported-p old))
    (let ((*package* package))
      (unexport old package)
      (export new package)))
  (dolist (package (packages-where #'present-p old))
    (let ((*package* package))
      (when (member old (package-shadowing-symbols package)) (unintern old package)))))

(defun move-state (old new)
  "If the symbol OLD is a variable and no constant, give its value to the symbol NEW, with the
records of evaluated forms that set OLD or declared it special. If OLD names a standard class, let
NEW name the same class, so that the instances keep their class."
  (let ((class (find-class old nil)))
    (when (and (boundp old) (not (constantp old)) (not (boundp new))
               (member (known :variable :kind old) '(:special :global)))
      (setf (symbol-value new) (symbol-value old)))
    (let ((evaluated (gethash old **variables-evaluated**)))
      (when evaluated
        (remhash old **variables-evaluated**)
        (setf (gethash new **variables-evaluated**) evaluated)))
    (when (typep class 'standard-class)
      (setf (find-class new) class
            (class-name class) new))))

(define-operation ("rename-prepare" :gives (list string))
    ((home string "The name of the package of the symbols.")
     (names (list (tuple string string)) "Pairs of an old and a new name.")
     (structures (list string) :optional
      "Texts that name structures with renamed slots, which are removed."))
  "Replace symbols by new ones. Afterwards the server loads the files that define the symbols.
Return a list of the old names that still name the old symbols."
  (call-user-code
   (lambda ()
     (let ((pairs (pairs-in home names)) (package (find-package home)))
       (setf **replaced** (mapcar #'car pairs))
       (loop for (old . new) in pairs
             do (let ((*package* package)) (move-state old new))
                (move-exports old new)))
     ;; The files define these structures again, and SBCL signals an error if the slots differ.
     (dolist (text structures)
       (let* ((symbol (named-symbol text nil)) (*package* (symbol-package symbol)))
         (forget-class symbol)))
     ;; PAIRS-IN now skips the symbols that MOVE-EXPORTS has uninterned.
     (loop for (old) in (pairs-in home names) collect (symbol-name old)))))

(defun names-any-p (definition symbols)
  "Return true if the name of DEFINITION is one of SYMBOLS or (SETF symbol) for one of them. Also
return true for a method that specializes on a class named by one of SYMBOLS, or has an EQL
specializer for one of SYMBOLS."
  (or (member (name-symbol (definition-name definition)) symbols :test #'eq)
      (and (eq (definition-kind definition) :method)
           (some (lambda (specializer)
                   (member (if (typep specializer 'class)
                               (class-name specializer)
                               (sb-mop:eql-specializer-object specializer))
                           symbols :test #'eq))
                 (sb-mop:method-specializers (definition-identity definition))))))

(defun left-of (symbols)
  "SYMBOLS are symbols that other symbols have replaced. Return a sorted list of DEFINITION
structures for the definitions that SYMBOLS still have in the image. Include definitions for which
NAMES-ANY-P is true, such as methods that specialize on a class named by one of SYMBOLS, if the
image has them only from an earlier load of their file (OLD-P). Leave out packages."
  (let ((left (loop for file being the hash-values of **files**
                    append (definitions-if (lambda (definition)
                                             (and (names-any-p definition symbols)
                                                  (not (eq (definition-kind definition) :package))
                                                  (old-p definition file)))
                                           file))))
    (dolist (symbol symbols)
      (map-definitions (lambda (kind name identity)
                         (unless (find-if (lambda (other)
                                            (and (eq kind (definition-kind other))
                                                 (equal name (definition-name other))))
                                          left)
                           (push (make-definition kind name identity 0) left)))
                       symbol))
    (sort-definitions left)))

(defun drop-moved-class (symbol)
  "If SYMBOL names a class whose CLASS-NAME is another symbol, as after MOVE-STATE, remove the name
SYMBOL from the class. Otherwise LEFT-OF would count the class as a definition of SYMBOL."
  (let ((class (find-class symbol nil)))
    (when (and class (not (eq (class-name class) symbol)))
      (let ((*package* (or (symbol-package symbol) *package*))) (setf (find-class symbol) nil)))))

(define-shape rename-finished ()
  "What happened to the definitions of the old symbols."
  (gone (list item) :optional "Definitions that were removed.")
  (gone-total integer :optional "Number of all removed definitions.")
  (left (list kept-item) :optional "Definitions that were not removed."))

(define-operation ("rename-finish" :gives rename-finished) ()
  "The last rename-prepare replaced symbols by new ones. Remove from the image the definitions that
the old symbols still have."
  (let ((symbols (shiftf **replaced** '())))
    (call-user-code (lambda () (mapc #'drop-moved-class symbols)))
    (multiple-value-bind (gone left) (forget-all (left-of symbols))
      (object "gone" (mapcar #'cdr (page gone 0 *shown-items-limit*))
              "goneTotal" (length gone)
              "left" (page left 0 *shown-items-limit*)))))
