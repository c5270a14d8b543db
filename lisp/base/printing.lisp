;;;; Prints objects of the user in a limited number of characters. If a print method fails, the text
;;;; says so, and no error is signalled.

(in-package "LIVE-LISP.BASE")

(defmacro printing-plainly (&body body)
  "Evaluate BODY with fixed printer settings that make output short. The settings of the session
have no effect on it."
  `(let ((*print-pretty* nil) (*print-length* 5) (*print-level* 3) (*print-circle* nil)
         (*print-readably* nil) (*print-base* 10) (*print-radix* nil) (*print-case* :upcase)
         (*print-escape* t) (*print-gensym* t) (*print-array* t) (*print-lines* nil)
         (*package* (or (find-package "COMMON-LISP") *package*))
         ;; Count the depth from 0, even if BODY runs while another object is printed.
         ,@(and +print-depth+ `((,+print-depth+ 0))))
     ,@body))

(defun print-safely (limit object &optional (format "~S"))
  "Return OBJECT printed with the format control FORMAT. Cut the text after LIMIT characters and add
\"...\". If printing signals an error, return a text that says so, and true as second value."
  (let ((failed nil))
    (multiple-value-bind (text cut)
        (bounded-string limit
                        (lambda (stream)
                          (handler-case (format stream format object)
                            (serious-condition (failure)
                              (setf failed t)
                              ;; The stack may be exhausted again when the next object is printed.
                              (protect-stack-again)
                              (let ((*print-pretty* nil))
                                (format stream "#<~A: printing it signalled ~A>"
                                        (type-of object) (type-of failure)))))))
      (values (if cut (concatenate 'string text "...") text) failed))))

(defun decimal-digits (number)
  "Return NUMBER, a non-negative integer, as decimal text. Do not use SBCL's printer, because it can
call a print method of the user."
  (let ((digits '()))
    (loop (multiple-value-bind (rest digit) (floor number 10)
            (push (code-char (+ (char-code #\0) digit)) digits)
            (when (zerop rest) (return (coerce digits 'simple-string)))
            (setf number rest)))))

(defun symbol-text (symbol)
  "Return the string PACKAGE::NAME for SYMBOL, or #:NAME if SYMBOL has no package. Write no bars
around names."
  ;; Do not use the printer: it could run a method of the user, even for a string, and SBCL defines
  ;; names while interrupts are off.
  (let ((package (symbol-package symbol)))
    (if package
        (concatenate 'string (package-name package) "::" (symbol-name symbol))
        (concatenate 'string "#:" (symbol-name symbol)))))

(defun class-text (class)
  "Return the name of CLASS as text, such as PACKAGE::NAME. For a class without a name, return text
such as #<unnamed COMMON-LISP::STANDARD-CLASS>."
  (let ((name (class-name class)))
    (if (and name (symbolp name))
        (symbol-text name)
        (format nil "#<unnamed ~A>" (symbol-text (class-name (class-of class)))))))

(defun shortened (limit text)
  "Return TEXT, or if it has more than LIMIT characters, its first LIMIT characters followed by
\"...\". Call no printer, because the program can define methods for it."
  (let ((start (subseq text 0 (min limit (length text)))))
    (if (> (length text) limit) (concatenate 'string start "...") start)))

(defun on-one-line (text)
  "Return TEXT with each run of spaces, tabs and line breaks replaced by one space."
  (with-output-to-string (out)
    (loop with gap = nil
          for char across text
          do (cond ((not (find char '(#\Space #\Newline #\Tab)))
                    (when gap (write-char #\Space out))
                    (setf gap nil)
                    (write-char char out))
                   (t (setf gap t))))))

(defun usable-package (package)
  "Return PACKAGE if it is a package and not deleted. Otherwise return COMMON-LISP-USER, or KEYWORD
if COMMON-LISP-USER is deleted too."
  ;; An inline call of FIND-PACKAGE caches the package that it found, and returns it even after the
  ;; package was deleted.
  (declare (notinline find-package))
  (if (and (packagep package) (package-name package))
      package
      (or (find-package "COMMON-LISP-USER") (find-package "KEYWORD"))))

(sb-ext:defglobal **pretty-printers** (copy-pprint-dispatch nil)
  "The pprint dispatch table of a fresh SBCL. The backend uses it because the session's table can
contain functions of the program that fail or never end.")

(defvar *digit-limit* 100
  "The largest number of digits that is printed in full. The backend shortens numbers with more
digits.")

(defun long-number-p (object)
  "Return true if OBJECT is an integer or ratio that may have more than *DIGIT-LIMIT* decimal
digits."
  (and (typep object '(or bignum ratio))
       ;; This never misses a long number, because a decimal digit has more than three bits.
       (> (+ (integer-length (numerator object)) (integer-length (denominator object)))
          (* 3 *digit-limit*))))

(defun without-middle (text)
  "Return two values for TEXT, a printed number. If it has more than *DIGIT-LIMIT* digits: its first
20 characters, \"...\" and its last 10, and the number of its digits. Otherwise TEXT and NIL."
  (let ((digits (count-if (lambda (char) (digit-char-p char (max 10 *print-base*))) text)))
    (if (<= digits *digit-limit*)
        (values text nil)
        (values (concatenate 'string (subseq text 0 20) "..." (subseq text (- (length text) 10)))
                digits))))

(defun without-middle-digits (text)
  "Return a copy of TEXT with its long numbers shortened. A number of more than *DIGIT-LIMIT* digits
becomes its first 20 digits, \"...\", its last 10, and a note such as \" (150 digits)\". If \"...\"
follows the digits, because TEXT was cut there, only the first 20 digits stay."
  (flet ((end-of-digits (start)
           (or (position-if-not (lambda (char) (char<= #\0 char #\9)) text :start start)
               (length text))))
    (with-output-to-string (out)
      (loop with index = 0
            for start = (position-if (lambda (char) (char<= #\0 char #\9)) text :start index)
            for end = (and start (end-of-digits start))
            do (write-string text out :start index :end (or start (length text)))
               (when (null start) (return))
               (cond ((<= (- end start) *digit-limit*)
                      (write-string text out :start start :end end))
                     ((string= "..." text :start2 end)
                      (write-string text out :start start :end (+ start 20)))
                     (t (multiple-value-bind (ends digits) (without-middle (subseq text start end))
                          (format out "~A (~D digits)" ends digits))))
               (setf index end)))))

(defun report-text (limit condition)
  "Return the report of CONDITION as a string of at most LIMIT characters. It has no references to
manuals, no line breaks from the pretty printer, and shortened long numbers."
  (let ((*package* (usable-package *package*))
        (*print-length* 50) (*print-level* 10) (*print-circle* nil) (*print-readably* nil)
        (*print-case* :upcase) (*print-base* 10) (*print-radix* nil) (*print-array* t)
        (*print-gensym* t) (*print-lines* nil) (*print-right-margin* nil)
        (*print-pprint-dispatch* **pretty-printers**))
    (flet ((report (pretty)
             (let ((*print-pretty* pretty))
               (progv (and +print-references+ (list +print-references+)) '(nil)
                 (print-safely limit condition "~A")))))
      (let ((plain (report nil)))
        (without-middle-digits (if (find #\Newline plain) plain (on-one-line (report t))))))))
