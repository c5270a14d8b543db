;;;; Renders forms and values of tests as short texts, even when their print methods fail.

(in-package "LIVE-LISP.TESTS")

(defparameter *form-characters* 72
  "The approximate number of characters shown of a form. The first failures of a run get more
characters (CHARACTER-LIMIT).")
(defparameter *message-characters* 160
  "The maximum number of characters shown of a condition's report or of a test framework's
message.")

(defparameter *whole-failures* 5
  "The number of failures, from the first failure of a run on, whose forms, values and messages get
more characters than those of later failures.")
(defparameter *whole-factor* 4
  "The number of characters for texts of the first *WHOLE-FAILURES* failures of a run is multiplied
by this factor.")

(defun character-limit (characters)
  "Return the maximum number of characters of a text in the report of the current failure:
CHARACTERS, or more if the failure is one of the first of a run."
  (if (and *run* (< (run-noted *run*) *whole-failures*)) (* *whole-factor* characters) characters))

(defun test-text (name)
  "Return NAME, the name of a test, as text. Requests can name the test by this text."
  (typecase name
    (symbol (symbol-text name))
    (string (shortened 200 (on-one-line name)))
    ;; With this package, the text is the same whatever the current package is.
    (t (printing-briefly 200 name (find-package "KEYWORD")))))

(defun home-of (name)
  "Return the package in which forms and values of the test NAME are printed."
  (or (and (symbolp name) (symbol-package name)) (usable-package *package*)))

(defmacro with-brief-printing ((package) &body body)
  "Evaluate BODY with the printer set up for answers about tests. Names are printed as in PACKAGE."
  `(printing-plainly
     (let ((*package* (usable-package ,package)) (*print-length* 30) (*print-level* 8)
           (*print-case* :downcase)
           ;; The pretty printer prints 'x instead of (quote x).
           (*print-pretty* t) (*print-right-margin* 10000)
           (*print-pprint-dispatch* **pretty-printers**))
       ,@body)))

(defun printing-briefly (limit object &optional (package *package*))
  "Return OBJECT printed in at most LIMIT characters. Names are printed as in PACKAGE."
  (with-brief-printing (package)
    (on-one-line (print-safely limit object))))

(defun both-ends (text)
  "Return TEXT if it fits into the room for a message. Otherwise return the beginning and the end of
TEXT, with two thirds of the room for the beginning and one third for the end."
  (let* ((most (character-limit *message-characters*)) (tail (floor most 3)))
    (if (<= (length text) most)
        (shortened most text)
        (concatenate 'string (shortened (- most tail) text)
                     (subseq text (- (length text) tail))))))

;;; Forms. In a long form, each part is shortened by itself, so that one long part does not hide the
;;; others.

(defun divided (most lengths)
  "Divide MOST characters among parts with LENGTHS, a list. Return a list of the number of
characters for each part. Longer parts share the characters that short parts do not need."
  (let ((shares (make-list (length lengths))))
    (loop for (length . index) in (sort (loop for length in lengths
                                              for index from 0
                                              collect (cons length index))
                                        #'< :key #'car)
          for others downfrom (length lengths)
          for share = (min length (floor most others))
          do (setf (nth index shares) share)
             (decf most share))
    shares))

(defparameter *form-parts* 8
  "If the text of a form is too long, FORM-TEXT shortens each part of the form. But if the form has
more parts than this number, FORM-TEXT cuts off the end of the text instead.")
(defparameter *part-characters* 16
  "If the text of a form may have at most this many characters, FORM-TEXT cuts off its end. If it
may have more, and the parts are shortened, each constant gets at most this many characters.")

(defun constant-part-p (form)
  "Return true if FORM, a part of another form, is quoted, or is an atom other than a symbol."
  (typep form '(or (and atom (not symbol)) (cons (eql quote)))))

(defun form-text (form package &optional (limit (character-limit *form-characters*)))
  "Return FORM printed in about LIMIT characters. Names are printed as in PACKAGE."
  (let ((text (printing-briefly limit form package)))
    (if (and (> (length text) limit)
             (> limit *part-characters*)
             ;; A quoted constant or a backquote template does not begin with a parenthesis.
             (char= #\( (char text 0))
             (<= (or (proper-length form) most-positive-fixnum) *form-parts*))
        (format nil "(~{~A~^ ~})"
                (loop for part in form
                      for share in (divided (- limit (length form) 1)
                                            (loop for part in form
                                                  for most = (if (constant-part-p part)
                                                                 *part-characters*
                                                                 limit)
                                                  collect (length (printing-briefly most part
                                                                                    package))))
                      collect (form-text part package share)))
        text)))
