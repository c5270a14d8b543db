;;;; Determines, while ASDF compiles the backend, which internals of SBCL the backend can use. If
;;;; the server, not ASDF, starts the compilation, boot.lisp does this instead.

(in-package "LIVE-LISP.INTERNALS")

(macrolet ((set-results ()
             ;; Run the probes, the tests of SBCL's internals, at compile time, so that their
             ;; results are constants in the fasl of this file.
             (destructuring-bind (proven unproven) (results-of-another-sbcl)
               `(setf *proven* ',proven
                      *unproven* ',unproven))))
  (set-results))
