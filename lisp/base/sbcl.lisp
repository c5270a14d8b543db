;;;; The only access to what SBCL does not document. The files sbcl-*.lisp declare each internal
;;;; name that the agent uses: what it is for, where it is, and what stands in for it. Other files
;;;; use only our names for them, and what SB-EXT, SB-THREAD, SB-GRAY, SB-MOP, SB-ALIEN and SB-SYS
;;;; export, which SBCL's manual describes. The agent is compiled by the SBCL that runs it, so a
;;;; name is looked up when its declaration is expanded. A version without the name gets the
;;;; fallback. A call costs no more than one of SBCL's own operator.

(in-package "LIVE-LISP.BASE")

;;; Abilities

(defstruct (ability (:constructor make-ability (name instead state)))
  "Something that the agent does with internals of SBCL. INSTEAD says what the agent does without
them. STATE is :LEFT-OUT when the agent was compiled without the ability, :PROVEN when a probe has
tried it, else NIL. CHECK, or NIL, is a function that returns true when this process has the
ability. MISSING has texts: the internals not used, and why."
  name instead state (check nil) (missing '()))

(sb-ext:defglobal **abilities** '() "All abilities, the last declared first.")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *ability* "" "The name of the ability declared last: later declarations belong to it."))

(defmacro where-compiled (&body definitions)
  "Evaluate DEFINITIONS where code is compiled. The agent's fasl for the server has nothing of them,
so it loads faster. In the fasls of ASDF they are needed when a single file is compiled again."
  `(eval-when (:compile-toplevel :execute
               ,@(unless (find-package "LIVE-LISP.BOOT") '(:load-toplevel)))
     ,@definitions))

(where-compiled
  (defvar *absent* '() "Our names of the internals that this SBCL does not have.")

  (defun outcome (name)
    "Return the value of the variable NAME of internals.lisp, which runs the probes."
    (symbol-value (find-symbol name "LIVE-LISP.INTERNALS")))

  (defun left-out-names ()
    "Return the names of abilities and internals to do without: LIVE_LISP_WITHOUT has them, with commas between."
    (loop with text = (or (sb-ext:posix-getenv "LIVE_LISP_WITHOUT") "")
          for start = 0 then (1+ end)
          for end = (position #\, text :start start)
          for name = (subseq text start end)
          unless (string= name "") collect name
          while end))

  (defun why-left-out (name)
    "Return as text why the agent is compiled without the internal NAME, or without the ability being declared. Return
NIL when it has both."
    (flet ((among (text)
             (if (member text (left-out-names) :test #'string-equal)
                 "left out"
                 (second (assoc text (outcome "*UNPROVEN*") :test #'string-equal)))))
      (or (among "everything") (among *ability*) (among (string name)))))

  (defun ability-state-now (name)
    "Return the state of the ability NAME in the agent being compiled, a keyword or NIL."
    (cond ((why-left-out name) :left-out)
          ((member name (outcome "*PROVEN*") :test #'equal) :proven))))

(defmacro if-able (ability &body body)
  "Evaluate BODY, unless the agent is compiled without ABILITY."
  (let ((*ability* ability))
    (unless (why-left-out ability) `(progn ,@body))))

(defmacro define-ability (name instead)
  "Declare the ability NAME. The text INSTEAD says what the agent does without it. Later
declarations belong to it."
  (setf *ability* name)
  `(push (make-ability ,name ,instead ,(ability-state-now name)) **abilities**))

(defun named-ability (name)
  "Return the ability NAME."
  (find name **abilities** :key #'ability-name :test #'string=))

(defmacro define-check (form)
  "Make FORM the check of the last ability: it is evaluated in each process, and true when the
ability is there."
  `(setf (ability-check (named-ability ,*ability*)) (lambda () ,form)))

(defun note-missing (ability text)
  "Record that the agent does without an internal of ABILITY. TEXT says which, and why unless this
SBCL lacks it."
  (push text (ability-missing (named-ability ability))))

(defun lacking-p (ability)
  "True when the agent lacks ABILITY. If no probe tried ABILITY as a whole, its check decides, or
else MISSING."
  (case (ability-state ability)
    (:left-out t)
    (:proven nil)
    (t (if (ability-check ability)
           (not (ignore-errors (funcall (ability-check ability))))
           (and (ability-missing ability) t)))))

(defun lacking-abilities ()
  "Return the names of the abilities that the agent lacks, in the order of their declarations."
  (loop for ability in (reverse **abilities**)
        when (lacking-p ability) collect (ability-name ability)))

(defun fallbacks-in-use ()
  "Return a list for each ability that lacks something: its name, what the agent does instead, and a
list of what is missing."
  (loop for ability in (reverse **abilities**)
        for missing = (reverse (ability-missing ability))
        when (or missing (lacking-p ability))
          collect (list (ability-name ability) (ability-instead ability) missing)))

;;; Names

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun internal-symbol (package name)
    "Return the symbol NAME of PACKAGE (both strings), or NIL where there is none."
    (let ((package (find-package package)))
      (and package (find-symbol name package))))

  (defun operator-p (symbol)
    "True when SYMBOL names a function, a macro or a special operator."
    (and symbol (fboundp symbol)))

  (defun type-p (symbol)
    "True when SYMBOL names a type."
    (and symbol (sb-ext:valid-type-specifier-p symbol)))

  (defun first-internal (place test)
    "Return the first symbol of PLACE for which the predicate TEST is true. PLACE has packages and
names in turn: those after the first are the names in other versions of SBCL."
    (loop for (package name) on place by #'cddr
          for symbol = (internal-symbol package name)
          when (funcall test symbol) return symbol))

  (defun fallback-expansion (parameters arguments fallback)
    "Return a form that evaluates ARGUMENTS and then FALLBACK, in which PARAMETERS stand for their
values."
    (if (null fallback)
        `(nothing ,@arguments)
        `(let ,(loop
                for
                parameter
                in
                parameters
                for
                argument
                in
                arguments
                collect
                (list parameter argument))
           (declare (ignorable ,@parameters))
           ,fallback))))

