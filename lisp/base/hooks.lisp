;;;; Runs code of the backend within calls of the program: WITH-ISOLATION keeps the backend and the
;;;; program from noticing each other, and hooks make functions of SBCL call the backend. A hook is
;;;; on a function of SBCL, and stays until the backend is removed. To wrap a function of the
;;;; program for a limited time, use wrapping.lisp.

(in-package "LIVE-LISP.BASE")

;;; Keeping the backend and the program apart

(sb-ext:defglobal **kept-away** 0
  "The number of conditions of backend code that WITH-ISOLATION has hidden from handlers of the
program. Only tests read it.")

(sb-ext:defglobal **own-random-state** (sb-ext:seed-random-state 1)
  "The random state of backend code that runs within a call of the program, so that it leaves the
program's random state alone.")

(sb-ext:defglobal **first-modes** (float-modes) "The floating-point modes of a fresh SBCL.")

(sb-ext:defglobal **nowhere** (make-broadcast-stream)
  "A stream that discards all output.")

(defun note-kept-away (condition)
  "Add 1 to **KEPT-AWAY** for CONDITION. Without isolation, a handler of the program would have seen
CONDITION."
  (declare (ignore condition))
  (setf **kept-away** (logand most-positive-fixnum (1+ **kept-away**))))

(defvar *noting* nil
  "True while code of the backend runs within a call of the program. A condition signalled meanwhile
comes from the backend, not from the program.")

(defmacro backend-handler-bind (bindings &body body)
  "Evaluate BODY, code of the program, with handlers of the backend. While a handler runs, *NOTING*
is true. BINDINGS is a list of (TYPE HANDLER) lists, as in HANDLER-BIND."
  `(handler-bind ,(loop for (type handler) in bindings
                        collect `(,type (lambda (condition)
                                          (let ((*noting* t)) (funcall ,handler condition)))))
     ,@body))

;;; +HANDLERS+ and other constants below are names of SBCL's variables and operators (sbcl-*.lisp).
;;; They are NIL if this SBCL has none.

(defmacro with-no-handlers (&body body)
  "Evaluate BODY without the handlers, restarts and deadlines that are in force around it, as at the
start of a thread."
  `(let* (,@(and +handlers+ `((,+handlers+ first-handlers)))
          ,@(and +restarts+ `((,+restarts+ nil)))
          ,@(and +deadline+ `((,+deadline+ nil))))
     ,@body))

(defmacro with-fresh-specials (&body body)
  "Evaluate BODY without the handlers, restarts, deadline and compilation unit of the program. Bind
the standard variables for printing, reading, debugging and random numbers to the values that a
fresh SBCL has."
  `(with-no-handlers
   (let* (,@(and +in-unit+ `((,+in-unit+ nil)))
          (*noting* t)
          (*break-on-signals* nil) (*debugger-hook* nil) (*macroexpand-hook* 'funcall)
          (*package* (or (find-package "COMMON-LISP-USER") *package*))
          (*gensym-counter* *gensym-counter*)
          (*random-state* **own-random-state**)
          (*standard-output* **nowhere**) (*error-output* **nowhere**)
          (*read-base* 10) (*read-default-float-format* 'single-float) (*read-eval* t)
          (*read-suppress* nil)
          (*print-pprint-dispatch* **pretty-printers**) (*print-pretty* nil)
          (*print-right-margin* nil)
          (*print-miser-width* nil) (*print-length* nil) (*print-level* nil) (*print-lines* nil)
          (*print-circle* nil)
          (*print-readably* nil) (*print-base* 10) (*print-radix* nil) (*print-case* :upcase)
          (*print-escape* t)
          (*print-gensym* t) (*print-array* t))
     ,@body)))

