;;;; Defines the operation class-slots, which returns the own and the inherited slots of a class.
;;;; Nothing here finalizes a class: for a class that is not finalized, the direct slots of the
;;;; class and of its superclasses are combined.

(in-package "LIVE-LISP.LOOK")

(defun no-class (symbol)
  "End the operation with the error that SYMBOL names no class. The error answer lists the kinds of
definitions that SYMBOL has."
  (fail-lookup "failure" "no-class"
               "class" (symbol-text symbol)
               "natures" (append (natures symbol)
                                 (cond ((typed-structure symbol) '("TYPED STRUCTURE"))
                                       ((type-name-p symbol) '("TYPE"))))))

(defun named-class (text package-name)
  "Return the class that TEXT names. Without a package prefix in TEXT, look in the package
PACKAGE-NAME. If there is no such class, end the operation with an error answer."
  (let ((symbol (named-symbol text package-name)))
    (or (find-class symbol nil) (no-class symbol))))

(defun forward-referenced-p (class)
  "Return true if CLASS is not defined, but only named as a superclass of another class."
  (typep class 'sb-mop:forward-referenced-class))

(define-shape class-head ()
  "A class."
  (name string)
  (proper-name string :optional "The proper name of the class, when it differs from `name`.")
  (kind string) (finalized boolean))

(defun class-head (class symbol)
  "Return a plist for a JSON object about CLASS: its name, its kind, and true if it is finalized.
SYMBOL is the name by which CLASS was found. If the CLASS-NAME of CLASS is another symbol,
\"properName\" has this symbol."
  (list "name" (symbol-text symbol)
        "properName" (let ((name (class-text class)))
                       (and (string/= name (symbol-text symbol)) name))
        "kind" (class-nature class)
        "finalized" (json-boolean (sb-mop:class-finalized-p class))))

(defun ancestors (class)
  "Return CLASS and all its superclasses: the precedence list of a finalized class, else a list in
which each class precedes its superclasses."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (let ((found '()))
        (labels ((visit (class)
                   (unless (member class found)
                     (mapc #'visit (reverse (sb-mop:class-direct-superclasses class)))
                     (push class found))))
          (visit class))
        found)))

;;; Accessors of structures, and documentation of slots of conditions. The MOP's slot definitions of
;;; structure classes and condition classes lack this information, so SBCL's own records are read.

(defun structure-description (class)
  "Return SBCL's DEFSTRUCT description of CLASS, or NIL if CLASS is no structure class."
  (and (typep class 'structure-class)
       (defstruct-description (class-name class) nil)))

(defun structure-functions (description)
  "DESCRIPTION is SBCL's description of a structure. Return a list of the names of the functions
that DEFSTRUCT makes for this structure."
  (remove nil (append (loop for slot in (description-slots description)
                            for accessor = (structure-slot-accessor slot)
                            when accessor collect accessor and collect (list 'setf accessor))
                      (list (description-copier description) (description-predicate description))
                      (mapcar #'first (description-constructors description)))))

(defun structure-accessor (class name)
  "Return two values: the accessor that DEFSTRUCT made for the slot NAME of the structure CLASS, and
true if the slot is read-only. The accessor is NIL if there is none."
  (let* ((description (structure-description class))
         (slot (and description
                    (find name (description-slots description)
                          :key (lambda (slot) (structure-slot-name slot))))))
    (when slot
      (values (structure-slot-accessor slot)
              (structure-slot-read-only-p slot)))))

(defun condition-slot-documentation (class name)
  "Return the documentation of the slot NAME in the DEFINE-CONDITION of CLASS, or NIL."
  (let ((slot (find name (classoid-slots (classoid (class-name class)))
                    :key (lambda (slot) (condition-slot-name slot)))))
    (and slot (condition-slot-text slot))))

(defun slot-documentation (class slot)
  "Return the documentation of SLOT, a direct slot of CLASS, or NIL."
  (let ((text (cond ((condition-class-p class)
                     (nil-if-unknown
                       (condition-slot-documentation class (sb-mop:slot-definition-name slot))))
                    ((typep class 'structure-class) nil)
                    (t (nil-if-program-fails (documentation slot t))))))
    (and (stringp text) (shortened 1000 text))))

(defun slot-functions (classes name)
  "Return two lists without duplicates: the names of the readers and of the writers of the slot NAME
in CLASSES. Both lists are in the order of CLASSES."
  (let ((readers '()) (writers '()))
    (dolist (class classes)
      (multiple-value-bind (accessor read-only) (structure-accessor class name)
        (when accessor
          (push accessor readers)
          (unless read-only (push (list 'setf accessor) writers))))
      (unless (typep class 'structure-class)
        (dolist (slot (sb-mop:class-direct-slots class))
          (when (eq name (sb-mop:slot-definition-name slot))
            (setf readers (revappend (sb-mop:slot-definition-readers slot) readers)
                  writers (revappend (sb-mop:slot-definition-writers slot) writers))))))
    (values (remove-duplicates (nreverse readers) :from-end t)
            (remove-duplicates (nreverse writers) :test #'equal :from-end t))))

;;; Slots

(defun definers (name classes)
  "Return a list of (CLASS . SLOT) pairs, one for each of CLASSES that has a direct slot NAME. SLOT
is the direct slot definition."
  (loop for class in classes
        for slot = (find name (sb-mop:class-direct-slots class) :key #'sb-mop:slot-definition-name)
        when slot collect (cons class slot)))

(defun initform-text (initform)
  "Return the form INITFORM as one line of text, without the quote that DEFINE-CONDITION puts even
before self-evaluating objects."
  (let ((form (if (typep initform
                         '(cons (eql quote)
                           (cons (or boolean keyword number string character) null)))
                  (second initform)
                  initform)))
    (printing-code
      (let ((*print-length* 20) (*print-level* 6))
        ;; With IDENTITY, COPIED-CODE only shortens the form.
        (code-text 300 (lambda (form) (copied-code #'identity form)) form)))))

(defun function-names (names)
  "Return a list of strings for NAMES, a list of function names."
  (mapcar #'name-text names))

(defun slot-initform (slots)
  "Return two values: the first initform among SLOTS, a list of slot definitions, and true if there
is one."
  (let ((slot (find-if #'sb-mop:slot-definition-initfunction slots)))
    (values (and slot (sb-mop:slot-definition-initform slot)) (and slot t))))

(define-shape slot-data ()
  "A slot of a class."
  (name string) (direct boolean :optional)
  (definers (list string) :optional "The classes that define the slot, most specific first.")
  (initargs (list string) :optional) (initform string :optional) (type string :optional)
  (readers (list string) :optional) (writers (list string) :optional)
  (allocation string :optional) (documentation string :optional))

(defun slot-data (name effective class classes)
  "Return a JSON object about the slot NAME of CLASS. CLASSES are CLASS and its superclasses.
EFFECTIVE is the effective slot definition, or NIL if CLASS is not finalized. In that case the
direct slot definitions in CLASSES are combined."
  (let* ((definers (definers name classes))
         (slots (if effective (list effective) (mapcar #'cdr definers)))
         (type (first (remove t (mapcar #'sb-mop:slot-definition-type slots))))
         (initargs (remove-duplicates (mapcan (lambda (slot)
                                                (copy-list (sb-mop:slot-definition-initargs slot)))
                                              slots)))
         (allocation (sb-mop:slot-definition-allocation (first slots))))
    (multiple-value-bind (initform given) (slot-initform slots)
      (multiple-value-bind (readers writers) (slot-functions classes name)
        (object "name" (symbol-text name)
                "direct" (eq class (car (first definers)))
                "definers" (loop for (definer) in definers collect (class-text definer))
                "initargs" (loop for initarg in initargs collect (plain-text 100 initarg))
                "initform" (and given (initform-text initform))
                "type" (and type (plain-text 300 type))
                "readers" (function-names readers)
                "writers" (function-names writers)
                "allocation" (and (not (eq allocation :instance)) (plain-text 100 allocation))
                "documentation" (loop for (definer . direct) in definers
                                      thereis (slot-documentation definer direct)))))))

(defun slots-data (class classes)
  "Return two lists of JSON objects: the direct slots of CLASS, and its inherited slots. CLASSES are
CLASS and its superclasses."
  (let* ((effective (and (sb-mop:class-finalized-p class) (sb-mop:class-slots class)))
         (names (remove-duplicates
                 (append (mapcar #'sb-mop:slot-definition-name effective)
                         (loop for each in classes
                               append (mapcar #'sb-mop:slot-definition-name
                                              (sb-mop:class-direct-slots each))))
                 :from-end t))
         (own (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class))))
    (flet ((data (names)
             (loop for name in names
                   for slot = (find name effective :key #'sb-mop:slot-definition-name)
                   collect (slot-data name slot class classes))))
      (values (data (remove-if-not (lambda (name) (member name own)) names))
              (data (remove-if (lambda (name) (member name own)) names))))))

(defun direct-default-initargs (class)
  "Return the default initargs that the definition of CLASS itself has. Return NIL if finding them
signals an error: for a metaclass of the program, this can run a method of the program."
  (nil-if-program-fails (sb-mop:class-direct-default-initargs class)))

(defun default-initargs (classes)
  "Return the default initargs of CLASSES as a list of (INITARG FORM) lists of strings. CLASSES are
ordered from most to least specific. If several of them give the same initarg, the first one wins."
  (remove-duplicates
   (loop for class in classes
         append (loop for (key form) in (direct-default-initargs class)
                      collect (list (plain-text 100 key) (initform-text form))))
   :key #'first :test #'string= :from-end t))

(defun constructors (class)
  "Return a list of texts, each the name and lambda list of a constructor of the structure CLASS."
  (let ((description (structure-description class)))
    (when description
      ;; If the DEFSTRUCT failed half-way, SBCL has recorded constructors that it has not defined.
      (loop for (name) in (description-constructors description)
            when (fboundp name)
              collect (call-text name)))))

(define-shape class-slots-data (class-head)
  "A class and its slots."
  (missing (list string) :optional "Superclasses that are named but not defined.")
  (documentation string :optional) (default-initargs (list (tuple string string)) :optional)
  (constructors (list string) :optional) (direct integer) (inherited integer)
  (slots (list slot-data) :optional))

(define-operation ("class-slots" :gives (or class-slots-data lookup-failure))
    (name package offset limit)
  "Return a class with its slots: direct slots first, then inherited slots."
  (let* ((class (named-class name package)) (symbol (named-symbol name package)))
    (call-user-code
     (lambda ()
       (let ((classes (if (forward-referenced-p class)
                          '()
                          (remove-if #'forward-referenced-p (ancestors class)))))
         (multiple-value-bind (own inherited) (and classes (slots-data class classes))
           (make-json-object
            (append (class-head class symbol)
                    (list "missing" (mapcar #'class-text
                                            (remove-if-not #'forward-referenced-p
                                                           (rest (ancestors class))))
                          "documentation" (doc-text symbol 'type)
                          "defaultInitargs" (default-initargs classes)
                          "constructors" (constructors class)
                          "direct" (length own)
                          "inherited" (length inherited)
                          "slots" (page (append own inherited) offset limit))))))))))
