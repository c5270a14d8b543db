;;;; The operation inspect: finds an object by a name, or by an id from an answer (jobs/ids.lisp),
;;;; and shows its parts. The structure PART and the function OBJECT-PARTS are in parts.lisp.

(in-package "LIVE-LISP.DEBUG")

(defun id-in (text)
  "Return the number in TEXT if TEXT is the id of an object, such as \"@12\". Otherwise return NIL."
  (and (> (length text) 1)
       (char= (char text 0) #\@)
       (number-in text 1)))

(defun object-named (text package)
  "Return the object that TEXT, read in PACKAGE, names: the value of a variable, a function or
macro, a class, or a symbol, the first of these that exists. After a leading ' return the symbol,
and after a leading #' the function."
  (multiple-value-bind (name symbol setf) (named-target text package)
    (cond ((char= (char text 0) #\') symbol)
          ((or setf (starts-p text "#'"))
           (if (fboundp name)
               (or (and (symbolp name) (macro-function name)) (plain-definition name))
               (fail-lookup "noFunction" (printed name))))
          ((boundp symbol) (symbol-value symbol))
          ((fboundp symbol) (or (macro-function symbol) (plain-definition symbol)))
          ((find-class symbol nil))
          (t symbol))))

(defun package-meant (text)
  "Return the package that TEXT names, such as \"APP\" with quotes, or APP: with a colon. Return NIL
if there is no such package, or if TEXT ends in neither a quote nor a colon."
  (let ((name (string-trim "\": " text)))
    (and (find (char text (1- (length text))) "\":")
         (or (find-package name) (find-package (string-upcase name))))))

(defun meant-object (text package)
  "Return the object that TEXT, read in PACKAGE, means: an id such as @12, the name of a package, or
a name that OBJECT-NAMED reads. If there is no such object, end the operation with an error answer."
  (let* ((text (string-trim " " text)) (id (id-in text)))
    (cond ((string= text "") (fail-lookup "noValue" t))
          (id (multiple-value-bind (object there foreign) (object-of-id id)
                (if there object (fail-lookup (if foreign "foreignId" "goneId") text))))
          ((and (char= (char text 0) #\() (not (eql 0 (search "(setf " text :test #'char-equal))))
           (fail-lookup "isForm" t))
          ((package-meant text))
          (t (object-named text package)))))

(defun part-named (name parts)
  "Return the element of PARTS, a list of PART structures, with the name NAME, or NIL. Letter case
does not matter, and NAME may lack the quotes or the package prefix."
  (flet ((bare (name)
           (let ((name (string-trim "\"" name)))
             (subseq name (1+ (or (position #\: name :from-end t) -1))))))
    (or (find name parts :key #'part-name :test #'string=)
        (find name parts :key #'part-name :test #'string-equal)
        (find name parts :key (lambda (part) (bare (part-name part))) :test #'string=)
        (find name parts :key (lambda (part) (bare (part-name part))) :test #'string-equal))))

(defun object-at (object path)
  "Return the object at PATH within OBJECT. PATH is a list of names: the first names a part of
OBJECT, the next a part of that part, and so on. If there is no such part, end the operation with an
error answer."
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

(define-shape inspected-part ()
  "A part of an object."
  (name string)
  (value string :optional)
  (why string :optional "Why the part has no value: for example, its slot is unbound.")
  (id string :optional))

(define-shape inspect-data ()
  "An object and its parts, or the reason why it cannot be inspected."
  (value string :optional) (type string :optional) (id string :optional)
  (total integer :optional)
  (more boolean :optional "True when the object has more than TOTAL parts, which are not listed.")
  (parts (or (list inspected-part) (list string)) :optional
   "The parts; with NO-PART, the names of the parts that exist.")
  (crowd integer :optional
   "For a hash table whose look-ups are slow, the largest number of keys with the same hash.")
  (no-value boolean :optional)
  (gone-id string :optional "The requested id, when its object no longer exists.")
  (foreign-id string :optional
   "The requested id, when only answers to other servers of the image had it.")
  (is-form boolean :optional "True when the text is a form, which inspect does not evaluate.")
  (no-function string :optional
   "The requested name of a function, when there is no such function.")
  (no-part string :optional "The requested part, when the object has no such part.")
  (in string :optional "The object that lacks the requested part, as printed.")
  (why string :optional)
  (holders holders :optional "What keeps the object alive, if the request has HOLDERS."))

(defun part-data (part)
  "Return a JSON object for PART, a PART structure."
  (let ((value (part-value part)))
    (object "name" (part-name part)
            "value" (and (null (part-why part)) (printed value))
            "why" (part-why part)
            "id" (and (null (part-why part)) (not (part-made part)) (object-id value)))))

(defun crowd (object)
  "If OBJECT is a hash table in which at least *CROWD* keys share a hash, return the largest number
of such keys. Otherwise return NIL. Examine at most *PART-LIMIT* keys, and run no code of the
program."
  (when (and (hash-table-p object) (hashed-by-system-p object))
    (let ((sharing (nil-if-program-fails (sharing-keys object *part-limit*))))
      (and sharing (>= sharing *crowd*) sharing))))

(defun inspection (object holders offset limit)
  "Return a JSON object about OBJECT: its text, type and id, the number of its parts, and LIMIT of
its parts from number OFFSET on. If HOLDERS is true, leave the parts out, and show the
references that keep OBJECT alive."
  (let* ((found (if holders '() (object-parts object)))
         (parts (page found 0 *part-limit*)))
    (object "value" (if (typep object '(or string number bit-vector symbol pathname))
                        (let ((*digit-limit* *most-digits*)) (local-text object :limit 10000))
                        (printed object))
            "type" (let ((type (type-of object)))
                     (if (symbolp type) (symbol-text type) (printed type)))
            "id" (object-id object)
            "total" (length parts)
            "more" (> (length found) (length parts))
            "parts" (mapcar #'part-data (page parts offset limit))
            "crowd" (and (not holders) (crowd object))
            "holders" (and holders (holders-data object limit)))))

(define-operation ("inspect" :gives (or inspect-data lookup-failure))
    ((value string "The text of a symbol, or an id such as @3.")
     package
     (path (list string) :optional
      "Names of parts, the path from this object to the object to show.")
     (holders boolean :optional "True to return what keeps the object alive instead of its parts.")
     offset limit)
  "Return the object that VALUE denotes or, with PATH, the object to which PATH leads from there.
The answer also has the parts of this object or, with HOLDERS, the references that keep it alive."
  (call-in-session (and package (named-package package))
                   (lambda ()
                     (inspection (object-at (meant-object value package) path) holders offset
                               limit))))
