;;;; Suggests existing names, at most three, for one that does not exist, by edit distance. This is done when something
;;;; has failed, and takes one pass through the symbols of one package.

(in-package "LIVE-LISP.JOBS")

(defparameter *looked-at* 250000 "At most this many symbols of a package are compared.")

(defun nearness (name)
  "Return the greatest edit distance at which another name is near NAME; NIL when NAME is too short for suggestions."
  (let ((length (length name)))
    (cond ((< length 4) nil)
          ((< length 8) 1)
          ((< length 13) 2)
          (t 3))))

(defun next-row (i one other width most before above row)
  "Fill ROW of the table of edit distances, from I characters of ONE to each prefix of the WIDTH characters of OTHER.
Return the least distance in ROW. ABOVE is the row before ROW, BEFORE the row before ABOVE. Cells further than MOST from
the diagonal do not count."
  (declare (type (simple-array character (*)) one other)
           (type (integer 1 10000) i) (type (integer 0 10000) width) (type (integer 0 10) most)
           (type (simple-array fixnum (*)) before above row) (optimize speed))
  (let ((char (char one (1- i)))
        (first (max 1 (- i most))) (end (min width (+ i most))) (least 1000))
    (declare (type fixnum first end least))
    (setf (aref row (1- first)) (if (= first 1) i 1000)
          least (aref row (1- first)))
    (loop for j of-type (integer 1 10000) from first to end
          for opposite = (char other (1- j))
          for value of-type fixnum = (min (+ 1 (aref above j))
                                          (+ 1 (aref row (1- j)))
                                          (+ (if (char= char opposite) 0 1) (aref above (1- j))))
          do (when (and (> i 1) (> j 1)
                        (char= char (char other (- j 2)))
                        (char= (char one (- i 2)) opposite))
               (setf value (min value (+ 1 (aref before (- j 2))))))
             (setf (aref row j) value
                   least (min least value)))
    (when (< end width) (setf (aref row (1+ end)) 1000))
    least))

