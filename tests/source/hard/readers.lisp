;;;; Macro characters of the file itself, that wrap, reverse, hide and drop what they read.

(defpackage :readers (:use :cl :tort))
(in-package :readers)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (setf *readtable* (copy-readtable *readtable*))
  (set-macro-character #\] (get-macro-character #\)))
  (set-macro-character #\[ (lambda (s c) (declare (ignore c)) (list* 'list 1 (read-delimited-list #\] s t))))
  (set-macro-character #\! (lambda (s c) (declare (ignore c)) (list 'progn (list 'progn (read s t nil t)))) t)
  (set-dispatch-macro-character #\# #\@ (lambda (s c n) (declare (ignore c n)) (let ((x (read s t nil t))) (list 'list (list 'identity ''(q)) x))))
  (set-dispatch-macro-character #\# #\% (lambda (s c n) (declare (ignore c n)) (read-line s) (values)))
  (set-macro-character #\{ (lambda (s c) (declare (ignore c)) (let ((forms (read-delimited-list #\} s t))) (list* 'list (reverse forms)))))
  (set-macro-character #\} (get-macro-character #\))))
(defun f1 () (list [2 (hit 31) (hit 32)] (hit 33)))
(defun f2 () (list !(hit 34) !!(hit 35) (hit 36)))
(defun f3 () (list #@(hit 37) (hit 38)))
(defun f4 () #% (hit 999 ( " |
  (list [[[(hit 39)]]] (hit 40)))
(defun f5 () {(hit 41) (list (hit 42) 2) [(hit 43)]})
[(defun f6 () (list (hit 44)))]
!(defun f7 () (list (hit 45)))
