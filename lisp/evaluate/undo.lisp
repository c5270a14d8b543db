;;;; Undoes definitions that remain after compiling. Compiling a file defines its macros, types and
;;;; constants in the image, and makes its functions known to the compiler. Definitions stay if an
;;;; evaluation, or a file that the compiled code loads, makes them meanwhile.

(in-package "LIVE-LISP.EVALUATE")

(defvar *form-file* nil
  "The truename of the file whose definitions will be undone: the file that is being compiled.")

(defvar *remembered* nil
  "A hash table with the earlier definitions of symbols that the compiled forms can define. The keys
are the symbols. A value is a list with a pair (IDENTITY . RESTORE) for each kind of definition in
*ASPECTS*. IDENTITY is a list of the functions and source locations of the earlier definition, from
which a change can be seen. RESTORE is a function that restores this definition. If a key is an
uninterned symbol, its name is the name of a package that did not exist before the compilation.")

;;; The file of a definition

(defun location-file (location)
  "Return the name of the file of LOCATION, or NIL if it has no file. LOCATION is a source location,
or SBCL's record of a DEFSETF, which contains one. Return :UNKNOWN if LOCATION is another object."
  (typecase location
    (source-location (location-name location))
    ((cons t cons) (location-file (cddr location)))
    (t :unknown)))

(defun function-file (function)
  "Return the pathname of the file from which FUNCTION comes, or NIL if it comes from no file.
Return :UNKNOWN for a function of SBCL, such as its closure for a trivial DEFTYPE or DEFMACRO."
  (let ((file (introspect "DEFINITION-SOURCE-PATHNAME"
                          (introspect "FIND-DEFINITION-SOURCE" function))))
    (if (typep file 'logical-pathname) :unknown file)))

(defun from-elsewhere-p (object)
  "Return true if OBJECT, a function or a source location, certainly comes from elsewhere than
*FORM-FILE*."
  (let ((file (if (functionp object) (function-file object) (location-file object))))
    (not (or (eq file :unknown) (and file (equal (pathname file) *form-file*))))))

(defun defined-elsewhere-p (before now)
  "BEFORE and NOW are lists of functions and source locations. Return true if NOW has an element
that is not in BEFORE and satisfies FROM-ELSEWHERE-P: it is certainly not from *FORM-FILE*."
  (some (lambda (object) (and (not (member object before :test #'eq)) (from-elsewhere-p object)))
        now))

;;; SBCL's information about a name

(defparameter *variable-categories* '(:variable :source-location)
  "The categories, in SBCL's globaldb, of information about variables.")
(defparameter *class-categories* '(:type :typed-structure)
  "The categories, in SBCL's globaldb, of information about types.")

(defun other-categories ()
  "Return a list of the categories of information in SBCL's globaldb, except those about functions,
variables and types."
  (set-difference (loop for kind across known-kinds
                        for category = (and kind (kind-category kind))
                        when category collect category)
                  (list* :function (append *variable-categories* *class-categories*))))

(defun info-numbers (categories)
  "Return a list of SBCL's numbers for the kinds of information in CATEGORIES, a list of keywords.
Leave out the kind :DEFINITION of functions. Its value is an object to which compiled code refers,
so this object must stay."
  (loop for kind across known-kinds
        for category = (and kind (kind-category kind))
        when (and (member category categories)
                  (not (and (eq category :function)
                            (eq :definition (kind-name kind)))))
          collect (kind-number kind)))

(defun known-info (name categories)
  "Return what SBCL's globaldb knows about NAME, a symbol or (SETF symbol), in CATEGORIES, a list of
keywords. The result is an alist whose keys are SBCL's numbers of the kinds of information."
  (loop for number in (info-numbers categories)
        for (value known) = (multiple-value-list (known-value name number))
        when known collect (cons number value)))

(defun restore-info (name categories before)
  "Restore what SBCL's globaldb knows about NAME, a symbol or (SETF symbol), in CATEGORIES, a list
of keywords. BEFORE is the earlier result of KNOWN-INFO for them."
  (loop for (number . value) in (known-info name categories)
        for old = (assoc number before)
        do (cond ((null old) (forget-values name (list number)))
                 ((not (eql value (cdr old))) (know-value name number (cdr old)))))
  (loop for (number . value) in (set-difference before (known-info name categories) :key #'car)
        do (know-value name number value)))

;;; The aspects of a symbol are its meanings as a function, a class, a variable and so on. For each
;;; aspect there is a function that takes the symbol and returns two values: a list of functions and
;;; source locations that show the origin of the current definition, and a function without
;;; parameters that restores this definition.

(defun plain-function (name)
  "Return the function that NAME, a function name, names. Return NIL if there is none. Also
return NIL for a macro: SBCL stores a function for it that only signals an error."
  (let ((function (and (fboundp name) (plain-definition name))))
    (and function (not (typep (plain-function-name function) '(cons (eql :macro)))) function)))

(defun function-aspect (name)
  "NAME is a function name. Return two values about its definition as a function or macro: a list of
functions and source locations of the current definition, and a function without parameters that
restores this definition."
  (let* ((info (known-info name '(:function)))
         (macro (and (symbolp name) (macro-function name)))
         (function (plain-function name)))
    (values (list* macro function (mapcar #'cdr info))
            (lambda ()
              ;; If NAME was defined before and now has neither a function nor a kind (function or
              ;; macro), code has called FMAKUNBOUND meanwhile. Compiling never does this, so it was
              ;; intended: restore nothing.
              (let ((undefined (and (not (fboundp name)) (not (known :function :kind name)))))
                (unless (and (or macro function) undefined)
                  (cond ((and macro (not (eq macro (macro-function name))))
                         (setf (macro-function name) macro))
                        ((and function (not (eq function (plain-function name))))
                         (setf (fdefinition name) function))
                        ((and (fboundp name) (not macro) (not function)) (fmakunbound name)))
                  (restore-info name '(:function) info)))))))

(defun setf-function-aspect (symbol)
  "Return two values about the function (SETF SYMBOL): a list of functions and source locations of
the current definition, and a function without parameters that restores this definition."
  (function-aspect (list 'setf symbol)))

(defun variable-aspect (symbol)
  "Return two values about SYMBOL as a variable: a list of source locations of the current
definition, and a function without parameters that restores this definition. That function keeps the
value of SYMBOL, unless SYMBOL was unbound and has become a constant or global variable."
  (let ((bound (boundp symbol)) (info (known-info symbol *variable-categories*)))
    (values (mapcar #'cdr info)
            (lambda ()
              (let ((unbind (and (not bound) (boundp symbol)
                                 (member (known :variable :kind symbol)
                                         '(:constant :global)))))
                (restore-info symbol *variable-categories* info)
                (when unbind (makunbound symbol)))))))

(defun other-aspect (symbol)
  "Return two values about what SBCL's globaldb knows of SYMBOL in the categories from
OTHER-CATEGORIES, such as its SETF expander: a list of functions and source locations of the current
definitions, and a function without parameters that restores these definitions."
  (let* ((categories (other-categories)) (info (known-info symbol categories)))
    (values (mapcar #'cdr info)
            (lambda () (restore-info symbol categories info)))))

(defun classoid-of (symbol)
  "Return two values: the classoid, which is the compiler's class object, and the class that SYMBOL
names. Each is NIL if there is none."
  (let ((cell (class-cell symbol)))
    (if cell
        (values (cell-classoid cell)
                (cell-class cell))
        (values nil nil))))

(defun superclassoids (symbol)
  "Return a list of the classoids of the superclasses of the class that SYMBOL names."
  (let ((classoid (classoid-of symbol)))
    (and classoid
         ;; The compiler's layout belongs to a definition that was compiled but not loaded.
         (loop for layout in (remove nil (list (classoid-layout classoid)
                                               (known :type :compiler-layout symbol)))
               append (map 'list (lambda (layout) (layout-classoid layout))
                           (layout-inherits layout))))))

(defun restore-class (symbol old class layout state supers)
  "Make SYMBOL name the class CLASS with the classoid OLD again. A classoid is the compiler's object
for a class. If OLD is NIL, make SYMBOL name no class. The other arguments are what OLD had before:
LAYOUT, or NIL; STATE; and SUPERS, a list of superclassoids. LAYOUT may belong to another classoid
now, so give it back to OLD."
  (let ((cell (class-cell symbol)) (new (classoid-of symbol)))
    ;; Do this first: SUPERCLASSOIDS looks at the classoid that SYMBOL names now.
    (when new
      (dolist (super (set-difference (superclassoids symbol) (and (eq new old) supers)))
        (remove-subclassoid new super)))
    (cond ((eq new old))
          (old (setf (cell-classoid cell) old)
               (setf (cell-class cell) class))
          (t (setf (find-class symbol) nil)))
    (when old
      (setf (classoid-state old) state))
    (when layout
      (setf (classoid-layout old) layout)
      (setf (layout-classoid layout) old))))

(defun class-aspect (symbol)
  "Return two values about SYMBOL as a class or type: a list of source locations of the current
definition, and a function without parameters that restores this definition."
  (multiple-value-bind (old class) (classoid-of symbol)
    (let ((info (known-info symbol *class-categories*))
          (layout (and old (classoid-layout old)))
          (state (and old (classoid-state old)))
          (supers (superclassoids symbol)))
      ;; The locations of the classoid and the class tell which load defined the class, because
      ;; compiling a DEFCLASS or a DEFSTRUCT does not change them.
      (values (list* (and old (classoid-location old))
                     (and class (nil-if-unknown (class-location class)))
                     (mapcar #'cdr info))
              (lambda ()
                ;; Restore nothing after (SETF (FIND-CLASS ...) NIL).
                (unless (and info (not (known :type :kind symbol)))
                  (restore-class symbol old class layout state supers)
                  (restore-info symbol *class-categories* info)))))))

(defparameter *aspects*
  '(function-aspect setf-function-aspect class-aspect variable-aspect other-aspect)
  "A list of names of functions, one for each kind of definition that a symbol can have. Each takes
a symbol and returns a list of functions and source locations of the current definition, and a
function without parameters that restores this definition.")

;;; Saving the state before the compilation

(defun remember-symbol (symbol)
  "Save all definitions of SYMBOL (see *ASPECTS*) in *REMEMBERED*. Skip a keyword, an uninterned
symbol, and a symbol of a locked package. A definition that was saved before is saved again only if
code from elsewhere than *FORM-FILE* has changed it since."
  (unless (or (null (symbol-package symbol)) (keywordp symbol) (locked-symbol-p symbol))
    (setf (gethash symbol *remembered*)
          (loop with kept = (gethash symbol *remembered*)
                for aspect in *aspects*
                for old = (pop kept)
                collect (multiple-value-bind (now restore) (funcall aspect symbol)
                          (if (and old (not (defined-elsewhere-p (car old) now)))
                              old
                              (cons now restore)))))))

(defun remember-symbols (form)
  "Save the definitions of all symbols in FORM, which may be circular, by REMEMBER-SYMBOL."
  (let ((seen (make-hash-table :test 'eq)) (left (list form)))
    (loop while left
          do (let ((part (pop left)))
               (cond ((consp part)
                      (unless (gethash part seen)
                        (setf (gethash part seen) t)
                        (push (cdr part) left)
                        (push (car part) left)))
                     ((symbolp part) (remember-symbol part)))))))

(defun remember-package (name)
  "If no package has the name NAME, a string designator, record this in *REMEMBERED*."
  (let ((name (and (typep name '(or string symbol character)) (string name))))
    (unless (or (null name) (find-package name))
      (setf (gethash (make-symbol name) *remembered*) nil))))

(defun defines-p (form)
  "Return true if FORM is a call of DECLAIM or of a defining macro of SBCL: its name begins with
DEF, and its package is SBCL's."
  (let ((operator (and (consp form) (car form))))
    (and operator
         (symbolp operator)
         (or (eq operator 'declaim) (starts-p (symbol-name operator) "DEF"))
         (core-symbol-p operator))))

(defun expand-remembering (function form environment)
  "Expand FORM by FUNCTION with ENVIRONMENT. This is the *MACROEXPAND-HOOK* during a compilation.
For a form of *FORM-FILE* itself, first save the definitions that FORM and its expansion can
change."
  (let ((own (and (null *load-truename*) (equal *compile-file-truename* *form-file*))))
    (when (and own (consp form) (eq (car form) 'defpackage))
      (remember-package (second form)))
    (let ((expansion (funcall function form environment)))
      (when (and own (defines-p form))
        (remember-symbols form)
        (remember-symbols expansion))
      expansion)))

(note-frame 'expand-remembering :between)

;;; Restoring

(defun restore-symbol (symbol kept)
  "Restore the definitions of SYMBOL from KEPT, its value in *REMEMBERED*. Leave a definition that
something other than *FORM-FILE* has made since."
  (loop for aspect in *aspects*
        for (before . restore) in kept
        unless (defined-elsewhere-p before (funcall aspect symbol))
          do (ignore-errors (funcall restore))))

(defun restore-package (name)
  "Delete the package NAME, which did not exist before the compilation. Keep it if another package
uses it, if it comes from another file than *FORM-FILE*, the file being compiled, or if one of its
symbols has a definition or properties."
  (let ((package (find-package name)))
    (when (and package
               (null (package-used-by-list package))
               (not (from-elsewhere-p (package-location package)))
               (notany (lambda (symbol) (or (natures symbol) (symbol-plist symbol)))
                       (home-symbols package)))
      (handler-case (delete-package package) (package-error () nil)))))

(defun restore-remembered ()
  "Restore all definitions in *REMEMBERED*. Delete packages last, because the symbols are in them."
  (let ((names '()))
    (maphash (lambda (symbol kept)
               (if (symbol-package symbol)
                   (restore-symbol symbol kept)
                   (push (symbol-name symbol) names)))
             *remembered*)
    (mapc #'restore-package names))
  ;; The compiler caches the meanings of type specifiers.
  (forget-types))

(defun call-undoing-definitions (function)
  "Call FUNCTION, which compiles *FORM-FILE* with EXPAND-REMEMBERING as *MACROEXPAND-HOOK*. Then
undo the definitions that the compilation has made. Only one compilation may run at a time. A second
one would keep definitions of the first, because they exist when it begins."
  (let ((*remembered* (make-hash-table :test 'eq)))
    (unwind-protect (funcall function)
      (restore-remembered))))
