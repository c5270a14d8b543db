;;;; Reads and writes JSON for the wire. All characters outside the range 32..126 are escaped, so
;;;; octets and characters are the same, and no locale matters. Octets are written as ASCII codes:
;;;; 34 ", 44 comma, 45 -, 58 colon, 91 [, 92 \, 93 ], 102 f, 110 n, 116 t, 117 u, 123 {, 125 }.

(in-package "LIVE-LISP.BASE")

(deftype octets ()
  "Simple vectors of octets, such as the contents of messages and files. SBCL accesses the elements
of this type fast."
  '(simple-array (unsigned-byte 8) (*)))

(defstruct (json-object (:constructor make-json-object (members)))
  "A JSON object to write. MEMBERS is a plist from string keys to values."
  (members '() :type list))

(defun object (&rest members)
  "Return a JSON object to write. MEMBERS is a plist from string keys to values. WRITE-JSON leaves
out members with the value NIL."
  (make-json-object members))

(defun json-member (key object)
  "Return the value of the member KEY, a string, of OBJECT, a JSON-OBJECT structure, or NIL."
  (loop for (name value) on (json-object-members object) by #'cddr
        when (string= name key) return value))

(defun json-boolean (value)
  "Return :TRUE if VALUE is true, else :FALSE. WRITE-JSON writes them as true and false."
  (if value :true :false))

;;; Writing

(defstruct (buffer
            (:constructor make-buffer
                          (&optional (size 1024)
                           &aux (octets (make-array size :element-type '(unsigned-byte 8))))))
  "A vector of octets that grows. The first FILL elements of OCTETS are in use."
  (octets (error "required") :type octets)
  (fill 0 :type (unsigned-byte 32)))

(defun reserve (buffer count)
  "Make room for COUNT more octets in BUFFER."
  (declare (type buffer buffer) (type (unsigned-byte 32) count) (optimize speed))
  (let* ((old (buffer-octets buffer)) (needed (+ (buffer-fill buffer) count)))
    (when (> needed (length old))
      (let ((new (make-array (max needed (* 2 (length old))) :element-type '(unsigned-byte 8))))
        (replace new old :end2 (buffer-fill buffer))
        (setf (buffer-octets buffer) new)))))

(declaim (inline put))
(defun put (code buffer)
  "Append the octet CODE to BUFFER. The buffer grows when it is full."
  (declare (type buffer buffer) (type (unsigned-byte 8) code))
  ;; Test for room inline: a call of RESERVE for each octet would take longer than all the rest.
  (when (= (buffer-fill buffer) (length (buffer-octets buffer))) (reserve buffer 1))
  (setf (aref (buffer-octets buffer) (buffer-fill buffer)) code)
  (incf (buffer-fill buffer)))

(defun put-ascii (string buffer)
  "Append the characters of STRING, all of them ASCII, to BUFFER. Escape nothing."
  (loop for char across (the string string) do (put (char-code char) buffer)))

(defun put-fixnum (number buffer)
  "Append NUMBER, a fixnum, to BUFFER in decimal."
  (declare (type fixnum number))
  (labels ((put-digits (rest)
             (declare (type (unsigned-byte 63) rest))
             (multiple-value-bind (tens digit) (truncate rest 10)
               (when (plusp tens) (put-digits tens))
               (put (+ 48 digit) buffer))))
    (when (minusp number) (put 45 buffer))
    (put-digits (abs number))))

(defun put-buffer (source buffer)
  "Append the octets in SOURCE, another buffer, to BUFFER."
  (let ((start (buffer-fill buffer)) (count (buffer-fill source)))
    (reserve buffer count)
    (replace (buffer-octets buffer) (buffer-octets source) :start1 start :end2 count)
    (incf (buffer-fill buffer) count)))

(defun put-escape (code buffer)
  "Append the \\uXXXX escape of the UTF-16 unit CODE to BUFFER."
  (declare (type (unsigned-byte 16) code))
  (put 92 buffer)
  (put 117 buffer)
  (loop for shift from 12 downto 0 by 4
        do (put (char-code (char "0123456789abcdef" (ldb (byte 4 shift) code))) buffer)))

(defun put-pair (code buffer)
  "Append CODE, a character code above #xFFFF, to BUFFER as two \\uXXXX escapes. If CODE is no valid
character code, append the escape of U+FFFD: an uninitialized string, such as an argument of a stack
frame, can hold such codes."
  ;; Keep this apart from the caller: where the compiler sees that CODE comes from CHAR-CODE, it
  ;; assumes that CODE is valid, and would drop the test.
  (declare (type fixnum code))
  (let ((rest (- code #x10000)))
    (cond ((< rest #x100000)
           (put-escape (+ #xd800 (ash rest -10)) buffer)
           (put-escape (+ #xdc00 (logand rest 1023)) buffer))
          (t (put-escape #xfffd buffer)))))

(defun write-json-string (string buffer)
  "Append STRING to BUFFER as a JSON string."
  (declare (optimize speed) (type buffer buffer) (type string string))
  (with-string-data (string start end) string
    (reserve buffer (+ 2 (- end start)))
    (put 34 buffer)
    (macrolet ((copy (type)
                 `(let ((string string))
                    (declare (type ,type string))
                    (loop for i of-type fixnum from start below end
                          for code = (char-code (schar string i))
                          do (cond ((or (= code 34) (= code 92)) (put 92 buffer) (put code buffer))
                                   ((<= 32 code 126) (put code buffer))
                                   ((= code 10) (put 92 buffer) (put 110 buffer))
                                   ((< code #x10000) (put-escape code buffer))
                                   (t (put-pair code buffer)))))))
      (etypecase string
        (simple-base-string (copy simple-base-string))
        ((simple-array character (*)) (copy (simple-array character (*))))
        ((simple-array nil (*)) nil)))
    (put 34 buffer)))

(defun write-json-members (members buffer)
  "Append MEMBERS, a plist from string keys to values, to BUFFER as a JSON object. Leave out members
with the value NIL."
  (put 123 buffer)
  (loop with first = t
        for (key value) on members by #'cddr
        when value
          do (if first (setf first nil) (put 44 buffer))
             (write-json-string key buffer)
             (put 58 buffer)
             (write-json value buffer))
  (put 125 buffer))

(defun float-text (double)
  "Return DOUBLE as JSON text. Print a denormalized double with 340 decimals, because SBCL's printer
drops digits that distinguish it from the next double."
  (let ((*read-default-float-format* 'double-float)
        (*print-pretty* nil)
        (*print-base* 10)
        (*print-radix* nil))
    (if (sb-ext:float-denormalized-p double)
        (format nil "~De-340" (round (* (rational double) (expt 10 340))))
        (substitute #\e #\d (princ-to-string double)))))

(defun write-json (value buffer)
  "Append VALUE to BUFFER as JSON. VALUE is a string, an integer, a float, T or :TRUE, :FALSE, NIL
for null, a list or vector for an array (an empty array must be a vector, since the empty list is
NIL), a JSON-OBJECT structure, or a BUFFER structure that contains JSON."
  (etypecase value
    (string (write-json-string value buffer))
    (fixnum (put-fixnum value buffer))
    (integer (let ((*print-base* 10) (*print-radix* nil) (*print-pretty* nil))
               (put-ascii (princ-to-string value) buffer)))
    (float (put-ascii (float-text (coerce value 'double-float)) buffer))
    (json-object (write-json-members (json-object-members value) buffer))
    (buffer (put-buffer value buffer))
    (null (put-ascii "null" buffer))
    ((member t :true) (put-ascii "true" buffer))
    ((eql :false) (put-ascii "false" buffer))
    (sequence
     (put 91 buffer)
     (let ((first t))
       (map nil (lambda (element)
                  (if first (setf first nil) (put 44 buffer))
                  (write-json element buffer))
            value))
     (put 93 buffer))))

;;; Reading. The JSON comes from our own server, so it is valid. Invalid JSON has to cause an error,
;;; but the error needs no good message.

(defvar *input* (make-array 0 :element-type '(unsigned-byte 8)) "The octets being read.")
(defvar *position* 0 "The index in *INPUT* of the next octet to read.")
(declaim (type octets *input*) (type (unsigned-byte 32) *position*))

(defun next-octet ()
  "Return the octet of *INPUT* at *POSITION*, and advance *POSITION*."
  (prog1 (aref *input* *position*) (incf *position*)))

(defun skip-white ()
  "Skip white space. Return the next octet, without advancing *POSITION* past it."
  (loop for code = (aref *input* *position*)
        while (member code '(32 10 13 9)) do (incf *position*)
        finally (return code)))

(defun read-escape-unit ()
  "Read the four hexadecimal digits of a \\u escape, and return their value."
  (let ((value 0))
    (dotimes (i 4 value)
      (setf value (+ (* 16 value)
                     (or (digit-char-p (code-char (next-octet)) 16) (error "Bad \\u escape.")))))))

(defun read-escape ()
  "Read the rest of an escape sequence after its backslash, and return the character. Read two \\u
escapes of a surrogate pair as one character."
  (ecase (code-char (next-octet))
    (#\" #\") (#\\ #\\) (#\/ #\/)
    (#\b #\Backspace) (#\f #\Page) (#\n #\Newline) (#\r #\Return) (#\t #\Tab)
    (#\u (let ((high (read-escape-unit)))
           (if (and (<= #xd800 high #xdbff)
                    (< (+ *position* 5) (length *input*))
                    (= 92 (aref *input* *position*))
                    (= 117 (aref *input* (1+ *position*))))
               (let ((mark *position*) (low (progn (incf *position* 2) (read-escape-unit))))
                 (cond ((<= #xdc00 low #xdfff)
                        (code-char (+ #x10000 (ash (- high #xd800) 10) (- low #xdc00))))
                       (t (setf *position* mark) (code-char high))))
               (code-char high))))))

(defun read-json-string ()
  "Read the rest of a string after its opening quote, and return the string."
  (declare (optimize speed))
  (let* ((input *input*)
         (end (loop with escaped = nil
                    for i of-type (unsigned-byte 32) from *position*
                    for code = (aref input i)
                    do (cond (escaped (setf escaped nil))
                             ((= code 92) (setf escaped t))
                             ((= code 34) (return i)))))
         ;; Use a local variable, which is faster than *POSITION*. Speed matters, because the reader
         ;; thread answers no request while it reads a long text.
         (position *position*)
         (string (make-string (- (the (unsigned-byte 32) end) position)))
         (fill 0))
    (declare (type octets input) (type (unsigned-byte 32) fill end position))
    (loop while (< position end)
          do (let ((code (aref input position)))
               (incf position)
               (setf (schar string fill)
                     (cond ((/= code 92) (code-char code))
                           (t (setf *position* position)
                              (prog1 (the character (read-escape)) (setf position *position*)))))
               (incf fill)))
    (setf *position* (1+ end))
    (if (= fill (length string)) string (subseq string 0 fill))))

(defun read-small-double (text)
  "Return the double nearest to the number in TEXT, which has an exponent such as e-310. SBCL's
reader would round denormalized doubles down."
  (let* ((e (position #\e text :test #'char-equal))
         (dot (position #\. text))
         (decimals (if dot (- e dot 1) 0))
         (digits (parse-integer (remove #\. (subseq text 0 e))))
         (value (* digits (expt 10 (- (parse-integer text :start (1+ e)) decimals)))))
    (if (>= (abs value) (rational least-positive-normalized-double-float))
        ;; Round only once: rounding to an integer first, as below, could make a tie where there is
        ;; none.
        (coerce value 'double-float)
        (scale-float (coerce (round (* value (expt 2 1074))) 'double-float) -1074))))

(defun server-integer (integer)
  "Return INTEGER, or the integer value of the nearest double if INTEGER has more than 53 bits. The
numbers of the server are doubles. It writes a large number with only the digits that distinguish it
from other doubles."
  (if (<= (integer-length integer) 53)
      integer
      (values (truncate (coerce integer 'double-float)))))

(defun read-json-number ()
  "Read a number at *POSITION*. Return an integer, or a double when the number has a fraction or an
exponent."
  (let* ((end (or (position-if-not (lambda (code) (find (code-char code) "+-.0123456789eE"))
                                   *input* :start *position*)
                  (length *input*)))
         (text (map 'string #'code-char (subseq *input* *position* end))))
    (setf *position* end)
    (if (every (lambda (char) (or (digit-char-p char) (char= char #\-))) text)
        (server-integer (parse-integer text))
        (let ((*read-default-float-format* 'double-float) (*read-base* 10) (*read-eval* nil)
              (*readtable* (copy-readtable nil)))
          ;; Denormalized doubles have exponents from e-308 down. Others such as 1e-30 do no harm.
          (if (search "e-3" text)
              (read-small-double text)
              (coerce (read-from-string text) 'double-float))))))

(defun read-json-array ()
  "Read the rest of an array after its opening bracket, and return a list."
  (if (= (skip-white) 93)
      (progn (next-octet) '())
      (loop collect (read-json-value)
            until (ecase (progn (skip-white) (next-octet)) (44 nil) (93 t)))))

(defun read-json-object ()
  "Read the rest of an object after its opening brace, and return an EQUAL hash table."
  (let ((table (make-hash-table :test 'equal)))
    (if (= (skip-white) 125)
        (next-octet)
        (loop do (skip-white)
                 (next-octet)
                 (let ((key (read-json-string)))
                   (skip-white)
                   (next-octet)
                   (setf (gethash key table) (read-json-value)))
              until (ecase (progn (skip-white) (next-octet)) (44 nil) (125 t))))
    table))

(defun read-json-value ()
  "Read the value at *POSITION*, and return it. The values false and null become NIL, and true
becomes T."
  (case (skip-white)
    (34 (next-octet) (read-json-string))
    (123 (next-octet) (read-json-object))
    (91 (next-octet) (read-json-array))
    (116 (incf *position* 4) t)
    (102 (incf *position* 5) nil)
    (110 (incf *position* 4) nil)
    (t (read-json-number))))

(defun parse-json (octets)
  "Return the value of the JSON text in OCTETS: a string, a number, T, NIL, a list or an EQUAL hash
table."
  (let ((*input* octets) (*position* 0))
    (read-json-value)))
