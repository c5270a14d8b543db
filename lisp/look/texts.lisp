;;;; Finds what the top-level forms of loaded files use. The code of these forms is gone after they
;;;; have run. So the files are read again, at the first question after they were loaded.

(in-package "LIVE-LISP.LOOK")

(defun read-unknown (stream character number)
  "A dispatch macro function for # and a CHARACTER that has no meaning in this image: read the
object after it. The file may have defined this syntax only at compile time."
  (declare (ignore character number))
  (doubtful (list 'progn (read stream t nil t))))

(defun without-effect-p (form)
  "True when evaluating FORM again has no effect: it only calls functions of the language without
side effects, and passes them no functions that they could call."
  (cond ((symbolp form) (boundp form))
        ((atom form) t)
        ((eq (first form) 'quote) (consp (second form)))
        (t (let ((info (and (symbolp (first form))
                            (eq (symbol-package (first form)) (find-package "COMMON-LISP"))
                            (known :function :info (first form)))))
             (and info
                  (intersection '("FLUSHABLE" "FOLDABLE")
                                (attribute-names (function-attributes info)) :test #'string=)
                  (every #'without-effect-p (rest form)))))))

(defun readtable-without-evaluation (readtable)
  "Return a copy of READTABLE in which #. evaluates only forms without side effects, and returns
other forms as data. After #+ and #-, where *PACKAGE* is KEYWORD, #. evaluates any form, since the
value decides what is skipped."
  (let ((copy (copy-readtable readtable)))
    (ignore-errors
     (set-dispatch-macro-character #\# #\. (lambda (stream character number)
                                             (declare (ignore character number))
                                             (let ((form (read stream t nil t)))
                                               (cond ((without-effect-p form) (eval form))
                                                     ((eq *package* (find-package "KEYWORD"))
                                                      (ignore-errors (eval form)))
                                                     (t (doubtful (list 'quote form))))))
                                   copy)
     (loop for code from 33 below 127
           for character = (code-char code)
           do (unless (or (digit-char-p character)
                          (find character "<)")
                          (get-dispatch-macro-character #\# character copy))
                (set-dispatch-macro-character #\# character #'read-unknown copy))))
    copy))

(defun scratch-package (package)
  "Return a new package with all symbols of PACKAGE. New symbols are interned in it instead of
PACKAGE, where another thread could find and keep them."
  (let ((scratch (make-package (format nil "LIVE-LISP TEXT ~36R" (random (expt 36 8))) :use '())))
    (do-symbols (symbol package) (import (list symbol) scratch))
    (loop for (nickname . other) in (sb-ext:package-local-nicknames package)
          do (sb-ext:add-package-local-nickname nickname other scratch))
    scratch))

(defun enter (package)
  "Make a new scratch package for PACKAGE, and make it current. Delete the previous scratch
package."
  (let ((old *scratch*))
    (setf *scratch* (scratch-package package)
          *package* *scratch*)
    (when old (delete-package old))))

(defparameter *reader-settings*
  '((set-macro-character . 3) (set-dispatch-macro-character . 3) (make-dispatch-macro-character . 2)
    (set-syntax-from-char . 2))
  "Functions that set the syntax of a character, with the number of arguments after which comes
another readtable than the current.")

(defun sets-reader-p (form)
  "True when FORM sets the syntax of a character in the current readtable and has no other effect."
  (let ((most (and (consp form) (cdr (assoc (first form) *reader-settings*)))))
    (and most
         (<= (length (rest form)) most)
         (every (lambda (argument)
                  ;; LAMBDA is a macro.
                  (let ((form (macroexpand argument)))
                    (or (typep form '(cons (eql function))) (without-effect-p form))))
                (rest form)))))

(defun take-settings (parts)
  "Set *PACKAGE* or *READTABLE*, which is a copy, for the next forms as PARTS do, which are from
PARTS-OF-FORM of the form just read."
  (dolist (part parts)
    (cond ((sets-reader-p part) (ignore-errors (eval part)))
          ((typep part '(cons (eql setq) (cons symbol (cons t null))))
           (destructuring-bind (variable form) (rest part)
             (case variable
               (*package* (enter (eval form)))
               (*readtable* (setf *readtable* (readtable-without-evaluation (eval form))))))))))

(defparameter *read-limit* (* 16 1024 1024) "Files with more octets are not read.")

(defun regular-file (file)
  "Return the truename of FILE, a native name. Signal an error unless it is a regular file of at
most *READ-LIMIT* octets: reading a FIFO would wait for a writer."
  (let ((true (truename (sb-ext:parse-native-namestring file))))
    (unless (eq :file (file-kind (sb-ext:native-namestring true)))
      (error "it is not a regular file"))
    (with-open-file (in true :element-type '(unsigned-byte 8))
      (when (> (file-length in) *read-limit*) (error "it is larger than 16 MB")))
    true))

(defun read-forms (visit file &rest version)
  "Call VISIT for each top-level form of FILE, a native name, with the number of the form, counted
from 0, and its PARTS-OF-FORM. Return NIL, or the reason as text if reading ended early. VERSION are
keyword arguments for CALL-READING-AGAIN."
  (let ((*package* *package*) (*scratch* nil)
        (*readtable* (readtable-without-evaluation *readtable*))
        (*read-suppress* nil))
    (unwind-protect
         (handler-case
             (progn
               (apply
                #'call-reading-again
                (lambda (in take)
                  (enter (find-package "COMMON-LISP-USER"))
                  (loop for number from 0
                        for offset = (file-position in)
                        for form = (read-preserving-whitespace in nil in)
                        until (eq form in)
                        do (funcall take form number offset)
                           (let ((parts (and (consp form) (parts-of-form form))))
                             (funcall visit number parts)
                             (take-settings parts))))
                (regular-file file) version)
               nil)
           (error (condition)
             (let ((text (report-text 200 condition)))
               (string-right-trim (list #\. #\Space #\Newline)
                                  (subseq text 0
                                          (or (search "Stream:" text)
                                              (position #\Newline text)))))))
      (when *scratch* (delete-package *scratch*)))))

(setf **reads-spans** (lambda (file &rest version)
                        (without-traces (apply #'read-forms (constantly nil) file version))))

(defun note-load (name mark created)
  "Record a load of the file NAME, whose date is CREATED, and return its FILE-LOAD. MARK is an
object unique to the load. If the recorded FILE-LOAD has the same MARK, return it."
  (let ((known (gethash name **sources**)))
    (if (and known (eq mark (file-load-mark known)))
        known
        (setf (gethash name **sources**) (make-file-load name mark created)))))

(defun note-source (source)
  "Record the load of the file of SOURCE, a debug source, and return its FILE-LOAD. Return NIL for
code from no file and for SBCL's own files."
  (let ((name (and source (source-name source))))
    (when (and (stringp name) (not (eql 0 (search "SYS:" name))))
      (note-load name source (source-date source)))))

(defun read-again (load)
  "Read the file of LOAD, a FILE-LOAD, again, and record what its forms use. If reading ends early,
record the reason. The file is not read again for the same LOAD."
  (setf (file-load-state load) "it was interrupted")
  (let ((file (translated (file-load-name load))) (places '()))
    (without-traces
      (let ((problem (read-forms (lambda (number parts)
                                   (let ((found (uses-of-parts parts)))
                                     (when found
                                       (push (make-top-form load number :uses found) places))))
                                 file)))
        (find-spans file (file-load-created load))
        (setf (file-load-places load) places
              (file-load-state load)
              (cond (problem)
                    ((changed-p file (file-load-created load)) "it changed since it was loaded")
                    (t t)))))
    (mapc #'note-place places)))

(defun unread-loads ()
  "Return the FILE-LOADs whose files were not read again yet."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for load being the hash-values of **sources**
            when (eq :unread (file-load-state load)) do (push load unread)))
    (nreverse unread)))

(defun read-new-texts ()
  "Find what was used by the top-level forms evaluated or loaded since the last question."
  (dolist (place (unread-definers)) (read-definer place))
  (mapc #'read-again (unread-loads)))

(defun unread-data ()
  "Return JSON objects for the files that could not be read again to their ends, each with the name
and the reason."
  (let ((unread '()))
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for load being the hash-values of **sources**
            for state = (file-load-state load)
            when (stringp state)
              do (push (object "file" (translated (file-load-name load)) "why" state) unread)))
    (nreverse unread)))
