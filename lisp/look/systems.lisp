;;;; Finds the files of an ASDF system. ASDF's functions are looked up by name, as ASDF may not be
;;;; loaded.

(in-package "LIVE-LISP.LOOK")

(defun asdf-value (name &rest arguments)
  "Return what the ASDF function NAME returns for ARGUMENTS. Return NIL when it fails or does not
exist."
  (let ((function (contrib-function "ASDF" name)))
    (and function (ignore-errors (apply function arguments)))))

(defun component-files (component)
  "Return the native names of the files of COMPONENT, an ASDF component such as a system."
  (let ((children (asdf-value "COMPONENT-CHILDREN" component)))
    (if children
        (loop for child in children append (component-files child))
        (let ((path (asdf-value "COMPONENT-PATHNAME" component)))
          (and path (pathname-name path) (list (translated (namestring path))))))))

(defun primary-name (name)
  "Return the part of the system name NAME before a slash, such as \"a\" for \"a/tests\". All
systems in one .asd file share it."
  (subseq name 0 (position #\/ name)))

(defun registered-system (name)
  "Return the registered ASDF system NAME, a symbol or a string in any case, or NIL."
  (and (typep name '(or string symbol))
       (or (asdf-value "REGISTERED-SYSTEM" (string name))
           (let ((known (find name (asdf-value "REGISTERED-SYSTEMS") :test #'string-equal)))
             (and known (asdf-value "REGISTERED-SYSTEM" known))))))

(defun needed-name (dependency)
  "Return the name of the system that DEPENDENCY, an element of :DEPENDS-ON, requires."
  (if (consp dependency)
      (case (first dependency)
        (:version (second dependency))
        (:feature (needed-name (third dependency))))
      dependency))

(defun system-parts (name)
  "Return a list of the system NAME and those of its direct and indirect dependencies that are
defined in the same .asd file, as for a package-inferred system. It is empty when NAME is not
registered."
  (let ((parts '()))
    (labels ((visit (each)
               (let ((system (registered-system each)))
                 (when (and system
                            (not (member system parts :test #'eq))
                            (string-equal (primary-name (asdf-value "COMPONENT-NAME" system))
                                          (primary-name name)))
                   (push system parts)
                   (dolist (dependency (asdf-value "SYSTEM-DEPENDS-ON" system))
                     (visit (needed-name dependency)))))))
      (visit name))
    (reverse parts)))

(defun system-files (name)
  "Return a table with the native names of the files of the system NAME as keys. Calls FAIL-LOOKUP
if the system is not registered."
  (let ((parts (system-parts name)) (files (make-hash-table :test 'equal)))
    (unless parts (fail-lookup "failure" "no-system" "system" name))
    (dolist (part parts files)
      (dolist (file (component-files part)) (setf (gethash file files) t)))))

(defvar *within* nil
  "NIL, or a table with native file names as keys: only uses of a name in these files count.")

(defun counts-p (file)
  "True when uses of a name in FILE count according to *WITHIN*. FILE is the name of a source file,
or NIL."
  (or (null *within*)
      (and (stringp file) (gethash (told-file file) *within*) t)))
