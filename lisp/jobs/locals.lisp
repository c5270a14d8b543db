;;;; Renders frames with their locals, for an error that is shown later. Locals are printed when the
;;;; error happens, without code of the user: a print method could fail or never end.

(in-package "LIVE-LISP.JOBS")

(defparameter *local-limit* 20 "At most this many locals of one frame are kept.")
(defvar *local-length* 1000 "At most this many characters of one value are printed.")
(defparameter *locals-milliseconds* 50
  "CPU time for printing locals, in milliseconds; later locals are left out.")

(defun standard-slots (object)
  "Return the bound slots of OBJECT, an instance of a STANDARD-CLASS, as pairs of name and value.
Return none if its class was redefined and OBJECT is not updated yet: its slots are not where the
class says."
  (unless (outdated-layout-p (layout-of object))
    (loop for slot in (sb-mop:class-slots (class-of object))
          for location = (sb-mop:slot-definition-location slot)
          for value = (typecase location
                        (fixnum (sb-mop:standard-instance-access object location))
                        (cons (cdr location)))
          unless (eq value unbound-marker)
            collect (cons (sb-mop:slot-definition-name slot) value))))

(defun structure-slots (object)
  "Return the slots of OBJECT, a structure, as pairs of name and value."
  (loop for slot in (sb-mop:class-slots (class-of object))
        for name = (sb-mop:slot-definition-name slot)
        collect (cons name (slot-value object name))))

(defun condition-slots (condition)
  "Return the slots of CONDITION whose value came from an initarg or SETF, as pairs of name and
value. The other slots are left out: SBCL gets their values by evaluating initforms, which are code
of the user."
  (let* ((start (first-condition-word))
         (given (loop for index from start below (1- (instance-length condition)) by 2
                      append (list (instance-word condition index)
                                   (instance-word condition (1+ index)))))
         (assigned (assigned-slots condition)))
    (loop for slot in (sb-mop:class-slots (class-of condition))
          for name = (sb-mop:slot-definition-name slot)
          for (nil value found) = (multiple-value-list (get-properties assigned (list name)))
          for (nil other also) = (multiple-value-list
                                  (get-properties given (sb-mop:slot-definition-initargs slot)))
          when (or found also) collect (cons name (if found value other)))))

