;;;; Renders failed checks as text. The text leaves out values that the form itself shows. If two
;;;; values differ in one part only, the text shows just this part of both.

(in-package "LIVE-LISP.TESTS")

(defparameter *value-characters* 60 "The maximum number of characters shown of a value. In the
first failures of a run, CHARACTER-LIMIT raises it.")

(defun value-text (value)
  "Return VALUE as text, printed in the package of the current test."
  (printing-briefly (character-limit *value-characters*) value (home-of (result-name *result*))))

(defun values-text (values)
  "Return VALUES, a list of the values of one form, as text: (values 1 2), or just the one value."
  (if (= 1 (length values))
      (value-text (first values))
      (format nil "(values~{ ~A~})" (mapcar #'value-text values))))

;;; Pairs of values. If their texts do not show how they differ, only the first parts that differ
;;; are shown.

(defun difference-shown-p (one other)
  "ONE and OTHER are the texts of two values. Return true if these texts suffice to show the
difference of the values: they differ, are short, and contain no #<."
  (and (string/= one other)
       (<= (+ (length one) (length other)) *value-characters*)
       (not (search "#<" one))
       (not (search "#<" other))))

(defun two-texts (one other &key several)
  "Return a text for each of the values ONE and OTHER. If these texts do not show the difference of
the values, return texts of the first differing parts, and the path to these parts, such as
\"[2].name\", as third value. If SEVERAL is true, ONE and OTHER are lists of values of a form."
  (if (and several (= 1 (length one) (length other)))
      (two-texts (first one) (first other))
      (destructuring-bind (first second)
          (mapcar (if several #'values-text #'value-text) (list one other))
        (if (difference-shown-p first second)
            (values first second nil)
            (multiple-value-bind (part other-part path)
                (difference-texts one other (home-of (result-name *result*)))
              ;; An empty path means that the values differ as a whole, so return their whole texts.
              ;; If the whole texts are equal, the texts of the parts still show the difference.
              (if (and path (or (string/= "" path) (string= first second)))
                  (values part other-part path)
                  (values first second nil)))))))

(defstruct (brief (:constructor make-brief (text plain)))
  "A stand-in for an object in a printed message or form. PRIN1 prints it as the string TEXT, and
PRINC as the string PLAIN."
  text plain)

(defmethod print-object ((object brief) stream)
  (write-string (if *print-escape* (brief-text object) (brief-plain object)) stream))

;;; Showing only the argument with the difference in a long form

(defun makes-parts-p (form)
  "Return true if FORM is a call of LIST or VECTOR."
  (and (typep form '(cons (member list vector))) (proper-length form) t))

(defun part-alone (form index)
  "Return a copy of FORM, a call of LIST or VECTOR, in which dots replace all arguments except
number INDEX, counted from 0. Return FORM if there is no such argument."
  (let ((dots (make-brief "..." "...")) (parts (rest form)))
    (if (< -1 index (length parts))
        `(,(first form)
          ,@(and (plusp index) (list dots))
          ,(nth index parts)
          ,@(and (< (1+ index) (length parts)) (list dots)))
        form)))

(defun with-part-alone (form one other)
  "FORM is the form of a check, which has compared the values ONE and OTHER. If FORM is long and a
list or vector element differs, return a copy of FORM for printing: in FORM and in its arguments,
each call of LIST or VECTOR has dots in place of all arguments but the one for this element. Else
return FORM."
  (let ((index (and (consp form)
                    (proper-length form)
                    (> (length (printing-briefly (character-limit *form-characters*) form))
                       (character-limit *form-characters*))
                    ;; The first step of the path is an integer for an element of a sequence.
                    (first (first (difference one other))))))
    (cond ((not (integerp index)) form)
          ((makes-parts-p form) (part-alone form index))
          (t
           (mapcar (lambda (part) (if (makes-parts-p part) (part-alone part index) part)) form)))))

(defun at-path (text path)
  "Return TEXT followed by \" at \" and PATH. If PATH is NIL or empty, return TEXT."
  (format nil "~A~:[ at ~A~;~]" text (member path '(nil "") :test #'equal) path))

(defun of-whole (text path &rest wholes)
  "Return TEXT followed by \" of \" and WHOLES if there is room for WHOLES. Else return TEXT. TEXT
shows the parts of some values at PATH, such as \"[2].name\". WHOLES are the texts of the whole
values. There is room for them only in the first failures of a run, which get more characters than
others."
  (let ((room (character-limit *value-characters*)))
    (if (or (member path '(nil "") :test #'equal)
            (= room *value-characters*)
            (loop for whole in wholes thereis (or (> (length whole) room) (search "#<" whole))))
        text
        (format nil "~A of ~{~A~^ and ~}" text wholes))))

;;; Values that the form of a check shows by itself

(defun evident-p (form)
  "Return true if FORM shows its own value: it is a literal, a quoted constant, or #'FUNCTION."
  (typecase form
    ((or null keyword (eql t)) t)
    (symbol nil)
    ((cons (member quote function)) t)
    (t (atom form))))

(defun evident-value (form)
  "Return the value of FORM, for which EVIDENT-P is true. For #'NAME, return NAME."
  (if (consp form) (second form) form))

(defun stated-p (value check)
  "Return true if VALUE, or a form that shows VALUE such as 'VALUE, is an argument of the form
CHECK."
  (loop for tail on (and (consp check) (rest check))
        for part = (first tail)
          thereis (or (equal part value)
                      (and (evident-p part) (equal value (evident-value part))))))

(defun got-text (forms values)
  "VALUES is a list of the values of FORMS. Return text for those VALUES that are not
evident from their forms, as that of a literal is. Return NIL if all are evident."
  (let ((texts (loop for form in forms
                     for value in values
                     unless (evident-p form) collect (value-text value))))
    (and texts (format nil "~{~A~^ and ~}" texts))))

(defun option-p (form)
  "Return true if FORM, an argument of a check, is a keyword or #'FUNCTION. Such an argument selects
a way to compare."
  (typep form '(or keyword (cons (eql function)))))

(defun got-of-two (forms values)
  "A check compared the values of two forms. FORMS is a list of these forms, and VALUES a list of
their values. Return a plist of keyword arguments for NOTE-FAILURE that show the first parts in
which the values differ. Return NIL if the difference is seen anyway when the values are printed as
usual."
  (destructuring-bind (one other) forms
    (multiple-value-bind (first second path) (two-texts (first values) (second values))
      (flet ((got (text &rest wholes)
               (list :got (apply #'of-whole (at-path text path) path
                                 (mapcar #'value-text wholes)))))
        (cond ((null path) nil)
              ((evident-p one) (list* :expected first (got second (second values))))
              ((evident-p other) (list* :expected second (got first (first values))))
              (t (apply #'got (format nil "~A and ~A" first second) values)))))))

(defun check-failure-arguments (check form noted)
  "CHECK is the form of a failed check, which tested FORM. NOTED is an alist from arguments of FORM
to their values. Return a plist of keyword arguments for NOTE-FAILURE about CHECK. Return NIL if the
value of an argument is neither in NOTED nor evident."
  (apart-from-tests
    (let ((parts (remove-if #'option-p (and (consp form) (rest form)))))
      (flet ((known (part) (assoc part noted :test #'equal)))
        (when (loop for part in parts always (or (evident-p part) (known part)))
          (let ((values (loop for part in parts
                              collect (if (known part) (cdr (known part)) (evident-value part)))))
            (if (= 2 (length parts))
                (list* :check (with-part-alone check (first values) (second values))
                       (or (got-of-two parts values) (list :got (got-text parts values))))
                (list :check check :got (got-text parts values)))))))))

(defun checked-form (check)
  "Return the form that the form CHECK tests: FORM if CHECK is (NOT FORM), else CHECK itself."
  (if (typep check '(cons (eql not) (cons cons null))) (second check) check))

(defun comparison-arguments (check expected got &key several)
  "CHECK is the form of a failed check, which returned GOT and not EXPECTED. Return a plist of
keyword arguments for NOTE-FAILURE about CHECK. If SEVERAL is true, GOT and EXPECTED are lists of
values."
  (apart-from-tests
    (multiple-value-bind (got-part expected-part path) (two-texts got expected :several several)
      (flet ((whole (values) (if several (values-text values) (value-text values))))
        (let ((stated (loop for each in (if several expected (list expected))
                            always (stated-p each check))))
          (list* :check (if several check (with-part-alone check got expected))
                 :got (of-whole (at-path got-part path) path (whole got))
                 (unless (and (null path) stated)
                   (list :expected (if stated
                                       expected-part
                                       (of-whole expected-part path (whole expected)))))))))))

;;; Messages of test frameworks. Long objects in them are shortened.

(defun brief-object (object)
  "If the text of OBJECT is short and contains no #<, return OBJECT, since printing OBJECT then
calls no print method of the program. Otherwise return a BRIEF structure that prints as a short
text."
  (let ((text (value-text object)))
    (if (and (<= (length text) (character-limit *value-characters*)) (not (search "#<" text)))
        object
        (make-brief text (if (stringp object)
                             (shortened (character-limit *value-characters*) object)
                             text)))))

(defun brief-objects (objects)
  "Return a list of objects to print in place of OBJECTS. In it, BRIEF structures, which print as
short texts, replace long objects. If OBJECTS are two objects whose texts do not show how they
differ, return BRIEF structures for the first parts in which they differ. The second value is then
the path to these parts, such as \"[2].name\"."
  (multiple-value-bind (one other path)
      (and (= 2 (length objects)) (two-texts (first objects) (second objects)))
    (if path
        (values (list (make-brief one one) (make-brief other other)) path)
        (mapcar #'brief-object objects))))

(defun message-text (control arguments)
  "Format the format control CONTROL with the list ARGUMENTS, in the package of the current test,
and return the text. Return NIL if formatting fails."
  (apart-from-tests
    (flet ((text (arguments) (nil-if-program-fails (apply #'format nil control arguments))))
      (with-brief-printing ((home-of (result-name *result*)))
        (multiple-value-bind (brief path) (brief-objects arguments)
          ;; A directive such as ~D needs the object itself, not a BRIEF structure.
          (let ((text (text brief))) (if text (at-path text path) (text arguments))))))))
