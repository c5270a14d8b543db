;;;; Finds the packages and symbols that the strings of a request name. Interns nothing. Contract
;;;; numbers, such as S3.2, are in docs/develop/contracts.md.

(in-package "LIVE-LISP.LOOK")

(define-shape no-package ()
  "The answer when the requested package does not exist."
  (failure (member "no-package")) (package string)
  (near (list string) :optional "Similar names."))

(define-shape no-symbol ()
  "A failed look-up: the package has no symbol of the requested name."
  (failure (member "no-symbol")) (package string) (symbol string)
  (current string :optional
   "The session's package, if it contains the symbol and the request named no package.")
  (names-package string :optional "The package that has this name, if there is one.")
  (near (list string) :optional "Similar names."))

(define-shape no-class ()
  "The answer when the requested symbol is not the name of a class."
  (failure (member "no-class")) (class string)
  (natures (list string) :optional "What the symbol names instead."))

(define-shape no-system ()
  "The answer when the requested system does not exist."
  (failure (member "no-system")) (system string))

(define-wire-type lookup-failure (or no-package no-symbol no-class no-system)
  "The answer of a look-up that found nothing.")

(defun named-package (name &optional (within (session-package)))
  "Return the package with the name or nickname NAME, or with NAME as local nickname in the package
WITHIN (contract S0.9 in docs/develop/contracts.md). Try NAME as given, then in upper case, then in
upper case without a leading #: or : and without spaces. If there is no such package, end the
operation with an error answer (contract S3.4)."
  (let ((*package* within))
    (or (find-package name)
        (find-package (string-upcase name))
        (find-package (string-upcase (string-trim " " (string-left-trim "#: " name))))
        (fail-lookup "failure" "no-package" "package" name "near" (near-packages name)))))

