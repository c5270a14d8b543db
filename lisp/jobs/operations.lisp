;;;; The operations that the server can ask for. An operation is a function with keyword parameters.
;;;; A table has all operations by name.

(in-package "LIVE-LISP.JOBS")

(define-condition lookup-failure (error)
  ((members :initarg :members :reader lookup-failure-members))
  (:documentation
  "A lookup failed, for example because a package or symbol does not exist. MEMBERS is a property
list for the JSON object that describes the failure."))

(defun fail-lookup (&rest members)
  "End the current operation. Its value in the answer becomes a JSON object with MEMBERS, a property
list."
  (error 'lookup-failure :members members))

(defstruct (operation (:constructor make-operation (name function parameters inline starter)))
  "An operation that the server can ask for. NAME is its name in messages. PARAMETERS is a list of
pairs of a JSON key and a keyword. INLINE is true if the reader thread runs the operation, which it
does if the operation is short and runs no user code. STARTER is NIL or a function that is called in
place of START-JOB, with the same arguments and the arguments of the message."
  name function parameters inline starter)

(defvar *operations* (make-hash-table :test 'equal)
  "A hash table from the names of operations to OPERATION structures.")

(defmacro define-operation (name-and-options (&rest parameters) documentation &body body)
  "Define the operation NAME with PARAMETERS, which are keyword parameters of its function. The
value of BODY becomes the member \"value\" of the answer. With the option :MEMBERS, BODY returns a
property list of all answer members. Other options are slots of OPERATION."
  (destructuring-bind (name &key inline members starter)
      (if (consp name-and-options) name-and-options (list name-and-options))
    (let ((function (intern (format nil "OPERATION/~:@(~A~)" name))))
      `(progn
         (defun ,function (&key ,@parameters)
           ,documentation
           ,(if members `(progn ,@body) `(list "value" (progn ,@body))))
         (setf (gethash ,name *operations*)
               (make-operation ,name #',function
                               ',(loop for parameter in parameters
                                       collect (cons (json-key parameter)
                                                     (intern (symbol-name parameter) "KEYWORD")))
                               ,inline ,starter))))))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun json-key (symbol)
    "Return the JSON key of the parameter SYMBOL: formNumber for FORM-NUMBER."
    (let ((words (string-capitalize (symbol-name symbol))))
      (setf (char words 0) (char-downcase (char words 0)))
      (remove #\- words))))

(defun whole (value)
  "Return VALUE. If it is a float without a fraction, return an integer: the server writes large
integers with an exponent."
  (if (and (floatp value) (= value (ftruncate value))) (values (truncate value)) value))

(defun call-operation (operation arguments)
  "Call OPERATION with ARGUMENTS, a hash table from a message, and return a property list of answer
members."
  (handler-case
      (apply (operation-function operation)
             (loop for (key . keyword) in (operation-parameters operation)
                   ;; The argument "value" is data for a tool, so it is not converted.
                   for value = (if (eq keyword :value)
                                   (gethash key arguments)
                                   (whole (gethash key arguments)))
                   when value collect keyword and collect value))
    (lookup-failure (failure)
      (list "value" (make-json-object (lookup-failure-members failure))))))

(defun perform (message)
  "Call the operation that MESSAGE, a hash table, names: in this thread if the operation is inline,
else in a job. If it cannot be started, answer with a fault."
  (let* ((id (gethash "id" message))
         (operation (gethash (gethash "op" message) *operations*))
         (arguments (or (gethash "args" message) (make-hash-table))))
    (handler-case
        (cond ((null operation)
               (error "There is no operation ~A." (gethash "op" message)))
              ((operation-inline operation)
               (send (make-json-object (list* "id" id (call-operation operation arguments)))))
              (t
               (let ((function (lambda ()
                                 (setf **held-above**
                                       (max **held-above**
                                            (or (whole (gethash "heldAbove" arguments)) 0)))
                                 (let ((*hold* (whole (gethash "hold" arguments)))
                                       (*chosen-restarts*
                                        (names-among (gethash "restarts" arguments)))
                                       (*debug-level* (gethash "debugLevel" arguments)))
                                   (call-operation operation arguments)))))
                 (if (operation-starter operation)
                     (funcall (operation-starter operation) id (operation-name operation) function
                              arguments)
                     (start-job id (operation-name operation) function)))))
      (error (failure)
        (send (object "id" id "fault" (report-text 500 failure)))))))

(define-operation "features" ()
  "Do nothing. Features that have changed are sent before the answer, as for every job."
  t)

(defun page (list offset limit)
  "Return a list of at most LIMIT elements of LIST, from the index OFFSET on. An OFFSET of NIL
stands for 0."
  (let ((offset (or offset 0)))
    (when (< offset (length list))
      (loop for element in (nthcdr offset list) repeat limit collect element))))

(define-operation ("ping" :inline t) ()
  "Answer, which shows that the reader thread is alive. End the jobs with threads that have ended."
  (end-dead-jobs)
  t)

(define-operation ("interrupt" :inline t) (job reason)
  "Interrupt the job JOB, a request's id. REASON is a text for the answer."
  (interrupt-job (own-job job) reason)
  t)

(define-operation ("terminate" :inline t) (job)
  "End the thread of the job JOB, a request's id."
  (terminate-job (own-job job))
  t)

(defun job-written (id)
  "Return the output of the job ID so far as a JSON object. Return NIL if the job has ended, has no
output, or is writing now."
  (let ((job (own-job id)))
    (and job (captured (job-output job) :wait nil))))

(define-operation ("written" :inline t) (job)
  "Return the output of the job JOB, a request's id, so far. Return null if JOB has ended, has no
output, or is writing now."
  (job-written job))
