;;;; Records what SBCL does not record of code: that it is a form compiled to run once, and that it
;;;; sets slots of structures without a call.

(in-package "LIVE-LISP.LOOK")

;;; Forms that are compiled to run once

(defvar *run* nil
  "NIL, or a list of the form that this thread compiles to run once, and a flag: T until the form
has run, then NIL.")

(sb-ext:defglobal **runs** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "A table from code objects to the value of *RUN* when they were made, if they are the code of its
form.")

(defun run-once (function form &rest more)
  "Call FUNCTION, which compiles FORM and runs it once, with FORM and MORE. Bind *RUN* meanwhile,
and clear its flag after that."
  (let ((*run* (list form t)))
    (unwind-protect (apply function form more)
      (setf (second *run*) nil))))

(defun whole-run-p (function)
  "True when the simple FUNCTION is what the form of *RUN* was compiled to, and not a function
within that form."
  (let ((expression (function-lambda-expression function)))
    (if (consp expression)
        (and (null (second expression)) (eq (third expression) (first *run*)))
        (stringp (simple-function-name function)))))

(defun note-run (code)
  "Record *RUN* for CODE when a function of CODE is WHOLE-RUN-P."
  (when (and *run*
             (loop for index below (code-functions code)
                   thereis (whole-run-p (code-function code index))))
    (setf (gethash code **runs**) *run*)))

(defun running-p (code)
  "True while the form that CODE was made to run is running."
  (second (gethash code **runs**)))

(defun run-p (code)
  "True when CODE is a form that has run and has no function without a name inside: nobody can use
such code any more."
  (let ((run (gethash code **runs**)))
    (and run (not (second run)) (null (rest (nameless-functions code))))))

;;; Slots of structures that are set in place

(defvar *set-in-place* '()
  "A list of lists, each of the source path of a form and the readers of slots. The expansion of the
form sets these slots without calling their setters. EXPANSION-RECORDED takes an entry when the
compiler records the expansion, which may never happen. Only one thread uses the compiler at a time,
so no lock is needed.")

(defparameter *most-set-in-place* 100 "At most this many entries of *SET-IN-PLACE* are kept.")

(defun slot-expanded (function place environment)
  "Hook: call FUNCTION, which tells SETF and the like whether PLACE is a structure slot. If so, note
the reader in *SET-IN-PLACE*."
  (let ((slot (funcall function place environment)) (path source-path))
    (when (and slot path)
      (let ((known (or (assoc path *set-in-place* :test #'eq)
                       (first (push (list path) *set-in-place*)))))
        (pushnew (first place) (rest known)))
      (let ((old (nthcdr *most-set-in-place* *set-in-place*)))
        (when old (setf (rest old) '()))))
    slot))

(defun expansion-recorded (function macro block path)
  "Hook: call FUNCTION, which records that MACRO was expanded in BLOCK at PATH. Then record calls of
the setters that the expansion replaces, which SBCL does not. Unless MACRO is SETF, also record
calls of the readers: PUSH, for example, reads the slot, too."
  (funcall function macro block path)
  (let ((known (assoc path *set-in-place* :test #'eq)))
    (when known
      (setf *set-in-place* (delete known *set-in-place* :test #'eq))
      (dolist (reader (rest known))
        (record-callee (list 'setf reader) block path)
        (unless (eq macro 'setf) (record-callee reader block path))))))
