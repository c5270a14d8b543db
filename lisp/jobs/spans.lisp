;;;; Records where each list of a source file begins and ends. SBCL identifies a list by its
;;;; top-level form and its number in this form: in (defun f (x) (g x)), the whole list has number
;;;; 0, (x) 1 and (g x) 2. Tables here map these numbers to places. The reader reports the places
;;;; when the file is compiled, loaded or read again.

(in-package "LIVE-LISP.JOBS")

(deftype spans ()
  "The places of the lists of a top-level form. Elements 2N and 2N+1 are the start and the end, in
characters of the file, of the list with number N. Both are 0 if they are unknown."
  '(simple-array (unsigned-byte 32) (*)))

(defstruct (file-spans (:constructor make-file-spans (date)))
  "The places of the lists in a file, in its version with the write date DATE.
FORMS: a vector. Element N is the SPANS vector of top-level form N, or NIL if it is unknown.
PACKAGES: a list of (NUMBER . NAME) pairs, the last first: the forms from NUMBER on were read in the
package NAME.
OFFSETS: NIL, or a vector of octet offsets if the file was read again to find the places. They say
where the reading of each form began. If SBCL recorded other offsets when it loaded the file, the
file had another text then, and the places do not fit the loaded code."
  date (forms #() :type simple-vector) (packages '()) (offsets nil))

(sb-ext:defglobal **spans** (make-hash-table :test 'equal :synchronized t)
  "A hash table from native truenames of files to lists of FILE-SPANS structures, one for each
version, newest first.")

(defparameter *most-versions* 8
  "The largest number of versions of a file for which FILE-SPANS structures are kept.")

(defun spans-known (path date)
  "Return the stored FILE-SPANS structure, the places of the lists, of the file PATH, a native
truename, in the version with the write date DATE. If DATE is NIL, return the structure of the
newest version. Return NIL if none is stored."
  (let ((known (gethash path **spans**)))
    (if date (find date known :key #'file-spans-date) (first known))))

(defun spans-for (path date)
  "Return the FILE-SPANS structure of the file PATH, a native truename, in the version with the
write date DATE. Make an empty one if there is none."
  (sb-ext:with-locked-hash-table (**spans**)
    (or (spans-known path date)
        (let ((new (make-file-spans date)) (known (gethash path **spans**)))
          (setf (gethash path **spans**)
                (cons new (subseq known 0 (min (length known) (1- *most-versions*)))))
          new))))

(defun keep-spans (file number spans)
  "Store SPANS, a SPANS vector, in FILE, a FILE-SPANS structure, for the top-level form with
NUMBER."
  (let ((forms (file-spans-forms file)))
    (when (>= number (length forms))
      (let ((longer (make-array (max 16 (* 2 number)) :initial-element nil)))
        (setf forms (replace longer forms)
              (file-spans-forms file) longer)))
    (setf (svref forms number) spans)))

(defun keep-package (file number package)
  "Record in FILE, a FILE-SPANS structure, that the top-level form with NUMBER was read in PACKAGE.
The number 0 shows that the file is read from the start again."
  (let ((known (if (zerop number) '() (file-spans-packages file))) (name (package-name package)))
    (setf (file-spans-packages file)
          (if (equal name (cdr (first known))) known (acons number name known)))))

;;; Recording the lists that the reader makes

(defstruct (recorder (:constructor make-recorder (&optional file)))
  "The lists that were read so far for one top-level form. FILE is the FILE-SPANS of the file, or
NIL before its first form was read. READ is a vector with three elements for each list: its start,
its end and the list itself. DOUBTFUL is NIL or, while a file is read again, the first list in whose
place the reader may have made another object when the file was loaded."
  file (read (make-array 384 :adjustable t :fill-pointer 0)) (doubtful nil))

(sb-ext:defglobal **recorders** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "A weak hash table from stream observers, which are functions, to their RECORDER structures.")

(defun observer (recorder &optional inner)
  "Return a stream observer: a function that SBCL calls for each object that it reads, with the
start, the end and the object. The observer records lists in RECORDER, a RECORDER structure. It also
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
  ;; SLOW is half as fast as CELL, so CELL meets it if OTHER is circular.
  (loop for cell = (cdr other) then (cdr cell)
        for slow = other then (if advance (cdr slow) slow)
        for advance = nil then (not advance)
        while (and (consp cell) (not (eq cell slow)))
          thereis (eq cell list)))

(defun tail-read-p (list read)
  "Return true if LIST is a tail of one of the lists in READ, the vector of a RECORDER. For example,
(c) is a tail of (a b . (c))."
  (loop for index from 2 below (length read) by 3 thereis (tail-of-p list (aref read index))))

(defun depths-of (paths)
  "Return a vector of the depths of the lists of a form, indexed by the numbers of the lists. PATHS
is SBCL's hash table from each list to its source path."
  ;; A path is (symbol number position ...). It has one position for each list around the list, so a
  ;; longer path belongs to a deeper list. SBCL also stores a path for a tail that begins with an
  ;; atom. It has the number of the next list, which is no deeper, so the shortest path counts.
  (let* ((last (loop for (nil number) being the hash-values of paths maximize number))
         (depths (make-array (1+ (or last 0)) :initial-element 0)))
    (loop for path being the hash-values of paths
          for number = (second path)
          for depth = (length path)
          do (when (or (zerop (svref depths number)) (< depth (svref depths number)))
               (setf (svref depths number) depth)))
    depths))

(defun fill-gaps (spans depths)
  "The reader does not report the places of all lists. In SPANS, a SPANS vector, give each list
without a place that of the nearest enclosing list, and return SPANS. DEPTHS is a vector from
DEPTHS-OF with the nesting depth of each list."
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
  "Return a SPANS vector with the places of the lists in a form. READ has these places in the order
in which they were read; it is the vector in the slot READ of a RECORDER structure. PATHS is SBCL's
hash table from each list of the form to its source path."
  (let* ((depths (depths-of paths)) (count (length depths))
         (spans (make-array (* 2 count) :element-type '(unsigned-byte 32) :initial-element 0))
         (lists (make-array count :initial-element nil)))
    (loop for index from 0 below (length read) by 3
          for list = (aref read (+ index 2))
          for number = (second (gethash list paths))
          ;; READ can have the same list twice: for #+X (F), it has the place of (F), and then the
          ;; place of the whole text with the list (F). The first place counts. The
          ;; exception is a list after a dot, as (c) in ((a . (c)) (d)). It gets the number of the
          ;; next list, here (d), so the next list takes its place.
          do (when (and number
                        (not (eq list (svref lists number)))
                        (or (null (svref lists number)) (tail-read-p (svref lists number) read)))
               (setf (svref lists number) list
                     (aref spans (* 2 number)) (aref read index)
                     (aref spans (1+ (* 2 number))) (aref read (1+ index)))))
    (fill-gaps spans depths)))

(defun without-doubtful (spans doubtful paths)
  "Return the part of SPANS, a SPANS vector, for the lists before DOUBTFUL, a list of the form. If
DOUBTFUL is NIL, return SPANS. The lists from DOUBTFUL on may have other numbers in the loaded file.
PATHS is SBCL's hash table from each list to its source path."
  (let ((number (and doubtful (second (gethash doubtful paths)))))
    (if number (subseq spans 0 (* 2 number)) spans)))

(defun take-form (recorder form number paths)
  "FORM is the top-level form with NUMBER, and RECORDER a RECORDER structure with the lists that
were read for FORM. Store the places of these lists in the FILE-SPANS structure of RECORDER. Then
empty RECORDER for the next form. PATHS is SBCL's hash table from each list to its source path."
  (when (consp form)
    (keep-spans (recorder-file recorder) number
                (without-doubtful (read-spans (recorder-read recorder) paths)
                                  (recorder-doubtful recorder) paths)))
  (setf (fill-pointer (recorder-read recorder)) 0
        (recorder-doubtful recorder) nil))

;;; Files that SBCL compiles or loads

(defvar *file-of-copy* nil
  "NIL, or a pair (COPY . FILE) of native truenames. COPY is the file being compiled. It contains
some of the forms of FILE.")

(defun call-as-itself (file function)
  "Call FUNCTION, which compiles or loads FILE, a pathname designator or stream. While a copy of a
file is compiled (*FILE-OF-COPY*), SBCL records the original file as the source of definitions. But
code in the copy may compile or load another file. If FILE is such a file, let SBCL record FILE
itself."
  (if (and *file-of-copy*
           +source-namestring+
           +source-plist+
           (not (equal (car *file-of-copy*)
                       (native-truename file))))
      (let ((*file-of-copy* nil))
        (progv (list +source-namestring+ +source-plist+) '(nil nil) (funcall function)))
      (funcall function)))

(defvar *spans-read* nil
  "NIL or, while the backend compiles code that it will not load, a FILE-SPANS structure. The places
of the lists in the file of this code are stored there, and not in **SPANS**.")

(defun spans-read (stream)
  "Return the FILE-SPANS structure in which to store the places of the lists that are read from
STREAM, a file stream. It is in **SPANS** only if the external format of STREAM is UTF-8, because
places are counted in characters, and the server reads the file as UTF-8."
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
  "Hook: FUNCTION makes the observer for a file that will be compiled. SBCL calls an observer for
each object that it reads from the file. Call FUNCTION with INFORMATION. Return an observer that
also records the places of lists."
  (let ((observer (funcall function information)))
    (or (with-isolation (observer (make-recorder) observer))
        observer)))

(defun source-loaded (function stream &rest arguments)
  "Hook: FUNCTION loads the source code in STREAM. Call it with STREAM and ARGUMENTS, and record the
lists that it reads from STREAM."
  (with-isolation
   (when (typep stream 'tracking-stream)
     (setf (stream-observer stream) (observer (make-recorder)))))
  (apply function stream arguments))

(defun forms-numbered (function form number)
  "Hook: FUNCTION numbers the lists of FORM, the top-level form with NUMBER. Call it with FORM and
NUMBER. Then store the places of the lists, and the package in which FORM was read."
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
  "Install the hooks that record the places of lists in each file that SBCL compiles or loads."
  (install-hooks 'compiler-observes 'source-loaded 'forms-numbered))

;;; Files that are read again

(defvar *recorder* nil "The RECORDER of the file that is being read again, or NIL.")

(defun doubtful (list)
  "Return LIST, which the reader has made while it reads a file again. When the file was loaded, the
reader may have made another object in its place: for #., which is not always evaluated again, or
for # with a character that has no meaning now. Store the first such list of each top-level form
in RECORDER-DOUBTFUL."
  (when (and *recorder* (null (recorder-doubtful *recorder*)))
    (setf (recorder-doubtful *recorder*) list))
  list)

(defun form-numbers (form number)
  "Return SBCL's hash table from each list in FORM, the top-level form with NUMBER, to its source
path. The second element of a path is the number of the list."
  (progv (list +form-paths+ +source-information+) (list (make-hash-table :test 'eq) nil)
    (number-forms form number)
    form-paths))

(defun encoding (file)
  "Return the external format with which the server reads FILE, a pathname: UTF-8, or Latin-1 if the
contents of FILE are not valid UTF-8."
  (handler-case (with-open-file (in file :external-format :utf-8)
                  (loop while (read-char in nil) finally (return :utf-8)))
    (stream-error () :latin-1)))

(defun call-reading-again (function file &key (path (sb-ext:native-namestring file))
                           (date (file-write-date file)))
  "FILE is a pathname. Call FUNCTION with two arguments: a stream that reads FILE, and a function
TAKE. FUNCTION must read all forms, and call TAKE with each form, its number, its octet offset and
its package. TAKE stores the places of the lists under PATH and DATE, the write date of the file
PATH. If places are stored for this version already, TAKE does nothing. FILE may be a copy of PATH
as it was at DATE."
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
              (let ((known (gethash path **spans**)))
                ;; A copy has an older version, and the newest must remain the first.
                (setf (gethash path **spans**)
                      (if (string= path (sb-ext:native-namestring file))
                          (cons spans known)
                          (append known (list spans))))))))))))

(sb-ext:defglobal **reads-spans** nil
  "NIL, or a function that reads a file again to record the places of its lists. Its arguments are
the native name of the file and the keyword arguments of CALL-READING-AGAIN. The file
look/reread.lisp sets this.")

(sb-ext:defglobal **text-as-loaded** nil
  "NIL, or a function of the native truename of a file and the write date of a version. It returns
the text of the version, a string with one character for each octet. It returns NIL if the version
was not loaded or its text was not kept. The file sources/loaded-texts.lisp sets this.")

(defun call-with-copy (function text)
  "Call FUNCTION with the native name of a temporary file that contains TEXT, a string with one
character for each octet."
  (let* ((name (format nil "~A/live-lisp-~36R" (or (sb-ext:posix-getenv "TMPDIR") "/tmp")
                       (random (expt 36 12) (make-random-state t))))
         (copy (sb-ext:parse-native-namestring name)))
    (unwind-protect
         (progn (with-open-file (out copy :direction :output :external-format :latin-1)
                  (write-string text out))
                (funcall function name))
      (remove-file copy))))

(defvar *may-read-spans* t
  "True if files may be read again to find places. Reading can run reader macros of the user.")

(defun find-spans (path date)
  "Return the FILE-SPANS structure of the file PATH, a native truename, in the version with the
write date DATE, or in the newest version if DATE is NIL. If none is stored, read this version
again: the file or, if the file has changed since, a kept copy of its text. Return NIL if this is
impossible."
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
  "Return the SPANS vector of the top-level form with number FORM in FILE, a FILE-SPANS structure or
NIL. Return NIL if it is unknown."
  (let ((forms (and file (file-spans-forms file))))
    (and forms (< -1 form (length forms)) (svref forms form))))

(defun form-package (path date form)
  "Return the package in which a top-level form of the file PATH, a native truename, was read. FORM
is the number of the form. DATE is the write date of the version, or NIL for the newest version.
Return NIL if the package is unknown or was deleted."
  (let* ((file (find-spans path date))
         ;; The packages of later forms come first.
         (pair (and file (find-if (lambda (pair) (<= (car pair) form))
                                  (file-spans-packages file)))))
    (and pair (find-package (cdr pair)))))

(defun list-span (spans number)
  "Return a list (START END), in characters, for the list with NUMBER in SPANS, a SPANS vector.
Return NIL if the place of the list is unknown."
  (let* ((index (* 2 number)) (end (if (< (1+ index) (length spans)) (aref spans (1+ index)) 0)))
    (and (plusp end) (list (aref spans index) end))))

(defun read-alike-p (loaded read form)
  "LOADED and READ are FILE-SPANS structures of one file. Return true if the lists in the top-level
form with number FORM have the same positions in both, or if LOADED or READ does not know the
positions. If LOADED has OFFSETS, because the file was read again, it may know only the first lists
of the form. Then it suffices that these have the same positions."
  (let ((known (form-spans loaded form)) (new (form-spans read form)))
    (or (null known)
        (null new)
        (member (mismatch known new)
                (list nil (and (file-spans-offsets loaded) (length known)))))))

(defun span-of (file form number offsets)
  "Return where a list begins and ends in a file, as a list (START END). It is the list with NUMBER
in the top-level form with number FORM. FILE is a FILE-SPANS structure or NIL. OFFSETS are the octet
offsets of the top-level forms, as SBCL recorded them at the load. Return NIL if the place is
unknown, or if the structure FILE has, for this form or the next one, another offset than OFFSETS."
  (let ((span (list-span (form-spans file form) number))
        (own-offsets (and file (file-spans-offsets file))))
    (flet ((same-p (form)
             (or (>= form (length own-offsets))
                 (>= form (length offsets))
                 (eql (elt own-offsets form) (elt offsets form)))))
      (and (same-p form) (same-p (1+ form)) span))))

(defun span-members (path date form number offsets)
  "Return a plist of JSON members that tell where a list is in a file. FORM is the number of a
top-level form of the file, and NUMBER the number of a list in this form, or 0 for the form itself.
If the place of the list is known, the members are \"start\" and \"end\"; otherwise the only member
is \"inside\". Return NIL for the form itself, or if FORM or NUMBER is NIL. PATH is the path of the
file, and DATE its write date when it was compiled. OFFSETS are the octet offsets that SBCL recorded
for the top-level forms."
  (when (and form number (plusp number))
    (destructuring-bind (&optional start end) (span-of (find-spans path date) form number offsets)
      (if start (list "start" start "end" end) (list "inside" t)))))
