;;;; Prints what SBCL itself says about the places of forms, for tests/source/position.test.ts to compare with.

(require :asdf)

(defpackage :position-oracle
  (:use :cl)
  (:export #:report-file #:report-system #:point))

(in-package :position-oracle)

(defstruct point x y)

(defvar *starts* nil "Maps each cons that was read to the offset of its first character.")

(defun noting-start (reader width)
  "Wraps the macro character function READER, whose character WIDTH characters name, to note where conses start."
  (lambda (stream &rest arguments)
    (let* ((start (- (file-position stream) width))
           (form (apply reader stream arguments)))
      (when (consp form)
        (setf (gethash form *starts*) start))
      form)))

(defun noting-readtable ()
  (let ((readtable (copy-readtable nil)))
    (dolist (char '(#\( #\' #\` #\,))
      (set-macro-character char (noting-start (get-macro-character char nil) 1) nil readtable))
    (set-dispatch-macro-character
     #\# #\' (noting-start (get-dispatch-macro-character #\# #\' nil) 2) readtable)
    readtable))

(defvar *commas-counted* (< 1 (length (sb-di:form-number-translations '(quote (a)) 0)))
  "True when this SBCL numbers commas, and what is quoted.")

(defun element (index form)
  "Gives the element of FORM with INDEX. Where commas are numbered, one is a list of its name and its form."
  (cond ((sb-int:comma-p form) (if (= index 1) (sb-int:comma-expr form) form))
        ((zerop index) (car form))
        (t (element (1- index) (cdr form)))))

(defun subform (form path)
  "Gives the form that PATH of SB-DI:FORM-NUMBER-TRANSLATIONS leads to."
  (dolist (index (rest (reverse (rest path))) form)
    (let ((element (element index form)))
      (setf form (if (and (sb-int:comma-p element) (not *commas-counted*)) (sb-int:comma-expr element) element)))))

(defun compiler-numbers (form)
  "Gives a hash table with the number that the compiler gives to each list in FORM."
  (let ((paths (find-symbol "*SOURCE-PATHS*" "SB-C")) (numbers (make-hash-table :test #'eq)))
    (progv (list paths (find-symbol "*SOURCE-INFO*" "SB-C")) (list (make-hash-table :test #'eq) nil)
      (sb-c::find-source-paths form 0)
      (maphash (lambda (list path) (setf (gethash list numbers) (second path))) (symbol-value paths)))
    numbers))

(defun list-starts (form)
  "Gives for each number of SB-DI:FORM-NUMBER-TRANSLATIONS where its list in FORM begins, or - if the compiler gives another
number to that list. Where commas are numbered, it counts a list twice that #. has put in two places, and 2.5.2 alone counts a
comma behind a dot."
  (let ((numbers (compiler-numbers form)))
    (map 'list
         (lambda (path)
           (let ((list (subform form path)))
             (if (eql (first path) (gethash list numbers (first path))) (gethash list *starts* "-") "-")))
         (sb-di:form-number-translations form 0))))

(defun file-text (file)
  (with-open-file (stream file :external-format :utf-8)
    (let ((text (make-string (file-length stream))))
      (subseq text 0 (read-sequence text stream)))))

(defun features-line ()
  "Names *FEATURES*, which the loading of a system may change."
  (flet ((name (feature)
           (format nil "~@[~A::~]~A"
                   (unless (keywordp feature) (package-name (symbol-package feature)))
                   feature)))
    (format nil "features~{ ~A~}" (mapcar #'name *features*))))

(defun report-file (file)
  "Prints for each top-level form of FILE where the one before it ends, and the offset of every numbered cons."
  (format t "file ~A~%~A~%" (namestring file) (features-line))
  ;; A string stream counts characters; a file stream would count bytes.
  (with-input-from-string (stream (file-text file))
    (let ((*readtable* (noting-readtable))
          (*package* (find-package :position-oracle))
          (*starts* (make-hash-table :test #'eq)))
      (loop for offset = (file-position stream)
            for form = (read-preserving-whitespace stream nil stream)
            until (eq form stream)
            do (format t "form ~D~{ ~A~}~%" offset (list-starts form))
               (when (typep form '(cons (eql in-package)))
                 (eval form))))))

(defun report-system (name)
  "Loads the ASDF system NAME and reports the source files it is made of."
  (let ((*standard-output* (make-broadcast-stream))
        (*error-output* (make-broadcast-stream)))
    (asdf:load-system name))
  (dolist (component (asdf/component:sub-components (asdf:find-system name) :type 'asdf:cl-source-file))
    (report-file (asdf:component-pathname component))))
