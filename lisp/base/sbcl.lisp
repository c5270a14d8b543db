;;;; Defines the macros by which the backend uses internals of SBCL: operators, variables and types
;;;; that SBCL does not document. The files sbcl-*.lisp declare each internal with these macros: its
;;;; purpose, its name in SBCL, and its fallback. Other files use only our names for the internals.
;;;; They also use the exports of SB-EXT, SB-THREAD, SB-GRAY, SB-MOP, SB-ALIEN and SB-SYS, which
;;;; SBCL's manual describes. The backend is compiled by the SBCL that runs it, so an internal is
;;;; looked up when its declaration is expanded. An SBCL without the internal gets the fallback. A
;;;; call through our name costs no more than a direct call of SBCL's operator.

(in-package "LIVE-LISP.BASE")

;;; Abilities

(defstruct (ability (:constructor make-ability (name without state)))
  "A feature of the backend that needs internals of SBCL.
NAME, WITHOUT: its name, and a text about the backend's behaviour without it.
STATE: :LEFT-OUT if the backend was compiled without it, :PROVEN if a probe of the whole ability has
succeeded, else NIL.
CHECK: NIL, or a function without parameters that returns true if this process has the ability.
MISSING: a list of texts, each with the name of a missing internal and the reason."
  name without state (check nil) (missing '()))

(sb-ext:defglobal **abilities** '() "A list of all ABILITY structures, newest first.")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *ability* "" "The name of the ability declared last: later declarations belong to it."))

(defmacro where-compiled (&body definitions)
  "Evaluate DEFINITIONS when the file is compiled. Leave them out of the fasl that the server loads,
so that it loads faster. Keep them in a fasl that ASDF makes, so that single files can be compiled
later. The server has boot.lisp compile the file, and only then is there a package LIVE-LISP.BOOT."
  `(eval-when (:compile-toplevel :execute
               ,@(unless (find-package "LIVE-LISP.BOOT") '(:load-toplevel)))
     ,@definitions))

(where-compiled
  (defvar *absent* '()
    "A list of the backend's names of the internals that the backend is compiled without. USED-P
(probes.lisp) reads it: these need no probe.")

  (defun outcome (name)
    "Return the value of the variable NAME, a string, in LIVE-LISP.INTERNALS, the package of
lisp/internals.lisp. That file runs the probes of abilities and internals. Its *PROVEN* is a list of
the names whose probes succeeded, and its *UNPROVEN* a list of (NAME WHY) lists for the others."
    (symbol-value (find-symbol name "LIVE-LISP.INTERNALS")))

  (defun left-out-names ()
    "Return a list of the names of the abilities and internals that the environment variable
LIVE_LISP_WITHOUT excludes. Its value is a list of names with commas between them. The name
everything stands for all."
    (loop with text = (or (sb-ext:posix-getenv "LIVE_LISP_WITHOUT") "")
          for start = 0 then (1+ end)
          for end = (position #\, text :start start)
          for name = (subseq text start end)
          unless (string= name "") collect name
          while end))

  (defun why-left-out (name)
    "Return a text with the reason why the backend is compiled without the internal NAME, or without
the current *ABILITY*. Return NIL if it is compiled with both."
    (flet ((among (text)
             (if (member text (left-out-names) :test #'string-equal)
                 "left out"
                 (second (assoc text (outcome "*UNPROVEN*") :test #'string-equal)))))
      (or (among "everything") (among *ability*) (among (string name)))))

  (defun ability-state-now (name)
    "Return the state, :LEFT-OUT, :PROVEN or NIL, of the ability NAME, a string, for the backend
that is being compiled."
    (cond ((why-left-out name) :left-out)
          ((member name (outcome "*PROVEN*") :test #'equal) :proven))))

(defmacro if-able (ability &body body)
  "Expand into BODY, or into NIL if the backend is compiled without ABILITY, the name of an
ability."
  (let ((*ability* ability))
    (unless (why-left-out ability) `(progn ,@body))))

(defmacro define-ability (name &key without)
  "Declare the ability NAME, a string. The declarations of internals that follow belong to it.
WITHOUT is a text about the backend's behaviour without the ability."
  (setf *ability* name)
  `(push (make-ability ,name ,without ,(ability-state-now name)) **abilities**))

(defun named-ability (name)
  "Return the ability with the name NAME, a string."
  (find name **abilities** :key #'ability-name :test #'string=))

(defmacro define-check (form)
  "Define the check of the ability declared last. A process has the ability if FORM, evaluated in
it, returns true."
  `(setf (ability-check (named-ability ,*ability*)) (lambda () ,form)))

(defun note-missing (ability text)
  "Record in the ability named ABILITY that the backend cannot use one of its internals. TEXT names
the internal. If SBCL has it, TEXT also says why the backend does not use it."
  (push text (ability-missing (named-ability ability))))

(defun lacking-p (ability)
  "Return true if the backend lacks ABILITY, an ABILITY structure. The state of ABILITY decides
this, else its check, and if it has no check, whether an internal is missing."
  (case (ability-state ability)
    (:left-out t)
    (:proven nil)
    (t (if (ability-check ability)
           (not (ignore-errors (funcall (ability-check ability))))
           (and (ability-missing ability) t)))))

(defun lacking-abilities ()
  "Return a list of the names of the abilities that the backend lacks, in the order of their
declarations."
  (loop for ability in (reverse **abilities**)
        when (lacking-p ability) collect (ability-name ability)))

(defun fallbacks-in-use ()
  "Return a list of (NAME WITHOUT MISSING) lists for the abilities that are absent or lack an
internal: the name of the ability, a text about the backend's behaviour without it, and a list of
texts about the missing internals."
  (loop for ability in (reverse **abilities**)
        for missing = (reverse (ability-missing ability))
        when (or missing (lacking-p ability))
          collect (list (ability-name ability) (ability-without ability) missing)))

;;; Names

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun internal-symbol (package name)
    "Return the symbol NAME of PACKAGE (both strings). Return NIL if the package or the symbol does
not exist."
    (let ((package (find-package package)))
      (and package (find-symbol name package))))

  (defun operator-p (symbol)
    "Return true if SYMBOL names a function, a macro or a special operator."
    (and symbol (fboundp symbol)))

  (defun type-p (symbol)
    "Return true if SYMBOL names a type."
    (and symbol (sb-ext:valid-type-specifier-p symbol)))

  (defun first-internal (place test)
    "Return the first symbol in PLACE that satisfies the predicate TEST, or NIL. PLACE is a list of
package names and symbol names in turn: (\"SB-C\" \"A\" \"SB-INT\" \"B\") stands for SB-C::A or, in
other versions of SBCL, SB-INT::B."
    (loop for (package name) on place by #'cddr
          for symbol = (internal-symbol package name)
          when (funcall test symbol) return symbol))

  (defun fallback-expansion (parameters arguments fallback)
    "Return a form that binds PARAMETERS, a list of symbols, to the values of ARGUMENTS, a list of
forms, and evaluates the form FALLBACK. If FALLBACK is NIL, the form evaluates ARGUMENTS and returns
NIL."
    (if (null fallback)
        `(nothing ,@arguments)
        `(let ,(loop for parameter in parameters
                     for argument in arguments
                     collect (list parameter argument))
           (declare (ignorable ,@parameters))
           ,fallback))))

