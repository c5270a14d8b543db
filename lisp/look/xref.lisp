;;;; The operations who-calls, about functions, and who-references, about variables.

(in-package "LIVE-LISP.LOOK")

(defun kept-p (symbol)
  "True when this SBCL records cross references for SYMBOL (contract S3.12 in
docs/develop/contracts.md)."
  ;; SBCL's predicate treats NIL as an empty list of names.
  (or (null symbol)
      (not (without-xrefs-p symbol))))

;; Not every SBCL is built with cross references to its own functions.
(define-ability "cross-references to CL" "who_calls finds fewer callers of mapcar and the like")
(define-check (kept-p 'mapcar))

(defmacro with-index ((index) &body body)
  "Evaluate BODY with INDEX bound to the current index, while the lock of the index is held. Before
this, while the lock is not held, read files again that were loaded since the last question: reading
them runs macros of the user."
  `(progn
    (sb-thread:with-mutex (**index-lock**) (current-index))
    (read-new-texts)
    (sb-thread:with-mutex (**index-lock**)
     (let ((*collected* nil)
           (*may-read-spans* nil)
           (*told-files* (make-hash-table :test 'equal))
           (,index (current-index)))
        ,@body))))

(defun loaded-files ()
  "Return the native names of the source files of all loaded code, without SBCL's and the agent's."
  (with-index (index) (files-of index)))

(defstruct (rows (:constructor make-rows ()))
  "The users of a name, sorted for an answer. A group is a list of users with the same name.
FUNCTIONS are groups of functions, PLACES groups of top-level forms. OTHERS has an entry for each
group of other users: a list of the name to show, the word for their kind, and the group."
  (functions '()) (others '()) (places '()))

(defun form-before-p (one other)
  "True when the top-level form ONE precedes OTHER: by file, then by number. Forms from no file come
last."
  (flet ((file (place)
           (let ((source (and (top-form-p place) (top-form-source place))))
             (and source (file-load-name source)))))
    (let ((file-1 (file one)) (file-2 (file other)))
      (cond ((or (null file-1) (null file-2)) (and file-1 (not file-2)))
            ((string= file-1 file-2)
             (< (or (top-form-number one) 0) (or (top-form-number other) 0)))
            (t (string< file-1 file-2))))))

(defun makes-p (place user)
  "True when PLACE, a top-level form of a file, defines the function of USER."
  (let* ((function (user-function user)) (source (top-form-source place))
         (form (and (user-name user) (form-number (compiled-debug (function-debug function))))))
    (and source
         (user-name user)
         (equal (file-load-name source) (code-file (user-code user)))
         (if form
             (eql form (top-form-number place))
             (member (user-name user) (form-uses-data (top-form-uses place)) :test #'equal)))))

(defun said-p (place users name)
  "True when an answer that shows USERS need not show PLACE, a top-level form that uses NAME: it
defines one of USERS, and does not call NAME outside its functions."
  (and (top-form-p place)
       (not (member name (form-uses-calls (top-form-uses place)) :test #'equal))
       (some (lambda (user) (and (user-p user) (makes-p place user))) users)))

(defun different-places (places named name)
  "Return those of PLACES, users of NAME, that an answer must show besides the groups NAMED, as
groups of one user each. Leave out duplicates, users with the same code as one in NAMED, and
top-level forms that are SAID-P."
  (let* ((users (and places (apply #'append named))) (codes (mapcar #'user-code users)))
    (flet ((place-of (user) (if (top-form-p user) user (user-code user))))
      (mapcar #'list (stable-sort (remove-if (lambda (place)
                                               (or (member (place-of place) codes :test #'eq)
                                                   (said-p place users name)))
                                             (remove-duplicates places :key #'place-of))
                                  #'form-before-p)))))

(defun rows-for (users name)
  "Return USERS of NAME as ROWS. If a constructor made by DEFSTRUCT is among them, its structure
gets an entry in OTHERS too."
  (let ((rows (make-rows)) (functions '()) (places '()))
    (dolist (user users)
      (let ((sort (sort-of user)))
        (case sort
          (:function (push user functions))
          ((:place :loose) (push user places))
          (t (push (list (user-name user) sort (list user)) (rows-others rows))))))
    (setf (rows-functions rows) (grouped (nreverse functions))
          (rows-places rows)
          (different-places (nreverse places)
                            (append (rows-functions rows) (mapcar #'third (rows-others rows)))
                            name))
    (loop for group in (rows-functions rows)
          for structure = (constructed-structure (user-name (first group)))
          when structure do (push (list structure "structure slot" group) (rows-others rows)))
    rows))

(defun macro-uses (users)
  "Return entries for the OTHERS of ROWS, one for each group of USERS of a macro."
  (loop for group in (grouped (remove-if-not #'name-of users))
        collect (list (user-name (first group)) "macro use" group)))

(defun sorted-others (others)
  "Return OTHERS, of ROWS, in the order of answers."
  (stable-sort (copy-list others) (lambda (one other)
                                    (if (equal (first one) (first other))
                                        (string< (second one) (second other))
                                        (name-before-p (first one) (first other))))))

(defun without-users (groups others)
  "Return GROUPS without those whose name is also the name of one of the groups OTHERS."
  (if (or (null groups) (null others))
      groups
      (let ((names (make-hash-table :test 'equal)))
        (loop for (user) in others do (setf (gethash (or (name-of user) user) names) t))
        (remove-if (lambda (group) (gethash (or (name-of (first group)) (first group)) names))
                   groups))))

(defun tell-rows (name rows kinds more possible)
  "Return two blocks of rows for the answer. The first block is for the ROWS-FUNCTIONS of ROWS, the
second for its ROWS-OTHERS and for MORE, a list of such entries. A block is a cons of a function and
a list of items. To get the row of an item, call the function with the item and a boolean that says
whether to include places. NAME is the name that is used, KINDS are the kinds of uses. POSSIBLE is
true when NAME only occurs in the data of these definitions."
  (flet ((row (group sites &optional kind text)
           (user-data group name kinds :kind kind :text text :sites (and sites (not possible))
                      :possible possible)))
    (list (cons #'row (rows-functions rows))
          (cons (lambda (other sites)
                  (destructuring-bind (shown kind group) other
                    (row group sites kind (name-text shown))))
                (sorted-others (append (rows-others rows) more))))))

(defun rows-count (blocks)
  "Return the number of rows in BLOCKS, from TELL-ROWS."
  (loop for (nil . items) in blocks sum (length items)))

(defparameter *most-places* 100 "At most this many top-level forms are sent with an answer.")

(defun outside-members (places mentions)
  "Return a plist of JSON members about top-level forms. PLACES are groups of forms that use a name,
MENTIONS are groups of forms that only have it in their data. The server finds these forms in their
files, and decides which of them count."
  (let ((all (append (mapcar (lambda (group) (user-data group nil '())) places)
                     (mapcar (lambda (group) (user-data group nil '() :possible t)) mentions))))
    (list "outside" (page all 0 *most-places*)
          "outsideCount" (and (> (length all) *most-places*) (length all)))))

(defun mention-rows (users calls name)
  "Return ROWS for USERS, functions and forms that have NAME in their data. CALLS are the ROWS of
those that use NAME: leave out USERS with a name that is also in CALLS. Also leave out forms that
still run. The form that asks this question may be one of them, and its code does not exist any more
after it has run."
  (let ((rows (rows-for (remove-if (lambda (user)
                                     (and (eq :loose (sort-of user)) (running-p (user-code user))))
                                   users)
                        name)))
    (setf (rows-functions rows) (without-users (rows-functions rows) (rows-functions calls))
          (rows-others rows)
          (remove-if (lambda (shown) (or (find shown (rows-others calls) :test #'equal :key #'first)
                                         (find shown (rows-functions calls) :test #'equal
                                               :key (lambda (group) (name-of (first group))))))
                     (rows-others rows) :key #'first)
          (rows-places rows)
          (without-users
           ;; A form that defines one of CALLS has NAME in its data for this reason.
           (different-places (mapcar #'first (rows-places rows))
                             (append (rows-functions calls) (mapcar #'third (rows-others calls)))
                             name)
           (rows-places calls)))
    rows))

(defun mentioned-rows (index target nature calls)
  "Return ROWS for the functions and forms in INDEX that have TARGET in their data and are not in
CALLS. NATURE, such as \"FUNCTION\", is the kind of definition that the question is about. If TARGET
names definitions, but none of this kind, return empty ROWS: the data refer to the other
definitions."
  (let ((natures (and (symbolp target) (natures target))))
    (if (and natures (notany (lambda (each) (search nature each)) natures))
        (make-rows)
        (mention-rows (users-of index target #b1000000) calls target))))

(defun own-p (function)
  "True when FUNCTION is SBCL's own and in no function with a name, such as a template of the
compiler."
  (let ((file (code-file (function-code function)))
        (root (root-of (simple-function-name function))))
    (and (stringp file) (eql 0 (search "SYS:" file)) (consp root) (not (plain-name-p root)))))

(defun own-users (index name)
  "Return new users for those of SBCL's own functions that call NAME and that no name reaches.
Functions that a name reaches are in INDEX."
  (let ((users '()))
    (map-functions (lambda (own function)
                     (declare (ignore own))
                     (when (and (not (noted-p index (function-code function)))
                                (own-p function)
                                (find-if (lambda (use)
                                           (and (equal name (first use)) (eq :calls (third use))))
                                         (uses-in function)))
                       (push (make-user nil :own function) users))))
    users))

(defun tell-own (index name)
  "Return a block, as TELL-ROWS does, for the OWN-USERS of NAME in INDEX."
  (cons (lambda (user sites) (user-data (list user) name '(:calls) :sites sites))
        (own-users index name)))

(defun tell-functions (name kind word users)
  "Return a block, as TELL-ROWS does, for the functions among USERS. They use the variable NAME as
KIND, one of SBCL's kinds of cross references. WORD is the word for KIND in answers."
  (cons (lambda (group sites) (user-data group name (list kind) :kind word :sites sites))
        (rows-functions (rows-for users name))))

(defun rows-data (blocks offset limit sites)
  "Return answer rows for the items of BLOCKS, from TELL-ROWS: LIMIT rows from OFFSET on. If SITES
is true, they have the places of the uses."
  (loop with offset = (or offset 0)
        for (row . items) in blocks
        for shown = (page items offset limit)
        append (mapcar (lambda (item) (funcall row item sites)) shown)
        do (setf offset (max 0 (- offset (length items)))
                 limit (- limit (length shown)))))

(defun other-members (places mentions unknown)
  "Return a plist of JSON members about PLACES and MENTIONS, groups of top-level forms, and about
possible users that the index lacks. If UNKNOWN is true, add the files that could not be read
again."
  (list* "interpreted" (and **interpreted** t)
        "unheard" (not **listening**)
        "unread" (and unknown (unread-data))
        "packages" (and (or places mentions) (other-package-names))
        (outside-members places mentions)))

(defun unrecorded-text (name)
  "If SBCL may not record uses of the function NAME, of a program, in top-level forms, return a
word: \"macro\", \"inline\", or \"slot\" for the setter of a slot, which is open-coded everywhere.
Else return NIL."
  (cond ((not (and (fboundp name) (mentioned-p (name-symbol name)))) nil)
        ((and (symbolp name) (macro-function name)) "macro")
        ((and (consp name) (consp (known :function :source-transform name))) "slot")
        ((known :function :inlining-data name) "inline")))

(defun callers-left-out (index name)
  "Return the number of groups of callers of NAME in INDEX that are left out because they are not in
the files of *WITHIN*. Return NIL if *WITHIN* is NIL."
  (when *within*
    (let ((within (users-of index name #b0100001))
          (all (let ((*within* nil)) (users-of index name #b0100001))))
      (- (length (grouped all)) (length (grouped within))))))

(defun functions-finding-names (index packages)
  "Return the functions in INDEX with names in PACKAGES, names of packages, that get symbols by
their names from INTERN, FIND-SYMBOL or the reader, sorted by name. They may call functions of these
symbols without a cross reference. Leave out macros: code with their expansions contains the symbols
itself."
  (let ((found '()))
    (dolist (finder '(intern find-symbol read read-preserving-whitespace read-from-string
                      read-delimited-list))
      (map-uses (lambda (user kind)
                  (declare (ignore kind))
                  (let* ((name (name-of user)) (symbol (if (consp name) (second name) name)))
                    (when (and symbol (symbolp symbol) (symbol-package symbol)
                               (not (and (symbolp name) (macro-function name)))
                               (member (package-name (symbol-package symbol)) packages
                                       :test #'string=)
                               (reached-p user))
                      (pushnew user found :key #'name-of :test #'equal))))
                index finder))
    (sort found #'string< :key #'shown-name)))

(defun unseen-callers (index symbol)
  "Return a plist of JSON members about FUNCTIONS-FINDING-NAMES in the packages of SYMBOL: some of
their names, and their number."
  (let ((users (functions-finding-names index (packages-with symbol))))
    (list "finding" (mapcar #'shown-name (page users 0 3))
          "findingCount" (length users))))

(define-operation "who-calls" (name package sites internals within offset limit)
  "Return the callers of NAME: LIMIT rows, from OFFSET on. Functions come first, then other callers.
With INTERNALS, SBCL's own functions follow. Last come definitions that only have NAME in their
data. WITHIN is NIL or the name of a system: only callers in its files count. Without PACKAGE, NAME
is looked up in CL-USER (contract S3.3)."
  (multiple-value-bind (target symbol setf) (named-target name package "CL-USER")
    (let ((*within* (and within (system-files within))))
      (with-index (index)
        (let* ((calls (rows-for (users-of index target #b0100001) target))
               (mentions (mentioned-rows index target (if (fboundp target) "" "FUNCTION") calls))
               (callers (tell-rows target calls '(:calls :macroexpands)
                                   (macro-uses (users-of index target #b10)) nil))
               (others (append callers (and internals (list (tell-own index target)))))
               (possible (tell-rows target mentions '() '() t))
               (unrecorded (unrecorded-text target))
               (place (and setf (not (fboundp target)) (expander :setf symbol)))
               (unseen (and (or (zerop (rows-count others)) (equal "slot" unrecorded))
                            (or place (fboundp target))
                            (mentioned-p symbol))))
          (make-json-object
           (list* "name" (name-text target)
                  "callers" (length (rows-functions calls))
                  "others" (- (rows-count others) (length (rows-functions calls)))
                  "possible" (rows-count possible)
                  "leftOut" (callers-left-out index target)
                  "natures" (if setf
                                (cond ((fboundp target) '("FUNCTION")) (place '("SETF EXPANDER")))
                                (natures-or-type symbol))
                  "kept" (json-boolean (kept-p symbol))
                  "unrecorded" (and (plusp (+ (rows-count others) (rows-count possible)))
                                    unrecorded)
                  "accessibleIn" (and (or sites unseen) (packages-with symbol))
                  "rows" (rows-data (append others possible) offset limit sites)
                  ;; If no user is certain, the server searches these files for code that ran when
                  ;; they were compiled.
                  "files" (and unseen (files-of index))
                  (append
                   (and (zerop (+ (rows-count others) (rows-count possible)))
                        (fboundp target)
                        (unseen-callers index symbol))
                   (other-members (rows-places calls) (rows-places mentions)
                                  (zerop (+ (rows-count others)
                                            (length (rows-places calls)))))))))))))

(defparameter *reference-kinds* '((:references #b100 "read") (:sets #b1000 "set")
                                  (:binds #b10000 "bind"))
  "For each use of a variable: SBCL's kind of cross reference, its bit in a mask of kinds, and the
word in answers.")

(define-operation "who-references" (name package sites offset limit)
  "Return the functions that read, set or bind the variable NAME, in this order, LIMIT rows from
OFFSET on. A function with several kinds of use has several rows. Then come other definitions that
use NAME, and last those that only have NAME in their data."
  (multiple-value-bind (target symbol setf) (named-target name package)
    (with-index (index)
      (let* ((uses (rows-for (users-of index target #b11100) target))
             (mentions (mentioned-rows index target "VARIABLE" uses))
             (functions (loop for (kind bit word) in *reference-kinds*
                              collect (tell-functions target kind word
                                                      (users-of index target bit))))
             (outside (make-rows))
             (possible '()))
        (setf (rows-others outside)
              (append (remove "structure slot" (rows-others uses) :key #'second :test #'equal)
                      (rows-others mentions))
              (rows-places outside) (append (rows-places uses) (rows-places mentions))
              (rows-places mentions) '()
              (rows-others mentions) '()
              possible (tell-rows target mentions '() '() t))
        (let ((others (tell-rows target outside (mapcar #'first *reference-kinds*) '() nil)))
          (make-json-object
           (list* "name" (name-text target)
                  "total" (rows-count (append functions others possible))
                  "natures" (and (not setf) (natures-or-type symbol))
                  "expansion" (and (not setf)
                                   (eq :macro (variable-kind symbol))
                                   (plain-text 200 (macroexpand-1 symbol)))
                  "kept" (json-boolean (kept-p symbol))
                  "accessibleIn" (and sites (packages-with symbol))
                  "rows" (rows-data (append functions others possible) offset limit sites)
                  (other-members (rows-places outside) '()
                                 (zerop (+ (rows-count (append functions others))
                                           (length (rows-places outside))))))))))))
