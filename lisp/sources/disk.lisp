;;;; Compares the image with the loaded files, and the loaded texts with the files on disk.

(in-package "LIVE-LISP.SOURCES")

;;; Changes of files on disk

(defun numbered-forms (text)
  "Return an alist from the top-level forms of TEXT, as texts from PLAIN-FORM, to their numbers from
0. Return :UNREADABLE if TEXT cannot be split into forms."
  (let ((forms (plain-forms text)))
    (if forms
        (loop for form across forms for number from 0 collect (cons form number))
        (if (zerop (length text)) '() :unreadable))))

(defun method-parts (form)
  "Return a list of texts that tell the method in FORM, the text of a DEFMETHOD form, from others of
its generic function: its qualifiers, and a list of its specializers."
  (loop for part in (cddr (form-parts form 10))
        if (eql 0 (position #\( part))
          collect (format nil "(~{~A~^ ~})"
                          (loop for parameter in (form-parts part 50)
                                until (eql 0 (position #\& parameter))
                                collect (or (second (form-parts parameter 2)) "t")))
          and do (loop-finish)
        else
          collect part))

(defun head-of (form)
  "FORM is the text of a form. Return a text that identifies it: its operator and name, such as
\"(DEFUN F)\", and for a method its qualifiers and specializers. If it has no name there, return its
first characters."
  (destructuring-bind (&optional operator name) (form-parts form 2)
    ;; The name of a structure can stand in a list with options.
    (when (and name
               (definer-p operator)
               (eql 0 (position #\( name))
               (not (eql 6 (mismatch "(setf " name :test #'char-equal))))
      (setf name (first (form-parts name 1))))
    (cond ((and operator name (or (not (find #\Space name))
                                  (eql 6 (mismatch "(setf " name :test #'char-equal))))
           (shortened 80 (decoded (format nil "(~A ~A~{ ~A~})" operator name
                                          (and (string-equal operator "defmethod")
                                               (method-parts form))))))
          (t (shortened 40 (decoded form))))))

(defun without-same (forms others)
  "Return a list of those FORMS that OTHERS does not have. Both are lists of (FORM . NUMBER) pairs,
of which only the forms are compared. If a form is in FORMS N times more often than in OTHERS,
return its last N pairs."
  (let ((counts (make-hash-table :test 'equal)))
    (loop for (form) in others do (incf (gethash form counts 0)))
    (remove-if (lambda (pair)
                 (and (plusp (gethash (car pair) counts 0))
                      (decf (gethash (car pair) counts))))
               forms)))

(defun changed-forms (old new parts)
  "Return a list of JSON objects for the forms that differ between OLD and NEW, two texts of a file.
Leave out the forms of NEW in the list PARTS, which were loaded since OLD was. The list is empty if
only white space and comments differ. Return :UNREADABLE if a text cannot be split into forms."
  (let ((before (numbered-forms old)) (after (numbered-forms new)))
    (if (or (eq before :unreadable) (eq after :unreadable))
        :unreadable
        (let* ((gone (without-same before after)) (come (without-same after before))
               (heads (loop for (form) in gone collect (head-of form))))
          (append (loop for (form . number) in come
                        for head = (head-of form)
                        for known = (member head heads :test #'string-equal)
                        unless (member form parts :test #'string=)
                          collect (object "head" head "how" (if known "differs" "new")
                                          "form" number)
                        when known
                          do (setf heads (remove head heads :test #'string-equal :count 1)))
                  (loop for head in heads collect (object "head" head "how" "gone")))))))

(define-shape disk-difference ()
  "A file on the disk that differs from its text at the last load, with the forms that differ, if
  these are known."
  (file string) (how (member "gone" "changed" "unreadable"))
  (forms (list (object (head string) (how (member "new" "differs" "gone"))
                       (form integer :optional)))
   :optional)
  (forms-total integer :optional))

(defun disk-data (file)
  "Return a JSON object that says how the file FILE on disk differs from its loaded text. Return NIL
if it does not differ, or if nothing is known."
  (let* ((path (source-file-path file)) (pathname (sb-ext:parse-native-namestring path))
         (date (ignore-errors (file-write-date pathname))) (old (source-file-text file)))
    (cond ((zerop (source-file-serial file)) nil)
          ((null date) (object "file" path "how" "gone"))
          ((null old)
           (and (source-file-date file)
                (/= date (source-file-date file))
                (object "file" path "how" "changed")))
          (t (let* ((new (read-text pathname))
                    (forms (and new (not (string= old new)) (changed-forms old new (source-file-parts file)))))
               (cond ((null new) (object "file" path "how" "unreadable"))
                     ((eq forms :unreadable) (object "file" path "how" "changed"))
                     (forms
                      (make-json-object
                       (list* "file" path "how" "changed" (bounded-members "forms" forms))))))))))

;;; The whole comparison

(defun files-of-package (package)
  "Return a list of the SOURCE-FILE structures of files that define PACKAGE, an export of PACKAGE,
or a name whose symbol is at home in it."
  (loop for file being the hash-values of **files**
        when (definitions-if (lambda (definition) (in-package-p definition package)) file)
          collect file))

(defun in-package-p (definition package)
  "Return true if DEFINITION is of a symbol at home in PACKAGE, of PACKAGE itself, or of an export
of PACKAGE."
  (let ((symbol (name-symbol (definition-name definition))))
    (if (member (definition-kind definition) '(:export :package))
        (eq (definition-identity definition) package)
        (and (symbolp symbol) (eq (symbol-package symbol) package)))))

(defun packages-of (files)
  "Return a list of the packages that FILES define."
  (flet ((package-p (definition) (eq (definition-kind definition) :package)))
    (loop for file in files
          append (mapcar #'definition-identity (definitions-if #'package-p file)))))

(defun known-files (paths)
  "Return a list of the SOURCE-FILE structures for those of PATHS, native names, whose loads were
recorded. Leave out a file of which only KEEP-TEXT has recorded the text: its definitions are
unknown."
  (loop for path in paths
        for file = (gethash (file-path (namestring (sb-ext:parse-native-namestring path)))
                            **files**)
        when (and file (not (and (zerop (source-file-serial file)) (source-file-text file))))
          collect file))

(define-shape comparison-data (disagreement)
  "Differences between the image and files that a request names."
  (unknown boolean :optional "True when none of the files was loaded.")
  (empty boolean :optional "True when the system has no files of its own, only dependencies.")
  (needs (list string) :optional "These dependencies.")
  (files integer :optional)
  (unfinished (list string) :optional "Files whose last load did not end well.")
  (unloaded (list string) :optional "Files of the system that were not loaded.")
  (differing (list difference) :optional) (differing-total integer :optional)
  (disk (list disk-difference) :optional) (disk-total integer :optional))

(defun comparison (files wanted packages)
  "Return a plist for a JSON object about differences between the image and FILES, for definitions
of which the predicate WANTED is true. Include definitions of names in PACKAGES that only evaluated
forms have made."
  (let ((files (sort (copy-list files) #'string< :key #'source-file-path)))
    (append (list "files" (length files)
                  "unfinished" (loop for file in files
                                     when (source-file-failed file)
                                       collect (source-file-path file)))
            (old-members files :wanted wanted :more (evaluated-only packages))
            (bounded-members "differing" (loop for file in files append (differing file wanted)))
            (bounded-members "unset" (loop for file in files append (unset-in file wanted)))
            (bounded-members "disk" (remove nil (mapcar #'disk-data files)))
            (bounded-members "outdated" (outdated-data (outdated-of files))))))

(defun compare-files (paths package limit more)
  "Return a JSON object about the differences between the image and the loaded files PATHS, a list
of native names. If PACKAGE is given, compare instead all files that define names of PACKAGE, but
only these names. Show at most LIMIT differences of each kind, or *SHOWN-ITEMS-LIMIT* if it is NIL.
MORE is a plist of further members. Return NIL if none of the files was loaded."
  (call-user-code
   (lambda ()
     (sb-thread:with-mutex (**lock**)
       (let ((*shown-items-limit* (or limit *shown-items-limit*))
             (files (if package (files-of-package package) (known-files paths))))
         (when (or files package)
           (make-json-object
            (append (comparison files
                                (if package
                                    (lambda (definition) (in-package-p definition package))
                                    (constantly t))
                                (if package (list package) (packages-of files)))
                    more))))))))
