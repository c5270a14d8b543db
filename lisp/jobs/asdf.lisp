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
