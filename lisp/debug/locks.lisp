;;;; Finds the locks that a thread holds, and the lock for which it waits.

(in-package "LIVE-LISP.DEBUG")

(defun lock-name (lock)
  "Return the name of LOCK, a mutex, as text of at most 60 characters."
  (print-safely 60 (or (sb-thread:mutex-name lock) "without a name") "~A"))

(defun stack-words (function)
  "Call FUNCTION with each word, an integer, on the stack of this thread, from the current frame to
the oldest. Stop after 4000000 octets."
  (when (and this-slot stack-end-slot)
    (let ((thread (thread-slot this-slot)) (here (stack-pointer)))
      (when (plusp (sb-sys:sap-int thread))
        (loop with end = (- (sb-sys:sap-ref-word thread (* word-octets stack-end-slot))
                            (sb-sys:sap-int here))
              for offset from 0 below (min end 4000000) by word-octets
              do (funcall function (sb-sys:sap-ref-word here offset)))))))

(defun locks-of-thread ()
  "Return a list of the names of the mutexes that this thread holds. Search for them on the stack of
the thread, where the code that will release a mutex keeps it."
  (let ((locks '()))
    (close-region)
    (stack-words (lambda (word)
                   (when (= instance-tag (logand word 15))
                     (multiple-value-bind (object valid) (word-object word nil)
                       (when (and valid
                                  (typep object 'sb-thread:mutex)
                                  (eq (sb-thread:mutex-owner object) sb-thread:*current-thread*))
                         (pushnew object locks))))))
    (mapcar #'lock-name locks)))

(defun awaited-lock (thread)
  "Return a JSON object with the name and the owner of the mutex for which THREAD waits. Return NIL
if it waits for none."
  (let* ((lock (waited-for thread))
         (owner (and (typep lock 'sb-thread:mutex) (sb-thread:mutex-owner lock))))
    (when (typep lock 'sb-thread:mutex)
      (object "name" (lock-name lock)
              "owner" (and (typep owner 'sb-thread:thread) (short-thread-name owner))))))
