;;;; Records the changes in an image that several servers share. The next answer to a server then
;;;; lists the changes that were made by other servers, or by the person who runs the image.

(in-package "LIVE-LISP.JOBS")

(defstruct (change (:constructor make-change (text session)))
  "A change of the image. TEXT names the definition or file that was changed. SESSION is the session
in which the thread that made the change worked: the session of a server or, if the thread worked
for no server, the default session."
  text session)

(defparameter *changes-limit* 100 "The largest number of changes that are kept.")
(defparameter *changes-shown* 10 "The largest number of changes that an answer names.")
(defparameter *names-of-load* 5
  "If a load has defined at most this number of names, answers contain the names. Otherwise they
contain the name of the file.")

(sb-ext:defglobal **changes** '() "A list of the last CHANGE structures, newest first.")
(sb-ext:defglobal **change-count** 0
  "The number of CHANGE structures recorded so far, including those that **CHANGES** has dropped.")
(sb-ext:defglobal **changes-lock** (sb-thread:make-mutex :name "live-lisp changes")
  "The mutex that a thread holds while it records or reads changes.")

(defvar *loaded-names* :none
  "While this thread loads a file, a list of the texts of the names that the load has defined,
newest first. Otherwise :NONE.")

(defun record-change (text)
  "Record that this thread has changed the definition or file that TEXT names. Do nothing if the
newest record is the same change by the same session."
  (sb-thread:with-mutex (**changes-lock**)
    (let ((newest (first **changes**)))
      (unless (and newest
                   (equal text (change-text newest))
                   (eq *session* (change-session newest)))
        (incf **change-count**)
        (push (make-change text *session*) **changes**)
        (setf **changes** (ldiff **changes** (nthcdr *changes-limit* **changes**)))))))

(defun note-changed-name (text)
  "Record that this thread defines or removes the definition that TEXT names. Do nothing in an image
that the server started, if TEXT is NIL, or while a file is compiled."
  (when (and **attached** text (null *compile-file-truename*))
    (if (listp *loaded-names*)
        (pushnew text *loaded-names* :test #'equal)
        (record-change text))))

(defun call-noting-load (file function)
  "Call FUNCTION, which loads FILE, a pathname designator, then record the load. Do not record a
load within another load."
  (if (or (not **attached**) (listp *loaded-names*))
      (funcall function)
      (let ((*loaded-names* '()))
        (unwind-protect (funcall function)
          (let ((count (length *loaded-names*)))
            (if (<= count *names-of-load*)
                (mapc #'record-change (reverse *loaded-names*))
                (record-change (format nil "~D names in ~A" count
                                       (native-name file)))))))))

(defun call-unrecorded (function)
  "Call FUNCTION, which installs or uninstalls hooks of the backend. Do not record as changes of the
program that the hooked functions get other definitions."
  (let ((*loaded-names* '())) (funcall function)))

(defun changes-of-others ()
  "Return a plist of JSON members about changes by others since the last call of this function for
*SESSION*: \"changes\", a list of texts, the oldest first, and \"moreChanges\", the number of older
changes that it leaves out. Return NIL if there are none."
  (when **attached**
    (sb-thread:with-mutex (**changes-lock**)
      (let* ((new (- **change-count** (shiftf (session-changes-sent *session*) **change-count**)))
             (others (remove *session* (ldiff **changes** (nthcdr new **changes**))
                             :key #'change-session))
             (texts (remove-duplicates (mapcar #'change-text others) :test #'equal :from-end t)))
        (when texts
          (list "changes" (reverse (ldiff texts (nthcdr *changes-shown* texts)))
                "moreChanges" (and (> (length texts) *changes-shown*)
                                   (- (length texts) *changes-shown*))))))))
