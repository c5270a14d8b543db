;;;; An index of the external symbols of all packages makes the search among them fast: one octet
;;;; vector contains the case-folded names, in which memmem searches.

(in-package "LIVE-LISP.LOOK")

;;; Names as octets: UTF-8 of the characters folded by CHAR-DOWNCASE. Characters that CHAR-EQUAL
;;; treats as equal fold to the same octets. 255 never occurs in UTF-8, so it separates names.

(defun put-folded (string buffer)
  "Append STRING to BUFFER as case-folded UTF-8. Encode lone surrogates like other characters."
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
  "Return STRING in case-folded UTF-8, as a vector of octets."
  (let ((buffer (make-buffer (+ 8 (* 4 (length string))))))
    (put-folded string buffer)
    (subseq (buffer-octets buffer) 0 (buffer-fill buffer))))

;;; The index of external symbols. When packages change, only the changes are merged into the index,
;;; since sorting all symbols again would take twenty times as long.

(defstruct (name-index (:constructor make-name-index (symbols starts octets)))
  "An index of external symbols by name. SYMBOLS is sorted by name, not by case-folded name, and
contains a symbol once for each package that exports it. OCTETS has the case-folded names in the
same order, each followed by 255.
STARTS has for each symbol the index in OCTETS at which its name begins."
  (symbols #() :type simple-vector)
  (starts (error "required") :type (simple-array (unsigned-byte 32) (*)))
  (octets (error "required") :type octets))

(defun index-of (symbols)
  "Return a new NAME-INDEX for the list SYMBOLS."
  (let* ((symbols (coerce (sort (copy-list symbols) #'string< :key #'symbol-name) 'simple-vector))
         (starts (make-array (length symbols) :element-type '(unsigned-byte 32)))
         (buffer (make-buffer 1024)))
    (loop for symbol across symbols
          for i from 0
          do (setf (aref starts i) (buffer-fill buffer))
             (put-folded (symbol-name symbol) buffer)
             (put 255 buffer))
    (make-name-index symbols starts (subseq (buffer-octets buffer) 0 (buffer-fill buffer)))))

(defun name-place (name symbols low)
  "SYMBOLS is a vector sorted by name. Return the first index in SYMBOLS, at or after the index LOW,
of a symbol with the name NAME. If there is none, return the index at which it would be inserted."
  (declare (type simple-vector symbols) (type fixnum low))
  (let ((high (length symbols)))
    (loop while (< low high)
          do (let ((middle (ash (+ low high) -1)))
               (if (string< (symbol-name (svref symbols middle)) name)
                   (setf low (1+ middle))
                   (setf high middle))))
    low))

(defun marked-places (gone symbols)
  "SYMBOLS is the vector of a NAME-INDEX. For each element of the list GONE, find one occurrence of
this symbol in SYMBOLS. Return a bit vector as long as SYMBOLS, with 1 at these occurrences. A
symbol is in SYMBOLS once for each package that exports it, and in GONE once for each package that
no longer does."
  (let ((marks (make-array (length symbols) :element-type 'bit :initial-element 0)))
    (dolist (symbol gone marks)
      (let ((place
             (loop for place from (name-place (symbol-name symbol) symbols 0) below (length symbols)
                   when (and (eq symbol (svref symbols place)) (zerop (aref marks place)))
                     return place)))
        (when place (setf (aref marks place) 1))))))

(defun append-run (index from end symbols-to starts-to octets-to count fill)
  "Append the symbols of INDEX, a NAME-INDEX, from position FROM below END, to the vectors
SYMBOLS-TO, STARTS-TO and OCTETS-TO of a new NAME-INDEX. These vectors already have COUNT symbols
and FILL octets of names. Return the new values of COUNT and FILL."
  (declare (type (simple-array (unsigned-byte 32) (*)) starts-to) (type octets octets-to)
           (type fixnum from end count fill))
  (let* ((starts (name-index-starts index)) (octets (name-index-octets index))
         (bound (lambda (i) (if (< i (length starts)) (aref starts i) (length octets))))
         (first (funcall bound from)) (last (funcall bound end)))
    (declare (type fixnum first last))
    (replace symbols-to (name-index-symbols index) :start1 count :start2 from :end2 end)
    (replace octets-to octets :start1 fill :start2 first :end2 last)
    (loop for i of-type fixnum from from below end
          for to of-type fixnum from count
          do (setf (aref starts-to to) (+ fill (- (aref starts i) first))))
    (values (+ count (- end from)) (+ fill (- last first)))))

(defun merged-index (index gone new)
  "Return a new NAME-INDEX with the symbols of INDEX and of NEW, both NAME-INDEX structures. Leave
out one occurrence of a symbol in INDEX for each element of the list GONE."
  (let* ((symbols (name-index-symbols index)) (added (name-index-symbols new))
         (marks (marked-places gone symbols))
         (at 0)           ; The index in SYMBOLS of the next symbol to copy.
         (count 0) (fill 0)
         (size (+ (length symbols) (length added)))
         (symbols-to (make-array size))
         (starts-to (make-array size :element-type '(unsigned-byte 32)))
         (octets-to (make-array (+ (length (name-index-octets index))
                                   (length (name-index-octets new)))
                                :element-type '(unsigned-byte 8))))
    (labels ((copy (source from end)
               (setf (values count fill)
                     (append-run source from end symbols-to starts-to octets-to count fill)))
             (copy-index-up-to (place)  ; Leave out the symbols that MARKS marks as gone.
               (loop while (< at place)
                     do (let ((stop (or (position 1 marks :start at :end place) place)))
                          (when (< at stop) (copy index at stop))
                          (setf at (min place (1+ stop)))))))
      (loop for symbol across added
            for next from 0
            do (copy-index-up-to (name-place (symbol-name symbol) symbols at))
               (copy new next (1+ next)))
      (copy-index-up-to (length symbols)))
    (make-name-index (subseq symbols-to 0 count) (subseq starts-to 0 count)
                     (subseq octets-to 0 fill))))

;;; Snapshots of the exports of packages, by which changes are noticed

(defun external-cells (package)
  "Return the vector in which SBCL keeps the external symbols of PACKAGE. Return NIL if this SBCL
keeps them in another way."
  (second (package-cells package)))

(defstruct (exports (:constructor make-exports (package cells copy symbols)))
  "A snapshot of the external symbols of PACKAGE. SYMBOLS is a list of them. CELLS is the vector
from EXTERNAL-CELLS, or NIL, and COPY is a copy of this vector."
  package cells copy symbols)

(defun exports-of (package)
  "Return an EXPORTS structure for PACKAGE. Its SYMBOLS are empty if another thread has deleted
PACKAGE."
  (let* ((cells (external-cells package)) (copy (and cells (copy-seq cells))) (symbols '()))
    (when (package-name package)
      (handler-case (do-external-symbols (symbol package) (push symbol symbols))
        (package-error () (setf symbols '()))))
    (make-exports package cells copy symbols)))

(defun same-cells-p (one other)
  "Return true if the simple vectors ONE and OTHER have the same length and EQ elements."
  (declare (type simple-vector one other) (optimize speed (safety 0)))
  (and (= (length one) (length other))
       (loop for i of-type fixnum from 0 below (length one)
             always (eq (svref one i) (svref other i)))))

(defun exports-true-p (exports)
  "Return true if the package of EXPORTS, an EXPORTS structure, still exports the same symbols.
Compare the symbols, not their number, since one export can replace another."
  (let ((cells (exports-cells exports)) (copy (exports-copy exports)))
    (and copy
         (eq cells (external-cells (exports-package exports)))
         (same-cells-p cells copy))))

(defun all-exports-true-p (all packages)
  "Return true if the list ALL has one EXPORTS structure for each of PACKAGES, in the same order,
and all these snapshots are current."
  (and (= (length packages) (length all))
       (loop for exports in all
             for package in packages
             always (and (eq package (exports-package exports)) (exports-true-p exports)))))

(defun list-differences (one other)
  "Return two lists: the elements of the list ONE that are not in the list OTHER, and the elements
of OTHER that are not in ONE."
  (let ((table (make-hash-table :test 'eq)))
    (dolist (element other) (setf (gethash element table) t))
    (values (remove-if (lambda (element) (remhash element table)) one)
            (loop for element being the hash-keys of table collect element))))

(defun changed-exports (all packages)
  "ALL is a list of older EXPORTS structures. Return three lists: current EXPORTS structures for
PACKAGES, the symbols exported since ALL was made, and the symbols no longer exported. A symbol is
in the second or third list once for each package that began or ceased to export it."
  (let ((known (make-hash-table :test 'eq)) (new '()) (gone '()))
    (dolist (exports all) (setf (gethash (exports-package exports) known) exports))
    (flet ((current (package)
             (let ((old (gethash package known)))
               (remhash package known)
               (if (and old (exports-true-p old))
                   old
                   (let ((changed (exports-of package)))
                     (multiple-value-bind (more less)
                         (list-differences (exports-symbols changed)
                                           (and old (exports-symbols old)))
                       (setf new (append more new) gone (append less gone)))
                     changed)))))
      (let ((now (mapcar #'current packages)))
        ;; The packages that are left in KNOWN were deleted.
        (loop for exports being the hash-values of known
              do (setf gone (append (exports-symbols exports) gone)))
        (values now new gone)))))

(sb-ext:define-load-time-global **exports**
    (list (make-name-index #() (make-array 0 :element-type '(unsigned-byte 32))
                           (make-array 0 :element-type '(unsigned-byte 8))))
  "A cons (INDEX . SNAPSHOTS). INDEX is the last NAME-INDEX of external symbols. SNAPSHOTS is the
list of EXPORTS structures for all packages, from which INDEX was made. Threads use no lock, since
the cons is never changed, only replaced.")

(defun name-index ()
  "Return a current NAME-INDEX of the external symbols of all packages. Make a new one only if
packages have changed."
  (let ((packages (list-all-packages)))
    (destructuring-bind (index . all) **exports**
      (if (all-exports-true-p all packages)
          index
          (multiple-value-bind (now new gone) (changed-exports all packages)
            (first (setf **exports** (cons (merged-index index gone (index-of new)) now))))))))

;;; Searching the index

(defun find-octets (pattern octets start)
  "PATTERN and OCTETS are vectors of octets. Return the index of the first occurrence of PATTERN in
OCTETS at or after the index START, or NIL."
  (declare (type octets pattern octets) (type fixnum start) (optimize speed))
  (sb-sys:with-pinned-objects (pattern octets)
    (let* ((base (sb-sys:vector-sap octets))
           (found (sb-alien:alien-funcall
                   (sb-alien:extern-alien "memmem" (function sb-sys:system-area-pointer
                                                             sb-sys:system-area-pointer
                                                             sb-alien:unsigned
                                                             sb-sys:system-area-pointer
                                                             sb-alien:unsigned))
                   (sb-sys:sap+ base start) (- (length octets) start)
                   (sb-sys:vector-sap pattern) (length pattern))))
      (if (zerop (sb-sys:sap-int found))
          nil
          (the fixnum (sb-sys:sap- found base))))))

(defun owner (starts offset low)
  "STARTS is a vector of the indices at which names begin in the octets of a NAME-INDEX. Return the
number of the name that contains the octet at OFFSET. This number must be at least LOW."
  (declare (type (simple-array (unsigned-byte 32) (*)) starts) (type fixnum offset low)
           (optimize speed))
  (let ((high (length starts)))
    (declare (type fixnum high))
    (loop while (< (1+ low) high)
          do (let ((middle (ash (+ low high) -1)))
               (if (<= (aref starts middle) offset) (setf low middle) (setf high middle))))
    low))

(defun matching-externals (pattern)
  "Return a list of the external symbols of all packages whose names contain PATTERN in any letter
case, as CHAR-EQUAL compares characters."
  (let ((found (indexed-externals pattern)))
    ;; Outside ASCII, (CHAR-EQUAL A B) and (CHAR-EQUAL B A) can differ, which the index ignores.
    (if (every (lambda (char) (< (char-code char) 128)) pattern)
        found
        (delete-if-not (lambda (symbol) (search pattern (symbol-name symbol) :test #'char-equal))
                       found))))

(defun indexed-externals (pattern)
  "Return a list of the external symbols of all packages whose case-folded names contain the string
PATTERN, case-folded. A symbol is in the list once for each package that exports it."
  (let* ((index (name-index)) (symbols (name-index-symbols index))
         (starts (name-index-starts index))
         (octets (name-index-octets index)) (wanted (folded pattern)))
    (if (zerop (length wanted))
        (coerce symbols 'list)
        ;; After a match, go on at the next name, so that each name is found once.
        (loop with last = 0
              for offset = (find-octets wanted octets 0)
                then (and (< (1+ last) (length starts))
                          (find-octets wanted octets (aref starts (1+ last))))
              while offset
              do (setf last (owner starts offset last))
              collect (svref symbols last)))))
