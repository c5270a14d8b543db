;;;; When ASDF is loaded: with the first system, and when a form or file that is to be read names it.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **load-lock** (sb-thread:make-mutex :name "live-lisp load")
  "Held while a system is loaded: ASDF is not made for two threads.")

(defun call-with-load-lock (function)
  "Call FUNCTION with **LOAD-LOCK** held, also where this thread holds it already."
  (if (sb-thread:holding-mutex-p **load-lock**)
      (funcall function)
      (sb-thread:with-mutex (**load-lock**) (funcall function))))

(defun load-asdf ()
  "Load ASDF, which comes with SBCL, unless it is there."
  (call-with-load-lock
   (lambda ()
     (let ((*load-verbose* nil) (*compile-verbose* nil))
       (handler-bind ((warning #'muffle-warning))
         (require "ASDF"))))))

(defun asdf-package-p (name)
  "True when NAME is that of a package that comes with ASDF."
  (and (member (subseq name 0 (position #\/ name)) '("ASDF" "ASDF-USER" "UIOP") :test #'string=) t))

(defun asdf-missing-p (condition)
  "True when CONDITION says that a text cannot be read because ASDF is not loaded yet."
  (and (typep condition 'reader-error)
       (not (find-package "ASDF"))
       (let ((package (package-error-package condition)))
         (and (stringp package) (asdf-package-p package)))))

(defun call-reading (function)
  "Call FUNCTION, which reads, and return its values. When what it reads names ASDF, load that and call FUNCTION again."
  (block without-asdf
    (return-from call-reading
      (handler-bind ((package-error (lambda (condition)
                                      (when (asdf-missing-p condition) (return-from without-asdf nil)))))
        (funcall function))))
  (load-asdf)
  (funcall function))

;;; Other images that compile the same library. ASDF removes the old compiled file, and then gives the new one its name.
;;; An image that wants the file between the two does not find it.

(defparameter *replacing-seconds* 10 "For how long the new file is waited for, should its image stand still.")

(defvar *replaced* '() "The compiled files for which this call has tried again.")

(defun new-file-beside-p (fasl)
  "True when an image has compiled what FASL shall be: ASDF writes that beside it, with TMP behind the name."
  (let ((begin (concatenate 'string (pathname-name fasl) "-")))
    (loop for file in (directory (make-pathname :name :wild :version nil :defaults fasl) :resolve-symlinks nil)
          for name = (pathname-name file)
            thereis (and (eql (mismatch begin name) (length begin))
                         (search "TMP" name :test #'char-equal :start2 (length begin))
                         t))))

(defun replaced-p (fasl)
  "True when FASL is there, at once or when the image that replaces it has done so."
  (loop repeat (* 100 *replacing-seconds*)
        for new = (new-file-beside-p fasl)
        do (when (probe-file fasl) (return t))
           (unless new (return nil))
           (sleep 0.01)))

(defun retry-replaced (condition)
  "Have ASDF try again what CONDITION ended, when that did not find a compiled file which another image replaced."
  (let* ((name (and (typep condition 'file-error) (contrib-symbol "ASDF" "RETRY")))
         (retry (and name (find-restart name condition)))
         (file (and retry (pathname (file-error-pathname condition)))))
    (when (and file
               (equal (pathname-type file) (pathname-type (compile-file-pathname file)))
               (< (count file *replaced* :test #'equal) 3)
               (replaced-p file))
      (push file *replaced*)
      (invoke-restart retry))))

;;; What ASDF warns about how an .asd file names its systems. It does so again whenever it reads the file.
;;; What a person asks for works all the same.

(defun naming-warning-p (condition)
  "True when CONDITION is a warning about how an .asd file names systems."
  (let ((class (contrib-symbol "ASDF" "BAD-SYSTEM-NAME")))
    (and class (find-class class nil) (typep condition class))))

(defun stamp-warning-p (condition)
  "True when CONDITION is a warning about the plan of ASDF that follows from such names, and says nothing else."
  (and (typep condition 'simple-warning)
       (let ((control (simple-condition-format-control condition)))
         (and (stringp control)
              (eql 0 (search "Computing just-done stamp" control))))))

(defun about-names-p (condition)
  "True when CONDITION, a warning, is about the names of systems or follows from them."
  (or (stamp-warning-p condition) (naming-warning-p condition)))
