;;;; Sends *FEATURES* to the server. The server also reads Lisp files, and must skip the same forms
;;;; after #+ and #- as this image.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **features-lock** (sb-thread:make-mutex :name "live-lisp features")
  "The mutex that a thread holds while it compares and sends the features. Without it, one thread
could send an older list after another thread has sent a newer one.")

(defun current-features ()
  "Return a new list of the symbols in *FEATURES*."
  ;; A program can set *FEATURES* to anything, such as a circular list, or make it unbound.
  (loop for rest = (global-value-of '*features*) then (cdr rest)
        repeat 10000 while (consp rest)
        when (symbolp (car rest)) collect (car rest)))

(defun feature-names (features)
  "Return a vector of the names, as texts, of the symbols in FEATURES, a list. The name of a symbol
that is no keyword contains its package."
  ;; Return a vector, because OBJECT leaves out a member that is an empty list.
  (map 'vector (lambda (feature)
                 (if (keywordp feature) (symbol-name feature) (symbol-text feature)))
       (remove-if-not #'symbolp features)))

(defun send-features (&key again)
  "Send *FEATURES* to the server if it has changed since it was sent last, or if AGAIN is true."
  (sb-sys:without-interrupts
    (sb-thread:with-mutex (**features-lock**)
      (let ((features (current-features)))
        (when (or again (not (equal features (channel-features *channel*))))
          (send (object "features" (feature-names features)))
          (setf (channel-features *channel*) features))))))
