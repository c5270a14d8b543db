;;;; Keeps two lists: the packages of the agent, and the functions of the agent that a backtrace
;;;; must treat specially, each with its role.

(in-package "LIVE-LISP.BASE")

(sb-ext:defglobal **agent-packages** '()
  "The packages of the agent. They are kept as objects, since evaluated code may rename them.")

(defun claim-package ()
  "Register the current package as a package of the agent."
  (pushnew *package* **agent-packages** :test #'eq))

(claim-package)

(defun agent-package-p (package)
  "Return true if PACKAGE is a package of the agent."
  (and (member package **agent-packages** :test #'eq) t))

(sb-ext:defglobal **attached** nil
  "True in an image that the server did not start. The agent then leaves the threads, debugger,
streams and settings of the person who runs it alone.")

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
  "Return true if FILE, the name of a source file in SBCL's debug information or NIL, is one of
SBCL's own files."
  (starts-p file "SYS:"))

(defun sbcl-package-p (package)
  "Return true if PACKAGE is a package of SBCL, and not COMMON-LISP."
  (starts-p (package-name package) "SB-"))

(defun name-symbol (name)
  "Return the symbol in NAME, a symbol or a list such as (SETF symbol)."
  (if (consp name) (second name) name))

(defun home-symbols (package)
  "Return a list of the symbols whose home package is PACKAGE."
  (loop for symbol being the present-symbols of package
        when (eq (symbol-package symbol) package) collect symbol))

(defun locked-symbol-p (symbol)
  "Return true if SYMBOL is at home in a locked package, as those of SBCL are."
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
  "Return a list of the elements of all lists that FUNCTION, called with each package of the image,
returns."
  (let ((found '()))
    (map-packages (lambda (package)
                    (setf found (revappend (funcall function package) found))))
    (nreverse found)))

(defmacro source-folder ()
  "Expand into the namestring of the folder with the agent's sources, which is the parent of this
file's folder. The names of all source files of the agent begin with this string."
  (let ((file (or *compile-file-truename* *load-truename*)))
    (namestring (make-pathname :name nil :type nil :version nil
                               :directory (butlast (pathname-directory file))
                               :defaults file))))

(sb-ext:defglobal **agent-folder** (source-folder)
  "The folder of the agent's sources when it was compiled.")

(defun agent-file-p (file)
  "Return true if FILE, the name of a source file in SBCL's debug information, belongs to the
agent."
  (starts-p file **agent-folder**))

(defun unexport-agent (reader)
  "Import the external symbols of the agent's packages into the package READER, and unexport them,
except those of LIVE-LISP. Only the agent's files need the exports, and lists of external symbols
must not have them."
  (dolist (package (remove (symbol-package 'live-lisp:call-tool) **agent-packages**))
    (let ((exports (loop for symbol being the external-symbols of package collect symbol)))
      (import exports reader)
      (unexport exports package))))

(sb-ext:defglobal **frame-roles** '()
  "A list of pairs (NAME . ROLE) from NOTE-FRAME. NAME names a function of the agent.")

(defun note-frame (name role)
  "Record ROLE for frames of the agent's function NAME: :USER-CODE if it calls user code, :WAIT if
newer frames only wait, or :BETWEEN if it is between two frames of user code."
  (push (cons name role) **frame-roles**))

(defun frame-role (name)
  "Return the role, a keyword, that NOTE-FRAME has recorded for the function NAME, or NIL."
  (cdr (assoc name **frame-roles** :test #'eq)))
