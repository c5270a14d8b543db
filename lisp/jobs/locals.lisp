;;;; Prints frames with their local variables, for errors that are shown later. The values of local
;;;; variables are printed when the error happens, and without user code, because a print method
;;;; could fail or never end. LOCAL-TEXT prints a value in this way. KEEP-ERROR, at the end, keeps
;;;; the errors.

(in-package "LIVE-LISP.JOBS")

(defparameter *local-limit* 20 "The largest number of local variables of one frame that are kept.")
(defvar *local-length* 1000 "The largest number of characters of one printed value that are kept.")
(defparameter *locals-milliseconds* 50
  "The CPU time for printing local variables, in milliseconds. When it is used up, the remaining
ones are left out.")

(defun outdated-p (object)
  "Return true if the class of OBJECT was redefined and OBJECT still has the slots of the former
definition. The slot locations of the class are then wrong for OBJECT. SBCL never updates a
structure, and updates another instance when it is next used."
  (let ((layout (layout-of object)))
    (or (outdated-layout-p layout)
        ;; SBCL does not mark each former layout of a structure as invalid.
        (and (typep object 'structure-object)
             (nil-if-unknown (not (eq layout (classoid-layout (layout-classoid layout)))))))))

(defun standard-slots (object)
  "Return an alist from names to values of the bound slots of OBJECT, an instance of a
STANDARD-CLASS or a FUNCALLABLE-STANDARD-CLASS. Return NIL if OBJECT is outdated."
  (unless (outdated-p object)
    (loop with access = (if (functionp object)
                            #'sb-mop:funcallable-standard-instance-access
                            #'sb-mop:standard-instance-access)
          for slot in (sb-mop:class-slots (class-of object))
          for location = (sb-mop:slot-definition-location slot)
          for value = (typecase location
                        (fixnum (funcall access object location))
                        (cons (cdr location)))
          unless (eq value unbound-marker)
            collect (cons (sb-mop:slot-definition-name slot) value))))

(defun structure-slots (object)
  "Return an alist from names to values of the bound slots of OBJECT, a structure. Return NIL if
OBJECT is outdated."
  (unless (outdated-p object)
    (loop for slot in (sb-mop:class-slots (class-of object))
          for name = (sb-mop:slot-definition-name slot)
          when (slot-boundp object name)
            ;; A slot can be uninitialized. In SBCL 2.2.9, SLOT-BOUNDP is true for it, but reading
            ;; it signals an error.
            append (nil-if-program-fails (list (cons name (slot-value object name)))))))

(defun condition-slots (condition)
  "Return an alist from names to values of the slots of CONDITION that initargs or SETF have set.
Leave out other slots: to read these, SBCL would evaluate initforms, which are user code."
  (let* ((start (first-condition-word))
         ;; The initargs: their names and values alternate in the last words of CONDITION.
         (given (loop for index from start below (1- (instance-length condition)) by 2
                      append (list (instance-word condition index)
                                   (instance-word condition (1+ index)))))
         (assigned (assigned-slots condition)))
    (loop for slot in (sb-mop:class-slots (class-of condition))
          for name = (sb-mop:slot-definition-name slot)
          for (nil value found) = (multiple-value-list (get-properties assigned (list name)))
          for (nil initial passed) = (multiple-value-list
                                      (get-properties given
                                                      (sb-mop:slot-definition-initargs slot)))
          when (or found passed) collect (cons name (if found value initial)))))

(defun all-slots (object)
  "Return an alist from names to values of the slots of OBJECT that can be read without user code.
OBJECT may be an instance of a class of SBCL."
  (typecase object
    (condition (condition-slots object))
    (structure-object (structure-slots object))
    (t (and (typep (class-of object) '(or standard-class sb-mop:funcallable-standard-class))
            (standard-slots object)))))

(defun plain-slots-p (object)
  "Return true if the slots of OBJECT, if it has any, are as DEFCLASS or DEFSTRUCT define them: the
program has no metaclass that stores them in another way."
  (member (class-name (class-of (class-of object)))
          '(standard-class sb-mop:funcallable-standard-class structure-class)))

(defun system-class-p (object)
  "Return true if the class of OBJECT belongs to SBCL. The print and report methods of OBJECT are
then no user code."
  (let ((name (class-name (class-of object)))) (and name (symbolp name) (core-symbol-p name))))

(defun inner-slots (object)
  "Return an alist from names to values of the slots of OBJECT that can be read without user code.
Return NIL if the class of OBJECT belongs to SBCL, except for a condition."
  (cond ((typep object 'condition) (condition-slots object))
        ((and (plain-slots-p object) (not (system-class-p object))) (all-slots object))))

;;; An object on a stack (DYNAMIC-EXTENT) ends when its function returns. After that, nothing may
;;; read the object: its memory can contain anything, even words that only look like an object.

(defvar *gone-stacks* '()
  "A list of the start addresses of stacks. Objects of dynamic extent on these stacks may no longer
exist. Only CALLS-MEMBERS binds this, to print values that were recorded earlier.")

(defun left-stack-p (object)
  "Return true if the address of OBJECT is on one of the stacks in *GONE-STACKS*. Do not read the
memory of OBJECT, which may contain something else by now."
  (let ((address (object-address object)) (octets (or stack-octets 0)))
    (and (not (typep object '(or fixnum character single-float)))
         (loop for start in *gone-stacks* thereis (< -1 (- address start) octets)))))

(defun list-without-gone (list depth)
  "Return LIST, a cons. But if objects of dynamic extent that no longer exist are among its first
nine elements, return a copy with a text in place of each such object. Examine nested lists and
vectors to DEPTH levels."
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
  "Return OBJECT. But if it contains objects of dynamic extent that no longer exist, return a copy
with a text in place of each such object. Examine the first nine elements of lists and vectors, to
DEPTH levels: no more is printed."
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
  "A hash table with the PRINT-OBJECT methods of SBCL and of the Lisp code of live-lisp as keys.")

(defun system-printed-p (object)
  "Return true if printing OBJECT is safe: it calls only methods in **SYSTEM-PRINT-METHODS**, and
there is no stack in *GONE-STACKS*, so no part of OBJECT has lost its memory."
  (and (null *gone-stacks*)
       (or (system-class-p object) (typep object 'structure-object))
       (loop for method in (sb-mop:generic-function-methods #'print-object)
             never (and (not (gethash method **system-print-methods**))
                        (let ((specializer (first (sb-mop:method-specializers method))))
                          (or (not (typep specializer 'class)) (typep object specializer)))))))

(defun print-slots (stream object)
  "Print the name and value of each slot of OBJECT on STREAM, after a space. For a class, print only
the value of its slot NAME."
  (loop for (name . value) in (inner-slots object)
        with count = 0
        when (or (not (typep object 'class)) (string= name "NAME"))
          do (when (>= count *print-length*) (write-string " ..." stream) (return))
             (incf count)
             (format stream "~:[ ~A~;~*~] " (typep object 'class) name)
             (prin1 (without-gone value) stream)))

(defun print-inside (stream object)
  "Print OBJECT on STREAM without running user code. Use SBCL's own way if that runs no user code.
Otherwise print the class and the slots of OBJECT."
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

(defparameter *most-digits* 10000
  "The largest number of digits of a number that is printed. For a longer number, only its size is
printed, because finding its digits takes long.")

(defun print-number (stream number)
  "Print NUMBER, an integer or ratio, on STREAM. If it has more than *DIGIT-LIMIT* digits, print
only its first and last digits. If it has more than *MOST-DIGITS*, print only its size."
  (let ((*print-pretty* nil))
    (if (let ((*digit-limit* (max *digit-limit* *most-digits*))) (long-number-p number))
        (format stream "#<NUMBER of ~D bits>"
                (+ (integer-length (numerator number)) (integer-length (denominator number))))
        (multiple-value-bind (text digits) (without-middle (prin1-to-string number))
          (format stream "~:[~A~;#<~A, ~D digits>~]" digits text digits)))))

(defun print-long (stream object)
  "Print OBJECT, a string or bit vector, on STREAM. Print only the beginning of a long string, and
only the length of a long bit vector, because *PRINT-LENGTH* does not limit them."
  (let ((*print-pretty* nil))
    (cond ((<= (length object) *local-length*) (prin1 object stream))
          ((stringp object)
           (prin1 (subseq object 0 *local-length*) stream)
           (write-string "..." stream))
          (t (format stream "#<BIT-VECTOR of ~D bits>" (length object))))))

(sb-ext:defglobal **local-printers** nil
  "The pprint dispatch table for local variables, or NIL before its first use.")

(defun local-printers ()
  "Return the pprint dispatch table with which values of local variables are printed, with limits
and without user code."
  (or **local-printers**
      (let ((table (copy-pprint-dispatch nil)))
        (set-pprint-dispatch '(or standard-object condition
                               (and structure-object (not (or pathname package comma unprintable))))
                             #'print-inside -100 table)
        (set-pprint-dispatch '(or bignum ratio) #'print-number -100 table)
        (set-pprint-dispatch '(or string bit-vector) #'print-long -100 table)
        (setf **local-printers** table))))

;; FRAME-TEXT, which is loaded earlier, prints frames with this.
(setf **frame-printers** #'local-printers)

(defmacro printing-locals (&body body)
  "Evaluate BODY with printer settings that print a value on one line and without user code."
  `(let ((printers (local-printers)))
     (printing-plainly
       (let ((*print-pprint-dispatch* printers) (*print-pretty* t)
             (*print-right-margin* most-positive-fixnum))
         ,@body))))

(defun local-text (value &key (limit *local-length*) (length 8) package)
  "Return VALUE printed in at most LIMIT characters, without running user code. Print at most LENGTH
elements of a list or vector. Print symbols relative to PACKAGE or, if PACKAGE is NIL, with their
packages."
  (let ((value (without-gone value)))
    (flet ((text ()
             (let ((*print-length* length)
                   (*package* (or package *package*))
                   (*local-length* limit))
               (values (print-safely limit value)))))
      (cond ((typep value '(or symbol fixnum character)) (printing-plainly (text)))
            ((stringp value) (printing-locals (text)))
            (t (on-one-line (printing-locals (text))))))))

(defun frame-variables (frame)
  "Return a list of the variables of FRAME that have a name in the source code of the program."
  (remove-if-not (lambda (variable)
                   (let* ((symbol (variable-symbol variable))
                          (package (and symbol (symbol-package symbol))))
                     ;; In newer SBCLs, SBCL's own variables have an empty name.
                     (and package
                          (string/= "" (symbol-name symbol))
                          (not (sbcl-package-p package)))))
                 (coerce (debug-variables (frame-function frame)) 'list)))

(defvar *shows-ids* nil
  "True while an answer that is being made contains an id for each local variable. The tool inspect
finds the value of the variable by this id.")

(define-shape local ()
  "A local variable of a frame. The value is absent when the compiled code did not keep it."
  (name string) (value string :optional)
  (id string :optional "Id under which the tool inspect finds the value."))

(defun frame-locals (frame)
  "Return a list of JSON objects for at most *LOCAL-LIMIT* local variables of FRAME. An object has
no member \"value\" if the code has not kept the value."
  (nil-if-unknown
    (loop with place = (frame-place frame)
          for variable in (frame-variables frame)
          repeat *local-limit*
          collect (object "name" (symbol-name (variable-symbol variable))
                          "value" (and (eq :valid (variable-validity variable place))
                                       (local-text (variable-value variable frame)))
                          "id" (and *shows-ids*
                                    (eq :valid (variable-validity variable place))
                                    (object-id (variable-value variable frame)))))))

(defun call-data (call)
  "Return a JSON object for CALL, an element of a list from FRAME-CALLS, without running user code."
  (if (folded-p call)
      (object "folded" (folded-count call))
      (frame-object (frame-text (car call)) (cdr call))))

(defun run-milliseconds ()
  "Return the CPU time of this thread in milliseconds, from an arbitrary starting point. On a system
without such a clock, return the real time."
  (if thread-clock
      (multiple-value-bind (seconds nanoseconds) (clock-time thread-clock)
        (+ (* 1000 seconds) (floor nanoseconds 1000000)))
      (floor (* 1000 (get-internal-real-time)) internal-time-units-per-second)))

(define-shape kept-call (called-frame)
  "A frame of a kept error (shape KEPT-ERROR) that is no system frame."
  (locals (list local) :optional)
  (late boolean :optional
   "True when the arguments and locals of this frame were not kept, because printing those of newer
   frames took too long."))

(define-wire-type kept-frame (or kept-call folded-frames)
  "A frame of a kept error, with its locals.")

(defun frames-with-locals (frames)
  "Return a list of JSON objects for FRAMES, a list from SHOWN-FRAMES, with the call, the place and
the local variables of each frame. After *LOCALS-MILLISECONDS*, the remaining frames have only the
name of the function and the member \"late\". While memory may be short (*SPARING*), leave out the
places."
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

;;; Kept errors: KEEP-ERROR records an error in its session, for the operation last-error. The
;;; thread that signalled the error goes on. If the error is held (debug/held.lisp), it waits.

(defun unix-time (&optional (time (get-universal-time)))
  "Return TIME, a universal time, as seconds since 1970. TIME defaults to the current time."
  (- time (encode-universal-time 0 0 0 1 1 1970 0)))

(defparameter *error-limit* 10 "The largest number of errors that a session keeps.")

(sb-ext:defglobal **image-began** nil "The Unix time at which this image began, or NIL.")

(defun note-beginning ()
  "Record that this image begins now."
  (setf **image-began** (unix-time)))

(defvar *form-text* nil
  "The source text of the form being evaluated, or NIL if the form did not come as text.")

(define-shape kept-error ()
  "An error that was kept when it was signalled."
  (time integer "Seconds since 1970.")
  (operation string :optional
   "The operation that signalled the error; absent for an error that ended a thread of the
   program.")
  (thread string :optional "Name of the thread that the error ended.")
  (form string :optional) (form-number integer :optional) (file string :optional)
  (package string) (type string)
  (frames (list kept-frame) :optional
   "Absent when the stack was exhausted, since there was no room to walk it.")
  (condition condition :optional "Absent when printing the condition failed."))

(define-shape last-error-data ()
  "The errors that are kept."
  (began integer "When the image started, in seconds since 1970.")
  (total integer) (error kept-error :optional)
  (others (list (object (time integer) (type string))) :optional "All kept errors, newest first."))

(defun keep-error (condition on-stack)
  "Keep CONDITION as an error of the session. ON-STACK is true if the frames of CONDITION are still
on the stack. Then keep these frames too, with their local variables. Return a function of one
argument. The caller then calls CONDITION-DATA, and passes the resulting JSON object to this
function, which adds it to the kept error. CONDITION-DATA comes last because it runs user code and
may never return."
  ;; Bind *PRINT-CIRCLE* to NIL: CONDITION may be signalled while a value is being printed with
  ;; *PRINT-CIRCLE* true.
  (let* ((*print-circle* nil)
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
    (sb-thread:with-mutex (**session-lock**)
      (setf (session-errors *session*)
            (page (cons kept (session-errors *session*)) 0 *error-limit*)))
    (lambda (data)
      (nconc kept (list "condition" data)))))

(setf **thread-error-keeper** #'keep-error)

(define-operation ("last-error" :inline t :gives last-error-data)
    ((index integer "The number of the error: 0 is the newest."))
  "Return one kept error, and the types and times of all kept errors."
  (let ((errors (session-errors *session*)))
    (object "began" **image-began**
            "total" (length errors)
            "error" (let ((kept (first (page errors index 1))))
                      (and kept (make-json-object (copy-list kept))))
            "others" (loop for kept in errors
                           collect (object "time" (second (member "time" kept :test #'equal))
                                           "type" (second (member "type" kept :test #'equal)))))))
