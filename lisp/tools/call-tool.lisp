;;;; Calls of tools by code. The server runs the call. The calling thread waits until the reader
;;;; thread brings the answer; a throw can end the wait at any time.

(in-package "LIVE-LISP.TOOLS")

(defstruct (tool-call (:constructor make-tool-call (number)))
  "A call of a tool for which a thread waits; the server knows it by NUMBER."
  number
  (answered (sb-thread:make-semaphore :name "live-lisp tool call"))
  (value nil)
  (failure nil)
  (result nil)
  (needs-approval nil)
  (text nil))

(sb-ext:defglobal **tool-calls** (make-hash-table :synchronized t)
  "The calls that wait for an answer, by number.")

(sb-ext:defglobal **last-call** (list 0)
  "The number of the last call, in a list for atomic increments.")

(defun designated-tool (designator)
  "Return the server's spelling of the name of the tool that DESIGNATOR, a string or a symbol,
means."
  (typecase designator
    ((or string symbol) (substitute #\_ #\- (string-downcase (string designator))))
    (t (let ((*tool* "(no name)"))
         (fail-call "The name of a tool must be a string or a symbol, not a value of type ~A."
                    (symbol-text (class-name (class-of designator))))))))

(defun call-frame (call members)
  "Return the wire frame that asks the server for CALL, as MEMBERS, a property list, say."
  (let ((frame (frame-octets (make-json-object (list* "call" (tool-call-number call)
                                                      "job" (and *job* (job-id *job*))
                                                      members)))))
    (when (> (buffer-fill frame) +frame-limit+)
      (fail-call
       "The arguments are too large: they take ~D octets on the wire to the server, of ~D at most."
       (buffer-fill frame)
       +frame-limit+))
    frame))

(defun call-letting-load (function)
  "Call FUNCTION, which waits for *TOOL*. If a system being loaded loads another by load_system,
release the lock for loading meanwhile. Otherwise keep it, because ASDF is not thread-safe. The lock
is taken again without interrupts, so that a throw cannot come between."
  (if (and (string-equal (substitute #\_ #\- *tool*) "load_system")
           (sb-thread:holding-mutex-p **load-lock**))
      (sb-sys:without-interrupts
        (sb-thread:release-mutex **load-lock**)
        (unwind-protect (sb-sys:with-local-interrupts (funcall function))
          (sb-sys:allow-with-interrupts (sb-thread:grab-mutex **load-lock**))))
      (funcall function)))

(defun wait-for-tool (call frame)
  "Send FRAME, which asks for CALL, and wait for the answer. If a throw ends the wait, tell the
server that nobody waits any more."
  (let ((number (tool-call-number call)))
    (unwind-protect
         (progn (setf (gethash number **tool-calls**) call)
                (send-frame frame)
                (sb-thread:wait-on-semaphore (tool-call-answered call)))
      (when (remhash number **tool-calls**)
        (send (object "call" number "left" t))))))

(note-frame 'wait-for-tool :wait)

(defun check-can-wait ()
  "Signal a TOOL-ERROR when this thread cannot wait for an answer without harm."
  (cond (*reading*
         (fail-call "The thread that reads messages cannot wait for a tool."))
        ;; No other thread could collect garbage meanwhile, so all would soon stand still.
        (collection-inhibited
         (fail-call "Code within WITHOUT-GCING cannot wait for a tool; call it outside."))
        ;; Nobody could end the wait.
        ((not sb-sys:*interrupts-enabled*)
         (fail-call "Code that runs without interrupts, such as within WITHOUT-INTERRUPTS or ~
                     a function of INTERRUPT-THREAD, cannot wait for a tool; call it outside."))))

(defun require-approval (text)
  "Signal that *TOOL* needs an approval, as TEXT says. Return the value given to USE-VALUE."
  (restart-case (error 'live-lisp:approval-required :tool *tool* :message text)
    (use-value (value)
      :report (lambda (stream) (format stream "Return a value instead of calling ~A." *tool*))
      :interactive (lambda ()
                     (format *query-io* "~&A form for the value: ")
                     (list (eval (read *query-io*))))
      value)))

;;; A value that a tool returned is shown to a model as the tool's own text

(defparameter *noted-texts* 50
  "The texts of at most this many values, the last that tools returned, are kept.")

(sb-ext:defglobal **texts-lock** (sb-thread:make-mutex :name "live-lisp texts of tools")
  "Held while **TEXTS** changes.")

(sb-ext:defglobal **texts** '()
  "Pairs of a weak pointer to a value that a tool returned and its text, newest first.")

(defun note-text (value text)
  "Return VALUE, which a tool returned, and keep TEXT as the text to show for it, if there is one."
  (when (and text (typep value '(or cons hash-table)))
    (sb-thread:with-mutex (**texts-lock**)
      (let ((texts (cons (cons (sb-ext:make-weak-pointer value) text) **texts**)))
        (setf **texts** (subseq texts 0 (min *noted-texts* (length texts)))))))
  value)

(defun text-noted (value)
  "Return the text to show for VALUE, or NIL."
  (cdr (find value **texts** :key (lambda (entry) (sb-ext:weak-pointer-value (car entry)))
             :test #'eq)))

(defun told-by-tools (value)
  "Return the text to show for VALUE if tools have returned it, or each element of it when it is a
list; else NIL."
  (when (typep value '(or cons hash-table))
    (or (text-noted value)
        (let ((texts (and (consp value)
                          (ignore-errors (<= (list-length value) *noted-texts*))
                          (mapcar (lambda (each)
                                    (and (typep each '(or cons hash-table)) (text-noted each)))
                                  value))))
          (and texts (notany #'null texts) (format nil "~{~A~^~2%~}" texts))))))

(setf **told-as** 'told-by-tools)

(defun package-of-code ()
  "Return the name of the current package of the running code, or NIL for CL-USER."
  (and (packagep *package*)
       (package-name *package*)
       (not (eq *package* (find-package "COMMON-LISP-USER")))
       (package-name *package*)))

(defun ask-server (&rest members)
  "Send MEMBERS, a property list about *TOOL*, to the server. Wait for the answer and return its
value, or signal a TOOL-ERROR when it is a failure."
  (let* ((call (make-tool-call (1+ (sb-ext:atomic-incf (car **last-call**)))))
         (frame (call-frame call members)))
    (check-can-wait)
    (call-letting-load (lambda () (wait-for-tool call frame)))
    (cond ((tool-call-needs-approval call) (require-approval (tool-call-failure call)))
          ((tool-call-failure call)
           (error 'live-lisp:tool-error :tool *tool* :message (tool-call-failure call)
                                        :result (tool-call-result call)))
          (t (note-text (tool-call-value call) (tool-call-text call))))))

(defun live-lisp:call-tool (name &rest arguments)
  "Call the tool NAME, a string or symbol, and return its data. ARGUMENTS are its parameters as
keywords, each with its value: (call-tool \"who_calls\" :name \"foo\" :limit 5). Neither case nor -
and _ matter in names. Strings, numbers and T are themselves. Lists and vectors are arrays; EQUAL
hash tables with strings as keys are objects. Other symbols are their names in lower case. NIL is
false, an empty array or absent, as the parameter wants it. Data comes back in the same way, and
without a limit it is all there is. Signals a TOOL-ERROR when the tool fails, or when what it was
asked about is not there. When a human has to allow the call, that is an APPROVAL-REQUIRED."
  (let ((*tool* (designated-tool name)))
    (ask-server "tool" *tool* "args" (arguments-json (argument-pairs arguments))
                "package" (package-of-code))))

(define-operation ("called" :inline t) (call value text failure result needs-approval)
  "Bring the outcome of CALL, a number, to the thread that waits for it: VALUE, or the text FAILURE.
A value can have the TEXT that a model reads. A failure can have a RESULT, and says whether it
NEEDS-APPROVAL. Dropped when nobody waits."
  (let ((waiting (gethash call **tool-calls**)))
    (when (and waiting (remhash call **tool-calls**))
      (setf (tool-call-value waiting) value
            (tool-call-failure waiting) failure
            (tool-call-result waiting) result
            (tool-call-text waiting) text
            (tool-call-needs-approval waiting) needs-approval)
      (sb-thread:signal-semaphore (tool-call-answered waiting))))
  t)
