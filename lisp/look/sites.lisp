;;;; Finds the places in source files where users use a name, as SBCL recorded them.

(in-package "LIVE-LISP.LOOK")

(defun introspect (name &rest arguments)
  "Return what the function NAME of SB-INTROSPECT returns for ARGUMENTS, or NIL when it fails or is
missing."
  (let ((function (contrib-function "SB-INTROSPECT" name)))
    (and function (ignore-errors (apply function arguments)))))

(defvar *told-files* nil
  "A cache for one answer: a table from the name of a source file to a list of its native name and
its date. Or NIL for no cache.")

(defun told-file (name)
  "Return the native name of the source file NAME, and its date. Both are cached during an answer."
  (values-list
   (or (and *told-files* (gethash name *told-files*))
       (let* ((native (translated name)) (known (list native (date-of native))))
         (when *told-files* (setf (gethash name *told-files*) known))
         known))))

(defun function-place (function)
  "Return the place of the definition of FUNCTION, or NIL if it is from no file. It is a list of the
file, the octet offset and the number of the top-level form, the file's date when it was compiled,
its date now, and the offsets of all its top-level forms."
  (let* ((code (code-of function))
         (source (and code (information-source (code-information code))))
         (name (and source (source-name source))))
    (when (stringp name)
      (multiple-value-bind (file date) (told-file name)
        (let ((form (form-number (compiled-debug (function-debug (simple-function function)))))
              (offsets (source-offsets source)))
          (list file (form-offset offsets form) form (source-date source) date offsets))))))

(defun packages-with (symbol)
  "Return the names of the packages in which SYMBOL is accessible, with their global and local
nicknames."
  (let ((packages (remove-if-not (lambda (package)
                                   (multiple-value-bind (found status)
                                       (find-symbol (symbol-name symbol) package)
                                     (and status (eq found symbol))))
                                 (list-all-packages))))
    (append (loop for package in packages
                  append (cons (package-name package) (package-nicknames package)))
            (loop for package in (list-all-packages)
                  append (loop for (nickname . actual) in (sb-ext:package-local-nicknames package)
                               when (member actual packages) collect nickname)))))

(defun qualified-text (object)
  "Return OBJECT, a specializer, as text with package prefixes and without bars."
  (printing-plainly
    (if (symbolp object) (symbol-text object) (print-safely 100 object))))

(defun method-text (user)
  "Return the qualifiers and specializers of USER as text if it is a method, else NIL."
  (when (eq (user-kind user) :method)
    (let ((root (root-of (simple-function-name (user-function user)))))
      (when (consp root)
        (format nil "~{~A~^ ~}"
                (append (mapcar #'prin1-to-string (butlast (cddr root)))
                        (list (format nil "(~{~A~^ ~})"
                                      (mapcar #'qualified-text (first (last root)))))))))))

(defun site-data (user function numbers)
  "Return JSON objects for the places in FUNCTION, of USER, where it uses a name. NUMBERS are the
numbers that SBCL recorded for the forms at these places. Number 0 stands for the whole definition."
  (destructuring-bind (&optional file offset form created date offsets) (function-place function)
    (let ((changed (and created (not (eql created date)))) (method (method-text user)))
      (loop for number in numbers
            collect (make-json-object
                     (list* "method" method
                            "file" file "offset" offset "form" form
                            "changed" changed
                            "written" (and changed created)
                            "undated" (and file (not created))
                            (and file (span-members file created form number offsets))))))))

(defun sites-of (users name kinds)
  "Return JSON objects for the places in USERS, functions and forms, where they use NAME as one of
KINDS, SBCL's kinds of cross references. For a function of which SBCL recorded no such use, return
the place of its definition."
  (loop for user in users
        append (or (loop for function in (functions-of user)
                         for found = (loop for (used number kind) in (uses-in function)
                                           when (and (equal used name) (member kind kinds))
                                             collect number)
                         append (site-data user function found))
                   (site-data user (user-function user) '(0)))))
