;;;; What stands in the way of a generic function as a file has it now. SBCL refuses another lambda list while there are
;;;; methods with the old one. The file alone says what is consistent, so a load by a tool takes them out first.

(in-package "LIVE-LISP.SOURCES")

(defvar *making-way* nil "True while a tool loads a file or a system.")

(defvar *displaced* '() "Definitions of the methods that this thread has taken out so, newest first.")
(sb-ext:defglobal **displaced** '() "Those that the last load did not define again.")
(defvar *continues* nil "True in a load that goes on with what the last one began.")

(defun lambda-list-shape (lambda-list)
  "Return in what all methods of a generic function agree with LAMBDA-LIST: the numbers of required and optional parameters,
and whether more can be given."
  (flet ((leading (list)
           (or (position-if (lambda (each) (member each lambda-list-keywords)) list) (length list))))
    (list (leading lambda-list)
          (leading (rest (member '&optional lambda-list)))
          (and (intersection '(&rest &key) lambda-list) t))))

(defun before-load-p (name identity)
  "True when IDENTITY, of what NAME is defined as, is from before the load that this thread does."
  (multiple-value-bind (before touched) (gethash (name-symbol name) (touched-before *touched*))
    (or (not touched) (and (member identity before :test #'eq) t))))

(defun of-file-p (name location)
  "True when the file of LOCATION, where a form is from, made NAME a function or a macro when it was loaded last."
  (let* ((path (and location (identity-file location)))
         (file (and path (gethash (file-path path) **files**))))
    (and file (defines-p file name '(:function :macro)))))

(defun yields-p (function name lambda-list location by)
  "True when the methods of the generic FUNCTION called NAME are to make way for LAMBDA-LIST. A DEFGENERIC or DEFMETHOD form,
as BY says, has that, at LOCATION."
  (let ((methods (sb-mop:generic-function-methods function)) (identity (function-identity function)))
    (and methods
         (not (equal (lambda-list-shape lambda-list)
                     (lambda-list-shape (sb-mop:generic-function-lambda-list function))))
         (ecase by
           (defgeneric t)
           ;; What another file says of all methods holds for this one.
           (defmethod (or (eq identity function)
                          (and (before-load-p name identity) (of-file-p name location)))))
         (notany (lambda (method) (find method (touched-log *touched*) :key (lambda (entry) (and (consp entry) (cdr entry)))))
                 methods))))

(defun displace-methods (function name by)
  "Take out the methods of the generic FUNCTION called NAME, with it when the form that is to come is a DEFMETHOD, as BY says."
  (dolist (method (copy-list (sb-mop:generic-function-methods function)))
    (push (make-definition :method name method **serial**) *displaced*)
    (remove-method function method))
  ;; A method is held against the lambda list that the function has had, also when it has no methods any more.
  (when (eq by 'defmethod) (fmakunbound name)))

(defun make-way (name lambda-list location by)
  "Take out of the image what keeps NAME from being a generic function with LAMBDA-LIST. A form at LOCATION has that, a
DEFGENERIC or DEFMETHOD as BY says. What this load made stays."
  (let ((home (symbol-package (name-symbol name))) (function (generic-function-named name)))
    (when (and home (fboundp name) (not (sb-ext:package-locked-p home)) (touched-p *touched*))
      (if function
          (when (yields-p function name lambda-list location by) (displace-methods function name by))
          (let ((identity (or (and (symbolp name) (macro-function name)) (plain-definition name))))
            (when (and (before-load-p name identity) (of-file-p name location))
              (fmakunbound name)))))))

(defun making-way (name lambda-list location by)
  "Do what MAKE-WAY does with the same arguments, when a tool loads. No failure of it reaches the program."
  (when (and *making-way* *touched*) (ignore-errors (make-way name lambda-list location by))))

;;; What is told of it

(defun missed-p (definition)
  "True when DEFINITION, of a method that was taken out, is of a generic function that has none in its place. What its file
has been loaded without since is not missed."
  (let* ((path (definition-file-name definition))
         (file (and path (gethash (file-path path) **files**))))
    (and (generic-function-named (definition-name definition))
         (null (method-now definition))
         (or (null file) (<= (source-file-serial file) (definition-serial definition))))))

(defun displaced-members ()
  "Return the members that tell which methods were taken out and are missed."
  (setf **displaced** (remove-if-not #'missed-p *displaced*))
  (bounded-members "displaced"
                   (loop for definition in (sort-definitions **displaced**)
                         for file = (definition-file-name definition)
                         collect (item-data definition "file" (and file (file-path file))))))

(defun call-making-way (function)
  "Call FUNCTION, which loads, with what stands in the way of generic functions taken out. The answer of the job tells what
of that is missed, however FUNCTION ends."
  (if *making-way*
      (funcall function)
      (let ((*making-way* t) (*displaced* (and *continues* **displaced**)))
        (unwind-protect (funcall function)
          (when *job*
            (let ((members (ignore-errors (sb-thread:with-mutex (**lock**) (displaced-members)))))
              (setf (job-notes *job*) (append members (job-notes *job*)))))))))
