;;;; Makes the rows of answers about the users of a name. Finds the functions and top-level forms
;;;; that still exist and use the name, and describes each as a JSON object. USER is defined in
;;;; users.lisp, TOP-FORM, FILE-LOAD and **CLAIMED** in top-forms.lisp, USE-INDEX and *USE-KINDS* in
;;;; uses.lisp, FORM-USES in walk.lisp, COUNTS-P and *WITHIN* in systems.lisp, RUN-P and RUNNING-P
;;;; in runs.lisp. Some code is compiled to run only once: RUN-P returns true if it has run, and
;;;; RUNNING-P if it still runs.

(in-package "LIVE-LISP.LOOK")

;;; Finding the users that still exist

(defun shown-itself-p (code name)
  "CODE is a code object that uses NAME and is from no file. Return true if an answer must show CODE
itself as a user of NAME. Return NIL if CODE was compiled to run once and has run. Also return NIL
if the answer shows the maker of CODE (**CLAIMED**) instead: the evaluated form that made CODE or,
if CODE was made during the load of a file, a form of this file that uses NAME."
  (let ((claim (gethash code **claimed**)))
    (not (or (run-p code)
             (typecase claim
               (top-form (top-form-current-p claim))
               (file-load
                (some (lambda (form) (use-kinds form name)) (file-load-forms claim))))))))

(defvar *collected* nil "True if the backend has already collected garbage for the current answer.")

(sb-ext:defglobal **collected-in** nil
  "The job id of the evaluation during which garbage was last collected for an answer, or NIL.")

