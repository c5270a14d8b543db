;;;; What is touched while a form is evaluated or something is loaded. SBCL asks before it changes a name: what that
;;;; was then is kept, so that what is new at the end is known.

(in-package "LIVE-LISP.SOURCES")

(defstruct (touched (:constructor make-touched ()))
  "What was touched so far. BEFORE has by symbol the identities of what it was. LOADED has the symbols and packages
that a load touched, and FUNCTIONS the function names that were set. LOG has the symbols that were touched, newest first,
and for a method a pair of the name of its generic function and the method. FAILED has those of loads that did not end
well, and packages. EXPORTS are lists of a package, where its definition is from, and symbols that it is told to export. VALUES has by
symbol what a variable was before its first definition came, itself a TOUCHED when it was unbound. SLOTS has by class the names of
the slots that it defined. MAKERS has by symbol, package and method the true names of the files that were loaded or compiled
when it was touched."
  (before (make-hash-table :test 'eq)) (loaded (make-hash-table :test 'eq)) (functions (make-hash-table :test 'equal))
  (log '()) (failed '()) (exports '())
  (values (make-hash-table :test 'eq)) (slots (make-hash-table :test 'eq)) (makers (make-hash-table :test 'eq)))

(defvar *touched* nil "What is touched while this thread loads, or :NOTHING-YET, or NIL while nobody asks.")
(defvar *defining-package* nil "True while DEFPACKAGE makes or changes a package: where its form is from, or T.")

(defmacro with-touched ((variable) &body body)
  "Evaluate BODY with VARIABLE being what this thread touches, when somebody asks. No failure of it reaches the program."
  `(when *touched*
     (let ((,variable (if (eq *touched* :nothing-yet) (setf *touched* (make-touched)) *touched*)))
       ;; To look at a name can make SBCL change one.
       (let ((*touched* nil))
         (ignore-errors ,@body)))))

(defun note-makers (thing touched)
  "Note in TOUCHED which files are loaded and compiled while THING, a symbol, package or method, is touched."
  (dolist (file (list *load-truename* *compile-file-truename*))
    (when file (pushnew file (gethash thing (touched-makers touched)) :test #'eq))))

(defun own-slots (class)
  "Return the names of the slots that the definition of CLASS has."
  (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))

(defun note-slots (symbol touched)
  "Note in TOUCHED which slots the class SYMBOL defines, when it is one whose instances can get others."
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
  "A function name that a program gives. SBCL makes others, such as those of its own accessors for SLOT-VALUE."
  '(or symbol (cons (eql setf) (cons symbol null))))

(defun note-name (name touched)
  "Note in TOUCHED that NAME, a function name or what SBCL makes of one, is about to change."
  (let ((symbol (and (typep name 'program-name) (name-symbol name))))
    (when (and symbol (symbol-package symbol)) (note-symbol symbol touched))))

(defun touch (name)
  "Note that NAME, a function name or what SBCL makes of one, is about to change."
  (with-touched (touched)
    (note-name name touched)))

(defun touch-function (name)
  "Note that NAME is about to get a function, which can be one that it had."
  (with-touched (touched)
    (setf (gethash name (touched-functions touched)) t)
    (note-name name touched)))

(defun touch-method (method)
  "Note that METHOD was added to a generic function, when that is the program's."
  (with-touched (touched)
    (let ((name (sb-mop:generic-function-name (sb-mop:method-generic-function method))))
      (when (typep name 'program-name)
        (note-name name touched)
        (note-makers method touched)
        (push (cons name method) (touched-log touched))))))

(defun touch-exports (symbols package)
  "Note that PACKAGE is told to export SYMBOLS, when its definition does so."
  (with-touched (touched)
    (when *defining-package*
      (note-makers (find-package package) touched)
      (when *load-truename* (setf (gethash (find-package package) (touched-loaded touched)) t))
      (push (list* (find-package package) *defining-package* (if (listp symbols) symbols (list symbols)))
            (touched-exports touched)))))

(defun touch-variable (symbol)
  "Note that a definition of the variable SYMBOL comes, which does not set it when it is bound."
  (with-touched (touched)
    (let ((values (touched-values touched)))
      (unless (nth-value 1 (gethash symbol values))
        (setf (gethash symbol values) (if (boundp symbol) (symbol-value symbol) touched))))))

(defun call-in-load (function)
  "Call FUNCTION, which loads a file. When it does not end well note that of what it touched."
  (let* ((before (and (touched-p *touched*) *touched*)) (done nil)
         (log (and before (touched-log before))) (exports (and before (touched-exports before))))
    (unwind-protect (multiple-value-prog1 (funcall function) (setf done t))
      (when (and (not done) (touched-p *touched*))
        (setf (touched-failed *touched*)
              (append (ldiff (touched-log *touched*) log)
                      (mapcar #'first (ldiff (touched-exports *touched*) exports))
                      (touched-failed *touched*)))))))
