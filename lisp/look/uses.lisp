;;;; An index from names to who uses them. It is made when it is first asked, and hears what is new. Each user that it
;;;; gives is looked at again in the image, so it tells nothing that has changed since.

(in-package "LIVE-LISP.LOOK")

;;; What it holds. A use is a number: that of the user and, in the lowest bits, the position of its kind.

(defparameter *use-kinds* #(:calls :macroexpands :references :sets :binds :constant :mention)
  "What a user does with a name. First is what SBCL's cross references call it. Then come a function that its code has as
a constant, and a symbol among its data.")

(deftype uses () "Uses of one name, in the order of users. The first element is how many they are." '(simple-array (unsigned-byte 32) (*)))

(defstruct (use-index (:constructor make-use-index (size &aux (codes (make-weak-vector size))
                                                      (users (make-array size :initial-element nil))
                                                      (texts (make-array size :initial-element nil)))))
  "USERS with their CODES, and the TEXTS that answers name them by, each with the package of that. COUNT of them are
there, the first SORTED in the order of answers, when PACKAGES, pairs, had the names there. USES has the uses of each name.
FILES has the files of code by their names, :OWN for the agent's. SERIAL is that of the newest
code in it, where SBCL tells of none."
  (codes #() :type simple-vector) (users #() :type simple-vector) (texts #() :type simple-vector)
  (count 0 :type (unsigned-byte 29)) (sorted 0 :type (unsigned-byte 29)) (packages '())
  (uses (make-hash-table :test 'equal)) (files (make-hash-table :test 'equal)) (serial 0))

(sb-ext:defglobal **index** nil "The index, or NIL until somebody asks.")
(sb-ext:defglobal **index-lock** (sb-thread:make-mutex :name "live-lisp index") "Held while the index is used.")

(declaim (inline use-user use-kind))
(defun use-user (use)
  "Return the number of the user of USE."
  (declare (type (unsigned-byte 32) use))
  (ash use -3))

(defun use-kind (use)
  "Return the position of the kind of USE in *USE-KINDS*."
  (declare (type (unsigned-byte 32) use))
  (logand use 7))

(defun covered-p (use known)
  "True when USE says nothing besides KNOWN, a use of the same name."
  (declare (type (unsigned-byte 32) use known) (optimize speed))
  (and (= (use-user use) (use-user known))
       (or (= use known)
           (= (use-kind use) 6)
           (and (= (use-kind use) 5) (= (use-kind known) 0)))))

(defun note-use (index name user kind)
  "Note in INDEX that USER, a number not below those before it, uses NAME by the KIND of that position."
  (declare (type (unsigned-byte 29) user) (type (unsigned-byte 3) kind) (optimize speed))
  (let* ((use (logior (ash user 3) kind)) (table (use-index-uses index)) (uses (gethash name table)))
    (typecase uses
      (null (setf (gethash name table) use))
      (fixnum (unless (covered-p use uses)
                (setf (gethash name table)
                      (make-array 3 :element-type '(unsigned-byte 32) :initial-contents (list 2 uses use)))))
      (uses
       (let ((fill (aref uses 0)))
         (unless (loop for i from fill downto 1
                       for known = (aref uses i)
                       while (= (use-user known) user)
                         thereis (covered-p use known))
           (when (= (1+ fill) (length uses))
             (let ((larger (make-array (+ fill (ceiling fill 2) 2) :element-type '(unsigned-byte 32))))
               (replace larger uses)
               (setf uses larger (gethash name table) larger)))
           (setf (aref uses (1+ fill)) use
                 (aref uses 0) (1+ fill))))))))

;;; What a user uses

(defun map-functions-of (visit user code)
  "Call VISIT with each function of CODE that belongs to USER."
  (let ((count (code-functions code)) (root (user-root user)))
    (dotimes (index count)
      (let ((function (code-function code index)))
        (when (or (= count 1) (equal root (root-in code function)))
          (funcall visit function))))))

(defun map-names-used (visit code others)
  "Call VISIT with each name in the constants of CODE, and the position of the kind of use. Names among OTHERS are left
out."
  (map-constants (lambda (constant)
                   (cond ((typep constant 'cell)
                          (let ((name (cell-name constant)))
                            (when (and (plain-name-p name) (not (member name others :test #'equal)))
                              (funcall visit name 5))))
                         ((and (data-p constant) (not (lambda-list-p constant code)))
                          (map-symbols (lambda (symbol called)
                                         (unless (member symbol others :test #'eq) (funcall visit symbol (if called 5 6))))
                                       constant))))
                 code))

(defun removed-call-p (name code)
  "True when the compiler took the call of the function NAME, of a program, out of CODE. It is no constant there then,
though nothing says that it can be put in line."
  (and (symbolp name)
       (symbol-package name)
       (mentioned-p name)
       (fboundp name)
       (not (macro-function name))
       (not (compiler-macro-function name))
       (not (known :function :inlinep name))
       (not (known :function :inlining-data name))
       (not (known :function :source-transform name))
       ;; The compiler can make code of its own for what it knows something of.
       (not (known :function :info name))
       (not (member name (roots-in code) :test #'eq))
       (not (refers-p code name))))

(defun note-xrefs (index number user code)
  "Note in INDEX what the cross references of USER, which has NUMBER, tell in CODE."
  (map-functions-of (lambda (function)
                      (let ((xrefs (packed-xrefs function)))
                        (when xrefs
                          (map-xrefs (lambda (kind name form)
                                       (declare (ignore form))
                                       (let ((position (position kind *use-kinds*)))
                                         (when (and position (not (eq name t)))
                                           (note-use index name number
                                                     (if (and (zerop position) (removed-call-p name code)) 6 position)))))
                                     xrefs))))
                    user code))

(defun note-user (index number user code)
  "Note in INDEX what USER, which has NUMBER, uses, and CODE unless it is a place. The constants that several functions of
CODE share are of each that has a name. Beside a top-level form they can be of that. Then the others only mention them,
but when it only adds a method."
  (if (top-form-p user)
      ;; First come mentions: several forms can be one, of which one calls what another mentions.
      (progn (dolist (name (top-form-mentions user)) (note-use index name number 6))
             (dolist (name (top-form-calls user)) (note-use index name number 5)))
      (let* ((roots (roots-in code)) (shared (rest roots)) (root (user-root user)) (own (user-name user))
             (mixed (and shared (member :top-level roots))))
        (note-xrefs index number user code)
        (map-names-used (lambda (name kind)
                          (unless (or (equal name own) (and mixed (not (told-name-p name))))
                            (note-use index name number
                                      (if (or (eq root :top-level) (not mixed) (method-alone-p code)) kind 6))))
                        code (and shared (names-in-xrefs code))))))

;;; Making it

(defun own-user (root)
  "Return the user for ROOT, :TOP-LEVEL or a name; the former stands for code that nothing but itself is known of."
  (if (eq root :top-level) '(:loose nil :top-level) (user-for root)))

(defun code-users (code)
  "Return the users of CODE. Its top-level forms are one, unless they are of a file."
  (let ((users (users-in code)))
    (if (and (member :top-level (roots-in code))
             (null (let ((source (information-source (code-information code)))) (and source (source-name source)))))
        (cons (own-user :top-level) users)
        users)))

(defun alias-user (name)
  "Return a user and its code when NAME has the function of another name or of a top-level form, else NIL."
  (let* ((function (and (plain-name-p name) (global-function name)))
         (code (and function (code-of function))))
    (when code
      (let ((own (simple-function-name (simple-function function))))
        (when (and (not (equal own name))
                   (or (typep function 'simple-function) (eq :top-level (root-of own))))
          (values (list :alias name (root-in code (simple-function function))) code))))))

(defun all-users ()
  "Return a list of all users of the image, each with its code or NIL."
  (let ((found '()) (codes '()))
    (map-code (lambda (code) (when (typep code 'code) (push code codes))))
    (dolist (code codes)
      (dolist (user (code-users code)) (push (cons user code) found)))
    (map-global-names (lambda (name)
                        (multiple-value-bind (user code) (alias-user name)
                          (when user (push (cons user code) found)))))
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for source being the hash-values of **sources**
            do (dolist (place (file-load-places source)) (push (list place) found))))
    (sb-ext:with-locked-hash-table (**definers**)
      (loop for place being the hash-values of **definers** do (push (list place) found)))
    found))

(defun user-before-p (one other)
  "The order of users in answers: by name, then by package, functions of a name first. Those without a name come last."
  (let ((name-1 (user-name one)) (name-2 (user-name other)))
    (cond ((null name-1) nil)
          ((null name-2) t)
          (t (name-before-p name-1 name-2)))))

(defun name-before-p (one other)
  "The order of function names in answers (S3.9)."
  (let ((key-1 (name-key one)) (key-2 (name-key other)))
    (cond ((eq key-1 key-2) (and (symbolp one) (not (symbolp other))))
          (t (symbol-before-p key-1 key-2)))))

(defun note-file (index code)
  "Note in INDEX from which file CODE is, unless that is SBCL's."
  (let ((file (code-file code)) (files (use-index-files index)))
    (unless (or (not (stringp file))
                (eql 0 (search "SYS:" file :end2 (min 4 (length file))))
                (eq :own (gethash file files)))
      (dotimes (number (code-functions code))
        (let ((name (plain-function-name (code-function code number))))
          (unless (system-name-p name)
            (setf (gethash file files) (if (own-name-p name) :own (gethash file files :others)))))))))

(defun add-user (index user code)
  "Add USER of CODE to INDEX and return its number."
  (let ((number (use-index-count index)))
    (setf (svref (use-index-users index) number) user
          (svref (use-index-codes index) number) code
          (svref (use-index-texts index) number) nil
          (use-index-count index) (1+ number))
    (when (top-form-p user) (setf (top-form-id user) number))
    number))

(defun size-for (count)
  "Return for how many users there is room beside COUNT that are sorted: when as many came, sorting all is due."
  (+ count (max 1000 (ceiling count 8))))

(defun note-packages (index)
  "Note in INDEX what the packages of its users are called."
  (let ((known (make-hash-table :test 'eq)))
    (loop for number below (use-index-sorted index)
          for name = (user-name (svref (use-index-users index) number))
          for package = (and name (symbol-package (name-key name)))
          when package do (setf (gethash package known) (package-name package)))
    (setf (use-index-packages index)
          (loop for package being the hash-keys of known using (hash-value name) collect (cons package name)))))

(defun trim-uses (index)
  "Give back the room in INDEX that its uses do not take."
  (let ((table (use-index-uses index)))
    (loop for name being the hash-keys of table using (hash-value uses)
          when (and (typep uses 'uses) (/= (length uses) (1+ (aref uses 0))))
            do (setf (gethash name table) (subseq uses 0 (1+ (aref uses 0)))))))

(defun new-index ()
  "Return an index of the whole image."
  (setf **news** '() **news-count** 0 **indexed** **listening**)
  (let* ((serial newest-serial)
         (users (sort (coerce (all-users) 'simple-vector) #'user-before-p :key #'car))
         (index (make-use-index (size-for (length users)))))
    (loop for (user . code) across users do (note-user index (add-user index user code) user code))
    (map-code (lambda (code) (when (typep code 'code) (note-file index code))))
    (setf (use-index-sorted index) (use-index-count index)
          (use-index-serial index) serial)
    (note-packages index)
    (trim-uses index)
    index))

(sb-ext:defglobal **index-maker** nil "The thread that makes the index, while one does.")

(defun made-index ()
  "Return an index of the whole image. A thread of its own makes it: a job that is interrupted meanwhile leaves it to the
next one that asks. The lock is held."
  (let ((maker (or **index-maker**
                   (setf **index-maker**
                         (funcall **make-thread** (lambda () (let ((*method-codes* nil)) (new-index)))
                                  :name "live-lisp index")))))
    (prog1 (or (sb-thread:join-thread maker :default nil) (new-index))
      (setf **index-maker** nil))))
