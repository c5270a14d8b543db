;;;; Sends *FEATURES* to the server, which reads files as the image does and must leave out the same
;;;; forms by #+ and #-.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **sent-features** '()
  "The features that the server knows, as CURRENT-FEATURES returned them.")

(sb-ext:defglobal **features-lock** (sb-thread:make-mutex :name "live-lisp features")
  "Held while **SENT-FEATURES** are compared and sent, so that the server gets the newest last.")

(defun current-features ()
  "Return a fresh list of the symbols in *FEATURES*."
  ;; A program can set *FEATURES* to anything: it can be unbound, no list, dotted or circular.
  (loop for rest = (ignore-errors (sb-ext:symbol-global-value '*features*)) then (cdr rest)
        repeat 10000 while (consp rest)
        when (symbolp (car rest)) collect (car rest)))

(defun send-features (&key again)
  "Send the features of the image if they are not those that the server knows; with AGAIN always. A
keyword is sent by its name alone."
  (sb-sys:without-interrupts
    (sb-thread:with-mutex (**features-lock**)
      (let ((features (current-features)))
        (when (or again (not (equal features **sent-features**)))
          ;; A vector: OBJECT leaves out a member that is an empty list.
          (send (object "features" (map 'vector
                                        (lambda (feature)
                                          (if (keywordp feature)
                                              (symbol-name feature)
                                              (symbol-text feature)))
                                        features)))
          (setf **sent-features** features))))))
