;;;; LIVE-LISP:FORGET removes definitions that were only evaluated, and the entries with which the
;;;; program has registered them: elements of lists, values in hash tables and properties. No record
;;;; of entries is made when a form is evaluated. An entry is recognized by its contents: it refers
;;;; to definitions that are to be removed, and to none that stay (ENTRY-P).
;;;;
;;;; In this file, REMOVED is the list of the definitions that are to be removed, and REMOVED-P a
;;;; predicate for the objects of these definitions (REFERRING-P-TO).

(in-package "LIVE-LISP.SOURCES")

(defun evaluated-definitions ()
  "Return a list of the definitions that evaluated forms made, and that the image still has."
  (sb-ext:with-locked-hash-table (**evaluated**)
    (loop for evaluation being the hash-values of **evaluated**
          for definition = (evaluation-definition evaluation)
          when (current-p definition) collect definition)))

(defun of-names-p (definition names)
  "NAMES is a list of function names and, for packages, keywords. Return true if DEFINITION has one
of NAMES, is a method for a class with such a name, or is a package that a keyword in NAMES names."
  (or (member (definition-name definition) names :test #'equal)
      (and (eq (definition-kind definition) :package)
           (find (definition-name definition) (remove-if-not #'keywordp names) :test #'string=))
      (and (eq (definition-kind definition) :method)
           (loop for specializer in (sb-mop:method-specializers (definition-identity definition))
                   thereis (and (typep specializer 'class)
                                (member (class-name specializer) names))))))

(defun forgettable (names)
  "Return two lists of those definitions of NAMES that evaluated forms have made. The first has the
definitions that are in no file, and their parts. The second has the definitions that have replaced
a definition from a file. NAMES is a list as OF-NAMES-P takes it."
  (let* ((all (evaluated-definitions))
         (named (remove-if-not (lambda (definition) (of-names-p definition names)) all))
         (replacing (remove-if-not (lambda (definition)
                                     (or (in-a-file-p definition)
                                         (and (eq (definition-kind definition) :method)
                                              (overrides-p definition))))
                                   named))
         (own (set-difference named replacing)))
    (values (append own (parts-of own (set-difference all named))) replacing)))

;;; What still refers to the definitions that are to be removed

(defun bare-symbols (removed)
  "REMOVED is a list of definitions to be removed. Return a list of the symbols that then have no
definition any more."
  (flet ((bare-p (symbol)
           (map-definitions (lambda (kind name identity)
                              (unless (find (definition-key kind name identity) removed
                                            :key #'key-of :test #'equal)
                                (return-from bare-p nil)))
                            symbol)
           t))
    (remove-if-not #'bare-p
                   (remove-duplicates
                    (loop for definition in removed
                          for symbol = (name-symbol (definition-name definition))
                          when (symbolp symbol) collect symbol)))))

(defun referring-p-to (removed)
  "REMOVED is a list of definitions to be removed. Return a predicate that is true of three kinds of
objects: the functions, methods and classes that REMOVED defines; the instances of these classes;
and the symbols that have no other definition (BARE-SYMBOLS)."
  (let* ((symbols (bare-symbols removed))
         (classes (loop for definition in removed
                        for class = (and (eq (definition-kind definition) :class)
                                         (find-class (definition-name definition) nil))
                        when class collect class))
         (others (loop for definition in removed
                       for name = (definition-name definition)
                       when (eq (definition-kind definition) :function)
                         collect (plain-definition name)
                       else when (eq (definition-kind definition) :method)
                         collect (definition-identity definition))))
    (lambda (object)
      (or (member object symbols :test #'eq) (member object classes :test #'eq)
          (member object others :test #'eq) (member (class-of object) classes :test #'eq)))))

(defparameter *entry-parts* 200
  "The maximum number of parts that ENTRY-P examines. It returns NIL for an object with more
parts.")

(defun entry-p (object removed-p)
  "Return true if only removed definitions need OBJECT, an entry of a list or of a table. This is so
if OBJECT refers to a removed object, for which the predicate REMOVED-P is true, and to no symbol of
the program that still has a definition."
  (let ((left (list object)) (found nil))
    (loop repeat *entry-parts*
          while left
          do (let ((part (pop left)))
               (cond ((funcall removed-p part) (setf found t))
                     ((symbolp part)
                      (when (and (program-symbol-p part) (defined-p part))
                        (return-from entry-p nil)))
                     ((consp part) (push (cdr part) left) (push (car part) left))
                     ((typep part 'class) (push (class-name part) left))
                     (t (when (functionp part) (push (plain-function-name part) left))
                        (map-parts (lambda (inner) (push inner left)) part)))))
    (and found (null left))))

;;; Removing the entries

(defun list-without (list removed-p)
  "Return two values: LIST without the elements that only removed definitions need, and a list of
texts for these elements. REMOVED-P is a predicate for removed definitions, as in ENTRY-P. Take
nothing out of a property list."
  (let ((length (proper-length list)))
    (if (or (null length)
            (and (evenp length) (loop for (key) on list by #'cddr always (keywordp key))))
        (values list '())
        (loop for element in list
              if (entry-p element removed-p)
                collect (local-text element) into texts
              else collect element into kept
              finally (return (values kept texts))))))

(defun trim-table (table removed-p)
  "Remove entries from the hash table TABLE, and return a list of texts for the removed entries. The
predicate REMOVED-P is true of removed objects, as in ENTRY-P. Remove an entry if its key is a
removed object. Remove an entry also if only removed definitions need its value (ENTRY-P), unless
its key is a symbol that still has a definition: a removed definition may only have replaced an
older value of this key."
  (loop for (key . value) in (let ((pairs '()))
                               (maphash (lambda (key value) (push (cons key value) pairs)) table)
                               (nreverse pairs))
        when (or (funcall removed-p key)
                 (and (not (and (symbolp key) (program-symbol-p key) (defined-p key)))
                      (entry-p value removed-p)))
          collect (progn (remhash key table) (format nil "entry ~A" (local-text key)))))

(defun map-places (visit object)
  "If OBJECT has entries or slots, call the function VISIT for each of them with two arguments: the
value, and a function that sets the value. Otherwise call VISIT with each object to which OBJECT
refers directly, and with NIL."
  (let ((slots (and (user-instance-p object) (inner-slots object))))
    (cond ((hash-table-p object)
           (maphash (lambda (key value)
                      (funcall visit value (lambda (new) (setf (gethash key object) new))))
                    object))
          (slots (loop for (name . value) in slots
                       do (let ((name name))
                            (funcall visit value
                                     (lambda (new) (setf (slot-value object name) new))))))
          (t (map-parts (lambda (part) (funcall visit part nil)) object)))))

(defun trim-object (object set removed-p)
  "If OBJECT is a list, a hash table or a vector with a fill pointer, remove the entries that are
needed only by definitions that satisfy the predicate REMOVED-P (see ENTRY-P). SET is a function
that stores a new value in the place that holds OBJECT: a variable, a slot, or the value in an entry
of a hash table. If OBJECT was found elsewhere, SET is NIL, and a list stays as it is. Return two
values: OBJECT or the shorter list that replaces OBJECT, and a list of texts for the removed
entries."
  (cond ((hash-table-p object) (values object (trim-table object removed-p)))
        ;; Do not shorten a list inside another list. It can be a record, in which the position of
        ;; an element has a meaning. SET is NIL for such a list.
        ((and (consp object) set)
         (multiple-value-bind (kept gone) (list-without object removed-p)
           (when gone (funcall set kept))
           (values kept gone)))
        ((and (vectorp object) (array-has-fill-pointer-p object))
         (multiple-value-bind (kept gone) (list-without (coerce object 'list) removed-p)
           (when gone
             (fill (replace object kept) nil :start (length kept))
             (setf (fill-pointer object) (length kept)))
           (values object gone)))
        (t object)))

(defun trim-value (value set removed-p seen)
  "Look at the lists, hash tables and vectors that can be reached from VALUE. Remove from them each
entry that only removed definitions need, as ENTRY-P decides by the predicate REMOVED-P. SET is a
function that stores a new value in the place that holds VALUE. SEEN is an EQ hash table with the
objects already examined as keys. Return a list of texts for the removed entries."
  (loop with left = (list (list value set))
        while (and left (< (hash-table-count seen) *most-parts*))
        append (destructuring-bind (object set) (pop left)
                 (unless (or (typep object '(or symbol number character string))
                             (gethash object seen))
                   (setf (gethash object seen) t)
                   (multiple-value-bind (kept gone) (trim-object object set removed-p)
                     (map-places (lambda (&rest place) (push place left)) kept)
                     gone)))))

(defun trim-plist (symbol removed-p)
  "Remove the properties of SYMBOL that belong only to removed definitions: those whose value
satisfies ENTRY-P with the predicate REMOVED-P. If SYMBOL itself satisfies REMOVED-P, remove all its
properties. Return a list of the removed indicators as texts."
  (loop for (key value) on (copy-list (symbol-plist symbol)) by #'cddr
        when (or (funcall removed-p symbol) (entry-p value removed-p))
          collect (progn (remprop symbol key) (local-text key))))

(defparameter *too-many-parts*
  "The values of variables are too large to search, so they may still refer to it."
  "The line of an answer for a search that stopped at *MOST-PARTS* objects.")

(defun trim-program (removed-p)
  "Some entries of lists, hash tables, vectors and property lists are needed only by definitions
that satisfy the predicate REMOVED-P (see ENTRY-P). Remove these entries from property lists and
from the values of the program's variables. Return a list of lines about the removed entries, one
for each variable or property list. Append a line if the search stopped early because the values are
too large."
  (let ((seen (make-hash-table :test 'eq)) (lines '()))
    (flet ((note (symbol format texts)
             (when texts (push (format nil format (symbol-text symbol) texts) lines))))
      (map-program-symbols
       (lambda (symbol)
         (when (and (boundp symbol) (not (constantp symbol)))
           (note symbol "Removed from ~A: ~{~A~^, ~}."
                 (trim-value (global-value-of symbol)
                             (lambda (new) (setf (sb-ext:symbol-global-value symbol) new))
                             removed-p seen)))
         (note symbol "Removed from the property list of ~A: ~{~A~^, ~}."
               (trim-plist symbol removed-p)))))
    (let ((too-many-p (>= (hash-table-count seen) *most-parts*)))
      ;; Empty the table: a pointer to the table can stay on the stack, and the instances in the
      ;; table would then be counted as still in use.
      (clrhash seen)
      (append (sort lines #'string<) (and too-many-p (list *too-many-parts*))))))

;;; Removing the definitions

(defun remaining-needs (definition removed)
  "Return a list of texts for the code and objects that need DEFINITION and so prevent its removal.
REMOVED lists all definitions that are to be removed."
  ;; The second value of NEEDS and NEEDED-BY-CODE is a list of top-level forms. It is ignored,
  ;; because top-level forms do not prevent the removal.
  (case (definition-kind definition)
    ;; For a variable, do not call NEEDS. It would also return the evaluated form that set the
    ;; variable, but the effects of this form are just what shall be undone.
    (:variable (needed-by-code (list (definition-name definition)) removed))
    (t (needs definition removed))))

(defun remove-definitions (definitions)
  "Remove DEFINITIONS from the image. But keep each definition that something needs, and its parts,
such as the accessors of a class. Return two lists: the removed definitions, and lines of text about
the definitions that stay."
  (let ((gone '()) (lines '()))
    (map-removal-steps
     (lambda (step removed)
       (let* ((needs (loop for definition in step
                           for texts = (remaining-needs definition removed)
                           when texts collect (cons definition texts)))
              (stay (mapcar #'car needs))
              (leaving (set-difference step (append stay (parts-of stay step)))))
         (dolist (definition (stable-sort (copy-list leaving) #'< :key #'forget-order))
           (forget-definition definition))
         (setf gone (append leaving gone))
         (loop for (definition . texts) in needs
               do (push (format nil "Not removed: ~A, because of ~{~A~^, ~}."
                                (definition-text definition) (page texts 0 3))
                        lines))))
     definitions)
    (values gone (nreverse lines))))

(defun referring-lines (symbols)
  "Return a list of lines about the variables and property lists that still refer to one of SYMBOLS.
VALUES-WITH throws to TOO-MANY-PARTS if the values are too large to search."
  (catch 'too-many-parts
    (return-from referring-lines
      (loop for text in (values-with (lambda (symbol) (member symbol symbols)))
            collect (format nil "Still refers to it: ~A." text))))
  (list *too-many-parts*))

(defun untrace-names (names)
  "Untrace those functions of NAMES that are traced. Return a list with a line about these
functions, or NIL if there are none."
  (let* ((all (trace))
         (traced (remove-if-not (lambda (name) (member name all :test #'equal)) names)))
    (when traced
      (eval `(untrace ,@traced))
      (list (format nil "No longer traced: ~{~A~^, ~}." (mapcar #'function-name-text traced))))))

(defun wrapped-lines (names)
  "Return a list with a line about the functions of NAMES that the program has wrapped, or NIL if
there are none."
  (let ((wrapped (remove-if-not #'program-wrapped-p names)))
    (and wrapped
         (list (format nil "Still wrapped: ~{~A~^, ~}. To unwrap one, call SB-INT:UNENCAPSULATE ~
                            with the name and type given to SB-INT:ENCAPSULATE."
                       (mapcar #'function-name-text wrapped))))))

(defun forgotten-lines (names)
  "Remove the evaluated definitions of NAMES, and the entries of lists and hash tables that refer to
these definitions. Return a list of lines about the definitions and entries that were removed, and
about those that were not."
  (multiple-value-bind (removed replacing) (forgettable names)
    ;; A class with instances is not removed. The last values of the REPL may contain an instance,
    ;; since the form that made an instance often returned it.
    (when (find :class removed :key #'definition-kind) (drop-last-values))
    (let* ((removed-p (referring-p-to removed)) (symbols (bare-symbols removed))
           (texts (loop for definition in (sort-definitions (main-definitions removed))
                        collect (cons definition (definition-text definition))))
           (unknown (remove-if (lambda (name)
                                 (find-if (lambda (definition) (of-names-p definition (list name)))
                                          (append removed replacing)))
                               names))
           ;; Before REMOVE-DEFINITIONS, since an instance in a table would keep its class.
           (trimmed (and removed (trim-program removed-p)))
           (untraced (untrace-names names)))
      (multiple-value-bind (gone kept) (remove-definitions removed)
        (append
         (and gone
              (list (format nil "Removed: ~{~A~^; ~}."
                            (loop for (definition . text) in texts
                                  when (member definition gone :test #'eq) collect text))))
         (and unknown
              (list (format nil "Nothing was removed for ~{~A~^, ~}: no finished call evaluated ~
                                 a definition of that name."
                            (mapcar #'function-name-text unknown))))
         trimmed
         untraced
         kept
         (loop for definition in (sort-definitions replacing)
               collect (format nil "Not removed: ~A, which replaced a definition from a file. To ~
                                    restore the file's definition, call load_file with the file."
                               (definition-text definition)))
         (wrapped-lines names)
         (and symbols (referring-lines symbols))
         (and removed
              (list (format nil "Only the variables and property lists of the program were ~
                                 searched. Other effects of the evaluated forms remain."))))))))

(defun live-lisp:forget (name &rest names)
  "Remove the definitions of NAME and NAMES, symbols or lists (SETF symbol), that evaluated forms
made and no file has, and untrace their functions. Also remove the entries for the definitions from
the lists and hash tables in the values of variables. Print what was removed and what was not."
  (let* ((names (cons name names))
         (wrong (find-if-not (lambda (name) (typep name 'program-name)) names)))
    (when wrong
      (error "LIVE-LISP:FORGET takes symbols such as 'f and lists such as '(setf f), but not ~S. ~
              Nothing was removed."
             wrong))
    ;; FORGOTTEN-LINES searches the values of variables twice. If both searches stop early, the list
    ;; has *TOO-MANY-PARTS* twice.
    (format t "~{~A~%~}" (remove-duplicates (forgotten-lines names) :test #'eq))
    (values)))
