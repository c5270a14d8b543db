;;;; Macros that return NIL if their body signals an error, and functions that return NIL if there
;;;; is no such file or value. The name of a macro says why its body may fail.

(in-package "LIVE-LISP.BASE")

(defmacro nil-if-program-fails (&body body)
  "Evaluate BODY, which runs code of the program or of its libraries, or reads objects that other
threads can change meanwhile. Return its values, or NIL if it signals an error."
  `(handler-case (progn ,@body) (error () nil)))

(defmacro nil-if-unknown (&body body)
  "Evaluate BODY, which reads SBCL's records of code and definitions. Return its values, or NIL if
it signals an error. SBCL signals errors of no common type when it has not recorded something."
  `(handler-case (progn ,@body) (error () nil)))

(defmacro nil-if-unreadable (&body body)
  "Evaluate BODY, which looks for a file or reads it. Return its values, or NIL if it signals an
error. The errors for a refused access, an invalid file name and an invalid character encoding have
no common type."
  `(handler-case (progn ,@body) (error () nil)))

(defmacro unless-thread-ended (&body body)
  "Evaluate BODY, which interrupts or terminates a thread, and return its values. Return NIL if that
thread has ended."
  `(handler-case (progn ,@body) (sb-thread:interrupt-thread-error () nil)))

(defun true-file (file)
  "Return the truename of FILE, a pathname designator, or NIL when no such file exists."
  (nil-if-unreadable (truename file)))

(defun native-name (pathname)
  "Return PATHNAME as a native name. Return NIL if it has none, for example because it is wild."
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
  "Load the contrib NAME, a library that comes with SBCL, unless it is loaded. Return NIL if this
SBCL does not have it. Callers then test whether the library is there."
  (nil-if-unreadable (require name)))

(defun number-in (text &optional (start 0))
  "Return the integer that TEXT has from index START to its end. Return NIL if there are other
characters."
  (handler-case (parse-integer text :start start) (parse-error () nil)))

(defun proper-length (object)
  "Return the length of OBJECT if it is a proper list. Return NIL if it is a circular or dotted list
or no list."
  (handler-case (and (listp object) (list-length object)) (type-error () nil)))

(defun global-value-of (symbol)
  "Return the global value of SYMBOL, or NIL if it has none."
  (handler-case (sb-ext:symbol-global-value symbol) (unbound-variable () nil)))

(defun part-of-condition (reader condition)
  "Return the result of calling the function READER, a slot reader, with CONDITION. Return NIL if
that signals an error: MAKE-CONDITION can leave the slot unbound."
  (nil-if-program-fails (funcall reader condition)))
