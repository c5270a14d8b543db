;;;; Records two facts that SBCL does not record: the code objects of forms that were compiled to
;;;; run once, and the places where the slot of a structure is set without a call of its setter.

(in-package "LIVE-LISP.LOOK")

;;; Forms that were compiled to run once

(defvar *run* nil
  "A list (FORM RUNNING), or NIL. FORM is the form that this thread is compiling to run once.
RUNNING is T until FORM has run.")

(sb-ext:defglobal **runs** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A weak hash table from code objects to lists (FORM RUNNING), for the code of forms that were
compiled to run once. The list is the value that *RUN* had when SBCL made the code object.")

(defun run-once (function form &rest more)
  "Hook: FUNCTION is SBCL's function that compiles FORM and runs it once. Call it with FORM and the
other arguments MORE. Meanwhile bind *RUN* to a list (FORM T). Afterwards, change this list to (FORM
NIL)."
  (let ((*run* (list form t)))
    (unwind-protect (apply function form more)
      (setf (second *run*) nil))))

(defun whole-run-p (function)
  "Return true if the simple function FUNCTION was compiled from the whole form in *RUN*, and NIL if
FUNCTION was compiled from a function inside this form."
  (let ((expression (function-lambda-expression function)))
    (if (consp expression)
        (and (null (second expression)) (eq (third expression) (first *run*)))
        (stringp (simple-function-name function)))))

(defun note-run (code)
  "Store *RUN* in **RUNS** for the code object CODE if CODE contains the function that was compiled
from the whole form in *RUN*."
  (when (and *run*
             (loop for index below (code-functions code)
                   thereis (whole-run-p (code-function code index))))
    (setf (gethash code **runs**) *run*)))

(defun running-p (code)
  "Return true if CODE is the code object of a form that was compiled to run once and is still
running."
  (second (gethash code **runs**)))

(defun run-p (code)
  "Return true if the code object CODE can never be called again: its form was compiled to run once
and has run, and CODE contains no other function without a name."
  (let ((run (gethash code **runs**)))
    (and run (not (second run)) (null (rest (nameless-functions code))))))

;;; Slots of structures that SETF sets without a call of the setter

(defvar *set-in-place* '()
  "A list of (PATH READER...) lists. PATH is the source path of a form that is being compiled. The
expansion of this form sets the slots that the READERs read, but calls no setters. So
EXPANSION-RECORDED records calls of the setters, and removes the element. No lock is needed, since
only one thread uses the compiler at a time.")

(defparameter *most-set-in-place* 100
  "The maximum length of *SET-IN-PLACE*. Older elements are dropped.")

(defun slot-expanded (function place environment)
  "Hook: FUNCTION is the function of SBCL that SETF and similar macros call to test if the form
PLACE reads a slot of a structure. Call FUNCTION with PLACE and ENVIRONMENT, and return its value.
If PLACE reads such a slot, add the reader to *SET-IN-PLACE*."
  (let ((slot (funcall function place environment)) (path source-path))
    (when (and slot path)
      (let ((known (or (assoc path *set-in-place* :test #'eq)
                       (first (push (list path) *set-in-place*)))))
        (pushnew (first place) (rest known)))
      (let ((old (nthcdr *most-set-in-place* *set-in-place*)))
        (when old (setf (rest old) '()))))
    slot))

(defun expansion-recorded (function macro block path)
  "Hook: call FUNCTION, SBCL's function that records the expansion of MACRO, with the compiler's
BLOCK and the source path PATH. If *SET-IN-PLACE* has an element for PATH, the expansion sets slots
of structures without a call of their setters. Record calls of these setters all the same. If MACRO
is not SETF, also record calls of the readers, since macros such as PUSH read the slot."
  (funcall function macro block path)
  (let ((known (assoc path *set-in-place* :test #'eq)))
    (when known
      (setf *set-in-place* (delete known *set-in-place* :test #'eq))
      (dolist (reader (rest known))
        (record-callee (list 'setf reader) block path)
        (unless (eq macro 'setf) (record-callee reader block path))))))
