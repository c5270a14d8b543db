;;;; Keeps two lists: the packages of the backend, and the functions of the backend that a backtrace
;;;; must treat specially, each with its role.

(in-package "LIVE-LISP.BASE")

(sb-ext:defglobal **backend-packages** '()
  "The packages of the backend, as package objects. Names would not do, because evaluated code may
rename the packages.")

(defun claim-package ()
  "Register the current package as a package of the backend."
  (pushnew *package* **backend-packages** :test #'eq))

(claim-package)

(defun backend-package-p (package)
  "Return true if PACKAGE is a package of the backend."
  (and (member package **backend-packages** :test #'eq) t))

(sb-ext:defglobal **attached** nil
  "True in an image that somebody other than the server has started. The backend then leaves that
person's threads, debugger, streams and settings as they are.")

(defun starts-p (text &rest beginnings)
  "Return true if TEXT is a string that begins with one of the strings BEGINNINGS. This must be
fast, because each SET of a symbol calls it."
  (declare (dynamic-extent beginnings) (optimize speed))
  (when (stringp text)
    (let ((text (coerce text 'simple-string)))
      (dolist (beginning beginnings nil)
        (declare (simple-string beginning))
        (when (and (<= (length beginning) (length text))
                   (dotimes (index (length beginning) t)
                     (unless (char= (schar beginning index) (schar text index)) (return nil))))
          (return t))))))

(defun sbcl-file-p (file)
  "Return true if FILE is the name of one of SBCL's own source files. FILE is the name of a source
file in SBCL's debug information, or NIL."
  (starts-p file "SYS:"))

(defun sbcl-package-p (package)
  "Return true if PACKAGE is an internal or extension package of SBCL: its name begins with SB-."
  (starts-p (package-name package) "SB-"))

(defun name-symbol (name)
  "Return the symbol in NAME, a function name: NAME itself, or the symbol in (SETF symbol)."
  (if (consp name) (second name) name))

(defun home-symbols (package)
  "Return a list of the symbols whose home package is PACKAGE."
  (loop for symbol being the present-symbols of package
        when (eq (symbol-package symbol) package) collect symbol))

(defun core-package-p (package)
  "Return true if PACKAGE is locked and belongs to SBCL or is LIVE-LISP. A package of the program
can be locked too."
  (and (sb-ext:package-locked-p package)
       (or (sbcl-package-p package)
           (member (package-name package) '("COMMON-LISP" "LIVE-LISP") :test #'string=))
       t))

(defun core-symbol-p (symbol)
  "Return true if CORE-PACKAGE-P is true of the home package of SYMBOL."
  (let ((package (symbol-package symbol))) (and package (core-package-p package))))

(defun locked-symbol-p (symbol)
  "Return true if the home package of SYMBOL is locked."
  (let ((package (symbol-package symbol))) (and package (sb-ext:package-locked-p package) t)))

(defun map-packages (visit)
  "Call VISIT with each package of the image. If another thread deletes a package meanwhile,
continue with the next package."
  (dolist (package (list-all-packages))
    (handler-case (funcall visit package)
      (package-error (condition)
        ;; A deleted package has no name.
        (when (package-name package) (error condition))))))

(defun from-packages (function)
  "Call FUNCTION, which returns a list, with each package of the image. Return a list of the
elements of these lists."
  (let ((found '()))
    (map-packages (lambda (package)
                    (setf found (revappend (funcall function package) found))))
    (nreverse found)))

(defmacro source-folder ()
  "Expand into the namestring of the folder with the backend's sources, the parent of the folder of
this file. The names of all source files of the backend begin with this string."
  (let ((file (or *compile-file-truename* *load-truename*)))
    (namestring (make-pathname :name nil :type nil :version nil
                               :directory (butlast (pathname-directory file))
                               :defaults file))))

(sb-ext:defglobal **backend-folder** (source-folder)
  "The namestring of the folder that had the backend's sources when the backend was compiled.")

(defun backend-file-p (file)
  "FILE is a file name from SBCL's debug information, or NIL. Return true if it names a source file
of the backend."
  (starts-p file **backend-folder**))

(defun unexport-backend (reader)
  "Unexport the external symbols of the backend's packages, except those of LIVE-LISP, and import
them into the package READER. Only the backend's files need the exports. Lists of external symbols
must not show them."
  (dolist (package (remove (symbol-package 'live-lisp:call-tool) **backend-packages**))
    (let ((exports (loop for symbol being the external-symbols of package collect symbol)))
      (import exports reader)
      (unexport exports package))))

(sb-ext:defglobal **frame-roles** '()
  "An alist from names of functions of the backend to roles, keywords that NOTE-FRAME describes.")

(defun note-frame (name role)
  "Record ROLE, a keyword, for frames of the backend's function NAME. :USER-CODE: the backend calls
user code by this function, so newer frames belong to user code. :WAIT: the function waits for an
answer, so newer frames only wait. :BETWEEN: user code calls this function, which calls user code.
:ENTRY: the function interrupts user code, so newer frames belong to the interrupt."
  (push (cons name role) **frame-roles**))

(defun frame-role (name)
  "Return the role, a keyword, that NOTE-FRAME recorded for the backend's function NAME, or NIL."
  (cdr (assoc name **frame-roles** :test #'eq)))
