;;;; Hooks in functions of SBCL that record loaded files, evaluated forms, new code and defined
;;;; names for the index of uses.

(in-package "LIVE-LISP.LOOK")

(sb-ext:defglobal **listening** nil "True if SBCL's hook for new code objects is installed.")
(sb-ext:defglobal **news** t
  "The code and names that are not yet in the index: a list of weak pointers to new code objects,
and of names that were defined or undefined. T if the index must be built again.")
(sb-ext:defglobal **news-count** 0
  "The approximate number of elements added to **NEWS** since it was emptied.")
(defconstant +most-news+ 30000
  "The greatest length of **NEWS**. For more new code, building a new index is faster than adding
the code to the old index.")
(sb-ext:defglobal **interpreted** nil
  "True once SBCL has interpreted a form instead of compiling it. The index cannot find uses in
interpreted code.")

(defun note-news (news)
  "Add NEWS, a code object or a name, to **NEWS**. If **NEWS** is too long, set it to T."
  (if (> (incf **news-count**) +most-news+)
      (setf **news** t)
      (let ((kept (if (typep news 'code) (sb-ext:make-weak-pointer news) news)))
        (loop for known = **news**
              until (or (eq known t)
                        (eq known
                            (sb-ext:compare-and-swap (symbol-value '**news**) known
                                                     (cons kept known))))))))

(defvar *passing* nil
  "True while this thread loads code that will be removed soon. The hooks do not record the file and
form of such code.")

(sb-ext:defglobal **last-load** nil
  "The FILE-LOAD structure for the file from which the last new code came, or NIL.")

(defun note-claim (code)
  "CODE is a new code object that names no source file. Record its origin in **CLAIMED**. While a
file is being loaded, this is the FILE-LOAD structure **LAST-LOAD**. Else it is the TOP-FORM
structure of the form that is being evaluated, if this form may be a definition."
  (let ((form evaluated-form))
    (cond ((and (consp form) (not *load-truename*))
           (when (definer-head-p form) (setf (gethash code **claimed**) (note-definer form))))
          ((and *load-truename* **last-load**)
           (setf (gethash code **claimed**) **last-load**)
           (note-made **last-load** (called-names code))))))

(defun contrib-p (source)
  "Return true if a library that comes with SBCL is being loaded, and the source file of the library
is not on this disk. SOURCE is the debug source of the code of the library."
  (and *load-truename*
       (equal "contrib" (first (last (pathname-directory *load-truename*))))
       (not (true-file (source-name source)))))

(defun code-noted (function code reason)
  "Hook: record CODE, a new code object, and the file or form that made it. Then call FUNCTION, the
hooked function of SBCL, with CODE and REASON. REASON is \"load\" for code from a fasl."
  (with-isolation
   (when (typep code 'code) (note-news code))
   (when (and (typep code 'code) (not *passing*))
     (note-run code)
     (unless (and *compile-file-truename* (not (equal reason "load")))
       (let* ((source (information-source (code-information code)))
              (load (and source (not (contrib-p source)) (note-source source))))
         (if load (setf **last-load** load) (note-claim code))))))
  (funcall function code reason))

(defun part-evaluated (function form environment)
  "Hook: call FUNCTION, SBCL's function that evaluates FORM in ENVIRONMENT. First record the source
file that is being loaded, if there is one. Otherwise, if the whole top-level form around FORM may
be a definition, record the whole form."
  (let ((whole evaluated-form))
    (when (consp whole)
      (with-isolation
       (cond ((not (and evaluated-index *load-truename*))
              (when (definer-head-p whole) (note-definer whole)))
             ((not *compile-file-truename*)
              (note-load (namestring *load-truename*) *load-truename*
                         (lambda () (file-write-date *load-truename*))))))))
  (funcall function form environment))

(defun interpreted (function &rest arguments)
  "Hook: call FUNCTION, which interprets a form, with ARGUMENTS, and set **INTERPRETED**."
  (setf **interpreted** t)
  (apply function arguments))

(defun name-defined (function &rest arguments)
  "Hook: call FUNCTION, SBCL's check before a name is defined, with ARGUMENTS. Then add the name,
the first of ARGUMENTS, to **NEWS**."
  (multiple-value-prog1 (apply function arguments)
    (note-news (first arguments))))

(defun finalizers-run (function &rest arguments)
  "Hook: FUNCTION is what SBCL's finalizer thread calls after a garbage collection. Call it with the
list ARGUMENTS. Then clear the unused stack, since FUNCTION leaves addresses of dead code there. If
new code got these addresses, they would prevent the collection of the new code."
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
  "Install the hooks of this file and of runs.lisp, so that new code, evaluated forms and new names
are recorded."
  (install-hooks 'code-noted 'part-evaluated 'run-once 'interpreted 'name-defined 'slot-expanded
                 'expansion-recorded 'finalizers-run)
  (setf **listening** (and +note-code+ t)))
