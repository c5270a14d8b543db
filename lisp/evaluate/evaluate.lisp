;;;; Reads and evaluates forms one by one, so that an IN-PACKAGE affects the forms after it.
;;;; CALL-NOTING (sources/loads.lisp) records the definitions that a form makes, and
;;;; EVALUATE-REPORTING (journal/journal.lisp) reports to the server what it changed. The special
;;;; variables that CALL-AS-JOB-PART binds are described in the files of the folder jobs, most of
;;;; them in warnings.lisp and hold.lisp.

(in-package "LIVE-LISP.EVALUATE")

(defparameter *value-limit* 10000 "The largest number of characters of one printed value.")
(defparameter *values-limit* 39000
  "The largest number of characters of all printed values of one call. The server cuts answers of
more than 40000 characters. But the code of a call can return the text of another tool, which may be
a list of up to 38000 characters and must be shown whole.")

;;; Reading

(defun line-and-column (text offset)
  "Return two values: the line and the column of the index OFFSET in TEXT, both counted from 1."
  (let ((newline (position #\Newline text :end offset :from-end t)))
    (values (1+ (count #\Newline text :end offset))
            (if newline (- offset newline) (1+ offset)))))

(defun skip-to-form (stream)
  "Skip white space and line comments in STREAM. Return the position of the next form, or NIL at the
end of STREAM."
  (loop for char = (peek-char t stream nil nil)
        while (eql char #\;) do (read-line stream nil)
        finally (return (and char (file-position stream)))))

(defun interned-symbols (interned)
  "Return a list of (PACKAGE . SYMBOL) pairs for INTERNED, a list of (PACKAGE . NAME) pairs. Leave
out deleted packages, and names that no longer lead to a symbol in their package."
  (loop for (package . name) in interned
        for (symbol status) = (and (package-name package)
                                   (multiple-value-list (find-symbol name package)))
        when status collect (cons package symbol)))

(defun unintern-new (new form)
  "Unintern the symbols in NEW, a list of (PACKAGE . SYMBOL) pairs, if they have no definition and
their names occur in FORM. FORM is the text of a form that could not be read. The second test spares
most symbols that other threads have interned meanwhile."
  (loop for (package . symbol) in new
        do (unless (or (fboundp symbol) (find-class symbol nil)
                       (and (boundp symbol) (not (keywordp symbol)))
                       (not (search (symbol-name symbol) form :test #'char-equal)))
             (unintern symbol package))))

(defvar *unreadable* nil
  "NIL, or a tag of a CATCH. If a form cannot be read, a JSON object with the reason is thrown to
it. Each call makes a new tag, so that user code cannot throw to it.")

(defmacro catching-unreadable (&body body)
  "Evaluate BODY and return its value. If BODY meets a form that cannot be read, return the JSON
object with the reason, which READ-FORM throws to *UNREADABLE*."
  `(let ((*unreadable* (list nil)))
     (catch *unreadable* ,@body)))

(define-shape unreadable ()
  "A form that the reader could not read: its number in the text, the position of its start
  (`line`, `column`), and the position where the reader stopped (`atLine`, `atColumn`)."
  (text string "Why the form could not be read.")
  (near (list string) :optional)
  (missing boolean :optional
   "True when the text names a package, or a symbol in a package, that does not exist.")
  (without-manager boolean :optional
   "True when the text uses a package of a library manager, and no manager is set up.")
  (init-file string :optional
   "The user's init file, when it was not loaded and may define the missing name. Sent once per
   image.")
  (number integer) (line integer) (column integer) (at-line integer) (at-column integer))

(defun read-form (stream text start)
  "Return the next form of STREAM, which begins at index START of TEXT, or STREAM itself at its end.
If the form cannot be read, unintern its new symbols, and throw a JSON object with the reason to
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
  "Read the forms of TEXT one by one. Call the function VISIT with each form, the index of its start
in TEXT, and the stream, whose position is after the form. Return NIL. If a form cannot be read,
stop, and return a JSON object with the reason."
  (let ((stream (make-string-input-stream text)))
    (catching-unreadable
      (loop for start = (skip-to-form stream)
            while start
            do (incf *form-number*)
               (let ((form (read-form stream text start)))
                 (when (eq form stream) (decf *form-number*) (return))
                 (funcall visit form start stream))))))

(defun form-reader (text start stream)
  "Return a function without parameters that returns the source text of the form at index START of
TEXT. The form was just read from STREAM."
  (let ((end (min (length text) (file-position stream))))
    (lambda () (string-right-trim '(#\Space #\Newline #\Tab) (subseq text start end)))))

(defun forms-with-texts (text)
  "Return two values: a list of (FORM READER) lists for the forms of TEXT, and NIL or a JSON object
with the reason why a form could not be read. READER is a function without parameters that returns
the source text of FORM."
  (let* ((*form-number* 0) (forms '())
         (unreadable (map-forms (lambda (form start stream)
                                  (push (list form (form-reader text start stream)) forms))
                                text)))
    (values (reverse forms) unreadable)))

(defun forms-in (text)
  "Return two values: a list of the forms of TEXT, and NIL or a JSON object with the reason why a
form could not be read."
  (multiple-value-bind (forms unreadable) (forms-with-texts text)
    (values (mapcar #'first forms) unreadable)))

(defun last-p (stream)
  "Return true if no other form follows in STREAM. Leave the position of STREAM unchanged."
  (let ((place (file-position stream)))
    (prog1 (nil-if-program-fails
             (let ((*read-suppress* t))
               (eq stream (call-user-code (lambda () (read stream nil stream))))))
      (file-position stream place))))

(defun last-form (text)
  "Evaluate all forms of TEXT except the last, each before the next one is read. Return two values:
the last form, and NIL or a JSON object with the reason why a form could not be read."
  (let* ((*form-number* 0) (last nil)
         (unreadable (map-forms (lambda (form start stream)
                                  (if (last-p stream)
                                      (setf last form)
                                      (let ((reader (form-reader text start stream)))
                                        (call-noting
                                         (lambda ()
                                           (evaluate-reporting form reader #'identity))
                                         :by reader))))
                                text)))
    (values last unreadable)))

;;; Evaluating

(defmacro printing-values (&body body)
  "Evaluate BODY with the printer settings of the user. If the user has set no limit of length or
level, bind a limit, so that a large value does not fill an answer."
  `(let ((*print-length* (or *print-length* 1000))
         (*print-level* (or *print-level* 50))
         (*package* (usable-package *package*)))
     ,@body))

(defun hidden-length (value)
  "Return the length of VALUE if it is a list or vector whose last elements *PRINT-LENGTH* hides.
Otherwise return NIL."
  (let ((length (typecase value
                  (list (proper-length value))
                  (string nil)
                  (vector (length value)))))
    (and length *print-length* (> length *print-length*) length)))

(defvar *value-budget* 0
  "The number of characters that the remaining printed values of this call may have.")

(defun mostly-blank-p (text)
  "Return true if TEXT has more than 400 characters and more than half of them are spaces. The
pretty printer can produce such a text for deeply nested data."
  (and (> (length text) 400)
       (> (* 2 (count #\Space text)) (length text))))

(defun printed-slots (structure)
  "Return a list of the slot values of STRUCTURE that the printer prints. Return NIL if a method of
the user prints STRUCTURE, because its output is unknown."
  (let ((method (first (compute-applicable-methods #'print-object
                                                   (list structure *standard-output*)))))
    (when (eq (first (sb-mop:method-specializers method)) (find-class 'structure-object))
      (mapcar #'cdr (all-slots structure)))))

(defun printed-parts (value)
  "Return a list of the objects in VALUE that the printer prints: at most *PRINT-LENGTH* elements of
an array, or the slot values of a structure. VALUE is no cons."
  (typecase value
    ((array t) (loop for index below (min *print-length* (array-total-size value))
                     collect (row-major-aref value index)))
    (structure-object (printed-slots value))))

(defun circular-p (value)
  "Return true if VALUE contains itself, or a part of VALUE contains itself. Examine at most 10000
parts, to the depth *PRINT-LEVEL*."
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
  "Return true if VALUE is no number but contains one that satisfies LONG-NUMBER-P. Examine at most
1000 parts, to the depth *PRINT-LEVEL*."
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
  "Return a copy of the current pprint dispatch table with PRINT-NUMBER, which shortens long
numbers, for bignums and ratios."
  (let ((table (copy-pprint-dispatch)))
    (set-pprint-dispatch '(or bignum ratio) #'print-number 100 table)
    table))

(defun print-value (value stream)
  "Print VALUE on STREAM as PRIN1 does. But print at most *PRINT-LENGTH* bits of a bit vector,
because PRIN1 would print all."
  (if (and (bit-vector-p value) (> (length value) *print-length*))
      (format stream "~S..." (subseq value 0 *print-length*))
      (prin1 value stream)))

(defun value-text (value)
  "Return VALUE printed, as by ~S, in at most *VALUE-LIMIT* and at most *VALUE-BUDGET* characters.
The second value is true if the text was cut. The third is true if *PRINT-CIRCLE* was turned on
because VALUE is circular. The fourth is true if numbers in VALUE were shortened. The fifth is the
number of digits if VALUE itself is a number that was shortened."
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
                  (values text nil nil nil digits)
                  (values (subseq text 0 *value-budget*) t)))
            (values text cut circular shortened))))))

(sb-ext:defglobal **display-function** nil
  "NIL, or a function of a value. It returns the text for the value in answers, or NIL to print the
value.")

(defun value-display-text (value)
  "Return the text to show for VALUE. If **DISPLAY-FUNCTION** gives a text, return it, and as second
value true if it was cut. Otherwise return the values of VALUE-TEXT."
  (let ((text (and **display-function** (funcall **display-function** value))))
    (cond ((null text) (value-text value))
          ((<= (length text) *value-budget*) text)
          (t (values (subseq text 0 *value-budget*) t)))))

(define-shape printed-value ()
  "A printed value; or, in its place, the number of further values that were left out."
  (text string :optional "The value as ~S prints it.")
  (omitted integer :optional "How many further values were left out.")
  (cut boolean :optional "True when the text was too long, so its end is missing.")
  (length integer :optional "The value of *PRINT-LENGTH*, if it hid a part of the value.")
  (characters integer :optional "The length of a string that was cut.")
  (digits integer :optional
   "How many digits a number has, when only its first and its last digits are shown.")
  (shortened boolean :optional
   "True when only the first and the last digits of some numbers within the value are shown.")
  (circular boolean :optional
   "True when the value is printed with labels such as #1=, because a part of it contains itself.")
  (id string :optional "Id under which the tool inspect finds a value that was not shown whole."))

(defun value-data (value)
  "Return a JSON object for VALUE with its text, which is limited in length. It has the length of
VALUE if elements are hidden, and an id if the text does not show all of VALUE."
  (multiple-value-bind (text cut circular shortened digits) (value-display-text value)
    (decf *value-budget* (length text))
    (let ((hidden (hidden-length value)))
      (object "text" text
              "cut" cut
              "characters" (and cut (stringp value) (length value))
              "length" hidden
              "circular" circular
              "digits" digits
              "shortened" shortened
              "id" (cond (digits (object-id value t))
                         ((or cut hidden shortened) (object-id value)))))))

(defun values-data (values)
  "Return a list of JSON objects for the elements of VALUES, a list, or #() if there are none.
After 100 values, or when *VALUE-BUDGET* is used up, only count the remaining ones."
  (loop for rest on values
        for index from 0
        while (and (plusp *value-budget*) (< index 100))
        collect (value-data (first rest)) into printed
        finally (return (cond (rest (append printed (list (object "omitted" (length rest)))))
                              (printed)
                              (t #())))))

(defvar *unprinted* nil
  "True while the values of a form that has run are printed, and if this printing did not end.")

(defun evaluate-form (form text)
  "Evaluate FORM, set the variables of a REPL such as * and +, and return the result of VALUES-DATA
for the values of FORM. TEXT is a function that returns the source text of FORM."
  (setf - form
        *unprinted* nil)
  (call-noting
   (lambda ()
     (evaluate-reporting form text
                         (lambda (values)
                           (setf /// // // / / values
                                 *** ** ** * * (first values)
                                 +++ ++ ++ + + form)
                           (note-set-by form)
                           (setf *unprinted* t)
                           (prog1 (printing-values
                                    (call-user-code (lambda () (values-data values))))
                             (setf *unprinted* nil)))))
   :by text))

(defun evaluate-to-its-end (form text)
  "Call EVALUATE-FORM with FORM and TEXT, and return its value. Call it again each time
EVALUATE-AGAIN ends it. Bind ASDF's search functions at each call, because an earlier form can have
loaded ASDF."
  (loop (catch 'again
          (return (call-finding-trees (lambda () (evaluate-form form text)))))))

(defun evaluate-again ()
  "End the evaluation of the current form, which is stopped at a held error, by a throw. Evaluate
the form again."
  (throw 'again nil))

(defvar *evaluated-values* nil
  "A list of the results of VALUES-DATA for the forms evaluated so far, newest first.")

(defun note-form (text start stream)
  "Set *FORM-TEXT* to the first 2000 characters of the form at index START of TEXT. The form was
just read from STREAM."
  (let ((end (min (length text) (file-position stream) (+ start 2000))))
    (setf *form-text* (string-right-trim '(#\Space #\Newline #\Tab) (subseq text start end)))))

(defun evaluate-text (text)
  "Read and evaluate the forms of TEXT one by one. Push the result of VALUES-DATA for each form onto
*EVALUATED-VALUES*. Return a plist of JSON members with \"unreadable\": NIL, or a JSON object with
the reason why a form could not be read."
  (list "unreadable"
        (map-forms (lambda (form start stream)
                     (note-form text start stream)
                     (push (evaluate-to-its-end form (form-reader text start stream))
                           *evaluated-values*))
                   text)))

(defun remarks-so-far ()
  "Return a plist of JSON members about the current package and the warnings so far. Forget these
warnings, so that later answers do not repeat them."
  (prog1 (list* "package" (package-name (usable-package *package*)) (warning-members))
    (setf *remarks* (make-remarks))))

(defun call-as-job-part (package function &key together)
  "Call FUNCTION, which returns a plist of JSON members, in the session. *PACKAGE* is PACKAGE or,
if PACKAGE is NIL, the session's package. If TOGETHER is true, compile everything in one compilation
unit. Return the plist from FUNCTION. If FUNCTION ends in another way, as by an error, return
members that tell how. Add members about warnings, restarts and settings."
  (let ((*remarks* (make-remarks)) (members '()) (returned nil)
        (*error-keeper* #'keep-error) (*form-text* nil) (*fresh-readtable* nil)
        (*loads-in-spite* together)
        (*progress-functions* (cons #'remarks-so-far *progress-functions*))
        (*restarts-taken* (make-hash-table :test 'equal)) (*restarts-needing-values* '())
        (*went-on-by* '()))
    (call-in-session
     package
     (lambda ()
       (setf members (job-result *job* (lambda ()
                                         (multiple-value-prog1
                                             (call-collecting-warnings function :together together)
                                           (setf returned t)))))
       ;; FUNCTION can have changed *PACKAGE*.
       (setf members (list* "package" (package-name (usable-package *package*)) members))))
    (unless returned (forget-undefined))
    (append members
            (warning-members)
            (taken-members)
            (and *fresh-readtable* (list "freshReadtable" t))
            (style-members))))

(defun done-members ()
  "Return a plist of JSON members: the number of the form that was evaluated last, whether printing
its values failed, and the values of the evaluated forms."
  (list "formNumber" *form-number*
        "unprinted" *unprinted*
        "values" (reverse *evaluated-values*)))

(defun evaluate-code (code package)
  "Evaluate the forms of CODE, a text, in PACKAGE or, if PACKAGE is NIL, in the session's package.
Return a plist of JSON members."
  (let* ((*form-number* 0)
         (*value-budget* *values-limit*)
         (*evaluated-values* '())
         (*unprinted* nil)
         (*progress-functions* (list #'done-members))
         (members (call-as-job-part package (lambda () (evaluate-text code)))))
    (append (done-members) members)))

(define-shape forms-data (remarks)
  "The result of an operation that reads the forms of a text, and evaluates or compiles them."
  (form-number integer :optional "Number of the form that was read or evaluated last (1-based).")
  (unreadable unreadable :optional) (value lookup-failure :optional))

(define-shape main-thread-busy ()
  "Why the main thread could not run a request."
  (job integer :optional
   "Id of the request that the main thread is running, or the negative number of the held error at
   which it is stopped. Absent in an image whose main thread runs no requests."))

(define-shape evaluate-data (forms-data)
  "The answer to a request to evaluate forms."
  (values (list (list printed-value)) :optional "The printed values of each evaluated form.")
  (unprinted boolean :optional
   "True when the last form ran to its end, and only printing its values failed.")
  (main-thread main-thread-busy :optional
   "Sent when the main thread was asked to evaluate the forms and could not, so that nothing was
   evaluated."))

(define-operation ("evaluate" :members t :holds t :gives evaluate-data
                   :starter #'start-evaluation
                   :also ((main-thread boolean :optional
                           "True to evaluate the forms in the main thread.")))
    (code package)
  "Evaluate the forms of CODE. The answer has the values of each evaluated form, even if a later
form signals an error."
  (evaluate-code code (and package (named-package package))))
