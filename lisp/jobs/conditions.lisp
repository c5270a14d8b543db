;;;; Describes a condition as data: its type, report, restarts and newest frames. Reports and print
;;;; methods run user code, which can fail or never end. So each call of such code is guarded, its
;;;; output is limited in length, and it runs within the job.

(in-package "LIVE-LISP.JOBS")

(defvar *end-call* nil
  "The backend's restart that ends the current call, or NIL. All restarts established after it
belong to user code.")

(defparameter *restart-limit* 20 "The largest number of restarts that an answer shows.")

(defvar *offered-restarts* :active
  "A list of the restarts that an answer shows, or :ACTIVE for all restarts that are active.")

(defun active-restarts (condition)
  "Return *OFFERED-RESTARTS* if it is a list. Otherwise return a list of the active restarts for
CONDITION, without those of the backend."
  (if (listp *offered-restarts*)
      *offered-restarts*
      (loop for restart in (compute-restarts condition)
            until (eq restart *end-call*)
            collect restart)))

(defun shown-restarts (restarts)
  "Return a list of (RESTART NAME REPORT) lists for the first *RESTART-LIMIT* of RESTARTS, and the
number of the remaining ones or NIL. Of restarts with the same name and report, include only the
newest one. INVOKE-RESTART would find that one."
  (loop with seen = '()
        for (restart . more) on restarts
        for name = (let ((name (restart-name restart))) (if name (symbol-name name) "(no name)"))
        for report = (print-safely 200 restart "~A")
        unless (member (list name report) seen :test #'equal)
          collect (progn (push (list name report) seen)
                         (list restart name report))
            into shown
        until (>= (length seen) *restart-limit*)
        finally (return (values shown (and more (length more))))))

(defun restarts-data (condition)
  "Return a list of JSON objects for the first restarts that are available for CONDITION, and the
number of the remaining ones or NIL. If the test function of a restart signals an error, return
NIL."
  (nil-if-program-fails
    (multiple-value-bind (shown more) (shown-restarts (active-restarts condition))
      (values (loop for (nil name report) in shown collect (object "name" name "report" report))
              more))))

(defun unbound-name (condition)
  "If CONDITION is an UNBOUND-VARIABLE error, return the name of the variable with its package as
text. Otherwise return NIL. The report of CONDITION omits the package if the symbol is accessible."
  ;; The program can make a condition of this type without a name.
  (let ((name (and (typep condition 'unbound-variable)
                   (part-of-condition #'cell-error-name condition))))
    (and name (symbolp name) (symbol-text name))))

(define-shape condition ()
  "A Lisp condition that no handler handled."
  (type string) (text string)
  (variable string :optional
   "The unbound variable that the condition is about, as PACKAGE::NAME.")
  (near (list string) :optional "Names similar to a name that does not exist.")
  (missing boolean :optional "True when the condition means that a name does not exist.")
  (without-manager boolean :optional
   "True when a file uses a package of a library manager, and no manager is set up.")
  (init-file string :optional
   "The user's init file, when it was not loaded and may define the missing name. Sent once per
   image.")
  (restarts (list (object (name string) (report string))) :optional)
  (more-restarts integer :optional "How many more restarts there are than `restarts` lists.")
  (frames (list frame) :optional)
  (more-frames integer :optional
   "How many more frames there are than `frames` lists. This is a lower bound for a very deep
   stack."))

(defun condition-data (condition calls &optional more)
  "Return a JSON object for CONDITION. CALLS and MORE are values of CALLS-ON-STACK: a list of the
newest calls, and the number of older ones or NIL."
  (multiple-value-bind (restarts more-restarts) (restarts-data condition)
    (let ((type (type-of condition)))
      (object "type" (if (symbolp type) (symbol-text type) (print-safely 200 type))
              "text" (report-text 4000 condition)
              "variable" (unbound-name condition)
              "near" (near-condition condition)
              "missing" (missing-name-p condition)
              "withoutManager" (lacks-manager-p (unread-cause condition))
              "initFile" (init-file-lacking (unread-cause condition))
              "restarts" restarts
              "moreRestarts" more-restarts
              "frames" (nil-if-unknown (frames-data calls))
              "moreFrames" more))))

;;; Keeping conditions

(defvar *error-keeper* nil
  "NIL, or a function such as KEEP-ERROR that keeps an error of this call. Its arguments are a
condition, and true if the frames of the condition are still on the stack. It returns a function
that takes the JSON object from CONDITION-DATA and adds it to the kept error.")

(sb-ext:defglobal **thread-error-keeper** nil
  "A function like *ERROR-KEEPER*, for errors that end threads without a job, or NIL.")

(defun described (condition keeper on-stack calls &optional more)
  "Return what CONDITION-DATA returns for CONDITION, CALLS and MORE. If KEEPER, a function like
*ERROR-KEEPER*, is not NIL, let it keep CONDITION with this data. ON-STACK is true if the frames of
CONDITION are still on the stack."
  (let* ((keep (and keeper (nil-if-program-fails (funcall keeper condition on-stack))))
         (data (condition-data condition calls more)))
    (when keep (funcall keep data))
    data))
