;;;; Loads files and systems.
;;;;
;;;; The load of a file runs in functions CALL-... that nest in this order, outermost first. An
;;;; operation leaves out those that it does not need.
;;;;
;;;;   CALL-AS-JOB-PART         It returns the members of the answer even when a load is ended
;;;;                            early, and its compilation unit holds all files of the operation.
;;;;   CALL-WITH-QUIET-COMPILER Its bindings are needed while files are compiled and while fasls
;;;;                            are loaded.
;;;;   CALL-IN-FOLDER-OF        The copy of the source and the fasl are in this folder, and the
;;;;                            folder may be deleted only after the load.
;;;;   CALL-COMPILING-AS        Needs the copy. What a file compiles while it is loaded belongs to
;;;;                            the original file, too.
;;;;   CALL-UNTIL-FITTING       Can compile and load again.
;;;;   CALL-MAKING-WAY          Reports the methods that are missing after the load is recorded.
;;;;                            For several files there is one around all, because a later file
;;;;                            can define a method again that an earlier one displaced.
;;;;   CALL-NOTING              Records what the load defined. FORGET-OLD follows it, because it
;;;;                            removes what the record of this load no longer has.
;;;;   CALL-USER-CODE           Innermost: newer frames than its own count as frames of the user.
;;;;
;;;; The load of a system has CALL-FINDING-ALL in place of the three for folders, copies and
;;;; structures, and CALL-LOOKING-AGAIN inside CALL-USER-CODE.

(in-package "LIVE-LISP.EVALUATE")

(defun call-with-quiet-compiler (function)
  "Call FUNCTION, and muffle the compiler's notes. COMPILE-FILE and LOAD print no progress messages
meanwhile."
  (let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil) (*load-print* nil))
    (handler-bind ((sb-ext:compiler-note #'muffle-warning))
      (funcall function))))

(defun found-name (file)
  "Return the truename of FILE, or the pathname FILE itself when no such file exists."
  (or (ignore-errors (truename file)) (pathname file)))

(defun true-name (file)
  "Return the truename of FILE as a native namestring, or the name of FILE itself when no such file
exists."
  (sb-ext:native-namestring (found-name file)))

