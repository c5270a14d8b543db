;;;; What compiling leaves behind is taken back: a file that is compiled defines its macros,
;;;; types and constants in the image, and tells the compiler of its functions.

(in-package "LIVE-LISP.AGENT")

(sb-ext:defglobal **as-before** (make-hash-table :test 'eq :synchronized t)
  "How what the compilations that run can define was before the first of them: a function that
makes it so again, by symbol, and by the name of a package.")

(sb-ext:defglobal **compilations** 0 "How many compilations of forms run.")

(sb-ext:defglobal **undo-lock** (sb-thread:make-mutex :name "live-lisp undo")
  "Held while **COMPILATIONS** changes.")

(defun info-numbers (name)
  "Return the numbers of what SBCL can know about NAME, a symbol or (SETF symbol), without that
of its function itself, which other functions refer to."
  (loop for kind across (internal-value ("SB-IMPL" "*INFO-TYPES*") #())
        for category = (and kind (internal-call ("SB-IMPL" "META-INFO-CATEGORY") (kind)))
        when (and (if (symbolp name) category (eq category :function))
                  (not (and (eq category :function)
                            (eq :definition (internal-call ("SB-IMPL" "META-INFO-KIND") (kind))))))
          collect (internal-call ("SB-INT" "META-INFO-NUMBER") (kind))))

(defun known-info (name)
  "Return what SBCL knows about NAME, a symbol or (SETF symbol): pairs of number and value."
  (loop for number in (info-numbers name)
        for (value known) = (multiple-value-list
                             (internal-call ("SB-IMPL" "GET-INFO-VALUE") (name number)))
        when known collect (cons number value)))

(defun restore-info (name before)
  "Make what SBCL knows about NAME be BEFORE, from KNOWN-INFO."
  (loop for (number . value) in (known-info name)
        for old = (assoc number before)
        do (cond ((null old) (internal-call ("SB-INT" "CLEAR-INFO-VALUES") (name (list number))))
                 ((not (eql value (cdr old))) (set-info name number (cdr old)))))
  (loop for (number . value) in (set-difference before (known-info name) :key #'car)
        do (set-info name number value)))

(defun set-info (name number value)
  "Make VALUE what SBCL knows under NUMBER about NAME."
  (internal-call ("SB-INT" "SET-INFO-VALUE") (name number value)))

(defun function-restorer (name)
  "Return a function that makes NAME name the function or macro that it names now, or none."
  (let* ((macro (and (symbolp name) (macro-function name)))
         (function (and (not macro) (fboundp name) (fdefinition name))))
    (lambda ()
      (cond ((and macro (not (eq macro (macro-function name)))) (setf (macro-function name) macro))
            ((and function (not (and (fboundp name) (eq function (fdefinition name)))))
             (setf (fdefinition name) function))
            ((and (fboundp name) (not macro) (not function)) (fmakunbound name))))))

(defmacro set-internal-slot (package name object value)
  "Set the slot of OBJECT that NAME of PACKAGE reads to VALUE, where this SBCL has such a slot."
  (let ((reader (internal-function package name)))
    (and reader `(setf (,reader ,object) ,value))))

(defun class-restorer (symbol)
  "Return a function that makes SYMBOL name the class that it names now, or none. A definition
of another kind of class gives the layout of instances to that, which is taken back too."
  (flet ((cell () (internal-call ("SB-KERNEL" "FIND-CLASSOID-CELL") (symbol)))
         (classoid (cell) (and cell (internal-call ("SB-KERNEL" "CLASSOID-CELL-CLASSOID") (cell)))))
    (let* ((old (classoid (cell)))
           (class (and old (internal-call ("SB-KERNEL" "CLASSOID-CELL-PCL-CLASS") ((cell)))))
           (layout (and old (internal-call ("SB-KERNEL" "CLASSOID-WRAPPER") (old)))))
      (lambda ()
        (let* ((cell (cell)) (new (classoid cell)))
          (cond ((eq new old))
                (old (set-internal-slot "SB-KERNEL" "CLASSOID-CELL-CLASSOID" cell old)
                     (set-internal-slot "SB-KERNEL" "CLASSOID-CELL-PCL-CLASS" cell class))
                (t (setf (find-class symbol) nil)))
          (when layout
            (set-internal-slot "SB-KERNEL" "CLASSOID-WRAPPER" old layout)
            (set-internal-slot "SB-KERNEL" "WRAPPER-CLASSOID" layout old)))))))

(defun value-restorer (symbol)
  "Return a function that, when SYMBOL is unbound now and was given a value as a constant or a
global variable, returns one that unbinds it again; it does not before that is taken back."
  (let ((bound (boundp symbol)))
    (lambda ()
      (if (and (not bound) (boundp symbol)
               (member (internal-call ("SB-INT" "INFO") (:variable :kind symbol)) '(:constant :global)))
          (lambda () (makunbound symbol))
          #'values))))

(defun symbol-restorer (symbol)
  "Return a function that makes SYMBOL, but its value, be what it is now."
  (let* ((setf (list 'setf symbol))
         (info (known-info symbol)) (setf-info (known-info setf))
         (parts (list (function-restorer symbol) (function-restorer setf) (class-restorer symbol)))
         (value (value-restorer symbol)))
    (lambda ()
      (let ((unbind (funcall value)))
        (mapc #'funcall parts)
        (restore-info symbol info)
        (restore-info setf setf-info)
        (funcall unbind)))))

(defun remember-symbol (symbol)
  "Keep what SYMBOL is, unless that is done, or no program may define it."
  (let ((package (symbol-package symbol)))
    (unless (or (null package) (keywordp symbol) (sb-ext:package-locked-p package)
                (gethash symbol **as-before**))
      (setf (gethash symbol **as-before**) (symbol-restorer symbol)))))

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
      (setf (gethash (make-symbol name) **as-before**)
            (lambda ()
              (let ((package (find-package name)))
                (when (and package (null (package-used-by-list package)))
                  (ignore-errors (delete-package package)))))))))

(defun defines-p (form)
  "True when FORM is of a macro of the system that defines or declares something."
  (let* ((operator (and (consp form) (car form)))
         (package (and operator (symbolp operator) (symbol-package operator))))
    (and package
         (or (eq operator 'declaim) (eql 0 (search "DEF" (symbol-name operator))))
         (sb-ext:package-locked-p package))))

(defun expand-remembering (function form environment)
  "The *MACROEXPAND-HOOK* of a compilation: keep what the expansion of FORM can define."
  (when (and (consp form) (eq (car form) 'defpackage))
    (remember-package (second form)))
  (let ((expansion (funcall function form environment)))
    (when (defines-p form)
      (remember-symbols form)
      (remember-symbols expansion))
    expansion))

(defun restore-all ()
  "Make all that is kept be as it was; packages last, because symbols are in them."
  (let ((packages '()))
    (maphash (lambda (key restore)
               (if (symbol-package key)
                   (ignore-errors (funcall restore))
                   (push restore packages)))
             **as-before**)
    (mapc #'funcall packages)
    (clrhash **as-before**)))

(defun call-undoing-definitions (function)
  "Call FUNCTION, which compiles with EXPAND-REMEMBERING, and take back what that defines. Of several compilations that
run at once, the last to end does that for all, so that none takes for what was there before
what another has just defined."
  (sb-thread:with-mutex (**undo-lock**) (incf **compilations**))
  (unwind-protect (funcall function)
    (sb-thread:with-mutex (**undo-lock**)
      (when (zerop (decf **compilations**))
        (restore-all)))))
