;;;; Defines the operation ranked-apropos: a symbol search that does not need the exact name.
;;;; Results are ranked by how well the pattern fits, then by package: packages of the user come
;;;; first. The search visits the symbols one by one and does limited work for each.

(in-package "LIVE-LISP.LOOK")

(defstruct (match (:constructor make-match (symbol fit package-rank distance)))
  "A symbol that the search has found. FIT and DISTANCE say how well the pattern fits the symbol:
they are the two values of a function from FIT-FUNCTION. PACKAGE-RANK is the rank of the symbol's
home package. Lower numbers rank first."
  symbol fit package-rank distance)

(define-operation ("ranked-apropos" :gives (or apropos-data lookup-failure))
    (pattern
     (package string :optional "The package to search; all by default.")
     type inherited
     (roots (list string) "Folders of the user's files, as native names.")
     offset limit)
  "Search for PATTERN in the names of symbols: best first, and with packages of the user before
others."
  (let ((found (multiple-value-bind (searched name-pattern)
                   (if package
                       (values (named-package package) pattern)
                       (split-pattern-prefix pattern))
                 (ranked-symbols name-pattern searched type inherited (users-packages roots)))))
    (call-user-code
     (lambda ()
       (object "total" (length found)
               ;; Only the operation apropos counts the inherited symbols that it leaves out.
               "inherited" 0
               "rows" (loop for symbol in (page found offset limit)
                            for label = (or type (label symbol))
                            collect (list (package-text symbol) (symbol-name symbol) label
                                          (or (label-documentation symbol label) ""))))))))

(defun split-pattern-prefix (pattern)
  "If the string PATTERN begins with the name of a package and a colon, return this package and the
rest of PATTERN. Else return NIL and PATTERN."
  (multiple-value-bind (prefix rest) (split-prefix pattern)
    (let ((package (and prefix
                        (let ((*package* (session-package)))
                          (find-package (string-upcase prefix))))))
      (if package (values package rest) (values nil pattern)))))

