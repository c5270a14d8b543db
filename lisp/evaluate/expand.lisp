;;;; Expands macros. The macro functions are user code, so this happens in the session, like an
;;;; evaluation.

(in-package "LIVE-LISP.EVALUATE")

(defun expand-form (form mode)
  "Return two values: the expansion of FORM, and true if anything was expanded. MODE is \"one\" for
a single step, \"full\" to expand until FORM is no macro form, or \"all\" to expand the forms within
FORM too."
  (cond ((string= mode "one") (macroexpand-1 form))
        ((string= mode "full") (macroexpand form))
        (t (let ((expansion (funcall (code-walker) form)))
             (values expansion (not (eq expansion form)))))))

(defun printed-expansion (circle form)
  "Return two values: FORM pretty-printed with *PRINT-CIRCLE* bound to CIRCLE, and true if the text
was cut. If a print method of the program fails, print FORM again by CODE-PRINTERS, which print the
class of an object in place of calling its print method."
  (let ((*print-pretty* t) (*print-circle* circle) (*print-readably* nil) (*print-escape* t)
        (*print-gensym* t) (*print-lines* nil) (*print-right-margin* 100)
        (*print-length* nil) (*print-level* 100)
        (*package* (usable-package *package*)))
    (flet ((print-form ()
             (bounded-string *value-limit* (lambda (stream) (prin1 form stream)))))
      (handler-case (print-form)
        (error ()
          (let ((*print-pprint-dispatch* (code-printers)))
            (print-form)))))))

(defun expansion-data (form)
  "Return a JSON object with the text of FORM. Use labels such as #1= only if the text is too long
without them, as for a circular form: labels on gensyms are hard to read."
  (multiple-value-bind (text cut) (printed-expansion nil form)
    (multiple-value-bind (marked too-long) (if cut (printed-expansion t form) (values text nil))
      (object "text" (if too-long text marked) "cut" too-long))))

(defun operator-data (form)
  "Return a JSON object about the operator of FORM, or about FORM if it is a symbol. FORM is no
macro form. Return NIL if the operator is no symbol."
  (let ((operator (if (consp form) (car form) form)))
    (and operator (symbolp operator) (not (keywordp operator))
         (object "name" (symbol-text operator)
                 "place" (if (consp form) "function" "variable")
                 "natures" (if (and (consp form) (special-operator-p operator))
                               '("SPECIAL OPERATOR")
                               (natures operator))))))

(defun only-form (text)
  "Return the only form of TEXT. If TEXT has no form or more than one, throw a JSON object with this
reason to *UNREADABLE*."
  (let* ((stream (make-string-input-stream text))
         (start (skip-to-form stream))
         (form (if start (read-form stream text start) stream)))
    (when (eq form stream)
      (throw *unreadable* (object "forms" 0)))
    ;; With *READ-SUPPRESS*, the reader interns nothing, but skips comments of both kinds.
    (unless (eq stream (let ((*read-suppress* t)) (nil-if-program-fails (read stream nil stream))))
      (throw *unreadable* (object "forms" 2)))
    (setf *form-text* text)
    form))

(defun expand-text (text mode)
  "Read the only form of TEXT and expand it by EXPAND-FORM with MODE. Return a plist of answer
members."
  (let* ((data '())
         (unreadable
           (catching-unreadable
             (let ((form (only-form text)))
               (multiple-value-bind (expansion expanded)
                   (call-user-code (lambda () (expand-form form mode)))
                 (setf data
                       (list "expansion" (call-user-code (lambda () (expansion-data expansion)))
                             "expanded" (json-boolean expanded)
                             "operator" (and (not expanded) (operator-data form))))))
             nil)))
    (list* "unreadable" unreadable data)))

(define-shape macroexpand-data (remarks)
  "The expansion of a form."
  (expansion printed-value :optional) (expanded boolean :optional)
  (operator (object (name string) (place (member "function" "variable"))
                    (natures (list string) :optional))
   :optional
   "The operator of the form, when the form is no macro form.")
  (unreadable (or unreadable (object (forms integer))) :optional)
  (without-walker boolean :optional) (value lookup-failure :optional))

(define-operation ("macroexpand" :members t :gives macroexpand-data)
    ((code string "The text of a form.")
     package
     (mode (member "one" "full" "all")
      "One step; steps until the form is no macro form; or also the forms within it."))
  "Expand the one form of CODE."
  (let ((package (and package (named-package package)))
        (*form-number* 1))
    (if (and (string= mode "all") (null (code-walker)))
        (list "withoutWalker" t)
        (call-as-job-part package (lambda () (expand-text code mode))))))
