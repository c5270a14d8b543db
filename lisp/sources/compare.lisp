;;;; Finds where the image and the files that were loaded differ, as data.

(in-package "LIVE-LISP.SOURCES")

(defun bounded-members (key items)
  "Return answer members for ITEMS, JSON objects: the first *TOLD-LIMIT* under KEY, and the number
of all under KEY with Total behind it. Return NIL when there are none."
  (and items
       (list key (page items 0 *told-limit*)
             (concatenate 'string key "Total") (length items))))

(defparameter *says-limit* 300
  "Characters shown of a variable's value in a file: many, as only the end may differ.")

(defun unset-data (definition)
  "Return a JSON object about the variable of DEFINITION, which kept its value in a load: its name,
the value, and the value in the file. Return NIL when the variable was set since."
  (let ((symbol (definition-name definition)) (says (definition-says definition)))
    (when (still-unset-p definition)
      (object "name" (symbol-text symbol)
              "value" (local-text (symbol-value symbol) :limit 60 :length 5)
              "says" (and (stringp says) (shortened *says-limit* says))))))

(defun old-data (files &optional (wanted (constantly t)))
  "Return JSON objects for definitions of FILES that the image still has but the last load of their
file did not make again, if the predicate WANTED is true of them."
  (loop for file in files
        append (loop for definition in (main-definitions (old-definitions file))
                     when (funcall wanted definition)
                       collect (item-data definition "file" (source-file-path file)))))

(defun defines-p (file name kinds)
  "True when FILE has a definition of NAME, of one of KINDS."
  (some (lambda (kind) (gethash (cons kind name) (source-file-definitions file))) kinds))

(defun outdated-of (files)
  "Return those OUTDATED-USES in which one of FILES defines the used name or the user."
  (remove-if-not (lambda (use)
                   (destructuring-bind (used user function) use
                     (let ((method (method-of function user)))
                       (some (lambda (file)
                               (or (defines-p file used
                                              '(:macro :compiler-macro :function :constant
                                                :symbol-macro :class))
                                   (defines-p file user '(:macro :function))
                                   (and method (gethash method (source-file-definitions file)))))
                             files))))
                 (outdated-uses)))

(defun double-data (double)
  "Return DOUBLE, an element of what DOUBLES returns, as a JSON object."
  (destructuring-bind (name method other) double
    (let ((path (file-path (identity-file method))))
      (object "kind" "method" "name" (method-name-text name method)
              "file" path "form" (identity-form method) "other" (identity-form other)))))

(defun reslotted-data (entry)
  "Return ENTRY, an element of NOTED-RESLOTTED, as a JSON object. It is a list of a class, the names
of its new slots, and the names of its removed slots."
  (destructuring-bind (class new gone) entry
    (object "name" (symbol-text (class-name class))
            "new" (mapcar #'symbol-text new)
            "gone" (mapcar #'symbol-text gone)
            "instances" (instance-count class))))

(defun agreement ()
  "Return answer members about where the image differs from the files of the load that this thread
recorded last."
  (when *loaded*
    (let ((files (noted-files *loaded*)))
      (append (bounded-members "doubles" (mapcar #'double-data (noted-doubles *loaded*)))
              (bounded-members "old" (old-data files))
              (bounded-members "unset" (remove nil (mapcar #'unset-data (noted-unset *loaded*))))
              (bounded-members "reslotted" (mapcar #'reslotted-data (noted-reslotted *loaded*)))
              (bounded-members "outdated" (outdated-data (outdated-of files)))))))

;;; Definitions that others have replaced

(defun method-now (definition)
  "Return the method that now has the specializers and qualifiers of DEFINITION's method, or NIL."
  (let ((function (generic-function-named (definition-name definition)))
        (method (definition-identity definition)))
    (and function
         (find-if (lambda (other) (same-method-p method other))
                  (sb-mop:generic-function-methods function)))))

(defun in-place-of (definition)
  "Return the identity of the definition that the image has in place of DEFINITION, or NIL."
  (case (definition-kind definition)
    (:method (method-now definition))
    ((:export :package) nil)
    (t (identity-now (definition-kind definition) (definition-name definition)))))

(defun evaluation-of (definition identity)
  "Return the entry of **EVALUATED** that made IDENTITY, which is in the place of DEFINITION, or
NIL."
  (let ((kept (gethash (definition-key (definition-kind definition) (definition-name definition)
                                       identity)
                       **evaluated**)))
    (and kept (eq (first kept) identity) kept)))

(defun evaluation-members (kept)
  "Return the answer members \"time\", the Unix time of the evaluation in KEPT, and \"by\", the
beginning of its form. KEPT is an entry of **EVALUATED**."
  (list "time" (unix-time (second kept)) "by" (third kept)))

(setf **evaluation-of**
      (lambda (name &rest kinds)
        (loop with method = (and (typep name 'method) name)
              for kind in kinds
              for identity = (or method (identity-now kind name))
              for kept = (and identity (gethash (definition-key kind name identity) **evaluated**))
              when (and kept (eq (first kept) identity))
                return (make-json-object (evaluation-members kept)))))

(defun differing-data (definition file)
  "Return as a JSON object how the image differs from DEFINITION, of the last load of FILE; NIL when
it does not."
  (unless (current-p definition)
    (let* ((now (in-place-of definition)) (kept (and now (evaluation-of definition now)))
           (other (and now (not kept) (identity-file now))) (path (and other (file-path other)))
           (known (and path (gethash path **files**))))
      (cond ((and (typep (definition-identity definition) 'generic-function) now) nil)
            ;; The same load made both definitions, and the later one counts.
            ((and known (= (source-file-serial known) (source-file-serial file))) nil)
            (t (apply #'item-data definition
                      "file" (source-file-path file)
                      "at" (definition-number definition)
                      "missing" (and (null now) t)
                      "other" path
                      (and kept (evaluation-members kept))))))))

(defun differing (file wanted)
  "Return JSON objects for definitions that the last load of FILE made and the image lacks, if the
predicate WANTED is true of them."
  (let ((definitions (definitions-if (lambda (definition)
                                       (and (>= (definition-serial definition)
                                                (source-file-serial file))
                                            (plusp (source-file-serial file))
                                            (funcall wanted definition)
                                            (not (current-p definition))))
                                     file)))
    (loop for definition in (main-definitions (sort-definitions definitions))
          for data = (differing-data definition file)
          when data collect data)))

(defun unset-in (file wanted)
  "Return JSON objects for variables that kept their values though FILE has others, if the predicate
WANTED is true of their definitions."
  (let ((unset (definitions-if (lambda (definition)
                                 (and (definition-says definition)
                                      (funcall wanted definition)
                                      (current-p definition)))
                               file)))
    (remove nil (mapcar #'unset-data (sort-definitions unset)))))

(defun unset-below (root)
  "Return answer members about the variables that kept their values though files below ROOT have
others."
  (bounded-members "unset"
                   (sb-thread:with-mutex (**lock**)
                     (loop for file being the hash-values of **files**
                           when (eql 0 (search root (source-file-path file)))
                             append (unset-in file (constantly t))))))

(defun in-a-file-p (definition)
  "True when a loaded file defines what DEFINITION does."
  (loop with key = (key-of definition)
        for file being the hash-values of **files**
          thereis (gethash key (source-file-definitions file))))

(defun overrides-p (definition)
  "True when the method of DEFINITION has replaced one that a loaded file defines."
  (loop with method = (definition-identity definition)
        for file being the hash-values of **files**
          thereis (loop for other being the hash-values of (source-file-definitions file)
                          thereis (and (eq (definition-kind other) :method)
                                       (equal (definition-name other) (definition-name definition))
                                       (same-method-p method (definition-identity other))))))

(defun evaluated-only (packages)
  "Return JSON objects for definitions of names in PACKAGES that only evaluated forms made, and no
loaded file."
  (let ((found '()))
    (sb-ext:with-locked-hash-table (**evaluated**)
      (loop for kept being the hash-values of **evaluated**
            for definition = (fourth kept)
            for symbol = (name-symbol (definition-name definition))
            when (and (symbolp symbol)
                      (member (symbol-package symbol) packages :test #'eq)
                      (third kept)
                      (current-p definition)
                      (not (kept-by-methods-p definition))
                      (not (in-a-file-p definition))
                      (not (and (eq (definition-kind definition) :method)
                                (overrides-p definition))))
              collect definition into definitions
            finally (setf found definitions)))
    (loop for definition in (main-definitions (sort-definitions found))
          collect (apply #'item-data definition
                         (evaluation-members
                          (gethash (key-of definition) **evaluated**))))))
