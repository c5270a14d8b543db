;;;; Which evaluated forms build the image, so that they are needed to build it again: definitions,
;;;; changes of packages, of the readtable and of what the reader and compiler go by, loads, and
;;;; what undoes these. Nothing is expanded twice: what macros of the user gave is noted.

(in-package "LIVE-LISP.JOURNAL")

(defvar *expansions* nil
  "The forms of macros of the user that this evaluation expanded, newest first, each with what it gave.")
(defvar *expansion-room* 0 "How many more are noted.")
(defvar *steps* 0 "How many more forms are looked at within the form that was evaluated.")
(defvar *locals* '()
  "The local functions around what is looked at: name, forms, and the functions that those can call.")
(defvar *bound* '() "The variables of LETs around what is looked at, each with the form that it is bound to.")
(defvar *damages* nil "True when something in the form that is looked at changes the Lisp system itself.")

(defun expand-noting (function form environment)
  "The *MACROEXPAND-HOOK* of an evaluation."
  (let ((expansion (funcall function form environment)))
    (when (and (consp form) (symbolp (car form)) (not (system-symbol-p (car form)))
               (plusp *expansion-room*))
      (decf *expansion-room*)
      (push (cons form expansion) *expansions*))
    expansion))

;;; Looking at a form

(defun any-builds-p (forms)
  "True when one of FORMS builds the image."
  (loop while (consp forms) thereis (builds-p (pop forms))))

(defun any-used-builds-p (forms)
  "True when one of FORMS, whose values are used, builds the image. Code that interns a symbol to
use it is mostly about to call a function."
  (any-builds-p (remove 'intern forms :key (lambda (form) (and (consp form) (car form))))))

(defun let-builds-p (bindings body)
  "True when the initial value of one of BINDINGS, of a LET with BODY, or BODY builds the image."
  (let ((bound (loop for binding in bindings
                     collect (if (and (consp binding) (consp (cdr binding)))
                                 (cons (car binding) (cadr binding))
                                 (list binding)))))
    (or (any-used-builds-p (mapcar #'cdr bound))
        (let ((*bound* (append bound *bound*)))
          (any-builds-p body)))))

(defun dolist-builds-p (binding body)
  "True when a DOLIST of BINDING and BODY builds the image."
  (when (consp binding)
    (let* ((elements (and (consp (cdr binding)) (literal (second binding))))
           (*bound* (acons (first binding) (when (consp elements) `(quote (progn ,@elements))) *bound*)))
      (or (any-used-builds-p (cdr binding)) (any-builds-p body)))))

(defun flet-builds-p (operator definitions body)
  "True when a form of OPERATOR, FLET or LABELS, with DEFINITIONS and BODY builds the image."
  (let ((*locals* (append (loop for (name nil . forms) in definitions
                                collect (list name forms (if (eq operator 'labels) :these *locals*)))
                          *locals*)))
    (any-builds-p body)))

(defun local-builds-p (name)
  "True when calling the local function NAME builds the image."
  (let ((local (assoc name *locals* :test #'eq)))
    (destructuring-bind (forms callable) (rest local)
      ;; Once is enough, also of one that calls itself.
      (setf (second local) '())
      (let ((*locals* (if (eq callable :these) *locals* callable)))
        (when (any-builds-p forms)
          (setf (second local) forms)
          t)))))

(defun setting-builds-p (place)
  "True when setting PLACE builds the image."
  (cond ((symbolp place)
         (or (member place *settings* :test #'eq) (library-symbol-p place)))
        ((and (consp place) (eq (car place) 'symbol-value)) (setting-builds-p (literal (second place))))
        ((and (consp place) (member (car place) *building-places* :test #'eq))
         (when (and (not (eq (car place) 'documentation)) (system-name-p (literal (second place))))
           (setf *damages* t))
         t)))

(defun settings-build-p (arguments)
  "True when a SETF with ARGUMENTS builds the image."
  (loop for (place value) on arguments by #'cddr
          thereis (or (setting-builds-p place) (builds-p value))))

(defun designated (form)
  "Return the name or the lambda expression of the function that FORM gives where it shows, else NIL."
  (when (and (consp form) (consp (cdr form)))
    (case (car form)
      ((function quote) (cadr form))
      (lambda form)
      (compile (and (null (cadr form)) (literal (third form)))))))

(defun function-builds-p (form)
  "True when calling what FORM gives, a function, builds the image as far as it shows."
  (let ((function (designated form)))
    (cond ((null function) nil)
          ((assoc function *locals* :test #'eq) (local-builds-p function))
          ((symbolp function) (builder-p function))
          ((consp function) (and (eq (car function) 'lambda) (any-builds-p (cddr function)))))))

(defun call-builds-p (arguments)
  "True when a FUNCALL or APPLY of ARGUMENTS builds the image."
  (let ((name (designated (first arguments))))
    (if (member name '(eval compile) :test #'eq)
        (builds-p (cons name (cdr arguments)))
        (function-builds-p (first arguments)))))

(defun mapping-builds-p (arguments)
  "True when a MAPC or its like of ARGUMENTS builds the image."
  (let ((elements (literal (second arguments))))
    (if (eq (designated (first arguments)) 'eval)
        (and (consp elements) (any-builds-p elements))
        (function-builds-p (first arguments)))))

(defun metaclass-p (name)
  "True when instances of the class NAME are classes or generic functions."
  (let ((class (and name (symbolp name) (find-class name nil))))
    (and class (subtypep class '(or class generic-function)) t)))

(defun evaluating-builds-p (form)
  "True when evaluating the value of FORM builds the image as far as it shows."
  (cond ((symbolp form)
         (let ((bound (cdr (assoc form *bound* :test #'eq))))
           (and (consp bound) (evaluating-builds-p bound))))
        ((and (consp form) (consp (cdr form)))
         (case (car form)
           (quote (builds-p (cadr form)))
           (#.+quasiquote+ (let ((made (cadr form)))
                                (and (consp made) (symbolp (car made)) (builds-p made))))
           (list (let ((operator (literal (cadr form))))
                   (and operator (symbolp operator) (definer-p operator))))))))

(defun expansion-builds-p (form)
  "True when what the macro form FORM stands for builds the image."
  (let ((operator (car form)) (noted (assoc form *expansions* :test #'eq)))
    (cond (noted (builds-p (cdr noted)))
          ;; It was expanded where nobody noted it; the name must do.
          ((not (system-symbol-p operator))
           (and (macro-function operator) (eql 0 (search "DEF" (symbol-name operator)))))
          ((macro-function operator)
           (builds-p (ignore-errors (macroexpand-1 form))))
          ;; A function of the system evaluates its arguments and does nothing else that matters here.
          (t (any-used-builds-p (cdr form))))))

(defun operator-builds-p (form)
  "True when FORM, whose operator neither defines nor builds, builds the image by what is in it."
  (destructuring-bind (operator &rest arguments) form
    (case operator
      ((quote function declare) nil)
      ((progn locally block tagbody prog1 prog2 multiple-value-prog1 unwind-protect catch the if when unless
        and or time ignore-errors values)
       (any-builds-p arguments))
      ((let let*) (let-builds-p (first arguments) (cdr arguments)))
      ((flet labels) (flet-builds-p operator (first arguments) (cdr arguments)))
      (dolist (dolist-builds-p (first arguments) (cdr arguments)))
      ((macrolet symbol-macrolet handler-bind eval-when with-compilation-unit
        multiple-value-bind)
       (any-builds-p (cdr arguments)))
      ((handler-case restart-case) (builds-p (first arguments)))
      ((setq setf psetq psetf) (settings-build-p arguments))
      ((push pushnew) (or (setting-builds-p (second arguments)) (builds-p (first arguments))))
      ((pop incf decf remf) (setting-builds-p (first arguments)))
      (rotatef (some #'setting-builds-p arguments))
      (shiftf (some #'setting-builds-p (butlast arguments)))
      (set (setting-builds-p (literal (first arguments))))
      (eval (evaluating-builds-p (first arguments)))
      ((funcall apply) (call-builds-p arguments))
      ((mapc mapcar mapcan maphash) (mapping-builds-p arguments))
      (map (mapping-builds-p (cdr arguments)))
      (make-instance (or (metaclass-p (literal (first arguments))) (any-used-builds-p arguments)))
      (in-package nil)
      (t (expansion-builds-p form)))))

(defun builds-p (form)
  "True when evaluating FORM builds the image; sets *DAMAGES* when it changes the system itself."
  (when (and (consp form) (plusp (decf *steps*)) (ignore-errors (list-length form)))
    (let ((operator (car form)))
      (cond ((consp operator)
             (and (eq (car operator) 'lambda) (any-builds-p (cddr operator))))
            ((not (symbolp operator)) nil)
            ((assoc operator *locals* :test #'eq)
             (or (local-builds-p operator) (any-used-builds-p (cdr form))))
            ;; What has no name is only a value.
            ((and (eq operator 'compile) (null (literal (second form)))) nil)
            ((or (definer-p operator) (builder-p operator)
                 (member operator '(sb-ext:without-package-locks sb-ext:with-unlocked-packages) :test #'eq))
             (when (damages-p operator (cdr form)) (setf *damages* t))
             t)
            (t (operator-builds-p form))))))

(defun building-parts (form)
  "Return whether FORM builds the image, which parts of it are to be left out then (paths of
indexes into PROGN and its like), and whether it has some that change the system itself."
  (cond ((not (and (consp form)
                   (member (car form) '(progn locally eval-when) :test #'eq)
                   (ignore-errors (list-length form))))
         (let* ((*damages* nil) (builds (builds-p form)))
           (values (and builds (not *damages*)) '() *damages*)))
        (t
         (let ((builds nil) (without '()) (damages nil))
           (loop for part in (cdr form)
                 for index from 1
                 when (and (consp part) (not (eq (car part) 'declare))
                           (not (and (eq (car form) 'eval-when) (= index 1))))
                   do (multiple-value-bind (part-builds inner part-damages) (building-parts part)
                        (when part-builds (setf builds t))
                        (when part-damages (setf damages t))
                        (if part-builds
                            (dolist (path inner) (push (cons index path) without))
                            (push (list index) without))))
           (values builds (and builds (nreverse without)) damages)))))