(defun inner-slots (object)
  "Return the slots of OBJECT that can be read without code of the user, as pairs of name and
value."
  (let ((type (type-of object)))
    (cond ((typep object 'condition) (condition-slots object))
          ((or (not (symbolp type)) (null (symbol-package type))
               (sb-ext:package-locked-p (symbol-package type)))
           '())
          ((eq (class-of (class-of object)) (find-class 'standard-class)) (standard-slots object))
          ((typep object 'structure-object) (structure-slots object)))))

(defun system-class-p (object)
  "True when the class of OBJECT is SBCL's, so that printing OBJECT, or its report as a condition,
needs no code of the user."
  (let* ((name (class-name (class-of object))) (package (and (symbolp name) (symbol-package name))))
    (and package (sb-ext:package-locked-p package) t)))

;;; Objects on a stack (DYNAMIC-EXTENT) are gone when their function returns. Nothing may read them
;;; then: their memory can hold anything, also words that only look like an object.

(defvar *gone-stacks* '() "The start addresses of stacks whose objects can be gone.")

(defun left-stack-p (object)
  "True when OBJECT was on one of *GONE-STACKS*. Only its address is read."
  (let ((address (object-address object)) (octets (or stack-octets 0)))
    (and (not (typep object '(or fixnum character single-float)))
         (loop for start in *gone-stacks* thereis (< -1 (- address start) octets)))))

(defun list-without-gone (list depth)
  "Return LIST, a cons, if its first nine elements contain no object that is gone from a stack. Else
return a list of these elements with a text in place of each such object. DEPTH is as in
WITHOUT-GONE."
  (let ((elements '()) (rest list) (changed nil))
    (loop repeat 9
          while (and (consp rest) (not (left-stack-p rest)))
          do (let ((element (without-gone (car rest) (1- depth))))
               (unless (eq element (car rest)) (setf changed t))
               (push element elements)
               (setf rest (cdr rest))))
    (cond ((left-stack-p rest) (revappend elements (without-gone rest)))
          (changed (revappend elements rest))
          (t list))))

(defun without-gone (object &optional (depth 4))
  "Return OBJECT, or a copy that has a text in place of each object that is gone from a stack. Looks
into lists and vectors up to DEPTH deep and at their first nine elements only: no more would be
printed."
  (cond ((null *gone-stacks*) object)
        ((left-stack-p object) (make-unprintable "gone from the stack"))
        ((zerop depth) object)
        ((consp object) (list-without-gone object depth))
        ((simple-vector-p object)
         (let* ((elements (coerce (subseq object 0 (min 9 (length object))) 'list))
                (known (and elements (list-without-gone elements depth))))
           (if (eq known elements) object (coerce known 'simple-vector))))
        (t object)))

(sb-ext:defglobal **system-print-methods**
    (let ((methods (make-hash-table :test 'eq)))
      (dolist (method (sb-mop:generic-function-methods #'print-object) methods)
        (setf (gethash method methods) t)))
  "The PRINT-OBJECT methods of SBCL and the agent, as keys.")

(defun system-printed-p (object)
  "True when PRINT-OBJECT prints OBJECT with methods of SBCL only, and reads nothing that can be gone from a stack."
  (and (null *gone-stacks*)
       (or (system-class-p object) (typep object 'structure-object))
       (loop for method in (sb-mop:generic-function-methods #'print-object)
             never (and (not (gethash method **system-print-methods**))
                        (let ((specializer (first (sb-mop:method-specializers method))))
                          (or (not (typep specializer 'class)) (typep object specializer)))))))

(defun print-slots (stream object)
  "Print the slots of OBJECT on STREAM, each after a space. Of a class, print only the name."
  (loop for (name . value) in (inner-slots object)
        with count = 0
        when (or (not (typep object 'class)) (string= name "NAME"))
          do (when (>= count *print-length*) (write-string " ..." stream) (return))
             (incf count)
             (format stream "~:[ ~A~;~*~] " (typep object 'class) name)
             (prin1 (without-gone value) stream)))

(defun print-inside (stream object)
  "Print OBJECT on STREAM: as SBCL does when that needs no code of the user, else as its class and its slots."
  (flet ((print-unreadably (about)
           (pprint-logical-block (stream nil :prefix "#<" :suffix ">")
             (prin1 (type-of object) stream)
             (when about (write-char #\Space stream) (prin1 about stream))
             (print-slots stream object))))
    (typecase object
      (hash-table (format stream "#<~S of ~D>" (type-of object) (hash-table-count object)))
      (generic-function (print-unreadably (plain-function-name object)))
      (sb-thread:thread (print-unreadably (sb-thread:thread-name object)))
      (class (print-unreadably (and (system-class-p object) (class-name object))))
      (condition (print-unreadably nil))
      (t (if (system-printed-p object) (print-object object stream) (print-unreadably nil))))))

(defun print-long (stream object)
  "Print OBJECT, a number, string or bit vector, on STREAM; of a large one only a part.
*PRINT-LENGTH* does not limit how these are printed."
  (let ((size (etypecase object
                (rational
                 (+ (integer-length (numerator object)) (integer-length (denominator object))))
                (vector (length object))))
        (*print-pretty* nil))
    ;; A decimal digit stands for more than three bits.
    (cond ((<= (if (vectorp object) size (/ size 3)) *local-length*) (prin1 object stream))
          ((stringp object)
           (prin1 (subseq object 0 *local-length*) stream)
           (write-string "..." stream))
          (t (format stream "#<~A of ~D bits>" (if (vectorp object) 'bit-vector 'number) size)))))

(sb-ext:defglobal **local-printers** nil
  "The pprint dispatch table for locals, or NIL before its first use.")

(defun local-printers ()
  "Return the pprint dispatch table that prints locals without code of the user and within bounds."
  (or **local-printers**
      (let ((table (copy-pprint-dispatch nil)))
        (set-pprint-dispatch '(or standard-object condition
                               (and structure-object (not (or pathname package comma unprintable))))
                             #'print-inside -100 table)
        (set-pprint-dispatch '(or bignum ratio string bit-vector) #'print-long -100 table)
        (setf **local-printers** table))))

(defmacro printing-locals (&body body)
  "Evaluate BODY with printer settings for values on one line, without code of the user."
  `(let ((printers (local-printers)))
     (printing-plainly
       (let ((*print-pprint-dispatch* printers) (*print-pretty* t)
             (*print-right-margin* most-positive-fixnum))
         ,@body))))

(defun local-text (value &key (limit *local-length*) (length 8) package)
  "Return VALUE printed in at most LIMIT characters, without code of the user. Of a list or vector, LENGTH elements are
shown. Symbols are printed as in PACKAGE, or with their packages when it is NIL."
  (let ((value (without-gone value)))
    (flet ((text ()
             (let ((*print-length* length) (*package* (or package *package*)) (*local-length* limit))
               (print-safely limit value))))
      (cond ((typep value '(or symbol fixnum character)) (printing-plainly (text)))
            ((stringp value) (printing-locals (text)))
            (t (on-one-line (printing-locals (text))))))))

(defun frame-variables (frame)
  "Return the variables of FRAME that a program named."
  (remove-if-not (lambda (variable)
                   (let* ((symbol (variable-symbol variable))
                          (package (and symbol (symbol-package symbol))))
                     ;; Newer SBCLs give variables of their own an empty name.
                     (and package
                          (string/= "" (symbol-name symbol))
                          (not (eql 0 (search "SB-" (package-name package)))))))
                 (coerce (debug-variables (frame-function frame))
                         'list)))

(defvar *tells-ids* nil
  "True when locals have ids, by which they can be inspected while their frame exists.")

(defun frame-locals (frame)
  "Return the locals of FRAME as JSON objects, at most *LOCAL-LIMIT*. A local whose value the frame
does not keep has no member \"value\"."
  (handler-case
      (loop with place = (frame-place frame)
            for variable in (frame-variables frame)
            repeat *local-limit*
            collect (object "name" (symbol-name (variable-symbol variable))
                            "value" (and (eq :valid (variable-validity variable place))
                                         (local-text (variable-value variable frame)))
                            "id" (and *tells-ids*
                                      (eq :valid (variable-validity variable place))
                                      (object-id (variable-value variable frame)))))
    (error () '())))

(defun frame-text (call)
  "Return CALL, a list as FRAME-CALL returns it, printed on one line without code of the user."
  (on-one-line (printing-locals (let ((*print-level* *call-level*)) (print-safely 240 call)))))

(defun call-data (call)
  "Return CALL, an element of what FRAME-CALLS returns, as a JSON object. No code of the user runs."
  (if (folded-p call)
      (object "folded" (folded-count call))
      (frame-object (frame-text (car call)) (cdr call))))

(defun run-milliseconds ()
  "Return the CPU time of this thread in milliseconds, since an arbitrary time; without such a
clock, the elapsed time."
  (if thread-clock
      (multiple-value-bind (seconds nanoseconds) (clock-time thread-clock)
        (+ (* 1000 seconds) (floor nanoseconds 1000000)))
      (floor (* 1000 (get-internal-real-time)) internal-time-units-per-second)))

(defun frames-with-locals (frames)
  "Return FRAMES, which SHOWN-FRAMES returned, as JSON objects with the call, the place and the
locals. Once this has taken *LOCALS-MILLISECONDS*, the other frames get only the function's name and
the member \"late\"."
  (let ((end (+ (run-milliseconds) *locals-milliseconds*)))
    (loop for frame in frames
          for timely = (< (run-milliseconds) end)
          collect (cond ((folded-p frame) (object "folded" (folded-count frame)))
                        (timely (frame-object (frame-text (frame-call frame))
                                              (list* "locals" (frame-locals frame)
                                                     (and (not *sparing*)
                                                          (not (system-frame-p frame))
                                                          (call-place frame)))))
                        (t
                         (frame-object (frame-text (list (frame-name frame))) (list "late" t)))))))

;;; Kept errors

(defun unix-time (&optional (time (get-universal-time)))
  "Return the universal TIME, or the time now, as seconds since 1970."
  (- time (encode-universal-time 0 0 0 1 1 1970 0)))

(defparameter *error-limit* 10 "At most this many errors are kept.")

(sb-ext:defglobal **errors** '() "The last errors as property lists, newest first.")

(sb-ext:defglobal **began** nil "When this image began, in seconds since 1970.")

(defun note-beginning ()
  "Note that this image begins now."
  (setf **began** (unix-time)))

(sb-ext:defglobal **errors-lock** (sb-thread:make-mutex :name "live-lisp errors")
  "Held while **ERRORS** changes.")

(defvar *form-text* nil "The source text of the form being evaluated, if it came as text.")

(defun keep-error (condition on-stack)
  "Keep CONDITION in **ERRORS**, with the locals of its frames when these are still ON-STACK. The
CONDITION-DATA of CONDITION come later: call the returned function with them. Making them runs code
of the user, and may never end."
  (let* (;; CONDITION can be signalled while a value is printed with *PRINT-CIRCLE*.
         (*print-circle* nil)
         (frames (and on-stack (frames-with-locals (shown-frames))))
         (kept (list "time" (unix-time)
                    "operation" (and *job* (job-operation *job*))
                    "thread" (and (null *job*) (current-thread-name))
                    "form" *form-text*
                    "formNumber" *form-number*
                    "file" (compiling-file)
                    "package" (package-name (usable-package *package*))
                    "type" (class-text (class-of condition))
                    "frames" frames)))
    (sb-thread:with-mutex (**errors-lock**)
      (setf **errors** (page (cons kept **errors**) 0 *error-limit*)))
    (lambda (data)
      (nconc kept (list "condition" data)))))

(setf **thread-error-keeper** #'keep-error)

(define-operation ("last-error" :inline t) (index)
  "Return the error that is INDEX errors old (0 is the newest), with the types and times of all that
are kept."
  (let ((errors **errors**))
    (object "began" **began**
            "total" (length errors)
            "error" (let ((kept (first (page errors index 1))))
                      (and kept (make-json-object (copy-list kept))))
            "others" (loop for kept in errors
                           collect (object "time" (second (member "time" kept :test #'equal))
                                           "type" (second (member "type" kept :test #'equal)))))))
