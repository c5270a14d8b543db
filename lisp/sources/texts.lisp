;;;; Splits the texts of loaded files into top-level forms, which are texts too. Evaluates nothing,
;;;; and interns nothing but the keywords after #+ and #-.

(in-package "LIVE-LISP.SOURCES")

(defstruct (reading (:constructor make-reading (digest conditional)))
  "Describes how READ-TEXT read a text. DIGEST is a hash of its octets, as a string; the server
computes the same digest of a file that it reads. CONDITIONAL is true if there seem to be forms
after #+ or #-. FEATURES is a copy of *FEATURES* at that time. OTHER-MARK caches the result of the
function OTHER-MARK for this structure. Before its first call, the slot is NIL."
  digest conditional (features (copy-list *features*)) (other-mark nil))

(sb-ext:defglobal **readings** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from texts to the READING structures of them.")

(defparameter *text-limit* 4000000
  "The maximum size, in octets, of a file whose text is kept.")

(defun read-text (path)
  "Return the contents of the file PATH, a pathname, as a string with one character for each octet.
Return NIL if the file cannot be read or is too large."
  (nil-if-unreadable
    (with-open-file (in (regular-file (sb-ext:native-namestring path))
                        :element-type '(unsigned-byte 8))
      (let ((length (file-length in)))
        (when (<= length *text-limit*)
          (let ((octets (make-array length :element-type '(unsigned-byte 8)))
                (text (make-string length :element-type 'character))
                (digest 2166136261) (before 0) (conditional nil))
            (declare (optimize speed) (type (unsigned-byte 32) digest))
            (read-sequence octets in)
            (dotimes (index length)
              (let ((octet (aref octets index)))
                (setf (char text index) (code-char octet)
                      digest (logand #xffffffff (* 16777619 (logxor digest octet))))
                (when (and (eql before (char-code #\#))
                           (or (eql octet (char-code #\+)) (eql octet (char-code #\-))))
                  (setf conditional t))
                (setf before octet)))
            (setf (gethash text **readings**)
                  (make-reading (format nil "~(~36R~)" digest) conditional))
            text))))))

(defun features-of (text)
  "Return the value that *FEATURES* had when READ-TEXT read TEXT."
  (let ((reading (gethash text **readings**)))
    (if reading (reading-features reading) *features*)))

(defun mark-of (text)
  "TEXT is from READ-TEXT. Return a short text that identifies TEXT and the forms in it: the digest
of TEXT. But if TEXT has #+ or #- and *FEATURES* has changed since TEXT was read, return another
mark, since TEXT may now be read as other forms."
  (let ((reading (gethash text **readings**)))
    (if (or (not (reading-conditional reading)) (equal (reading-features reading) *features*))
        (reading-digest reading)
        (other-mark reading))))

(defun other-mark (reading)
  "READING is the READING structure of a text. Return the string that identifies this text once
*FEATURES* differs from its value when the text was read (see MARK-OF): the digest of the text,
followed by a hash of that value."
  (or (reading-other-mark reading)
      (setf (reading-other-mark reading)
            (format nil "~A ~36R" (reading-digest reading)
                    (sxhash (format nil "~{~A~^ ~}" (reading-features reading)))))))

(defun marked-p (text mark)
  "TEXT is from READ-TEXT. Return true if the string MARK identifies TEXT: MARK-OF returns MARK for
TEXT, or did so while *FEATURES* had another value."
  (let ((reading (gethash text **readings**)))
    (or (equal mark (reading-digest reading)) (equal mark (other-mark reading)))))

(defun call-skipping (text function)
  "Call FUNCTION, which reads forms of TEXT only to find their ends, and return its value.
Meanwhile, *FEATURES* is what it was when READ-TEXT read TEXT. Return NIL if a form cannot be read."
  (let ((*read-suppress* t) (*read-eval* nil) (*readtable* (copy-readtable nil))
        (*features* (features-of text)))
    ;; These are the octets of a byte order mark.
    (set-syntax-from-char (code-char #xef) #\Space)
    (set-syntax-from-char (code-char #xbb) #\Space)
    (set-syntax-from-char (code-char #xbf) #\Space)
    ;; A script can begin with #! and the path of an interpreter. Elsewhere, #! is syntax that the
    ;; program has defined.
    (set-dispatch-macro-character #\# #\! (lambda (stream char number)
                                           (declare (ignore char number))
                                           (when (eql 2 (file-position stream)) (read-line stream))
                                           (values)))
    (nil-if-unreadable (funcall function))))

(defun skip-comment (text start end)
  "Return the index in TEXT after the block comment that begins at START. Return END
if the comment is not closed before END."
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
  "Return the index of the first character of TEXT, from START on, that is neither white space nor
in a comment. Return END if there is no such character before END."
  (loop with index = start
        while (< index end)
        do (let ((char (char text index)))
             (cond ((find char '(#\Space #\Tab #\Newline #\Return #\Page)) (incf index))
                   ((or (char= char #\;) (and (zerop index) (starts-p text "#!")))
                    (setf index (or (position #\Newline text :start index :end end) end)))
                   ((and (char= char #\#) (< (1+ index) end) (char= (char text (1+ index)) #\|))
                    (setf index (skip-comment text index end)))
                   (t (return index))))
        finally (return end)))

(defun end-of-read (text start)
  "Return the index in TEXT after the object that begins at the index START."
  (with-input-from-string (in text :start start)
    (read in nil)
    (+ start (file-position in))))

(defun form-start (text start end)
  "Return the index in TEXT at which the form that ends at END begins. Search from START on, and
skip white space, comments, and forms excluded by #+ or #-. The caller must have bound
*READ-SUPPRESS* to true, so that nothing that is read is interned or evaluated."
  (loop for index = (skip-blank text start end)
        while (and (< (1+ index) end)
                   (char= (char text index) #\#)
                   (find (char text (1+ index)) "+-"))
        do (let* ((after-feature (end-of-read text (+ index 2)))
                  (after-form (end-of-read text after-feature)))
             ;; READ has returned the form that ends at END, so that form is not excluded.
             (when (>= after-form end) (return (skip-blank text after-feature end)))
             (setf start after-form))
        finally (return index)))

(defun form-bounds (text)
  "Return a vector of (START . END) pairs, one for each top-level form of TEXT. The index of a pair
in the vector is SBCL's number of the form. Return NIL if the standard readtable cannot read TEXT."
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
  "Return a vector of the start indices of the top-level forms of TEXT, or NIL if TEXT cannot be
read."
  (let ((bounds (form-bounds text)))
    (and bounds (map '(vector t) #'car bounds))))

(defun quoted-end (text start end)
  "Return the index in TEXT after the string, or the symbol name in bars, that begins at START.
Return END if the closing quote or bar is not before END."
  (loop with quote = (char text start)
        with index = (1+ start)
        while (< index end)
        do (cond ((char= (char text index) #\\) (incf index))
                 ((char= (char text index) quote) (return (1+ index))))
           (incf index)
        finally (return end)))

(defun plain-form (text start end)
  "Return TEXT from index START to END without comments, and with each run of white space reduced to
one space."
  (with-output-to-string (out)
    (let ((index start)
          (gap nil))                    ; True if a space must precede the next character.
      (flet ((put (to)
               (when (shiftf gap nil) (write-char #\Space out))
               (write-string text out :start index :end (min to end))
               (setf index to)))
        (loop for next = (skip-blank text index end)
              do (when (> next index) (setf gap t index next))
              while (< index end)
              do (let ((char (char text index)))
                   (cond ((and (char= char #\#)
                               (< (1+ index) end)
                               (char= (char text (1+ index)) #\\))
                          (put (+ index 3))) ; A character, such as #\(.
                         ((char= char #\\) (put (+ index 2)))
                         ((find char "\"|") (put (quoted-end text index end)))
                         ((find char "()")
                          (when (char= char #\)) (setf gap nil))
                          (put (1+ index))
                          (setf gap nil))
                         (t (put (1+ index))))))))))

(defun plain-forms (text)
  "Return a vector of the top-level forms of TEXT, each as text without comments and with white
space reduced to single spaces. Return NIL if TEXT is NIL or cannot be read."
  (let ((bounds (and text (form-bounds text))))
    (and bounds
         (map 'vector (lambda (pair) (plain-form text (car pair) (cdr pair))) bounds))))

(defun form-parts (form count)
  "FORM is the text of a list. Return a list of the texts of its first COUNT elements, or of all its
elements if it has fewer."
  (call-skipping
   form
   (lambda ()
     (with-input-from-string (in form)
       (when (eql (read-char in nil) #\()
         (loop repeat count
               until (eql (peek-char t in nil #\)) #\))
               collect (let ((start (file-position in)))
                         (read in)
                         ;; READ also takes the character after a symbol.
                         (string-trim '(#\Space #\Tab #\Newline #\Return #\Page)
                                      (subseq form start (file-position in))))))))))

(defun names-p (text name)
  "Return true if TEXT spells a symbol with the name NAME, in any package."
  (string-equal name
                (string-trim "|"
                             (subseq text
                                     (let ((colon (position #\: text :from-end t)))
                                       (if colon (1+ colon) 0))))))

(defun behind-excluded (part)
  "Return the text PART without the forms at its beginning that #+ or #- excludes. Return PART if
the standard readtable cannot read it."
  (let ((start (call-skipping part (lambda () (form-start part 0 (length part))))))
    (if start (subseq part start) part)))

(defun parts-at-top-level (form)
  "Return a list of the forms, as texts, in FORM, a text, that SBCL processes as top-level forms:
the forms in a PROGN, LOCALLY or EVAL-WHEN, recursively, else FORM alone."
  (let ((own (first (form-parts form 1))))
    (if (and own (some (lambda (name) (names-p own name)) '("eval-when" "locally" "progn")))
        (loop for part in (rest (form-parts form array-dimension-limit))
              append (parts-at-top-level (behind-excluded part)))
        (list form))))

(defun argument-of (operator form)
  "Return the text of the first argument in the last call of OPERATOR, a string, at the top level of
FORM, a text. Return NIL if there is no such call."
  (when (search operator form :test #'char-equal)
    (loop with last = nil
          for part in (parts-at-top-level form)
          for (own argument) = (form-parts part 2)
          do (when (and own (names-p own operator)) (setf last argument))
          finally (return last))))

(defun definer-p (operator)
  "Return true if OPERATOR, the text of a form's operator, looks like the operator of a definition."
  (or (eql 0 (search "def" operator :test #'char-equal))
      (search "test" operator :test #'char-equal)))

(defun decoded (text)
  "TEXT is from READ-TEXT and has one character for each octet. Return the text that these octets
encode in UTF-8. If they are not valid UTF-8, return TEXT."
  (if (every (lambda (char) (< (char-code char) 128)) text)
      text
      (handler-case (sb-ext:octets-to-string (map '(vector (unsigned-byte 8)) #'char-code text)
                                             :external-format :utf-8)
        (error () text))))

(defun form-value (form symbol)
  "FORM is a text. If it gives SYMBOL a value at top level, as (defvar symbol value) does, return
two values: the text of this value, and T. Else return FORM and NIL."
  (loop for part in (parts-at-top-level form)
        for (operator name value) = (form-parts part 3)
        do (when (and operator value (names-p name (symbol-name symbol)))
             (return (values (decoded value) t)))
        finally (return (values (decoded form) nil))))
