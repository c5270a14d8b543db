;;;; Records the names that change while a form is evaluated or a file is loaded. Hooks call this
;;;; before SBCL changes a name: the name's definitions are saved then, to find at the end which are
;;;; new.

(in-package "LIVE-LISP.SOURCES")

(defstruct (touched (:constructor make-touched ()))
  "The changes of one evaluation or load so far. BEFORE maps a changed symbol to a list of the
identities of its earlier definitions. LOADED has as keys the symbols and packages that a load
changed, FUNCTIONS the function names whose function was set. LOG has the changed symbols, newest
first, and for a method a pair of its generic function's name and the method. FAILED has entries as
in LOG, and packages, of loads that did not end well. EXPORTS are lists of a package, the source
location of its DEFPACKAGE, and symbols that the DEFPACKAGE exports. VALUES maps a variable to the
value before its first definition, or to this TOUCHED when it was unbound. SLOTS maps a class to the
names of its direct slots before the changes. MAKERS maps a symbol, package or method to the
truenames of the files that were being loaded or compiled when it changed. AROUND maps it to the
truenames of the files whose load or compilation loaded these files."
  (before (make-hash-table :test 'eq)) (loaded (make-hash-table :test 'eq))
  (functions (make-hash-table :test 'equal))
  (log '()) (failed '()) (exports '())
  (values (make-hash-table :test 'eq)) (slots (make-hash-table :test 'eq))
  (makers (make-hash-table :test 'eq))
  (around (make-hash-table :test 'eq)))

(defvar *touched* nil
  "The TOUCHED of this thread while changes are recorded, :NOTHING-YET before the first, else NIL.")
(defvar *defining-package* nil
  "The source location of the DEFPACKAGE being evaluated, or T when unknown; else NIL.")

(defmacro with-touched ((variable) &body body)
  "Evaluate BODY with VARIABLE bound to this thread's TOUCHED, if changes are recorded. Errors in
BODY are ignored."
  `(when *touched*
     (let ((,variable (if (eq *touched* :nothing-yet) (setf *touched* (make-touched)) *touched*)))
       ;; Record nothing meanwhile: looking at a name can make SBCL change another.
       (let ((*touched* nil))
         (ignore-errors ,@body)))))

(defvar *around* '()
  "The truenames of the files whose load or compilation began the innermost load of this thread.")

(defun note-makers (thing touched)
  "Note in TOUCHED which files are being loaded and compiled, and which files loaded these, while
THING changes: a symbol, package or method."
  (dolist (file (set-difference (list *load-truename* *compile-file-truename*) (cons nil *around*)
                                :test #'eq))
    (pushnew file (gethash thing (touched-makers touched)) :test #'eq))
  (dolist (file *around*)
    (pushnew file (gethash thing (touched-around touched)) :test #'eq)))

(defun own-slots (class)
  "Return the names of the direct slots of CLASS."
  (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))

(defun note-slots (symbol touched)
  "Note in TOUCHED the direct slots of the class that SYMBOL names, if it is a STANDARD-CLASS, whose
instances can get other slots."
  (let* ((cell (class-cell symbol)) (class (and cell (cell-class cell))))
    (when (typep class 'standard-class)
      (setf (gethash class (touched-slots touched)) (own-slots class)))))

(defun note-symbol (symbol touched)
  "Note in TOUCHED that SYMBOL is about to change."
  (push symbol (touched-log touched))
  (note-makers symbol touched)
  (when *load-truename* (setf (gethash symbol (touched-loaded touched)) t))
  (unless (nth-value 1 (gethash symbol (touched-before touched)))
    (let ((before '()))
      (map-definitions (lambda (kind name identity)
                         (declare (ignore kind name))
                         (push identity before))
                       symbol)
      (setf (gethash symbol (touched-before touched)) before))
    (note-slots symbol touched)))

(deftype program-name ()
  "A function name that a program gives. SBCL makes other names, such as those of its own accessors
for SLOT-VALUE."
  '(or symbol (cons (eql setf) (cons symbol null))))

(defun note-name (name touched)
  "Note in TOUCHED that NAME is about to change, if it is a PROGRAM-NAME whose symbol has a home
package."
  (let ((symbol (and (typep name 'program-name) (name-symbol name))))
    (when (and symbol (symbol-package symbol)) (note-symbol symbol touched))))

(defun touch (name)
  "Note that NAME is about to change, as NOTE-NAME does."
  (with-touched (touched)
    (note-name name touched)))

(defun touch-function (name)
  "Note that the function of NAME is about to be set, perhaps to the one that NAME has."
  (with-touched (touched)
    (setf (gethash name (touched-functions touched)) t)
    (note-name name touched)))

(defun touch-method (method)
  "Note that METHOD was added to a generic function, if the name of that is a PROGRAM-NAME."
  (with-touched (touched)
    (let ((name (sb-mop:generic-function-name (sb-mop:method-generic-function method))))
      (when (typep name 'program-name)
        (note-name name touched)
        (note-makers method touched)
        (push (cons name method) (touched-log touched))))))

(defun touch-exports (symbols package)
  "Note that PACKAGE exports SYMBOLS, a symbol or a list, if a DEFPACKAGE is being evaluated."
  (with-touched (touched)
    (when *defining-package*
      (note-makers (find-package package) touched)
      (when *load-truename* (setf (gethash (find-package package) (touched-loaded touched)) t))
      (push (list* (find-package package)
                   *defining-package*
                   (if (listp symbols) symbols (list symbols)))
            (touched-exports touched)))))

(defun touch-variable (symbol)
  "Note the value of the variable SYMBOL before a definition such as DEFVAR, which does not set a
variable that is bound."
  (with-touched (touched)
    (let ((values (touched-values touched)))
      (unless (nth-value 1 (gethash symbol values))
        (setf (gethash symbol values) (if (boundp symbol) (symbol-value symbol) touched))))))

(defun call-in-load (function)
  "Call FUNCTION, which loads a file. If it does not end well, note its changes as failed."
  (let* ((*around* (union (remove nil (list *load-truename* *compile-file-truename*))
                          *around*
                          :test #'eq))
         (before (and (touched-p *touched*) *touched*)) (done nil)
         (log (and before (touched-log before))) (exports (and before (touched-exports before))))
    (unwind-protect (multiple-value-prog1 (funcall function) (setf done t))
      (when (and (not done) (touched-p *touched*))
        (setf (touched-failed *touched*)
              (append (ldiff (touched-log *touched*) log)
                      (mapcar #'first (ldiff (touched-exports *touched*) exports))
                      (touched-failed *touched*)))))))
