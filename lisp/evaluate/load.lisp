;;;; Loading files and systems.

(in-package "LIVE-LISP.EVALUATE")

(defun call-with-quiet-compiler (function)
  "Call FUNCTION with the chatter of COMPILE-FILE and LOAD off and without compiler notes."
  (let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil) (*load-print* nil))
    (handler-bind ((sb-ext:compiler-note #'muffle-warning))
      (funcall function))))

(defun load-compiled (fasl source)
  "Load the file FASL with *LOAD-TRUENAME* being SOURCE, from which it was made."
  (with-open-file (stream fasl :element-type '(unsigned-byte 8))
    (let ((*package* *package*) (*readtable* *readtable*)
          (*load-pathname* (pathname source)) (*load-truename* (truename source)))
      (load-fasl stream nil nil))))

(defun call-in-folder-of (file function)
  "Call FUNCTION while the directory of FILE, a pathname, is there. The server makes and removes it, where the image
sees what the server makes. Else it is made here, and goes with what is in it."
  (multiple-value-bind (name made) (ensure-directories-exist file)
    (declare (ignore name))
    (unwind-protect (funcall function)
      (when made
        (ignore-errors
         (sb-ext:delete-directory (make-pathname :name nil :type nil :version nil :defaults file) :recursive t))))))

(defvar *phase* nil "What LOAD-FILE is at: \"compile\" or \"load\".")

(defun true-name (file)
  "Return the native true name of FILE, or its native name when it is gone."
  (sb-ext:native-namestring (or (ignore-errors (truename file)) file)))

(defun load-noting (fasl source file forget)
  "Load FASL, which was made from SOURCE: FILE or a copy of that. Return as a JSON object where image and file differ
then. With FORGET take out of the image what FILE no longer defines."
  (let* ((path (true-name file))
         (*source-copy* (and (not (eq file source)) (cons (true-name source) path)))
         (*loaded* nil))
    (call-noting (lambda () (call-user-code (lambda () (load-compiled fasl source)))) :path path)
    (let ((forgotten (and forget (forget-old path))))
      (make-json-object (append forgotten (agreement))))))

(defun loaded-members (made failed source file forget)
  "Load what compiling SOURCE, FILE or a copy of it, has MADE, if anything, and return the members of the answer. FAILED
says that it had errors; with FORGET take out of the image what FILE no longer defines."
  (setf *phase* "load")
  (let ((agreement (and made (load-noting made source file forget))))
    (list "value" (object "file" (sb-ext:native-namestring (truename source))
                          "failed" (and made failed t)
                          "notLoaded" (null made)
                          "agreement" agreement))))

(defun compile-and-load (source fasl file forget)
  "Compile the file SOURCE, FILE or a copy of it, into FASL, load that, and return the members of the answer. With
FORGET take out of the image what FILE no longer defines."
  (multiple-value-bind (made warnings failed)
      (let ((*readtable* (prepare-file source)))
        (call-user-code (lambda () (compile-file source :output-file fasl))))
    (declare (ignore warnings))
    (loaded-members made failed source file forget)))

(defun copy-beside (fasl source content)
  "Write CONTENT, a string with a character for each octet, to a file beside FASL that is named like
SOURCE, and return its pathname."
  (let ((copy (make-pathname :name (pathname-name source) :type (pathname-type source) :version nil
                             :defaults fasl)))
    (with-open-file (stream copy :direction :output :if-exists :supersede :external-format :latin-1)
      (write-string content stream))
    copy))

(define-operation ("load-file" :members t) (file fasl content forget)
  "Compile FILE into FASL, both native names, and load it; with CONTENT, a string with a character for
each octet, that in its place. With FORGET take out of the image what FILE no longer defines."
  (let* ((source (sb-ext:parse-native-namestring file))
         (fasl (sb-ext:parse-native-namestring fasl))
         (*phase* "compile"))
    (flet ((compile-it ()
             (compile-and-load (if content (copy-beside fasl source content) source) fasl source forget)))
      (let ((members (call-as-job-part nil (lambda ()
                                             (call-with-quiet-compiler
                                              (lambda () (call-in-folder-of fasl #'compile-it)))))))
        (list* "phase" *phase* members)))))

(define-operation ("load-files" :members t) (files folder)
  "Compile FILES, native names, and load each, in the order in which their systems load them. What one names and another
defines counts as defined. FOLDER is the native name of a directory for fasls. It ends with the first that is not loaded
to its end, which the answer calls its file."
  (let ((*phase* "compile") (loaded '()) (at nil))
    (flet ((load-all ()
             (loop for file in (in-load-order files)
                   for number from 1
                   for source = (sb-ext:parse-native-namestring file)
                   for fasl = (sb-ext:parse-native-namestring (format nil "~A/~D.fasl" folder number))
                   do (setf *phase* "compile" at file)
                      (push (second (compile-and-load source fasl source nil)) loaded)
                   until (getf (json-object-members (first loaded)) "notLoaded")
                   finally (setf at nil))))
      (let ((members (call-as-job-part nil
                                       (lambda ()
                                         (call-with-quiet-compiler
                                          (lambda ()
                                            (call-in-folder-of
                                             (sb-ext:parse-native-namestring (format nil "~A/1.fasl" folder))
                                             #'load-all)))
                                         '()))))
        (list* "phase" *phase* "file" at "value" (reverse loaded) members)))))

(define-operation ("load-source" :members t) (file)
  "Load FILE, a native name, as a person's own start file."
  (call-as-job-part nil
                    (lambda ()
                      (call-with-quiet-compiler
                       (lambda ()
                         (call-user-code (lambda () (load (sb-ext:parse-native-namestring file))))
                         (list "value" (object "file" file)))))))

;;; Some forms of a file

(defun give-date (copy file)
  "Give the file COPY the date of FILE, by which the compiler knows from which version code is."
  (let ((seconds (- (file-write-date file) (encode-universal-time 0 0 0 1 1 1970 0))))
    (sb-alien:with-alien ((times (array sb-alien:long 2)))
      (setf (sb-alien:deref times 0) seconds
            (sb-alien:deref times 1) seconds)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "utime" (function sb-alien:int sb-alien:c-string (* (array sb-alien:long 2))))
       (sb-ext:native-namestring copy) (sb-alien:addr times)))))

(defun compile-part (copy fasl file)
  "Compile COPY, which has some of the forms of FILE where that has them, into FASL as if it were FILE. Return what
COMPILE-FILE does."
  (give-date copy file)
  (with-compilation-unit (:source-namestring (namestring (truename file))
                          :source-plist (list :live-lisp-date (file-write-date file)))
    (let ((*readtable* (prepare-file copy)))
      (call-user-code (lambda () (compile-file copy :output-file fasl))))))

(defun load-part (copy fasl file)
  "Compile COPY, which has some of the forms of FILE where that has them, into FASL as if it were FILE. Load that, and return
the members of the answer."
  (multiple-value-bind (made warnings failed) (compile-part copy fasl file)
    (declare (ignore warnings))
    (loaded-members made failed file file nil)))

(define-operation ("load-forms" :members t) (file fasl content numbers)
  "Compile into FASL and load some forms of FILE, both native names. CONTENT has a character for each octet of FILE: those
forms, and something short in the place of all others. NUMBERS are what number each form of FILE had before, NIL for those
that are loaded."
  (let* ((source (sb-ext:parse-native-namestring file))
         (fasl (sb-ext:parse-native-namestring fasl))
         (*phase* "compile")
         (*form-numbers* (coerce numbers 'vector)))
    (flet ((load-it () (load-part (copy-beside fasl source content) fasl source)))
      (let ((members (call-as-job-part nil (lambda ()
                                             (call-with-quiet-compiler
                                              (lambda () (call-in-folder-of fasl #'load-it)))))))
        (list* "phase" *phase* members)))))

;;; Systems

(defun needed-system (condition)
  "Return the name of the system that ASDF does not find, and of the one that needs it, when CONDITION says that, else NIL.
The latter is NIL of what a definition needs to be read."
  (let ((missing (contrib-symbol "ASDF" "MISSING-DEPENDENCY")))
    (when (and missing (typep condition missing))
      (let ((needed (asdf-call "MISSING-REQUIRES" condition)) (by (asdf-call "MISSING-REQUIRED-BY" condition)))
        (and (or (null by) (typep by (contrib-symbol "ASDF" "SYSTEM")))
             (typep needed '(or string symbol))
             (null (asdf-call "REGISTERED-SYSTEM" needed))
             (list (asdf-call "COERCE-NAME" needed) (and by (asdf-call "COMPONENT-NAME" by))))))))

(defun call-telling-needed (function)
  "Call FUNCTION. Return NIL, or what NEEDED-SYSTEM returns when that has left it."
  (catch 'needed
    (handler-bind ((error (lambda (condition)
                            (let ((needed (needed-system condition))) (when needed (throw 'needed needed))))))
      (funcall function)
      nil)))

(defun needed-data (name needed)
  "Return what tells of NEEDED, from NEEDED-SYSTEM, that the system NAME cannot be had without it."
  (object "system" name "missing" (first needed) "neededBy" (or (second needed) name) "known" (known-systems)))

(defun found-system (name)
  "Return the system that a person calls NAME, or NIL. The second value is what NEEDED-SYSTEM returns when its definition
cannot be read for want of another."
  (let ((system nil))
    (flet ((look ()
             (call-user-code
              (lambda () (call-telling-needed (lambda () (setf system (find-system name))))))))
      (let ((needed (and (look)
                         (progn (asdf-call "INITIALIZE-SOURCE-REGISTRY")
                                (look)))))
        (values system needed)))))

(defun operate (name force)
  "Load the system NAME, once more after a new look for systems when one that it depends on was not found. Return NIL, or
what NEEDED-SYSTEM returns when that is not found then either."
  (flet ((operate () (if force (asdf-call "LOAD-SYSTEM" name :force t) (asdf-call "LOAD-SYSTEM" name))))
    (let ((missing (contrib-symbol "ASDF" "MISSING-COMPONENT")))
      (when (eq (catch 'look-again
                  (handler-bind ((error (lambda (condition)
                                          (when (and missing (typep condition missing))
                                            (throw 'look-again 'missing)))))
                    (operate)
                    nil))
                'missing)
        (asdf-call "INITIALIZE-SOURCE-REGISTRY")
        (call-telling-needed #'operate)))))

(defun system-members (name force)
  "Load the system NAME, again when FORCE is true, and return the members of the answer."
  (asdf-call "ENSURE-SOURCE-REGISTRY")
  (multiple-value-bind (system unread) (found-system name)
    (if (null system)
        (list "value" (if unread
                          (needed-data (string-left-trim "#:" name) unread)
                          (object "missing" (string-downcase (string-left-trim "#:" name)) "known" (known-systems))))
        (let* ((name (asdf-call "COMPONENT-NAME" system)) (before (loaded-systems)) (*loaded* nil)
               (needed (call-noting (lambda () (call-user-code (lambda () (operate name force)))))))
          (list "value" (if needed
                            (needed-data name needed)
                            (object "system" name
                                    "already" (and (member name before :test #'string=) (not force))
                                    "loaded" (sort (set-difference (loaded-systems) before :test #'string=) #'string<)
                                    "agreement" (make-json-object (agreement)))))))))

(define-operation ("load-system" :members t) (name force)
  "Load the system NAME and what it depends on with ASDF."
  (call-as-job-part nil
                    (lambda ()
                      (call-with-quiet-compiler
                       (lambda ()
                         (sb-thread:with-mutex (**load-lock**)
                           (load-asdf)
                           (call-finding-all
                            (lambda ()
                              (system-members name force)))))))))

(defun source-directories (name)
  "Return the native names of the directories in which ASDF has the definition and the sources
of the system NAME."
  (let ((system (asdf-call "REGISTERED-SYSTEM" name)))
    (loop for place in '("SYSTEM-SOURCE-DIRECTORY" "COMPONENT-PATHNAME")
          for name = (ignore-errors
                      (let ((directory (translate-logical-pathname (asdf-call place system))))
                        (and (null (pathname-name directory)) (sb-ext:native-namestring directory))))
          when name collect name)))

(define-operation "system-sources" ()
  "List the directories with the sources of the systems that are loaded; none before the first is."
  (and (contrib-function "ASDF" "REGISTERED-SYSTEM")
       (remove-duplicates (loop for name in (loaded-systems) append (source-directories name))
                          :test #'string=)))

(defun system-paths (names)
  "Return the native names of the source files of the systems NAMES that are loaded, and of those that define them; at
most 5000."
  (page (loop for name in (and (contrib-function "ASDF" "REGISTERED-SYSTEM") names)
              for system = (asdf-call "REGISTERED-SYSTEM" name)
              for definition = (and system (ignore-errors (asdf-call "SYSTEM-SOURCE-FILE" system)))
              when definition collect (sb-ext:native-namestring definition)
              append (and system (ignore-errors (component-files system))))
        0 5000))

(define-operation "system-files" (names)
  "List the source files of the systems NAMES that are loaded, and those that define them; at most 5000."
  (system-paths names))

(define-operation "compare-files" (path system package limit)
  "Tell where the image differs from the file PATH, a native name, or from the files of SYSTEM and of its parts. With
PACKAGE it is where it differs from any file that was loaded in the names of that. LIMIT differences of a kind are told,
20 without."
  (compare-files (if system
                     (system-paths (loop for part in (system-parts (string-left-trim "#:" system))
                                         collect (asdf-call "COMPONENT-NAME" part)))
                     (list path))
                 (and package (named-package package))
                 limit))
