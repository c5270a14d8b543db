;;;; Finds the user's global variables that an evaluated form sets, as far as the form itself shows
;;;; this. Rebuilding a lost image does not set these variables again, so an answer names them.

(in-package "LIVE-LISP.JOURNAL")

(defvar *steps* 0
  "The number of parts of a form that may still be examined. It limits the time that a large or
circular form takes.")

(defparameter *setters*
  '(setq setf psetq psetf push pushnew pop incf decf remf rotatef shiftf set multiple-value-setq)
  "A list of the operators that assign a value to a place.")

(defun elements (list)
  "Return a list of the first 1,000 elements of LIST, which may be circular or dotted."
  (loop for rest = list then (cdr rest)
        repeat 1000
        while (consp rest)
        collect (car rest)))

(defun variables-in (tree)
  "Return a list of the user's global variables that occur in TREE, a tree of conses. Skip quoted
data, except in (SYMBOL-VALUE 'NAME)."
  (cond ((minusp (decf *steps*)) '())
        ((and (consp tree) (eq (car tree) 'symbol-value) (consp (cdr tree)) (literal (cadr tree)))
         (variables-in (literal (cadr tree))))
        ((consp tree)
         (unless (eq (car tree) 'quote)
           (nconc (variables-in (car tree)) (variables-in (cdr tree)))))
        ((and tree (symbolp tree) (not (keywordp tree)) (boundp tree) (not (constantp tree))
              (not (system-symbol-p tree)))
         (list tree))))

(defun places-set (form)
  "Return a list of the places that FORM, a call of one of *SETTERS*, sets."
  (case (car form)
    ((setq psetq setf psetf) (loop for (place) on (elements (cdr form)) by #'cddr collect place))
    ((push pushnew) (list (third form)))
    (rotatef (elements (cdr form)))
    (shiftf (butlast (elements (cdr form))))
    (set (list (list 'symbol-value (second form))))
    (multiple-value-setq (elements (second form)))
    (t (list (second form)))))

(defun bound-by (form)
  "Return a list of the variables that FORM binds around its body, if FORM is a LET, LET* or
MULTIPLE-VALUE-BIND form. An assignment to them in the body does not change their global values."
  (case (car form)
    ((let let*)
     (loop for each in (elements (second form)) collect (if (consp each) (car each) each)))
    (multiple-value-bind (elements (second form)))))

(defun within-parts (function form)
  "Call FUNCTION, which returns a list of symbols, with each element of FORM, a list. Return a list
of all these symbols. For the elements in the body of a form that binds variables, leave out the
bound variables."
  (loop with bound = (bound-by form)
        for part in (elements form)
        for index from 0
        for symbols = (funcall function part)
        nconc (if (and bound (> index 1))
                  (delete-if (lambda (symbol) (member symbol bound :test #'eq)) symbols)
                  symbols)))

(defun set-variables (form)
  "Return a list, with duplicates, of the user's global variables that FORM assigns by calls of the
operators in *SETTERS*. Macros are not expanded, so assignments in their expansions are not found."
  (when (and (consp form) (plusp (decf *steps*)) (not (eq (car form) 'quote)))
    (nconc (when (member (car form) *setters* :test #'eq)
             (variables-in (places-set form)))
           (within-parts #'set-variables form))))

(defun defining-call-p (form)
  "Return true if FORM, a list, calls a macro whose name begins with DEF."
  (and (symbolp (car form))
       (macro-function (car form))
       (starts-p (symbol-name (car form)) "DEF")))

(defun assigned-variables (form anywhere)
  "Return a list, with duplicates, of the symbols that FORM assigns by calls of *SETTERS*. If
ANYWHERE is NIL, consider only FORM itself and, if it is a PROGN, the forms in it: these calls
certainly run. If ANYWHERE is true, consider also the calls at other places in FORM, except in
definitions. Such a call may not run, and its symbol may be a local variable."
  (cond ((or (atom form) (eq (car form) 'quote) (minusp (decf *steps*))) '())
        ((member (car form) *setters* :test #'eq)
         (loop for place in (places-set form)
               for symbol = (if (and (consp place) (eq (car place) 'symbol-value))
                                (literal (second place))
                                place)
               when (and symbol (symbolp symbol)) collect symbol))
        ((or (eq (car form) 'progn) (and anywhere (not (defining-call-p form))))
         (within-parts (lambda (part) (assigned-variables part anywhere)) form))))

(defun note-set-by (form)
  "FORM has returned. Record the global variables of the user that FORM has assigned or may have
assigned."
  (let ((*steps* 1000))
    (mapc #'note-set (assigned-variables form nil))
    (dolist (symbol (assigned-variables form t))
      (when (and (boundp symbol) (not (constantp symbol)) (not (system-symbol-p symbol)))
        (record-evaluated symbol :value)))))

(defparameter *valued* '(defvar defparameter defconstant sb-ext:defglobal)
  "A list of the defining operators that evaluate their third element, the form for the value, at
once.")

(defun variables-read (form)
  "Return a list, with duplicates, of the user's global variables that the evaluation of FORM reads.
Skip the bodies of functions and macros that FORM defines."
  (cond ((minusp (decf *steps*)) '())
        ((not (consp form)) (variables-in form))
        ((member (car form) '(quote function lambda declare)) '())
        ((member (car form) '(setq setf)) (loop for (place value) on (elements (cdr form)) by #'cddr
                                                unless (symbolp place) nconc (variables-read place)
                                                nconc (variables-read value)))
        ((member (car form) *valued*) (variables-read (third form)))
        ((defining-call-p form) '())
        (t (loop for part in (elements form) nconc (variables-read part)))))

(defun read-texts (form)
  "Return a list of texts: the names of the user's global variables that the evaluation of FORM
reads. The list has each name only once."
  (let ((*steps* 1000))
    (mapcar #'symbol-text (remove-duplicates (variables-read form)))))

(defun set-members (form)
  "Return a plist of JSON members with the key \"set\" and the names of the global variables that
FORM may have assigned. Return NIL if there are none."
  (let* ((*steps* 1000) (variables (set-variables form)))
    (when variables
      (list "set" (mapcar #'symbol-text (remove-duplicates variables))))))
