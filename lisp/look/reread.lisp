;;;; Finds the names that the top-level forms of loaded files use. SBCL discards the code of these
;;;; forms after they have run. So the backend reads a loaded file again when a request first needs
;;;; these names. READ-NEW-TEXTS starts this. FILE-LOAD, its MARK and **SOURCES** are defined in
;;;; top-forms.lisp, *SCRATCH* and PARTS-OF-FORM in walk.lisp. DOUBTFUL, from jobs/spans.lisp,
;;;; marks a form that the compiler may have read otherwise.

(in-package "LIVE-LISP.LOOK")

(define-shape unread-file ()
  "A file that the backend could not read completely, so that it does not know all top-level forms,
  and the reason."
  (file string) (why string))

(defvar *entered* nil
  "The package that is current in the file that is being read again. Meanwhile *PACKAGE* is not this
package but *SCRATCH*, a copy of it, so that reading interns no symbols in the package itself.")

(defvar *evaluated-by-reader* '()
  "A list of the forms after #. in the top-level form that is being read again.")

(defparameter *read-limit* (* 16 1024 1024)
  "The maximum size, in octets, of a file that the backend reads again.")

(defparameter *reader-settings*
  '((set-macro-character . 3) (set-dispatch-macro-character . 3) (make-dispatch-macro-character . 2)
    (set-syntax-from-char . 2))
  "A list of (FUNCTION . COUNT) pairs for functions that set the syntax of a character in a
readtable. With at most COUNT arguments, FUNCTION changes the current readtable. A further argument
is another readtable to change.")

;;; Which files are read again

(defun read-new-texts ()
  "Find the names used by the top-level forms that were evaluated or loaded since the last call of
this function. An interrupt can end this function after each form or file, and a later call
continues there."
  (dolist (top-form (unread-definers)) (read-definer top-form))
  (let* ((unread (unread-loads))
         (*work-left* (lambda () (and unread (values "files" (length unread))))))
    (loop while unread
          do (read-again (first unread))
             (pop unread))))

(defun unread-loads ()
  "Return a list of the FILE-LOAD structures whose files were not read again yet."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for load being the hash-values of **sources**
            when (eq :unread (file-load-state load)) do (push load unread)))
    (nreverse unread)))

(defun read-again (load)
  "Read the file of LOAD, a FILE-LOAD structure, again, and record the names that its forms use. If
reading ends early, record the reason. The file is read only once for the same LOAD. But if an
interrupt ended the reading, a later call may repeat it (see READING-AGAIN)."
  (let ((interrupted "it was interrupted"))
    ;; If an interrupt ends the reading for good, this text remains as the reason.
    (setf (file-load-state load) interrupted)
    (reading-again ((when (eq interrupted (file-load-state load))
                      (setf (file-load-state load) :unread)))
      (read-into load))))

(defun read-into (load)
  "Read the file of LOAD, a FILE-LOAD structure, and record the result in LOAD."
  (let ((file (translated (file-load-name load))) (created (file-load-created load)) (forms '()))
    (without-traces
      (multiple-value-bind (problem read)
          (read-version (lambda (number parts)
                          (let ((found (uses-of-parts parts)))
                            (when found (push (make-top-form load number :uses found) forms))))
                        file created)
        (sb-sys:without-interrupts
          (mapc #'note-top-form forms)
          (setf (file-load-forms load) forms
                (file-load-read load) read
                (file-load-state load)
                (cond (problem)
                      ((and created (not (eql read created))) "it changed since it was loaded")
                      (t t))))))))

(defun read-version (visit file created)
  "Call the function VISIT with two arguments for each top-level form of FILE, a native name: the
number of the form and the list of its PARTS-OF-FORM. Read the text that FILE had at the date
CREATED or, if this text is unknown, its current text. Return two values: NIL or the reason why
reading ended early, and the date of the text that was read."
  (let ((now (date-of file))            ; Before reading, so that a later change is noticed.
        (text (and (changed-p file created)
                   **text-as-loaded**
                   (funcall **text-as-loaded** file created))))
    (if text
        (values (call-with-copy (lambda (copy) (read-forms visit copy :path file :date created))
                                text)
                created)
        (values (read-forms visit file) now))))

(defun unread-data ()
  "Return a list of JSON objects for the files that could not be read again completely, each with
the file's name and the reason."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for load being the hash-values of **sources**
            for state = (file-load-state load)
            when (stringp state)
              do (push (object "file" (translated (file-load-name load)) "why" state) unread)))
    (nreverse unread)))

