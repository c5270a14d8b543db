;;;; Suggests at most three existing names for a missing name: names at a small edit distance in one
;;;; package, and the same name in other packages. This visits the symbols of one package once, so
;;;; other code calls it only after an error or a warning, or when a name is not found.

(in-package "LIVE-LISP.JOBS")

(defparameter *compared-symbols-limit* 250000
  "The largest number of symbols of a package that are compared with a name.")

(defun nearness (name)
  "Return the largest edit distance from NAME, a string, at which another name is suggested. Return
NIL if NAME is too short for suggestions."
  (let ((length (length name)))
    (cond ((< length 4) nil)
          ((< length 8) 1)
          ((< length 13) 2)
          (t 3))))

(defun put-upper-case (string buffer)
  "Copy the characters of STRING, in upper case, to the start of BUFFER, a string."
  (declare (type (simple-array character (*)) buffer) (optimize speed))
  (macrolet ((put-characters (type)
               `(loop for char across (the ,type string)
                      for i of-type fixnum from 0
                      ;; CHAR-UPCASE is slow, and does not change the characters from ! to `.
                      do (setf (aref buffer i)
                               (if (char<= #\! char #\`) char (char-upcase char))))))
    (if (typep string 'simple-base-string)
        (put-characters simple-base-string)
        (put-characters (simple-array character (*))))))

(defun next-row (i one other width before above row)
  "Fill ROW, a row of the table of edit distances. Element J becomes the distance of the first I
characters of ONE from the first J characters of OTHER, for J up to WIDTH. Return the smallest of
them. ABOVE is the row before ROW, and BEFORE the row before ABOVE."
  ;; With these bounds, far above the length of any name, all sums are fixnums.
  (declare (type (simple-array character (*)) one other)
           (type (integer 1 10000) i) (type (integer 0 10000) width)
           (type (simple-array fixnum (*)) before above row) (optimize speed))
  (let ((least i))
    (declare (type fixnum least))
    (setf (aref row 0) i)
    (loop for j of-type (integer 1 10000) from 1 to width
          for same = (char= (char one (1- i)) (char other (1- j)))
          for value of-type fixnum = (min (+ 1 (aref above j))
                                          (+ 1 (aref row (1- j)))
                                          (+ (if same 0 1) (aref above (1- j))))
          do (when (and (> i 1) (> j 1)
                        (char= (char one (1- i)) (char other (- j 2)))
                        (char= (char one (- i 2)) (char other (1- j))))
               (setf value (min value (+ 1 (aref before (- j 2))))))
             (setf (aref row j) value
                   least (min least value)))
    least))

(defun slip-counter (name most)
  "Return a function that takes a string and returns its edit distance from NAME, or NIL if that is
greater than MOST. The distance counts the characters that are wrong, missing, superfluous or
swapped with their neighbour. Letter case is ignored."
  (let* ((one (map '(simple-array character (*)) #'char-upcase name))
         (size (+ (length one) most 1))
         (buffer (make-string size))
         (rows (loop repeat 3 collect (make-array size :element-type 'fixnum))))
    (lambda (other)
      (declare (type simple-string other))
      (let ((height (length one)) (width (length other)))
        (when (<= (abs (- width height)) most)
          (put-upper-case other buffer)
          (destructuring-bind (before above row) rows
            (dotimes (j (1+ width)) (setf (aref above j) j))
            (loop for i from 1 to height
                  do (when (> (next-row i one buffer width before above row) most) (return nil))
                     (rotatef before above row)
                  finally (return (and (<= (aref above width) most) (aref above width))))))))))

(defun nearer-p (one other)
  "Return true if ONE ranks before OTHER. Both are lists (TEXT DISTANCE RANK ...): a text, its edit
distance, and the rank of its package, of which 0 is the best."
  (cond ((/= (second one) (second other)) (< (second one) (second other)))
        ((/= (third one) (third other)) (< (third one) (third other)))
        (t (string< (first one) (first other)))))

(defun nearest-three (found)
  "Return a list of the three nearest texts in FOUND, a list of (TEXT DISTANCE RANK ...) lists,
without duplicates. Leave out texts with a greater distance than the nearest one, unless the
distance is at most 1."
  (let* ((found (sort found #'nearer-p)) (most (max 1 (or (second (first found)) 0))) (texts '()))
    (loop for (text far) in found
          while (and (<= far most) (< (length texts) 3))
          do (pushnew text texts :test #'string=))
    (reverse texts)))

(defun map-accessible (visit package)
  "Call the function VISIT with each symbol that is accessible in PACKAGE, but with at most
*COMPARED-SYMBOLS-LIMIT* symbols."
  (let ((left *compared-symbols-limit*))
    (with-package-iterator (next package :internal :external :inherited)
      (loop
        (multiple-value-bind (more symbol) (next)
          (unless (and more (plusp left)) (return))
          (decf left)
          (funcall visit symbol))))))

(defparameter *documented-packages*
  '("SB-EXT" "SB-THREAD" "SB-MOP" "SB-GRAY" "SB-POSIX" "SB-BSD-SOCKETS" "SB-CLTL2" "SB-INTROSPECT")
  "The names of the packages of SBCL in which NAMESAKES searches. It skips SBCL's other packages.")

(defun namesakes (name)
  "Return two lists of the symbols named NAME, a string, in all packages: first the exported
symbols, then the internal ones. Skip SBCL's undocumented packages, and the internal symbols of its
documented ones."
  (let ((exported '()) (internal '()))
    (flet ((look (package)
             (let* ((called (package-name package))
                    (documented (member called *documented-packages* :test #'string=)))
               (when (and called
                          (or documented (not (sbcl-package-p package)))
                          (not (backend-package-p package)))
                 (multiple-value-bind (symbol status) (find-symbol name package)
                   (cond ((keywordp symbol))
                         ((eq status :external) (pushnew symbol exported))
                         ((and (eq status :internal) (not documented))
                          (pushnew symbol internal))))))))
      (map-packages #'look)
      (values exported (set-difference internal exported)))))

(defun near-symbols (name package wanted &key hidden)
  "Return a list of at most three symbols, as texts, that satisfy the predicate WANTED, the nearest
first. Two kinds of symbols are considered: those that are accessible in PACKAGE and whose names are
near NAME, a string; and those with exactly the name NAME that another package exports or, if HIDDEN
is true, has as internal symbols."
  (let* ((most (nearness name)) (slips (and most (slip-counter name most)))
         (seen (make-hash-table :test 'eq)) (found '()))
    ;; AWAY is the rank of SYMBOL (NEARER-P) if its home package is not PACKAGE.
    (flet ((note (symbol far &optional (away 1))
             (when (and (symbol-package symbol) (not (shiftf (gethash symbol seen) t)))
               (push (list (symbol-text symbol) far (if (eq package (symbol-package symbol)) 0 away)
                           symbol)
                     found))))
      (multiple-value-bind (exported internal) (namesakes name)
        (dolist (symbol exported) (note symbol 0))
        (when hidden
          (dolist (symbol internal) (note symbol 0 2))))
      (when slips
        (map-accessible (lambda (symbol)
                          (let ((far (funcall slips (symbol-name symbol))))
                            (when far (note symbol far))))
                        package)))
    ;; Stop when three symbols are found, because WANTED is slow.
    (nearest-three (loop for (text far rank symbol) in (sort found #'nearer-p)
                         while (< (length near) 3)
                         when (funcall wanted symbol) collect (list text far rank) into near
                         finally (return near)))))

(defun near-packages (name)
  "Return a list of at most three names and nicknames of packages near NAME, a string, the nearest
first."
  (let* ((most (nearness name)) (slips (and most (slip-counter name most))))
    (when slips
      (flet ((near (package)
               (unless (backend-package-p package)
                 (loop for called in (cons (package-name package) (package-nicknames package))
                       for far = (and called (funcall slips (coerce called 'simple-string)))
                       when far collect (list called far 0)))))
        (nearest-three (from-packages #'near))))))

;;; Suggestions for the name that a condition is about

(defun classp (symbol)
  "Return true if SYMBOL names a class."
  (and (find-class symbol nil) t))

(defun near-name (name wanted)
  "Return a list of texts for the symbols near NAME, a symbol, that satisfy the predicate WANTED.
For a NAME (SETF symbol), return near symbols with a SETF function. Return NIL if NAME itself is
defined by now. For example, a form may use NAME before a later form defines it."
  (let* ((symbol (name-symbol name))
         (package (and symbol (symbolp symbol) (not (keywordp symbol)) (symbol-package symbol)))
         (wanted (if (consp name) (lambda (each) (fboundp (list 'setf each))) wanted)))
    (when (and package (not (funcall wanted symbol)))
      (near-symbols (symbol-name symbol) package wanted :hidden t))))

(defun near-package-error (condition)
  "CONDITION is a package error. If it says that a package does not exist, return a list of names
near that of the package. If it says that a package lacks a symbol, return a list of names near that
of the symbol."
  (let ((package (package-error-package condition)))
    (typecase package
      ((or string symbol character)
       (unless (find-package package) (near-packages (string package))))
      (package
       ;; The reader's error about a missing or internal symbol has the symbol's name, a string, as
       ;; its first argument.
       (let ((name (and (typep condition 'simple-condition)
                        (first (simple-condition-format-arguments condition)))))
         (when (and (stringp name) (package-name package))
           (near-symbols name package
                         (lambda (symbol)
                           (eq :external
                               (nth-value 1 (find-symbol (symbol-name symbol) package)))))))))))

(defun undefined-by (condition)
  "Return a list (KIND NAME) if CONDITION is a warning of the compiler about an undefined name. KIND
is :FUNCTION, :VARIABLE or :TYPE. Otherwise return NIL."
  ;; SBCL makes these warnings with the format control "undefined ~(~A~): ~S".
  (and (typep condition '(and warning simple-condition))
       (destructuring-bind (&optional kind name &rest more)
           (simple-condition-format-arguments condition)
         (and (member kind '(:function :variable :type))
              name
              (null more)
              (list kind name)))))

(defun near-warning (condition)
  "Return a list of names near the undefined name in CONDITION, a warning. Return NIL if CONDITION
is not about an undefined name."
  (destructuring-bind (&optional kind name) (undefined-by condition)
    (ecase kind
      (:function (near-name name #'fboundp))
      (:variable (near-name name #'boundp))
      (:type (near-name name #'classp))
      ((nil) '()))))

(defun missing-name-p (condition)
  "Return true if CONDITION is an error about a missing function, variable, class, package, or
symbol of a package."
  (typep condition '(or undefined-function unbound-variable class-missing package-error)))

(sb-ext:defglobal **init-file-named** nil
  "True once INIT-FILE-LACKING has returned **INIT-FILE** for an answer of this image.")

(defun init-file-lacking (condition)
  "If CONDITION is about a missing name, and there is no similar name, the user's init file, which
this image has not loaded, may define it. Then return **INIT-FILE**, the name of that file, but only
once in an image. Otherwise return NIL."
  (and **init-file**
       (not **init-file-named**)
       (missing-name-p condition)
       (null (near-condition condition))
       (progn (setf **init-file-named** t)
              **init-file**)))

(defun near-condition (condition)
  "Return a list of at most three names, as texts, near the missing name in CONDITION. Return NIL if
no name is missing."
  (nil-if-program-fails
    (typecase condition
      (undefined-function (near-name (cell-error-name condition) #'fboundp))
      (unbound-variable (near-name (cell-error-name condition) #'boundp))
      (class-missing (near-name (cell-error-name condition) #'classp))
      (package-error (near-package-error condition))
      ((and warning simple-condition) (near-warning condition)))))
