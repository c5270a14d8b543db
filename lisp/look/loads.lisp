;;;; Hooks in functions of SBCL that report loaded files, evaluated forms, new code and defined
;;;; names to the index.

(in-package "LIVE-LISP.LOOK")

(sb-ext:defglobal **listening** nil "True when SBCL's hook for new code is installed.")
(sb-ext:defglobal **news** t
  "What the index lacks: a list of weak pointers to new code, and of names that were defined or
undefined. Or T, if the index must be built again.")
(sb-ext:defglobal **news-count** 0
  "About the number of elements added to **NEWS** since it was emptied.")
(defconstant +most-news+ 30000
  "If there are more news, building a new index takes less time than adding them.")
(sb-ext:defglobal **interpreted** nil
  "True once a form was interpreted, not compiled: this leaves no code in which to find uses.")

(defun note-news (news)
  "Add NEWS, a code object or a name, to **NEWS**."
  (if (> (incf **news-count**) +most-news+)
      (setf **news** t)
      (let ((kept (if (typep news 'code) (sb-ext:make-weak-pointer news) news)))
        (loop for known = **news**
              until (or (eq known t)
                        (eq known
                            (sb-ext:compare-and-swap (symbol-value '**news**) known
                                                     (cons kept known))))))))

(defvar *passing* nil
  "True while this thread loads code that will soon be removed again, so that its file and form are
not recorded.")

(sb-ext:defglobal **last-load** nil "The FILE-LOAD from which new code came last, or NIL.")

(defun note-claim (code)
  "Record in **CLAIMED** what made CODE, a new code object from no file: the form being evaluated or
the file being loaded."
  (let ((form evaluated-form))
    (cond ((and (consp form) (not *load-truename*))
           (when (definer-head-p form) (setf (gethash code **claimed**) (note-definer form))))
          ((and *load-truename* **last-load**)
           (setf (gethash code **claimed**) **last-load**
                 (file-load-made **last-load**)
                 (union (called-names code) (file-load-made **last-load**) :test #'equal))))))

(defun contrib-p (source)
  "True when a library that comes with SBCL is being loaded, and the file of SOURCE, the source of
new code, is not on this disk."
  (and *load-truename*
       (equal "contrib" (first (last (pathname-directory *load-truename*))))
       (not (ignore-errors (probe-file (source-name source))))))

(defun code-noted (function code reason)
  "Hook: record CODE, a new code object, with its file or form. Then call FUNCTION with CODE and
REASON."
  (apart
   (when (typep code 'code) (note-news code))
   (when (and (typep code 'code) (not *passing*))
     (note-run code)
     (unless (and *compile-file-truename* (not (equal reason "load")))
       (let* ((source (information-source (code-information code)))
              (load (and source (not (contrib-p source)) (note-source source))))
         (if load (setf **last-load** load) (note-claim code))))))
  (funcall function code reason))

(defun part-evaluated (function form environment)
  "Hook: call FUNCTION, which evaluates FORM in ENVIRONMENT. Before this, record the source file
being loaded, or else the whole top-level form that FORM is part of, if it may be a definition."
  (let ((whole evaluated-form))
    (when (consp whole)
      (apart
       (cond ((not (and evaluated-index *load-truename*))
              (when (definer-head-p whole) (note-definer whole)))
             ((not *compile-file-truename*)
              (note-load (namestring *load-truename*) *load-truename*
                         (file-write-date *load-truename*)))))))
  (funcall function form environment))

(defun interpreted (function &rest arguments)
  "Hook: call FUNCTION, which interprets a form, with ARGUMENTS, and set **INTERPRETED**."
  (setf **interpreted** t)
  (apply function arguments))

(defun name-defined (function &rest arguments)
  "Hook: call FUNCTION, SBCL's check before a name is defined, with ARGUMENTS. Then report the name
as news."
  (multiple-value-prog1 (apply function arguments)
    (note-news (first arguments))))

(defun finalizers-run (function &rest arguments)
  "Hook: call FUNCTION, which the finalizer thread calls after a garbage collection, with ARGUMENTS.
Then scrub the stack: FUNCTION leaves addresses of dead code there, and new code at such an address
would never be collected."
  (multiple-value-prog1 (apply function arguments)
    (scrub-stack)))

(define-hook +note-code+ code-noted)
(define-hook +evaluate-simply+ part-evaluated)
(define-hook +evaluate-compiled+ run-once)
(define-hook +interpret+ interpreted)
(define-hook +name-check+ name-defined)
(define-hook +know-slot+ slot-expanded)
(define-hook +record-expansion+ expansion-recorded)
(define-hook +run-finalizers+ finalizers-run)

(defun listen-for-code ()
  "Install the hooks of this file and of runs.lisp, which from now on record new code, evaluated
forms and new names."
  (install-hooks 'code-noted 'part-evaluated 'run-once 'interpreted 'name-defined 'slot-expanded
                 'expansion-recorded 'finalizers-run)
  (setf **listening** (and +note-code+ t)))
