;;;; Defines the macros by which the agent uses internals of SBCL, which SBCL does not document. The
;;;; files sbcl-*.lisp declare each internal with these macros: its purpose, its name in SBCL, and
;;;; its fallback. Other files use only our names for the internals. They also use the exports of
;;;; SB-EXT, SB-THREAD, SB-GRAY, SB-MOP, SB-ALIEN and SB-SYS, which SBCL's manual describes. The
;;;; agent is compiled by the SBCL that runs it, so an internal is looked up when its declaration is
;;;; expanded. An SBCL without the internal gets the fallback. A call through our name costs no more
;;;; than a direct call of SBCL's operator.

(in-package "LIVE-LISP.BASE")

;;; Abilities

(defstruct (ability (:constructor make-ability (name without state)))
  "A feature of the agent that needs internals of SBCL.
NAME, WITHOUT: its name, and text about the agent's behaviour without it.
STATE: :LEFT-OUT if the agent was compiled without it, :PROVEN if a probe has tried it, else NIL.
CHECK: NIL, or a function without parameters that returns true if this process has it.
MISSING: a list of texts that name internals not used, with the reasons."
  name without state (check nil) (missing '()))

(sb-ext:defglobal **abilities** '() "All ABILITY structures, newest first.")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *ability* "" "The name of the ability declared last: later declarations belong to it."))

(defmacro where-compiled (&body definitions)
  "Evaluate DEFINITIONS when the file is compiled. Leave them out of the fasl for the server, which
loads faster without them. Keep them in fasls that ASDF makes, for compiling single files again."
  `(eval-when (:compile-toplevel :execute
               ,@(unless (find-package "LIVE-LISP.BOOT") '(:load-toplevel)))
     ,@definitions))

(where-compiled
  (defvar *absent* '() "Our names for the internals that this SBCL does not have.")

  (defun outcome (name)
    "Return the value of the variable with the string NAME as name in internals.lisp, the file that
runs the probes."
    (symbol-value (find-symbol name "LIVE-LISP.INTERNALS")))

  (defun left-out-names ()
    "Return a list of the names of the abilities and internals that the agent must not use, from
LIVE_LISP_WITHOUT, an environment variable with commas between names."
    (loop with text = (or (sb-ext:posix-getenv "LIVE_LISP_WITHOUT") "")
          for start = 0 then (1+ end)
          for end = (position #\, text :start start)
          for name = (subseq text start end)
          unless (string= name "") collect name
          while end))

  (defun why-left-out (name)
    "Return text with the reason why the agent is compiled without the internal NAME, or without the
ability being declared. Return NIL if it has both."
    (flet ((among (text)
             (if (member text (left-out-names) :test #'string-equal)
                 "left out"
                 (second (assoc text (outcome "*UNPROVEN*") :test #'string-equal)))))
      (or (among "everything") (among *ability*) (among (string name)))))

  (defun ability-state-now (name)
    "Return the state of the ability NAME, :LEFT-OUT, :PROVEN or NIL, for the agent that is being
compiled."
    (cond ((why-left-out name) :left-out)
          ((member name (outcome "*PROVEN*") :test #'equal) :proven))))

(defmacro if-able (ability &body body)
  "Expand into BODY, or into NIL if the agent is compiled without ABILITY, the name of an ability."
  (let ((*ability* ability))
    (unless (why-left-out ability) `(progn ,@body))))

(defmacro define-ability (name &key without)
  "Declare the ability NAME, a string, to which the next declarations of internals belong. WITHOUT
is text about the agent's behaviour without it."
  (setf *ability* name)
  `(push (make-ability ,name ,without ,(ability-state-now name)) **abilities**))

(defun named-ability (name)
  "Return the ability with the name NAME, a string."
  (find name **abilities** :key #'ability-name :test #'string=))

(defmacro define-check (form)
  "Make FORM the check of the ability declared last. It is evaluated in each process, and returns
true if the process has the ability."
  `(setf (ability-check (named-ability ,*ability*)) (lambda () ,form)))

(defun note-missing (ability text)
  "Record that the agent cannot use an internal of ABILITY. TEXT names the internal and, unless this
SBCL has no such internal, gives the reason."
  (push text (ability-missing (named-ability ability))))

(defun lacking-p (ability)
  "Return true if the agent lacks ABILITY, an ABILITY structure: it was compiled without it, or the
check fails or, without a check, an internal is missing. But return NIL if a probe has tried ABILITY
as a whole."
  (case (ability-state ability)
    (:left-out t)
    (:proven nil)
    (t (if (ability-check ability)
           (not (ignore-errors (funcall (ability-check ability))))
           (and (ability-missing ability) t)))))

(defun lacking-abilities ()
  "Return a list of the names of the abilities that the agent lacks, in the order of their
declarations."
  (loop for ability in (reverse **abilities**)
        when (lacking-p ability) collect (ability-name ability)))

(defun fallbacks-in-use ()
  "Return a list of (NAME WITHOUT MISSING) lists, one for each ability that lacks an internal: its
name, text about the agent's behaviour without it, and a list of texts about the missing internals."
  (loop for ability in (reverse **abilities**)
        for missing = (reverse (ability-missing ability))
        when (or missing (lacking-p ability))
          collect (list (ability-name ability) (ability-without ability) missing)))

;;; Names

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun internal-symbol (package name)
    "Return the symbol NAME of PACKAGE (both strings), or NIL where there is none."
    (let ((package (find-package package)))
      (and package (find-symbol name package))))

  (defun operator-p (symbol)
    "Return true if SYMBOL names a function, a macro or a special operator."
    (and symbol (fboundp symbol)))

  (defun type-p (symbol)
    "Return true if SYMBOL names a type."
    (and symbol (sb-ext:valid-type-specifier-p symbol)))

  (defun first-internal (place test)
    "Return the first symbol of PLACE for which the predicate TEST is true, or NIL. PLACE is a list
of package names and symbol names in turn, such as (\"SB-C\" \"A\" \"SB-INT\" \"B\") for SB-C::A, or
SB-INT::B in other versions of SBCL."
    (loop for (package name) on place by #'cddr
          for symbol = (internal-symbol package name)
          when (funcall test symbol) return symbol))

  (defun fallback-expansion (parameters arguments fallback)
    "Return a form that evaluates ARGUMENTS, binds PARAMETERS to their values, and then evaluates
FALLBACK."
    (if (null fallback)
        `(nothing ,@arguments)
        `(let ,(loop for parameter in parameters
                     for argument in arguments
                     collect (list parameter argument))
           (declare (ignorable ,@parameters))
           ,fallback))))

