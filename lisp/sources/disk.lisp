;;;; Compares the image with the loaded files, and the loaded texts with the files on disk.
;;;; COMPARE-FILES does both for all files of a request. DISK-DATA compares the loaded text of one
;;;; file with the file on disk. The texts of files and forms have one character for each octet, as
;;;; READ-TEXT returns them.

(in-package "LIVE-LISP.SOURCES")

(define-shape disk-difference ()
  "A file on the disk that differs from its text at the last load, with the forms that differ, if
  these are known."
  (file string) (how (member "gone" "changed" "unreadable"))
  (forms (list (object (head string) (how (member "new" "differs" "gone"))
                       (form integer :optional)))
   :optional)
  (forms-total integer :optional))

(define-shape comparison-data (disagreement)
  "Differences between the image and files that a request names."
  (unknown boolean :optional "True when none of the files was loaded.")
  (empty boolean :optional "True when the system has no files of its own, only dependencies.")
  (needs (list string) :optional "Names of the systems on which a system without files depends.")
  (files integer :optional)
  (unfinished (list string) :optional "Files whose last load did not end well.")
  (unloaded (list string) :optional "Files of the system that were not loaded.")
  (differing (list difference) :optional) (differing-total integer :optional)
  (disk (list disk-difference) :optional) (disk-total integer :optional))

