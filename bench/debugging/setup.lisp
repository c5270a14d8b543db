;;;; Sets up the shop, and asks first.

(in-package "SHOP")

(unless (assoc "desk" *prices* :test #'string=)
  (error "There is no desk."))

(cerror "Set it up again." "The shop is set up already.")

(defvar *set-up* :done
  "Whether this was loaded to its end.")
