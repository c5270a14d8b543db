;;;; The operation inspect: finds an object by a name, or by an id in an answer, and shows its
;;;; parts.

(in-package "LIVE-LISP.DEBUG")

(defun id-in (text)
  "Return the number in TEXT when TEXT is an id, such as @12, else NIL."
  (and (> (length text) 1)
       (char= (char text 0) #\@)
       (ignore-errors (parse-integer text :start 1))))

(defun object-named (text package)
  "Return the object that TEXT, the name of a symbol or function, names in PACKAGE: the first there
is of a variable's value, a function or macro, a class, and the symbol itself. TEXT can begin with '
for the symbol, or #' for a function."
  (multiple-value-bind (name symbol setf) (named-target text package)
    (cond ((char= (char text 0) #\') symbol)
          ((or setf (eql 0 (search "#'" text)))
           (if (fboundp name)
               (or (and (symbolp name) (macro-function name)) (plain-definition name))
               (fail-lookup "noFunction" (printed name))))
          ((boundp symbol) (symbol-value symbol))
          ((fboundp symbol) (or (macro-function symbol) (plain-definition symbol)))
          ((find-class symbol nil))
          (t symbol))))

(defun package-meant (text)
  "Return the package that TEXT, such as \"APP\" or APP:, names, or NIL."
  (let ((name (string-trim "\": " text)))
    (and (find (char text (1- (length text))) "\":")
         (or (find-package name) (find-package (string-upcase name))))))

(defun meant-object (text package)
  "Return the object that TEXT means in PACKAGE: TEXT is an id, the name of a package, or as for
OBJECT-NAMED. If there is no such object, call FAIL-LOOKUP with what is wrong."
  (let* ((text (string-trim " " text)) (id (id-in text)))
    (cond ((string= text "") (fail-lookup "noValue" t))
          (id (multiple-value-bind (object there) (object-of-id id)
                (if there object (fail-lookup "goneId" text))))
          ((and (char= (char text 0) #\() (not (eql 0 (search "(setf " text :test #'char-equal))))
           (fail-lookup "isForm" t))
          ((package-meant text))
          (t (object-named text package)))))

(defun part-named (name parts)
  "Return the one of PARTS that NAME means, in upper or lower case, or NIL. NAME can lack the quotes
or the package prefix that the name of the part has."
  (flet ((bare (name)
           (let ((name (string-trim "\"" name)))
             (subseq name (1+ (or (position #\: name :from-end t) -1))))))
    (or (find name parts :key #'part-name :test #'string=)
        (find name parts :key #'part-name :test #'string-equal)
        (find name parts :key (lambda (part) (bare (part-name part))) :test #'string=)
        (find name parts :key (lambda (part) (bare (part-name part))) :test #'string-equal))))

(defun object-at (object path)
  "Return the object to which PATH, a list of names of parts, leads from OBJECT. Each name is of a
part of the object before. Call FAIL-LOOKUP when there is no such part."
  (loop for name in path
        for parts = (object-parts object)
        for part = (part-named name parts)
        do (cond ((null part)
                  (fail-lookup "noPart" name "in" (printed object)
                               "parts" (mapcar #'part-name (page parts 0 20))
                               "total" (length parts)))
                 ((part-why part)
                  (fail-lookup "noPart" name "in" (printed object) "why" (part-why part)))
                 (t (setf object (part-value part))))
        finally (return object)))

(defun part-data (part)
  "Return PART as a JSON object."
  (let ((value (part-value part)))
    (object "name" (part-name part)
            "value" (and (null (part-why part)) (printed value))
            "why" (part-why part)
            "id" (and (null (part-why part)) (not (part-made part)) (object-id value)))))

(defun inspection (object offset limit)
  "Return a JSON object with OBJECT as text, its type, its id, the number of its parts, and LIMIT of
the parts from OFFSET on."
  (let ((parts (object-parts object)))
    (object "value" (if (typep object '(or string number bit-vector symbol pathname))
                        (let ((*digit-limit* *most-digits*)) (local-text object :limit 10000))
                        (printed object))
            "type" (let ((type (type-of object)))
                     (if (symbolp type) (symbol-text type) (printed type)))
            "id" (object-id object)
            "total" (length parts)
            "parts" (mapcar #'part-data (page parts offset limit)))))

(define-operation "inspect" (value package path offset limit)
  "Show the object for which the text VALUE stands in PACKAGE or, if PATH is given, one of its
parts. PATH, a list of names of parts, leads from the object to this part. Show LIMIT parts from
OFFSET on."
  (call-in-session (and package (named-package package))
                   (lambda ()
                     (inspection (object-at (meant-object value package) path) offset limit))))
