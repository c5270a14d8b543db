;;;; Who calls a function: SBCL's own cross references, read in one pass over all
;;;; functions. Nothing is cached, so an answer is always about the image as it is.

(in-package "LIVE-LISP.LOOK")

(defun references-p (xrefs name common)
  "True when XREFS, packed cross references, can mention NAME. The names that are not
COMMON to all stand in the vector itself, so most functions are passed over unread."
  (declare (type simple-vector xrefs) (optimize speed))
  (or common
      (if (symbolp name)
          (loop for i from 1 below (length xrefs) thereis (eq name (svref xrefs i)))
          (loop for i from 1 below (length xrefs) thereis (equal name (svref xrefs i))))))

(defun common-name-p (name)
  "True when SBCL keeps NAME in its table of most common names."
  (and (find name common-names :test #'equal) t))

(defun packed-xrefs (function)
  "Return the packed cross references of the simple FUNCTION, or NIL."
  (let ((xrefs (function-xrefs function)))
    (and (simple-vector-p xrefs) (> (length xrefs) 0) xrefs)))

(defun map-uses (visit name kinds)
  "Call VISIT with the caller, its function, the kind and the form number of every use
of NAME in one of KINDS. The caller is what SBCL calls it: a function name or an object."
  (let* ((common (common-name-p name))
         (look (lambda (caller function)
                 (let ((xrefs (packed-xrefs function)))
                   (when (and xrefs (references-p xrefs name common))
                     (map-xrefs (lambda (kind used number)
                                  (when (and (equal used name) (member kind kinds))
                                    (funcall visit caller function kind number)))
                                xrefs))))))
    (map-functions look)))

;;; What a caller is called

(defun plain-name-p (name)
  "True when NAME is a symbol or of the form (SETF symbol)."
  (or (symbolp name)
      (and (consp name) (consp (rest name)) (null (cddr name)) (every #'symbolp name))))

(defun caller-name (caller)
  "Return the function name that CALLER is shown by, or NIL for SBCL's own transforms,
templates and optimizers (S3.10)."
  (cond ((method-name-p caller)
         (and (plain-name-p (second caller)) (second caller)))
        ((and caller (plain-name-p caller)) caller)
        (t nil)))

(defun name-text (name)
  "Return a function name as text: PACKAGE::NAME or PACKAGE::(SETF NAME)."
  (if (symbolp name)
      (symbol-text name)
      (format nil "~A::(~A ~A)" (package-text (second name)) (symbol-name (first name)) (symbol-name (second name)))))

(defun name-key (name)
  "Return the symbol by which a function name is sorted."
  (if (symbolp name) name (second name)))

(defun qualified-text (object)
  "Return OBJECT, a specializer, printed with its packages and without bars."
  (printing-plainly
    (if (symbolp object) (symbol-text object) (print-safely 100 object))))

(defun method-text (caller)
  "Return the qualifiers and specializers of CALLER, when it is a method, else NIL."
  (when (method-name-p caller)
    (format nil "~{~A~^ ~}"
            (append (mapcar #'prin1-to-string (butlast (cddr caller)))
                    (list (format nil "(~{~A~^ ~})" (mapcar #'qualified-text (first (last caller)))))))))

;;; Where

(defun introspect (name &rest arguments)
  "Call the function NAME of SB-INTROSPECT with ARGUMENTS; NIL when it fails or is missing."
  (let ((function (contrib-function "SB-INTROSPECT" name)))
    (and function (ignore-errors (apply function arguments)))))

(defun function-place (function)
  "Return NIL or a list. It has the file of FUNCTION, the offset in octets of its top-level form, and that form's number.
Last comes the file's date when it was compiled."
  (let* ((source (introspect "FIND-FUNCTION-DEFINITION-SOURCE" function))
         (path (and source (introspect "DEFINITION-SOURCE-PATHNAME" source))))
    (when path
      (list (translated (namestring path))
            (introspect "DEFINITION-SOURCE-CHARACTER-OFFSET" source)
            (first (introspect "DEFINITION-SOURCE-FORM-PATH" source))
            (introspect "DEFINITION-SOURCE-FILE-WRITE-DATE" source)))))

(defun packages-with (symbol)
  "Return the names of the packages in which SYMBOL is, with their nicknames and those that packages have for them."
  (let ((packages (remove-if-not (lambda (package)
                                   (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
                                     (and status (eq found symbol))))
                                 (list-all-packages))))
    (append (loop for package in packages
                  append (cons (package-name package) (package-nicknames package)))
            (loop for package in (list-all-packages)
                  append (loop for (nickname . actual) in (sb-ext:package-local-nicknames package)
                               when (member actual packages) collect nickname)))))

(defun told-numbers (function)
  "Return names of functions and macros that the simple FUNCTION uses, each with the form number of a use, at most 12 of
both. They tell by how much the numbers of a text are too low in which #. made conses."
  (let ((told '()) (counts (list :calls 0 :macroexpands 0)) (xrefs (packed-xrefs function)))
    (when xrefs
      (map-xrefs (lambda (kind used number)
                   (when (and (symbolp used) (plusp number) (< (getf counts kind 12) 12))
                     (incf (getf counts kind))
                     (setf told (list* (symbol-name used) number told))))
                 xrefs))
    told))

(defun site-data (use)
  "Return the place of USE as a JSON object."
  (destructuring-bind (caller function kind number) use
    (declare (ignore kind))
    (destructuring-bind (&optional file offset form created) (and function (function-place function))
      (object "method" (method-text caller)
              "file" file "offset" offset "form" form "number" number
              "changed" (changed-p file created)
              "written" (and (changed-p file created) created)
              "undated" (and file (not created))
              "numbers" (and file (plusp number) (told-numbers function))))))

;;; The operation

(defun group-uses (uses)
  "Return USES as a list of lists that begin with the function name that is shown, in
the order of answers."
  (let ((groups (make-hash-table :test 'equal)))
    (dolist (use uses)
      (let ((name (caller-name (first use))))
        (when name (push use (gethash name groups)))))
    (sort (loop for name being the hash-keys of groups using (hash-value uses)
                collect (cons name (nreverse uses)))
          (lambda (one other)
            (let ((key-1 (name-key (car one))) (key-2 (name-key (car other))))
              (cond ((eq key-1 key-2) (and (symbolp (car one)) (not (symbolp (car other)))))
                    (t (symbol-before-p key-1 key-2))))))))

(defun caller-data (group kind sites)
  "Return GROUP as a JSON object, with its places when SITES is true."
  (object "name" (name-text (car group))
          "kind" kind
          "sites" (and sites (mapcar #'site-data (cdr group)))))

(defun internal-uses (uses)
  "Return the texts of SBCL's own transforms, templates and optimizers among USES."
  (sort (remove-duplicates
         (loop for (caller) in uses
               unless (caller-name caller) collect (printing-plainly (print-safely 200 caller)))
         :test #'string=)
        #'string<))

(defun kept-p (symbol)
  "True when this SBCL keeps cross references to SYMBOL (S3.12)."
  ;; SBCL's predicate takes NIL for an empty list of names.
  (or (null symbol)
      (not (without-xrefs-p symbol))))

;; Not every SBCL is built to keep those.
(define-ability "cross-references to CL" "who_calls finds no callers of mapcar and the like")
(define-check (kept-p 'mapcar))

(define-operation "who-calls" (name package sites internals offset limit)
  "Find the callers of NAME, of which LIMIT are told from OFFSET on. Functions come first, then the users of a macro.
With INTERNALS, what SBCL has for itself comes last. Without PACKAGE NAME is one of CL-USER (S3.3)."
  (multiple-value-bind (symbol status setf) (named-symbol name package "CL-USER")
    (declare (ignore status))
    (let ((calls '()) (expansions '()) (target (if setf (list 'setf symbol) symbol)))
      (map-uses (lambda (caller function kind number)
                  (let ((use (list caller function kind number)))
                    (if (eq kind :calls) (push use calls) (push use expansions))))
                target '(:calls :macroexpands))
      (let* ((callers (group-uses calls)) (users (group-uses expansions))
             (others (append (mapcar (lambda (group) (cons "macro use" group)) users)
                             (and internals (mapcar (lambda (text) (list "SBCL's own" text)) (internal-uses calls)))))
             (all (append (mapcar (lambda (group) (cons nil group)) callers) others)))
        (object "name" (name-text target)
                "callers" (length callers)
                "others" (length others)
                "natures" (if setf
                              (and (fboundp target) '("FUNCTION"))
                              (natures symbol))
                "kept" (json-boolean (kept-p symbol))
                "features" (and sites (feature-names))
                "accessibleIn" (and sites (packages-with symbol))
                "rows" (loop for (kind . group) in (page all offset limit)
                             collect (if (stringp (first group))
                                         (object "name" (first group) "kind" kind)
                                         (caller-data group kind sites))))))))

(defparameter *reference-kinds* '((:references "read") (:sets "set") (:binds "bind"))
  "What a function can do with a variable: SBCL's word and that of answers.")

(define-operation "who-references" (name package sites offset limit)
  "Find the functions that read, set or bind the variable NAME, in that order, of which LIMIT
are told from OFFSET on. One that does several of these is told as often."
  (multiple-value-bind (symbol status setf) (named-symbol name package)
    (declare (ignore status))
    (let ((uses '()) (target (if setf (list 'setf symbol) symbol)))
      (map-uses (lambda (caller function kind number) (push (list caller function kind number) uses))
                target (mapcar #'first *reference-kinds*))
      (let ((all (loop for (kind word) in *reference-kinds*
                       append (loop for group in (group-uses (remove kind uses :key #'third :test-not #'eq))
                                    collect (cons word group)))))
        (object "name" (name-text target)
                "total" (length all)
                "natures" (and (not setf) (natures symbol))
                "expansion" (and (not setf)
                                 (eq :macro (variable-kind symbol))
                                 (plain-text 200 (macroexpand-1 symbol)))
                "kept" (json-boolean (kept-p symbol))
                "features" (and sites (feature-names))
                "accessibleIn" (and sites (packages-with symbol))
                "rows" (loop for (word . group) in (page all offset limit)
                             collect (caller-data group word sites)))))))