(defun call-with-fresh-specials (function)
  "Call FUNCTION, without arguments, within WITH-FRESH-SPECIALS and with the floating-point modes of
a fresh SBCL. Return its values, or NIL if it would have entered the debugger. If a timeout of the
program ended FUNCTION, signal the timeout again to the program."
  (let ((modes (float-modes)) (timeout nil))
    (multiple-value-prog1
        (unwind-protect
             (with-fresh-specials
               (setf (float-modes) **first-modes**)
               (block nil
                 ;; End FUNCTION where SBCL would enter the debugger. A handler must not end it: for
                 ;; some conditions, SB-DI first calls SIGNAL, and signals an error only if no
                 ;; handler has handled them.
                 (let ((sb-ext:*invoke-debugger-hook* (lambda (condition hook)
                                                        (declare (ignore hook))
                                                        (when (typep condition 'sb-ext:timeout)
                                                          (setf timeout condition))
                                                        (return nil))))
                   (handler-bind ((condition #'note-kept-away))
                     (funcall function)))))
          (setf (float-modes) modes))
      (when timeout (cerror "Continue." timeout)))))

(defmacro with-isolation (&body body)
  "Evaluate BODY, code of the backend within a call of the program, with interrupts off. Hide the
program's handlers, variables and modes from BODY, and those of BODY from the program. Return the
values of BODY, or NIL if it would have entered the debugger. A THROW out of BODY works."
  `(flet ((backend-part () ,@body))
     (declare (dynamic-extent #'backend-part))
     (sb-sys:without-interrupts (call-with-fresh-specials #'backend-part))))

(defmacro with-interruptible-isolation (&body body)
  "Evaluate BODY, code of the backend that can take long. This is WITH-ISOLATION with interrupts on,
so that an interrupt can end the call around BODY."
  `(flet ((backend-part () ,@body))
     (declare (dynamic-extent #'backend-part))
     (call-with-fresh-specials #'backend-part)))

;;; Hooks

(defstruct (hook (:constructor make-hook (name listener function before)))
  "A hook from DEFINE-HOOK.
NAME: the name of the hooked function. LISTENER: the name of the function that is called in its
place.
FUNCTION: the function to install under NAME. It calls LISTENER.
BEFORE: the name of a global variable with the original function."
  name listener function before)

(sb-ext:defglobal **hooks** '() "A list of the HOOK structures, newest first.")

(defmacro define-hook (name listener)
  "Define a hook on the function NAME. After a call of INSTALL-HOOKS with LISTENER, a function name,
each call of NAME calls LISTENER with the original function and the arguments of the call. LISTENER
must call the original function, and run all other code in WITH-ISOLATION. NAME is a function name,
or a constant whose value is a function name, or NIL if this SBCL lacks the function. Then there is
no hook."
  (let ((name (if (and (symbolp name) (constantp name)) (symbol-value name) name))
        (before (intern (format nil "**BEFORE-~A-~A**" name listener))))
    (when (and name +named-lambda+)
      `(progn
         (sb-ext:defglobal ,before nil)
         (push (make-hook ',name ',listener
                          (,+named-lambda+ (hook ,listener) (&rest arguments)
                            (apply #',listener (the function ,before) arguments))
                          ',before)
               **hooks**)))))

(defun install-hook (hook)
  "Install HOOK, a HOOK structure. Replace the hooked function, but wrap a generic function, so that
it stays generic."
  (let* ((name (hook-name hook)) (function (hook-function hook)) (called (called-function name))
         (type (known :function :type name)))
    (if (typep called 'generic-function)
        (encapsulate name (hook-listener hook) (fdefinition (hook-listener hook)))
        (progn
          ;; From outside, FUNCTION must look like the original function.
          (setf (symbol-value (hook-before hook)) called
                (plain-lambda-list function) (plain-lambda-list (behind-hooks called))
                (simple-function-name function) name
                (documentation function t) (documentation called t)
                (gethash function **behind**) called)
          (sb-ext:without-package-locks
            (setf (fdefinition name) function))
          ;; The SETF above made SBCL forget the type of the function. The compiler needs the type
          ;; to warn of wrong calls.
          (when type (setf (known :function :type name) type))))))

(sb-ext:defglobal **installed** '() "The installed hooks of **HOOKS**, newest first.")

(defun install-hooks (&rest listeners)
  "Install the hooks that DEFINE-HOOK defined for LISTENERS, names of the functions that run instead
of the hooked functions. Skip hooks that are installed already."
  (if-able "encapsulation"
    (dolist (hook (reverse **hooks**))
      (when (and (member (hook-listener hook) listeners) (not (member hook **installed**)))
        (install-hook hook)
        (push hook **installed**)))))

(defun uninstall-hook (hook)
  "Uninstall HOOK, a HOOK structure. If the program has redefined the hooked function meanwhile,
leave the definition of the program."
  (let* ((name (hook-name hook)) (called (called-function name))
         (type (known :function :type name)))
    (cond ((typep called 'generic-function) (unencapsulate name (hook-listener hook)))
          ((eq (inner-function called) (hook-function hook))
           (sb-ext:without-package-locks
             (setf (fdefinition name) (symbol-value (hook-before hook))))
           (when type (setf (known :function :type name) type))))))

(defun uninstall-hooks (&optional (listeners (mapcar #'hook-listener **hooks**)))
  "Uninstall the hooks that DEFINE-HOOK defined for LISTENERS, a list of names of the functions that
run instead of the hooked functions. The default is all hooks."
  (let ((gone (remove-if-not (lambda (hook) (member (hook-listener hook) listeners))
                             **installed**)))
    (setf **installed** (remove-if (lambda (hook) (member hook gone)) **installed**))
    ;; Two hooks can be on one function. The newer one is the outer one, and is the first of GONE.
    (mapc #'uninstall-hook gone)))
