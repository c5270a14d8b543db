// The file that tests of debug load: a shop with mistakes.

export const SHOP = `(defpackage :app (:use :cl))
(in-package :app)
(defparameter *prices* (list (cons "a" 3) (cons "b" nil)))
(defun price (name)
  (+ 0 (cdr (assoc name *prices* :test #'string=))))
(defun total (names)
  (let ((sum 0))
    (dolist (name names)
      (incf sum (price name)))
    (list :total sum)))
(define-condition no-stock (error) ((item :initarg :item)))
(defun fetch (n)
  (restart-case (error 'no-stock :item n)
    (use-value (value) :report "Use another." value)))
`;
