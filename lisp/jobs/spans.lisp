;;;; Records where each list of a source file begins and ends. SBCL identifies a list by its
;;;; top-level form and its number in that form: (defun f (x) (g x)) has number 0, (x) 1 and (g x)
;;;; 2. Tables give the place of each number, as the reader saw it when the file was compiled,
;;;; loaded or read again.

(in-package "LIVE-LISP.JOBS")

(deftype spans ()
  "The places of the lists of a top-level form: elements 2N and 2N+1 are the start and the end of
the list with number N, in characters of the file. Both are 0 when unknown."
  '(simple-array (unsigned-byte 32) (*)))

(defstruct (file-spans (:constructor make-file-spans (date)))
  "The places in the version of a file that had DATE. FORMS has the SPANS of each top-level form by
its number, or NIL. OFFSETS is NIL, or for a file that was read again the octet offset at which
reading each form began: it must equal the one that SBCL recorded, or else the places are of another
text."
  date (forms #() :type simple-vector) (offsets nil))

(sb-ext:defglobal **spans** (make-hash-table :test 'equal :synchronized t)
  "A list of FILE-SPANS, newest first, by the native truename of the file.")

(defparameter *most-versions* 8 "The spans of at most this many versions of a file are kept.")

(defun spans-known (path date)
  "Return the FILE-SPANS of the file PATH with DATE (NIL: the newest), or NIL."
  (let ((known (gethash path **spans**)))
    (if date (find date known :key #'file-spans-date) (first known))))

(defun spans-for (path date)
  "Return the FILE-SPANS of the version of the file PATH that has DATE. Make and keep an empty one
when there is none."
  (sb-ext:with-locked-hash-table (**spans**)
    (or (spans-known path date)
        (let ((new (make-file-spans date)) (known (gethash path **spans**)))
          (setf (gethash path **spans**)
                (cons new (subseq known 0 (min (length known) (1- *most-versions*)))))
          new))))

(defun keep-spans (file number spans)
  "Store SPANS for the form with NUMBER in FILE, a FILE-SPANS."
  (let ((forms (file-spans-forms file)))
    (when (>= number (length forms))
      (let ((longer (make-array (max 16 (* 2 number)) :initial-element nil)))
        (setf forms (replace longer forms)
              (file-spans-forms file) longer)))
    (setf (svref forms number) spans)))

(defun date-of (file)
  "Return the date of FILE, a native name, or NIL when it is unknown."
  (ignore-errors (file-write-date (sb-ext:parse-native-namestring file))))

;;; Recording what the reader makes

(defstruct (recorder (:constructor make-recorder (file)))
  "The lists read so far for one top-level form of FILE, a FILE-SPANS. READ has three elements for
each list: its start, its end and the list itself. DOUBTFUL is NIL, or the first list in whose place
the reader may have made another object when the file was loaded."
  file (read (make-array 384 :adjustable t :fill-pointer 0)) (doubtful nil))

(sb-ext:defglobal **recorders** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The recorder of each stream observer that OBSERVER made, by that function.")

(defun observer (recorder &optional inner)
  "Return a function that observes a stream: SBCL calls it with the start, the end and the object of
each thing read. It records lists in RECORDER, and calls INNER, another such function or NIL."
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
  "True when LIST is a cons behind the first one of OTHER, a list that can be circular."
  (loop for cell = (cdr other) then (cdr cell)
        for last = other then (if advance (cdr last) last)
        for advance = nil then (not advance)
        while (and (consp cell) (not (eq cell last)))
          thereis (eq cell list)))

(defun tail-read-p (list read)
  "True when LIST is a tail of a list in READ, the slot of a RECORDER, as (c) is in (a b . (c))."
  (loop for index from 2 below (length read) by 3 thereis (tail-of-p list (aref read index))))

(defun fill-gaps (spans depths)
  "Give each list that has no place in SPANS the place of the nearest list around it that has one.
Lists without a place are those that the reader did not report. DEPTHS is a vector of the depth of
each list in the form, by number."
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
  "Return the SPANS of a form whose lists are in READ, the slot of a RECORDER. PATHS is SBCL's hash
table from each list of the form to its path, which has the number of the list as its second
element."
  ;; A path is (symbol number position ...): the list's number in the form, then positions from the
  ;; inside out. So its length grows with the depth.
  (let ((last 0))
    (maphash (lambda (form path) (declare (ignore form)) (setf last (max last (second path))))
             paths)
    (let ((spans (make-array (* 2 (1+ last)) :element-type '(unsigned-byte 32) :initial-element 0))
          (depths (make-array (1+ last) :initial-element 0))
          (lists (make-array (1+ last) :initial-element nil)))
      (maphash (lambda (form path)
                 (declare (ignore form))
                 (let ((number (second path)) (depth (length path)))
                   (when (or (zerop (svref depths number)) (< depth (svref depths number)))
                     (setf (svref depths number) depth))))
               paths)
      (loop for index from 0 below (length read) by 3
            for list = (aref read (+ index 2))
            for number = (second (gethash list paths))
            ;; A list can be reported twice. The first place counts: a list behind #+ is reported
            ;; again with the place of the #+ included.
            do (when (and number
                          (not (eq list (svref lists number)))
                          (or (null (svref lists number)) (tail-read-p (svref lists number) read)))
                 (setf (svref lists number) list
                       (aref spans (* 2 number)) (aref read index)
                       (aref spans (1+ (* 2 number))) (aref read (1+ index)))))
      (fill-gaps spans depths))))

(defun without-doubtful (spans doubtful paths)
  "Return the part of SPANS before the list DOUBTFUL, or SPANS when that is NIL: the numbers of
later lists can differ from those in the loaded file. PATHS is as for READ-SPANS."
  (let ((number (and doubtful (second (gethash doubtful paths)))))
    (if number (subseq spans 0 (* 2 number)) spans)))

(defun take-form (recorder form number paths)
  "Take from RECORDER the places of the lists in FORM, and store them in its FILE-SPANS for the
top-level form with NUMBER. Empty RECORDER for the next form. PATHS is as for READ-SPANS."
  (when (consp form)
    (keep-spans (recorder-file recorder) number
                (without-doubtful (read-spans (recorder-read recorder) paths)
                                  (recorder-doubtful recorder) paths)))
  (setf (fill-pointer (recorder-read recorder)) 0
        (recorder-doubtful recorder) nil))

;;; Files that SBCL compiles or loads

(defvar *file-of-copy* nil
  "A pair of native truenames, or NIL: that of a copy with some forms of a file, which is compiled,
and that of the file.")

(defun recorder-for (file)
  "Return a recorder for the reading of FILE, which is open."
  (let* ((file (truename file)) (name (sb-ext:native-namestring file))
         (path (if (equal name (car *file-of-copy*)) (cdr *file-of-copy*) name))
         (spans (spans-for path (file-write-date file))))
    (setf (file-spans-offsets spans) nil)
    (make-recorder spans)))

(defun compiler-observes (function information)
  "Hook: FUNCTION makes SBCL's observer of a file to be compiled from INFORMATION. Return an
observer that calls it, and also records where lists are."
  (let ((observer (funcall function information)))
    (or (ignore-errors (observer (recorder-for *compile-file-truename*) observer))
        observer)))

(defun source-loaded (function stream &rest arguments)
  "Hook: call FUNCTION, which loads the source in STREAM, with STREAM and ARGUMENTS, and record
where lists are."
  (ignore-errors
   (when (typep stream 'tracking-stream)
     (setf (stream-observer stream) (observer (recorder-for stream)))))
  (apply function stream arguments))

(defun forms-numbered (function form number)
  "Hook: call FUNCTION, which numbers the lists of the top-level form FORM, with FORM and the NUMBER
of FORM in its file. Then store where the lists are."
  (multiple-value-prog1 (funcall function form number)
    (ignore-errors
     (let* ((information source-information)
            (stream (and information (information-stream information)))
            (recorder (and (typep stream 'tracking-stream)
                           (gethash (stream-observer stream) **recorders**))))
       (when recorder (take-form recorder form number form-paths))))))

(defun listen-for-reading ()
  "Install the hooks that record the places of lists in files that SBCL compiles or loads from now
on."
  (loop for (listener name) in `((compiler-observes ,+make-observer+) (source-loaded ,+load-source+)
                                 (forms-numbered ,+number-forms+))
        do (when name (encapsulate name 'live-lisp-spans (fdefinition listener)))))

;;; Files that are read again

(defvar *recorder* nil "The recorder of the file being read again, or NIL.")

(defun doubtful (list)
  "Return LIST. If it is the first such list of its form, mark it as DOUBTFUL: when the file was
loaded, the reader may have made another object in its place."
  (when (and *recorder* (null (recorder-doubtful *recorder*)))
    (setf (recorder-doubtful *recorder*) list))
  list)

(defun call-reading-again (function file &key (path (sb-ext:native-namestring file))
                           (date (file-write-date file)))
  "Call FUNCTION with a stream of FILE, a pathname, and a function TAKE. FUNCTION must read the
forms, and call TAKE with each form, its number, and the octet offset at which reading it began.
TAKE records where its lists are, unless this is known already. FILE can be a copy of the file PATH,
a native truename, as it was when it had DATE."
  (let* ((spans (make-file-spans date))
         (new (and +form-paths+ +source-information+ (null (spans-known path date))))
         (offsets (make-array 64 :adjustable t :fill-pointer 0)) (*recorder* (make-recorder spans)))
    (with-open-file (in file :external-format '(:utf-8 :replacement #\?)
                        :class (or +tracking-stream+ 'sb-sys:fd-stream))
      (when (typep in 'tracking-stream) (setf (stream-observer in) (observer *recorder*)))
      (flet ((take (form number offset)
               (vector-push-extend offset offsets)
               (progv (list +form-paths+ +source-information+)
                   (list (make-hash-table :test 'eq) nil)
                 (number-forms form number)
                 (take-form *recorder* form number form-paths))))
        (unwind-protect (funcall function in (if new #'take (constantly nil)))
          (when new
            (setf (file-spans-offsets spans) offsets)
            (sb-ext:with-locked-hash-table (**spans**)
              (push spans (gethash path **spans**)))))))))

(sb-ext:defglobal **reads-spans** nil
  "A function that reads the file with a native name again to record its spans. It has the keyword
parameters of CALL-READING-AGAIN.")

(sb-ext:defglobal **text-as-loaded** nil
  "A function of a native truename and a date. It returns the file's text as loaded with that date,
a character for each octet, or NIL when that is not kept.")

(defun call-with-copy (function text)
  "Call FUNCTION with the native name of a file with TEXT, a character for each octet. Delete the
file afterwards."
  (let* ((name (format nil "~A/live-lisp-~36R" (or (sb-ext:posix-getenv "TMPDIR") "/tmp")
                       (random (expt 36 12))))
         (copy (sb-ext:parse-native-namestring name)))
    (unwind-protect
         (progn (with-open-file (out copy :direction :output :external-format :latin-1)
                  (write-string text out))
                (funcall function name))
      (ignore-errors (delete-file copy)))))

(defvar *may-read-spans* t
  "False while no file may be read again to find places, as that runs reader macros of the user.")

(defun find-spans (path date)
  "Return the FILE-SPANS of the file PATH, a native truename, with DATE, or NIL. If they are
unknown, read the file again, or its kept text if it has changed."
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

(defun span-of (file form number offsets)
  "Return the start and the end, in characters, of the list with NUMBER in the top-level form number
FORM of FILE, a FILE-SPANS; or NIL. OFFSETS are the octet offsets of the forms as SBCL recorded
them: if FILE has offsets, those of FORM and of the next form must be the same."
  (let* ((forms (and file (file-spans-forms file)))
         (spans (and forms (< -1 form (length forms)) (svref forms form)))
         (read (and file (file-spans-offsets file)))
         (end (and spans (< (1+ (* 2 number)) (length spans)) (aref spans (1+ (* 2 number))))))
    (flet ((same-p (form)
             (or (>= form (length read))
                 (>= form (length offsets))
                 (eql (elt read form) (elt offsets form)))))
      (and end (plusp end) (same-p form) (same-p (1+ form))
           (values (aref spans (* 2 number)) end)))))

(defun span-members (path date form number offsets)
  "Return answer members with the place of the list with NUMBER in the top-level form number FORM of
the file PATH, which had DATE when it was compiled. Return no members when the list is the whole
form or its number is NIL, and the member \"inside\" when its place is unknown. OFFSETS are as for
SPAN-OF."
  (when (and form number (plusp number))
    (multiple-value-bind (start end) (span-of (find-spans path date) form number offsets)
      (if start (list "start" start "end" end) (list "inside" t)))))
