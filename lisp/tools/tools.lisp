;;;; Defines tools as Lisp objects, and checks that their parts are valid.

(in-package "LIVE-LISP.TOOLS")

(defclass live-lisp:tool ()
  ((name :initarg :name :initform nil :accessor live-lisp:tool-name)
   (description :initarg :description :initform nil :accessor live-lisp:tool-description)
   (parameters :initarg :parameters :accessor live-lisp:tool-parameters)
   (required :initarg :required :initform '() :accessor live-lisp:tool-required)
   (safety-level :initarg :safety-level :initform :safe :accessor live-lisp:tool-safety-level)
   (categories :initarg :categories :initform '() :accessor live-lisp:tool-categories)
   (handler :initarg :handler :initform nil :accessor live-lisp:tool-handler)
   (built-in
    :initarg :built-in :initform nil :reader built-in-name
    :documentation
  "If this tool stands for a tool of the server, the name by which clients call that tool. Else
NIL.")
   (order :initform nil :accessor tool-order
          :documentation
  "The number of the tool's registration, by which tools are sorted. NIL until the tool is
registered."))
  (:documentation "A tool that clients and code can call by its name. TOOL-HANDLER is a function of
one argument, an EQUAL hash table from the names of TOOL-PARAMETERS to the arguments."))

(defmethod print-object ((tool live-lisp:tool) stream)
  (print-unreadable-object (tool stream :type t)
    (let ((*print-circle* nil))
      (princ (live-lisp:tool-name tool) stream))))

(define-condition live-lisp:invalid-tool (live-lisp:tool-error)
  ()
  (:report (lambda (condition stream)
             (write-string (live-lisp:tool-error-message condition) stream)))
  (:documentation "A tool cannot be registered. TOOL-ERROR-TOOL is the tool's name,
TOOL-ERROR-MESSAGE the reason."))

(defun refuse-tool (name control &rest arguments)
  "Signal an INVALID-TOOL for the tool NAME. The format control CONTROL and the list ARGUMENTS make
the reason."
  (error 'live-lisp:invalid-tool
         :tool (print-safely 80 name "~A")
         :message (format nil "Tool ~A ~?" (printing-plainly (print-safely 80 name)) control
                          arguments)))

;;; Checks of tools. A check calls the function REFUSE, which signals an INVALID-TOOL, so it does
;;; not return. The error messages are those of the server, with keywords written as in Lisp.

(defparameter *levels* '(:safe :cautious :dangerous) "The safety levels, lowest first.")

(defparameter *types* '(:string :boolean :number :integer :object :array)
  "The types that a parameter of a tool can have.")

(defparameter *parameter-keys* '(:name :type :description :enum :default :items :minimum :maximum)
  "The keys that the property list of a parameter can have.")

(defun snake-case-p (name)
  "Return true if NAME is a string of a to z, 0 to 9 and _ that begins with a letter."
  (and (stringp name)
       (plusp (length name))
       (char<= #\a (char name 0) #\z)
       (every (lambda (char) (or (char<= #\a char #\z) (char<= #\0 char #\9) (char= char #\_)))
              name)))

(defun plist-p (object)
  "Return true if OBJECT is a proper list with an even number of elements."
  (let ((length (proper-length object))) (and length (evenp length))))

(defun items-type (parameter)
  "Return the type of the items of PARAMETER, a property list. The value of :ITEMS in PARAMETER is a
keyword or (:type KEYWORD)."
  (let ((items (getf parameter :items)))
    (if (consp items) (and (plist-p items) (getf items :type)) items)))

(defun keyword-text (keywords)
  "Return the list KEYWORDS as text, such as \":SAFE, :CAUTIOUS\"."
  (format nil "~{:~A~^, ~}" keywords))

(defun check-parameter (parameter known refuse)
  "Call the function REFUSE with a format control and its arguments if PARAMETER, a plist, is not
valid, or if its name is in the list KNOWN."
  (unless (and (plist-p parameter) (stringp (getf parameter :name))
               (plusp (length (getf parameter :name))))
    (funcall refuse "has a parameter without a name; a parameter is a list such as ~
                     (:name \"symbol\" :type :string :description \"...\")."))
  (let ((name (getf parameter :name))
        (type (getf parameter :type))
        (text (getf parameter :description "")))
    (when (member name known :test #'string=)
      (funcall refuse "has two parameters named '~A'." name))
    (unless (member type *types*)
      (funcall refuse "has a parameter '~A' of type ~A; valid are ~A."
               name (printing-plainly (print-safely 80 type)) (keyword-text *types*)))
    (when (and (getf parameter :items) (not (member (items-type parameter) *types*)))
      (funcall refuse "has a parameter '~A' whose items have no type; valid are ~A." name
               (keyword-text *types*)))
    (unless (stringp text)
      (funcall refuse "has a parameter '~A' whose description is no string." name))
    (loop for (key) on parameter by #'cddr
          unless (member key *parameter-keys*)
            do (funcall refuse
                        "has a parameter '~A' with ~A; a parameter can have ~A."
                        name
                        (printing-plainly (print-safely 80 key))
                        (keyword-text *parameter-keys*)))))

(defun check-parameters (parameters required refuse)
  "Call the function REFUSE with a format control and its arguments if an element of PARAMETERS, or
of REQUIRED, a list of names of required parameters, is not valid."
  (let ((names '()))
    (dolist (parameter parameters)
      (check-parameter parameter names refuse)
      (push (getf parameter :name) names))
    (unless (and (proper-length required) (every #'stringp required))
      (funcall refuse "must have a list of the names of required parameters."))
    (let ((stray (find-if-not (lambda (name) (member name names :test #'string=)) required)))
      (when stray (funcall refuse "requires '~A', which is not one of its parameters." stray)))))

(defun check-tool (tool)
  "Return TOOL if it is valid. Else signal an INVALID-TOOL."
  (unless (typep tool 'live-lisp:tool)
    (refuse-tool tool
                 "is no tool; DEFINE-TOOL and (make-instance 'live-lisp:tool ...) make tools."))
  (let ((name (live-lisp:tool-name tool)) (text (live-lisp:tool-description tool))
        (level (live-lisp:tool-safety-level tool)) (categories (live-lisp:tool-categories tool)))
    (flet ((refuse (control &rest arguments) (apply #'refuse-tool name control arguments)))
      (unless (snake-case-p name)
        (refuse "must have a name in snake_case: a lower-case letter, then a to z, 0 to 9 and _."))
      (unless (and (stringp text) (plusp (length text))) (refuse "must have a description."))
      (unless (and (slot-boundp tool 'parameters) (proper-length (live-lisp:tool-parameters tool)))
        (refuse "must have a list of parameters."))
      (unless (typep (live-lisp:tool-handler tool) '(or function (and symbol (not (member nil t)))))
        (refuse "must have a handler: a function of one hash table, or the symbol that names one."))
      (unless (member level *levels*)
        (refuse "has the safety level ~A; valid are ~A."
                (printing-plainly (print-safely 80 level)) (keyword-text *levels*)))
      (unless (and (proper-length categories) (every #'symbolp categories))
        (refuse "must have a list of keywords as categories."))
      (check-parameters (live-lisp:tool-parameters tool) (live-lisp:tool-required tool) #'refuse)))
  tool)

;;; Making tools

(defun make-tool (name description parameters &rest options)
  "Return a new valid tool. OPTIONS are initargs for its other parts. Signal an INVALID-TOOL for
invalid parts."
  ;; Look the class up at run time. With a constant class, SBCL would compile a constructor at the
  ;; first call.
  (let ((class (find-class 'live-lisp:tool)))
    (check-tool (apply #'make-instance class :name name :description description
                       :parameters parameters
                       options))))

(defmacro live-lisp:define-tool (name description parameters
                                 &rest options &key required safety-level categories handler)
  "Return a new tool; REGISTER-TOOL lets clients call it. All arguments are evaluated. NAME and
DESCRIPTION are strings. PARAMETERS is a list of lists such as (:name \"symbol\" :type :string
:description \"...\"). REQUIRED is a list of the names of required parameters. SAFETY-LEVEL is :SAFE
(the default), :CAUTIOUS or :DANGEROUS. CATEGORIES is a list of keywords. HANDLER is a function of
one argument, an EQUAL hash table from names of parameters to arguments. Signals an INVALID-TOOL for
invalid parts."
  (declare (ignore required safety-level categories handler))
  `(make-tool ,name ,description ,parameters ,@options))

;;; Tools as function schemas for model providers

(defun name-keyword (name)
  "Return the keyword for the parameter NAME, a string, in upper case unless NAME has upper-case
letters itself."
  (intern (if (some #'upper-case-p name) name (string-upcase name)) "KEYWORD"))

(defun parameter-schema (parameter)
  "Return the schema of PARAMETER, a property list. The schema of an array always has :ITEMS,
which is NIL if the type of the items is not given."
  (let ((type (getf parameter :type)))
    (append (list :type (string-downcase type) :description (getf parameter :description ""))
            (loop for key in '(:enum :default)
                  when (getf parameter key) append (list key (getf parameter key)))
            (when (eq type :array)
              (let ((items (items-type parameter)))
                (list :items (and items (list :type (string-downcase items))))))
            (loop for key in '(:minimum :maximum)
                  when (getf parameter key) append (list key (getf parameter key))))))

(defun live-lisp:tool-to-schema (tool)
  "Return the function schema of TOOL as a property list."
  (list :type "function"
        :function (list :name (live-lisp:tool-name tool)
                        :description (live-lisp:tool-description tool)
                        :parameters
                        (list :type "object"
                              :properties (loop for parameter in (live-lisp:tool-parameters tool)
                                                append (list (name-keyword (getf parameter :name))
                                                             (parameter-schema parameter)))
                              :required (copy-list (live-lisp:tool-required tool))))))

(defun live-lisp:tools-to-schema (tools)
  "Return the function schemas of TOOLS as a list in the same order."
  (mapcar #'live-lisp:tool-to-schema tools))