(defun unquoted-position (characters text)
  "CHARACTERS is a sequence of characters. Return the first index in TEXT of one of them that is
quoted neither by bars nor by a backslash, or NIL."
  (loop with bar = nil with index = 0
        while (< index (length text))
        do (let ((char (char text index)))
             (cond ((char= char #\\) (incf index))
                   ((char= char #\|) (setf bar (not bar)))
                   ((and (not bar) (find char characters)) (return index))))
           (incf index)))

(defun token-name (token)
  "Return the symbol name that the string TOKEN spells, in upper case except where bars or a
backslash quote characters."
  (with-output-to-string (name)
    (loop with bar = nil
          with i = 0
          while (< i (length token))
          do (let ((char (char token i)))
               (cond ((and (char= char #\\) (< (1+ i) (length token)))
                      (incf i)
                      (write-char (char token i) name))
                     ((char= char #\|) (setf bar (not bar)))
                     (t (write-char (if bar char (char-upcase char)) name))))
             (incf i))))

(defun split-prefix (token)
  "Return two strings: the package prefix of TOKEN, and the rest. The prefix is NIL if there is
none, and \"KEYWORD\" for a leading colon."
  (let ((colon (unquoted-position ":" token)))
    (cond ((or (null colon) (= colon (1- (length token)))) (values nil token))
          (t (let ((start (if (char= (char token (1+ colon)) #\:) (+ colon 2) (1+ colon))))
               (values (if (zerop colon) "KEYWORD" (subseq token 0 colon))
                       (subseq token start)))))))

(defun symbol-read (token package)
  "Return the symbol that the reader would find for the string TOKEN in PACKAGE, or NIL if there is
none. Nothing is interned."
  (multiple-value-bind (prefix rest) (split-prefix token)
    (let ((home (if prefix (let ((*package* package)) (find-package (token-name prefix))) package)))
      (and home (values (find-symbol (token-name rest) home))))))

(defun strip-wrapping (text)
  "Return two values: the spelling of the symbol in TEXT, without a leading #' or #: or ', and true
if TEXT is a SETF function name. For \"(SETF NAME)\" the first value is \"NAME\". For
\"P::(SETF NAME)\", as answers write such a name, it is \"P::NAME\"."
  (let ((text (string-trim '(#\Space #\Tab #\Newline #\Return) text)))
    (cond ((or (starts-p text "#'") (starts-p text "#:")) (setf text (subseq text 2)))
          ((and (> (length text) 1) (char= (char text 0) #\')) (setf text (subseq text 1))))
    (let ((inner (string-trim "()" text)) (mark (search "::(setf " text :test #'char-equal)))
      (cond ((and (> (length text) 6)
                  (char= (char text 0) #\()
                  (string-equal "setf " (subseq inner 0 (min 5 (length inner)))))
             (values (string-trim " " (subseq inner 5)) t))
            ((and mark (plusp mark) (char= (char text (1- (length text))) #\)))
             ;; The name begins after the 8 characters of "::(setf ", of which the first two remain.
             (values (concatenate 'string
                                  (subseq text 0 (+ mark 2))
                                  (string-trim " " (subseq text (+ mark 8) (1- (length text)))))
                     t))
            (t (values text nil))))))

(defun current-package-text ()
  "Return the name of the session's package as answers show it: CL-USER for COMMON-LISP-USER."
  (let ((name (package-name (session-package))))
    (if (string= name "COMMON-LISP-USER") "CL-USER" name)))

(defun package-for (prefix package-name default)
  "Return two values: the package for a symbol, and its name for answers. Use the first of these
that is not NIL: PREFIX, the package prefix in the symbol's text; PACKAGE-NAME; DEFAULT; the
session's package. PREFIX may be a local nickname in the package PACKAGE-NAME (contracts S3.2, C25
and C26 in docs/develop/contracts.md)."
  (let* ((given (and package-name (named-package package-name)))
         (package (cond (prefix
                         ;; NAMED-PACKAGE tries PREFIX as given before it tries upper case, but
                         ;; does not understand bars and backslashes.
                         (named-package (if (find-if (lambda (char) (find char "|\\")) prefix)
                                            (token-name prefix)
                                            prefix)
                                        (or given (session-package))))
                        (given)
                        (default (named-package default))
                        (t (session-package)))))
    (values package (or prefix package-name default (current-package-text)))))

(defun named-symbol (text package-name &optional default)
  "Return four values: the symbol that TEXT names, its status as from FIND-SYMBOL, true if TEXT was
\"(SETF NAME)\", and the package searched: the prefix in TEXT, else PACKAGE-NAME, else DEFAULT, else
the session's package. Without such a symbol, end the operation with an error answer."
  (multiple-value-bind (token setf) (strip-wrapping text)
    (multiple-value-bind (prefix rest) (split-prefix token)
      (multiple-value-bind (package called) (package-for prefix package-name default)
        ;; Ignore what follows the symbol, as READ-FROM-STRING does.
        (let* ((end (unquoted-position '(#\Space #\( #\) #\Tab #\Newline) rest))
               (word (subseq rest 0 end))
               (name (token-name (if end token rest))))
          (multiple-value-bind (symbol status) (find-symbol (token-name word) package)
            ;; Answers write the symbol |mixedName| as PACKAGE::mixedName, so try this case, too.
            (unless status
              (setf (values symbol status) (find-symbol word package)))
            (unless status
              (let ((current (and (not prefix)
                                  (not package-name)
                                  (nth-value 1 (find-symbol name (session-package)))
                                  (current-package-text)))
                    (other (and (not prefix) (find-package name))))
                (fail-lookup "failure" "no-symbol" "symbol" name "package" called
                             "near"
                             (and (not current) (near-symbols name package #'names-something-p))
                             "current" current
                             "namesPackage" (and other (package-name other)))))
            (values symbol status setf package)))))))

(defun named-target (text package-name &optional default)
  "Return four values: the function name in TEXT (a symbol or (SETF symbol)), its symbol, true if
TEXT was \"(SETF NAME)\", and the package searched. The arguments and errors are those of
NAMED-SYMBOL, the function above."
  (multiple-value-bind (symbol status setf in) (named-symbol text package-name default)
    (declare (ignore status))
    (values (if setf (list 'setf symbol) symbol) symbol setf in)))
