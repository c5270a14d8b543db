;;;; Finds the frames of user code on the stack. The frames of SBCL and of the backend at both ends
;;;; of the stack are left out. Between them, FOLDED-FRAMES puts a FOLDED structure in place of each
;;;; run of system frames. NOTE-FRAME (base/backend-names.lisp) records which functions of the
;;;; backend call user code, or only wait; this file treats their frames specially. The source
;;;; places of frames are in places.lisp, their local variables in locals.lisp.
;;;;
;;;; In names, "below" means older. The most that a stack can have, the newest frames first:
;;;; - the interrupt: from its handler to the frame with which it entered Lisp (BELOW-ENTRY)
;;;; - a wait for an answer, as in LIVE-LISP:CALL-TOOL (BELOW-WAIT)
;;;; - the machinery of SBCL or the backend, such as ERROR (WITHOUT-MACHINERY)
;;;; - user code: what USER-FRAMES returns
;;;; - the machinery and loader that called it, such as EVAL or LOAD (WITHOUT-MACHINERY)
;;;; - the frame with the role :USER-CODE, by which the backend called all this, and older frames

(in-package "LIVE-LISP.JOBS")

(defparameter *frame-limit* 15 "The largest number of frames that an answer shows.")

(defun frame-name (frame)
  "Return the name of the function of FRAME."
  (debug-name (frame-function frame)))

(defun method-name-p (name)
  "Return true if NAME is a debug name of SBCL for the function of a method."
  (and (consp name)
       (symbolp (first name))
       (member (symbol-name (first name)) '("FAST-METHOD" "SLOW-METHOD" "METHOD") :test #'string=)))

(defun program-arguments (name arguments)
  "Return the elements of ARGUMENTS, a list from a frame of the method with the debug name NAME,
that are arguments of the program. Leave out those that SBCL adds for methods."
  ;; A fast method first gets a permutation vector and the next method. The function of another
  ;; method gets a list of the program's arguments first.
  (cond ((string= (first name) "FAST-METHOD") (cddr arguments))
        ((listp (first arguments)) (first arguments))))