(where-compiled
  (defun used-internal (name place test)
    "Return SBCL's symbol for NAME, the agent's name of an internal: the first of PLACE that
satisfies the predicate TEST. Return NIL if there is none, or if the agent is compiled without
NAME."
    (unless (why-left-out name) (first-internal place test)))

  (defun missing-form (name symbol place)
    "Return NIL if SYMBOL, from USED-INTERNAL for NAME and PLACE, is not NIL. Else add NAME to
*ABSENT*, and return a list of one form that records the internal as missing."
    (unless symbol
      (push name *absent*)
      `((note-missing ,*ability*
                      ,(format nil "~A:~A~@[ ~A~]" (first place) (second place)
                               (why-left-out name)))))))

(defmacro define-here (name &body definitions)
  "Export the symbol NAME, and evaluate DEFINITIONS where code is compiled."
  `(where-compiled
     (export ',name)
     ,@definitions))

(declaim (inline nothing (setf nothing)))
(defun nothing (&rest arguments)
  "Ignore ARGUMENTS and return NIL. Use this in place of an operator that SBCL lacks and that has no
other fallback."
  (declare (ignore arguments))
  nil)

(defun (setf nothing) (value &rest arguments)
  "Ignore ARGUMENTS, set nothing, and return VALUE."
  (declare (ignore arguments))
  value)

;;; Macros that declare an internal of SBCL. Each takes NAME, our name for the internal, and exports
;;; it; WHAT, its documentation; and PLACE, its names in SBCL, in the form that FIRST-INTERNAL
;;; takes.

(defmacro define-internal (name parameters what (&rest place) &optional fallback)
  "Define the macro NAME with PARAMETERS and the documentation WHAT. It expands into a call of
SBCL's operator at PLACE, a list such as (\"SB-VM\" \"SYMBOL\"), or else into the form FALLBACK,
which can use PARAMETERS except that after &REST."
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
  "Define NAME as a symbol macro, with the documentation WHAT, for SBCL's variable or constant at
PLACE, a list such as (\"SB-VM\" \"SYMBOL\"). If there is none, or it is unbound, NAME expands into
the form FALLBACK."
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
  "Define NAME, with the documentation WHAT, as another name for SBCL's symbol macro or alien
variable at PLACE, a list such as (\"SB-VM\" \"SYMBOL\"). If there is none, NAME expands into the
form FALLBACK."
  (let ((symbol (used-internal name place #'identity)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name ,(or symbol fallback))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name symbol place))))

(defmacro define-internal-type (name what (&rest place))
  "Define NAME, with the documentation WHAT, as a type: SBCL's type at PLACE, a list such
as (\"SB-VM\" \"SYMBOL\"), or the empty type if there is none."
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
  (defun runtime-name (name there)
    "Return THERE, the name of a function or variable of the runtime, if the runtime has it and the
agent uses it as our NAME. Else return NIL."
    (and (not (why-left-out name)) (sb-sys:find-foreign-symbol-address there) there)))

(defmacro define-runtime-variable (name type what variable)
  "Define NAME as a symbol macro, with the documentation WHAT, for the variable VARIABLE of the C
runtime, of the alien type TYPE. Without such a variable, NAME is NIL, and setting it does nothing."
  (let ((there (runtime-name name variable)))
    `(progn
       (define-here ,name
         (define-symbol-macro ,name ,(if there `(sb-alien:extern-alien ,variable ,type) '(nothing)))
         (setf (documentation ',name 'variable) ,what))
       ,@(missing-form name there (list "runtime" variable)))))

(defmacro define-runtime-function (name (&rest parameters) what function)
  "Define NAME as a macro, with the documentation WHAT, that calls FUNCTION of the C runtime, which
returns nothing. Without it, the macro only evaluates its arguments. PARAMETERS are (NAME
ALIEN-TYPE) lists."
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

;;; Internals in libraries that come with SBCL. The libraries can be loaded later, so the names are
;;; looked up when they are used.

(defmacro define-late-internal (name what (&rest place))
  "Define the function NAME without parameters, with the documentation WHAT. It returns SBCL's
operator at PLACE, as for DEFINE-INTERNAL, or NIL while there is none."
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
