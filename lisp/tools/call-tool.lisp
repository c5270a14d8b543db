;;;; Calls tools from Lisp code. ASK-SERVER sends a request to the server, which runs the tool, and
;;;; the calling thread waits until the reader thread receives the answer and performs the operation
;;;; "called". A throw can end the wait at any time. crossing.lisp converts arguments to JSON.

(in-package "LIVE-LISP.TOOLS")

(defstruct (tool-call (:constructor make-tool-call (number)))
  "A call of a tool, and its answer. NUMBER identifies the call to the server. A thread waits for
the semaphore ANSWERED. The operation \"called\" sets ANSWER and then signals ANSWERED. ANSWER is
(:SUCCESS VALUE TEXT), (:FAILURE MESSAGE RESULT) or (:NEEDS-APPROVAL MESSAGE). TEXT, the text for a
model, and RESULT, the text of a result that a failed tool returned, can be NIL."
  number
  (answered (sb-thread:make-semaphore :name "live-lisp tool call"))
  (answer nil))

(sb-ext:defglobal **tool-calls** (make-hash-table :synchronized t)
  "A hash table from numbers to the TOOL-CALLs that wait for an answer.")

(sb-ext:defglobal **last-call** (list 0)
  "A list of one number, for atomic increments: the number of the last call.")

