;;;; Decides which definitions a file no longer makes. The rule: a definition is gone when the form
;;;; that made it is known, the file no longer has that form, and no form that loading the file runs
;;;; could make it. All other definitions count as made again, even if the last load has not made
;;;; them. For example, (unless (fboundp 'f) (defun f () 1)) makes F only at the first load. A
;;;; definition that a form reads from another file and evaluates belongs to that file.
;;;; KEEP-PERHAPS-MADE applies the rule after a load; GUARDING-FORMS finds forms that would make a
;;;; definition if the image did not have it.

(in-package "LIVE-LISP.SOURCES")

;;; Definitions that the last load did not make again

(defstruct (loaded-part (:constructor make-loaded-part (number text stood)))
  "A top-level form with a part that is evaluated when the file is loaded. NUMBER is the number of
the form, TEXT its RUNNING-TEXT. STOOD is true if the file had this form at the previous load, too."
  number text stood)

(defstruct (definer-call (:constructor make-definer-call (operator name)))
  "A part of a form that looks like a definition: the texts of its OPERATOR and of the defined NAME.
NAME is NIL if a macro computes it."
  operator name)

(defun keep-perhaps-made (file old-text text serial)
  "The load of the file FILE just ended. SERIAL is the number of the load before, OLD-TEXT the text
of FILE in that load, and TEXT the present text. Both texts can be NIL. Treat definitions of FILE
that the present load did not make again as made by this load, unless FILE no longer makes them."
  (let* ((definitions (perhaps-made file))
         (old (readable-forms old-text)) (new (readable-forms text))
         (parts (and definitions (loaded-parts old new))))
    (dolist (definition definitions)
      (let* ((maker (known-maker definition file old serial))
             (number (and maker new (number-of-maker definition maker old new parts))))
        (cond ((and maker new (null number)) (setf (definition-maker definition) maker))
              (t (setf (definition-serial definition) (source-file-serial file)
                       (definition-maker definition) nil)
                 (when (forms-of text) (setf (definition-form definition) number))))))))

(defun perhaps-made (file)
  "Return a list of those definitions of the file FILE that its last load did not make again."
  (definitions-if (lambda (definition)
                    (and (not-made-again-p definition file)
                         (current-p definition)
                         ;; A generic function without a DEFGENERIC is removed with its methods.
                         (not (typep (definition-identity definition) 'generic-function))))
                  file))

(defun readable-forms (text)
  "Return the vector of the top-level forms of TEXT as texts. If TEXT cannot be split, as when only
evaluation can show where its forms end, all of it counts as one form that runs code."
  (and text (or (forms-of text) (vector (format nil "(let () ~A)" text)))))

(defun known-maker (definition file old serial)
  "OLD is the vector of the forms, as texts, of load number SERIAL of the file FILE. Return the text
of the form of FILE that made DEFINITION, or an empty text if this form is unknown. Return NIL if
another file may have made DEFINITION."
  (or (definition-maker definition)
      (let ((text (maker-text definition old serial)))
        (cond ((not (definition-by-code definition)) (or text ""))
              ((and text
                    (let ((code (without-strings text)))
                      (or (blank-p (running-text text))
                          (shows-p code definition)
                          (part-of-shown-p definition file code))))
               text)))))

(defun maker-text (definition old serial)
  "OLD is the vector of the forms, as texts, of load number SERIAL. Return the text of the form that
made DEFINITION, or NIL if this form is unknown."
  (let ((number (definition-number definition)))
    (and number
         (= serial (definition-serial definition))
         (cond ((< number (length old)) (aref old number))
               ((= 1 (length old)) (aref old 0))))))

(defun part-of-shown-p (definition file text)
  "Return true if DEFINITION is part of another definition in the file FILE, such as a structure,
that the same form made. TEXT is the text of this form, and must contain the name of the other
definition."
  (let ((number (definition-number definition)))
    (and number
         (part-of-others-p definition
                           (definitions-if (lambda (other)
                                             (and (eql number (definition-number other))
                                                  (shows-p text other)))
                                           file)))))

;;; Forms that loading runs, and which of them could make a definition

(defun loaded-parts (old new)
  "Return a list of LOADED-PART structures for those forms in the vector NEW with a part that
loading evaluates. OLD is the vector of the forms of the text loaded before. Forms are texts."
  (let ((stood (make-hash-table :test 'equal)))
    (loop for form across old do (setf (gethash form stood) t))
    (loop for form across new
          for number from 0
          for text = (running-text form)
          unless (blank-p text)
            collect (make-loaded-part number text (gethash form stood)))))

(defun number-of-maker (definition maker old new parts)
  "MAKER is the text of the form that made DEFINITION. OLD and NEW are vectors of forms, as texts:
the former and the present ones. Return the number of a form in NEW that may make DEFINITION, or
NIL. This form is MAKER, or one of PARTS, which are LOADED-PART structures. A part that OLD had too
counts only if it contains a definition of the name of DEFINITION."
  (flet ((may-make-p (part)
           (if (loaded-part-stood part)
               (defines-in-text-p (loaded-part-text part) definition)
               (could-make-p (loaded-part-text part) definition maker))))
    (or (standing-number maker old new)
        (let ((part (find-if #'may-make-p parts)))
          (and part (loaded-part-number part))))))

(defun standing-number (maker old new)
  "OLD and NEW are vectors of forms, as texts. Return the number in NEW of the form MAKER, which is
from OLD. Return NIL if NEW does not have MAKER. Also return NIL if MAKER calls a macro that in NEW
no longer expands into a definition into which it expanded in OLD."
  (flet ((definers (macro) (mapcar #'definer-call-operator (rest (definer-calls macro)))))
    (let* ((number (position maker new :test #'string=))
           (before (and number (macro-of maker old))) (now (and before (macro-of maker new))))
      (and number
           (or (null now) (subsetp (definers before) (definers now) :test #'string-equal))
           number))))

(defun macro-of (form forms)
  "Return the DEFMACRO form in the vector FORMS for the operator of FORM, or NIL. Forms are texts."
  (let ((operator (first (form-parts form 1))))
    (and operator
         (find-if (lambda (other)
                    (and (search "defmacro" other :test #'char-equal)
                         (destructuring-bind (&optional (definer "") (name "")) (form-parts other 2)
                           (and (string-equal definer "defmacro") (string-equal name operator)))))
                  forms))))

(defun could-make-p (form definition maker)
  "FORM is a text that loading evaluates, and MAKER the text of the form that made DEFINITION.
Return true if FORM could make DEFINITION. If MAKER contains the name, FORM must contain the name
too. If not, FORM must contain those words of the name that MAKER contains."
  (let ((tokens (tokens-of form)) (made (tokens-of maker)))
    (and tokens
         (every (lambda (name)
                  (if (or (null made) (in-names-p name made))
                      (in-names-p name tokens)
                      (subsetp (intersection (words-of name) (words-of maker)
                                             :test #'string-equal)
                               (words-of form)
                               :test #'string-equal)))
                (shown-names definition)))))

(defun running-text (form)
  "Return the parts of FORM, the text of a form, that loading evaluates, as one text."
  (format nil "~{~A~^ ~}" (mapcar #'running-part (parts-at-top-level form))))

(defun running-part (part)
  "Return the part of PART, the text of a top-level form, that loading evaluates: nothing of a
definition such as DEFUN, and only the value of a DEFVAR form."
  (destructuring-bind (&optional (operator "") name value) (form-parts part 3)
    (let ((own (subseq operator (1+ (or (position #\: operator :from-end t) -1)))))
      (cond ((some (lambda (definer) (string-equal own definer))
                   '("defconstant" "defglobal" "defparameter" "defvar"))
             (if name (or value "") ""))
            ((and (definer-p own)
                  (eq :external (nth-value 1 (find-symbol (string-upcase own) "COMMON-LISP"))))
             "")
            (t part)))))

(defun blank-p (text)
  "Return true if TEXT has no tokens."
  (every #'separator-p text))

;;; Forms of other files that could make a definition

(sb-ext:defglobal **test-operator-p** (constantly nil)
  "A function that takes a symbol, and returns true if it is an operator of a test framework.")

(defun guarding-forms (definition)
  "Return a list of JSON objects with the file and number of forms in other files that may have
failed to make DEFINITION only because the image has it, as (unless (fboundp 'f) (defun f ...))
does."
  (let ((*plain-forms* '()))
    (loop for file being the hash-values of **files**
          unless (eq definition (gethash (key-of definition) (source-file-definitions file)))
            append (loop for number in (guarding-numbers definition file)
                         collect (object "file" (source-file-path file) "form" number)))))

(defun guarding-numbers (definition file)
  "Return a list of the numbers of those forms of the file FILE that did not make DEFINITION in the
last load, perhaps only because the image already had it, such as
(unless (fboundp 'f) (defun f ...))."
  (let ((text (source-file-text file)) (package "COMMON-LISP-USER")
        (made (numbers-made definition file)))
    (when (and text
               (search (string (name-symbol (definition-name definition))) text
                       :test #'char-equal))
      (loop for form across (or (forms-of text) #())
            for number from 0
            do (setf package (or (entered-package form) package))
            when (and (not (member number made))
                      (let* ((running (running-text form))
                             (part (if (eq (definition-kind definition) :package)
                                       running
                                       (without-strings running))))
                        (and (can-see-p part package definition) (guards-p part package definition))))
              collect number))))

(defun numbers-made (definition file)
  "Return a list of the numbers of the forms that made definitions of any kind with the name of
DEFINITION in the last load of the file FILE."
  (mapcar #'definition-number
          (definitions-if (lambda (other)
                            (and (equal (definition-name other) (definition-name definition))
                                 (not (not-made-again-p other file))))
                          file)))

(defun guards-p (form package definition)
  "FORM is a text that loading evaluates in the package named PACKAGE. Return true if FORM could
make DEFINITION if the image did not have it, as (unless (fboundp 'f) (defun f ...)) does. Tests do
not count, since the names of many tests are the names of the tested functions."
  (let ((operator (or (first (form-parts form 1)) ""))
        (name (string (name-symbol (definition-name definition)))) (home (find-package package)))
    (and (or (defines-in-text-p form definition)
             (and (not (definer-p operator)) (quotes-p form name)))
         (not (and home (funcall **test-operator-p** (symbol-read operator home)))))))

(defun can-see-p (form package definition)
  "Return true if the name of DEFINITION in FORM, a text read in the package named PACKAGE, can be
the symbol of DEFINITION, and not only another symbol with the same name."
  (let ((symbol (name-symbol (definition-name definition))) (found (find-package package)))
    (or (not (symbolp symbol))
        (null found)
        (eq symbol (find-symbol (symbol-name symbol) found))
        (qualified-p form (symbol-name symbol)))))

(defun qualified-p (form name)
  "Return true if FORM, a text, contains the string NAME with a package prefix, as in p::f. A
keyword does not count."
  (let ((marked (format nil ":~A" name)))
    (loop for at = (search marked form :test #'char-equal)
            then (search marked form :test #'char-equal :start2 (1+ at))
          while at
          thereis (and (plusp at)
                       (not (find (char form (1- at))
                                  '(#\Space #\Newline #\Tab #\( #\) #\' #\` #\, #\#)))))))

(defun quotes-p (form name)
  "Return true if FORM, a text, contains a quoted symbol with the string NAME as name, in any
package."
  (loop for quote = (position #\' form) then (position #\' form :start (1+ quote))
        while quote
        thereis (string-equal name (symbol-at form (1+ quote)))))

(defun guarding-evaluations (definition)
  "Return a list of texts for evaluated forms that may have failed to make DEFINITION only because
the image has it. A form that only quotes the name, such as (describe 'f), does not count."
  (let ((name (string (name-symbol (definition-name definition)))))
    (loop for (text package . changed) in **evaluated-texts**
          when (and (search name text :test #'char-equal)
                    ;; The definition that it made under the name is of another kind.
                    (or (gethash (key-of definition) **evaluated**)
                        (not (member (name-symbol (definition-name definition)) changed)))
                    (let ((part (running-text (plain-form text 0 (length text)))))
                      (and (or (defines-in-text-p part definition) (sets-place-p part name))
                           (can-see-p part package definition))))
            collect (evaluation-text (beginning-of text)))))

(defun sets-place-p (form name)
  "Return true if FORM, a text, sets a place that holds a definition of the quoted symbol NAME, as
in (setf (fdefinition 'f) #'car)."
  (loop for place in '("fdefinition" "symbol-function" "macro-function" "compiler-macro-function"
                       "find-class")
        for set = (format nil "(setf (~A '" place)
        thereis (loop for start = (search set form :test #'char-equal)
                        then (search set form :test #'char-equal :start2 (1+ start))
                      while start
                      thereis (string-equal name (symbol-at form (+ start (length set)))))))

;;; Names in the texts of forms

(defun shows-p (form definition)
  "Return true if FORM, a text, contains all names from SHOWN-NAMES for DEFINITION."
  (let ((names (shown-names definition)))
    (and (every (lambda (name) (search name form :test #'char-equal)) names)
         (subsetp names (tokens-of form) :test #'string-equal))))

(defun shown-names (definition)
  "Return a list of the names that a form for DEFINITION must contain. If DEFINITION is a method
with EQL specializers, these are the symbols in the EQL specializers. For any other method, they are
the names of the generic function and of all specializers but T."
  (let ((name (definition-name definition)))
    (if (eq (definition-kind definition) :method)
        (loop for specializer in (sb-mop:method-specializers (definition-identity definition))
              for object = (if (typep specializer 'class)
                               (class-name specializer)
                               (sb-mop:eql-specializer-object specializer))
              unless (or (eq object t) (not (symbolp object)))
                if (typep specializer 'class)
                  collect (symbol-name object) into classes
                else
                  collect (symbol-name object) into objects
              finally (return (or objects (cons (string (name-symbol name)) classes))))
        (list (string (name-symbol name))))))

(defun defines-in-text-p (form definition)
  "Return true if FORM, a text, contains all names from SHOWN-NAMES for DEFINITION, and a part of it
looks like a definition of the name of DEFINITION or of one of these."
  (let ((names (cons (string (name-symbol (definition-name definition)))
                     (shown-names definition))))
    (and (shows-p form definition)
         (some (lambda (name) (and name (in-names-p name names)))
               (mapcar #'definer-call-name (definer-calls form))))))

(defun definer-calls (form)
  "Return a list of DEFINER-CALL structures, one for each part of FORM, a text, that looks like a
definition."
  (loop for start = (position #\( form) then (position #\( form :start (1+ start))
        while start
        for operator = (symbol-at form (1+ start))
        when (definer-p operator)
          collect (make-definer-call operator (defined-name (subseq form start)))))

(defun defined-name (form)
  "Return the name of the symbol that FORM, the text of a definition, defines. Return NIL if the
name is neither a symbol nor a list that begins with one."
  (let* ((named (second (form-parts form 2))) (list (and named (form-parts named 2))))
    (cond ((null named) nil)
          ((null list) (symbol-at named 0))
          ((string-equal (symbol-at (first list) 0) "setf") (symbol-at (or (second list) "") 0))
          (t (symbol-at (first list) 0)))))

(defun symbol-at (form start)
  "Return the name of the symbol at index START of FORM, a text, without package prefix and bars.
For a string at START, return its contents."
  (let ((symbol (subseq form start (position-if (lambda (char) (find char " ()'`,;")) form
                                                :start start))))
    (string-trim "|\"" (subseq symbol (1+ (or (position #\: symbol :from-end t) -1))))))

(defun without-strings (form)
  "Return FORM, a text from PLAIN-FORM, without the strings in it. Keep strings that contain a form:
the others can be names of files."
  (with-output-to-string (out)
    (loop with end = (length form)
          with start = 0
          while (< start end)
          do (let* ((char (char form start))
                    (next (case char
                            (#\\ (min end (+ start 2)))
                            (#\" (quoted-end form start end))
                            (t (1+ start)))))
               (unless (and (char= char #\") (not (find #\( form :start start :end next)))
                 (write-string form out :start start :end next))
               (setf start next)))))

(defun in-names-p (name names)
  "Return true if the string NAME is in the list NAMES. Ignore upper and lower case."
  (member name names :test #'string-equal))

(defun words-of (text)
  "Return a list of the words of TEXT: its longest runs of letters and digits."
  (tokens-of (substitute-if-not #\Space #'alphanumericp text)))

(defun tokens-of (text)
  "Return a list of the tokens of TEXT, which are the parts between separators, in strings too."
  (loop with end = (length text)
        for start = (position-if-not #'separator-p text)
          then (position-if-not #'separator-p text :start next)
        while start
        for next = (or (position-if #'separator-p text :start start) end)
        collect (subseq text start next)))

(defun separator-p (char)
  "Return true if CHAR separates tokens."
  (find char '(#\Space #\( #\) #\' #\` #\, #\" #\# #\; #\: #\|)))
