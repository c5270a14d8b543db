;;;; Records where each list of a source file begins and ends. SBCL identifies a list by its
;;;; top-level form and its number in this form: in (defun f (x) (g x)), the whole list has number
;;;; 0, (x) 1 and (g x) 2. Tables here map these numbers to places. The reader reports the places
;;;; when the file is compiled, loaded or read again.

(in-package "LIVE-LISP.JOBS")

(deftype spans ()
  "The places of the lists of a top-level form: elements 2N and 2N+1 are the start and the end of
the list with number N, in characters of the file. Both are 0 when unknown."
  '(simple-array (unsigned-byte 32) (*)))

(defstruct (file-spans (:constructor make-file-spans (date)))
  "What is known from reading the version of a file with the write date DATE.
FORMS: a vector. Its element N is the SPANS, the places of the lists, of top-level form N, or NIL if
they are unknown.
PACKAGES: a list of (NUMBER . NAME) pairs, the last first: the forms from NUMBER on were read in the
package NAME.
OFFSETS: a vector of the octet offsets at which reading each form began, if the file was read again
to find the places, else NIL. If SBCL recorded other offsets at the load, the file had another text
then, and the places are wrong for it."
  date (forms #() :type simple-vector) (packages '()) (offsets nil))

(sb-ext:defglobal **spans** (make-hash-table :test 'equal :synchronized t)
  "A hash table from native truenames of files to lists of FILE-SPANS structures, one for each
version, newest first.")

(defparameter *most-versions* 8
  "The number of versions of a file for which FILE-SPANS are kept at most.")

(defun spans-known (path date)
  "Return the FILE-SPANS structure of the file PATH in the version with the write date DATE, or NIL.
If DATE is NIL, return the newest."
  (let ((known (gethash path **spans**)))
    (if date (find date known :key #'file-spans-date) (first known))))

(defun spans-for (path date)
  "Return the FILE-SPANS structure of the file PATH in the version with the write date DATE. If
there is none, make an empty one."
  (sb-ext:with-locked-hash-table (**spans**)
    (or (spans-known path date)
        (let ((new (make-file-spans date)) (known (gethash path **spans**)))
          (setf (gethash path **spans**)
                (cons new (subseq known 0 (min (length known) (1- *most-versions*)))))
          new))))

(defun keep-spans (file number spans)
  "Store SPANS, a SPANS vector, as that of the top-level form with NUMBER in FILE, a FILE-SPANS
structure."
  (let ((forms (file-spans-forms file)))
    (when (>= number (length forms))
      (let ((longer (make-array (max 16 (* 2 number)) :initial-element nil)))
        (setf forms (replace longer forms)
              (file-spans-forms file) longer)))
    (setf (svref forms number) spans)))

(defun keep-package (file number package)
  "Record in FILE, a FILE-SPANS structure, that the top-level form with NUMBER was read in PACKAGE.
Number 0 begins another reading of the file."
  (let ((known (if (zerop number) '() (file-spans-packages file))) (name (package-name package)))
    (setf (file-spans-packages file)
          (if (equal name (cdr (first known))) known (acons number name known)))))

;;; Recording the lists that the reader makes

(defstruct (recorder (:constructor make-recorder (&optional file)))
  "The lists read so far for one top-level form. FILE is the FILE-SPANS of the file, or NIL before
its first form was read. READ is a vector with three elements for each list: its start, its end and
the list itself. DOUBTFUL is NIL, or the first list for which the reader may have made another
object when the file was loaded."
  file (read (make-array 384 :adjustable t :fill-pointer 0)) (doubtful nil))

(sb-ext:defglobal **recorders** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from stream observers, which are functions, to their RECORDERs.")

(defun observer (recorder &optional inner)
  "Return a stream observer: a function that SBCL calls with the start, the end and the object
whenever SBCL has read an object. The observer records lists in RECORDER, a RECORDER structure, and
calls INNER, another observer or NIL."
  (let* ((read (recorder-read recorder))
         (observer (lambda (start end object)
                     ;; START can also be a keyword.
                     (when (and (integerp start) (consp object))
                       (vector-push-extend start read)
                       (vector-push-extend end read)
                       (vector-push-extend object read))
                     (when inner (funcall (the function inner) start end object)))))
    (setf (gethash observer **recorders**) recorder)
    observer))

(defun tail-of-p (list other)
  "Return true if LIST is a proper tail of the list OTHER, one of its conses after the first. OTHER
can be circular."
  (loop for cell = (cdr other) then (cdr cell)
        for last = other then (if advance (cdr last) last)
        for advance = nil then (not advance)
        while (and (consp cell) (not (eq cell last)))
          thereis (eq cell list)))

(defun tail-read-p (list read)
  "True when LIST is a tail of one of the lists in READ, the READ of a RECORDER, as (c) is a tail of
(a b . (c))."
  (loop for index from 2 below (length read) by 3 thereis (tail-of-p list (aref read index))))

(defun depths-of (paths)
  "Return a vector with the depth of each list of a form, at the index that is the list's number.
PATHS is SBCL's hash table from each list to its path."
  ;; A path is (symbol number position ...). It has one position for each list around the list, so a
  ;; longer path belongs to a deeper list.
  (let* ((last (loop for (nil number) being the hash-values of paths maximize number))
         (depths (make-array (1+ (or last 0)) :initial-element 0)))
    (loop for path being the hash-values of paths
          for number = (second path)
          for depth = (length path)
          do (when (or (zerop (svref depths number)) (< depth (svref depths number)))
               (setf (svref depths number) depth)))
    depths))

(defun fill-gaps (spans depths)
  "The reader does not report every list. Give each list that has no place in SPANS the place of the
nearest enclosing list, and return SPANS. DEPTHS is a vector from DEPTHS-OF."
  (declare (type spans spans) (type simple-vector depths))
  (let ((around (make-array (1+ (reduce #'max depths)) :initial-element 0)))
    (loop for number from 0 below (length depths)
          for depth = (svref depths number)
          do (when (zerop (aref spans (1+ (* 2 number))))
               (let ((outer (* 2 (svref around (max 0 (1- depth))))))
                 (setf (aref spans (* 2 number)) (aref spans outer)
                       (aref spans (1+ (* 2 number))) (aref spans (1+ outer)))))
             (setf (svref around depth) number))
    spans))

(defun read-spans (read paths)
  "Return the SPANS of a form. READ is that of the form's RECORDER, and PATHS is as for DEPTHS-OF."
  (let* ((depths (depths-of paths)) (count (length depths))
         (spans (make-array (* 2 count) :element-type '(unsigned-byte 32) :initial-element 0))
         (lists (make-array count :initial-element nil)))
    (loop for index from 0 below (length read) by 3
          for list = (aref read (+ index 2))
          for number = (second (gethash list paths))
          ;; A list can be reported twice: a list after #+ is reported again with the place of the
          ;; #+ included. The first place counts.
          do (when (and number
                        (not (eq list (svref lists number)))
                        (or (null (svref lists number)) (tail-read-p (svref lists number) read)))
               (setf (svref lists number) list
                     (aref spans (* 2 number)) (aref read index)
                     (aref spans (1+ (* 2 number))) (aref read (1+ index)))))
    (fill-gaps spans depths)))

(defun without-doubtful (spans doubtful paths)
  "Return the part of SPANS, a SPANS vector, before the list DOUBTFUL, or all of it if DOUBTFUL is
NIL. Later numbers may differ from those in the loaded file. PATHS is SBCL's hash table from lists
to source paths."
  (let ((number (and doubtful (second (gethash doubtful paths)))))
    (if number (subseq spans 0 (* 2 number)) spans)))

(defun take-form (recorder form number paths)
  "Store the places of the lists in FORM, the top-level form with NUMBER, from RECORDER in the
FILE-SPANS of RECORDER's file, and empty RECORDER for the next form. PATHS is SBCL's hash table from
each list to its source path."
  (when (consp form)
    (keep-spans (recorder-file recorder) number
                (without-doubtful (read-spans (recorder-read recorder) paths)
                                  (recorder-doubtful recorder) paths)))
  (setf (fill-pointer (recorder-read recorder)) 0
        (recorder-doubtful recorder) nil))

;;; Files that SBCL compiles or loads

(defvar *file-of-copy* nil
  "NIL, or a pair (COPY . FILE) of native truenames. COPY is the file being compiled, and has some
of the forms of FILE.")

(defun call-as-itself (file function)
  "Call FUNCTION, which compiles or loads FILE, a pathname designator or stream. If FILE is not the
copy in *FILE-OF-COPY*, bind SBCL's source name so that definitions get FILE as their source."
  (if (and *file-of-copy*
           +source-namestring+
           +source-plist+
           (not (equal (car *file-of-copy*)
                       (native-truename file))))
      (let ((*file-of-copy* nil))
        (progv (list +source-namestring+ +source-plist+) '(nil nil) (funcall function)))
      (funcall function)))

(defvar *spans-read* nil
  "NIL, or the FILE-SPANS structure for the places of lists in files being compiled. Bind it while
compiling code that will not be loaded.")

(defun spans-read (stream)
  "Return the FILE-SPANS structure for the lists read from STREAM, a stream of a file. If its
external format is not UTF-8, in which the server counts characters, return one that is stored
nowhere."
  (or *spans-read*
      (let* ((file (truename stream)) (name (sb-ext:native-namestring file))
             (path (if (equal name (car *file-of-copy*)) (cdr *file-of-copy*) name))
             (date (file-write-date file)))
        (cond ((eq :utf-8 (stream-external-format stream))
               (let ((spans (spans-for path date)))
                 (setf (file-spans-offsets spans) nil)
                 spans))
              (t (remhash path **spans**)
                 (make-file-spans date))))))

(defun compiler-observes (function information)
  "Hook: call FUNCTION with INFORMATION. FUNCTION returns SBCL's observer for a file to be compiled.
Return an observer that calls SBCL's observer and also records lists."
  (let ((observer (funcall function information)))
    (or (with-isolation (observer (make-recorder) observer))
        observer)))

(defun source-loaded (function stream &rest arguments)
  "Hook: call FUNCTION, which loads the source in STREAM, with STREAM and ARGUMENTS. Record the
lists that are read meanwhile."
  (with-isolation
   (when (typep stream 'tracking-stream)
     (setf (stream-observer stream) (observer (make-recorder)))))
  (apply function stream arguments))

(defun forms-numbered (function form number)
  "Hook: call FUNCTION with FORM and NUMBER. FUNCTION numbers the lists of FORM, the top-level form
with NUMBER. Then store the places of the lists, and the package in which FORM was read."
  (multiple-value-prog1 (funcall function form number)
    (let ((package *package*))
      (with-isolation
       (let* ((information source-information)
              (stream (and information (information-stream information)))
              (recorder (and (typep stream 'tracking-stream)
                             (gethash (stream-observer stream) **recorders**))))
         (when recorder
           (unless (recorder-file recorder)
             (setf (recorder-file recorder) (spans-read stream)))
           (keep-package (recorder-file recorder) number package)
           (take-form recorder form number form-paths)))))))

(define-hook +make-observer+ compiler-observes)
(define-hook +load-source+ source-loaded)
(define-hook +number-forms+ forms-numbered)

(defun listen-for-reading ()
  "Install the hooks that record the places of lists in files that SBCL compiles or loads from now
on."
  (install-hooks 'compiler-observes 'source-loaded 'forms-numbered))

;;; Files that are read again

(defvar *recorder* nil "The RECORDER for the file that is read again now, or NIL.")

(defun doubtful (list)
  "Return LIST. If no list of its form is marked as DOUBTFUL yet, mark LIST: when the file was
loaded, the reader may have made another object here."
  (when (and *recorder* (null (recorder-doubtful *recorder*)))
    (setf (recorder-doubtful *recorder*) list))
  list)

(defun form-numbers (form number)
  "Return SBCL's hash table from each list in FORM, the top-level form with NUMBER, to its path, a
list with the number of the list as second element."
  (progv (list +form-paths+ +source-information+) (list (make-hash-table :test 'eq) nil)
    (number-forms form number)
    form-paths))

(defun encoding (file)
  "Return the external format with which the server reads FILE, a pathname: UTF-8, or Latin-1 if the
octets of FILE are no UTF-8."
  (handler-case (with-open-file (in file :external-format :utf-8)
                  (loop while (read-char in nil) finally (return :utf-8)))
    (stream-error () :latin-1)))

(defun call-reading-again (function file &key (path (sb-ext:native-namestring file))
                           (date (file-write-date file)))
  "Call FUNCTION with a stream of FILE, a pathname, and a function TAKE. FUNCTION reads all forms,
and calls TAKE, which stores the places of lists, with each form, its number, its octet offset and
its package. FILE may be a copy of PATH in the version of DATE."
  (let* ((spans (make-file-spans date))
         (new (null (spans-known path date)))
         (offsets (make-array 64 :adjustable t :fill-pointer 0)) (*recorder* (make-recorder spans)))
    (with-open-file (in file :external-format (encoding file)
                        :class (or +tracking-stream+ 'sb-sys:fd-stream))
      (when (typep in 'tracking-stream) (setf (stream-observer in) (observer *recorder*)))
      (flet ((take (form number offset package)
               (vector-push-extend offset offsets)
               (keep-package spans number package)
               (when (and +form-paths+ +source-information+)
                 (take-form *recorder* form number (form-numbers form number)))))
        (unwind-protect (funcall function in (if new #'take (constantly nil)))
          (when new
            (setf (file-spans-offsets spans) offsets)
            (sb-ext:with-locked-hash-table (**spans**)
              (push spans (gethash path **spans**)))))))))

(sb-ext:defglobal **reads-spans** nil
  "A function that reads a file again to record its spans. Its arguments are the file's native name
and the keyword arguments of CALL-READING-AGAIN.")

(sb-ext:defglobal **text-as-loaded** nil
  "NIL, or a function of the native truename and the date of a file. It returns the text of the
version with this date, with a character for each octet, or NIL if that was not loaded or not
kept.")

(defun call-with-copy (function text)
  "Call FUNCTION with the native name of a temporary file that contains TEXT, a string with a
character for each octet."
  (let* ((name (format nil "~A/live-lisp-~36R" (or (sb-ext:posix-getenv "TMPDIR") "/tmp")
                       (random (expt 36 12))))
         (copy (sb-ext:parse-native-namestring name)))
    (unwind-protect
         (progn (with-open-file (out copy :direction :output :external-format :latin-1)
                  (write-string text out))
                (funcall function name))
      (remove-file copy))))

(defvar *may-read-spans* t
  "False while no file may be read again to find places, since reading runs the user's reader
macros.")

(defun find-spans (path date)
  "Return the FILE-SPANS structure of the file PATH, a native truename, in its version of DATE, or
NIL. If there is none, read this version again, from the kept text if the file has changed."
  (or (spans-known path date)
      (when (and *may-read-spans* **reads-spans**)
        (let* ((unchanged (or (null date) (eql date (date-of path))))
               (text (and (not unchanged)
                          **text-as-loaded**
                          (funcall **text-as-loaded** path date))))
          (cond (unchanged (funcall **reads-spans** path))
                (text (call-with-copy (lambda (copy)
                                        (funcall **reads-spans** copy :path path :date date))
                                      text))))
        (spans-known path date))))

;;; Queries

(defun form-spans (file form)
  "Return the SPANS vector of the top-level form with the number FORM in FILE, a FILE-SPANS
structure or NIL. Return NIL if this vector is unknown."
  (let ((forms (and file (file-spans-forms file))))
    (and forms (< -1 form (length forms)) (svref forms form))))

(defun form-package (path date form)
  "FORM is the number of a top-level form of the file PATH, a native truename. Return the package in
which this form was read in the version of DATE, or in the newest version if DATE is NIL. Return NIL
if the package is unknown or was deleted."
  (let* ((file (find-spans path date))
         (read (and file (find-if (lambda (pair) (<= (car pair) form))
                                  (file-spans-packages file)))))
    (and read (find-package (cdr read)))))

(defun list-span (spans number)
  "Return a list (START END), in characters, for the list with NUMBER in SPANS, a SPANS vector.
Return NIL if the place of the list is unknown."
  (let* ((index (* 2 number)) (end (if (< (1+ index) (length spans)) (aref spans (1+ index)) 0)))
    (and (plusp end) (list (aref spans index) end))))

(defun read-alike-p (loaded read form)
  "LOADED and READ are FILE-SPANS structures of one file. FORM is the number of a top-level form.
Return NIL if LOADED and READ have different lists in this form, else true. If LOADED was made by
reading the file again, LOADED may have only the first lists of the form."
  (let ((known (form-spans loaded form)) (new (form-spans read form)))
    (or (null known)
        (null new)
        (member (mismatch known new)
                (list nil (and (file-spans-offsets loaded) (length known)))))))

(defun span-of (file form number offsets)
  "Return a list (START END) for the list with NUMBER in top-level form FORM, a number, of FILE, a
FILE-SPANS structure or NIL. Return NIL if it is unknown, or if FILE has other octet offsets for
FORM and the next form than OFFSETS, those recorded by SBCL."
  (let ((span (list-span (form-spans file form) number))
        (read (and file (file-spans-offsets file))))
    (flet ((same-p (form)
             (or (>= form (length read))
                 (>= form (length offsets))
                 (eql (elt read form) (elt offsets form)))))
      (and (same-p form) (same-p (1+ form)) span))))

(defun span-members (path date form number offsets)
  "FORM is the number of a top-level form of the file PATH, which was compiled at DATE. Return a
plist of JSON members with the place of the list with NUMBER in this form. The plist is NIL if
NUMBER stands for the whole form, and has \"inside\" if the place is unknown. OFFSETS are SBCL's
octet offsets of the forms."
  (when (and form number (plusp number))
    (destructuring-bind (&optional start end) (span-of (find-spans path date) form number offsets)
      (if start (list "start" start "end" end) (list "inside" t)))))
