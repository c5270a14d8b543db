;;;; What the server keeps to build a lost image again: it is told of each form that built the image
;;;; when that has ended well, and gives those forms to a new image.

(in-package "LIVE-LISP.AGENT")

;;; Telling

(defun built-members (form text package mark policy)
  "Return the members that tell how evaluating FORM, which TEXT returns as it stood, changed the image
that had PACKAGE, a readtable of MARK and POLICY; NIL when there is nothing to tell."
  (multiple-value-bind (builds without damages)
      (let ((*steps* 5000)) (building-parts form))
    (let* ((reads-otherwise (not (eq mark (readtable-mark *readtable*))))
           (builds (or builds (and reads-otherwise (not damages)))))
      (append (when builds
                (list "text" (funcall text)
                      "package" (package-name package)
                      "without" without
                      "readtable" (mark-text mark)
                      "policy" (policy-data policy)))
              (when damages (list "damages" (on-one-line (print-safely 200 (funcall text) "~A"))))
              (unless (eq package *package*) (list "inPackage" (package-name *package*)))
              (unless builds
                (let* ((*steps* 1000) (variables (set-variables form)))
                  (when variables
                    (list "set" (mapcar #'symbol-text (remove-duplicates variables))))))))))

(defun call-telling (form text function)
  "Call FUNCTION, which evaluates FORM; when it returns, tell the server how that changed the image
and return what it returned. TEXT is a function that returns the form as it stood."
  (let ((package *package*) (mark (mark-before *readtable*)) (policy (current-policy)))
    (prog1 (funcall function)
      (let ((members (ignore-errors (built-members form text package mark policy))))
        (when members
          (send (object "built" (make-json-object members) "job" (job-id *job*))))))))

;;; Building again

(defun without-parts (form paths)
  "Return FORM with NIL in the place of its parts at PATHS, lists of indexes."
  (if (null paths)
      form
      (loop for part in form
            for index from 0
            for inner = (loop for path in paths when (eql (first path) index) collect (rest path))
            collect (cond ((member '() inner) nil)
                          (inner (without-parts part inner))
                          (t part)))))

(defun failure-of (function)
  "Call FUNCTION and return NIL, or the text of the condition that nobody handled."
  (let ((condition
          (catch 'failed
            (flet ((fail (condition &optional hook)
                     (declare (ignore hook))
                     (throw 'failed condition)))
              (let ((*debugger-hook* nil) (sb-ext:*invoke-debugger-hook* #'fail))
                (restart-case (progn (funcall function) nil)
                  (abort () "Its ABORT restart was invoked.")))))))
    (when condition (protect-stack-again))
    (if (typep condition 'condition) (report-text 300 condition) condition)))

(defun replay-form (table)
  "Evaluate the form that TABLE, from a message, tells as it was evaluated in another image. Return
NIL, or why it could not be."
  (let* ((name (gethash "package" table "COMMON-LISP-USER")) (package (find-package name))
         (text (gethash "text" table)))
    (cond ((null package) (format nil "There is no package ~A." name))
          ((not (equal (gethash "readtable" table) (mark-text (readtable-mark *readtable*))))
           "The readtable that it was read with is not there.")
          (t (failure-of
              (lambda ()
                (let ((*package* package))
                  (proclaim-policy (gethash "policy" table))
                  (call-user-code
                   (lambda ()
                     (eval (without-parts (read-from-string text) (gethash "without" table))))))))))))

(defun call-muffling (function)
  "Call FUNCTION without what the compiler says."
  (let ((*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream))
        (*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil) (*load-print* nil))
    (handler-bind ((warning #'muffle-warning) (sb-ext:compiler-note #'muffle-warning))
      (funcall function))))

(define-operation ("replay" :members t) (forms)
  "Evaluate FORMS, which built another image, and tell which could not be. Before each the server is
told its index, so that it knows which one hangs or ends the image. One with inPackage only makes that
the session's package."
  (let* ((failed '())
         (members
           (job-result *job*
             (lambda ()
               (call-in-session nil
                 (lambda ()
                   (call-muffling
                    (lambda ()
                      (loop for table in forms
                            for index from 0
                            for package = (find-package (gethash "inPackage" table ""))
                            do (send (object "replaying" index "job" (job-id *job*)))
                               (if (gethash "inPackage" table)
                                   (when package (setf *package* package))
                                   (let ((why (replay-form table)))
                                     (when why (push (object "index" index "why" why) failed)))))
                      (list "value" t)))))))))
    (list* "failed" (reverse failed) members)))
