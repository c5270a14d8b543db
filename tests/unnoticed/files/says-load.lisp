(in-package "CL-USER")
(defparameter *said-load* (list (file-namestring *load-truename*) (file-namestring *load-pathname*) (package-name *package*)))
