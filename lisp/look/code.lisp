;;;; How code, types and argument lists are printed: bounded, on one line, with packages where those
;;;; say something, and without code of the user.

(in-package "LIVE-LISP.LOOK")

(defparameter *plain-packages* (list (find-package "COMMON-LISP") (find-package "KEYWORD"))
  "Packages whose symbols are told from others of their names also in an argument list.")

(defun plain-symbol-p (symbol)
  "True when SYMBOL is told from others of its name also in an argument list; so is what a
backquote is read as, which is printed as one."
  (or (member (symbol-package symbol) *plain-packages*)
      (eq symbol +quasiquote+)))

(defun map-comma (function tree)
  "Return TREE, an expression with a comma in a backquote, with FUNCTION applied to what follows
the comma; or NIL when it is no such thing."
  (and (comma-p tree)
       (make-comma (funcall function (comma-expression tree)) (comma-kind tree))))

(defvar *conses-left* 0 "How many conses of code may still be copied.")

(defun copied-code (function code &optional (depth 10))
  "Return CODE with FUNCTION applied to its atoms: a copy of as much as can be shown, in the order
of printing, while there are *CONSES-LEFT*. Code can hold a literal of any size, or a circular one,
all of which the pretty printer would go through."
  (flet ((copy (part) (copied-code function part (1- depth))))
    (cond ((zerop depth) nil)
          ((consp code)
           (loop for rest = code then (cdr rest)
                 repeat 61
                 while (and (consp rest) (plusp *conses-left*))
                 do (decf *conses-left*)
                 collect (copy (car rest)) into elements
                 finally (return (nconc elements (and (atom rest) (copied-code function rest depth))))))
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
  "Return what prints as #< and the class of OBJECT; of a class, with its name."
  (let ((text (format nil "~A~@[ ~A~]" (class-text (class-of object)) (and (typep object 'class) (class-text object)))))
    (make-unprintable text)))

(defun without-printer (atom)
  "Return ATOM, or what stands for it when printing it would run code of the user."
  (typecase atom
    ((or pathname package) atom)
    ((or standard-object condition structure-object (and (array t) (not simple-vector))) (class-stub atom))
    (t atom)))

(defun plain-text (limit object)
  "Return OBJECT, code or a type, printed for a reader who has no current package, without code of
the user."
  (printing-plainly
    (let ((*print-length* 60) (*print-level* 8) (*conses-left* (* 2 limit)))
      (print-safely limit (copied-code #'without-printer object)))))

(defun type-text (limit type)
  "Return TYPE, of a function, in at most LIMIT characters, or NIL when it says nothing. The
list of no arguments is printed as one."
  (unless (member type '(nil function))
    (let ((text (plain-text limit type)) (none "(FUNCTION NIL"))
      (if (eql 0 (search none text))
          (concatenate 'string "(FUNCTION ()" (subseq text (length none)))
          text))))

(defun bare-symbol (atom)
  "Return ATOM, which stands in the code of an argument list, or for a symbol one that prints bare."
  (if (or (null atom) (not (symbolp atom)) (plain-symbol-p atom))
      atom
      (make-symbol (symbol-name atom))))

(defun bare-parameter (part)
  "Return PART, a name or a lambda list, with symbols that print bare, even in a list that begins
with QUOTE or FUNCTION: those are names here."
  (cond ((consp part) (bare-lambda-list part))
        ((and part (symbolp part) (not (keywordp part))) (make-symbol (symbol-name part)))
        (t part)))

(defun bare-lambda-list (arglist)
  "Return ARGLIST with its symbols replaced by ones that print bare; the packages of parameter names
say nothing. Only what stands where a default does is code."
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
  "Print OBJECT, which stands in code, on STREAM as no more than its class."
  (format stream "#<~A>" (class-text (class-of object))))

(sb-ext:defglobal **code-printers** nil
  "A pprint dispatch table for code, made when it is first used.")

(defun code-printers ()
  "Return the table by which code prints without code of the user: an object in it can have a
print method that fails or never ends."
  (or **code-printers**
      (let ((table (copy-pprint-dispatch nil)))
        (set-pprint-dispatch '(or standard-object condition (and array (not vector))
                                  (and structure-object (not (or pathname package comma))))
                             #'print-class -100 table)
        (setf **code-printers** table))))

(defmacro printing-code (&body body)
  "Evaluate BODY with printer settings for code on one line, which prints 'X and #'X."
  `(let ((*print-pprint-dispatch* (code-printers)))
     (printing-plainly
       (let ((*print-pretty* t) (*print-right-margin* most-positive-fixnum))
         ,@body))))

(defun code-text (limit copy code)
  "Return CODE as COPY returns it, printed on one line in at most LIMIT characters. That may copy
twice as many conses: each prints as a character, but a quote. A form that demands lines of its own,
such as LOOP, is put on one."
  (let* ((*conses-left* (* 2 limit))
         (text (print-safely limit (funcall copy code))))
    (if (find #\Newline text) (on-one-line text) text)))

(defun arglist-text (arglist)
  "Return ARGLIST on one line; () for none."
  (printing-code
    (let ((*print-length* 60) (*print-level* 8) (*print-gensym* nil))
      (if arglist (code-text 1000 #'bare-lambda-list arglist) "()"))))
