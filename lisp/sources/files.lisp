;;;; Records the files loaded into this image, and the definitions that each of them made. Other
;;;; tables have the definitions that evaluated forms made.

(in-package "LIVE-LISP.SOURCES")

(defstruct (source-file (:constructor make-source-file (path)))
  "A loaded file.
PATH: its native truename.
SERIAL: the number of the last load that ended normally, or 0.
FAILED: true if the last load did not end normally.
TEXT: the loaded text, or NIL if it is unknown.
DATE: the date of the file at the load.
COMPILED: the date of the loaded fasl, or NIL if it is unknown.
FORMER: a list of (FORM . PACKAGE) pairs, newest first, for the forms of earlier versions of the
file that may define something unknown to SBCL. FORM is a text from PLAIN-FORM, and PACKAGE the
package in which the form was read.
PARTS: a list of texts from PLAIN-FORM, for the forms that were loaded alone after TEXT.
SOURCES: a list of the debug sources of code from the last load.
DEFINITIONS: a hash table from results of DEFINITION-KEY to DEFINITION structures."
  path (serial 0) (failed nil) (text nil) (date nil) (compiled nil)
  (former '()) (parts '()) (sources '()) (definitions (make-hash-table :test 'equal)))

(sb-ext:defglobal **files** (make-hash-table :test 'equal :synchronized t)
  "A hash table from the paths of loaded files, native truenames, to SOURCE-FILE structures.")

(sb-ext:defglobal **serial** 0 "The number of the last recorded load.")

(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "live-lisp sources")
  "A lock that a thread holds while it records a load.")

(defstruct (evaluation (:constructor make-evaluation (definition by)))
  "An evaluated form that made DEFINITION, a DEFINITION structure.
BY: the beginning of the text of the form, or NIL if it is unknown.
TIME: the universal time of the evaluation."
  definition by (time (get-universal-time)))

(sb-ext:defglobal **evaluated** (make-hash-table :test 'equal :synchronized t)
  "A hash table from results of DEFINITION-KEY to EVALUATION structures.")

(sb-ext:defglobal **variables-evaluated** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from variables to pairs (BY . WHAT), for variables that evaluated forms have
set or declared special. BY is the beginning of the text of the last such form. WHAT is :VALUE if
this form set the variable, and :SPECIAL if it declared the variable special.")

(defparameter *evaluated-limit* 10000 "The maximum number of definitions in **EVALUATED**.")

(defvar *source-copy* nil
  "NIL or, while a copy of the file ORIGINAL is loaded in its place, a pair (COPY . ORIGINAL) of
paths.")

(defun file-path (name)
  "Return the native truename of the file that SBCL calls NAME. For the copy in *SOURCE-COPY*,
return the truename of the original file."
  (let ((path (or (nil-if-unreadable
                    (native-truename (translate-logical-pathname (parse-namestring name))))
                  name)))
    (if (and *source-copy* (equal path (car *source-copy*))) (cdr *source-copy*) path)))

(defun known-file (path)
  "Return the SOURCE-FILE structure of PATH, a native truename. If there is none, make it."
  (or (gethash path **files**)
      (setf (gethash path **files**) (make-source-file path))))

(defun map-file-definitions (visit file)
  "Call the function VISIT with each DEFINITION structure of FILE, a SOURCE-FILE structure."
  (maphash (lambda (key definition) (declare (ignore key)) (funcall visit definition))
           (source-file-definitions file)))

(defun definitions-if (wanted file)
  "Return a list of the definitions of the file FILE that satisfy the predicate WANTED."
  (let ((found '()))
    (map-file-definitions (lambda (definition)
                            (when (funcall wanted definition) (push definition found)))
                          file)
    found))
