;;;; The index as it is now: made when somebody first asks, and told what is new since.

(in-package "LIVE-LISP.LOOK")

(defun add-code (index code)
  "Add the users of CODE to INDEX."
  (note-file index code)
  (dolist (user (code-users code))
    (note-user index (add-user index user code) user code)))

(defun add-news (index news)
  "Add NEWS, of **NEWS**, to INDEX."
  (typecase news
    (sb-ext:weak-pointer
     (let ((code (sb-ext:weak-pointer-value news))) (when code (add-code index code))))
    (top-form
     (note-user index (add-user index news nil) news nil))
    (t
     (multiple-value-bind (user code) (alias-user news)
       (when user (note-user index (add-user index user code) user code))))))

(sb-ext:defglobal **taken** '() "What is new, oldest first, and not in the index yet.")

(defun take-news ()
  "Return what is new, oldest first, and forget it."
  (setf **news-count** 0)
  (loop for news = **news**
        when (eq news (sb-ext:compare-and-swap (symbol-value '**news**) news '()))
          return (remove-duplicates (reverse news) :test #'eq)))

(defun code-since (serial)
  "Return the code that is newer than SERIAL, which no one told of."
  (let ((codes '()))
    (map-code (lambda (code)
                (when (and (typep code 'code) (> (code-serial code) serial)) (push code codes))))
    codes))

(defun enlarge (index)
  "Give INDEX room for more users when it has little left."
  (let* ((count (use-index-count index)) (size (size-for count)))
    (when (> (+ count 100) (length (use-index-users index)))
      (setf (use-index-codes index) (replace (make-weak-vector size) (use-index-codes index))
            (use-index-users index) (replace (make-array size :initial-element nil) (use-index-users index))
            (use-index-texts index) (replace (make-array size :initial-element nil) (use-index-texts index))))))

(defun take-new (index)
  "Return what is new since INDEX was made or last told, oldest first, and forget it. The lock is held."
  (if **listening**
      (take-news)
      (let ((serial newest-serial))
        (unless (eql serial (use-index-serial index))
          (prog1 (mapcar #'sb-ext:make-weak-pointer (code-since (use-index-serial index)))
            (setf (use-index-serial index) serial))))))

(defun stale-p (index)
  "True when INDEX, or NIL, has to be made anew. It was not told of all, a package has another name, or more users came
than it was made with."
  (or (null index)
      (and **listening** (not **indexed**))
      (> (use-index-count index) (* 2 (use-index-sorted index)))
      (loop for (package . name) in (use-index-packages index)
              thereis (not (eq name (package-name package))))))

(defmacro changing ((index) &body body)
  "Evaluate BODY, which changes INDEX. What interrupts this thread comes after that. What fails leaves no index, as one
could lack something: the next that asks makes it anew."
  `(sb-sys:without-interrupts
     (setf **index** nil)
     ,@body
     (setf **index** ,index)))

(defun updated-index ()
  "Return the index, which knows all that is in the image now. The lock is held."
  (when (stale-p **index**)
    (setf **index** nil **taken** '()
          **index** (made-index)))
  (let ((index **index**))
    (changing (index) (setf **taken** (nconc **taken** (take-new index))))
    (loop while **taken**
          do (changing (index)
               (enlarge index)
               (add-news index (pop **taken**))))
    index))

(declaim (notinline updated-index))

(defun current-index ()
  "Return what UPDATED-INDEX does, with little left on the stack that the collector would take for a use of the code."
  (prog1 (updated-index) (scrub-stack)))
