;;;; Reports each form that changed the image to the server, which keeps these forms to rebuild a
;;;; lost image. A report is a message such as
;;;; {"built": {"text": "(defun f () *x*)", "package": "CL-USER", "reads": [...]}, "job": 52};
;;;; docs/develop/wire-protocol.md has all members.
;;;;
;;;; EVALUATE-REPORTING is the entry. It evaluates the parts of a form, such as those of a PROGN,
;;;; one by one. EVALUATE-NOTING (settings.lisp) evaluates a part, and records its effects in an
;;;; EFFECTS structure (effects.lisp). An ACCOUNT structure sums up the effects of all parts. The
;;;; backend sends the report when the form has ended. But if a part has changed the image and the
;;;; form still runs, it sends a first message at once, because the form may never end.

(in-package "LIVE-LISP.JOURNAL")

(defstruct (account (:constructor make-account (text)))
  "A form that is being evaluated, and the effects of all its parts together.
TEXT: a function that returns the source text of the form.
PACKAGE, HOME: the current package before the evaluation, and its name.
MARK: the MARK structure with the contents of the readtable before the evaluation.
POLICY: the compiler's policy before the evaluation.
RESTARTS: the value of *WENT-ON-BY*, a list of the restarts taken so far, before the evaluation.
BUILDS, DAMAGES, RESTYLES: true if the slot of the same name is true in the EFFECTS structure of a
part.
NAMES: a list of the defined names, as texts. A name that a part such as a DEFUN form defines is
left out, because the text of this part shows it.
WITHOUT: a list of the paths of parts that a rebuilt image does not need.
OPENED: the number of the message which reported that the form has changed the image and still runs,
or NIL if no such message was sent."
  text
  (package *package*) (home (package-name *package*))
  (mark (nil-if-program-fails (mark-before *readtable*)))
  (policy compiler-policy) (restarts *went-on-by*)
  (builds nil) (damages nil) (restyles nil) (names '()) (without '()) (opened nil))

