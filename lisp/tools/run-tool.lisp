;;;; Runs tools: the server calls handlers that are written in Lisp, and code calls any tool as a
;;;; model would.

(in-package "LIVE-LISP.TOOLS")

(defparameter *result-limit* 100000 "At most this many characters of one result are printed.")

(defun float-format (value)
  "Return the *READ-DEFAULT-FLOAT-FORMAT* with which VALUE, a number or a list of numbers, prints
without exponent markers; when formats are mixed, double floats have none."
  (let ((left (list value)) (format nil))
    (loop repeat 10000
          while (and left (not (eq format 'double-float)))
          do (let ((part (pop left)))
               (typecase part
                 (double-float (setf format 'double-float))
                 (float (setf format 'single-float))
                 (cons (push (cdr part) left) (push (car part) left)))))
    (or format 'double-float)))

(defun result-text (value)
  "Return VALUE, which is no string, as text for a model: NIL as nil, all else as ~S prints it."
  (if (null value)
      "nil"
      (let ((*read-default-float-format* (float-format value)))
        (multiple-value-bind (text cut)
            (printing-values
              ;; A circular value is bounded anyway, and labels of shared parts tell a reader
              ;; nothing.
              (let ((*print-circle* nil))
                (call-user-code
                 (lambda ()
                   (bounded-string *result-limit* (lambda (stream) (prin1 value stream)))))))
          (if cut (format nil "~A~%[... cut here ...]" text) text)))))

(defun result-data (value)
  "Return a buffer with VALUE as JSON; or NIL and why it cannot be written."
  (handler-case
      (let ((buffer (make-buffer)) (*parameter* "result"))
        (write-argument value buffer 1)
        (if (> (buffer-fill buffer) (floor +frame-limit+ 2))
            (values nil "it is too large")
            buffer))
    (live-lisp:tool-error (failure) (values nil (live-lisp:tool-error-message failure)))))

(defun result-object (value)
  "Return VALUE, the result of a handler, as a JSON object: with its data if they can be written as
JSON, and its text unless the text is the data."
  (multiple-value-bind (data why) (result-data value)
    (cond ((and (stringp value) why)
           (object "failed" t
                   "text" (format nil
                                  "Its result, a string of ~D characters, cannot be passed on: ~A."
                                  (length value) why)))
          ((or (stringp value) (and (hash-table-p value) data)) (object "data" data))
          (data (object "data" data "text" (result-text value)))
          (t (object "text" (result-text value))))))

(defun call-handler (handler arguments)
  "Call HANDLER, of a tool, with ARGUMENTS and return its result as a JSON object. The call failed
if the second value is a string or a condition (C17); the first value is shown, too."
  (destructuring-bind (&optional value failure &rest more)
      (multiple-value-list (call-user-code (lambda () (funcall handler arguments))))
    (declare (ignore more))
    (flet ((failed (text)
             (object "failed" t "text" text "result" (and value (result-object value)))))
      (typecase failure
        (string (failed (shortened *result-limit* failure)))
        (condition (failed (report-text 4000 failure)))
        (t (result-object value))))))

(defun with-whole-numbers (arguments parameters)
  "Return ARGUMENTS, a hash table, with integers for integer PARAMETERS that came as floats:
integers of more than 21 digits come with an exponent."
  (loop for parameter in parameters
        for name = (getf parameter :name)
        for value = (gethash name arguments)
        do (when (and (floatp value) (eq :integer (getf parameter :type)))
             (setf (gethash name arguments) (values (truncate value)))))
  arguments)

(define-operation ("run-tool" :members t) (name registration arguments)
  "Call the handler that the tool NAME had at its REGISTRATION, a number, with ARGUMENTS, a hash
table."
  (let ((offer (offered name registration)))
    (if (null offer)
        (list "value" (object "missing" name "replaced" (and (gethash name **offered**) t)))
        (call-as-job-part nil (lambda ()
                                (setf *form-text* (format nil "the handler of the tool ~A" name))
                                (list "value" (call-handler (offer-handler offer)
                                                            (with-whole-numbers arguments
                                                              (offer-parameters offer)))))))))

;;; Tool calls whose result is the text for a model

(defclass live-lisp:tool-result ()
  ((id :initarg :id :initform nil :accessor live-lisp:tool-result-id)
   (success :initarg :success :initform nil :accessor live-lisp:tool-result-success)
   (result :initarg :result :initform nil :accessor live-lisp:tool-result-result)
   (error :initarg :error :initform nil :accessor live-lisp:tool-result-error))
  (:documentation "The outcome of the call of a tool. With SUCCESS, RESULT is the text for a model.
Without, ERROR says why, and RESULT is what the tool returned all the same, or NIL. ID is that of
the call."))

(defmethod print-object ((result live-lisp:tool-result) stream)
  (print-unreadable-object (result stream :type t)
    (format stream ":SUCCESS ~S" (live-lisp:tool-result-success result))))

(defun client-name (tool)
  "Return the name of TOOL for clients, or NIL when it is not registered."
  (let ((offered (gethash (live-lisp:tool-name tool) **offered**)))
    (cond ((and offered (eq tool (offer-tool offered))) (offer-client-name offered))
          (t (built-in-name tool)))))

(defun call-pairs (arguments)
  "Return ARGUMENTS, of a call by a model, a hash table or a property list, as pairs."
  (cond ((hash-table-p arguments) (table-pairs arguments))
        ((proper-list-p arguments) (argument-pairs arguments))
        (t (fail-call
            "Its arguments must be an EQUAL hash table with strings as keys or a property list, ~
                       not ~A."
            (printing-plainly (print-safely 80 arguments))))))

(defun text-for-model (tool tool-call)
  "Return the text that a model would read if it called TOOL as TOOL-CALL asks."
  (unless (and (proper-list-p tool-call) (evenp (length tool-call)))
    (fail-call "The call must be a property list with :ID, :NAME and :ARGUMENTS, not ~A."
               (printing-plainly (print-safely 80 tool-call))))
  (let* ((*tool* (if (typep tool 'live-lisp:tool)
                     (live-lisp:tool-name tool)
                     (getf tool-call :name)))
         (*parameter* "arguments")
         (name (and (typep tool 'live-lisp:tool) (client-name tool))))
    (unless name (fail-call "Unknown tool: ~A" (print-safely 80 *tool* "~A")))
    (ask-server "tool" name "text" t
                "args" (arguments-json (call-pairs (getf tool-call :arguments))))))

(defun live-lisp:execute-tool-call (tool tool-call)
  "Call TOOL through the server, as TOOL-CALL asks, a property list with :ID, :NAME and :ARGUMENTS.
The call is validated, gated by the level of the tool, and recorded when the tool is not safe.
Return a TOOL-RESULT in any case. The arguments are an EQUAL hash table with strings as keys or a
property list."
  (flet ((result (&rest parts)
           (apply #'make-instance (find-class 'live-lisp:tool-result)
                  :id (ignore-errors (getf tool-call :id)) parts)))
    (handler-case (result :success t :result (text-for-model tool tool-call))
      (live-lisp:tool-error (failure)
        (result :error (live-lisp:tool-error-message failure)
                :result (tool-error-result failure))))))
