;;;; Reads and evaluates forms one by one, so that an IN-PACKAGE holds for the forms after it.

(in-package "LIVE-LISP.EVALUATE")

(defparameter *value-limit* 10000 "At most this many characters of one value are printed.")
(defparameter *values-limit* 39000
  "At most this many characters of the values of one call are printed. The server cuts an answer
that has more than 40000, and a tool lists at most 38000: a list from a tool that code returns as
its value is shown whole.")

;;; Reading

(defun line-and-column (text offset)
  "Return the line and the column, both 1-based, of OFFSET in TEXT."
  (let ((newline (position #\Newline text :end offset :from-end t)))
    (values (1+ (count #\Newline text :end offset))
            (if newline (- offset newline) (1+ offset)))))

(defun skip-to-form (stream)
  "Step over white space and line comments. Return the position of the next form, or NIL at the
end."
  (loop for char = (peek-char t stream nil nil)
        while (eql char #\;) do (read-line stream nil)
        finally (return (and char (file-position stream)))))

(defun interned-symbols (interned)
  "Return the symbols for INTERNED, a list of pairs (package . name) from *INTERNED*, as a list of
pairs (package . symbol). Leave out deleted packages and names that are not accessible in their
package."
  (loop for (package . name) in interned
        for (symbol status) = (and (package-name package)
                                   (multiple-value-list (find-symbol name package)))
        when status collect (cons package symbol)))

(defun unintern-new (new form)
  "Unintern the symbols in NEW, pairs from INTERNED-SYMBOLS, that name nothing and whose names occur
in FORM. FORM is the text that interned them and could not be read. The check of the name spares
symbols that other threads intern meanwhile."
  (loop for (package . symbol) in new
        do (unless (or (fboundp symbol) (find-class symbol nil)
                       (and (boundp symbol) (not (keywordp symbol)))
                       (not (search (symbol-name symbol) form :test #'char-equal)))
             (unintern symbol package))))

(defvar *unreadable* nil
  "A CATCH tag: when a form cannot be read, a JSON object that says why is thrown to it. Each call
makes a new tag, so that user code cannot throw to it.")

(defmacro catching-unreadable (&body body)
  "Evaluate BODY and return its value, or if a form could not be read, the JSON object thrown to
*UNREADABLE*."
  `(let ((*unreadable* (list nil)))
     (catch *unreadable* ,@body)))

(defun read-form (stream text start)
  "Return the next form of STREAM, which begins at START in TEXT, or STREAM itself at its end. If
the form cannot be read, unintern its new symbols and throw a JSON object that says why to
*UNREADABLE* (contract S2.16 in docs/develop/contracts.md)."
  (let ((*interned* '()))
    (handler-bind
        ((error
           (lambda (condition)
             (let ((end (min (length text) (file-position stream))))
               (multiple-value-bind (line column) (line-and-column text start)
                 (multiple-value-bind (at-line at-column) (line-and-column text end)
                   (unintern-new (interned-symbols *interned*) (subseq text start end))
                   (throw *unreadable*
                     (object "text" (reader-text condition)
                             "near" (near-condition condition)
                             "missing" (and (missing-name-p condition)
                                            (not (lacks-manager-p condition)))
                             "withoutManager" (lacks-manager-p condition)
                             "initFile" (init-file-lacking condition)
                             "number" *form-number* "line" line "column" column
                             "atLine" at-line "atColumn" at-column))))))))
      (call-user-code
       (lambda ()
         (call-reading (lambda ()
                         (file-position stream start)
                         (read stream nil stream))))))))

(defun map-forms (visit text)
  "Read the forms of TEXT one by one. Call VISIT with each form, its start, and the stream,
positioned behind the form. Return NIL, or a JSON object that says why a form could not be read."
  (let ((stream (make-string-input-stream text)))
    (catching-unreadable
      (loop for start = (skip-to-form stream)
            while start
            do (incf *form-number*)
               (let ((form (read-form stream text start)))
                 (when (eq form stream) (decf *form-number*) (return))
                 (funcall visit form start stream))))))

(defun form-reader (text start stream)
  "Return a function that returns the source text of the form that begins at START in TEXT and that
STREAM has just read."
  (let ((end (min (length text) (file-position stream))))
    (lambda () (string-right-trim '(#\Space #\Newline #\Tab) (subseq text start end)))))

(defun forms-with-texts (text)
  "Return a list that has for each form of TEXT a list of the form and its FORM-READER. The second
value is NIL, or a JSON object that says why a form could not be read."
  (let* ((*form-number* 0) (forms '())
         (unreadable (map-forms (lambda (form start stream)
                                  (push (list form (form-reader text start stream)) forms))
                                text)))
    (values (reverse forms) unreadable)))

(defun forms-in (text)
  "Return the list of the forms of TEXT. The second value is NIL, or a JSON object that says why a
form could not be read."
  (multiple-value-bind (forms unreadable) (forms-with-texts text)
    (values (mapcar #'first forms) unreadable)))

(defun last-p (stream)
  "True when no form follows in STREAM. The position of STREAM stays."
  (let ((place (file-position stream)))
    (prog1 (handler-case (let ((*read-suppress* t))
                           (eq stream (call-user-code (lambda () (read stream nil stream)))))
             (error () nil))
      (file-position stream place))))

(defun last-form (text)
  "Evaluate all forms of TEXT but the last, each before the next is read. Return the last form
unevaluated. The second value is NIL, or a JSON object that says why a form could not be read."
  (let* ((*form-number* 0) (last nil)
         (unreadable (map-forms (lambda (form start stream)
                                  (if (last-p stream)
                                      (setf last form)
                                      (evaluate-telling form (form-reader text start stream)
                                                        #'identity)))
                                text)))
    (values last unreadable)))

;;; Evaluating

(defmacro printing-values (&body body)
  "Evaluate BODY with the user's printer settings, and limits where the user has none, so that one
large value does not fill an answer. Forms are never evaluated with these limits."
  `(let ((*print-length* (or *print-length* 1000))
         (*print-level* (or *print-level* 50))
         (*package* (usable-package *package*)))
     ,@body))

(defun hidden-length (value)
  "Return the length of VALUE when it is a list or a vector of which *PRINT-LENGTH* hides a part;
else NIL."
  (let ((length (typecase value
                  (list (ignore-errors (list-length value)))
                  (string nil)
                  (vector (length value)))))
    (and length *print-length* (> length *print-length*) length)))

(defvar *value-budget* 0 "How many more characters the printed values of this call may take.")

(defun mostly-blank-p (text)
  "True when TEXT is long and more than half of it is spaces, as when deeply nested data is
pretty-printed."
  (and (> (length text) 400)
       (> (* 2 (count #\Space text)) (length text))))

;; Whether a PRINT-OBJECT method of the user prints the slots cannot be known.
(defun printed-slots (structure)
  "Return the slot values of STRUCTURE that the printer visits: none where a method of the user
prints it."
  (let ((method (first (compute-applicable-methods #'print-object
                                                   (list structure *standard-output*)))))
    (when (eq (first (sb-mop:method-specializers method)) (find-class 'structure-object))
      (loop for slot in (sb-mop:class-slots (class-of structure))
            for name = (sb-mop:slot-definition-name slot)
            when (slot-boundp structure name) collect (slot-value structure name)))))

(defun printed-parts (value)
  "Return the objects in VALUE that the printer visits: at most *PRINT-LENGTH* elements of an array,
or slot values of a structure. VALUE is no cons."
  (typecase value
    ((array t) (loop for index below (min *print-length* (array-total-size value))
                     collect (row-major-aref value index)))
    (structure-object (printed-slots value))))

(defun circular-p (value)
  "True when VALUE or a part of it contains itself. Looks at 10000 parts, and no deeper than
*PRINT-LEVEL*."
  (let ((within (make-hash-table :test 'eq)) (left 10000))
    (labels ((visit (part level)
               (when (and (plusp level) (plusp (decf left)))
                 (typecase part
                   (cons (visit-list part level))
                   ((or (array t) structure-object)
                    (enter part)
                    (dolist (each (printed-parts part)) (visit each (1- level)))
                    (remhash part within)))))
             (visit-list (list level)
               (loop for rest = list then (cdr rest)
                     repeat *print-length*
                     while (consp rest)
                     do (enter rest)
                        (visit (car rest) (1- level))
                     collect rest into entered
                     finally (unless (consp rest) (visit rest level))
                             (dolist (each entered) (remhash each within))))
             (enter (part)
               (when (gethash part within) (return-from circular-p t))
               (setf (gethash part within) t)))
      (visit value *print-level*))
    nil))

(defun holds-long-number-p (value)
  "True when a part of VALUE is a LONG-NUMBER-P. Looks at 1000 parts, and no deeper than
*PRINT-LEVEL*."
  (let ((left 1000))
    (labels ((holds (part level)
               (and (plusp level)
                    (plusp (decf left))
                    (typecase part
                      (cons (loop for rest = part then (cdr rest)
                                  repeat *print-length*
                                  while (consp rest)
                                    thereis (holds (car rest) (1- level))))
                      ((or (array t) structure-object)
                       (some (lambda (each) (holds each (1- level))) (printed-parts part)))
                      (t (long-number-p part))))))
      (and (not (numberp value)) (holds value *print-level*)))))

(defun with-short-numbers ()
  "Return a copy of the current pprint dispatch table in which PRINT-NUMBER prints numbers."
  (let ((table (copy-pprint-dispatch)))
    (set-pprint-dispatch '(or bignum ratio) #'print-number 100 table)
    table))

(defun print-value (value stream)
  "Print VALUE on STREAM as PRIN1 does. Of a bit vector print at most *PRINT-LENGTH* bits, as of
other vectors."
  (if (and (bit-vector-p value) (> (length value) *print-length*))
      (format stream "~S..." (subseq value 0 *print-length*))
      (prin1 value stream)))

(defun value-text (value)
  "Return VALUE printed as by ~S, within *VALUE-LIMIT* and *VALUE-BUDGET*; true if it was cut; true
if *PRINT-CIRCLE* was turned on because VALUE is circular; and of a number that is shortened its
number of digits, true if numbers within VALUE are. A value whose text is mostly blank is printed
without *PRINT-PRETTY*."
  (flet ((printed ()
           (bounded-string (if (rationalp value) *value-limit* (min *value-limit* *value-budget*))
                           (lambda (stream) (print-value value stream)))))
    (let* ((circular (and (not *print-circle*)
                          (not (typep value '(or number string symbol)))
                          (circular-p value)))
           (*print-circle* (or *print-circle* circular))
           (shortened (and *print-pretty* (holds-long-number-p value)))
           (*print-pprint-dispatch* (if shortened (with-short-numbers) *print-pprint-dispatch*)))
      (multiple-value-bind (text cut) (printed)
        (when (and *print-pretty* (not shortened) (not (stringp value)) (mostly-blank-p text))
          (let ((*print-pretty* nil)) (multiple-value-setq (text cut) (printed))))
        (if (and (typep value '(or integer ratio)) (not cut))
            (multiple-value-bind (text digits) (without-middle text)
              (if (<= (length text) *value-budget*)
                  (values text nil nil digits)
                  (values (subseq text 0 *value-budget*) t)))
            (values text cut circular shortened))))))

(sb-ext:defglobal **told-as** nil
  "NIL, or a function of a value. It returns the text to show for the value, or NIL when the value
is to be printed.")

(defun told-text (value)
  "Return the text to show for VALUE, from **TOLD-AS** or else printed, as VALUE-TEXT returns it."
  (let ((text (and **told-as** (funcall **told-as** value))))
    (cond ((null text) (value-text value))
          ((<= (length text) *value-budget*) text)
          (t (values (subseq text 0 *value-budget*) t)))))

(defun value-data (value)
  "Return VALUE as a JSON object: its bounded text; its length if elements are hidden; an id if not
all is shown."
  (multiple-value-bind (text cut circular shortened) (told-text value)
    (decf *value-budget* (length text))
    (let ((hidden (hidden-length value)))
      (object "text" text
              "cut" cut
              "characters" (and cut (stringp value) (length value))
              "length" hidden
              "circular" circular
              "digits" (and (integerp shortened) shortened)
              "shortened" (eq shortened t)
              "id" (cond ((integerp shortened) (object-id value t))
                         ((or cut hidden shortened) (object-id value)))))))

(defun values-data (values)
  "Return the list VALUES as JSON objects, or :EMPTY for none. Values past the 100th or the budget
are only counted."
  (loop for rest on values
        for index from 0
        while (and (plusp *value-budget*) (< index 100))
        collect (value-data (first rest)) into printed
        finally (return (cond (rest (append printed (list (object "omitted" (length rest)))))
                              (printed)
                              (t :empty)))))

(defun evaluate-form (form text)
  "Evaluate FORM as a REPL does. Return what VALUES-DATA returns for its values. TEXT is a function
that returns the source text of FORM."
  (setf - form)
  (call-noting
   (lambda ()
     (evaluate-telling form text
                       (lambda (values)
                         (setf /// // // / / values
                               *** ** ** * * (first values)
                               +++ ++ ++ + + form)
                         (printing-values
                           (call-user-code (lambda () (values-data values)))))))
   :by (lambda () (shortened 80 (on-one-line (funcall text))))))

(defun evaluate-to-its-end (form text)
  "Call EVALUATE-FORM with FORM and TEXT, and return its value. Each time that EVALUATE-AGAIN leaves
it, call it again."
  (loop (catch 'again (return (evaluate-form form text)))))

(defun evaluate-again ()
  "Leave the evaluation of the current form, and start it again."
  (throw 'again nil))

(defvar *done* nil "The values of the forms evaluated so far, from VALUES-DATA, newest first.")

(defun note-form (text start stream)
  "Set *FORM-TEXT* to the form that begins at START in TEXT and that STREAM has just read, cut at
2000 characters."
  (let ((end (min (length text) (file-position stream) (+ start 2000))))
    (setf *form-text* (string-right-trim '(#\Space #\Newline #\Tab) (subseq text start end)))))

(defun evaluate-text (text)
  "Read and evaluate the forms of TEXT one by one, and push the values of each to *DONE*. Return the
member \"unreadable\" of the answer: NIL, or a JSON object that says why a form could not be read."
  (list "unreadable"
        (map-forms (lambda (form start stream)
                     (note-form text start stream)
                     (push (evaluate-to-its-end form (form-reader text start stream)) *done*))
                   text)))

(defun remarks-so-far ()
  "Return the members about the package and about the warnings so far. These warnings are not shown
again."
  (prog1 (list* "package" (package-name (usable-package *package*)) (warning-members))
    (setf *remarks* (make-remarks))))

(defun call-as-job-part (package function &key together)
  "Call FUNCTION with the session's variables bound, in PACKAGE (NIL: the session's), and collect
warnings. With TOGETHER all that is compiled is one compilation unit, and files are loaded in spite
of warnings. FUNCTION returns members of an answer, as a property list. Return these members, or
when FUNCTION was left, members that say why. Also return members about warnings, about the restarts
that were invoked, and about changed readtables and styles."
  (let ((*remarks* (make-remarks)) (members '()) (ended nil)
        (*error-keeper* #'keep-error) (*form-text* nil) (*fresh-readtable* nil)
        (*loads-in-spite* together)
        (*so-far* (cons #'remarks-so-far *so-far*))
        (*taken* (make-hash-table :test 'equal)) (*went-on-by* '()))
    (call-in-session
     package
     (lambda ()
       (setf members (job-result *job* (lambda ()
                                         (multiple-value-prog1
                                             (call-collecting-warnings function :together together)
                                           (setf ended t))))
             members (list* "package" (package-name (usable-package *package*)) members))))
    (unless ended (forget-undefined))
    (append members
            (warning-members)
            (taken-members)
            (and *fresh-readtable* (list "freshReadtable" t))
            (style-members))))

(defun done-members ()
  "Return the members with the number of forms that were evaluated, and their values."
  (list "formNumber" *form-number*
        "values" (loop for values in (reverse *done*)
                       collect (if (eq values :empty) #() values))))

(defun evaluate-code (code package)
  "Evaluate the forms of the text CODE in PACKAGE (NIL: the session's). Return the plist of JSON
members of the answer."
  (let* ((*form-number* 0)
         (*value-budget* *values-limit*)
         (*done* '())
         (*so-far* (list #'done-members))
         (members (call-as-job-part package (lambda () (evaluate-text code)))))
    (append (done-members) members)))

(define-operation ("evaluate" :members t :starter #'start-evaluation) (code package)
  "Evaluate the forms of the text CODE in PACKAGE, or in the session's. The answer has the values of
each evaluated form, also when a later one signals."
  (evaluate-code code (and package (named-package package))))
