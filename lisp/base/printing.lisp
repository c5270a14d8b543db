;;;; Prints objects of the user: within bounds, and whatever print methods do.

(in-package "LIVE-LISP.BASE")

(defmacro printing-plainly (&body body)
  "Evaluate BODY with printer settings that are terse and independent of the session."
  `(let ((*print-pretty* nil) (*print-length* 5) (*print-level* 3) (*print-circle* nil)
         (*print-readably* nil) (*print-base* 10) (*print-radix* nil) (*print-case* :upcase)
         (*print-escape* t) (*print-gensym* t) (*print-array* t) (*print-lines* nil)
         (*package* (or (find-package "COMMON-LISP") *package*))
         ;; This can happen while something else is printed.
         ,@(and +print-depth+ `((,+print-depth+ 0))))
     ,@body))

(defun print-safely (limit object &optional (format "~S"))
  "Return OBJECT printed by FORMAT in at most LIMIT characters. If that signals, the text says so."
  (multiple-value-bind (text cut)
      (bounded-string limit
                      (lambda (stream)
                        (handler-case (format stream format object)
                          (serious-condition (failure)
                            ;; The next object to print may use up the stack as well.
                            (protect-stack-again)
                            (let ((*print-pretty* nil))
                              (format stream "#<~A: printing it signalled ~A>"
                                      (type-of object) (type-of failure)))))))
    (if cut (concatenate 'string text "...") text)))

(defun decimal-digits (number)
  "Return NUMBER, a non-negative integer, in decimal digits. SBCL's printer can run a method of the user."
  (let ((digits '()))
    (loop (multiple-value-bind (rest digit) (floor number 10)
            (push (code-char (+ (char-code #\0) digit)) digits)
            (when (zerop rest) (return (coerce digits 'simple-string)))
            (setf number rest)))))

(defun symbol-text (symbol)
  "Return SYMBOL as PACKAGE::NAME without bars, or #:NAME without a package."
  ;; Not printed: printing a string can run a method of the user, and SBCL defines names with interrupts off.
  (let ((package (symbol-package symbol)))
    (if package
        (concatenate 'string (package-name package) "::" (symbol-name symbol))
        (concatenate 'string "#:" (symbol-name symbol)))))

(defun class-text (class)
  "Return the name of CLASS, with its package; without a name, a text with the class of CLASS."
  (let ((name (class-name class)))
    (if (and name (symbolp name))
        (symbol-text name)
        (format nil "#<unnamed ~A>" (symbol-text (class-name (class-of class)))))))

(defun shortened (limit text)
  "Return the string TEXT in at most LIMIT characters, and \"...\" where it is cut. A copy: TEXT can be one of the user."
  ;; Not printed: that can run a method of the user.
  (let ((start (subseq text 0 (min limit (length text)))))
    (if (> (length text) limit) (concatenate 'string start "...") start)))

(defun on-one-line (text)
  "Return TEXT with each line break and the space around it replaced by one space."
  (with-output-to-string (out)
    (loop with gap = nil
          for char across text
          do (cond ((not (find char '(#\Space #\Newline #\Tab)))
                    (when gap (write-char #\Space out))
                    (setf gap nil)
                    (write-char char out))
                   (t (setf gap t))))))

(defun usable-package (package)
  "Return PACKAGE, or COMMON-LISP-USER (KEYWORD without it) when PACKAGE was deleted."
  ;; Compiled inline, FIND-PACKAGE caches a package that is deleted.
  (declare (notinline find-package))
  (if (and (packagep package) (package-name package))
      package
      (or (find-package "COMMON-LISP-USER") (find-package "KEYWORD"))))

(sb-ext:defglobal **pretty-printers** (copy-pprint-dispatch nil)
  "The pprint dispatch table of a fresh SBCL: functions of the session's can fail or never end.")

(defparameter *digit-limit* 100 "Numbers of at most this many digits are reported whole.")

(defun without-middle-digits (text)
  "Return TEXT with dots for the middle of each number of more than *DIGIT-LIMIT* digits, and its length. Of a number at
which TEXT is cut only the first digits are left."
  (flet ((end-of-digits (start)
           (or (position-if-not (lambda (char) (char<= #\0 char #\9)) text :start start) (length text))))
    (with-output-to-string (out)
      (loop with index = 0
            for start = (position-if (lambda (char) (char<= #\0 char #\9)) text :start index)
            for end = (and start (end-of-digits start))
            do (write-string text out :start index :end (or start (length text)))
               (when (null start) (return))
               (cond ((<= (- end start) *digit-limit*) (write-string text out :start start :end end))
                     ((string= "..." text :start2 end) (write-string text out :start start :end (+ start 20)))
                     (t (write-string text out :start start :end (+ start 20))
                        (write-string "..." out)
                        (write-string text out :start (- end 10) :end end)
                        (format out " (~D digits)" (- end start))))
               (setf index end)))))

(defun report-text (limit condition)
  "Return the report of CONDITION in at most LIMIT characters, without references to manuals. It is on one line if only
the pretty printer broke it into several. Long numbers have dots in their middle."
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
