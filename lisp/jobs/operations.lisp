;;;; The operations that the server can ask for. An operation is a function with keyword parameters.
;;;; A table has all operations by name.

(in-package "LIVE-LISP.JOBS")

(define-condition lookup-failure (error)
  ((members :initarg :members :reader lookup-failure-members))
  (:documentation
  "The error of a lookup that failed, for example because a package or symbol does not exist.
MEMBERS is a plist of the members of the JSON object that describes the failure."))

(defun fail-lookup (&rest members)
  "Signal a LOOKUP-FAILURE, which ends the current operation. The value in the answer is then a JSON
object with MEMBERS, a plist."
  (error 'lookup-failure :members members))

(defstruct (operation (:constructor make-operation
                          (name function keywords takes
                           &key inline starter holds members resumes gives
                                server-only)))
  "An operation that the server can request.
NAME: the name in messages.
FUNCTION: the function that does the work.
TAKES: a list of the parameters, each a list from WIRE-MEMBER: first those of FUNCTION, then those
that only STARTER reads.
KEYWORDS: a list of the keywords of FUNCTION for its parameters, in the order of TAKES.
INLINE: true if the reader thread runs the operation. Such an operation is short and runs no user
code.
STARTER: NIL, or a function to call in place of START-JOB, with the arguments of START-JOB and the
hash table of the request's arguments.
HOLDS: true if the operation also takes the members of the shape HOLD (hold.lisp).
GIVES: the type of the value in the answer. If MEMBERS is true, it is the shape of the whole answer.
RESUMES: true if the answer can be that of a call that continues after a held error.
SERVER-ONLY: true if only the server itself requests the operation, and no tool does."
  name function keywords takes inline starter holds members resumes gives server-only)

(defvar *operations* (make-hash-table :test 'equal)
  "A hash table from the names of operations to OPERATION structures.")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *parameters* (make-hash-table :test 'equal)
    "A hash table from the names of parameters, strings, to their declarations from
DEFINE-PARAMETER, lists (TYPE [:OPTIONAL] WORDS). WORDS is a string that describes the parameter.")

  (defun declared-parameter (parameter)
    "Return a list (NAME TYPE [:OPTIONAL] WORDS) for PARAMETER, which is such a list, or a name that
DEFINE-PARAMETER has declared. WORDS is a string that describes the parameter."
    (if (consp parameter)
        parameter
        (cons parameter (or (gethash (symbol-name parameter) *parameters*)
                            (error "The parameter ~A is not declared." parameter))))))

(defmacro define-parameter (name type &rest more)
  "Declare the parameter NAME, of the wire type TYPE, for use in several operations. MORE is the
list (WORDS), where the string WORDS describes the parameter, or (:OPTIONAL WORDS) if the parameter
is optional."
  `(eval-when (:compile-toplevel :load-toplevel :execute)
     (setf (gethash ,(symbol-name name) *parameters*) '(,type ,@more))))

(defmacro define-operation (name-and-options (&rest parameters) documentation &body body)
  "Define an operation, a function with keyword PARAMETERS. Each is a list (NAME TYPE [:OPTIONAL]
WORDS), where the string WORDS describes the parameter, or a name from DEFINE-PARAMETER.
NAME-AND-OPTIONS is the name, or a list of the name and options. :GIVES is the type of the value of
BODY, which becomes the member \"value\" of the answer. With :MEMBERS, BODY returns a plist of all
members of the answer, and :GIVES is the shape of the answer. :STARTER is a function that begins the
operation in a special way, for example in the thread of a held error (see OPERATION). :ALSO lists
further parameters, which only the :STARTER function reads. The other options are slots of
OPERATION."
  (destructuring-bind (name &key inline gives members holds resumes starter also server-only)
      (if (consp name-and-options) name-and-options (list name-and-options))
    (let ((function (intern (format nil "OPERATION/~:@(~A~)" name)))
          (taken (mapcar #'declared-parameter parameters)))
      `(progn
         (defun ,function (&key ,@(mapcar #'first taken))
           ,documentation
           ,(if members `(progn ,@body) `(list "value" (progn ,@body))))
         (setf (gethash ,name *operations*)
               (make-operation
                ,name #',function
                ',(loop for (parameter) in taken
                        collect (intern (symbol-name parameter) "KEYWORD"))
                ',(mapcar #'wire-member (append taken (mapcar #'declared-parameter also)))
                :inline ,inline :starter ,starter :members ,members :holds ,holds
                :resumes ,resumes :server-only ,server-only
                :gives ',(and gives (wire-type gives))))))))

(define-parameter job integer "The id of the request whose job is meant.")
(define-parameter name string "A name, such as car or pkg:name.")
(define-parameter package string :optional
  "The package in which names are read. By default, look-ups use CL-USER, and operations that read
  code use the current package of the session.")
(define-parameter pattern string "A part of the names to find.")
(define-parameter type string :optional
  "Only symbols with a definition of this kind, such as MACRO.")
(define-parameter inherited boolean :optional "True for symbols that the package inherits, too.")
(define-parameter sites boolean :optional "True for the places of each use.")
(define-parameter within string :optional "The name of a system: only uses in its files count.")
(define-parameter offset integer :optional "How many results to leave out; none by default.")
(define-parameter limit integer "The maximum number of results to return.")
(define-parameter code string "The text of forms.")
(define-parameter content string :optional
  "The text that replaces that of the file, with a character for each octet.")
(define-parameter file string "The native name of a file.")
(define-parameter fasl string "The native name of the fasl to make.")
(define-parameter error integer "The number of a held error.")
(define-parameter frame integer :optional "The number of a frame of the error.")

(defun wrong-argument (operation arguments)
  "Return NIL if OPERATION, an OPERATION structure, takes ARGUMENTS, a hash table from a message.
Otherwise return a text with the reason."
  (loop for (key type optional) in (append (operation-takes operation)
                                           (and (operation-holds operation) (shape-members "Hold")))
        for value = (gethash key arguments)
        do (unless (or (and optional (null value)) (fits-p value type))
             (return (format nil
                             "The argument ~A of the operation ~A must be of the type ~A, not ~A."
                             key (operation-name operation) (wire-type-text type)
                             (print-safely 80 value))))))

(defun call-operation (operation arguments)
  "Call OPERATION, an OPERATION structure, with ARGUMENTS, a hash table from a message. Return a
plist of JSON members. If a lookup fails, the value in the answer describes the failure."
  (flet ((members ()
           (apply (operation-function operation)
                  (loop for keyword in (operation-keywords operation)
                        for (key type) in (operation-takes operation)
                        for value = (gethash key arguments)
                        when value
                          collect keyword
                          and collect (if (eq type :anything) value (whole-number value))))))
    (handler-case
        (if (operation-members operation)
            ;; Such an operation can run code of the program, which needs the program's table.
            (members)
            ;; The program may have put its own functions into the global table, even for strings.
            (let ((*print-pprint-dispatch* **pretty-printers**)) (members)))
      (lookup-failure (failure)
        (list "value" (make-json-object (lookup-failure-members failure)))))))

(defun call-in-job (operation arguments)
  "Call OPERATION, an OPERATION structure, in the job of this thread, with ARGUMENTS, a hash table
from a message. Return a plist of JSON members. First use the arguments that concern the job:
\"follow\", with which the server fetches the output in parts, and the members of the shape HOLD,
which say what happens at an error."
  (when (gethash "follow" arguments) (follow (job-output *job*)))
  (setf **held-above**
        (max **held-above**
             (number-shown-as (or (whole-number (gethash "heldAbove" arguments)) 0))))
  (let ((*hold-seconds* (whole-number (gethash "hold" arguments)))
        (*chosen-restarts* (names-among (gethash "restarts" arguments)))
        (*debug-level* (gethash "debugLevel" arguments)))
    (call-operation operation arguments)))

(defun perform-inline (id operation arguments)
  "Call OPERATION, an OPERATION structure, in this thread with ARGUMENTS, a hash table from a
message, and answer the request with the id ID. If that fails, answer by SEND-FAILURE."
  (block nil
    (handler-bind ((error (lambda (failure)
                            (report-failure (format nil "The backend failed in its operation ~A"
                                                    (operation-name operation))
                                            failure)
                            (send-failure id nil failure)
                            (return))))
      (send-frame (answer-frame id (call-operation operation arguments))))))

(defun perform (message)
  "Perform MESSAGE, a hash table, a request of the server: call its operation in this thread if the
operation is inline, else in a job. If that is impossible, answer with a fault."
  (let* ((id (gethash "id" message))
         (operation (gethash (gethash "op" message) *operations*))
         (arguments (or (gethash "args" message) (make-hash-table))))
    (handler-case
        (cond ((null operation)
               (error "There is no operation ~A." (gethash "op" message)))
              ((wrong-argument operation arguments)
               (error "~A" (wrong-argument operation arguments)))
              ((operation-inline operation) (perform-inline id operation arguments))
              (t
               ;; CALL-IN-JOB reads "follow" from ARGUMENTS. So does the :STARTER function of an
               ;; operation, if it gives the request to a job that already runs.
               (setf (gethash "follow" arguments) (gethash "follow" message))
               (let ((function (lambda () (call-in-job operation arguments))))
                 (if (operation-starter operation)
                     (funcall (operation-starter operation) id (operation-name operation) function
                              arguments)
                     (start-job id (operation-name operation) function)))))
      (error (failure)
        (send (object "id" id "fault" (report-text 500 failure)))))))

(define-operation ("features" :gives boolean) ()
  "Do nothing. Features that have changed are sent before the answer, as for every job."
  t)

(define-operation ("number-in-series" :server-only t :inline t :gives boolean)
    ((count integer "The number of images of the server.")
     (index integer "The index of this image among them, from 0."))
  "Number the objects and errors in answers of this session so that no other image that the server
started uses the same numbers: INDEX + 1, INDEX + 1 + COUNT, and so on."
  (setf (session-series *session*) (cons count index))
  nil)

(defun page (list offset limit)
  "Return a list of at most LIMIT elements of LIST, from index OFFSET on. If OFFSET is NIL, begin at
index 0."
  (let ((offset (or offset 0)))
    (when (< offset (length list))
      (loop for element in (nthcdr offset list) repeat limit collect element))))

(define-operation ("ping" :server-only t :inline t :gives boolean) ()
  "Answer, which shows that the reader thread is alive. End the jobs with threads that have ended."
  (end-dead-jobs)
  t)

(define-operation ("interrupt" :server-only t :inline t :gives boolean)
    (job
     (reason reason "Why, for the answer of the job."))
  "Interrupt a job."
  (interrupt-job (session-job job) reason)
  t)

(define-operation ("terminate" :server-only t :inline t :gives boolean) (job)
  "End the thread of a job."
  (terminate-job (session-job job))
  t)

(defun job-written (id &key take)
  "Return a JSON object with the output of the job with the id ID that the server has not taken yet.
If TAKE is true, the server takes this output. Return NIL if the job has ended, has no such output,
or is writing at the moment."
  (let ((job (session-job id)))
    (and job (captured (job-output job) :wait nil :reset take))))

(define-operation ("written" :server-only t :inline t :gives output) (job)
  "Return the output of a job so far. Return NIL if the job has ended, has no output, or is writing
now."
  (job-written job))

(define-operation ("take-written" :server-only t :inline t :gives output) (job)
  "Return the output that a job has written since this operation was last called for it. Return NIL
in the same cases as `written`. The request that began the job must have the member `follow`."
  (job-written job :take t))
