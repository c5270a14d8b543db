;;;; Renders forms and values of tests: briefly, and even if their print methods fail.

(in-package "LIVE-LISP.TESTS")

(defparameter *form-characters* 72
  "About this many characters of a form are shown: its file has the rest.")
(defparameter *said-characters* 160
  "At most this many characters are shown of the report of a condition or of a framework.")

(defun test-text (name)
  "Return NAME, a test's name, as text. A test can be asked for by this text."
  (typecase name
    (symbol (symbol-text name))
    (string (shortened 200 (on-one-line name)))
    (t (printing-briefly 200 name))))

(defun home-of (name)
  "Return the package that is current while forms and values of the test NAME are printed."
  (or (and (symbolp name) (symbol-package name)) (usable-package *package*)))

(defmacro with-brief-printing ((package) &body body)
  "Evaluate BODY with printer settings for answers about tests, with names as in PACKAGE."
  `(printing-plainly
     (let ((*package* (usable-package ,package)) (*print-length* 30) (*print-level* 8)
           (*print-case* :downcase)
           ;; Prints 'x, not (quote x).
           (*print-pretty* t) (*print-right-margin* 10000)
           (*print-pprint-dispatch* **pretty-printers**))
       ,@body)))

(defun printing-briefly (limit object &optional (package *package*))
  "Return OBJECT printed in at most LIMIT characters, with names as in PACKAGE."
  (with-brief-printing (package)
    (on-one-line (print-safely limit object))))

(defun both-ends (text)
  "Return TEXT. If it is longer than *SAID-CHARACTERS*, return two thirds of them from its beginning
and one third from its end."
  (let ((tail (floor *said-characters* 3)))
    (if (<= (length text) *said-characters*)
        (shortened *said-characters* text)
        (concatenate 'string (shortened (- *said-characters* tail) text)
                     (subseq text (- (length text) tail))))))

;;; Forms. Each part of a long form is cut by itself, so that one long part does not hide the
;;; others.

(defun divided (room lengths)
  "Return a list that divides ROOM characters among parts with LENGTHS. Short parts leave the rest
of their share to others."
  (let ((shares (make-list (length lengths))))
    (loop for (length . index) in (sort (loop for length in lengths
                                              for index from 0
                                              collect (cons length index))
                                        #'< :key #'car)
          for others downfrom (length lengths)
          for share = (min length (floor room others))
          do (setf (nth index shares) share)
             (decf room share))
    shares))

(defparameter *form-parts* 8 "A long form with more parts is cut as a whole.")
(defparameter *part-characters* 16
  "A form that may take at most this many characters is cut as a whole. A constant part may take at
most as many.")

(defun constant-part-p (form)
  "True when FORM, a part of another form, is quoted, or an atom but no symbol."
  (typep form '(or (and atom (not symbol)) (cons (eql quote)))))

(defun form-text (form package &optional (limit *form-characters*))
  "Return FORM printed in about LIMIT characters, with names as in PACKAGE."
  (let ((text (printing-briefly limit form package)))
    (if (and (> (length text) limit)
             (> limit *part-characters*)
             ;; A quoted constant or a backquote template does not begin with a parenthesis.
             (char= #\( (char text 0))
             ;; LIST-LENGTH is NIL for a circular list, and fails for a dotted one.
             (<= (or (ignore-errors (list-length form)) most-positive-fixnum) *form-parts*))
        (format nil "(~{~A~^ ~})"
                (loop for part in form
                      for share in (divided (- limit (length form) 1)
                                            (loop for part in form
                                                  for room = (if (constant-part-p part)
                                                                 *part-characters*
                                                                 limit)
                                                  collect (length (printing-briefly room part
                                                                                    package))))
                      collect (form-text part package share)))
        text)))
