;;;; Walks a top-level form, and collects the names that it uses outside the functions that it
;;;; defines: functions called, variables, and symbols in data. Macros are expanded, but nothing is
;;;; evaluated. The entry points are PARTS-OF-FORM and USES-OF-PARTS, at the end. Their callers wrap
;;;; both calls in WITHOUT-TRACES.

(in-package "LIVE-LISP.LOOK")

(defvar *scratch* nil
  "NIL or, while the backend reads a file that was loaded before, the temporary package in which the
reader interns symbols.")

(defmacro without-traces (&body body)
  "Evaluate BODY, which reads or expands code of the program again, in such a way that the program
does not notice: output is discarded, *MACROEXPAND-HOOK* and *BREAK-ON-SIGNALS* have no effect, and
package locks do not apply."
  `(let* ((silence (make-broadcast-stream)) (*standard-output* silence) (*error-output* silence)
          (*trace-output* silence)
          (*break-on-signals* nil) (*macroexpand-hook* #'funcall))
     (sb-ext:without-package-locks ,@body)))

(defparameter *definers-of-functions* '(defun defmacro defgeneric defmethod defstruct)
  "Macros that the walk does not expand, since that would take most of its time. The functions that
they define are in the index already.")

(defun loads-p (situations)
  "SITUATIONS is the list of situations of an EVAL-WHEN. Return true if the EVAL-WHEN evaluates its
body when the file is loaded."
  (and (intersection situations '(:load-toplevel :execute load eval)) t))

(defun load-time-forms (form)
  "Return a list of the forms that are arguments of LOAD-TIME-VALUE within the first 20000 conses of
FORM. Leave out forms in quoted data and in backquote templates of macros, since these are evaluated
where the macro is used."
  (let ((left 20000) (found '()))
    (labels ((visit (part)
               (loop while (and (consp part)
                                (plusp (decf left))
                                (not (member (car part) (list 'quote +quasiquote+))))
                     do (when (and (eq 'load-time-value (car part)) (consp (cdr part)))
                          (push (second part) found))
                        (visit (pop part)))))
      (visit form))
    (nreverse found)))

(defun method-head (form)
  "Return a list of two lists for FORM, a DEFMETHOD: its qualifiers, and the specializers of its
required parameters, with NIL for a parameter without a specializer. The second list is empty if
FORM has no lambda list, or one that SBCL would refuse."
  (let* ((start (position-if #'listp (cddr form))) (arglist (and start (nth start (cddr form)))))
    (list (subseq (cddr form) 0 start)
          (and (proper-length arglist)
               (loop for parameter in arglist
                     until (member parameter lambda-list-keywords)
                     collect (and (consp parameter)
                                  (proper-length parameter)
                                  (second parameter)))))))

(defun specializer-forms (form)
  "Return a list of the forms X in the EQL specializers (EQL X) of FORM, a DEFMETHOD."
  (loop for specializer in (second (method-head form))
        when (typep specializer '(cons (eql eql) (cons t null))) collect (second specializer)))

(defun forms-outside-functions (form)
  "FORM is a call of one of *DEFINERS-OF-FUNCTIONS*. Return a list of the forms in FORM that are
evaluated outside the functions that FORM defines."
  (append (load-time-forms form)
          (and (eq (first form) 'defmethod) (nil-if-program-fails (specializer-forms form)))))

(defun function-of-name-p (form)
  "Return true if FORM is a NAMED-LAMBDA form, SBCL's LAMBDA with a name, and its name is that of a
global function or method. The walk skips the body of such a form, since the index of uses already
has the names that the compiled function uses."
  (and (typep form '(cons symbol (cons t)))
       (eq (first form) +named-lambda+)
       (let ((name (name-in-root (root-of (second form)))))
         (and name (or (consp (second form)) (fboundp name))))))

(defun local-function-p (name environment)
  "Return true if NAME is a local function or macro in the macro environment ENVIRONMENT."
  (let ((information (contrib-function "SB-CLTL2" "FUNCTION-INFORMATION")))
    (and information (nth-value 1 (funcall information name environment)))))

(defun symbols-in (form)
  "Return two values: a list of the symbols in FORM that belong to the user's program, and T. If
FORM has more than 5000 conses, return NIL and NIL."
  (let ((found (make-hash-table :test 'eq)) (left 5000))
    (labels ((visit (part)
               (loop while (consp part)
                     do (when (minusp (decf left)) (return-from symbols-in (values '() nil)))
                        (visit (pop part)))
               (cond ((comma-p part) (visit (comma-expression part)))
                     ((simple-vector-p part) (map nil #'visit part))
                     ((and part
                           (symbolp part)
                           (program-symbol-p part)
                           (not (eq *scratch* (symbol-package part))))
                      (setf (gethash part found) t)))))
      (visit form))
    (values (loop for symbol being the hash-keys of found collect symbol) t)))

(defun note-names (form note &aux (whole form))
  "Call the function NOTE with two arguments, a kind and a name, for each use of a name in FORM. The
kind is :CALL for a function, :INNER for a function called in a LAMBDA, :VARIABLE, or :DATA for a
symbol in quoted data or in code that never runs. For a definition of a function inside FORM, call
NOTE with :INSIDE and a list of the name and of the symbols after it in the definition. If a macro
cannot be expanded, skip the rest of FORM."
  (let ((lambdas '()))                  ; The LAMBDA forms around the current form, inside FORM.
    (labels ((note-symbols (object kind)
               (map-symbols (lambda (symbol handled)
                              (declare (ignore handled))
                              (funcall note kind symbol))
                            object))
             (call (name environment)
               (when (and (plain-name-p name) (not (local-function-p name environment)))
                 (funcall note (if lambdas :inner :call) name)))
             (note-apart (forms) (dolist (each forms) (note-names each note)))
             (note-never-run (form)
               (note-names form
                           (lambda (kind name)
                             (declare (ignore kind))
                             (when (symbolp name) (funcall note :data name)))))
             ;; WALK-FORM calls LOOK for each form. If the second value of LOOK is true, WALK-FORM
             ;; skips the parts of the form.
             (look (form context environment)
               (cond ((consp form)
                      (if (eq context :eval) (look-at-call (first form) form environment) form))
                     ((not (symbolp form)) (note-symbols form :data) form)
                     (t (when (variable-kind form) (note-symbols form :variable)) form)))
             (look-at-call (head form environment)
               (cond (;; The WALK-FORM below calls LOOK with the same LAMBDA form again.
                      (member form lambdas :test #'eq)
                      form)
                     ((eq head 'quote) (note-symbols (second form) :data) (values form t))
                     ((or (function-of-name-p form)
                          (and (eq head 'function) (function-of-name-p (second form))))
                      (note-apart (load-time-forms (cddr form)))
                      (values form t))
                     ((or (eq head 'lambda)
                          (and (eq head 'function) (typep (second form) '(cons (eql lambda)))))
                      (push form lambdas)
                      (walk-form form environment #'look)
                      (pop lambdas)
                      (values form t))
                     ((eq head 'function) (call (second form) environment) form)
                     ((member head *definers-of-functions*)
                      (note-apart (forms-outside-functions form))
                      (unless (eq form whole)
                        (multiple-value-bind (symbols all) (symbols-in (cddr form))
                          (when all (funcall note :inside (cons (second form) symbols)))))
                      (values form t))
                     ((and (eq head 'if) (member (second form) '(nil t)))
                      (destructuring-bind (test then &optional else) (rest form)
                        (note-never-run (if test else then))
                        (if test then else)))
                     ((eq head 'eval-when) (values form (not (loads-p (second form)))))
                     ((member head '(let let*))
                      (dolist (binding (second form))
                        (let ((name (if (consp binding) (first binding) binding)))
                          (when (variable-kind name) (note-symbols name :variable))))
                      form)
                     ((and (symbolp head)
                           (not (special-operator-p head))
                           (not (macro-function head environment)))
                      (call head environment)
                      form)
                     (t form))))
      (nil-if-program-fails
        (handler-bind ((warning #'muffle-warning)) (walk-form form nil #'look))))))

(defun parts-of-form (form)
  "Return a list of the forms that SBCL compiles separately for FORM, a top-level form: the forms in
a PROGN, an EVAL-WHEN or a macro expansion. The walk processes each of these forms by itself, so
that a failure in one does not hide the uses in another. Do not take a dotted or circular list
apart."
  (let ((head (and (consp form) (proper-length form) (first form))))
    (case head
      (progn (mapcan #'parts-of-form (rest form)))
      (eval-when (and (proper-length (second form))
                      (loads-p (second form))
                      (mapcan #'parts-of-form (cddr form))))
      (t (if (and head
                  (symbolp head)
                  (macro-function head)
                  (not (member head *definers-of-functions*)))
             (let ((expansion (handler-case (handler-bind ((warning #'muffle-warning))
                                              (macroexpand-1 form))
                                (error () form))))
               (if (eq expansion form) (list form) (parts-of-form expansion)))
             (list form))))))

(defstruct (form-uses (:constructor make-form-uses ()))
  "The names that a top-level form uses. The first four slots leave out the functions that the form
defines. CALLS: the functions that it calls. INNER: the functions that its LAMBDA expressions call.
DATA: the program's symbols in quoted data. VARIABLES: the variables. INSIDE: for each function that
the form defines, a list (NAME . SYMBOLS) with the program's symbols in that definition."
  (calls '()) (inner '()) (data '()) (variables '()) (inside '()))

(defun uses-of-parts (parts)
  "Return a FORM-USES structure with the names that PARTS, a list of forms from PARTS-OF-FORM, use.
Return NIL if they use none."
  (let ((found (make-form-uses)))
    (flet ((note (kind name)
             (cond ((eq kind :inside) (push name (form-uses-inside found)))
                   ((and (showable-name-p name)
                         (not (and *scratch* (eq *scratch* (symbol-package (name-symbol name))))))
                    (case kind
                      (:call (pushnew name (form-uses-calls found) :test #'equal))
                      (:inner (pushnew name (form-uses-inner found) :test #'equal))
                      (:data (pushnew name (form-uses-data found)))
                      (:variable (pushnew name (form-uses-variables found))))))))
      (dolist (part parts) (note-names part #'note)))
    (and (or (form-uses-calls found)
             (form-uses-inner found)
             (form-uses-data found)
             (form-uses-variables found)
             (form-uses-inside found))
         found)))
