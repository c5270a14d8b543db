;;;; Loads ASDF and the user's library manager on demand: for the first system that needs them, or
;;;; when a form or file names one of their packages. Also finds systems below further folders, and
;;;; has ASDF try again when another image replaces a fasl at the same time. The names of ASDF and
;;;; of library managers are looked up when they are used (CONTRIB-SYMBOL in base/sbcl.lisp).

(in-package "LIVE-LISP.JOBS")

(sb-ext:defglobal **load-lock** (sb-thread:make-mutex :name "live-lisp load")
  "The mutex that a thread holds while it loads a system, because ASDF is not thread-safe.")

(defun call-with-load-lock (function)
  "Call FUNCTION while this thread holds **LOAD-LOCK**, and return its values. The thread may hold
the lock already."
  (if (sb-thread:holding-mutex-p **load-lock**)
      (funcall function)
      (sb-thread:with-mutex (**load-lock**) (funcall function))))

(defun load-asdf ()
  "Load ASDF, which comes with SBCL, unless it is loaded."
  (call-with-load-lock
   (lambda ()
     (let ((*load-verbose* nil) (*compile-verbose* nil))
       (handler-bind ((warning #'muffle-warning))
         (require "ASDF"))))))

(defun asdf-package-p (name)
  "Return true if NAME, a string, names a package that comes with ASDF, such as UIOP/OS."
  (and (member (subseq name 0 (position #\/ name)) '("ASDF" "ASDF-USER" "UIOP") :test #'string=) t))

;;; Library managers: Quicklisp, qlot or ocicl. The manager is loaded when it is first needed, so
;;; that it does not delay the start of an image.

(sb-ext:defglobal **library-manager** nil
  "NIL if the user has no library manager. Otherwise a list of two strings: the name of the library
manager, and the native name of the file that loads it. The operation \"use-libraries\" sets this,
**LIBRARY-MANAGER-DUE** and **INIT-FILE**.")
(sb-ext:defglobal **library-manager-failure** nil
  "A text with the reason why the library manager could not be loaded, or NIL.")
(sb-ext:defglobal **library-manager-due** nil
  "True until the backend has tried to load the user's library manager. NIL if the user has none.")

(sb-ext:defglobal **init-file** nil
  "NIL, or the name, as answers show it, of the user's init file if that file was not loaded.")

(defun load-library-manager ()
  "Load the user's library manager, unless this was tried before. Return true if it was loaded now,
so that ASDF may find more systems. If loading fails, print the reason to *ERROR-OUTPUT*, and store
it in **LIBRARY-MANAGER-FAILURE**."
  (call-with-load-lock
   (lambda ()
     (when (shiftf **library-manager-due** nil)
       (load-asdf)
       (destructuring-bind (name file) **library-manager**
         (handler-case
             (with-standard-io-syntax
               (let ((*print-readably* nil) (*standard-output* (make-broadcast-stream)))
                 (handler-bind ((warning #'muffle-warning))
                   (load (sb-ext:parse-native-namestring file)))))
           (error (failure)
             (setf **library-manager-failure**
                   (format nil "~A could not be loaded (~A): ~A" name file
                           (report-text 500 failure)))
             (format *error-output* "~&~A~%" **library-manager-failure**)
             nil)))))))

(defun library-manager-data ()
  "Return a JSON object about the user's library manager: its name, its file, whether loading it was
tried (\"loaded\"), and the reason if it could not be loaded. Return NIL if the user has none."
  (and **library-manager**
       (destructuring-bind (name file) **library-manager**
         (object "name" name "file" file
                 "loaded" (not **library-manager-due**) "failure" **library-manager-failure**))))

(defparameter *manager-packages*
  '("QL" "QL-DIST" "QL-SETUP" "QUICKLISP" "QUICKLISP-CLIENT" "QLOT" "OCICL-RUNTIME")
  "Names of packages that library managers define.")

(defun missing-package (condition)
  "Return the name of the missing package if CONDITION is a reader error about a missing package.
Otherwise return NIL."
  (let ((package (and (typep condition 'reader-error)
                      (typep condition 'package-error)
                      (part-of-condition #'package-error-package condition))))
    (and (stringp package) package)))

(defun lacks-manager-p (condition)
  "Return true if CONDITION, a condition, is about a missing package of a library manager, and the
user has no library manager."
  (and (null **library-manager**)
       (member (missing-package condition) *manager-packages* :test #'equal)
       t))

(defun package-loader (condition)
  "If CONDITION is a reader error about a missing package of ASDF or of the library manager, return
the function that loads ASDF or the manager. Otherwise return NIL."
  (let ((package (missing-package condition)))
    (cond ((null package) nil)
          ((and (asdf-package-p package) (not (find-package "ASDF"))) #'load-asdf)
          ((and **library-manager-due** (member package *manager-packages* :test #'string=))
           #'load-library-manager))))

(defun call-reading (function)
  "Call FUNCTION, which uses the reader, and return its values. If the reader misses a package of
ASDF or of the library manager, load ASDF or the manager, and call FUNCTION again. This ends,
because PACKAGE-LOADER returns no loader that has already run."
  (let ((needed (block unread
                  (return-from call-reading
                    (handler-bind ((package-error (lambda (condition)
                                                    (let ((loader (package-loader condition)))
                                                      (when loader (return-from unread loader))))))
                      (funcall function))))))
    (funcall needed))
  (call-reading function))

(defun unread-cause (condition)
  "LOAD, COMPILE-FILE or ASDF has signalled CONDITION. Return the reader error that caused it. If
there is none, return CONDITION, or the error inside CONDITION if this is ASDF's error about an .asd
file."
  (let* ((asd-error (contrib-symbol "ASDF" "LOAD-SYSTEM-DEFINITION-ERROR"))
         (wrapper (if (and asd-error (typep condition asd-error))
                      (part-of-condition (contrib-symbol "ASDF" "ERROR-CONDITION") condition)
                      condition))
         (cause (nil-if-unknown (encapsulated-condition wrapper))))
    (if (typep cause 'condition) cause wrapper)))

(defun names-manager-p (condition)
  "Return true if CONDITION is an error of LOAD, COMPILE-FILE or ASDF about a file that names a
package of the library manager, and the library manager is not loaded yet."
  (let ((cause (unread-cause condition)))
    (or (eq (package-loader cause) #'load-library-manager)
        ;; For a symbol in a fasl, SBCL names the package only in the format arguments.
        (and **library-manager-due**
             (typep cause '(and package-error simple-condition))
             (loop for argument in (simple-condition-format-arguments cause)
                     thereis (member argument *manager-packages* :test #'equal))))))

(defun retry-with-libraries (condition)
  "Load the library manager and let ASDF try again, if CONDITION says that ASDF does not find a
system, or that a file of a system names a package of the library manager. Do nothing if loading the
manager was tried before."
  (let ((missing (contrib-symbol "ASDF" "MISSING-COMPONENT")))
    (when (and **library-manager-due**
               missing
               (or (typep condition missing) (names-manager-p condition)))
      (let ((retry (find-restart (contrib-symbol "ASDF" "RETRY") condition)))
        (when (and retry (load-library-manager)) (invoke-restart retry))))))

(defun load-manager-for-file (condition)
  "CONDITION is an error of LOAD or COMPILE-FILE. If the file could not be read because it names a
package of the library manager, load the manager. Then print that the user must load the file again.
The backend does not load it again, because some of its forms have run already."
  (when (and (names-manager-p condition) (load-library-manager))
    (format *error-output* "~&The file needs ~A, which is loaded now: load the file again.~%"
            (first **library-manager**))))

;;; Systems of the workspace in an image that somebody else runs. The server's own images find them
;;; by an environment variable.

(defvar *tree-files* :unknown
  "The result of FILES-IN-TREES. :UNKNOWN before this job has called that function.")

(defun files-in-trees ()
  "Return a list of the pathnames of the .asd files in the folders in SESSION-TREES and below them.
Skip folders that ASDF never searches, such as .git."
  (let ((excluded (symbol-value (contrib-symbol "ASDF/SOURCE-REGISTRY"
                                                "*SOURCE-REGISTRY-EXCLUSIONS*")))
        (files '()))
    (flet ((searched-p (folder)
             (not (member (first (last (pathname-directory folder))) excluded :test #'equal))))
      (dolist (tree (session-trees *session*) files)
        (funcall (contrib-function "UIOP" "COLLECT-SUB*DIRECTORIES")
                 (sb-ext:parse-native-namestring tree nil *default-pathname-defaults*
                                                 :as-directory t)
                 #'searched-p #'searched-p
                 (lambda (folder)
                   (setf files (append files (directory (merge-pathnames "*.asd" folder))))))))))

(defun system-in-trees (name)
  "Return the pathname of the .asd file of the system NAME if FILES-IN-TREES finds one, or NIL. In
jobs, ASDF calls this function after its other functions that find systems."
  (when (eq *tree-files* :unknown)
    (setf *tree-files* (call-skipping-undecodable #'files-in-trees)))
  (let ((primary (funcall (contrib-function "ASDF" "PRIMARY-SYSTEM-NAME") name)))
    (find primary *tree-files* :key #'pathname-name :test #'equal)))

(defun call-finding-trees (function)
  "Call FUNCTION and return its values. Meanwhile ASDF, if it is loaded, also finds the systems in
the source trees of the session, the folders in SESSION-TREES."
  (let ((finders (contrib-symbol "ASDF" "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*")))
    (if (and (session-trees *session*) finders (boundp finders)
             (not (member 'system-in-trees (symbol-value finders))))
        (let ((*tree-files* :unknown))
          (progv (list finders) (list (append (symbol-value finders) '(system-in-trees)))
            (funcall function)))
        (funcall function))))

;;; Other images that compile the same library. ASDF first deletes the old fasl, and then renames
;;; the new one. Another image may look for the fasl in between.

(defparameter *replacing-seconds* 10
  "The largest number of seconds to wait for a new fasl. Without a limit, a call would wait forever
if the image that writes the fasl hangs.")

(defvar *replaced* '()
  "A list of the fasls for which this call has invoked ASDF's restart RETRY, with one element for
each invocation. NIL stands for an unknown fasl.")

(defun being-replaced-p (fasl)
  "Return true if another image is replacing FASL, a pathname. ASDF first writes the new fasl into
the same folder, under the name of FASL with a suffix that contains TMP."
  (let ((begin (concatenate 'string (pathname-name fasl) "-")))
    (loop for file in (directory (make-pathname :name :wild :version nil :defaults fasl)
                                 :resolve-symlinks nil)
          for name = (pathname-name file)
            thereis (and (eql (mismatch begin name) (length begin))
                         (search "TMP" name :test #'char-equal :start2 (length begin))
                         t))))

(defun replaced-p (fasl)
  "Return true if the file FASL exists. If another image is replacing it, wait for the new file for
at most *REPLACING-SECONDS*."
  (loop repeat (* 100 *replacing-seconds*)
        ;; Look for the new file first. Otherwise a rename between the tests would hide both files.
        for new = (being-replaced-p fasl)
        do (when (true-file fasl) (return t))
           (unless new (return nil))
           (sleep 0.01)))

(defun fasl-not-found (condition)
  "Return the pathname of the fasl if CONDITION is a FILE-ERROR about a fasl. Otherwise return NIL."
  (let ((file (and (typep condition 'file-error)
                   (nil-if-program-fails (pathname (file-error-pathname condition))))))
    (and file
         (equal (pathname-type file) (pathname-type (compile-file-pathname file)))
         file)))

(defun looks-at-file-p (function)
  "Return true if FUNCTION, a debug function, is the local function PARSE of SBCL's
%QUERY-FILE-SYSTEM, which parses native file names."
  (tree-equal (given-name function) '("LABELS" "PARSE" "IN" "%QUERY-FILE-SYSTEM")
              :test (lambda (part name) (and (symbolp part) (string= part name)))))

(defun removed-while-looked-at-p (condition)
  "Return true if CONDITION is the TYPE-ERROR that SBCL 2.2.9 signals when a file is deleted during
a query for it."
  (and (typep condition 'type-error)
       (loop for frame = (top-frame) then (frame-below frame)
             repeat 50
             while frame
               thereis (looks-at-file-p (frame-function frame)))))

(defun retry-replaced (condition)
  "Invoke ASDF's restart RETRY if CONDITION is an error about a fasl that ASDF did not find because
another image was just replacing it. Do this at most three times for each fasl. Otherwise return
NIL."
  (let* ((name (and (typep condition '(or file-error type-error)) (contrib-symbol "ASDF" "RETRY")))
         (retry (and name (find-restart name condition)))
         (file (and retry (fasl-not-found condition))))
    (when (and retry
               (< (count file *replaced* :test #'equal) 3)
               (if file (replaced-p file) (removed-while-looked-at-p condition)))
      (push file *replaced*)
      (invoke-restart retry))))

;;; ASDF warns about how an .asd file names its systems. It repeats these warnings each time it
;;; reads the file, and nothing is broken.

(defun asdf-remark-p (condition)
  "Return true if CONDITION is a warning of ASDF that is left out of answers: a warning about how an
.asd file names systems; a warning \"Computing just-done stamp ...\", which follows from such names;
or a warning that the compiler warned. Answers show the compiler's own warnings."
  (flet ((of-class-p (package name)
           (let ((class (contrib-symbol package name)))
             (and class (find-class class nil) (typep condition class)))))
    (or (of-class-p "ASDF" "BAD-SYSTEM-NAME")
        (of-class-p "UIOP" "COMPILE-WARNED-WARNING")
        (and (typep condition 'simple-warning)
             (starts-p (simple-condition-format-control condition)
                       "Computing just-done stamp")))))
