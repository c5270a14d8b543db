;;;; Loads ASDF systems.

(in-package "LIVE-LISP.EVALUATE")

(defun needed-system (condition)
  "If CONDITION is ASDF's error about a missing dependency, return a list (MISSING BY). MISSING is
the name of the missing system. BY is the name of the system, or else of the .asd file, that needs
it. Otherwise return NIL."
  (let ((missing-dependency (contrib-symbol "ASDF" "MISSING-DEPENDENCY")))
    (when (and missing-dependency (typep condition missing-dependency))
      (let* ((missing (asdf-call "MISSING-REQUIRES" condition))
             (component (asdf-call "MISSING-REQUIRED-BY" condition))
             (by (cond ((typep component (contrib-symbol "ASDF" "SYSTEM"))
                        (asdf-call "COMPONENT-NAME" component))
                       ((null component)
                        (and *load-truename* (file-namestring *load-truename*))))))
        (and by
             (typep missing '(or string symbol))
             ;; ASDF signals the same error for a system that it has found in a wrong version.
             (null (asdf-call "REGISTERED-SYSTEM" missing))
             (list (asdf-call "COERCE-NAME" missing) by))))))

(defun call-for-needed (function)
  "Call FUNCTION. Return two values: NIL, and the value of FUNCTION. If FUNCTION signals an error
for which NEEDED-SYSTEM returns a list, end FUNCTION and return only that list."
  (catch 'needed
    (backend-handler-bind ((error (lambda (condition)
                                  (let ((needed (needed-system condition)))
                                    (when needed (throw 'needed needed))))))
      (values nil (funcall function)))))

(defun call-looking-again (function)
  "Call FUNCTION, which finds or loads a system. Return two values: NIL, and the value of FUNCTION.
If ASDF does not find a system, let it scan its directories, and call FUNCTION again. If that does
not help and the library manager, such as Quicklisp, is not loaded yet, load it, and call FUNCTION
again. If a system that another one needs is still missing, return only the list from NEEDED-SYSTEM
with the names of both."
  ;; This class includes MISSING-DEPENDENCY, ASDF's error about a system that another one needs.
  (let ((missing-component (contrib-symbol "ASDF" "MISSING-COMPONENT")))
    ;; TRY returns only if ASDF has not found a system.
    (flet ((try ()
             (catch 'look-again
               (handler-bind ((error (lambda (condition)
                                       (when (and missing-component
                                                  (typep condition missing-component))
                                         (throw 'look-again nil)))))
                 (return-from call-looking-again (values nil (funcall function)))))))
      (try)
      (scan-systems :again t)
      (when **library-manager-due**
        (try)
        (load-library-manager))
      (call-for-needed function))))

(define-shape perhaps-missing ()
  "A requested system, with details if ASDF does not find it, or does not find a system that it
  needs."
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
  "Return a JSON object about MISSING, the name of a system that ASDF did not find while it loaded
SYSTEM, a name. BY is the name of the system or file that needs it, or NIL."
  (object "system" (and by system) "missing" missing "neededBy" by
          "known" (known-systems)
          "asd" (asd-data missing)
          "manager" (first **library-manager**)
          "managerFailure" **library-manager-failure**
          "installing" (installing-form system missing)
          "initFile" **init-file**))

(defun found-system (name)
  "Return two values. The first is the ASDF system that NAME means, or NIL if ASDF finds none. The
second is NIL or, if the .asd file of the system needs a missing system, the list from NEEDED-SYSTEM
about that system."
  (multiple-value-bind (needed system)
      (call-user-code (lambda () (call-looking-again (lambda () (find-system name)))))
    (values system needed)))

(defun load-recording (name force)
  "Load the system NAME, and record its definitions. FORCE is T to load it even if it is loaded, a
list of names of systems to load again, or NIL. Return NIL, or the list from NEEDED-SYSTEM about a
missing system."
  (flet ((load-it ()
           (if force (asdf-call "LOAD-SYSTEM" name :force force) (asdf-call "LOAD-SYSTEM" name))))
    (call-displacing-methods
     (lambda ()
       (call-noting (lambda ()
                      (call-user-code (lambda () (values (call-looking-again #'load-it))))))))))

(defun stale-systems (systems)
  "Return a list of the names of the systems in SYSTEMS, a list of ASDF systems, that have a file
whose current text differs from its loaded text."
  (loop for each in systems
        when (some #'stale-p (true-names (component-files each)))
          collect (asdf-call "COMPONENT-NAME" each)))

(define-shape loaded-system (perhaps-missing)
  "The outcome of the load of a system."
  (already boolean :optional)
  (unchanged boolean :optional "True when no file was loaded.")
  (loaded (list string) :optional)
  (gone (list string) :optional "Source files of the system that no longer exist.")
  (twins (list twin) :optional) (agreement agreement :optional))

(define-shape load-system-data (remarks)
  "The answer to a request to load a system."
  (value loaded-system :optional))

(defun load-until-fitting (name force)
  "Load the system NAME, which ASDF has found. Load it again until the code in the image fits the
files. If FORCE is true, load it at least once even if it is loaded already. Return NIL, or the list
from NEEDED-SYSTEM about a missing system."
  (let* ((system (find-system name))
         ;; Search only once. In a second search, ASDF could read a .asd file again, and forget that
         ;; its systems are loaded.
         (systems (append (needed-systems system) (list system)))
         (redefined (taken-redefined-count))
         ;; T, or a list of the names of systems whose fasls may be older than their sources.
         (compiling (or force (doubtful-systems systems)))
         (needed nil))
    (when (or compiling (stale-systems systems))
      (call-user-code (lambda () (wait-past-fasls system))))
    (flet ((redefined-again-p ()
             (let ((before redefined))
               (setf redefined (taken-redefined-count))
               (/= before redefined))))
      (call-until-fitting
       ;; AGAIN is NIL in the first load, and then T or the value of the second function.
       (lambda (again) (setf needed (load-recording name (or again compiling))))
       ;; Load again if a restart has redefined a constant, or if a file still differs from the
       ;; loaded code: ASDF compares whole seconds, so it misses a file that was written while
       ;; another image compiled it.
       (lambda ()
         (and (not needed)
              (or (redefined-again-p)
                  (and (not force) (stale-systems systems)))))))))

(defun loaded-data (name force)
  "Load the system NAME, which ASDF has found. If FORCE is true, load it again even if it is loaded
already. Return a JSON object about the outcome."
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
  "Load the system NAME. If FORCE is true, load it again even if it is loaded already. Return a
plist of JSON members."
  (scan-systems)
  (multiple-value-bind (system needed) (found-system name)
    (let* ((bare (string-left-trim "#:" name)) (lower-case (string-downcase bare)))
      (list "value"
            (cond (system (loaded-data (asdf-call "COMPONENT-NAME" system) force))
                  (needed (missing-data (first needed) bare (second needed)))
                  (t (missing-data lower-case lower-case)))))))

(define-operation ("load-system" :members t :holds t :gives load-system-data)
    ((name string "The name of a system.")
     (force boolean :optional "True to load it again although it is loaded."))
  "Load a system, and the systems that it depends on, with ASDF."
  (call-as-loading-job
   (lambda ()
     (sb-thread:with-mutex (**load-lock**)
       (load-asdf)
       (call-finding-all (lambda () (system-members name force)))))))
