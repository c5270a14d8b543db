;;;; Finds the positions in source files of the uses of a name, from SBCL's cross references.

(in-package "LIVE-LISP.LOOK")

(defun introspect (name &rest arguments)
  "Call the function of SB-INTROSPECT with the string NAME as name, and return its values. Return
NIL if it signals an error or does not exist."
  (let ((function (contrib-function "SB-INTROSPECT" name)))
    (and function (ignore-errors (apply function arguments)))))

(defvar *native-files* nil
  "NIL, or a hash table that caches the results of NATIVE-FILE during one answer, from names of
source files to lists (NATIVE-NAME DATE).")

(defun native-file (name)
  "Return the native name of the source file NAME, and its current date. *NATIVE-FILES* caches
both."
  (values-list
   (or (and *native-files* (gethash name *native-files*))
       (let* ((native (translated name)) (known (list native (date-of native))))
         (when *native-files* (setf (gethash name *native-files*) known))
         known))))

(defun function-place (function)
  "Return a list (FILE OFFSET FORM DATE NOW OFFSETS) about the source of FUNCTION, or NIL if it is
from no file.
FILE: the native name of the file.
OFFSET, FORM: the octet offset and the number of the top-level form.
DATE, NOW: the date of the file when it was compiled, and its date now.
OFFSETS: the octet offsets of all top-level forms."
  (let* ((code (code-of function))
         (source (and code (information-source (code-information code))))
         (name (and source (source-name source))))
    (when (stringp name)
      (multiple-value-bind (file date) (native-file name)
        (let ((form (form-number (compiled-debug (function-debug (simple-function function)))))
              (offsets (source-offsets source)))
          (list file (form-offset offsets form) form (source-date source) date offsets))))))

(defun packages-with (symbol)
  "Return a list of the names, nicknames and local nicknames of the packages in which SYMBOL is
accessible."
  (flet ((named (package)
           (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
             (when (and status (eq found symbol))
               (list (list* package (package-name package) (package-nicknames package)))))))
    (let ((packages (from-packages #'named)))
      (flet ((nicknames (package)
               (loop for (nickname . actual) in (sb-ext:package-local-nicknames package)
                     when (assoc actual packages) collect nickname)))
        (append (loop for (nil . names) in packages append names)
                (from-packages #'nicknames))))))

(defun qualified-text (object)
  "Return text for OBJECT, a specializer in a debug name. Symbols are printed with package prefixes
and without bars."
  (printing-plainly
    (if (symbolp object) (symbol-text object) (print-safely 100 object))))

(defun method-text (user)
  "If USER, a USER structure, is a method, return its qualifiers and specializers as text. Else
return NIL."
  (when (eq (user-kind user) :method)
    (let ((root (root-of (simple-function-name (user-function user)))))
      (when (consp root)
        (format nil "~{~A~^ ~}"
                (append (mapcar #'prin1-to-string (butlast (cddr root)))
                        (list (format nil "(~{~A~^ ~})"
                                      (mapcar #'qualified-text (first (last root)))))))))))

(defun site-data (user function numbers)
  "USER is a USER structure, and FUNCTION one of its functions. NUMBERS lists form numbers in the
cross references of FUNCTION, with 0 for the whole definition. Return a list of JSON objects with
the source locations of these forms."
  (destructuring-bind (&optional file offset form created date offsets) (function-place function)
    (loop with method = (method-text user)
          for number in numbers
          collect (make-json-object
                   (list* "method" method
                          "file" file "offset" offset "form" form
                          (and file
                               (append (version-members file created date)
                                       (span-members file created form number offsets))))))))

(defun sites-of (users name kinds)
  "Return a list of JSON objects with the source locations at which USERS, a list of USER
structures, use NAME. KINDS lists the kinds of uses, such as :CALLS. For a user without a cross
reference of these kinds, return the location of its definition."
  (loop for user in users
        append (or (loop for function in (functions-of user)
                         for found = (loop for (used number kind) in (uses-in function)
                                           when (and (equal used name) (member kind kinds))
                                             collect number)
                         append (site-data user function found))
                   (site-data user (user-function user) '(0)))))
