;;;; Finds the names that the text of a form contains, and the names that it seems to define. Only
;;;; the text is examined: nothing is interned or evaluated.

(in-package "LIVE-LISP.SOURCES")

(defstruct (definer-call (:constructor make-definer-call (operator name)))
  "A part of a form that looks like a definition. OPERATOR and NAME are the texts of its operator
and of the defined name. NAME is NIL if a macro computes the name."
  operator name)

(defun running-text (form)
  "FORM is the text of a form. Return the parts of FORM that SBCL evaluates when it loads FORM,
joined into one text."
  (format nil "~{~A~^ ~}" (mapcar #'running-part (parts-at-top-level form))))

(defun running-part (part)
  "PART is the text of a top-level form. Return the text in it that SBCL evaluates when it loads
PART: \"\" for a standard definition such as DEFUN, the form for the value of a DEFVAR,
DEFPARAMETER, DEFGLOBAL or DEFCONSTANT, and PART itself for any other form."
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

(defun exporting-names (definition)
  "If DEFINITION stands for the export of a symbol, return a list with only the name of the package.
Otherwise return NIL."
  (and (eq (definition-kind definition) :export)
       (list (package-name (definition-identity definition)))))

(defun defines-in-text-p (form definition)
  "Return true if FORM, a text, contains all names from SHOWN-NAMES for DEFINITION, and if a part of
FORM looks like a definition of the name of DEFINITION or of one of these names. If DEFINITION
stands for the export of a symbol, that part must look like a definition of the package."
  (let ((names (or (exporting-names definition)
                   (cons (string (name-symbol (definition-name definition)))
                         (shown-names definition)))))
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
  "FORM is the text of a form without comments, as PLAIN-FORM returns it. Return FORM without its
strings, because a string such as a file name can contain the name of a definition by chance. Keep
strings with an opening parenthesis, because code may read and evaluate them."
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
  "Return a list of the words of TEXT: its maximal sequences of letters and digits."
  (tokens-of (substitute-if-not #\Space #'alphanumericp text)))

(defun tokens-of (text)
  "Return a list of the tokens of TEXT, which are the parts between separators, in strings too.
Leave out package prefixes."
  (loop with end = (length text)
        for start = (position-if-not #'separator-p text)
          then (position-if-not #'separator-p text :start next)
        while start
        for next = (or (position-if #'separator-p text :start start) end)
        unless (prefix-end-p text next)
          collect (subseq text start next)))

(defun prefix-end-p (text end)
  "Return true if a package prefix can end at the index END of TEXT: a symbol follows its colons."
  (let ((symbol (and (< end (length text))
                     (char= (char text end) #\:)
                     (position #\: text :start end :test-not #'char=))))
    (and symbol
         (let ((char (char text symbol)))
           (or (char= char #\|) (not (separator-p char)))))))

(defun separator-p (char)
  "Return true if CHAR separates tokens."
  (find char '(#\Space #\( #\) #\' #\` #\, #\" #\# #\; #\: #\|)))
