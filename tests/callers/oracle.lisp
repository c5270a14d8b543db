;;;; Lists who calls the functions of systems, as their sources tell: it reads the files, expands and walks each form.
;;;; It shares nothing with live-lisp, and knows none of SBCL's cross references.
;;;;
;;;; What it cannot know: names that are computed when the program runs, and code that the compiler finds to be
;;;; unreachable. What compiler macros or inline functions may take away or add is told as what may be, and counts neither
;;;; way. So do functions that another definition has replaced. Functions of SBCL itself, and those that the compiler
;;;; open-codes for structures, are no callees here. Methods have the name of their generic function. A file with syntax
;;;; that its readtable does not have is read up to there.

(require :asdf)
(require :sb-cltl2)
(require :sb-introspect)

(defpackage :caller-oracle
  (:use :cl)
  (:export #:report))

(in-package :caller-oracle)

;;; Where: every cons that is read is noted with its line.

(defvar *lines* nil "Maps each cons that was read from the file to the line on which it begins.")
(defvar *breaks* nil "Where the lines of the file begin.")

(defun line-at (position)
  "Return the number of the line that has POSITION, from 1."
  (let ((low 0) (high (length *breaks*)))
    (loop while (> (- high low) 1)
          do (let ((middle (floor (+ low high) 2)))
               (if (<= (aref *breaks* middle) position) (setf low middle) (setf high middle))))
    (1+ low)))

(defun noting (reader width)
  "Return READER, a function of a macro character of WIDTH characters, noting where conses begin."
  (lambda (stream &rest arguments)
    (let* ((line (line-at (- (file-position stream) width)))
           (values (multiple-value-list (apply reader stream arguments))))
      (when (consp (first values))
        (setf (gethash (first values) *lines*) line))
      (values-list values))))

(defun noting-readtable ()
  "Return a copy of the current readtable that notes where conses begin."
  (let ((readtable (copy-readtable)))
    (dotimes (code 1024)
      (multiple-value-bind (reader terminating) (get-macro-character (code-char code))
        (when (and reader (not (find (code-char code) "#;\",)")))
          (set-macro-character (code-char code) (noting (coerce reader 'function) 1) terminating readtable))))
    (let ((reader (get-dispatch-macro-character #\# #\')))
      (set-dispatch-macro-character #\# #\' (noting (coerce reader 'function) 2) readtable))
    readtable))

(defun text-of (file)
  "Return the text of FILE, in UTF-8 or else Latin-1."
  (flet ((text (format)
           (with-open-file (stream file :external-format format)
             (let ((text (make-string (file-length stream))))
               (subseq text 0 (read-sequence text stream))))))
    (handler-case (text :utf-8) (error () (text :latin-1)))))

;;; What is known of the form that is walked

(defvar *file* nil "The file that is read.")
(defvar *top* nil "The first and the last line of the top-level form.")
(defvar *conses* nil "The conses that were read of the top-level form.")
(defvar *caller* nil "A list: the kind of place and its names, the first of which is its own.")
(defvar *line* nil "The line of the innermost form that stands in the file.")
(defvar *macro* nil "The innermost form that stands in the file, within those around it that do.")
(defvar *maybe* nil "Whether what is found may be or not.")
(defvar *walked* nil "The form that is to be walked as it is.")
(defvar *edges* nil "Maps (callee kind name file line) to the edge.")
(defvar *packages* nil "The packages whose functions are callees.")

(defun library-symbol-p (symbol)
  "True when SYMBOL belongs to what was loaded."
  (and (symbolp symbol) (member (symbol-package symbol) *packages*) t))

(defun name-symbol (name)
  "Return the symbol in NAME, a function name, or NIL."
  (cond ((symbolp name) name)
        ((and (consp name) (eq (first name) 'setf) (symbolp (second name))) (second name))))

(defun name-text (name)
  "Return NAME as PACKAGE::NAME or PACKAGE::(SETF NAME), without bars."
  (let* ((symbol (name-symbol name))
         (package (if (symbol-package symbol) (package-name (symbol-package symbol)) "")))
    (if (consp name)
        (format nil "~A::(SETF ~A)" package (symbol-name symbol))
        (format nil "~A::~A" package (symbol-name symbol)))))

(defun open-coded-p (name)
  "True when NAME is a function that SBCL made for a structure."
  (and (fboundp name)
       (or (sb-int:info :function :source-transform name)
           (and (symbolp name) (macro-function name)))
       t))

(defun place-p (cons name)
  "True when CONS is the place that a call of NAME reads or sets: a part of a form on the line of the call."
  (and (eq (car cons) (name-symbol name))
       (loop for outer in *conses*
               thereis (and (eql (gethash outer *lines*) *line*)
                            (loop for rest = outer then (cdr rest)
                                  while (consp rest) thereis (eq (car rest) cons))))))

(defun within-p (form whole)
  "True when FORM is a part of WHOLE."
  (or (eq form whole)
      (loop for rest = whole then (cdr rest)
            while (consp rest) thereis (within-p form (car rest)))
      (and (sb-int:comma-p whole) (within-p form (sb-int:comma-expr whole)))))

(defun note (name form)
  "Note that FORM uses the function NAME here."
  (let ((symbol (name-symbol name)))
    (when (and symbol (library-symbol-p symbol) (fboundp name) (not (open-coded-p name)))
      (let* ((maybe (or *maybe* (and (compiler-macro-function name) t)))
             (lines (list* (or (gethash form *lines*) *line*)
                           ;; A form that stands elsewhere in the file, as in a MACROLET, is used where its macro is.
                           (and *macro* (not (within-p form *macro*)) (gethash *macro* *lines*))
                           (and (not (gethash form *lines*))
                                (loop for cons in *conses*
                                      when (or (equal cons form) (place-p cons name))
                                        collect (gethash cons *lines*)))))
             (key (list name *caller* *file* *top*))
             (edge (or (gethash key *edges*) (setf (gethash key *edges*) (list maybe)))))
        (unless maybe (setf (first edge) nil))
        (dolist (line lines)
          (when line (pushnew line (rest edge))))))))

;;; The walk

(defparameter *takers*
  '(funcall apply mapcar mapc maplist mapl mapcan mapcon map map-into maphash reduce sort stable-sort merge
    some every notany notevery find-if find-if-not position-if position-if-not count-if count-if-not
    member-if member-if-not assoc-if assoc-if-not rassoc-if rassoc-if-not remove-if remove-if-not
    delete-if delete-if-not substitute-if substitute-if-not nsubstitute-if nsubstitute-if-not
    subst-if subst-if-not nsubst-if nsubst-if-not complement multiple-value-call)
  "Functions of CL that call their arguments.")

(defun quoted-symbol (form)
  "Return the symbol that FORM, (QUOTE SYMBOL), quotes, or NIL."
  (and (typep form '(cons (eql quote) (cons symbol null))) (second form)))

(defun note-designators (form)
  "Note the functions that FORM, a call, is given by their names."
  (loop for (argument next) on (rest form)
        for function = t then (not (member (first form) '(funcall apply multiple-value-call)))
        when (and function (member (first form) *takers*) (quoted-symbol argument))
          do (note (second argument) argument)
        when (and (member argument '(:key :test :test-not)) (quoted-symbol next)
                  (eq (symbol-package (first form)) (find-package :cl)))
          do (note (second next) next)))

(defun local-function-p (name env)
  "True when NAME is a function or macro of FLET, LABELS or MACROLET in ENV."
  (nth-value 1 (sb-cltl2:function-information name env)))

(defun look (form context env)
  "What the walker calls: note what FORM uses, and walk definitions as such."
  (cond ((or (atom form) (not (eq context :eval)) (eq form *walked*)) form)
        ((definition-p form) (walk-definition form env) (values form t))
        (t (note-form form env)
           (let ((*line* (or (gethash form *lines*) *line*))
                 ;; What a macro of this form makes of a form that stands elsewhere is no part of it.
                 (*macro* (if (and (gethash form *lines*) (or (null *macro*) (within-p form *macro*))) form *macro*))
                 (*walked* form))
             (values (inner form env) t)))))

(defun inner (form env)
  "Walk what is in FORM, and what FORM expands into."
  (if (and (symbolp (first form))
           (not (special-operator-p (first form)))
           ;; The walker itself knows what these are.
           (not (member (first form) '(lambda sb-int:named-lambda)))
           (macro-function (first form) env))
      (let ((expansion (macroexpand-1 form env)))
        (unless (eq expansion form)
          (sb-walker::walk-form-internal expansion :eval env))
        form)
      (sb-walker::walk-form-internal form :eval env)))

(defun note-form (form env)
  "Note the functions that FORM itself uses."
  (let ((operator (first form)))
    (cond ((eq operator 'function)
           (let ((name (second form)))
             (when (and (name-symbol name) (not (local-function-p name env)))
               (note name form))))
          ((or (not (symbolp operator)) (special-operator-p operator)) nil)
          ((local-function-p operator env) nil)
          ((macro-function operator env) nil)
          (t (note operator form)
             (note-designators form)
             (note-compiler-macro form env)))))

(defun note-compiler-macro (form env)
  "Note what FORM may become by a compiler macro."
  (let ((expander (compiler-macro-function (first form) env)))
    (when (and expander (library-symbol-p (first form)))
      (let ((*maybe* t)
            (*line* (or (gethash form *lines*) *line*))
            (expansion (ignore-errors (funcall expander form env))))
        (when (and expansion (not (eq expansion form)))
          (walk expansion env))))))

(defun walk (form &optional env)
  "Walk FORM in ENV."
  (sb-walker:walk-form form env #'look))

;;; Definitions

(defparameter *definers*
  '(defun defmacro defmethod defgeneric defclass define-condition defstruct deftype defvar defparameter
    defconstant define-compiler-macro defsetf define-setf-expander sb-ext:defglobal)
  "Operators with a place of their own for what is in them.")

(defun definition-p (form)
  "True when FORM defines something that is a caller."
  (and (member (first form) *definers*) (consp (rest form)) t))

(defun walk-as (kind names form env)
  "Walk FORM, which is what calls in the place of KIND with NAMES."
  (let ((*caller* (cons kind names)))
    (walk form env)))

(defun walk-definition (form env)
  "Walk the parts of FORM, a definition."
  (let ((*line* (or (gethash form *lines*) *line*)) (name (second form)))
    (ecase (first form)
      (defun (walk-as "function" (list name) `(lambda ,@(cddr form)) env))
      (defmacro (walk-as "function" (list name) (macro-lambda form env) env))
      (deftype (walk-as "type expander" (list name) (macro-lambda form env) env))
      (define-compiler-macro (walk-as "compiler macro" (list (name-symbol name)) (macro-lambda form env) env))
      (define-setf-expander (walk-as "setf expander" (list name) (macro-lambda form env) env))
      (defsetf (when (listp (third form))
                 (walk-as "setf expander" (list name) `(lambda (,@(fourth form) ,@(third form)) ,@(nthcdr 4 form)) env)))
      ((defvar defparameter defconstant sb-ext:defglobal)
       (walk-as "initial value" (list name) (third form) env))
      (defmethod (walk-method name (cddr form) env))
      (defgeneric
       (loop for option in (cdddr form)
             when (typep option '(cons (eql :method))) do (walk-method name (rest option) env)))
      (defclass (walk-slots "slot initform" (list name) (fourth form) (nthcdr 4 form) env))
      (define-condition (walk-slots "condition" (list name) (fourth form) (nthcdr 4 form) env))
      (defstruct (walk-structure form env)))))

(defun macro-lambda (form env)
  "Return the function that FORM, like DEFMACRO, makes."
  (destructuring-bind (name lambda-list &rest body) (rest form)
    (sb-cltl2:parse-macro (name-symbol name) lambda-list body env)))

(defun walk-method (name rest env)
  "Walk a method of NAME, of which REST has qualifiers, lambda list and body."
  (let* ((start (position-if #'listp rest))
         (required t)
         (plain (loop for part in (nth start rest)
                      when (member part lambda-list-keywords) do (setf required nil)
                      when (and required (consp part) (typep (second part) '(cons (eql eql))))
                        do (walk (second (second part)) env)
                      collect (if (and required (consp part)) (first part) part))))
    (walk-as "function" (list name)
             `(flet ((call-next-method (&rest rest) rest) (next-method-p () nil))
                (lambda ,plain ,@(nthcdr (1+ start) rest)))
             env)))

(defun walk-slots (kind names slots options env)
  "Walk the initforms of SLOTS, and OPTIONS, of a class or condition."
  (dolist (slot slots)
    (when (consp slot)
      (loop for (key value) on (rest slot) by #'cddr
            when (eq key :initform) do (walk-as kind names value env))))
  (dolist (option options)
    (case (first option)
      (:default-initargs (loop for (nil value) on (rest option) by #'cddr do (walk-as kind names value env)))
      (:report (unless (stringp (second option))
                 (walk-as kind names `(function ,(second option)) env))))))

(defun constructors-of (class)
  "Return the names of the constructors of the structure CLASS and those that include it."
  (when (typep class 'structure-class)
    (append (mapcar #'first (sb-kernel:dd-constructors (sb-kernel:find-defstruct-description (class-name class))))
            (mapcan #'constructors-of (copy-list (sb-mop:class-direct-subclasses class))))))

(defun walk-structure (form env)
  "Walk the defaults of the slots of FORM, a DEFSTRUCT. They belong to its constructors."
  (let* ((head (if (consp (second form)) (second form) (list (second form))))
         (name (first head))
         (names (cons name (constructors-of (find-class name nil)))))
    (loop for slot in (cddr form)
          when (consp slot) do (walk-as "structure slot" names (second slot) env))
    (loop for option in (rest head)
          when (typep option '(cons (eql :constructor) (cons symbol (cons cons))))
            do (walk-as "structure slot" names `(lambda ,(third option) nil) env)
          when (typep option '(cons (member :print-function :print-object) cons))
            ;; SBCL makes a method of it.
            do (walk-as "structure slot" (append names '(print-object)) `(function ,(second option)) env)
          when (typep option '(cons (eql :include)))
            do (loop for slot in (cddr option)
                     when (consp slot) do (walk-as "structure slot" names (second slot) env)))))

;;; Files

(defun not-loaded-p (form)
  "True when FORM, an EVAL-WHEN, is not in the file that is loaded."
  (and (typep form '(cons (eql eval-when) cons))
       (not (intersection (second form) '(:load-toplevel load)))))

(defun walk-top-level (form env)
  "Walk FORM, which stands at the top level."
  (cond ((atom form) nil)
        ((not-loaded-p form) nil)
        ((eq (first form) 'progn) (dolist (each (rest form)) (walk-top-level each env)))
        ((eq (first form) 'eval-when) (dolist (each (cddr form)) (walk-top-level each env)))
        ;; The compiler leaves out what only has a value.
        ((eq (first form) 'function) nil)
        ((and (symbolp (first form))
              (not (eq (symbol-package (first form)) (find-package :cl)))
              (macro-function (first form)))
         (let ((*line* (or (gethash form *lines*) *line*)) (*macro* form))
           (walk-top-level (handler-bind ((warning #'muffle-warning)) (ignore-errors (macroexpand-1 form))) env)))
        (t (let ((*caller* (list "top-level form")))
             (handler-bind ((warning #'muffle-warning))
               (handler-case (walk form env)
                 (error (condition)
                   (format *error-output* "not walked: ~A ~A: ~A~%" *file* *top* condition))))))))

(defun conses-in (form)
  "Return the conses of FORM that were read as a list."
  (let ((seen (make-hash-table :test #'eq)) (conses '()))
    (labels ((visit (part)
               (when (and (consp part) (not (gethash part seen)))
                 (setf (gethash part seen) t)
                 (when (gethash part *lines*) (push part conses))
                 (visit (car part))
                 (visit (cdr part)))
               (when (sb-int:comma-p part) (visit (sb-int:comma-expr part)))))
      (visit form))
    conses))

(defun walk-file (file)
  "Read and walk the forms of FILE."
  (let* ((text (text-of file))
         (*file* (sb-ext:native-namestring (truename file)))
         (*package* (find-package :cl-user))
         (*lines* (make-hash-table :test #'eq))
         (*breaks* (coerce (list* 0 (loop for at = (position #\Newline text) then (position #\Newline text :start (1+ at))
                                          while at collect (1+ at)))
                           'vector))
         (own *readtable*)
         (*readtable* (noting-readtable)))
    (with-input-from-string (stream text)
      (loop
        (peek-char t stream nil)
        (let* ((form (handler-case (read-preserving-whitespace stream nil stream)
                       (error (condition)
                         (format *error-output* "not read: ~A: ~A~%" file condition)
                       (format t "unread	~A~%" *file*)
                         (return))))
               (*line* (or (and (consp form) (gethash form *lines*)) 0))
               (*top* (list *line* (line-at (file-position stream))))
               (*conses* (and (consp form) (conses-in form))))
          (when (eq form stream) (return))
          (cond ((typep form '(cons (eql in-package))) (eval form))
                ((sets-readtable-p form)
                 (setf *readtable* own)
                 (eval form)
                 (setf own *readtable* *readtable* (noting-readtable)))
                (t (walk-top-level form nil))))))))

(defun sets-readtable-p (form)
  "True when FORM is a call of a macro that makes another readtable the current one."
  (and (typep form '(cons symbol))
       (not (member (symbol-package (first form)) (list (find-package :cl))))
       (macro-function (first form))
       (let ((expansion (ignore-errors (macroexpand-1 form))))
         (labels ((sets-p (part)
                    (and (consp part)
                         (or (and (member (first part) '(setf setq)) (consp (rest part)) (eq (second part) '*readtable*))
                             (loop for rest = part then (cdr rest)
                                   while (consp rest) thereis (sets-p (car rest)))))))
           (sets-p expansion)))))

(defun inlined-p (name)
  "True when the compiler can put the body of the function NAME into its callers."
  (and (sb-int:info :function :inlining-data name) t))

(defun lines-in-form (callee inlined place)
  "Return the lines of the uses of CALLEE by the function INLINED, when it is of the same top-level form as PLACE. SBCL
tells these for a use that has come into PLACE with INLINED."
  (destructuring-bind (file top) (last place 2)
    (rest (gethash (list callee (list "function" inlined) file top) *edges*))))

(defun add-inlined ()
  "Note for each caller of an inline function that it may call what that calls."
  (loop repeat 3
        do (let ((new '()) (by-name (make-hash-table :test #'equal)))
             (loop for (callee (kind . names)) being the hash-keys of *edges*
                   when (member kind '("function" "structure slot") :test #'string=)
                     do (dolist (name names) (push callee (gethash name by-name))))
             (loop for key being the hash-keys of *edges*
                   do (destructuring-bind (callee . place) key
                        (when (inlined-p callee)
                          (dolist (inner (gethash callee by-name))
                            (push (cons (cons inner place)
                                        (append (rest (gethash key *edges*)) (lines-in-form inner callee place)))
                                  new)))))
             (loop for (key . lines) in new
                   do (let ((edge (or (gethash key *edges*) (setf (gethash key *edges*) (list t)))))
                        (setf (rest edge) (union lines (rest edge))))))))

(defun elsewhere-p (name file)
  "True when the function NAME that the image has now was not defined in FILE, or NAME is of no package."
  (let ((function (and (fboundp name)
                       (or (and (symbolp name) (macro-function name)) (fdefinition name)))))
    (or (null (symbol-package (name-symbol name)))
        (and function
             (not (typep function 'generic-function))
             (let ((path (sb-introspect:definition-source-pathname (sb-introspect:find-definition-source function))))
               (and path (not (equal file (ignore-errors (sb-ext:native-namestring (truename path)))))))))))

(defun doubt-others ()
  "Note that functions may not be there which another definition has replaced, or which have no name to find them by."
  (loop for (nil (kind name) file) being the hash-keys of *edges* using (hash-value edge)
        when (and (string= kind "function") (elsewhere-p name file))
          do (setf (first edge) t)))

(defun load-quietly (system)
  "Load SYSTEM without a word."
  (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
    (handler-bind ((warning #'muffle-warning))
      (asdf:load-system system))))

(defun parts-of (system)
  "Return SYSTEM and those that it is made of, what others need first. They are of its file, or have its name before a slash."
  (let ((parts '()))
    (labels ((visit (part)
               (dolist (needed (asdf:system-depends-on part))
                 (let ((other (and (typep needed '(or string symbol)) (asdf:find-system needed nil))))
                   (when (and other
                              (or (equal (asdf:system-source-file other) (asdf:system-source-file system))
                                  (equal (asdf:primary-system-name other) (asdf:primary-system-name system))))
                     (visit other))))
               (pushnew part parts)))
      (visit system))
    (reverse parts)))

(defun files-of (system)
  "Return the Lisp files of SYSTEM, and of those beside it, that are loaded."
  (loop for part in (parts-of (asdf:find-system system))
        append (loop for component in (asdf/component:sub-components part :type 'asdf:cl-source-file)
                     collect (asdf:component-pathname component))))

;;; What others tell

(defun caller-of (name)
  "Return the function name that NAME, of the code that calls, is of, or NIL."
  (cond ((null name) nil)
        ((symbolp name) name)
        ((atom name) nil)
        ((member (first name) '(sb-pcl::fast-method sb-pcl::slow-method)) (caller-of (second name)))
        ((and (eq (first name) 'setf) (symbolp (second name))) name)
        ((eq (first name) 'macro-function) (caller-of (second name)))
        ((member :in name) (caller-of (second (member :in name))))))

(defun introspect-callers (name)
  "Return the names of what sb-introspect says calls NAME."
  (mapcar #'car (sb-introspect:who-calls name)))

(defun swank-callers (name)
  "Return the names of what Swank says calls NAME, as its LIST-CALLERS finds it."
  (mapcar #'first (funcall (intern "LIST-CALLERS" "SWANK/BACKEND") name)))

(defun report-others (step)
  "Print what others tell of each STEPth callee."
  (let ((callees (remove-duplicates (loop for (callee) being the hash-keys of *edges* collect callee) :test #'equal))
        (swank (ignore-errors (load-quietly "swank") t)))
    (loop for rest = (sort callees #'string< :key #'name-text) then (nthcdr step rest)
          while rest
          do (loop with callee = (first rest)
                   for (word callers) in `(("sb-introspect" introspect-callers) ("swank" swank-callers))
                   when (or swank (string= word "sb-introspect"))
                     do (format t "~A	~A	~{~A~^,~}~%" word (name-text callee)
                                (remove-duplicates
                                 (mapcar #'name-text
                                         (remove nil (mapcar #'caller-of (ignore-errors (funcall callers callee)))))
                                 :test #'string=))))))

(defparameter *system-packages* (list-all-packages)
  "The packages before a system is loaded.")

(defun system-package-p (package)
  "True when PACKAGE is of SBCL or of this file."
  (member package *system-packages*))

(defun report (systems &optional (step 0))
  "Print the edges that the sources of SYSTEMS have, a line each, and what others tell of each STEPth callee."
  (mapc #'load-quietly systems)
  (let ((*packages* (remove-if #'system-package-p (list-all-packages)))
        (*edges* (make-hash-table :test #'equal)))
    (dolist (file (mapcan #'files-of systems))
      (format t "file	~A~%" (sb-ext:native-namestring (truename file)))
      (walk-file file))
    (add-inlined)
    (doubt-others)
    (loop for (callee (kind . names) file top) being the hash-keys of *edges* using (hash-value (maybe . lines))
          do (format t "edge	~A	~S	~A	~{~A~^,~}	~A	~D	~D	~A	~{~D~^ ~}~%"
                     (name-text callee) callee kind (mapcar #'name-text names) file (first top) (second top)
                     (if maybe 1 0) lines))
    (when (plusp step)
      (report-others step))))
