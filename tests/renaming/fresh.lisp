;;;; Loads a system from a copy of its library in a fresh SBCL, and runs its tests. Prints each warning about that, and what
;;;; the tests print. Arguments: the folder of the copy, one for fasls, and the systems.

(require "ASDF")

(destructuring-bind (copy fasls . systems) (rest sb-ext:*posix-argv*)
  (asdf:initialize-source-registry `(:source-registry (:tree ,copy) :inherit-configuration))
  (asdf:initialize-output-translations
   `(:output-translations ((,(concatenate 'string copy "/") :**/ :*.*.*) (,(concatenate 'string fasls "/") :**/ :*.*.*))
                          :inherit-configuration))
  (let ((output *standard-output*))
    (let ((*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream)))
      (handler-bind ((warning (lambda (condition)
                                (let ((file (or *compile-file-truename* *load-truename*)))
                                  (when (or (null file) (search copy (namestring file)) (search fasls (namestring file)))
                                    (format output "~&WARNING ~A~%"
                                            (substitute #\Space #\Newline (princ-to-string condition)))))
                                (muffle-warning condition))))
        (handler-case (dolist (system systems) (asdf:load-system system))
          (error (failure) (format output "~&FAILED ~A~%" failure)))))
    (handler-case (asdf:test-system (first systems))
      (error (failure) (format output "~&FAILED ~A~%" failure)))))
