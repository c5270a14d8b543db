;;;; Shows the current stack of any thread. Has threads call functions, as interruptions.

(in-package "LIVE-LISP.DEBUG")

(defparameter *look-seconds* 1
  "The number of seconds for which a request waits until threads have called a function.")

(defun asked-threads (threads function)
  "Interrupt each thread in the list THREADS to call FUNCTION, which has no parameters. Return two
values: an alist from threads to the values of FUNCTION, and a list of the threads that have not
returned a value within *LOOK-SECONDS*."
  (let ((answered (sb-thread:make-semaphore :name "live-lisp look"))
        (deadline (+ (get-internal-real-time)
                     (* *look-seconds* internal-time-units-per-second)))
        (answers (mapcar #'list threads)))
    (dolist (answer answers)
      (let ((answer answer))
        (unless-thread-ended
          (sb-thread:interrupt-thread
           (first answer)
           (lambda ()
             (when (stack-space-p)
               (setf (rest answer) (list (nil-if-unknown (funcall function)))))
             (sb-thread:signal-semaphore answered))))))
    (loop repeat (length answers)
          while (sb-thread:wait-on-semaphore
                 answered :timeout (max 0 (/ (- deadline (get-internal-real-time))
                                             internal-time-units-per-second))))
    (values (loop for (thread . value) in answers
                  when value collect (cons thread (first value)))
            (mapcar #'first (remove-if #'rest answers)))))

(defun frames-of (thread)
  "Return two values: a list of JSON objects for the frames of THREAD, and true. The second value is
NIL if THREAD has not reported its frames within *LOOK-SECONDS*."
  (multiple-value-bind (answers silent)
      (asked-threads (list thread)
                     (lambda ()
                       (let ((*may-read-spans* nil)) (mapcar #'call-data (calls-on-stack)))))
    (values (cdr (first answers)) (null silent))))

(defun threads-named (name)
  "Return a list of the threads called NAME, a string, in any letter case. If there are none, return
those whose names contain NAME."
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
        (multiple-value-bind (frames answered-p) (frames-of thread)
          (object "thread" (short-thread-name thread)
                  "frames" frames
                  "silent" (not answered-p)
                  "waitsFor" (awaited-lock thread))))))