(defun note-source (source)
  "Return the FILE-LOAD structure for the load of the file of SOURCE, a debug source. If this load
has no FILE-LOAD structure, make one. Return NIL for code from no file and for SBCL's own files."
  (let ((name (and source (source-name source))))
    (when (and (stringp name) (not (sbcl-file-p name)))
      (note-load name source (lambda () (source-date source))))))

(defun note-load (name mark created)
  "Return the FILE-LOAD structure for a load of the file NAME. MARK is an object unique to the load.
If the last structure for NAME has another mark, make a new structure, and call CREATED, a function
without arguments, for the write date of the file."
  (let ((known (gethash name **sources**)))
    (if (and known (eq mark (file-load-mark known)))
        known
        (setf (gethash name **sources**) (make-file-load name mark (funcall created))))))

;;; Reading a file

(defun read-forms (visit file &rest version)
  "Read FILE, a native name. For each top-level form, call the function VISIT with two arguments:
the number of the form, from 0, and a list of forms. The list has the parts of the form that SBCL
compiles separately, such as those of a PROGN. At its end is (QUOTE X) for each form X that stands
after #. in the top-level form. Return NIL or, if reading ended early, the reason as text. VERSION
is a list of keyword arguments for CALL-READING-AGAIN."
  (let ((*package* *package*) (*entered* nil) (*scratch* nil) (*evaluated-by-reader* '())
        (*readtable* (readtable-without-evaluation *readtable*))
        (*read-suppress* nil))
    (flet ((read-all (in take)
             (enter (find-package "COMMON-LISP-USER"))
             (loop for number from 0
                   for offset = (file-position in)
                   for form = (read-preserving-whitespace in nil in)
                   until (eq form in)
                   ;; TAKE records where the lists of the form are in the file.
                   do (funcall take form number offset *entered*)
                      (let ((parts (and (consp form) (parts-of-form form))))
                        (funcall visit number
                                 (append parts (loop while *evaluated-by-reader*
                                                     collect `',(pop *evaluated-by-reader*))))
                        (take-settings parts)))))
      (unwind-protect
           (handler-case
               (progn (apply #'call-reading-again #'read-all (regular-file file) version)
                      nil)
             (error (condition) (reading-problem condition)))
        (when *scratch* (delete-package *scratch*))))))

(defun reading-problem (condition)
  "Return the first line of text that describes CONDITION, a reader error, without its stream and
the final period."
  (let ((text (report-text 200 condition)))
    (string-right-trim (list #\. #\Space #\Newline)
                       (subseq text 0 (or (search "Stream:" text)
                                          (position #\Newline text))))))

(defun regular-file (file)
  "Return the truename of FILE, a native name. Signal an error unless it is a regular file of at
most *READ-LIMIT* octets. To read a FIFO, the backend would wait for a writer."
  (let ((true (truename (sb-ext:parse-native-namestring file))))
    (unless (eq :file (file-kind (sb-ext:native-namestring true)))
      (error "it is not a regular file"))
    (with-open-file (in true :element-type '(unsigned-byte 8))
      (when (> (file-length in) *read-limit*) (error "it is larger than 16 MB")))
    true))

(setf **reads-spans** (lambda (file &rest version)
                        (without-traces (apply #'read-forms (constantly nil) file version))))

;;; Settings of the file for its next forms: the current package and the readtable

(defun take-settings (parts)
  "Set *PACKAGE* or *READTABLE* for the next forms of a file if one of PARTS sets it. PARTS is the
list of forms from PARTS-OF-FORM for the form just read. *READTABLE* must be a copy, since it is
modified."
  (dolist (part parts)
    (cond ((sets-reader-p part) (nil-if-program-fails (eval part)))
          ;; PARTS-OF-FORM has expanded macros, so IN-PACKAGE is a SETQ here.
          ((typep part '(cons (eql setq) (cons symbol (cons t null))))
           (destructuring-bind (variable form) (rest part)
             (case variable
               (*package* (enter (eval form)))
               (*readtable* (setf *readtable* (readtable-without-evaluation (eval form))))))))))

(defun sets-reader-p (form)
  "Return true if FORM sets the syntax of a character in the current readtable and has no other
effect."
  (let ((most (and (consp form)
                   (proper-length form)
                   (cdr (assoc (first form) *reader-settings*)))))
    (and most
         (<= (length (rest form)) most)
         (nil-if-program-fails
           (every (lambda (argument)
                    ;; MACROEXPAND turns (LAMBDA ...) into (FUNCTION (LAMBDA ...)).
                    (let ((form (macroexpand argument)))
                      (or (typep form '(cons (eql function))) (without-effect-p form))))
                  (rest form))))))

(defun enter (package)
  "Set *PACKAGE* to a new copy of PACKAGE, and delete the previous copy."
  (let ((old *scratch*))
    (setf *entered* package
          *scratch* (scratch-package package)
          *package* *scratch*)
    (when old (delete-package old))))

(defun scratch-package (package)
  "Return a new package with all symbols and local nicknames of PACKAGE. While a file is read again,
the reader interns new symbols in this package. In PACKAGE, another thread could find and keep
them."
  (let* ((number (random (expt 36 8) (make-random-state t)))
         (scratch (make-package (format nil "LIVE-LISP TEXT ~36R" number) :use '())))
    (do-symbols (symbol package) (import (list symbol) scratch))
    (loop for (nickname . other) in (sb-ext:package-local-nicknames package)
          do (sb-ext:add-package-local-nickname nickname other scratch))
    scratch))

;;; Reading without evaluation

(defun readtable-without-evaluation (readtable)
  "Return a copy of READTABLE in which #. evaluates only forms without side effects. In the copy,
READ-UNKNOWN reads # and a character that has no meaning after #."
  (let ((copy (copy-readtable readtable)))
    (nil-if-program-fails
      (set-dispatch-macro-character #\# #\. #'read-evaluated copy)
      (loop for code from 33 below 127
            for character = (code-char code)
            do (unless (or (digit-char-p character)
                           (find character "<)")
                           (get-dispatch-macro-character #\# character copy))
                 (set-dispatch-macro-character #\# character #'read-unknown copy))))
    copy))

(defun read-evaluated (stream character number)
  "Reader macro function for #. that evaluates only a form without side effects, and reads any other
form as a quoted object. After #+ and #-, when *PACKAGE* is the KEYWORD package, evaluate any form,
since its value decides what the reader skips."
  (declare (ignore character number))
  (let ((form (read stream t nil t)))
    (push form *evaluated-by-reader*)
    (cond ((without-effect-p form) (eval form))
          ((eq *package* (find-package "KEYWORD")) (nil-if-program-fails (eval form)))
          (t (doubtful (list 'quote form))))))

(defun read-unknown (stream character number)
  "Reader macro function for # and a CHARACTER that has no meaning after # in this image. CHARACTER
may have had a meaning when the file was compiled. So read the next object, and return a form with
it that is marked as DOUBTFUL."
  (declare (ignore character number))
  (doubtful (list 'progn (read stream t nil t))))

(defun without-effect-p (form)
  "Return true if evaluating FORM once more has no effect: FORM calls only functions of Common Lisp
without side effects, and passes them no function to call."
  (cond ((symbolp form) (boundp form))
        ((atom form) t)
        ((not (proper-length form)) nil)
        ((eq (first form) 'quote) (consp (second form)))
        (t (let ((info (and (symbolp (first form))
                            (eq (symbol-package (first form)) (find-package "COMMON-LISP"))
                            (known :function :info (first form)))))
             (and info
                  (intersection '("FLUSHABLE" "FOLDABLE")
                                (attribute-names (function-attributes info)) :test #'string=)
                  (every #'without-effect-p (rest form)))))))
