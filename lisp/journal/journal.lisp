;;;; Reports each form that changed the image to the server, when the form has ended normally. The
;;;; server keeps these forms to rebuild a lost image. A report is a message such as
;;;; {"built": {"text": "(defun f () *x*)", "package": "CL-USER", "reads": [...]}, "job": 52};
;;;; docs/develop/wire-protocol.md has all members.

(in-package "LIVE-LISP.JOURNAL")

;;; The parts of a form

(defstruct (account (:constructor make-account ()))
  "The effects of all parts of a form together. BUILDS, DAMAGES and RESTYLES are true if they are
true in the EFFECTS of a part. NAMES are the defined names as texts. It leaves out names that a part
such as a DEFUN defines, since the text of the part shows them. WITHOUT has the paths, lists of
indexes, of parts that a rebuilt image does not need. ON-BUILT is a function without parameters.
Once BUILDS is true, it is called before each further part."
  (builds nil) (damages nil) (restyles nil) (names '()) (without '()) (on-built #'list))

(defun parts-of (form)
  "If FORM is a PROGN, a LOCALLY or an EVAL-WHEN with :EXECUTE, return three values: a list of the
forms in it, which EVAL evaluates one after the other, the index in FORM of the first of these, and
a list of the declarations in a LOCALLY, which hold for all of these. For another form return NIL."
  (when (and (consp form) (ignore-errors (list-length form)))
    (case (car form)
      (progn (values (cdr form) 1))
      (eval-when (when (intersection '(:execute eval) (ignore-errors (copy-list (second form))))
                   (values (cddr form) 2)))
      (locally
       (let ((body (member-if-not (lambda (part) (and (consp part) (eq (car part) 'declare)))
                                  (cdr form))))
         (values body (- (length form) (length body)) (ldiff (cdr form) body)))))))

(defun add-effects (form path account effects)
  "Add EFFECTS, the effects of FORM, to ACCOUNT. PATH is a list of indexes, innermost first, that
leads from the outermost form to FORM."
  (when (effects-damages effects) (setf (account-damages account) t))
  (when (effects-restyles effects) (setf (account-restyles account) t))
  (cond ((and (effects-builds effects) (not (effects-damages effects)))
         (setf (account-builds account) t)
         (unless (and (consp form) (definer-p (car form)))
           (setf (account-names account)
                 (union (effects-names effects) (account-names account) :test #'string=))))
        ((consp form) (push (reverse path) (account-without account)))))

(defun evaluate-part (form path account &optional (whole form))
  "Evaluate WHOLE, which is FORM or a LOCALLY with FORM in it. Return a list of its values, and add
its effects to ACCOUNT as effects of FORM. PATH is a list of indexes, innermost first, that leads
from the outermost form to FORM."
  (let ((effects (make-effects)))
    (unwind-protect (evaluate-noting whole effects)
      (add-effects form path account effects))))

(defun evaluate-parts (form path account)
  "Evaluate FORM as EVAL does. If it has PARTS-OF, such as a PROGN, evaluate these one by one.
Return a list of its values, and add the effects of each part to ACCOUNT. PATH is a list of indexes,
innermost first, that leads from the outermost form to FORM."
  (multiple-value-bind (parts first declarations) (parts-of form)
    (if (null parts)
        (evaluate-part form path account)
        (loop with values = '()
              for part in parts
              for index from first
              for place = (cons index path)
              do (when (account-builds account) (funcall (account-on-built account)))
                 (setf values (if declarations
                                  (evaluate-part part place account `(locally ,@declarations ,part))
                                  (evaluate-parts part place account)))
              finally (return values)))))

(defun part-at (form path)
  "Return the part of FORM at PATH, a list of indexes, outermost first."
  (reduce (lambda (part index) (nth index part)) path :initial-value form))

(defun without-parts (form paths)
  "Return a copy of FORM with NIL in place of its parts at PATHS, a list of lists of indexes."
  (if (null paths)
      form
      (loop for part in form
            for index from 0
            for inner = (loop for path in paths when (eql (first path) index) collect (rest path))
            collect (cond ((member '() inner) nil)
                          (inner (without-parts part inner))
                          (t part)))))

;;; Reporting

(defun beginning-of (text)
  "Return the first 200 characters of TEXT, on one line, to name a form in a report."
  (on-one-line (shortened 200 text)))

(defun built-members (form text account package home mark policy restarts)
  "Return a property list for a JSON message that reports how evaluating FORM changed the image.
Return NIL if there is nothing to report. ACCOUNT has the effects of FORM. TEXT is a function that
returns the source text of FORM. PACKAGE, its name HOME, and the compiler's POLICY were current
before FORM was evaluated, and MARK is the result of MARK-BEFORE for the readtable at that time.
RESTARTS are the names of the restarts that were invoked while FORM ran."
  (let ((builds (account-builds account)) (without (reverse (account-without account))))
    (append (when builds
              (list "text" (funcall text)
                    "package" home
                    "without" without
                    "readtable" (mark-text mark)
                    "policy" (policy-data policy)
                    "restarts" restarts
                    "defines" (account-names account)
                    "reads" (read-texts (without-parts form without))))
            (when (account-damages account) (list "damages" (beginning-of (funcall text))))
            (unless (eq package *package*) (list "inPackage" (package-name *package*)))
            (set-members (if builds (mapcar (lambda (path) (part-at form path)) without) form)))))

(defun unfinished-members (form text account)
  "FORM was left before its end. Return a property list of JSON members that report this: the
variables that FORM can have set, and the beginning of its text if a part of it must run again to
rebuild a lost image, or damaged SBCL or the agent. ACCOUNT has the effects of the parts that ran.
TEXT is a function that returns the source text."
  (append (when (or (account-builds account) (account-damages account))
            (list "unfinished" (beginning-of (funcall text))))
          (set-members form)))

(defun report-built (function)
  "Send the server a message \"built\", which reports what a form changed. FUNCTION returns its
members as a property list. Send nothing when FUNCTION returns NIL or signals an error."
  (let ((members (let ((*print-pretty* nil)) (ignore-errors (funcall function)))))
    (when members
      (send (object "built" (make-json-object members) "job" (job-id *job*))))))

(sb-ext:defglobal **opened** (list 0)
  "A list of one number: the number of forms that REPORT-OPEN has reported.")

(defun report-open (text)
  "Report to the server that a form has changed the image and is still running, because the form may
never end. TEXT is a function that returns the source text of the form. Return a number, which the
report of the end of the form must have as the member \"closes\"."
  (let ((number (1+ (sb-ext:atomic-incf (car **opened**)))))
    (report-built (lambda () (list "opens" number "unfinished" (beginning-of (funcall text)))))
    number))

(defun evaluate-reporting (form text show)
  "Evaluate FORM, call SHOW with the list of its values, and return the values of SHOW. Report to
the server how FORM changed the image, or that FORM was left before its end. If FORM can have
changed how values are printed, report this only after SHOW has printed the values. TEXT is a
function that returns the source text of FORM."
  (let* ((package *package*) (home (package-name *package*)) (policy compiler-policy)
         (mark (ignore-errors (mark-before *readtable*))) (before *went-on-by*)
         (account (make-account)) (*seen* (ignore-errors (thread-settings))) (ended nil) (open nil))
    (labels ((end ()
               (unless (shiftf ended t)
                 (report-built (lambda ()
                                 (append (built-members form text account package home mark policy
                                                        (restarts-until before))
                                         (closes))))))
             (closes () (and open (list "closes" open)))
             (open-it () (unless open (setf open (report-open text))))
             (when-held ()
               (when (or (account-builds account) (and *effects* (effects-builds *effects*)))
                 (open-it))
               '()))
      (setf (account-on-built account) #'open-it)
      (unwind-protect
           (let* ((*progress-functions* (cons #'when-held *progress-functions*))
                  (values (evaluate-parts form '() account)))
             (unless (account-restyles account) (end))
             (multiple-value-prog1 (funcall show values)
               (end)))
        (unless ended
          (report-built (lambda () (append (unfinished-members form text account) (closes)))))))))