(defun asking-evaluation ()
  "Return the lowest job id of the running evaluations, or NIL if none is running. When an
evaluation calls several tools that use the index, this id is the same for all of them."
  (sb-ext:with-locked-hash-table (**jobs**)
    (let ((ids (loop for job being the hash-values of **jobs**
                     when (equal "evaluate" (job-operation job)) collect (job-id job))))
      (and ids (reduce #'min ids)))))

(defun perhaps-garbage-p (code)
  "Return true if it is unknown whether other objects still refer to the code object CODE, so that
only a garbage collection can decide this."
  (not (or *collected*
           (running-p code)
           (>= (generation code) +never-collected+))))

(defun user-there-p (user name)
  "Return true if USER, a USER or TOP-FORM structure, still exists and uses NAME. If only a garbage
collection can show this, throw to NEEDS-COLLECTION."
  (if (top-form-p user)
      (top-form-current-p user)
      (if (eq :loose (user-kind user))
          (let ((code (user-code user)))
            (when (and code (shown-itself-p code name))
              (when (perhaps-garbage-p code) (throw 'needs-collection nil))
              t))
          (reached-p user))))

(defun user-file (user)
  "Return the name of the source file of USER, a USER or TOP-FORM structure, or NIL."
  (if (top-form-p user)
      (let ((source (top-form-source user))) (and source (file-load-name source)))
      (let ((code (user-code user))) (and code (code-file code)))))

(defun map-uses (visit index name)
  "Call the function VISIT with two arguments for each use of NAME in INDEX: the user, and the kind
of the use, one of *USE-KINDS*. First come USER structures, in the order in which they were added to
INDEX, then TOP-FORM structures."
  (flet ((visit-use (use)
           (declare (type (unsigned-byte 32) use))
           (funcall visit (aref (use-index-users index) (use-user use))
                    (svref *use-kinds* (use-kind use)))))
    (let ((uses (gethash name (use-index-uses index))))
      ;; A single use is stored as an integer. In a vector, element 0 is the number of uses.
      (typecase uses
        (null)
        (fixnum (visit-use uses))
        (uses (loop for i from 1 to (aref uses 0) do (visit-use (aref uses i))))))
    (dolist (form (reverse (gethash name **forms-using**)))
      (dolist (kind (use-kinds form name)) (funcall visit form kind)))))

(defun in-order (users)
  "Sort the list USERS into the order for answers (USER-BEFORE-P), and return it. Its first
elements, those that were in the index when it was built, are already in this order."
  (let ((sorted-end (loop for tail on users
                          while (and (rest tail) (not (user-before-p (second tail) (first tail))))
                          finally (return tail))))
    (if (rest sorted-end)
        (let ((others (shiftf (rest sorted-end) '())))
          (merge 'list users (stable-sort others #'user-before-p) #'user-before-p))
        users)))

(defun definitions-in-form (user)
  "A top-level form of a file made the function of USER, a USER structure. Return a list of (NAME .
SYMBOLS) lists, one for each definition of USER's name inside this form. SYMBOLS are the program's
symbols in the definition (FORM-USES-INSIDE). Return NIL if there are none, or if the backend has
not read the text of the file from which the function comes."
  (let* ((function (user-function user)) (code (user-code user))
         (load (and (user-name user)
                    code
                    (stringp (code-file code))
                    (gethash (code-file code) **sources**))))
    (and load
         (eq t (file-load-state load))
         ;; The function comes from the last load of the file.
         (eql (file-load-created load) (source-date (information-source (code-information code))))
         (let* ((number (form-number (compiled-debug (function-debug function))))
                (form (and number
                           (find number (file-load-forms load) :key #'top-form-number))))
           (and form
                (remove (user-name user) (form-uses-inside (top-form-uses form))
                        :key #'first :test-not #'equal))))))

(defun may-mention-p (user name)
  "NAME is among the constants of the code of USER, a USER structure. Return true if the function of
USER itself may contain NAME as data. Functions from one top-level form share their constants, so
NAME may be data of another function. If the backend has read the text of the form, return true only
if the definition of USER's function contains NAME there."
  (let ((definitions (definitions-in-form user)))
    (or (null definitions)
        (some (lambda (definition) (member (name-symbol name) (rest definition) :test #'eq))
              definitions))))

(defun users-now (index name kinds)
  "Return a sorted list of those USER and TOP-FORM structures in INDEX whose code still exists and
uses NAME in one of the ways KINDS, a list of elements of *USE-KINDS*. If *WITHIN* is a table of
files, the code must come from one of them. If only a garbage collection can show whether some code
still exists, throw to NEEDS-COLLECTION."
  (let ((found '()))
    (map-uses (lambda (user kind)
                (when (and (member kind kinds)
                           ;; All uses by one user come one after the other.
                           (not (eq user (first found)))
                           (user-there-p user name)
                           (or (not (eq kind :mention))
                               (top-form-p user)
                               (may-mention-p user name))
                           (counts-p (and *within* (user-file user))))
                  (push user found)))
              index name)
    (in-order (nreverse found))))

;;; If USERS-NOW were inlined, the frame of USERS-OF could still refer to code that COLLECT-GARBAGE
;;; should collect.
(declaim (notinline users-now))

(defparameter *searched-heap* (* 512 1024 1024)
  "The backend walks or fully collects the heap only if fewer octets than this are in use.")

(defun collect-garbage ()
  "Collect garbage. In a large heap, collect only new objects."
  ;; The garbage collector would mistake words left on this stack for references.
  (clear-stack)
  (sb-ext:gc :full (< (heap-usage) *searched-heap*)))

(defun users-of (index name kinds)
  "Return a sorted list of the USER and TOP-FORM structures in INDEX for code that still exists,
uses NAME, and comes from the files of *WITHIN*. KINDS is a list of those elements of *USE-KINDS*
that count as uses. If only a garbage collection can show which code still exists, collect garbage,
but only once during an evaluation."
  (catch 'needs-collection
    (return-from users-of (users-now index name kinds)))
  (let ((evaluation (asking-evaluation)))
    ;; Collect garbage only once during an evaluation, which may ask about many names.
    (unless (and evaluation (eql evaluation **collected-in**))
      (collect-garbage)
      (setf **collected-in** evaluation)))
  (setf *collected* t)
  (users-now index name kinds))

(defun shown-name (user)
  "Return as text the name of the code that USER, a USER structure, stands for. USER caches the
text."
  (let* ((name (user-name user))
         (package (symbol-package (name-symbol name)))
         (known (user-text user)))
    (if (and known (eq package (car known)))
        (cdr known)
        (let ((text (name-text name)))
          (setf (user-text user) (cons package text))
          text))))

(defun shown-kind (user)
  "Return the kind under which USER, a USER or TOP-FORM structure, is shown in answers: :PLACE for a
TOP-FORM, :LOOSE for a function without a name, :OWN for a function of SBCL without a name, a string
such as \"setf expander\" for an expander, else :FUNCTION."
  (cond ((top-form-p user) :place)
        ((member (user-kind user) '(:own :loose)) (user-kind user))
        ((kind-text user))
        (t :function)))

(defun grouped (users)
  "Return the list USERS split into groups. A group is a list of consecutive users with the same
name."
  (let ((groups '()) (last nil))
    (dolist (user users (nreverse groups))
      (let ((name (name-of user)))
        (if (and groups (equal name last))
            (push user (car groups))
            (push (list user) groups))
        (setf last name)))))

(defun constructed-structure (name)
  "If the function NAME is a constructor that DEFSTRUCT made, return the name of the structure. Else
return NIL."
  ;; SBCL records (DESCRIPTION . :CONSTRUCTOR) here for a constructor.
  (let ((known (and (symbolp name) (known :function :source-transform name))))
    (and (consp known) (eq (cdr known) :constructor) (description-name (car known)))))

;;; Describing top-level forms and other users

(defparameter *most-names* 500
  "The maximum number of symbols that an answer lists for the data of one top-level form.")

(defun data-names (top-form)
  "Return a list of the names of the symbols that TOP-FORM, a TOP-FORM structure, contains as data.
The list includes the names that the form defines, but no names of variables."
  (page (loop for symbol in (form-uses-data (top-form-uses top-form))
              unless (variable-kind symbol) collect (symbol-text symbol))
        0 *most-names*))

(defun form-data (top-form possible)
  "Return a JSON object about TOP-FORM, a TOP-FORM structure: the file and the number of the form
or, for a form from no file, the name that it defines. POSSIBLE is true if the form contains the
requested name only as data, as in (MAPCAR 'F LIST)."
  (let ((source (top-form-source top-form)) (name (top-form-name top-form)))
    (if source
        (multiple-value-bind (file date) (native-file (file-load-name source))
          (make-json-object
           (list* "file" file
                  "form" (top-form-number top-form)
                  "names" (data-names top-form)
                  "possible" possible
                  (version-members file (file-load-read source) date))))
        (object "name" (if (stringp name) name (name-text name))
                "operator" (symbol-name (first (top-form-key top-form)))
                "kind" (top-form-part top-form)
                "possible" possible))))

(defun other-package-names ()
  "Return a JSON object with the nicknames of all packages as keys, and the packages' names as
values."
  (make-json-object
   (from-packages (lambda (package)
                    (loop for nickname in (package-nicknames package)
                          append (list nickname (package-name package)))))))

(defun loose-text (code)
  "CODE is a code object with functions that have no name, or NIL if the code object was garbage
collected. Return the source of the last of these functions as text. Return \"a function\" if the
source is unknown."
  (let* ((functions (reverse (and code (nameless-functions code))))
         (function (or (find-if-not (lambda (each) (stringp (simple-function-name each))) functions)
                       (first functions)))
         (form (or (and function (function-lambda-expression function))
                   ;; Newer SBCLs keep no source of a form that they compile to run once.
                   (let ((run (and code (gethash code **runs**))))
                     (and run `(lambda () ,(first run)))))))
    (if form (plain-text 80 form) "a function")))

(defun same-function-text (name)
  "Return text for another name of the function NAME: the name under which this function was
defined. Return NIL if the function was defined as NAME, or if the other name no longer has this
function."
  (let* ((known (and (plain-name-p name) (global-function name)))
         ;; If the function is traced, KNOWN is the closure that TRACE has put around it.
         (function (if (closure-p known) (plain-definition name) known))
         (own (and (typep function 'simple-function) (simple-function-name function))))
    (and own
         (not (equal own name))
         (plain-name-p own)
         (fboundp own)
         (eq (plain-definition own) function)
         (name-text own))))

(define-shape caller (form-place)
  "Something that uses a function, or a variable."
  (name string :optional
   "Name of the caller; absent for a top-level form of a file, which the server names by its
   text.")
  (kind string :optional
   "Kind of a caller that is no function (contract S3.17); absent for a function.")
  (same string :optional "Name of the function of which this caller is an alias.")
  (possible boolean :optional
   "True when the caller only contains the name in its data, so that it may never call the
   function.")
  (operator string :optional
   "Operator of the form that is the caller, when the form is in no file.")
  (names (list string) :optional
   "Symbols in the data of the top-level form as PACKAGE::NAME, including the symbol that it
   defines.")
  (sites (list place) :optional))

(defun user-data (group name kinds &key kind text sites possible)
  "GROUP is a list of USER or TOP-FORM structures with the same name, which use NAME. Return a JSON
object about GROUP. KINDS lists the kinds of the uses, such as :CALLS. KIND and TEXT, if not NIL,
replace the kind and the name of the group in the object. If SITES is true, add the source locations
of the uses. POSSIBLE is true if the code of the group has NAME only as data, so that this code may
never use NAME."
  (let* ((user (first group)) (shown-kind (shown-kind user)))
    (case shown-kind
      (:place (form-data user possible))
      (:loose (object "name" (loose-text (user-code user)) "kind" "anonymous function"
                      "possible" possible))
      (:own (object "name" (printing-plainly
                              (print-safely 200 (root-of (simple-function-name
                                                          (user-function user)))))
                      "kind" "SBCL's own"))
      (t (object "name" (or text (shown-name user))
                 "kind" (or kind (and (stringp shown-kind) shown-kind))
                 "same" (and (null kind) (same-function-text (user-name user)))
                 "sites" (and sites (sites-of group name kinds))
                 "possible" possible)))))

;;; Files that may contain users that the index does not have

(defparameter *most-files* 3000
  "The maximum number of source files of loaded code that an answer lists.")

(defun files-of (index)
  "Return a list of the native names of the source files of the code in INDEX, without files of SBCL
and of the backend. Include loaded files that have left no code in the image."
  (let ((names '()) (files (use-index-files index)))
    (loop for name being the hash-keys of files do (push name names))
    ;; A file that only defines constants, for example, leaves no code in the image.
    (sb-ext:with-locked-hash-table (**sources**)
      (loop for name being the hash-keys of **sources**
            unless (gethash name files) do (push name names)))
    (mapcar #'translated (page (remove-if-not #'counts-p (nreverse names)) 0 *most-files*))))
