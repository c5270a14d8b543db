;;;; Which packages and which frames are the agent's own, told by the files that make them.

(in-package "LIVE-LISP.BASE")

(sb-ext:defglobal **own-packages** '()
  "The packages of the agent. They are kept as objects, since evaluated code may rename them.")

(defun claim-package ()
  "Note that the current package is one of the agent's."
  (pushnew *package* **own-packages** :test #'eq))

(claim-package)

(defun own-package-p (package)
  "True when PACKAGE is one of the agent's."
  (and (member package **own-packages** :test #'eq) t))

(sb-ext:defglobal **frame-roles** '()
  "What the frames of some functions of the agent mean for those around them: pairs of the function's name and a role.")

(defun note-frame (name role)
  "Give frames of the function NAME the ROLE :USER-CODE, :WAIT or :BETWEEN. User code begins above the first; above the
second the agent only waits; the third stands between two frames of user code."
  (push (cons name role) **frame-roles**))

(defun frame-role (name)
  "Return the role that NOTE-FRAME gave the function NAME, or NIL."
  (cdr (assoc name **frame-roles** :test #'eq)))
