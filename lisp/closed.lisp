;;;; The last file of the agent in an image that the server starts. It unexports the symbols of the
;;;; agent's packages, so that a list of all external symbols in the image does not show them.

(in-package "LIVE-LISP.AGENT")

(unexport-agent *package*)
