;;;; Where the lists of a file are. SBCL says by numbers which list of a top-level form it means. Here stands where each
;;;; number is in the text, as the reader saw it when the file was compiled or loaded, or when it was read again.

(in-package "LIVE-LISP.JOBS")

(deftype spans ()
  "Where the lists of a top-level form are: of the list with number N, element 2N is where it begins and the next where it
ends, in characters of the file. Both are 0 when that is not known."
  '(simple-array (unsigned-byte 32) (*)))

(defstruct (file-spans (:constructor make-file-spans (date)))
  "The SPANS of the top-level forms of a file with DATE, by their numbers. OFFSETS is NIL, or the octets at which the
reading of each form began when the file was read again: they must be those that SBCL recorded."
  date (forms #() :type simple-vector) (offsets nil))

(sb-ext:defglobal **spans** (make-hash-table :test 'equal :synchronized t)
  "By the native true name of a file, a list of its FILE-SPANS, newest first.")

(defparameter *most-versions* 8 "Of so many versions of a file the spans are kept.")

(defun spans-known (path date)
  "Return the FILE-SPANS of the file PATH with DATE, or NIL. Without DATE it is the newest."
  (let ((known (gethash path **spans**)))
    (if date (find date known :key #'file-spans-date) (first known))))

(defun spans-for (path date)
  "Return the FILE-SPANS of the version of the file PATH that has DATE. Make and keep an empty one when there is none."
  (sb-ext:with-locked-hash-table (**spans**)
    (or (spans-known path date)
        (let ((new (make-file-spans date)) (known (gethash path **spans**)))
          (setf (gethash path **spans**) (cons new (subseq known 0 (min (length known) (1- *most-versions*)))))
          new))))

(defun keep-spans (file number spans)
  "Let SPANS be those of the form with NUMBER in FILE, a FILE-SPANS."
  (let ((forms (file-spans-forms file)))
    (when (>= number (length forms))
      (let ((longer (make-array (max 16 (* 2 number)) :initial-element nil)))
        (setf forms (replace longer forms)
              (file-spans-forms file) longer)))
    (setf (svref forms number) spans)))

(defun date-of (file)
  "Return the date of FILE, a native name, or NIL when it cannot be known."
  (ignore-errors (file-write-date (sb-ext:parse-native-namestring file))))

;;; What the reader makes

(defstruct (recorder (:constructor make-recorder (file)))
  "What was read of a form of FILE, a FILE-SPANS: the start, the end and the list of each, one after the other in READ.
DOUBTFUL is a list that another reader would make in another way."
  file (read (make-array 384 :adjustable t :fill-pointer 0)) (doubtful nil))

(sb-ext:defglobal **recorders** (make-hash-table :test 'eq :weakness :key :synchronized t)
  "The recorder for each function that observes a stream.")

(defun observer (recorder &optional inner)
  "Return a function that tells RECORDER of each list that is read, and calls INNER, another observer."
  (let* ((read (recorder-read recorder))
         (observer (lambda (start end object)
                     ;; The first argument can also be a word.
                     (when (and (integerp start) (consp object))
                       (vector-push-extend start read)
                       (vector-push-extend end read)
                       (vector-push-extend object read))
                     (when inner (funcall (the function inner) start end object)))))
    (setf (gethash observer **recorders**) recorder)
    observer))

(defun tail-of-p (list other)
  "True when LIST is a later cell of OTHER, which can be circular."
  (loop for cell = (cdr other) then (cdr cell)
        for last = other then (if advance (cdr last) last)
        for advance = nil then (not advance)
        while (and (consp cell) (not (eq cell last)))
          thereis (eq cell list)))

(defun tail-read-p (list read)
  "True when LIST is the end of another one in READ, as when it stands behind a dot."
  (loop for index from 2 below (length read) by 3 thereis (tail-of-p list (aref read index))))

(defun fill-gaps (spans depths)
  "Let each list in SPANS that the reader did not make have the place of the one around it that it made. DEPTHS has of each
number how deep the list is in its form."
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
  "Return the SPANS of the form of which the lists in READ, of a RECORDER, were made. PATHS is what FORM-PATHS is."
  (let ((last 0))
    (maphash (lambda (form path) (declare (ignore form)) (setf last (max last (second path)))) paths)
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
            ;; Of a list that was told twice, as one behind #+, the first is without what stands before it.
            do (when (and number
                          (not (eq list (svref lists number)))
                          (or (null (svref lists number)) (tail-read-p (svref lists number) read)))
                 (setf (svref lists number) list
                       (aref spans (* 2 number)) (aref read index)
                       (aref spans (1+ (* 2 number))) (aref read (1+ index)))))
      (fill-gaps spans depths))))

(defun without-doubtful (spans doubtful paths)
  "Return those of SPANS that are before the list DOUBTFUL: the numbers behind it can be others. PATHS is what FORM-PATHS is."
  (let ((number (and doubtful (second (gethash doubtful paths)))))
    (if number (subseq spans 0 (* 2 number)) spans)))

(defun take-form (recorder form number paths)
  "Keep where the lists of FORM are, the top-level form with NUMBER, as RECORDER saw them. PATHS is what FORM-PATHS is."
  (when (consp form)
    (keep-spans (recorder-file recorder) number
                (without-doubtful (read-spans (recorder-read recorder) paths) (recorder-doubtful recorder) paths)))
  (setf (fill-pointer (recorder-read recorder)) 0
        (recorder-doubtful recorder) nil))

;;; What SBCL reads

(defvar *file-of-copy* nil
  "A pair of the native true names of a copy, with some forms of a file, and of that file, for which it is compiled, or NIL.")

(defun recorder-for (file)
  "Return a recorder for what is read of FILE, which is opened."
  (let* ((file (truename file)) (name (sb-ext:native-namestring file))
         (path (if (equal name (car *file-of-copy*)) (cdr *file-of-copy*) name))
         (spans (spans-for path (file-write-date file))))
    (setf (file-spans-offsets spans) nil)
    (make-recorder spans)))

(defun compiler-observes (function information)
  "Return what FUNCTION does with INFORMATION: the observer of a file that is compiled. It also tells where lists are."
  (let ((observer (funcall function information)))
    (or (ignore-errors (observer (recorder-for *compile-file-truename*) observer))
        observer)))

(defun source-loaded (function stream &rest arguments)
  "Call FUNCTION, which loads the source in STREAM, with both and ARGUMENTS, and note where lists are in it."
  (ignore-errors
   (when (typep stream 'tracking-stream) (setf (stream-observer stream) (observer (recorder-for stream)))))
  (apply function stream arguments))

(defun forms-numbered (function form number)
  "Call FUNCTION with FORM, the top-level form with NUMBER, and keep where the lists of that are."
  (multiple-value-prog1 (funcall function form number)
    (ignore-errors
     (let* ((information source-information)
            (stream (and information (information-stream information)))
            (recorder (and (typep stream 'tracking-stream) (gethash (stream-observer stream) **recorders**))))
       (when recorder (take-form recorder form number form-paths))))))

(defun listen-for-reading ()
  "Have SBCL tell from now on where the lists are of files that it compiles or loads."
  (loop for (listener name) in `((compiler-observes ,+make-observer+) (source-loaded ,+load-source+)
                                 (forms-numbered ,+number-forms+))
        do (when name (encapsulate name 'live-lisp-spans (fdefinition listener)))))

;;; What is read again

(defvar *recorder* nil "The recorder of the file that is read again, or NIL.")

(defun doubtful (list)
  "Return LIST, which the reader that reads again makes in the place of another."
  (when (and *recorder* (null (recorder-doubtful *recorder*))) (setf (recorder-doubtful *recorder*) list))
  list)

(defun call-reading-again (function file &key (path (sb-ext:native-namestring file)) (date (file-write-date file)))
  "Call FUNCTION, which reads FILE, a pathname, with a stream of it. Its second argument is a function that it calls with each
form, the number of that, and the octet where reading it began. So it is known where lists are, unless that was. FILE can be
a copy of what PATH, a native true name, was when it had DATE."
  (let* ((spans (make-file-spans date))
         (new (and +form-paths+ +source-information+ (null (spans-known path date))))
         (offsets (make-array 64 :adjustable t :fill-pointer 0)) (*recorder* (make-recorder spans)))
    (with-open-file (in file :external-format '(:utf-8 :replacement #\?) :class (or +tracking-stream+ 'sb-sys:fd-stream))
      (when (typep in 'tracking-stream) (setf (stream-observer in) (observer *recorder*)))
      (flet ((take (form number offset)
               (vector-push-extend offset offsets)
               (progv (list +form-paths+ +source-information+) (list (make-hash-table :test 'eq) nil)
                 (number-forms form number)
                 (take-form *recorder* form number form-paths))))
        (unwind-protect (funcall function in (if new #'take (constantly nil)))
          (when new
            (setf (file-spans-offsets spans) offsets)
            (sb-ext:with-locked-hash-table (**spans**)
              (push spans (gethash path **spans**)))))))))

(sb-ext:defglobal **reads-spans** nil
  "A function that reads a file again, a native name, so that its spans are known. It can be a copy of what another was when it
had a date.")

(sb-ext:defglobal **text-as-loaded** nil
  "A function that returns the text of a file, a native true name, when it had a date and was loaded, a character for each
octet, or NIL when that is not kept.")

(defun call-with-copy (function text)
  "Call FUNCTION with the native name of a file that has TEXT, a character for each octet, and is gone when it returns."
  (let* ((name (format nil "~A/live-lisp-~36R" (or (sb-ext:posix-getenv "TMPDIR") "/tmp") (random (expt 36 12))))
         (copy (sb-ext:parse-native-namestring name)))
    (unwind-protect
         (progn (with-open-file (out copy :direction :output :external-format :latin-1) (write-string text out))
                (funcall function name))
      (ignore-errors (delete-file copy)))))

(defvar *may-read-spans* t "False where code of the user, as reader macros are, must not run.")

(defun find-spans (path date)
  "Return the FILE-SPANS of the file PATH, a native true name, with DATE, or NIL. When nothing is known of it, it is read
again, as it is or as its text was kept."
  (or (spans-known path date)
      (when (and *may-read-spans* **reads-spans**)
        (let* ((unchanged (or (null date) (eql date (date-of path))))
               (text (and (not unchanged) **text-as-loaded** (funcall **text-as-loaded** path date))))
          (cond (unchanged (funcall **reads-spans** path))
                (text (call-with-copy (lambda (copy) (funcall **reads-spans** copy :path path :date date)) text))))
        (spans-known path date))))

;;; What is asked

(defun span-of (file form number offsets)
  "Return where the list with NUMBER in the top-level FORM, a number too, begins and ends in FILE, a FILE-SPANS, or NIL.
OFFSETS are those that SBCL recorded of the file."
  (let* ((forms (and file (file-spans-forms file)))
         (spans (and forms (< -1 form (length forms)) (svref forms form)))
         (read (and file (file-spans-offsets file)))
         (end (and spans (< (1+ (* 2 number)) (length spans)) (aref spans (1+ (* 2 number))))))
    (flet ((same-p (form)
             (or (>= form (length read)) (>= form (length offsets)) (eql (elt read form) (elt offsets form)))))
      (and end (plusp end) (same-p form) (same-p (1+ form))
           (values (aref spans (* 2 number)) end)))))

(defun span-members (path date form number offsets)
  "Return the members that tell where the list with NUMBER is in the top-level FORM, a number too, of the file PATH that had
DATE when it was compiled. None say that it is the whole form. OFFSETS are those that SBCL recorded of the file."
  (when (and form number (plusp number))
    (multiple-value-bind (start end) (span-of (find-spans path date) form number offsets)
      (if start (list "start" start "end" end) (list "inside" t)))))
