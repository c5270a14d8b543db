;;;; Measures the coverage of definitions. During a run of tests, a call of a function or method
;;;; runs a copy of it instead. The copy is compiled so that it records which of its parts run. The
;;;; definition itself stays unchanged, and no other form of its file is evaluated.
;;;;
;;;; coverage.lisp compiles a copy of the file that has only its definitions, while MEASURING-HOOK
;;;; is the *MACROEXPAND-HOOK*. The hook replaces each top-level form by forms that install marking
;;;; copies (PUT-FUNCTION, PUT-METHOD). Loading the fasl runs these forms. TAKE-ALL removes the
;;;; copies after the tests.

(in-package "LIVE-LISP.TESTS")

(defstruct (measured (:constructor make-measured (name file form part span)))
  "A definition whose coverage is measured.
NAME: the name of the function.
FILE, FORM: the native truename of the file, and the number of the top-level form.
PART: the path in this form, a list of element numbers from the outside in, empty for the whole
form.
SPAN: a list (START END) of positions in the file, or NIL if they are unknown.
REACHED: true if the definition was called."
  name file form part span (reached nil))

(defstruct (copied-method (:constructor make-copied-method (generic copy original)))
  "Records that a copy of a method, compiled to mark its parts that run, is in use. COPY is this
copy, a method of the generic function GENERIC. ORIGINAL is the method that COPY has replaced, or
NIL if COPY has replaced none."
  generic copy original)

(defstruct (file-record (:constructor make-file-record (file parts codes)))
  "Shows which parts of the forms of FILE have run. PARTS is a list of SB-COVER's records, one for
each part that the compiled code can mark. CODES lists the elements of COVERAGE-INFO in which the
code sets these marks."
  file parts codes)

