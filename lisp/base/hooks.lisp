;;;; Code of the agent that runs within calls of the program: how it is kept apart from the program,
;;;; and how functions of SBCL are made to call it.

(in-package "LIVE-LISP.BASE")

;;; Keeping the agent and the program apart

(sb-ext:defglobal **kept-away** 0
  "How many conditions APART has kept from the program's handlers. Tests read it.")

(sb-ext:defglobal **own-random-state** (sb-ext:seed-random-state 1)
  "The random state of agent code within calls of the program.")

(sb-ext:defglobal **first-modes** (float-modes) "The floating-point modes of a fresh SBCL.")

(sb-ext:defglobal **nowhere** (make-broadcast-stream) "A stream that writes nothing.")

(defun note-kept-away (condition)
  "Count CONDITION in **KEPT-AWAY**."
  (declare (ignore condition))
  (setf **kept-away** (logand most-positive-fixnum (1+ **kept-away**))))

(defmacro with-no-handlers (&body body)
  "Evaluate BODY with none of the handlers, restarts and deadlines that were established before, as
in a new thread."
  `(let* (,@(and +handlers+ `((,+handlers+ first-handlers)))
          ,@(and +restarts+ `((,+restarts+ nil)))
          ,@(and +deadline+ `((,+deadline+ nil))))
     ,@body))

(defmacro with-own-specials (&body body)
  "Evaluate BODY with none of the program's handlers, restarts and deadlines, in no compilation unit
of its, and with the values that a fresh SBCL has for what directs the printer, the reader, the
debugger and random numbers."
  `(with-no-handlers
   (let* (,@(and +in-unit+ `((,+in-unit+ nil)))
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
  "Call FUNCTION as WITH-OWN-SPECIALS does, with the floating-point modes of a fresh SBCL. Return
its values, or NIL when it would have entered the debugger. A timeout of the program that ends
FUNCTION is signalled to the program."
  (let ((modes (float-modes)) (late nil))
    (multiple-value-prog1
        (unwind-protect
             (with-own-specials
               (setf (float-modes) **first-modes**)
               (block nil
                 ;; Only what nobody handles ends FUNCTION: SB-DI signals what it then makes an
                 ;; error.
                 (let ((sb-ext:*invoke-debugger-hook* (lambda (condition hook)
                                                        (declare (ignore hook))
                                                        (when (typep condition 'sb-ext:timeout)
                                                          (setf late condition))
                                                        (return nil))))
                   (handler-bind ((condition #'note-kept-away))
                     (funcall function)))))
          (setf (float-modes) modes))
      (when late (cerror "Continue." late)))))

(defmacro apart (&body body)
  "Evaluate BODY, which is the agent's, within a call of the program, so that neither notices the
other: the program's handlers see no condition of BODY, its timers interrupt it later, and it finds
its variables and floating-point modes as they were. Return the values of BODY, or NIL when it would
have entered the debugger. A throw passes."
  `(flet ((agent-part () ,@body))
     (declare (dynamic-extent #'agent-part))
     (sb-sys:without-interrupts (call-with-own-specials #'agent-part))))

(defmacro apart-for-long (&body body)
  "As APART, for a BODY that can take long: it can be interrupted, so that its call can be ended."
  `(flet ((agent-part () ,@body))
     (declare (dynamic-extent #'agent-part))
     (call-with-own-specials #'agent-part)))

;;; Hooks

(sb-ext:defglobal **hooks** '()
  "The hooks that DEFINE-HOOK made, the last first: lists of a function name, the name of the
listener, the function to be called by that name, and the symbol whose value is the function that
was called by it before.")

(defmacro define-hook (name listener)
  "Once INSTALL-HOOKS was called for LISTENER, calls of the function NAME call the function LISTENER
with the function that was called before, and with their arguments. LISTENER must call that with
these; what it does besides, it does APART. NAME can be a constant that holds the name, or NIL where
SBCL has no such function. The function that is called then looks like the one before: a program
that asks for its name or parameters finds no difference."
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
  "Install a hook; the parameters are the elements of **HOOKS**. A generic function is wrapped: it
stays what it is."
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
          ;; SBCL has forgotten it. By the type of a function the compiler warns of wrong calls.
          (when type (setf (known :function :type name) type))))))

(sb-ext:defglobal **installed** '() "Those of **HOOKS** that are installed, the last first.")

(defun install-hooks (&rest listeners)
  "Install the hooks of LISTENERS, names of functions."
  (if-able "encapsulation"
    (dolist (hook (reverse **hooks**))
      (when (member (second hook) listeners)
        (apply #'install-hook hook)
        (push hook **installed**)))))

(defun uninstall-hook (name listener function before)
  "Undo INSTALL-HOOK with these arguments. A function that the program has put in place since then
stays."
  (let ((called (called-function name)) (type (known :function :type name)))
    (cond ((typep called 'generic-function) (unencapsulate name listener))
          ((eq (inner-function called) function)
           (sb-ext:without-package-locks
             (setf (fdefinition name) (symbol-value before)))
           (when type (setf (known :function :type name) type))))))

(defun uninstall-hooks ()
  "Uninstall all hooks."
  (loop while **installed** do (apply #'uninstall-hook (pop **installed**))))
