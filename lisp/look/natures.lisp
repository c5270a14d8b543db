;;;; Finds the kinds of definitions that a symbol has. Contract C15 is in docs/develop/contracts.md.

(in-package "LIVE-LISP.LOOK")

(defun callable-nature (symbol)
  "Return the string \"MACRO\", \"GENERIC-FUNCTION\" or \"FUNCTION\" (also for a special operator),
or NIL if SYMBOL names none of these (contract C15 in docs/develop/contracts.md)."
  (cond ((not (fboundp symbol)) nil)
        ((special-operator-p symbol) "FUNCTION")
        ((macro-function symbol) "MACRO")
        ((typep (plain-definition symbol) 'generic-function) "GENERIC-FUNCTION")
        (t "FUNCTION")))

(defun variable-kind (symbol)
  "Return :SPECIAL, :CONSTANT, :GLOBAL, :ALWAYS-BOUND, or :MACRO for a symbol macro. Return NIL if
SYMBOL names no variable."
  (let ((kind (known :variable :kind symbol)))
    (case kind
      ((:special :constant :global :macro :always-bound) kind)
      (t (and (boundp symbol) :special)))))

(defun typed-structure (symbol)
  "Return SBCL's defstruct description for SYMBOL if SYMBOL names a structure with the DEFSTRUCT
option :TYPE. Such a structure is a vector or a list. Return NIL for any other SYMBOL."
  (values (known :typed-structure :info symbol)))

(defun type-name-p (symbol)
  "Return true if SYMBOL names a type. This includes types that require arguments, such as
SATISFIES."
  (or (member (known :type :kind symbol) '(:defined :primitive :instance))
      (and (known :type :expander symbol) t)
      (sb-ext:valid-type-specifier-p symbol)))

(defun other-natures (symbol)
  "Return a list that contains \"CLASS\" if SYMBOL names a class, and \"VARIABLE\" if SYMBOL names a
variable."
  (append (and (classp symbol) '("CLASS"))
          (and (variable-kind symbol) '("VARIABLE"))))

(defun natures (symbol)
  "Return a list of strings for the kinds of definitions of SYMBOL, such as (\"FUNCTION\"
\"CLASS\"). The tool apropos_search shows the first of them (contract C15 in
docs/develop/contracts.md)."
  (let ((callable (callable-nature symbol)) (others (other-natures symbol)))
    (if callable (cons callable others) others)))

(defun exact-natures (symbol)
  "Return a list of strings for the kinds of definitions of SYMBOL, as answers show them. It is the
list from NATURES, but with \"CONSTANT VARIABLE\" for a constant and \"SYMBOL MACRO\" for a symbol
macro, where NATURES has \"VARIABLE\"."
  (let ((variable (case (variable-kind symbol)
                    (:constant "CONSTANT VARIABLE")
                    (:macro "SYMBOL MACRO")
                    (t "VARIABLE"))))
    (substitute variable "VARIABLE" (natures symbol) :test #'string=)))

(defun any-natures (symbol)
  "Return the list from EXACT-NATURES for SYMBOL. If this list is empty, return (\"TYPE\")
if SYMBOL names a type, or else (\"SETF EXPANDER\") if a form such as DEFSETF has defined one for
SYMBOL."
  (cond ((exact-natures symbol))
        ((type-name-p symbol) '("TYPE"))
        ((known :setf :expander symbol) '("SETF EXPANDER"))))

(defun names-something-p (symbol)
  "Return true if SYMBOL has a definition of any kind."
  ;; Checking each kind is slow, and SBCL has no information about most symbols of a program.
  (and (or (boundp symbol) (fboundp symbol) (symbol-knowledge symbol))
       (or (natures symbol)
           (type-name-p symbol)
           (fboundp (list 'setf symbol))
           (known :setf :expander symbol))
       t))

(defun label (symbol)
  "Return the label of SYMBOL in a list of symbols: the first string from NATURES, or \"SYMBOL\" if
it has no definition (contract C15 in docs/develop/contracts.md)."
  (or (callable-nature symbol) (first (other-natures symbol)) "SYMBOL"))
