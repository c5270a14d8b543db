;;;; What the server keeps to build a lost image again: it is told of each form that built the image
;;;; when that has ended well, and gives those forms to a new image.

(in-package "LIVE-LISP.JOURNAL")

;;; Telling

(defun beginning-of (text)
  "Return the beginning of TEXT, on one line."
  (on-one-line (print-safely 200 text "~A")))

(defun built-members (form text package mark policy)
  "Return the members that tell how evaluating FORM, which TEXT returns as it stood, changed the image
that had PACKAGE, a readtable of MARK and POLICY; NIL when there is nothing to tell."
  (multiple-value-bind (builds without damages)
      (let ((*steps* 5000)) (building-parts form))
    (let* ((reads-otherwise (not (eq mark (readtable-mark *readtable*))))
           ;; With a readtable that reads nothing no image could be built.
           (spoilt (and reads-otherwise (not (readable-p *readtable*))))
           (damages (or damages spoilt))
           (builds (and (not spoilt) (or builds (and reads-otherwise (not damages))))))
      (append (when builds
                (list "text" (funcall text)
                      "package" (package-name package)
                      "without" without
                      "readtable" (mark-text mark)
                      "policy" (policy-data policy)))
              (when damages (list "damages" (beginning-of (funcall text))))
              (unless (eq package *package*) (list "inPackage" (package-name *package*)))
              (set-members (if builds (mapcar (lambda (path) (part-at form path)) without) form))))))

(defun unfinished-members (form text)
  "Return the members that tell of FORM, which TEXT returns as it stood and which was left before its
end: that it would build the image, and what it can have set."
  (multiple-value-bind (builds without damages)
      (let ((*steps* 5000)) (building-parts form))
    (declare (ignore without))
    (append (when (or builds damages) (list "unfinished" (beginning-of (funcall text))))
            (set-members form))))

(defun call-telling (form text function)
  "Call FUNCTION, which evaluates FORM, and return what it returns. Tell the server how that changed
the image, or that FORM was left before its end. TEXT is a function that returns FORM as it stood."
  (let ((package *package*) (mark (mark-before *readtable*)) (policy compiler-policy) (finished nil))
    (flet ((tell (members)
             (when members
               (send (object "built" (make-json-object members) "job" (job-id *job*))))))
      (unwind-protect
           (prog1 (funcall function)
             (setf finished t)
             (tell (ignore-errors (built-members form text package mark policy))))
        (unless finished
          (tell (ignore-errors (unfinished-members form text))))))))

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
