;;;; Finds the positions in source files of the uses of a name, from SBCL's cross references.

(in-package "LIVE-LISP.LOOK")

(defun introspect (name &rest arguments)
  "Call a function of SB-INTROSPECT with ARGUMENTS, and return its values. NAME is the name of the
function, a string. Return NIL if this function signals an error or does not exist."
  (let ((function (contrib-function "SB-INTROSPECT" name)))
    (and function (nil-if-unknown (apply function arguments)))))

(defvar *native-files* nil
  "NIL, or a hash table from names of source files to lists (NATIVE-NAME DATE). It caches the
results of NATIVE-FILE while one answer is made.")

(defun native-file (name)
  "Return the native name of the source file NAME, and its current date. *NATIVE-FILES* caches
both."
  (values-list
   (or (and *native-files* (gethash name *native-files*))
       (let* ((native (translated name)) (known (list native (date-of native))))
         (when *native-files* (setf (gethash name *native-files*) known))
         known))))

(defstruct (code-place (:constructor make-code-place (file form created
                                                      &optional offset now offsets)))
  "A top-level form of a file.
FILE: the native name of the file.
FORM, OFFSET: the number and the octet offset of the form.
CREATED: the date that the file had when it was compiled.
NOW: the current date of the file.
OFFSETS: the octet offsets of all top-level forms."
  file form created offset now offsets)

(defun function-place (function)
  "Return a CODE-PLACE structure for the source of FUNCTION, or NIL if it is from no file."
  (let* ((code (code-of function))
         (source (and code (information-source (code-information code))))
         (name (and source (source-name source))))
    (when (stringp name)
      (multiple-value-bind (file date) (native-file name)
        (let ((form (form-number (compiled-debug (function-debug (simple-function function)))))
              (offsets (source-offsets source)))
          (make-code-place file form (source-date source) (form-offset offsets form) date
                           offsets))))))

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
  "Return a list of JSON objects with source locations in FUNCTION, a function of USER, a USER
structure. NUMBERS lists the numbers of the subforms at these locations, as SBCL's cross references
of FUNCTION count them: 0 is the whole definition."
  (loop with method = (method-text user) and place = (function-place function)
        for number in numbers
        collect (make-json-object
                 (list* "method" method
                        (and place
                             (append (code-place-members place (code-place-now place))
                                     (span-members (code-place-file place)
                                                   (code-place-created place)
                                                   (code-place-form place) number
                                                   (code-place-offsets place))))))))

(defun code-place-members (place now)
  "Return a plist for a JSON object about PLACE, a CODE-PLACE structure. NOW is the present date of
its file."
  (list* "file" (code-place-file place)
         "offset" (code-place-offset place)
         "form" (code-place-form place)
         (version-members (code-place-file place) (code-place-created place) now)))

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
