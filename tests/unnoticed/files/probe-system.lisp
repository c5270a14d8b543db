(defpackage "PROBE-SYSTEM" (:use "CL"))
(in-package "PROBE-SYSTEM")
(defvar *loaded* :loaded)