(defstruct (covering (:constructor make-covering ()))
  "The coverage of a run of tests.
DEFINITIONS: a vector of MEASURED structures.
MISSED: the number of definitions that cannot be measured.
COPIED-FUNCTIONS: a list of the names of functions whose calls go to marking copies: copies that
mark which of their parts have run.
COPIED-METHODS: a list of COPIED-METHOD structures.
GENERIC, METHODS-BEFORE: while a method is being added, its generic function and a list of the older
methods of this function, else NIL.
RECORDS: a list of FILE-RECORD structures.
FORMS: a hash table from lists (FILE NUMBER) to conses of a top-level form and the positions of its
lists."
  (definitions (make-array 0 :adjustable t :fill-pointer t)) (missed 0)
  (copied-functions '()) (copied-methods '()) (generic nil) (methods-before '()) (records '())
  (forms (make-hash-table :test 'equal)))

(sb-ext:defglobal **covering** nil "The COVERING structure with the coverage of the tests that run
now, or NIL while none run.")

;;; The file that is being compiled

(defvar *measured-file* nil
  "The native truename of the file that is being compiled so that its definitions record coverage.")

(defvar *spans-loaded* nil
  "A FILE-SPANS structure, which says where each list begins and ends in the loaded version of
*MEASURED-FILE*. NIL if this is unknown. *SPANS-READ* (spans.lisp) says the same for the copy of the
file that is being compiled.")

(defvar *as-loaded* t
  "True if the reader has read the top-level form being compiled as it did when the file was loaded.
NIL if not, for example because the form used a reader macro, and the copy of the file lacks
the form that set this reader macro.")

(defvar *test-names* '()
  "A list of the names of tests. A function with one of these names is not measured if a macro of a
test framework defines it.")

(defvar *frameworks-homes* '()
  "A list of the packages of the loaded test frameworks. A macro of these packages is a macro of a
framework.")

(defvar *framework-made* nil
  "True while the expansion of a macro of a test framework is processed.")

(defvar *inline-names* '()
  "A list of the names of inline functions. The marking copies of definitions declare these names
NOTINLINE, since code that was inlined into a copy would not be marked.")

(defparameter *stand-ins* '((progn . prog1) (eval-when . when))
  "An alist from special operators to macros. In the text that coverage.lisp compiles, such a macro
stands in place of the special operator of a top-level form, because the compiler calls
*MACROEXPAND-HOOK* only for macros.")

(defun operator-meant (form)
  "Return the operator of FORM. If coverage.lisp put it in place of a special operator
(*STAND-INS*), return this special operator."
  (or (and (top-level-number form) (car (rassoc (first form) *stand-ins*)))
      (first form)))

(defun encloses-p (operator)
  "Return true if a form with OPERATOR, a symbol, may contain and evaluate definitions. They are not
measured there. OPERATOR is then a special operator, or a macro of SBCL that does not itself make a
definition, such as WHEN."
  (or (special-operator-p operator)
      (and (macro-function operator)
           (core-symbol-p operator)
           (not (starts-p (symbol-name operator) "DEF")))))

;;; The forms that are compiled to measure definitions

(defun measuring-hook (hook)
  "Return a function for *MACROEXPAND-HOOK*. For a top-level form, this function returns forms that
install copies of the definitions in the form. These copies mark which of their parts have run. For
any other form, the function calls HOOK, the previous value of *MACROEXPAND-HOOK*."
  (lambda (expander form environment)
    (let ((number (top-level-number form)))
      (cond ((null number) (expand-marking hook expander form environment))
            (t (setf (gethash (list *measured-file* number) (covering-forms **covering**))
                     (cons form (form-spans *spans-read* number)))
               `(progn ,@(let ((*macroexpand-hook* hook)
                               (*as-loaded* (read-alike-p *spans-loaded* *spans-read* number)))
                           (measured-forms form environment number))))))))

(defun top-level-number (form)
  "Return the number of FORM if it is the whole top-level form being compiled, else NIL."
  (let ((path (path-of form))) (and path (null (rest path)) (first path))))

(defun path-of (form)
  "Return the path of FORM: the number of the top-level form being compiled, and then the element
numbers that lead to FORM, from the outside in. Return NIL if FORM is not in the text, because a
macro has made it."
  (reverse (cddr (source-path-of form))))

(defun source-path-of (form)
  "Return the compiler's source path of FORM, or NIL if a macro has made FORM, so that it is not in
the text. The path is a list (MARK NUMBER ELEMENT... TOP-LEVEL). MARK is a constant. NUMBER is the
number of FORM within the top-level form being compiled. The ELEMENTs are the numbers that lead to
FORM, the innermost first. TOP-LEVEL is the number of the top-level form."
  (let* ((paths source-paths) (path (and (hash-table-p paths) (gethash form paths))))
    (and (consp path) path)))

(defun measured-forms (form environment number)
  "FORM is, or is part of, the top-level form NUMBER, and ENVIRONMENT is its macro environment.
Return a list of forms to compile instead of FORM. They install copies of the definitions in FORM.
When a part of such a copy runs, the copy marks that part."
  (destructuring-bind (&optional operator name &rest rest) (if (listp form) form '())
    (case (and operator (operator-meant form))
      (defun (measured-function form number))
      (defmethod (measured-method name rest form number))
      (defgeneric (loop for option in (rest rest)
                        when (and (consp option) (eq (first option) :method))
                          append (measured-method name (rest option) option number)))
      ;; PROG1 too evaluates each of its forms once, so the definitions among them are measured.
      ((progn prog1) (measured-parts (rest form) environment number))
      (eval-when
       (and (intersection name '(:load-toplevel load)) (measured-parts rest environment number)))
      ;; These are for the compilation of the following forms. They need no effect at load time.
      ((in-package declaim) `((eval-when (:compile-toplevel) ,(macroexpand-1 form environment))))
      (t (cond ((or (null operator) (not (symbolp operator))) '())
               ((and (macro-function operator environment) (not (core-symbol-p operator)))
                (let ((*framework-made* (or *framework-made*
                                            (member (symbol-package operator)
                                                    *frameworks-homes*))))
                  (measured-forms (macroexpand-1 form environment) environment number)))
               ((and (encloses-p operator) (not *framework-made*)) (note-parts-missed form)))))))

(defun note-parts-missed (form)
  "Count each DEFUN and DEFMETHOD form in FORM as a definition without coverage. Return NIL, an
empty list of forms to compile."
  (when (and (consp form) (not (eq 'quote (first form))))
    (if (member (first form) '(defun defmethod))
        (note-missed)
        (loop for rest = form then (cdr rest) while (consp rest)
              do (note-parts-missed (car rest))))))

(defun measured-parts (parts environment number)
  "PARTS are forms in the macro environment ENVIRONMENT and in top-level form NUMBER. Return a list
of forms to compile instead of PARTS: the results of MEASURED-FORMS for each of PARTS."
  (loop for part in parts append (measured-forms part environment number)))

(defun measured-function (form number)
  "FORM is a DEFUN in the top-level form with the index NUMBER in its file. Return a list of forms
to compile instead of FORM. With them, calls of the function run a copy of it, which marks each of
its parts that runs. Return NIL for a test. If no copy can replace the function, count it as missed,
and return NIL."
  (destructuring-bind (name lambda-list &rest body) (rest form)
    (cond ((and *framework-made* (member name *test-names* :test #'equal)) '())
          ((replaceable-p name)
           (let ((index (note-measured name form number)))
             `((put-function ',name
                             (,+named-lambda+ ,name ,lambda-list
                              ,@(marking-body body index
                                              (list (name-symbol name))))))))
          (t (note-missed)))))

(defun replaceable-p (name)
  "Return true if the function NAME can be replaced by a copy that marks which of its parts run: it
is an ordinary function without wrappers, *MEASURED-FILE* defined it, and *AS-LOADED* is true."
  (and *as-loaded*
       (typep name '(or symbol (cons (eql setf) (cons symbol null))))
       (global-function-p name)
       (let ((function (plain-definition name)))
         (and (not (typep function 'generic-function))
              (of-file-p function)
              (eq function (global-function name))))))

(defun of-file-p (function)
  "Return true if FUNCTION was defined by *MEASURED-FILE*."
  (let ((name (identity-file function)))
    (and name (equal *measured-file* (file-path name)))))

(defun measured-method (name rest form number)
  "FORM is a DEFMETHOD or :METHOD option in top-level form NUMBER. Return a list of forms that
replace the method by a copy, which marks each of its parts that runs. NAME is the generic function.
REST is the rest of FORM after NAME."
  (let* ((tail (member-if #'listp rest)) (qualifiers (ldiff rest tail)))
    (if (and *as-loaded* (fboundp name) (typep (plain-definition name) 'generic-function))
        `((note-methods ',name)
          (defmethod ,name ,@qualifiers
            ,(first tail)
            ,@(marking-body (rest tail) (note-measured name form number)))
          (put-method))
        (note-missed))))

(defun marking-body (body index &optional block)
  "Return BODY, the body of a function, with additions that mark each part that runs. INDEX is the
index of the function in COVERING-DEFINITIONS, from NOTE-MEASURED. If BLOCK is a list of one name,
put the forms into a block of this name."
  (multiple-value-bind (declarations forms) (body-parts body)
    `(,@declarations
      (declare (optimize (,+coverage-quality+ 3)) (notinline ,@*inline-names*))
      (setf (measured-reached (load-time-value (aref (covering-definitions **covering**)
                                                    ,index))) t)
      ,@(if block `((block ,(first block) ,@forms)) forms))))

(defun body-parts (body)
  "Return two values for BODY, the body of a function: a list of its declarations, and a list of the
following forms, without the docstring."
  (loop for tail on body
        for form = (first tail)
        if (and (consp form) (eq (first form) 'declare)) collect form into declarations
          else unless (and (stringp form) (rest tail)) return (values declarations tail)
        finally (return (values declarations '()))))

(defun note-measured (name form number)
  "FORM defines NAME in top-level form NUMBER. Add a MEASURED structure for FORM to
COVERING-DEFINITIONS, and return the index of this structure there."
  (let ((path (source-path-of form)) (spans (form-spans *spans-read* number)))
    (vector-push-extend (make-measured name *measured-file* number (rest (path-of form))
                                       (and path spans (list-span spans (second path))))
                        (covering-definitions **covering**))))

(defun note-missed ()
  "Count a definition whose coverage cannot be measured. Return NIL, an empty list of forms to
compile."
  (incf (covering-missed **covering**))
  '())

;;; Atoms. SBCL marks only forms that are lists. So an atom that a macro evaluates conditionally is
;;; replaced by a PROGN with the atom.

(defparameter *loop-results*
  '("COLLECT" "COLLECTING" "APPEND" "APPENDING" "NCONC" "NCONCING" "COUNT" "COUNTING" "SUM"
    "SUMMING" "MAXIMIZE" "MAXIMIZING" "MINIMIZE" "MINIMIZING" "RETURN")
  "LOOP keywords that are followed by a form. After IF or WHEN, this form is evaluated
conditionally.")

(defun expand-marking (hook expander form environment)
  "Expand FORM by HOOK, a function for *MACROEXPAND-HOOK*, with the macro function EXPANDER and the
macro environment ENVIRONMENT. If FORM is in the text and not made by a macro, first put a PROGN
around each atom in FORM that is evaluated conditionally."
  (let ((marked (if (path-of form) (with-marked-atoms form) form)))
    (if (eq marked form)
        (funcall hook expander form environment)
        ;; WITH-MARKED-ATOMS can mistake a variable in a LOOP for a keyword, so that the expansion
        ;; fails.
        (handler-case (funcall hook expander marked environment)
          (error () (funcall hook expander form environment))))))

(defun with-marked-atoms (form)
  "FORM is a form that no macro made. If its operator is AND, OR, WHEN, UNLESS or LOOP, return a
copy of FORM with a PROGN around each atom that is evaluated conditionally. Otherwise return FORM."
  (flet ((conditional-p (part before element)
           (case (first form)
             ((and or when unless) (> element 1))
             (loop (result-of-loop-p part before)))))
    (if (member (first form) '(and or when unless loop))
        (loop for part in form
              for before = nil then last ; The PART of the iteration before.
              for last = part
              for element from 0
              collect (if (and (atom part) (conditional-p part before element))
                          (marked-atom part form element)
                          part))
        form)))

(defun result-of-loop-p (part before)
  "Return true if BEFORE is one of *LOOP-RESULTS* and PART is the form after it. Both are elements
of a LOOP form."
  (and (symbolp before)
       (member before *loop-results* :test #'string=)
       (not (and (symbolp part) (string= part "IT")))))

(defun marked-atom (atom list element)
  "Return (PROGN ATOM) as a replacement for ATOM, which is element number ELEMENT of LIST. Give the
PROGN the source path of this element."
  (let* ((paths source-paths)
         (form (list 'progn atom))
         (path (and (hash-table-p paths) (gethash list paths))))
    (when path
      ;; SBCL gives numbers only to lists, so the PROGN gets the NUMBER of LIST.
      (setf (gethash form paths) (list* (first path) (second path) element (cddr path))))
    form))

;;; Installing the compiled copies, and removing them

(defun put-function (name function)
  "FUNCTION is a copy of the definition of the function NAME, compiled so that it marks the parts
that run. Wrap NAME so that calls of it call FUNCTION. If the program redefines NAME meanwhile, they
call the new definition."
  (push name (covering-copied-functions **covering**))
  (let ((copied (plain-definition name)))
    (wrap name 'live-lisp-coverage
          (lambda (original &rest arguments)
            (apply (if (eq original copied) function original) arguments)))))

(defun note-methods (name)
  "Record the list of the methods of the generic function NAME. The caller is about to add a method
to it."
  (let ((generic (plain-definition name)))
    (setf (covering-generic **covering**) generic
          (covering-methods-before **covering**)
          (copy-list (sb-mop:generic-function-methods generic)))))

(defun put-method ()
  "Look for a method that was added since the call of NOTE-METHODS: the marking copy of a method.
If it has replaced a method from *MEASURED-FILE*, record it. Otherwise remove the added method, if
there is one, and count a definition whose coverage cannot be measured."
  (let* ((added (added-method **covering**))
         (original (and added (copied-method-original added))))
    (cond ((and original
                (of-file-p (or (method-function original) (sb-mop:method-function original))))
           (push added (covering-copied-methods **covering**)))
          (t (when added (take-method added))
             (note-missed)))))

(defun added-method (covering)
  "Return a COPIED-METHOD structure for the method that was added since the last call of
NOTE-METHODS, or NIL if none was. COVERING is the COVERING structure in which NOTE-METHODS recorded
the earlier methods. Remove this record."
  (let* ((generic (shiftf (covering-generic covering) nil))
         (before (shiftf (covering-methods-before covering) '()))
         (now (and generic (sb-mop:generic-function-methods generic)))
         (copy (first (set-difference now before))))
    (and copy
         (make-copied-method generic copy (first (set-difference before now))))))

(defun take-method (method)
  "METHOD is a COPIED-METHOD structure. In the generic function, replace the copy of the method by
the original method. If there was no original method, remove the copy."
  (let ((generic (copied-method-generic method)) (original (copied-method-original method)))
    (if original
        (add-method generic original)
        (remove-method generic (copied-method-copy method)))))

(defun take-all (covering)
  "Remove all copies of functions and methods that COVERING, a COVERING structure, lists, so that
the original definitions run again."
  (sb-sys:without-interrupts
    ;; The loading may have ended after a DEFMETHOD, before its PUT-METHOD.
    (let ((added (added-method covering)))
      (when added (push added (covering-copied-methods covering))))
    (dolist (name (shiftf (covering-copied-functions covering) '()))
      (unwrap name 'live-lisp-coverage))
    (dolist (method (shiftf (covering-copied-methods covering) '()))
      (nil-if-program-fails (take-method method)))))
