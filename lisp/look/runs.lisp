;;;; What code is run apart from functions, and what stands in place of calls: what SBCL does with a form it is given.

(in-package "LIVE-LISP.LOOK")

;;; Forms that are compiled to be run once

(defvar *run* nil "A list of the form that this thread has compiled to run it once, and whether it still runs; or NIL.")

(sb-ext:defglobal **runs** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "The *RUN* in which code was made, by that code.")

(defun run-once (function form &rest more)
  "Call FUNCTION, which compiles FORM and runs it once, with all arguments, and note when it has run."
  (let ((*run* (list form t)))
    (unwind-protect (apply function form more)
      (setf (second *run*) nil))))

(defun whole-run-p (function)
  "True when FUNCTION, a simple one, is the whole form that this thread has compiled to run it once."
  (let ((expression (function-lambda-expression function)))
    (if (consp expression)
        (and (null (second expression)) (eq (third expression) (first *run*)))
        (stringp (simple-function-name function)))))

(defun note-run (code)
  "Note that CODE is made for what this thread runs once, when it is. What one function is is nobody's after that."
  (when (and *run* (loop for index below (code-functions code) thereis (whole-run-p (code-function code index))))
    (setf (gethash code **runs**) *run*)))

(defun running-p (code)
  "True while the form runs that CODE was made for."
  (second (gethash code **runs**)))

(defun run-p (code)
  "True when CODE is a form that has run, and no function without a name is in it."
  (let ((run (gethash code **runs**)))
    (and run (not (second run)) (null (rest (nameless-functions code))))))

;;; Slots of structures that are set in place

(defvar *set-in-place* '()
  "Lists of the path of a form in its source and the readers of slots that its expansion sets without their functions. The
compiler, which only one thread uses at a time, has not recorded these expansions yet, or never will.")

(defparameter *most-set-in-place* 100 "How many of them are kept.")

(defun slot-expanded (function place environment)
  "Call FUNCTION, by which SETF and its like know a PLACE that is a slot of a structure, and note that this is set."
  (let ((slot (funcall function place environment)) (path source-path))
    (when (and slot path)
      (let ((known (or (assoc path *set-in-place* :test #'eq)
                       (first (push (list path) *set-in-place*)))))
        (pushnew (first place) (rest known)))
      (let ((old (nthcdr *most-set-in-place* *set-in-place*)))
        (when old (setf (rest old) '()))))
    slot))

(defun expansion-recorded (function macro block path)
  "Call FUNCTION, which records that MACRO was expanded in BLOCK at PATH. Then record what that has set in place as called:
SBCL does so with the readers of slots, but not with what sets them. All but SETF read the slot too."
  (funcall function macro block path)
  (let ((known (assoc path *set-in-place* :test #'eq)))
    (when known
      (setf *set-in-place* (delete known *set-in-place* :test #'eq))
      (dolist (reader (rest known))
        (record-callee (list 'setf reader) block path)
        (unless (eq macro 'setf) (record-callee reader block path))))))
