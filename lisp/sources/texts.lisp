;;;; Splits texts of loaded files into top-level forms, as text. Nothing is interned or evaluated.

(in-package "LIVE-LISP.SOURCES")

(sb-ext:defglobal **features-of-texts** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The value of *FEATURES* when READ-TEXT read a text, by the text: *FEATURES* can have changed
since.")

(defparameter *text-limit* 4000000 "The texts of larger files, in octets, are not kept.")

(defun read-text (path)
  "Return the file PATH as a string with one character for each octet, or NIL when it cannot be read
or is too large."
  (ignore-errors
   (with-open-file (in (regular-file (sb-ext:native-namestring path))
                       :element-type '(unsigned-byte 8))
     (let ((length (file-length in)))
       (when (<= length *text-limit*)
         (let ((octets (make-array length :element-type '(unsigned-byte 8)))
               (text (make-string length :element-type 'character)))
           (declare (optimize speed))
           (read-sequence octets in)
           (dotimes (index length)
             (setf (char text index) (code-char (aref octets index))))
           (setf (gethash text **features-of-texts**) (copy-list *features*))
           text))))))

(defun call-skipping (text function)
  "Call FUNCTION, which reads forms of TEXT only to find where they end, and return its value.
*FEATURES* is what it was when TEXT was read from its file. Return NIL when a form cannot be read."
  (let ((*read-suppress* t) (*read-eval* nil) (*readtable* (copy-readtable nil))
        (*features* (gethash text **features-of-texts** *features*)))
    ;; The octets of a byte order mark.
    (set-syntax-from-char (code-char #xef) #\Space)
    (set-syntax-from-char (code-char #xbb) #\Space)
    (set-syntax-from-char (code-char #xbf) #\Space)
    ;; A script can begin with #! and an interpreter. Elsewhere, #! is syntax that the program
    ;; defines.
    (set-dispatch-macro-character #\# #\! (lambda (stream char number)
                                           (declare (ignore char number))
                                           (when (eql 2 (file-position stream)) (read-line stream))
                                           (values)))
    (handler-case (funcall function)
      (error () nil))))

(defun skip-comment (text start end)
  "Return the index in TEXT, at most END, after the block comment that begins at START."
  (loop with depth = 0
        with index = start
        while (< index end)
        do (let ((next (and (< (1+ index) end) (char text (1+ index)))))
             (case (char text index)
               (#\# (when (eql next #\|) (incf depth) (incf index)))
               (#\| (when (eql next #\#) (decf depth) (incf index)))))
           (incf index)
           (when (zerop depth) (return index))
        finally (return end)))

(defun skip-blank (text start end)
  "Return the index in TEXT, from START, of the first character beyond white space and comments, or
END."
  (loop with index = start
        while (< index end)
        do (let ((char (char text index)))
             (cond ((find char '(#\Space #\Tab #\Newline #\Return #\Page)) (incf index))
                   ((or (char= char #\;) (and (zerop index) (eql 0 (search "#!" text))))
                    (setf index (or (position #\Newline text :start index :end end) end)))
                   ((and (char= char #\#) (< (1+ index) end) (char= (char text (1+ index)) #\|))
                    (setf index (skip-comment text index end)))
                   (t (return index))))
        finally (return end)))

(defun end-of-read (text start)
  "Return the index in TEXT after the object that is read from START."
  (with-input-from-string (in text :start start)
    (read in nil)
    (+ start (file-position in))))

(defun form-start (text start end)
  "Return the index in TEXT at which the form begins that ends at END. From START on, skip blanks,
comments, #+ and #- with their feature expressions, and the forms that these leave out."
  (loop for index = (skip-blank text start end)
        while (and (< (1+ index) end)
                   (char= (char text index) #\#)
                   (find (char text (1+ index)) "+-"))
        do (let* ((behind (end-of-read text (+ index 2))) (next (end-of-read text behind)))
             (when (>= next end) (return (skip-blank text behind end)))
             (setf start next))
        finally (return index)))

(defun form-bounds (text)
  "Return a vector with a pair of the start and the end of each top-level form of TEXT. The index of
a pair is the number that SBCL gives the form. Return NIL when the standard readtable cannot read
TEXT."
  (call-skipping
   text
   (lambda ()
     (with-input-from-string (in text)
       (coerce (loop for start = (file-position in)
                     for form = (read in nil in)
                     until (eq form in)
                     collect (let ((end (file-position in)))
                               (cons (form-start text start end) end)))
               'vector)))))

(defun form-positions (text)
  "Return a vector of the start indices of the top-level forms of TEXT, or NIL when it cannot be
read."
  (let ((bounds (form-bounds text)))
    (and bounds (map '(vector t) #'car bounds))))

(defun quoted-end (text start end)
  "Return the index in TEXT, at most END, after the string or quoted name that begins at START with
\" or |."
  (loop with quote = (char text start)
        with index = (1+ start)
        while (< index end)
        do (cond ((char= (char text index) #\\) (incf index))
                 ((char= (char text index) quote) (return (1+ index))))
           (incf index)
        finally (return end)))

(defun plain-form (text start end)
  "Return TEXT from START to END without comments, and with one space for any white space."
  (with-output-to-string (out)
    (let ((index start) (gap nil))
      (flet ((put (to)
               (when (shiftf gap nil) (write-char #\Space out))
               (write-string text out :start index :end (min to end))
               (setf index to)))
        (loop while (< index end)
              do (let ((char (char text index)))
                   (cond ((find char '(#\Space #\Tab #\Newline #\Return #\Page))
                          (setf gap t)
                          (incf index))
                         ((char= char #\;)
                          (setf index (or (position #\Newline text :start index :end end) end)))
                         ((and (char= char #\#)
                               (< (1+ index) end)
                               (char= (char text (1+ index)) #\|))
                          (setf index (skip-comment text index end)))
                         ((and (char= char #\#)
                               (< (1+ index) end)
                               (char= (char text (1+ index)) #\\))
                          (put (+ index 3)))
                         ((char= char #\\) (put (+ index 2)))
                         ((find char "\"|") (put (quoted-end text index end)))
                         ((find char "()")
                          (when (char= char #\)) (setf gap nil))
                          (put (1+ index))
                          (setf gap nil))
                         (t (put (1+ index))))))))))

(defun plain-forms (text)
  "Return a vector of the top-level forms of TEXT, each as PLAIN-FORM returns it. Return NIL when
TEXT is NIL or cannot be read."
  (let ((bounds (and text (form-bounds text))))
    (and bounds
         (map 'vector (lambda (pair) (plain-form text (car pair) (cdr pair))) bounds))))

(defun form-parts (form count)
  "Return the texts of the first COUNT elements of the list in the text FORM, or of all when it has
fewer."
  (call-skipping
   form
   (lambda ()
     (with-input-from-string (in form)
       (when (eql (read-char in nil) #\()
         (loop repeat count
               until (eql (peek-char t in nil #\)) #\))
               collect (let ((start (file-position in)))
                         (read in)
                         (string-trim " " (subseq form start (file-position in))))))))))

(defun names-p (text name)
  "True when TEXT spells a symbol with the name NAME, in whatever package."
  (string-equal name
                (string-trim "|"
                             (subseq text
                                     (let ((colon (position #\: text :from-end t)))
                                       (if colon (1+ colon) 0))))))

(defun parts-at-top-level (form)
  "Return a list of the texts of the top-level forms that the text FORM consists of: those within it
if it is a PROGN, LOCALLY or EVAL-WHEN, also nested, else FORM itself."
  (let ((own (first (form-parts form 1))))
    (if (and own (some (lambda (name) (names-p own name)) '("eval-when" "locally" "progn")))
        (loop for part in (rest (form-parts form array-dimension-limit))
              append (parts-at-top-level (subseq part (form-start part 0 (length part)))))
        (list form))))

(defun argument-of (operator form)
  "Return the text of the first argument of the last call of OPERATOR, a string, among the
PARTS-AT-TOP-LEVEL of the text FORM. Return NIL when there is no call."
  (when (search operator form :test #'char-equal)
    (loop with last = nil
          for part in (parts-at-top-level form)
          for (own argument) = (form-parts part 2)
          do (when (and own (names-p own operator)) (setf last argument))
          finally (return last))))

(defun package-entered (form)
  "Return the package that the text FORM makes current by IN-PACKAGE, or the name of the package
when none has it. Return NIL when FORM has no IN-PACKAGE at top level."
  (let* ((name (argument-of "in-package" form))
         (designator (and name (let ((*package* (find-package "KEYWORD")) (*read-eval* nil))
                                 (ignore-errors (read-from-string name))))))
    (and designator
         (typep designator '(or string symbol character))
         (or (find-package (string designator)) (string designator)))))

(defun package-at-start (path)
  "Return the package in which reading the file PATH, a native name, begins, or NIL when that is not
known. Files of type asd are read in the package ASDF-USER."
  (let ((dot (position #\. path :from-end t)))
    (and dot (string= ".asd" path :start2 dot) (find-package "ASDF-USER"))))

(defun package-in-force (forms number path)
  "Return the package in which the form NUMBER of the file PATH is read, or the name of the package
when none has it. FORMS is a vector of the texts of the file's forms."
  (or (loop for index from (1- number) downto 0 thereis (package-entered (aref forms index)))
      (package-at-start path)
      (find-package "COMMON-LISP-USER")))

(defun decoded (text)
  "Return TEXT, a part of what READ-TEXT returns, decoded as UTF-8; unchanged when it is not UTF-8."
  (if (every (lambda (char) (< (char-code char) 128)) text)
      text
      (handler-case (sb-ext:octets-to-string (map '(vector (unsigned-byte 8)) #'char-code text)
                                             :external-format :utf-8)
        (error () text))))

(defun form-value (form symbol)
  "Return the text of the value that a form of the PARTS-AT-TOP-LEVEL of the text FORM gives the
variable SYMBOL, as (defvar symbol value) does, and true. When none gives it one, return all of
FORM, and false."
  (loop for part in (parts-at-top-level form)
        for (operator name value) = (form-parts part 3)
        do (when (and operator value (names-p name (symbol-name symbol)))
             (return (values (decoded value) t)))
        finally (return (values (decoded form) nil))))