(defun label-documentation (symbol label)
  "Return the first line of the documentation of SYMBOL, or NIL. LABEL is a string such as
\"VARIABLE\" for the kind of definition whose documentation is wanted."
  (let ((type (cond ((string= label "VARIABLE") 'variable)
                    ((string= label "CLASS") 'type)
                    ((string/= label "SYMBOL") 'function))))
    (first-line (if type
                    (doc-text symbol type)
                    (or (doc-text symbol 'type) (doc-text (list 'setf symbol) 'function))))))

(defun first-line (text)
  "Return at most 120 characters of the first line of TEXT that is not blank. Return NIL if TEXT is
NIL or blank."
  (when text
    (let* ((text (string-left-trim '(#\Space #\Tab #\Newline) text))
           (line (string-right-trim " " (subseq text 0 (position #\Newline text)))))
      (cond ((string= line "") nil)
            ((> (length line) 120) (concatenate 'string (subseq line 0 117) "..."))
            (t line)))))

;;; The search

(defun ranked-symbols (pattern package type inherited users)
  "Return a list of the symbols with a name that matches PATTERN, best first. Search PACKAGE, or all
packages if PACKAGE is NIL. If INHERITED is true, include inherited symbols. If TYPE is a string
such as \"MACRO\", not NIL, return only symbols with a definition of this kind. USERS is a hash
table with the packages of the user as keys."
  (let ((fit-of-symbol (fit-function pattern)) (matches '()) (seen (make-hash-table :test 'eq)))
    (flet ((visit (symbol)
             (multiple-value-bind (fit distance) (funcall fit-of-symbol symbol)
               (when (and fit
                          (or (null type) (of-type-p symbol type))
                          ;; MAP-CANDIDATES visits a symbol once for each package that exports it.
                          (not (shiftf (gethash symbol seen) t)))
                 (push (make-match symbol fit (package-rank (symbol-package symbol) users)
                                   distance)
                       matches)))))
      (map-candidates #'visit package inherited users))
    (mapcar #'match-symbol (sort matches #'match-before-p))))

(defun map-candidates (visit package inherited users)
  "Call the function VISIT with each symbol to search. If PACKAGE is not NIL, these are the symbols
present in PACKAGE and, if INHERITED is true, the symbols that PACKAGE inherits. If PACKAGE is NIL,
these are the external symbols of all packages but KEYWORD, and those internal symbols of the user's
packages that name something. The keys of the hash table USERS are these packages."
  (if package
      (multiple-value-bind (present inheritable) (matching-symbols "" package)
        (mapc visit present)
        (when inherited (mapc visit inheritable)))
      (progn
        (loop for symbol across (name-index-symbols (name-index))
              unless (keywordp symbol) do (funcall visit symbol))
        (loop for each being the hash-keys of users
              do (with-package-iterator (next each :internal)
                   (loop (multiple-value-bind (more symbol) (next)
                           (unless more (return))
                           (when (names-something-p symbol) (funcall visit symbol)))))))))

(defun match-before-p (one other)
  "Return true if the MATCH structure ONE ranks before the MATCH structure OTHER: by fit, package
rank, distance, length of the name, then name."
  (flet ((ranks (match)
           (list (match-fit match) (match-package-rank match) (match-distance match)
                 (length (symbol-name (match-symbol match))))))
    (loop for a in (ranks one)
          for b in (ranks other)
          unless (= a b)
            do (return (< a b))
          finally (return (symbol-before-p (match-symbol one) (match-symbol other))))))

(defun package-rank (package users)
  "Return 0 if PACKAGE is a key of the hash table USERS, the packages of the user. Return 2 if
PACKAGE is an SBCL package other than COMMON-LISP. Return 1 for any other PACKAGE."
  (cond ((gethash package users) 0)
        ((and package
              (core-package-p package)
              (not (eq package (find-package "COMMON-LISP"))))
         2)
        (t 1)))

;;; Measuring how well a pattern fits a name. Both are in upper case.

(defun fit-function (pattern)
  "Return a function that takes a symbol and returns two numbers, lower for a better match, or NIL
for no match. The first number is the result of FIT-OF for PATTERN and the symbol's name in any
letter case, or 5 if the name differs from PATTERN by typos. The second number ranks symbols with
the same first number."
  (let* ((pattern (map '(simple-array character (*)) #'char-upcase pattern))
         (bare (remove-if-not #'alphanumericp pattern))
         (most-typos (nearness pattern))
         (typo-counter (and most-typos (slip-counter pattern most-typos)))
         (buffer (make-string 200)))
    (lambda (symbol)
      (let* ((name (symbol-name symbol)) (length (length name)))
        (when (> length (length buffer)) (setf buffer (make-string (* 2 length))))
        (put-upper-case name buffer)
        (multiple-value-bind (fit words) (fit-of pattern bare buffer length)
          (if fit
              (values fit (or words 0))
              (let ((typos (and typo-counter (funcall typo-counter name))))
                (and typos (values 5 typos)))))))))

(defun fit-of (pattern bare name length)
  "Return a number for the way in which PATTERN matches the first LENGTH characters of NAME. BARE
has only the letters and digits of PATTERN.
0: they are equal.
1: NAME begins with PATTERN.
2: PATTERN is whole words of NAME.
3: PATTERN is elsewhere in NAME.
4: FUZZY-WORDS matches BARE. The second value is the number of words in NAME: fewer are better.
Return NIL if PATTERN does not match."
  (declare (type (simple-array character (*)) pattern bare name) (type fixnum length))
  (let ((found (search pattern name :end2 length)))
    (cond ((null found)
           (let ((words (and (< 1 (length bare)) (fuzzy-words bare name length))))
             (and words (values 4 words))))
          ((= length (length pattern)) 0)
          ((zerop found) 1)
          ((loop for start = found then (search pattern name :start2 (1+ start) :end2 length)
                 while start
                 thereis (whole-word-p (subseq name 0 length) start (+ start (length pattern))))
           2)
          (t 3))))

(defun whole-word-p (name start end)
  "Return true if there is no letter or digit in NAME directly before index START or at index END."
  (declare (type (simple-array character (*)) name) (type fixnum start end))
  (flet ((part-p (i) (and (< -1 i (length name)) (alphanumericp (schar name i)))))
    (not (or (part-p (1- start)) (part-p end)))))

(defun fuzzy-words (pattern name length)
  "Return the number of words in the first LENGTH characters of NAME if PATTERN is a concatenation
of beginnings of these words, in order, as MVB is of MULTIPLE-VALUE-BIND. Else return NIL. At most
60 characters are examined."
  (declare (type (simple-array character (*)) pattern name) (type fixnum length) (optimize speed))
  ;; Each 1 bit in ENDS is an index of NAME at which the characters of PATTERN so far can end.
  (let ((length (min length 60)) (ends 0) (starts 0))
    (declare (type (unsigned-byte 61) ends starts) (type (integer 0 60) length))
    (dotimes (i length)
      (when (word-start-p name i) (setf starts (logior starts (the (unsigned-byte 61) (ash 1 i))))))
    (loop for char across pattern
          for first = t then nil
          do (let* ((places 0)
                    ;; A 1 bit for each index from 0 to the lowest in ENDS.
                    (up-to-first-end (if first 0 (ldb (byte 60 0) (logxor ends (1- ends)))))
                    (later-words (logandc2 starts up-to-first-end))
                    (after-ends (ldb (byte 60 0) (ash ends 1)))
                    ;; Each 1 bit is an index of NAME at which this character of PATTERN may match.
                    (allowed (logior later-words after-ends)))
               (declare (type (unsigned-byte 61) places up-to-first-end later-words after-ends
                              allowed))
               (dotimes (i length)
                 (when (and (logbitp i allowed) (char= char (schar name i)))
                   (setf places (logior places (the (unsigned-byte 61) (ash 1 i))))))
               (when (zerop places) (return nil))
               (setf ends places))
          finally (return (and (plusp (length pattern)) (logcount starts))))))

(defun word-start-p (name i)
  "Return true if index I of NAME is the first character of a word, a run of letters and digits."
  (declare (type (simple-array character (*)) name) (type fixnum i))
  (and (alphanumericp (schar name i))
       (or (zerop i) (not (alphanumericp (schar name (1- i)))))))

;;; Finding the packages of the user

(defun users-packages (roots)
  "Return a hash table with the packages of the user as keys. ROOTS lists the directories of the
user's files."
  (let ((table (make-hash-table :test 'eq)))
    (map-packages (lambda (package)
                    (when (users-package-p package roots) (setf (gethash package table) t))))
    table))

(defun users-package-p (package roots)
  "Return true if PACKAGE belongs to the user: it is no package of the backend, and an evaluated
form or a file below one of the directories ROOTS has defined it."
  (let ((file (and (not (backend-package-p package)) (package-file package))))
    (or (eq file :typed) (and (stringp file) (within-p file roots)))))

(defun package-file (package)
  "Return the file that defines PACKAGE, or else a file that defines a function of PACKAGE. Return
:TYPED if an evaluated form defined PACKAGE or its functions, and NIL if the origin is unknown."
  (let* ((location (package-location package)) (name (and location (location-name location))))
    (cond (name (translated name))
          ((functions-file package))
          (location :typed))))

(defun functions-file (package)
  "Examine at most 100 functions that are named by symbols with PACKAGE as home package. Return the
source file of one of these functions, or :TYPED if none of them is from a file. Return NIL if there
are no such functions."
  (let ((seen 0) (typed nil))
    (do-symbols (symbol package typed)
      (when (and (eq (symbol-package symbol) package) (fboundp symbol))
        (let* ((function (or (macro-function symbol) (plain-definition symbol)))
               (place (and (typep function 'compiled-function)
                           (not (typep function 'generic-function))
                           (function-place function))))
          (when place (return (code-place-file place)))
          (setf typed :typed)
          (when (>= (incf seen) 100) (return typed)))))))

(defun within-p (file roots)
  "Return true if FILE, a native name, is below one of the directories ROOTS, a list of strings."
  (some (lambda (root)
          (let ((root (concatenate 'string (string-right-trim "/" root) "/")))
            (starts-p file root)))
        roots))
