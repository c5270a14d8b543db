;;;; Reports to the server each form that built the image, once it has ended well. The server keeps these forms to
;;;; rebuild a lost image.

(in-package "LIVE-LISP.JOURNAL")

;;; The parts of a form

(defstruct (account (:constructor make-account ()))
  "What the parts of a form did together. NAMES has the texts of the names that they defined, except those that a
definition shows. WITHOUT has the paths, lists of indexes, of the parts that a rebuilt image does not need."
  (builds nil) (damages nil) (restyles nil) (names '()) (without '()))

(defun parts-of (form)
  "Return the parts of FORM, a PROGN or the like, that EVAL evaluates one after the other; NIL for another form. Further
values: the index of the first part, and the declarations that hold for each."
  (when (and (consp form) (ignore-errors (list-length form)))
    (case (car form)
      (progn (values (cdr form) 1))
      (eval-when (when (intersection '(:execute eval) (ignore-errors (copy-list (second form))))
                   (values (cddr form) 2)))
      (locally (let ((body (member-if-not (lambda (part) (and (consp part) (eq (car part) 'declare))) (cdr form))))
                 (values body (- (length form) (length body)) (ldiff (cdr form) body)))))))

(defun put-down (form path account effects)
  "Add the EFFECTS of FORM, the part at PATH, reversed, to ACCOUNT."
  (when (effects-damages effects) (setf (account-damages account) t))
  (when (effects-restyles effects) (setf (account-restyles account) t))
  (cond ((and (effects-builds effects) (not (effects-damages effects)))
         (setf (account-builds account) t)
         (unless (and (consp form) (definer-p (car form)))
           (setf (account-names account) (union (effects-names effects) (account-names account) :test #'string=))))
        ((consp form) (push (reverse path) (account-without account)))))

(defun evaluate-part (form path account &optional (whole form))
  "Evaluate WHOLE: FORM, the part at PATH, reversed, within its declarations. Return the list of its values, and add its
effects to ACCOUNT."
  (let ((effects (make-effects)))
    (unwind-protect (evaluate-noting whole effects)
      (put-down form path account effects))))

(defun evaluate-parts (form path account)
  "Evaluate FORM, the part at PATH, reversed, as EVAL does. Return the list of its values, and add the effects of each
part to ACCOUNT."
  (multiple-value-bind (parts first declarations) (parts-of form)
    (if (null parts)
        (evaluate-part form path account)
        (loop with values = '()
              for part in parts
              for index from first
              for place = (cons index path)
              do (setf values (if declarations
                                  (evaluate-part part place account `(locally ,@declarations ,part))
                                  (evaluate-parts part place account)))
              finally (return values)))))

(defun part-at (form path)
  "Return the part of FORM at PATH, a list of indexes."
  (reduce (lambda (part index) (nth index part)) path :initial-value form))

(defun without-parts (form paths)
  "Return FORM with NIL in the place of its parts at PATHS, lists of indexes."
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
  "Return the first 200 characters of TEXT, on one line."
  (on-one-line (shortened 200 text)))

(defun built-members (form text account package home mark policy)
  "Return the members that report how evaluating FORM changed the image, by ACCOUNT; NIL for nothing. TEXT returns the
source text of FORM. Before it the image had PACKAGE, then called HOME, a readtable of MARK, and POLICY."
  (let ((builds (account-builds account)) (without (reverse (account-without account))))
    (append (when builds
              (list "text" (funcall text)
                    "package" home
                    "without" without
                    "readtable" (mark-text mark)
                    "policy" (policy-data policy)
                    "defines" (account-names account)
                    "reads" (read-texts (without-parts form without))))
            (when (account-damages account) (list "damages" (beginning-of (funcall text))))
            (unless (eq package *package*) (list "inPackage" (package-name *package*)))
            (set-members (if builds (mapcar (lambda (path) (part-at form path)) without) form)))))

(defun unfinished-members (form text account)
  "Return the members that report FORM, which was left before its end: that it built, by ACCOUNT, and what it can have
set. TEXT returns its source text."
  (append (when (or (account-builds account) (account-damages account))
            (list "unfinished" (beginning-of (funcall text))))
          (set-members form)))

(defun tell (function)
  "Send the server the members that FUNCTION returns, if any."
  (let ((members (let ((*print-pretty* nil)) (ignore-errors (funcall function)))))
    (when members
      (send (object "built" (make-json-object members) "job" (job-id *job*))))))

(defun evaluate-telling (form text show)
  "Evaluate FORM, call SHOW with the list of its values, and return its value. Report to the server how FORM changed the
image, or that it was left before its end; for a form that can have changed how values are shown, only after SHOW. TEXT
is a function that returns the source text of FORM."
  (let ((package *package*) (home (package-name *package*)) (policy compiler-policy)
        (mark (ignore-errors (mark-before *readtable*)))
        (account (make-account)) (*seen* (ignore-errors (thread-settings))) (ended nil))
    (flet ((end ()
             (unless (shiftf ended t)
               (tell (lambda () (built-members form text account package home mark policy))))))
      (unwind-protect
           (let ((values (evaluate-parts form '() account)))
             (unless (account-restyles account) (end))
             (multiple-value-prog1 (funcall show values)
               (end)))
        (unless ended
          (tell (lambda () (unfinished-members form text account))))))))
