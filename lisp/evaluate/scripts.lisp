;;;; Loads libraries that are needed before a whole file can be read: ASDF or the library manager if
;;;; the file names it, and the systems that a script loads at its beginning.

(in-package "LIVE-LISP.EVALUATE")

;;; Readtables

(defun begins-with-p (file octets)
  "Return true if FILE, a pathname, begins with OCTETS, a list of octets."
  (with-open-file (stream file :element-type '(unsigned-byte 8))
    (loop for octet in octets always (eql octet (read-byte stream nil)))))

(defun skip-line (stream char number)
  "Skip the rest of a line of STREAM, and return no object. This is the function of the dispatch
macro #!."
  (declare (ignore char number))
  (read-line stream nil)
  (values))

(defun readtable-for (source)
  "Return the readtable for the file SOURCE: normally the current one. If the file begins with a
byte order mark or with #!, return a copy in which the mark is white space, or #! begins a comment."
  (let ((mark (begins-with-p source '(#xef #xbb #xbf))) (script (begins-with-p source '(35 33))))
    (if (or mark script)
        (let ((readtable (copy-readtable)))
          (when mark (set-syntax-from-char (code-char #xfeff) #\Space readtable))
          (when script (set-dispatch-macro-character #\# #\! #'skip-line readtable))
          readtable)
        *readtable*)))

(defun readtable-calling (visit readtable)
  "Return a copy of READTABLE that calls the function VISIT with three arguments for each list that
it reads: the list, the position after its opening parenthesis, and the stream. The reader returns
the value of VISIT in place of the list."
  (let ((copy (copy-readtable readtable)) (read-list (get-macro-character #\( readtable)))
    (set-macro-character #\( (lambda (stream char)
                               (let ((place (file-position stream)))
                                 (funcall visit (funcall read-list stream char) place stream)))
                         nil copy)
    copy))

;;; Scripts

(defun names-package-p (text name)
  "Return true if TEXT, the text of a file, contains the package name NAME before a symbol, as a
keyword or as a string."
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
  "Load ASDF or the library manager if the text of FILE, a pathname, names one of their packages:
without the package, the reader would signal an error. For an .asd file, load ASDF in any case."
  (let ((text (read-text file)))
    (flet ((named-p (names) (and text (some (lambda (name) (names-package-p text name)) names))))
      (when (and (not (find-package "ASDF"))
                 (or (equal (pathname-type file) "asd") (named-p '("asdf" "uiop"))))
        (load-asdf))
      (when (and **library-manager-due** (named-p *manager-packages*)) (load-library-manager)))))

(defun library-form-p (form)
  "Return true if FORM defines nothing, and requires a module or uses a symbol of ASDF or of a
library manager."
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
  "If FORM is an IN-PACKAGE form and its package exists, set *PACKAGE* to this package and return
it. Otherwise return NIL."
  (let ((package (and (typep form '(cons (eql in-package) (cons (or symbol string character) null)))
                      (find-package (second form)))))
    (when package (setf *package* package))))

(defun load-libraries-of (file readtable)
  "Evaluate the forms at the beginning of FILE, a script, that load libraries, because COMPILE-FILE
would read later forms before these have run. Read with READTABLE. Stop at the first form that
neither loads libraries nor is an IN-PACKAGE form, or that cannot be read. Return a list of the
positions of the evaluated forms."
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
  "Return true if STREAM reads from FILE, a pathname. While FILE is compiled, other files may be
read too."
  (and (typep stream 'file-stream) (equal (true-file stream) (truename file))))

(defun prepare-file (file)
  "Load the libraries that are needed to read FILE, a pathname. Return the readtable with which to
read FILE. With this readtable, READ returns NIL in place of each form that LOAD-LIBRARIES-OF has
already evaluated."
  (load-packages-of file)
  (let* ((readtable (readtable-for file)) (run (load-libraries-of file readtable)))
    (if run
        (readtable-calling (lambda (form place stream)
                             (if (and (member place run) (reads-p stream file)) nil form))
                           readtable)
        readtable)))

(defun compile-source (source fasl &optional (readtable (prepare-file source)))
  "Compile the file SOURCE into the file FASL, and return the values of COMPILE-FILE. READTABLE is a
result of PREPARE-FILE. For an .asd file, the package at the beginning is ASDF-USER."
  (let ((*readtable* readtable)
        (*package* (or (and (equal "asd" (pathname-type source)) (find-package "ASDF-USER"))
                       *package*)))
    (call-user-code (lambda () (compile-file source :output-file fasl)))))
