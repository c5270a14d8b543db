;;;; Watches errors in all threads: records or holds them when they are signalled, before handlers
;;;; of the program run. NOTICE-ERRORS arranges that NOTE-SIGNALLED runs in the thread that signals
;;;; an error. For each watch in effect, RECORD-IF-SELECTED then decides if the watch selects the
;;;; error and records it, and HOLD-IF-WANTED holds it by HOLD-CONDITION (holding.lisp).

(in-package "LIVE-LISP.DEBUG")

(defstruct (watch (:constructor make-watch (where type hold)))
  "A selection of errors to record, and the records.
WHERE: \"all\", a part of the name of the thread that signals the error, or the name of a package. A
package selects an error if the name of a function on the stack is from this package.
TYPE: a condition type.
HOLD: the number of seconds for which to hold each error, or NIL to hold none.
IN-EFFECT: true until the watch ends.
SESSION, CHANNEL: the session that requested the watch, and the connection to its server.
RECORDED: a list of the recorded errors as JSON objects, newest first.
LAST-THREAD: the thread that recorded the newest error, or NIL.
LAST-ERROR: a weak pointer to the newest error, or NIL.
COUNT: the number of all errors that the watch has selected.
SECOND, COUNT-IN-SECOND: the universal time of the newest selected error, and the number of errors
that were selected in that second."
  where type hold
  (in-effect t) (session *session*) (channel *channel*)
  (recorded '()) (last-thread nil) (last-error nil)
  (count 0) (second 0) (count-in-second 0))

(defparameter *watched-limit* 50 "The largest number of recorded errors that a watch keeps.")

(defparameter *watched-at-once* 20
  "The largest number of errors that a watch records within one second. The watch only counts the
others.")

(sb-ext:defglobal **watches** '() "A list of WATCH structures: the last watch of each session.")

(sb-ext:defglobal **watch-lock** (sb-thread:make-mutex :name "live-lisp watch")
  "The mutex that a thread holds while it changes **WATCHES** or the records of a watch.")

(sb-ext:defglobal **watch-hooks-lock** (sb-thread:make-mutex :name "live-lisp watch hooks")
  "The mutex that a thread holds while it installs or uninstalls the hooks of watches.")

(define-shape watch-data ()
  "Which errors are recorded from now on."
  (where string :optional)
  (type string :optional "The requested type of errors.")
  (unknown boolean :optional "True when no thread and no package has the name in `where` yet.")
  (no-type string :optional "The requested type, when there is no such type of errors.")
  (watched integer :optional "How many such errors were signalled, when the recording ends."))

(define-operation ("debug-watch" :holds t :gives watch-data)
    ((where string :optional "`all`, a part of the name of a thread, or the name of a package.")
     (type string :optional "The type of errors to record; ERROR by default.")
     (hold-seconds integer :optional "For how many seconds each such error is held.")
     (off boolean :optional "True to stop recording."))
  "Begin to record errors when they are signalled or, with OFF, stop recording."
  (let ((named (if type (watch-type-named type) 'error)))
    (cond (off (watch-no-more) (object "watched" (let ((watch (session-watch)))
                                                   (if watch (watch-count watch) 0))))
          ((null named) (object "noType" type))
          (t (watch-errors (make-watch where named hold-seconds))
             (object "where" where
                     "type" (and type (symbol-text named))
                     "unknown" (not (place-exists-p where)))))))

(defun watch-type-named (name)
  "Return the condition type whose name is NAME, a text, or NIL if there is none."
  (let ((type (nil-if-program-fails
                (with-standard-io-syntax (let ((*read-eval* nil)) (read-from-string name))))))
    (and type (symbolp type) (find-class type nil) (subtypep type 'condition) type)))

(define-shape watched-error ()
  "An error that was recorded when it was signalled. Times are in seconds."
  (time integer) (thread string) (type string) (text string) (frames (list frame) :optional)
  (more-frames integer :optional))

(define-shape watched-data ()
  "The errors that were recorded when they were signalled."
  (watching string :optional
   "Which errors are recorded now: `all`, a part of the name of the thread that signals them, or the
   name of a package with a function on the stack. Absent when none are recorded.")
  (seen integer "How many such errors were signalled since the recording began.")
  (now integer) (error watched-error :optional)
  (others (list (object (time integer) (thread string) (type string))) :optional))

(define-operation ("debug-watched" :gives watched-data)
    ((index integer "The number of the error: 0 is the newest."))
  "Return one error that this session has recorded, and the times, threads and types of all."
  (let* ((watch (session-watch)) (recorded (and watch (watch-recorded watch))))
    (object "watching" (and watch (watch-in-effect watch) (watch-where watch))
            "seen" (if watch (watch-count watch) 0)
            "now" (get-universal-time)
            "error" (first (page recorded index 1))
            "others" (loop for record in recorded
                           collect (object "time" (json-member "time" record)
                                           "thread" (json-member "thread" record)
                                           "type" (json-member "type" record))))))

;;; The place that a watch selects: "all", a part of the name of a thread, or the name of a package

(defun thread-at-p (where thread)
  "Return true if WHERE, the place of a watch, is a part of the name of THREAD."
  (search where (short-thread-name thread) :test #'char-equal))

(defun package-at (where)
  "Return the package whose name is WHERE, the place of a watch, or NIL if there is none."
  (find-package (string-upcase where)))

(defun place-exists-p (where)
  "Return true if WHERE, the place of a watch, is \"all\", or names a thread or package that exists
now."
  (or (string-equal where "all")
      (package-at where)
      (some (lambda (thread) (thread-at-p where thread)) (sb-thread:list-all-threads))))

(defun at-place-p (where frames)
  "Return true if this thread, with FRAMES on its stack (SHOWN-FRAMES), is at WHERE, the place of a
watch."
  (or (string-equal where "all")
      (thread-at-p where sb-thread:*current-thread*)
      (loop with package = (package-at where)
            for frame in frames
            for root = (and package (not (folded-p frame)) (root-name (frame-name frame)))
              thereis (and root (eq package (symbol-package root))))))

;;; Beginning and ending a watch

(defun watch-errors (watch)
  "Make WATCH, a WATCH structure, the watch of this session. From now on the backend records the
errors that WATCH selects."
  (set-session-watch watch)
  (notice-errors))

(defun watch-no-more ()
  "End the watch of this session, so that it records no more errors. Errors that are held stay
held."
  (let ((watch (session-watch)))
    (when watch (setf (watch-in-effect watch) nil)))
  (notice-errors))

(defun forget-watch ()
  "End and remove the watch of this session. In an image that somebody else runs, the backend calls
this at the end of a session (**AT-SESSION-END**). In an image that the server started, the session
lasts as long as the image."
  (set-session-watch nil)
  (notice-errors))

(pushnew 'forget-watch **at-session-end**)

(defun set-session-watch (watch)
  "Replace the watch of this session by WATCH, a WATCH structure. If WATCH is NIL or the session has
ended, only remove the old watch."
  (sb-thread:with-mutex (**watch-lock**)
    (let ((others (remove (session-watch) **watches**)))
      (setf **watches** (if (and watch (not (session-ended *session*)))
                            (cons watch others)
                            others)))))

(defun session-watch ()
  "Return the last WATCH structure of this session, or NIL."
  (find *session* **watches** :key #'watch-session))

(defun watches-in-effect ()
  "Return a list of the WATCH structures that still record errors."
  (remove-if-not #'watch-in-effect **watches**))

(defun notice-errors ()
  "Arrange that NOTE-SIGNALLED runs when a condition is signalled that a watch in effect may select.
If no watch is in effect, undo this. In an image that the server started, SBCL then breaks when such
a condition is signalled. In an image that somebody else runs, this would open that person's
debugger for each error that the program handles. There, hooks on the functions that signal
conditions are used."
  (if **attached** (update-watch-hooks) (update-breaks)))

;;; Recording a condition

(defun note-signalled (condition)
  "Record CONDITION, which this thread is about to signal, for each watch that selects it, and hold
it if that watch holds errors."
  (unless (backend-working-p)
    (dolist (watch (watches-in-effect))
      (when (record-if-selected condition watch)
        (hold-if-wanted condition watch)))))

(defun backend-working-p ()
  "Return true if code of the backend runs now in this thread within the code of the program, or
examines the stack of the job of this thread. Conditions that are signalled meanwhile are not the
program's."
  (or *noting* (and *job* (job-looking *job*))))

(defun record-if-selected (condition watch)
  "If WATCH, a WATCH structure, selects CONDITION, count CONDITION and, unless there were too many
in this second, record it. Return true if it is recorded."
  (let ((*noting* t))
    (unless-broken
     nil
     (lambda ()
       (when (and (typep condition (watch-type watch))
                  (not (typep condition 'storage-condition))
                  (stack-space-p))
         ;; SHOWN-FRAMES takes long, so the tests that need no frames come first.
         (multiple-value-bind (frames more) (shown-frames)
           (when (and (program-signals-p frames)
                      (at-place-p (watch-where watch) frames)
                      (<= (count-selected watch) *watched-at-once*))
             (record-watched watch condition frames more)
             t)))))))

(defun program-signals-p (frames)
  "Return true if this thread runs code of the program, and not only of SBCL, ASDF or the backend.
FRAMES is a list of the frames on its stack, from SHOWN-FRAMES."
  (if *job*
      (program-running-p)
      ;; A call of ERROR in tail position leaves no frame of the program.
      (or frames (program-threads (list sb-thread:*current-thread*)))))

(defun count-selected (watch)
  "Count an error that WATCH, a WATCH structure, has selected. Return the number of such errors in
this second."
  (sb-thread:with-mutex (**watch-lock**)
    (let ((now (get-universal-time)))
      (unless (= now (watch-second watch))
        (setf (watch-second watch) now
              (watch-count-in-second watch) 0))
      (incf (watch-count watch))
      (incf (watch-count-in-second watch)))))

(defun record-watched (watch condition frames more)
  "Record CONDITION in WATCH, a WATCH structure, as the newest error. But if the newest error so far
is the cause of CONDITION (FOLLOWS-CAUSE-P), keep that error first, and put CONDITION second.
FRAMES and MORE are the values of SHOWN-FRAMES when CONDITION was signalled."
  (let* ((calls (frame-calls frames))
         (cause (follows-cause-p condition watch))
         (record (object "time" (get-universal-time)
                         "thread" (current-thread-name)
                         "type" (class-text (class-of condition))
                         "text" (local-report condition)
                         "frames" (mapcar #'call-data calls)
                         "moreFrames" more)))
    (sb-thread:with-mutex (**watch-lock**)
      (if cause
          (push record (rest (watch-recorded watch)))
          (push record (watch-recorded watch)))
      (setf (watch-recorded watch) (page (watch-recorded watch) 0 *watched-limit*)
            (watch-last-thread watch) sb-thread:*current-thread*
            (watch-last-error watch) (sb-ext:make-weak-pointer condition)))))

(defun follows-cause-p (condition watch)
  "Return true if CONDITION only reports that a form could not be compiled because of another error,
and WATCH, a WATCH structure, has just recorded that other error in this thread. This is so if the
report of CONDITION contains the report of that error. The compiler has printed both reports
already, so printing them here runs no code of the program that has not run already."
  (let* ((pointer (watch-last-error watch))
         (cause (and pointer
                     (eq (watch-last-thread watch) sb-thread:*current-thread*)
                     (typep condition 'compiled-program-error)
                     (sb-ext:weak-pointer-value pointer))))
    (and cause
         (search (on-one-line (report-text 1000 cause)) (on-one-line (report-text 4000 condition)))
         t)))

(defun local-report (condition)
  "Return the report of CONDITION if its class belongs to SBCL. Otherwise return a text with its
class and slots. Run no code of the program."
  (if (system-class-p condition)
      (report-text 1000 condition)
      (local-text condition)))

(defun hold-if-wanted (condition watch)
  "Hold CONDITION, which this thread is about to signal, for the session of WATCH, a WATCH
structure, if WATCH holds errors. But do not hold it if this thread runs commands about another held
error, or a call of another session."
  (let ((seconds (watch-hold watch)))
    (cond ((or (null seconds) *held*) nil)
          ((null *job*)
           ;; A thread of the program belongs to no session.
           (let ((*session* (watch-session watch)) (*channel* (watch-channel watch)))
             (hold-condition condition seconds nil :signalled t)))
          ((eq (job-session *job*) (watch-session watch))
           (hold-condition condition seconds *job* :signalled t)))))

;;; Noticing by breaks, in an image that the server started. SBCL enters the debugger for a
;;; condition of the type in *BREAK-ON-SIGNALS*, before it looks for handlers, and DEBUGGER-HOOK
;;; calls NOTE-BREAK. Threads of the program see the global value of *BREAK-ON-SIGNALS*. Calls of
;;; the session see the session's own value.

(defun update-breaks ()
  "Make SBCL break when a condition of the watched type is signalled, in threads of the program and
in later calls of this session. If no watch is in effect, stop this. The image has only one session,
and so at most one watch."
  (let* ((watch (first (watches-in-effect))) (type (and watch (watch-type watch))))
    ;; End the watch when the backend stops. Otherwise *BREAK-ON-SIGNALS* would keep its value, and
    ;; each error of the program would then open SBCL's debugger, also one that a handler handles.
    (when watch (pushnew 'watch-no-more **at-stop**))
    (setf **on-break** (and watch #'note-break)
          (sb-ext:symbol-global-value '*break-on-signals*) type)
    (set-session-variable '*break-on-signals* type)
    ;; STYLE-MEMBERS marks *BREAK-ON-SIGNALS* as reported. Without this call, the next answer would
    ;; report the change as a change by the program.
    (style-members)))

(defun note-break (condition)
  "If CONDITION is a break of SBCL because of *BREAK-ON-SIGNALS*, and a watch selects the type of
the condition that caused it, record that condition and continue from the break."
  (let ((signalled (signalled-condition condition)))
    (when (and signalled
               (some (lambda (watch) (typep signalled (watch-type watch))) (watches-in-effect)))
      (note-signalled signalled)
      (continue condition))))

(defun signalled-condition (condition)
  "If CONDITION is a break of SBCL because of *BREAK-ON-SIGNALS*, return the condition of the
program that caused it. Otherwise return NIL."
  (when (typep condition 'simple-condition)
    (let ((control (simple-condition-format-control condition))
          (arguments (simple-condition-format-arguments condition)))
      (and (stringp control)
           (search "*BREAK-ON-SIGNALS*" control)
           (consp arguments)
           (typep (first arguments) 'condition)
           (first arguments)))))

;;; Noticing conditions by hooks on ERROR, SIGNAL, WARN and CERROR, in an image that somebody else
;;; runs

(defvar *signalling* nil "The condition that a hook of this thread is signalling, or NIL.")

(defun error-noted (function &rest arguments)
  "Hook: FUNCTION is the original ERROR. Make the condition that ARGUMENTS designate. Record it if a
watch selects it. Then call FUNCTION with this condition."
  (call-noted 'simple-error function arguments))

(defun signal-noted (function &rest arguments)
  "Hook: FUNCTION is the original SIGNAL. Make the condition that ARGUMENTS designate. Record it if
a watch selects it. Then call FUNCTION with this condition."
  (call-noted 'simple-condition function arguments))

(defun warn-noted (function &rest arguments)
  "Hook: FUNCTION is the original WARN. Make the condition that ARGUMENTS designate. Record it if a
watch selects it. Then call FUNCTION with this condition. If ARGUMENTS designate none, call FUNCTION
with ARGUMENTS."
  (call-noted 'simple-warning function arguments))

(defun cerror-noted (function &rest arguments)
  "Hook: FUNCTION is the original CERROR. The first of ARGUMENTS is the text for the restart. The
others designate a condition: make it, and record it if a watch selects it. Call FUNCTION with the
text, the condition, and the arguments after the second, which the report of the restart needs."
  (call-noted 'simple-error
              (lambda (datum &rest more)
                (declare (ignore more))
                (apply function (first arguments) datum (cddr arguments)))
              (rest arguments)))

(defun call-noted (simple function arguments)
  "ARGUMENTS designate a condition; SIMPLE is its type if the first of ARGUMENTS is a format
control. Make this condition, record it for the watches that select it, and call FUNCTION with it.
FUNCTION signals the condition. If ARGUMENTS designate none, call FUNCTION with ARGUMENTS."
  (let ((condition (and arguments
                        (with-isolation
                          (nil-if-program-fails
                            (condition-for (first arguments) (rest arguments) simple))))))
    (if condition
        (call-noting-condition condition (lambda () (funcall function condition)))
        (apply function arguments))))

(defun call-noting-condition (condition function)
  "Call FUNCTION, which has no parameters and signals CONDITION. Before that, record CONDITION for
the watches that select it, unless this thread is signalling it already."
  (unless (eq condition *signalling*)
    (note-signalled condition))
  (let ((*signalling* condition)) (funcall function)))

(defun condition-for (datum arguments simple)
  "DATUM and ARGUMENTS are the arguments of a function such as ERROR. Return the condition that they
designate, or NIL if they designate none. If DATUM is a format control, make a condition of the type
SIMPLE."
  (typecase datum
    (condition datum)
    ((or string function)
     (make-condition simple :format-control datum :format-arguments arguments))
    (symbol (and (find-class datum nil)
                 (subtypep datum 'condition)
                 (apply #'make-condition datum arguments)))))

(define-hook error error-noted)

(define-hook signal signal-noted)

(define-hook warn warn-noted)

(define-hook cerror cerror-noted)

(defparameter *signal-hooks* '(error-noted signal-noted warn-noted cerror-noted)
  "The names of the hook functions with which watches record conditions in an image that somebody
else runs.")

(defun update-watch-hooks ()
  "Install the hooks in *SIGNAL-HOOKS* if a watch is in effect. Otherwise uninstall them."
  (call-unrecorded (lambda ()
                     (sb-thread:with-mutex (**watch-hooks-lock**)
                       (if (watches-in-effect)
                           (apply #'install-hooks *signal-hooks*)
                           (uninstall-hooks *signal-hooks*))))))
