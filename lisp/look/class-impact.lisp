;;;; What a change of a class concerns: the classes below it, its instances, the functions that it defines, and the
;;;; initargs that instances accept because of its slots.

(in-package "LIVE-LISP.LOOK")

(defun classes-below (class)
  "Return all classes below CLASS, in the order of answers."
  (let ((seen (make-hash-table :test 'eq)))
    (labels ((visit (class)
               (dolist (subclass (sb-mop:class-direct-subclasses class))
                 (unless (shiftf (gethash subclass seen) t) (visit subclass)))))
      (visit class))
    (sort (loop for each being the hash-keys of seen collect each) #'class-before-p)))

(defun class-place (class)
  "Return the place where CLASS is defined as a JSON object with its name."
  (or (place-data (introspect "FIND-DEFINITION-SOURCE" class) (class-text class))
      (object "description" (class-text class))))

(defun prototypes (class)
  "Return a table with the prototypes of CLASS and the classes below it as keys: instances that nobody made."
  (let ((table (make-hash-table :test 'eq)))
    (dolist (each (cons class (classes-below class)) table)
      (when (sb-mop:class-finalized-p each)
        (setf (gethash (ignore-errors (sb-mop:class-prototype each)) table) t)))))

(defun instance-count (class)
  "Return the number of instances of CLASS and its subclasses, garbage included, prototypes excluded. Return NIL in a
large heap."
  (let ((function (contrib-function "SB-VM" "MAP-ALLOCATED-OBJECTS")) (count 0) (prototypes (prototypes class)))
    (when (and function (< (heap-usage) *searched-heap*))
      (funcall function
               (lambda (object type size)
                 (declare (ignore type size))
                 (when (and (typep object '(or standard-object structure-object condition))
                            (typep object class)
                            (not (gethash object prototypes)))
                   (incf count)))
               :dynamic)
      count)))

;;; The functions that it defines

(defun others-methods (name class)
  "Return :ABOVE when the generic function NAME, an accessor of CLASS, also has a method for a class above, T when for
another class, else NIL."
  (let ((specializers (loop for method in (sb-mop:generic-function-methods (plain-definition name))
                            unless (method-qualifiers method)
                              collect (first (last (sb-mop:method-specializers method))))))
    (cond ((intersection specializers (rest (ancestors class))) :above)
          ((remove class specializers) t))))

(defun slot-accessor-data (class)
  "Return the readers and writers of slots of CLASS, no structure, as JSON objects."
  (loop for name in (remove-duplicates
                     (loop for slot in (sb-mop:class-direct-slots class)
                           append (sb-mop:slot-definition-readers slot)
                           append (sb-mop:slot-definition-writers slot))
                     :test #'equal :from-end t)
        for kept = (and (fboundp name) (typep (plain-definition name) 'generic-function) (others-methods name class))
        unless (eq kept :above)
          collect (object "name" (name-text name) "kept" (and kept t))))

(defun structure-function-data (class)
  "Return the functions that DEFSTRUCT made for CLASS as JSON objects."
  (let ((description (structure-description class)))
    (loop for name in (append (loop for slot in (sb-mop:class-direct-slots class)
                                    append (multiple-value-bind (accessor read-only)
                                               (structure-accessor class (sb-mop:slot-definition-name slot))
                                             (and accessor
                                                  (if read-only (list accessor) (list accessor (list 'setf accessor))))))
                              (list (description-copier description) (description-predicate description))
                              (mapcar #'first (description-constructors description)))
          when name collect (object "name" (name-text name)))))

(defun included-function-data (class below)
  "Return as JSON objects the accessors that the structures BELOW have for slots included from CLASS, and the keyword
constructors of such structures."
  (let ((slots (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class))))
    (loop for sub in below
          for description = (structure-description sub)
          when description
            append (loop for slot in slots
                         for accessor = (structure-accessor sub slot)
                         when (and accessor (not (eq accessor (structure-accessor class slot))))
                           collect (object "name" (name-text accessor) "slot" (symbol-name slot))
                           and collect (object "name" (name-text (list 'setf accessor)) "slot" (symbol-name slot)))
            and append (loop for (name . how) in (description-constructors description)
                             when (and name (eq how :default) (fboundp name))
                               collect (make-json-object
                                        (list* "name" (name-text name) "below" t (name-arglist-members name)))))))

;;; Initialization arguments

(defun keyword-name (parameter)
  "Return the name of the keyword of PARAMETER, from a lambda list."
  (symbol-name (cond ((atom parameter) parameter)
                     ((consp (first parameter)) (first (first parameter)))
                     (t (first parameter)))))

(defun method-initargs (class)
  "Return the names of the keywords that methods accept which run when an instance of CLASS is made, or :ANY when one
accepts any."
  (let ((classes (ancestors class)))
    (loop for name in '(allocate-instance initialize-instance shared-initialize)
          append (loop for method in (sb-mop:generic-function-methods (plain-definition name))
                       for arglist = (sb-mop:method-lambda-list method)
                       for behind = (rest (member '&key arglist))
                       when (member (first (sb-mop:method-specializers method)) classes)
                         append (if (member '&allow-other-keys arglist)
                                    (return-from method-initargs :any)
                                    (mapcar #'keyword-name (ldiff behind (member '&aux behind))))))))

(defun slot-initargs (class)
  "Return the names of the keyword initargs of the direct slots of CLASS."
  (loop for slot in (sb-mop:class-direct-slots class)
        append (mapcar #'symbol-name (remove-if-not #'keywordp (sb-mop:slot-definition-initargs slot)))))

(defun lost-initargs (class without)
  "Return the names of keywords that instances of CLASS accept only by the direct slots of WITHOUT, a class."
  (let ((others (method-initargs class)))
    (unless (eq others :any)
      (set-difference (slot-initargs without)
                      (append others (mapcan #'slot-initargs
                                             (remove-if #'forward-referenced-p (remove without (ancestors class)))))
                      :test #'string=))))

(defun initarg-data (class below)
  "Return JSON objects for CLASS and the classes BELOW it that accept initargs only because of the slots of CLASS."
  (loop for each in (cons class below)
        for initargs = (lost-initargs each class)
        when (and initargs (class-name each))
          collect (object "name" (class-text each)
                          "homes" (packages-with (class-name each))
                          "initargs" initargs
                          "defaults" (loop for (key) in (ignore-errors (sb-mop:class-direct-default-initargs each))
                                           when (keywordp key) collect (symbol-name key))
                          "place" (class-place each))))

;;; All together

(defun class-members (class limit)
  "Return the members of the answer about what depends on CLASS, with LIMIT classes below it."
  (let ((below (classes-below class)) (structure (structure-description class)))
    (list "class" (class-nature class)
          "slots" (loop for slot in (sb-mop:class-direct-slots class) collect (symbol-name (sb-mop:slot-definition-name slot)))
          "accessors" (if structure
                          (append (structure-function-data class) (included-function-data class below))
                          (slot-accessor-data class))
          "initargs" (and (not structure) (initarg-data class below))
          "subclassCount" (length below)
          "subclasses" (mapcar #'class-place (page below 0 limit))
          "instances" (instance-count class))))
