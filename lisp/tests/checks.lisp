;;;; Renders failed checks. Values that the form itself shows are left out. Of two values that
;;;; differ, the parts that differ are shown.

(in-package "LIVE-LISP.TESTS")

(defparameter *value-characters* 60 "At most this many characters of a value are shown.")

(defun value-text (value)
  "Return VALUE as text for the current test."
  (printing-briefly *value-characters* value (home-of (result-name *result*))))

(defun values-text (values)
  "Return VALUES, the list of the values of a form, as text."
  (if (= 1 (length values))
      (value-text (first values))
      (format nil "(values~{ ~A~})" (mapcar #'value-text values))))

;;; Pairs of values. Where their texts do not show the difference, the first parts that differ are
;;; shown.

(defun telling-p (one other)
  "True when the texts ONE and OTHER of two values differ, are short, and are complete, without #<."
  (and (string/= one other)
       (<= (+ (length one) (length other)) *value-characters*)
       (not (search "#<" one))
       (not (search "#<" other))))

(defun two-texts (one other &optional several)
  "Return the values ONE and OTHER as texts. If these texts do not show the difference, return the
texts of the first parts that differ, and the path to these parts as the third value. With SEVERAL,
ONE and OTHER are lists of the values of a form."
  (if (and several (= 1 (length one) (length other)))
      (two-texts (first one) (first other))
      (destructuring-bind (first second)
          (mapcar (if several #'values-text #'value-text) (list one other))
        (if (telling-p first second)
            (values first second nil)
            (multiple-value-bind (part other-part path)
                (difference-texts one other (home-of (result-name *result*)))
              ;; An empty path means that the values differ as a whole. Then return their whole
              ;; texts, but return the parts if the two whole texts are equal.
              (if (and path (or (string/= "" path) (string= first second)))
                  (values part other-part path)
                  (values first second nil)))))))

(defstruct (said (:constructor make-said (text plain)))
  "Stands for an object in a message or a form. TEXT is what PRIN1 prints for it, PLAIN what PRINC
prints."
  text plain)

(defmethod print-object ((object said) stream)
  (write-string (if *print-escape* (said-text object) (said-plain object)) stream))

;;; Showing only the part of a long form that made the difference

(defun makes-parts-p (form)
  "True when FORM is a call of LIST or VECTOR."
  (and (typep form '(cons (member list vector))) (ignore-errors (list-length form)) t))

(defun part-alone (form index)
  "Return a copy of FORM, a call of LIST or VECTOR, with dots for all arguments except number
INDEX."
  (let ((dots (make-said "..." "...")) (parts (rest form)))
    (if (< -1 index (length parts))
        `(,(first form)
          ,@(and (plusp index) (list dots))
          ,(nth index parts)
          ,@(and (< (1+ index) (length parts)) (list dots)))
        form)))

(defun with-part-alone (form one other)
  "Return FORM, from a check that compared ONE with OTHER. If FORM is long, dots replace those
arguments of LIST and VECTOR in it that did not make the first difference."
  (let ((index (and (consp form)
                    (ignore-errors (list-length form))
                    (> (length (printing-briefly *form-characters* form)) *form-characters*)
                    (first (first (difference one other))))))
    (cond ((not (integerp index)) form)
          ((makes-parts-p form) (part-alone form index))
          (t
           (mapcar (lambda (part) (if (makes-parts-p part) (part-alone part index) part)) form)))))

(defun at-path (text path)
  "Return TEXT, followed by \" at \" and PATH, unless PATH is NIL or empty."
  (format nil "~A~:[ at ~A~;~]" text (member path '(nil "") :test #'equal) path))

;;; What the form of a check shows by itself

(defun evident-p (form)
  "True when FORM shows its value: it is a literal or quoted constant, or #'FUNCTION."
  (typecase form
    ((or null keyword (eql t)) t)
    (symbol nil)
    ((cons (member quote function)) t)
    (t (atom form))))

(defun evident-value (form)
  "Return the value that FORM shows; the name, if FORM is #'NAME. EVIDENT-P must be true of FORM."
  (if (consp form) (second form) form))

(defun stated-p (value check)
  "True when VALUE is an argument of the form CHECK, or the value that such an argument shows."
  (loop for tail on (and (consp check) (rest check))
        for part = (first tail)
          thereis (or (equal part value)
                      (and (evident-p part) (equal value (evident-value part))))))

(defun got-text (forms values)
  "Return VALUES, the values of FORMS, as text, without those that their forms show. Return NIL if
none is left."
  (let ((texts (loop for form in forms
                     for value in values
                     unless (evident-p form) collect (value-text value))))
    (and texts (format nil "~{~A~^ and ~}" texts))))

(defun option-p (form)
  "True when FORM, an argument of a check, is a keyword or #'FUNCTION: it is not compared, but says
how to compare."
  (typep form '(or keyword (cons (eql function)))))

(defun got-of-two (forms values)
  "Return arguments for NOTE-FAILURE that show where VALUES, the values of two FORMS, differ. Return
NIL when their whole texts show it."
  (destructuring-bind (one other) forms
    (multiple-value-bind (first second path) (two-texts (first values) (second values))
      (cond ((null path) nil)
            ((evident-p one) (list :got (at-path second path) :expected first))
            ((evident-p other) (list :got (at-path first path) :expected second))
            (t (list :got (at-path (format nil "~A and ~A" first second) path)))))))

(defun said-of-check (check form noted)
  "Return arguments for NOTE-FAILURE about the failed check CHECK, which tests whether FORM is true.
NOTED is an alist from arguments of FORM to their values. Return NIL when the value of an argument
is unknown."
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
  "Return the form that the form CHECK tests: FORM if CHECK is (NOT FORM), else CHECK."
  (if (typep check '(cons (eql not) (cons cons null))) (second check) check))

(defun compared (check expected got &optional several)
  "Return arguments for NOTE-FAILURE about the form CHECK, which returned GOT where EXPECTED was
expected. With SEVERAL, GOT and EXPECTED are lists of the values of a form."
  (apart-from-tests
    (multiple-value-bind (text wanted path) (two-texts got expected several)
      (list* :check (if several check (with-part-alone check got expected))
             :got (at-path text path)
             (unless (and (null path)
                          (loop for each in (if several expected (list expected))
                                always (stated-p each check)))
               (list :expected wanted))))))

;;; Messages of frameworks. Long objects in them are cut.

(defun said-briefly (object)
  "Return OBJECT if its text is short and has no #<, so that no print method of the program is
called. Else return a SAID that stands for OBJECT in a message."
  (let ((text (value-text object)))
    (if (and (<= (length text) *value-characters*) (not (search "#<" text)))
        object
        (make-said text (if (stringp object) (shortened *value-characters* object) text)))))

(defun said-together (objects)
  "Return a list of SAIDs or objects that stand for OBJECTS in a message. For two objects that
differ in a part, the list has only these parts, and the second value is the path to them."
  (multiple-value-bind (one other path)
      (and (= 2 (length objects)) (two-texts (first objects) (second objects)))
    (if path
        (values (list (make-said one one) (make-said other other)) path)
        (mapcar #'said-briefly objects))))

(defun message-text (control arguments)
  "Return the text that the format CONTROL makes of ARGUMENTS, printed as for the current test.
Return NIL when formatting fails."
  (apart-from-tests
    (flet ((text (arguments) (ignore-errors (apply #'format nil control arguments))))
      (with-brief-printing ((home-of (result-name *result*)))
        (multiple-value-bind (brief path) (said-together arguments)
          ;; A directive such as ~D needs the object itself, not a SAID.
          (let ((text (text brief))) (if text (at-path text path) (text arguments))))))))
