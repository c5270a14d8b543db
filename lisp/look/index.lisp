;;;; Builds the index of uses when a request first needs it (CURRENT-INDEX). If an interrupt ends
;;;; that request, the next request continues to build. Later requests add the code and names that
;;;; the hooks in loads.lisp have recorded in **NEWS** since the index was begun. **NEWS** is T if
;;;; there was too much to record. Other files define what this one uses: uses.lisp defines
;;;; USE-INDEX and NOTE-USER; users.lisp defines USER, with its kinds such as :LOOSE, and
;;;; MAP-REACHED; function-names.lisp defines ROOT-OF.

(in-package "LIVE-LISP.LOOK")

;; Each has a stack frame of its own, so that SCRUB-STACK clears the references to code in it.
(declaim (notinline updated-index add-pending))

(defmacro with-index-changing ((index) &body body)
  "Evaluate BODY, which changes INDEX, without interrupts. Meanwhile **INDEX** is NIL. It stays NIL
after a failure, since INDEX may then be inconsistent."
  `(sb-sys:without-interrupts
     (setf **index** nil)
     ,@body
     (setf **index** ,index)))

(defun current-index ()
  "Return the up-to-date index from UPDATED-INDEX. Clear the unused stack, since the garbage
collector would mistake words left there for references to code."
  (prog1 (let ((*work-left* #'names-left)) (updated-index)) (scrub-stack)))

(defun names-left ()
  "Say how much work on **INDEX** is left, as a function in *WORK-LEFT* does: return the string
\"names\", and the number of elements that are still to be added. Return NIL if **INDEX** is
complete."
  (let ((index **index**))
    (and index
         (null (use-index-sorted index))
         (values "names" (length (use-index-pending index))))))

(defun updated-index ()
  "Complete the index of uses in **INDEX**, bring it up to date, and return it. The caller must hold
**INDEX-LOCK**. An interrupt can end this function after each name, and a later call continues
there."
  (when (stale-p **index**)
    (setf **index** nil)
    (sb-sys:without-interrupts (setf **index** (begun-index))))
  (let ((index **index**))
    (loop until (use-index-sorted index)
          do (with-index-changing (index)
               (if (use-index-pending index) (add-pending index) (finish-index index))))
    (when (consp **news**) (with-index-changing (index) (add-news index)))
    index))

(defun stale-p (index)
  "Return true if INDEX is NIL or must be built again. INDEX must be built again if the hooks that
record new code have missed some or recorded too much, if a package was renamed, or if most USER
structures were added after INDEX was built."
  (or (null index)
      ;; If the hooks do not record all code, a higher NEXT-SERIAL tells that there is new code.
      (and (eq t **news**)
           (or (all-recorded-p) (null next-serial) (/= next-serial (use-index-serial index))))
      (and (use-index-sorted index)
           (> (length (use-index-users index)) (* 2 (use-index-sorted index))))
      (loop for (package . name) in (use-index-packages index)
              thereis (not (eq name (package-name package))))))

(defun all-recorded-p ()
  "Return true if this SBCL has hooks that record all new code and names in **NEWS**."
  (and **listening** +name-check+))

;;; Building the index

(defun begun-index ()
  "Return a new index without users. Its list of pending elements has all functions of the image,
which are still to be added. Also empty **NEWS**: the hooks in SBCL add to it the code and names
that are defined before the index is complete."
  (setf **news-count** 0
        **news** (if (all-recorded-p) '() t))
  (let ((index (make-use-index)) (names '()) (loose '()))
    (setf (use-index-serial index) next-serial)
    (map-global-names (lambda (name) (when (defined-name-p name) (push name names))))
    (map-code (lambda (code) (setf loose (nconc (loose-users code) loose))))
    (setf names (sort names #'name-before-p)
          (use-index-packages index) (packages-of names)
          (use-index-pending index) (nconc names loose))
    index))

(defun packages-of (names)
  "Return a list of (PACKAGE . NAME) pairs for the home packages of the symbols in NAMES. NAMES is
sorted by these package names, so the index must be built again if a package is renamed (STALE-P)."
  (let ((known (make-hash-table :test 'eq)))
    (dolist (name names)
      (let ((package (symbol-package (name-symbol name))))
        (setf (gethash package known) (package-name package))))
    (loop for package being the hash-keys of known using (hash-value name)
          collect (cons package name))))

(defun defined-name-p (name)
  "Return true if NAME is a function name whose symbol has a home package. MAP-REACHED visits only
functions with such names."
  (and (plain-name-p name) (symbol-package (name-symbol name))))

(defun add-pending (index)
  "Take the first element, a name or a USER structure, out of the list PENDING of INDEX. Add the
user, or all functions with this name, to the users of INDEX."
  (let ((next (pop (use-index-pending index))))
    (add-users index (if (user-p next) (list next) (users-by-name index next :any t)))))

(defun finish-index (index)
  "Record that INDEX, a USE-INDEX, is complete, and that all its users so far are in sorted order.
Free the memory that it no longer needs."
  (trim-uses index)
  (setf (use-index-sorted index) (length (use-index-users index))))

(defun trim-uses (index)
  "Replace the vectors of uses in INDEX by vectors without unused elements, to save memory."
  (let ((table (use-index-uses index)))
    (loop for name being the hash-keys of table using (hash-value uses)
          when (and (typep uses 'uses) (/= (length uses) (1+ (aref uses 0))))
            do (setf (gethash name table) (subseq uses 0 (1+ (aref uses 0)))))))

;;; Adding new code to the index

(defun add-news (index)
  "Add the functions in **NEWS** to INDEX. Also add the functions in the slot UNREACHED of INDEX
that have become definitions of a name since the last call."
  (let* ((news (still-there (taken-news)))
         (all (append (still-there (use-index-unreached index)) news)))
    (add-users index (nconc (mapcan #'loose-users news) (users-among index all)))
    (setf (use-index-unreached index)
          (loop for each in all
                when (and (typep each 'code) (names-in each) (not (noted-p index each)))
                  collect (sb-ext:make-weak-pointer each)))))

(defun taken-news ()
  "Return **NEWS**, the list of the code and names that are not yet in the index, and set **NEWS**
to NIL. But if **NEWS** is T, which means that the index must be built again, return NIL and do not
change **NEWS**."
  (setf **news-count** 0)
  (loop for news = **news**
        when (or (eq t news) (eq news (sb-ext:compare-and-swap (symbol-value '**news**) news '())))
          return (and (consp news) news)))

(defun still-there (news)
  "Return the list NEWS with the code object in place of each weak pointer. Leave out code that was
garbage collected."
  (loop for each in news
        for there = (if (typep each 'sb-ext:weak-pointer) (sb-ext:weak-pointer-value each) each)
        when there collect there))

(defun users-among (index news)
  "NEWS is a list of names and code objects. Return a list of new USER structures for the
definitions of these names and of the names in these code objects. Leave out definitions that INDEX
already has."
  (let ((names (make-hash-table :test 'equal)))
    (dolist (each news)
      (dolist (name (if (typep each 'code) (names-in each) (list each)))
        (setf (gethash name names) t)))
    (loop for name being the hash-keys of names nconc (users-by-name index name))))

(defun names-in (code)
  "Return a list of the function names in the debug names of the code object CODE. The definitions
of these names may be functions in CODE."
  (remove nil (mapcar #'name-in-root (roots-in code))))

;;; Finding functions that are not in the index yet

(defun users-by-name (index name &key any)
  "Return a list of new USER structures for the functions that are definitions of NAME: for those
that INDEX lacks or, if ANY is true, for all of them. After (SETF (FDEFINITION NAME) #'OTHER), a
function is the definition of two names. INDEX may then have its code object, but the function only
under the name OTHER. In this case, USE-INDEX-OTHERS tells whether INDEX has the function under NAME
too."
  (let ((users '()))
    (map-reached (lambda (kind function)
                   (when (or any
                             (not (noted-p index (function-code function)))
                             (and (eq kind :function)
                                  (other-name-p name function)
                                  (not (eq function (gethash name (use-index-others index))))))
                     (push (make-user name kind function) users)))
                 name)
    users))

(defun other-name-p (name function)
  "FUNCTION is a simple function that is the definition of NAME. Return true if the debug name of
FUNCTION contains another name, as after (SETF (FDEFINITION NAME) #'OTHER)."
  (let ((own (simple-function-name function)))
    (not (or (eq own name) (equal name (name-in-root (root-of own)))))))

(defun noted-p (index code)
  "Return true if INDEX already has the names that the code object CODE uses."
  (let ((serial (code-serial code)) (noted (use-index-noted index)))
    (and serial (< serial (length noted)) (= 1 (bit noted serial)))))

(defun loose-users (code)
  "If CODE is a code object that satisfies LOOSE-P, return a list of one new USER structure for it.
Its kind is :LOOSE: CODE has a function without a name, and is from no file. Else return NIL."
  (and (typep code 'code)
       (loose-p code)
       (list (make-user nil :loose (sb-ext:make-weak-pointer code)))))

(defun loose-p (code)
  "Return true if the code object CODE does not come from a file and has a function without a name.
Such a function may be the definition of no name: perhaps only data, such as a list or a table,
refers to it. So a search by name does not find it."
  (and (plusp (code-functions code))
       (null (code-file code))
       (member :top-level (roots-in code))))

;;; Adding users to the index

(defun add-users (index users)
  "Add USERS, a list of new USER structures, and their uses of names to INDEX."
  (dolist (user users)
    (let ((code (user-code user)))
      (when code
        (note-user index (vector-push-extend user (use-index-users index)) user)
        (note-file index code)
        (note-known index user code)))))

(defun note-file (index code)
  "Add the source file of the code object CODE to the files of INDEX, unless the file belongs to
SBCL or to the backend. A file that was loaded before the hooks were installed has no FILE-LOAD
structure, so make one."
  (let ((file (code-file code)) (files (use-index-files index)))
    (unless (or (not (stringp file))
                (sbcl-file-p file)
                (backend-file-p file))
      (dotimes (number (code-functions code))
        (unless (system-name-p (plain-function-name (code-function code number)))
          (setf (gethash file files) t)))
      (when (and (gethash file files) (null (gethash file **sources**)))
        (note-source (information-source (code-information code)))))))

(defun note-known (index user code)
  "Record in INDEX that it now has the names that the code object CODE uses. USER is the USER
structure of a function in CODE. If OTHER-NAME-P is true for the name and the function of USER, add
this function to the table USE-INDEX-OTHERS of INDEX."
  (let ((serial (code-serial code)) (name (user-name user)))
    (when (and name serial)
      (when (>= serial (length (use-index-noted index)))
        (setf (use-index-noted index)
              (adjust-array (use-index-noted index) (* 2 (1+ serial)) :initial-element 0)))
      (setf (bit (use-index-noted index) serial) 1)
      (when (and (eq :function (user-kind user)) (other-name-p name (user-function user)))
        (setf (gethash name (use-index-others index)) (user-function user))))))
