;;;; Compiles and loads libraries with the places of their lists recorded and without, and says what the places take.

(require :asdf)

(defpackage "LIVE-LISP.BENCH" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BENCH")

(defparameter *systems* '("alexandria" "cl-ppcre" "hunchentoot" "local-time" "iterate"))

(mapc #'asdf:load-system *systems*)

(defun sources ()
  "Return the truenames of the source files of *SYSTEMS*, in the order in which they are loaded."
  (loop for system in *systems*
        append (mapcar (lambda (component) (truename (asdf:component-pathname component)))
                       (asdf:required-components system :other-systems nil :component-type 'asdf:cl-source-file
                                                        :keep-component 'asdf:cl-source-file))))

(defun load-sources ()
  "Compile and load the source files. Return the milliseconds of CPU that this image took for it."
  (let* ((sources (sources)) (fasl (format nil "/tmp/live-lisp-bench-~D.fasl" (sb-unix:unix-getpid)))
         (*standard-output* (make-broadcast-stream)) (*error-output* *standard-output*))
    (sb-ext:gc :full t)
    (let ((began (get-internal-run-time)))
      (unwind-protect
           (handler-bind ((warning #'muffle-warning))
             (with-compilation-unit (:override t)
               (dolist (source sources)
                 (let ((*readtable* (copy-readtable nil)))
                   (load (compile-file source :output-file fasl))))))
        (when (probe-file fasl) (delete-file fasl)))
      (values (floor (* 1000 (- (get-internal-run-time) began)) internal-time-units-per-second)))))

(defun load-without-places ()
  "Do as LOAD-SOURCES while no places are recorded."
  (let ((hooks '(live-lisp.jobs::compiler-observes live-lisp.jobs::source-loaded live-lisp.jobs::forms-numbered)))
    (live-lisp.base::uninstall-hooks hooks)
    (unwind-protect (load-sources)
      (apply #'live-lisp.base::install-hooks hooks))))

(defun octets (spans)
  "Return the octets that SPANS, a FILE-SPANS structure, takes with all that it holds."
  (let ((forms (live-lisp.jobs::file-spans-forms spans)) (packages (live-lisp.jobs::file-spans-packages spans)))
    (+ (sb-ext:primitive-object-size spans)
       (sb-ext:primitive-object-size forms)
       (loop for form across forms when form sum (sb-ext:primitive-object-size form))
       (loop for pair in packages sum (+ 16 (sb-ext:primitive-object-size pair))))))

(defun characters (file)
  "Return how many characters FILE has."
  (with-open-file (in file :external-format :utf-8) (loop while (read-char in nil) count t)))

(defun places-cost ()
  "Return how many source files there are, the octets that their places take, and their characters."
  (let ((sources (sources)))
    (list (length sources)
          (loop for source in sources
                sum (octets (live-lisp.jobs::spans-known (sb-ext:native-namestring source) nil)))
          (reduce #'+ sources :key #'characters))))
