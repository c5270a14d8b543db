;;;; Records the names that change while a form is evaluated or a file is loaded. Hooks call these
;;;; functions before SBCL changes a name. They save the name's definitions: so the new ones can be
;;;; found at the end.

(in-package "LIVE-LISP.SOURCES")

(defstruct (touched (:constructor make-touched ()))
  "The changes of one evaluation or load so far. BEFORE is a table from changed symbols to lists of
the identities of their earlier definitions. LOADED has the symbols and packages changed by a load
as keys, FUNCTIONS the names of functions that were set. LOG are the changed symbols, newest first;
for a method, it has a pair of the name of its generic function and the method. FAILED has such
entries, and packages, from loads that did not end normally. EXPORTS are lists of a package, the
source location of its DEFPACKAGE, and symbols that this exports. VALUES is a table from variables
to their values before their first definition; this TOUCHED stands for an unbound variable. SLOTS is
a table from classes to the names of their direct slots before the changes. MAKERS is a table from
changed symbols, packages and methods to the truenames of the files that were then being loaded or
compiled. AROUND is such a table for the files whose load or compilation loaded those files."
  (before (make-hash-table :test 'eq)) (loaded (make-hash-table :test 'eq))
  (functions (make-hash-table :test 'equal))
  (log '()) (failed '()) (exports '())
  (values (make-hash-table :test 'eq)) (slots (make-hash-table :test 'eq))
  (makers (make-hash-table :test 'eq))
  (around (make-hash-table :test 'eq)))

(defvar *touched* nil
  "The TOUCHED of this thread while changes are recorded, or :NOTHING-YET before the first change.
Else NIL.")
(defvar *defining-package* nil
  "The source location of the DEFPACKAGE being evaluated, or T if it is unknown. Else NIL.")

(defmacro with-touched ((variable) &body body)
  "If changes are recorded, evaluate BODY inside APART, with VARIABLE bound to the TOUCHED of this
thread."
  `(when *touched*
     (let ((,variable (if (eq *touched* :nothing-yet) (setf *touched* (make-touched)) *touched*)))
       ;; Nothing is recorded meanwhile: looking at a name can make SBCL change another name.
       (let ((*touched* nil))
         (apart ,@body)))))

(defvar *around* '()
  "The truenames of the files whose load or compilation began the innermost load of this thread.")

(defun note-makers (thing touched)
  "Record in TOUCHED that THING, a symbol, package or method, changes while certain files are loaded
or compiled, and which files began these loads."
  (dolist (file (set-difference (list *load-truename* *compile-file-truename*) (cons nil *around*)
                                :test #'eq))
    (pushnew file (gethash thing (touched-makers touched)) :test #'eq))
  (dolist (file *around*)
    (pushnew file (gethash thing (touched-around touched)) :test #'eq)))

(defun own-slots (class)
  "Return the names of the direct slots of CLASS."
  (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))

(defun note-slots (symbol touched)
  "If SYMBOL names a STANDARD-CLASS, record the direct slots of the class in TOUCHED, for a
comparison with its slots after the change."
  (let* ((cell (class-cell symbol)) (class (and cell (cell-class cell))))
    (when (typep class 'standard-class)
      (setf (gethash class (touched-slots touched)) (own-slots class)))))

(defun note-symbol (symbol touched)
  "Record in TOUCHED that SYMBOL is about to change."
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
  "A function name as programs have them. SBCL makes other names, such as those of its own accessors
for SLOT-VALUE."
  '(or symbol (cons (eql setf) (cons symbol null))))

(defun note-name (name touched)
  "Record in TOUCHED that NAME is about to change, if it is a PROGRAM-NAME and its symbol has a home
package."
  (let ((symbol (and (typep name 'program-name) (name-symbol name))))
    (when (and symbol (symbol-package symbol)) (note-symbol symbol touched))))

(defun touch (name)
  "Record that NAME is about to change, as NOTE-NAME does."
  (with-touched (touched)
    (note-name name touched)))

(defun touch-function (name)
  "Record that the function of NAME is about to be set, perhaps to its present function."
  (with-touched (touched)
    (setf (gethash name (touched-functions touched)) t)
    (note-name name touched)))

(defun touch-method (method)
  "Record that METHOD was added to a generic function whose name is a PROGRAM-NAME."
  (with-touched (touched)
    (let ((name (sb-mop:generic-function-name (sb-mop:method-generic-function method))))
      (when (typep name 'program-name)
        (note-name name touched)
        (note-makers method touched)
        (push (cons name method) (touched-log touched))))))

(defun touch-exports (symbols package)
  "Record that PACKAGE exports SYMBOLS, a symbol or a list, if a DEFPACKAGE is being evaluated."
  (with-touched (touched)
    (when *defining-package*
      (note-makers (find-package package) touched)
      (when *load-truename* (setf (gethash (find-package package) (touched-loaded touched)) t))
      (push (list* (find-package package)
                   *defining-package*
                   (if (listp symbols) symbols (list symbols)))
            (touched-exports touched)))))

(defun touch-variable (symbol)
  "Record the value of the variable SYMBOL before a definition such as DEFVAR, which does not set a
bound variable."
  (with-touched (touched)
    (let ((values (touched-values touched)))
      (unless (nth-value 1 (gethash symbol values))
        (setf (gethash symbol values) (if (boundp symbol) (symbol-value symbol) touched))))))

(defun call-in-load (function)
  "Call FUNCTION, which loads a file. If it does not end normally, record its changes as failed."
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
