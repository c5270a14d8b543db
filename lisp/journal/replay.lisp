;;;; Rebuilds a lost image from the forms that built it. The server keeps the reports of
;;;; journal.lisp in a file, and sends them to the next image by the operation "replay", which comes
;;;; first here. The argument of this operation is a list of entries. Each entry is one of the
;;;; reports, a hash table with the members of the shape FORM-ENTRY. EFFECTS is defined in
;;;; effects.lisp, EVALUATE-NOTING in settings.lisp, and what has to do with restarts in
;;;; jobs/hold.lisp.

(in-package "LIVE-LISP.JOURNAL")

(define-shape form-entry ()
  "A form to evaluate as the lost image evaluated it."
  (text string)
  (package string "The name of the package in which to read TEXT.")
  (without (list (list integer)) :optional
   "The parts of the form that are not evaluated again, because they changed nothing or did damage.
   Each is a path of indexes.")
  (readtable string :optional
   "The difference between the readtable of the form and the standard readtable.")
  (policy (list anything) :optional
   "The compiler policy of the form, where it differs from that of a new image.")
  (defines (list string) :optional
   "Names that the form defined and that its text does not contain.")
  (restarts (list string) :optional
   "Names of the restarts by which the evaluation continued after errors."))

(define-shape replay-remark ()
  "A problem with one form of a replay."
  (index integer "Index of the form, counted from 0.")
  (why string :optional "Why the evaluation of the form failed.")
  (missing (list string) :optional "Names that the form defined before the loss, but not now.")
  (broken boolean :optional "True when the image no longer works after the form."))

(define-shape replay-data ()
  "The answer to a request to replay forms."
  (value boolean :optional)
  (failed (list replay-remark) :optional "Problems with forms."))

(define-operation ("replay" :members t :gives replay-data)
    ;; The server keeps FORMS in a file, which can be damaged. So the wire checks only that each is
    ;; an object, and REPLAY-FORM reports a bad one.
    ((forms (list (map anything))
      "Each has the members of FormEntry, or only `inPackage`: the package for the next forms."))
  "Evaluate FORMS, which built the lost image, and report those that failed, with the reasons.
Before each form, send the server its index, so that the server knows which form hangs or ends the
image. Stop after a form that leaves the image broken."
  (let ((remarks '()))
    (flet ((replay ()
             ;; Use no separate output stream: a program can keep the streams that it finds, and
             ;; write to them later.
             (handler-bind ((warning #'muffle-warning))
               (replay-entries forms (lambda (remark) (push remark remarks))))
             (list "value" t)))
      ;; The answer has REMARKS even if a throw to the job, such as an interruption, ends REPLAY.
      (let ((members (job-result *job*
                                 (lambda ()
                                   (call-in-session
                                    nil (lambda () (call-with-quiet-compiler #'replay)))))))
        ;; Mark the session's settings as shown: they are the settings of the lost image, so answers
        ;; need not report them again.
        (style-members)
        (list* "failed" (reverse remarks) members)))))

(defun replay-entries (entries report)
  "Evaluate the forms of ENTRIES, a list of hash tables with the members of a FORM-ENTRY, in order.
Stop if a form breaks the image. Call the function REPORT with a JSON object for each problem."
  (loop for entry in entries
        for index from 0
        for package-name = (gethash "inPackage" entry)
        do (send-progress index)
           (if package-name
               (setf *package* (or (find-package package-name) *package*))
               (multiple-value-bind (remark broken) (replay-remark entry index)
                 (when remark (funcall report remark))
                 (when broken (return))))))

(defun send-progress (index &rest members)
  "Send the server a message that the replay has reached the form with number INDEX. MEMBERS is a
plist of additional JSON members."
  (send (make-json-object (list* "replaying" index "job" (job-id *job*) members))))

(defun replay-remark (entry index)
  "Evaluate the form of ENTRY, a hash table with the members of a FORM-ENTRY. INDEX is its number.
Return two values: a JSON object about a problem, or NIL if there is none; and true if the image no
longer works."
  (let* ((effects (make-effects))
         (why (replay-form entry effects))
         (missing (set-difference (gethash "defines" entry) (effects-names effects) :test #'equal)))
    (cond (why (object "index" index "why" why))
          ;; Only a form that changes how forms are read or printed can make the check fail.
          ((and (effects-restyles effects) (broken-p index))
           (values (object "index" index "broken" t) t))
          (missing (object "index" index "missing" missing)))))

(defun replay-form (entry effects)
  "Evaluate the form of ENTRY, a hash table with the members of a FORM-ENTRY. Use the package and
the compiler policy with which the lost image evaluated it. Record the effects of the form in
EFFECTS, an EFFECTS structure. Return NIL, or a text with the reason why the form failed."
  (let* ((package-name (gethash "package" entry "COMMON-LISP-USER"))
         (package (find-package package-name))
         (text (gethash "text" entry))
         ;; TAKE-CHOSEN-RESTART, which FAILURE-OF calls after an error, uses these variables.
         (*chosen-restarts* (names-among (gethash "restarts" entry)))
         (*restarts-taken* (make-hash-table :test 'equal)) (*restarts-needing-values* '())
         (*went-on-by* '()))
    (flet ((evaluate ()
             (let ((form (without-parts (form-read text) (gethash "without" entry))))
               (evaluate-noting form effects))))
      (cond ((null package) (format nil "There is no package ~A." package-name))
            ((not (equal (gethash "readtable" entry) (mark-text (readtable-mark *readtable*))))
             "The readtable that it was read with is not there.")
            (t (failure-of
                (lambda ()
                  ;; Settings that changed before the form are not effects of the form.
                  (let ((*package* package) (*compared-settings* (thread-settings)))
                    (proclaim-policy (gethash "policy" entry))
                    ;; CALL-NOTING records the definitions of the form as made by this text and not
                    ;; by a file.
                    (call-noting #'evaluate :by (constantly text))))))))))

(defun form-read (text)
  "Return the form that is read from TEXT. Read within CALL-USER-CODE, because reader macros can be
user code. Load ASDF or the library manager if TEXT names one of their packages."
  (call-user-code (lambda () (call-reading (lambda () (read-from-string text))))))

(defun failure-of (function)
  "Call FUNCTION, without arguments, and return NIL if it returns. For a condition that nothing
handles, invoke the first available restart of *CHOSEN-RESTARTS*. If there is none, end FUNCTION and
return a text about the condition."
  (let* ((tag (list nil))
         ;; NIL, a condition, or a text.
         (failure
          (catch tag
            (flet ((fail (condition hook)
                     (declare (ignore hook))
                     ;; Each of these calls returns only if it finds no restart to invoke.
                     (retry-replaced condition)
                     (retry-with-libraries condition)
                     (take-chosen-restart condition)
                     (throw tag condition)))
              ;; While a restart of the program runs, *PROGRAM-HOOK* is the debugger hook. Bind it
              ;; too, so that an error in such a restart also calls FAIL.
              (let ((*debugger-hook* nil)
                    (sb-ext:*invoke-debugger-hook* #'fail)
                    (*program-hook* #'fail))
                (restart-case (progn (funcall function) nil)
                  (abort () "Its ABORT restart was invoked.")))))))
    ;; FAILURE may be the exhaustion of the stack.
    (when failure (protect-stack-again))
    (if (typep failure 'condition) (report-text 300 failure) failure)))

;;; Whether the image still works

(defun broken-p (index)
  "Return true if the image no longer works after the form with number INDEX. First send the server
a message that the check begins, because the check may never end."
  (send-progress index "probing" t)
  (not (works-p)))

(defun works-p ()
  "Return true if this thread can read, evaluate and print a form with the session's current
settings. This can run user code."
  (flet ((works (text)
           (null (failure-of
                  (lambda ()
                    (call-rebinding
                     (lambda ()
                       (prin1-to-string (list (eval (read-from-string text)) "a" 12 1/3 1.5
                                              #\b)))))))))
    ;; First read a text with #+, only to find out whether *FEATURES* is circular. Then this read
    ;; never ends, and the server knows that the form before it broke the image. The result does not
    ;; matter, since a readtable need not have #+.
    (works "#+CL:NIL 1 CL:T")
    (or (works "(CL:QUOTE CL:T)") (works "(cl:quote cl:t)"))))
