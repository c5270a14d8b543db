;;;; Reads SBCL's code objects: the functions in them, the functions that they call, and the symbols
;;;; in their constants.

(in-package "LIVE-LISP.LOOK")

;;; The functions in a code object

(defun code-of (function)
  "Return the code object of FUNCTION, or NIL if FUNCTION is a generic function or not compiled. For
a closure, this is the code object of its underlying function."
  (typecase function
    (simple-function (function-code function))
    (generic-function nil)
    (function (let ((simple (simple-function function)))
                (and (typep simple 'simple-function) (function-code simple))))))

(defun code-file (code)
  "Return the name of the source file of the code object CODE, or NIL if SBCL has recorded none."
  (nil-if-unknown (source-name (information-source (code-information code)))))

(defun outermost-names (code)
  "Return a list of the debug names of those functions in the code object CODE that are not inside
another function: of F, but not of (FLET G :IN F)."
  (loop for index below (code-functions code)
        for name = (simple-function-name (code-function code index))
        when (equal name (root-of name)) collect name))

(defun root-in (code function)
  "FUNCTION is a function in the code object CODE. Return the name of the outermost function that
contains FUNCTION, or :TOP-LEVEL if this outermost function has no name. For (FLET G :IN F) this is
F. But some debug names have the name of a block or a file in the place of F. Then return the first
of the OUTERMOST-NAMES of CODE."
  (let* ((name (simple-function-name function)) (root (root-of name)))
    (if (or (= 1 (code-functions code)) (equal name root) (form-name-p name))
        root
        (let ((outermost (outermost-names code)))
          (if (or (null outermost) (member root outermost :test #'equal))
              root
              (first outermost))))))

(defun roots-in (code)
  "Return a list of the results of ROOT-IN for all functions in the code object CODE, without
duplicates. Each is a function name, a list such as (FAST-METHOD F (T)), or :TOP-LEVEL."
  (let ((roots '()))
    (dotimes (index (code-functions code) roots)
      (pushnew (root-in code (code-function code index)) roots :test #'equal))))

(defun nameless-functions (code)
  "Return a list of the functions in the code object CODE that are not inside a named function."
  (loop for index below (code-functions code)
        for function = (code-function code index)
        when (eq :top-level (root-in code function)) collect function))

;;; The functions that a code object calls

(defun map-constants (visit code)
  "Call the function VISIT with each constant of the code object CODE. The functions in CODE share
its constants."
  (loop for index from (first-constant code) below (code-words code)
        do (funcall visit (code-word code index))))

(defun called-names (code)
  "Return a list of the names of global functions that the code object CODE calls or refers to."
  (let ((names (remove-if-not #'plain-name-p (linked-names code))))
    (map-constants (lambda (constant)
                     (when (typep constant 'cell)
                       (let ((name (cell-name constant)))
                         (when (plain-name-p name) (push name names)))))
                   code)
    names))

(defun names-in-xrefs (code)
  "Return a list of the names in the cross references of all functions in the code object CODE."
  (let ((names '()))
    (dotimes (index (code-functions code) names)
      (let ((xrefs (packed-xrefs (code-function code index))))
        (when xrefs
          (map-xrefs (lambda (kind name number) (declare (ignore kind number)) (push name names))
                     xrefs))))))

;;; The names that a code object contains as data

(sb-ext:defglobal **system-packages**
    (let ((table (make-hash-table :test 'eq :synchronized t)))
      (dolist (package (list-all-packages) table)
        (when (or (core-package-p package) (eq package (find-package "KEYWORD")))
          (setf (gethash package table) t))))
  "A hash table with the packages of the system as keys: KEYWORD, LIVE-LISP and those of SBCL.")

(defun showable-name-p (name)
  "Return true if answers may show the function name NAME: the symbol in NAME belongs to the
program, or is external in a package of SBCL."
  (and (plain-name-p name)
       (let* ((symbol (name-symbol name)) (package (symbol-package symbol)))
         (and package
              (or (not (gethash package **system-packages**))
                  (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package))))))))

(defun program-symbol-p (symbol)
  "Return true if SYMBOL belongs to the program: SYMBOL has a home package, which is not one of
SBCL's."
  (let ((package (symbol-package symbol)))
    (and package (not (gethash package **system-packages**)))))

(defun map-symbols (visit constant)
  "Call the function VISIT with each symbol of the program in CONSTANT, an atom or a tree of conses
and arrays. The second argument of VISIT is true if the symbol names a handler of a HANDLER-BIND
clause. Examine at most 2000 elements of CONSTANT."
  (let ((left 2000))
    (labels ((walk (part depth &aux last-element)
               (loop while (and (consp part) (plusp depth) (plusp (decf left)))
                     do (setf last-element (pop part))
                        (walk last-element (1- depth)))
               ;; PART is an atom now, except if the loop has met a limit.
               (cond ((null part))
                     ((symbolp part)
                      (when (program-symbol-p part)
                        ;; SBCL keeps a clause of a HANDLER-BIND as a pair (TEST . HANDLER).
                        (funcall visit part (typep last-element '(or handled-class function)))))
                     ((and (typep part '(simple-array t)) (plusp depth))
                      (loop for index below (array-total-size part)
                            while (plusp (decf left))
                            do (walk (row-major-aref part index) (1- depth)))))))
      (walk constant 50))))

(defun kept-parameters-p (list &optional (depth 10))
  "Return true if LIST has the shape of a lambda list without default forms, as SBCL keeps it in a
code object. LIST must have at most 200 parameters and at most DEPTH levels of nesting."
  (loop with defaults = nil ; True after &OPTIONAL or &KEY.
        for rest = list then (cdr rest)
        repeat 201
        while (consp rest)
        do (let ((part (car rest)))
             (cond ((member part '(&optional &key)) (setf defaults t))
                   ((symbolp part))
                   ((not (and (consp part)
                              (plusp depth)
                              (or (not defaults) (null (cdr part)))
                              (kept-parameters-p part (1- depth))))
                    (return nil))))
        finally (return (symbolp rest))))

;;; For (DESTRUCTURING-BIND (A (B)) X ...), the constants of the code are a cell of SBCL's checking
;;; function +CHECKS-LIST+, and then the lambda lists (A (B)) and (B). The next three functions
;;; distinguish such lists from data of the program.

(defparameter *argument-checks* (list +checks-list+ +checks-rest+ +checks-keys+)
  "The names of SBCL's functions that check the arguments of a macro or a DESTRUCTURING-BIND.")

(defun after-check-p (list code)
  "LIST is a constant of the code object CODE. Return true if SBCL seems to keep LIST for the error
messages of an argument check: the constant before LIST is the cell of a function in
*ARGUMENT-CHECKS*, or only lambda lists are between such a cell and LIST. If +NAME-OF-CELL+ is true,
this SBCL keeps no such cells among the constants. Then it suffices that only lambda lists precede
LIST."
  (let ((after-check (and +name-of-cell+ t)))
    (map-constants (lambda (constant)
                     (when (eq constant list) (return-from after-check-p after-check))
                     (setf after-check
                           (if (typep constant 'cell)
                               (member (cell-name constant) *argument-checks* :test #'equal)
                               (and after-check
                                    (consp constant)
                                    (kept-parameters-p constant)))))
                   code)))

(defun mostly-functions-p (list)
  "LIST is a tree of symbols. Return true if more of them name functions than do not."
  (let ((surplus 0))
    (labels ((visit (part)
               (cond ((consp part) (visit (car part)) (visit (cdr part)))
                     (part (incf surplus (if (fboundp part) 1 -1))))))
      (visit list))
    (plusp surplus)))

(defun data-after-check-p (list code)
  "LIST is a constant of the code object CODE. By its position (see AFTER-CHECK-P), it seems to be a
lambda list that SBCL keeps for error messages. Return true if LIST is probably data of the program
instead: if most symbols in LIST name functions, and CODE has more constants in such positions than
calls of functions in *ARGUMENT-CHECKS*. For example, (DESTRUCTURING-BIND (A B) X '(CAR CDR)) has
one such call, but two such constants, (A B) and (CAR CDR)."
  (and (mostly-functions-p list)
       (let ((lists 0)
             (checks (count-if (lambda (name) (member name *argument-checks*))
                               (names-in-xrefs code))))
         (map-constants (lambda (each)
                          (when (and (consp each)
                                     (kept-parameters-p each)
                                     (after-check-p each code))
                            (incf lists)))
                        code)
         (> lists checks))))

(defun lambda-list-p (constant code)
  "CONSTANT is a constant of the code object CODE. Return true if it is not data of the program, but
a lambda list that SBCL keeps for its error messages about arguments. The lambda list of a macro
begins with a list that names the macro. The lambda list of a DESTRUCTURING-BIND has lambda list
keywords, or comes directly after the function that checks the arguments (see AFTER-CHECK-P)."
  (flet ((names-macro-p (part) ; PART is, for example, (:MACRO WITH-FOO . DEFMACRO).
           (and (consp part)
                (eq :macro (first part))
                (consp (rest part))
                (cddr part)
                (symbolp (cddr part))))
         (has-keyword-p (list)
           (loop for rest = list then (cdr rest)
                 repeat 201
                 while (consp rest)
                   thereis (member (car rest) lambda-list-keywords))))
    (and (consp constant)
         (or (names-macro-p (first constant))
             (and (kept-parameters-p constant)
                  (intersection *argument-checks* (called-names code))
                  (or (and (after-check-p constant code) (not (data-after-check-p constant code)))
                      (has-keyword-p constant)))))))

(defun method-alone-p (code)
  "Return true if all named functions in the code object CODE belong to one method, and CODE does
not add that method to its generic function."
  (let ((roots (remove :top-level (roots-in code))))
    (and (null (rest roots))
         (typep (first roots) '(cons symbol))
         (member (symbol-name (first (first roots))) '("FAST-METHOD" "SLOW-METHOD") :test #'string=)
         ;; Code that also adds the method to its generic function comes from a larger form. A
         ;; DEFMETHOD at top level compiles to no such code: the evaluator calls ADD-METHOD.
         (not (and +add-method+ (member +add-method+ (called-names code)))))))