(defun compare-files (paths package limit more)
  "Return a JSON object about differences between the image and loaded files. Compare the files that
define names of PACKAGE. If PACKAGE is NIL, compare the loaded files among PATHS, a list of native
names, and return NIL if none of them was loaded. LIMIT is the maximum number of differences of each
kind in the object, or NIL for the default. MORE is a plist to add to the object."
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

(defun comparison (files wanted packages)
  "Return a plist for a JSON object about differences between the image and FILES, for definitions
that satisfy the predicate WANTED. Include the definitions that only evaluated forms have made, if
their names are symbols of PACKAGES."
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

;;; Which files and definitions are compared

(defun known-files (paths)
  "Return a list of the SOURCE-FILE structures for those of PATHS, native names, whose loads were
recorded. Leave out files for which KEEP-TEXT has recorded the text alone, since their definitions
are unknown."
  (loop for path in paths
        for file = (gethash (file-path (namestring (sb-ext:parse-native-namestring path)))
                            **files**)
        when (and file (not (and (zerop (source-file-serial file)) (source-file-text file))))
          collect file))

(defun files-of-package (package)
  "Return a list of the SOURCE-FILE structures of files that define PACKAGE, an export of PACKAGE,
or a name whose symbol has PACKAGE as home package."
  (loop for file being the hash-values of **files**
        when (definitions-if (lambda (definition) (in-package-p definition package)) file)
          collect file))

(defun in-package-p (definition package)
  "Return true if DEFINITION is PACKAGE itself, an export of PACKAGE, or a definition of a symbol
whose home package is PACKAGE."
  (let ((symbol (name-symbol (definition-name definition))))
    (if (member (definition-kind definition) '(:export :package))
        (eq (definition-identity definition) package)
        (and (symbolp symbol) (eq (symbol-package symbol) package)))))

(defun packages-of (files)
  "Return a list of the packages that FILES, a list of SOURCE-FILE structures, define."
  (flet ((package-p (definition) (eq (definition-kind definition) :package)))
    (loop for file in files
          append (mapcar #'definition-identity (definitions-if #'package-p file)))))

;;; Changes of files on disk

(defstruct (numbered-form (:constructor make-numbered-form (text number)))
  "A top-level form.
TEXT: its text without comments, as PLAIN-FORM returns it.
NUMBER: its number in the file, from 0."
  text number)

(defun disk-data (file)
  "Return a JSON object about the difference between the file FILE on disk and the loaded text of
FILE. If that text is unknown, compare the dates of the file now and at the load. Return NIL if
there is no difference, or if no load of FILE has ended normally."
  (let* ((path (source-file-path file))
         (pathname (sb-ext:parse-native-namestring path))
         (date (date-of pathname))
         (old (source-file-text file)))
    (flet ((difference (how &optional forms)
             (make-json-object
              (list* "file" path "how" how (and forms (bounded-members "forms" forms))))))
      (cond ((zerop (source-file-serial file)) nil)
            ((null date) (difference "gone"))
            (old
             (let* ((new (read-text pathname))
                    (forms (and new (string/= old new)
                                (changed-forms old new (source-file-parts file)))))
               (cond ((null new) (difference "unreadable"))
                     ((eq forms :unsplit) (difference "changed"))
                     (forms (difference "changed" forms)))))
            ((and (source-file-date file) (/= date (source-file-date file)))
             (difference "changed"))))))

(defun changed-forms (old new parts)
  "Return a list of JSON objects for the forms that differ between the texts OLD and NEW of a file,
or :UNSPLIT if a text cannot be split into forms. Leave out forms in the list PARTS, which were
loaded after OLD. Differences in white space and comments do not count."
  (let ((before (numbered-forms old)) (after (numbered-forms new)))
    (if (or (eq before :unsplit) (eq after :unsplit))
        :unsplit
        (changed-form-data (without-same before after) (without-same after before) parts))))

(defun changed-form-data (removed added parts)
  "Return a list of JSON objects for forms that differ. REMOVED lists the forms that only the old
text has, and ADDED the forms that only the new text has. Skip an added form whose text is in PARTS,
a list of texts of forms that were loaded since the old text. A removed and an added form with the
same operator and name give one object together."
  (let ((heads (loop for form in removed collect (head-of (numbered-form-text form))))
        (data '()))
    (dolist (form added)
      (let* ((head (head-of (numbered-form-text form)))
             (differs (member head heads :test #'string-equal)))
        (unless (member (numbered-form-text form) parts :test #'string=)
          (push (object "head" head "how" (if differs "differs" "new")
                        "form" (numbered-form-number form))
                data))
        ;; The removed form with this head is not gone, even if the added form was loaded alone.
        (when differs
          (setf heads (remove head heads :test #'string-equal :count 1)))))
    (append (nreverse data)
            (loop for head in heads collect (object "head" head "how" "gone")))))

(defun without-same (forms others)
  "FORMS and OTHERS are lists of NUMBERED-FORM structures. Return FORMS without those whose text is
in OTHERS. If a text occurs N times more often in FORMS than in OTHERS, return the last N forms with
this text."
  (let ((counts (make-hash-table :test 'equal)))
    (dolist (other others)
      (incf (gethash (numbered-form-text other) counts 0)))
    (remove-if (lambda (form)
                 (let ((text (numbered-form-text form)))
                   (when (plusp (gethash text counts 0))
                     (decf (gethash text counts))
                     t)))
               forms)))

(defun numbered-forms (text)
  "Return a list of NUMBERED-FORM structures for the top-level forms of TEXT, in order. Return
:UNSPLIT if TEXT cannot be split into forms."
  (let ((forms (plain-forms text)))
    (if (and (null forms) (plusp (length text)))
        :unsplit
        (loop for form across (or forms #())
              for number from 0
              collect (make-numbered-form form number)))))

;;; What identifies a form

(defun head-of (form)
  "Return text that identifies FORM, the text of a form: its operator and name, such as \"(DEFUN
F)\", and for a method the qualifiers and specializers. If FORM has no name, return its first
characters."
  (destructuring-bind (&optional operator name) (form-parts form 2)
    (flet ((list-p () (eql 0 (position #\( name)))
           (setf-name-p () (eql 6 (mismatch "(setf " name :test #'char-equal))))
      ;; The name of a structure can stand in a list with options.
      (when (and name (definer-p operator) (list-p) (not (setf-name-p)))
        (setf name (first (form-parts name 1))))
      (if (and operator name (or (not (find #\Space name)) (setf-name-p)))
          (shortened 80 (decoded (format nil "(~A ~A~{ ~A~})" operator name
                                         (and (string-equal operator "defmethod")
                                              (method-parts form)))))
          (shortened 40 (decoded form))))))

(defun method-parts (form)
  "Return a list of texts for the method in FORM, the text of a DEFMETHOD form: its qualifiers, and
then its specializers as one text. These identify the method in its generic function."
  (loop for part in (cddr (form-parts form 10))
        if (eql 0 (position #\( part))
          collect (format nil "(~{~A~^ ~})"
                          (loop for parameter in (form-parts part 50)
                                until (eql 0 (position #\& parameter))
                                collect (or (second (form-parts parameter 2)) "t")))
          and do (loop-finish)
        else
          collect part))
