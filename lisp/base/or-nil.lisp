;;;; Returns NIL in place of errors that cannot be foreseen: macros that say why code may fail, and
;;;; functions for values that may be missing.

(in-package "LIVE-LISP.BASE")

(defmacro nil-if-program-fails (&body body)
  "Evaluate BODY, which runs code of the program or of its libraries, or reads objects that other
threads can change meanwhile. Return its values, or NIL if it signals an error."
  `(handler-case (progn ,@body) (error () nil)))

(defmacro nil-if-unknown (&body body)
  "Evaluate BODY, which reads what SBCL records about code and definitions. Return its values, or
NIL if it signals an error. For what was not recorded, SBCL signals errors of no common type."
  `(handler-case (progn ,@body) (error () nil)))

(defmacro nil-if-unreadable (&body body)
  "Evaluate BODY, which looks for a file or reads it. Return its values, or NIL if it signals an
error. What the system refuses, what is no file name, and characters that do not decode have no
common type."
  `(handler-case (progn ,@body) (error () nil)))

(defmacro unless-thread-ended (&body body)
  "Evaluate BODY, which interrupts a thread. Return NIL if this thread has ended."
  `(handler-case (progn ,@body) (sb-thread:interrupt-thread-error () nil)))

(defun true-file (file)
  "Return the truename of FILE, a pathname designator, or NIL when no such file exists."
  (nil-if-unreadable (truename file)))

(defun native-name (pathname)
  "Return PATHNAME as a native name, or NIL if it has none, as a wild pathname."
  (nil-if-unreadable (sb-ext:native-namestring pathname)))

(defun native-truename (file)
  "Return the truename of FILE, a pathname designator, as a native name. Return NIL when no such
file exists."
  (nil-if-unreadable (sb-ext:native-namestring (truename file))))

(defun date-of (file)
  "Return the write date of FILE, a native name or a pathname, or NIL when it is unknown."
  (nil-if-unreadable
    (file-write-date (if (stringp file) (sb-ext:parse-native-namestring file) file))))

(defun remove-file (file)
  "Delete FILE, a pathname designator, if it exists."
  (handler-case (delete-file file) (file-error () nil)))

(defun require-contrib (name)
  "Load the library NAME that comes with SBCL unless it is loaded. If this SBCL does not have it,
return NIL: each use of such a library looks whether it is there."
  (nil-if-unreadable (require name)))

(defun number-in (text &optional (start 0))
  "Return the integer that the characters of TEXT from START on are, or NIL."
  (handler-case (parse-integer text :start start) (parse-error () nil)))

(defun proper-length (object)
  "Return the length of OBJECT if it is a proper list. Return NIL if it is a circular or dotted list
or no list."
  (handler-case (list-length object) (type-error () nil)))

(defun global-value-of (symbol)
  "Return the global value of SYMBOL, or NIL if it has none."
  (handler-case (sb-ext:symbol-global-value symbol) (unbound-variable () nil)))

(defun part-of-condition (reader condition)
  "Return the value of the function READER for CONDITION. Return NIL if CONDITION was made without
this value, as MAKE-CONDITION can."
  (nil-if-program-fails (funcall reader condition)))
