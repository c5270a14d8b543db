;;;; Hooks functions of SBCL, so that the index learns of loaded files, evaluated forms, new code,
;;;; and names that are defined.

(in-package "LIVE-LISP.LOOK")

(sb-ext:defglobal **listening** nil "True when SBCL's hook for new code is installed.")
(sb-ext:defglobal **news** t
  "What the index lacks: a list of weak pointers to new code, and of names that were defined or
undefined. T means that the index must be built again.")
(sb-ext:defglobal **news-count** 0
  "About how many elements were added to **NEWS** since it was emptied.")
(defconstant +most-news+ 30000
  "With more news than these, building a new index takes less time than adding them.")
(sb-ext:defglobal **interpreted** nil
  "True once an interpreter evaluated a form, which leaves no code.")

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
  "True while this thread loads code that will soon be removed again: its file and form are not
recorded.")

(sb-ext:defglobal **last-load** nil "The FILE-LOAD from which new code came last, or NIL.")

(defun note-claim (code)
  "CODE is a new code object of no file. Record in **CLAIMED** what made it: the form being
evaluated or the file being loaded."
  (let ((form evaluated-form))
    (cond ((and (consp form) (not *load-truename*))
           (when (definer-head-p form) (setf (gethash code **claimed**) (note-definer form))))
          ((and *load-truename* **last-load**)
           (setf (gethash code **claimed**) **last-load**
                 (file-load-made **last-load**)
                 (union (called-names code) (file-load-made **last-load**) :test #'equal))))))

(defun contrib-p (source)
  "SOURCE is the source of new code. True when a library that comes with SBCL is being loaded, and
the file of SOURCE is not on this disk."
  (and *load-truename*
       (equal "contrib" (first (last (pathname-directory *load-truename*))))
       (not (ignore-errors (probe-file (source-name source))))))

(defun code-noted (function code reason)
  "Hook: record CODE, a new code object, and its file or form; then call FUNCTION with CODE and
REASON."
  (ignore-errors
   (when (typep code 'code) (note-news code))
   (when (and (typep code 'code) (not *passing*))
     (note-run code)
     (unless (and *compile-file-truename* (not (equal reason "load")))
       (let* ((source (information-source (code-information code)))
              (load (and source (not (contrib-p source)) (note-source source))))
         (if load (setf **last-load** load) (note-claim code))))))
  (funcall function code reason))

(defun part-evaluated (function form environment)
  "Hook: call FUNCTION, which evaluates FORM in ENVIRONMENT. Before that, record the whole top-level
form of which FORM is a part if it can be a definition, or the source file that is being loaded."
  (let ((whole evaluated-form))
    (when (consp whole)
      (ignore-errors
       (cond ((not (and evaluated-index *load-truename*))
              (when (definer-head-p whole) (note-definer whole)))
             ((not *compile-file-truename*)
              (note-load (namestring *load-truename*) *load-truename*
                         (file-write-date *load-truename*)))))))
  (funcall function form environment))

(defun interpreted (function &rest arguments)
  "Hook: set **INTERPRETED**, and call FUNCTION, which interprets a form, with ARGUMENTS."
  (setf **interpreted** t)
  (apply function arguments))

(defun name-defined (function &rest arguments)
  "Hook: call FUNCTION, SBCL's check before a name is defined, with ARGUMENTS; then record the name
as news."
  (multiple-value-prog1 (apply function arguments)
    (note-news (first arguments))))

(defun finalizers-run (function &rest arguments)
  "Hook: call FUNCTION, which SBCL's finalizer thread calls after a garbage collection, with
ARGUMENTS; then scrub the stack. FUNCTION leaves addresses of dead code on the stack. New code at
such an address would never be collected."
  (multiple-value-prog1 (apply function arguments)
    (scrub-stack)))

(defun listen-for-code ()
  "Install the hooks of this file and of runs.lisp: from now on they record new code, evaluated
forms and new names."
  (loop for (listener name) in `((code-noted ,+note-code+) (part-evaluated ,+evaluate-simply+)
                                 (run-once ,+evaluate-compiled+)
                                 (interpreted ,+interpret+) (name-defined ,+name-check+)
                                 (slot-expanded ,+know-slot+)
                                 (expansion-recorded ,+record-expansion+)
                                 (finalizers-run ,+run-finalizers+))
        do (when name (encapsulate name 'live-lisp-look (fdefinition listener))))
  (setf **listening** (and +note-code+ t)))
