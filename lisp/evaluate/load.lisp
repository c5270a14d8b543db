;;;; Loads files, and records what they define. In the functions here, the parameter FILE is the
;;;; file that the user names. SOURCE is FILE, or a copy of FILE that is compiled in its place. The
;;;; server sends CONTENT, the text for such a copy, if the image cannot read FILE, or if a rebuilt
;;;; image must load the text that the lost image had loaded.

(in-package "LIVE-LISP.EVALUATE")

(defun call-as-loading-job (function)
  "Call FUNCTION, which compiles and loads files, by CALL-AS-JOB-PART, in one compilation unit and
without compiler notes. FUNCTION returns a plist of JSON members."
  (call-as-job-part nil (lambda () (call-with-quiet-compiler function)) :together t))

(defvar *phase* nil "The phase of the current load: \"compile\" or \"load\".")

;;; Repeating a load

(defun call-until-fitting (load &optional (misfit (constantly nil)))
  "Call LOAD, a function that compiles and loads code. Its argument is NIL, or the reason why it is
called again. Call it again, at most twice, in two cases. The reason is T if a restart has changed
the slots of a structure meanwhile: code that was loaded before still accesses the old slots, and
must be loaded again too. Otherwise the reason is the value of the function MISFIT, if this is true.
Return the last value of LOAD."
  ;; When a structure is redefined with other slots, and loaded code may access the old ones, SBCL
  ;; signals an error. The structure changes only if a restart of this error is invoked. So compare
  ;; the slots only if the operation can invoke restarts.
  (flet ((slots () (and (or *chosen-restarts* *hold-seconds*) (structure-slots))))
    (let* ((before (slots)) (value (funcall load nil)))
      (loop repeat 2
            do (let* ((relaid (and before (note-relaid before)))
                      ;; Call MISFIT each time, since it also records what it finds.
                      (misfits (funcall misfit))
                      (reason (or relaid misfits)))
                 (unless reason (return))
                 (setf before (slots)
                       value (call-taking-again (lambda () (funcall load reason))))))
      value)))

;;; Loading one file

(define-shape loaded-file ()
  "The outcome of the load of a file."
  (file string) (failed boolean :optional)
  (not-loaded boolean :optional "True when the file could not be compiled to its end.")
  (begun boolean :optional
   "True when the first forms of the file were loaded, although a later one could not be read.")
  (agreement agreement :optional))

(defun load-noting (load source file forget)
  "Call LOAD, a function that loads the compiled code of SOURCE, and record its definitions as
definitions of FILE. SOURCE is FILE or a copy of it. If FORGET is true, afterwards remove the
definitions that FILE no longer makes. If FORGET is \"listed\", do so only if answers have listed
all of them. Return a JSON object with the differences between the image and FILE."
  (let* ((path (true-name file))
         (*source-copy* (and (not (eq file source)) (cons (true-name source) path))))
    ;; CALL-NOTING is called inside CALL-DISPLACING-METHODS, because CALL-NOTING must have recorded
    ;; the load before CALL-DISPLACING-METHODS reports which removed methods are missing.
    (call-displacing-methods (lambda () (call-noting load :path path)))
    ;; FORGET-OLD comes after CALL-NOTING, which records what the load has defined. FORGET-OLD
    ;; removes the other definitions of the file.
    (multiple-value-bind (members tried) (and forget (forget-old path forget))
      (make-json-object (append members (agreement :forgetting (and forget path)
                                                  :tried tried))))))

(defun load-result (load source file forget)
  "Load the compiled code of FILE, and return a JSON object of the shape LOADED-FILE. LOAD is the
function that loads the code, or NIL if nothing was compiled. LOAD returns true if the compiler
reported a failure. If LOAD cannot read a later form of the source, it throws to the tag
SECTION-UNREADABLE after it has loaded the forms before. SOURCE is the file that was compiled: FILE
or a copy of it. FORGET is NIL, or the argument WHICH of FORGET-OLD."
  (setf *phase* "load")
  (let* ((failed nil) (agreement nil)
         (loaded (cond ((null load) :nothing)
                       ((catch 'section-unreadable
                          (setf agreement (load-noting (lambda () (setf failed (funcall load)))
                                                       source file forget))
                          t)
                        :whole)
                       (t :first-forms))))
    (object "file" (true-name file)
            "failed" (and (eq loaded :whole) failed t)
            "notLoaded" (not (eq loaded :whole))
            "begun" (eq loaded :first-forms)
            "agreement" agreement)))