(defun load-compiled (fasl source)
  "Load FASL, which was compiled from the file SOURCE, with *LOAD-TRUENAME* bound to the truename of
SOURCE. If SOURCE is a copy, bind it to the truename of the original: the program may find other
files by it."
  (let ((file (if *source-copy*
                  (sb-ext:parse-native-namestring (cdr *source-copy*))
                  source)))
    (call-user-code
     (lambda ()
       (with-open-file (stream fasl :element-type '(unsigned-byte 8))
         (let ((*package* *package*) (*readtable* *readtable*)
               (*load-pathname* (pathname file)) (*load-truename* (found-name file)))
           (load-fasl stream nil nil)))))))

(defun call-in-folder-of (file function)
  "Call FUNCTION while the directory of FILE, a pathname, exists. The server makes and removes this
directory. If the image does not see the server's files, make the directory here, and delete it with
its contents afterwards."
  (multiple-value-bind (name made) (ensure-directories-exist file)
    (declare (ignore name))
    (unwind-protect (funcall function)
      (when made
        (ignore-errors
         (sb-ext:delete-directory (make-pathname :name nil :type nil :version nil :defaults file)
                                  :recursive t))))))

(defvar *phase* nil "The phase of the current load: \"compile\" or \"load\".")

(defun load-noting (load source file forget)
  "Call LOAD, a function that loads the compiled code of SOURCE, which is FILE or a copy of it.
Record the definitions that it makes as definitions of FILE. If FORGET is not NIL, then call
FORGET-OLD with it, which removes old definitions of FILE. Return a JSON object that says where the
image differs from FILE after that."
  (let* ((path (true-name file))
         (*source-copy* (and (not (eq file source)) (cons (true-name source) path))))
    (call-making-way
     (lambda ()
       (call-noting load :path path)))
    (multiple-value-bind (members tried) (and forget (forget-old path forget))
      (make-json-object (append members (agreement :forgetting (and forget path)
                                                  :tried tried))))))

(define-shape loaded-file ()
  "What came of the load of a file."
  (file string) (failed boolean :optional)
  (not-loaded boolean :optional "True when the file could not be compiled to its end.")
  (begun boolean :optional
   "True when the first forms of the file were loaded, although a later one could not be read.")
  (agreement agreement :optional))

(defun loaded-members (made failed source file forget)
  "Load MADE, the fasl that was compiled from SOURCE, which is FILE or a copy of it. Return a
property list of answer members. MADE is NIL when the compiler made no fasl, and then nothing is
loaded. FAILED is the failure value of COMPILE-FILE. If FORGET is true, then remove definitions that
FILE no longer has. If FORGET is \"listed\", do so only if answers have listed all of them."
  (setf *phase* "load")
  (let ((agreement (and made (load-noting (lambda () (load-compiled made source))
                                          source file forget))))
    (list "value" (object "file" (true-name file)
                          "failed" (and made failed t)
                          "notLoaded" (null made)
                          "agreement" agreement))))

(defun members-of-sections (first fasl readtable file forget)
  "Load the file of the section FIRST, which is FILE or a copy of it, by LOAD-IN-SECTIONS with
FIRST, FASL and READTABLE. Return a property list of answer members. If FORGET is true, then remove
definitions that FILE no longer has. If FORGET is \"listed\", do so only if answers have listed all
of them."
  (setf *phase* "load")
  (let* ((source (section-file first)) (failed nil) (agreement nil)
         (whole (catch 'section-unreadable
                  (setf agreement
                        (load-noting (lambda ()
                                       (setf failed (load-in-sections
                                                     first fasl readtable
                                                     (lambda () (load-compiled fasl source)))))
                                     source file forget))
                  t)))
    (list "value" (object "file" (true-name file)
                          "failed" (and whole failed)
                          "notLoaded" (not whole)
                          "begun" (not whole)
                          "agreement" agreement))))

(defun call-until-fitting (load &optional (misfit (constantly nil)))
  "Call LOAD, which compiles and loads, with NIL. Then call it again while code that it compiled does
not fit: with T if a restart changed the slots of a structure during the call, or with the value of
MISFIT, a function without parameters, if that is true. Return the value of the last call."
  (flet ((slots () (and (or *chosen-restarts* *hold-seconds*) (structure-slots))))
    (loop with before = (slots)
          with value = (funcall load nil)
          repeat 2
          for relaid = (and before (note-relaid before))
          for misfits = (funcall misfit)
          for again = (or relaid misfits)
          while again
          do (setf before (slots)
                   value (call-taking-again (lambda () (funcall load again))))
          finally (return value))))

(defun compile-and-load (source fasl file forget)
  "Compile the file SOURCE, which is FILE or a copy of it, into FASL, and load FASL. Return a
property list of answer members. If FORGET is true, then remove definitions that FILE no longer has.
If FORGET is \"listed\", do so only if answers have listed all of them."
  (let ((*loaded* (make-noted)))
    (call-until-fitting
     (lambda (again)
       (declare (ignore again))
       (let ((section (make-section source)) (readtable (prepare-file source)))
         (multiple-value-bind (made warnings failed) (compile-whole section fasl readtable)
           (declare (ignore warnings))
           (if (eq made :stopped)
               (members-of-sections section fasl readtable file forget)
               (loaded-members made failed source file forget))))))))

(defun copy-beside (fasl source content)
  "Write CONTENT, a string with a character for each octet, to a file in the folder of FASL with the
name of SOURCE. Return the pathname of the file."
  (let ((copy (make-pathname :name (pathname-name source) :type (pathname-type source) :version nil
                             :defaults fasl)))
    (with-open-file (stream copy :direction :output :if-exists :supersede :external-format :latin-1)
      (write-string content stream))
    copy))

(defun give-date (copy date)
  "Set the write date of the file COPY to DATE, a universal time, because the compiler stores this
date as the version of the source."
  (let ((seconds (unix-time date)))
    (sb-alien:with-alien ((times (array sb-alien:long 2)))
      (setf (sb-alien:deref times 0) seconds
            (sb-alien:deref times 1) seconds)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "utime"
                              (function sb-alien:int sb-alien:c-string (* (array sb-alien:long 2))))
       (sb-ext:native-namestring copy) (sb-alien:addr times)))))

(defun call-compiling-as (file copy function)
  "Call FUNCTION, which compiles COPY, and return its values. What it compiles gets FILE as its source.
FILE is not read, and need not exist. If it does not, this version of it gets a later date than the
version that was loaded before."
  (let ((date (or (ignore-errors (file-write-date file))
                  (max (file-write-date copy) (1+ (or (loaded-date (true-name file)) 0))))))
    (give-date copy date)
    (with-compilation-unit (:source-namestring (namestring (found-name file))
                            :source-plist (list :live-lisp-date date))
      (let ((*file-of-copy* (cons (true-name copy) (true-name file))))
        (funcall function)))))

