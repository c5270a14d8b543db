;;;; What runs once and leaves no code. SBCL tells of each piece of code that gets into the image. It tells of each form
;;;; that it evaluates without the compiler, too. What top-level forms use is noted here, and which code is new.

(in-package "LIVE-LISP.LOOK")

(sb-ext:defglobal **listening** nil "True when SBCL tells of new code.")
(sb-ext:defglobal **definitions** 0 "Changes whenever a name is defined or undefined.")
(sb-ext:defglobal **interpreted** nil "True when a form was evaluated by an interpreter, which leaves no code.")

;;; What they use, by names

(sb-ext:defglobal **places** (make-hash-table :test 'equal :synchronized t)
  "The places of top-level forms that use a name, by that.")

(defun note-use-by (place name)
  "Note that PLACE uses NAME."
  (sb-ext:with-locked-hash-table (**places**) (pushnew place (gethash name **places**) :test #'eq)))

;;; Top-level forms

(defstruct (file-load (:constructor make-file-load (name mark created)))
  "A file that was loaded, as it was when it was CREATED. MARK tells this time from others; PLACES are its forms that use
something."
  name mark created (places '()))

(sb-ext:defglobal **sources** (make-hash-table :test 'equal :synchronized t)
  "What the last load of each file did, by the name of the file.")
(sb-ext:defglobal **definers** (make-hash-table :test 'equal :synchronized t)
  "The places of forms without a file, by their keys.")
(sb-ext:defglobal **claimed** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "The place that speaks for a piece of code, by that.")

(defvar *form-numbers* nil
  "While only a part of a file is loaded, a vector of what number each of its top-level forms had before, or NIL.")

(defun carry-places (known next)
  "Put the places of KNOWN, a load of a file, into NEXT, in which a part of that is loaded anew. Those of the part go."
  (dolist (place (file-load-places known))
    (let ((number (and (top-form-number place) (position (top-form-number place) *form-numbers*))))
      (when (or number (null (top-form-number place)))
        (setf (top-form-number place) number
              (top-form-source place) next)
        (push place (file-load-places next))))))

(defmacro source-of-load (name mark created)
  "Return the load of the file NAME that has MARK, a fresh one when that is another than the last. CREATED is then
evaluated."
  `(let* ((name ,name) (mark ,mark) (known (gethash name **sources**)))
     (if (and known (eq mark (file-load-mark known)))
         known
         (let ((next (make-file-load name mark ,created)))
           (when (and known *form-numbers*) (carry-places known next))
           (setf (gethash name **sources**) next)))))

(defun place-in (source number)
  "Return the place of the top-level form NUMBER in SOURCE. Without NUMBER that is a new one, of several forms."
  (or (and number (find number (file-load-places source) :key #'top-form-number))
      (let ((place (make-top-form source number)))
        (sb-ext:atomic-push place (file-load-places source))
        place)))

(defun same-object-p (pointer object)
  "True when POINTER, a weak pointer or NIL, is to OBJECT."
  (and pointer (eq object (sb-ext:weak-pointer-value pointer))))

(defun definer-head-p (form)
  "True when FORM can be a definition: a macro call that begins with a name."
  (let ((operator (first form)) (name (and (consp (rest form)) (second form))))
    (and name
         (symbolp operator)
         (or (stringp name) (and (plain-name-p name) (not (keywordp name))))
         (macro-function operator))))

(defun definer-key (form)
  "Return what FORM, which can be a definition, is known by: its operator and its name. Another of the same key takes its
place. A name can have several methods, so of those the qualifiers and specializers are in it too, as text."
  (list* (first form)
         (second form)
         (when (eq 'defmethod (first form)) (list (plain-text 500 (method-head form))))))

(defun definer-place (form)
  "Return the place of FORM, which can be a definition and is of no file. It takes that of the last of its key."
  (let* ((key (definer-key form)) (known (gethash key **definers**)))
    (if (and known (same-object-p (top-form-form known) form))
        known
        (setf (gethash key **definers**)
              (make-top-form nil nil :key key :part (part-run form) :form (sb-ext:make-weak-pointer form))))))

(defparameter *most-callers* 200 "How many frames are looked at to know which top-level form runs.")

(defun running-place ()
  "Return the place of the top-level form of a fasl that this thread runs, or NIL. SBCL makes one piece of code of several
forms, so only the frame tells which."
  (ignore-errors
   (loop repeat *most-callers*
         for frame = (top-frame) then (frame-below frame)
         while frame
         do (when (eq :top-level (root-of (debug-name (frame-function frame))))
              (let* ((place (frame-place frame)) (source (place-source place)) (name (source-name source)))
                (when (and name (not (eql 0 (search "SYS:" name))))
                  (return (place-in (source-of-load name source (source-date source))
                                    (place-top-level-form place)))))))))

(defun place-now (form)
  "Return the place of FORM, the whole form that is evaluated now. Without a name or a file it has none."
  (cond ((not (consp form)) nil)
        ((and evaluated-index *load-truename*)
         (unless *compile-file-truename*
           (place-in (source-of-load (namestring *load-truename*) *load-truename* (file-write-date *load-truename*))
                     evaluated-index)))
        ((definer-head-p form) (definer-place form))))

;;; What code uses

(defun note-call (place name)
  "Note that PLACE calls the function NAME."
  (push name (top-form-calls place))
  (note-use-by place name))

(defun note-mention (place name)
  "Note that PLACE has NAME among its data."
  (push name (top-form-mentions place))
  (note-use-by place name))

(defun note-constants (place code)
  "Note in PLACE the names that CODE, of a top-level form, uses, without those that its functions with names do. The place
stays when one of them is that which it defines."
  (let ((others (and (> (code-functions code) 1) (names-in-xrefs code))) (name (top-form-name place)))
    (flet ((other-p (used) (or (equal used name) (member used others :test #'equal))))
      (dolist (called (called-names code))
        (unless (or (not (told-name-p called)) (member called others :test #'equal)) (note-call place called)))
      (map-constants (lambda (constant)
                       (when (and (data-p constant) (not (lambda-list-p constant code)))
                         (when (and constant (equal constant name)) (setf (top-form-kept place) t))
                         (map-symbols (lambda (symbol called)
                                        (cond ((other-p symbol))
                                              (called (note-call place symbol))
                                              (t (note-mention place symbol))))
                                      constant)))
                     code))))

(defun call-sites (debug)
  "Return the calls in DEBUG, of a function, as lists of the number of a top-level form and that of the form in it."
  (let ((sites '()))
    (loop for block across (debug-blocks debug)
          do (loop for place across (block-places block)
                   when (eq :call-site (code-place-kind place))
                     do (pushnew (list (place-top-level-form place) (place-form-number place)) sites :test #'equal)))
    sites))

(defun loaded-place (code)
  "Return the place of CODE, which was loaded from a fasl."
  (let* ((source (information-source (code-information code))) (name (and source (source-name source)))
         (debug (function-debug (code-function code 0))) (number (form-number (compiled-debug debug))))
    (when name
      (let ((place (place-in (source-of-load name source (source-date source)) number)))
        (unless number (setf (top-form-sites place) (ignore-errors (call-sites debug))))
        place))))

(defun note-top-level (code loaded)
  "Note what CODE uses, which has functions of a top-level form; LOADED is true when it is from a fasl. What a fasl
evaluates or compiles is of the form by which it does. Code of a form without a file or a name is left to the index, as it
is there only while something keeps it."
  (let ((place (cond (loaded (loaded-place code))
                     ((and *load-truename* (not evaluated-index) (running-place)))
                     (t (place-now evaluated-form)))))
    (when (and place (not (method-alone-p code)))
      (setf (gethash code **claimed**) place)
      (note-constants place code))))

(defvar *passing* nil "True while this thread loads code that is taken out again: nothing of it is noted.")

(defun code-noted (function code reason)
  "Call FUNCTION with CODE, which is new, and REASON, and note it."
  (ignore-errors
   (when (and (typep code 'code) (not *passing*))
     (note-run code)
     (unless (and *compile-file-truename* (not (equal reason "load")))
       ;; Most code is that of one named function, which is passed over quickly.
       (when (and (loop for index below (code-functions code)
                          thereis (consp (simple-function-name (code-function code index))))
                  (member :top-level (roots-in code)))
         (note-top-level code (equal reason "load"))))))
  (funcall function code reason))

;;; Forms that need no compiler

(defun note-part (place form)
  "Note in PLACE what FORM uses, a call, a quoted constant or a variable in it. It stays when FORM is told the name that
it defines."
  (let ((operator (if (consp form) (first form) 'quote)) (name (top-form-name place)))
    (flet ((mention (symbol called)
             (declare (ignore called))
             (unless (equal symbol name) (note-mention place symbol))))
      (case operator
        (quote (when (and (consp form) (equal (second form) name)) (setf (top-form-kept place) t))
         (map-symbols #'mention (if (consp form) (second form) form)))
        (function (when (told-name-p (second form)) (note-call place (second form))))
        (t (when (loop for argument in (rest form)
                         thereis (if (consp argument)
                                     (and (eq (first argument) 'quote) (equal (second argument) name))
                                     (eq argument name)))
             (setf (top-form-kept place) t))
           (when (told-name-p operator) (note-call place operator)))))))

(defun called-p (form)
  "True when FORM, which is evaluated without the compiler, uses a name: a variable, a constant or a function."
  (if (consp form)
      (let ((operator (first form)))
        (and (symbolp operator)
             (or (member operator '(quote function))
                 (and (fboundp operator) (not (macro-function operator)) (not (special-operator-p operator))))))
      (or (typep form '(simple-array t))
          (and form (symbolp form) (mentioned-p form)))))

(defun part-evaluated (function form environment)
  "Call FUNCTION, which evaluates FORM in ENVIRONMENT, with both, and note what FORM uses."
  (let ((whole evaluated-form))
    (when (and (consp whole) (or evaluated-index (definer-head-p whole)) (called-p form))
      (ignore-errors
       (let ((place (place-now whole)))
         (when place (note-part place form))))))
  (funcall function form environment))

(defun interpreted (function &rest arguments)
  "Call FUNCTION, an interpreter, with ARGUMENTS, and note that it was."
  (setf **interpreted** t)
  (apply function arguments))

;;; Names that get a function

(defun name-defined (function &rest arguments)
  "Call FUNCTION, which is asked before a name is defined, with ARGUMENTS, and note that one is."
  (multiple-value-prog1 (apply function arguments)
    (incf **definitions**)))

(defun finalizers-run (function &rest arguments)
  "Call FUNCTION, which SBCL's own thread calls after a collection, with ARGUMENTS, and leave nothing of that on the stack.
It takes the code that is gone out of a table. New code gets the same place, and an address that was left would keep it."
  (multiple-value-prog1 (apply function arguments)
    (scrub-stack)))

(defun listen-for-code ()
  "Have SBCL tell of new code, of forms that it evaluates, and of names that are defined, from now on."
  (loop for (listener name) in `((code-noted ,+note-code+) (part-evaluated ,+evaluate-simply+)
                                 (run-once ,+evaluate-compiled+)
                                 (interpreted ,+interpret+) (name-defined ,+name-check+)
                                 (slot-expanded ,+know-slot+) (expansion-recorded ,+record-expansion+)
                                 (finalizers-run ,+run-finalizers+))
        do (when name (encapsulate name 'live-lisp-look (fdefinition listener))))
  (setf **listening** (and +note-code+ t)))
