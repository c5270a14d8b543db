;;;; Removes methods that would prevent a new lambda list of a generic function: SBCL refuses a
;;;; lambda list that is not congruent with the methods. When a tool loads a file, the methods in
;;;; the file presumably fit the new lambda list, so older methods are removed first.

(in-package "LIVE-LISP.SOURCES")

(defvar *displacing* nil "True while a tool loads a file or a system in this thread.")

(defvar *displaced* '()
  "A list of DEFINITION structures for the methods that this thread has removed, newest first.")
(sb-ext:defglobal **displaced** '()
  "A list of DEFINITION structures for the methods that were removed during the last load and that
this load did not define again.")
(defvar *continues* nil
  "True in a load that continues the last load, so that the answer also lists the methods in
**DISPLACED**.")

(defun lambda-list-shape (lambda-list)
  "Return a list of the properties of LAMBDA-LIST that must be the same for a generic function and
all its methods: the number of required parameters, the number of optional parameters, and true if
LAMBDA-LIST has &REST or &KEY."
  (flet ((leading (list)
           (or (position-if (lambda (each) (member each lambda-list-keywords)) list)
               (length list))))
    (list (leading lambda-list)
          (leading (rest (member '&optional lambda-list)))
          (and (intersection '(&rest &key) lambda-list) t))))

(defun before-load-p (name identity)
  "Return true if the definition of NAME with IDENTITY, an object such as a function, existed before
the load that this thread is recording."
  (let ((change (change-of (name-symbol name) *recording*)))
    (or (null change) (and (member identity (change-before change) :test #'eq) t))))

(defun of-file-p (name location)
  "Return true if the file of LOCATION, a source location, was loaded and defines NAME as a function
or macro."
  (let* ((path (and location (identity-file location)))
         (file (and path (gethash (file-path path) **files**))))
    (and file (defines-p file name '(:function :macro)))))

(defun must-be-displaced-p (function name lambda-list location by)
  "FUNCTION is the generic function NAME. Return true if its methods must be removed before FUNCTION
can get the lambda list LAMBDA-LIST. LOCATION is the source location of the form with LAMBDA-LIST.
BY is the operator of this form, DEFGENERIC or DEFMETHOD."
  (let ((methods (sb-mop:generic-function-methods function))
        (identity (function-identity function)))
    (and methods
         (not (equal (lambda-list-shape lambda-list)
                     (lambda-list-shape (sb-mop:generic-function-lambda-list function))))
         (ecase by
           (defgeneric t)
           ;; Remove the methods if no DEFGENERIC made the function, or if the DEFGENERIC is from
           ;; this file and older than the current load. The new method must agree with any other
           ;; DEFGENERIC.
           (defmethod (or (eq identity function)
                          (and (before-load-p name identity) (of-file-p name location)))))
         (notany (lambda (method)
                   (find method (recording-log *recording*)
                         :key (lambda (entry) (and (consp entry) (cdr entry)))))
                 methods))))

(defun displace-methods (function name by)
  "Remove the methods of FUNCTION, the generic function NAME, and add them to *DISPLACED*. BY is the
operator of the form that conflicts with them, DEFGENERIC or DEFMETHOD. If it is DEFMETHOD, undefine
the function too."
  (dolist (method (copy-list (sb-mop:generic-function-methods function)))
    (push (make-definition :method name method **serial**) *displaced*)
    (remove-method function method))
  ;; SBCL compares a new method with the function's lambda list, even if there are no methods.
  (when (eq by 'defmethod) (fmakunbound name)))

(defun displace-conflicts (name lambda-list location by)
  "Remove the methods, the ordinary function or the macro that prevents NAME from becoming a generic
function with LAMBDA-LIST. Keep definitions that the current load has made. LOCATION is the source
location of the form with LAMBDA-LIST, and BY its operator, DEFGENERIC or DEFMETHOD."
  (let ((home (symbol-package (name-symbol name))) (function (generic-function-named name)))
    (when (and home (fboundp name) (not (sb-ext:package-locked-p home)) (recording-p *recording*))
      (if function
          (when (must-be-displaced-p function name lambda-list location by)
            (displace-methods function name by))
          (let ((identity (or (and (symbolp name) (macro-function name)) (plain-definition name))))
            (when (and (before-load-p name identity) (of-file-p name location))
              (fmakunbound name)))))))

(defun displacing-conflicts (name lambda-list location by)
  "If a tool is loading a file or a system in this thread, call DISPLACE-CONFLICTS with the same
arguments. Ignore errors, which must not reach the program."
  (when (and *displacing* *recording*)
    (with-isolation (displace-conflicts name lambda-list location by))))

;;; Reporting removed methods in answers

(defun missed-p (definition)
  "DEFINITION stands for a removed method. Return true if its generic function exists and no other
method has replaced the method. Return NIL if the file of the method was loaded again without it."
  (let* ((path (definition-file-name definition))
         (file (and path (gethash (file-path path) **files**))))
    (and (generic-function-named (definition-name definition))
         (null (method-now definition))
         (or (null file) (<= (source-file-serial file) (definition-serial definition))))))

(defun displaced-members ()
  "Return a plist for a JSON object about removed methods that no method has replaced."
  (setf **displaced** (remove-if-not #'missed-p *displaced*))
  (bounded-members "displaced"
                   (loop for definition in (sort-definitions **displaced**)
                         for file = (definition-file-name definition)
                         collect (item-data definition "file" (and file (file-path file))))))

(defun call-displacing-methods (function)
  "Call FUNCTION, which loads a file or a system. While it runs, methods that conflict with new
lambda lists are removed. Afterwards, even after a non-local exit, the answer of the job also lists
the removed methods that the load has not replaced."
  (if *displacing*
      (funcall function)
      (let ((*displacing* t) (*displaced* (and *continues* **displaced**)))
        (unwind-protect (funcall function)
          (when *job*
            (let ((members (nil-if-unknown (sb-thread:with-mutex (**lock**) (displaced-members)))))
              (setf (job-notes *job*) (append members (job-notes *job*)))))))))
