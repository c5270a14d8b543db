;;;; What SBCL tells of while code gets into the image: files that are loaded, forms that are evaluated, names that are
;;;; defined.

(in-package "LIVE-LISP.LOOK")

(sb-ext:defglobal **listening** nil "True when SBCL tells of new code.")
(sb-ext:defglobal **news** t
  "What the index does not know yet: weak pointers to code that is new, and names that were defined or undefined. T means
that the index has to be made anew.")
(sb-ext:defglobal **news-count** 0 "About how many news came since the index was made or changed.")
(defconstant +most-news+ 30000 "With more news than that, a new index is made in less time.")
(sb-ext:defglobal **interpreted** nil "True when a form was evaluated by an interpreter, which leaves no code.")

(defun note-news (news)
  "Keep NEWS, code or a name, for the index."
  (if (> (incf **news-count**) +most-news+)
      (setf **news** t)
      (let ((kept (if (typep news 'code) (sb-ext:make-weak-pointer news) news)))
        (loop for known = **news**
              until (or (eq known t)
                        (eq known (sb-ext:compare-and-swap (symbol-value '**news**) known (cons kept known))))))))

(defvar *passing* nil "True while this thread loads code that is taken out again: nothing of it is noted.")

(sb-ext:defglobal **last-load** nil "The load of the file that new code came of last, or NIL.")

(defun note-claim (code)
  "Note what speaks for CODE, which is new and of no file: the form that is evaluated, or the file that is loaded."
  (let ((form evaluated-form))
    (cond ((and (consp form) (not *load-truename*))
           (when (definer-head-p form) (setf (gethash code **claimed**) (note-definer form))))
          ((and *load-truename* **last-load**)
           (setf (gethash code **claimed**) **last-load**
                 (file-load-made **last-load**) (union (called-names code) (file-load-made **last-load**) :test #'equal))))))

(defun contrib-p (source)
  "True when SOURCE, of code that is loaded, is that of a library that comes with SBCL, and is not there."
  (and *load-truename*
       (equal "contrib" (first (last (pathname-directory *load-truename*))))
       (not (ignore-errors (probe-file (source-name source))))))

(defun code-noted (function code reason)
  "Call FUNCTION with CODE, which is new, and REASON, and note from which file or form it is."
  (ignore-errors
   (when (typep code 'code) (note-news code))
   (when (and (typep code 'code) (not *passing*))
     (note-run code)
     (unless (and *compile-file-truename* (not (equal reason "load")))
       (let* ((source (information-source (code-information code))) (load (and source (not (contrib-p source)) (note-source source))))
         (if load (setf **last-load** load) (note-claim code))))))
  (funcall function code reason))

(defun part-evaluated (function form environment)
  "Call FUNCTION, which evaluates FORM in ENVIRONMENT, with both, and note the whole form that is evaluated."
  (let ((whole evaluated-form))
    (when (consp whole)
      (ignore-errors
       (cond ((not (and evaluated-index *load-truename*)) (when (definer-head-p whole) (note-definer whole)))
             ((not *compile-file-truename*)
              (note-load (namestring *load-truename*) *load-truename* (file-write-date *load-truename*)))))))
  (funcall function form environment))

(defun interpreted (function &rest arguments)
  "Call FUNCTION, an interpreter, with ARGUMENTS, and note that it was."
  (setf **interpreted** t)
  (apply function arguments))

(defun name-defined (function &rest arguments)
  "Call FUNCTION, which is asked before a name is defined, with ARGUMENTS, and note that one is."
  (multiple-value-prog1 (apply function arguments)
    (note-news (first arguments))))

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
