;;;; Watches errors when they are signalled, before handlers of the program run, in any thread:
;;;; records or holds them.

(in-package "LIVE-LISP.DEBUG")

(defstruct (watch (:constructor make-watch (where type hold)))
  "Which errors to record: those of TYPE, a condition type. WHERE is \"all\", or a part of the names
of the threads that signal them, or the name of a package of which a function is on the stack. HOLD
is for how many seconds to hold each error, or NIL."
  where type hold)

(defparameter *watched-limit* 50 "At most this many errors are kept.")
(defparameter *watched-at-once* 20
  "At most this many errors are recorded in a second; the others are only counted.")

(sb-ext:defglobal **watch** nil "The watch, or NIL.")
(sb-ext:defglobal **watched** '() "The recorded errors as JSON objects, newest first.")
(sb-ext:defglobal **watched-count** 0 "How many errors the watch has seen.")
(sb-ext:defglobal **watch-second** '(0 . 0)
  "A pair: a second, and how many errors were seen in it.")
(sb-ext:defglobal **watch-lock** (sb-thread:make-mutex :name "live-lisp watch")
  "Held while **WATCHED**, **WATCHED-COUNT** and **WATCH-SECOND** change.")

(defvar *noting* nil "True while this thread records an error.")

(defun room-this-second-p ()
  "Count an error. Return true when no more than *WATCHED-AT-ONCE* came in this second, so that it
can be recorded."
  (sb-thread:with-mutex (**watch-lock**)
    (incf **watched-count**)
    (let ((now (get-universal-time)))
      (setf **watch-second**
            (cons now (if (= now (car **watch-second**)) (1+ (cdr **watch-second**)) 1)))
      (<= (cdr **watch-second**) *watched-at-once*))))

(defun watched-p (watch condition frames)
  "True when WATCH covers CONDITION, which this thread signalled with FRAMES, from SHOWN-FRAMES, on
its stack."
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
  "Return the report of CONDITION if that needs no code of the user, else CONDITION printed with its
slots."
  (if (system-class-p condition)
      (report-text 1000 condition)
      (local-text condition)))

(defun record-watched (condition frames more)
  "Record CONDITION. FRAMES and MORE are the values of SHOWN-FRAMES when it was signalled."
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
  "Record CONDITION, which is about to be signalled, and return true, if WATCH covers it."
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
  "Record CONDITION, which is about to be signalled, and hold it if the watch says so."
  (let ((watch **watch**))
    (when (and watch
               (not *noting*)
               (not (and *job* (job-looking *job*)))
               (recorded-p condition watch)
               (watch-hold watch)
               (null *held*))
      (hold-condition condition (watch-hold watch) *job* t))))

;;; SBCL breaks at a signal as *BREAK-ON-SIGNALS* says, before it looks for handlers. A watch sets
;;; the variable while the watch lasts: globally, for threads of the program, and in the session.

(defun signalled-condition (condition)
  "Return the condition being signalled if CONDITION is SBCL's break at a signal, else NIL."
  (when (typep condition 'simple-condition)
    (let ((control (simple-condition-format-control condition))
          (arguments (simple-condition-format-arguments condition)))
      (and (stringp control)
           (search "*BREAK-ON-SIGNALS*" control)
           (consp arguments)
           (typep (first arguments) 'condition)
           (first arguments)))))

(defun note-break (condition)
  "If CONDITION is a break at a signal that the watch covers, record what is signalled, and
continue."
  (let ((signalled (signalled-condition condition)))
    (when (and signalled **watch** (typep signalled (watch-type **watch**)))
      (note-signalled signalled)
      (continue condition))))

(defun break-at (type)
  "Have SBCL break when a condition of TYPE is signalled, in threads of the program and in calls
that begin from now on."
  (setf (sb-ext:symbol-global-value '*break-on-signals*) type)
  (set-session-variable '*break-on-signals* type)
  ;; STYLE-MEMBERS marks the new *BREAK-ON-SIGNALS* as reported. Else the next answer would report
  ;; the change as if the program had made it.
  (style-members))

(defun watch-errors (watch)
  "Begin to record what WATCH covers, in place of the last watch."
  (setf **watch** watch
        **on-break** #'note-break)
  (break-at (watch-type watch)))

(defun watch-no-more ()
  "Stop recording errors. Those that are held stay held."
  (setf **watch** nil
        **on-break** nil)
  (break-at nil))

(defun watch-type-named (name)
  "Return the condition type that the text NAME means, or NIL."
  (let ((type (ignore-errors (with-standard-io-syntax (let ((*read-eval* nil))
                                                        (read-from-string name))))))
    (and type (symbolp type) (find-class type nil) (subtypep type 'condition) type)))

(define-operation "debug-watch" (where type hold-seconds off)
  "Begin to record errors of TYPE in WHERE, and with HOLD-SECONDS to hold each; with OFF stop
recording."
  (let ((named (if type (watch-type-named type) 'error)))
    (cond (off (watch-no-more) (object "watched" **watched-count**))
          ((null named) (object "noType" type))
          (t (setf **watched-count** 0)
             (watch-errors (make-watch where named hold-seconds))
             (object "where" where)))))

(define-operation "debug-watched" (index)
  "Return the recorded error that is INDEX errors old (0 is the newest), and times, threads and
types of all."
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
