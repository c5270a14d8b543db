;;;; Symbol search. Without a package the external symbols of all packages are
;;;; searched through one block of octets that holds all their names, folded to
;;;; one case, in the order of the answer; with a package, its own symbols.

(in-package "LIVE-LISP.LOOK")

;;; Names as octets: UTF-8 of the characters folded by CHAR-DOWNCASE. Whatever
;;; CHAR-EQUAL takes for each other is folded to the same octets. 255 never occurs in
;;; UTF-8, so it separates names.

(defun put-folded (string buffer)
  "Append STRING to BUFFER as folded UTF-8; lone surrogates are characters as any other."
  (loop for char across (the string string)
        for code = (char-code (char-downcase char))
        do (cond ((< code #x80) (put code buffer))
                 ((< code #x800) (put (logior #xc0 (ash code -6)) buffer))
                 (t (cond ((< code #x10000) (put (logior #xe0 (ash code -12)) buffer))
                          (t (put (logior #xf0 (ash code -18)) buffer)
                             (put (logior #x80 (ldb (byte 6 12) code)) buffer)))
                    (put (logior #x80 (ldb (byte 6 6) code)) buffer)))
           (when (>= code #x80)
             (put (logior #x80 (ldb (byte 6 0) code)) buffer))))

(defun folded (string)
  "Return STRING as folded octets."
  (let ((buffer (make-buffer (+ 8 (* 4 (length string))))))
    (put-folded string buffer)
    (subseq (buffer-octets buffer) 0 (buffer-fill buffer))))

(defun symbol-before-p (one other)
  "The order of answers: by name, then by package, in code-point order (C10)."
  (let ((name-1 (symbol-name one)) (name-2 (symbol-name other)))
    (cond ((string< name-1 name-2) t)
          ((string= name-1 name-2)
           (string< (package-text one) (package-text other))))))

(defun package-text (symbol)
  "Return the name of the home package of SYMBOL, or \"#\" without one."
  (let ((package (symbol-package symbol)))
    (or (and package (package-name package)) "#")))

;;; The index of external symbols

(defstruct (name-index (:constructor make-name-index (symbols starts octets snapshot)))
  "SYMBOLS in the order of answers; the folded name of the Ith begins at STARTS[I] in
OCTETS. SNAPSHOT tells whether it is still true."
  (symbols #() :type simple-vector)
  (starts (error "required") :type (simple-array (unsigned-byte 32) (*)))
  (octets (error "required") :type octets)
  snapshot)

(sb-ext:defglobal **name-index** nil
  "The index of external symbols that was built last, or NIL.")

(defun external-cells (package)
  "Return the vector that holds the external symbols of PACKAGE, or NIL where this
SBCL keeps them in another way."
  (second (package-cells package)))

(defun take-snapshot (packages)
  "Return a list that tells later whether any of PACKAGES changed what it exports or
its name, or NIL when that cannot be told."
  (let ((snapshot (loop for package in packages
                        for cells = (external-cells package)
                        collect (list package (package-name package) cells (and cells (copy-seq cells))))))
    (and (every #'fourth snapshot) snapshot)))

(defun same-cells-p (one other)
  "True when two simple vectors of one length hold the same objects."
  (declare (type simple-vector one other) (optimize speed (safety 0)))
  (and (= (length one) (length other))
       (loop for i of-type fixnum from 0 below (length one)
             always (eq (svref one i) (svref other i)))))

(defun snapshot-true-p (snapshot packages)
  "True when SNAPSHOT shows PACKAGES as they are now. Compares every cell: counters
alone miss an export that takes the place of another."
  (and snapshot
       (= (length packages) (length snapshot))
       (loop for (package name cells copy) in snapshot
             for now in packages
             always (and (eq package now)
                         (eq name (package-name now))
                         (eq cells (external-cells now))
                         (same-cells-p cells copy)))))

(defun external-symbols (packages)
  "Return the external symbols of PACKAGES, each once, in the order of answers."
  (let ((seen (make-hash-table :test 'eq :size 16000)))
    (dolist (package packages)
      (do-external-symbols (symbol package) (setf (gethash symbol seen) t)))
    (sort (loop for symbol being the hash-keys of seen collect symbol) #'symbol-before-p)))

(defun build-name-index (packages)
  "Return the index of the external symbols of PACKAGES."
  (let* ((snapshot (take-snapshot packages))
         (symbols (coerce (external-symbols packages) 'simple-vector))
         (starts (make-array (length symbols) :element-type '(unsigned-byte 32)))
         (buffer (make-buffer 65536)))
    (loop for symbol across symbols
          for i from 0
          do (setf (aref starts i) (buffer-fill buffer))
             (put-folded (symbol-name symbol) buffer)
             (put 255 buffer))
    (make-name-index symbols starts (subseq (buffer-octets buffer) 0 (buffer-fill buffer)) snapshot)))

(defun name-index ()
  "Return an index that is true now."
  (let ((packages (list-all-packages)) (index **name-index**))
    (if (and index (snapshot-true-p (name-index-snapshot index) packages))
        index
        (setf **name-index** (build-name-index packages)))))

(defun find-octets (pattern octets start)
  "Return where PATTERN next occurs in OCTETS from START, or NIL."
  (declare (type octets pattern octets) (type fixnum start) (optimize speed))
  (sb-sys:with-pinned-objects (pattern octets)
    (let* ((base (sb-sys:vector-sap octets))
           (found (sb-alien:alien-funcall
                   (sb-alien:extern-alien "memmem" (function sb-sys:system-area-pointer sb-sys:system-area-pointer
                                                             sb-alien:unsigned sb-sys:system-area-pointer sb-alien:unsigned))
                   (sb-sys:sap+ base start) (- (length octets) start)
                   (sb-sys:vector-sap pattern) (length pattern))))
      (if (zerop (sb-sys:sap-int found))
          nil
          (the fixnum (sb-sys:sap- found base))))))

(defun owner (starts offset low)
  "Return the index of the name in which OFFSET lies, which is LOW or later."
  (declare (type (simple-array (unsigned-byte 32) (*)) starts) (type fixnum offset low) (optimize speed))
  (let ((high (length starts)))
    (declare (type fixnum high))
    (loop while (< (1+ low) high)
          do (let ((middle (ash (+ low high) -1)))
               (if (<= (aref starts middle) offset) (setf low middle) (setf high middle))))
    low))

(defun matching-externals (pattern)
  "Return the external symbols of all packages whose names contain PATTERN. Of a few
characters beyond ASCII, CHAR-EQUAL says other things one way than the other, which no
folding can, so it has the last word on patterns with such."
  (let ((found (indexed-externals pattern)))
    (if (every (lambda (char) (< (char-code char) 128)) pattern)
        found
        (delete-if-not (lambda (symbol) (search pattern (symbol-name symbol) :test #'char-equal)) found))))

(defun indexed-externals (pattern)
  "Return the external symbols of all packages whose folded names contain PATTERN folded."
  (let* ((index (name-index)) (symbols (name-index-symbols index)) (starts (name-index-starts index))
         (octets (name-index-octets index)) (wanted (folded pattern)))
    (if (zerop (length wanted))
        (coerce symbols 'list)
        (loop with last = 0
              for offset = (find-octets wanted octets 0)
                then (and (< (1+ last) (length starts)) (find-octets wanted octets (aref starts (1+ last))))
              while offset
              do (setf last (owner starts offset last))
              collect (svref symbols last)))))

(defun order-namesakes (symbols)
  "Return SYMBOLS, which are in the order of their names, with those of one name in the
order of their packages as they are now: a symbol can change its home without any change
that the index notices."
  (loop while symbols
        append (let* ((name (symbol-name (first symbols)))
                      (end (member-if-not (lambda (symbol) (string= name (symbol-name symbol))) symbols))
                      (namesakes (ldiff symbols end)))
                 (setf symbols end)
                 (if (rest namesakes) (sort namesakes #'symbol-before-p) namesakes))))

;;; One package

(defun matching-symbols (pattern package)
  "Return the symbols that are present in PACKAGE and whose names contain PATTERN, and
those that it inherits (C11)."
  (let ((present '()) (inherited '()))
    (with-package-iterator (next package :internal :external :inherited)
      (loop
        (multiple-value-bind (more symbol status) (next)
          (unless more (return))
          (when (search pattern (symbol-name symbol) :test #'char-equal)
            (if (eq status :inherited)
                (push symbol inherited)
                (push symbol present))))))
    ;; A symbol that is imported and inherited comes twice.
    (values present (set-difference (remove-duplicates inherited) present))))

;;; The operation

(defun of-type-p (symbol label)
  "True when SYMBOL has the nature LABEL."
  (cond ((string= label "CLASS") (classp symbol))
        ((string= label "VARIABLE") (and (variable-kind symbol) t))
        (t (equal label (callable-nature symbol)))))

(define-operation "apropos" (pattern package type inherited offset limit)
  "Search for PATTERN in the names of symbols. Gives the true total and the rows from
OFFSET on, at most LIMIT, each a list of home package, name and label. When nobody named a
PACKAGE and nothing is found, it gives how many symbols of the session's match (C26)."
  (multiple-value-bind (found inheritable)
      (if package
          (matching-symbols pattern (named-package package))
          (matching-externals pattern))
    (flet ((typed (symbols)
             (if type
                 (delete-if-not (lambda (symbol) (of-type-p symbol type)) symbols)
                 symbols)))
      (let ((found (typed found)) (inheritable (typed inheritable)))
        (setf found (cond ((not package) (order-namesakes found))
                          (inherited (sort (append inheritable found) #'symbol-before-p))
                          (t (sort found #'symbol-before-p))))
        (object "total" (length found)
                "current" (and (not package)
                               (null found)
                               (let ((here (typed (matching-symbols pattern (session-package)))))
                                 (and here (object "package" (current-package-text) "count" (length here)))))
                "inherited" (length inheritable)
                "rows" (loop for symbol in (page found offset limit)
                             collect (list (package-text symbol) (symbol-name symbol) (or type (label symbol)))))))))
