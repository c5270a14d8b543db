;;;; The last file of the backend in an image that the server starts. It unexports the symbols of
;;;; the backend's packages, so that a list of all external symbols in the image does not show them.

(in-package "LIVE-LISP.BACKEND")

(unexport-backend *package*)
