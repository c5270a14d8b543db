;;;; Records what SBCL itself does not: which code is a form that was compiled to run once, and
;;;; where slots of structures are set without calling their setters.

(in-package "LIVE-LISP.LOOK")

;;; Forms that are compiled to run once

(defvar *run* nil
  "NIL, or a list of the form that this thread compiles to run once, and a flag that is T until the
form has run.")

(sb-ext:defglobal **runs** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A table from code objects to the value of *RUN* when they were made, for code of the form in
*RUN*.")

(defun run-once (function form &rest more)
  "Hook: call FUNCTION, which compiles FORM and runs it once, with FORM and MORE. Meanwhile *RUN* is
bound. Afterwards its flag is NIL."
  (let ((*run* (list form t)))
    (unwind-protect (apply function form more)
      (setf (second *run*) nil))))

(defun whole-run-p (function)
  "True when the simple FUNCTION was compiled from the whole form in *RUN*, not from a function
within it."
  (let ((expression (function-lambda-expression function)))
    (if (consp expression)
        (and (null (second expression)) (eq (third expression) (first *run*)))
        (stringp (simple-function-name function)))))

(defun note-run (code)
  "Record *RUN* for CODE if CODE contains a function that is WHOLE-RUN-P."
  (when (and *run*
             (loop for index below (code-functions code)
                   thereis (whole-run-p (code-function code index))))
    (setf (gethash code **runs**) *run*)))

(defun running-p (code)
  "True while the form from which CODE was compiled to run once is running."
  (second (gethash code **runs**)))

(defun run-p (code)
  "True when CODE was compiled from a form that has run, and contains no other function without a
name. Then nothing can use CODE any more."
  (let ((run (gethash code **runs**)))
    (and run (not (second run)) (null (rest (nameless-functions code))))))

;;; Slots of structures that are set in place

(defvar *set-in-place* '()
  "Lists of the source path of a form and of readers of slots: the expansion of the form sets these
slots without calling their setters. EXPANSION-RECORDED removes an entry when the compiler records
the expansion, which may never happen. Only one thread uses the compiler at a time, so there is no
lock.")

(defparameter *most-set-in-place* 100 "*SET-IN-PLACE* keeps at most this many entries.")

(defun slot-expanded (function place environment)
  "Hook: call FUNCTION with PLACE and ENVIRONMENT. For SETF and similar macros, it finds out whether
PLACE is a slot of a structure. If so, add the reader to *SET-IN-PLACE*."
  (let ((slot (funcall function place environment)) (path source-path))
    (when (and slot path)
      (let ((known (or (assoc path *set-in-place* :test #'eq)
                       (first (push (list path) *set-in-place*)))))
        (pushnew (first place) (rest known)))
      (let ((old (nthcdr *most-set-in-place* *set-in-place*)))
        (when old (setf (rest old) '()))))
    slot))

(defun expansion-recorded (function macro block path)
  "Hook: call FUNCTION, which records in BLOCK at PATH that MACRO was expanded. Then record calls of
the setters that the expansion replaces, as SBCL does not. If MACRO is not SETF, also record calls
of the readers: PUSH, for example, reads the slot too."
  (funcall function macro block path)
  (let ((known (assoc path *set-in-place* :test #'eq)))
    (when known
      (setf *set-in-place* (delete known *set-in-place* :test #'eq))
      (dolist (reader (rest known))
        (record-callee (list 'setf reader) block path)
        (unless (eq macro 'setf) (record-callee reader block path))))))
