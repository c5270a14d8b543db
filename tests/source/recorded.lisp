;;;; Prints where the backend says that the lists of source files begin, for
;;;; tests/source/recorded.long.ts to compare with.

(require :asdf)

(defpackage :told-places
  (:use :cl)
  (:export #:report))

(in-package :told-places)

(defun report-file (file)
  "Prints for each top-level form of FILE whose lists have places the start of each list, or - where it is unknown."
  (let ((spans (live-lisp.jobs::find-spans (sb-ext:native-namestring file) (file-write-date file))))
    (format t "file ~A~%" (namestring file))
    (loop for number from 0 below (length (live-lisp.jobs::file-spans-forms spans))
          for places = (live-lisp.jobs::form-spans spans number)
          when places
            do (format t "form ~D~{ ~A~}~%" number
                       (loop for list from 0 below (floor (length places) 2)
                             collect (or (first (live-lisp.jobs::list-span places list)) "-"))))))

(defun report (systems force output)
  "Loads each of the ASDF systems SYSTEMS and reports its source files to the file OUTPUT. With FORCE all are compiled."
  (with-open-file (report output :direction :output :if-exists :supersede)
    (dolist (system systems)
      (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
        (handler-bind ((warning #'muffle-warning))
          (asdf:load-system system :force force)))
      (let ((*standard-output* report))
        (dolist (part (asdf/component:sub-components (asdf:find-system system) :type 'asdf:cl-source-file))
          (report-file (truename (asdf:component-pathname part))))))))
