;;;; Which systems there are, and what a file needs of them before it is compiled. ASDF is loaded on first use, so its
;;;; functions are looked up by name.

(in-package "LIVE-LISP.EVALUATE")

(defun asdf-call (name &rest arguments)
  "Call the function NAME of ASDF with ARGUMENTS."
  (apply (contrib-function "ASDF" name) arguments))

(defun loaded-systems ()
  "Return the names of the systems that are loaded."
  (asdf-call "ALREADY-LOADED-SYSTEMS"))

(defun registry ()
  "Return the table in which ASDF keeps the .asd file of each name that it has found, or NIL."
  (let* ((symbol (contrib-symbol "ASDF" "*SOURCE-REGISTRY*")) (table (and symbol (symbol-value symbol))))
    (and (hash-table-p table) table)))

(defun known-systems ()
  "Return names of systems that ASDF can find, at most 5000."
  (let ((registry (registry)))
    (and registry (page (sort (loop for name being the hash-keys of registry collect name) #'string<) 0 5000))))

;;; Systems in files of another name. ASDF finds a system only in a file that is named as it is.

(defun file-text (file)
  "Return the octets of FILE as characters, of a large file none, or NIL when it cannot be read."
  (ignore-errors
   (with-open-file (in file :external-format :latin-1)
     (let ((text (make-string (if (< (file-length in) 1000000) (file-length in) 0))))
       (subseq text 0 (read-sequence text in))))))

(defun defines-system-p (text name)
  "True when TEXT, of an .asd file, has a DEFSYSTEM form for the system NAME."
  (flet ((name-at (start)
           (let* ((begin (position-if-not (lambda (char) (find char '(#\Space #\Tab #\Newline #\Return #\" #\# #\: #\')))
                                          text :start start))
                  (end (and begin (+ begin (length name)))))
             (and begin
                  (< end (length text))
                  (string-equal name text :start2 begin :end2 end)
                  (find (char text end) '(#\" #\Space #\Tab #\Newline #\Return #\( #\)))))))
    (loop for found = (search "defsystem" text :test #'char-equal)
            then (search "defsystem" text :test #'char-equal :start2 (1+ found))
          while found
            thereis (name-at (+ found (length "defsystem"))))))

(defun defining-file (name)
  "Return the .asd file of another name that defines the system NAME. Return NIL without one, and when NAME is defined:
ASDF would read the file again, and forget what of it is loaded."
  (let ((name (string-downcase name)) (registry (registry)))
    (when (and registry (plusp (length name)) (not (asdf-call "REGISTERED-SYSTEM" name)))
      (loop for file being the hash-values of registry
            for text = (file-text file)
            when (and text (defines-system-p text name)) return file))))

(defun call-finding-all (function)
  "Call FUNCTION while ASDF also finds systems in files of other names."
  (let ((searches (contrib-symbol "ASDF" "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*")))
    (if searches
        (progv (list searches) (list (append (symbol-value searches) (list #'defining-file)))
          (funcall function))
        (funcall function))))

(defun find-system (name)
  "Return the system NAME, or NIL when there is none; ASDF looks again for one that was
written after it first looked."
  (or (asdf-call "FIND-SYSTEM" name nil)
      (progn (asdf-call "INITIALIZE-SOURCE-REGISTRY")
             (asdf-call "FIND-SYSTEM" name nil))))

;;; In which order files are loaded

(defun parent-p (component)
  "True when COMPONENT, of a system, has others within it."
  (let ((parent (contrib-symbol "ASDF" "PARENT-COMPONENT")))
    (and parent (typep component parent))))

(defun true-names (files)
  "Return the true names of FILES, native names, as strings."
  (loop for file in files
        collect (or (ignore-errors (sb-ext:native-namestring (truename (sb-ext:parse-native-namestring file)))) file)))

(defun planned-files (files)
  "Return the true names of the files that the systems with one of FILES, true names, load, in that order. A system of
which the .asd file has changed counts, although ASDF takes it for not loaded."
  (loop for name in (and (contrib-function "ASDF" "REGISTERED-SYSTEM") (asdf-call "REGISTERED-SYSTEMS"))
        for system = (asdf-call "REGISTERED-SYSTEM" name)
        when (intersection files (true-names (ignore-errors (component-files system))) :test #'string=)
          append (true-names (loop for component in (ignore-errors
                                                     (asdf-call "REQUIRED-COMPONENTS" system :other-systems t))
                                   unless (parent-p component)
                                     append (ignore-errors (component-files component))))))

(defun in-load-order (files)
  "Return FILES, native names, those of systems first, in the order in which these load them, and each once."
  (let* ((files (remove-duplicates (true-names files) :test #'string= :from-end t))
         (plan (planned-files files)))
    (stable-sort files #'<
                 :key (lambda (file) (or (position file plan :test #'string=) (length plan))))))

;;; Scripts

(defun readtable-for (source)
  "Return the readtable for the file SOURCE. It is the current one, or a copy that takes a byte order mark, with which
the file begins, for white space."
  (with-open-file (stream source :element-type '(unsigned-byte 8))
    (if (equal '(#xef #xbb #xbf) (loop repeat 3 collect (read-byte stream nil)))
        (let ((readtable (copy-readtable)))
          (set-syntax-from-char (code-char #xfeff) #\Space readtable)
          readtable)
        *readtable*)))

(defun names-asdf-p (file)
  "True when the text of FILE has a symbol with the prefix ASDF or UIOP."
  (let ((text (file-text file)))
    (and text
         (loop for colon = (position #\: text) then (position #\: text :start (1+ colon))
               while colon
                 thereis (and (>= colon 4)
                              (or (string-equal "asdf" text :start2 (- colon 4) :end2 colon)
                                  (string-equal "uiop" text :start2 (- colon 4) :end2 colon)))))))

(defun library-form-p (form)
  "True when FORM requires a module, or uses a symbol of ASDF or of a manager of libraries."
  (labels ((uses-p (part)
             (cond ((consp part) (or (uses-p (car part)) (uses-p (cdr part))))
                   (t (and part (symbolp part) (library-symbol-p part))))))
    (and (consp form) (or (eq (car form) 'require) (uses-p form)))))

(defun script-p (file)
  "True when FILE begins with a form (REQUIRE ...), behind comments."
  (let ((text (file-text file)))
    (when text
      (with-input-from-string (in text)
        (loop for char = (peek-char t in nil nil)
              while (eql char #\;) do (read-line in nil)
              finally (return (let ((start (file-position in)) (head "(require "))
                                (and char
                                     (<= (+ start (length head)) (length text))
                                     (string-equal head text :start2 start :end2 (+ start (length head)))))))))))

(defun load-libraries-of (file)
  "Evaluate the forms with which FILE, a script, begins and which load libraries. COMPILE-FILE would read what comes
after them before they run. The first that cannot be read is left to it."
  (with-open-file (in file)
    (let ((*package* *package*) (*readtable* (readtable-for file))
          (*load-pathname* file) (*load-truename* (truename file)))
      (loop for form = (handler-case (call-user-code (lambda () (read in nil in)))
                         (error () nil))
            while (library-form-p form)
            do (call-user-code (lambda () (eval form)))))))

(defun prepare-file (file)
  "Load what FILE needs so that the whole of it can be read."
  (when (and (not (find-package "ASDF")) (names-asdf-p file))
    (load-asdf))
  (when (script-p file)
    (load-libraries-of file)))
