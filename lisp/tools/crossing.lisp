;;;; Converts values of user code to the arguments of a tool. They are written as JSON at once, so
;;;; that arguments that are too large are noticed early.

(in-package "LIVE-LISP.TOOLS")

(define-condition live-lisp:tool-error (error)
  ((tool :initarg :tool :initform "" :reader live-lisp:tool-error-tool)
   (message :initarg :message :initform "" :reader live-lisp:tool-error-message)
   (result :initarg :result :initform nil :reader tool-error-result
           :documentation "What the tool returned all the same, as a model would read it, or NIL."))
  (:report (lambda (condition stream)
             (format stream "Tool ~A failed: ~A"
                     (live-lisp:tool-error-tool condition)
                     (live-lisp:tool-error-message condition))))
  (:documentation "A tool that code called did not do what was asked: TOOL-ERROR-TOOL is its name,
TOOL-ERROR-MESSAGE says why."))

(define-condition live-lisp:approval-required (live-lisp:tool-error)
  ()
  (:report (lambda (condition stream)
             (write-string (live-lisp:tool-error-message condition) stream)))
  (:documentation "A tool that code called needs the approval of a human, for which code cannot ask.
TOOL-ERROR-TOOL is its name, and the report says how to call it so that they are asked. Nothing was
done; the restart USE-VALUE goes on with another value."))

(defconstant +depth-limit+ 100 "How deep arguments may be nested.")

(defun exact-p (integer)
  "True when the server, for which all numbers are double floats, keeps INTEGER exactly."
  (let ((zeros (1- (integer-length (logand integer (- integer))))))
    (and (<= (- (integer-length (abs integer)) (max 0 zeros)) 53)
         (<= (integer-length (abs integer)) 1024))))

(defvar *tool* "" "The name of the tool being called.")
(defvar *parameter* "" "The name of the parameter whose value is being written.")

(defun fail-call (control &rest arguments)
  "Signal that the call of *TOOL* failed; CONTROL and ARGUMENTS say why."
  (error 'live-lisp:tool-error :tool *tool* :message (apply #'format nil control arguments)))

(defun refuse-value (what)
  "Signal that the value of *PARAMETER* holds WHAT, which a tool cannot get."
  (fail-call "Parameter '~A' cannot hold ~A. A tool takes strings, symbols, numbers, T, NIL, ~
              proper lists and vectors of these, and hash tables with strings as keys."
             *parameter* what))

(defun finite-double (number)
  "Return the double for NUMBER, a float or a ratio."
  (when (and (floatp number) (or (sb-ext:float-nan-p number) (sb-ext:float-infinity-p number)))
    (refuse-value "a float that is infinite or not a number"))
  (handler-case (coerce number 'double-float)
    (arithmetic-error () (refuse-value "a ratio that no double can hold"))))

(defun checked-list (list)
  "Return LIST when it is a proper list."
  (unless (ignore-errors (list-length list))
    (refuse-value "a circular or dotted list"))
  list)

(defun table-pairs (table)
  "Return pairs of the keys and values of the hash table TABLE, whose keys must be strings."
  (loop for key being the hash-keys of table using (hash-value value)
        do (unless (stringp key) (refuse-value "a hash table with a key that is no string"))
        collect (cons key value)))

(defun write-argument (value buffer depth)
  "Append VALUE, which is DEPTH levels below the arguments, to BUFFER as JSON. NIL becomes null: the
server decides by the parameter's type what null means."
  (when (> depth +depth-limit+)
    (refuse-value (format nil "what is nested more than ~D levels deep" +depth-limit+)))
  (when (> (+ (buffer-fill buffer) (if (stringp value) (length value) 0)) +frame-limit+)
    (fail-call
     "The arguments are too large: they take more than ~D octets on the wire to the server."
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
  "Append VALUES, a list or a vector, to BUFFER as a JSON array."
  (put 91 buffer)
  (let ((first t))
    (map nil (lambda (value)
               (if first (setf first nil) (put 44 buffer))
               (write-argument value buffer depth))
         values))
  (put 93 buffer))

(defun write-argument-pairs (pairs buffer depth)
  "Append PAIRS of strings and values to BUFFER as a JSON object."
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
  "Return ARGUMENTS, a property list, as pairs of names and values. As in a function call, the first
of several with one name counts."
  (when (oddp (length arguments))
    (fail-call "Its arguments must be names and values in turn, and the last name has no value."))
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
  "Return a buffer with PAIRS of names and values as a JSON object."
  (let ((buffer (make-buffer)))
    (write-argument-pairs pairs buffer 0)
    buffer))
