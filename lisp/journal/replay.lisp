;;;; Rebuilds a lost image from the forms that built it. The server keeps the reports of
;;;; journal.lisp in a file, and sends them to the next image by the operation "replay". For each
;;;; form, this calls REPLAY-MEMBERS, which calls REPLAY-FORM, which evaluates the form by
;;;; EVALUATE-NOTING (settings.lisp). The answer reports forms that could not be evaluated, forms
;;;; that defined less than before, and a form after which the image does not work.

(in-package "LIVE-LISP.JOURNAL")

(defun failure-of (function)
  "Call FUNCTION. When a condition is not handled, invoke a restart of *CHOSEN-RESTARTS* if one is
available. Else end FUNCTION, and return a text about the condition. Return NIL if FUNCTION ends
normally."
  (let* ((tag (list nil))
         (condition
          (catch tag
            (flet ((fail (condition hook)
                     (declare (ignore hook))
                     (retry-replaced condition)
                     (retry-with-libraries condition)
                     (take-chosen-restart condition)
                     (throw tag condition)))
              ;; A restart of the program is invoked with *PROGRAM-HOOK* as the debugger hook, so an
              ;; error in a restart fails in the same way.
              (let ((*debugger-hook* nil)
                    (sb-ext:*invoke-debugger-hook* #'fail)
                    (*program-hook* #'fail))
                (restart-case (progn (funcall function) nil)
                  (abort () "Its ABORT restart was invoked.")))))))
    (when condition (protect-stack-again))
    (if (typep condition 'condition) (report-text 300 condition) condition)))

(define-shape form-entry ()
  "A form to evaluate as the lost image evaluated it."
  (text string)
  (package string "The name of the package in which to read TEXT.")
  (without (list (list integer)) :optional
   "The parts of the form not to evaluate, because they define nothing. Each is a path of indexes.")
  (readtable string :optional
   "The difference between the readtable of the form and the standard readtable.")
  (policy (list anything) :optional
   "The compiler policy of the form, where it differs from that of a new image.")
  (defines (list string) :optional
   "Names that the form defined and that its text does not contain.")
  (restarts (list string) :optional
   "Names of the restarts by which the evaluation went on from errors."))

(defun form-read (text)
  "Read a form from TEXT, and return it. Reader macros can be code of the user, so the reader runs
within CALL-USER-CODE. Load ASDF or the library manager if TEXT names one of their packages."
  (call-user-code (lambda () (call-reading (lambda () (read-from-string text))))))

(defun replay-form (table effects)
  "Evaluate the form in TABLE, a hash table from a message, as the lost image evaluated it, and
record its effects in EFFECTS. Return NIL, or a text that says why it could not be evaluated."
  (let* ((name (gethash "package" table "COMMON-LISP-USER")) (package (find-package name))
         (text (gethash "text" table))
         (*chosen-restarts* (names-among (gethash "restarts" table)))
         (*restarts-taken* (make-hash-table :test 'equal))
         (*went-on-by* '()))
    (flet ((evaluate ()
             (let ((*package* package) (*seen* (thread-settings)))
               (proclaim-policy (gethash "policy" table))
               ;; CALL-NOTING records what the form defines as made by this text and not by a file.
               (call-noting (lambda ()
                              (evaluate-noting (without-parts (form-read text)
                                                              (gethash "without" table))
                                               effects))
                            :by (constantly text)))))
      (cond ((null package) (format nil "There is no package ~A." name))
            ((not (equal (gethash "readtable" table) (mark-text (readtable-mark *readtable*))))
             "The readtable that it was read with is not there.")
            (t (failure-of #'evaluate))))))

(defun works-p ()
  "Return true if a form can be read, evaluated and printed with the current variables of the
session. This can run user code."
  (flet ((works (text)
           (null (failure-of
                  (lambda ()
                    (call-rebinding
                     (lambda ()
                       (prin1-to-string (list (eval (read-from-string text)) "a" 12 1/3 1.5
                                              #\b)))))))))
    ;; The result does not matter, since a readtable need not have #+. But reading this text may
    ;; never end, for example if *FEATURES* is circular. The server then knows which form broke the
    ;; image.
    (works "#+CL:NIL 1 CL:T")
    (or (works "(CL:QUOTE CL:T)") (works "(cl:quote cl:t)"))))

(define-shape replay-remark ()
  "A problem with one form of a replay."
  (index integer "Index of the form, counted from 0.")
  (why string :optional "Why the evaluation of the form failed.")
  (missing (list string) :optional "Names that the form defined before the loss, but not now.")
  (broken boolean :optional "True when the image no longer works after the form."))

(defun replay-members (table index)
  "Evaluate the form in TABLE, a hash table from a message. INDEX is the number of the form. Return
a property list of JSON members that report failures, or NIL."
  (let* ((effects (make-effects)) (why (replay-form table effects))
         (missing (set-difference (gethash "defines" table) (effects-names effects) :test #'equal)))
    (flet ((tell-index (&rest members)
             (send (make-json-object (list* "replaying" index "job" (job-id *job*) members)))))
      (cond (why (list "index" index "why" why))
            ((and (effects-restyles effects)
                  (progn (tell-index "probing" t) (not (works-p))))
             (list "index" index "broken" t))
            (missing (list "index" index "missing" missing))))))

(defun call-muffling (function)
  "Call FUNCTION, and muffle messages of the compiler and of LOAD. Other output of FUNCTION goes to
the output streams of the job. There is no separate stream for this call, because a program can keep
the streams that it finds, and write to them later."
  (let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil) (*load-print* nil))
    (handler-bind ((warning #'muffle-warning) (sb-ext:compiler-note #'muffle-warning))
      (funcall function))))

(define-shape replay-data ()
  "What came of a replay."
  (value boolean :optional)
  (failed (list replay-remark) :optional "Problems with forms."))

(define-operation ("replay" :members t :gives replay-data)
    ;; The server keeps FORMS in a file, which can be damaged. So the wire checks only that each is
    ;; an object, and REPLAY-FORM reports a bad one.
    ((forms (list (map anything))
      "Each a FormEntry, or with only `inPackage` a change of the session's package."))
  "Evaluate FORMS, which built the lost image, and report those that failed, with the reasons.
Before each form, send the server its index, so that the server knows which form hangs or ends the
image. Stop after a form that leaves the image broken."
  (let* ((failed '())
         (members
           (job-result *job*
             (lambda ()
               (call-in-session nil
                 (lambda ()
                   (call-muffling
                    (lambda ()
                      (loop for table in forms
                            for index from 0
                            for name = (gethash "inPackage" table)
                            for package = (find-package (or name ""))
                            do (send (object "replaying" index "job" (job-id *job*)))
                               (when package (setf *package* package))
                               (let ((members (unless name (replay-members table index))))
                                 (when members (push (make-json-object members) failed))
                                 (when (member "broken" members :test #'equal) (loop-finish))))
                      (list "value" t)))))))))
    ;; Mark the session's settings as shown: they are the settings of the lost image, so answers
    ;; need not report them again.
    (style-members)
    (list* "failed" (reverse failed) members)))
