;;;; Where a file defines something that SBCL does not know of, such as a test, by the texts that were loaded.

(in-package "LIVE-LISP.SOURCES")

(defun names-what-p (form name)
  "True when the text FORM is a definition of what is called NAME, a string without a package."
  (destructuring-bind (&optional (operator "") (second "") (third "")) (form-parts form 3)
    (flet ((names-p (part)
             (let* ((inner (string-left-trim "(" part))
                    (end (or (position-if (lambda (char) (find char " ()")) inner) (length inner)))
                    (colon (position #\: inner :end end :from-end t)))
               (string-equal name (string-trim "|\"" (subseq inner (if colon (1+ colon) 0) end))))))
      (and (or (eql 0 (search "def" operator :test #'char-equal)) (search "test" operator :test #'char-equal))
           (or (names-p second)
               ;; A suite or options can stand before the name.
               (and (eql 0 (position #\( second)) (not (eql 0 (position #\( third))) (names-p third)))))))

(defun enters-package-p (form)
  "True when the text FORM is an IN-PACKAGE."
  (eql 0 (search "(in-package" form :test #'char-equal)))

(defun package-entered (form)
  "Return the package that the text FORM, when it is an IN-PACKAGE, names, or NIL."
  (and (enters-package-p form)
       (find-package (string-upcase (string-left-trim "#:'" (string-trim "\"" (second (form-parts form 2))))))))

(defun package-in-force (forms number)
  "Return the package that the last IN-PACKAGE form before the one with NUMBER in FORMS, texts, names, or NIL."
  (let ((form (find-if #'enters-package-p forms :end number :from-end t)))
    (and form (package-entered form))))

(defun number-naming (name package text)
  "Return the number of the form of TEXT that defines NAME, a string, in PACKAGE, or in any when that is NIL."
  (let* ((forms (and (search name text :test #'char-equal) (forms-of text)))
         (number (position-if (lambda (form) (names-what-p form name)) (or forms #()))))
    (and number
         (or (null package) (eq package (package-in-force forms number)))
         number)))

(defun form-naming (name package more)
  "Return the path of a file and the number of its form that defines NAME, a string, in PACKAGE, or in any.
Looked at are the files that were loaded, and MORE, pairs of a path and a text. Return NIL when there is none."
  (flet ((look (path text)
           (let ((number (and text (number-naming name package text))))
             (when number (return-from form-naming (values path number))))))
    (loop for (path . text) in more do (look path text))
    (loop for file being the hash-values of **files** do (look (source-file-path file) (source-file-text file)))))

(defun known-text (path)
  "Return the text of the file PATH, a native true name, as it was loaded, or NIL when that is not known."
  (let ((file (gethash path **files**)))
    (and file (source-file-text file))))

(defun loaded-path-p (path)
  "True when something is known of a load of the file PATH, a native true name."
  (nth-value 1 (gethash path **files**)))

(defun other-text-p (path text)
  "True when the file PATH, a native name, has another text than TEXT."
  (string/= text (or (read-text (sb-ext:parse-native-namestring path)) text)))

(defun stale-p (path)
  "True when the file PATH, a native true name, was loaded as it was at another date than it has now, or with another text."
  (let* ((file (gethash path **files**)) (loaded (and file (source-file-date file))) (text (known-text path))
         (date (ignore-errors (file-write-date (sb-ext:parse-native-namestring path)))))
    (and loaded
         date
         (or (/= loaded date)
             (and text (other-text-p path text))))))

(defun call-finding-forms (function)
  "Call FUNCTION, in which each text is taken apart once."
  (let ((*plain-forms* '())) (funcall function)))
