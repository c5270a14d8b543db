;;;; Output that is bounded while it is written: the first part and the last
;;;; part are kept, what lies between is only counted.

(in-package "LIVE-LISP.BASE")

(defclass capture (sb-gray:fundamental-character-output-stream)
  ((head :initform (make-string 128) :accessor capture-head :documentation "The first characters; grows up to its limit.")
   (head-limit :initarg :head-limit :reader head-limit)
   (head-fill :initform 0 :accessor head-fill)
   (tail :initform nil :accessor capture-tail :documentation "A ring of the last characters, made when the head is full.")
   (tail-limit :initarg :tail-limit :reader tail-limit)
   (total :initform 0 :accessor capture-total :documentation "All characters ever written.")
   (column :initform 0 :accessor capture-column)
   (on-full :initarg :on-full :initform nil :reader on-full
            :documentation "Called without arguments when a character no longer fits the head, or NIL.")
   (successor :initform nil :accessor capture-successor
              :documentation "The capture that takes what is still written when nobody will ask this one.")
   (lock :initform (sb-thread:make-mutex :name "capture") :reader capture-lock))
  (:documentation "A character output stream that keeps a bounded part of what is written."))

(defun make-capture (head tail &key on-full)
  "Return a stream that keeps the first HEAD and the last TAIL characters."
  (make-instance 'capture :head-limit head :tail-limit tail :on-full on-full))

(defun keep-in-tail (capture string start end)
  "Put the part of STRING from START to END into the ring of CAPTURE."
  (declare (type simple-string string) (type fixnum start end))
  (let* ((size (tail-limit capture))
         (tail (or (capture-tail capture) (setf (capture-tail capture) (make-string size)))))
    (declare (type (simple-array character (*)) tail) (type fixnum size))
    (unless (zerop size)
      (loop with offset of-type fixnum = (- (capture-total capture) (head-limit capture))
            for i of-type fixnum from (max start (- end size)) below end
            do (setf (char tail (mod (+ offset (- i start)) size)) (char string i))))))

(defun keep-in-head (capture string start count)
  "Append COUNT characters of STRING from START to the head of CAPTURE, which has room for them."
  (declare (type simple-string string) (type fixnum start count))
  (let* ((fill (head-fill capture)) (needed (+ fill count)) (head (capture-head capture)))
    (declare (type fixnum fill needed) (type (simple-array character (*)) head))
    (when (> needed (length head))
      (let ((larger (make-string (min (head-limit capture) (max needed (* 4 (length head)))))))
        (setf head (replace larger head :end2 fill)
              (capture-head capture) larger)))
    (replace head string :start1 fill :start2 start :end2 (+ start count))
    (setf (head-fill capture) needed)))

(defun keep (capture string start end)
  "Add the part of STRING from START to END to CAPTURE, or to its successor."
  (when (capture-successor capture)
    (return-from keep (keep (capture-successor capture) string start end)))
  (sb-thread:with-recursive-lock ((capture-lock capture))
    (let ((count (min (- end start) (- (head-limit capture) (head-fill capture))))
          (newline (position #\Newline string :start start :end end :from-end t)))
      (keep-in-head capture string start count)
      (incf (capture-total capture) count)
      (when (< count (- end start))
        (when (on-full capture) (funcall (on-full capture)))
        (keep-in-tail capture string (+ start count) end)
        (incf (capture-total capture) (- end start count)))
      (setf (capture-column capture)
            (if newline (- end newline 1) (+ (capture-column capture) (- end start)))))))

(defmethod sb-gray:stream-write-char ((stream capture) character)
  (keep stream (string character) 0 1)
  character)

(defmethod sb-gray:stream-write-string ((stream capture) string &optional (start 0) end)
  (let ((end (or end (length string))))
    (when (< start end)
      (with-string-data (simple offset rest) string
        (declare (ignore rest))
        (keep stream simple (+ offset start) (+ offset end)))))
  string)

(defmethod sb-gray:stream-line-column ((stream capture))
  (capture-column stream))

(defmethod sb-gray:stream-terpri ((stream capture))
  (sb-gray:stream-write-char stream #\Newline)
  nil)

(defun tail-string (capture)
  "Return the characters in the ring of CAPTURE, oldest first."
  (let* ((tail (capture-tail capture)) (size (length tail))
         (written (- (capture-total capture) (head-limit capture))))
    (cond ((or (zerop size) (<= written 0)) "")
          ((<= written size) (subseq tail 0 written))
          (t (let ((start (mod written size)))
               (concatenate 'string (subseq tail start) (subseq tail 0 start)))))))

(defun captured (capture &key reset (wait t))
  "Return what CAPTURE kept as a JSON object: head, tail and how many characters
were left out between them; NIL when nothing was written, or when another thread writes
and WAIT is false. RESET empties it."
  (sb-thread:with-recursive-lock ((capture-lock capture) :wait-p wait)
    (unless (zerop (capture-total capture))
      (let* ((head (subseq (capture-head capture) 0 (head-fill capture)))
             (tail (tail-string capture))
             (omitted (- (capture-total capture) (length head) (length tail))))
        (when reset
          (setf (head-fill capture) 0 (capture-total capture) 0 (capture-column capture) 0))
        (if (zerop omitted)
            (object "text" (concatenate 'string head tail))
            (object "text" head "omitted" omitted "tail" tail))))))

(defun bounded-string (limit function)
  "Call FUNCTION with a stream and return what it wrote: at most LIMIT characters,
and as a second value whether there would have been more."
  (let* ((cut nil)
         (stream nil)
         (tag (list 'full)))
    (setf stream (make-capture limit 0 :on-full (lambda () (setf cut t) (throw tag nil))))
    (catch tag (funcall function stream))
    (values (subseq (capture-head stream) 0 (head-fill stream)) cut)))
