;;;; Registers the agent's packages, and those of its functions whose stack frames have a role.

(in-package "LIVE-LISP.BASE")

(sb-ext:defglobal **own-packages** '()
  "The packages of the agent. They are kept as objects, since evaluated code may rename them.")

(defun claim-package ()
  "Register the current package as one of the agent's."
  (pushnew *package* **own-packages** :test #'eq))

(claim-package)

(defun own-package-p (package)
  "True when PACKAGE is one of the agent's."
  (and (member package **own-packages** :test #'eq) t))

(defmacro source-folder ()
  "Expand into the namestring of the folder above that of this file. The agent's source files have
names in it."
  (let ((file (or *compile-file-truename* *load-truename*)))
    (namestring (make-pathname :name nil :type nil :version nil
                               :directory (butlast (pathname-directory file))
                               :defaults file))))

(sb-ext:defglobal **own-folder** (source-folder)
  "The folder of the agent's sources when it was compiled.")

(defun own-file-p (file)
  "True when FILE, the name of a source file in SBCL's debug information, is one of the agent's."
  (eql 0 (search **own-folder** file)))

(defun close-rooms (reader)
  "Import the exports of the agent's packages, except LIVE-LISP's, into the package READER, and
unexport them. Only the files of the agent needed the exports; a list of the program's external
symbols must not show them."
  (dolist (package (remove (symbol-package 'live-lisp:call-tool) **own-packages**))
    (let ((exports (loop for symbol being the external-symbols of package collect symbol)))
      (import exports reader)
      (unexport exports package))))

(sb-ext:defglobal **frame-roles** '()
  "Pairs of the name of a function of the agent and the role that NOTE-FRAME gave it.")

(defun note-frame (name role)
  "Give frames of the function NAME a ROLE on the stack. A :USER-CODE frame calls user code. In the
calls that a :WAIT frame makes, the agent only waits. A :BETWEEN frame of the agent stands between
two frames of user code."
  (push (cons name role) **frame-roles**))

(defun frame-role (name)
  "Return the role that NOTE-FRAME gave the function NAME, or NIL."
  (cdr (assoc name **frame-roles** :test #'eq)))
