;;;; The rows of answers about users of a name: which users in the index are there now, and what is told of each.

(in-package "LIVE-LISP.LOOK")

;;; Who they are, by their numbers in the index

(defun place-there-p (place)
  "True when what PLACE did is the last that was done there: its file was not loaded again, nor its name defined again."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (eq source (gethash (file-load-name source) **sources**))
        (and (top-form-kept place)
             (or (stringp name) (symbol-package (name-key name)))
             (eq place (gethash (top-form-key place) **definers**))))))

(defun free-p (code)
  "True when nothing but CODE itself, of forms without a file or functions in them, can tell of what it does. No form that
is there speaks for it, and it is not only a form that has run."
  (let ((place (gethash code **claimed**)))
    (not (or (run-p code)
             (and place (place-there-p place))))))

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

(defun there-p (index number)
  "True when the user NUMBER of INDEX still is there. Throw to DOUBTFUL when only the collector can know that."
  (let ((user (svref (use-index-users index) number)) (code (svref (use-index-codes index) number)))
    (cond ((top-form-p user) (place-there-p user))
          ((null code) nil)
          ((not (and (consp user) (keywordp (first user)))) (function-code-p user code))
          ((eq (first user) :own) t)
          ((eq (first user) :loose)
           (and (free-p code)
                (or (not (doubtful-p code)) (throw 'doubtful nil))))
          (t (user-there-p user code)))))

(defun user-file (index number)
  "Return the name of the source file that the user NUMBER of INDEX is from, or NIL."
  (let* ((user (svref (use-index-users index) number)) (code (svref (use-index-codes index) number))
         (source (and (top-form-p user) (top-form-source user))))
    (cond (source (file-load-name source))
          (code (code-file code)))))

(defun users-now (index name kinds)
  "Return what USERS-OF does. Throw to DOUBTFUL when only the collector can know one of them."
  (declare (type (unsigned-byte 8) kinds))
  (let ((uses (gethash name (use-index-uses index))) (sorted '()) (late '()) (last -1))
    (flet ((look (use)
             (declare (type (unsigned-byte 32) use))
             (let ((number (use-user use)))
               (when (and (logbitp (use-kind use) kinds)
                          (/= number last)
                          (there-p index number)
                          (counts-p (and *within* (user-file index number))))
                 (setf last number)
                 (if (< number (use-index-sorted index)) (push number sorted) (push number late))))))
      (typecase uses
        (null)
        (fixnum (look uses))
        (uses (loop for i from 1 to (aref uses 0) do (look (aref uses i))))))
    (let ((sorted (nreverse sorted)) (users (use-index-users index)))
      (if late
          (flet ((user-at (number) (svref users number)))
            (merge 'list sorted (sort (nreverse late) #'user-before-p :key #'user-at) #'user-before-p :key #'user-at))
          sorted))))

(declaim (notinline users-now))

(defparameter *searched-heap* (* 512 1024 1024) "How large a heap can be that is gone through for an answer.")

(defun users-of (index name kinds)
  "Return the numbers of the users of NAME that are there and within what counts, in the order of answers. KINDS has a bit
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

(defun name-at (index number)
  "Return the function name by which the user NUMBER of INDEX is shown, or NIL."
  (user-name (svref (use-index-users index) number)))

(defun text-at (index number)
  "Return the name of the user NUMBER of INDEX as text, which is kept."
  (let* ((name (name-at index number)) (package (symbol-package (name-key name)))
         (known (svref (use-index-texts index) number)))
    (if (and known (eq package (car known)))
        (cdr known)
        (let ((text (name-text name)))
          (setf (svref (use-index-texts index) number) (cons package text))
          text))))

(defun sort-of (index number)
  "Return what the user NUMBER of INDEX is: :FUNCTION, :PLACE, :LOOSE, :OWN, or the text of its kind."
  (let ((user (svref (use-index-users index) number)))
    (cond ((top-form-p user) :place)
          ((and (consp user) (member (first user) '(:own :loose))) (first user))
          ((kind-text user))
          (t :function))))

(defun grouped (index numbers)
  "Return NUMBERS, of users in the order of answers, as lists of those that have one name."
  (let ((groups '()) (last nil))
    (dolist (number numbers (nreverse groups))
      (let ((name (name-at index number)))
        (if (and groups (or (eq name last) (and (consp name) (equal name last))))
            (push number (car groups))
            (push (list number) groups))
        (setf last name)))))

(defun constructed-structure (name)
  "Return the name of the structure that the function NAME makes, when DEFSTRUCT defined it, or NIL."
  (let ((known (and (symbolp name) (known :function :source-transform name))))
    (and (consp known) (eq (cdr known) :constructor) (description-name (car known)))))

;;; What is told of them

;;; Top-level forms

(defparameter *most-names* 500 "How many symbols among the data of a form are told at most.")

(defun data-names (place)
  "Return texts of symbols among the data of PLACE that are no variables. What a form defines is one. SBCL makes one piece
of code of several forms, so those of such are told with the first that an answer has of their file."
  (let ((names '()) (seen (make-hash-table :test 'eq)) (source (top-form-source place)))
    (flet ((tell (each)
             (dolist (symbol (top-form-mentions each))
               (unless (or (shiftf (gethash symbol seen) t) (variable-kind symbol) (>= (length names) *most-names*))
                 (push (symbol-text symbol) names)))))
      (tell place)
      (when (and (top-form-number place) *told-files* (not (shiftf (gethash source *told-files*) t)))
        (dolist (each (file-load-places source)) (unless (top-form-number each) (tell each)))))
    names))

(defun form-data (place possible)
  "Return PLACE as a JSON object: where it is, or what it defines. POSSIBLE is true when it only mentions the name."
  (let ((source (top-form-source place)) (name (top-form-name place)))
    (if source
        (multiple-value-bind (file date) (told-file (file-load-name source))
          (object "file" file
                  "form" (top-form-number place)
                  "calls" (top-form-sites place)
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
  (let ((form (and code (function-lambda-expression (first (last (nameless-functions code)))))))
    (if form (plain-text 80 form) "a function")))

(defun same-function-text (name)
  "Return the name of the function that NAME is another name of, or NIL."
  (let* ((known (and (plain-name-p name) (global-function name)))
         ;; What is traced has a closure around it.
         (function (if (closure-p known) (fdefinition name) known))
         (own (and (typep function 'simple-function) (simple-function-name function))))
    (and own
         (not (equal own name))
         (plain-name-p own)
         (fboundp own)
         (eq (fdefinition own) function)
         (name-text own))))

(defun user-data (index group name kinds &key kind text sites possible)
  "Return the users GROUP of INDEX, which have one name, as a JSON object. They use NAME in one of KINDS, SBCL's words.
KIND and TEXT say what they are, where that is not their own kind and name. SITES and POSSIBLE are those of the answer."
  (let* ((number (first group)) (user (svref (use-index-users index) number)) (sort (sort-of index number)))
    (case sort
      (:place (form-data user possible))
      (:loose (object "name" (loose-text (svref (use-index-codes index) number)) "kind" "anonymous function" "possible" possible))
      (:own (object "name" (printing-plainly (print-safely 200 (user-root user))) "kind" "SBCL's own"))
      (t (object "name" (or text (text-at index number))
                 "kind" (or kind (and (stringp sort) sort))
                 "same" (and (null kind) (same-function-text (user-name user)))
                 "sites" (and sites (sites-of index group name kinds))
                 "possible" possible)))))

;;; Where else users can stand

(defparameter *most-files* 3000 "How many source files of loaded code are told at most.")

(defun map-sources (visit)
  "Call VISIT with the last load of each file that has a top-level form of which something is known."
  (sb-ext:with-locked-hash-table (**sources**)
    (loop for source being the hash-values of **sources** do (funcall visit source))))

(defun files-of (index)
  "Return the native names of the source files of the code in INDEX, but for SBCL's own and ours. What ran once, when it
was loaded, counts too."
  (let ((names '()) (files (use-index-files index)))
    (maphash (lambda (name whose) (unless (eq whose :own) (push name names))) files)
    ;; Forms that only define constants, say, leave no code.
    (map-sources (lambda (source)
                   (let ((name (file-load-name source)))
                     (unless (or (gethash name files) (eql 0 (search "SYS:" name))) (push name names)))))
    (mapcar #'translated (page (remove-if-not #'counts-p (nreverse names)) 0 *most-files*))))
