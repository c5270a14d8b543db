;;;; What is told of a failed check: what it says by itself once, and where what it got differs from what was wanted.

(in-package "LIVE-LISP.TESTS")

(defparameter *value-characters* 60 "Characters of a value that are told.")

(defun value-text (value)
  "Return VALUE, in the test that runs, as text."
  (printing-briefly *value-characters* value (home-of (result-name *result*))))

(defun values-text (values)
  "Return VALUES, a list of those of one form, as text."
  (if (= 1 (length values))
      (value-text (first values))
      (format nil "(values~{ ~A~})" (mapcar #'value-text values))))

;;; Two values, of which the difference is told when they are long, or do not say what they hold

(defun telling-p (one other)
  "True when the texts ONE and OTHER say together what can be known of two values."
  (and (string/= one other)
       (<= (+ (length one) (length other)) *value-characters*)
       (not (search "#<" one))
       (not (search "#<" other))))

(defun two-texts (one other &optional several)
  "Return ONE and OTHER as texts. When those would not tell, they are of the first parts that differ, and a third value says
where these are. With SEVERAL both are lists of the values of a form."
  (if (and several (= 1 (length one) (length other)))
      (two-texts (first one) (first other))
      (destructuring-bind (first second) (mapcar (if several #'values-text #'value-text) (list one other))
        (if (telling-p first second)
            (values first second nil)
            (multiple-value-bind (part other-part path)
                (difference-texts one other (home-of (result-name *result*)))
              ;; What differs as a whole is told as that, when it tells.
              (if (and path (or (string/= "" path) (string= first second)))
                  (values part other-part path)
                  (values first second nil)))))))

(defstruct (said (:constructor make-said (text plain)))
  "Stands for an object in a message or a form. TEXT is what it is printed as, PLAIN what it is printed as without escapes."
  text plain)

(defmethod print-object ((object said) stream)
  (write-string (if *print-escape* (said-text object) (said-plain object)) stream))

;;; Which part of a long form made what differs

(defun makes-parts-p (form)
  "True when FORM is a call that makes a list or a vector of the values of its arguments."
  (and (typep form '(cons (member list vector))) (ignore-errors (list-length form)) t))

(defun part-alone (form index)
  "Return FORM, which makes parts, with dots for all arguments but that of INDEX."
  (let ((dots (make-said "..." "...")) (parts (rest form)))
    (if (< -1 index (length parts))
        `(,(first form)
          ,@(and (plusp index) (list dots))
          ,(nth index parts)
          ,@(and (< (1+ index) (length parts)) (list dots)))
        form)))

(defun with-part-alone (form one other)
  "Return FORM, of a check or a test that compared ONE with OTHER. Where it is long, dots stand for the parts that did not
make what differs first."
  (let ((index (and (consp form)
                    (ignore-errors (list-length form))
                    (> (length (printing-briefly *form-characters* form)) *form-characters*)
                    (first (first (difference one other))))))
    (cond ((not (integerp index)) form)
          ((makes-parts-p form) (part-alone form index))
          (t (mapcar (lambda (part) (if (makes-parts-p part) (part-alone part index) part)) form)))))

(defun at-path (text path)
  "Return TEXT with where it is, when PATH is neither NIL nor empty."
  (format nil "~A~:[ at ~A~;~]" text (member path '(nil "") :test #'equal) path))

;;; What a check says by itself, and what it does not

(defun evident-p (form)
  "True when FORM says its value: it is a constant without a name, or names a function."
  (typecase form
    ((or null keyword (eql t)) t)
    (symbol nil)
    ((cons (member quote function)) t)
    (t (atom form))))

(defun evident-value (form)
  "Return what FORM, which says its value, does: that, or the name of the function."
  (if (consp form) (second form) form))

(defun stated-p (value check)
  "True when an argument of the form CHECK says VALUE."
  (loop for tail on (and (consp check) (rest check))
        for part = (first tail)
          thereis (or (equal part value)
                      (and (evident-p part) (equal value (evident-value part))))))

(defun got-text (forms values)
  "Return the VALUES of FORMS as text, but those that their forms say; NIL without any."
  (let ((texts (loop for form in forms
                     for value in values
                     unless (evident-p form) collect (value-text value))))
    (and texts (format nil "~{~A~^ and ~}" texts))))

(defun option-p (form)
  "True when FORM, an argument of a check, is a name or a function: nothing that it compares."
  (typep form '(or keyword (cons (eql function)))))

(defun got-of-two (forms values)
  "Return what is told of the VALUES of two FORMS as arguments for NOTE-FAILURE, or NIL when they say it themselves."
  (destructuring-bind (one other) forms
    (multiple-value-bind (first second path) (two-texts (first values) (second values))
      (cond ((null path) nil)
            ((evident-p one) (list :got (at-path second path) :expected first))
            ((evident-p other) (list :got (at-path first path) :expected second))
            (t (list :got (at-path (format nil "~A and ~A" first second) path)))))))

(defun said-of-check (check form noted)
  "Return what is told of CHECK, a failed check whether FORM is true, as arguments for NOTE-FAILURE. NOTED has the values of
the arguments of FORM, in pairs. Return NIL when one is not there."
  (let ((parts (remove-if #'option-p (and (consp form) (rest form)))))
    (flet ((known (part) (assoc part noted :test #'equal)))
      (when (loop for part in parts always (or (evident-p part) (known part)))
        (let ((values (loop for part in parts
                            collect (if (known part) (cdr (known part)) (evident-value part)))))
          (if (= 2 (length parts))
              (list* :check (with-part-alone check (first values) (second values))
                     (or (got-of-two parts values) (list :got (got-text parts values))))
              (list :check check :got (got-text parts values))))))))

(defun checked-form (check)
  "Return the form that the form CHECK is about: what stands in its NOT, or all of it."
  (if (typep check '(cons (eql not) (cons cons null))) (second check) check))

(defun compared (check expected got &optional several)
  "Return what is told of the form CHECK, which got GOT where EXPECTED was wanted, as arguments for NOTE-FAILURE. With SEVERAL
both are lists of the values of a form."
  (multiple-value-bind (text wanted path) (two-texts got expected several)
    (list* :check (if several check (with-part-alone check got expected))
           :got (at-path text path)
           (unless (and (null path) (loop for each in (if several expected (list expected)) always (stated-p each check)))
             (list :expected wanted)))))

;;; Messages. What is long in them is told by its beginning.

(defun said-briefly (object)
  "Return what stands for OBJECT in a message, or OBJECT itself when it is not long, and printed by no code of the program."
  (let ((text (value-text object)))
    (if (and (<= (length text) *value-characters*) (not (search "#<" text)))
        object
        (make-said text (if (stringp object) (shortened *value-characters* object) text)))))

(defun said-together (objects)
  "Return what stands for OBJECTS, of a message. When they are two that differ in a part, it is that, and where it is comes as
a second value."
  (multiple-value-bind (one other path) (and (= 2 (length objects)) (two-texts (first objects) (second objects)))
    (if path
        (values (list (make-said one one) (make-said other other)) path)
        (mapcar #'said-briefly objects))))

(defun message-text (control arguments)
  "Return what the format CONTROL makes of ARGUMENTS in the test that runs, or NIL when that fails."
  (flet ((text (arguments) (ignore-errors (apply #'format nil control arguments))))
    (with-brief-printing ((home-of (result-name *result*)))
      (multiple-value-bind (brief path) (said-together arguments)
        ;; A directive can need the object itself.
        (let ((text (text brief))) (if text (at-path text path) (text arguments)))))))
