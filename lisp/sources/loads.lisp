;;;; What a load or an evaluation defined, noted when it has ended.

(in-package "LIVE-LISP.SOURCES")

(defstruct (noted (:constructor make-noted ()))
  "What is to be told of a load. FILES are those that were loaded to their end. DOUBLES are pairs of a method and the one
whose place it took. UNSET are the definitions of variables that were not set again."
  (files '()) (doubles '()) (unset '()))

(defvar *loaded* nil "What is to be told of the load that this thread noted last, or NIL.")

;;; What is new

(defun package-definitions (exports serial)
  "Return the definitions of the packages and the symbols in EXPORTS, from a TOUCHED, in the load SERIAL."
  (loop for (package location . symbols) in exports
        when (and (package-name package) (typep location 'source-location))
          collect (make-definition :package (package-name package) package serial location)
          and append (loop for symbol in symbols
                           when (symbolp symbol) collect (make-definition :export symbol package serial location))))

(defun method-definitions (log serial)
  "Return the definitions of the methods in LOG, and of the generic functions that they make, in the load SERIAL."
  (loop for (name . method) in (remove-if #'symbolp log)
        for function = (and (attached-p method) (sb-mop:method-generic-function method))
        for home = (symbol-package (name-symbol name))
        when function
          collect (make-definition :method name method serial)
        when (and function home (not (sb-ext:package-locked-p home)) (eq function (function-identity function)))
          collect (make-definition :function name function serial)))

(defun set-again-p (kind name touched)
  "True when NAME, defined as a KIND, was set to the function that it had already."
  (and (eq kind :function) (gethash name (touched-functions touched))))

(defun new-definitions (touched serial path)
  "Return the definitions that are new since TOUCHED was begun, in the load SERIAL of the file PATH, if any."
  (let ((new '()))
    (maphash (lambda (symbol before)
               (map-definitions (lambda (kind name identity)
                                  (unless (or (and (member identity before :test #'eq)
                                                   (not (and path (set-again-p kind name touched))))
                                              (typep identity 'generic-function))
                                    (push (make-definition kind name identity serial) new)))
                                symbol))
             (touched-before touched))
    (append new
            (method-definitions (touched-log touched) serial)
            (package-definitions (touched-exports touched) serial))))

(defun definition-file-name (definition)
  "Return what SBCL calls the file of DEFINITION, or NIL."
  (let ((identity (definition-identity definition)))
    (cond ((definition-location definition) (identity-file (definition-location definition)))
          ((typep identity 'generic-function) (generic-function-file identity))
          (t (identity-file identity)))))

;;; Which files were loaded

(defun shows-load-p (definition file)
  "True when DEFINITION, of FILE, can only be new because FILE was loaded."
  (let ((identity (definition-identity definition)))
    (typecase identity
      ((or generic-function sb-mop:standard-accessor-method) nil)
      (function (not (member (function-source identity) (source-file-sources file) :test #'eq)))
      (t t))))

(defun note-evaluated (definition by)
  "Note that DEFINITION is from no file: BY is the beginning of the form that made it, or NIL."
  (when (< (hash-table-count **evaluated**) *evaluated-limit*)
    (setf (gethash (key-of definition) **evaluated**)
          (list (definition-identity definition) (get-universal-time) by definition))))

(defun by-file (definitions touched path by)
  "Return DEFINITIONS grouped by file: lists that begin with that. What is from none is of PATH, when that was loaded.
Else a form that begins BY made it, unless a load of those TOUCHED did so."
  (let ((files (make-hash-table :test 'equal)) (groups (make-hash-table :test 'eq)))
    (dolist (definition definitions)
      (let* ((name (definition-file-name definition))
             (file (and name (or (gethash name files)
                                 (setf (gethash name files) (known-file (file-path name)))))))
        (cond ((and file
                    (or (not (typep (definition-identity definition) '(and function (not generic-function))))
                        (shows-load-p definition file)))
               (push definition (gethash file groups)))
              (path (push definition (gethash (known-file path) groups)))
              ((not (gethash (name-symbol (definition-name definition)) (touched-loaded touched)))
               (note-evaluated definition by)))))
    (loop for file being the hash-keys of groups using (hash-value group) collect (cons file group))))

(defun fresh-sources (definitions)
  "Return what the debugger knows of the sources of the functions among DEFINITIONS."
  (remove-duplicates (loop for definition in definitions
                           for identity = (definition-identity definition)
                           for source = (and (typep identity '(and function (not generic-function)))
                                             (identity-file identity)
                                             (function-source identity))
                           when source collect source)
                     :test #'eq))

(defun enter (file definitions)
  "Put DEFINITIONS into the table of FILE. Return pairs of each that takes the place of another and that."
  (loop with table = (source-file-definitions file)
        for definition in definitions
        for key = (key-of definition)
        for old = (gethash key table)
        do (setf (gethash key table) definition)
        when old collect (cons definition old)))

;;; What has changed

(defvar *plain-forms* '() "The forms of the texts that this load looked at, from PLAIN-FORMS, by text.")

(defun forms-of (text)
  "Return the top-level forms of TEXT as PLAIN-FORMS does, which is asked once in a load."
  (cdr (or (assoc text *plain-forms* :test #'eq)
           (first (push (cons text (plain-forms text)) *plain-forms*)))))

(defun form-of (definition text)
  "Return the top-level form of DEFINITION in TEXT, or NIL when it is not found."
  (let* ((forms (and text (forms-of text)))
         (number (and forms (identity-form (definition-identity definition)))))
    (and number (< number (length forms)) (aref forms number))))

(defun literal-differs-p (text value)
  "True when TEXT is a number, a string, T or NIL, and VALUE is something else."
  (and (or (find (char text 0) "\"+-0123456789") (member text '("t" "nil") :test #'string-equal))
       (let ((*read-eval* nil) (*package* (find-package "KEYWORD")) (*readtable* (copy-readtable nil)))
         (handler-case (let ((literal (read-from-string text)))
                         (cond ((string-equal text "t") (not (eq value t)))
                               ((string-equal text "nil") (and value t))
                               ((symbolp literal) nil)
                               (t (not (equalp literal value)))))
           (error () nil)))))

(defun compiled-in-p (definition)
  "True when users of DEFINITION have its code compiled in."
  (case (definition-kind definition)
    ((:macro :compiler-macro) t)
    (:function (and (eq (known :function :inlinep (definition-name definition)) 'inline) t))))

(defun form-before (definition text)
  "Return the form of DEFINITION, or of a variable its value, as it was when it was made; TEXT is that of its file then."
  (or (definition-baseline definition)
      (let ((form (form-of definition text)))
        (if (and form (eq (definition-kind definition) :variable))
            (values (form-value form (definition-name definition)))
            form))))

(defun keep-forms (file text serial)
  "Keep the forms of what the load SERIAL of FILE, of TEXT, made, and the one after it did not: it can come back."
  (map-file-definitions (lambda (definition)
                          (when (and (= serial (definition-serial definition))
                                     (or (eq (definition-kind definition) :variable) (compiled-in-p definition)))
                            (setf (definition-baseline definition) (form-before definition text))))
                        file))

(defun note-unset (definition old old-text text value)
  "When DEFINITION, of a variable, says in TEXT something else than what gave it VALUE, note that in it, and return it.
OLD is what it was in the file as it was loaded before, which had OLD-TEXT, or NIL."
  (let* ((symbol (definition-name definition))
         (form (and (or (null old) (definition-baseline old) (not (equal text old-text)))
                    (form-of definition text))))
    (when form
      (multiple-value-bind (says plain) (form-value form symbol)
        (let ((base (and old (form-before old old-text))))
          (when (cond (base (string/= base says))
                      ((null old) (and plain (literal-differs-p says value))))
            (setf (definition-baseline definition) (or base "")
                  (definition-says definition) (if plain says t))
            definition))))))

(defun unset-variables (pairs definitions old-text text values)
  "Return those of DEFINITIONS that are of variables which a load did not set, and should have. PAIRS has what they take
the place of; VALUES is of a TOUCHED."
  (loop for definition in definitions
        for symbol = (definition-name definition)
        for (value kept) = (and (eq (definition-kind definition) :variable)
                                (multiple-value-list (gethash symbol values)))
        when (and kept (boundp symbol) (eq value (symbol-value symbol))
                  (note-unset definition (cdr (assoc definition pairs :test #'eq)) old-text text value))
          collect definition))

(defun changed-names (pairs old-text text)
  "Return the names of the macros and inline functions in PAIRS, from ENTER, whose forms have changed."
  (unless (or (null old-text) (null text) (string= old-text text))
    (loop for (new . old) in pairs
          when (and (compiled-in-p new) (not (equal (form-before old old-text) (form-of new text))))
            collect (definition-name new))))

(defun same-method-p (one other)
  "True when the methods ONE and OTHER, of the same function, are for the same arguments."
  (and (equal (method-qualifiers one) (method-qualifiers other))
       (equal (sb-mop:method-specializers one) (sb-mop:method-specializers other))))

(defun took-place-p (method other)
  "True when METHOD, of the same function, stands in another form of the file of OTHER and is for the same arguments."
  (let ((file (identity-file method)))
    (and (same-method-p method other)
         file
         (equal file (identity-file other))
         (not (eql (identity-form method) (identity-form other))))))

(defun doubles (log)
  "Return pairs of a method in LOG, newest first, and one whose place it took, each after the function's name."
  (loop with methods = (remove-if #'symbolp log)
        for (name . other) in methods
        for taker = (and (null (sb-mop:method-generic-function other))
                         (find-if (lambda (entry)
                                    (and (equal (car entry) name)
                                         (attached-p (cdr entry))
                                         (took-place-p (cdr entry) other)))
                                  methods))
        when taker collect (list name (cdr taker) other)))

;;; The whole

(defun failed-p (definition failed)
  "True when DEFINITION is of a load that did not end well, whose log FAILED is."
  (let ((name (name-symbol (definition-name definition))) (identity (definition-identity definition)))
    (find-if (lambda (entry) (if (consp entry) (eq (cdr entry) identity) (eq entry name))) failed)))

(defun drop-replaced-methods (file)
  "Forget the methods of FILE that others have taken the place of."
  (let ((table (source-file-definitions file)))
    (maphash (lambda (key definition)
               (when (and (eq (definition-kind definition) :method) (null (sb-mop:method-generic-function key)))
                 (remhash key table)))
             table)))

(defun note-file (file definitions touched noted)
  "Note that FILE was loaded to its end and made DEFINITIONS, in the load of TOUCHED, and what is to be told in NOTED."
  (let* ((sources (fresh-sources definitions)) (old-text (source-file-text file)) (pairs (enter file definitions)))
    (multiple-value-bind (text date) (loaded-text (source-file-path file) sources)
      (unless (equal text old-text) (keep-forms file old-text (source-file-serial file)))
      (setf (source-file-serial file) **serial**
            (source-file-failed file) nil
            (source-file-text file) text
            (source-file-date file) date
            (source-file-sources file) sources)
      (drop-replaced-methods file)
      (push file (noted-files noted))
      (setf (noted-unset noted)
            (append (noted-unset noted)
                    (unset-variables pairs definitions old-text text (touched-values touched))))
      (changed-names pairs old-text text))))

(defun note-group (group touched done path noted)
  "Note GROUP, a file and the definitions in it that a load made. It ended well when DONE. PATH is the file that is known
to have been loaded. Return the names of what has changed and is compiled into its users."
  (destructuring-bind (file . definitions) group
    (let ((failed (or (not done)
                      (some (lambda (definition) (failed-p definition (touched-failed touched))) definitions))))
      (cond ((and (not failed)
                  (or (equal (source-file-path file) path)
                      (some (lambda (definition) (shows-load-p definition file)) definitions)))
             (note-file file definitions touched noted))
            (t (complete-sources (source-file-path file) (fresh-sources definitions))
               (enter file definitions)
               (setf (source-file-failed file) failed)
               '())))))

(defun note-load (touched done path by)
  "Note what was TOUCHED while PATH was loaded, or a form that begins BY was evaluated. DONE says that it ended well."
  (let* ((touched (if (touched-p touched) touched (make-touched)))
         (*plain-forms* '())
         (serial (incf **serial**))
         (groups (by-file (new-definitions touched serial path) touched path by))
         (noted (make-noted)))
    (when (and path (not (assoc path groups :key #'source-file-path :test #'equal)))
      (push (list (known-file path)) groups))
    (note-outdated (loop for group in groups append (note-group group touched done path noted))
                   (loop for (nil . definitions) in groups append (fresh-sources definitions)))
    (setf (noted-doubles noted) (and done (doubles (touched-log touched)))
          *loaded* noted)))

(defun call-noting (function &key path by)
  "Call FUNCTION, which loads the file PATH, a native true name, or evaluates the form that begins BY. Note what that
defined, unless that is being noted already."
  (if *touched*
      (funcall function)
      (let ((*touched* :nothing-yet) (done nil))
        (unwind-protect (multiple-value-prog1 (funcall function) (setf done t))
          (when (or path (touched-p *touched*))
            (let ((touched (shiftf *touched* nil)))
              (ignore-errors
               (sb-thread:with-mutex (**lock**)
                 (note-load touched done path (and by (funcall by)))))))))))

(defun call-loading (function)
  "Call FUNCTION, which loads a file, and note what that defined."
  (call-noting (lambda () (call-in-load function))))
