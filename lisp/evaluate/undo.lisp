;;;; Undoes what compiling leaves behind. Compiling a file defines its macros, types and constants in the image, and
;;;; tells the compiler of its functions. What was defined meanwhile from elsewhere, by an evaluation or by a file that
;;;; the code loads, stays.

(in-package "LIVE-LISP.EVALUATE")

(defvar *form-file* nil "The truename of the file that is compiled.")

(defvar *remembered* nil
  "What existed before, of all that the forms of this compilation can define: a table from a symbol to the results of
*ASPECTS*. A symbol without a home, with NIL, names a package that did not exist.")

;;; Where a definition comes from

(defun location-file (location)
  "Return the name of the file of LOCATION, a source location, or NIL when it has none. Return :UNKNOWN when it is no
location."
  (typecase location
    (source-location (location-name location))
    ;; The record of a DEFSETF.
    ((cons t cons) (location-file (cddr location)))
    (t :unknown)))

(defun function-file (function)
  "Return the name of the file in which FUNCTION is, or NIL when it is in none. Return :UNKNOWN for one of the system,
such as the closure of a trivial type or macro."
  (let ((file (introspect "DEFINITION-SOURCE-PATHNAME" (introspect "FIND-DEFINITION-SOURCE" function))))
    (if (typep file 'logical-pathname) :unknown file)))

(defun from-elsewhere-p (object)
  "True when OBJECT, a function or a source location, certainly comes from elsewhere than *FORM-FILE*."
  (let ((file (if (functionp object) (function-file object) (location-file object))))
    (not (or (eq file :unknown) (and file (equal (pathname file) *form-file*))))))

(defun defined-elsewhere-p (before now)
  "True when NOW, a list of functions and locations, has one from elsewhere that BEFORE lacks."
  (some (lambda (object) (and (not (member object before :test #'eq)) (from-elsewhere-p object))) now))

;;; What SBCL knows about a name

(defparameter *variable-categories* '(:variable :source-location) "SBCL's categories of information about variables.")
(defparameter *class-categories* '(:type :typed-structure) "Those about types.")

(defun other-categories ()
  "Return SBCL's categories of information about neither functions, nor variables, nor types."
  (set-difference (loop for kind across known-kinds
                        for category = (and kind (kind-category kind))
                        when category collect category)
                  (list* :function (append *variable-categories* *class-categories*))))

(defun info-numbers (categories)
  "Return the numbers of SBCL's kinds of information of CATEGORIES. Leaves out the function of a name itself, to which
other functions refer."
  (loop for kind across known-kinds
        for category = (and kind (kind-category kind))
        when (and (member category categories)
                  (not (and (eq category :function)
                            (eq :definition (kind-name kind)))))
          collect (kind-number kind)))

(defun known-info (name categories)
  "Return what SBCL knows of CATEGORIES about NAME, a symbol or (SETF symbol), as pairs of the kind's number and the
value."
  (loop for number in (info-numbers categories)
        for (value known) = (multiple-value-list (known-value name number))
        when known collect (cons number value)))

(defun restore-info (name categories before)
  "Make what SBCL knows of CATEGORIES about NAME be BEFORE, from KNOWN-INFO."
  (loop for (number . value) in (known-info name categories)
        for old = (assoc number before)
        do (cond ((null old) (forget-values name (list number)))
                 ((not (eql value (cdr old))) (know-value name number (cdr old)))))
  (loop for (number . value) in (set-difference before (known-info name categories) :key #'car)
        do (know-value name number value)))

;;; The aspects of a symbol. Each is a function of the symbol with two values: a list of functions and locations that
;;; show where the aspect comes from, and a function that restores it.

(defun plain-function (name)
  "Return the function that NAME names, or NIL for none or SBCL's stand-in for a macro."
  (let ((function (and (fboundp name) (plain-definition name))))
    (and function (not (typep (plain-function-name function) '(cons (eql :macro)))) function)))

(defun function-aspect (name)
  "The aspect of the function name NAME as a function or macro."
  (let* ((info (known-info name '(:function)))
         (macro (and (symbolp name) (macro-function name)))
         (function (plain-function name)))
    (values (list* macro function (mapcar #'cdr info))
            (lambda ()
              ;; When FMAKUNBOUND, which compiling never calls, has removed the kind, nothing is restored.
              (unless (and (or macro function) (not (fboundp name))
                           (not (known :function :kind name)))
                (cond ((and macro (not (eq macro (macro-function name)))) (setf (macro-function name) macro))
                      ((and function (not (eq function (plain-function name)))) (setf (fdefinition name) function))
                      ((and (fboundp name) (not macro) (not function)) (fmakunbound name)))
                (restore-info name '(:function) info))))))

(defun setf-function-aspect (symbol)
  "The aspect of the function (SETF SYMBOL)."
  (function-aspect (list 'setf symbol)))

(defun variable-aspect (symbol)
  "The aspect of SYMBOL as a variable. Its value stays, unless it got one as a constant or a global variable and had
none before."
  (let ((bound (boundp symbol)) (info (known-info symbol *variable-categories*)))
    (values (mapcar #'cdr info)
            (lambda ()
              (let ((unbind (and (not bound) (boundp symbol)
                                 (member (known :variable :kind symbol)
                                         '(:constant :global)))))
                (restore-info symbol *variable-categories* info)
                (when unbind (makunbound symbol)))))))

(defun other-aspect (symbol)
  "The aspect of all else that SBCL knows about SYMBOL, such as its SETF expander."
  (let* ((categories (other-categories)) (info (known-info symbol categories)))
    (values (mapcar #'cdr info)
            (lambda () (restore-info symbol categories info)))))

(defun classoid-of (symbol)
  "Return the classoid (the compiler's class object) of SYMBOL, or NIL, and its class, or NIL."
  (let ((cell (class-cell symbol)))
    (if cell
        (values (cell-classoid cell)
                (cell-class cell))
        (values nil nil))))

(defun class-locations (symbol)
  "Return a list of the locations of the class SYMBOL. Evaluating a definition records one, compiling does not."
  (multiple-value-bind (classoid class) (classoid-of symbol)
    (list (and classoid (classoid-location classoid))
          (and class (ignore-errors (class-location class))))))

(defun layouts (symbol classoid)
  "Return the layouts of CLASSOID, of the class SYMBOL: the one in force, and that of a definition that was only
compiled."
  (remove nil (list (classoid-layout classoid)
                    (known :type :compiler-layout symbol))))

(defun superclassoids (symbol)
  "Return the classoids of the superclasses of the class SYMBOL."
  (let ((classoid (classoid-of symbol)))
    (and classoid
         (loop for layout in (layouts symbol classoid)
               append (map 'list (lambda (layout) (layout-classoid layout))
                           (layout-inherits layout))))))

(defun restore-class (symbol old class layout state supers)
  "Make SYMBOL name CLASS with the classoid OLD, in STATE and below SUPERS; or none when OLD is NIL. A definition of
another kind of class has taken LAYOUT from OLD; give it back."
  (let ((cell (class-cell symbol)) (new (classoid-of symbol)))
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
  "The aspect of SYMBOL as a class or another type."
  (multiple-value-bind (old class) (classoid-of symbol)
    (let ((info (known-info symbol *class-categories*))
          (layout (and old (classoid-layout old)))
          (state (and old (classoid-state old)))
          (supers (superclassoids symbol)))
      (values (append (class-locations symbol) (mapcar #'cdr info))
              (lambda ()
                ;; Nor is anything restored after (SETF (FIND-CLASS ...) NIL).
                (unless (and info (not (known :type :kind symbol)))
                  (restore-class symbol old class layout state supers)
                  (restore-info symbol *class-categories* info)))))))

(defparameter *aspects*
  '(function-aspect setf-function-aspect class-aspect variable-aspect other-aspect)
  "What a symbol can name, each independent of the others.")

;;; Remembering

(defun remember-symbol (symbol)
  "Save the aspects of SYMBOL, unless no program may define it. Save an aspect again if it was defined from elsewhere
since."
  (let ((package (symbol-package symbol)))
    (unless (or (null package) (keywordp symbol) (sb-ext:package-locked-p package))
      (setf (gethash symbol *remembered*)
            (loop with kept = (gethash symbol *remembered*)
                  for aspect in *aspects*
                  for old = (pop kept)
                  collect (multiple-value-bind (now restore) (funcall aspect symbol)
                            (if (and old (not (defined-elsewhere-p (car old) now)))
                                old
                                (cons now restore))))))))

(defun remember-symbols (form)
  "Save the aspects of the symbols in FORM, which may be circular."
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
  "Note that there is no package NAME, a string designator, when there is none."
  (let ((name (and (typep name '(or string symbol character)) (string name))))
    (unless (or (null name) (find-package name))
      (setf (gethash (make-symbol name) *remembered*) nil))))

(defun defines-p (form)
  "True when FORM calls a macro of the system that defines or declares something."
  (let* ((operator (and (consp form) (car form)))
         (package (and operator (symbolp operator) (symbol-package operator))))
    (and package
         (or (eq operator 'declaim) (eql 0 (search "DEF" (symbol-name operator))))
         (sb-ext:package-locked-p package))))

(defun expand-remembering (function form environment)
  "The *MACROEXPAND-HOOK* of a compilation. It saves what the expansion of FORM can define, unless FORM stands in
another file that the compiled code compiles or loads."
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
  "Restore the aspects of SYMBOL from KEPT, except those defined from elsewhere since."
  (loop for aspect in *aspects*
        for (before . restore) in kept
        unless (defined-elsewhere-p before (funcall aspect symbol))
          do (ignore-errors (funcall restore))))

(defun restore-package (name)
  "Delete the package NAME, unless another uses it, it is from elsewhere, or something is defined in it."
  (let ((package (find-package name)))
    (when (and package
               (null (package-used-by-list package))
               (not (from-elsewhere-p (package-location package)))
               (do-symbols (symbol package t)
                 (when (and (eq (symbol-package symbol) package) (or (natures symbol) (symbol-plist symbol)))
                   (return nil))))
      (ignore-errors (delete-package package)))))

(defun restore-remembered ()
  "Restore all of *REMEMBERED*; packages last, because symbols are in them."
  (let ((names '()))
    (maphash (lambda (symbol kept)
               (if (symbol-package symbol)
                   (restore-symbol symbol kept)
                   (push (symbol-name symbol) names)))
             *remembered*)
    (mapc #'restore-package names))
  ;; The compiler caches what types mean.
  (forget-types))

(defun call-undoing-definitions (function)
  "Call FUNCTION, which compiles *FORM-FILE* with EXPAND-REMEMBERING, and undo its definitions. The server runs one
compilation at a time: another would take what this one has just defined for what existed before."
  (let ((*remembered* (make-hash-table :test 'eq)))
    (unwind-protect (funcall function)
      (restore-remembered))))
