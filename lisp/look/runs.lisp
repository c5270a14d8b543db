;;;; Records what code does not show: forms compiled to run once, and slots of structures that are set without a call.

(in-package "LIVE-LISP.LOOK")

;;; Forms that are compiled to run once

(defvar *run* nil "A list of the form that this thread compiles to run once, and true until it has run; or NIL.")

(sb-ext:defglobal **runs** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "The *RUN* during which a code object was made, by code object.")

(defun run-once (function form &rest more)
  "Call FUNCTION, which compiles FORM and runs it once, with FORM and MORE, and note when it has run."
  (let ((*run* (list form t)))
    (unwind-protect (apply function form more)
      (setf (second *run*) nil))))

(defun whole-run-p (function)
  "True when the simple FUNCTION is the form of *RUN* as compiled, not a function within it."
  (let ((expression (function-lambda-expression function)))
    (if (consp expression)
        (and (null (second expression)) (eq (third expression) (first *run*)))
        (stringp (simple-function-name function)))))

(defun note-run (code)
  "Record *RUN* for CODE when a function of CODE is WHOLE-RUN-P."
  (when (and *run* (loop for index below (code-functions code) thereis (whole-run-p (code-function code index))))
    (setf (gethash code **runs**) *run*)))

(defun running-p (code)
  "True while the form that CODE was made to run is running."
  (second (gethash code **runs**)))

(defun run-p (code)
  "True when CODE is a form that has run, with no other function without a name: nobody can use it any more."
  (let ((run (gethash code **runs**)))
    (and run (not (second run)) (null (rest (nameless-functions code))))))

;;; Slots of structures that are set in place

(defvar *set-in-place* '()
  "Lists of a form's source path and the readers of slots that its expansion sets without calling setters. The compiler,
which only one thread uses at a time, has not recorded these expansions yet, or never will.")

(defparameter *most-set-in-place* 100 "At most this many entries of *SET-IN-PLACE* are kept.")

(defun slot-expanded (function place environment)
  "Hook: call FUNCTION, which tells SETF and its like whether PLACE is a structure slot, and note such a slot's reader."
  (let ((slot (funcall function place environment)) (path source-path))
    (when (and slot path)
      (let ((known (or (assoc path *set-in-place* :test #'eq)
                       (first (push (list path) *set-in-place*)))))
        (pushnew (first place) (rest known)))
      (let ((old (nthcdr *most-set-in-place* *set-in-place*)))
        (when old (setf (rest old) '()))))
    slot))

(defun expansion-recorded (function macro block path)
  "Hook: call FUNCTION, which records that MACRO was expanded in BLOCK at PATH. Then record calls of the setters that
the expansion replaces, which SBCL does not. Unless MACRO is SETF, record the readers too: PUSH, for example, reads."
  (funcall function macro block path)
  (let ((known (assoc path *set-in-place* :test #'eq)))
    (when known
      (setf *set-in-place* (delete known *set-in-place* :test #'eq))
      (dolist (reader (rest known))
        (record-callee (list 'setf reader) block path)
        (unless (eq macro 'setf) (record-callee reader block path))))))
