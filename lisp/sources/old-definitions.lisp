;;;; Finds old definitions: definitions that the image still has, although the last load of their
;;;; file did not make them again.

(in-package "LIVE-LISP.SOURCES")

(defun not-made-again-p (definition file)
  "Return true if DEFINITION belongs to the file FILE, but the last load of FILE did not make it
again."
  (< (definition-serial definition) (source-file-serial file)))

(defun same-method-p (one other)
  "Return true if ONE and OTHER, methods of one generic function, have the same qualifiers and
specializers."
  (and (equal (method-qualifiers one) (method-qualifiers other))
       (equal (sb-mop:method-specializers one) (sb-mop:method-specializers other))))

(defun for-same-method-p (definition other)
  "Return true if the definition OTHER defines a method with the same generic function, qualifiers
and specializers as the method of DEFINITION."
  (and (eq (definition-kind other) :method)
       (equal (definition-name definition) (definition-name other))
       (same-method-p (definition-identity definition) (definition-identity other))))

(defun same-in-file (definition file)
  "Return the definition of the file FILE with the kind and name of DEFINITION. If DEFINITION is a
method, the qualifiers and specializers must be the same too. Return NIL if FILE has no such
definition, or if the last load of FILE did not make it."
  (let ((same (if (eq (definition-kind definition) :method)
                  (first (definitions-if (lambda (other) (for-same-method-p definition other))
                                         file))
                  (gethash (key-of definition) (source-file-definitions file)))))
    (and same (not (not-made-again-p same file)) same)))

;;; Definitions that were made again elsewhere

(sb-ext:defglobal **exported** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table whose keys are symbols exported by calls of EXPORT outside a DEFPACKAGE. The
value is an alist from packages to the number of the last load or evaluation with such a call.")

(defun note-exported (exported serial)
  "Record in **EXPORTED** that the load or evaluation with the number SERIAL has exported symbols by
calls of EXPORT. EXPORTED is a list of (PACKAGE SYMBOL...) lists, the slot EXPORTED of a RECORDING
structure."
  (loop for (package . symbols) in exported
        do (dolist (symbol symbols)
             (when (symbolp symbol)
               (setf (gethash symbol **exported**)
                     (acons package serial
                            (remove package (gethash symbol **exported**)
                                    :key #'car :test #'eq)))))))

(defun exported-since-p (definition)
  "Return true if DEFINITION stands for an export, and a call of EXPORT outside a DEFPACKAGE has
made this export again, in the same load or a later one."
  (and (eq (definition-kind definition) :export)
       (let ((last (assoc (definition-identity definition)
                          (gethash (definition-name definition) **exported**)
                          :test #'eq)))
         (and last (>= (cdr last) (definition-serial definition))))))

(defun made-elsewhere-p (definition file)
  "DEFINITION is a definition of the file FILE. Return true if the last load of another file, or a
later evaluation, has made it too. This is possible only for a definition whose identity stays the
same when it is made again: a package, an export, or a function that was set to an existing
function."
  (flet ((same-p (other)
           (and other (eq (definition-identity other) (definition-identity definition)))))
    (or (loop with key = (key-of definition)
              for other being the hash-values of **files**
              for made = (and (not (eq other file)) (gethash key (source-file-definitions other)))
              thereis (and (same-p made) (not (not-made-again-p made other))))
        (let* ((evaluation (gethash (key-of definition) **evaluated**))
               (made (and evaluation (evaluation-definition evaluation))))
          (and (same-p made) (> (definition-serial made) (definition-serial definition)))))))

(defun kept-by-methods-p (definition file)
  "DEFINITION is a definition of the file FILE. Return true if it defines a generic function that
has methods from other files, or methods that the last load of FILE made again."
  (notevery (lambda (method)
              (let ((made (gethash method (source-file-definitions file))))
                (and made (not-made-again-p made file))))
            (methods-of-definition definition)))

;;; Old definitions

(defun old-p (definition file)
  "Return true if the image still has DEFINITION of the file FILE, although the last load of FILE
did not make it again."
  (and (not-made-again-p definition file)
       (current-p definition)
       (not (kept-by-methods-p definition file))
       (not (exported-since-p definition))
       (not (made-elsewhere-p definition file))))

(defun old-definitions (file)
  "Return a sorted list of the definitions of the file FILE that its last load did not make again,
although the image still has them. Remove definitions from FILE that the image no longer has."
  (let ((old '()) (gone '()))
    (map-file-definitions (lambda (definition)
                            (cond ((old-p definition file) (push definition old))
                                  ((and (not-made-again-p definition file)
                                        (not (current-p definition)))
                                   (push definition gone))))
                          file)
    (dolist (definition gone)
      (remhash (key-of definition) (source-file-definitions file)))
    (sort-definitions old)))
