;;;; Loads libraries that are needed before a whole file can be read: ASDF or the library manager if
;;;; the file names it, and the systems that a script loads at its beginning.

(in-package "LIVE-LISP.EVALUATE")

;;; Readtables

(defun begins-with-p (file octets)
  "Return true if the file FILE begins with the octets in the list OCTETS."
  (with-open-file (stream file :element-type '(unsigned-byte 8))
    (loop for octet in octets always (eql octet (read-byte stream nil)))))

(defun skip-line (stream char number)
  "Dispatch macro function that skips the rest of a line of STREAM, and returns no object."
  (declare (ignore char number))
  (read-line stream nil)
  (values))

(defun readtable-for (source)
  "Return the readtable for the file SOURCE: the current one or, if the file begins with a byte
order mark or with #!, a copy in which the mark is white space, and the line a comment."
  (let ((mark (begins-with-p source '(#xef #xbb #xbf))) (script (begins-with-p source '(35 33))))
    (if (or mark script)
        (let ((readtable (copy-readtable)))
          (when mark (set-syntax-from-char (code-char #xfeff) #\Space readtable))
          (when script (set-dispatch-macro-character #\# #\! #'skip-line readtable))
          readtable)
        *readtable*)))

(defun readtable-calling (visit readtable)
  "Return a copy of READTABLE that calls the function VISIT with each list read, the position after
its opening parenthesis, and the stream. The reader returns the value of VISIT in place of the
list."
  (let ((copy (copy-readtable readtable)) (read-list (get-macro-character #\( readtable)))
    (set-macro-character #\( (lambda (stream char)
                               (let ((place (file-position stream)))
                                 (funcall visit (funcall read-list stream char) place stream)))
                         nil copy)
    copy))

;;; Scripts

(defun names-package-p (text name)
  "Return true if TEXT, the text of a file, names the package NAME: before a symbol, as a keyword or
as a string."
  (flet ((named-at-p (start &aux (end (+ start (length name))))
           (let ((before (if (plusp start) (char text (1- start)) #\Space))
                 (after (if (< end (length text)) (char text end) #\Space)))
             (or (find before ":\"")
                 (and (find after ":/") (not (alphanumericp before)) (char/= before #\-))))))
    (loop for found = (search name text :test #'char-equal)
            then (search name text :test #'char-equal :start2 (1+ found))
          while found
            thereis (named-at-p found))))

(defun load-packages-of (file)
  "Load ASDF or the library manager if the text of FILE names one of their packages, since the
reader would signal an error there. For an .asd file, always load ASDF."
  (let ((text (read-text file)))
    (flet ((named-p (names) (and text (some (lambda (name) (names-package-p text name)) names))))
      (when (and (not (find-package "ASDF"))
                 (or (equal (pathname-type file) "asd") (named-p '("asdf" "uiop"))))
        (load-asdf))
      (when (and **library-manager-due** (named-p *manager-packages*)) (load-library-manager)))))

(defun library-form-p (form)
  "Return true if FORM requires a module or uses a symbol of ASDF or of a library manager, and
defines nothing."
  (let ((uses nil))
    (labels ((definer-p (symbol) (starts-p (symbol-name symbol) "DEF"))
             (look (part)
               (cond ((consp part)
                      (when (and (symbolp (car part)) (definer-p (car part)))
                        (return-from library-form-p nil))
                      (look (car part))
                      (look (cdr part)))
                     ((and part (symbolp part) (or (eq part 'require) (library-symbol-p part)))
                      (setf uses t)))))
      (and (consp form) (progn (look form) uses)))))

(defun enter-package-of (form)
  "Set *PACKAGE* to the package in FORM, an IN-PACKAGE form, and return it. Return NIL for another
FORM."
  (let ((package (and (typep form '(cons (eql in-package) (cons (or symbol string character) null)))
                      (find-package (second form)))))
    (when package (setf *package* package))))

(defun load-libraries-of (file readtable)
  "Evaluate the forms at the beginning of FILE, a script, that load libraries, since COMPILE-FILE
would read later forms first. Use READTABLE. Stop at another form, or one that cannot be read.
Return a list of their positions."
  (with-open-file (in file)
    (let* ((places (make-hash-table :test 'eq)) (run '()) (*package* *package*)
           (*readtable* (readtable-calling (lambda (form place stream)
                                             (declare (ignore stream))
                                             (when form (setf (gethash form places) place))
                                             form)
                                           readtable))
           (*load-pathname* file) (*load-truename* (truename file)))
      (loop for form = (nil-if-program-fails
                         (call-user-code (lambda () (let ((*read-eval* nil)) (read in nil in)))))
            for library = (library-form-p form)
            while (or library (enter-package-of form))
            do (when library
                 (let ((*readtable* readtable)) (call-user-code (lambda () (eval form))))
                 (push (gethash form places) run)))
      run)))

(defun reads-p (stream file)
  "Return true if STREAM reads FILE. Other files can be read while FILE is compiled."
  (and (typep stream 'file-stream) (equal (true-file stream) (truename file))))

(defun prepare-file (file)
  "Load the libraries without which FILE cannot be read, and return the readtable for FILE. It reads
the lists that LOAD-LIBRARIES-OF has evaluated as NIL."
  (load-packages-of file)
  (let* ((readtable (readtable-for file)) (run (load-libraries-of file readtable)))
    (if run
        (readtable-calling (lambda (form place stream)
                             (if (and (member place run) (reads-p stream file)) nil form))
                           readtable)
        readtable)))

(defun compile-source (source fasl &optional (readtable (prepare-file source)))
  "Compile the file SOURCE into FASL, and return the values of COMPILE-FILE. READTABLE is from
PREPARE-FILE. Reading an .asd file begins in ASDF-USER."
  (let ((*readtable* readtable)
        (*package* (or (and (equal "asd" (pathname-type source)) (find-package "ASDF-USER"))
                       *package*)))
    (call-user-code (lambda () (compile-file source :output-file fasl)))))
