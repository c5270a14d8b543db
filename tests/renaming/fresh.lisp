;;;; Loads a system from a copy of its library in a fresh SBCL, and runs its tests. Prints each warning, and what the tests
;;;; print. Arguments: the folder of the copy, one for fasls, and the systems.

(require "ASDF")

(destructuring-bind (copy fasls . systems) (rest sb-ext:*posix-argv*)
  (asdf:initialize-source-registry `(:source-registry (:tree ,copy) :inherit-configuration))
  (asdf:initialize-output-translations
   `(:output-translations ((,(concatenate 'string copy "/") :**/ :*.*.*) (,(concatenate 'string fasls "/") :**/ :*.*.*))
                          :inherit-configuration))
  ;; What the library needs is not looked at.
  (let ((*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream)))
    (handler-bind ((warning #'muffle-warning))
      (dolist (system systems)
        (dolist (needed (asdf:system-depends-on (asdf:find-system system)))
          (ignore-errors
           (unless (search copy (namestring (asdf:system-source-directory needed)))
             (asdf:load-system needed)))))))
  (let ((output *standard-output*))
    (let ((*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream)))
      (handler-bind ((warning (lambda (condition)
                                (format output "~&WARNING ~A~%"
                                        (substitute #\Space #\Newline (princ-to-string condition)))
                                (muffle-warning condition))))
        (handler-case (dolist (system systems) (asdf:load-system system))
          (error (failure) (format output "~&FAILED ~A~%" failure)))))
    (handler-case (asdf:test-system (first systems))
      (error (failure) (format output "~&FAILED ~A~%" failure)))))
