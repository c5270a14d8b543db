(defpackage "PROBE-FILE-PACKAGE" (:use "CL"))
(in-package "PROBE-FILE-PACKAGE")
(setf *readtable* (copy-readtable))
