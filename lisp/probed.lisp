;;;; Finds the internals that the agent can use when ASDF compiles it. boot.lisp does that in this
;;;; file's place.

(in-package "LIVE-LISP.INTERNALS")

(macrolet ((set-results ()
             ;; At compile time: the results are constants in the fasl of this file.
             (destructuring-bind (proven unproven) (results-of-another-sbcl)
               `(setf *proven* ',proven
                      *unproven* ',unproven))))
  (set-results))
