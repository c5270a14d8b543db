;;;; Records which names get new definitions while a form is evaluated or a file is loaded:
;;;; CALL-NOTING (loads.lisp) binds *RECORDING*, and CALL-IN-LOAD keeps track of the files that load
;;;; each other. Meanwhile hooks (folder journal) call the functions RECORD-...:
;;;; - RECORD-CHANGE before SBCL defines a name. For a definition it can be called several times, by
;;;;   several hooks. The first call saves the definitions that the name has until then. At the end,
;;;;   CALL-NOTING compares the present definitions with them: others are new.
;;;; - RECORD-METHOD after SBCL has added a method. The method is new, so nothing is compared.
;;;; - RECORD-EXPORTS before EXPORT, and after a DEFPACKAGE.
;;;; - RECORD-VARIABLE before a variable is defined, and RECORD-EVALUATED when a form that is in no
;;;;   file sets or declares one.
;;;; NOTE-CHANGE, which most of them call, also records which files make the change.

(in-package "LIVE-LISP.SOURCES")

(defstruct (change (:constructor make-change ()))
  "The recorded facts about a changed symbol, package or method.
BEFORE: for a symbol, a list of the objects, such as functions and classes, that were its
definitions before the changes.
ASSIGNED: a list of (KIND . NAME) pairs, one for each name to which a SETF form, for example of
FDEFINITION, has given a function or macro. NAME is this symbol or a list such as (SETF symbol).
LOADED: true if a load has changed it. NIL if only a compilation or an evaluation has.
FILES: a list of the truenames of the files that made the changes (CHANGING-FILES).
OUTER-FILES: a list of the truenames in *OUTER-FILES* at the changes.
FORMS: a list of the results of RUNNING-FORM at the changes."
  (before '()) (assigned '()) (loaded nil) (files '()) (outer-files '()) (forms '()))

(defstruct (recording (:constructor make-recording ()))
  "The changes of one evaluation or load so far.
CHANGES: a hash table from changed symbols, packages and methods to CHANGE structures.
LOG: a list of the changed symbols and of (GENERIC-FUNCTION-NAME . METHOD) pairs, newest first.
FAILED: a list of what loads that did not end normally have changed: elements of LOG, and packages.
DEFPACKAGES: a list of lists (PACKAGE LOCATION SYMBOL...) with the source location of a DEFPACKAGE
and the symbols that it exports.
EXPORTED: a list of lists (PACKAGE SYMBOL...) with the symbols that EXPORT exports, outside a
DEFPACKAGE.
VALUES: a hash table from variables to their values before their first definition. The value of
an unbound variable is this RECORDING structure.
EVALUATED: a list of (VARIABLE . WHAT) pairs, newest first, for changes of variables outside of
loads. WHAT is :SPECIAL if the variable was declared special or global, or :VALUE if a form set it.
SLOTS: a hash table from the changed classes and their subclasses to (DIRECT . ALL) pairs. Before
the changes, the direct slots of the class had the names in the list DIRECT, and all its slots had
the names in the list ALL.
LOADS: a list of (PATH . DATE) pairs for the source files that were loaded to their ends, from
NOTE-LOADED."
  (changes (make-hash-table :test 'eq)) (log '()) (failed '())
  (defpackages '()) (exported '())
  (values (make-hash-table :test 'eq)) (evaluated '())
  (slots (make-hash-table :test 'eq))
  (loads '()))

(defun change-of (thing recording)
  "Return the CHANGE structure of THING, a symbol, package or method, in RECORDING, a RECORDING
structure. Return NIL if THING has not changed."
  (values (gethash thing (recording-changes recording))))

(defun changed-symbols (recording)
  "Return a list of the changed symbols in RECORDING, a RECORDING structure."
  (loop for thing being the hash-keys of (recording-changes recording)
        when (symbolp thing) collect thing))

(defvar *recording* nil
  "The RECORDING structure of this thread while it records changes, :NOTHING-YET before the first
change, or NIL while it records none.")
(defvar *defining-package* nil
  "The source location of the DEFPACKAGE that is being evaluated, T if this location is unknown, or
NIL.")

(defmacro with-recording ((variable) &body body)
  "If this thread records changes, evaluate the forms BODY inside WITH-ISOLATION, with VARIABLE
bound to the RECORDING structure of this thread. Otherwise do nothing."
  `(when *recording*
     (let ((,variable (if (eq *recording* :nothing-yet)
                          (setf *recording* (make-recording))
                          *recording*)))
       ;; Record no changes while BODY runs: when BODY looks up a name, SBCL itself may change the
       ;; definitions of another name.
       (let ((*recording* nil))
         (with-isolation ,@body)))))

;;; Which files make a change
;;;
;;; A file A can load a file B while it is loaded or compiled itself. While B is loaded, SBCL binds
;;; *LOAD-TRUENAME* to B. If A is compiled, *COMPILE-FILE-TRUENAME* still is A. The changes are made
;;; by B (CHANGING-FILES), within A (*OUTER-FILES*).

(defvar *outer-files* '()
  "A list of the truenames of the files whose load or compilation led to the load that this thread
performs now, the direct cause first.")

(defun files-since-load ()
  "Return a list of the truenames of the file that this thread loads now and of the file that it
compiles now, without those in *OUTER-FILES*, which began before the innermost load."
  ;; EQ finds them, since *OUTER-FILES* has the objects to which SBCL has bound these variables. If
  ;; a file loads itself, the inner load has another object.
  (set-difference (remove nil (list *load-truename* *compile-file-truename*)) *outer-files*
                  :test #'eq))

(defun changing-files ()
  "Return a list of the truenames of the files that make the changes in this thread now. If a file
loads a stream that is no file, such as a string stream, this file makes the changes."
  (or (files-since-load)
      (and (null *load-truename*) *outer-files* (list (first *outer-files*)))))

(defun running-form ()
  "Return a pair (FILE . NUMBER) for the innermost top-level form whose compiled code this thread
runs. FILE is SBCL's name of the source file, and NUMBER the number of the form in it. Return NIL if
there is no such form, as in a load of a source file."
  (nil-if-unknown
    (loop for frame = (top-frame) then (frame-below frame)
          while frame
          when (eq :toplevel (debug-kind (frame-function frame)))
            return (let ((place (frame-place frame)))
                     (cons (source-name (place-source place)) (place-top-level-form place))))))

(defun identities (symbol)
  "Return a list of the identities of the definitions that SYMBOL has. An identity is an object that
a later definition does not share, such as a function."
  (let ((identities '()))
    (map-definitions (lambda (kind name identity)
                       (declare (ignore kind name))
                       (push identity identities))
                     symbol)
    identities))

(defun note-change (thing recording)
  "Record in RECORDING, a RECORDING structure, that THING, a symbol, package or method, is about to
change, and the files that change it. Return its CHANGE structure."
  (let ((change (or (change-of thing recording)
                    (setf (gethash thing (recording-changes recording)) (make-change))))
        (form (and (or *load-truename* *outer-files*) (running-form))))
    (when *load-truename* (setf (change-loaded change) t))
    (dolist (file (changing-files)) (pushnew file (change-files change) :test #'eq))
    (dolist (file *outer-files*) (pushnew file (change-outer-files change) :test #'eq))
    (when form (pushnew form (change-forms change) :test #'equal))
    change))

(defun direct-slot-names (class)
  "Return a list of the names of the direct slots of CLASS."
  (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))

(defun slots-with-inherited (class)
  "Return a list of the names of all slots of CLASS, including inherited ones that SBCL has not
computed yet."
  (reduce #'union (mapcar #'slots-with-inherited (sb-mop:class-direct-superclasses class))
          :initial-value (direct-slot-names class)))

(defun note-slots (symbol recording)
  "The class SYMBOL is about to be changed. If it is a STANDARD-CLASS, record its slots in
RECORDING, a RECORDING structure, to compare them with the slots after the change. Do so for its
subclasses too, because the change can move a slot to one of them."
  (let* ((cell (class-cell symbol)) (class (and cell (cell-class cell)))
         (table (recording-slots recording)))
    (when (typep class 'standard-class)
      (dolist (each (cons class (classes-below class)))
        (unless (gethash each table)
          (setf (gethash each table)
                (cons (direct-slot-names each) (slots-with-inherited each))))))))

(defun note-symbol (symbol recording)
  "Record in RECORDING, a RECORDING structure, that SYMBOL is about to change, and the definitions
that it has now. Return its CHANGE structure."
  (push symbol (recording-log recording))
  (let* ((known (change-of symbol recording)) (change (note-change symbol recording)))
    (unless known (setf (change-before change) (identities symbol)))
    (note-slots symbol recording)
    change))

(deftype program-name ()
  "The type of function names in programs: a symbol or (SETF symbol). SBCL also makes other names,
such as those of its own accessors for SLOT-VALUE."
  '(or symbol (cons (eql setf) (cons symbol null))))

(defun note-name (name recording)
  "Record in RECORDING, a RECORDING structure, that NAME is about to change, and return the CHANGE
structure of its symbol. Return NIL unless NAME is a PROGRAM-NAME whose symbol has a home package."
  (let ((symbol (and (typep name 'program-name) (name-symbol name))))
    (and symbol (symbol-package symbol) (note-symbol symbol recording))))

(defun record-change (name &optional assigned-kind)
  "If this thread records changes, record that NAME, a function name, is about to change. If a SETF
form, for example of MACRO-FUNCTION, is about to give NAME a function, ASSIGNED-KIND is the kind of
this definition, such as :MACRO. It is recorded because NAME may have this function already, so that
a comparison would find no change."
  (with-recording (recording)
    (let ((change (note-name name recording)))
      (when (and assigned-kind change)
        (pushnew (cons assigned-kind name) (change-assigned change) :test #'equal)))))

(defun record-method (method)
  "Record that METHOD was added to its generic function, if the name of the generic function is a
PROGRAM-NAME."
  (with-recording (recording)
    (let ((name (sb-mop:generic-function-name (sb-mop:method-generic-function method))))
      (when (typep name 'program-name)
        ;; METHOD is added already. But the definitions of NAME that NOTE-NAME saves are those
        ;; from before: they include the generic function, which stays the same, and no methods.
        (note-name name recording)
        (note-change method recording)
        (push (cons name method) (recording-log recording))))))

(defun record-exports (symbols package)
  "Record that PACKAGE exports SYMBOLS, a symbol or a list. If a DEFPACKAGE is being evaluated, also
record its source location. The hook of DEFPACKAGE passes NIL as SYMBOLS, so that a package without
exports is recorded too."
  (with-recording (recording)
    (let ((package (find-package package)) (symbols (if (listp symbols) symbols (list symbols))))
      (cond (*defining-package*
             (note-change package recording)
             (push (list* package *defining-package* symbols) (recording-defpackages recording)))
            (t (push (cons package symbols) (recording-exported recording)))))))

(defun record-variable (symbol)
  "A form such as DEFVAR is about to define the variable SYMBOL, and keeps its value if SYMBOL is
bound. Record the present value of SYMBOL, unless an earlier value of it is recorded already."
  (with-recording (recording)
    (let ((values (recording-values recording)))
      (unless (nth-value 1 (gethash symbol values))
        (setf (gethash symbol values) (if (boundp symbol) (symbol-value symbol) recording))))))

(defun record-evaluated (symbol what)
  "Record a change of the variable SYMBOL, unless a file is being loaded or compiled. WHAT is
:SPECIAL if SYMBOL was declared special or global, or :VALUE if a form set SYMBOL."
  (unless (or *load-truename* *compile-file-truename*)
    (with-recording (recording)
      (push (cons symbol what) (recording-evaluated recording)))))

(defun call-in-load (function)
  "Call FUNCTION, which loads a file, and return its values. If FUNCTION makes a non-local exit, add
the names that the load has changed to the slot FAILED of *RECORDING*."
  (flet ((so-far (slot) (and (recording-p *recording*) (funcall slot *recording*))))
    (let ((*outer-files* (append (files-since-load) *outer-files*)) (done nil)
          (log (so-far #'recording-log))
          (defpackages (so-far #'recording-defpackages)))
      (unwind-protect (multiple-value-prog1 (funcall function) (setf done t))
        (when (and (not done) (recording-p *recording*))
          ;; LDIFF returns the elements that FUNCTION has added to the list.
          (setf (recording-failed *recording*)
                (append (ldiff (recording-log *recording*) log)
                        (mapcar #'first
                                (ldiff (recording-defpackages *recording*) defpackages))
                        (recording-failed *recording*))))))))
