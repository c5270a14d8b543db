;;;; Measures the coverage of definitions. For a while, a copy is called in place of each
;;;; definition. The copy is compiled so that it marks which of its parts run. The definition itself
;;;; stays as it is, and no other form of its file is evaluated.
;;;;
;;;; coverage.lisp compiles a copy of the file, reduced to its definitions, while MEASURING-HOOK is
;;;; the *MACROEXPAND-HOOK*. The hook replaces each top-level form by forms that install marked
;;;; copies (PUT-FUNCTION, PUT-METHOD). Loading the fasl runs these forms. TAKE-ALL removes the
;;;; copies after the tests.

(in-package "LIVE-LISP.TESTS")

(defstruct (measured (:constructor make-measured (name file form part span)))
  "A measured definition of the function NAME, in form number FORM of FILE, a native truename. PART
is its path in this form, a list of element numbers from the outside in, or NIL for the whole form.
SPAN is its start and end in the file, or NIL. REACHED is true when the definition was called."
  name file form part span (reached nil))

(defstruct (covering (:constructor make-covering ()))
  "The coverage of a run.
DEFINITIONS: a vector of MEASUREDs.
MISSED: the number of definitions that cannot be measured.
PUT: the names of functions whose definitions are replaced by copies that record which parts run.
METHODS: lists of a generic function, a method that was added to it, and the method that this one
replaced, or NIL.
OPEN: while a method is being added, a list of its generic function and the older methods, else NIL.
RECORDS: lists of a file, the parts of its forms that the copies can record, and the entries of
COVERAGE-INFO for the copies.
FORMS: a table from lists of a file and a form number to top-level forms with definitions and their
SPANS."
  (definitions (make-array 0 :adjustable t :fill-pointer t)) (missed 0) (put '()) (methods '())
  (open '()) (records '())
  (forms (make-hash-table :test 'equal)))

(sb-ext:defglobal **covering** nil "The COVERING of the run under way, or NIL.")

(defvar *measured-file* nil
  "The native truename of the file whose definitions are being compiled to be measured.")
(defvar *spans-loaded* nil "The FILE-SPANS of *MEASURED-FILE* as it was loaded, or NIL.")
(defvar *as-loaded* t
  "False while a form is processed that the compiler reads in another way than when the file was
loaded, since another form, which is left out, sets a reader macro.")
(defvar *left-names* '()
  "Names of tests. Their functions are not measured if a macro of a test framework defines them.")
(defvar *frameworks-homes* '() "The packages of the test frameworks, to recognize their macros.")
(defvar *framework-made* nil "True while the expansion of a test framework's macro is processed.")

(defvar *inline-names* '()
  "Names of inline functions. They are compiled as NOTINLINE, since inlined code would not be
marked.")

(defun measured-at (index)
  "Return the MEASURED with INDEX, as returned by NOTE-MEASURED."
  (aref (covering-definitions **covering**) index))

(defun own-path (form)
  "Return SBCL's path of FORM, whose second element is FORM's number in the top-level form being
compiled. Return NIL when FORM is not in the text but made by a macro."
  (let* ((paths source-paths) (path (and (hash-table-p paths) (gethash form paths))))
    (and (consp path) path)))

(defun path-of (form)
  "Return the path of FORM: the number of the top-level form being compiled, then element numbers in
that form. Return NIL when FORM is not in the text but made by a macro."
  (reverse (cddr (own-path form))))

(defun note-measured (name form number)
  "Record that FORM is measured: it defines NAME, in the top-level form with NUMBER. Return the
index of the new MEASURED."
  (let ((path (own-path form)) (spans (form-spans *spans-read* number)))
    (vector-push-extend (make-measured name *measured-file* number (rest (path-of form))
                                       (and path spans (list-span spans (second path))))
                        (covering-definitions **covering**))))

(defun note-missed ()
  "Count a definition that cannot be measured. Return NIL: no forms are compiled for it."
  (incf (covering-missed **covering**))
  '())

;;; The forms that are compiled

(defun of-file-p (function)
  "True when FUNCTION was defined by *MEASURED-FILE*."
  (let ((name (identity-file function)))
    (and name (equal *measured-file* (file-path name)))))

(defun replaceable-p (name)
  "True when NAME names an ordinary function defined by *MEASURED-FILE*, without wrappers."
  (and *as-loaded*
       (typep name '(or symbol (cons (eql setf) (cons symbol null))))
       (fboundp name)
       (not (and (symbolp name) (or (macro-function name) (special-operator-p name))))
       (let ((function (plain-definition name)))
         (and (not (typep function 'generic-function))
              (of-file-p function)
              (eq function (global-function name))))))

(defun body-parts (body)
  "Return two values: the declarations of BODY, a function's body, and the forms after them, without
the docstring."
  (loop for tail on body
        for form = (first tail)
        if (and (consp form) (eq (first form) 'declare)) collect form into declarations
          else unless (and (stringp form) (rest tail)) return (values declarations tail)
        finally (return (values declarations '()))))

(defun marking-body (body index &optional block)
  "Return BODY, of the function of the MEASURED with INDEX, with code that marks which parts run.
BLOCK is NIL or a list of a name: then the forms are in a block of this name."
  (multiple-value-bind (declarations forms) (body-parts body)
    `(,@declarations
      (declare (optimize (,+coverage-quality+ 3)) (notinline ,@*inline-names*))
      (setf (measured-reached (load-time-value (measured-at ,index))) t)
      ,@(if block `((block ,(first block) ,@forms)) forms))))

(defun measured-function (form number)
  "Return a list of forms that put a marking copy in place of the function that FORM defines. FORM
is a DEFUN in the top-level form with NUMBER."
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
  "Return a list of forms that put a marking copy in place of a method of the generic function NAME.
REST is the rest of its DEFMETHOD after NAME. The method is defined by FORM, a DEFMETHOD or an
option of a DEFGENERIC, in the top-level form with NUMBER."
  (let* ((tail (member-if #'listp rest)) (qualifiers (ldiff rest tail)))
    (if (and *as-loaded* (fboundp name) (typep (plain-definition name) 'generic-function))
        `((note-methods ',name)
          (defmethod ,name ,@qualifiers
            ,(first tail)
            ,@(marking-body (rest tail) (note-measured name form number)))
          (put-method))
        (note-missed))))

(defun of-system-p (symbol)
  "True when SYMBOL is of a locked package, such as SBCL's own, so that its definition does not
change."
  (let ((package (symbol-package symbol))) (and package (sb-ext:package-locked-p package))))

(defparameter *stand-ins* '((progn . prog1) (eval-when . when))
  "An alist from special operators to macros that replace them in the compiled text. The compiler
calls *MACROEXPAND-HOOK* only for macros.")

(defun measured-parts (parts environment number)
  "Return the MEASURED-FORMS of all PARTS, which are forms in ENVIRONMENT and in the top-level form
with NUMBER."
  (loop for part in parts append (measured-forms part environment number)))

(defun measured-forms (form environment number)
  "Return a list of forms to compile in place of FORM: marking copies of its definitions. FORM is in
ENVIRONMENT and in the top-level form with NUMBER."
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
  "Return the number of FORM if it is the whole top-level form being compiled, else NIL."
  (let ((path (path-of form))) (and path (null (rest path)) (first path))))

;;; Atoms. SBCL marks only forms that are lists. So an atom that a macro evaluates conditionally is
;;; put into a PROGN.

(defparameter *loop-results*
  '("COLLECT" "COLLECTING" "APPEND" "APPENDING" "NCONC" "NCONCING" "COUNT" "COUNTING" "SUM"
    "SUMMING" "MAXIMIZE" "MAXIMIZING" "MINIMIZE" "MINIMIZING" "RETURN")
  "Keywords of LOOP with a form that is evaluated conditionally, if they follow IF or WHEN.")

(defun marked-atom (atom list element)
  "Return (PROGN ATOM) in place of ATOM, element number ELEMENT of LIST, with the source path of
this element."
  (let* ((paths source-paths)
         (form (list 'progn atom))
         (path (and (hash-table-p paths) (gethash list paths))))
    (when path
      (setf (gethash form paths) (list* (first path) (second path) element (cddr path))))
    form))

(defun result-of-loop-p (part before)
  "True when PART of a LOOP is the form that belongs to the keyword BEFORE, one of *LOOP-RESULTS*."
  (and (symbolp before)
       (member before *loop-results* :test #'string=)
       (not (and (symbolp part) (string= part "IT")))))

(defun with-marked-atoms (form)
  "FORM is a form in the text. If its operator is AND, OR, WHEN, UNLESS or LOOP, return a copy with
MARKED-ATOM for the atoms that it evaluates conditionally. Else return FORM itself."
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
  "Return what HOOK returns for EXPANDER, FORM and ENVIRONMENT. If FORM is in the text, its
conditional atoms are marked first."
  (let ((marked (if (path-of form) (with-marked-atoms form) form)))
    (if (eq marked form)
        (funcall hook expander form environment)
        ;; In a LOOP, a variable can be mistaken for a keyword, and the expansion fail.
        (handler-case (funcall hook expander marked environment)
          (error () (funcall hook expander form environment))))))

(defun measuring-hook (hook)
  "Return a *MACROEXPAND-HOOK* that replaces each top-level form by its MEASURED-FORMS, and calls
HOOK for other forms."
  (lambda (expander form environment)
    (let ((number (top-level-number form)))
      (cond ((null number) (expand-marking hook expander form environment))
            (t (setf (gethash (list *measured-file* number) (covering-forms **covering**))
                     (cons form (form-spans *spans-read* number)))
               `(progn ,@(let ((*macroexpand-hook* hook)
                               (*as-loaded* (read-alike-p *spans-loaded* *spans-read* number)))
                           (measured-forms form environment number))))))))

;;; Installing the compiled copies, and removing them

(defun put-function (name function)
  "Have calls of NAME call FUNCTION, a marking copy of its definition. If the program redefines NAME
meanwhile, the new definition is called."
  (push name (covering-put **covering**))
  (let ((copied (plain-definition name)))
    (wrap name 'live-lisp-coverage
          (lambda (original &rest arguments)
            (apply (if (eq original copied) function original) arguments)))))

(defun note-methods (name)
  "Keep the list of methods that the generic function NAME has, before a method is added."
  (let ((function (plain-definition name)))
    (setf (covering-open **covering**)
          (cons function (copy-list (sb-mop:generic-function-methods function))))))

(defun close-methods (covering)
  "Compare the methods of the generic function with those that NOTE-METHODS kept. If a method was
added since, return a list of the generic function, the new method, and the method that it replaced
or NIL, and push the list onto COVERING-METHODS. Else return NIL."
  (destructuring-bind (&optional function &rest before) (shiftf (covering-open covering) '())
    (let* ((now (and function (sb-mop:generic-function-methods function)))
           (new (first (set-difference now before)))
           (old (first (set-difference before now))))
      (when new
        (first (push (list function new old) (covering-methods covering)))))))

(defun take-method (put)
  "Undo PUT, an element of COVERING-METHODS: put the old method back, or remove the new one."
  (destructuring-bind (function new old) put
    (if old
        (add-method function old)
        (remove-method function new))))

(defun put-method ()
  "Record the method that was added since NOTE-METHODS. If it did not replace a method of
*MEASURED-FILE*, remove it again and count it as missed."
  (let* ((put (close-methods **covering**)) (old (third put)))
    (unless (and old (of-file-p (or (method-function old) (sb-mop:method-function old))))
      (when put
        (pop (covering-methods **covering**))
        (take-method put))
      (note-missed))))

(defun take-all (covering)
  "Remove all copies that COVERING has put in place."
  (sb-sys:without-interrupts
    (close-methods covering)
    (dolist (name (shiftf (covering-put covering) '()))
      (unwrap name 'live-lisp-coverage))
    (dolist (put (shiftf (covering-methods covering) '()))
      (ignore-errors (take-method put)))))
