;;;; Evaluation: forms are read and evaluated one by one, so that IN-PACKAGE counts
;;;; for what follows.

(in-package "LIVE-LISP.EVALUATE")

(defparameter *value-limit* 10000 "Characters of one printed value.")
(defparameter *values-limit* 39000 "Characters of the values of one call. As many as an answer of a tool has, so one is told whole.")

;;; Reading

(defun line-and-column (text offset)
  "Return the line and the column, from 1, of OFFSET in TEXT."
  (let ((newline (position #\Newline text :end offset :from-end t)))
    (values (1+ (count #\Newline text :end offset))
            (if newline (- offset newline) (1+ offset)))))

(defun skip-to-form (stream)
  "Step over white space and line comments and return where the next form begins, or
NIL at the end."
  (loop for char = (peek-char t stream nil nil)
        while (eql char #\;) do (read-line stream nil)
        finally (return (and char (file-position stream)))))

(defun packages-named (text)
  "Return the packages that TEXT names before two colons: what it reads can intern there."
  (let ((packages '()))
    (loop for colon = (search "::" text) then (search "::" text :start2 (+ colon 2))
          while colon
          do (let* ((start (position-if (lambda (char) (find char '(#\Space #\Newline #\Tab #\( #\) #\' #\` #\, #\@ #\")))
                                        text :end colon :from-end t))
                    (package (find-package (string-upcase (subseq text (if start (1+ start) 0) colon)))))
               (when package (pushnew package packages))))
    packages))

(defun packages-to-watch (text)
  "Return the packages besides the current one that must be looked through to know what reading TEXT interns. There are
none where that is heard."
  (unless **hears-interning** (cons (find-package "KEYWORD") (packages-named text))))

(sb-ext:defglobal **snapshots** (make-hash-table :test 'eq :synchronized t :weakness :key)
  "The copies of symbol vectors that were made last, by package.")

(defun symbol-vectors (package)
  "Return copies of the symbol vectors of PACKAGE, those made last when they are still true. Return NIL when SBCL does
not show them, or when they are too large to look through for every form."
  (let ((cells (package-cells package)) (copies (gethash package **snapshots**)))
    (cond ((or (notevery #'simple-vector-p cells) (> (reduce #'+ cells :key #'length) 50000)) nil)
          ((and copies (every #'same-cells-p cells copies)) copies)
          (t (setf (gethash package **snapshots**) (mapcar #'copy-seq cells))))))

(defun present-symbols (packages)
  "Return, for each of PACKAGES, a list of it and its symbol vectors as they are now."
  (loop for package in packages
        for vectors = (and package (symbol-vectors package))
        when vectors collect (cons package vectors)))

(defun new-symbols (before)
  "Return the symbols that are new since BEFORE, from PRESENT-SYMBOLS, each after its package, in pairs."
  (loop for (package . vectors) in before
        append (let ((known (make-hash-table :test 'eq)) (new '()))
                 (dolist (cells vectors)
                   (loop for cell across cells do (setf (gethash cell known) t)))
                 (with-package-iterator (next package :internal :external)
                   (loop
                     (multiple-value-bind (more symbol) (next)
                       (unless more (return new))
                       (unless (gethash symbol known) (push (cons package symbol) new))))))))

(defun interned-symbols (interned)
  "Return the symbols of INTERNED, a value of *INTERNED*, each after its package, in pairs."
  (loop for (package . name) in interned
        for (symbol status) = (and (package-name package) (multiple-value-list (find-symbol name package)))
        when status collect (cons package symbol)))

(defun unintern-new (new form)
  "Take out of their packages those symbols of NEW, from NEW-SYMBOLS or INTERNED-SYMBOLS, whose names stand in FORM. That
is the text that interned them and then could not be read. Other threads intern symbols meanwhile, which stay."
  (loop for (package . symbol) in new
        do (unless (or (fboundp symbol) (find-class symbol nil)
                       (and (boundp symbol) (not (keywordp symbol)))
                       (not (search (symbol-name symbol) form :test #'char-equal)))
             (unintern symbol package))))

(defvar *unreadable* nil "A tag to throw to what tells that a form cannot be read. It is new each time: code finds no other.")

(defmacro catching-unreadable (&body body)
  "Evaluate BODY, and return its value or what it throws to *UNREADABLE*."
  `(let ((*unreadable* (list nil)))
     (catch *unreadable* ,@body)))

(defun read-form (stream text start packages)
  "Read the next form of STREAM, which begins at START in TEXT, of which PACKAGES are to watch. A form that cannot be read
ends the call with a text that says what is wrong and where (S2.16). The symbols that it interned are taken out again."
  (let ((before (and packages (present-symbols (adjoin *package* packages))))
        (*interned* '()))
    (handler-bind
        ((error
           (lambda (condition)
             (let ((end (min (length text) (file-position stream))))
               (multiple-value-bind (line column) (line-and-column text start)
                 (multiple-value-bind (at-line at-column) (line-and-column text end)
                   (unintern-new (if packages (new-symbols before) (interned-symbols *interned*))
                                 (subseq text start end))
                   (throw *unreadable*
                     (object "text" (reader-text condition)
                             "near" (near-condition condition)
                             "missing" (and (missing-name-p condition) (not (lacks-manager-p condition)))
                             "withoutManager" (lacks-manager-p condition)
                             "number" *form-number* "line" line "column" column
                             "atLine" at-line "atColumn" at-column))))))))
      (call-user-code
       (lambda ()
         (call-reading (lambda ()
                         (file-position stream start)
                         (read stream nil stream))))))))

(defun map-forms (visit text)
  "Read the forms of TEXT one by one. Call VISIT with each, where it begins, and the stream that stands behind it. Return
what could not be read as an answer tells it, or NIL."
  (let ((stream (make-string-input-stream text)) (packages (packages-to-watch text)))
    (catching-unreadable
      (loop for start = (skip-to-form stream)
            while start
            do (incf *form-number*)
               (let ((form (read-form stream text start packages)))
                 (when (eq form stream) (decf *form-number*) (return))
                 (funcall visit form start stream))))))

(defun form-reader (text start stream)
  "Return a function that returns the form that begins at START in TEXT and that STREAM has just read,
as it stands."
  (let ((end (min (length text) (file-position stream))))
    (lambda () (string-right-trim '(#\Space #\Newline #\Tab) (subseq text start end)))))

(defun forms-with-texts (text)
  "Return the forms of TEXT, each a list of it and of what FORM-READER returns. The second value says what could not be
read as an answer does, or is NIL."
  (let* ((*form-number* 0) (forms '())
         (unreadable (map-forms (lambda (form start stream)
                                  (push (list form (form-reader text start stream)) forms))
                                text)))
    (values (reverse forms) unreadable)))

(defun forms-in (text)
  "Return the forms of TEXT. The second value is what FORMS-WITH-TEXTS has."
  (multiple-value-bind (forms unreadable) (forms-with-texts text)
    (values (mapcar #'first forms) unreadable)))

(defun last-p (stream)
  "True when no form follows in STREAM. It stays where it is."
  (let ((place (file-position stream)))
    (prog1 (handler-case (let ((*read-suppress* t))
                           (eq stream (call-user-code (lambda () (read stream nil stream)))))
             (error () nil))
      (file-position stream place))))

(defun last-form (text)
  "Return the last form of TEXT, before which the others are evaluated, each before the next one is read. The second value
is what FORMS-IN returns."
  (let* ((*form-number* 0) (last nil)
         (unreadable (map-forms (lambda (form start stream)
                                  (if (last-p stream)
                                      (setf last form)
                                      (evaluate-telling form (form-reader text start stream) #'identity)))
                                text)))
    (values last unreadable)))

;;; Evaluating

(defmacro printing-values (&body body)
  "Evaluate BODY with the printer as the user set it, and bounds where it has none: one
careless value does not fill an answer. User code never runs with them."
  `(let ((*print-length* (or *print-length* 1000))
         (*print-level* (or *print-level* 50))
         (*package* (usable-package *package*)))
     ,@body))

(defun hidden-length (value)
  "Return the length of VALUE, a list or a vector, when *PRINT-LENGTH* hides a part of it."
  (let ((length (typecase value
                  (list (ignore-errors (list-length value)))
                  (string nil)
                  (vector (length value)))))
    (and length *print-length* (> length *print-length*) length)))

(defvar *value-budget* 0 "How many characters the printed values of this call may still take.")

(defun mostly-blank-p (text)
  "True when most of TEXT is blanks, as of data that is deep and was printed with line breaks."
  (and (> (length text) 400)
       (> (* 2 (count #\Space text)) (length text))))

;; A structure with a PRINT-OBJECT method of its own shows its slots or not, which nobody can know.
(defun printed-slots (structure)
  "Return the values of the slots of STRUCTURE that the printer goes into: none where a method of the user prints it."
  (let ((method (first (compute-applicable-methods #'print-object (list structure *standard-output*)))))
    (when (eq (first (sb-mop:method-specializers method)) (find-class 'structure-object))
      (loop for slot in (sb-mop:class-slots (class-of structure))
            for name = (sb-mop:slot-definition-name slot)
            when (slot-boundp structure name) collect (slot-value structure name)))))

(defun printed-parts (value)
  "Return the objects in VALUE, no cons, that the printer goes into, *PRINT-LENGTH* of them at most."
  (typecase value
    ((array t) (loop for index below (min *print-length* (array-total-size value))
                     collect (row-major-aref value index)))
    (structure-object (printed-slots value))))

(defun circular-p (value)
  "True when VALUE contains itself as far as the printer goes into it, or into the first ten thousand of its parts."
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

(defun value-text (value)
  "Return VALUE printed as by ~S in as much room as there is, and whether it was cut. One that contains itself has labels.
Where line breaks make most of that blank, there are none."
  (flet ((printed () (bounded-string (min *value-limit* *value-budget*) (lambda (stream) (prin1 value stream)))))
    (let ((*print-circle* (or *print-circle* (and (not (typep value '(or number string symbol))) (circular-p value)))))
      (multiple-value-bind (text cut) (printed)
        (if (and *print-pretty* (not (stringp value)) (mostly-blank-p text))
            (let ((*print-pretty* nil)) (printed))
            (values text cut))))))

(sb-ext:defglobal **told-as** nil
  "A function that returns the text as which a value is told instead of printed, or NIL for other values.")

(defun told-text (value)
  "Return the text as which VALUE is told, printed unless it has one of its own, and whether it was cut."
  (let ((text (and **told-as** (funcall **told-as** value))))
    (cond ((null text) (value-text value))
          ((<= (length text) *value-budget*) text)
          (t (values (subseq text 0 *value-budget*) t)))))

(defun value-data (value)
  "Return VALUE as text, bounded, and its true length where only a part is shown."
  (multiple-value-bind (text cut) (told-text value)
    (decf *value-budget* (length text))
    (let ((hidden (hidden-length value)))
      (object "text" text "cut" cut "length" hidden "id" (and (or cut hidden) (object-id value))))))

(defun values-data (values)
  "Return VALUES, a list, printed, or :EMPTY; those for which the call has no more room are
only counted."
  (loop for rest on values
        for index from 0
        while (and (plusp *value-budget*) (< index 100))
        collect (value-data (first rest)) into printed
        finally (return (cond (rest (append printed (list (object "omitted" (length rest)))))
                              (printed)
                              (t :empty)))))

(defun evaluate-form (form text)
  "Evaluate FORM as a REPL does, and return the list of its values printed. TEXT is a function that
returns it as it stood."
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
  "Return what EVALUATE-FORM does for FORM and TEXT, which begins anew each time that EVALUATE-AGAIN leaves it."
  (loop (catch 'again (return (evaluate-form form text)))))

(defun evaluate-again ()
  "Leave the evaluation of a form of this call, and evaluate it again."
  (throw 'again nil))

(defvar *done* nil "The printed values of the forms that were evaluated, newest first.")

(defun note-form (text start stream)
  "Note in *FORM-TEXT* the form that begins at START in TEXT and that STREAM has just read."
  (let ((end (min (length text) (file-position stream) (+ start 2000))))
    (setf *form-text* (string-right-trim '(#\Space #\Newline #\Tab) (subseq text start end)))))

(defun evaluate-text (text)
  "Read and evaluate the forms of TEXT one by one, adding the values of each to *DONE*.
Return the members of the answer that only tell what could not be read."
  (list "unreadable" (map-forms (lambda (form start stream)
                                  (note-form text start stream)
                                  (push (evaluate-to-its-end form (form-reader text start stream)) *done*))
                                text)))

(defun remarks-so-far ()
  "Return the members that tell of the package and of warnings until now. Those are not told again."
  (prog1 (list* "package" (package-name (usable-package *package*)) (warning-members))
    (setf *remarks* (make-remarks))))

(defun call-as-job-part (package function)
  "Call FUNCTION, which returns members, in the session in PACKAGE, and keep warnings. Return its members, or those
that tell why it was left, and the warnings."
  (let ((*remarks* (make-remarks)) (members '())
        (*error-keeper* #'keep-error) (*form-text* nil) (*fresh-readtable* nil)
        (*so-far* (cons #'remarks-so-far *so-far*))
        (*taken* (make-hash-table :test 'equal)) (*went-on-by* '()))
    (call-in-session package
                     (lambda ()
                       (setf members (job-result *job* (lambda () (call-collecting-warnings function)))
                             members (list* "package" (package-name (usable-package *package*)) members))))
    (append members (warning-members) (taken-members) (and *fresh-readtable* (list "freshReadtable" t)) (style-members))))

(defun done-members ()
  "Return the members that tell which forms were evaluated, and their values."
  (list "formNumber" *form-number*
        "values" (loop for values in (reverse *done*)
                       collect (if (eq values :empty) #() values))))

(defun evaluate-code (code package)
  "Evaluate the forms of the text CODE in PACKAGE, or in the session's when that is NIL. Return the members of the answer."
  (let* ((*form-number* 0)
         (*value-budget* *values-limit*)
         (*done* '())
         (*so-far* (list #'done-members))
         (members (call-as-job-part package (lambda () (evaluate-text code)))))
    (append (done-members) members)))

(define-operation ("evaluate" :members t) (code package)
  "Evaluate the forms of the text CODE in PACKAGE, or in the session's. The answer has
the values of each form that was evaluated, also when a later one signals."
  (evaluate-code code (and package (named-package package))))
