;;;; Keeps the text of each file as it was when the file was loaded, and the texts of evaluated
;;;; forms. Texts of files are in three places: **TEXTS-READ** has the texts of files that are being
;;;; loaded or compiled, a SOURCE-FILE structure the text of the last complete load of its file, and
;;;; **FORMER-TEXTS** the texts of earlier loads.

(in-package "LIVE-LISP.SOURCES")

(sb-ext:defglobal **texts-read** (make-hash-table :test 'equal :synchronized t)
  "A hash table from paths of files to (DATE . TEXT) pairs: the date and text of a file when SBCL
began to compile it or to load it as source. An entry is removed when the load is recorded.")

(sb-ext:defglobal **former-texts** '()
  "A list of (PATH DATE TEXT) lists, newest first: older versions of loaded files. Code in the image
may come from these versions.")

(defparameter *former-limit* 4000000
  "The maximum size, in octets, of the texts in **FORMER-TEXTS**, not counting the oldest one.")

(sb-ext:defglobal **evaluated-texts** '()
  "A list of (TEXT PACKAGE SYMBOL...) lists, newest first, for evaluated forms that may contain a
definition. TEXT is the text of the form, PACKAGE the name of the package in which the form was
read, and each SYMBOL a symbol that the form changed.")

(defparameter *evaluated-texts-limit* 1000 "The maximum number of forms in **EVALUATED-TEXTS**.")

(defun known-text (path)
  "Return the text that the file PATH, a native truename, had when it was loaded. Return NIL if this
text is unknown."
  (let ((file (gethash path **files**)))
    (and file (source-file-text file))))

(defun loaded-date (path)
  "Return the date that the file PATH, a native truename, had when it was loaded last. Return NIL if
this date is unknown."
  (let ((file (gethash path **files**)))
    (and file (source-file-date file))))

(defun loaded-paths ()
  "Return a list of the paths of the loaded files whose texts are known."
  (loop for file being the hash-values of **files**
        when (source-file-text file) collect (source-file-path file)))

(defun keep-former-text (path date text)
  "Add TEXT, the version of the file PATH with the date DATE, to **FORMER-TEXTS**. Do nothing if
DATE or TEXT is NIL."
  (when (and date text)
    (push (list path date text) **former-texts**)
    (loop for rest on **former-texts**
          sum (length (third (first rest))) into size
          when (> size *former-limit*) do (setf (rest rest) '()))))

(defun version-date (path date text)
  "Return a date for TEXT, a version of the file PATH, a native truename. No other known version of
the file may have this date, because versions are found by their dates, and two can be written in
one second. Try DATE, the write date of the file, and then each later second."
  (let* ((file (gethash path **files**))
         (versions (list* (list path (and file (source-file-date file))
                                (and file (source-file-text file)))
                          **former-texts**)))
    (loop while (loop for (of taken other) in versions
                        thereis (and (eql date taken) (equal path of) (not (equal text other))))
          do (incf date)
          finally (return date))))

(defun set-text (file text date)
  "Record TEXT and DATE as the text and date of the file FILE at its last complete load. Both can be
NIL."
  ;; The file with the same date is taken for the same version.
  (unless (eql date (source-file-date file))
    (keep-former-text (source-file-path file) (source-file-date file) (source-file-text file)))
  (setf (source-file-text file) text (source-file-date file) date (source-file-parts file) '()))

(defun keep-text (path)
  "Record the present text of the file PATH, a native truename, as the loaded text. Use this for a
load that was not recorded."
  (let ((file (known-file path)) (pathname (sb-ext:parse-native-namestring path)))
    (set-text file (read-text pathname) (date-of pathname))))

(defun note-read (file)
  "Record in **TEXTS-READ** the date and text of FILE, a truename, which SBCL begins to read."
  (setf (gethash (sb-ext:native-namestring file) **texts-read**)
        (cons (file-write-date file) (read-text file))))

(defun keep-evaluated (text package changed)
  "Add an element for an evaluated form to **EVALUATED-TEXTS**, if the form may contain a
definition. TEXT is the text of the form, PACKAGE the name of the package in which it was read, and
CHANGED a list of the symbols that it changed."
  (when (or (search "def" text :test #'char-equal) (search "setf" text :test #'char-equal))
    (push (list* text package changed) **evaluated-texts**)
    (let ((last (nthcdr (1- *evaluated-texts-limit*) **evaluated-texts**)))
      (when last (setf (rest last) '())))))

(defun beginning-of (text)
  "Return the beginning of TEXT, an evaluated form, on one line."
  (shortened 80 (on-one-line text)))

(defun evaluation-text (by)
  "Return text that describes an evaluated form. BY is the beginning of the form's text."
  (format nil "the evaluated form ~A" by))

;;; The text and the date of a file at its load

(defun loaded-text (file sources &optional compiled)
  "FILE, a SOURCE-FILE structure, has just been loaded. Return two values: its text, or NIL if the
file may have changed since, and the date of the file at the load. SOURCES is a list of SBCL's debug
sources of the loaded code, in which SBCL records this date. COMPILED is the date of the loaded
fasl, or NIL if a source was loaded or the load has failed."
  ;; While a copy of FILE is loaded in its place, NOTE-READ uses the name of the copy.
  (let* ((name (if (equal (source-file-path file) (cdr *source-copy*))
                   (car *source-copy*)
                   (source-file-path file)))
         (path (sb-ext:parse-native-namestring name))
         ;; The (DATE . TEXT) pair from NOTE-READ. It is NIL if this image has neither compiled FILE
         ;; nor loaded it as source, but only loaded a fasl.
         (read (gethash name **texts-read**))
         (date (if read (car read) (date-of path)))
         ;; NIL if the load made no code of which SBCL keeps the source, such as functions.
         (dates-in-code (loop for source in sources
                              when (source-date source) collect (source-date source))))
    (remhash name **texts-read**)
    (flet ((same-fasl-again-p ()
             (and (not read) compiled (eql compiled (source-file-compiled file))))
           (unchanged-p ()
             (and date
                  (cond (dates-in-code (member date dates-in-code))
                        (compiled (<= date compiled))
                        (t t))
                  ;; Another image may have compiled the file, and the file may have changed later
                  ;; in the same second.
                  (or read (not (eql date compiled))))))
      (if (same-fasl-again-p)
          ;; The text of this fasl is known already. Do not read the file: it may have changed
          ;; within the second of its date.
          (values (source-file-text file) (source-file-date file))
          (values (and (unchanged-p) (if read (cdr read) (read-text path)))
                  (cond (dates-in-code (first dates-in-code))
                        ;; The fasl was made from a version that is at most as new as the fasl.
                        ((and date compiled) (min date compiled))
                        (t date)))))))

(defun complete-sources (file sources)
  "Store the positions of forms in SOURCES, a list of debug sources of the file FILE. SBCL stores
these positions only at the end of a load, so the positions of code from a failed load would be
unknown otherwise."
  (multiple-value-bind (text date) (loaded-text file sources)
    ;; SET-TEXT must not record the text of a failed load. But the image may have code from it.
    (keep-former-text (source-file-path file) date text)
    (dolist (source sources)
      (when (and text +source-positions+ (null (slot-value source +source-positions+)))
        (setf (slot-value source +source-positions+) (form-positions text))))))

;;; Answers about loaded texts for the server and for other packages of the backend. The docstrings
;;; of the first two variables, in jobs/spans.lisp and jobs/places.lisp, describe their functions.

(setf **text-as-loaded**
      (lambda (path date)
        (let ((file (gethash path **files**)) (read (gethash path **texts-read**)))
          (cond ((and file (eql date (source-file-date file))) (source-file-text file))
                ((third (find-if (lambda (former)
                                   (and (eql date (second former)) (equal path (first former))))
                                 **former-texts**)))
                ((eql date (car read)) (cdr read)))))
      **version-as-loaded**
      (lambda (path created)
        (let* ((file (gethash path **files**)) (last (and file (source-file-text file)))
               (text (if created (funcall **text-as-loaded** path created) last))
               (mark (and text (mark-of text))) (latest (and last (mark-of last))))
          (values (or created (and last (source-file-date file)))
                  mark
                  (and (not (equal mark latest)) latest)))))

(defun text-marked (path mark)
  "Return a loaded text of the file PATH, a native truename, that has MARK, a string from MARK-OF.
Return NIL if there is none."
  (let ((file (gethash path **files**)))
    (find-if (lambda (text) (and text (marked-p text mark)))
             (list* (and file (source-file-text file))
                    (cdr (gethash path **texts-read**))
                    (loop for (former nil text) in **former-texts**
                          when (equal path former) collect text)))))

(define-shape loaded-text ()
  "A text that the image has loaded, with a character for each octet, and the features under which
  it was read. `text` is absent if it is the present text of the file, which the server has. Both
  members are absent if the image no longer keeps the text."
  (text string :optional) (features (list string) :optional))

(define-operation ("loaded-texts" :gives (list loaded-text))
    ((versions (list (object (file string) (mark string) (now string)))
      "Files. `mark` identifies a text of the file that the image has loaded, and `now` is the
      digest of the present text."))
  "Return for each of VERSIONS the loaded text that `mark` identifies, and its features. Leave out a
text that is equal to the present one."
  (loop for version in versions
        for text = (text-marked (gethash "file" version) (gethash "mark" version))
        ;; Each text is from READ-TEXT, so it has a READING structure.
        for reading = (and text (gethash text **readings**))
        collect (object "features" (and text (feature-names (reading-features reading)))
                        "text" (and text
                                    (not (equal (gethash "now" version) (reading-digest reading)))
                                    text))))

(define-operation ("loaded-below" :gives boolean)
    ((folders (list string) "Native truenames of folders, with a slash at the end."))
  "Return true if a load of a file in one of FOLDERS has begun or ended."
  (loop for path being the hash-keys of **files**
          thereis (apply #'starts-p path folders)))
