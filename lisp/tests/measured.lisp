;;;; Measures the coverage of a definition. A copy, compiled so that it marks which of its parts
;;;; run, is called in place of the definition for a while. The definition itself stays as it is,
;;;; and no other form of its file is evaluated.
;;;;
;;;; coverage.lisp compiles a copy of the file, reduced to its definitions, with MEASURING-HOOK as
;;;; *MACROEXPAND-HOOK*. The hook replaces each top-level form by forms that put marked copies in
;;;; place (PUT-FUNCTION, PUT-METHOD). Loading runs these; TAKE-ALL undoes them after the tests.

(in-package "LIVE-LISP.TESTS")

(defstruct (measured (:constructor make-measured (name file form part)))
  "A measured definition: that of the function NAME, in the form with number FORM of FILE, a native
truename. PART is its path in the form, element numbers from the outside in; NIL for all of the
form. REACHED is true when it ran."
  name file form part (reached nil))

(defstruct (covering (:constructor make-covering ()))
  "The coverage of a run. DEFINITIONS are MEASUREDs. MISSED counts definitions that cannot be
measured. PUT are the names of functions that copies replace. METHODS are lists of a generic
function, a method added to it, and the method that this replaced. OPEN is a list of a generic
function and its methods before, while a method is being added. RECORDS are lists of a file, its
parts that can be marked, and the entries of COVERAGE-INFO with the code that marks them. FORMS is a
table of the top-level forms with definitions, by lists of a file and a number."
  (definitions (make-array 0 :adjustable t :fill-pointer t)) (missed 0) (put '()) (methods '())
  (open '()) (records '())
  (forms (make-hash-table :test 'equal)))

(sb-ext:defglobal **covering** nil "The COVERING of the run under way, or NIL.")

(defvar *measured-file* nil
  "The native truename of the file whose definitions are compiled to be measured.")
(defvar *left-names* '()
  "Names of tests: their functions are not measured where a framework's macro defines them.")
(defvar *frameworks-homes* '() "The packages of the frameworks, whose macros define tests.")
(defvar *framework-made* nil "True in the expansion of a framework's macro.")

(defvar *inline-names* '()
  "Names of inline functions: they would not be marked where they are inlined.")

(defun measured-at (index)
  "Return the MEASURED to which NOTE-MEASURED gave INDEX."
  (aref (covering-definitions **covering**) index))

(defun path-of (form)
  "Return the path of FORM: the number of the top-level form being compiled, and element numbers in
that form. Return NIL when FORM is not in the text."
  (let* ((paths source-paths) (path (and (hash-table-p paths) (gethash form paths))))
    (and (consp path) (reverse (cddr path)))))

(defun note-measured (name form number)
  "Record that FORM, which defines NAME in the top-level form with NUMBER, is measured. Return the
index of the record."
  (vector-push-extend (make-measured name *measured-file* number (rest (path-of form)))
                      (covering-definitions **covering**)))

(defun note-missed ()
  "Count a definition that cannot be measured. Return NIL, the forms to compile for it."
  (incf (covering-missed **covering**))
  '())

;;; The forms that are compiled

(defun of-file-p (function)
  "True when FUNCTION is from *MEASURED-FILE*."
  (let ((name (identity-file function)))
    (and name (equal *measured-file* (file-path name)))))

(defun replaceable-p (name)
  "True when NAME has an ordinary function of *MEASURED-FILE*, without wrappers."
  (and (typep name '(or symbol (cons (eql setf) (cons symbol null))))
       (fboundp name)
       (not (and (symbolp name) (or (macro-function name) (special-operator-p name))))
       (let ((function (plain-definition name)))
         (and (not (typep function 'generic-function))
              (of-file-p function)
              (eq function (global-function name))))))

(defun body-parts (body)
  "Return the declarations at the beginning of BODY, of a function, and the forms after them and
after a docstring."
  (loop for tail on body
        for form = (first tail)
        if (and (consp form) (eq (first form) 'declare)) collect form into declarations
          else unless (and (stringp form) (rest tail)) return (values declarations tail)
        finally (return (values declarations '()))))

(defun marking-body (body index &optional block)
  "Return BODY, of the function with INDEX, with code that marks which parts run. BLOCK, or NIL, is
a list of the name of the block around its forms."
  (multiple-value-bind (declarations forms) (body-parts body)
    `(,@declarations
      (declare (optimize (,+coverage-quality+ 3)) (notinline ,@*inline-names*))
      (setf (measured-reached (load-time-value (measured-at ,index))) t)
      ,@(if block `((block ,(first block) ,@forms)) forms))))

(defun measured-function (form number)
  "Return the forms that replace the function of FORM, a DEFUN of the top-level form with NUMBER, by
a copy that marks."
  (destructuring-bind (name lambda-list &rest body) (rest form)
    (cond ((and *framework-made* (member name *left-names* :test #'equal)) '())
          ((replaceable-p name)
           (let ((index (note-measured name form number)))
             `((put-function ',name
                             (,+named-lambda+ ,name ,lambda-list
                              ,@(marking-body body index
                                              (list (if (consp name) (second name) name))))))))
          (t (note-missed)))))

(defun measured-method (name rest form number)
  "Return the forms that replace, by a copy that marks, the method of the generic function NAME that
FORM, of the top-level form with NUMBER, defined. REST are the elements of FORM after the NAME of a
DEFMETHOD."
  (let* ((tail (member-if #'listp rest)) (qualifiers (ldiff rest tail)))
    (if (and (fboundp name) (typep (plain-definition name) 'generic-function))
        `((note-methods ',name)
          (defmethod ,name ,@qualifiers
            ,(first tail)
            ,@(marking-body (rest tail) (note-measured name form number)))
          (put-method))
        (note-missed))))

(defun of-system-p (symbol)
  "True when SYMBOL is of a locked package, such as SBCL's, whose definitions do not change."
  (let ((package (symbol-package symbol))) (and package (sb-ext:package-locked-p package))))

(defparameter *stand-ins* '((progn . prog1) (eval-when . when))
  "Special operators, each with the macro that replaces it in a text: the compiler calls its hook
only for macros.")

(defun measured-parts (parts environment number)
  "Return the forms to compile in place of PARTS, forms in ENVIRONMENT of the top-level form with
NUMBER."
  (loop for part in parts append (measured-forms part environment number)))

(defun measured-forms (form environment number)
  "Return the forms to compile in place of FORM, in ENVIRONMENT, of top-level form NUMBER: copies of
its definitions."
  (destructuring-bind (&optional operator name &rest rest) (if (listp form) form '())
    (case operator
      (defun (measured-function form number))
      (defmethod (measured-method name rest form number))
      (defgeneric (loop for option in (rest rest)
                        when (and (consp option) (eq (first option) :method))
                          append (measured-method name (rest option) option number)))
      ((progn prog1) (measured-parts (rest form) environment number))
      ((eval-when when)
       (and (intersection name '(:load-toplevel load)) (measured-parts rest environment number)))
      ((in-package declaim) `((eval-when (:compile-toplevel) ,(macroexpand-1 form environment))))
      (t (and operator
              (symbolp operator)
              (macro-function operator environment)
              (not (of-system-p operator))
              (let ((*framework-made* (or *framework-made*
                                          (member (symbol-package operator) *frameworks-homes*))))
                (measured-forms (macroexpand-1 form environment) environment number)))))))

(defun top-level-number (form)
  "Return the number of FORM if it is the top-level form being compiled, else NIL."
  (let ((path (path-of form))) (and path (null (rest path)) (first path))))

;;; Atoms. SBCL marks only lists: an atom that one of these macros evaluates conditionally becomes a
;;; PROGN.

(defparameter *loop-results*
  '("COLLECT" "COLLECTING" "APPEND" "APPENDING" "NCONC" "NCONCING" "COUNT" "COUNTING" "SUM"
    "SUMMING" "MAXIMIZE" "MAXIMIZING" "MINIMIZE" "MINIMIZING" "RETURN")
  "Keywords of LOOP before a form that is evaluated conditionally after an IF or WHEN.")

(defun marked-atom (atom list element)
  "Return (PROGN ATOM), with the source path of element number ELEMENT of LIST, which is in the
text."
  (let* ((paths source-paths)
         (form (list 'progn atom))
         (path (and (hash-table-p paths) (gethash list paths))))
    (when path
      (setf (gethash form paths) (list* (first path) (second path) element (cddr path))))
    form))

(defun result-of-loop-p (part before)
  "True when PART of a LOOP is a form after BEFORE, one of *LOOP-RESULTS*."
  (and (symbolp before)
       (member before *loop-results* :test #'string=)
       (not (and (symbolp part) (string= part "IT")))))

(defun with-marked-atoms (form)
  "Return a copy of FORM, of the text, with MARKED-ATOM for atoms that it evaluates conditionally;
else FORM itself."
  (flet ((marked (markable)
           (loop for part in form
                 for before = nil then last
                 for last = part
                 for element from 0
                 collect (if (and (atom part) (funcall markable element before part))
                             (marked-atom part form element)
                             part))))
    (case (first form)
      ((and or when unless)
       (marked (lambda (element before part) (declare (ignore before part)) (> element 1))))
      (loop (marked (lambda (element before part)
                      (declare (ignore element))
                      (result-of-loop-p part before))))
      (t form))))

(defun expand-marking (hook expander form environment)
  "Return what HOOK returns for EXPANDER, FORM and ENVIRONMENT, after WITH-MARKED-ATOMS of a FORM
that is in the text."
  (let ((marked (if (path-of form) (with-marked-atoms form) form)))
    (if (eq marked form)
        (funcall hook expander form environment)
        ;; In a LOOP a variable can look like a keyword.
        (handler-case (funcall hook expander marked environment)
          (error () (funcall hook expander form environment))))))

(defun measuring-hook (hook)
  "Return a *MACROEXPAND-HOOK* that calls HOOK, but replaces a top-level form by the definitions in
it."
  (lambda (expander form environment)
    (let ((number (top-level-number form)))
      (when number
        (setf (gethash (list *measured-file* number) (covering-forms **covering**)) form))
      (if number
          `(progn ,@(let ((*macroexpand-hook* hook)) (measured-forms form environment number)))
          (expand-marking hook expander form environment)))))

;;; What loading the compiled copies does, and undoing it

(defun put-function (name function)
  "Make calls of NAME call FUNCTION, a copy of its function. What the program puts in place of that
is called itself."
  (push name (covering-put **covering**))
  (let ((copied (plain-definition name)))
    (wrap name 'live-lisp-coverage
          (lambda (original &rest arguments)
            (apply (if (eq original copied) function original) arguments)))))

(defun note-methods (name)
  "Save which methods the generic function NAME has before a method is added to it."
  (let ((function (plain-definition name)))
    (setf (covering-open **covering**)
          (cons function (copy-list (sb-mop:generic-function-methods function))))))

(defun close-methods (covering)
  "Return, and record in COVERING-METHODS, a list of the generic function of the last NOTE-METHODS,
the method added since, and the method replaced. Return NIL when none was added."
  (destructuring-bind (&optional function &rest before) (shiftf (covering-open covering) '())
    (let* ((now (and function (sb-mop:generic-function-methods function)))
           (new (first (set-difference now before)))
           (old (first (set-difference before now))))
      (when new
        (first (push (list function new old) (covering-methods covering)))))))

(defun take-method (put)
  "Undo PUT, an element of COVERING-METHODS."
  (destructuring-bind (function new old) put
    (if old
        (add-method function old)
        (remove-method function new))))

(defun put-method ()
  "Record the method added since the last NOTE-METHODS. Remove it again unless it replaced a method
of *MEASURED-FILE*."
  (let* ((put (close-methods **covering**)) (old (third put)))
    (unless (and old (of-file-p (or (method-function old) (sb-mop:method-function old))))
      (when put
        (pop (covering-methods **covering**))
        (take-method put))
      (note-missed))))

(defun take-all (covering)
  "Undo all that COVERING has put."
  (sb-sys:without-interrupts
    (close-methods covering)
    (dolist (name (shiftf (covering-put covering) '()))
      (unwrap name 'live-lisp-coverage))
    (dolist (put (shiftf (covering-methods covering) '()))
      (ignore-errors (take-method put)))))
