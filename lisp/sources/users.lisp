;;;; Finds outdated functions: functions compiled with an older macro, inline function or constant.
;;;; NOTE-OUTDATED and other functions in changes.lisp put them into **OUTDATED**.

(in-package "LIVE-LISP.SOURCES")

(defstruct (compiled-use (:constructor make-compiled-use (used user function)))
  "Records that the code of FUNCTION, a simple function, contains a copy of another definition, such
as the expansion of a macro or the body of an inline function. USED is the name of this definition,
and USER is the name of FUNCTION."
  used user function)

(defun same-use-p (one other)
  "Return true if the COMPILED-USE structures ONE and OTHER are about the same use."
  (and (equal (compiled-use-used one) (compiled-use-used other))
       (equal (compiled-use-user one) (compiled-use-user other))
       (eq (compiled-use-function one) (compiled-use-function other))))

(sb-ext:defglobal **outdated** '()
  "A list of COMPILED-USE structures for functions that were compiled with definitions that have
changed since.")

(defparameter *outdated-limit* 1000 "The maximum length of **OUTDATED**.")

(defun kind-reached (name function)
  "FUNCTION is a simple function. If it is a definition of NAME, return the kind of this definition,
a key of *USER-KINDS* such as :METHOD. Else return NIL."
  (nil-if-unknown
    (map-reached (lambda (kind reached)
                   (when (eq reached function) (return-from kind-reached kind)))
                 name)
    nil))

(defun in-force-p (name function)
  "Return true if FUNCTION, a simple function, is still a definition of NAME: its function, a method
or an expander."
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
  "Return the text under which answers show FUNCTION, a simple function: the function named NAME, or
a method or an expander of NAME."
  (let ((method (method-of function name)) (word (kind-word (kind-reached name function))))
    (if method
        (method-name-text name method)
        (format nil "~A~@[ (~A)~]" (function-name-text name) word))))

(defun has-inside-p (function kind name)
  "Return true if the code of FUNCTION contains the code or the value of NAME, or calls NAME as a
function although NAME is a macro now. KIND is the kind, such as :CALLS, of a cross reference from
FUNCTION to NAME."
  (case kind
    (:macroexpands t)
    (:references (constantp name))
    ;; A function that was not compiled inline is among the callees. This cannot be tested if NAME
    ;; is no function any more, so return true then.
    (:calls (or (not (fboundp name))
                (and (symbolp name) (macro-function name) t)
                (not (member (plain-definition name) (introspect "FIND-FUNCTION-CALLEES" function)
                             :test #'eq))))))

(defun mentions-p (xrefs names)
  "Return true if XREFS contains one of the list NAMES. XREFS is a vector of packed cross
references, which has names from index 1 on. SBCL packs some of its own names in another way, so
these are not found."
  (declare (optimize speed) (type simple-vector xrefs) (list names))
  (loop for index from 1 below (length xrefs)
          thereis (let ((element (svref xrefs index)))
                    (loop for name in names
                            thereis (if (symbolp name) (eq name element) (equal name element))))))

(defun uses-of (names fresh)
  "Return a list of COMPILED-USE structures for code that contains compiled definitions of NAMES.
Leave out functions whose debug sources are in the list FRESH: they have just been compiled."
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
                            (pushnew (make-compiled-use used user function) uses
                                     :test #'same-use-p)))
                        xrefs))))))
    uses))

(defun users-of-constants (symbol wanted fresh)
  "Return a list of COMPILED-USE structures, with SYMBOL as the used name, for named functions whose
code has a constant that satisfies the predicate WANTED. Leave out functions whose debug sources are
in the list FRESH: they have just been compiled."
  (let ((uses '()))
    (flet ((has-wanted-p (code)
             (map-constants (lambda (constant)
                              (when (funcall wanted constant) (return-from has-wanted-p t)))
                            code)
             nil))
      (map-code
       (lambda (code)
         (when (has-wanted-p code)
           (dotimes (index (code-functions code))
             (let* ((function (code-function code index))
                    (user (enclosing-name (plain-function-name function))))
               (when (and user
                          (not (member (function-source function) fresh :test #'eq))
                          (in-force-p user function))
                 (push (make-compiled-use symbol user function) uses))))))))
    uses))

(defun layout-users (symbol layout fresh)
  "Return a list of COMPILED-USE structures for named functions whose code has LAYOUT, a layout of
the structure SYMBOL, as a constant. Leave out functions whose debug sources are in the list FRESH:
they have just been compiled."
  (users-of-constants symbol (lambda (constant) (eq constant layout)) fresh))

(defun outdated-uses ()
  "Remove from **OUTDATED** each COMPILED-USE structure whose FUNCTION is no longer a definition of
its USER. Return a list of the others, sorted by their texts."
  (flet ((use-in-force-p (use) (in-force-p (compiled-use-user use) (compiled-use-function use)))
         (text-of (use)
           (format nil "~A ~A" (function-name-text (compiled-use-used use))
                   (user-text (compiled-use-user use) (compiled-use-function use)))))
    (setf **outdated** (remove-if-not #'use-in-force-p **outdated**))
    (sort (copy-list **outdated**) #'string< :key #'text-of)))

(defun use-kind (name)
  "Return a string such as \"macro\" for the kind of the definition of NAME. This definition is
compiled into the code that uses NAME."
  (cond ((consp name) "inline function")
        ((macro-function name) "macro")
        ((eq (known :function :inlinep name) 'inline) "inline function")
        ((compiler-macro-function name) "compiler macro")
        ((constantp name) "constant")
        ((eq (known :variable :kind name) :macro) "symbol macro")
        ((typep (find-class name nil) 'structure-class) "structure")
        (t "definition")))

(define-shape outdated-users ()
  "A changed definition that SBCL compiles into its callers, such as a macro."
  (name string) (kind string)
  (gone boolean :optional "True if the name has no definition any more.")
  (users (list string) "Names of callers that were compiled with the old definition.")
  (total integer "Number of all such callers."))

(defun outdated-data (uses)
  "Return a list of JSON objects for USES, a list of COMPILED-USE structures, one object for each
used name."
  (let ((groups '()))
    (dolist (use uses)
      (let* ((used (compiled-use-used use))
             (group (or (assoc used groups :test #'equal)
                        (first (push (list used) groups)))))
        (push (user-text (compiled-use-user use) (compiled-use-function use)) (rest group))))
    (loop for (used . users) in (reverse groups)
          collect (object "name" (function-name-text used)
                          "kind" (use-kind used)
                          "gone" (not (if (consp used) (fboundp used) (defined-p used)))
                          "users" (page (reverse users) 0 *shown-items-limit*)
                          "total" (length users)))))
