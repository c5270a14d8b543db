;;;; Which system of ASDF code is of. ASDF is looked up by name, since an image can be without it.

(in-package "LIVE-LISP.LOOK")

(defun asdf-value (name &rest arguments)
  "Return what the function NAME of ASDF returns for ARGUMENTS, or NIL when it fails or is not there."
  (let ((function (contrib-function "ASDF" name)))
    (and function (ignore-errors (apply function arguments)))))

(defun component-files (component)
  "Return the native names of the files of COMPONENT, of ASDF."
  (let ((children (asdf-value "COMPONENT-CHILDREN" component)))
    (if children
        (loop for child in children append (component-files child))
        (let ((path (asdf-value "COMPONENT-PATHNAME" component)))
          (and path (pathname-name path) (list (translated (namestring path))))))))

(defun primary-name (name)
  "Return the part of NAME, of a system, that other systems of its .asd file have too."
  (subseq name 0 (position #\/ name)))

(defun registered-system (name)
  "Return the system that ASDF knows by NAME, a symbol or a string, in this case or another. Return NIL without one."
  (and (typep name '(or string symbol))
       (or (asdf-value "REGISTERED-SYSTEM" (string name))
           (let ((known (find name (asdf-value "REGISTERED-SYSTEMS") :test #'string-equal)))
             (and known (asdf-value "REGISTERED-SYSTEM" known))))))

(defun needed-name (dependency)
  "Return the name of the system that DEPENDENCY, of a system, is on."
  (if (consp dependency)
      (case (first dependency) (:version (second dependency)) (:feature (needed-name (third dependency))))
      dependency))

(defun system-parts (name)
  "Return the system NAME and those of its .asd file that it depends on, as a package-inferred one does."
  (let ((parts '()))
    (labels ((visit (each)
               (let ((system (registered-system each)))
                 (when (and system
                            (not (member system parts :test #'eq))
                            (string-equal (primary-name (asdf-value "COMPONENT-NAME" system)) (primary-name name)))
                   (push system parts)
                   (dolist (dependency (asdf-value "SYSTEM-DEPENDS-ON" system)) (visit (needed-name dependency)))))))
      (visit name))
    (reverse parts)))

(defun system-files (name)
  "Return a table that has the native names of the files of the system NAME. Leaves the operation when ASDF knows none."
  (let ((parts (system-parts name)) (files (make-hash-table :test 'equal)))
    (unless parts (fail-lookup "failure" "no-system" "system" name))
    (dolist (part parts files)
      (dolist (file (component-files part)) (setf (gethash file files) t)))))

(defvar *within* nil "The files in which users of names count, a table of native names, or NIL when all do.")

(defun counts-p (file)
  "True when FILE, the name of a source file or NIL, counts."
  (or (null *within*)
      (and (stringp file) (gethash (told-file file) *within*) t)))
