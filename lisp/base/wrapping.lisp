;;;; Wraps functions of the program for a limited time. A program can save the function of a wrapped
;;;; name, set a mock under the name, and later set the saved function again. What it saves is
;;;; SBCL's wrapper, not the function inside. If the mock were put into the same wrapper, the saved
;;;; wrapper would call the mock too. So each function that the program sets under a wrapped name
;;;; gets a new wrapper.

(in-package "LIVE-LISP.BASE")

(defstruct (wrapper (:constructor make-wrapper (key function)))
  "A wrapper of a function. KEY identifies it. FUNCTION is called with the wrapped function and the
arguments of the call."
  key function)

(sb-ext:defglobal **wrappers** (make-hash-table :test 'equal :synchronized t)
  "A hash table from the names of wrapped functions to lists of their WRAPPER structures, innermost
first.")

(sb-ext:defglobal **wrapping** (sb-thread:make-mutex :name "live-lisp wrapping")
  "The mutex that a thread holds while it changes **WRAPPERS**, or wraps or unwraps a function.")

(defmacro while-wrapping (&body body)
  "Evaluate BODY, which wraps or unwraps functions, without interrupts and in one thread at a time.
SBCL takes no lock for this: of two threads that unwrap a function, one would restore the wrapper
that the other has removed."
  `(sb-sys:without-interrupts
     (sb-thread:with-recursive-lock (**wrapping**) ,@body)))

(defun wrap (name key function)
  "Wrap the function NAME: each call of NAME calls FUNCTION with the original function and the
arguments. KEY identifies the wrapper. The wrapper stays when the program sets another function
under NAME."
  (while-wrapping
    (setf (gethash name **wrappers**)
          (append (gethash name **wrappers**) (list (make-wrapper key function))))
    (encapsulate name key function)))

(defun unwrap (name key)
  "Remove the wrapper with KEY from the function NAME. NAME may no longer have a function."
  (while-wrapping
    (unless (setf (gethash name **wrappers**) (remove key (gethash name **wrappers**)
                                                    :key #'wrapper-key))
      (remhash name **wrappers**))
    (handler-case (unencapsulate name key) ((or type-error undefined-function) () nil))))

(defun unwrap-all ()
  "Remove all wrappers in **WRAPPERS** from their functions."
  (loop for (name . wrappers) in (loop for name being the hash-keys of **wrappers**
                                         using (hash-value wrappers)
                                       collect (cons name wrappers))
        do (dolist (wrapper wrappers) (unwrap name (wrapper-key wrapper)))))

(defun program-wrapped-p (name)
  "Return true if NAME is a symbol with a function that the program has wrapped by
SB-INT:ENCAPSULATE."
  (let ((function (and (symbolp name) (fboundp name) (symbol-function name))))
    (and function
         (null (gethash name **wrappers**))
         (not (eq function (inner-function function))))))

(defun wrap-again (name wrappers)
  "Wrap the function NAME again in WRAPPERS, a list of WRAPPER structures. Skip wrappers that UNWRAP
has removed meanwhile. Do nothing if NAME has no function."
  (while-wrapping
    (dolist (wrapper wrappers)
      (when (and (fboundp name) (member wrapper (gethash name **wrappers**) :test #'eq))
        (handler-case (encapsulate name (wrapper-key wrapper) (wrapper-function wrapper))
          (undefined-function () nil))))))

(defun function-set (set function name)
  "Hook: SET is the setter of FDEFINITION or SYMBOL-FUNCTION. Set the function of NAME to FUNCTION,
and return FUNCTION. If NAME is wrapped, set FUNCTION without its wrappers, then wrap it in new
ones. If the program has saved the old wrapper, that wrapper still calls the old function."
  (let ((wrappers (gethash name **wrappers**)))
    (if (null wrappers)
        (funcall set function name)
        (unwind-protect
             (progn
               (with-isolation
                 (while-wrapping
                   (dolist (wrapper wrappers) (unencapsulate name (wrapper-key wrapper)))))
               (funcall set (if (functionp function) (inner-function function) function) name)
               function)
          (with-isolation (wrap-again name wrappers))))))

(define-hook (setf fdefinition) function-set)
(define-hook (setf symbol-function) function-set)

(defun listen-for-functions ()
  "Install the hooks of FUNCTION-SET, so that wrappers stay when the program replaces a wrapped
function."
  (install-hooks 'function-set))