(where-compiled
  (defun used-internal (name place test)
    "Return the symbol for our NAME, as FIRST-INTERNAL finds it, or NIL when the agent does without it."
    (unless (why-left-out name) (first-internal place test)))

  (defun missing-form (name symbol place)
    "When SYMBOL is NIL, since SBCL has no such symbol at PLACE, add NAME, the agent's name for it, to *ABSENT*, and
return a list of one form that records NAME as missing. Else return NIL."
    (unless symbol
      (push name *absent*)
      `((note-missing ,*ability*
                      ,(format nil "~A:~A~@[ ~A~]" (first place) (second place)
                               (why-left-out name)))))))

(defmacro define-here (name &body definitions)
  "Export NAME and evaluate DEFINITIONS where code is compiled."
  `(where-compiled
     (export ',name)
     ,@definitions))

(declaim (inline nothing (setf nothing)))
(defun nothing (&rest arguments)
  "Ignore ARGUMENTS and return NIL: the fallback for what SBCL lacks and is left out."
  (declare (ignore arguments))
  nil)

(defun (setf nothing) (value &rest arguments)
  "Ignore ARGUMENTS, set nothing, and return VALUE."
  (declare (ignore arguments))
  value)

;;; Declarations. Each says what an internal is for and in which PLACE it is, and exports our name
;;; for it.

(defmacro define-internal (name parameters what (&rest place) &optional fallback)
  "Define NAME as a macro of PARAMETERS that calls the operator at PLACE with them, or is the form
FALLBACK. WHAT says what it returns or does. A parameter after &REST stands for all other arguments,
which a fallback cannot use."
  (let ((operator (used-internal name place #'operator-p))
        (required (ldiff parameters (member '&rest parameters)))
        (rest (second (member '&rest parameters))))
    `(progn
       (define-here ,name
         (defmacro ,name ,parameters
           ,what
           ,(if operator
                `(list* ',operator ,@required ,rest)
                `(fallback-expansion ',required (list ,@required) ',fallback))))
       ,@(missing-form name operator place))))

(defmacro define-internal-variable (name what (&rest place) &optional fallback)
  "Define NAME as a symbol macro for the value of the variable or constant that PLACE names:
packages and names in turn, as for FIRST-INTERNAL. If SBCL has none of them, or it is unbound, NAME
stands for the form FALLBACK. WHAT is the documentation of NAME."
  (let ((symbol (used-internal name place #'identity)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name
                              ,(cond ((null symbol) fallback)
                                     ((constantp symbol) symbol)
                                     (t `(if (boundp ',symbol) (symbol-value ',symbol) ,fallback))))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name symbol place))))

(defmacro define-internal-place (name what (&rest place) &optional fallback)
  "Define NAME as a symbol macro for what stands at PLACE, a symbol macro or an alien variable, or
for the form FALLBACK. WHAT says what the value is."
  (let ((symbol (used-internal name place #'identity)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name ,(or symbol fallback))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name symbol place))))

(defmacro define-internal-type (name what (&rest place))
  "Define NAME as the type at PLACE, or as the empty type. WHAT says which objects have it."
  (let ((symbol (used-internal name place #'type-p)))
    `(progn
       (define-here ,name)
       (deftype ,name () ,what ',symbol)
       ,@(missing-form name symbol place))))

(defmacro define-internal-name (name what (&rest place))
  "Define NAME as a constant whose value is the symbol at PLACE, or NIL. WHAT says what the symbol
names."
  (let ((symbol (used-internal name place #'identity)))
    `(progn
       (define-here ,name
         (defconstant ,name ',symbol ,what))
       ,@(missing-form name symbol place))))

;;; Variables and functions of the runtime, which is written in C

(where-compiled
  (defun runtime-name (name there)
    "Return THERE, a function or variable of the runtime, if it exists and the agent uses it as our NAME, else NIL."
    (and (not (why-left-out name)) (sb-sys:find-foreign-symbol-address there) there)))

(defmacro define-runtime-variable (name type what variable)
  "Define NAME as a symbol macro for the VARIABLE of the runtime, of an alien TYPE. Where the
runtime has no such variable, NAME is NIL, and setting it does nothing. WHAT says what the value
is."
  (let ((there (runtime-name name variable)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name ,(if there `(sb-alien:extern-alien ,variable ,type) '(nothing)))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name there (list "runtime" variable)))))

(defmacro define-runtime-function (name (&rest parameters) what function)
  "Define NAME as a macro that calls FUNCTION, a function of the runtime that returns nothing. Where
there is none, the macro only evaluates its arguments. PARAMETERS are lists of a name and an alien
type. WHAT says what FUNCTION does."
  (let ((there (runtime-name name function)) (names (mapcar #'first parameters)))
    `(progn
       (define-here ,name
         (defmacro ,name ,names
           ,what
           ,(if there
                `(list 'sb-alien:alien-funcall
                       '(sb-alien:extern-alien ,function
                         (function sb-alien:void ,@(mapcar #'second parameters)))
                       ,@names)
                `(list 'nothing ,@names))))
       ,@(missing-form name there (list "runtime" function)))))

;;; Libraries that come with SBCL and are loaded later, so their names are looked up when they are
;;; used

(defmacro define-late-internal (name what (&rest place))
  "Define NAME as a function without arguments that returns the operator at PLACE, or NIL while
there is none. WHAT says what the operator does."
  `(progn
     (defun ,name () ,what ,(unless (why-left-out name) `(first-internal ',place #'operator-p)))
     (eval-when (:compile-toplevel :load-toplevel :execute) (export ',name))
     ,@(missing-form name (not (why-left-out name)) place)))

(defun contrib-symbol (package name)
  "Return the symbol NAME of PACKAGE (both strings), or NIL while there is none."
  (internal-symbol package name))

(defun contrib-function (package name)
  "Return the symbol NAME of PACKAGE (both strings) when it names a function, else NIL."
  (let ((symbol (internal-symbol package name)))
    (and (operator-p symbol) symbol)))
