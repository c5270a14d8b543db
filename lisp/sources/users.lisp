;;;; Finds outdated functions: functions compiled with an older macro, inline function or constant.

(in-package "LIVE-LISP.SOURCES")

(sb-ext:defglobal **outdated** '()
  "Functions that were compiled with definitions that have changed since: lists of the name of the
changed definition, the name of a function that uses it, and this function.")

(defparameter *outdated-limit* 1000 "At most this many elements of **OUTDATED** are kept.")

(defun kind-reached (name function)
  "Return the kind with which MAP-REACHED visits the simple FUNCTION for NAME, or NIL. This is the
case for the function of NAME, its methods and its expanders."
  (ignore-errors
   (map-reached (lambda (kind reached)
                  (when (eq reached function) (return-from kind-reached kind)))
                name)
   nil))

(defun in-force-p (name function)
  "True when the simple FUNCTION is still the function of NAME, or one of its methods or expanders."
  (and (kind-reached name function) t))

(defun method-of (function name)
  "Return the method of the generic function NAME whose simple function is FUNCTION, or NIL."
  (let ((generic (generic-function-named name)))
    (and generic
         (find-if (lambda (method)
                    (let ((fast (method-function method)))
                      (and fast (eq function (simple-function fast)))))
                  (sb-mop:generic-function-methods generic)))))

(defun user-text (name function)
  "Return the user NAME, whose function is FUNCTION, as text for answers."
  (let ((method (method-of function name)) (kind (kind-word (kind-reached name function))))
    (if method
        (method-name-text name method)
        (format nil "~A~@[ (~A)~]" (function-name-text name) kind))))

(defun has-inside-p (function kind name)
  "FUNCTION has a cross reference of KIND to NAME. Return true if the code or the value of NAME is
compiled into FUNCTION, or if FUNCTION calls NAME as a function, although it is a macro now."
  (case kind
    (:macroexpands t)
    (:references (constantp name))
    (:calls (or (not (fboundp name))
                (and (symbolp name) (macro-function name) t)
                (not (member (plain-definition name) (introspect "FIND-FUNCTION-CALLEES" function)
                             :test #'eq))))))

(defun mentions-p (xrefs names)
  "True when XREFS, packed cross references, may contain one of NAMES. A program's names are
elements of this vector."
  (declare (optimize speed) (type simple-vector xrefs) (list names))
  (loop for index from 1 below (length xrefs)
          thereis (let ((element (svref xrefs index)))
                    (loop for name in names
                            thereis (if (symbolp name) (eq name element) (equal name element))))))

(defun uses-of (names fresh)
  "Return the uses of NAMES by code that has their definitions compiled in: lists of one of NAMES,
the name of its user, and the user's function. Code whose debug source is in FRESH is left out: it
was compiled just now, with the new definitions."
  (let ((uses '()))
    (map-functions
     (lambda (caller function)
       (let ((xrefs (function-xrefs function)))
         (when (and (simple-vector-p xrefs) (mentions-p xrefs names))
           (let ((user (enclosing-name caller)))
             (map-xrefs (lambda (kind used number)
                          (declare (ignore number))
                          (when (and user
                                     (member used names :test #'equal)
                                     (not (equal used user))
                                     (not (member (function-source function) fresh :test #'eq))
                                     (in-force-p user function)
                                     (has-inside-p function kind used))
                            (pushnew (list used user function) uses :test #'equal)))
                        xrefs))))))
    uses))

(defun layout-users (symbol layout fresh)
  "Return the uses of SYMBOL, a structure, by named functions whose code has LAYOUT among its
constants. Uses and FRESH are as for USES-OF."
  (let ((uses '()))
    (map-code
     (lambda (code)
       (when (block found
               (map-constants (lambda (constant) (when (eq constant layout) (return-from found t)))
                              code))
         (dotimes (index (code-functions code))
           (let* ((function (code-function code index))
                  (user (enclosing-name (plain-function-name function))))
             (when (and user
                        (not (member (function-source function) fresh :test #'eq))
                        (in-force-p user function))
               (push (list symbol user function) uses)))))))
    uses))

(defun outdated-uses ()
  "Return the elements of **OUTDATED** whose functions are still IN-FORCE-P, sorted by their texts."
  (setf **outdated**
        (remove-if-not (lambda (use) (in-force-p (second use) (third use))) **outdated**))
  (sort (copy-list **outdated**) #'string<
        :key (lambda (use)
               (format nil "~A ~A" (function-name-text (first use))
                       (user-text (second use) (third use))))))

(defun use-kind (name)
  "NAME names a definition that is compiled into the code that uses it. Return the word in answers
for its kind."
  (cond ((consp name) "inline function")
        ((macro-function name) "macro")
        ((eq (known :function :inlinep name) 'inline) "inline function")
        ((compiler-macro-function name) "compiler macro")
        ((constantp name) "constant")
        ((eq (known :variable :kind name) :macro) "symbol macro")
        ((typep (find-class name nil) 'structure-class) "structure")
        (t "definition")))

(defun outdated-data (uses)
  "Return USES, from OUTDATED-USES, as JSON objects, one for each changed name."
  (let ((groups '()))
    (loop for (used user function) in uses
          do (let ((group (or (assoc used groups :test #'equal)
                              (first (push (list used) groups)))))
               (push (user-text user function) (rest group))))
    (loop for (used . users) in (reverse groups)
          collect (object "name" (function-name-text used)
                          "kind" (use-kind used)
                          "users" (page (reverse users) 0 *told-limit*)
                          "total" (length users)))))
