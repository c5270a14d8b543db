;;;; The one door to what SBCL does not export. The agent is compiled by the very
;;;; SBCL that runs it, so a name is looked up when a form is expanded: a version
;;;; without it gets the fallback instead of an error.

(in-package "LIVE-LISP.BASE")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun internal-symbol (package name)
    "Return the symbol NAME of PACKAGE (both strings), or NIL where there is none."
    (let ((package (find-package package)))
      (and package (find-symbol name package))))

  (defun internal-function (package name)
    "Return the symbol NAME of PACKAGE when it names a function, a macro or a special
operator, else NIL."
    (let ((symbol (internal-symbol package name)))
      (and symbol (fboundp symbol) symbol))))

(defmacro internal-call ((package name) (&rest arguments) &optional fallback)
  "Expand into a call of the operator NAME of PACKAGE with ARGUMENTS, or into
FALLBACK where this SBCL has no such operator."
  (let ((operator (internal-function package name)))
    (if operator `(,operator ,@arguments) fallback)))

(defmacro internal-value ((package name) &optional fallback)
  "Expand into the value of the variable NAME of PACKAGE, or into FALLBACK where this
SBCL has no such variable or it is unbound."
  (let ((symbol (internal-symbol package name)))
    (if symbol `(if (boundp ',symbol) (symbol-value ',symbol) ,fallback) fallback)))
