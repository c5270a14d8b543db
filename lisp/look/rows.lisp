;;;; The rows of answers about users of a name: which users are there now, and what is told of each.

(in-package "LIVE-LISP.LOOK")

;;; Who they are

(defun free-p (code name)
  "True when nothing but CODE itself, of forms without a file or functions in them, can tell of how it uses NAME. No form
that is there speaks for it, and it is not only a form that has run."
  (let ((claim (gethash code **claimed**)))
    (not (or (run-p code)
             (typecase claim
               (top-form (place-there-p claim))
               (file-load (some (lambda (place) (use-kinds place name)) (file-load-places claim))))))))

(defvar *collected* nil "True when garbage was collected for this answer.")

(sb-ext:defglobal **collected-in** nil "The id of the evaluation that ran when garbage was collected for an answer, or NIL.")

(defun asking-evaluation ()
  "Return the id of the first evaluation that runs, or NIL. It can ask for many answers."
  (sb-ext:with-locked-hash-table (**jobs**)
    (let ((ids (loop for job being the hash-values of **jobs**
                     when (equal "evaluate" (job-operation job)) collect (job-id job))))
      (and ids (reduce #'min ids)))))

(defun doubtful-p (code)
  "True when only the collector knows whether something keeps CODE, which is free."
  (not (or *collected*
           (running-p code)
           (>= (generation code) +never-collected+))))

(defun there-p (user name)
  "True when USER, of NAME, still is there. Throw to DOUBTFUL when only the collector can know that."
  (if (top-form-p user)
      (place-there-p user)
      (case (user-kind user)
        (:own t)
        (:loose (let ((code (user-code user)))
                  (and code
                       (free-p code name)
                       (or (not (doubtful-p code)) (throw 'doubtful nil)))))
        (t (reached-p user)))))

(defun user-file (user)
  "Return the name of the source file that USER is from, or NIL."
  (if (top-form-p user)
      (let ((source (top-form-source user))) (and source (file-load-name source)))
      (let ((code (user-code user))) (and code (code-file code)))))

(defun map-uses (visit index name)
  "Call VISIT with each user of NAME in INDEX and the position of the kind of use, in the order in which users came."
  (flet ((visit-use (use)
           (declare (type (unsigned-byte 32) use))
           (funcall visit (aref (use-index-users index) (use-user use)) (use-kind use))))
    (let ((uses (gethash name (use-index-uses index))))
      (typecase uses
        (null)
        (fixnum (visit-use uses))
        (uses (loop for i from 1 to (aref uses 0) do (visit-use (aref uses i))))))
    (dolist (place (reverse (gethash name **places**)))
      (dolist (kind (use-kinds place name)) (funcall visit place kind)))))

(defun in-order (users)
  "Return the list USERS in the order of answers. Most of them are, up to those that came after the index was made."
  (let ((last (loop for rest on users
                    while (and (rest rest) (not (user-before-p (second rest) (first rest))))
                    finally (return rest))))
    (if (rest last)
        (let ((others (shiftf (rest last) '()))) (merge 'list users (stable-sort others #'user-before-p) #'user-before-p))
        users)))

(defun users-now (index name kinds)
  "Return what USERS-OF does. Throw to DOUBTFUL when only the collector can know one of them."
  (declare (type (unsigned-byte 8) kinds))
  (let ((found '()) (last nil))
    (map-uses (lambda (user kind)
                (when (and (logbitp kind kinds)
                           (not (eq user last))
                           (there-p user name)
                           (counts-p (and *within* (user-file user))))
                  (push (setf last user) found)))
              index name)
    (in-order (nreverse found))))

(declaim (notinline users-now))

(defparameter *searched-heap* (* 512 1024 1024) "How large a heap can be that is gone through for an answer.")

(defun users-of (index name kinds)
  "Return the users of NAME that are there and within what counts, in the order of answers. KINDS has a bit
for each kind of use that counts. Garbage is collected when only that tells of one: in a large heap only what is new, and
once for all that one evaluation asks."
  (catch 'doubtful
    (return-from users-of (users-now index name kinds)))
  (let ((evaluation (asking-evaluation)))
    ;; An evaluation that asks of many names would collect as often.
    (unless (and evaluation (eql evaluation **collected-in**))
      ;; What was left on this stack would seem to keep the code.
      (clear-stack)
      (sb-ext:gc :full (< (heap-usage) *searched-heap*))
      (setf **collected-in** evaluation)))
  (setf *collected* t)
  (users-now index name kinds))

(defun shown-name (user)
  "Return the name of USER as text, which is kept."
  (let* ((name (user-name user)) (package (symbol-package (name-key name))) (known (user-text user)))
    (if (and known (eq package (car known)))
        (cdr known)
        (let ((text (name-text name)))
          (setf (user-text user) (cons package text))
          text))))

(defun sort-of (user)
  "Return what USER is: :FUNCTION, :PLACE, :LOOSE, :OWN, or the text of its kind."
  (cond ((top-form-p user) :place)
        ((member (user-kind user) '(:own :loose)) (user-kind user))
        ((kind-text user))
        (t :function)))

(defun grouped (users)
  "Return USERS, in the order of answers, as lists of those that have one name."
  (let ((groups '()) (last nil))
    (dolist (user users (nreverse groups))
      (let ((name (name-of user)))
        (if (and groups (or (eq name last) (and (consp name) (equal name last))))
            (push user (car groups))
            (push (list user) groups))
        (setf last name)))))

(defun constructed-structure (name)
  "Return the name of the structure that the function NAME makes, when DEFSTRUCT defined it, or NIL."
  (let ((known (and (symbolp name) (known :function :source-transform name))))
    (and (consp known) (eq (cdr known) :constructor) (description-name (car known)))))

;;; What is told of them

;;; Top-level forms

(defparameter *most-names* 500 "How many symbols among the data of a form are told at most.")

(defun data-names (place)
  "Return texts of symbols among the data of PLACE that are no variables. What a form defines is one."
  (page (loop for symbol in (form-uses-data (top-form-uses place)) unless (variable-kind symbol) collect (symbol-text symbol)) 0 *most-names*))

(defun form-data (place possible)
  "Return PLACE as a JSON object: where it is, or what it defines. POSSIBLE is true when it only mentions the name."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (multiple-value-bind (file date) (told-file (file-load-name source))
          (object "file" file
                  "form" (top-form-number place)
                  "changed" (and (file-load-created source) (not (eql date (file-load-created source))))
                  "names" (data-names place)
                  "possible" possible))
        (object "name" (if (stringp name) name (name-text name))
                "operator" (symbol-name (first (top-form-key place)))
                "kind" (top-form-part place)
                "possible" possible))))

(defun other-package-names ()
  "Return the other names of packages as a JSON object, each with the name of its package."
  (make-json-object
   (loop for package in (list-all-packages)
         append (loop for nickname in (package-nicknames package)
                      append (list nickname (package-name package))))))

(defun loose-text (code)
  "Return the last function of CODE without a name as text. CODE is NIL when it has just gone."
  (let* ((functions (reverse (and code (nameless-functions code))))
         (function (or (find-if-not (lambda (each) (stringp (simple-function-name each))) functions) (first functions)))
         (form (or (and function (function-lambda-expression function))
                   ;; Newer SBCLs keep no text of a form that they run once.
                   (let ((run (and code (gethash code **runs**)))) (and run `(lambda () ,(first run)))))))
    (if form (plain-text 80 form) "a function")))

(defun own-text (user)
  "Return what SBCL calls USER, which is its own, as text."
  (printing-plainly (print-safely 200 (root-of (simple-function-name (user-function user))))))

(defun same-function-text (name)
  "Return the name of the function that NAME is another name of, or NIL."
  (let* ((known (and (plain-name-p name) (global-function name)))
         ;; What is traced has a closure around it.
         (function (if (closure-p known) (plain-definition name) known))
         (own (and (typep function 'simple-function) (simple-function-name function))))
    (and own
         (not (equal own name))
         (plain-name-p own)
         (fboundp own)
         (eq (plain-definition own) function)
         (name-text own))))

(defun user-data (group name kinds &key kind text sites possible)
  "Return the users GROUP, which have one name, as a JSON object. They use NAME in one of KINDS, SBCL's words. KIND and TEXT
say what they are, where that is not their own kind and name. SITES and POSSIBLE are those of the answer."
  (let* ((user (first group)) (sort (sort-of user)))
    (case sort
      (:place (form-data user possible))
      (:loose (object "name" (loose-text (user-code user)) "kind" "anonymous function" "possible" possible))
      (:own (object "name" (own-text user) "kind" "SBCL's own"))
      (t (object "name" (or text (shown-name user))
                 "kind" (or kind (and (stringp sort) sort))
                 "same" (and (null kind) (same-function-text (user-name user)))
                 "sites" (and sites (sites-of group name kinds))
                 "possible" possible)))))

;;; Where else users can stand

(defparameter *most-files* 3000 "How many source files of loaded code are told at most.")

(defun files-of (index)
  "Return the native names of the source files of the code in INDEX, but for SBCL's own and ours. What ran once, when it
was loaded, counts too."
  (let ((names '()) (files (use-index-files index)))
    (loop for name being the hash-keys of files do (push name names))
    ;; Forms that only define constants, say, leave no code.
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for name being the hash-keys of **sources** unless (gethash name files) do (push name names)))
    (mapcar #'translated (page (remove-if-not #'counts-p (nreverse names)) 0 *most-files*))))
