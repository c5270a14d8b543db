;;;; Functions for names of functions: how they are shown and sorted in answers, and how to find the
;;;; global name in a debug name of SBCL.

(in-package "LIVE-LISP.LOOK")

(defun plain-name-p (name)
  "Return true if NAME is a symbol, a list (SETF symbol), or SBCL's (CAS symbol)."
  (or (symbolp name)
      (and (consp name)
           (member (first name) '(setf sb-ext:cas) :test #'eq)
           (consp (rest name))
           (null (cddr name))
           (symbolp (second name)))))

(defun package-text (symbol)
  "Return the name of the home package of SYMBOL, or \"#\" if it has none."
  (let ((package (symbol-package symbol)))
    (or (and package (package-name package)) "#")))

(defun symbol-before-p (one other)
  "Return true if the symbol ONE comes before the symbol OTHER in answers. Symbols are sorted by
name, then by package, by code point (contract C10 in docs/develop/contracts.md)."
  (let ((name-1 (symbol-name one)) (name-2 (symbol-name other)))
    (cond ((string< name-1 name-2) t)
          ((string= name-1 name-2)
           (string< (package-text one) (package-text other))))))

(defun name-text (name)
  "Return NAME, a symbol or a list such as (SETF symbol), as text with a package prefix:
PACKAGE::NAME or PACKAGE::(SETF NAME)."
  (if (symbolp name)
      (symbol-text name)
      (format nil "~A::(~A ~A)" (package-text (second name)) (symbol-name (first name))
              (symbol-name (second name)))))

(defun name-before-p (one other)
  "Return true if the function name ONE comes before the function name OTHER in answers. FOO
precedes (SETF FOO) (contract S3.9 in docs/develop/contracts.md)."
  (let ((key-1 (name-symbol one)) (key-2 (name-symbol other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

;;; SBCL's debug names of functions

(defun root-of (name)
  "NAME is SBCL's debug name of a function. Return the name of the outermost function around this
function, or NAME if the function is not nested in another. Return :TOP-LEVEL if the outermost
function has no name."
  (let ((within (and (proper-length name) (member :in name))))
    (cond ((and within (consp (rest within)) (null (cddr within))) (root-of (second within)))
          ((stringp name) :top-level)
          ((not (consp name)) name)
          ((and (symbolp (first name))
                (member (symbol-name (first name))
                        '("LAMBDA" "NAMED-LAMBDA" "FLET" "LABELS" "TOP-LEVEL-FORM")
                        :test #'string=))
           :top-level)
          (t name))))

(defun name-in-root (root)
  "Return the function name in ROOT, a result of ROOT-OF, or NIL if there is none. ROOT can be a
function name, a list such as (FAST-METHOD F (T)), or :TOP-LEVEL."
  (cond ((eq root :top-level) nil)
        ((plain-name-p root) root)
        ((and (consp root) (symbolp (first root)) (consp (rest root)) (plain-name-p (second root)))
         (second root))))

(defun form-name-p (name)
  "Return true if NAME is a debug name that SBCL gives to the code of a whole top-level form."
  (or (stringp name)
      (and (consp name)
           (symbolp (first name))
           (or (string= (first name) "TOP-LEVEL-FORM")
               (and (eq (first name) 'lambda) (null (second name)))))))

(defun enclosing-name (caller)
  "CALLER is the debug name of a function. Return the global name of the outermost function around
it, or NIL if the outermost function has no global name."
  (name-in-root (root-of caller)))

(defun system-name-p (caller)
  "CALLER is the debug name of a function. Return true if this function, or the outermost function
around it, has a name from Common Lisp or from an SBCL package."
  (let* ((name (enclosing-name caller)) (package (and name (symbol-package (name-symbol name)))))
    (and package
         (or (eq package (find-package "COMMON-LISP"))
             (sbcl-package-p package)))))

;;; Global functions

(defun home-names (package wanted)
  "Return a list of the function names that satisfy the predicate WANTED and whose symbols have
PACKAGE as home package. The names are symbols and lists (SETF symbol)."
  (loop for symbol in (home-symbols package)
        append (remove-if-not wanted (list symbol (list 'setf symbol)))))
