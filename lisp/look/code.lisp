;;;; Prints code, types and lambda lists on one line, in a limited number of characters, and without
;;;; calling print methods of the program. Symbols have package prefixes except in lambda lists.
;;;; There are two ways. PLAIN-TEXT replaces objects that have print methods by stubs before it
;;;; prints. PRINTING-CODE uses the pretty printer, for 'X in place of (QUOTE X), and avoids print
;;;; methods by a pprint dispatch table.

(in-package "LIVE-LISP.LOOK")

(defparameter *plain-packages* (list (find-package "COMMON-LISP") (find-package "KEYWORD"))
  "The packages whose symbols ARGLIST-TEXT prints in the usual way. Other symbols in lambda lists
are printed without a package prefix.")

(defun plain-symbol-p (symbol)
  "Return true if a lambda list is printed with SYMBOL itself, not with an uninterned copy. This
holds for symbols of COMMON-LISP, keywords, and SBCL's QUASIQUOTE, which prints as a backquote."
  (or (member (symbol-package symbol) *plain-packages*)
      (eq symbol +quasiquote+)))

(defun map-comma (function tree)
  "If TREE is an SBCL comma object from a backquoted form, return a copy in which the expression
after the comma is replaced by the value of FUNCTION for this expression. Else return NIL."
  (and (comma-p tree)
       (make-comma (funcall function (comma-expression tree)) (comma-kind tree))))

(defvar *conses-left* 0 "The number of conses that COPIED-CODE may still copy for the current
text.")

(defun copied-code (function code &optional (depth 10))
  "Return a copy of the form CODE, at most DEPTH levels deep, in which each atom is replaced by the
value of FUNCTION for this atom. Stop when *CONSES-LEFT* is 0. Answers print this copy, since CODE
can contain a huge or circular literal, and the pretty printer would walk the whole literal."
  ;; DEPTH and 61 are more than *PRINT-LEVEL* and *PRINT-LENGTH* of the callers, so that the printer
  ;; still shows that it leaves something out.
  (flet ((copy (part) (copied-code function part (1- depth))))
    (cond ((zerop depth) nil)
          ((consp code)
           (loop for rest = code then (cdr rest)
                 repeat 61
                 while (and (consp rest) (plusp *conses-left*))
                 do (decf *conses-left*)
                 collect (copy (car rest)) into elements
                 finally (return (nconc elements
                                        (and (atom rest) (copied-code function rest depth))))))
          ((simple-vector-p code)
           (coerce (loop for element across code
                         repeat 61
                         while (plusp *conses-left*)
                         do (decf *conses-left*)
                         collect (copy element))
                   'simple-vector))
          ((map-comma #'copy code))
          (t (funcall function code)))))

(defun class-stub (object)
  "Return an object that prints as #<CLASS>, where CLASS is the class name of OBJECT. If OBJECT is
itself a class, the name of OBJECT follows CLASS."
  (let ((text (format nil "~A~@[ ~A~]" (class-text (class-of object))
                      (and (typep object 'class) (class-text object)))))
    (make-unprintable text)))

(defun without-printer (atom)
  "Return ATOM, an atom in code. If printing ATOM could run code of the program, return a CLASS-STUB
for it instead."
  (typecase atom
    ((or pathname package) atom)
    ((or standard-object condition structure-object (and (array t) (not simple-vector)))
     (class-stub atom))
    (t atom)))

(defun plain-text (limit object &key (case :upcase))
  "Return text of at most LIMIT characters for OBJECT, which is code or a type specifier. Symbols
have package prefixes and are in CASE, as for *PRINT-CASE*. No print method of the program runs."
  (printing-plainly
    (let ((*print-length* 60) (*print-level* 8) (*print-case* case) (*conses-left* (* 2 limit)))
      (print-safely limit (copied-code #'without-printer object)))))

(defun type-text (limit type)
  "Return text of at most LIMIT characters for TYPE, the type of a function. Print an empty
parameter list as (), not as NIL. Return NIL if TYPE is FUNCTION, which describes neither parameters
nor values."
  (unless (member type '(nil function))
    (let ((text (plain-text limit type)) (none "(FUNCTION NIL"))
      (if (starts-p text none)
          (concatenate 'string "(FUNCTION ()" (subseq text (length none)))
          text))))

(defun bare-symbol (atom)
  "If ATOM is a symbol, return an uninterned symbol with the same name, which prints without a
package prefix. Return ATOM itself if ATOM is no symbol, or satisfies PLAIN-SYMBOL-P, as CAR and
:KEY do."
  (if (or (null atom) (not (symbolp atom)) (plain-symbol-p atom))
      atom
      (make-symbol (symbol-name atom))))

(defun bare-parameter (part)
  "PART is a name or a list of names in a lambda list. Return a copy that prints without package
prefixes, with an uninterned symbol in place of each name. (QUOTE X) is a list of two parameter
names here, not a quoted form."
  (cond ((consp part) (bare-lambda-list part))
        ((and part (symbolp part) (not (keywordp part))) (make-symbol (symbol-name part)))
        (t part)))

(defun bare-lambda-list (arglist)
  "Return a copy of the lambda list ARGLIST that prints without package prefixes, which say nothing
about parameters. For this, uninterned symbols replace the symbols. In default forms, the copy keeps
the symbols that satisfy PLAIN-SYMBOL-P, such as CAR and :KEY."
  (loop with defaults = nil
        for rest = arglist then (cdr rest)
        while (and (consp rest) (plusp *conses-left*))
        do (decf *conses-left*)
        collect (let ((part (car rest)))
                  (when (member part lambda-list-keywords)
                    (setf defaults (member part '(&optional &key &aux))))
                  (if (and defaults (consp part))
                      (list* (bare-parameter (car part))
                             (and (consp (cdr part))
                                  (cons (copied-code #'bare-symbol (cadr part))
                                        (bare-parameter (cddr part)))))
                      (bare-parameter part)))
          into elements
        finally (return (nconc elements (and (atom rest) (bare-parameter rest))))))

(defun print-class (stream object)
  "Print OBJECT, a literal in code, on STREAM as #<CLASS>, where CLASS is the name of its class."
  (format stream "#<~A>" (class-text (class-of object))))

(sb-ext:defglobal **code-printers** nil
  "The pprint dispatch table for code, or NIL before its first use.")

(defun code-printers ()
  "Return the pprint dispatch table for printing code. It prints objects with a print method of the
program as #<CLASS>, since such a method can fail or never end."
  (or **code-printers**
      (let ((table (copy-pprint-dispatch nil)))
        (set-pprint-dispatch '(or standard-object condition (and array (not vector))
                                  (and structure-object (not (or pathname package comma))))
                             #'print-class -100 table)
        (setf **code-printers** table))))

(defmacro printing-code (&body body)
  "Evaluate the forms BODY with the printer set up to print code on one line. (QUOTE X) prints as
'X."
  `(let ((*print-pprint-dispatch* (code-printers)))
     (printing-plainly
       (let ((*print-pretty* t) (*print-right-margin* most-positive-fixnum))
         ,@body))))

(defun code-text (limit copy code)
  "Return CODE, a form, as one line of at most LIMIT characters. The function COPY takes CODE and
returns the copy to print. *CONSES-LEFT* tells COPY the maximum number of conses of the copy, which
is 2 * LIMIT. The printer breaks lines in forms such as LOOP in spite of its settings, so join the
lines."
  (let* ((*conses-left* (* 2 limit))
         (text (print-safely limit (funcall copy code))))
    (if (find #\Newline text) (on-one-line text) text)))

(defun arglist-text (arglist)
  "Return the lambda list ARGLIST as one line of text."
  (printing-code
    (let ((*print-length* 60) (*print-level* 8) (*print-gensym* nil))
      (if arglist (code-text 1000 #'bare-lambda-list arglist) "()"))))
