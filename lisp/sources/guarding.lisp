;;;; Finds forms that may have made no definition only because the image already had it, such as
;;;; (unless (fboundp 'f) (defun f ...)). They would make the definition again after its removal, so
;;;; FORGET-OLD does not remove it.

(in-package "LIVE-LISP.SOURCES")

(sb-ext:defglobal **test-operator-p** (constantly nil)
  "A function that takes a symbol, and returns true if it is an operator of a test framework.")

(defun guarding-forms (definition)
  "Find the forms in other files that seem to define the name of DEFINITION only if the image has no
definition of it yet. An example is (unless (fboundp 'f) (defun f ...)). Return a list of JSON
objects with the file and the number of each such form."
  (let ((*plain-forms* '()))
    (loop for file being the hash-values of **files**
          unless (eq definition (gethash (key-of definition) (source-file-definitions file)))
            append (loop for number in (guarding-numbers definition file)
                         collect (object "file" (source-file-path file) "form" number)))))

(defun guarding-numbers (definition file)
  "Return a list of the numbers of those forms of FILE, a SOURCE-FILE structure, that can make
DEFINITION but did not make it in the last load, perhaps only because the image already had it. An
example is (unless (fboundp 'f) (defun f ...))."
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
                        (and (can-see-p part package definition)
                             (guards-p part package definition))))
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
  "FORM is a text that loading evaluates in the package named PACKAGE. Return true if FORM, such as
(unless (fboundp 'f) (defun f ...)), could make DEFINITION when the image does not have it. Return
NIL if FORM calls an operator of a test framework: FORM then probably defines a test, and many tests
have the names of the tested functions."
  (let ((operator (or (first (form-parts form 1)) ""))
        (name (string (name-symbol (definition-name definition)))) (home (find-package package)))
    (and (or (defines-in-text-p form definition)
             (and (not (definer-p operator)) (quotes-p form name)))
         (not (and home (funcall **test-operator-p** (symbol-read operator home)))))))

(defun can-see-p (form package definition)
  "FORM is a text that is read in the package named PACKAGE. Return true if the name of DEFINITION
in FORM can be the symbol of DEFINITION, not just another symbol with the same name."
  (let ((symbol (name-symbol (definition-name definition))) (found (find-package package)))
    (or (not (symbolp symbol))
        (null found)
        (eq symbol (find-symbol (symbol-name symbol) found))
        (qualified-p form (symbol-name symbol)))))

(defun qualified-p (form name)
  "Return true if the text FORM contains the symbol name NAME with a package prefix, such as p::f. A
keyword does not count."
  (let ((marked (format nil ":~A" name)))
    (loop for at = (search marked form :test #'char-equal)
            then (search marked form :test #'char-equal :start2 (1+ at))
          while at
          thereis (and (plusp at)
                       (not (find (char form (1- at))
                                  '(#\Space #\Newline #\Tab #\( #\) #\' #\` #\, #\#)))))))

(defun quotes-p (form name)
  "Return true if FORM, a text, contains a quoted symbol named NAME, a string, in any package."
  (loop for quote = (position #\' form) then (position #\' form :start (1+ quote))
        while quote
        thereis (string-equal name (symbol-at form (1+ quote)))))

(defun guarding-evaluations (definition)
  "Return a list of texts for evaluated forms that contain a definition of the same kind and name as
DEFINITION. Such a form, like (unless (fboundp 'f) (defun f ...)), may have defined nothing only
because the image already had DEFINITION. Leave out a form that only quotes the name, such as
(describe 'f)."
  (let ((name (string (name-symbol (definition-name definition)))))
    (loop for (text package . changed) in **evaluated-texts**
          when (and (search name text :test #'char-equal)
                    ;; Leave out a form that gave the symbol only a definition of another kind.
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
