;;;; Registers the packages and frames that are the agent's own. The files that make them call this.

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
  "Return the folder in which the room of this file is, as SBCL names it in code."
  (let ((file (or *compile-file-truename* *load-truename*)))
    (namestring (make-pathname :name nil :type nil :version nil :directory (butlast (pathname-directory file))
                               :defaults file))))

(sb-ext:defglobal **own-folder** (source-folder) "The folder of the agent's sources when it was compiled.")

(defun own-file-p (file)
  "True when FILE, the name of a source file as code has it, is one of the agent's."
  (eql 0 (search **own-folder** file)))

(defun close-rooms (reader)
  "Import the exports of the agent's packages, except LIVE-LISP's, into the package READER, and unexport them. They were
for the reader while the agent was loaded; a list of the program's external symbols must not show them."
  (dolist (package (remove (symbol-package 'live-lisp:call-tool) **own-packages**))
    (let ((exports (loop for symbol being the external-symbols of package collect symbol)))
      (import exports reader)
      (unexport exports package))))

(sb-ext:defglobal **frame-roles** '()
  "What frames of some functions of the agent mean for frames around them: pairs of the function's name and a role.")

(defun note-frame (name role)
  "Give frames of the function NAME the ROLE :USER-CODE, :WAIT or :BETWEEN. User code begins above a :USER-CODE frame;
above a :WAIT frame the agent only waits; a :BETWEEN frame stands between two frames of user code."
  (push (cons name role) **frame-roles**))

(defun frame-role (name)
  "Return the role that NOTE-FRAME gave the function NAME, or NIL."
  (cdr (assoc name **frame-roles** :test #'eq)))
