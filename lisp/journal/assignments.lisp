;;;; Which global variables of the user an evaluated form can have set where it shows; their values
;;;; are not built again, so they are named when the image is lost.

(in-package "LIVE-LISP.JOURNAL")

(defparameter *setters*
  '(setq setf psetq psetf push pushnew pop incf decf remf rotatef shiftf set multiple-value-setq)
  "What changes a place.")

(defun variables-in (tree)
  "Return the global variables of the user that stand in TREE, which is no data."
  (cond ((minusp (decf *steps*)) '())
        ((and (consp tree) (eq (car tree) 'symbol-value) (consp (cdr tree)) (literal (cadr tree)))
         (variables-in (literal (cadr tree))))
        ((consp tree)
         (unless (eq (car tree) 'quote)
           (nconc (variables-in (car tree)) (variables-in (cdr tree)))))
        ((and tree (symbolp tree) (not (keywordp tree)) (boundp tree) (not (constantp tree))
              (not (system-symbol-p tree)))
         (list tree))))

(defun places-set (form)
  "Return the places that FORM, of one of *SETTERS*, sets."
  (case (car form)
    ((setq psetq setf psetf) (loop for place in (cdr form) by #'cddr collect place))
    ((push pushnew) (list (third form)))
    (rotatef (cdr form))
    (shiftf (butlast (cdr form)))
    (set (list (list 'symbol-value (second form))))
    (t (list (second form)))))

(defun set-variables (form)
  "Return the global variables of the user that FORM can have set where it shows."
  (when (and (consp form) (plusp (decf *steps*)) (not (eq (car form) 'quote)))
    (nconc (when (member (car form) *setters* :test #'eq)
             (variables-in (places-set form)))
           (loop for rest = form then (cdr rest)
                 while (consp rest)
                 nconc (set-variables (car rest))))))

(defun part-at (form path)
  "Return the part of FORM at PATH, a list of indexes."
  (reduce (lambda (part index) (nth index part)) path :initial-value form))

(defun set-members (form)
  "Return the member that tells which variables FORM can have set; NIL when there are none."
  (let* ((*steps* 1000) (variables (set-variables form)))
    (when variables
      (list "set" (mapcar #'symbol-text (remove-duplicates variables))))))
