;;;; Shows what any thread does at this moment.

(in-package "LIVE-LISP.DEBUG")

(defparameter *look-seconds* 1
  "For how many seconds an answer waits for a thread to report its frames.")

(defun look-here (done)
  "Runs in an interrupted thread: call the function DONE with its frames as JSON objects. No code of
the user runs."
  (let ((frames '()) (*may-read-spans* nil))
    (unwind-protect
         (setf frames (ignore-errors
                       (mapcar #'call-data (calls-on-stack))))
      (funcall done frames))))

(defun frames-of (thread)
  "Return the frames of THREAD as JSON objects, and whether THREAD reported them within
*LOOK-SECONDS*."
  (let ((told (sb-thread:make-semaphore :name "live-lisp look")) (frames '()))
    (flet ((done (found)
             (setf frames found)
             (sb-thread:signal-semaphore told)))
      (ignore-errors
       (sb-thread:interrupt-thread thread (lambda () (when (room-on-stack-p) (look-here #'done)))))
      (let ((in-time (sb-thread:wait-on-semaphore told :timeout *look-seconds*)))
        (values frames in-time)))))

(defun threads-named (name)
  "Return the threads called NAME in any case, or else those whose names contain it."
  (let ((threads (remove-if #'spare-thread-p (sb-thread:list-all-threads))))
    (flet ((matching (test)
             (remove-if-not (lambda (thread) (funcall test name (short-thread-name thread)))
                            threads)))
      (or (matching #'string-equal)
          (matching (lambda (asked whole) (search asked whole :test #'char-equal)))))))

(define-operation "debug-thread" (name)
  "Return the current stack frames of the thread called NAME, and the lock for which the thread
waits. When no thread or several match NAME, return a list of thread names instead."
  (let* ((found (threads-named name)) (thread (first found)))
    (if (or (null thread) (rest found))
        (object "threads" (mapcar #'short-thread-name
                                  (page (or found (sb-thread:list-all-threads)) 0 20))
                "found" (length found))
        (multiple-value-bind (frames told) (frames-of thread)
          (object "thread" (short-thread-name thread)
                  "frames" frames
                  "silent" (not told)
                  "waitsFor" (awaited-lock thread))))))
