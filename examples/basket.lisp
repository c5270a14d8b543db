;;;; A web application whose requests fail for some names. docs/debugging.md shows how it is fixed while a request waits.

(defpackage "BASKET"
  (:use "COMMON-LISP" "HUNCHENTOOT" "PRICES")
  (:export "SERVE"))

(in-package "BASKET")

(define-easy-handler (basket :uri "/basket") (a b)
  (format nil "Total: ~D" (total (list a b))))

(defun serve ()
  "Start the application at a free port of this machine, and return that."
  (acceptor-port (start (make-instance 'easy-acceptor :port 0 :address "127.0.0.1"
                                                      :access-log-destination nil :message-log-destination nil))))
