;;;; Builds the index of users at the first question. Later questions add the news: code and names
;;;; that the hooks in loads.lisp have reported since.

(in-package "LIVE-LISP.LOOK")

;;; Users that are not in the index yet

(defun noted-p (index code)
  "True when the uses by CODE, a code object, are in INDEX."
  (let ((serial (code-serial code)) (noted (use-index-noted index)))
    (and serial (< serial (length noted)) (= 1 (bit noted serial)))))

(defun other-name-p (name function)
  "True when the debug name of the simple FUNCTION, which NAME reaches, is not NAME."
  (let ((own (simple-function-name function)))
    (not (or (eq own name) (equal name (name-in-root (root-of own)))))))

(defun loose-p (code)
  "True when CODE is from no file and has a function without a name. Such code may be reached by no
name, and only data may refer to it."
  (and (plusp (code-functions code))
       (null (code-file code))
       (member :top-level (roots-in code))))

(defun users-by-name (index name)
  "Return new users for those functions reached by NAME that are not in INDEX."
  (let ((users '()))
    (map-reached (lambda (kind function)
                   (when (or (not (noted-p index (function-code function)))
                             (and (eq kind :function)
                                  (other-name-p name function)
                                  (not (eq function (gethash name (use-index-others index))))))
                     (push (make-user name kind function) users)))
                 name)
    users))

(defun loose-users (code)
  "Return a list of one new user of kind :LOOSE if CODE is LOOSE-P. Else return NIL."
  (and (typep code 'code)
       (loose-p code)
       (list (make-user nil :loose (sb-ext:make-weak-pointer code)))))

(defun all-users (index)
  "Return all users in the image for INDEX, which is empty."
  (let ((users '()))
    (map-global-names (lambda (name) (setf users (nconc (users-by-name index name) users))))
    (map-code (lambda (code) (setf users (nconc (loose-users code) users))))
    users))

(defun names-in (code)
  "Return the names that may reach functions of CODE, from its debug names."
  (remove nil (mapcar #'name-in-root (roots-in code))))

(defun users-among (index news)
  "Return new users for NEWS, names and code objects: functions, not in INDEX, that are reached by
these names, or by names of functions in this code."
  (let ((names (make-hash-table :test 'equal)))
    (dolist (each news)
      (dolist (name (if (typep each 'code) (names-in each) (list each)))
        (setf (gethash name names) t)))
    (loop for name being the hash-keys of names nconc (users-by-name index name))))

;;; Adding users to the index

(defun note-file (index code)
  "Record the file of CODE in INDEX, unless it is SBCL's or the agent's. If the file has no
FILE-LOAD, because it was loaded before the hooks were installed, record the load now."
  (let ((file (code-file code)) (files (use-index-files index)))
    (unless (or (not (stringp file))
                (eql 0 (search "SYS:" file :end2 (min 4 (length file))))
                (own-file-p file))
      (dotimes (number (code-functions code))
        (unless (system-name-p (plain-function-name (code-function code number)))
          (setf (gethash file files) t)))
      (when (and (gethash file files) (null (gethash file **sources**)))
        (note-source (information-source (code-information code)))))))

(defun note-known (index user code)
  "Record in INDEX that CODE, of USER, is in it."
  (let ((serial (code-serial code)) (name (user-name user)))
    (when (and name serial)
      (when (>= serial (length (use-index-noted index)))
        (setf (use-index-noted index)
              (adjust-array (use-index-noted index) (* 2 (1+ serial)) :initial-element 0)))
      (setf (bit (use-index-noted index) serial) 1)
      (when (and (eq :function (user-kind user)) (other-name-p name (user-function user)))
        (setf (gethash name (use-index-others index)) (user-function user))))))

(defun add-users (index users)
  "Add USERS and their uses to INDEX."
  (dolist (user users)
    (let ((code (user-code user)))
      (when code
        (note-user index (vector-push-extend user (use-index-users index)) user)
        (note-file index code)
        (note-known index user code)))))

(defun note-packages (index)
  "Record in INDEX that all its users are sorted, and the names of their packages, by which they are
sorted."
  (let ((known (make-hash-table :test 'eq)))
    (loop for user across (use-index-users index)
          for package = (and (user-name user) (symbol-package (name-symbol (user-name user))))
          when package do (setf (gethash package known) (package-name package)))
    (setf (use-index-sorted index) (length (use-index-users index))
          (use-index-packages index)
          (loop for package being the hash-keys of known using (hash-value name)
                collect (cons package name)))))

(defun trim-uses (index)
  "Shrink the vectors of uses in INDEX to their contents."
  (let ((table (use-index-uses index)))
    (loop for name being the hash-keys of table using (hash-value uses)
          when (and (typep uses 'uses) (/= (length uses) (1+ (aref uses 0))))
            do (setf (gethash name table) (subseq uses 0 (1+ (aref uses 0)))))))

(defun all-heard-p ()
  "True when the hooks report all new code and names in this SBCL."
  (and **listening** +name-check+))

(defun stale-p (index)
  "True when INDEX is NIL or must be built again: the hooks reported too little or too much, a
package was renamed, or more users were added later than there were at first."
  (or (null index)
      (and (eq t **news**)
           (or (all-heard-p) (null next-serial) (/= next-serial (use-index-serial index))))
      (> (length (use-index-users index)) (* 2 (use-index-sorted index)))
      (loop for (package . name) in (use-index-packages index)
              thereis (not (eq name (package-name package))))))

(defun new-index ()
  "Return a new index of the whole image. Code and names that are defined while it is built are
added to **NEWS**."
  (setf **news-count** 0
        **news** (if (all-heard-p) '() t))
  (let ((index (make-use-index)))
    (setf (use-index-serial index) next-serial)
    (add-users index (sort (all-users index) #'user-before-p))
    (note-packages index)
    (trim-uses index)
    index))

(defmacro changing ((index) &body body)
  "Evaluate BODY, which changes INDEX, without interrupts. Meanwhile **INDEX** is NIL. It stays so
if BODY fails, since INDEX may be incomplete then: the next question builds a new one."
  `(sb-sys:without-interrupts
     (setf **index** nil)
     ,@body
     (setf **index** ,index)))

(defun taken-news ()
  "Return the list **NEWS**, and empty it. If **NEWS** is T, return NIL and leave it."
  (setf **news-count** 0)
  (loop for news = **news**
        when (or (eq t news) (eq news (sb-ext:compare-and-swap (symbol-value '**news**) news '())))
          return (and (consp news) news)))

(defun still-there (news)
  "Return the list NEWS with code objects in place of weak pointers, without collected code."
  (loop for each in news
        for there = (if (typep each 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value each) each)
        when there collect there))

(defun add-news (index)
  "Add the users in **NEWS** to INDEX. Also look again at the code in USE-INDEX-UNREACHED: a name
may reach it by now."
  (let* ((news (still-there (taken-news)))
         (all (append (still-there (use-index-unreached index)) news)))
    (add-users index (nconc (mapcan #'loose-users news) (users-among index all)))
    (setf (use-index-unreached index)
          (loop for each in all
                when (and (typep each 'code) (names-in each) (not (noted-p index each)))
                  collect (sb-ext:make-weak-pointer each)))))

(defun updated-index ()
  "Return the index, updated. The caller must hold **INDEX-LOCK**."
  (let ((index **index**))
    (cond ((stale-p index)
           (setf **index** nil
                 **index** (new-index)))
          ((consp **news**) (changing (index) (add-news index))))
    **index**))

(declaim (notinline updated-index))

(defun current-index ()
  "Return UPDATED-INDEX, and scrub the stack: the garbage collector would mistake words left there
for references to code."
  (prog1 (updated-index) (scrub-stack)))
