;;;; Sends and receives messages on file descriptors. A message is sent as a frame: four octets
;;;; with its length, most significant first, then that many octets of JSON.
;;;; docs/develop/wire-protocol.md describes the messages.

(in-package "LIVE-LISP.BASE")

(defconstant +protocol-version+ 3
  "The version of the wire protocol. A change in the meaning of any message raises it.")

(defconstant +frame-limit+ (* 64 1024 1024)
  "The largest number of octets in a frame. RECEIVE signals an error for a longer frame, because its
sender must be faulty.")

(defstruct (channel (:constructor make-channel (in out)))
  "A connection to a server.
IN, OUT: binary streams. OUT is NIL when the channel is closed.
LOCK: the mutex that a thread holds while it writes a frame.
LEFT: a list of buffers with frames that are still to be sent, newest first. The reader thread puts
its frames there instead of waiting for another thread that is sending.
FEATURES: the value of *FEATURES* that the server was sent last."
  in out (lock (sb-thread:make-mutex :name "live-lisp send")) (left '()) (features '()))

(defvar *channel* (make-channel nil nil)
  "The channel to the server for which this thread runs a job or receives messages. In an image that
the server started, all threads have the same channel. The initial value is a closed channel.")

(sb-ext:defglobal **channels** '() "The list of the open channels.")

(defvar *reading* nil
  "True in a thread that receives messages, the reader thread. It must not wait for the answer to a
message, because only it could receive that answer.")

(defun end-image (code)
  "End the process at once, with the exit code CODE."
  (end-process code :abort t))

(sb-ext:defglobal **on-peer-gone** 'end-image
  "A function of one argument, an exit code. WRITE-FRAME calls it when the server is gone. In an
image that the server started, it ends the image. In an image that somebody else runs, it does
nothing.")

(defun open-channel (in &key (out in) silence)
  "Return a new channel that receives from the file descriptor IN and sends to OUT. SILENCE is NIL,
or the number of seconds without a message after which RECEIVE signals an error."
  (flet ((open-stream (descriptor direction)
           (sb-sys:make-fd-stream descriptor direction t :element-type '(unsigned-byte 8)
                                                         :buffering :full :timeout silence)))
    (let ((channel (make-channel (open-stream in :input) (open-stream out :output))))
      (sb-ext:atomic-push channel (symbol-value '**channels**))
      channel)))

(defun close-channel (channel)
  "Close CHANNEL in both directions. Afterwards SEND-FRAME sends nothing on it, and RECEIVE returns
NIL."
  ;; Another thread can open a channel meanwhile.
  (sb-ext:atomic-update (symbol-value '**channels**) (lambda (open) (remove channel open)))
  (sb-thread:with-mutex ((channel-lock channel))
    (let ((out (shiftf (channel-out channel) nil)))
      (when out
        (sb-alien:alien-funcall
         (sb-alien:extern-alien "shutdown" (function sb-alien:int sb-alien:int sb-alien:int))
         ;; SHUT_RDWR
         (sb-sys:fd-stream-fd out) 2)))))

(defun frame-octets (message)
  "Return a buffer with the frame of MESSAGE, a JSON object: its length and its text."
  (let ((buffer (make-buffer)))
    (reserve buffer 4)
    (setf (buffer-fill buffer) 4)
    (write-json message buffer)
    (let ((length (- (buffer-fill buffer) 4)))
      (dotimes (i 4)
        (setf (aref (buffer-octets buffer) i) (ldb (byte 8 (- 24 (* 8 i))) length))))
    buffer))

(defun write-frame (buffer channel)
  "Write the frame in BUFFER to CHANNEL, if it is open. The caller must hold the lock of CHANNEL. If
the server is gone, call **ON-PEER-GONE** with the exit code 3."
  (handler-case
      (let ((out (channel-out channel)))
        (when out
          (write-sequence (buffer-octets buffer) out :end (buffer-fill buffer))
          (finish-output out)))
    (stream-error () (funcall **on-peer-gone** 3))))

(defun take-left-frames (channel)
  "Set the slot LEFT of CHANNEL to NIL, and return a list of the buffers that were in it, oldest
first."
  (loop for frames = (channel-left channel)
        when (eq frames (sb-ext:compare-and-swap (channel-left channel) frames '()))
          return (reverse frames)))

(defun send-left-frames (channel)
  "Send the frames in the list LEFT of CHANNEL. If another thread is sending, do nothing, because
that thread calls this function afterwards."
  (loop while (and (channel-left channel)
                   (sb-thread:with-mutex ((channel-lock channel) :wait-p nil)
                     (dolist (buffer (take-left-frames channel) t)
                       (write-frame buffer channel))))))

(defun send-frame (buffer)
  "Send the frame in BUFFER on *CHANNEL*. Interrupts wait until the whole frame is sent. If the
server is gone, call **ON-PEER-GONE** with the exit code 3. If the channel is closed, send nothing.
The reader thread never waits for other threads that send: the server may be waiting to send a
message itself, and only the reader thread can receive it."
  (let ((channel *channel*))
    (sb-sys:without-interrupts
      (if *reading*
          (sb-ext:atomic-push buffer (channel-left channel))
          (sb-thread:with-mutex ((channel-lock channel)) (write-frame buffer channel)))
      (send-left-frames channel))))

(defun sending-p ()
  "Return true if this thread is writing a frame to *CHANNEL*. The server may then have got a part
of it."
  (sb-thread:holding-mutex-p (channel-lock *channel*)))

(defconstant +unread-output+ #x5411
  "The number of SIOCOUTQ on Linux, the ioctl for the number of sent octets that are not read yet.")

(defun unread-octets ()
  "Return the number of sent octets that the server has not read yet. Return 0 if *CHANNEL* is
closed, or if the system does not report the number."
  #+linux
  (let ((out (channel-out *channel*))
        (count (make-array 4 :element-type '(unsigned-byte 8) :initial-element 0)))
    (sb-sys:with-pinned-objects (count)
      (if (and out
               (control-device (sb-sys:fd-stream-fd out) +unread-output+
                               (sb-sys:vector-sap count)))
          (sb-sys:sap-ref-32 (sb-sys:vector-sap count) 0)
          0)))
  #-linux 0)

(defun wait-until-read ()
  "Wait until the server has read all that was sent, for at most half a second. If the process ended
sooner, the unread part could be lost."
  (loop repeat 100
        until (zerop (unread-octets))
        do (sleep 0.005)))

(defun send (message)
  "Send MESSAGE, a JSON object, to the server of *CHANNEL*."
  (send-frame (frame-octets message)))

(defun receive-octets (count)
  "Return the next COUNT octets of *CHANNEL*, or NIL if the channel ends before."
  (let ((octets (make-array count :element-type '(unsigned-byte 8))))
    (when (= count (read-sequence octets (channel-in *channel*)))
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
