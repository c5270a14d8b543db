;;;; Decides which frames can be left, and makes the call of a frame again. Leaving a frame that
;;;; cannot be left corrupts memory.

(in-package "LIVE-LISP.DEBUG")

;;; Deciding whether a frame can be left

(defun local-name-p (name)
  "Return true if NAME, a debug name of SBCL, names a local function or a function without a name."
  (and (consp name) (member (first name) '(flet labels lambda)) t))

(defun shares-code-p (frame)
  "Return true if the function of FRAME and its caller are in the same code object, or if this is
unknown. If SBCL compiled both at once, the code of the caller may rely on the function never
returning."
  (let ((below (frame-below frame)))
    (flet ((component (frame)
             (nil-if-unknown (function-component (frame-function frame)))))
      (or (null below)
          (null (component frame))
          (eq (component frame) (component below))))))

(defun calls-itself-p (frame)
  "Return true if the caller of FRAME has the same function name as FRAME."
  (let ((below (frame-below frame)))
    (and below (equal (root-name (frame-name below)) (root-name (frame-name frame))))))

(defun never-returns-p (name &key derived)
  "Return true if the function NAME is declaimed never to return. If DERIVED is true, also return
true if the compiler has derived that it never returns. The caller of such a function has no code
after the call, so a return from it is fatal."
  (let ((type (and (or (symbolp name) (and (consp name) (eq (first name) 'setf)))
                   (or derived (eq :declared (known :function :where-from name)))
                   ;; The type of some generic functions is a keyword.
                   (nil-if-unknown (type-specifier (known :function :type name))))))
    (and (consp type) (eq (first type) 'function) (null (third type)) (cddr type) t)))

(defun why-not-left (frame)
  "Return a text with the reason why a debugger cannot return from FRAME, or NIL if it can."
  (let ((name (frame-name frame)) (shares (shares-code-p frame)))
    (cond ((not (frame-tag frame)) "its code was compiled at too low a debug level")
          ((not (eq :standard
                    (nil-if-unknown
                      (returning-convention (compiled-debug (frame-function frame))))))
           "it returns values in a way that only its callers know")
          ((and shares (local-name-p name))
           "it is a local function, and the code of its caller may assume that it never returns")
          ;; COMPILE-FILE with :BLOCK-COMPILE puts several global functions into one code object. A
          ;; function that calls itself also shares its code with its caller. In that case, the type
          ;; that SBCL derived for the function shows whether it returns.
          ((and shares
                (or (not (calls-itself-p frame)) (never-returns-p name :derived t)))
           "it is compiled together with its caller, whose code may assume that it never returns")
          ((never-returns-p name) "it is declaimed never to return"))))

;;; Calling a method again

(defun method-name-parts (name)
  "Return three values for the method with the debug name NAME, a list: its generic function, a list
of its qualifiers, and a list of its specializers."
  (let ((function (plain-definition (second name))) (rest (cddr name)))
    (values function
            (butlast rest)
            (mapcar (lambda (specializer)
                      (if (and (consp specializer) (eq (first specializer) 'eql))
                          (sb-mop:intern-eql-specializer (second specializer))
                          (find-class specializer)))
                    (first (last rest))))))

(defun calling-form (method form)
  "Return a CALL-METHOD form that calls METHOD with the same next methods as FORM, an effective
method form. Return NIL if FORM does not call METHOD."
  (cond ((atom form) nil)
        ((eq (first form) 'call-method)
         (let ((next (and (listp (third form)) (member method (third form)))))
           (cond ((eq method (second form)) form)
                 (next `(call-method ,method ,(rest next)))
                 (t (some (lambda (each) (calling-form method each)) (rest form))))))
        (t (some (lambda (each) (calling-form method each)) form))))

(defun required-arguments (function arguments)
  "Return the required arguments in ARGUMENTS, a list of arguments of the generic function FUNCTION.
FUNCTION chooses methods by these."
  (subseq arguments 0 (length (sb-mop:generic-function-argument-precedence-order function))))

(defun call-method-again (name arguments)
  "NAME is the debug name of a method. Call this method with the list ARGUMENTS. Skip the methods
that would run before it, such as :AROUND methods. CALL-NEXT-METHOD in it calls the next methods
according to the current definitions."
  (multiple-value-bind (function qualifiers specializers) (method-name-parts name)
    (let* ((method (find-method function qualifiers specializers))
           (form (calling-form method
                               (sb-mop:compute-effective-method
                                function
                                (sb-mop:generic-function-method-combination function)
                                (compute-applicable-methods function
                                                            (required-arguments function
                                                                                arguments))))))
      (unless form (error "~S is not applicable any more." method))
      (call-effective (effective-function function form) arguments))))

;;; Making a call again

(defun not-kept-p (value)
  "Return true if VALUE, an argument from a frame, stands for an argument that the code has not
kept."
  (typep value 'unprintable))

(defun frame-call-again (frame)
  "Return a function without parameters that makes the call of FRAME again. If that is impossible,
return NIL and a text with the reason."
  (let* ((name (frame-name frame)) (method (method-name-p name))
         (called (if method (second name) name))
         (arguments (rest (frame-call frame)))
         (why (why-not-left frame)))
    (cond (why (values nil why))
          ((not (and (plain-name-p called) (global-function-p called)))
           (values nil "what it calls has no global name"))
          ((some #'not-kept-p arguments) (values nil "its code does not keep all of its arguments"))
          (method (lambda () (call-method-again name arguments)))
          (t (lambda () (apply (plain-definition name) arguments))))))
