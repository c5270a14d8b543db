;;;; Tests whether each internal of SBCL works as the backend expects. DEFINE-PROBE adds a test, a
;;;; probe, to a list. A probe has names and a form. The names are the backend's names of internals,
;;;; or the name of an ability, which is a group of internals (sbcl.lisp). The form uses them on an
;;;; example with a known answer, and is true if they work. When the backend is compiled,
;;;; internals.lisp runs the probes in a child process, since a wrong internal can end its process.
;;;; Then the backend is compiled with a fallback for each internal whose probe failed, and the
;;;; probes are run again. A probe with the name of an ability proves the ability even if some of
;;;; its internals are missing. The fasls of the backend contain no code of this file.

(in-package "LIVE-LISP.BASE")

(defmacro for-probes (&body forms)
  "Evaluate FORMS only in the process that runs the probes. That process loads this file as source."
  `(eval-when (:execute) ,@forms))

(defmacro define-probe ((&rest names) form)
  "Add a probe to *PROBES*. Each of NAMES is a symbol, the backend's name of an internal, or a
string, the name of an ability. FORM returns true if these internals and abilities work."
  `(for-probes (push '(,names ,form) *probes*)))

(for-probes
 (defvar *probes* '() "A list of the probes, lists (NAMES FORM) from DEFINE-PROBE, newest first.")
 (defvar *probe-file* nil "The beginning of the name of each file that a probe creates, a string.")

 (defun run-probe (form)
   "Compile FORM and evaluate it. Return :RIGHT if its value is true, or else a text about the
failure."
   (handler-case (if (funcall (compile nil `(lambda () ,form))) :right "gives a wrong answer")
     (serious-condition () "signals an error")))

 (defun used-p (name)
   "Return true if the backend uses what NAME names. If NAME is a string, the name of an ability,
return true unless this ability is left out. If NAME is a symbol, the name of an internal, return
true unless this internal is absent."
   (if (stringp name)
       (let ((*ability* name)) (not (why-left-out name)))
       (not (member name *absent*))))

 (defun run-probes (start files tell)
   "Run the probes in *PROBES*, the oldest first. Begin with number START, counted from 0. The names
of files that probes create begin with the string FILES. Call the function TELL before and after
each probe with two arguments. The first is :BEGINS before the probe, so that the parent process
knows which probe has ended this process. After the probe it is :RIGHT or a text about the failure.
The second lists, as strings, those names of the probe that the backend uses."
   (setf *probe-file* files
         *package* (find-package "LIVE-LISP.BASE"))
   (loop for (names form) in (nthcdr start (reverse *probes*))
         for texts = (mapcar #'string (remove-if-not #'used-p names))
         do (funcall tell :begins texts)
            (funcall tell (if texts (run-probe form) :right) texts))))

;;; Functions, classes and a variable for the examples

;; PROBE-LOOK, PROBE-CALLED and IN-FRAME do something after their first call. Otherwise it would be
;; a tail call: the caller would have no frame, and PROBE-CALLED would not keep its variables.
(for-probes
 (defun probe-look (function)
   "Call FUNCTION with the frame of the function that called PROBE-LOOK, and return its value."
   (multiple-value-prog1 (funcall function (frame-below (top-frame))) (list function)))

 (defun probe-called (number text function)
   "Call FUNCTION with the frame of this call, and return its value. Probes look for the variables
NUMBER and TEXT in this frame."
   (declare (optimize (debug 2)))
   (multiple-value-prog1 (probe-look function) (probe-look (constantly (list number text)))))

 (defun in-frame (function)
   "Call FUNCTION with the frame of the call (PROBE-CALLED 41 \"text\" FUNCTION), and return its
value."
   (multiple-value-prog1 (probe-called 41 "text" function) (list function)))

 (defun arguments-of-call (name function)
   "Call FUNCTION. Return a list of the arguments of the first call of the function NAME meanwhile,
or :NONE if there was none."
   (let ((found :none))
     (encapsulate name 'live-lisp-probe (lambda (called &rest arguments)
                                          (when (eq found :none) (setf found (copy-list arguments)))
                                          (apply called arguments)))
     (unwind-protect (funcall function) (unencapsulate name 'live-lisp-probe))
     found))

 (defun first-argument (name form)
   "Evaluate FORM. Return the first argument of the first call of the function NAME meanwhile, or
:NONE if there was none."
   (let ((arguments (arguments-of-call name (lambda () (eval form)))))
     (if (consp arguments) (first arguments) arguments)))

 (defun in-thread (function)
   "Call FUNCTION in a new thread, and return its value."
   (sb-thread:join-thread (sb-thread:make-thread function)))

 (defun in-process (function)
   "Call FUNCTION in a child process, which exits with 0 if FUNCTION returns true. Return the status
of the process from waitpid(2)."
   ;; SB-POSIX may be missing when the reader reads this file, so INTERN finds its functions later.
   (let ((id (funcall (intern "FORK" "SB-POSIX"))))
     (when (zerop id)
       (sb-ext:exit :code (handler-case (if (funcall function) 0 1) (serious-condition () 1))
                    :abort t))
     (nth-value 1 (funcall (intern "WAITPID" "SB-POSIX") id 0))))

 (defun recursion (depth)
   "Call this function again without end, to exhaust the stack. DEPTH counts the calls."
   (if (< depth 0) 0 (+ 1 (recursion (1+ depth)))))

 (defun exhaust-stack ()
   "Return true if exhausting the stack of this thread signals a STORAGE-CONDITION."
   (handler-case (progn (recursion 0) nil)
     (storage-condition () t)))

 (defun call-with-file (name text function)
   "Write the string TEXT to a temporary file whose name ends in the string NAME. Call FUNCTION with
the path of the file, and return its value."
   (let ((path (concatenate 'string *probe-file* name)))
     (with-open-file (out path :direction :output :if-exists :supersede) (write-string text out))
     (unwind-protect (funcall function path)
       (remove-file path))))

 (defun call-with-fasl (text function)
   "Write the string TEXT to a file and compile the file. Call FUNCTION with the path of the file
and the path of its fasl, and return its value."
   (call-with-file ".lisp" text
                   (lambda (path)
                     (let ((fasl (let ((*error-output* (make-broadcast-stream))
                                       (*standard-output* (make-broadcast-stream)))
                                   (compile-file path
                                                 :output-file (concatenate 'string *probe-file*
                                                                           ".fasl")))))
                       (unwind-protect (funcall function path fasl)
                         (when fasl (remove-file fasl)))))))

 (defclass probe-class () ((slot :initarg :slot :reader probe-slot :documentation "A slot.")))
 (defstruct probe-structure (part 1) (other 2 :read-only t))
 (define-condition probe-condition (error)
   ((why :initarg :why :initform 7 :reader probe-why :documentation "Why."))
   (:report (lambda (condition stream) (format stream "~A" (probe-why condition)))))
 (defgeneric probe-generic (object)
   (:method ((object t)) (list object))
   (:method ((object integer)) (call-next-method)))
 (defvar *probe-variable* 1 "A variable."))

;;; Encapsulation of SBCL's functions. It is probed first, because other probes use it.

(define-probe ("encapsulation" encapsulate unencapsulate)
  (progn (setf (symbol-function 'probe-doubled) (compile nil '(lambda (x) (* 2 x))))
         (encapsulate 'probe-doubled 'live-lisp-probe (lambda (called x) (list (funcall called x))))
         (and (equal '(6) (funcall 'probe-doubled 3))
              (progn (unencapsulate 'probe-doubled 'live-lisp-probe)
                     (eql 6 (funcall 'probe-doubled 3))))))
(define-probe (inner-function)
  (let ((plain (setf (symbol-function 'probe-inner) (compile nil '(lambda (x) x)))))
    (encapsulate 'probe-inner 'live-lisp-probe (lambda (called x) (list (funcall called x))))
    (and (eq plain (plain-definition 'probe-inner))
         (eq #'probe-called (inner-function #'probe-called)))))
(define-probe (+spawn+)
  (consp (arguments-of-call +spawn+ (lambda () (sb-ext:run-program "/bin/sh" '("-c" ":"))))))
(define-probe (+end-other-threads+)
  (eql (ash 7 8) (in-process (lambda ()
                               (encapsulate +end-other-threads+ 'live-lisp-probe
                                            (lambda (called)
                                              (declare (ignore called))
                                              (sb-ext:exit :code 7 :abort t)))
                               (sb-ext:exit :code 3)))))

;;; Frames

(define-probe ("frames" top-frame frame-below frame-function given-name)
  (in-frame (lambda (frame) (eq 'probe-called (debug-name (frame-function frame))))))
(define-probe (debug-kind +top-level-form+)
  (and (in-frame (lambda (frame) (not (eq :toplevel (debug-kind (frame-function frame))))))
       (symbolp +top-level-form+)))
(define-probe (plain-lambda-list)
  (equal '(number text function) (plain-lambda-list #'probe-called)))
(define-probe (+frame-arguments+)
  (in-frame (lambda (frame)
              (let ((arguments (given-arguments frame)))
                (and (= 3 (length arguments))
                     (eql 41 (first arguments))
                     (equal "text" (second arguments)))))))
(define-probe (with-more-arguments)
  (block probe
    (handler-bind
        ((error (lambda (condition)
                  (declare (ignore condition))
                  (loop for frame = (top-frame) then (frame-below frame)
                        until (eq :more (debug-kind (frame-function frame)))
                        finally (return-from probe
                                  (equal '(:other 3) (given-arguments frame)))))))
      (funcall (compile nil '(lambda (&key key) key)) :other 3))))
(define-probe ("places of frames" frame-place place-source place-top-level-form place-form-number)
  (in-frame (lambda (frame)
              (let ((place (frame-place frame)))
                (and (typep (source-name (place-source place)) '(or null string))
                     (typep (place-top-level-form place) '(or null unsigned-byte))
                     (typep (place-form-number place) 'unsigned-byte))))))
(define-probe (core-source source-form)
  (let ((source (information-source (code-information (function-code (compile nil
                                                                              '(lambda () 7)))))))
    (and (typep source 'core-source)
         (equal '(lambda () 7) (source-form source)))))
(define-probe ("locals" debug-variables variable-symbol variable-validity variable-value)
  (in-frame (lambda (frame)
              (let ((variable (find 'number (debug-variables (frame-function frame))
                                    :key (lambda (each) (variable-symbol each)))))
                (and (eq :valid (variable-validity variable (frame-place frame)))
                     (eql 41 (variable-value variable frame)))))))
(define-probe (thread-clock clock-time)
  (multiple-value-bind (seconds nanoseconds) (clock-time thread-clock)
    (and (typep seconds '(integer 0 100000)) (typep nanoseconds '(integer 0 999999999)))))
(define-probe (clock-time)
  (flet ((now ()
           (multiple-value-bind (seconds nanoseconds) (clock-time 1)
             (+ (* 1000000000 seconds) nanoseconds))))
    (let ((before (now))) (sleep 0.002) (< 1000000 (- (now) before) 60000000000))))
(define-probe (layout-of outdated-layout-p)
  (let ((instance (make-instance 'probe-class)))
    (and (not (outdated-layout-p (layout-of instance)))
         (let* ((class (eval '(defclass probe-changed () (a)))) (old (make-instance class)))
           (eval '(defclass probe-changed () (b)))
           (outdated-layout-p (layout-of old))))))
(define-probe (unbound-marker)
  (eq unbound-marker
      (sb-mop:standard-instance-access (make-instance 'probe-class)
                                       (sb-mop:slot-definition-location
                                        (first (sb-mop:class-slots (find-class 'probe-class)))))))
(define-probe (instance-length instance-word)
  (let ((structure (make-probe-structure :part 'probe)))
    (loop for index from 0 below (instance-length structure)
          thereis (eq 'probe (instance-word structure index)))))
(define-probe (condition-assignments)
  (let ((condition (make-condition 'probe-condition)))
    ;; SBCL stores an initial value only when the slot is read.
    (probe-why condition)
    (eql 7 (getf (assigned-slots condition) 'why))))
(define-probe (slot-index +assigned-slots+)
  (let ((condition (make-condition 'probe-condition :why 8)))
    (loop for index from (first-condition-word) below (instance-length condition)
            thereis (eql 8 (instance-word condition index)))))
(define-probe (plain-function-name) (eq 'probe-called (plain-function-name #'probe-called)))

;;; Leaving a frame, running its call again, and evaluating forms in it

(define-probe ("frame actions" frame-tag leave-frame)
  (equal '(:left) (multiple-value-list
                   (in-frame (lambda (frame)
                               (and (frame-tag frame)
                                    ;; Frames of SBCL's own functions have no tag.
                                    (loop for each = frame then (frame-below each)
                                          while each thereis (not (frame-tag each)))
                                    (leave-frame frame (lambda () (values :left)))))))))
(define-probe (function-of-frame)
  (in-frame (lambda (frame) (eq #'probe-called (function-of-frame (frame-function frame))))))
(define-probe (compiled-debug returning-convention function-component)
  (in-frame (lambda (frame)
              (and (eq :standard (returning-convention (compiled-debug (frame-function frame))))
                   (typep (function-component (frame-function frame)) 'code)))))
(define-probe (effective-function call-effective)
  (let* ((function #'probe-generic)
         (form
          (sb-mop:compute-effective-method function
                                           (sb-mop:generic-function-method-combination function)
                                           (compute-applicable-methods function '(5)))))
    (equal '(5) (call-effective (effective-function function form) '(5)))))
(define-probe (evaluate-in-frame)
  (in-frame (lambda (frame) (eql 42 (evaluate-in-frame frame '(1+ number))))))
(define-probe (+restarts+ +deadline+)
  (with-simple-restart (probe-restart "Probe.")
    (sb-sys:with-deadline (:seconds 100)
      (and (find-restart 'probe-restart)
           (symbol-value +deadline+)
           (progv (list +restarts+ +deadline+) '(nil nil)
             (and (null (compute-restarts))
                  (eq :done (with-simple-restart (probe-restart "Probe.") :done))
                  (null (sb-sys:with-deadline (:seconds nil) nil))))))))
(define-probe (+handlers+ first-handlers)
  (eq :unhandled (handler-case (progv (list +handlers+) (list first-handlers)
                                 (signal 'probe-condition)
                                 :unhandled)
                   (probe-condition () :handled))))
(define-probe (closed-over value-cell-p cell-value)
  (let* ((count 5) (closure (lambda () (incf count))))
    (funcall closure)
    (let ((values (closed-over closure)))
      (and (= 1 (length values)) (value-cell-p (first values)) (eql 6 (cell-value (first values)))
           (not (value-cell-p 6))))))
(define-probe (restart-function)
  (restart-case (functionp (restart-function (find-restart 'probe-restart)))
    (probe-restart () nil)))

;;; Locks

(define-probe (object-address)
  (let ((octets (make-array 3 :element-type '(unsigned-byte 8))))
    (sb-sys:with-pinned-objects (octets)
      (< 0 (- (sb-sys:sap-int (sb-sys:vector-sap octets)) (object-address octets)) 32))))
(define-probe (instance-tag)
  (let ((mutex (sb-thread:make-mutex)))
    (sb-sys:with-pinned-objects (mutex) (= instance-tag (logand (object-address mutex) 15)))))
(define-probe (close-region) (progn (close-region) (listp (list 1))))
(define-probe (filler-tag) (typep filler-tag '(integer 1 255)))
(define-probe (word-object)
  (let ((mutex (sb-thread:make-mutex)))
    (sb-sys:with-pinned-objects (mutex)
      (close-region)
      (and (equal (list mutex t) (multiple-value-list (word-object (object-address mutex) nil)))
           (not (nth-value 1 (word-object 3 nil)))))))
(define-probe ("locks" waited-for)
  (let* ((mutex (sb-thread:make-mutex))
         (thread (sb-thread:with-mutex (mutex)
                   (let ((thread (sb-thread:make-thread (lambda ()
                                                          (sb-thread:with-mutex (mutex) t)))))
                     (loop repeat 2000 until (eq mutex (waited-for thread)) do (sleep 0.001))
                     (and (eq mutex (waited-for thread)) thread)))))
    (and thread (sb-thread:join-thread thread))))

;;; Conditions of the compiler, and their contexts

(define-probe ("error-contexts" error-context context-form context-definitions context-offset
               context-file)
  (let ((found '()))
    (handler-bind ((warning (lambda (condition)
                              (declare (ignore condition))
                              (let ((context (error-context nil)))
                                (when (and context (null found))
                                  (setf found
                                        (list (context-form context) (context-definitions context)
                                              (context-offset context) (context-file context))))))))
      (call-with-fasl "(list 1)
(defun probe-warned () (let ((unused 1)) (car 1)))" #'list))
    (destructuring-bind (form definitions offset file) found
      (and (consp form)
           (search "PROBE-WARNED" (prin1-to-string definitions))
           ;; (list 1) has 8 characters. SBCLs differ by one in what they count.
           (<= 7 offset 9)
           (pathnamep file)))))
(define-probe (context-path path-number path-top-level-form)
  (let ((found nil))
    (handler-bind ((warning (lambda (condition)
                              (declare (ignore condition))
                              (let ((path (context-path (error-context nil))))
                                (setf found
                                      (or found
                                          (list (path-top-level-form path) (path-number path))))))))
      (call-with-fasl "(list 1)
(defun probe-warned () (car 1))" #'list))
    (equal '(1 1) found)))
(define-probe (compiled-program-error)
  (let ((function (let ((*error-output* (make-broadcast-stream)))
                    (handler-bind ((warning #'muffle-warning))
                      (compile nil '(lambda () (let ((1 2)) 3)))))))
    (handler-case (funcall function)
      (error (condition)
        (and (typep condition 'compiled-program-error)
             (not (typep (make-condition 'program-error) 'compiled-program-error)))))))
(define-probe (compiler-error unreadable-file encapsulated-condition unreadable-line)
  (block reading
    (handler-bind ((condition (lambda (condition)
                                (when (typep condition 'compiler-error)
                                  (let ((unreadable (encapsulated-condition condition)))
                                    (return-from reading
                                      (and (typep unreadable 'unreadable-file)
                                           (not (typep 1 'unreadable-file))
                                           (not (typep 1 'compiler-error))
                                           (typep (encapsulated-condition unreadable) 'error)
                                           (typep (unreadable-line unreadable)
                                                  '(or null
                                                    (cons unsigned-byte unsigned-byte))))))))))
      (call-with-fasl "
(car" #'list)
      nil)))
(define-probe (+warned+ +failed+)
  (flet ((values-for (mark)
           (rest (multiple-value-list
                  (handler-bind ((warning (lambda (condition)
                                            (funcall mark)
                                            (muffle-warning condition))))
                    (compile nil '(lambda () (car 1))))))))
    (equal '((nil nil) (t nil) (nil t))
           (list (values-for (lambda ()))
                 (values-for (lambda () (setf (symbol-value +warned+) t)))
                 (values-for (lambda () (setf (symbol-value +failed+) t)))))))
(define-probe (+in-unit+)
  (and (null (symbol-value +in-unit+))
       (with-compilation-unit () (symbol-value +in-unit+))
       ;; Without this outer unit, the inner unit would end with warnings of its own.
       (let ((warned-at-once nil))
         (handler-bind ((warning #'muffle-warning))
           (with-compilation-unit ()
             (handler-bind ((style-warning (lambda (condition)
                                             (setf warned-at-once t)
                                             (muffle-warning condition))))
               (progv (list +in-unit+) '(nil)
                 (compile nil '(lambda () (probe-undefined)))))))
         warned-at-once)))
(define-probe (stream-position)
  (call-with-file ".lisp" "1
2" (lambda (path)
     (with-open-file (in path)
       (read in)
       (let ((position (stream-position in)))
         (and (listp position)
              (every #'consp position)
              (typep (second (assoc :line position)) '(or null unsigned-byte))))))))
(define-probe (redefinition uninteresting-redefinition)
  (let ((seen '()))
    (eval '(defun probe-twice () 1))
    (handler-bind ((warning (lambda (condition)
                              (push (typep condition 'redefinition) seen)
                              (muffle-warning condition))))
      (eval '(defun probe-twice () 1)))
    (and (some #'identity seen)
         (not (typep (make-condition 'simple-warning) 'redefinition))
         (not (typep (make-condition 'simple-warning) 'uninteresting-redefinition)))))

(define-probe (other-proclamation other-package)
  (flet ((warned (form type)
           (handler-case (progn (eval form) nil)
             (warning (condition) (typep condition type)))))
    (eval '(proclaim '(ftype (function (integer) t) probe-proclaimed)))
    (eval '(defpackage "LIVE-LISP.PROBED" (:use) (:export "A")))
    (unwind-protect
         (and (not (typep (make-condition 'simple-warning) '(or other-proclamation other-package)))
              (warned '(proclaim '(ftype (function (string) t) probe-proclaimed))
                      'other-proclamation)
              (warned '(defpackage "LIVE-LISP.PROBED" (:use)) 'other-package))
      (delete-package "LIVE-LISP.PROBED"))))

;;; Printing of code

;; With *PRINT-LEVEL* 1 and a current depth of 1, a list is too deep and prints as #.
(define-probe (+print-depth+)
  (let ((*print-level* 1))
    (string= "#" (progv (list +print-depth+) '(1) (prin1-to-string '(1))))))
(define-probe (+print-references+) (typep (symbol-value +print-references+) 'boolean))
(define-probe ("code printing" +quasiquote+ comma comma-p comma-expression comma-kind)
  (let ((form (read-from-string "`(a ,b ,@c)")))
    (and (eq +quasiquote+ (first form))
         (let ((one (second (second form))) (all (third (second form))))
           (and (typep one 'comma)
                (comma-p one)
                (not (comma-p 'b))
                (not (typep 'b 'comma))
                (eq 'b (comma-expression one))
                (not (eql (comma-kind one) (comma-kind all))))))))
(define-probe (make-comma)
  (let ((one (second (second (read-from-string "`(a ,b)")))))
    (string= ",C" (prin1-to-string (make-comma 'c (comma-kind one))))))
(define-probe (+named-lambda+)
  (eq 'probe-named (plain-function-name (compile nil (list +named-lambda+ 'probe-named '() 1)))))
(define-probe (unprintable make-unprintable)
  (and (typep (make-unprintable "text") 'unprintable) (not (typep "text" 'unprintable))
       (search "text" (prin1-to-string (make-unprintable "text")))))

;;; The readtable, the compiler's policy, and hooks for definitions

(define-probe ("readtable and policy" macro-characters)
  (let ((macros (macro-characters *readtable*)))
    (and (simple-vector-p macros) (= 128 (length macros))
         (svref macros (char-code #\()) (member (svref macros (char-code #\a)) '(nil 0)))))
(define-probe (character-syntax)
  (let ((readtable (copy-readtable nil)))
    (set-syntax-from-char #\! #\Space readtable)
    (let ((before (character-syntax (copy-readtable nil))) (after (character-syntax readtable)))
      (and (typep before '(vector * 128))
           (loop for code below 128
                 always (eq (= code (char-code #\!))
                            (not (eql (elt before code) (elt after code)))))))))
(define-probe (other-characters)
  (let ((readtable (copy-readtable nil)))
    (set-macro-character (code-char 955) (lambda (stream char) (declare (ignore stream char)) nil)
                         nil readtable)
    (let ((others (other-characters readtable)))
      (and (hash-table-p others) (= 1 (hash-table-count others))))))
(define-probe (closure-p)
  (and (closure-p (let ((x (random 9))) (lambda () x)))
       (not (closure-p #'probe-called))))
(define-probe (dispatch-table)
  (let ((table (dispatch-table (svref (macro-characters (copy-readtable nil)) (char-code #\#)))))
    (and (consp table) (simple-vector-p (car table)) (svref (car table) (char-code #\')) t)))
(define-probe (+policy+ compiler-policy policy-qualities)
  (flet ((speed () (second (assoc 'speed (policy-qualities compiler-policy)))))
    (and (eq compiler-policy (symbol-value +policy+))
         (progv (list +policy+) (list (symbol-value +policy+))
           (proclaim '(optimize (speed 3)))
           (eql 3 (speed)))
         (not (eql 3 (speed))))))

(define-probe ("effects" +name-check+)
  (eq 'probe-defined (first-argument +name-check+ '(defun probe-defined () 1))))
(define-probe (+package-check+)
  (let ((arguments (arguments-of-call +package-check+
                                      (lambda ()
                                        (intern "A name that nothing has" "LIVE-LISP.BASE")))))
    (and (eq (find-package "LIVE-LISP.BASE") (first arguments))
         (eql 0 (search "interning" (second arguments))))))
(define-probe (+define-package+)
  (equal "PROBE-PACKAGE"
         (first-argument +define-package+ '(defpackage "PROBE-PACKAGE" (:use)))))
(define-probe (+proclaim+)
  (equal '(special *probe-declared*)
         (first-argument +proclaim+ '(declaim (special *probe-declared*)))))

(define-probe (load-fasl)
  (call-with-fasl "(in-package \"LIVE-LISP.BASE\") (defun probe-loaded () 9)"
                  (lambda (path fasl)
                    (declare (ignore path))
                    (with-open-file (in fasl :element-type '(unsigned-byte 8))
                      (load-fasl in nil nil))
                    (eql 9 (funcall 'probe-loaded)))))
(define-probe (+load-fasl+)
  (call-with-fasl "(list 1)"
                  (lambda (path fasl)
                    (and (streamp (first (arguments-of-call +load-fasl+ (lambda () (load fasl)))))
                         (equal (truename path) (truename (compiled-from fasl)))))))

(define-probe ("macroexpand-all" code-walker)
  (progn (unless (code-walker) (require "SB-CLTL2"))
         (let ((text (prin1-to-string (funcall (code-walker) '(let ((x 1)) (when x x))))))
           (and (search "(IF X" text) (not (search "WHEN" text))))))

;;; Packages, and SBCL's information about names

(define-probe ("symbol-tables" internal-table external-table symbol-cells)
  (and (find 'car (second (package-cells (find-package "COMMON-LISP"))))
       (not (find 'car (first (package-cells (find-package "COMMON-LISP")))))
       (find 'probe-called (first (package-cells (find-package "LIVE-LISP.BASE"))))))

(define-probe ("compiler definitions" known) (eq :function (known :function :kind 'car)))
(define-probe (symbol-knowledge)
  (and (symbol-knowledge 'car) (not (symbol-knowledge (make-symbol "NOTHING")))))
(define-probe (known-kinds kind-category kind-name kind-number known-value know-value forget-values)
  (let ((number (kind-number (find-if (lambda (kind)
                                        (and kind
                                             (eq :function (kind-category kind))
                                             (eq :kind (kind-name kind))))
                                      known-kinds)))
        (name (make-symbol "NAME")))
    (and (eq :function (known-value 'car number))
         (not (nth-value 1 (known-value name number)))
         (progn (know-value name number :function) (nth-value 1 (known-value name number)))
         (progn (forget-values name (list number)) (not (nth-value 1 (known-value name number)))))))
(define-probe (forget-types) (progn (forget-types) (typep 1 '(integer 1 2))))
(define-probe (source-location location-name package-location)
  (let ((location (package-location (find-package "LIVE-LISP.BASE"))))
    (and (typep location 'source-location) (not (typep 1 'source-location))
         (search "package.lisp" (location-name location)))))
(define-probe (location-form)
  (typep (location-form (package-location (find-package "LIVE-LISP.BASE")))
         '(or null unsigned-byte)))
(define-probe (class-missing)
  (handler-case (find-class 'probe-no-class)
    (error (condition)
      (and (typep condition 'class-missing) (eq 'probe-no-class (cell-error-name condition))
           (not (typep (make-condition 'probe-condition) 'class-missing))))))
(define-probe (type-specifier) (eq 'function (first (type-specifier (known :function :type 'car)))))

;;; Source files of definitions

(define-probe ("definition sources" function-code code-information information-source source-name
               source-date source-offsets)
  (call-with-fasl "(in-package \"LIVE-LISP.BASE\")
(defun probe-from-file () 9)"
                  (lambda (path fasl)
                    (load fasl)
                    (let ((source (information-source
                                   (code-information
                                    (function-code (fdefinition 'probe-from-file))))))
                      (and (string= (sb-ext:native-namestring (truename path)) (source-name source))
                           (eql (file-write-date path) (source-date source))
                           (let ((offsets (source-offsets source)))
                             (or (null offsets)
                                 ;; The forms begin at 0 and 30. SBCL's offsets may differ by a few.
                                 (and (= 2 (length offsets))
                                      (<= 0 (elt offsets 0) 1)
                                      (<= 28 (elt offsets 1) 31)))))))))
(define-probe (+source-namestring+)
  (with-compilation-unit (:source-namestring "probe.lisp")
    (string= "probe.lisp" (symbol-value +source-namestring+))))
(define-probe (+source-plist+)
  (with-compilation-unit (:source-plist '(:probe 9))
    (eql 9 (getf (symbol-value +source-plist+) :probe))))
(define-probe (+source-positions+)
  (let ((source (information-source (code-information (function-code #'probe-called)))))
    (slot-exists-p source +source-positions+)))
(define-probe (+declare-constructors+)
  (eq 'probe-made
      (description-name (first-argument +declare-constructors+
                                        '(defstruct (probe-made (:type list)) a)))))
(define-probe (+define-variable+)
  (eq '*probe-defined* (first-argument +define-variable+ '(defvar *probe-defined* 1))))
(define-probe (+define-global+)
  (eq '**probe-global** (first-argument +define-global+ '(sb-ext:defglobal **probe-global** 1))))
(define-probe (+define-alien-type+)
  (eq 'probe-alien
      (first-argument +define-alien-type+ '(sb-alien:define-alien-type probe-alien sb-alien:int))))

;;; The compiler's objects for classes: cells, classoids and layouts

(define-probe ("compiled classes" class-cell cell-classoid cell-class classoid)
  (let ((cell (class-cell 'probe-class)))
    (and (eq (find-class 'probe-class) (cell-class cell))
         (eq (classoid 'probe-class) (cell-classoid cell))
         (not (class-cell (make-symbol "NOTHING"))))))
(define-probe (classoid-location class-location)
  (and (typep (class-location (find-class 'probe-class)) '(or null source-location))
       (typep (classoid-location (classoid 'probe-structure)) '(or null source-location))))
(define-probe (classoid-state) (typep (classoid-state (classoid 'probe-structure)) 'symbol))
(define-probe (classoid-layout layout-classoid layout-inherits)
  (let* ((classoid (classoid 'probe-structure)) (layout (classoid-layout classoid)))
    (and (eq classoid (layout-classoid layout))
         (find (classoid-layout (classoid 'structure-object)) (layout-inherits layout)))))
(define-probe (remove-subclassoid)
  (progn (eval '(defstruct probe-above)) (eval '(defstruct (probe-below (:include probe-above))))
         (remove-subclassoid (classoid 'probe-below) (classoid 'probe-above))
         (typep (funcall 'make-probe-above) 'probe-above)))

;;; Structures, conditions and method combinations

(define-probe ("class descriptions" defstruct-description description-name description-slots
               description-constructors description-type
               description-copier description-predicate structure-slot-name structure-slot-accessor
               structure-slot-read-only-p)
  (let* ((description (defstruct-description 'probe-structure nil))
         (slots (description-slots description)))
    (and (eq 'probe-structure (description-name description))
         (equal '(part other) (mapcar (lambda (slot) (structure-slot-name slot)) slots))
         (eq 'probe-structure-part (structure-slot-accessor (first slots)))
         (not (structure-slot-read-only-p (first slots)))
         (structure-slot-read-only-p (second slots))
         (eq 'make-probe-structure (first (first (description-constructors description))))
         (eq 'structure (description-type description))
         (eq 'copy-probe-structure (description-copier description))
         (eq 'probe-structure-p (description-predicate description)))))
(define-probe (condition-class)
  (and (typep (find-class 'probe-condition) 'condition-class)
       (not (typep (find-class 'probe-class) 'condition-class))))
(define-probe (classoid-slots condition-slot-name condition-slot-text)
  (let ((slot (first (classoid-slots (classoid 'probe-condition)))))
    (and (eq 'why (condition-slot-name slot)) (equal "Why." (condition-slot-text slot)))))
(define-probe (condition-report) (functionp (condition-report (classoid 'probe-condition))))
(define-probe (combination-name combination-options)
  (let ((combination (sb-mop:generic-function-method-combination
                      (eval '(defgeneric probe-appended (x)
                              (:method-combination append :most-specific-last))))))
    (and (eq 'append (combination-name combination))
         (equal '(:most-specific-last) (combination-options combination)))))
(define-probe (+combination-options+)
  (null (funcall +combination-options+
                 (sb-mop:generic-function-method-combination #'probe-generic))))
(define-probe (standard-precedence-list)
  (equal (mapcar #'find-class '(probe-class standard-object))
         (subseq (standard-precedence-list (find-class 'probe-class)
                                           (list (find-class 'standard-object)))
                 0 2)))
(define-probe (standard-combination short-combination long-combination combination-operator
                                    combination-plain-p)
  (let ((standard (sb-mop:generic-function-method-combination #'probe-generic))
        (short (sb-mop:generic-function-method-combination (eval '(defgeneric probe-summed (x)
                                                                   (:method-combination +))))))
    (and (typep standard 'standard-combination)
         (not (typep standard 'short-combination))
         (not (typep standard 'long-combination))
         (typep short 'short-combination)
         (eq '+ (combination-operator short))
         (combination-plain-p short))))
(define-probe (long-combinations method-combinations)
  (progn (eval '(define-method-combination probe-long () ((all ()))
                 `(list ,@(mapcar (lambda (m) `(call-method ,m)) all))))
         (and (hash-table-p long-combinations) (gethash 'probe-long long-combinations)
              (hash-table-p method-combinations) (gethash 'probe-long method-combinations))))
(define-probe (combination-location)
  (typep (combination-location (gethash '+ method-combinations)) '(or null source-location)))

;;; Effective methods of generic functions

(define-probe ("effective methods" +next-method-call+ +qualifier-check+)
  (and +next-method-call+
       +qualifier-check+
       (macro-function +next-method-call+)
       (fboundp +qualifier-check+)))
(define-probe (debug-parameters)
  (let ((parameters (debug-parameters (function-debug (compile nil
                                                               '(lambda (one two)
                                                                 (declare (ignore one))
                                                                 (list two)))))))
    (and (eq :deleted (first parameters))
         (second parameters)
         (not (eq :deleted (second parameters))))))
(define-probe (+coerce-callable+) (eq #'probe-called (funcall +coerce-callable+ 'probe-called)))
(define-probe (function-attributes attribute-names)
  (member "FOLDABLE" (attribute-names (function-attributes (known :function :info '+)))
          :key #'symbol-name :test #'string=))

;;; Callers of a function, and coverage

(define-probe ("recorded calls" caller-address code-at code-start debug-at)
  (flet ((caller () (caller-address)))
    (declare (notinline caller))
    (let* ((address (sb-sys:sap-int (caller))) (code (code-at address)))
      (and (typep code 'code)
           (let ((offset (- address (sb-sys:sap-int (code-start code)))))
             (and (< 0 offset 1000000) (debug-name (debug-at code offset)) t))))))
(define-probe (on-stack-p)
  (let ((stacked (list 1 2)))
    (declare (dynamic-extent stacked))
    (and (on-stack-p stacked) (not (on-stack-p (make-probe-structure))))))
(define-probe ("hashes" hash-function)
  (flet ((hash (key test)
           (nth-value 0 (funcall (hash-function (make-hash-table :test test)) key))))
    (and (eql (hash (list 1 2) 'equal) (hash (list 1 2) 'equal))
         (not (eql (hash (list 1 2) 'equal) (hash (list 1 3) 'equal)))
         (eql (hash "a" 'equalp) (hash "A" 'equalp)))))
(define-probe ("entered methods" +called-method+)
  (let ((function (eval '(defgeneric probe-entered (x) (:method (x) (list x)))))
        (entered '()))
    (encapsulate +called-method+ 'live-lisp-probe
                 (lambda (called function method code fast)
                   (let ((code (funcall called function method code fast)))
                     (lambda (&rest arguments)
                       (push (list function method (if fast (cddr arguments) (first arguments)))
                             entered)
                       (apply code arguments)))))
    (unwind-protect (funcall function 3) (unencapsulate +called-method+ 'live-lisp-probe))
    (equal entered
           (list (list function (first (sb-mop:generic-function-methods function)) '(3))))))
(define-probe (release-generic)
  (let ((function (eval '(defgeneric probe-released (x) (:method (x) (list x))))))
    (encapsulate 'probe-released 'live-lisp-probe (lambda (called x) (list (funcall called x))))
    (fmakunbound 'probe-released)
    (and (equal '((3)) (funcall function 3))
         (progn (release-generic function 'live-lisp-probe) (equal '(3) (funcall function 3))))))
(define-probe ("coverage" coverage-info +coverage-quality+ source-paths)
  (and (consp coverage-info) (hash-table-p (first coverage-info))
       (functionp (compile nil `(lambda () (declare (optimize (,+coverage-quality+ 3))) 1)))
       (typep source-paths '(or null hash-table))))

;;; Strings

(define-probe (+with-array-data+)
  (with-string-data (data start end)
    (make-array 2 :element-type 'character :displaced-to "abcde" :displaced-index-offset 2)
    (and (simple-string-p data) (string= "cd" data :start2 start :end2 end))))

;;; Stacks

(define-probe (thread-slot this-slot word-octets)
  ;; The address has 62 bits, so FLOOR by 7 returns the octets of the word that holds it: 8.
  (and (= (* 8 word-octets)
          (* 8 (floor (integer-length (sb-sys:sap-int (sb-sys:int-sap (1- (ash 1 62))))) 7)))
       (in-thread (lambda ()
                    (let ((thread (thread-slot this-slot)))
                      (= (sb-sys:sap-int thread)
                         (sb-sys:sap-ref-word thread (* word-octets this-slot))))))))
(define-probe ("stack guards" stack-pointer stack-start-slot stack-end-slot stack-octets)
  (in-thread (lambda ()
               (let* ((thread (thread-slot this-slot))
                      (start (sb-sys:sap-ref-word thread (* word-octets stack-start-slot)))
                      (end (sb-sys:sap-ref-word thread (* word-octets stack-end-slot))))
                 (and (< start (sb-sys:sap-int (stack-pointer)) end)
                      (<= (abs (- end start stack-octets)) 65536))))))
(define-probe (guard-octets)
  (and (<= 4096 guard-octets (ash 1 20))
       (zerop (mod guard-octets
                   (sb-alien:alien-funcall (sb-alien:extern-alien "getpagesize"
                                                                  (function sb-alien:int)))))))
;; Run this in a child process. When a thread ends with an unprotected guard page, the next thread
;; on the same stack can end the process.
(define-probe (protect-control-stack protect-binding-stack protect-alien-stack)
  (zerop (in-process (lambda ()
                       (in-thread (lambda ()
                                    (let ((thread (thread-slot this-slot)))
                                      (protect-control-stack 1 thread)
                                      (protect-binding-stack 1 thread)
                                      (protect-alien-stack 1 thread)
                                      (exhaust-stack))))))))
(define-probe (state-slot reset-guard-page)
  (zerop (in-process
          (lambda ()
            (loop repeat 2
                  always (in-thread
                          (lambda ()
                            (let ((thread (thread-slot this-slot)))
                              (flet ((open-p ()
                                       (zerop (ldb (byte 8 0)
                                                   (sb-sys:sap-ref-word thread
                                                                        (* word-octets
                                                                           state-slot))))))
                                (and (not (open-p))
                                     (exhaust-stack)
                                     (open-p)
                                     (progn (reset-guard-page thread) (not (open-p)))))))))))))

;;; The heap

(define-probe (heap-usage)
  (let* ((before (heap-usage)) (vector (make-array 4000000 :element-type '(unsigned-byte 8))))
    (and (<= 3900000 (- (heap-usage) before) 100000000) (probe-look (constantly (list vector))))))
(define-probe ("heap pages" page-octets pages-in-use page-index +page-table+ +page-flags+
               +page-generation+ +page-words+)
  (let ((large (make-array (* 8 page-octets) :element-type '(unsigned-byte 8))) (small (list 1)))
    (sb-sys:with-pinned-objects (large small)
      (flet ((page-of (object) (page-index (object-address object))))
        (and (< 0 (page-of large) (1+ pages-in-use))
             (< 1 (page-slot (page-of large) +page-words+))
             (<= 0 (page-slot (page-of large) +page-generation+) 7)
             ;; 16 is the flag of a page with a single large object, as in LARGE-PAGE-P.
             (logtest 16 (page-slot (page-of large) +page-flags+))
             (not (logtest 16 (page-slot (page-of small) +page-flags+)))
             (<= (abs (- (heap-usage) (* page-octets pages-in-use)))
                 (sb-ext:dynamic-space-size)))))))
(define-probe (heap-exhausted)
  (and (subtypep 'heap-exhausted 'storage-condition)
       (not (subtypep 'heap-exhausted nil))
       (not (subtypep 'storage-condition 'heap-exhausted))))
(define-probe (collection-inhibited)
  (and (not collection-inhibited) (sb-sys:without-gcing collection-inhibited)))
(define-probe (collection-trigger)
  (progn (sb-ext:gc)
         (< (heap-usage) collection-trigger
            (+ (heap-usage) (* 3 (sb-ext:bytes-consed-between-gcs))))))
(define-probe (+after-collection+)
  (let ((thread nil) (arguments :none))
    (push (lambda () (setf thread sb-thread:*current-thread*)) sb-ext:*after-gc-hooks*)
    (setf arguments (arguments-of-call +after-collection+ (lambda () (sb-ext:gc))))
    (pop sb-ext:*after-gc-hooks*)
    ;; If SBCL runs the hooks in the thread that has collected, the backend does not use
    ;; +AFTER-COLLECTION+, so any value will do.
    (or (eq thread sb-thread:*current-thread*) (listp arguments))))
(define-probe ("card table" card-marks card-bits)
  (and (<= 8 card-bits 36)
       ;; Each octet is of this type. But this process would end if it read outside of the table.
       (loop for index from 0 below (ash 1 card-bits) by 4096
             always (typep (sb-sys:sap-ref-8 card-marks index) '(unsigned-byte 8)))))

;;; Threads and the process

(define-probe (system-thread-p) (not (system-thread-p sb-thread:*current-thread*)))
(define-probe (thread-number)
  (in-thread (lambda () (plusp (thread-number sb-thread:*current-thread*)))))
(define-probe (float-modes)
  (let ((before (float-modes)))
    (and (typep before 'unsigned-byte)
         (progn (setf (float-modes) before) (eql before (float-modes)))
         (handler-case (/ 1.0 (- 1.0 1.0)) (division-by-zero () t)))))
(define-probe (compiler-lock) (typep compiler-lock 'sb-thread:mutex))
(define-probe (exit-under-way) (null exit-under-way))
(define-probe (allow-signals) (progn (allow-signals) t))
(define-probe (end-process) (eql (ash 5 8) (in-process (lambda () (end-process 5 :abort t)))))
(define-probe (map-folder)
  (let ((found '()))
    (map-folder (lambda (folder) (push folder found)) "/" :files nil :classify-symlinks nil
                :errorp nil)
    (and found (every #'pathnamep found))))
(define-probe ("process" process-id) (eql (process-id) (funcall (intern "GETPID" "SB-POSIX"))))
(define-probe (signal-process)
  (eql 9
       (logand 127
               (in-process (lambda () (signal-process (funcall (intern "GETPID" "SB-POSIX")) 9))))))
(define-probe (control-device)
  (multiple-value-bind (from to) (funcall (intern "PIPE" "SB-POSIX"))
    (let ((count (make-array 4 :element-type '(unsigned-byte 8) :initial-element 255)))
      (sb-sys:with-pinned-objects (count)
        (unwind-protect (or (null (find :linux *features*))
                            ;; FIONREAD of Linux
                            (and (control-device from #x541B (sb-sys:vector-sap count))
                                 (every #'zerop count)))
          (funcall (intern "CLOSE" "SB-POSIX") from)
          (funcall (intern "CLOSE" "SB-POSIX") to))))))
(define-probe (open-file read-file close-file)
  (call-with-file ".text" "abc"
                  (lambda (path)
                    (let ((octets (make-array 3 :element-type '(unsigned-byte 8)))
                          (file (open-file path 0 0)))
                      (sb-sys:with-pinned-objects (octets)
                        (read-file file (sb-sys:vector-sap octets) 3))
                      (close-file file)
                      (and (equalp #(97 98 99) octets)
                           (null (open-file (concatenate 'string path "/no") 0 0)))))))
(define-probe ("file names" +map-names+ undecodable-name)
  ;; SBCL cannot decode the name with the octet 255, since it is not valid in UTF-8.
  (let* ((folder (concatenate 'string *probe-file* ".names/"))
         (paths (list folder (concatenate 'string folder (string (code-char 255)))
                      (concatenate 'string folder "a"))))
    (macrolet ((call (name path &rest more)
                 `(sb-alien:alien-funcall
                   (sb-alien:extern-alien ,name
                                          (function sb-alien:int
                                                    (sb-alien:c-string :external-format :latin-1)
                                                    ,@(and more '(sb-alien:int))))
                   ,path ,@more)))
      (loop for path in paths do (call "mkdir" path #o700))
      (unwind-protect
           (let ((found (call-skipping-undecodable
                         (lambda ()
                           (directory (concatenate 'string folder "*/") :resolve-symlinks nil)))))
             (member "a" found :key (lambda (path) (first (last (pathname-directory path))))
                               :test #'string=))
        (loop for path in (reverse paths) do (call "rmdir" path))))))

;;; Cross references, and names of functions

(define-probe ("cross-references" function-xrefs map-packed-xrefs)
  (let ((found '()))
    (map-xrefs (lambda (kind name number) (declare (ignore kind number)) (push name found))
               (function-xrefs #'in-frame))
    (member 'probe-called found)))
(define-probe (without-xrefs-p)
  (let ((xrefs (function-xrefs (compile nil
                                        (list +named-lambda+ 'probe-user '(x) '(list-length x)
                                              '*standard-output*))))
        (found '()))
    (when xrefs
      (map-xrefs (lambda (kind name number) (declare (ignore kind number)) (push name found))
                 xrefs))
    (and (not (without-xrefs-p 'probe-called))
         (loop for name in '(list-length *standard-output*)
               always (eq (null (member name found)) (and (without-xrefs-p name) t))))))
(define-probe ("slots that are set" +know-slot+)
  (equal '(probe-structure-part x)
         (first-argument +know-slot+ '(macroexpand-1 '(setf (probe-structure-part x) 1)))))
(define-probe (+record-expansion+ record-callee)
  (let ((found '()))
    (encapsulate +record-expansion+ 'live-lisp-probe
                 (lambda (called macro block path)
                   (funcall called macro block path)
                   (when (eq macro 'when) (record-callee 'probe-called block path))))
    (eval '(defun probe-recorded (x) (when x (list x))))
    (unencapsulate +record-expansion+ 'live-lisp-probe)
    (map-xrefs (lambda (kind name number) (declare (ignore kind number)) (push name found))
               (function-xrefs (fdefinition 'probe-recorded)))
    (member 'probe-called found)))
(define-probe (source-path) (typep source-path '(or null cons)))

(define-probe ("functions" simple-function)
  (let ((closure (let ((x (list 1))) (lambda () x))))
    (and (typep (simple-function closure) 'simple-function) (not (typep closure 'simple-function))
         (eq #'probe-called (simple-function #'probe-called)) (not (typep 1 'simple-function)))))
(define-probe (instance-function)
  (let ((instance (make-instance 'sb-mop:funcallable-standard-object)))
    (sb-mop:set-funcallable-instance-function instance #'probe-called)
    (eq #'probe-called (instance-function instance))))
(define-probe (simple-function-name) (eq 'probe-called (simple-function-name #'probe-called)))
(define-probe (interpreted-function)
  (and (let ((sb-ext:*evaluator-mode* :interpret))
         (typep (eval '(lambda () 1)) 'interpreted-function))
       (not (typep #'probe-called 'interpreted-function))))
(define-probe (method-function)
  (functionp (method-function (first (sb-mop:generic-function-methods #'probe-generic)))))
(define-probe (map-global-names)
  (let ((found nil))
    (map-global-names (lambda (name) (when (eq name 'probe-called) (setf found t))))
    found))
(define-probe (cell) (not (or (typep 1 'cell) (subtypep 'cell nil))))
(define-probe (handled-class) (not (or (typep 1 'handled-class) (subtypep 'handled-class nil))))
(define-probe (called-function) (eq #'probe-called (called-function 'probe-called)))
(define-probe (+add-method+)
  (eq 'probe-generic
      (second (arguments-of-call +add-method+
                                 (lambda () (eval '(defmethod probe-generic ((x symbol)) x)))))))
(define-probe (+checks-list+ +checks-rest+ +checks-keys+)
  (every #'fboundp (list +checks-list+ +checks-rest+ +checks-keys+)))

;;; Code objects

(define-probe ("code" code code-functions code-function)
  (let ((code (function-code #'in-frame)))
    (and (typep code 'code) (not (typep 1 'code))
         (loop for index below (code-functions code)
               thereis (eq #'in-frame (code-function code index))))))
(define-probe (code-words code-word words-before-functions words-for-function)
  (let ((code (function-code #'in-frame)))
    (and (typep words-for-function '(integer 0 16))
         (loop for index from words-before-functions below (code-words code)
                 thereis (equal "text" (code-word code index))))))
(define-probe (cell-name)
  (let ((code (function-code #'in-frame)))
    (loop for index from words-before-functions below (code-words code)
          for word = (code-word code index)
          always (or (not (typep word 'cell)) (symbolp (cell-name word))))))
(define-probe (code-serial next-serial)
  (and (integerp (code-serial (function-code #'in-frame))) (integerp next-serial)))
(define-probe (code-fixups unpack-locations)
  (or (null +name-of-cell+) (member 'probe-called (linked-names (function-code #'in-frame)))))
(define-probe (generation +never-collected+) (<= 0 (generation (list 1)) 5 +never-collected+ 10))
(define-probe (function-debug) (eq 'probe-called (debug-name (function-debug #'probe-called))))
(define-probe (form-number compiled-debug function-debug)
  (typep (form-number (compiled-debug (function-debug #'probe-called))) '(or null unsigned-byte)))
(define-probe (walk-code)
  (let ((code (function-code #'in-frame)) (found nil))
    (walk-code (lambda (each) (when (eq code each) (setf found t))))
    found))
(define-probe (make-weak-vector) (equalp #(nil nil) (make-weak-vector 2)))

;;; Positions in a file of the objects that the reader makes

(for-probes
 (defun call-with-numbered (function)
   "Call FUNCTION, which compiles or loads a file. Return a list of three things that SBCL has
recorded just after the compiler numbered the subforms of the first form: the stream of the file,
the number of this form, and the number of its second element."
   (let ((found '()))
     (encapsulate +number-forms+ 'live-lisp-probe
                  (lambda (called form number)
                    (funcall called form number)
                    (unless found
                      (setf found (list (information-stream source-information)
                                        (second (gethash form form-paths))
                                        (second (gethash (second form) form-paths)))))))
     (unwind-protect (funcall function) (unencapsulate +number-forms+ 'live-lisp-probe))
     found)))

(define-probe ("places" tracking-stream +tracking-stream+ stream-observer)
  (let ((seen '()))
    (call-with-file ".lisp" "(list (car 1))"
                    (lambda (path)
                      (with-open-file (in path :class +tracking-stream+)
                        (setf (stream-observer in)
                              (lambda (start end object) (push (list start end object) seen)))
                        (and (typep in 'tracking-stream)
                             (not (typep *standard-input* 'tracking-stream))
                             (read in)))))
    (and (member '(6 13 (car 1)) seen :test #'equal)
         (member '(0 14 (list (car 1))) seen :test #'equal))))
(define-probe (+form-paths+ form-paths number-forms)
  (let* ((inner (list 'list 1)) (form (list 'list 1 inner)))
    (progv (list +form-paths+) (list (make-hash-table :test 'eq))
      (number-forms form 3)
      (and (eql 0 (second (gethash form form-paths)))
           (eql 1 (second (gethash inner form-paths)))))))
(define-probe (+number-forms+ +source-information+ source-information information-stream)
  (flet ((right-p (found) (and (typep (first found) 'tracking-stream) (equal '(0 1) (rest found)))))
    (and (right-p (call-with-numbered (lambda () (call-with-fasl "(list (list 1))" #'list))))
         (right-p (call-with-numbered (lambda ()
                                        (call-with-file ".lisp" "(list (list 1))" #'load))))
         (progv (list +source-information+) '(nil) (null source-information)))))
(define-probe (+make-observer+)
  (let ((seen '()))
    (encapsulate +make-observer+ 'live-lisp-probe
                 (lambda (called &rest arguments)
                   (let ((observer (apply called arguments)))
                     (lambda (start end object)
                       (push object seen)
                       (funcall observer start end object)))))
    (unwind-protect (call-with-fasl "(list (list 1))" #'list)
      (unencapsulate +make-observer+ 'live-lisp-probe))
    (member '(list 1) seen :test #'equal)))
(define-probe (+load-source+)
  (typep (first (arguments-of-call +load-source+ (lambda () (call-with-file ".lisp" "1" #'load))))
         'tracking-stream))

;;; How code gets into the image

(define-probe ("new code" +note-code+)
  (typep (first (arguments-of-call +note-code+ (lambda () (compile nil '(lambda () 1))))) 'code))
(define-probe (+evaluate-simply+) (equal '(list 1) (first-argument +evaluate-simply+ '(list 1))))
(define-probe (+evaluate-compiled+)
  (let ((form '(let ((x 1)) (list x)))) (equal form (first-argument +evaluate-compiled+ form))))
(define-probe (+interpret+)
  (let ((sb-ext:*evaluator-mode* :interpret))
    (equal '(list 1) (first-argument +interpret+ '(list 1)))))
(define-probe (+run-finalizers+) (fboundp +run-finalizers+))
(define-probe (evaluated-index evaluated-form)
  (call-with-file ".lisp" "1
(setf live-lisp.base::*probe-variable*
      (list live-lisp.base::evaluated-index live-lisp.base::evaluated-form))"
                  (lambda (path)
                    (load path)
                    (and (eql 1 (first *probe-variable*))
                         (eq 'setf (first (second *probe-variable*)))))))

(define-probe (file-kind)
  (and (eq :file (call-with-file ".text" "abc" (lambda (path) (file-kind path))))
       (not (eq :file (file-kind "/dev/null")))))
(define-probe ("walking code" walk-form)
  (let ((seen '()))
    (walk-form '(let ((x 1)) (when x (list x))) nil
               (lambda (form context environment)
                 (declare (ignore context environment))
                 (push form seen)
                 form))
    (member '(list x) seen :test #'equal)))
