;;;; What a piece of code holds: its functions, what it calls, and the names in its data.

(in-package "LIVE-LISP.LOOK")

;;; Its functions

(defun code-of (function)
  "Return the code of FUNCTION, which can be a closure; NIL when it has none of its own."
  (typecase function
    (simple-function (function-code function))
    (generic-function nil)
    (function (let ((simple (simple-function function)))
                (and (typep simple 'simple-function) (function-code simple))))))

(defun code-file (code)
  "Return the name of the file that CODE is from, or NIL."
  (ignore-errors (source-name (information-source (code-information code)))))

(defun root-in (code function)
  "Return the root of FUNCTION in CODE. SBCL says of an inner function in which block it is, or only in which file. So one
whose root is not in CODE is within the first function there that has a name of its own."
  (let* ((name (simple-function-name function)) (root (root-of name)))
    (if (or (= 1 (code-functions code)) (equal name root) (form-name-p name))
        root
        (let ((others (loop for index below (code-functions code)
                            for other = (simple-function-name (code-function code index))
                            when (equal other (root-of other)) collect other)))
          (cond ((member root others :test #'equal) root)
                (others (first others))
                (t root))))))

(defun roots-in (code)
  "Return the different roots of the functions in CODE."
  (let ((roots '()))
    (dotimes (index (code-functions code) roots)
      (pushnew (root-in code (code-function code index)) roots :test #'equal))))

(defun nameless-functions (code)
  "Return the functions of CODE that are in none with a name."
  (loop for index below (code-functions code)
        for function = (code-function code index)
        when (eq :top-level (root-in code function)) collect function))

;;; What it calls

(defun map-constants (visit code)
  "Call VISIT with each constant of CODE that its functions share."
  (loop for index from (first-constant code) below (code-words code)
        do (funcall visit (code-word code index))))

(defun called-names (code)
  "Return the names of the global functions that CODE calls or has as functions."
  (let ((names (remove-if-not #'plain-name-p (linked-names code))))
    (map-constants (lambda (constant)
                     (when (typep constant 'cell)
                       (let ((name (cell-name constant))) (when (plain-name-p name) (push name names)))))
                   code)
    names))

(defun names-in-xrefs (code)
  "Return the names in the cross references of the functions of CODE."
  (let ((names '()))
    (dotimes (index (code-functions code) names)
      (let ((xrefs (packed-xrefs (code-function code index))))
        (when xrefs
          (map-xrefs (lambda (kind name number) (declare (ignore kind number)) (push name names)) xrefs))))))

;;; Names in its data

(sb-ext:defglobal **system-packages**
    (let ((table (make-hash-table :test 'eq :synchronized t)))
      (dolist (package (list-all-packages) table)
        (when (or (sb-ext:package-locked-p package) (eq package (find-package "KEYWORD")))
          (setf (gethash package table) t))))
  "The packages of the system.")

(defun told-name-p (name)
  "True when NAME is of the program, or one that the system has for programs."
  (and (plain-name-p name)
       (let* ((symbol (name-key name)) (package (symbol-package symbol)))
         (and package
              (or (not (gethash package **system-packages**))
                  (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package))))))))

(defun mentioned-p (symbol)
  "True when SYMBOL, which stands in a constant, is of the program."
  (let ((package (symbol-package symbol)))
    (and package (not (gethash package **system-packages**)))))

(defun data-p (constant)
  "True when CONSTANT is data that can have symbols in it."
  (typep constant '(or symbol cons (simple-array t))))

(defun map-symbols (visit constant)
  "Call VISIT with each symbol of the program in CONSTANT, an atom, or conses and arrays of at most 2000 elements. Its second
argument is true for what HANDLER-BIND calls. For that SBCL keeps a pair: the class of conditions, or a function that tells
them, and the name of a global function."
  (let ((left 2000))
    (labels ((walk (part depth &aux before)
               (loop while (and (consp part) (plusp depth) (plusp (decf left)))
                     do (walk (setf before (pop part)) (1- depth)))
               (cond ((null part))
                     ((symbolp part)
                      (when (mentioned-p part) (funcall visit part (typep before '(or handled-class function)))))
                     ((and (typep part '(simple-array t)) (plusp depth))
                      (loop for index below (array-total-size part)
                            while (plusp (decf left))
                            do (walk (row-major-aref part index) (1- depth)))))))
      (walk constant 50))))

(defun kept-parameters-p (list &optional defaults (depth 10))
  "True when LIST is of names as SBCL keeps a lambda list: without defaults. DEFAULTS is true behind &OPTIONAL or &KEY. It
has at most 200 parameters, and lists in at most DEPTH others."
  (loop for rest = list then (cdr rest)
        repeat 201
        while (consp rest)
        do (let ((part (car rest)))
             (cond ((member part '(&optional &key)) (setf defaults t))
                   ((symbolp part))
                   ((not (and (consp part)
                              (plusp depth)
                              (or (not defaults) (null (cdr part)))
                              (kept-parameters-p part nil (1- depth))))
                    (return nil))))
        finally (return (symbolp rest))))

(defun behind-check-p (list code)
  "True when LIST stands among the constants of CODE behind a function that checks arguments, with only such lists between.
Where that function is no constant, each list can be one that it is told."
  (let ((behind +name-of-cell+))
    (map-constants (lambda (constant)
                     (when (eq constant list) (return-from behind-check-p behind))
                     (setf behind (if (typep constant 'cell)
                                      (member (cell-name constant) (list +checks-list+ +checks-rest+ +checks-keys+) :test #'equal)
                                      (and behind (consp constant) (kept-parameters-p constant)))))
                   code)))

(defun beside-lambda-lists-p (list code)
  "True when LIST, behind a function that checks arguments, is data of CODE. It is mostly of functions, and there are more
such lists than calls that check."
  (let ((functions 0) (lists 0))
    (labels ((visit (part)
               (cond ((consp part) (visit (car part)) (visit (cdr part)))
                     (part (incf functions (if (fboundp part) 1 -1))))))
      (visit list))
    (map-constants (lambda (each) (when (and (consp each) (kept-parameters-p each) (behind-check-p each code)) (incf lists)))
                   code)
    (and (plusp functions)
         (> lists (count-if (lambda (name) (member name (list +checks-list+ +checks-rest+ +checks-keys+)))
                            (names-in-xrefs code))))))

(defun lambda-list-p (constant code)
  "True when CONSTANT, of CODE, is a lambda list that SBCL keeps for the error about wrong arguments. That of a macro has in
front what it is of. One of DESTRUCTURING-BIND is known by its keywords, or it stands behind the function that checks it."
  (and (consp constant)
       (let ((of (first constant)))
         (or (and (consp of) (eq :macro (first of)) (consp (rest of)) (cddr of) (symbolp (cddr of)))
             (and (kept-parameters-p constant)
                  (intersection (list +checks-list+ +checks-rest+ +checks-keys+) (called-names code))
                  (or (and (behind-check-p constant code) (not (beside-lambda-lists-p constant code)))
                      (loop for rest = constant then (cdr rest)
                            repeat 201
                            while (consp rest)
                              thereis (member (car rest) lambda-list-keywords))))))))

(defun method-alone-p (code)
  "True when CODE is that of one method, and no more of its form than what makes the function of that."
  (let ((roots (remove :top-level (roots-in code))))
    (and (null (rest roots))
         (typep (first roots) '(cons symbol))
         (member (symbol-name (first (first roots))) '("FAST-METHOD" "SLOW-METHOD") :test #'string=)
         ;; The evaluator itself adds the method of a DEFMETHOD that stands alone.
         (not (and +add-method+ (member +add-method+ (called-names code)))))))

