;;;; Makes the rows of answers about the users of a name: finds the users that still exist, and
;;;; describes them.

(in-package "LIVE-LISP.LOOK")

;;; Which users exist

(defun free-p (code name)
  "True when only CODE itself, a code object from no file, would show its use of NAME. Return NIL if
CODE is a form that has run. Return NIL also if, by **CLAIMED**, a current top-level form has made
CODE, or a file load with a form that uses NAME: these are shown instead."
  (let ((claim (gethash code **claimed**)))
    (not (or (run-p code)
             (typecase claim
               (top-form (place-there-p claim))
               (file-load
                (some (lambda (place) (use-kinds place name)) (file-load-places claim))))))))

(defvar *collected* nil "True when garbage was collected already for this answer.")

(sb-ext:defglobal **collected-in** nil
  "The id of the evaluation during which an answer last collected garbage, or NIL.")

(defun asking-evaluation ()
  "Return the lowest job id of the running evaluations, or NIL. Evaluated code can ask many
questions: this id shows which of them belong together."
  (sb-ext:with-locked-hash-table (**jobs**)
    (let ((ids (loop for job being the hash-values of **jobs**
                     when (equal "evaluate" (job-operation job)) collect (job-id job))))
      (and ids (reduce #'min ids)))))

(defun doubtful-p (code)
  "True when only a garbage collection can show whether anything still refers to CODE, which is
FREE-P."
  (not (or *collected*
           (running-p code)
           (>= (generation code) +never-collected+))))

(defun there-p (user name)
  "True when USER still exists and uses NAME. If only a garbage collection can show this, throw to
DOUBTFUL."
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
  "Return the name of USER's source file, or NIL."
  (if (top-form-p user)
      (let ((source (top-form-source user))) (and source (file-load-name source)))
      (let ((code (user-code user))) (and code (code-file code)))))

(defun map-uses (visit index name)
  "Call VISIT with each user of NAME in INDEX and the kind of its use, a position in *USE-KINDS*.
Users come in the order in which they were added, then top-level forms."
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
  "Return the list USERS, sorted as in answers. Only users added after the index was built are out
of order."
  (let ((last (loop for rest on users
                    while (and (rest rest) (not (user-before-p (second rest) (first rest))))
                    finally (return rest))))
    (if (rest last)
        (let ((others (shiftf (rest last) '())))
          (merge 'list users (stable-sort others #'user-before-p) #'user-before-p))
        users)))

(defun users-now (index name kinds)
  "Do as USERS-OF does, but without a garbage collection. If only a collection can show whether a
user exists, throw to DOUBTFUL."
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

(defparameter *searched-heap* (* 512 1024 1024)
  "A heap of more octets is neither walked nor fully collected.")

(defun users-of (index name kinds)
  "Return the users (functions and top-level forms) of NAME that still exist and are in the files of
*WITHIN*, in the order of answers. KINDS is a bit mask of positions in *USE-KINDS*. If only a
garbage collection can show whether a function still exists, collect garbage. In a large heap only
new objects are collected. All questions of one evaluation collect only once."
  (catch 'doubtful
    (return-from users-of (users-now index name kinds)))
  (let ((evaluation (asking-evaluation)))
    ;; Otherwise an evaluation that asks about many names would collect garbage for each of them.
    (unless (and evaluation (eql evaluation **collected-in**))
      ;; The collector would mistake words left on this stack for references to the code.
      (clear-stack)
      (sb-ext:gc :full (< (heap-usage) *searched-heap*))
      (setf **collected-in** evaluation)))
  (setf *collected* t)
  (users-now index name kinds))

(defun shown-name (user)
  "Return the name of USER as text. USER caches the text."
  (let* ((name (user-name user))
         (package (symbol-package (name-symbol name)))
         (known (user-text user)))
    (if (and known (eq package (car known)))
        (cdr known)
        (let ((text (name-text name)))
          (setf (user-text user) (cons package text))
          text))))

(defun sort-of (user)
  "Return how answers show USER: :PLACE for a top-level form, :LOOSE or :OWN as its USER-KIND, the
word for its kind, such as \"setf expander\", or else :FUNCTION."
  (cond ((top-form-p user) :place)
        ((member (user-kind user) '(:own :loose)) (user-kind user))
        ((kind-text user))
        (t :function)))

(defun grouped (users)
  "Return USERS, in the order of answers, as a list of groups: lists of users with the same name."
  (let ((groups '()) (last nil))
    (dolist (user users (nreverse groups))
      (let ((name (name-of user)))
        (if (and groups (or (eq name last) (and (consp name) (equal name last))))
            (push user (car groups))
            (push (list user) groups))
        (setf last name)))))

(defun constructed-structure (name)
  "If the function NAME is a constructor that DEFSTRUCT made, return the name of the structure. Else
return NIL."
  (let ((known (and (symbolp name) (known :function :source-transform name))))
    (and (consp known) (eq (cdr known) :constructor) (description-name (car known)))))

;;; How top-level forms and other users are described

(defparameter *most-names* 500 "At most this many symbols in the data of a form are sent.")

(defun data-names (place)
  "Return the symbols in the data of PLACE, a TOP-FORM, as texts, without variables. They include
names that the form defines."
  (page (loop for symbol in (form-uses-data (top-form-uses place))
              unless (variable-kind symbol) collect (symbol-text symbol))
        0 *most-names*))

(defun form-data (place possible)
  "Return PLACE, a TOP-FORM, as a JSON object with its file and number, or with the name that it
defines if it is from no file. POSSIBLE is true when it only mentions the name in question."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (multiple-value-bind (file date) (told-file (file-load-name source))
          (object "file" file
                  "form" (top-form-number place)
                  "changed" (and (file-load-created source)
                                 (not (eql date (file-load-created source))))
                  "names" (data-names place)
                  "possible" possible))
        (object "name" (if (stringp name) name (name-text name))
                "operator" (symbol-name (first (top-form-key place)))
                "kind" (top-form-part place)
                "possible" possible))))

(defun other-package-names ()
  "Return a JSON object with the nicknames of packages as keys, and the packages' names as values."
  (make-json-object
   (loop for package in (list-all-packages)
         append (loop for nickname in (package-nicknames package)
                      append (list nickname (package-name package))))))

(defun loose-text (code)
  "Return a text for CODE, of a :LOOSE user: the source of its last function without a name, or \"a
function\". CODE is NIL if it was just collected."
  (let* ((functions (reverse (and code (nameless-functions code))))
         (function (or (find-if-not (lambda (each) (stringp (simple-function-name each))) functions)
                       (first functions)))
         (form (or (and function (function-lambda-expression function))
                   ;; Newer SBCLs keep no source of a form that they run once.
                   (let ((run (and code (gethash code **runs**))))
                     (and run `(lambda () ,(first run)))))))
    (if form (plain-text 80 form) "a function")))

(defun own-text (user)
  "Return the debug name of USER, one of SBCL's own functions, as text."
  (printing-plainly (print-safely 200 (root-of (simple-function-name (user-function user))))))

(defun same-function-text (name)
  "If the function of NAME was defined under another name, of which NAME is an alias, return that
name as text. Else return NIL."
  (let* ((known (and (plain-name-p name) (global-function name)))
         ;; TRACE wraps a function in a closure.
         (function (if (closure-p known) (plain-definition name) known))
         (own (and (typep function 'simple-function) (simple-function-name function))))
    (and own
         (not (equal own name))
         (plain-name-p own)
         (fboundp own)
         (eq (plain-definition own) function)
         (name-text own))))

(defun user-data (group name kinds &key kind text sites possible)
  "Return a JSON object for GROUP, a list of functions (or forms) with the same name that use NAME
as one of KINDS, SBCL's kinds of cross references. KIND and TEXT, unless NIL, replace the kind and
the name of GROUP. SITES is true when the places of the uses are wanted. POSSIBLE is true when NAME
only occurs in the data of GROUP."
  (let* ((user (first group)) (sort (sort-of user)))
    (case sort
      (:place (form-data user possible))
      (:loose (object "name" (loose-text (user-code user)) "kind" "anonymous function"
                      "possible" possible))
      (:own (object "name" (own-text user) "kind" "SBCL's own"))
      (t (object "name" (or text (shown-name user))
                 "kind" (or kind (and (stringp sort) sort))
                 "same" (and (null kind) (same-function-text (user-name user)))
                 "sites" (and sites (sites-of group name kinds))
                 "possible" possible)))))

;;; Files that may contain users that the index lacks

(defparameter *most-files* 3000 "At most this many source files of loaded code are sent.")

(defun files-of (index)
  "Return the native names of the source files of the code in INDEX, without SBCL's and the agent's.
Files whose code only ran while they were loaded are included."
  (let ((names '()) (files (use-index-files index)))
    (loop for name being the hash-keys of files do (push name names))
    ;; Forms that only define constants leave no code, for example.
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for name being the hash-keys of **sources**
            unless (gethash name files) do (push name names)))
    (mapcar #'translated (page (remove-if-not #'counts-p (nreverse names)) 0 *most-files*))))