(sb-ext:defglobal **opened** (list 0)
  "A list of one integer, which can be incremented atomically: the number of messages that
REPORT-OPEN has sent.")

(defun evaluate-reporting (form text show)
  "Evaluate FORM, call SHOW with the list of its values, and return the values of SHOW. Report to
the server the changes that FORM made in the image. If FORM was left by a non-local exit, report
that instead. TEXT is a function that returns the source text of FORM."
  (let ((account (make-account text)) (reported nil)
        ;; Settings that changed before FORM are not effects of FORM.
        (*compared-settings* (nil-if-program-fails (thread-settings))))
    (flet ((report (members-of)
             ;; One report is sent for a form: only the first call counts.
             (unless (shiftf reported t)
               (report-built (lambda () (append (funcall members-of form account)
                                                (and (account-opened account)
                                                     (list "closes"
                                                           (account-opened account))))))))
           ;; This is called when an error in FORM is held for debugging (*PROGRESS-FUNCTIONS*).
           ;; FORM may never continue, so tell the server now what FORM has changed. Return no
           ;; members for the answer. *EFFECTS* has the effects of the part that still runs; ACCOUNT
           ;; gets them when the part ends.
           (report-if-changed ()
             (when (or (account-builds account) (and *effects* (effects-builds *effects*)))
               (report-open account))
             '()))
      (unwind-protect
           (let* ((*progress-functions* (cons #'report-if-changed *progress-functions*))
                  (values (evaluate-parts form '() account)))
             ;; SHOW prints the values. If FORM has changed how forms are read or printed, SHOW can
             ;; fail. So report such a form only after SHOW: if SHOW fails, the form is reported as
             ;; unfinished, and no image is rebuilt with it.
             (unless (account-restyles account) (report #'built-members))
             (multiple-value-prog1 (funcall show values)
               (report #'built-members)))
        (report #'unfinished-members)))))

;;; The parts of a form. A part is named by its path: a list of indexes, outermost first, that leads
;;; from the whole form to the part.

(defun evaluate-parts (form path account)
  "Evaluate FORM, the part at PATH, and return a list of its values. Add its effects to ACCOUNT, an
ACCOUNT structure. If PARTS-OF returns forms for FORM, for example because it is a PROGN, evaluate
these one by one."
  (multiple-value-bind (parts first-index declarations) (parts-of form)
    (if (null parts)
        (evaluate-part form form path account)
        (loop with values = '()
              for part in parts
              for index from first-index
              for part-path = (append path (list index))
              do (when (account-builds account) (report-open account))
                 (setf values (if declarations
                                  (evaluate-part `(locally ,@declarations ,part)
                                                 part part-path account)
                                  (evaluate-parts part part-path account)))
              finally (return values)))))

(defun parts-of (form)
  "Return three values if FORM is a PROGN, a LOCALLY, or an EVAL-WHEN with :EXECUTE: a list of the
forms in its body, the index of the first of them in FORM, and a list of the declarations of a
LOCALLY. Otherwise return NIL."
  (when (and (consp form) (proper-length form))
    (case (car form)
      (progn (values (cdr form) 1))
      (eval-when (when (and (proper-length (second form))
                            (intersection '(:execute eval) (second form)))
                   (values (cddr form) 2)))
      (locally
       (let ((body (member-if-not (lambda (part) (and (consp part) (eq (car part) 'declare)))
                                  (cdr form))))
         (values body (- (length form) (length body)) (ldiff (cdr form) body)))))))

(defun evaluate-part (form part path account)
  "Evaluate FORM, which is PART or a LOCALLY form around it. PART is the part at PATH. Return a list
of the values. Record the effects of PART in ACCOUNT, an ACCOUNT structure."
  (let ((effects (make-effects)))
    (unwind-protect (evaluate-noting form effects)
      (add-effects part path account effects))))

(defun add-effects (part path account effects)
  "PART is the part at PATH of the evaluated form, and EFFECTS an EFFECTS structure for PART. Add
these effects to ACCOUNT, the ACCOUNT structure of the form. If PART did not change the image, or
damaged SBCL or the backend, a rebuild must leave PART out. So add PATH to ACCOUNT-WITHOUT, unless
PART is an atom."
  (when (effects-damages effects) (setf (account-damages account) t))
  (when (effects-restyles effects) (setf (account-restyles account) t))
  (cond ((and (effects-builds effects) (not (effects-damages effects)))
         (setf (account-builds account) t)
         (unless (and (consp part) (definer-p (car part)))
           (setf (account-names account)
                 (union (effects-names effects) (account-names account) :test #'string=))))
        ((consp part) (push path (account-without account)))))

(defun part-at (form path)
  "Return the part of FORM at PATH, a list of indexes, the outermost first."
  (reduce (lambda (part index) (nth index part)) path :initial-value form))

(defun without-parts (form paths)
  "Return a copy of FORM with NIL in place of its parts at PATHS. A path is a list of indexes, the
outermost first."
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
  "Send the server a message \"built\" about the changes that a form made. FUNCTION returns a plist
of the members of the message. If it returns NIL or signals an error, send nothing."
  (let ((members (let ((*print-pretty* nil)) (nil-if-program-fails (funcall function)))))
    (when members
      (send (object "built" (make-json-object members) "job" (job-id *job*))))))

(defun report-open (account)
  "Report to the server that the form of ACCOUNT, an ACCOUNT structure, has changed the image and
still runs. Do nothing after the first time. The report at the end of the form repeats the number of
this message."
  (unless (account-opened account)
    (let ((number (1+ (sb-ext:atomic-incf (car **opened**)))))
      (report-built (lambda ()
                      (list "opens" number
                            "unfinished" (beginning-of (funcall (account-text account))))))
      (setf (account-opened account) number))))

(defun built-members (form account)
  "Return a plist of JSON members about the changes that FORM, which has returned, made in the
image. Return NIL if it made none. ACCOUNT is the ACCOUNT structure of FORM."
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
            ;; A rebuild leaves out these parts, or all of FORM if it built nothing. So variables
            ;; that they set can have other values in the new image.
            (set-members (if builds (mapcar (lambda (path) (part-at form path)) without) form)))))

(defun unfinished-members (form account)
  "Return a plist of JSON members about FORM after a non-local exit: the variables that FORM may
have set and, if it changed the image or damaged SBCL or the backend, the beginning of its text.
ACCOUNT is the ACCOUNT structure of FORM."
  (append (when (or (account-builds account) (account-damages account))
            (list "unfinished" (beginning-of (funcall (account-text account)))))
          (set-members form)))

(defun beginning-of (text)
  "Return the first 200 characters of TEXT on one line. Reports use this text to identify a form."
  (on-one-line (shortened 200 text)))
