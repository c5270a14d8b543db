;;;; Sends and receives messages on file descriptor 3. A message is sent as a frame: four octets
;;;; with its length, most significant first, then that many octets of JSON.
;;;; docs/develop/wire-protocol.md describes the messages.

(in-package "LIVE-LISP.BASE")

(defconstant +protocol-version+ 1
  "The version of the wire protocol. It is raised whenever the meaning of a message changes.")

(defconstant +frame-limit+ (* 64 1024 1024)
  "The largest number of octets in a frame. A longer frame means that the sender is broken.")

(defvar *frames-in* nil "The binary input stream of the channel.")
(defvar *frames-out* nil "The binary output stream of the channel.")

(defvar *reading* nil
  "True in the reader thread. This thread receives all messages, so it must not wait for the answer
to one.")

(defun end-image (code)
  "End the process at once, with the exit code CODE."
  (end-process code :abort t))

(sb-ext:defglobal **on-peer-gone** 'end-image
  "A function of one argument, an exit code, which is called when the server is gone. In an image
that the server started, it ends the image.")

(sb-ext:defglobal **send-lock** (sb-thread:make-mutex :name "live-lisp send")
  "The mutex that a thread holds while it writes a frame.")

(defun open-channel (descriptor)
  "Open the channel on the file DESCRIPTOR."
  (flet ((open-stream (direction)
           (sb-sys:make-fd-stream descriptor direction t :element-type '(unsigned-byte 8)
                                                         :buffering :full)))
    (setf *frames-in* (open-stream :input)
          *frames-out* (open-stream :output))))

(defun close-channel ()
  "End both directions of the channel: from now on SEND-FRAME sends nothing, and RECEIVE returns
NIL."
  (sb-thread:with-mutex (**send-lock**)
    (let ((out (shiftf *frames-out* nil)))
      (when out
        (sb-alien:alien-funcall
         (sb-alien:extern-alien "shutdown" (function sb-alien:int sb-alien:int sb-alien:int))
         ;; SHUT_RDWR
         (sb-sys:fd-stream-fd out) 2)))))

(defun frame-octets (message)
  "Return a buffer with the frame of MESSAGE, a JSON object."
  (let ((buffer (make-buffer)))
    (reserve buffer 4)
    (setf (buffer-fill buffer) 4)
    (write-json message buffer)
    (let ((length (- (buffer-fill buffer) 4)))
      (dotimes (i 4)
        (setf (aref (buffer-octets buffer) i) (ldb (byte 8 (- 24 (* 8 i))) length))))
    buffer))

(sb-ext:defglobal **left-frames** '()
  "Buffers with frames of the reader thread that are still to be sent, newest first. Another thread
was sending when the reader thread left them here.")

(defun write-frame (buffer)
  "Write the frame in BUFFER to the channel. The caller must hold **SEND-LOCK**."
  (handler-case
      (when *frames-out*
        (write-sequence (buffer-octets buffer) *frames-out* :end (buffer-fill buffer))
        (finish-output *frames-out*))
    (stream-error () (funcall **on-peer-gone** 3))))

(defun take-left-frames ()
  "Empty **LEFT-FRAMES**. Return its buffers, oldest first."
  (loop for frames = **left-frames**
        when (eq frames
                 (sb-ext:compare-and-swap (symbol-value '**left-frames**) frames '()))
          return (reverse frames)))

(defun send-left-frames ()
  "Send the frames in **LEFT-FRAMES**, unless another thread is sending. That thread calls this
function when it has sent its frame."
  (loop while (and **left-frames**
                   (sb-thread:with-mutex (**send-lock** :wait-p nil)
                     (mapc #'write-frame (take-left-frames))
                     t))))

(defun send-frame (buffer)
  "Send the frame in BUFFER. Interrupts wait until the whole frame is sent. If the server is gone,
call **ON-PEER-GONE** with 3. After CLOSE-CHANNEL, send nothing. The reader thread never waits for
other threads that send: meanwhile it could read nothing, and a server that waits for it to read
takes little from those threads."
  (sb-sys:without-interrupts
    (if *reading*
        (sb-ext:atomic-push buffer (symbol-value '**left-frames**))
        (sb-thread:with-mutex (**send-lock**) (write-frame buffer)))
    (send-left-frames)))

(defun unread-octets ()
  "Return the number of sent octets that the server has not read yet. Return 0 if there is no
channel, and on systems that do not report the number."
  #+linux
  (let ((count (make-array 4 :element-type '(unsigned-byte 8) :initial-element 0)))
    (sb-sys:with-pinned-objects (count)
      (if (and *frames-out*
               (control-device (sb-sys:fd-stream-fd *frames-out*) #x5411 (sb-sys:vector-sap count)))
          (sb-sys:sap-ref-32 (sb-sys:vector-sap count) 0)
          0)))
  #-linux 0)

(defun wait-until-read ()
  "Wait until the server has read everything that was sent, but at most half a second. If the
process ended earlier while the server is sending something, the server would lose the unread
octets."
  (loop repeat 100
        until (zerop (unread-octets))
        do (sleep 0.005)))

(defun send (message)
  "Send MESSAGE, a JSON object."
  (send-frame (frame-octets message)))

(defun receive-octets (count)
  "Return the next COUNT octets of the channel, or NIL when the channel ended before."
  (let ((octets (make-array count :element-type '(unsigned-byte 8))))
    (when (= count (read-sequence octets *frames-in*))
      octets)))

(defun receive ()
  "Return the next message as an EQUAL hash table, or NIL when the channel ended."
  (let ((head (receive-octets 4)))
    (when head
      (let ((length (reduce (lambda (sum octet) (+ (* 256 sum) octet)) head)))
        (when (> length +frame-limit+)
          (error "A frame of ~D octets is over the limit." length))
        (let ((body (receive-octets length)))
          (and body (parse-json body)))))))
