;;;; Shows the current stack of any thread.

(in-package "LIVE-LISP.DEBUG")

(defparameter *look-seconds* 1
  "The maximum number of seconds for which an answer waits until a thread has reported its frames.")

(defun look-here (done)
  "Call the function DONE with a list of JSON objects for the frames of this thread. FRAMES-OF
interrupts the thread to run this function, which runs no code of the program."
  (let ((frames '()) (*may-read-spans* nil))
    (unwind-protect
         (setf frames (ignore-errors
                       (mapcar #'call-data (calls-on-stack))))
      (funcall done frames))))

(defun frames-of (thread)
  "Return a list of JSON objects for the frames of THREAD. The second value is NIL if THREAD has not
reported them within *LOOK-SECONDS*."
  (let ((told (sb-thread:make-semaphore :name "live-lisp look")) (frames '()))
    (flet ((done (found)
             (setf frames found)
             (sb-thread:signal-semaphore told)))
      (ignore-errors
       (sb-thread:interrupt-thread thread (lambda () (when (room-on-stack-p) (look-here #'done)))))
      (let ((in-time (sb-thread:wait-on-semaphore told :timeout *look-seconds*)))
        (values frames in-time)))))

(defun threads-named (name)
  "Return a list of the threads called NAME in any letter case. If there are none, return those
whose names contain NAME."
  (let ((threads (remove-if #'spare-thread-p (sb-thread:list-all-threads))))
    (flet ((matching (test)
             (remove-if-not (lambda (thread) (funcall test name (short-thread-name thread)))
                            threads)))
      (or (matching #'string-equal)
          (matching (lambda (asked whole) (search asked whole :test #'char-equal)))))))

(define-shape thread-data ()
  "The current state of a thread."
  (thread string :optional) (frames (list frame) :optional)
  (silent boolean :optional "True when the thread did not report its frames in time.")
  (waits-for (object (name string) (owner string :optional)) :optional
   "The lock that the thread waits for, and the thread that owns it.")
  (threads (list string) :optional
   "Names of threads, when the requested name fits no thread or several.")
  (found integer :optional "How many threads the requested name fits."))

(define-operation ("debug-thread" :gives thread-data)
    ((name string "The name of a thread, or a part of it."))
  "Return the current frames of a thread, and the lock for which it waits. If no thread or several
threads match NAME, list names of threads instead."
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
