;;;; What the top-level forms of loaded files use. They leave no code, so their files are read again at the next question.

(in-package "LIVE-LISP.LOOK")

(defun readtable-without-evaluation (readtable)
  "Return a copy of READTABLE with which #. gives the value of a variable, and another form as data."
  (let ((copy (copy-readtable readtable)))
    (ignore-errors
     (set-dispatch-macro-character #\# #\. (lambda (stream character number)
                                             (declare (ignore character number))
                                             (let ((form (read stream t nil t)))
                                               (if (and (symbolp form) (boundp form)) (symbol-value form) (list 'quote form))))
                                   copy))
    copy))

(defun take-setting (form)
  "Take over what FORM, which was read, says of how the next forms are read: their package, or their readtable."
  (when (typep form '(cons symbol (cons t)))
    (cond ((eq (first form) 'in-package) (setf *package* (find-package (second form))))
          ((and (string= "IN-READTABLE" (symbol-name (first form))) (macro-function (first form)))
           (eval form)
           (setf *readtable* (readtable-without-evaluation *readtable*))))))

(defun read-forms (visit file)
  "Call VISIT with the number and each top-level form of FILE, a native name, as far as they can be read. Return why they
could not be read to the end, or NIL."
  (let ((*package* (find-package "COMMON-LISP-USER")) (*readtable* (readtable-without-evaluation *readtable*)))
    (handler-case
        (with-open-file (in (sb-ext:parse-native-namestring file) :external-format '(:utf-8 :replacement #\?))
          (loop for number from 0
                for form = (read in nil in)
                until (eq form in)
                do (funcall visit number form)
                   (take-setting form)))
      (error (condition) (report-text 200 condition)))))

(defun note-load (name mark created)
  "Note that the file NAME was loaded which was CREATED then, and return that load. MARK is another at each."
  (let ((known (gethash name **sources**)))
    (if (and known (eq mark (file-load-mark known)))
        known
        (setf (gethash name **sources**) (make-file-load name mark created)))))

(defun note-source (source)
  "Note that the file of SOURCE, of code, was loaded, unless it is SBCL's own, and return that load."
  (let ((name (and source (source-name source))))
    (when (and (stringp name) (not (eql 0 (search "SYS:" name))))
      (note-load name source (source-date source)))))

(defun read-again (load)
  "Find out what the forms of LOAD use, unless that is known. What ends this early is not tried again."
  (setf (file-load-state load) "it was interrupted")
  (without-traces
    (setf (file-load-state load)
          (or (read-forms (lambda (number form)
                            (let ((found (and (consp form) (uses-of-form form))))
                              (when found (push (make-top-form load number :uses found) (file-load-places load)))))
                          (translated (file-load-name load)))
              t)))
  (mapc #'note-place (file-load-places load)))

(defun unread-loads ()
  "Return the loads of files that were not read again."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for load being the hash-values of **sources**
            when (eq :unread (file-load-state load)) do (push load unread)))
    (nreverse unread)))

(defun read-new-texts ()
  "Find out what the forms use that were loaded or evaluated since the last question."
  (dolist (place (unread-definers)) (read-definer place))
  (mapc #'read-again (unread-loads)))
