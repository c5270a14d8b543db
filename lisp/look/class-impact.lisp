;;;; Finds the effects of a change of a class: on its subclasses, on its instances, on the functions
;;;; that its definition makes, and on the initargs that instances accept.

(in-package "LIVE-LISP.LOOK")

(define-shape class-function ()
  "A function that belongs to a class or structure, named PACKAGE::NAME: an accessor of its own
  slot, a constructor, a copier or a predicate."
  (name string)
  (kept boolean :optional
   "True when the function also has methods for other classes, so that it would still exist if this
   class were removed.")
  (slot string :optional
   "For an accessor of a substructure: the slot of the included structure that it accesses.")
  (below boolean :optional
   "True for a constructor that belongs to a substructure and takes the slots as keyword
arguments.")
  (arglist string :optional))

(define-shape class-initargs ()
  "A class that may accept fewer initargs after the change. `defaults` lists the initargs for which
the class itself has default values."
  (name string)
  (homes (list string) "Names of the packages in which the name of the class is accessible.")
  (initargs (list string)
   "Initargs that the class may no longer accept: only slots of the changed class, or superclasses
that are lost, make it accept them.")
  (defaults (list string) :optional) (place place))

(defun class-place (class)
  "Return a JSON object with the name of CLASS and, if SBCL has recorded it, the source location of
its definition."
  (or (place-data (introspect "FIND-DEFINITION-SOURCE" class) (class-text class))
      (object "description" (class-text class))))

(defun prototypes (classes)
  "Return a hash table whose keys are the prototypes of CLASSES, a list of classes. A prototype is
an instance of a class that SBCL makes for its own use (CLASS-PROTOTYPE)."
  (let ((table (make-hash-table :test 'eq)))
    (dolist (each classes table)
      (when (sb-mop:class-finalized-p each)
        (setf (gethash (nil-if-program-fails (sb-mop:class-prototype each)) table) t)))))

(defun instance-p (object)
  "Return true if OBJECT is an instance of a standard class, funcallable standard class, structure
class or condition class. Do not call TYPEP with OBJECT itself: if its class was redefined, TYPEP
would update OBJECT, and so call methods of the program."
  (typep (class-of object) '(or standard-class structure-class condition-class
                             sb-mop:funcallable-standard-class)))

(defun user-instance-p (object)
  "Return true if OBJECT is an instance of a class of the program."
  (and (instance-p object)
       (let ((name (class-name (class-of object)))) (and (symbolp name) (program-symbol-p name)))))

(defun map-parts (visit object)
  "Call the function VISIT with each object to which OBJECT refers directly. OBJECT is data or code
of the program. Do nothing if OBJECT is a symbol, number, string, or an instance of one of SBCL's
own classes, such as a class or stream."
  (typecase object
    (symbol)
    (code (map-constants visit object))
    (cell (funcall visit (name-symbol (cell-name object))))
    ((or number string character))
    (t (when (or (hash-table-p object) (not (instance-p object)) (user-instance-p object))
         (introspect "MAP-ROOT" visit object)))))

(defun walk-heap (visit)
  "Call the function VISIT with three arguments for each object in the heap: the object, SBCL's type
code and the size in octets. VISIT must not allocate memory. Return true. If *SEARCHED-HEAP* octets
or more are in use, the walk would take too long, so call nothing and return NIL."
  (let ((function (contrib-function "SB-VM" "MAP-ALLOCATED-OBJECTS")))
    (when (and function (< (heap-usage) *searched-heap*))
      (funcall function visit :dynamic)
      t)))

(defun count-with-garbage (wanted)
  "Return the number of instances in the heap that satisfy the predicate WANTED, including instances
that are garbage. Return NIL if the heap is too large for WALK-HEAP."
  (let ((count 0))
    (when (walk-heap (lambda (object type size)
                       (declare (ignore type size))
                       ;; Skip the most frequent objects quickly. They are no instances, and for
                       ;; these types TYPEP updates no instance either.
                       (when (and (not (typep object '(or cons number array symbol)))
                                  (instance-p object)
                                  (funcall wanted object))
                         (incf count))))
      count)))

(defun count-objects (wanted)
  "Return the number of instances in the heap that satisfy the predicate WANTED, or NIL if the heap
is too large for WALK-HEAP. If some satisfy WANTED, collect garbage and count again, since garbage
must not count. WANTED must not call TYPEP, which can update an obsolete instance."
  (let ((count (count-with-garbage wanted)))
    (cond ((or (null count) (zerop count)) count)
          (t (clear-stack)
             (sb-ext:gc :full t)
             (count-with-garbage wanted)))))

(defun instance-count (class &key outdated)
  "Return the number of instances of CLASS and its subclasses in the heap, without prototypes. If
OUTDATED is true, count only instances that SBCL has not yet updated to the redefined class. Return
NIL if the heap is too large for WALK-HEAP."
  (let* ((classes (cons class (classes-below class))) (prototypes (prototypes classes)))
    (count-objects (lambda (object)
                     (and (member (class-of object) classes :test #'eq)
                          (or (not outdated) (outdated-layout-p (layout-of object)))
                          (not (gethash object prototypes)))))))

(defun old-instance-count (layout)
  "Return the number of structures in the heap whose layout is LAYOUT or includes LAYOUT. LAYOUT is
a former layout of a redefined structure class. Return NIL if the heap is too large for WALK-HEAP."
  ;; INSTANCE-COUNT with OUTDATED would miss some of them. If a changed DEFSTRUCT fails to load and
  ;; is loaded again, the second load succeeds, but SBCL does not mark the old layout as invalid.
  (count-objects (lambda (object)
                   (let ((own (layout-of object)))
                     (or (eq own layout) (find layout (layout-inherits own)))))))

;;; The functions made by the definition of a class

(defun others-methods (name class)
  "NAME names a generic function with an accessor method for CLASS. Return :ABOVE if the generic
function has a method for a superclass of CLASS, T if it has methods for other classes but none for
a superclass, and NIL if it has no other method. Ignore methods with qualifiers."
  (let ((specializers (loop for method in (sb-mop:generic-function-methods (plain-definition name))
                            unless (method-qualifiers method)
                              ;; The instance is the last argument of readers and of writers.
                              collect (first (last (sb-mop:method-specializers method))))))
    (cond ((intersection specializers (rest (ancestors class))) :above)
          ((remove class specializers) t))))

(defun slot-accessor-data (class)
  "Return a list of JSON objects for the readers and writers that DEFCLASS made for the direct slots
of CLASS. Leave out a generic function with a method for a superclass: if CLASS were removed, calls
of it with an instance of CLASS would still work. \"kept\" is true if the generic function has a
method for another class."
  (loop for name in (remove-duplicates
                     (loop for slot in (sb-mop:class-direct-slots class)
                           append (sb-mop:slot-definition-readers slot)
                           append (sb-mop:slot-definition-writers slot))
                     :test #'equal :from-end t)
        for others = (and (fboundp name)
                          (typep (plain-definition name) 'generic-function)
                          (others-methods name class))
        unless (eq others :above)
          collect (object "name" (name-text name) "kept" (and others t))))

(defun structure-function-names (class)
  "Return a list of the names of functions that DEFSTRUCT made for the structure CLASS:
accessors, (SETF accessor), copier, predicate and constructors. Unlike STRUCTURE-FUNCTIONS, leave
out accessors of inherited slots, and setters of read-only slots."
  (let ((description (structure-description class)))
    (remove nil (append (loop for slot in (sb-mop:class-direct-slots class)
                              append (multiple-value-bind (accessor read-only)
                                         (structure-accessor class
                                                             (sb-mop:slot-definition-name slot))
                                       (and accessor
                                            (if read-only
                                                (list accessor)
                                                (list accessor (list 'setf accessor))))))
                        (list (description-copier description) (description-predicate description))
                        (mapcar #'first (description-constructors description))))))

(defun included-function-data (class below)
  "BELOW lists the structure classes that include the structure class CLASS. Return a list of JSON
objects for their functions that a change of CLASS affects: their own accessors for slots of CLASS,
and their keyword constructors."
  (let ((slots (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class))))
    (loop for sub in below
          for description = (structure-description sub)
          when description
            append (loop for slot in slots
                         for accessor = (structure-accessor sub slot)
                         when (and accessor (not (eq accessor (structure-accessor class slot))))
                           collect (object "name" (name-text accessor) "slot" (symbol-name slot))
                           and collect (object "name" (name-text (list 'setf accessor))
                                               "slot" (symbol-name slot)))
            ;; HOW is :DEFAULT for a keyword constructor, and else describes a lambda list.
            and append (loop for (name . how) in (description-constructors description)
                             when (and name (eq how :default) (fboundp name))
                               collect (make-json-object
                                        (list* "name" (name-text name)
                                               "below" t
                                               (name-arglist-members name)))))))

;;; The superclasses of a class

(defun default-superclass (class)
  "Return the direct superclass that CLASS gets if its definition lists no superclass."
  (find-class (cond ((typep class 'sb-mop:funcallable-standard-class)
                     'sb-mop:funcallable-standard-object)
                    ((member (find-class 'condition) (ancestors class)) 'condition)
                    (t 'standard-object))))

(defun ancestors-with (each class superclasses)
  "Return a list of the class EACH and of all superclasses that EACH will have after a change: the
direct superclasses of CLASS will then be SUPERCLASSES, a list of classes."
  (let ((found '()))
    (labels ((visit (other)
               (unless (member other found)
                 (push other found)
                 (mapc #'visit
                       (if (eq other class)
                           superclasses
                           (sb-mop:class-direct-superclasses other))))))
      (visit each))
    found))

(defun slot-names (class)
  "Return a list of strings: the names of the direct slots of CLASS."
  (loop for slot in (sb-mop:class-direct-slots class)
        collect (symbol-name (sb-mop:slot-definition-name slot))))

(defun read-classes (texts package)
  "Look up class names, given as TEXTS, in PACKAGE. Return a list of the classes found, and a list
of those TEXTS that name no class."
  (loop for text in texts
        for symbol = (symbol-read text package)
        for class = (and symbol (find-class symbol nil))
        if class collect class into classes
          else collect text into unknown
        finally (return (values classes unknown))))

(defun superclass-members (class superclasses unknown)
  "Return a plist for a JSON object about CLASS with the new list SUPERCLASSES of direct
superclasses: the superclasses and inherited slots that CLASS loses, and the superclasses that CLASS
gains. UNKNOWN lists names of new superclasses that are not defined. If UNKNOWN is not empty, the
losses cannot be known, so leave them out."
  (let* ((before (ancestors class))
         (now (ancestors-with class class superclasses))
         ;; The change can also remove slots of CLASS itself, so these do not count as kept.
         (kept-slots (mapcan #'slot-names (remove class now)))
         (gone (and (null unknown) (remove-if (lambda (each) (member each now)) before))))
    (list "superclassesGone" (mapcar #'class-text gone)
          "superclassesCome" (mapcar #'class-text
                                     (remove-if (lambda (each) (member each before)) superclasses))
          "superclassesUnknown" unknown
          "inheritedSlots" (set-difference (mapcan #'slot-names gone) kept-slots
                                           :test #'string=))))

;;; Initialization arguments

(defun keyword-name (parameter)
  "PARAMETER is an element after &KEY in a lambda list, such as X, (X 1) or ((:Y X) 1). Return the
name of its keyword as a string."
  (symbol-name (cond ((atom parameter) parameter)
                     ((consp (first parameter)) (first (first parameter)))
                     (t (first parameter)))))

(defun method-initargs (classes)
  "Return a list of strings: the keyword parameters of methods. These are the methods for one of
CLASSES that MAKE-INSTANCE calls, such as those of INITIALIZE-INSTANCE. Return :ANY if one of these
methods has &ALLOW-OTHER-KEYS."
  (loop for name in '(allocate-instance initialize-instance shared-initialize)
        append (loop for method in (sb-mop:generic-function-methods (plain-definition name))
                     for arglist = (sb-mop:method-lambda-list method)
                     for behind = (rest (member '&key arglist))
                     when (member (first (sb-mop:method-specializers method)) classes)
                       append (if (member '&allow-other-keys arglist)
                                  (return-from method-initargs :any)
                                  (mapcar #'keyword-name (ldiff behind (member '&aux behind)))))))

(defun slot-initargs (class)
  "Return a list of strings: the names of the keywords that are initargs of direct slots of CLASS."
  (loop for slot in (sb-mop:class-direct-slots class)
        append (mapcar #'symbol-name
                       (remove-if-not #'keywordp (sb-mop:slot-definition-initargs slot)))))

(defun taken-initargs (classes)
  "Return a list of strings: the initargs of the direct slots of CLASSES, and those that methods for
CLASSES accept (see METHOD-INITARGS). Return :ANY if one of these methods has &ALLOW-OTHER-KEYS."
  (let ((others (method-initargs classes)))
    (if (eq others :any)
        :any
        (append others (mapcan #'slot-initargs (remove-if #'forward-referenced-p classes))))))

(defun lost-initargs (each class superclasses)
  "SUPERCLASSES are the direct superclasses of CLASS after a change. EACH is CLASS or a subclass of
CLASS. Return a list of strings: the initargs that instances of EACH may no longer accept after the
change. These initargs belong to direct slots of CLASS or to superclasses that EACH loses. No other
class or method accepts them."
  (let* ((now (ancestors-with each class superclasses))
         ;; The change can remove any slot of CLASS itself.
         (kept (remove class now))
         (gone (remove-if (lambda (other) (member other now)) (ancestors each)))
         (others (taken-initargs kept))
         (own (method-initargs (list class)))
         (lost (taken-initargs gone)))
    (unless (or (eq others :any) (eq own :any))
      ;; If LOST is :ANY, nobody can list what the lost methods accept.
      (set-difference (append (slot-initargs class) (if (eq lost :any) '() lost))
                      (append others own) :test #'string=))))

(defun initarg-data (class below superclasses)
  "SUPERCLASSES lists the direct superclasses of CLASS after a change, and BELOW its subclasses.
Return a list of JSON objects for those among CLASS and BELOW that may accept fewer initargs after
the change."
  (loop for each in (cons class below)
        for initargs = (lost-initargs each class superclasses)
        when (and initargs (class-name each))
          collect (object "name" (class-text each)
                          "homes" (packages-with (class-name each))
                          "initargs" initargs
                          "defaults" (loop for (key) in (direct-default-initargs each)
                                           when (keywordp key) collect (symbol-name key))
                          "place" (class-place each))))

;;; Collecting all effects of a change of a class

(defun class-members (class limit superclasses unknown)
  "Return a plist for a JSON object about the effects of a change of CLASS. The plist describes at
most LIMIT subclasses of CLASS. SUPERCLASSES are the direct superclasses of CLASS after the change.
UNKNOWN lists names of new superclasses that are not defined."
  (let ((below (classes-below class)) (structure (structure-description class)))
    (list* "class" (class-nature class)
           "slots" (slot-names class)
           "include" (let ((above (and structure (first (sb-mop:class-direct-superclasses class)))))
                       (and above
                            (structure-description above)
                            (not (eq above (find-class 'structure-object)))
                            (class-text above)))
           "superclasses" (and (not structure)
                               (mapcar #'class-text
                                       (remove (default-superclass class)
                                               (sb-mop:class-direct-superclasses class))))
           "accessors" (if structure
                           (append (loop for name in (structure-function-names class)
                                         collect (object "name" (name-text name)))
                                   (included-function-data class below))
                           (slot-accessor-data class))
           "initargs" (and (not structure)
                           ;; While a new superclass is unknown, none counts as lost.
                           (initarg-data class below
                                         (if unknown
                                             (sb-mop:class-direct-superclasses class)
                                             superclasses)))
           "subclassCount" (length below)
           "subclasses" (mapcar #'class-place (page below 0 limit))
           "instances" (instance-count class)
           (superclass-members class superclasses unknown))))
