;;;; Removes methods that block a generic function's new lambda list: SBCL refuses a lambda list
;;;; that does not agree with those of the methods. When a tool loads a file, the file is taken to
;;;; be consistent in itself, and such older methods are removed first.

(in-package "LIVE-LISP.SOURCES")

(defvar *making-way* nil "True while a tool loads a file or a system.")

(defvar *displaced* '() "Definitions of the methods that this thread has removed, newest first.")
(sb-ext:defglobal **displaced** '()
  "Definitions of methods that the last load removed and did not define again.")
(defvar *continues* nil
  "True in a load that continues the last one, whose **DISPLACED** still count.")

(defun lambda-list-shape (lambda-list)
  "Return what must be equal in LAMBDA-LIST and in the lambda lists of the generic function and all
its methods: a list of the number of required parameters, that of optional ones, and whether more
arguments are accepted."
  (flet ((leading (list)
           (or (position-if (lambda (each) (member each lambda-list-keywords)) list)
               (length list))))
    (list (leading lambda-list)
          (leading (rest (member '&optional lambda-list)))
          (and (intersection '(&rest &key) lambda-list) t))))

(defun before-load-p (name identity)
  "True when the definition of NAME with IDENTITY was there before the load that this thread
records."
  (multiple-value-bind (before touched) (gethash (name-symbol name) (touched-before *touched*))
    (or (not touched) (and (member identity before :test #'eq) t))))

(defun of-file-p (name location)
  "True when the file of LOCATION, a source location, was loaded and defines NAME as a function or a
macro."
  (let* ((path (and location (identity-file location)))
         (file (and path (gethash (file-path path) **files**))))
    (and file (defines-p file name '(:function :macro)))))

(defun yields-p (function name lambda-list location by)
  "True when the methods of the generic FUNCTION, called NAME, must be removed so that it can have
LAMBDA-LIST, that of a form at LOCATION. BY is the operator of the form, DEFGENERIC or DEFMETHOD."
  (let ((methods (sb-mop:generic-function-methods function))
        (identity (function-identity function)))
    (and methods
         (not (equal (lambda-list-shape lambda-list)
                     (lambda-list-shape (sb-mop:generic-function-lambda-list function))))
         (ecase by
           (defgeneric t)
           ;; Not when a DEFGENERIC of another file made the function: the new method must agree
           ;; with that.
           (defmethod (or (eq identity function)
                          (and (before-load-p name identity) (of-file-p name location)))))
         (notany (lambda (method)
                   (find method (touched-log *touched*)
                         :key (lambda (entry) (and (consp entry) (cdr entry)))))
                 methods))))

(defun displace-methods (function name by)
  "Remove the methods of the generic FUNCTION, called NAME; when BY is DEFMETHOD, also the
function."
  (dolist (method (copy-list (sb-mop:generic-function-methods function)))
    (push (make-definition :method name method **serial**) *displaced*)
    (remove-method function method))
  ;; SBCL checks a method against the function's last lambda list, even when no methods are left.
  (when (eq by 'defmethod) (fmakunbound name)))

(defun make-way (name lambda-list location by)
  "Remove the methods, the plain function or the macro that keep NAME from being a generic function
with LAMBDA-LIST. The arguments are as for YIELDS-P. What this load made stays."
  (let ((home (symbol-package (name-symbol name))) (function (generic-function-named name)))
    (when (and home (fboundp name) (not (sb-ext:package-locked-p home)) (touched-p *touched*))
      (if function
          (when (yields-p function name lambda-list location by)
            (displace-methods function name by))
          (let ((identity (or (and (symbolp name) (macro-function name)) (plain-definition name))))
            (when (and (before-load-p name identity) (of-file-p name location))
              (fmakunbound name)))))))

(defun making-way (name lambda-list location by)
  "Call MAKE-WAY with the same arguments while a tool loads. Errors in it are ignored: they must not
reach the program."
  (when (and *making-way* *touched*) (ignore-errors (make-way name lambda-list location by))))

;;; The removed methods in answers

(defun missed-p (definition)
  "True when nothing replaced DEFINITION, a removed method, and its generic function exists. A
method is not missed when its file was loaded again without it."
  (let* ((path (definition-file-name definition))
         (file (and path (gethash (file-path path) **files**))))
    (and (generic-function-named (definition-name definition))
         (null (method-now definition))
         (or (null file) (<= (source-file-serial file) (definition-serial definition))))))

(defun displaced-members ()
  "Return answer members about the removed methods that are missed."
  (setf **displaced** (remove-if-not #'missed-p *displaced*))
  (bounded-members "displaced"
                   (loop for definition in (sort-definitions **displaced**)
                         for file = (definition-file-name definition)
                         collect (item-data definition "file" (and file (file-path file))))))

(defun call-making-way (function)
  "Call FUNCTION, which loads, with MAKING-WAY enabled. However FUNCTION ends, the answer of the job
shows the methods that are missed."
  (if *making-way*
      (funcall function)
      (let ((*making-way* t) (*displaced* (and *continues* **displaced**)))
        (unwind-protect (funcall function)
          (when *job*
            (let ((members (ignore-errors (sb-thread:with-mutex (**lock**) (displaced-members)))))
              (setf (job-notes *job*) (append members (job-notes *job*)))))))))
