;;;; Searches the texts of loaded files for definitions of objects that SBCL does not know, such as
;;;; the tests of a test framework.

(in-package "LIVE-LISP.SOURCES")

(defun named-part (form name)
  "If FORM, a text, looks like a definition of NAME, a string, return this name as FORM spells it,
such as \"a-test\" in \"(deftest a-test ...)\". Else return NIL."
  (destructuring-bind (&optional (operator "") (second "") (third "")) (form-parts form 3)
    (flet ((named (part)
             (let* ((inner (string-left-trim "(" part))
                    (own (subseq inner 0 (position-if (lambda (char) (find char " ()")) inner)))
                    (colon (position #\: own :from-end t)))
               (and (string-equal name (string-trim "|\"" (subseq own (if colon (1+ colon) 0))))
                    own))))
      (and (definer-p operator)
           (or (named second)
               ;; The name may come after a list, as in (deftest (options) name ...).
               (and (eql 0 (position #\( second))
                    (not (eql 0 (position #\( third)))
                    (named third)))))))

(defun names-there-p (part name home package)
  "Return true if PART can mean the symbol named NAME, a string, in the package HOME. PART is the
part of a form's text that spells a symbol or a string with this name. The form is read in the
package PACKAGE. PART can mean the symbol if PACKAGE is HOME, or if the reader, in PACKAGE, reads
PART as the symbol."
  (or (eq package home)
      (let ((symbol (find-symbol name home)))
        (and symbol (packagep package) (eq symbol (symbol-read part package))))))

(defun number-naming (name home path date text operator-p)
  "Return the number of the first form in TEXT that defines NAME, a string, in the package HOME.
TEXT is the text of the file PATH at DATE, or the newest text if DATE is NIL. A form counts only if
the predicate OPERATOR-P is true of its operator. OPERATOR-P gets NIL if the image lacks the symbol
of the operator."
  (loop with forms = (or (and (search name text :test #'char-equal) (forms-of text)) #())
        for form across forms
        for number from 0
        for part = (named-part form name)
        for package = (and part (form-package path date number))
        when (and part
                  (names-there-p part name home package)
                  (packagep package)
                  (funcall operator-p (symbol-read (first (form-parts form 1)) package)))
          return number))

(defun form-naming (name home operator-p)
  "Return two values: the path of a loaded file, and the number of a form in it that defines NAME, a
string, in the package HOME. Return NIL if no known text of a file has such a form. OPERATOR-P is
a predicate for the operator of the form, as in NUMBER-NAMING."
  (flet ((look (path text date)
           (let ((number (and text (number-naming name home path date text operator-p))))
             (when number (return-from form-naming (values path number))))))
    (loop for file being the hash-values of **files**
          do (look (source-file-path file) (source-file-text file) (source-file-date file)))))

(defun file-formerly-naming (name home operator-p)
  "Return the path of a loaded file that formerly defined NAME, a string, in the package HOME, if
certainly no loaded file does so now. Else return NIL. OPERATOR-P is a predicate for the
operator of the form, as in NUMBER-NAMING."
  (flet ((defines-p (form package)
           (let ((part (named-part form name)) (package (find-package package)))
             (and part
                  package
                  (names-there-p part name home package)
                  (funcall operator-p (symbol-read (first (form-parts form 1)) package))))))
    (loop for file being the hash-values of **files**
          when (and (source-file-text file)
                    (loop for (form . package) in (source-file-former file)
                            thereis (defines-p form package))
                    (notany (lambda (form) (token-in-p name form))
                            (forms-of (source-file-text file)))
                    (null (form-naming name home operator-p)))
            return (source-file-path file))))

(defun loaded-path-p (path)
  "Return true if a load of the file PATH, a native truename, was recorded."
  (nth-value 1 (gethash path **files**)))

(defun other-text-p (path text)
  "Return true if the file PATH, a native name, now has another text than TEXT."
  (not (string= text (or (read-text (sb-ext:parse-native-namestring path)) text))))

(defun stale-p (path)
  "Return true if the file PATH, a native truename, has another text than at its load. If the loaded
text is unknown, compare the dates of the file instead."
  (let* ((file (gethash path **files**)) (loaded (and file (source-file-date file)))
         (text (known-text path))
         (date (date-of path)))
    (if text
        (other-text-p path text)
        (and loaded date (/= loaded date)))))

(defun call-finding-forms (function)
  "Call FUNCTION and return its values. While it runs, FORMS-OF splits each text into top-level
forms only once: *PLAIN-FORMS* caches them."
  (let ((*plain-forms* '())) (funcall function)))