(defun designated-tool (designator)
  "Return the name of the tool that DESIGNATOR, a string or symbol, designates, in the spelling of
the server. Letter case, and - or _ between words, do not matter."
  (typecase designator
    ((or string symbol) (substitute #\_ #\- (string-downcase (string designator))))
    (t (let ((*tool* "(no name)"))
         (fail-call "The name of a tool must be a string or a symbol, not a value of type ~A."
                    (symbol-text (class-name (class-of designator))))))))

(defun call-frame (call members)
  "Return the wire frame, octets, of the request for CALL, a TOOL-CALL structure. MEMBERS is a plist
of further members."
  (let ((frame (frame-octets (make-json-object (list* "call" (tool-call-number call)
                                                      "job" (and *job* (job-id *job*))
                                                      members)))))
    (when (> (buffer-fill frame) +frame-limit+)
      (fail-call
       "The arguments are too large: they take ~D octets; the limit is ~D."
       (buffer-fill frame)
       +frame-limit+))
    frame))

(defun call-letting-load (function)
  "Call FUNCTION, which waits for the tool *TOOL*. If *TOOL* is load_system, which needs
**LOAD-LOCK**, release this lock meanwhile. Keep it for other tools, since ASDF is not thread-safe.
Take the lock again without interrupts, so that no throw leaves this thread without it."
  (if (and (string-equal (substitute #\_ #\- *tool*) "load_system")
           (sb-thread:holding-mutex-p **load-lock**))
      (sb-sys:without-interrupts
        (sb-thread:release-mutex **load-lock**)
        (unwind-protect (sb-sys:with-local-interrupts (funcall function))
          (sb-sys:allow-with-interrupts (sb-thread:grab-mutex **load-lock**))))
      (funcall function)))

(defun wait-for-tool (call frame)
  "Send FRAME, the request for CALL, a TOOL-CALL structure, and wait for the answer. If a throw ends
the wait, send a note about this to the server."
  (let ((number (tool-call-number call)))
    (unwind-protect
         (progn (setf (gethash number **tool-calls**) call)
                (send-frame frame)
                (sb-thread:wait-on-semaphore (tool-call-answered call)))
      ;; The operation "called" has removed an answered call.
      (when (remhash number **tool-calls**)
        (send (object "call" number "left" t))))))

(note-frame 'wait-for-tool :wait)

(defun check-can-wait ()
  "Signal a TOOL-ERROR if a wait for an answer in this thread could never end."
  (cond ((null (channel-out *channel*))
         (fail-call "This thread cannot call tools: only the calls of agents, and the threads that ~
                     they start, can."))
        (*reading*
         (fail-call "This thread reads the server's messages, so it cannot wait for a tool; call ~
                     the tool in another thread."))
        ;; No other thread could collect garbage meanwhile, so all threads would soon wait.
        (collection-inhibited
         (fail-call "Code within WITHOUT-GCING cannot wait for a tool; call the tool ~
                     outside."))
        ;; No interrupt could end the wait.
        ((not sb-sys:*interrupts-enabled*)
         (fail-call "Code that runs without interrupts, such as within WITHOUT-INTERRUPTS or ~
                     in a function given to INTERRUPT-THREAD, cannot wait for a tool; call the ~
                     tool outside."))))

(defun require-approval (text)
  "Signal APPROVAL-REQUIRED with the message TEXT for the tool *TOOL*. Return the value that a
handler passes to the restart USE-VALUE."
  (restart-case (error 'live-lisp:approval-required :tool *tool* :message text)
    (use-value (value)
      :report (lambda (stream) (format stream "Return a value instead of calling ~A." *tool*))
      :interactive (lambda ()
                     (format *query-io* "~&A form for the value: ")
                     (list (eval (read *query-io*))))
      value)))

;;; When code returns a value that it got from a tool, answers show the tool's own text for the
;;; value.

(defparameter *noted-texts* 50
  "The maximum number of values for which texts are kept. The texts of older values are dropped.")

(sb-ext:defglobal **texts-lock** (sb-thread:make-mutex :name "live-lisp texts of tools")
  "The mutex that a thread holds while it changes **TEXTS**.")

(sb-ext:defglobal **texts** '()
  "A list of pairs (POINTER . TEXT), newest first. POINTER is a weak pointer to a value that a tool
returned, and TEXT is the tool's text for the value.")

(defun note-text (value text)
  "Record TEXT as what an answer shows in place of VALUE, which a tool returned. Do nothing if TEXT
is NIL, or if VALUE is neither a cons nor a hash table. Return VALUE."
  (when (and text (typep value '(or cons hash-table)))
    (sb-thread:with-mutex (**texts-lock**)
      (let ((texts (cons (cons (sb-ext:make-weak-pointer value) text) **texts**)))
        (setf **texts** (subseq texts 0 (min *noted-texts* (length texts)))))))
  value)

(defun text-noted (value)
  "Return the text that NOTE-TEXT has kept for VALUE, or NIL."
  (cdr (find value **texts** :key (lambda (entry) (sb-ext:weak-pointer-value (car entry)))
             :test #'eq)))

(defun kept-text (value)
  "VALUE is a value that a tool returned, or a list of such values. Return the text that NOTE-TEXT
has kept for VALUE. For a list, return the texts kept for its elements, joined to one text. Return
NIL if a text is missing."
  (when (typep value '(or cons hash-table))
    (or (text-noted value)
        (let ((texts (and (consp value)
                          (<= (or (proper-length value) most-positive-fixnum) *noted-texts*)
                          (mapcar (lambda (each)
                                    (and (typep each '(or cons hash-table)) (text-noted each)))
                                  value))))
          (and texts (notany #'null texts) (format nil "~{~A~^~2%~}" texts))))))

(setf **display-function** 'kept-text)

(defun package-of-code ()
  "Return the name of *PACKAGE* in the running code. Return NIL if this package is COMMON-LISP-USER,
or cannot be used."
  (and (packagep *package*)
       (package-name *package*)
       (not (eq *package* (find-package "COMMON-LISP-USER")))
       (package-name *package*)))

(defun ask-server (&rest members)
  "Send a request about *TOOL* with MEMBERS, a property list, to the server, and wait for the
answer. Return the value in the answer. If the answer is a failure, signal a TOOL-ERROR. If the call
needs approval, return the value of REQUIRE-APPROVAL."
  (let* ((call (make-tool-call (1+ (sb-ext:atomic-incf (car **last-call**)))))
         (frame (call-frame call members)))
    (check-can-wait)
    (call-letting-load (lambda () (wait-for-tool call frame)))
    (destructuring-bind (outcome &rest parts) (tool-call-answer call)
      (ecase outcome
        (:success (destructuring-bind (value text) parts (note-text value text)))
        (:failure
         (destructuring-bind (message result) parts
           (error 'live-lisp:tool-error :tool *tool* :message message :result result)))
        (:needs-approval (require-approval (first parts)))))))

(defun live-lisp:call-tool (name &rest arguments)
  "Call the tool NAME, a string or symbol, and return its data. ARGUMENTS are keywords, each
followed by its value: (call-tool \"who_calls\" :name \"foo\" :limit 5). In the names of tools and
parameters, letter case is ignored, and - and _ are the same. Values are converted to JSON. Strings,
numbers and T stay as they are. Lists and vectors become arrays. EQUAL hash tables with strings as
keys become objects. Other symbols become their names in lower case. NIL becomes false, an empty
array, or no value, depending on the parameter. Data is converted back in the same way. Without
:limit, all data is returned. Signals a TOOL-ERROR when the tool fails or finds nothing. When a human
has to allow the call, the error is an APPROVAL-REQUIRED."
  (let ((*tool* (designated-tool name)))
    (ask-server "tool" *tool* "args" (arguments-json (argument-pairs arguments))
                "package" (package-of-code))))

;;; The types of the server are generated from these shapes. Their members are the parameters of the
;;; operation called.

(define-shape tool-success ()
  "The answer of a tool that succeeded."
  (value anything "The tool's data.")
  (text string :optional "The text for a model."))

(define-shape tool-failure ()
  "The answer of a tool that failed."
  (failure string "The text of an error.")
  (result string :optional "The text of a result that the failed tool returned.")
  (needs-approval boolean :optional "True when a human could allow the call."))

(define-wire-type tool-answer (or tool-success tool-failure)
  "The result of a tool that code in the image called.")

(define-operation ("called" :server-only t :inline t :gives boolean)
    ((call integer "The number of the call.")
     (value anything :optional "The tool's data.")
     (text string :optional "The text for a model.")
     (failure string :optional "The text of an error.")
     (result string :optional "The text of a result that the failed tool returned.")
     (needs-approval boolean :optional "True when a human could allow the call."))
  "Deliver the answer of a tool call to the thread that waits for it. If no thread waits any more,
do nothing."
  (let ((waiting (gethash call **tool-calls**)))
    (when (and waiting (remhash call **tool-calls**))
      (setf (tool-call-answer waiting) (cond (needs-approval (list :needs-approval failure))
                                             (failure (list :failure failure result))
                                             (t (list :success value text))))
      (sb-thread:signal-semaphore (tool-call-answered waiting))))
  t)
