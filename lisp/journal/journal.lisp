;;;; Reports each form that changed the image to the server, which keeps these forms to rebuild a
;;;; lost image. A report is a message such as
;;;; {"built": {"text": "(defun f () *x*)", "package": "CL-USER", "reads": [...]}, "job": 52};
;;;; docs/develop/wire-protocol.md has all members.
;;;;
;;;; EVALUATE-REPORTING is the entry. It evaluates the parts of a form, such as those of a PROGN,
;;;; one by one. EVALUATE-NOTING (settings.lisp) evaluates a part and records its EFFECTS
;;;; (effects.lisp), which an ACCOUNT sums up. The report follows when the form has ended. If a part
;;;; has changed the image and the form still runs, an earlier message says so, because the form may
;;;; never end.

(in-package "LIVE-LISP.JOURNAL")

(defstruct (account (:constructor make-account (text)))
  "A form that is evaluated, and the effects of all its parts together.
TEXT: a function that returns the source text of the form.
PACKAGE, HOME, MARK, POLICY, RESTARTS: the current package, its name, MARK-BEFORE of the readtable,
the compiler's policy and *WENT-ON-BY* before the form was evaluated.
BUILDS, DAMAGES, RESTYLES: true if they are true in the EFFECTS of a part.
NAMES: the defined names as texts. Names that a part such as a DEFUN defines are left out, since the
text of the part shows them.
WITHOUT: the paths of parts that a rebuilt image does not need.
OPENED: NIL, or the number in the message that the form has changed the image and still runs."
  text
  (package *package*) (home (package-name *package*))
  (mark (ignore-errors (mark-before *readtable*)))
  (policy compiler-policy) (restarts *went-on-by*)
  (builds nil) (damages nil) (restyles nil) (names '()) (without '()) (opened nil))

(sb-ext:defglobal **opened** (list 0)
  "A list of one number, for atomic increments: the number of forms that REPORT-OPEN has reported.")

(defun evaluate-reporting (form text show)
  "Evaluate FORM, call SHOW with the list of its values, and return the values of SHOW. Report to
the server how FORM changed the image, or that FORM was left before its end. If FORM can have
changed how values are printed, report this only after SHOW has printed the values. TEXT is a
function that returns the source text of FORM."
  (let ((account (make-account text)) (reported nil)
        ;; Settings that changed before FORM are not effects of FORM.
        (*seen* (ignore-errors (thread-settings))))
    (flet ((report (members)
             (unless (shiftf reported t)
               (report-built (lambda () (append (funcall members form account)
                                                (closing-members account))))))
           ;; A member of *PROGRESS-FUNCTIONS*: it is called when an error in FORM is held for
           ;; debugging, because FORM may never continue. It adds no members to the answer.
           (report-if-changed ()
             (when (or (account-builds account) (and *effects* (effects-builds *effects*)))
               (report-open account))
             '()))
      (unwind-protect
           (let* ((*progress-functions* (cons #'report-if-changed *progress-functions*))
                  (values (evaluate-parts form '() account)))
             (unless (account-restyles account) (report #'built-members))
             (multiple-value-prog1 (funcall show values)
               (report #'built-members)))
        (report #'unfinished-members)))))

;;; The parts of a form. A part is named by its path: a list of indexes, outermost first, that leads
;;; from the whole form to the part.

(defun evaluate-parts (form path account)
  "Evaluate FORM, the part at PATH, as EVAL does. If it has PARTS-OF, such as a PROGN, evaluate
these one by one. Return a list of its values, and add the effects of each part to ACCOUNT."
  (multiple-value-bind (parts first declarations) (parts-of form)
    (if (null parts)
        (evaluate-part form form path account)
        (loop with values = '()
              for part in parts
              for index from first
              for part-path = (append path (list index))
              do (when (account-builds account) (report-open account))
                 (setf values (if declarations
                                  (evaluate-part `(locally ,@declarations ,part)
                                                 part part-path account)
                                  (evaluate-parts part part-path account)))
              finally (return values)))))

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

(defun evaluate-part (form part path account)
  "Evaluate FORM, which is PART or a LOCALLY with PART in it. Return a list of its values, and add
its effects to ACCOUNT as effects of PART, the part at PATH."
  (let ((effects (make-effects)))
    (unwind-protect (evaluate-noting form effects)
      (add-effects part path account effects))))

(defun add-effects (part path account effects)
  "Add EFFECTS, the effects of PART, the part at PATH, to ACCOUNT."
  (when (effects-damages effects) (setf (account-damages account) t))
  (when (effects-restyles effects) (setf (account-restyles account) t))
  (cond ((and (effects-builds effects) (not (effects-damages effects)))
         (setf (account-builds account) t)
         (unless (and (consp part) (definer-p (car part)))
           (setf (account-names account)
                 (union (effects-names effects) (account-names account) :test #'string=))))
        ((consp part) (push path (account-without account)))))

(defun part-at (form path)
  "Return the part of FORM at PATH."
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

;;; Messages to the server

(defun report-built (function)
  "Send the server a message \"built\", which reports what a form changed. FUNCTION returns its
members as a property list. Send nothing when FUNCTION returns NIL or signals an error."
  (let ((members (let ((*print-pretty* nil)) (ignore-errors (funcall function)))))
    (when members
      (send (object "built" (make-json-object members) "job" (job-id *job*))))))

(defun report-open (account)
  "Report to the server, unless that was done before, that the form of ACCOUNT has changed the image
and still runs. The report of the end of the form refers to this message by CLOSING-MEMBERS."
  (unless (account-opened account)
    (let ((number (1+ (sb-ext:atomic-incf (car **opened**)))))
      (report-built (lambda ()
                      (list "opens" number
                            "unfinished" (beginning-of (funcall (account-text account))))))
      (setf (account-opened account) number))))

(defun closing-members (account)
  "Return a property list with the number of the message from REPORT-OPEN for ACCOUNT, or NIL."
  (and (account-opened account) (list "closes" (account-opened account))))

(defun built-members (form account)
  "FORM has ended normally. Return a property list of JSON members that report how it changed the
image, or NIL if there is nothing to report."
  (let ((builds (account-builds account)) (without (reverse (account-without account)))
        (text (account-text account)))
    (append (when builds
              (list "text" (funcall text)
                    "package" (account-home account)
                    "without" without
                    "readtable" (mark-text (account-mark account))
                    "policy" (policy-data (account-policy account))
                    "restarts" (restarts-until (account-restarts account))
                    "defines" (account-names account)
                    "reads" (read-texts (without-parts form without))))
            (when (account-damages account) (list "damages" (beginning-of (funcall text))))
            (unless (eq (account-package account) *package*)
              (list "inPackage" (package-name *package*)))
            (set-members (if builds (mapcar (lambda (path) (part-at form path)) without) form)))))

(defun unfinished-members (form account)
  "FORM was left before its end. Return a property list of JSON members that report this: the
variables that FORM can have set, and the beginning of its text if a part of it must run again to
rebuild a lost image, or damaged SBCL or the agent."
  (append (when (or (account-builds account) (account-damages account))
            (list "unfinished" (beginning-of (funcall (account-text account)))))
          (set-members form)))

(defun beginning-of (text)
  "Return the first 200 characters of TEXT, on one line, to name a form in a report."
  (on-one-line (shortened 200 text)))
