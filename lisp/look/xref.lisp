;;;; Defines the operations who-calls, which finds users of a function, and who-references, which
;;;; finds users of a variable. The users are USER structures (users.lisp) and TOP-FORM structures
;;;; (top-forms.lisp). USERS-OF (rows.lisp) finds them in the index of uses (index.lisp).

(in-package "LIVE-LISP.LOOK")

(defun xrefs-kept-p (symbol)
  "Return true if this SBCL records cross references for SYMBOL (contract S3.12 in
docs/develop/contracts.md)."
  ;; SBCL's predicate also takes a list of names, and would take NIL for an empty list.
  (or (null symbol)
      (not (without-xrefs-p symbol))))

;; Some SBCLs are built without cross references to their own functions. The text after :WITHOUT
;; says what the user loses there.
(define-ability "cross-references to CL"
  :without "who_calls finds fewer callers of mapcar and the like")
(define-check (xrefs-kept-p 'mapcar))

(defmacro with-index ((index) &body body)
  "Evaluate the forms BODY with the variable INDEX bound to the current index, while this thread
holds the lock of the index. Before that, read again the files that were loaded since the last use
of this macro. Reading a file can run reader macros of the program, which must not run while this
thread holds the lock. So *MAY-READ-SPANS* (jobs/spans.lisp) forbids BODY to read files. *BEGAN*
(top-forms.lisp) is bound to the time before the files are read. For BODY, *COLLECTED* (rows.lisp)
and *NATIVE-FILES* (sites.lisp) are bound to empty values."
  `(let ((*began* (get-internal-real-time)))
    ;; This also finds the files that were loaded before the hooks were installed (NOTE-FILE).
    (sb-thread:with-mutex (**index-lock**) (current-index))
    (read-new-texts)
    (sb-thread:with-mutex (**index-lock**)
     (let ((*collected* nil)
           (*may-read-spans* nil)
           (*native-files* (make-hash-table :test 'equal))
           (,index (current-index)))
        ,@body))))

(defun loaded-files ()
  "Return a list of the native names of the source files of all loaded code, without files of SBCL
and of the backend."
  (with-index (index) (files-of index)))

(defun user-parts (user)
  "USER, a USER or TOP-FORM structure, stands for code that uses a name. Return the list (NAME
FUNCTION FILE FORM) that describes this code, with NIL for absent parts. For a function, NAME is its
name, and FUNCTION the function. For a top-level form in a file, FILE is the native name of the
file, and FORM the number of the form. For a top-level form from no file, NAME is the name that it
defines."
  (cond ((user-p user)
         (list (user-name user) (and (user-name user) (user-function user)) nil nil))
        ((top-form-source user)
         (list nil nil (file-load-name (top-form-source user)) (top-form-number user)))
        (t (list (top-form-name user) nil nil nil))))

(defun users-of-names (names)
  "Return two lists that describe functions and top-level forms, each by a list from USER-PARTS. The
first list is for the code that uses one of NAMES. The second is for other code, which only contains
one of NAMES as data. Neither contains duplicates or code that is running."
  (with-index (index)
    (flet ((parts (kinds)
             (remove-duplicates
              (loop for name in names
                    append (loop for user in (users-of index name kinds)
                                 unless (and (eq :loose (shown-kind user))
                                             (running-p (user-code user)))
                                   collect (user-parts user)))
              :test #'equal)))
      (let ((uses (parts (remove :mention (coerce *use-kinds* 'list)))))
        (values uses (set-difference (parts '(:mention)) uses :test #'equal))))))

(defstruct (rows (:constructor make-rows (&key functions others places)))
  "The users of a name, sorted for an answer. Each user is a USER or TOP-FORM structure, and a group
is a list of users with the same name. FUNCTIONS lists groups of functions. PLACES lists groups of
top-level forms and of code without a name. OTHERS lists OTHER-ROW structures."
  (functions '()) (others '()) (places '()))

(defstruct (other-row (:constructor make-other-row (name word group)))
  "A row of an answer for users of a name that are not shown as functions. NAME is the name to show,
WORD a string such as \"setf expander\", and GROUP the list of these users, USER or TOP-FORM
structures."
  name word group)

(defstruct (row-block (:constructor make-row-block (row items)))
  "Some of the rows of an answer, one for each element of the list ITEMS. ROW is a function that
makes a row. It takes an item and a boolean, true to include source locations in the row."
  row items)

(defun form-before-p (one other)
  "Return true if ONE precedes OTHER, by file, then by form number. Both are TOP-FORM or USER
structures. A structure that is no top-level form of a file comes last."
  (flet ((file (place)
           (let ((source (and (top-form-p place) (top-form-source place))))
             (and source (file-load-name source)))))
    (let ((file-1 (file one)) (file-2 (file other)))
      (cond ((or (null file-1) (null file-2)) (and file-1 (not file-2)))
            ((string= file-1 file-2)
             (< (or (top-form-number one) 0) (or (top-form-number other) 0)))
            (t (string< file-1 file-2))))))

(defun makes-p (top-form user)
  "Return true if TOP-FORM is in a file and defines the function of USER, a USER structure."
  (let* ((function (user-function user)) (source (top-form-source top-form))
         (form (and (user-name user) (form-number (compiled-debug (function-debug function))))))
    (and source
         (user-name user)
         (equal (file-load-name source) (code-file (user-code user)))
         (if form
             (eql form (top-form-number top-form))
             (member (user-name user) (form-uses-data (top-form-uses top-form)) :test #'equal)))))

(defun redundant-p (place users name)
  "USERS lists the users of NAME in an answer. Return true if the answer can leave out PLACE, a USER
or TOP-FORM structure. This holds for a top-level form that defines one of USERS and does not itself
call NAME."
  (and (top-form-p place)
       (not (member name (form-uses-calls (top-form-uses place)) :test #'equal))
       (some (lambda (user) (and (user-p user) (makes-p place user))) users)))

(defun different-places (places named name)
  "PLACES and NAMED are lists of the users of NAME. PLACES lists those that have no name themselves:
TOP-FORM structures and USER structures. NAMED lists groups of the users that have names. Return
PLACES sorted by file, each element as a list of its own. Leave out an element that occurs twice,
that has the same code as a user in NAMED, or that is only the top-level form which defines such a
user."
  (let* ((users (and places (apply #'append named))) (codes (mapcar #'user-code users)))
    (flet ((place-of (user) (if (top-form-p user) user (user-code user))))
      (mapcar #'list (stable-sort (remove-if (lambda (place)
                                               (or (member (place-of place) codes :test #'eq)
                                                   (redundant-p place users name)))
                                             (remove-duplicates places :key #'place-of))
                                  #'form-before-p)))))

(defun named-groups (rows)
  "Return a list of the groups in ROWS, a ROWS structure, whose users have names."
  (append (rows-functions rows) (mapcar #'other-row-group (rows-others rows))))

(defun rows-for (users name)
  "Return a ROWS structure for USERS, a list of USER and TOP-FORM structures that use NAME. For each
constructor among them that DEFSTRUCT made, OTHERS also has an OTHER-ROW for the structure."
  (let ((rows (make-rows)) (functions '()) (places '()))
    (dolist (user users)
      (let ((shown-kind (shown-kind user)))
        (case shown-kind
          (:function (push user functions))
          ((:place :loose) (push user places))
          ;; A string such as "setf expander": only SBCL-USERS makes users of kind :OWN.
          (t (push (make-other-row (user-name user) shown-kind (list user))
                   (rows-others rows))))))
    (setf (rows-functions rows) (grouped (nreverse functions)))
    (setf (rows-places rows) (different-places (nreverse places) (named-groups rows) name))
    (loop for group in (rows-functions rows)
          for structure = (constructed-structure (user-name (first group)))
          when structure
            do (push (make-other-row structure "structure slot" group) (rows-others rows)))
    rows))

(defun macro-uses (users)
  "USERS is a list of USER structures for the functions that use a macro. Return a list of OTHER-ROW
structures for those with a name."
  (loop for group in (grouped (remove-if-not #'name-of users))
        collect (make-other-row (user-name (first group)) "macro use" group)))

(defun sorted-others (others)
  "Return OTHERS, a list of OTHER-ROW structures, sorted by OTHER-ROW-NAME, then by OTHER-ROW-WORD."
  (flet ((before-p (one other)
           (if (equal (other-row-name one) (other-row-name other))
               (string< (other-row-word one) (other-row-word other))
               (name-before-p (other-row-name one) (other-row-name other)))))
    (stable-sort (copy-list others) #'before-p)))

(defun without-users (groups others)
  "Return a list of the elements of GROUPS without those that have the same name as a group in
OTHERS. GROUPS and OTHERS list groups. A group is a list of users with the same name."
  (if (or (null groups) (null others))
      groups
      (let ((names (make-hash-table :test 'equal)))
        (loop for (user) in others do (setf (gethash (or (name-of user) user) names) t))
        (remove-if (lambda (group) (gethash (or (name-of (first group)) (first group)) names))
                   groups))))

(defun row-blocks (name rows kinds &key more possible)
  "ROWS is a ROWS structure with the users of NAME. Return two parts of the answer, a list of two
ROW-BLOCK structures. The first has the users in the slot FUNCTIONS of ROWS. The second has those in
its slot OTHERS and in MORE, a list of OTHER-ROW structures. KINDS lists the kinds of the uses, such
as :CALLS. POSSIBLE is true if the users only contain NAME as data."
  (flet ((row (group sites &optional kind text)
           (user-data group name kinds :kind kind :text text :sites (and sites (not possible))
                      :possible possible)))
    (list (make-row-block #'row (rows-functions rows))
          (make-row-block (lambda (other sites)
                            (row (other-row-group other) sites (other-row-word other)
                                 (name-text (other-row-name other))))
                          (sorted-others (append (rows-others rows) more))))))

(defun rows-count (blocks)
  "Return the number of items in BLOCKS, a list of ROW-BLOCK structures."
  (loop for block in blocks sum (length (row-block-items block))))

(defparameter *most-places* 100
  "The maximum number of top-level forms that an answer lists.")

(defun outside-members (places mentions)
  "Return a plist of JSON members about top-level forms: \"outside\", the first *MOST-PLACES*
groups of them, and \"outsideCount\", the number of all groups if there are more. A group is a list
of the forms with the same name. PLACES lists the groups whose forms use the requested name.
MENTIONS lists the groups whose forms only contain it as data. The server finds these forms in their
files, and decides which of them count."
  (let ((all (append (mapcar (lambda (group) (user-data group nil '())) places)
                     (mapcar (lambda (group) (user-data group nil '() :possible t)) mentions))))
    (list "outside" (page all 0 *most-places*)
          "outsideCount" (and (> (length all) *most-places*) (length all)))))

(defun mention-rows (users calls name)
  "USERS are functions and forms that contain NAME as data. CALLS is the ROWS structure of the
functions and forms that use NAME. Return a ROWS structure for USERS, without those with the same
name as one in CALLS. Also leave out forms that are still running: one of them may be the form that
makes this request, and its code will be gone when it has run."
  (let ((rows (rows-for (remove-if (lambda (user)
                                     (and (eq :loose (shown-kind user))
                                          (running-p (user-code user))))
                                   users)
                        name))
        (called (append (mapcar #'other-row-name (rows-others calls))
                        (loop for (user) in (rows-functions calls) collect (name-of user)))))
    (make-rows
     :functions (without-users (rows-functions rows) (rows-functions calls))
     :others (remove-if (lambda (name) (member name called :test #'equal)) (rows-others rows)
                        :key #'other-row-name)
     ;; A top-level form that defines a function in CALLS also contains NAME, but only within the
     ;; definition of this function. So leave the form out.
     :places (without-users (different-places (mapcar #'first (rows-places rows))
                                              (named-groups calls)
                                              name)
                            (rows-places calls)))))

(defun mentioned-rows (index target calls &optional nature)
  "Return a ROWS structure for the functions and forms in INDEX that contain the symbol TARGET as
data, as in (MAPCAR 'F LIST). Leave out those in CALLS, the ROWS structure of the functions and
forms that use TARGET. NATURE is NIL or a string such as \"FUNCTION\", the kind of definition
(natures.lisp) that the request is about. If TARGET has definitions, but none whose kind contains
the text NATURE, return an empty structure, since the data then probably refers to a definition of
another kind."
  (let ((natures (and nature (symbolp target) (natures target))))
    (if (and natures (notany (lambda (each) (search nature each)) natures))
        (make-rows)
        (mention-rows (users-of index target '(:mention)) calls target))))

(defun sbcl-function-p (function)
  "Return true if FUNCTION is part of SBCL and not inside a named function. Templates of SBCL's
compiler are such functions."
  (let ((file (code-file (function-code function)))
        (root (root-of (simple-function-name function))))
    (and (sbcl-file-p file) (consp root) (not (plain-name-p root)))))

(defun sbcl-users (index name)
  "Return a list of new USER structures for functions of SBCL that call NAME. INDEX does not have
these functions, because none of them is the definition of a name."
  (let ((users '()))
    (map-functions (lambda (own function)
                     (declare (ignore own))
                     (when (and (not (noted-p index (function-code function)))
                                (sbcl-function-p function)
                                (find-if (lambda (use)
                                           (and (equal name (first use)) (eq :calls (third use))))
                                         (uses-in function)))
                       (push (make-user nil :own function) users))))
    users))

(defun sbcl-rows-block (index name)
  "Return a ROW-BLOCK structure, a part of the answer, with the functions of SBCL that call the
function NAME, but have no name themselves (see SBCL-USERS). INDEX is the index of uses."
  (make-row-block (lambda (user sites) (user-data (list user) name '(:calls) :sites sites))
                  (sbcl-users index name)))

(defun function-block (name kind word users)
  "Return a ROW-BLOCK structure for the functions among USERS, which use the variable NAME in the
way KIND, such as :SETS. WORD is the string for KIND in answers."
  (make-row-block (lambda (group sites)
                    (user-data group name (list kind) :kind word :sites sites))
                  (rows-functions (rows-for users name))))

(defun rows-data (blocks offset limit sites)
  "Return a list of JSON objects, the rows of an answer. BLOCKS is a list of ROW-BLOCK structures.
Skip the first OFFSET of all their items, and return a row for each of the next LIMIT items. If
SITES is true, the rows have the source locations of the uses."
  (loop with offset = (or offset 0)
        for block in blocks
        for items = (row-block-items block)
        for shown = (page items offset limit)
        append (loop for item in shown collect (funcall (row-block-row block) item sites))
        do (setf offset (max 0 (- offset (length items)))
                 limit (- limit (length shown)))))

(defun other-members (places mentions unknown)
  "Return a plist for a JSON object about the uses of a name that are not in functions, and about
the reasons why uses may be missing. PLACES lists groups of top-level forms that use the name, and
MENTIONS groups of those that only contain it as data. If UNKNOWN is true, add the files that could
not be read completely."
  (list* "interpreted" (and **interpreted** t)
        "unheard" (not **listening**)
        "unread" (and unknown (unread-data))
        "packages" (and (or places mentions) (other-package-names))
        (outside-members places mentions)))

(defun unrecorded-text (name)
  "NAME is a function of the program. Return a string if SBCL may not have recorded some uses of
NAME in top-level forms. The string is the reason: NAME is a \"macro\" or an \"inline\" function, or
sets a \"slot\" and is therefore open-coded everywhere. Otherwise return NIL."
  (cond ((not (and (fboundp name) (program-symbol-p (name-symbol name)))) nil)
        ((and (symbolp name) (macro-function name)) "macro")
        ((and (consp name) (consp (known :function :source-transform name))) "slot")
        ((known :function :inlining-data name) "inline")))

(defun callers-left-out (index name)
  "Return the number of callers of NAME in INDEX that are in none of the files of *WITHIN*. Count
callers with the same name once. Return NIL if *WITHIN* (systems.lisp) is NIL."
  (when *within*
    (let ((within (users-of index name *call-kinds*))
          (all (let ((*within* nil)) (users-of index name *call-kinds*))))
      (- (length (grouped all)) (length (grouped within))))))

(defun functions-finding-names (index packages)
  "Return a sorted list of the functions in INDEX that look up symbols by INTERN, FIND-SYMBOL or the
reader, and that have a name in one of PACKAGES, a list of package names. Such a function may call
functions for which it has no cross references, because it finds their names only when it runs.
Leave out macros."
  (let ((found '()))
    (dolist (finder '(intern find-symbol read read-preserving-whitespace read-from-string
                      read-delimited-list))
      (map-uses (lambda (user kind)
                  (declare (ignore kind))
                  (let* ((name (name-of user)) (symbol (name-symbol name)))
                    (when (and symbol (symbolp symbol) (symbol-package symbol)
                               (not (and (symbolp name) (macro-function name)))
                               (member (package-name (symbol-package symbol)) packages
                                       :test #'string=)
                               (reached-p user))
                      (pushnew user found :key #'name-of :test #'equal))))
                index finder))
    (sort found #'string< :key #'shown-name)))

(defun unseen-callers (index symbol)
  "A function that looks up symbols by name may call SYMBOL although its code does not contain it.
Return a plist for a JSON object about such functions: the names of at most three, and the number of
all. Return NIL if SYMBOL does not belong to the program. INDEX is the index of uses."
  (when (program-symbol-p symbol)
    (let ((users (functions-finding-names index (packages-with symbol))))
      (list "finding" (mapcar #'shown-name (page users 0 3))
            "findingCount" (length users)
            "findingUnrecorded" (not (xrefs-kept-p 'intern))))))

(define-shape who-calls-data ()
  "Who calls a function."
  (name string) (callers integer) (others integer)
  (possible integer "How many functions contain the name only in their data.")
  (left-out integer :optional "How many callers are outside the requested system.")
  (natures (list string) :optional)
  (kept boolean "True when this SBCL keeps cross references to the symbol.")
  (interpreted boolean :optional
   "True when code was evaluated by an interpreter, which records no cross references.")
  (unheard boolean :optional "True when SBCL does not notify the backend of new code.")
  (unread (list unread-file) :optional
   "Files that the backend could not read completely, so not all their top-level forms are known.")
  (unrecorded (member "macro" "inline" "slot") :optional
   "Why SBCL may not record some uses of the function in top-level forms. Absent when it records
   all, or when no other uses were found.")
  (packages (map string) :optional "Maps other names of packages to their proper names.")
  (outside (list caller) :optional
   "Uses in top-level forms of files. They are the same for each page of `rows`.")
  (outside-count integer :optional "Number of all such uses, when `outside` does not have all.")
  (finding (list string) :optional
   "Names of functions that look up symbols by name, so that they may call the function without a
   cross reference. Sent when no caller is known.")
  (finding-count integer :optional "Number of all functions that `finding` could list.")
  (finding-unrecorded boolean :optional
   "True when this SBCL does not record who calls INTERN and the like.")
  (accessible-in (list string) :optional
   "All names of all packages in which the symbol is accessible.")
  (files (list string) :optional
   "Source files of all loaded code, sent when no certain caller is known.")
  (rows (list caller) :optional))

(define-operation ("who-calls" :gives (or who-calls-data lookup-failure))
    (name package sites
     (internals boolean :optional "True for functions of SBCL without a name, too.")
     within offset limit)
  "Return the callers of a function (contract S3.3): functions first, then other callers, last
definitions that only have its name in their data."
  (multiple-value-bind (target symbol setf) (named-target name package "CL-USER")
    (let ((*within* (and within (system-files within))))
      (with-index (index)
        (let* ((calls (rows-for (users-of index target *call-kinds*) target))
               (mentions (mentioned-rows index target calls
                                         ;; A function, macro or special operator: data may refer
                                         ;; to it, whatever the words for its kind.
                                         (if (fboundp target) nil "FUNCTION")))
               (callers (row-blocks target calls '(:calls :macroexpands)
                                    :more (macro-uses (users-of index target '(:macroexpands)))))
               (certain (append callers (and internals (list (sbcl-rows-block index target)))))
               (possible (row-blocks target mentions '() :possible t))
               (certain-count (rows-count certain))
               (possible-count (rows-count possible))
               (unrecorded (unrecorded-text target))
               (expander (and setf (not (fboundp target)) (known :setf :expander symbol)))
               ;; True for a function of the program if SBCL may not have recorded its calls.
               (maybe-unrecorded (and (or (zerop certain-count) (equal "slot" unrecorded))
                                      (or expander (fboundp target))
                                      (program-symbol-p symbol))))
          (make-json-object
           (list* "name" (name-text target)
                  "callers" (length (rows-functions calls))
                  "others" (- certain-count (length (rows-functions calls)))
                  "possible" possible-count
                  "leftOut" (callers-left-out index target)
                  "natures" (if setf
                                (cond ((fboundp target) '("FUNCTION"))
                                      (expander '("SETF EXPANDER")))
                                (any-natures symbol))
                  "kept" (json-boolean (xrefs-kept-p symbol))
                  "unrecorded" (and (plusp (+ certain-count possible-count)) unrecorded)
                  "accessibleIn" (and (or sites maybe-unrecorded) (packages-with symbol))
                  "rows" (rows-data (append certain possible) offset limit sites)
                  ;; If there is no certain user, the server searches these files for calls that
                  ;; SBCL has not recorded, in code that ran only while the files were compiled.
                  "files" (and maybe-unrecorded (files-of index))
                  (append
                   (and (zerop (+ certain-count possible-count))
                        (fboundp target)
                        (unseen-callers index symbol))
                   (other-members (rows-places calls) (rows-places mentions)
                                  (zerop (+ certain-count (length (rows-places calls)))))))))))))

(defparameter *reference-kinds* '((:references "read") (:sets "set") (:binds "bind"))
  "A list of (KIND WORD) lists, one for each kind of use of a variable: SBCL's kind of cross
reference, and the word for it in answers.")

(define-shape references-data ()
  "The answer of who-references: the users of a variable, and what may be missing among them."
  (name string) (total integer) (natures (list string) :optional)
  (expansion string :optional "Expansion of the symbol macro that the name stands for.")
  (kept boolean) (interpreted boolean :optional) (unheard boolean :optional)
  (unread (list unread-file) :optional) (packages (map string) :optional)
  (outside (list caller) :optional) (outside-count integer :optional)
  (accessible-in (list string) :optional)
  (rows (list caller) :optional
   "The functions that use the variable. The kind of each says how: read, set or bind."))

(define-operation ("who-references" :gives (or references-data lookup-failure))
    (name package sites offset limit)
  "Return the uses of a variable. First come the functions that read it, then those that set it,
then those that bind it. A function with several kinds of use has several rows. Then come other
definitions that use the name, and last those that only have it in their data."
  (multiple-value-bind (target symbol setf) (named-target name package)
    (with-index (index)
      (let* ((uses (rows-for (users-of index target (mapcar #'first *reference-kinds*)) target))
             (mentions (mentioned-rows index target uses "VARIABLE"))
             (functions (loop for (kind word) in *reference-kinds*
                              collect (function-block target kind word
                                                      (users-of index target (list kind)))))
             ;; Definitions that are no functions, and top-level forms: those that use the variable,
             ;; and those that only contain it as data.
             (outside (make-rows :others (append (remove "structure slot" (rows-others uses)
                                                         :key #'other-row-word :test #'equal)
                                                 (rows-others mentions))
                                 :places (append (rows-places uses) (rows-places mentions))))
             (others (row-blocks target outside (mapcar #'first *reference-kinds*)))
             ;; Functions that only contain the variable as data.
             (possible (row-blocks target (make-rows :functions (rows-functions mentions)) '()
                                   :possible t)))
        (make-json-object
         (list* "name" (name-text target)
                "total" (rows-count (append functions others possible))
                "natures" (and (not setf) (any-natures symbol))
                "expansion" (and (not setf)
                                 (eq :macro (variable-kind symbol))
                                 (plain-text 200 (macroexpand-1 symbol)))
                "kept" (json-boolean (xrefs-kept-p symbol))
                "accessibleIn" (and sites (packages-with symbol))
                "rows" (rows-data (append functions others possible) offset limit sites)
                (other-members (rows-places outside) '()
                               (zerop (+ (rows-count (append functions others))
                                         (length (rows-places outside)))))))))))
