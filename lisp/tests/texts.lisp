;;;; Renders forms and values of tests: briefly, and even if their print methods fail.

(in-package "LIVE-LISP.TESTS")

(defparameter *form-characters* 72 "Characters shown of a form; its file has the rest.")
(defparameter *said-characters* 160 "Characters shown of what a condition or a framework reports.")

(defun test-text (name)
  "Return NAME, of a test, as text by which it is found again."
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
  "Return at most *SAID-CHARACTERS* of TEXT: its beginning, and half as much of its end."
  (let ((tail (floor *said-characters* 3)))
    (if (<= (length text) *said-characters*)
        (shortened *said-characters* text)
        (concatenate 'string (shortened (- *said-characters* tail) text)
                     (subseq text (- (length text) tail))))))

;;; Forms. Of a long form the beginning of each part is shown, so that no part takes the room of
;;; another.

(defun divided (room lengths)
  "Return how much of ROOM each of parts with LENGTHS gets. Parts that need less leave the rest to
others."
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

(defparameter *form-parts* 8 "A long form with at most this many parts shows them all.")
(defparameter *part-characters* 16
  "With less room, a form is not divided into parts. A constant part gets no more.")

(defun constant-part-p (form)
  "True when FORM, a part of another, is data."
  (typep form '(or (and atom (not symbol)) (cons (eql quote)))))

(defun form-text (form package &optional (limit *form-characters*))
  "Return FORM printed in about LIMIT characters, with names as in PACKAGE."
  (let ((text (printing-briefly limit form package)))
    (if (and (> (length text) limit)
             (> limit *part-characters*)
             ;; Neither a quoted constant nor a backquote template.
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
