;;;; Defines the operation package-symbols, which describes a package and lists its symbols.

(in-package "LIVE-LISP.LOOK")

(defun package-names (packages)
  "Return a JSON object with the number of PACKAGES, a list, and the first 100 of their sorted
names."
  (let ((names (sort (remove nil (mapcar #'package-name packages)) #'string<)))
    (object "count" (length names) "names" (page names 0 100))))

(defun local-nicknames (package)
  "Return a sorted list of (NICKNAME PACKAGE-NAME) lists for the local nicknames of PACKAGE."
  (sort (loop for (nickname . actual) in (sb-ext:package-local-nicknames package)
              collect (list nickname (or (package-name actual) "#")))
        #'string< :key #'first))

(defun symbols-by-status (package)
  "Return a list of three vectors: the external, the internal and the inherited symbols of PACKAGE."
  (let ((found (loop repeat 3 collect (make-array 100 :adjustable t :fill-pointer 0)))
        (inherited (make-hash-table :test 'eq)))
    (with-package-iterator (next package :external :internal :inherited)
      (loop
        (multiple-value-bind (more symbol status) (next)
          (unless more (return found))
          (case status
            (:external (vector-push-extend symbol (first found)))
            (:internal (vector-push-extend symbol (second found)))
            ;; The iterator returns a symbol twice if it is inherited from two packages, or is both
            ;; present and inherited.
            (t (unless (or (shiftf (gethash symbol inherited) t)
                           (not (eq :inherited
                                    (nth-value 1 (find-symbol (symbol-name symbol) package)))))
                 (vector-push-extend symbol (third found))))))))))

(defun listed-symbols (by-status access type)
  "BY-STATUS is the list of vectors from SYMBOLS-BY-STATUS. Return a sorted vector of the symbols in
BY-STATUS with the status ACCESS, \"external\" or \"internal\". If TYPE is a string such as
\"MACRO\", not NIL, include only symbols with a definition of this kind."
  (let ((symbols (elt by-status (if (string= access "external") 0 1))))
    (sort (if type (remove-if-not (lambda (symbol) (of-type-p symbol type)) symbols) symbols)
          #'symbol-before-p)))

(defun nature-list (symbol)
  "Return text with the kinds of all definitions of SYMBOL, such as \"FUNCTION, CLASS\", or
\"SYMBOL\" if SYMBOL has no definition. The list of the symbols of a package shows this text."
  (let* ((class (find-class symbol nil)) (type (and (not class) (type-name-p symbol)))
         (callable (callable-nature symbol)))
    (format nil "~{~A~^, ~}"
            (or (remove nil (list callable
                                  (and class (if (condition-class-p class) "CONDITION" "CLASS"))
                                  (cond ((typed-structure symbol) "TYPED STRUCTURE")
                                        (type "TYPE"))
                                  (and (variable-kind symbol) "VARIABLE")
                                  (and (not callable) (function-kind (list 'setf symbol)))))
                '("SYMBOL")))))

(defun symbol-rows (symbols type offset limit)
  "Return a list of (PACKAGE NAME KINDS) lists of strings for LIMIT of SYMBOLS, a vector, from
OFFSET on. PACKAGE is the home package of the symbol. KINDS is TYPE or, if TYPE is NIL, the kinds of
definitions of the symbol."
  (loop for index from (or offset 0) below (length symbols)
        repeat limit
        for symbol = (aref symbols index)
        collect (list (package-text symbol) (symbol-name symbol) (or type (nature-list symbol)))))

(define-shape counted-names ()
  "The number of some names, and the first 100 of these names."
  (count integer) (names (list string) :optional))

(define-shape package-data ()
  "A package and its symbols."
  (name string) (nicknames (list string) :optional)
  (local-nicknames (list (tuple string string)) :optional
   "Pairs of a local nickname and its package.")
  (uses counted-names) (used-by counted-names) (shadowing counted-names)
  (locked boolean :optional) (documentation string :optional)
  (counts (tuple integer integer integer) "Numbers of external, internal and inherited symbols.")
  (total integer "How many symbols the request selects.")
  (rows (list (tuple string string string)) :optional
   "Home package, name and label of each symbol in this page of the list."))

(define-operation ("package-symbols" :gives (or package-data lookup-failure))
    ((package string "The name of the package.")
     (access (member "external" "internal") "The status of the symbols to list.")
     type offset limit)
  "Return what a package is, the numbers of its symbols by status, and the symbols that ACCESS and
TYPE select."
  (let* ((package (named-package package))
         (by-status (symbols-by-status package))
         (listed (listed-symbols by-status access type)))
    (object "name" (package-name package)
            "nicknames" (sort (copy-list (package-nicknames package)) #'string<)
            "localNicknames" (local-nicknames package)
            "uses" (package-names (package-use-list package))
            "usedBy" (package-names (package-used-by-list package))
            "shadowing" (let ((symbols (sort (copy-list (package-shadowing-symbols package))
                                             #'symbol-before-p)))
                          (object "count" (length symbols)
                                  "names" (mapcar #'symbol-text (page symbols 0 100))))
            "locked" (and (sb-ext:package-locked-p package) t)
            "documentation" (doc-text package t)
            "counts" (mapcar #'length by-status)
            "total" (length listed)
            "rows" (symbol-rows listed type offset limit))))
