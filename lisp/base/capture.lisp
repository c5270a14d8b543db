;;;; Captures output within bounds: keeps the first and the last part of the output, and only counts
;;;; the characters between them. A capture that is followed loses no output: a thread that writes
;;;; to it waits until the server has taken the earlier output.

(in-package "LIVE-LISP.BASE")

;;; A capture is a structure, and not the stream itself, because the reader thread makes a capture
;;; for each job. To make an instance of a class, SBCL may first have to compile code. The reader
;;; thread would then wait for any other thread that compiles or walks all code, and answer nothing
;;; meanwhile.
(defstruct (capture (:constructor make-capture (head-limit tail-limit &key on-full))
                    ;; SBCL would print all of HEAD, whose unused part consists of NUL characters.
                    (:print-object (lambda (capture stream)
                                     (print-unreadable-object (capture stream :type t
                                                                              :identity t)))))
  "A buffer that keeps the first HEAD-LIMIT and the last TAIL-LIMIT characters of an output.
HEAD: a string that grows up to its limit. HEAD-FILL: the number of characters in it.
TAIL: a ring buffer, made when HEAD is full.
TOTAL: the number of characters written since the capture was last emptied.
COLUMN: the current column of the output.
FOLLOWED: true while the server takes the output away in parts.
TAKEN: the number of characters that the server has taken, which TOTAL does not include.
ON-FULL: NIL or a function without parameters, which is called when a character no longer fits into
HEAD.
SUCCESSOR: NIL or the capture that gets further output, because nobody will read this one again. For
a job that has been answered, it is the background output of the session (ANSWER).
LOCK: the mutex that a thread holds while it reads or writes the capture."
  (head (make-string 128) :type (simple-array character (*)))
  (head-limit 0 :type fixnum)
  (head-fill 0 :type fixnum)
  (tail nil :type (or null (simple-array character (*))))
  (tail-limit 0 :type fixnum)
  (total 0 :type unsigned-byte)
  (column 0 :type unsigned-byte)
  (followed nil)
  (taken 0 :type unsigned-byte)
  on-full
  (successor nil :type (or null capture))
  (lock (sb-thread:make-mutex :name "capture")))