(where-compiled
  (defun used-internal (name place test)
    "Return SBCL's symbol for the internal that the backend calls NAME. This is the first symbol in
PLACE, a list of package names and symbol names in turn, that satisfies the predicate TEST.
Return NIL if there is none, or if the backend is compiled without NAME."
    (unless (why-left-out name) (first-internal place test)))

  (defun missing-form (name found place)
    "Return NIL if FOUND is true: SBCL has the internal NAME, and the backend uses it. Otherwise add
NAME to *ABSENT*, and return a list of one form that records the internal at PLACE as missing."
    (unless found
      (push name *absent*)
      `((note-missing ,*ability*
                      ,(format nil "~A:~A~@[ ~A~]" (first place) (second place)
                               (why-left-out name)))))))

(defmacro define-here (name &body definitions)
  "Export the symbol NAME and evaluate DEFINITIONS, both only when the file is compiled."
  `(where-compiled
     (export ',name)
     ,@definitions))

(declaim (inline nothing (setf nothing)))
(defun nothing (&rest arguments)
  "Return NIL, and ignore ARGUMENTS. This replaces an operator that SBCL lacks and that has no other
fallback."
  (declare (ignore arguments))
  nil)

(defun (setf nothing) (value &rest arguments)
  "Return VALUE, and ignore ARGUMENTS. This replaces a setter that SBCL lacks."
  (declare (ignore arguments))
  value)

;;; These macros declare an internal of SBCL. Each takes NAME, the backend's name for the internal,
;;; and exports it. WHAT is the documentation. PLACE lists the names of the internal in SBCL, in the
;;; form that FIRST-INTERNAL takes. Each NAME needs a probe in probes.lisp.

(defmacro define-internal (name parameters what (&rest place) &optional fallback)
  "Define the macro NAME with PARAMETERS and the documentation WHAT. PARAMETERS may only be required
ones, and one after &REST. A call of NAME expands into a call of SBCL's operator at PLACE, a list
such as (\"SB-VM\" \"SYMBOL\"). If SBCL lacks the operator, the call expands into the form FALLBACK
with PARAMETERS bound, except the parameter after &REST."
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
  "Define the symbol macro NAME, with the documentation WHAT, for SBCL's variable or constant at
PLACE, a list such as (\"SB-VM\" \"SYMBOL\"). NAME expands into the form FALLBACK if SBCL lacks the
variable or it is unbound."
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
  "Define the symbol macro NAME, with the documentation WHAT, for SBCL's symbol macro or alien
variable at PLACE, a list such as (\"SB-VM\" \"SYMBOL\"). If SBCL lacks it, NAME expands into the
form FALLBACK."
  (let ((symbol (used-internal name place #'identity)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name ,(or symbol fallback))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name symbol place))))

(defmacro define-internal-type (name what (&rest place))
  "Define the type NAME, with the documentation WHAT: SBCL's type at PLACE, a list such as
(\"SB-VM\" \"SYMBOL\"), or the empty type if SBCL lacks it."
  (let ((symbol (used-internal name place #'type-p)))
    `(progn
       (define-here ,name)
       (deftype ,name () ,what ',symbol)
       ,@(missing-form name symbol place))))

(defmacro define-internal-name (name what (&rest place))
  "Define the constant NAME, with the documentation WHAT. Its value is SBCL's symbol at PLACE, a
list such as (\"SB-VM\" \"SYMBOL\"), or NIL if there is none."
  (let ((symbol (used-internal name place #'identity)))
    `(progn
       (define-here ,name
         (defconstant ,name ',symbol ,what))
       ,@(missing-form name symbol place))))

;;; Variables and functions of the runtime, which is written in C

(where-compiled
  (defun in-runtime-p (name c-name)
    "Return true if the C runtime has the function or variable C-NAME, a string, and the backend is
not compiled without NAME, its own name for it."
    (and (not (why-left-out name)) (sb-sys:find-foreign-symbol-address c-name) t)))

(defmacro define-runtime-variable (name type what variable)
  "Define the symbol macro NAME, with the documentation WHAT, for VARIABLE, the name of a variable
of the C runtime with the alien type TYPE. If the runtime lacks it, NAME has the value NIL, and
setting NAME does nothing."
  (let ((found (in-runtime-p name variable)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name ,(if found `(sb-alien:extern-alien ,variable ,type) '(nothing)))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name found (list "runtime" variable)))))

(defmacro define-runtime-function (name (&rest parameters) what function)
  "Define the macro NAME, with the documentation WHAT. It calls FUNCTION, the name of a function of
the C runtime that returns nothing. Each element of PARAMETERS is a list (NAME ALIEN-TYPE). If the
runtime lacks the function, the macro only evaluates its arguments."
  (let ((found (in-runtime-p name function)) (names (mapcar #'first parameters)))
    `(progn
       (define-here ,name
         (defmacro ,name ,names
           ,what
           ,(if found
                `(list 'sb-alien:alien-funcall
                       '(sb-alien:extern-alien ,function
                         (function sb-alien:void ,@(mapcar #'second parameters)))
                       ,@names)
                `(list 'nothing ,@names))))
       ,@(missing-form name found (list "runtime" function)))))

;;; Internals in libraries that come with SBCL. The libraries can be loaded later, so the names are
;;; looked up when they are used.

(defmacro define-late-internal (name what (&rest place))
  "Define the function NAME, without parameters and with the documentation WHAT. It returns SBCL's
operator at PLACE, a list such as (\"SB-VM\" \"SYMBOL\"), or NIL while SBCL has none."
  `(progn
     (defun ,name () ,what ,(unless (why-left-out name) `(first-internal ',place #'operator-p)))
     (eval-when (:compile-toplevel :load-toplevel :execute) (export ',name))
     ,@(missing-form name (not (why-left-out name)) place)))

(defun contrib-symbol (package name)
  "Return the symbol NAME of PACKAGE (both strings). Return NIL while they do not exist."
  (internal-symbol package name))

(defun contrib-function (package name)
  "Return the symbol NAME of PACKAGE (both strings) if it names an operator. Otherwise return NIL."
  (let ((symbol (internal-symbol package name)))
    (and (operator-p symbol) symbol)))
