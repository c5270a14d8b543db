;;;; Renders tools as function schemas for model providers, as property lists.

(in-package "LIVE-LISP.TOOLS")

(defun name-keyword (name)
  "Return the keyword for the parameter NAME, a string, in upper case unless NAME has upper-case
letters itself."
  (intern (if (some #'upper-case-p name) name (string-upcase name)) "KEYWORD"))

(defun parameter-schema (parameter)
  "Return the schema of PARAMETER, a property list. The schema of an array always has :ITEMS."
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
