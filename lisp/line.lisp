;;;; Loads attaching.lisp in one thread at a time: two threads that load the backend at the same
;;;; time would disturb each other. attach.lisp loads this file with standard syntax. This file
;;;; interns no symbols.

(unwind-protect
     (progn
       ;; The lock is the property list of a keyword: COMPARE-AND-SWAP tests and sets it in one
       ;; step, and it needs no symbol of a package that the image may lack.
       (loop :until (or (null (sb-ext:compare-and-swap (symbol-plist :live-lisp-line) nil
                                                       (list :by sb-thread:*current-thread*)))
                        (eq sb-thread:*current-thread* (get :live-lisp-line :by)))
             :do (sleep 0.05))
       ;; SBCL loads compiled files only with the features that it was built with. If the person has
       ;; removed those, get them from a new process of the same SBCL.
       (progv '(*features*)
           (list (if (and (ignore-errors (list-length *features*)) (member :sbcl *features*))
                     *features*
                     (read-from-string
                      (with-output-to-string (*standard-output*)
                        (sb-ext:run-program
                         sb-ext:*runtime-pathname*
                         (list "--core" (sb-ext:native-namestring sb-ext:*core-pathname*)
                               "--noinform" "--no-sysinit" "--no-userinit" "--disable-debugger"
                               "--eval" "(prin1 *features*)" "--quit")
                         :input nil :output *standard-output*)))))
         (load (merge-pathnames "attaching.lisp" *load-truename*))))
  (when (eq sb-thread:*current-thread* (get :live-lisp-line :by))
    (setf (symbol-plist :live-lisp-line) nil)))
