;;;; Watches errors in all threads: records or holds them when they are signalled, before handlers
;;;; of the program run.

(in-package "LIVE-LISP.DEBUG")

(defstruct (watch (:constructor make-watch (where type hold)))
  "A selection of errors to record. TYPE is a condition type. WHERE is \"all\", a part of the name
of the thread that signals the error, or the name of a package that has the name of a function on
the stack. HOLD is the number of seconds for which to hold each error, or NIL to hold none."
  where type hold)

(defparameter *watched-limit* 50 "The maximum number of recorded errors that are kept.")
(defparameter *watched-at-once* 20
  "The maximum number of errors recorded within one second. Others are only counted.")

(sb-ext:defglobal **watch** nil "The WATCH structure that is in effect, or NIL.")
(sb-ext:defglobal **watched** '() "A list of the recorded errors as JSON objects, newest first.")
(sb-ext:defglobal **watched-count** 0 "The number of errors that **WATCH** has selected so far.")
(sb-ext:defglobal **watch-second** '(0 . 0)
  "A pair of a universal time and the number of errors that were counted in this second.")
(sb-ext:defglobal **watch-lock** (sb-thread:make-mutex :name "live-lisp watch")
  "A lock that a thread holds while it changes **WATCHED**, **WATCHED-COUNT** or **WATCH-SECOND**.")

(defvar *noting* nil "True while this thread records an error.")

(defun room-this-second-p ()
  "Count one error. Return true if at most *WATCHED-AT-ONCE* errors were counted in this second, so
that it can be recorded."
  (sb-thread:with-mutex (**watch-lock**)
    (incf **watched-count**)
    (let ((now (get-universal-time)))
      (setf **watch-second**
            (cons now (if (= now (car **watch-second**)) (1+ (cdr **watch-second**)) 1)))
      (<= (cdr **watch-second**) *watched-at-once*))))

(defun watched-p (watch condition frames)
  "Return true if WATCH selects CONDITION, which this thread is signalling. FRAMES is the list of
frames on its stack, from SHOWN-FRAMES."
  (let ((where (watch-where watch)))
    (and (typep condition (watch-type watch))
         (or (string-equal where "all")
             (search where (short-thread-name sb-thread:*current-thread*) :test #'char-equal)
             (loop for frame in frames
                   for root = (and (not (folded-p frame)) (root-name (frame-name frame)))
                     thereis (and root
                                  (symbol-package root)
                                  (eq (symbol-package root)
                                      (find-package (string-upcase where)))))))))

(defun local-report (condition)
  "Return the report of CONDITION if its class is the system's, so that no code of the program runs.
Else return CONDITION printed with its slots."
  (if (system-class-p condition)
      (report-text 1000 condition)
      (local-text condition)))

(defun record-watched (condition frames more)
  "Record CONDITION. FRAMES and MORE are the two values of SHOWN-FRAMES when it was signalled."
  (let* ((calls (frame-calls frames))
         (record (object "time" (get-universal-time)
                         "thread" (current-thread-name)
                         "type" (class-text (class-of condition))
                         "text" (local-report condition)
                         "frames" (mapcar #'call-data calls)
                         "moreFrames" more)))
    (sb-thread:with-mutex (**watch-lock**)
      (setf **watched** (page (cons record **watched**) 0 *watched-limit*)))))

(defun recorded-p (condition watch)
  "If WATCH selects CONDITION, which is about to be signalled, record it and return true."
  (let ((*noting* t))
    (unless-broken
     nil
     (lambda ()
       (when (and (typep condition (watch-type watch))
                  (not (typep condition 'storage-condition))
                  (room-on-stack-p))
         (multiple-value-bind (frames more) (shown-frames)
           (when (and frames (watched-p watch condition frames) (room-this-second-p))
             (record-watched condition frames more)
             t)))))))

(defun note-signalled (condition)
  "If **WATCH** selects CONDITION, which is about to be signalled, record it. Hold it too if the
watch requires this."
  (let ((watch **watch**))
    (when (and watch
               (not *noting*)
               (not (and *job* (job-looking *job*)))
               (recorded-p condition watch)
               (watch-hold watch)
               (null *held*))
      (hold-condition condition (watch-hold watch) *job* t))))

;;; Before SBCL looks for handlers of a condition, it breaks if *BREAK-ON-SIGNALS* says so. A watch
;;; sets this variable while it is in effect: globally, for threads of the program, and in the
;;; session.

(defun signalled-condition (condition)
  "If CONDITION is the one that SBCL signals for *BREAK-ON-SIGNALS*, return the condition for which
it breaks. Else return NIL."
  (when (typep condition 'simple-condition)
    (let ((control (simple-condition-format-control condition))
          (arguments (simple-condition-format-arguments condition)))
      (and (stringp control)
           (search "*BREAK-ON-SIGNALS*" control)
           (consp arguments)
           (typep (first arguments) 'condition)
           (first arguments)))))

(defun note-break (condition)
  "If CONDITION is SBCL's break for *BREAK-ON-SIGNALS*, and **WATCH** selects the condition for
which it breaks, record that condition and continue."
  (let ((signalled (signalled-condition condition)))
    (when (and signalled **watch** (typep signalled (watch-type **watch**)))
      (note-signalled signalled)
      (continue condition))))

(defun break-at (type)
  "Make SBCL break when a condition of TYPE is signalled, in threads of the program and in calls
that begin from now on."
  (setf (sb-ext:symbol-global-value '*break-on-signals*) type)
  (set-session-variable '*break-on-signals* type)
  ;; STYLE-MEMBERS records that *BREAK-ON-SIGNALS* was reported. Without this, the next answer would
  ;; report the change as if the program had made it.
  (style-members))

;;; In an image that somebody else runs, *BREAK-ON-SIGNALS* would open that person's debugger for
;;; each error that the program handles. There, the functions that signal conditions are hooked.

(defvar *signalling* nil "The condition that a hook of this thread is signalling, or NIL.")

(defun condition-for (datum arguments simple)
  "Return the condition that the arguments DATUM and ARGUMENTS of a function such as ERROR stand
for. A format control makes a condition of the type SIMPLE. Return NIL if they stand for none."
  (typecase datum
    (condition datum)
    ((or string function)
     (make-condition simple :format-control datum :format-arguments arguments))
    (symbol (and (find-class datum nil)
                 (subtypep datum 'condition)
                 (apply #'make-condition datum arguments)))))

(defun call-noting-condition (condition function)
  "Call FUNCTION, which signals CONDITION. Before that, record CONDITION if the watch selects it and
this thread is not signalling it already."
  (unless (eq condition *signalling*)
    (note-signalled condition))
  (let ((*signalling* condition)) (funcall function)))

(defun call-noted (simple function arguments)
  "Call FUNCTION, which signals the condition for which ARGUMENTS stand, with that condition, and
record it. SIMPLE is the type of a condition for a format control."
  (let ((condition (and arguments
                        (apart (ignore-errors (condition-for (first arguments) (rest arguments)
                                                             simple))))))
    (if condition
        (call-noting-condition condition (lambda () (funcall function condition)))
        (apply function arguments))))

(defun error-noted (function &rest arguments)
  "Hook: call FUNCTION, which is ERROR, by CALL-NOTED with ARGUMENTS."
  (call-noted 'simple-error function arguments))

(defun signal-noted (function &rest arguments)
  "Hook: call FUNCTION, which is SIGNAL, by CALL-NOTED with ARGUMENTS."
  (call-noted 'simple-condition function arguments))

(defun warn-noted (function &rest arguments)
  "Hook: call FUNCTION, which is WARN, by CALL-NOTED with ARGUMENTS."
  (call-noted 'simple-warning function arguments))

(defun cerror-noted (function &rest arguments)
  "Hook: call FUNCTION, which is CERROR, by CALL-NOTED with ARGUMENTS but the first. CERROR needs
all of them for its restart."
  (call-noted 'simple-error
              (lambda (datum &rest more)
                (declare (ignore more))
                (apply function (first arguments) datum (cddr arguments)))
              (rest arguments)))

(define-hook error error-noted)
(define-hook signal signal-noted)
(define-hook warn warn-noted)
(define-hook cerror cerror-noted)

(defparameter *signal-hooks* '(error-noted signal-noted warn-noted cerror-noted)
  "The hooks by which a watch sees conditions in an image that somebody else runs.")

(defun watch-errors (watch)
  "Begin to record the errors that WATCH selects, in place of the previous watch."
  (let ((before **watch**))
    (setf **watch** watch)
    (cond (**attached**
           (unless before
             (call-unrecorded (lambda () (apply #'install-hooks *signal-hooks*)))))
          (t (setf **on-break** #'note-break)
             ;; *BREAK-ON-SIGNALS* would stop the program in SBCL's debugger.
             (pushnew 'watch-no-more **at-stop**)
             (break-at (watch-type watch))))))

(defun watch-no-more ()
  "Stop recording errors. Errors that are held stay held."
  (setf **watch** nil)
  (cond (**attached** (call-unrecorded (lambda () (uninstall-hooks *signal-hooks*))))
        (t (setf **on-break** nil)
           (break-at nil))))

(defun watch-type-named (name)
  "Return the condition type that the text NAME names, or NIL if there is none."
  (let ((type (ignore-errors (with-standard-io-syntax (let ((*read-eval* nil))
                                                        (read-from-string name))))))
    (and type (symbolp type) (find-class type nil) (subtypep type 'condition) type)))

(define-operation "debug-watch" (where type hold-seconds off)
  "Begin to record errors of TYPE in WHERE. If HOLD-SECONDS is given, hold each of them this long.
If OFF is true, stop recording instead. Return a JSON object."
  (let ((named (if type (watch-type-named type) 'error)))
    (cond (off (watch-no-more) (object "watched" **watched-count**))
          ((null named) (object "noType" type))
          (t (setf **watched-count** 0)
             (watch-errors (make-watch where named hold-seconds))
             (object "where" where)))))

(define-operation "debug-watched" (index)
  "Return a JSON object with one recorded error, and with the times, threads and types of all. INDEX
0 means the newest error, and 1 the one before it."
  (object "watching" (and **watch** (watch-where **watch**))
          "seen" **watched-count**
          "now" (get-universal-time)
          "error" (first (page **watched** index 1))
          "others" (loop for record in **watched**
                         for members = (json-object-members record)
                         collect (flet ((member-of (name)
                                          (second (member name members :test #'equal))))
                                   (object "time" (member-of "time") "thread" (member-of "thread")
                                           "type" (member-of "type"))))))
