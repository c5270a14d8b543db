;;;; A program that loads the fasls of a library again and again.

(require :asdf)
(asdf:load-system "cl-ppcre")

(defpackage "LIVE-LISP.BENCH" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BENCH")

(defun fasls (system)
  "Return the fasls of SYSTEM's own files, in the order in which they are loaded."
  (loop for component in (asdf:required-components system :other-systems nil
                                                          :keep-component 'asdf:cl-source-file)
        append (asdf:output-files 'asdf:compile-op component)))

(defun load-again (system rounds)
  "Load the fasls of SYSTEM ROUNDS times. Return the milliseconds of CPU that this image took for it."
  (let ((fasls (fasls system)) (began (get-internal-run-time)))
    (handler-bind ((warning #'muffle-warning))
      (dotimes (round rounds) (mapc #'load fasls)))
    (floor (* 1000 (- (get-internal-run-time) began)) internal-time-units-per-second)))
