;;;; The operation apropos: searches for symbols in one package, or among the external symbols of
;;;; all packages (name-index.lisp).

(in-package "LIVE-LISP.LOOK")

(defun of-type-p (symbol label)
  "Return true if SYMBOL has a definition of the kind LABEL, a string such as \"CLASS\" or
\"FUNCTION\"."
  (cond ((string= label "CLASS") (classp symbol))
        ((string= label "VARIABLE") (and (variable-kind symbol) t))
        (t (equal label (callable-nature symbol)))))

(defun matching-symbols (pattern package)
  "Return two lists of symbols whose names contain the string PATTERN in any letter case: the
symbols present in PACKAGE, and the symbols that PACKAGE inherits (contract C11 in
docs/develop/contracts.md)."
  (let ((present '()) (inherited '()))
    (with-package-iterator (next package :internal :external :inherited)
      (loop
        (multiple-value-bind (more symbol status) (next)
          (unless more (return))
          (when (search pattern (symbol-name symbol) :test #'char-equal)
            (if (eq status :inherited)
                (push symbol inherited)
                (push symbol present))))))
    ;; The iterator returns a symbol twice if it is inherited from two packages, or is both imported
    ;; and inherited.
    (values present (set-difference (remove-duplicates inherited) present))))

(defun order-namesakes (symbols)
  "SYMBOLS is a list sorted by name. Return it without duplicates, and with symbols of the same name
sorted by home package. A NAME-INDEX cannot keep symbols in this order, since the home package of a
symbol and the name of a package can change."
  (loop while symbols
        append (let* ((name (symbol-name (first symbols))) (size (length name))
                      (end (member-if-not (lambda (other)
                                            (and (= size (length other)) (string= name other)))
                                          (rest symbols) :key #'symbol-name))
                      (namesakes (ldiff symbols end)))
                 (setf symbols end)
                 (if (rest namesakes)
                     (sort (remove-duplicates namesakes) #'symbol-before-p)
                     namesakes))))

(define-shape apropos-data ()
  "The symbols that a search found."
  (total integer) (inherited integer)
  (current (object (package string) (count integer)) :optional
   "How many symbols of the session's package match; sent when the request named no package and the
   search found nothing.")
  (rows (list (tuple string string string &optional string)) :optional
   "For each symbol: its home package, its name, its label, and, in a ranked search, the first line
   of its documentation or \"\"."))

(define-operation ("apropos" :gives (or apropos-data lookup-failure))
    (pattern
     (package string :optional
      "The package to search. By default, the external symbols of all packages are searched.")
     type inherited offset limit)
  "Search for PATTERN in the names of symbols. If nothing matches in all packages, also count the
matches in the session's package."
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
                                 (and here
                                      (object "package" (current-package-text)
                                              "count" (length here)))))
                "inherited" (length inheritable)
                "rows" (loop for symbol in (page found offset limit)
                             collect (list (package-text symbol) (symbol-name symbol)
                                           (or type (label symbol)))))))))
