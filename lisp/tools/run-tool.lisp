;;;; Runs the handlers of tools that are written in Lisp, when the server asks for this by the
;;;; operation run-tool. Also lets Lisp code call any tool as a model would. OFFERED, which returns
;;;; the OFFER structure of a tool that the server knows, is in registry.lisp.

(in-package "LIVE-LISP.TOOLS")

(defparameter *result-limit* 100000
  "The maximum number of characters of a result that are printed.")

(defun float-format (value)
  "VALUE is a number or a nested list. Return the value of *READ-DEFAULT-FLOAT-FORMAT* with which
the floats in VALUE print without exponent markers. Return DOUBLE-FLOAT if they have several
formats."
  (let ((parts-left (list value)) (found nil))
    (loop repeat 10000
          while (and parts-left (not (eq found 'double-float)))
          do (let ((part (pop parts-left)))
               (typecase part
                 (double-float (setf found 'double-float))
                 (float (setf found 'single-float))
                 (cons (push (cdr part) parts-left) (push (car part) parts-left)))))
    (or found 'double-float)))

(defun result-text (value)
  "Return VALUE, which is not a string, as text for a model. NIL becomes \"nil\", and other values
are printed as ~S prints them."
  (if (null value)
      "nil"
      (let ((*read-default-float-format* (float-format value)))
        (multiple-value-bind (text cut)
            (printing-values
              ;; Print without labels for shared parts, which would not help a reader. The limit of
              ;; characters also ends the printing of a circular value.
              (let ((*print-circle* nil))
                (call-user-code
                 (lambda ()
                   (bounded-string *result-limit* (lambda (stream) (prin1 value stream)))))))
          (if cut (format nil "~A~%[... cut here ...]" text) text)))))

(defun result-data (value)
  "Return a buffer with VALUE as JSON. If VALUE cannot be converted, return NIL and the reason as
text."
  (handler-case
      (let ((buffer (make-buffer)) (*parameter* "result"))
        (write-argument value buffer 1)
        ;; A frame is a message to the server here. It contains more than this JSON.
        (if (> (buffer-fill buffer) (floor +frame-limit+ 2))
            (values nil "it is too large")
            buffer))
    (live-lisp:tool-error (failure) (values nil (live-lisp:tool-error-message failure)))))

(defun result-object (value)
  "Return a JSON object for VALUE, the result of a handler. \"data\" is VALUE as JSON, if it can be
converted. \"text\" is VALUE as text; it is absent if \"data\" is a string or the JSON of a hash
table. If VALUE is a string that cannot be converted, \"failed\" is true, and \"text\" says why."
  (multiple-value-bind (data why) (result-data value)
    (cond ((and (stringp value) why)
           (object "failed" t
                   "text" (format nil
                                  "Its result, a string of ~D characters, cannot be sent to the ~
                                   server: ~A."
                                  (length value) why)))
          ((or (stringp value) (and (hash-table-p value) data)) (object "data" data))
          (data (object "data" data "text" (result-text value)))
          (t (object "text" (result-text value))))))

(defun call-handler (handler arguments)
  "Call HANDLER, the handler of a tool, with ARGUMENTS, and return a JSON object with its result. If
the second value of HANDLER is a string or condition, the call has failed for this reason. The
object then also has the first value, unless it is NIL."
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
  "ARGUMENTS is a hash table, and PARAMETERS a list of plists. In ARGUMENTS, replace floats by
integers for parameters with the type :INTEGER, and return ARGUMENTS. The server writes integers of
more than 21 digits with an exponent, so they arrive as floats."
  (loop for parameter in parameters
        for name = (getf parameter :name)
        for value = (gethash name arguments)
        do (when (and (floatp value) (eq :integer (getf parameter :type)))
             (setf (gethash name arguments) (values (truncate value)))))
  arguments)

(define-shape tool-value ()
  "A result of a handler."
  (data anything :optional
   "The result as JSON. Absent when it is too large or cannot be written as JSON.")
  (text string :optional
   "The result as a model reads it. Absent when the server can make it from `data`."))

(define-shape run-tool-value (tool-value)
  "What the tool's handler returned, or why the call failed."
  (failed boolean :optional "True when the handler failed. Then `text` says why.")
  (result tool-value :optional "The first value of a handler that failed, unless it is NIL.")
  (missing string :optional "The name of the tool, when the image does not have it.")
  (replaced boolean :optional "True when the image has a newer tool of this name."))

(define-shape run-tool-data (remarks)
  "The outcome of a call of a tool in the image."
  (value run-tool-value :optional))

(define-operation ("run-tool" :members t :holds t :gives run-tool-data)
    ((name string "The name of the tool in the image.")
     (registration anything :optional
      "The number of the registration of the tool. By default, the newest one.")
     (arguments (map anything) "The arguments."))
  "Call the handler of a tool."
  (let ((offer (offered name registration)))
    (if (null offer)
        (list "value" (object "missing" name "replaced" (and (gethash name **offered**) t)))
        (call-as-job-part nil (lambda ()
                                (setf *form-text* (format nil "the handler of the tool ~A" name))
                                (list "value" (call-handler (offer-handler offer)
                                                            (with-whole-numbers arguments
                                                              (offer-parameters offer)))))))))

;;; Tool calls that return the text for a model

(defclass live-lisp:tool-result ()
  ((id :initarg :id :initform nil :accessor live-lisp:tool-result-id)
   (success :initarg :success :initform nil :accessor live-lisp:tool-result-success)
   (result :initarg :result :initform nil :accessor live-lisp:tool-result-result)
   (error :initarg :error :initform nil :accessor live-lisp:tool-result-error))
  (:documentation
  "The outcome of a call of a tool. If SUCCESS is true, RESULT is the text for a model. Else ERROR
is the reason of the failure, and RESULT is NIL, or the text of the result that the tool returned in
spite of the failure. ID is the id of the call."))

(defmethod print-object ((result live-lisp:tool-result) stream)
  (print-unreadable-object (result stream :type t)
    (format stream ":SUCCESS ~S" (live-lisp:tool-result-success result))))

(defun client-name (tool)
  "Return the name by which clients call TOOL, or NIL when TOOL is not registered."
  (let ((offered (gethash (live-lisp:tool-name tool) **offered**)))
    (cond ((and offered (eq tool (offer-tool offered))) (offer-client-name offered))
          ;; An object that stands for one of the server's own tools is not in **OFFERED**.
          (t (built-in-name tool)))))

(defun call-pairs (arguments)
  "Return ARGUMENTS, a hash table or a property list from a model's call, as an alist."
  (cond ((hash-table-p arguments) (table-pairs arguments))
        ((proper-length arguments) (argument-pairs arguments))
        (t (fail-call
            "Its arguments must be an EQUAL hash table with strings as keys or a property list, ~
                       not ~A."
            (printing-plainly (print-safely 80 arguments))))))

(defun text-for-model (tool tool-call)
  "Call the tool TOOL with the arguments in the plist TOOL-CALL, and return the text for a model.
Signal a TOOL-ERROR on failure."
  (unless (plist-p tool-call)
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
  "Call TOOL through the server, and return a TOOL-RESULT, also on failure. TOOL-CALL is a property
list with :ID, :NAME and :ARGUMENTS. The arguments are an EQUAL hash table with strings as keys, or
a property list. The server validates the call, asks for approval as the safety level demands, and
records the call unless the tool is safe."
  (flet ((result (&rest parts)
           (apply #'make-instance (find-class 'live-lisp:tool-result)
                  :id (nil-if-program-fails (getf tool-call :id)) parts)))
    (handler-case (result :success t :result (text-for-model tool tool-call))
      (live-lisp:tool-error (failure)
        (result :error (live-lisp:tool-error-message failure)
                :result (tool-error-result failure))))))
