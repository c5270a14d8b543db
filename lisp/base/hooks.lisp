;;;; Runs code of the agent within calls of the program: WITH-ISOLATION keeps the agent and the
;;;; program from noticing each other, and hooks make functions of SBCL call the agent. A hook is
;;;; for good and for one of SBCL's functions; wrapping.lisp wraps functions of the program for a
;;;; while.

(in-package "LIVE-LISP.BASE")

;;; Keeping the agent and the program apart

(sb-ext:defglobal **kept-away** 0
  "The number of conditions in code of the agent that WITH-ISOLATION has kept from handlers of the
program. Only tests read it.")

(sb-ext:defglobal **own-random-state** (sb-ext:seed-random-state 1)
  "The random state for agent code that runs within calls of the program.")

(sb-ext:defglobal **first-modes** (float-modes) "The floating-point modes of a fresh SBCL.")

(sb-ext:defglobal **nowhere** (make-broadcast-stream)
  "A stream that discards all output.")

(defun note-kept-away (condition)
  "Add 1 to **KEPT-AWAY** for CONDITION, which a handler of the program would have seen."
  (declare (ignore condition))
  (setf **kept-away** (logand most-positive-fixnum (1+ **kept-away**))))

(defvar *noting* nil
  "True while code of the agent runs within a call of the program. What is signalled then is no
error of the program.")

(defmacro agent-handler-bind (bindings &body body)
  "Like HANDLER-BIND, for handlers of the agent around code of the program: *NOTING* is true while
they run. BINDINGS is a list of elements (TYPE HANDLER)."
  `(handler-bind ,(loop for (type handler) in bindings
                        collect `(,type (lambda (condition)
                                          (let ((*noting* t)) (funcall ,handler condition)))))
     ,@body))

(defmacro with-no-handlers (&body body)
  "Evaluate BODY without the handlers, restarts and deadlines that are established around it, as in
a new thread."
  `(let* (,@(and +handlers+ `((,+handlers+ first-handlers)))
          ,@(and +restarts+ `((,+restarts+ nil)))
          ,@(and +deadline+ `((,+deadline+ nil))))
     ,@body))

(defmacro with-own-specials (&body body)
  "Evaluate BODY without the program's handlers, restarts, deadlines and compilation unit. The
variables that direct the printer, the reader, the debugger and random numbers have the values that
they have in a fresh SBCL."
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

(defun call-with-own-specials (function)
  "Call FUNCTION within WITH-OWN-SPECIALS, with the floating-point modes of a fresh SBCL. Return the
values of FUNCTION, or NIL when it would have entered the debugger. If a timeout of the program
ended FUNCTION in this way, signal the timeout again, to the program."
  (let ((modes (float-modes)) (late nil))
    (multiple-value-prog1
        (unwind-protect
             (with-own-specials
               (setf (float-modes) **first-modes**)
               (block nil
                 ;; End FUNCTION only in place of the debugger, when nobody has handled a condition:
                 ;; SB-DI signals some conditions first, and makes errors of them only when nobody
                 ;; handles them.
                 (let ((sb-ext:*invoke-debugger-hook* (lambda (condition hook)
                                                        (declare (ignore hook))
                                                        (when (typep condition 'sb-ext:timeout)
                                                          (setf late condition))
                                                        (return nil))))
                   (handler-bind ((condition #'note-kept-away))
                     (funcall function)))))
          (setf (float-modes) modes))
      (when late (cerror "Continue." late)))))

(defmacro with-isolation (&body body)
  "Evaluate BODY, code of the agent within a call of the program, so that neither notices the other.
The program's handlers see no condition of BODY. Interrupts, such as those of timers, wait until
BODY has ended. The program then finds its variables and floating-point modes unchanged. Return the
values of BODY, or NIL when BODY would have entered the debugger. A THROW out of BODY works as
usual."
  `(flet ((agent-part () ,@body))
     (declare (dynamic-extent #'agent-part))
     (sb-sys:without-interrupts (call-with-own-specials #'agent-part))))

(defmacro with-interruptible-isolation (&body body)
  "Like WITH-ISOLATION, for a BODY that can take long: BODY can be interrupted, so that the call
around it can be ended."
  `(flet ((agent-part () ,@body))
     (declare (dynamic-extent #'agent-part))
     (call-with-own-specials #'agent-part)))

;;; Hooks

(sb-ext:defglobal **hooks** '()
  "The hooks that DEFINE-HOOK defined, newest first. A hook is a list (NAME LISTENER FUNCTION
BEFORE). NAME is the name of the hooked function, LISTENER the name of the function to call instead.
FUNCTION is the function to install under NAME. BEFORE is a global variable for the original
function.")

(defmacro define-hook (name listener)
  "Define a hook on the function NAME. Once INSTALL-HOOKS was called for LISTENER, the name of a
function, each call of NAME calls LISTENER instead. LISTENER takes the original function and the
arguments of the call. It must call the original function with these arguments, and do all other
work within WITH-ISOLATION. NAME is a function name, or a constant such as +SPAWN+ that has a
function name as its value, or NIL where SBCL has no such function. The function that is installed
has the name and the lambda list of the original, so that the program finds no difference."
  (let ((name (if (and (symbolp name) (constantp name)) (symbol-value name) name))
        (before (intern (format nil "**BEFORE-~A-~A**" name listener))))
    (when (and name +named-lambda+)
      `(progn
         (sb-ext:defglobal ,before nil)
         (push (list ',name ',listener
                     (,+named-lambda+ (hook ,listener) (&rest arguments)
                       (apply #',listener (the function ,before) arguments))
                     ',before)
               **hooks**)))))

(defun install-hook (name listener function before)
  "Install one hook. The parameters are the elements of a list in **HOOKS**. Replace the function
NAME by FUNCTION. But wrap a generic function instead, so that it stays a generic function."
  (let ((called (called-function name)) (type (known :function :type name)))
    (if (typep called 'generic-function)
        (encapsulate name listener (fdefinition listener))
        (progn
          (setf (symbol-value before) called
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
  "Install the hooks of LISTENERS, names of functions that were the LISTENER of a DEFINE-HOOK. Leave
alone those that are installed already."
  (if-able "encapsulation"
    (dolist (hook (reverse **hooks**))
      (when (and (member (second hook) listeners) (not (member hook **installed**)))
        (apply #'install-hook hook)
        (push hook **installed**)))))

(defun uninstall-hook (name listener function before)
  "Undo INSTALL-HOOK with the same arguments. If the program has replaced the function since then,
leave the program's function in place."
  (let ((called (called-function name)) (type (known :function :type name)))
    (cond ((typep called 'generic-function) (unencapsulate name listener))
          ((eq (inner-function called) function)
           (sb-ext:without-package-locks
             (setf (fdefinition name) (symbol-value before)))
           (when type (setf (known :function :type name) type))))))

(defun uninstall-hooks (&optional (listeners (mapcar #'second **hooks**)))
  "Uninstall the hooks of LISTENERS, names of functions that were the LISTENER of a DEFINE-HOOK. By
default, uninstall all hooks."
  (let ((gone (remove-if-not (lambda (hook) (member (second hook) listeners)) **installed**)))
    (setf **installed** (remove-if (lambda (hook) (member hook gone :test #'eq)) **installed**))
    (dolist (hook gone) (apply #'uninstall-hook hook))))
