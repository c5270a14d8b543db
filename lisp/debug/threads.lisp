;;;; Shows the current stack of any thread. To get it, interrupts the thread and has it call a
;;;; function.

(in-package "LIVE-LISP.DEBUG")

(defparameter *look-seconds* 1
  "The maximum number of seconds for which a request waits for the threads that it has interrupted
to call a function. The time in which such a thread waits for a CPU does not count.")

(defparameter *starved-seconds* 15
  "The maximum number of seconds that a request waits in addition to *LOOK-SECONDS* while an
interrupted thread waits for a CPU.")

(defun starved-milliseconds (thread)
  "Return the number of milliseconds for which THREAD has waited for a CPU, or 0 if it is unknown."
  (or (nth-value 1 (spent thread)) 0))

(defun seconds-left (answers begun starved)
  "A request has interrupted threads to make each of them call a function. Return the number of
seconds for which it may still wait for them. ANSWERS has a list (THREAD VALUE) for each thread, or
(THREAD) if the thread has not called the function yet. BEGUN is the internal real time at which the
request began. STARVED lists, for each thread, the number of milliseconds for which it had waited
for a CPU before BEGUN."
  (let ((passed (/ (- (get-internal-real-time) begun) internal-time-units-per-second)))
    (reduce #'max
            (loop for (thread . value) in answers
                  for before in starved
                  unless value
                    collect (let ((seconds (/ (- (starved-milliseconds thread) before) 1000)))
                              (- (+ *look-seconds* (min seconds *starved-seconds*)) passed)))
            :initial-value 0)))

(defun asked-threads (threads function)
  "Interrupt each thread in the list THREADS to call FUNCTION, which has no parameters. Return two
values: an alist from threads to the values of FUNCTION, and a list of the threads that have not
returned a value within *LOOK-SECONDS*."
  (let ((answered (sb-thread:make-semaphore :name "live-lisp look"))
        (begun (get-internal-real-time))
        (starved (mapcar #'starved-milliseconds threads))
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
          while (loop for left = (seconds-left answers begun starved)
                      ;; A timeout of 0 is an error in some SBCLs.
                      thereis (if (plusp left)
                                  (sb-thread:wait-on-semaphore answered :timeout left)
                                  (sb-thread:try-semaphore answered))
                      while (plusp left)))
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