(define-shape load-file-data (remarks)
  "What the load or the check of a file gives."
  (phase (member "compile" "load") :optional
   "The phase in which the load ended: 'load' when it succeeded.")
  (value loaded-file :optional) (twins (list twin) :optional))

(define-operation ("load-file" :members t :holds t :gives load-file-data)
    (file fasl content
     (forget (or boolean (member "listed")) :optional
      "True to remove what the file no longer defines. With \"listed\", do so only if answers have
      listed all of it."))
  "Compile FILE into FASL, and load FASL."
  (let* ((source (sb-ext:parse-native-namestring file))
         (fasl (sb-ext:parse-native-namestring fasl))
         (before (loaded-systems))
         (*phase* "compile"))
    (flet ((compile-it ()
             (if content
                 (let ((copy (copy-beside fasl source content)))
                   (call-compiling-as source copy
                                      (lambda () (compile-and-load copy fasl source forget))))
                 (compile-and-load source fasl source forget))))
      (let ((members (call-as-job-part nil (lambda ()
                                             (call-with-quiet-compiler
                                              (lambda () (call-in-folder-of fasl #'compile-it))))
                                      :together t)))
        (list* "phase" *phase*
               "twins" (twins-data (set-difference (loaded-systems) before :test #'string=))
               members)))))

(define-shape load-files-data (remarks)
  "What the load of several files gives."
  (phase (member "compile" "load") :optional)
  (file string :optional "The file in which the load stopped.")
  (value (list loaded-file) :optional
   "Results of the files that were loaded, in load order, up to the file in which the load
   stopped."))

(define-operation ("load-files" :members t :gives load-files-data)
    ((files (list string) "Native names of files.")
     (folder string "The native name of a folder for the fasls."))
  "Compile and load each of FILES, in the order in which their systems load them. All are one
compilation unit, so there is no warning when a file uses a name that a later file defines. Stop at
the first file that is not loaded completely."
  (let ((*phase* "compile") (loaded '()) (at nil))
    (labels ((stopped-p () (and loaded (json-member "notLoaded" (first loaded))))
             (load-all ()
               (loop for file in (in-load-order files)
                     for number from 1
                     for source = (sb-ext:parse-native-namestring file)
                     for fasl = (sb-ext:parse-native-namestring (format nil "~A/~D.fasl" folder
                                                                        number))
                     do (setf *phase* "compile" at file)
                        (push (second (compile-and-load source fasl source nil)) loaded)
                     until (stopped-p)
                     finally (unless (stopped-p) (setf at nil)))))
      (let ((members (call-as-job-part nil
                                       (lambda ()
                                         (call-with-quiet-compiler
                                          (lambda ()
                                            (call-in-folder-of
                                             (sb-ext:parse-native-namestring (format nil "~A/1.fasl"
                                                                                     folder))
                                             (lambda () (call-making-way #'load-all)))))
                                         '())
                                       :together t)))
        (list* "phase" *phase* "file" at "value" (reverse loaded) members)))))

(define-operation ("load-source" :members t :gives load-file-data) (file)
  "Load FILE, which is a start file of the user."
  (call-as-job-part nil
                    (lambda ()
                      (call-with-quiet-compiler
                       (lambda ()
                         (let ((source (sb-ext:parse-native-namestring file)))
                           (load-packages-of source)
                           (call-user-code (lambda () (load source))))
                         (list "value" (object "file" file)))))
                    :together t))

;;; Some forms of a file

(defun compile-part (copy fasl file)
  "Compile COPY into FASL as if it were FILE, and return the values of COMPILE-FILE. COPY has some
of the forms of FILE, at the same positions. FILE itself is not read, and need not exist."
  (call-compiling-as file copy (lambda () (compile-source copy fasl))))

(defun load-part (copy fasl file)
  "Compile COPY into FASL as COMPILE-PART does, and load FASL. Return a property list of answer
members."
  (multiple-value-bind (made warnings failed) (compile-part copy fasl file)
    (declare (ignore warnings))
    (let ((*loaded* (make-noted))) (loaded-members made failed file file nil))))

(define-operation ("load-forms" :members t :gives load-file-data)
    (file fasl
     (content string
      "The text of FILE, with a character for each octet. Forms that are not to be loaded are
      replaced by an atom and blanks, so that the others keep their positions.")
     (text string :optional
      "The whole text of the file. Given if the image cannot read this file.")
     (numbers (list (nullable integer))
      "A number for each top-level form of FILE: its number in the text that was loaded before.
      Null for a form to load now.")
     (continues boolean :optional
      "True to report also the methods that the previous load has displaced."))
  "Compile some forms of FILE into FASL, and load them, as if the whole file was loaded. No form
changes its number or position."
  (let* ((source (sb-ext:parse-native-namestring file))
         (fasl (sb-ext:parse-native-namestring fasl))
         (*phase* "compile")
         (*continues* continues)
         (*form-numbers* (coerce numbers 'vector))
         (*part-text* content))
    (flet ((load-it ()
             (let ((*whole-text* (and text (read-text (copy-beside fasl source text)))))
               (load-part (copy-beside fasl source content) fasl source))))
      (let ((members (call-as-job-part nil (lambda ()
                                             (call-with-quiet-compiler
                                              (lambda () (call-in-folder-of fasl #'load-it))))
                                      :together t)))
        (list* "phase" *phase* members)))))

;;; Systems

(defun needed-system (condition)
  "If CONDITION is ASDF's error about a missing dependency, return a list of two names: the missing
system, and the system that depends on it. If ASDF does not name the second system, use the name of
the .asd file being loaded. For other conditions return NIL."
  (let ((missing (contrib-symbol "ASDF" "MISSING-DEPENDENCY")))
    (when (and missing (typep condition missing))
      (let* ((needed (asdf-call "MISSING-REQUIRES" condition)) (by (asdf-call "MISSING-REQUIRED-BY"
                                                                              condition))
             (by (cond ((typep by (contrib-symbol "ASDF" "SYSTEM")) (asdf-call "COMPONENT-NAME" by))
                       ((null by) (and *load-truename* (file-namestring *load-truename*))))))
        (and by
             (typep needed '(or string symbol))
             (null (asdf-call "REGISTERED-SYSTEM" needed))
             (list (asdf-call "COERCE-NAME" needed) by))))))

(defun call-telling-needed (function)
  "Call FUNCTION, and return NIL and its value. If FUNCTION signals an error for which NEEDED-SYSTEM
returns a list, end FUNCTION and return that list alone."
  (catch 'needed
    (agent-handler-bind ((error (lambda (condition)
                                  (let ((needed (needed-system condition)))
                                    (when needed (throw 'needed needed))))))
      (values nil (funcall function)))))

(defun call-looking-again (function)
  "Call FUNCTION, which finds or loads a system, and return NIL and its value. If a system is not
found, call FUNCTION again after ASDF has scanned its directories for systems, and once more after
the library manager is loaded. If a system is missing even then, return a list from NEEDED-SYSTEM."
  (let ((missing (contrib-symbol "ASDF" "MISSING-COMPONENT")))
    (flet ((try ()
             (catch 'look-again
               (handler-bind ((error (lambda (condition)
                                       (when (and missing (typep condition missing))
                                         (throw 'look-again nil)))))
                 (return-from call-looking-again (values nil (funcall function)))))))
      (try)
      (asdf-call "INITIALIZE-SOURCE-REGISTRY")
      (when **library-manager-due**
        (try)
        (load-library-manager))
      (call-telling-needed function))))

(define-shape perhaps-missing ()
  "A system, and what is known if ASDF does not find it or one that it needs."
  (missing string :optional "The name of the system that ASDF does not find.")
  (system string :optional "The requested system.")
  (needed-by string :optional
   "The system that depends on the missing one, when this is not the requested system.")
  (known (list string) :optional "Names of systems that ASDF finds.")
  (asd (object (file string) (systems (list string) :optional)) :optional
   "The .asd file in which ASDF looks for the system, and the systems that the file defines
   instead.")
  (manager string :optional "Name of the library manager that the image uses.")
  (manager-failure string :optional "Why the library manager could not be loaded.")
  (installing string :optional
   "The form by which the library manager installs the missing system, if it can.")
  (init-file string :optional
   "The user's init file, such as ~/.sbclrc, if it could set up more systems. Images do not load
   it."))

(define-shape missing-system (perhaps-missing)
  "A system that ASDF does not find."
  (missing string))

(defun missing-data (missing system &optional by)
  "Return a JSON object that reports that ASDF did not find the system MISSING while it loaded
SYSTEM. BY is the name of the system or file that needs MISSING, or NIL."
  (object "system" (and by system) "missing" missing "neededBy" by
          "known" (known-systems)
          "asd" (asd-data missing)
          "manager" (first **library-manager**)
          "managerFailure" **library-manager-failure**
          "installing" (installing-form system missing)
          "initFile" **init-file**))

(defun found-system (name)
  "Return two values. The first is the ASDF system named NAME, or NIL if ASDF finds none. The second
is normally NIL. If the .asd file of NAME needs another system that is missing, it is a list from
NEEDED-SYSTEM."
  (multiple-value-bind (needed system)
      (call-user-code (lambda () (call-looking-again (lambda () (find-system name)))))
    (values system needed)))

(defun operate (name force)
  "Load the system NAME, and record its definitions. Load it even if it is loaded already when FORCE
is true, and when FORCE is a list, the systems with the names in it. If a system is not found,
return a list from NEEDED-SYSTEM. Else return NIL."
  (flet ((load-it ()
           (if force (asdf-call "LOAD-SYSTEM" name :force force) (asdf-call "LOAD-SYSTEM" name))))
    (call-making-way
     (lambda ()
       (call-noting (lambda ()
                      (call-user-code (lambda () (values (call-looking-again #'load-it))))))))))

(defun stale-systems (systems)
  "Return a list of the names of those of SYSTEMS of which a file differs from its loaded text."
  (loop for each in systems
        when (some #'stale-p (true-names (component-files each)))
          collect (asdf-call "COMPONENT-NAME" each)))

(define-shape loaded-system (perhaps-missing)
  "What came of the load of a system."
  (already boolean :optional)
  (unchanged boolean :optional "True when no file was loaded.")
  (loaded (list string) :optional)
  (gone (list string) :optional "Source files of the system that no longer exist.")
  (twins (list twin) :optional) (agreement agreement :optional))

(define-shape load-system-data (remarks)
  "What the load of a system gives."
  (value loaded-system :optional))

(defun load-until-fitting (name force)
  "Load the system NAME, which ASDF has found, even if it is loaded already when FORCE is true. Return
the value of OPERATE."
  (let* ((system (find-system name))
         ;; Asked once: ASDF can read a .asd file again for it, and forget that its systems are loaded.
         (systems (append (needed-systems system) (list system)))
         (redefined (taken-redefined-count))
         (compiling (or force (doubtful-systems systems)))
         (needed nil))
    (when (or compiling (stale-systems systems))
      (call-user-code (lambda () (wait-past-fasls system))))
    (call-until-fitting
     (lambda (again) (setf needed (operate name (or again compiling))))
     ;; A restart redefined a constant. Or a file still differs from the loaded code: ASDF compares
     ;; whole seconds, so it misses a file that was written while another image compiled it.
     (lambda ()
       (and (not needed)
            (or (/= redefined (setf redefined (taken-redefined-count)))
                (and (not force) (stale-systems systems))))))))

(defun loaded-data (name force)
  "Load the system NAME, which ASDF has found. If FORCE is true, load it even if it is loaded
already. Return a JSON object that describes the outcome."
  (let* ((before (loaded-systems)) (*loaded* (make-noted))
         (needed (load-until-fitting name force)))
    (if needed
        (missing-data (first needed) name (second needed))
        (let ((loaded (sort (set-difference (loaded-systems) before :test #'string=) #'string<)))
          (object "system" name
                  "already" (and (member name before :test #'string=) (not force))
                  "unchanged" (null (noted-files *loaded*))
                  "loaded" loaded
                  "gone" (gone-files (find-system name))
                  "twins" (twins-data loaded)
                  "agreement" (make-json-object (agreement)))))))

(defun system-members (name force)
  "Load the system NAME, even if it is loaded already when FORCE is true. Return a property list of
answer members."
  (asdf-call "ENSURE-SOURCE-REGISTRY")
  (multiple-value-bind (system needed) (found-system name)
    (let ((plain (string-downcase (string-left-trim "#:" name))))
      (list "value"
            (cond (system (loaded-data (asdf-call "COMPONENT-NAME" system) force))
                  (needed
                   (missing-data (first needed) (string-left-trim "#:" name) (second needed)))
                  (t (missing-data plain plain)))))))

(define-operation ("load-system" :members t :holds t :gives load-system-data)
    ((name string "The name of a system.")
     (force boolean :optional "True to load it again although it is loaded."))
  "Load a system, and the systems that it depends on, with ASDF."
  (call-as-job-part nil
                    (lambda ()
                      (call-with-quiet-compiler
                       (lambda ()
                         (sb-thread:with-mutex (**load-lock**)
                           (load-asdf)
                           (call-finding-all
                            (lambda ()
                              (system-members name force)))))))
                    :together t))
