;;;; Wraps functions of the program for a while. A program can put another function in place
;;;; meanwhile, as a mock does, and then the first one again. SBCL takes a wrapper for whatever
;;;; function is in it, so it would keep the mock.

(in-package "LIVE-LISP.BASE")

(sb-ext:defglobal **wrappers** (make-hash-table :test 'equal :synchronized t)
  "Maps the name of each wrapped function to its wrappers, lists of a key and a function, the
innermost first.")

(defun wrap (name key function)
  "Wrap the function NAME as ENCAPSULATE does with KEY and FUNCTION. The wrapper stays when the
program replaces the function."
  (sb-ext:with-locked-hash-table (**wrappers**)
    (setf (gethash name **wrappers**)
          (append (gethash name **wrappers**) (list (list key function)))))
  (encapsulate name key function))

(defun unwrap (name key)
  "Remove the wrapper KEY of the function NAME, which can be gone."
  (sb-ext:with-locked-hash-table (**wrappers**)
    (unless (setf (gethash name **wrappers**) (remove key (gethash name **wrappers**) :key #'first))
      (remhash name **wrappers**)))
  (ignore-errors (unencapsulate name key)))

(defun unwrap-all ()
  "Remove the wrappers of all functions."
  (loop for name being the hash-keys of **wrappers** using (hash-value wrappers)
        collect (cons name wrappers) into all
        finally (loop for (name . wrappers) in all
                      do (loop for (key) in wrappers do (unwrap name key)))))

(defun wrap-again (name wrappers)
  "Wrap the function NAME, if there is one, in those of WRAPPERS that nobody has unwrapped
meanwhile."
  (loop for wrapper in wrappers
        for (key function) = wrapper
        when (fboundp name)
          do (ignore-errors (encapsulate name key function))
             (unless (member wrapper (gethash name **wrappers**) :test #'eq)
               (ignore-errors (unencapsulate name key)))))

(defun function-set (set function name)
  "Hook: call SET, which makes FUNCTION the function NAME, and return FUNCTION. For a wrapper use
the function in it. When NAME is wrapped, each function gets a wrapper of its own, so a wrapper that
the program keeps means one function."
  (let ((wrappers (gethash name **wrappers**)))
    (if (null wrappers)
        (funcall set function name)
        (unwind-protect
             (progn
               (loop for (key) in wrappers do (apart (unencapsulate name key)))
               (funcall set (if (functionp function) (inner-function function) function) name)
               function)
          (wrap-again name wrappers)))))

(define-hook (setf fdefinition) function-set)
(define-hook (setf symbol-function) function-set)

(defun listen-for-functions ()
  "Install the hooks: from now on wrapped functions can be replaced."
  (install-hooks 'function-set))
