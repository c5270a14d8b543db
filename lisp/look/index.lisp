;;;; The index as it is now: made when somebody first asks, and told what is new since.

(in-package "LIVE-LISP.LOOK")

(defun add-code (index code)
  "Add the users of CODE to INDEX."
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

(defun full-p (index)
  "True when INDEX has little room left, so that it must be made anew."
  (> (+ (use-index-count index) 100) (length (use-index-users index))))

(defun take-new (index)
  "Return what is new since INDEX was made or last told, oldest first, and forget it. The lock is held."
  (if **listening**
      (take-news)
      (let ((serial newest-serial))
        (unless (eql serial (use-index-serial index))
          (prog1 (mapcar #'sb-ext:make-weak-pointer (code-since (use-index-serial index)))
            (setf (use-index-serial index) serial))))))

(defun stale-p (index)
  "True when INDEX, or NIL, has to be made anew: it was not told of all, or a package has another name."
  (or (null index)
      (and **listening** (not **indexed**))
      (loop for (package . name) in (use-index-packages index)
              thereis (not (eq name (package-name package))))))

(defun updated-index ()
  "Return the index, which knows all that is in the image now. The lock is held."
  (let ((index **index**))
    ;; What interrupts this leaves no index, which could lack something: the next one that asks makes it anew.
    (setf **index** nil)
    (when (stale-p index) (setf index (made-index)))
    (loop for news in (take-new index)
          until (full-p index)
          do (add-news index news))
    (setf **index** (if (full-p index) (made-index) index))))

(declaim (notinline updated-index))

(defun current-index ()
  "Return what UPDATED-INDEX does, with little left on the stack that the collector would take for a use of the code."
  (prog1 (updated-index) (scrub-stack)))
