;;;; Finds differences between the image and the loaded files, and returns them as JSON data.
;;;; AGREEMENT collects those for the answer of a load, and COMPARISON in disk.lisp those for a
;;;; comparison. The file old-definitions.lisp finds definitions that are no longer in their file
;;;; ("old"). The file users.lisp finds code that was compiled with a former definition
;;;; ("outdated"). EVALUATION-OF and MAKER-OF also serve the operations in look/.
;;;; COMPARISON calls the functions here with **LOCK** held, so that no load is recorded meanwhile.

(in-package "LIVE-LISP.SOURCES")

(defun bounded-members (key items)
  "Return a plist for a JSON object with two members: KEY, a string, with the first
*SHOWN-ITEMS-LIMIT* of ITEMS, a list of JSON objects; and KEY with \"Total\" appended, with the
number of ITEMS. Return NIL if there are no ITEMS."
  (and items
       (list key (page items 0 *shown-items-limit*)
             (concatenate 'string key "Total") (length items))))

(defparameter *says-limit* 4000
  "The maximum number of characters shown of a variable's value in a file. The limit is high, since
perhaps only the end of the value has changed.")

(define-shape unset-variable ()
  "A variable that kept its old value when a file with its DEFVAR, or a similar form, was loaded.
  The variable was bound already, so the form did not set it."
  (name string)
  (value string "The value of the variable in the image, as printed.")
  (says string :optional
   "The value that the file gives to the variable, if it is a literal there."))

(defun unset-data (definition)
  "The variable of DEFINITION kept its value when its file was loaded. Return a JSON object with the
name of the variable, the kept value, and the value in the file. Return NIL if the program has set
the variable since the load."
  (let ((symbol (definition-name definition)) (says (definition-says definition)))
    (when (still-unset-p definition)
      (object "name" (symbol-text symbol)
              "value" (local-text (symbol-value symbol) :limit 60 :length 5)
              "says" (and (stringp says) (shortened *says-limit* says))))))

(defun listing-order (entries)
  "Return ENTRIES, a list of (DEFINITION FILE) lists, in another order. First come the definitions
that no answer has yet listed as missing from their files: FORGET-OLD with \"listed\" removes
nothing until answers have listed all."
  (append (remove-if #'listed-p entries :key #'first)
          (remove-if-not #'listed-p entries :key #'first)))

(define-shape old-item (kept-item)
  "A definition in the image that its file no longer has, or that was evaluated and is in no file.
  A load can be told to remove such definitions. If it would keep this one, the members from
  KEPT-ITEM give the reasons."
  (file string :optional "The file that had the definition; absent when it was evaluated.")
  (time integer :optional "When the definition was evaluated, in seconds since 1970.")
  (by string :optional "The beginning of the form that was evaluated."))

(defun list-as-old (entries)
  "Record in **LISTED** that an answer lists definitions as missing from their files, with the
reasons why a removal would keep them. ENTRIES is a list of (DEFINITION FILE) lists for these
definitions."
  (dolist (file (remove-duplicates (mapcar #'second entries) :test #'eq))
    (let ((unlisted (loop for (definition of) in entries
                          when (and (eq of file) (not (listed-p definition)))
                            collect definition)))
      (when unlisted
        ;; A removal takes all old definitions of a file at once, so the plan is for all of them.
        (loop with staying = (planned-staying (old-definitions file))
              for definition in unlisted
              do (setf (gethash definition **listed**)
                       (cdr (assoc definition staying :test #'eq))))))))

(defun old-members (files &key (wanted (constantly t)) more forgetting)
  "Return a plist for a JSON object about definitions that FILES no longer make, that the image
still has, and that satisfy the predicate WANTED. MORE is a list of JSON objects to append. Add the
definitions that the answer shows to **LISTED**. If FORGETTING is true, show more definitions,
beginning with those that no answer has listed yet."
  (let* ((*shown-items-limit* (if forgetting *shown-removals-limit* *shown-items-limit*))
         (entries (loop for file in files
                        append (loop for definition in (main-definitions (old-definitions file))
                                     when (funcall wanted definition)
                                       collect (list definition file))))
         (entries (if forgetting (listing-order entries) entries)))
    (list-as-old (page entries 0 *shown-items-limit*))
    (bounded-members "old" (append (loop for (definition file) in entries
                                         collect (apply #'item-data definition
                                                        "file" (source-file-path file)
                                                        (gethash definition **listed**)))
                                   more))))

(defun defines-p (file name kinds)
  "Return true if the file FILE has a definition of NAME as one of KINDS, a list such as (:MACRO
:FUNCTION)."
  (some (lambda (kind) (gethash (cons kind name) (source-file-definitions file))) kinds))

(defun outdated-of (files &optional removed)
  "Select from the result of OUTDATED-USES, and return a list of COMPILED-USE structures. A use is
selected if a file in the list FILES defines the used name or the code that uses it. It is also
selected if REMOVED, a list of definitions, has a definition of the used name."
  (flet ((concerned-p (use)
           (let* ((used (compiled-use-used use)) (user (compiled-use-user use))
                  (method (method-of (compiled-use-function use) user)))
             (or (find used removed :key #'definition-name :test #'equal)
                 (some (lambda (file)
                         (or (defines-p file used '(:macro :compiler-macro :function :constant
                                                    :symbol-macro :class))
                             (defines-p file user '(:macro :function))
                             (and method (gethash method (source-file-definitions file)))))
                       files)))))
    (remove-if-not #'concerned-p (outdated-uses))))

(define-shape doubled-method (item)
  "A method that a file defines twice."
  (file string)
  (form integer :optional "The number of the top-level form whose method replaced the other.")
  (other integer :optional "The number of the top-level form whose method was replaced."))

(defun double-data (double)
  "Return a JSON object for DOUBLE, a DOUBLED structure: a method that a load replaced because two
forms of a file define it."
  (let ((method (doubled-method double)))
    (object "kind" "method"
            "name" (method-name-text (doubled-name double) method)
            "file" (file-path (identity-file method))
            "form" (identity-form method)
            "other" (identity-form (doubled-other double)))))

(define-shape reslotted-class ()
  "A class whose slots a load changed."
  (name string)
  (new (list string) :optional "Names of the slots that the class did not have before.")
  (gone (list string) :optional "Names of the slots that the class no longer has.")
  (instances integer :optional
   "Number of instances that have not got the new slots yet. Each gets them when it is used next."))

(defun reslotted-data (change)
  "Return a JSON object for CHANGE, a RESLOTTED structure, which describes a change of the slots of
a class."
  (let ((class (reslotted-class change)))
    (object "name" (symbol-text (class-name class))
            "new" (mapcar #'symbol-text (reslotted-new change))
            "gone" (mapcar #'symbol-text (reslotted-gone change))
            "instances" (instance-count class :outdated t))))

(define-shape relaid-structure ()
  "A structure whose layout a load changed while it had instances."
  (name string)
  (taken boolean :optional
   "True if the functions of the structure still take these instances, and look for their slots at
   the new places. The restart RECKLESSLY-CONTINUE does that.")
  (instances integer :optional
   "Number of existing instances, which no function of the structure takes now. If `taken`,
   instances made since the load count, too. Absent if the heap is too large to be searched."))

(defun relaid-data (laid-out)
  "LAID-OUT is a list of LAID-OUT structures, which describe changes of layouts. Return a list of
JSON objects, one for each changed structure that may have instances with the old layout."
  (loop for structure in laid-out
        for name = (laid-out-name structure)
        for layout = (laid-out-layout structure)
        for count = (old-instance-count layout)
        unless (eql count 0)
          collect (object "name" (symbol-text name)
                          "taken" (eq layout (nil-if-unknown (classoid-layout (classoid name))))
                          "instances" count)))

(define-shape disagreement ()
  "Differences between the image and files. Loads and comparisons both report these kinds of
  differences. Each list has a limited length. Its total, such as `oldTotal` for `old`, counts all
  items."
  (old (list old-item) :optional) (old-total integer :optional)
  (unset (list unset-variable) :optional) (unset-total integer :optional)
  (outdated (list outdated-users) :optional) (outdated-total integer :optional))

(define-shape agreement (disagreement)
  "Differences between the image and the files of a load. Each list has a limited length. Its
  total, such as `oldTotal` for `old`, counts all items."
  (forgetting string :optional
   "The loaded file, if the load was asked to remove definitions that the file no longer has.")
  (doubles (list doubled-method) :optional "Methods that a file defines twice.")
  (doubles-total integer :optional) (reslotted (list reslotted-class) :optional)
  (reslotted-total integer :optional)
  (relaid (list relaid-structure) :optional) (relaid-total integer :optional)
  (gone (list gone-item) :optional
   "Definitions that were removed from the image because the file no longer has them.")
  (gone-total integer :optional)
  (left (list kept-item) :optional
   "Definitions that the file no longer has, but that were not removed.")
  (left-total integer :optional))

(defun agreement (&key forgetting tried)
  "Return a plist for a JSON object about differences between the image and the files in *LOADED*.
FORGETTING is NIL or, if the load was to remove definitions that a file no longer makes, the path of
this file. TRIED lists the DEFINITION structures that the load tried to remove. They are not listed
as old definitions, but their uses count as outdated."
  (let ((files (noted-files *loaded*)))
    (append (and forgetting (list "forgetting" forgetting))
            (bounded-members "doubles" (loop for double in (noted-doubles *loaded*)
                                             when (attached-p (doubled-method double))
                                               collect (double-data double)))
            (old-members files
                         :wanted (lambda (definition) (not (member definition tried :test #'eq)))
                         :forgetting forgetting)
            (bounded-members "unset" (remove nil (mapcar #'unset-data
                                                         (remove-duplicates
                                                          (noted-unset *loaded*)
                                                          :key #'definition-name :test #'eq))))
            (bounded-members "reslotted" (mapcar #'reslotted-data (noted-reslotted *loaded*)))
            (bounded-members "relaid" (relaid-data (noted-laid-out *loaded*)))
            (bounded-members "outdated" (outdated-data (outdated-of files tried))))))

;;; Definitions of files that the image no longer has

(defun method-now (definition)
  "Return the current method with the qualifiers and specializers of the method of DEFINITION.
Return NIL if there is none."
  (let ((function (generic-function-named (definition-name definition)))
        (method (definition-identity definition)))
    (and function
         (find-if (lambda (other) (same-method-p method other))
                  (sb-mop:generic-function-methods function)))))

(defun in-place-of (definition)
  "Return the identity, an object such as a function, of the definition that has replaced DEFINITION
in the image, or NIL if no definition has."
  (case (definition-kind definition)
    (:method (method-now definition))
    ((:export :package) nil)
    (t (identity-now (definition-kind definition) (definition-name definition)))))

(defun evaluation-of (kind name identity)
  "Return the EVALUATION structure for the definition of NAME as KIND, such as :FUNCTION, with
IDENTITY, an object such as a function. Return NIL if no evaluated form made this definition."
  (let ((evaluation (gethash (definition-key kind name identity) **evaluated**)))
    (and evaluation
         (eq (definition-identity (evaluation-definition evaluation)) identity)
         evaluation)))

(defun evaluation-members (evaluation)
  "Return a plist with \"time\", the Unix time of EVALUATION, an EVALUATION structure, and \"by\",
the beginning of the evaluated form."
  (list "time" (unix-time (evaluation-time evaluation)) "by" (evaluation-by evaluation)))

(setf **evaluation-of**
      (lambda (name &rest kinds)
        (loop with method = (and (typep name 'method) name)
              for kind in kinds
              for identity = (or method (identity-now kind name))
              for evaluation = (and identity (evaluation-of kind name identity))
              when evaluation return (make-json-object (evaluation-members evaluation)))))

(defun maker-of (name &rest kinds)
  "NAME is a name or a method, and KINDS are keywords such as :FUNCTION. Look for a definition of
NAME whose kind is one of KINDS. Return three values: the path of the file whose code made this
definition, the number of the top-level form that ran this code, and the defined object. An unknown
value is NIL. The backend calls this function as **MAKER-OF**."
  (loop for file being the hash-values of **files**
        do (loop for kind in kinds
                 ;; The key of a method is the method, so NAME is the third argument, too.
                 for definition = (gethash (definition-key kind name name)
                                           (source-file-definitions file))
                 when (and definition (current-p definition))
                   do (return-from maker-of
                        (values (source-file-path file)
                                (and (not (not-made-again-p definition file))
                                     (definition-number definition))
                                (definition-identity definition))))))

(setf **maker-of** #'maker-of)

(define-shape difference (item)
  "A definition in a file for which the image has another definition or none."
  (file string)
  (at integer :optional "Number of the top-level form in the file.")
  (missing boolean :optional "True when the image has no such definition.")
  (other string :optional "The other file whose load made the definition in the image.")
  (time integer :optional
   "When the image's definition was evaluated instead, in seconds since 1970.")
  (by string :optional "The beginning of the form that was evaluated instead."))

(defun differing-data (definition file)
  "Return a JSON object about the difference between the image and DEFINITION, which the last load
of the file FILE made. Return NIL if the image still has DEFINITION. Also return NIL if
DEFINITION defines a generic function and its name has another definition now, or if the same load
made the other definition."
  (unless (current-p definition)
    (let* ((now (in-place-of definition))
           (evaluation (and now (evaluation-of (definition-kind definition)
                                               (definition-name definition) now)))
           (other (and now (not evaluation) (identity-file now)))
           (path (and other (file-path other)))
           (other-file (and path (gethash path **files**))))
      ;; The lost methods of a generic function are listed in its place.
      (cond ((and (typep (definition-identity definition) 'generic-function) now) nil)
            ;; The same load made DEFINITION and later replaced it.
            ((and other-file (= (source-file-serial other-file) (source-file-serial file))) nil)
            (t (apply #'item-data definition
                      "file" (source-file-path file)
                      "at" (definition-number definition)
                      "missing" (and (null now) t)
                      "other" path
                      (and evaluation (evaluation-members evaluation))))))))

(defun differing (file wanted)
  "Return a list of JSON objects for the definitions that the last load of the file FILE made and
the image no longer has. Include only definitions that satisfy the predicate WANTED."
  (flet ((made-last-p (definition)
           ;; The definition has a greater number than FILE after a load that has failed.
           (>= (definition-serial definition) (source-file-serial file))))
    ;; The serial of a file is 0 if none of its loads ended normally.
    (unless (zerop (source-file-serial file))
      (loop for definition in (main-definitions
                               (sort-definitions
                                (definitions-if (lambda (definition)
                                                  (and (made-last-p definition)
                                                       (funcall wanted definition)
                                                       (not (current-p definition))))
                                                file)))
            for data = (differing-data definition file)
            when data collect data))))

(defun unset-in (file wanted)
  "Return a list of JSON objects for variables of the file FILE that kept their values when FILE was
loaded, although FILE gives other values. A DEFVAR, for example, leaves the old value. Include only
variables whose definitions satisfy the predicate WANTED."
  (let ((unset (definitions-if (lambda (definition)
                                 (and (definition-says definition)
                                      (funcall wanted definition)
                                      (current-p definition)))
                               file)))
    (remove nil (mapcar #'unset-data (sort-definitions unset)))))

(defun unset-below (root)
  "Return a plist for a JSON object about the variables that kept their values in the loads of files
below the folder ROOT, although these files give other values."
  (bounded-members "unset"
                   (sb-thread:with-mutex (**lock**)
                     (loop for file being the hash-values of **files**
                           when (starts-p (source-file-path file) root)
                             append (unset-in file (constantly t))))))

(defun in-a-file-p (definition)
  "Return true if a loaded file has a definition with the same key as DEFINITION, such as the same
kind and name."
  (loop with key = (key-of definition)
        for file being the hash-values of **files**
          thereis (gethash key (source-file-definitions file))))

(defun overrides-p (definition)
  "Return true if the method of DEFINITION has replaced a method that a loaded file defines."
  (loop with method = (definition-identity definition)
        for file being the hash-values of **files**
          thereis (loop for other being the hash-values of (source-file-definitions file)
                          thereis (and (eq (definition-kind other) :method)
                                       (equal (definition-name other) (definition-name definition))
                                       (same-method-p method (definition-identity other))))))

(defun evaluated-only (packages)
  "Return a list of JSON objects, one for each definition that an evaluated form made and that is in
no loaded file. Consider only names whose home package is in the list PACKAGES."
  (let ((found '()))
    (sb-ext:with-locked-hash-table (**evaluated**)
      (loop for evaluation being the hash-values of **evaluated**
            for definition = (evaluation-definition evaluation)
            for symbol = (name-symbol (definition-name definition))
            when (and (symbolp symbol)
                      (member (symbol-package symbol) packages :test #'eq)
                      ;; Otherwise the answer could not say which form made it.
                      (evaluation-by evaluation)
                      (current-p definition)
                      ;; The methods of a generic function are listed instead of it.
                      (null (methods-of-definition definition))
                      (not (in-a-file-p definition))
                      (not (and (eq (definition-kind definition) :method)
                                (overrides-p definition))))
              collect definition into definitions
            finally (setf found definitions)))
    (loop for definition in (main-definitions (sort-definitions found))
          collect (apply #'item-data definition
                         (evaluation-members
                          (gethash (key-of definition) **evaluated**))))))
