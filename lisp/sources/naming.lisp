;;;; Finds in loaded texts where a file defines something that SBCL does not know, such as a test.

(in-package "LIVE-LISP.SOURCES")

(defun names-what-p (form name)
  "True when the text FORM is a definition of NAME, a string without a package."
  (destructuring-bind (&optional (operator "") (second "") (third "")) (form-parts form 3)
    (flet ((names-p (part)
             (let* ((inner (string-left-trim "(" part))
                    (end (or (position-if (lambda (char) (find char " ()")) inner) (length inner)))
                    (colon (position #\: inner :end end :from-end t)))
               (string-equal name (string-trim "|\"" (subseq inner (if colon (1+ colon) 0) end))))))
      (and (or (eql 0 (search "def" operator :test #'char-equal)) (search "test" operator :test #'char-equal))
           (or (names-p second)
               ;; A suite or options can precede the name.
               (and (eql 0 (position #\( second)) (not (eql 0 (position #\( third))) (names-p third)))))))

(defun number-naming (name package path text)
  "Return the number of the form of TEXT, of the file PATH, that defines NAME, a string, in PACKAGE (NIL: any)."
  (loop with forms = (or (and (search name text :test #'char-equal) (forms-of text)) #())
        for form across forms
        for number from 0
        when (and (names-what-p form name)
                  (or (null package) (eq package (package-in-force forms number path))))
          return number))

(defun form-naming (name package)
  "Return the path of a file and the number of its form that defines NAME, a string, in PACKAGE (NIL: any), or NIL.
Searches the files whose loaded texts are known."
  (flet ((look (path text)
           (let ((number (and text (number-naming name package path text))))
             (when number (return-from form-naming (values path number))))))
    (maphash #'look **unnoted-texts**)
    (loop for file being the hash-values of **files** do (look (source-file-path file) (source-file-text file)))))

(defun loaded-path-p (path)
  "True when a load of the file PATH, a native truename, is recorded."
  (nth-value 1 (gethash path **files**)))

(defun other-text-p (path text)
  "True when the text of the file PATH, a native name, is not TEXT."
  (string/= text (or (read-text (sb-ext:parse-native-namestring path)) text)))

(defun stale-p (path)
  "True when the file PATH, a native truename, has another date or text than when it was loaded."
  (let* ((file (gethash path **files**)) (loaded (and file (source-file-date file))) (text (known-text path))
         (date (ignore-errors (file-write-date (sb-ext:parse-native-namestring path)))))
    (and loaded
         date
         (or (/= loaded date)
             (and text (other-text-p path text))))))

(defun call-finding-forms (function)
  "Call FUNCTION, and split each text into forms only once meanwhile."
  (let ((*plain-forms* '())) (funcall function)))