(defun kept-arguments (frame)
  "Return a list of the arguments of FRAME. In place of an argument that SBCL has not kept, the list
contains an object that prints as \"not kept\"."
  (let ((name (frame-name frame)) (arguments (given-arguments frame)))
    (loop for argument in (if (method-name-p name) (program-arguments name arguments) arguments)
          collect (if (or (typep argument 'unprintable)
                          (eq argument :invalid-value-for-unescaped-register-storage))
                      (make-unprintable "not kept")
                      argument))))

(defun frame-lambda-list (frame)
  "Return the lambda list of the function of FRAME, without the parameters that SBCL adds for
methods. Return NIL if it is unknown."
  (let ((name (frame-name frame))
        (parameters (nil-if-unknown
                      (plain-lambda-list (function-of-frame (frame-function frame))))))
    (and (listp parameters)
         (if (method-name-p name) (program-arguments name parameters) parameters))))

(defun frame-keywords (frame)
  "Return two values about the function of FRAME: a list of its parameters after &KEY, and the
number of the parameters before &KEY. Return NIL if the function has no &KEY, or has &REST."
  (let* ((parameters (frame-lambda-list frame))
         (keywords (and (listp parameters)
                        (not (member '&rest parameters))
                        (member '&key parameters))))
    (when keywords
      (values (rest keywords)
              (count-if-not (lambda (parameter) (member parameter lambda-list-keywords))
                            (ldiff parameters keywords))))))

(defun initialized-p (name parameters)
  "Return true if the parameter whose symbol name is NAME has a default form in PARAMETERS, a part
of a lambda list."
  (loop for parameter in parameters
          thereis (and (consp parameter)
                       (symbolp (first parameter))
                       (string= name (first parameter))
                       (second parameter)
                       t)))

(defun local-named (name frame)
  "Return a list of one element, the value in FRAME of the variable whose symbol name is NAME.
Return NIL if SBCL has not kept the value."
  (loop with place = (frame-place frame)
        for variable across (debug-variables (frame-function frame))
        for symbol = (variable-symbol variable)
        when (and symbol
                  (symbol-package symbol)
                  (string= name (symbol-name symbol))
                  (eq :valid (variable-validity variable place)))
          return (list (variable-value variable frame))))

(defun frame-arguments (frame)
  "Return a list of the arguments of FRAME, as far as they are known. For a keyword argument, return
the value of its variable if SBCL has kept this value. If the caller did not pass the argument, this
is the default value."
  (let ((arguments (kept-arguments frame)))
    (multiple-value-bind (parameters start) (frame-keywords frame)
      (if (and parameters
               (< start (length arguments))
               ;; A :MORE function has the arguments as the caller passed them.
               (not (eq :more (debug-kind (frame-function frame)))))
          (append (subseq arguments 0 start)
                  (loop for (key value) on (nthcdr start arguments) by #'cddr
                        for name = (and (keywordp key) (symbol-name key))
                        for local = (and name (nil-if-unknown (local-named name frame)))
                        collect key
                        collect (cond (local (first local))
                                      ((and name (null value) (initialized-p name parameters))
                                       (make-unprintable "not kept"))
                                      (t value))))
          arguments))))

(defparameter *machinery*
  '("ERROR" "CERROR" "SIGNAL" "BREAK" "%BREAK" "WARN" "INVOKE-DEBUGGER" "RUN-HOOK" "EVAL"
    "SIMPLE-EVAL-IN-LEXENV" "%SIMPLE-EVAL" "SIMPLE-EVAL-PROGN-BODY"
    "WITH-SIMPLE-CONDITION-RESTARTS" "MAYBE-BREAK-ON-SIGNAL" "%SIGNAL")
  "The names of SBCL's functions whose frames can stand between the frames of user code and those of
the backend.")

(defun name-symbols (name)
  "Return a list of the symbols in NAME, a debug name such as a symbol or the list (FLET X :IN Y).
Of a long or circular name, return only the first symbols."
  (let ((symbols '()) (left 200))
    (labels ((note (part depth)
               (loop while (and (consp part) (plusp depth) (plusp (decf left)))
                     do (note (pop part) (1- depth)))
               (when (and part (symbolp part)) (push part symbols))))
      (note name 10))
    (nreverse symbols)))

(defun function-symbols (name)
  "Return a list of the symbols in NAME, a debug name. For a method, return those in the name of its
generic function."
  (name-symbols (if (method-name-p name) (second name) name)))

(defun named-p (name names)
  "Return true if NAME, a debug name, contains a symbol of SBCL or Common Lisp whose symbol name is
in NAMES, a list."
  (loop for symbol in (function-symbols name)
        for package = (symbol-package symbol)
          thereis (and package
                       (member (symbol-name symbol) names :test #'string=)
                       (or (eq package (find-package "COMMON-LISP"))
                           (sbcl-package-p package)))))

(defun backend-name-p (name)
  "Return true if NAME, a debug name, belongs to a function of the backend."
  (some (lambda (symbol) (backend-package-p (symbol-package symbol))) (function-symbols name)))

(defun machinery-p (name)
  "Return true if NAME, a debug name, belongs to a foreign function, to a function of the backend,
or to a function in *MACHINERY*, by which SBCL signals conditions or evaluates forms. Frames of
such functions at the ends of the stack are not shown."
  (or (stringp name) (backend-name-p name) (named-p name *machinery*)))

(defparameter *entries*
  '("INVOKE-INTERRUPTION" "RUN-HANDLER" "INTERNAL-ERROR" "CONTROL-STACK-EXHAUSTED-ERROR"
    "HEAP-EXHAUSTED-ERROR" "MEMORY-FAULT-ERROR" "CALL-HOOKS")
  "The names of the functions through which a signal, a trap or the garbage collector enters Lisp.")

(defun entry-p (name)
  "Return true if NAME, a debug name, belongs to a function through which a signal, a trap, the
garbage collector or the backend interrupts a thread of the program. Such a function is in
*ENTRIES*, or FRAME-ROLE returns :ENTRY for it, or it is a method for CAPTURE-STREAM, by which the
backend captures output: then NAME contains this symbol. Frames newer than the frame of such a
function do not belong to the program."
  (or (named-p name *entries*)
      (eq :entry (frame-role name))
      (member 'capture-stream (name-symbols name))))

(defun top-level-form-p (name)
  "Return true if NAME is SBCL's debug name for the code of a top-level form in a file. From SBCL
2.4.3 on, an evaluated form can have such a name too."
  (and (consp name) (named-p (first name) '("TOP-LEVEL-FORM"))))

(defun form-p (frame)
  "Return true if SBCL made the function of FRAME from a form, in order to evaluate this form."
  (let ((name (frame-name frame)))
    (or (equal name '(lambda ()))
        (and (top-level-form-p name) (null (frame-file frame))))))

(defun loader-p (name)
  "Return true if NAME, a debug name, belongs to a function of the compiler or loader, or to a
function with which a thread begins. Frames of such functions are between the backend and a
top-level form of a file."
  (let ((symbols (set-difference (name-symbols name) '(flet labels lambda :in))))
    (and (not (top-level-form-p name))
         (or (null symbols)
             (named-p name '("LOAD" "COMPILE-FILE" "CALL-WITH-LOAD-BINDINGS" "LOAD-AS-SOURCE"
                             "EVAL-TLF" "SUB-COMPILE-FILE" "CALL-WITH-LOADER-PACKAGE-NAMES"))
             (every (lambda (symbol)
                      (member (and (symbol-package symbol) (package-name (symbol-package symbol)))
                              '("SB-C" "SB-FASL" "SB-THREAD" "SB-UNIX")
                              :test #'string=))
                    symbols)))))

(defun without-machinery (frames &key loader)
  "Return the tail of FRAMES, a list of frames, that begins with the first frame of user code. A
frame of user code satisfies neither MACHINERY-P nor FORM-P. If LOADER is true, its name does not
satisfy LOADER-P either."
  (member-if-not (lambda (frame)
                   (let ((name (frame-name frame)))
                     (or (machinery-p name) (form-p frame) (and loader (loader-p name)))))
                 frames))

(defun below-entry (frames)
  "FRAMES is a list of frames, newest first. Return the frames of the interrupted program. The newer
frames, down to the oldest one whose name satisfies ENTRY-P, belong to the interrupt. If foreign
code has delivered the interrupt by a call into Lisp, up to six more frames belong to the interrupt:
those down to the oldest foreign frame among the six."
  (let* ((entry (position-if (lambda (frame) (entry-p (frame-name frame))) frames :from-end t))
         (below (if entry (nthcdr (1+ entry) frames) frames))
         (foreign (and entry
                       (position-if (lambda (frame) (stringp (frame-name frame)))
                                    below :end (min 6 (length below)) :from-end t))))
    (if foreign (nthcdr (1+ foreign) below) below)))

(defun below-wait (frames)
  "If the newest frames in FRAMES, a list of frames, newest first, belong to a function of the
backend that waits for an answer, such as LIVE-LISP:CALL-TOOL, return the frames older than this
function. Otherwise return FRAMES."
  (let ((wait (position :wait frames :key (lambda (frame) (frame-role (frame-name frame))))))
    (if wait (nthcdr (1+ wait) frames) frames)))

(defun user-frames ()
  "Return a list of the frames of user code in this thread, newest first. The oldest is the frame of
the user code that the backend has called. Frames of the backend and of SBCL at both ends are left
out."
  (let* ((frames (loop for frame = (top-frame) then (frame-below frame)
                       for depth from 0 below 2000
                       for role = (and frame (frame-role (frame-name frame)))
                       while (and frame (not (eq role :user-code)))
                       unless (eq role :between) collect frame))
         (from-newest-user (without-machinery (below-wait (below-entry frames))))
         (to-oldest-user
           (reverse (without-machinery (reverse from-newest-user) :loader t))))
    ;; The backend's hooks, such as the one for new methods, have frames between those of user code.
    ;; These frames would not help a reader.
    (remove-if (lambda (frame) (backend-name-p (frame-name frame))) to-oldest-user)))

(defun frame-call (frame)
  "Return a list of the name of the function of FRAME, and its arguments as far as they are known."
  (let* ((name (frame-name frame))
         (within (and (proper-length name) (member :in name)))
         (file (second within)))
    (cons (cond ((top-level-form-p name) (make-unprintable "top-level form"))
                ((method-name-p name) (list* :method (rest name)))
                ;; The code was compiled during the load of a file, mostly of a fasl in a cache.
                ((stringp file)
                 (append (ldiff name within)
                         (list :in (subseq file (1+ (or (position #\/ file :from-end t) -1))))))
                (t name))
          (nil-if-unknown (frame-arguments frame)))))

;;; Frames of the system

(defun dispatch-p (name)
  "Return true if NAME, a debug name, belongs to a function that SBCL has made to dispatch the calls
of a generic function."
  (and (consp name)
       (symbolp (first name))
       (eq (symbol-package (first name)) (find-package "SB-PCL"))
       (not (method-name-p name))))

(defun asdf-symbol-p (symbol)
  "Return true if the home package of SYMBOL is COMMON-LISP or a package that comes with ASDF."
  (let ((package (symbol-package symbol)))
    (and package
         (or (eq package (find-package "COMMON-LISP")) (asdf-package-p (package-name package))))))

(defun asdf-function-p (name)
  "Return true if NAME, a debug name, belongs to a function that ASDF or UIOP defines. If it belongs
to a method, all specializers of the method must be classes of ASDF, UIOP or Common Lisp."
  (let ((root (and (not (top-level-form-p name)) (root-name name))))
    (and root
         (symbol-package root)
         (asdf-package-p (package-name (symbol-package root)))
         (or (not (method-name-p name))
             (every (lambda (class) (and (symbolp class) (asdf-symbol-p class)))
                    (first (last name)))))))

(defun system-frame-p (frame)
  "Return true if the function of FRAME belongs to SBCL (also to its compiler or loader), to ASDF or
to the backend. Recognize functions of ASDF by their names, because ASDF can be loaded from any
file."
  (let ((name (frame-name frame)) (file (frame-file frame)))
    (or (stringp name)
        (backend-name-p name)
        (and (symbolp name) (eq (symbol-package name) (find-package "LIVE-LISP")))
        (dispatch-p name)
        (asdf-function-p name)
        (sbcl-file-p file))))

(defparameter *running-forms*
  '("EVAL" "EVAL-IN-LEXENV" "SIMPLE-EVAL-IN-LEXENV" "LOAD" "COMPILE-FILE")
  "Names of functions of SBCL that the backend calls with forms or files of the program.")

(defun program-running-p ()
  "Return true if this thread runs, compiles or reads code of the program. Return false if the
backend has only called functions of SBCL and ASDF."
  (loop for frame = (top-frame) then (frame-below frame)
        repeat 2000
        while (and frame (not (eq :user-code (frame-role (frame-name frame)))))
          thereis (or (named-p (frame-name frame) *running-forms*) (not (system-frame-p frame)))))

(defstruct (folded (:constructor make-folded (count)))
  "A stand-in, in a list of frames, for COUNT frames of the system that are left out."
  count)

(defun without-inner (run newest oldest)
  "Return a copy of RUN, a list of frames of the system, newest first, with a FOLDED structure in
place of its inner frames. Keep the first NEWEST and the last OLDEST frames. If there are fewer than
two inner frames, return RUN."
  (let ((inner (- (length run) newest oldest)))
    (if (> inner 1)
        (append (subseq run 0 newest) (list (make-folded inner)) (last run oldest))
        run)))

(defparameter *system-frames* 4
  "The number of frames that are shown if all frames on the stack belong to the system.")

(defun folded-frames (frames)
  "Return a copy of FRAMES, a list of frames, newest first. In each run of system frames, put a
FOLDED structure in place of most frames. Keep the newest frame of the stack. In each run, keep the
oldest frame if user code called its function. If all frames belong to the system, keep the newest
*SYSTEM-FRAMES*."
  (when (every #'system-frame-p frames)
    (return-from folded-frames (without-inner frames *system-frames* 0)))
  (loop for first = t then nil
        while frames
        append (let* ((own (not (system-frame-p (first frames))))
                      (end (or (if own
                                   (position-if #'system-frame-p frames)
                                   (position-if-not #'system-frame-p frames))
                               (length frames)))
                      (run (subseq frames 0 end)))
                 (setf frames (nthcdr end frames))
                 (if own
                     run
                     (without-inner run (if first 1 0) (if frames 1 0))))))

(defvar *sparing* nil
  "True while there may be too little memory to look up the source places of frames.")

(defun folded-user-frames ()
  "Return a list of the frames of user code in this thread, newest first, with FOLDED structures in
place of most system frames. While *SPARING* is true, keep all frames."
  (if *sparing* (user-frames) (folded-frames (user-frames))))

(defun first-frames (frames)
  "Return two values: a list of the first *FRAME-LIMIT* elements of FRAMES, a list from
FOLDED-USER-FRAMES, and the number of the remaining frames or NIL. A FOLDED structure counts as the
frames for which it stands."
  (let ((more (nthcdr *frame-limit* frames)))
    (values (loop for frame in frames repeat *frame-limit* collect frame)
            (and more (loop for each in more sum (if (folded-p each) (folded-count each) 1))))))

(defun shown-frames ()
  "Return two values: a list of the frames of this thread for an answer, with FOLDED structures
among them, and the number of the remaining frames or NIL."
  (first-frames (folded-user-frames)))

(defun frame-calls (frames)
  "Return a list with an element for each element of FRAMES, a list from SHOWN-FRAMES. For a frame,
it is a pair of the call, from FRAME-CALL, and the place, from CALL-PLACE. For a FOLDED structure,
it is this structure."
  (loop for frame in frames
        collect (if (folded-p frame)
                    frame
                    (cons (frame-call frame)
                          (and (not *sparing*) (not (system-frame-p frame)) (call-place frame))))))

(defun calls-on-stack ()
  "Return two values: a list of at most *FRAME-LIMIT* of the newest calls on the stack, and the
number of the remaining frames, or NIL if none remain. An element is a FOLDED structure, or a pair
of a call and its place, as FRAME-CALLS returns them. Return only NIL if reading the stack signals
an error."
  (nil-if-unknown
    (multiple-value-bind (frames more) (shown-frames)
      (values (frame-calls frames) more))))

(define-shape called-frame (place)
  "A stack frame with its place, as far as that is known."
  (call string)
  (definition string :optional "The name of the function, when its file has changed.")
  (system boolean :optional
   "True for a frame of SBCL, ASDF or the backend. Only held errors have such frames."))

(define-shape folded-frames ()
  "System frames that are not shown."
  (folded integer "How many they are."))

(define-wire-type frame (or called-frame folded-frames)
  "An element of a list of frames: one frame, or several system frames that are not shown.")

(defun frame-object (text place)
  "Return a JSON object with TEXT, a printed call, and PLACE, a plist of JSON members from
CALL-PLACE."
  (make-json-object (list* "call" text place)))

(defparameter *call-level* 4
  "The *PRINT-LEVEL* for printed calls. It is one more than for values, because the names of some
functions are lists.")

(sb-ext:defglobal **frame-printers** (constantly **pretty-printers**)
  "A function without parameters that returns the pprint dispatch table for the arguments of frames.
It runs no user code.")

(defun frame-text (call)
  "Return CALL, a list from FRAME-CALL, as text on one line, without running user code."
  (on-one-line
   (printing-plainly
     (let ((*print-pprint-dispatch* (funcall **frame-printers**)) (*print-pretty* t)
           (*print-right-margin* most-positive-fixnum) (*print-level* *call-level*))
       (print-safely 240 call)))))

(defun printed-call (call)
  "Return the text of CALL, a list from FRAME-CALL. First print CALL with the print methods of the
program. If one of them signals an error, print CALL again without any of them."
  (multiple-value-bind (text failed)
      (let ((*print-level* *call-level*)) (print-safely 240 call))
    (if failed (frame-text call) text)))

(defun frames-data (&optional (calls (calls-on-stack)))
  "Return a list of JSON objects for CALLS, a list from CALLS-ON-STACK. By default, these are the
calls on the stack of this thread."
  (printing-plainly
    (loop for call in calls
          collect (if (folded-p call)
                      (object "folded" (folded-count call))
                      (frame-object (printed-call (car call)) (cdr call))))))

(defun names-data ()
  "Return a list of JSON objects for the calls on the stack of this thread, without their arguments,
because print methods of arguments might never end. Do not read files again to find places."
  (frames-data (let ((*may-read-spans* nil))
                 (loop for call in (calls-on-stack)
                       collect (if (folded-p call)
                                   call
                                   (cons (list (caar call)) (cdr call)))))))
