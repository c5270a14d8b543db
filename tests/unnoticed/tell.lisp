;;;; Evaluates probes, and writes what came of each to a file: in a plain SBCL, and in an image of the server.

(defpackage "UNNOTICED"
  (:use "COMMON-LISP")
  (:export "*OUTCOMES*" "TELL" "TELL-ALL"))

(in-package "UNNOTICED")

;;; What probes call, and a tool can record

(defgeneric watched-by (x y)
  (:method (x y) (list x y))
  (:method ((x integer) y) (list* :integer (call-next-method x y)))
  (:method :around (x y) (multiple-value-prog1 (call-next-method) (identity y)))
  (:method :before ((x number) y) (identity y)))

(defgeneric watched-keyed (x &key y z)
  (:method (x &key y z) (list x y z)))

(defvar *meanwhile* (constantly nil) "A function that WATCHED calls.")

(defun watched (function &optional (other *meanwhile*))
  "Call FUNCTION and OTHER in turn with generic functions of this file. Return the values of FUNCTION; with a number as the
first of them what the methods for it return."
  (declare (notinline watched-by watched-keyed))
  (let ((values (multiple-value-list (funcall function))))
    (watched-keyed 1 :z 2)
    (funcall other)
    (if (and (numberp (first values)) (null (rest values)))
        (watched-by (first values) (length (watched-by 'a 1)))
        (values-list values))))

;;; Outcomes

(defvar *outcomes* nil "The file to which outcomes are appended.")

(defun outcome (form)
  "Evaluate FORM. Return its values, or the type and report of the serious condition that ended it; and the types of all
conditions that it signalled to handlers around it."
  (let* ((seen '())
         (outcome (handler-bind ((condition (lambda (condition) (push (type-of condition) seen))))
                    (handler-case (list* :values (multiple-value-list (eval form)))
                      (serious-condition (condition)
                        (list :condition (type-of condition) (remove #\Newline (princ-to-string condition))))))))
    (list outcome (reverse seen))))

(defun tell (number form)
  "Evaluate FORM, the probe with NUMBER, and append a line with its outcome to the file *OUTCOMES*."
  (let ((outcome (outcome form)))
    (with-open-file (out *outcomes* :direction :output :if-exists :append :if-does-not-exist :create
                                    :external-format :utf-8)
      (with-standard-io-syntax
        (let ((*package* (find-package "KEYWORD")) (*print-readably* nil) (*print-circle* t)
              (*print-length* 60) (*print-level* 12))
          (format out "~D ~A~%" number (substitute #\Space #\Newline (prin1-to-string outcome))))))
    :told))

(defun tell-all (file mark)
  "Tell each probe in FILE, which has a form a line, and write MARK and the number of the probe on a line before its
output."
  (with-open-file (in file :external-format :utf-8)
    (loop for line = (read-line in nil)
          for number from 0
          while line
          do (finish-output *error-output*)
             (format t "~&~A~D~%" mark number)
             (finish-output)
             (tell number (read-from-string line))
             (fresh-line *error-output*)
             (finish-output *error-output*)))
  (finish-output))