(defun compile-and-load (source fasl file forget)
  "Compile SOURCE into FASL, load FASL, and return a JSON object of the shape LOADED-FILE. SOURCE is
FILE or a copy of it. If FORGET is true, remove the definitions that FILE no longer has. If FORGET
is \"listed\", remove them only if earlier answers have shown all of them to the client."
  (let ((*loaded* (make-noted)))
    (call-until-fitting
     (lambda (again)
       (declare (ignore again))
       (let ((section (make-section source)) (readtable (prepare-file source)))
         (flet ((load-it () (load-compiled fasl source)))
           (multiple-value-bind (made warnings failed) (compile-whole section fasl readtable)
             (declare (ignore warnings))
             (load-result (case made
                            ;; A later form can be read only after the forms before it are loaded.
                            (:stopped (lambda ()
                                        (load-in-sections section fasl readtable #'load-it)))
                            ((nil) nil) ; Nothing was compiled.
                            (t (lambda () (load-it) failed)))
                          source file forget))))))))

(define-shape load-file-data (remarks)
  "The answer to a request to load or check a file."
  (phase (member "compile" "load") :optional
   "The phase in which the load ended: 'load' when it succeeded.")
  (value loaded-file :optional)
  (twins (list twin) :optional "Loaded systems that another .asd file defines too."))

(define-operation ("load-file" :members t :holds t :gives load-file-data)
    (file fasl content
     (forget (or boolean (member "listed")) :optional
      "True to remove the definitions that the file no longer has. With \"listed\", remove them only
      if answers have listed all of them."))
  "Compile FILE into FASL, and load FASL."
  (let ((file (sb-ext:parse-native-namestring file)) (fasl (sb-ext:parse-native-namestring fasl))
        (before (loaded-systems)) (*phase* "compile"))
    (flet ((load-it ()
             (list "value"
                   (if content
                       (let ((copy (copy-in-folder fasl file content)))
                         (call-compiling-as file copy
                                            (lambda () (compile-and-load copy fasl file forget))))
                       (compile-and-load file fasl file forget)))))
      (let ((members (call-as-loading-job (lambda () (call-in-folder-of fasl #'load-it)))))
        (list* "phase" *phase*
               "twins" (twins-data (set-difference (loaded-systems) before :test #'string=))
               members)))))

(define-shape load-files-data (remarks)
  "The answer to a request to load several files."
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
    (labels ((fasl (number)
               (sb-ext:parse-native-namestring (format nil "~A/~D.fasl" folder number)))
             (load-all ()
               (loop for name in (in-load-order files)
                     for number from 1
                     for file = (sb-ext:parse-native-namestring name)
                     do (setf *phase* "compile" at name)
                        (push (compile-and-load file (fasl number) file nil) loaded)
                        ;; AT keeps the name of the file if the loop ends here or by an error.
                        (when (json-member "notLoaded" (first loaded)) (return))
                     finally (setf at nil))
               '()))
      (let ((members (call-as-loading-job
                      (lambda ()
                        (call-in-folder-of
                         (fasl 1)
                         ;; Call CALL-DISPLACING-METHODS once for all files. If the load of one file
                         ;; removes a method, a later file can define this method again. The answer
                         ;; then does not list it as removed.
                         (lambda () (call-displacing-methods #'load-all)))))))
        (list* "phase" *phase* "file" at "value" (reverse loaded) members)))))

(define-operation ("load-source" :members t :gives load-file-data) (file)
  "Load FILE, which is a start file of the user."
  (call-as-loading-job
   (lambda ()
     (let ((source (sb-ext:parse-native-namestring file)))
       (load-packages-of source)
       (call-user-code (lambda () (load source))))
     (list "value" (object "file" file)))))

;;; Some forms of a file

(define-operation ("load-forms" :members t :gives load-file-data)
    (file fasl
     (content string
      "The text of FILE, with a character for each octet. Forms that are not to be loaded are
      replaced by an atom and blanks, so that the others keep their positions.")
     (text string :optional
      "The whole text of the file. Given if the image cannot read this file.")
     (numbers (list (nullable integer))
      "For each top-level form of FILE: its number in the text that was loaded before, or null
      if the form is to be loaded now.")
     (continues boolean :optional
      "True to report also the methods that the previous load has removed because of a new lambda
      list."))
  "Compile some forms of FILE into FASL, and load them, as if the whole file was loaded. No form
changes its number or position."
  (let ((file (sb-ext:parse-native-namestring file)) (fasl (sb-ext:parse-native-namestring fasl))
        (*phase* "compile")
        (*continues* continues)) ; for the report of removed methods (sources/displaced.lisp)
    (flet ((load-it ()
             ;; Write TEXT to a file, since other code needs what READ-TEXT records about a text.
             (let* ((whole (and text (read-text (copy-in-folder fasl file text))))
                    ;; For the record of the load (sources/loads.lisp).
                    (*part-load* (make-part-load (coerce numbers 'vector) content whole))
                    (*loaded* (make-noted)))
               (multiple-value-bind (made warnings failed)
                   (compile-part (copy-in-folder fasl file content) fasl file)
                 (declare (ignore warnings))
                 (list "value"
                       ;; The copy has the forms at the same positions as FILE.
                       (load-result (and made (lambda () (load-compiled made file) failed))
                                    file file nil))))))
      (let ((members (call-as-loading-job (lambda () (call-in-folder-of fasl #'load-it)))))
        (list* "phase" *phase* members)))))
