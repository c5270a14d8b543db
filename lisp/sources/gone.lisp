;;;; Finds the definitions that a file no longer makes. The rule: a definition is gone when the form
;;;; that made it is known, the file no longer has that form, and no form that loading the file runs
;;;; could make it. All other definitions count as made again, even if the last load has not made
;;;; them. For example, (unless (fboundp 'f) (defun f () 1)) makes F only at the first load. If a
;;;; form reads a definition from another file and evaluates it, the definition belongs to that
;;;; other file.
;;;;
;;;; A DEFINITION structure has the number of the load that made it (SERIAL), the number of the
;;;; form in that load (FORM) and, once the definition is gone, the text of that form (MAKER).
;;;; MARK-PERHAPS-MADE sets these slots after each load. There are three tests of the text of a
;;;; form, from the weakest to the strictest. COULD-MAKE-P is true if the text has the name of the
;;;; definition or, when MAKER builds this name from several words, those words. SHOWS-P is true if
;;;; the text has the name. DEFINES-IN-TEXT-P is true if a part of the text looks like a definition
;;;; of the name.

(in-package "LIVE-LISP.SOURCES")

;;; Definitions that the last load did not make again

(defstruct (loaded-part (:constructor make-loaded-part (number text stood)))
  "A top-level form with parts that SBCL evaluates when it loads the file. NUMBER is the number of
the form. TEXT is the text of these parts, from RUNNING-TEXT. STOOD is true if the file already had
this form at the previous load."
  number text stood)

(defun mark-perhaps-made (file old-text text serial)
  "A load of FILE, a SOURCE-FILE structure, has just ended. TEXT is the text of FILE now, and
OLD-TEXT its text at the load before, which has the number SERIAL. A text is NIL if it is unknown.
Look at each definition that an earlier load made and the last load did not make again. If no form
of TEXT can make it any more, store in the definition the text of the form that made it. Otherwise
mark it as made by the last load."
  (let* ((definitions (perhaps-made file))
         (old (readable-forms old-text)) (new (readable-forms text))
         (parts (and definitions (loaded-parts old new))))
    (dolist (definition definitions)
      (let* ((maker (known-maker definition file old serial))
             (decidable (and maker new))
             (number (and decidable (possible-maker-number definition maker old new parts)))
             (gone (and decidable (null number))))
        (cond (gone
               ;; Store MAKER, because the texts of later loads do not contain this form.
               (setf (definition-maker definition) maker))
              (t (setf (definition-serial definition) (source-file-serial file)
                       (definition-maker definition) nil)
                 ;; If TEXT could not be read, NUMBER is no number of a form of the file.
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
  "Return a vector with the text of each top-level form of TEXT. If the standard readtable cannot
read TEXT, return a vector with one form that contains all of TEXT. RUNNING-TEXT returns all of this
form, because it is a LET. Return NIL if TEXT is NIL."
  (and text (or (forms-of text) (vector (format nil "(let () ~A)" text)))))

(defun known-maker (definition file old serial)
  "Return the text of the form of FILE, a SOURCE-FILE structure, that made DEFINITION, or an empty
text if this form is unknown. Return NIL if another file may have made DEFINITION. OLD is a vector
with the texts of the forms of load number SERIAL of FILE."
  (or (definition-maker definition)
      (let ((text (maker-text definition old serial)))
        (cond ((not (definition-by-code definition)) (or text ""))
              ;; A form that runs no code, such as a DEFUN, has made DEFINITION itself: BY-CODE is
              ;; also true for every definition by the first form of a file (NOTE-FORM).
              ((and text
                    (let ((code (without-strings text)))
                      (or (blank-p (running-text text))
                          (shows-p code definition)
                          (part-of-shown-p definition file code))))
               text)))))

(defun maker-text (definition old serial)
  "OLD is a vector with the texts of the forms that load number SERIAL evaluated. Return the text of
the form that made DEFINITION in this load, or NIL if this form is unknown."
  (let ((number (definition-number definition)))
    (and number
         (= serial (definition-serial definition))
         (cond ((< number (length old)) (aref old number))
               ;; This may be the one form that READABLE-FORMS makes of an unreadable text.
               ((= 1 (length old)) (aref old 0))))))

(defun part-of-shown-p (definition file text)
  "A form of the file FILE made DEFINITION. TEXT is the text of this form. Return true if DEFINITION
is a part of another definition that the form made, as a constructor is a part of a structure, and
TEXT contains the name of that other definition."
  (let ((number (definition-number definition)))
    (and number
         (part-of-others-p definition
                           (definitions-if (lambda (other)
                                             (and (eql number (definition-number other))
                                                  (shows-p text other)))
                                           file)))))

;;; Forms that loading runs, and which of them could make a definition

(defun loaded-parts (old new)
  "NEW is the vector of the forms of a loaded text, and OLD that of the text loaded before. Forms
are texts. Return a list of LOADED-PART structures, one for each form in NEW with code that the load
evaluates (RUNNING-TEXT)."
  (let ((stood (make-hash-table :test 'equal)))
    (loop for form across old do (setf (gethash form stood) t))
    (loop for form across new
          for number from 0
          for text = (running-text form)
          unless (blank-p text)
            collect (make-loaded-part number text (gethash form stood)))))

(defun possible-maker-number (definition maker old new parts)
  "Return the number of a form in NEW that may make DEFINITION, or NIL. OLD and NEW are vectors of
the forms, as texts, of the previous and the present text of the file. MAKER is the text of the form
that made DEFINITION. If NEW still has MAKER, return the number of MAKER there. Otherwise return the
number of the first of PARTS, LOADED-PART structures, that may make DEFINITION. A form that was
already in OLD counts only if its text seems to define the name of DEFINITION."
  (flet ((may-make-p (part)
           (if (loaded-part-stood part)
               (defines-in-text-p (loaded-part-text part) definition)
               (could-make-p (loaded-part-text part) definition maker))))
    (or (unchanged-number maker old new)
        (let ((part (find-if #'may-make-p parts)))
          (and part (loaded-part-number part))))))

(defun unchanged-number (maker old new)
  "OLD and NEW are vectors of forms, as texts. MAKER is a form from OLD. Return the number of MAKER
in NEW, or NIL if NEW does not have MAKER. Also return NIL if MAKER calls a macro that defines less
now: its DEFMACRO in OLD contains a defining operator, such as DEFUN, that its DEFMACRO in NEW
lacks."
  ;; The first of the DEFINER-CALLS is the DEFMACRO itself.
  (flet ((definers (macro) (mapcar #'definer-call-operator (rest (definer-calls macro)))))
    (let* ((number (position maker new :test #'string=))
           (old-macro (and number (macro-of maker old)))
           (new-macro (and old-macro (macro-of maker new)))
           (defines-less (and new-macro
                              (not (subsetp (definers old-macro) (definers new-macro)
                                            :test #'string-equal)))))
      (and (not defines-less) number))))

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
  "FORM is a text that SBCL evaluates when it loads a file. MAKER is the text of the form that made
DEFINITION, or empty if this form is unknown. Return true if FORM could make DEFINITION, to judge by
the names of DEFINITION: its SHOWN-NAMES and, for an export, the name of the package. FORM must
contain each name that MAKER contains, or all names if MAKER is empty. If MAKER lacks a name, it
builds the name from words. Then FORM must contain those words of the name that MAKER contains."
  (let ((tokens (tokens-of form)) (maker-tokens (tokens-of maker)))
    (and tokens
         (every (lambda (name)
                  (if (or (null maker-tokens) (in-names-p name maker-tokens))
                      (in-names-p name tokens)
                      (subsetp (intersection (words-of name) (words-of maker)
                                             :test #'string-equal)
                               (words-of form)
                               :test #'string-equal)))
                (append (exporting-names definition) (shown-names definition))))))
