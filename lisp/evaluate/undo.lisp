;;;; What compiling leaves behind is taken back. A file that is compiled defines its macros, types and constants in
;;;; the image, and tells the compiler of its functions. What was defined meanwhile from elsewhere, by an evaluation
;;;; or by a file that the code loads, stays.

(in-package "LIVE-LISP.EVALUATE")

(defvar *form-file* nil "The true name of the file that this compilation is of.")

(defvar *remembered* nil
  "What was there before, of all that the forms of this compilation can define. By symbol it has what *ASPECTS*
return; by a symbol without a home, NIL: there was no package of that name.")

;;; Where a definition is from

(defun location-file (location)
  "Return the name of the file in which LOCATION, of the compiler, is, or NIL when it is in none. Return :UNKNOWN when
it is no location."
  (typecase location
    (source-location (location-name location))
    ;; What DEFSETF leaves.
    ((cons t cons) (location-file (cddr location)))
    (t :unknown)))

(defun function-file (function)
  "Return the name of the file in which FUNCTION is, or NIL when it is in none. Return :UNKNOWN for one of the system,
such as the closure of a trivial type or macro."
  (let ((file (introspect "DEFINITION-SOURCE-PATHNAME" (introspect "FIND-DEFINITION-SOURCE" function))))
    (if (typep file 'logical-pathname) :unknown file)))

(defun from-elsewhere-p (object)
  "True when OBJECT, a function or a location, is known to be from elsewhere than *FORM-FILE*."
  (let ((file (if (functionp object) (function-file object) (location-file object))))
    (not (or (eq file :unknown) (and file (equal (pathname file) *form-file*))))))

(defun defined-elsewhere-p (before now)
  "True when NOW, what tells where a thing is from, has something from elsewhere that BEFORE has not."
  (some (lambda (object) (and (not (member object before :test #'eq)) (from-elsewhere-p object))) now))

;;; What SBCL knows about a name

(defparameter *variable-categories* '(:variable :source-location) "Those of known info that are about variables.")
(defparameter *class-categories* '(:type :typed-structure) "Those that are about types.")

(defun other-categories ()
  "Return the categories of known info that are about neither functions, nor variables, nor types."
  (set-difference (loop for kind across known-kinds
                        for category = (and kind (kind-category kind))
                        when category collect category)
                  (list* :function (append *variable-categories* *class-categories*))))

(defun info-numbers (categories)
  "Return the numbers of what SBCL can know of CATEGORIES about a name, without that of its
function itself, which other functions refer to."
  (loop for kind across known-kinds
        for category = (and kind (kind-category kind))
        when (and (member category categories)
                  (not (and (eq category :function)
                            (eq :definition (kind-name kind)))))
          collect (kind-number kind)))

(defun known-info (name categories)
  "Return what SBCL knows of CATEGORIES about NAME, a symbol or (SETF symbol): pairs of number
and value."
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

;;; The aspects of a symbol. Each is a function of the symbol. It returns a list that tells where that aspect is from,
;;; and a function that makes it be so again.

(defun plain-function (name)
  "Return the function that NAME names, or NIL for none or what stands in the place of a macro."
  (let ((function (and (fboundp name) (plain-definition name))))
    (and function (not (typep (plain-function-name function) '(cons (eql :macro)))) function)))

(defun function-aspect (name)
  "The aspect of what the function name NAME names."
  (let* ((info (known-info name '(:function)))
         (macro (and (symbolp name) (macro-function name)))
         (function (plain-function name)))
    (values (list* macro function (mapcar #'cdr info))
            (lambda ()
              ;; FMAKUNBOUND, which compiling does not do, leaves no kind.
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
  "The aspect of SYMBOL as a variable. Its value is left as it is, but one that it has as a
constant or a global variable and had not."
  (let ((bound (boundp symbol)) (info (known-info symbol *variable-categories*)))
    (values (mapcar #'cdr info)
            (lambda ()
              (let ((unbind (and (not bound) (boundp symbol)
                                 (member (known :variable :kind symbol)
                                         '(:constant :global)))))
                (restore-info symbol *variable-categories* info)
                (when unbind (makunbound symbol)))))))

(defun other-aspect (symbol)
  "The aspect of all else that SBCL knows about SYMBOL, such as how to SETF its places."
  (let* ((categories (other-categories)) (info (known-info symbol categories)))
    (values (mapcar #'cdr info)
            (lambda () (restore-info symbol categories info)))))

(defun classoid-of (symbol)
  "Return what the compiler has for the class SYMBOL, or NIL, and its class, or NIL."
  (let ((cell (class-cell symbol)))
    (if cell
        (values (cell-classoid cell)
                (cell-class cell))
        (values nil nil))))

(defun class-locations (symbol)
  "Return where the class SYMBOL is from, a list: evaluating a definition notes it, compiling not."
  (multiple-value-bind (classoid class) (classoid-of symbol)
    (list (and classoid (classoid-location classoid))
          (and class (ignore-errors (class-location class))))))

(defun layouts (symbol classoid)
  "Return the layouts of instances that CLASSOID, of the class SYMBOL, has: that in force, and that
of a definition that was only compiled."
  (remove nil (list (classoid-layout classoid)
                    (known :type :compiler-layout symbol))))

(defun superclassoids (symbol)
  "Return what the compiler has for the superclasses of the class SYMBOL."
  (let ((classoid (classoid-of symbol)))
    (and classoid
         (loop for layout in (layouts symbol classoid)
               append (map 'list (lambda (layout) (layout-classoid layout))
                           (layout-inherits layout))))))

(defun restore-class (symbol old class layout state supers)
  "Make SYMBOL name CLASS, which the compiler has as OLD, in that STATE and below SUPERS; or none
without OLD. A definition of another kind of class gives LAYOUT to that, which is taken back too."
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
                ;; So does (SETF (FIND-CLASS ...) NIL).
                (unless (and info (not (known :type :kind symbol)))
                  (restore-class symbol old class layout state supers)
                  (restore-info symbol *class-categories* info)))))))

(defparameter *aspects*
  '(function-aspect setf-function-aspect class-aspect variable-aspect other-aspect)
  "What a symbol can name, each apart from the others.")

;;; Remembering

(defun remember-symbol (symbol)
  "Keep what SYMBOL is, unless no program may define it. What was kept before gives way to what
was defined from elsewhere since."
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
  "Keep what the symbols in FORM, which may be circular, are."
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
  "Keep that there is no package NAME, a string designator, when there is none."
  (let ((name (and (typep name '(or string symbol character)) (string name))))
    (unless (or (null name) (find-package name))
      (setf (gethash (make-symbol name) *remembered*) nil))))

(defun defines-p (form)
  "True when FORM is of a macro of the system that defines or declares something."
  (let* ((operator (and (consp form) (car form)))
         (package (and operator (symbolp operator) (symbol-package operator))))
    (and package
         (or (eq operator 'declaim) (eql 0 (search "DEF" (symbol-name operator))))
         (sb-ext:package-locked-p package))))

(defun expand-remembering (function form environment)
  "The *MACROEXPAND-HOOK* of a compilation. It keeps what the expansion of FORM can define, unless FORM stands in
another file, which code of the forms compiles or loads."
  (let ((own (and (null *load-truename*) (equal *compile-file-truename* *form-file*))))
    (when (and own (consp form) (eq (car form) 'defpackage))
      (remember-package (second form)))
    (let ((expansion (funcall function form environment)))
      (when (and own (defines-p form))
        (remember-symbols form)
        (remember-symbols expansion))
      expansion)))

(note-frame 'expand-remembering :between)

;;; Taking back

(defun restore-symbol (symbol kept)
  "Make SYMBOL be as KEPT says, but what was defined from elsewhere since."
  (loop for aspect in *aspects*
        for (before . restore) in kept
        unless (defined-elsewhere-p before (funcall aspect symbol))
          do (ignore-errors (funcall restore))))

(defun restore-package (name)
  "Delete the package NAME, unless another uses it or something is defined in it."
  (let ((package (find-package name)))
    (when (and package
               (null (package-used-by-list package))
               (not (from-elsewhere-p (package-location package)))
               (do-symbols (symbol package t)
                 (when (and (eq (symbol-package symbol) package) (or (natures symbol) (symbol-plist symbol)))
                   (return nil))))
      (ignore-errors (delete-package package)))))

(defun restore-remembered ()
  "Make all that is remembered be as it was; packages last, because symbols are in them."
  (let ((names '()))
    (maphash (lambda (symbol kept)
               (if (symbol-package symbol)
                   (restore-symbol symbol kept)
                   (push (symbol-name symbol) names)))
             *remembered*)
    (mapc #'restore-package names))
  ;; The compiler remembers what types meant.
  (forget-types))

(defun call-undoing-definitions (function)
  "Call FUNCTION, which compiles *FORM-FILE* with EXPAND-REMEMBERING, and take back what that
defines. The server has one compilation at a time, so that none takes for what was there before
what another has just defined."
  (let ((*remembered* (make-hash-table :test 'eq)))
    (unwind-protect (funcall function)
      (restore-remembered))))
