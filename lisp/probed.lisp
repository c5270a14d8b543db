;;;; Finds the internals that the agent can use, when ASDF compiles the agent. Where the server
;;;; compiles the agent, boot.lisp does this instead.

(in-package "LIVE-LISP.INTERNALS")

(macrolet ((set-results ()
             ;; At compile time: the results are constants in the fasl of this file.
             (destructuring-bind (proven unproven) (results-of-another-sbcl)
               `(setf *proven* ',proven
                      *unproven* ',unproven))))
  (set-results))
