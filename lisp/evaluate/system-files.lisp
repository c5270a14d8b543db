;;;; Lists the files of ASDF systems, which of them are loaded, and where they differ from the
;;;; image.

(in-package "LIVE-LISP.EVALUATE")

(defun source-directories (name)
  "Return a list of the native names of the directories with the .asd file and the sources of the
system NAME."
  (let ((system (asdf-call "REGISTERED-SYSTEM" name)))
    (loop for place in '("SYSTEM-SOURCE-DIRECTORY" "COMPONENT-PATHNAME")
          for name = (nil-if-unreadable
                       (let ((directory (translate-logical-pathname (asdf-value place system))))
                         (and (null (pathname-name directory))
                              (sb-ext:native-namestring directory))))
          when name collect name)))

(define-operation ("system-sources" :gives (list string)) ()
  "Return a list of the directories with the sources of the loaded systems, or NIL while ASDF is not
loaded."
  (and (contrib-function "ASDF" "REGISTERED-SYSTEM")
       (remove-duplicates (loop for name in (loaded-systems) append (source-directories name))
                          :test #'string=)))

(define-shape source-text ()
  "The text of a source file."
  (written integer "The universal time at which the file was written.")
  (text string :optional
   "The octets of the file, each as the character with this code. Absent when the server already has
   this version."))

(define-operation ("source-text" :gives source-text)
    (file
     (written integer :optional "The write date of the version whose text the server has."))
  "Return the text of FILE. Return NIL if FILE cannot be read, or is too large. A server that does
not see the files of the image reads source files in this way."
  (let* ((path (sb-ext:parse-native-namestring file))
         (date (date-of path))
         (text (and date (not (eql date written)) (read-text path))))
    (cond (text (object "written" date "text" text))
          ((and date (eql date written)) (object "written" date)))))

(defun system-paths (names)
  "Return a list of at most 5000 native names of files: the .asd files and source files of the
systems in NAMES, a list of names, that ASDF has registered."
  (page (loop for name in (and (contrib-function "ASDF" "REGISTERED-SYSTEM") names)
              for system = (asdf-call "REGISTERED-SYSTEM" name)
              for definition = (and system (asdf-value "SYSTEM-SOURCE-FILE" system))
              when definition collect (sb-ext:native-namestring definition)
              append (and system (component-files system)))
        0 5000))

(define-operation ("system-files" :gives (list string)) ((names (list string) "Names of systems."))
  "Return the source files and the .asd files of the systems NAMES, at most 5000 files. Leave out
systems that ASDF has not registered."
  (system-paths names))

(defun direct-needs (system)
  "Return a list of the names of the systems on which SYSTEM, an ASDF system, depends directly."
  (loop for dependency in (asdf-call "SYSTEM-DEPENDS-ON" system)
        for needed = (needed-name dependency)
        when needed collect (asdf-call "COERCE-NAME" needed)))

(defun without-files (name)
  "If the system NAME is registered and has no files, return a JSON object with the names of the
systems on which it depends. Otherwise return NIL. The files of other systems in the same .asd file
count as its own if it depends on them."
  (let ((system (registered-system name)))
    (when (and system (notany #'component-files (system-parts name)))
      (object "empty" t "needs" (direct-needs system)))))

(defun unloaded-files (name)
  "Return a list of the native names of files that are not loaded, although other files of the same
system are loaded. Look at the system NAME, and at those systems in the same .asd file on which NAME
depends."
  (loop for part in (system-parts name)
        for files = (lisp-files part)
        for missing = (loop for file in files
                            for (path) = (component-files file)
                            unless (or (null path)
                                       (loaded-path-p path)
                                       (asdf-call "COMPONENT-LOADED-P" file))
                              collect path)
        unless (= (length missing) (length files)) append missing))

(define-operation ("compare-files" :gives (or comparison-data lookup-failure))
    ((path string :optional "The native name of a file.")
     (system string :optional "The name of a system.")
     (package string :optional "The name of a package.")
     (limit integer :optional "The maximum number of differences of a kind; 20 by default."))
  "Return where the image differs from the file PATH, or from the files of SYSTEM and of the systems
in its .asd file on which it depends. With PACKAGE, return where the names of the package differ
from any loaded file."
  (let* ((name (and system (string-left-trim "#:" system)))
         (compared (compare-files (if name
                                      (system-paths (loop for part in (system-parts name)
                                                          collect (asdf-call "COMPONENT-NAME"
                                                                             part)))
                                      (list path))
                                  (and package (named-package package))
                                  limit
                                  (and name (list "unloaded" (unloaded-files name))))))
    (or (and name (null compared) (without-files name))
        compared
        (object "unknown" t))))

;;; The loads of this image, to repeat them in another image

(define-shape load-step ()
  "A system or a file that was loaded, and is to be loaded in another image."
  (system string :optional "The name of a system.")
  (file string :optional "The native truename of a file."))

(defun true-files (system &optional others)
  "Return a list of the native truenames of the Lisp files of the system with the name SYSTEM. If
OTHERS is true, include those of the systems that it needs."
  (true-names (mapcan #'component-files
                      (lisp-files (asdf-call "REGISTERED-SYSTEM" system)
                                  :others others))))

(defun loaded-roots (names)
  "NAMES lists the names of loaded systems. Return a list of those on which no other system in NAMES
depends directly. Leave out a system if no load was recorded, neither of its own files nor of files
of the systems that it needs."
  (let ((needed (loop for name in names
                      append (direct-needs (asdf-call "REGISTERED-SYSTEM" name)))))
    (loop for name in names
          when (and (not (member name needed :test #'string=))
                    (some #'loaded-path-p (true-files name t)))
            collect name)))

(define-operation ("loads-again" :gives (list load-step))
    ((systems (list string) "The systems that the server was asked to load, in order.")
     (files (list string) "The files that it was asked to load, native truenames, in order."))
  "Return what another image must load, in this order, to get the systems and files of this image.
First come the systems that the program loaded by itself, without a request to the server. Then come
SYSTEMS, and then those of FILES that belong to no loaded system."
  (let* ((names (loaded-systems)) (own (mapcan #'true-files (copy-list names))))
    (append (loop for name in (append (set-difference (loaded-roots names) systems :test #'string=)
                                      systems)
                  collect (object "system" name))
            (loop for file in files
                  unless (member file own :test #'string=) collect (object "file" file)))))