(defclass capture-stream (sb-gray:fundamental-character-output-stream)
  ((capture :initarg :capture :reader stream-capture)
   (octets :initform '() :accessor pending-octets))
  (:documentation
  "A Gray stream for output that writes to CAPTURE. It takes characters and octets, as the stream of
a terminal does. OCTETS lists the octets of an incomplete UTF-8 character, newest first."))

;; Finalize this superclass now. If SBCL finalized it at the first output, SBCL would have to
;; compile the code that makes instances of CAPTURE-STREAM a second time.
(sb-mop:finalize-inheritance (find-class 'sb-gray:fundamental-character-output-stream))

(defun capturing (capture)
  "Return a new stream that writes to CAPTURE, a CAPTURE structure."
  (make-instance 'capture-stream :capture capture))

(defun keep-in-tail (capture string start end)
  "Put the characters of STRING from index START to END into the ring buffer of CAPTURE, over the
oldest characters in it."
  (declare (type simple-string string) (type fixnum start end))
  (let* ((size (capture-tail-limit capture))
         (tail (or (capture-tail capture) (setf (capture-tail capture) (make-string size)))))
    (declare (type (simple-array character (*)) tail) (type fixnum size))
    (unless (zerop size)
      ;; OFFSET is the number of characters that went into the ring buffer before.
      (loop with offset of-type fixnum = (- (capture-total capture) (capture-head-limit capture))
            for i of-type fixnum from (max start (- end size)) below end
            do (setf (char tail (mod (+ offset (- i start)) size)) (char string i))))))

(defun keep-in-head (capture string start count)
  "Append COUNT characters of STRING, from index START on, to the head of CAPTURE. The head has room
for them."
  (declare (type simple-string string) (type fixnum start count))
  (let* ((fill (capture-head-fill capture)) (needed (+ fill count)) (head (capture-head capture)))
    (declare (type fixnum fill needed) (type (simple-array character (*)) head))
    (when (> needed (length head))
      (let ((larger (make-string (min (capture-head-limit capture)
                                      (max needed (* 4 (length head)))))))
        (setf head (replace larger head :end2 fill)
              (capture-head capture) larger)))
    (replace head string :start1 fill :start2 start :end2 (+ start count))
    (setf (capture-head-fill capture) needed)))

(defun head-space (capture)
  "Return the number of characters that still fit into the head of CAPTURE."
  (- (capture-head-limit capture) (capture-head-fill capture)))

(defun can-wait-p ()
  "Return true if this thread may wait: an interrupt can end the wait, and other threads can run
meanwhile."
  (and sb-sys:*interrupts-enabled* (not collection-inhibited)))

(defun keep-part (capture string start end)
  "Append the characters of STRING, from index START to END, to CAPTURE: first to its HEAD and, when
HEAD is full, to its TAIL. But if the server takes the output of CAPTURE in parts (see FOLLOW) and
this thread may wait, append only the characters that fit into HEAD. Return the index in STRING
after the last appended character."
  (sb-thread:with-recursive-lock ((capture-lock capture))
    (let* ((stop (if (and (capture-followed capture) (can-wait-p))
                     (min end (+ start (head-space capture)))
                     end))
           (count (min (- stop start) (head-space capture)))
           (newline (position #\Newline string :start start :end stop :from-end t)))
      (keep-in-head capture string start count)
      (incf (capture-total capture) count)
      (when (< count (- stop start))
        (when (capture-on-full capture) (funcall (capture-on-full capture)))
        ;; KEEP-IN-TAIL uses the TOTAL of what was written before.
        (keep-in-tail capture string (+ start count) stop)
        (incf (capture-total capture) (- stop start count)))
      (setf (capture-column capture)
            (if newline (- stop newline 1) (+ (capture-column capture) (- stop start))))
      stop)))

(defvar *thread-capture* nil
  "The capture of the newest job of this thread, or NIL.")

(defun destination (capture)
  "Return the capture that gets the output that this thread now writes to CAPTURE. While CAPTURE has
no successor, this is CAPTURE. Later it is the successor of *THREAD-CAPTURE*, or *THREAD-CAPTURE*
itself if it has none. If *THREAD-CAPTURE* is NIL, it is the successor of CAPTURE. The reason: a
program often keeps a stream, as in (DEFVAR *OUT* *STANDARD-OUTPUT*). What a later call writes to
this stream belongs to that call."
  (if (capture-successor capture)
      (let ((own (or *thread-capture* capture)))
        (or (capture-successor own) own))
      capture))

(defun keep (capture string start end)
  "Append the characters of STRING from index START to END to the DESTINATION of CAPTURE. If the
server takes the output of CAPTURE in parts (see FOLLOW), wait while CAPTURE has no room for more
characters."
  (loop
    ;; CAPTURE can get a successor while this thread waits.
    (let ((into (destination capture)))
      (unless (eq into capture) (return (keep into string start end))))
    (let ((stop (keep-part capture string start end)))
      (when (= stop end) (return))
      (when (= stop start) (sleep 0.001))
      (setf start stop))))

(defparameter *followed-limit* 32000
  "The largest number of characters that a followed capture holds before the server takes them.")

(defun follow (capture)
  "Mark CAPTURE, which must be empty, as followed: the server takes its output in parts, and a
thread that writes waits while CAPTURE contains *FOLLOWED-LIMIT* characters."
  (setf (capture-head-limit capture) *followed-limit*
        (capture-followed capture) t))

(defmethod sb-gray:stream-write-char ((stream capture-stream) character)
  (keep (stream-capture stream) (string character) 0 1)
  character)

(defmethod sb-gray:stream-write-string ((stream capture-stream) string &optional (start 0) end)
  (let ((end (or end (length string))))
    (when (< start end)
      (with-string-data (simple offset rest) string
        (declare (ignore rest))
        (keep (stream-capture stream) simple (+ offset start) (+ offset end)))))
  string)

(defun octets-wanted (first)
  "Return the number of octets in a UTF-8 character whose first octet is FIRST. Return 1 if no
character begins with FIRST."
  (cond ((<= #xC2 first #xDF) 2)
        ((<= #xE0 first #xEF) 3)
        ((<= #xF0 first #xF4) 4)
        (t 1)))

(defmethod sb-gray:stream-write-byte ((stream capture-stream) octet)
  (check-type octet (unsigned-byte 8))
  (let ((octets (reverse (push octet (pending-octets stream)))))
    (when (>= (length octets) (octets-wanted (first octets)))
      (setf (pending-octets stream) '())
      (write-string (sb-ext:octets-to-string (coerce octets '(vector (unsigned-byte 8)))
                                             :external-format '(:utf-8 :replacement #\ufffd))
                    stream)))
  octet)

(defmethod sb-gray:stream-write-sequence ((stream capture-stream) sequence &optional (start 0) end)
  (if (stringp sequence)
      (write-string sequence stream :start start :end end)
      (map nil
           (lambda (each) (if (characterp each) (write-char each stream) (write-byte each stream)))
           (subseq sequence start end)))
  sequence)

(defmethod sb-gray:stream-line-column ((stream capture-stream))
  (capture-column (destination (stream-capture stream))))

(defmethod sb-gray:stream-terpri ((stream capture-stream))
  (sb-gray:stream-write-char stream #\Newline)
  nil)

(defun captured-p (stream)
  "Return true if output to STREAM goes to a capture, directly or through synonym streams."
  (loop for each = stream then (symbol-value (synonym-stream-symbol each))
        repeat 10
        while (and (typep each 'synonym-stream) (boundp (synonym-stream-symbol each)))
        finally (return (typep each 'capture-stream))))

(defun tail-string (capture)
  "Return the characters in the ring buffer of CAPTURE, oldest first."
  (let* ((tail (capture-tail capture)) (size (length tail))
         (written (- (capture-total capture) (capture-head-limit capture))))
    (cond ((or (zerop size) (<= written 0)) "")
          ((<= written size) (subseq tail 0 written))
          (t (let ((start (mod written size)))
               (concatenate 'string (subseq tail start) (subseq tail 0 start)))))))

(define-shape output ()
  "The output of a call or of the image."
  (text string "The whole output, or its beginning when characters were left out.")
  (omitted integer :optional
   "The number of characters that were left out between `text` and `tail`.")
  (tail string :optional "The end of the output, when characters were left out."))

(defun captured (capture &key reset (wait t))
  "Return a JSON object with the output in CAPTURE: the whole text, or its head, the number of
omitted characters, and its tail. Return NIL if there is no output, or if WAIT is false and another
thread is writing. If RESET is true, empty CAPTURE."
  (sb-thread:with-recursive-lock ((capture-lock capture) :wait-p wait)
    (unless (zerop (capture-total capture))
      (let* ((head (subseq (capture-head capture) 0 (capture-head-fill capture)))
             (tail (tail-string capture))
             (omitted (- (capture-total capture) (length head) (length tail))))
        (when reset
          (setf (capture-head-fill capture) 0 (capture-total capture) 0)
          ;; The parts of a followed output are one text, so only other captures begin a new line.
          (if (capture-followed capture)
              (incf (capture-taken capture) (+ (length head) omitted (length tail)))
              (setf (capture-column capture) 0)))
        (if (zerop omitted)
            (object "text" (concatenate 'string head tail))
            (object "text" head "omitted" omitted "tail" tail))))))

(defun bounded-string (limit function)
  "Call FUNCTION with an output stream. Return two values: the first LIMIT characters that FUNCTION
writes, and true if it wrote more. In this case, a THROW ends FUNCTION."
  (let* ((cut nil)
         (tag (list 'full))
         (capture (make-capture limit 0 :on-full (lambda () (setf cut t) (throw tag nil)))))
    (catch tag (funcall function (capturing capture)))
    (values (subseq (capture-head capture) 0 (capture-head-fill capture)) cut)))
