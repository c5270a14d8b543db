;;;; The last file of the agent in an image of the server. It takes the exports of the agent's
;;;; packages back, so that no list of the program's external symbols shows them.

(in-package "LIVE-LISP.AGENT")

(close-rooms *package*)
