;;;; Sends *FEATURES* to the server. The server reads files too, and must skip the same forms after
;;;; #+ and #-.

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **sent-features** '()
  "The features that the server knows, from CURRENT-FEATURES.")

(sb-ext:defglobal **features-lock** (sb-thread:make-mutex :name "live-lisp features")
  "Held while **SENT-FEATURES** are compared and sent, so that the server gets the newest last.")

(defun current-features ()
  "Return the symbols in *FEATURES* as a new list."
  ;; A program can set *FEATURES* to anything, such as a circular list, or make it unbound.
  (loop for rest = (ignore-errors (sb-ext:symbol-global-value '*features*)) then (cdr rest)
        repeat 10000 while (consp rest)
        when (symbolp (car rest)) collect (car rest)))

(defun send-features (&key again)
  "Send the features to the server if they have changed since it got them; with AGAIN, always. For a
keyword, send only its name."
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