(defun put-upper-case (string buffer)
  "Put the characters of STRING into BUFFER in upper case."
  (declare (type (simple-array character (*)) buffer) (optimize speed))
  (macrolet ((put-characters (type)
               `(loop for char across (the ,type string)
                      for i of-type fixnum from 0
                      do (setf (aref buffer i) (if (char<= #\! char #\`) char (char-upcase char))))))
    (if (typep string 'simple-base-string)
        (put-characters simple-base-string)
        (put-characters (simple-array character (*))))))

(defun slips-to (one height other width most rows)
  "Return the edit distance from the first HEIGHT characters of ONE to the first WIDTH of OTHER, or NIL when it is more
than MOST. ROWS are three vectors to work in."
  (declare (type (simple-array character (*)) one other) (type (integer 0 10000) height width)
           (type (integer 0 10) most) (optimize speed))
  (destructuring-bind (before above row) rows
    (declare (type (simple-array fixnum (*)) before above row))
    (loop for j of-type fixnum from 0 to width do (setf (aref above j) j))
    (loop for i of-type (integer 1 10000) from 1 to height
          do (when (> (the fixnum (next-row i one other width most before above row)) most)
               (return nil))
             (rotatef before above row)
          finally (return (and (<= (aref above width) most) (aref above width))))))

(defun common-beginning (one height other width)
  "Return the length of the common prefix of the first HEIGHT characters of ONE and the first WIDTH of OTHER."
  (declare (type (simple-array character (*)) one other) (type (integer 0 10000) height width) (optimize speed))
  (loop for same of-type (integer 0 10000) from 0 below (min height width)
        while (char= (char one same) (char other same))
        finally (return same)))

(defun common-end (one height other width start)
  "Return the length of the common suffix, behind START, of the first HEIGHT characters of ONE and the first WIDTH of
OTHER."
  (declare (type (simple-array character (*)) one other) (type (integer 0 10000) height width start) (optimize speed))
  (loop for same of-type (integer 0 10000) from 0 below (- (min height width) start)
        while (char= (char one (- height same 1)) (char other (- width same 1)))
        finally (return same)))

(defun slip-counter (name most)
  "Return a function that returns the edit distance from NAME to a string, whatever the case: how many characters are
wrong, missing, too many or exchanged with their neighbour. It returns NIL above MOST, or above its second argument when
that is less."
  (let* ((one (map-into (make-array (length name) :element-type 'character) #'char-upcase name))
         (room (+ (length one) most 2))
         (buffer (make-string room)) (left (make-string room)) (right (make-string room))
         (rows (loop repeat 3 collect (make-array room :element-type 'fixnum))))
    (lambda (other &optional (bound most))
      (declare (type simple-string other) (type (integer 0 10) most bound)
               (type (simple-array character (*)) one buffer left right) (optimize speed))
      (let ((height (length one)) (width (length other)) (most (min most bound)))
        (declare (type (integer 0 10000) height width))
        (when (<= (abs (- width height)) most)
          (put-upper-case other buffer)
          ;; Skip the common prefix and suffix, which are most of two names that are near.
          (let* ((start (common-beginning one height buffer width))
                 (same (common-end one height buffer width start)))
            (declare (type (integer 0 10000) start same))
            (decf height (+ start same))
            (decf width (+ start same))
            (cond ((or (zerop height) (zerop width)) (max height width))
                  (t (replace left one :start2 start :end2 (+ start height))
                     (replace right buffer :start2 start :end2 (+ start width))
                     (slips-to left height right width most rows)))))))))

(defun nearest-three (found)
  "Return the texts of the nearest three of FOUND, lists of a text, its distance, and the distance of its package,
without duplicates. Leave out what is further than the nearest, unless its distance is at most 1."
  (flet ((before-p (one other)
           (loop for a in (rest one) for b in (rest other)
                 unless (= a b) return (< a b)
                 finally (return (string< (first one) (first other))))))
    (let* ((found (sort found #'before-p)) (most (max 1 (or (second (first found)) 0))) (texts '()))
      (loop for (text far) in found
            while (and (<= far most) (< (length texts) 3))
            do (pushnew text texts :test #'string=))
      (reverse texts))))

(defun map-accessible (visit package)
  "Call VISIT with the symbols that are accessible in PACKAGE, at most *LOOKED-AT*."
  (let ((left *looked-at*))
    (with-package-iterator (next package :internal :external :inherited)
      (loop
        (multiple-value-bind (more symbol) (next)
          (unless (and more (plusp left)) (return))
          (decf left)
          (funcall visit symbol))))))

(defparameter *documented-packages*
  '("SB-EXT" "SB-THREAD" "SB-MOP" "SB-GRAY" "SB-POSIX" "SB-BSD-SOCKETS" "SB-CLTL2" "SB-INTROSPECT")
  "The packages of SBCL that are searched for a name that is missing elsewhere.")

(defun namesakes (name)
  "Return two lists of the symbols named NAME in all packages: the exported and the internal ones. SBCL's internal
packages and symbols are left out."
  (let ((exported '()) (internal '()))
    (dolist (package (list-all-packages) (values exported (set-difference internal exported)))
      (let* ((called (package-name package))
             (documented (member called *documented-packages* :test #'string=)))
        (when (and called
                   (or documented (not (eql 0 (search "SB-" called))))
                   (not (own-package-p package)))
          (multiple-value-bind (symbol status) (find-symbol name package)
            (cond ((keywordp symbol))
                  ((eq status :external) (pushnew symbol exported))
                  ((and (eq status :internal) (not documented)) (pushnew symbol internal)))))))))

(defun nearer-p (symbol far beside entry)
  "True when SYMBOL ranks before ENTRY, a list of a text, its FAR, its BESIDE, and a symbol. FAR is the edit distance.
BESIDE is 0 when the symbol's home is the package asked for, 1 when it is exported or accessible there, else 2."
  (destructuring-bind (text other-far other-beside other) entry
    (cond ((/= far other-far) (< far other-far))
          ((/= beside other-beside) (< beside other-beside))
          ((eq (symbol-package symbol) (symbol-package other))
           (string< (symbol-name symbol) (symbol-name other)))
          (t (string< (symbol-text symbol) text)))))

(defun near-symbols (name package wanted &optional hidden)
  "Return at most three symbols near the string NAME of which the predicate WANTED is true, as texts, the nearest first.
They are accessible in PACKAGE, or are named exactly NAME and exported by another package; with HIDDEN also internal."
  (let* ((most (nearness name)) (slips (and most (slip-counter name most))) (found '()) (bound 10))
    (declare (type (integer 0 10) bound))
    (flet ((note (symbol far &optional (away 1))
             (let ((beside (if (eq package (symbol-package symbol)) 0 away)))
               ;; WANTED costs more than all else, so it is called only for symbols that would be shown.
               (when (and (symbol-package symbol)
                          (or (null (cddr found)) (nearer-p symbol far beside (third found)))
                          (not (find symbol found :key #'fourth))
                          (funcall wanted symbol))
                 (let ((place (position-if (lambda (entry) (nearer-p symbol far beside entry)) found))
                       (entry (list (symbol-text symbol) far beside symbol)))
                   (setf found (if place
                                   (append (subseq found 0 place) (list entry) (nthcdr place found))
                                   (append found (list entry)))
                         found (subseq found 0 (min 3 (length found)))
                         bound (max 1 (second (first found)))))))))
      (multiple-value-bind (exported internal) (namesakes name)
        (dolist (symbol exported) (note symbol 0))
        (when hidden
          (dolist (symbol internal) (note symbol 0 2))))
      (when slips
        (map-accessible (lambda (symbol)
                          (let ((far (funcall slips (symbol-name symbol) bound)))
                            (when far (note symbol far))))
                        package)))
    (nearest-three (mapcar #'butlast found))))

(defun near-packages (name)
  "Return at most three names and nicknames of packages near the string NAME, the nearest first."
  (let* ((most (nearness name)) (slips (and most (slip-counter name most))))
    (when slips
      (nearest-three
       (loop for package in (remove-if #'own-package-p (list-all-packages))
             append (loop for called in (cons (package-name package) (package-nicknames package))
                          for far = (and called (funcall slips (coerce called 'simple-string)))
                          when far collect (list called far 0)))))))

;;; Suggestions for the name that a condition is about

(defun classp-here (symbol)
  "True when SYMBOL names a class."
  (and (find-class symbol nil) t))

(defun near-name (name wanted)
  "Return suggestions for NAME, a symbol or (SETF symbol), of which WANTED is false. Return NIL if WANTED is true by
now: warnings come when all is loaded, and the definition can stand behind the use."
  (let* ((symbol (if (consp name) (second name) name))
         (package (and symbol (symbolp symbol) (not (keywordp symbol)) (symbol-package symbol)))
         (wanted (if (consp name) (lambda (each) (fboundp (list 'setf each))) wanted)))
    (when (and package (not (funcall wanted symbol)))
      (near-symbols (symbol-name symbol) package wanted t))))

(defun near-package-error (condition)
  "Return suggestions for the missing package, or the symbol missing in a package, of CONDITION, a package error."
  (let ((package (package-error-package condition)))
    (typecase package
      ((or string symbol character) (unless (find-package package) (near-packages (string package))))
      (package
       (let ((name (and (typep condition 'simple-condition) (first (simple-condition-format-arguments condition)))))
         (when (and (stringp name) (package-name package))
           (near-symbols name package
                         (lambda (symbol)
                           (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package)))))))))))

(defun near-warning (condition)
  "Return suggestions for the name that CONDITION, a warning of the compiler, calls undefined."
  (destructuring-bind (&optional kind name &rest more) (simple-condition-format-arguments condition)
    (declare (ignore more))
    (case kind
      (:function (near-name name #'fboundp))
      (:variable (near-name name #'boundp))
      (:type (near-name name #'classp-here)))))

(defun missing-name-p (condition)
  "True when CONDITION says that a function, variable, class, package or symbol of a package does not exist."
  (typep condition '(or undefined-function unbound-variable class-missing package-error)))

(defun near-condition (condition)
  "Return at most three suggestions, as texts, for the missing name that CONDITION is about."
  (ignore-errors
   (typecase condition
     (undefined-function (near-name (cell-error-name condition) #'fboundp))
     (unbound-variable (near-name (cell-error-name condition) #'boundp))
     (class-missing (near-name (cell-error-name condition) #'classp-here))
     (package-error (near-package-error condition))
     ((and warning simple-condition) (near-warning condition)))))
