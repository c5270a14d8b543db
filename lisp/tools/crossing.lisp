;;;; Converts values of user code to arguments of tools. The JSON is written while the values are
;;;; traversed, so arguments that are too large are noticed early.

(in-package "LIVE-LISP.TOOLS")

(define-condition live-lisp:tool-error (error)
  ((tool :initarg :tool :initform "" :reader live-lisp:tool-error-tool)
   (message :initarg :message :initform "" :reader live-lisp:tool-error-message)
   (result :initarg :result :initform nil :reader tool-error-result
           :documentation
  "The text of the result that the tool returned in spite of the error, or NIL."))
  (:report (lambda (condition stream)
             (format stream "Tool ~A failed: ~A"
                     (live-lisp:tool-error-tool condition)
                     (live-lisp:tool-error-message condition))))
  (:documentation "A call of a tool by code failed. TOOL-ERROR-TOOL is the tool's name,
TOOL-ERROR-MESSAGE the reason."))

(define-condition live-lisp:approval-required (live-lisp:tool-error)
  ()
  (:report (lambda (condition stream)
             (write-string (live-lisp:tool-error-message condition) stream)))
  (:documentation "The call of a tool by code needs the approval of a human, but code cannot ask for
it. TOOL-ERROR-TOOL is the tool's name. The report says how to make the call so that the human is
asked. Nothing was done. The restart USE-VALUE returns another value instead."))

(defconstant +depth-limit+ 100 "The maximum number of levels to which arguments may be nested.")

(defun exact-p (integer)
  "Return true if a double float holds INTEGER exactly. All numbers of the server are double
floats."
  (let ((zeros (1- (integer-length (logand integer (- integer))))))
    (and (<= (- (integer-length (abs integer)) (max 0 zeros)) 53)
         (<= (integer-length (abs integer)) 1024))))

(defvar *tool* "" "The name of the tool being called.")
(defvar *parameter* "" "The name of the parameter whose value is being written.")

(defun fail-call (control &rest arguments)
  "Signal a TOOL-ERROR for the call of *TOOL*. The format control CONTROL and the list ARGUMENTS
make the reason."
  (error 'live-lisp:tool-error :tool *tool* :message (apply #'format nil control arguments)))

(defun refuse-value (what)
  "Signal a TOOL-ERROR with the reason that the value of *PARAMETER* contains an object that tools
do not take. WHAT is text that describes the object."
  (fail-call "Parameter '~A' cannot hold ~A. A tool takes strings, symbols, numbers, T, NIL, ~
              proper lists and vectors of these, and hash tables with strings as keys."
             *parameter* what))

(defun finite-double (number)
  "Return NUMBER, a float or a ratio, as a double float. Signal a TOOL-ERROR if NUMBER is an
infinity, a NaN, or too large."
  (when (and (floatp number) (or (sb-ext:float-nan-p number) (sb-ext:float-infinity-p number)))
    (refuse-value "a float that is infinite or not a number"))
  (handler-case (coerce number 'double-float)
    (arithmetic-error () (refuse-value "a ratio that no double can hold"))))

(defun checked-list (list)
  "Return LIST. Signal a TOOL-ERROR if it is not a proper list."
  (unless (proper-length list)
    (refuse-value "a circular or dotted list"))
  list)

(defun table-pairs (table)
  "Return the hash table TABLE as an alist. Signal a TOOL-ERROR if a key is not a string."
  (loop for key being the hash-keys of table using (hash-value value)
        do (unless (stringp key) (refuse-value "a hash table with a key that is not a string"))
        collect (cons key value)))

(defun write-argument (value buffer depth)
  "Append VALUE to BUFFER as JSON. DEPTH is the number of arrays and objects around VALUE within the
arguments of the tool. Write NIL as null: what NIL means depends on the type of the parameter, which
only the server knows."
  (when (> depth +depth-limit+)
    (refuse-value (format nil "a value that is nested more than ~D levels deep" +depth-limit+)))
  (when (> (+ (buffer-fill buffer) (if (stringp value) (length value) 0)) +frame-limit+)
    (fail-call
     "The arguments are too large: they take more than ~D octets, which is the limit."
     +frame-limit+))
  (typecase value
    (null (put-ascii "null" buffer))
    ((eql t) (put-ascii "true" buffer))
    (symbol (write-json-string (string-downcase (symbol-name value)) buffer))
    (string (write-json-string value buffer))
    (integer (if (exact-p value)
                 (write-json value buffer)
                 (refuse-value "an integer of more than 53 bits")))
    ((or float ratio) (write-json (finite-double value) buffer))
    (list (write-argument-list (checked-list value) buffer (1+ depth)))
    (vector (write-argument-list value buffer (1+ depth)))
    (hash-table (write-argument-pairs (table-pairs value) buffer (1+ depth)))
    (t
     (refuse-value (format nil "a value of type ~A" (symbol-text (class-name (class-of value))))))))

(defun write-argument-list (values buffer depth)
  "Append VALUES, a list or a vector, to BUFFER as a JSON array. DEPTH is the number of arrays
and objects around each element within the arguments of the tool."
  (put 91 buffer)
  (let ((first t))
    (map nil (lambda (value)
               (if first (setf first nil) (put 44 buffer))
               (write-argument value buffer depth))
         values))
  (put 93 buffer))

(defun write-argument-pairs (pairs buffer depth)
  "Append PAIRS, an alist with strings as keys, to BUFFER as a JSON object. DEPTH is the number of
arrays and objects around this object: 0 if PAIRS are the arguments of the tool themselves."
  (put 123 buffer)
  (loop for (key . value) in pairs
        for first = t then nil
        do (unless first (put 44 buffer))
           (write-argument key buffer depth)
           (put 58 buffer)
           (let ((*parameter* (if (zerop depth) key *parameter*)))
             (write-argument value buffer depth)))
  (put 125 buffer))

(defun argument-pairs (arguments)
  "Return the property list ARGUMENTS as an alist from names, which are strings, to values. If a
name occurs twice, use its first value, as in a function call."
  (when (oddp (length arguments))
    (fail-call "Its arguments must alternate names and values, but the last name has no value."))
  (let ((pairs '()))
    (loop for (key value) on arguments by #'cddr
          for name
              = (typecase key
                  (symbol (string-downcase (symbol-name key)))
                  (string key)
                  (t (fail-call "The name of a parameter must be a keyword, not a value of type ~A."
                                (symbol-text (class-name (class-of key))))))
          do (unless (assoc name pairs :test #'string=)
               (push (cons name value) pairs)))
    (nreverse pairs)))

(defun arguments-json (pairs)
  "Return a buffer with the alist PAIRS, from names to values, as a JSON object."
  (let ((buffer (make-buffer)))
    (write-argument-pairs pairs buffer 0)
    buffer))
