;;;; Finds the files of an ASDF system. ASDF may not be loaded, so its functions are looked up by
;;;; name.

(in-package "LIVE-LISP.LOOK")

(defun asdf-value (name &rest arguments)
  "NAME is the name of a function of ASDF, a string. Call this function with ARGUMENTS, and return
its values. Return NIL if it signals an error or does not exist."
  (let ((function (contrib-function "ASDF" name)))
    (and function (nil-if-program-fails (apply function arguments)))))

(defun component-files (component)
  "Return a list of the native names of all files in COMPONENT, an ASDF system, module or file."
  (let ((children (asdf-value "COMPONENT-CHILDREN" component)))
    (if children
        (loop for child in children append (component-files child))
        (let ((path (asdf-value "COMPONENT-PATHNAME" component)))
          (and path (pathname-name path) (list (translated (namestring path))))))))

(defun primary-name (name)
  "Return the part of NAME, the name of an ASDF system, before a slash, such as \"a\" for
\"a/tests\". All systems in one .asd file have this part in common."
  (subseq name 0 (position #\/ name)))

(defun registered-system (name)
  "Return the registered ASDF system called NAME, a symbol or a string in any letter case, or NIL."
  (and (typep name '(or string symbol))
       (or (asdf-value "REGISTERED-SYSTEM" (string name))
           (let ((known (find name (asdf-value "REGISTERED-SYSTEMS") :test #'string-equal)))
             (and known (asdf-value "REGISTERED-SYSTEM" known))))))

(defun needed-name (dependency)
  "Return the name of the system that DEPENDENCY, an element of an ASDF :DEPENDS-ON list, requires."
  (if (consp dependency)
      (case (first dependency)
        (:version (second dependency))
        (:feature (needed-name (third dependency))))
      dependency))

(defun system-parts (name)
  "Return a list of the ASDF system NAME, and of the systems in the same .asd file on which it
depends directly or indirectly, as in a package-inferred system. Return NIL if NAME is not
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
  "Return a hash table with the native names of the files of the ASDF system NAME as keys. If the
system is not registered, end the operation with an error answer."
  (let ((parts (system-parts name)) (files (make-hash-table :test 'equal)))
    (unless parts (fail-lookup "failure" "no-system" "system" name))
    (dolist (part parts files)
      (dolist (file (component-files part)) (setf (gethash file files) t)))))

(defvar *within* nil
  "NIL, or a hash table with native names of files as keys. If it is a table, only the uses of a
name in these files are shown.")

(defun counts-p (file)
  "FILE is the name of a source file, or NIL for code without a file. Return true if the uses of a
name in FILE are to be shown: if *WITHIN* is NIL, or a table that contains FILE."
  (or (null *within*)
      (and (stringp file) (gethash (native-file file) *within*) t)))
