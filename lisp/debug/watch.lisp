;;;; Errors where they are signalled, before handlers of the program, in any thread: the last are recorded, and can be held.

(in-package "LIVE-LISP.DEBUG")

(defstruct (watch (:constructor make-watch (where type hold)))
  "Which errors are recorded: those of TYPE, WHERE is \"all\", or a name of threads or of a package. HOLD is for how many
seconds each is held, or NIL."
  where type hold)

(defparameter *watched-limit* 50 "How many errors are recorded.")
(defparameter *watched-at-once* 20 "How many errors are recorded within a second; the others are only counted.")

(sb-ext:defglobal **watch** nil "The watch, or NIL.")
(sb-ext:defglobal **watched** '() "The errors that were recorded, as JSON objects, the newest first.")
(sb-ext:defglobal **watched-count** 0 "How many errors the watch has seen.")
(sb-ext:defglobal **watch-second** '(0 . 0) "A second, and how many errors were recorded in it.")
(sb-ext:defglobal **watch-lock** (sb-thread:make-mutex :name "live-lisp watch") "Held while these change.")

(defvar *noting* nil "True while this thread records an error.")

(defun room-this-second-p ()
  "True when another error can be recorded now, which is counted."
  (sb-thread:with-mutex (**watch-lock**)
    (incf **watched-count**)
    (let ((now (get-universal-time)))
      (setf **watch-second** (cons now (if (= now (car **watch-second**)) (1+ (cdr **watch-second**)) 1)))
      (<= (cdr **watch-second**) *watched-at-once*))))

(defun watched-p (watch condition frames)
  "True when WATCH is about CONDITION, which this thread signalled below FRAMES."
  (let ((where (watch-where watch)))
    (and (typep condition (watch-type watch))
         (or (string-equal where "all")
             (search where (short-thread-name sb-thread:*current-thread*) :test #'char-equal)
             (loop for frame in frames
                   for root = (and (not (folded-p frame)) (root-name (frame-name frame)))
                     thereis (and root
                                  (symbol-package root)
                                  (eq (symbol-package root) (find-package (string-upcase where)))))))))

(defun local-report (condition)
  "Return what CONDITION reports when that takes no code of the user, else it and its slots printed."
  (if (system-class-p condition)
      (report-text 1000 condition)
      (local-text condition)))

(defun record-watched (condition frames more)
  "Record CONDITION, signalled below FRAMES and MORE others."
  (let* ((calls (frame-calls frames))
         (record (object "time" (get-universal-time)
                         "thread" (current-thread-name)
                         "type" (class-text (class-of condition))
                         "text" (local-report condition)
                         "frames" (loop for call in calls
                                        collect (if (folded-p call)
                                                    (object "folded" (folded-count call))
                                                    (frame-object (frame-text (car call)) (cdr call))))
                         "moreFrames" more)))
    (sb-thread:with-mutex (**watch-lock**)
      (setf **watched** (page (cons record **watched**) 0 *watched-limit*)))))

(defun recorded-p (condition watch)
  "Record CONDITION, which is about to be signalled, when WATCH is about it, and return true then."
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
  "Record CONDITION, which is about to be signalled, and hold it when the watch says so."
  (let ((watch **watch**))
    (when (and watch
               (not *noting*)
               (not (and *job* (job-looking *job*)))
               (recorded-p condition watch)
               (watch-hold watch)
               (null *held*))
      (hold-condition condition (watch-hold watch) *job* t))))

;;; SBCL breaks at a signal as *BREAK-ON-SIGNALS* says, before it looks for handlers. The values of that are the watch's
;;; while it lasts: the global one, which threads of the program have, and that of the session.

(defun signalled-condition (condition)
  "Return what is being signalled when CONDITION is of the break at a signal, else NIL."
  (when (typep condition 'simple-condition)
    (let ((control (simple-condition-format-control condition))
          (arguments (simple-condition-format-arguments condition)))
      (and (stringp control)
           (search "*BREAK-ON-SIGNALS*" control)
           (consp arguments)
           (typep (first arguments) 'condition)
           (first arguments)))))

(defun note-break (condition)
  "Go on from CONDITION once it was noted, when it is that something is signalled which the watch is about."
  (let ((signalled (signalled-condition condition)))
    (when (and signalled **watch** (typep signalled (watch-type **watch**)))
      (note-signalled signalled)
      (continue condition))))

(defun break-at (type)
  "Have SBCL break when a condition of TYPE is signalled, in threads of the program and in calls that begin from now on."
  (setf (sb-ext:symbol-global-value '*break-on-signals*) type)
  (set-session-variable '*break-on-signals* type)
  ;; No form of the program has set it, as an answer would say.
  (style-members))

(defun watch-errors (watch)
  "Begin to record what WATCH is about, in place of what was before."
  (setf **watch** watch
        **on-break** #'note-break)
  (break-at (watch-type watch)))

(defun watch-no-more ()
  "Record no errors any more. What is held goes on."
  (setf **watch** nil
        **on-break** nil)
  (break-at nil))

(defun watch-type-named (name)
  "Return the condition type that NAME, text, means, or NIL."
  (let ((type (ignore-errors (with-standard-io-syntax (let ((*read-eval* nil)) (read-from-string name))))))
    (and type (symbolp type) (find-class type nil) (subtypep type 'condition) type)))

(define-operation "debug-watch" (where type hold-seconds off)
  "Begin to record errors of TYPE in WHERE, and with HOLD-SECONDS to hold each; with OFF record none any more."
  (let ((named (if type (watch-type-named type) 'error)))
    (cond (off (watch-no-more) (object "watched" **watched-count**))
          ((null named) (object "noType" type))
          (t (setf **watched-count** 0)
             (watch-errors (make-watch where named hold-seconds))
             (object "where" where)))))

(define-operation "debug-watched" (index)
  "Return the recorded error that is INDEX errors old, and of all the times and types."
  (object "watching" (and **watch** (watch-where **watch**))
          "seen" **watched-count**
          "now" (get-universal-time)
          "error" (first (page **watched** index 1))
          "others" (loop for record in **watched**
                         for members = (json-object-members record)
                         collect (flet ((member-of (name) (second (member name members :test #'equal))))
                                   (object "time" (member-of "time") "thread" (member-of "thread")
                                           "type" (member-of "type"))))))
