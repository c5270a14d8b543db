;;;; Prints code, types and lambda lists on one line, with limits, with package prefixes where they
;;;; matter, and without running user code.

(in-package "LIVE-LISP.LOOK")

(defparameter *plain-packages* (list (find-package "COMMON-LISP") (find-package "KEYWORD"))
  "Symbols of these packages are printed unchanged in lambda lists. Other symbols are printed
without their package there.")

(defun plain-symbol-p (symbol)
  "True when SYMBOL is printed unchanged in a lambda list. This includes SBCL's QUASIQUOTE, which
prints as a backquote."
  (or (member (symbol-package symbol) *plain-packages*)
      (eq symbol +quasiquote+)))

(defun map-comma (function tree)
  "If TREE is a comma in a backquoted form, return a comma with FUNCTION applied to the expression
after it. Else return NIL."
  (and (comma-p tree)
       (make-comma (funcall function (comma-expression tree)) (comma-kind tree))))

(defvar *conses-left* 0 "COPIED-CODE may copy at most this many more conses.")

(defun copied-code (function code &optional (depth 10))
  "Return a copy of CODE, at most DEPTH levels deep, with FUNCTION applied to its atoms. Only what
can be shown is copied: code can contain a huge or circular literal, and the pretty printer would go
through all of it. Conses are copied in printing order until *CONSES-LEFT* is 0."
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
  "Return an object that prints as #<CLASS>, where CLASS is the class of OBJECT. If OBJECT is a
class itself, its name is printed too."
  (let ((text (format nil "~A~@[ ~A~]" (class-text (class-of object))
                      (and (typep object 'class) (class-text object)))))
    (make-unprintable text)))

(defun without-printer (atom)
  "Return ATOM, or a CLASS-STUB if printing ATOM would run user code."
  (typecase atom
    ((or pathname package) atom)
    ((or standard-object condition structure-object (and (array t) (not simple-vector)))
     (class-stub atom))
    (t atom)))

(defun plain-text (limit object)
  "Return OBJECT, code or a type, as text of at most LIMIT characters, with package prefixes. No
user code runs."
  (printing-plainly
    (let ((*print-length* 60) (*print-level* 8) (*conses-left* (* 2 limit)))
      (print-safely limit (copied-code #'without-printer object)))))

(defun type-text (limit type)
  "Return TYPE, a function's type, as text of at most LIMIT characters. An empty parameter list is
printed as (). Return NIL if TYPE says nothing, as FUNCTION alone."
  (unless (member type '(nil function))
    (let ((text (plain-text limit type)) (none "(FUNCTION NIL"))
      (if (eql 0 (search none text))
          (concatenate 'string "(FUNCTION ()" (subseq text (length none)))
          text))))

(defun bare-symbol (atom)
  "Return ATOM, from code in a lambda list. If it is a symbol that is not PLAIN-SYMBOL-P, return an
uninterned symbol, which prints without a package prefix."
  (if (or (null atom) (not (symbolp atom)) (plain-symbol-p atom))
      atom
      (make-symbol (symbol-name atom))))

(defun bare-parameter (part)
  "PART is a name or a list of names in a lambda list. Return a copy with an uninterned symbol in
place of each symbol, so that it can be printed without package prefixes. A list such as (QUOTE X)
is a list of two names here."
  (cond ((consp part) (bare-lambda-list part))
        ((and part (symbolp part) (not (keywordp part))) (make-symbol (symbol-name part)))
        (t part)))

(defun bare-lambda-list (arglist)
  "Return ARGLIST with symbols that print without package prefixes: these say nothing about
parameters. Only default forms are treated as code."
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
  "Print OBJECT, a literal in code, on STREAM as #<CLASS>."
  (format stream "#<~A>" (class-text (class-of object))))

(sb-ext:defglobal **code-printers** nil
  "The pprint dispatch table for code, or NIL before its first use.")

(defun code-printers ()
  "Return the pprint dispatch table that prints code without print methods of the user, which can
fail or never end."
  (or **code-printers**
      (let ((table (copy-pprint-dispatch nil)))
        (set-pprint-dispatch '(or standard-object condition (and array (not vector))
                                  (and structure-object (not (or pathname package comma))))
                             #'print-class -100 table)
        (setf **code-printers** table))))

(defmacro printing-code (&body body)
  "Evaluate BODY with printer settings for code on one line. (QUOTE X) prints as 'X."
  `(let ((*print-pprint-dispatch* (code-printers)))
     (printing-plainly
       (let ((*print-pretty* t) (*print-right-margin* most-positive-fixnum))
         ,@body))))

(defun code-text (limit copy code)
  "Return CODE, after copying by the function COPY, as one line of at most LIMIT characters. COPY
may copy 2 * LIMIT conses, since each cons but a quote's prints as at least one character. Lines are
joined, since the printer breaks them in forms such as LOOP whatever its settings."
  (let* ((*conses-left* (* 2 limit))
         (text (print-safely limit (funcall copy code))))
    (if (find #\Newline text) (on-one-line text) text)))

(defun arglist-text (arglist)
  "Return the lambda list ARGLIST as one line of text."
  (printing-code
    (let ((*print-length* 60) (*print-level* 8) (*print-gensym* nil))
      (if arglist (code-text 1000 #'bare-lambda-list arglist) "()"))))
