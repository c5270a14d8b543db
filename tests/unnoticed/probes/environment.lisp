; Specials, threads, timers, the collector, the process.
*package*
(package-name *package*)
*read-base*
*read-default-float-format*
*read-eval*
*read-suppress*
*print-array*
*print-base*
*print-case*
*print-circle*
*print-escape*
*print-gensym*
*print-length*
*print-level*
*print-lines*
*print-miser-width*
*print-pretty*
*print-radix*
*print-readably*
*print-right-margin*
(eq *readtable* (sb-ext:symbol-global-value '*readtable*))
(readtable-case *readtable*)
(eq *print-pprint-dispatch* (sb-ext:symbol-global-value '*print-pprint-dispatch*))
(integerp *gensym-counter*)
(let ((before *gensym-counter*)) (gensym) (- *gensym-counter* before))
(let ((*gensym-counter* 7)) (symbol-name (gensym)))
(random-state-p *random-state*)
(let ((*random-state* (sb-ext:seed-random-state 1))) (random 1000000))
(let ((*random-state* (sb-ext:seed-random-state 1))) (load "defs.lisp") (compile nil '(lambda () 1)) (gc) (random 1000000))
(let ((*random-state* (sb-ext:seed-random-state 1))) (sb-thread:join-thread (sb-thread:make-thread (lambda () 1))) (eval '(defclass probe-random () (a))) (random 1000000))
(loop for (name value) on (sb-int:get-floating-point-modes) by (function cddr) unless (search "EXCEPTIONS" (string name)) collect (list name value))
(output-differs warnings (handler-case (/ 1.0 0.0) (division-by-zero () :trapped)))
(handler-case (sqrt -1d300) (error (c) (type-of c)))
(output-differs warnings (sb-int:with-float-traps-masked (:divide-by-zero) (prin1-to-string (/ 1.0 0.0))))
(sb-int:with-float-traps-masked (:overflow :invalid :divide-by-zero :inexact) (load "defs.lisp") (compile nil '(lambda () 1)) (getf (sb-int:get-floating-point-modes) :traps))
(sort (mapcar #'symbol-name *features*) #'string<)
(differs modules (sort (copy-list *modules*) #'string<))
(differs modules (member "SB-INTROSPECT" *modules* :test #'string=))
(member "SB-POSIX" *modules* :test #'string=)
(sort (require :sb-rotate-byte) #'string<)
(require :sb-rotate-byte)
(lisp-implementation-type)
(lisp-implementation-version)
(machine-type)
(software-type)
sb-ext:*posix-argv*
sb-ext:*runtime-pathname*
(file-namestring sb-ext:*core-pathname*)
(differs heap (sb-ext:dynamic-space-size))
(differs heap (sb-ext:bytes-consed-between-gcs))
(differs heap (= (sb-ext:generation-bytes-consed-between-gcs 0) (truncate (sb-ext:bytes-consed-between-gcs) sb-vm:+highest-normal-generation+)))
(sb-ext:generation-number-of-gcs-before-promotion 0)
sb-ext:*init-hooks*
(differs hooks sb-ext:*save-hooks*)
(differs hooks (length sb-ext:*exit-hooks*))
(differs hooks (length sb-ext:*after-gc-hooks*))
(differs hooks sb-ext:*exit-timeout*)
(integerp sb-ext:*gc-run-time*)
sb-ext:*module-provider-functions*
sb-ext:*muffled-warnings*
sb-ext:*stack-allocate-dynamic-extent*
sb-ext:*debug-print-variable-alist*
sb-ext:*ed-functions*
(differs environment (not (null (find-if (lambda (e) (search "LIVE_LISP" e)) (sb-ext:posix-environ)))))
(sb-ext:posix-getenv "HOME")
(sb-ext:posix-getenv "SBCL_HOME")
(sb-int:sbcl-homedir-pathname)
(every #'plusp (list (get-universal-time) (get-internal-real-time)))
(<= 0 (get-internal-run-time))
internal-time-units-per-second
(remove-if #'digit-char-p (subseq (with-output-to-string (*trace-output*) (time (list 1))) 0 20))
(and (search "before it was aborted" (with-output-to-string (*trace-output*) (handler-case (time (error "x")) (error () nil)))) t)
(search "Dynamic" (with-output-to-string (*standard-output*) (room nil)))
(differs main-thread (eq sb-thread:*current-thread* (sb-thread:main-thread)))
(differs main-thread (sb-thread:thread-name sb-thread:*current-thread*))
(differs threads (length (sb-thread:list-all-threads)))
(differs threads (sort (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) #'string<))
(sb-thread:thread-name (sb-thread:main-thread))
; The thread that runs the next call can come after this one has begun.
(let ((before (sb-thread:list-all-threads)) (mine (sb-thread:make-thread #'list))) (sb-thread:join-thread mine) (remove "live-lisp spare" (remove mine (set-difference (sb-thread:list-all-threads) before)) :key #'sb-thread:thread-name :test #'equal))
; Each thread has dropped its object, and no frame around it keeps it.
(let* ((objects (loop repeat 20 collect (list 1))) (pointers (mapcar #'sb-ext:make-weak-pointer objects)) (begun (sb-thread:make-semaphore)) (end nil) (threads (mapcar (lambda (o) (sb-thread:make-thread (lambda (x) (setf x nil) (sb-thread:signal-semaphore begun) (loop until end do (sleep 0.01)) x) :arguments (list o))) objects))) (setf objects nil) (sb-sys:scrub-control-stack) (sb-thread:wait-on-semaphore begun :n 20) (sb-ext:gc :full t) (prog1 (< 10 (count nil pointers :key #'sb-ext:weak-pointer-value)) (setf end t) (mapc #'sb-thread:join-thread threads)))
(let* ((objects (loop repeat 20 collect (list 1))) (pointers (mapcar #'sb-ext:make-weak-pointer objects)) (begun (sb-thread:make-semaphore)) (end nil) (threads (mapcar (lambda (o) (sb-thread:make-thread (lambda () (list o) (sb-thread:signal-semaphore begun) (loop until end do (sleep 0.01))))) objects))) (setf objects nil) (sb-sys:scrub-control-stack) (sb-thread:wait-on-semaphore begun :n 20) (sb-ext:gc :full t) (prog1 (< 10 (count nil pointers :key #'sb-ext:weak-pointer-value)) (setf end t) (mapc #'sb-thread:join-thread threads)))
(differs frames (length (sb-debug:list-backtrace)))
(differs frames (sb-thread:join-thread (sb-thread:make-thread (lambda () (length (sb-debug:list-backtrace))))))
(let ((before (sb-thread:list-all-threads))) (sleep 0.05) (remove "live-lisp spare" (mapcar #'sb-thread:thread-name (set-difference (sb-thread:list-all-threads) before)) :test #'equal))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (values 1 2))))
(multiple-value-list (sb-thread:join-thread (sb-thread:make-thread (lambda () (values 1 2)))))
(sb-thread:thread-name (sb-thread:make-thread #'list :name "mine"))
(sb-thread:thread-name (sb-thread:make-thread #'list))
(sb-thread:join-thread (sb-thread:make-thread #'list :arguments '(1 2)))
(sb-thread:join-thread (sb-thread:make-thread #'list :arguments 5))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:abort-thread))) :default :aborted)
(handler-case (sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:abort-thread)))) (sb-thread:join-thread-error () :join-thread-error))
(let ((th (sb-thread:make-thread (lambda () (sleep 10))))) (sb-thread:terminate-thread th) (sb-thread:join-thread th :default :ended))
(let* ((begun (sb-thread:make-semaphore)) (th (sb-thread:make-thread (lambda () (catch 'out (sb-thread:signal-semaphore begun) (sleep 1000)))))) (sb-thread:wait-on-semaphore begun) (sb-thread:interrupt-thread th (lambda () (throw 'out :interrupted))) (sb-thread:join-thread th))
(let ((th (sb-thread:make-thread #'list))) (sb-thread:join-thread th) (handler-case (sb-thread:interrupt-thread th #'list) (error (c) (type-of c))))
(let ((th (sb-thread:make-thread #'list))) (sb-thread:join-thread th) (handler-case (sb-thread:terminate-thread th) (error (c) (type-of c))))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (handler-case (error "x") (error () :handled)))))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (mapcar #'restart-name (compute-restarts)))))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (list *package* *print-pretty* *print-base* *read-default-float-format* *break-on-signals*))))
(sb-thread:join-thread (sb-thread:make-thread (lambda () *debugger-hook*)))
(differs debugger (sb-thread:join-thread (sb-thread:make-thread (lambda () sb-ext:*invoke-debugger-hook*))))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (setf *print-base* 10) *macroexpand-hook*)))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-int:get-floating-point-modes))))
(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:return-from-thread 5))))
(let ((m (sb-thread:make-mutex :name "m"))) (sb-thread:with-mutex (m) (sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:grab-mutex m :waitp nil))))))
(let ((s (sb-thread:make-semaphore))) (sb-thread:make-thread (lambda () (sb-thread:signal-semaphore s))) (sb-thread:wait-on-semaphore s :timeout 100))
(let* ((n 0) (timer (sb-ext:make-timer (lambda () (incf n)) :thread t))) (sb-ext:schedule-timer timer 0.05) (loop while (zerop n) do (sleep 0.01)) n)
(let* ((n 0) (timer (sb-ext:make-timer (lambda () (incf n))))) (sb-ext:schedule-timer timer 0.05) (loop while (zerop n) do (sleep 0.01)) n)
(let* ((timer (sb-ext:make-timer #'list :name "t"))) (sb-ext:schedule-timer timer 50) (prog1 (mapcar #'sb-ext:timer-name (sb-ext:list-all-timers)) (sb-ext:unschedule-timer timer)))
(sb-ext:list-all-timers)
(let ((n 0)) (flet ((hook () (incf n))) (push #'hook sb-ext:*after-gc-hooks*) (unwind-protect (progn (gc :full t) (loop while (zerop n) do (sleep 0.01))) (setf sb-ext:*after-gc-hooks* (remove #'hook sb-ext:*after-gc-hooks*)))) (plusp n))
(let ((n (list 0))) (sb-ext:finalize (make-array 10) (lambda () (incf (car n))) :dont-save t) (gc :full t) (sleep 0.3) (integerp (car n)))
(let ((p (sb-ext:make-weak-pointer (list 1 2)))) (consp (multiple-value-list (sb-ext:weak-pointer-value p))))
(gc)
(gc :full t)
(handler-case (sb-sys:without-interrupts (sb-ext:with-timeout 100 1)) (error (c) (type-of c)))
(sb-sys:without-gcing 5)
sb-sys:*interrupts-enabled*
sb-kernel:*gc-inhibit*
(let ((n 0)) (sb-sys:enable-interrupt 10 (lambda (&rest all) (declare (ignore all)) (incf n))) (sb-unix:unix-kill (sb-unix:unix-getpid) 10) (loop while (zerop n) do (sleep 0.01)) (sb-sys:enable-interrupt 10 :default) n)
(sb-alien:alien-funcall (sb-alien:extern-alien "getuid" (function sb-alien:int)))
(sb-alien:with-alien ((a sb-alien:int 5)) a)
(sb-alien:alien-size sb-alien:int)
(eval '(sb-alien:define-alien-type probe-alien (sb-alien:struct nil (a sb-alien:int))))
(eval '(sb-alien:define-alien-routine "getpid" sb-alien:int))
(progn (eval '(sb-alien:define-alien-variable "errno" sb-alien:int)) :done)
(boundp '*probe-unbound*)
(progn (defvar *probe-defvar* 1) (setf *probe-defvar* 2) (defvar *probe-defvar* 3) *probe-defvar*)
(symbol-value 'sb-impl::*stdin*)
(sb-int:info :function :kind 'load)
(sb-int:info :variable :kind '*package*)
(let ((h (make-hash-table :weakness :key))) (setf (gethash (list 1) h) 1) (hash-table-weakness h))
(sxhash "abc")
(sxhash 'load)
(let ((s (make-symbol "A"))) (setf (get s 'a) 1) (symbol-plist s))
(symbol-plist 'load)
(symbol-plist 'car)
(let ((r (ignore-errors (sb-ext:assert-version->= 1 0)))) r)
(with-standard-io-syntax (prin1-to-string '(a "b" 1.5d0)))
(prin1-to-string 'cl-user::foo)
(prin1-to-string '(quote a))
(prin1-to-string ''a)
(prin1-to-string 1.5d0)
(prin1-to-string (list 'sb-thread:make-thread :key "s" #\a #(1 2) (make-hash-table)))
(write-to-string (loop for i below 60 collect i))
(let ((*print-pretty* t) (*print-right-margin* 40)) (write-to-string '(defun foo (a b c) (list a b c) (when a (print b)))))
(format nil "~S" (make-condition 'simple-error :format-control "x"))
(output-differs compile-verbose (progn (require :asdf) (push (truename ".") (symbol-value (find-symbol "*CENTRAL-REGISTRY*" "ASDF"))) (funcall (find-symbol "LOAD-SYSTEM" "ASDF") "probe-system") (symbol-value (find-symbol "*LOADED*" "PROBE-SYSTEM"))))
(differs compile-verbose (with-output-to-string (*standard-output*) (asdf:load-system "probe-system" :force t)))
(output-differs compile-verbose (with-output-to-string (*error-output*) (asdf:load-system "probe-system" :force t)))
(handler-case (asdf:load-system "no-such-system-of-mine") (error (c) (type-of c)))
(asdf:asdf-version)
(symbol-value (find-symbol "*VERBOSE-OUT*" "ASDF/DRIVER"))
(symbol-value (find-symbol "*COMPILE-FILE-WARNINGS-BEHAVIOUR*" "UIOP"))
(symbol-value (find-symbol "*COMPILE-FILE-FAILURE-BEHAVIOUR*" "UIOP"))
(length (asdf:registered-systems))
(uiop:run-program '("/bin/echo" "uiop") :output :string)
(uiop:getcwd)
(uiop:command-line-arguments)
(type-of uiop:*stdin*)
(differs streams (type-of uiop:*stdout*))
(differs streams (type-of uiop:*stderr*))
