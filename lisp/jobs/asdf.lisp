;;;; Loads ASDF and the library manager on demand: with the first system that needs them, or when a
;;;; form or file to be read names one of their packages.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **load-lock** (sb-thread:make-mutex :name "live-lisp load")
  "Held while a system is loaded: ASDF is not thread-safe.")

(defun call-with-load-lock (function)
  "Call FUNCTION with **LOAD-LOCK** held, also where this thread holds it already."
  (if (sb-thread:holding-mutex-p **load-lock**)
      (funcall function)
      (sb-thread:with-mutex (**load-lock**) (funcall function))))

(defun load-asdf ()
  "Load ASDF, which comes with SBCL, unless it is loaded."
  (call-with-load-lock
   (lambda ()
     (let ((*load-verbose* nil) (*compile-verbose* nil))
       (handler-bind ((warning #'muffle-warning))
         (require "ASDF"))))))

(defun asdf-package-p (name)
  "True when NAME is the name of a package that comes with ASDF, such as UIOP/OS."
  (and (member (subseq name 0 (position #\/ name)) '("ASDF" "ASDF-USER" "UIOP") :test #'string=) t))

;;; Library managers. Quicklisp, qlot or ocicl is loaded when something first needs it, so a start
;;; takes no longer.

(sb-ext:defglobal **library-manager** nil
  "A list of the name of the user's library manager and the file that sets it up, a native name; NIL
without one.")
(sb-ext:defglobal **library-manager-failure** nil
  "Why the library manager could not be loaded, a text, or NIL.")
(sb-ext:defglobal **library-manager-due** nil
  "True while there is a library manager that is not loaded yet.")

(sb-ext:defglobal **init-file** nil
  "The user's init file as answers name it, when it was not loaded; else NIL.")

(defun load-library-manager ()
  "Load the library manager of the user, if it is due. Return true if it was loaded: more systems
can be found then. A failure is written to *ERROR-OUTPUT*, and kept."
  (call-with-load-lock
   (lambda ()
     (when (shiftf **library-manager-due** nil)
       (load-asdf)
       (destructuring-bind (name file) **library-manager**
         (handler-case
             (with-standard-io-syntax
               (let ((*print-readably* nil) (*standard-output* (make-broadcast-stream)))
                 (handler-bind ((warning #'muffle-warning))
                   (load (sb-ext:parse-native-namestring file)))))
           (error (failure)
             (setf **library-manager-failure**
                   (format nil "~A could not be loaded (~A): ~A" name file
                           (report-text 500 failure)))
             (format *error-output* "~&~A~%" **library-manager-failure**)
             nil)))))))

(defun library-manager-data ()
  "Return as a JSON object the name and the file of the library manager, and whether it is loaded or
why loading failed. Return NIL when there is no library manager."
  (and **library-manager**
       (destructuring-bind (name file) **library-manager**
         (object "name" name "file" file
                 "loaded" (not **library-manager-due**) "failure" **library-manager-failure**))))

(defparameter *manager-packages*
  '("QL" "QL-DIST" "QL-SETUP" "QUICKLISP" "QUICKLISP-CLIENT" "QLOT" "OCICL-RUNTIME")
  "Names of packages that library managers define.")

(defun missing-package (condition)
  "Return the name of the missing package that CONDITION, of the reader, is about, or NIL."
  (let ((package (and (typep condition 'reader-error)
                      (typep condition 'package-error)
                      (ignore-errors (package-error-package condition)))))
    (and (stringp package) package)))

(defun lacks-manager-p (condition)
  "True when CONDITION, of the reader, says that a package of a library manager is missing, and no
manager is set up."
  (and (null **library-manager**)
       (member (missing-package condition) *manager-packages* :test #'equal)
       t))

(defun package-loader (condition)
  "Return the function that loads the missing package that CONDITION, of the reader, is about.
Return NIL when it is about no missing package, or about one that nothing can load."
  (let ((package (missing-package condition)))
    (cond ((null package) nil)
          ((and (asdf-package-p package) (not (find-package "ASDF"))) #'load-asdf)
          ((and **library-manager-due** (member package *manager-packages* :test #'string=))
           #'load-library-manager))))

(defun call-reading (function)
  "Call FUNCTION, which reads, and return its values. If a package of ASDF or of the library manager
is missing, load ASDF or the manager and call FUNCTION again."
  (funcall (block unread
             (return-from call-reading
               (handler-bind ((package-error (lambda (condition)
                                               (let ((loader (package-loader condition)))
                                                 (when loader (return-from unread loader))))))
                 (funcall function)))))
  (call-reading function))

(defun unread-cause (condition)
  "If LOAD, COMPILE-FILE or ASDF signalled CONDITION because the reader had signalled another,
return that. Else return CONDITION."
  (let* ((unloaded (contrib-symbol "ASDF" "LOAD-SYSTEM-DEFINITION-ERROR"))
         (wrapper (if (and unloaded (typep condition unloaded))
                      (ignore-errors (funcall (contrib-symbol "ASDF" "ERROR-CONDITION") condition))
                      condition))
         (cause (ignore-errors (encapsulated-condition wrapper))))
    (if (typep cause 'condition) cause wrapper)))

(defun names-manager-p (condition)
  "True when CONDITION says that a file could not be read or loaded because it names a package of
the library manager, which is not loaded yet."
  (let ((cause (unread-cause condition)))
    (or (eq (package-loader cause) #'load-library-manager)
        ;; For a symbol in a compiled file, SBCL names the package only in the arguments of its
        ;; text.
        (and **library-manager-due**
             (typep cause '(and package-error simple-condition))
             (loop for argument in (simple-condition-format-arguments cause)
                     thereis (member argument *manager-packages* :test #'equal))))))

(defun retry-with-libraries (condition)
  "If CONDITION says that ASDF did not find a system, or that a file of a system names the library
manager, load the manager if due, and have ASDF try again."
  (let ((missing (contrib-symbol "ASDF" "MISSING-COMPONENT")))
    (when (and **library-manager-due**
               missing
               (or (typep condition missing) (names-manager-p condition)))
      (let ((retry (find-restart (contrib-symbol "ASDF" "RETRY") condition)))
        (when (and retry (load-library-manager)) (invoke-restart retry))))))

(defun load-manager-for-file (condition)
  "Load the library manager if CONDITION says that LOAD or COMPILE-FILE could not read a file that
names one of its packages. Write that the file must be loaded again: that is not done here, because
some of its forms have already run."
  (when (and (names-manager-p condition) (load-library-manager))
    (format *error-output* "~&~A is loaded now, which the file needs: load the file again.~%"
            (first **library-manager**))))

;;; Other images that compile the same library. ASDF deletes the old fasl, and then renames the new
;;; one. An image that wants the fasl in between does not find it.

(defparameter *replacing-seconds* 10
  "Seconds to wait at most for the new fasl: the image that writes it can hang.")

(defvar *replaced* '()
  "The fasls for which this call has invoked ASDF's restart RETRY, once for each time. An unknown
fasl is NIL.")

(defun new-file-beside-p (fasl)
  "True when an image has compiled FASL anew: ASDF writes it beside FASL first, with TMP behind the
name."
  (let ((begin (concatenate 'string (pathname-name fasl) "-")))
    (loop for file in (directory (make-pathname :name :wild :version nil :defaults fasl)
                                 :resolve-symlinks nil)
          for name = (pathname-name file)
            thereis (and (eql (mismatch begin name) (length begin))
                         (search "TMP" name :test #'char-equal :start2 (length begin))
                         t))))

(defun replaced-p (fasl)
  "True when FASL exists, at once or after the image that replaces it is done."
  (loop repeat (* 100 *replacing-seconds*)
        for new = (new-file-beside-p fasl)
        do (when (ignore-errors (probe-file fasl)) (return t))
           (unless new (return nil))
           (sleep 0.01)))

(defun fasl-not-found (condition)
  "Return the fasl that CONDITION, a FILE-ERROR, is about, or NIL."
  (let ((file (and (typep condition 'file-error)
                   (ignore-errors (pathname (file-error-pathname condition))))))
    (and file
         (equal (pathname-type file) (pathname-type (compile-file-pathname file)))
         file)))

(defun looks-at-file-p (function)
  "True when FUNCTION, from FRAME-FUNCTION, is SBCL's function that makes a pathname from a native
file name."
  (tree-equal (given-name function) '("LABELS" "PARSE" "IN" "%QUERY-FILE-SYSTEM")
              :test (lambda (part name) (and (symbolp part) (string= part name)))))

(defun removed-while-looked-at-p (condition)
  "True when CONDITION comes from a file that was removed while SBCL looked at it. SBCL 2.2.9
signals a TYPE-ERROR then, without the name of the file."
  (and (typep condition 'type-error)
       (loop for frame = (top-frame) then (frame-below frame)
             repeat 50
             while frame
               thereis (looks-at-file-p (frame-function frame)))))

(defun retry-replaced (condition)
  "Have ASDF retry, three times at most, if CONDITION says that it did not find a fasl that another
image replaced."
  (let* ((name (and (typep condition '(or file-error type-error)) (contrib-symbol "ASDF" "RETRY")))
         (retry (and name (find-restart name condition)))
         (file (and retry (fasl-not-found condition))))
    (when (and retry
               (< (count file *replaced* :test #'equal) 3)
               (if file (replaced-p file) (removed-while-looked-at-p condition)))
      (push file *replaced*)
      (invoke-restart retry))))

;;; Warnings of ASDF about how an .asd file names its systems. They come at each reading of the
;;; file, and all works nevertheless.

(defun naming-warning-p (condition)
  "True when CONDITION is a warning about how an .asd file names systems."
  (let ((class (contrib-symbol "ASDF" "BAD-SYSTEM-NAME")))
    (and class (find-class class nil) (typep condition class))))

(defun stamp-warning-p (condition)
  "True when CONDITION is ASDF's warning \"Computing just-done stamp ...\", which only the names of
systems cause."
  (and (typep condition 'simple-warning)
       (let ((control (simple-condition-format-control condition)))
         (and (stringp control)
              (eql 0 (search "Computing just-done stamp" control))))))

(defun about-names-p (condition)
  "True when CONDITION, a warning, is about the names of systems or follows from them."
  (or (stamp-warning-p condition) (naming-warning-p condition)))
