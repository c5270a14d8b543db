;;;; Registers tools, and sends each registered tool to the server. For each tool of the server
;;;; itself, the image has a proxy: a tool with a handler that calls the server.
;;;;
;;;; Lisp code sees the tools in *AGENT-Q-REGISTRY*. An OFFER structure in **OFFERED** describes a
;;;; tool as the server knows it. REGISTER-TOOL first sends the tool to the server, and stores it in
;;;; the registry only if the server accepts it.

(in-package "LIVE-LISP.TOOLS")

(defvar live-lisp:*agent-q-registry* (make-hash-table :test 'equal :synchronized t)
  "A hash table from names to the tools of this image.")

(sb-ext:defglobal **built-ins** '()
  "Descriptions of the server's own tools: a list of the hash tables that the server sent, in the
server's order.")

(defstruct (offer (:constructor make-offer (tool registration client-name before
                                            &aux (handler (live-lisp:tool-handler tool))
                                                 (parameters (live-lisp:tool-parameters tool)))))
  "A tool as it was sent to the server.
TOOL: the tool. HANDLER, PARAMETERS: its handler and parameters at that time.
REGISTRATION: the number of the registration.
CLIENT-NAME: the name by which clients call it.
BEFORE: NIL, or the OFFER structure that it replaced, to which late calls can still refer."
  tool handler parameters registration client-name before)

(sb-ext:defglobal **offered** (make-hash-table :test 'equal :synchronized t)
  "A hash table from names of tools to their last OFFER structures.")

(sb-ext:defglobal **offer-lock** (sb-thread:make-mutex :name "live-lisp offer")
  "The mutex that a thread holds while it sends a tool to the server, so that the server and
**OFFERED** get tools in the same order.")

(sb-ext:defglobal **registrations** (list 0)
  "A list of one number, for atomic increments: the number of registrations so far.")

(defun next-registration ()
  "Count one more registration, and return its number."
  (1+ (sb-ext:atomic-incf (car **registrations**))))

(defun store-tool (registry tool)
  "Store TOOL in the hash table REGISTRY under its name. In lists, TOOL gets the position of an
older tool of the same name or, if there is none, the last position."
  (let ((old (gethash (live-lisp:tool-name tool) registry)))
    (setf (tool-order tool)
          (or (and (typep old 'live-lisp:tool) (tool-order old)) (next-registration)))
    (setf (gethash (live-lisp:tool-name tool) registry) tool)))

(defun parameter-json (parameter)
  "Return PARAMETER, a valid property list about a parameter of a tool, as a JSON object for the
server."
  (flet ((value (key)
           (let ((value (getf parameter key))
                 (buffer (make-buffer 100))
                 (*parameter* (getf parameter :name)))
             (when value
               (write-argument value buffer 1)
               buffer))))
    (object "name" (getf parameter :name)
            "type" (string-downcase (getf parameter :type))
            "description" (getf parameter :description "")
            "enum" (value :enum)
            "default" (value :default)
            "items" (let ((type (items-type parameter)))
                      (and type (object "type" (string-downcase type))))
            "minimum" (value :minimum)
            "maximum" (value :maximum))))

(defun definition-json (tool)
  "Return TOOL, which is valid, as a JSON object for the server."
  (object "name" (live-lisp:tool-name tool)
          "description" (live-lisp:tool-description tool)
          "parameters" (map 'vector #'parameter-json (live-lisp:tool-parameters tool))
          "required" (coerce (live-lisp:tool-required tool) 'vector)
          "safetyLevel" (string-downcase (live-lisp:tool-safety-level tool))
          "categories" (map 'vector #'string-downcase (live-lisp:tool-categories tool))))

(defun make-offered (tool)
  "Send TOOL to the server, and store an OFFER structure for it in **OFFERED**. Return NIL if the
server accepts TOOL. Else restore the earlier OFFER structure of the same name, if there was one,
and return text with the reason."
  (let* ((name (live-lisp:tool-name tool)) (*tool* name)
         (before (gethash name **offered**))
         (offer (make-offer tool (next-registration) (if before (offer-client-name before) name)
                            before)))
    ;; Keep only the newest two offers.
    (when before (setf (offer-before before) nil))
    ;; Store the offer before waiting for the answer: clients can call the tool before the answer
    ;; arrives, even if an interrupt ends the wait.
    (setf (gethash name **offered**) offer)
    ;; The server answers with the client name: the tool's name, perhaps with the prefix lisp_.
    (handler-case (progn (setf (offer-client-name offer)
                               (ask-server "register" (definition-json tool)
                                           "registration" (offer-registration offer)))
                         nil)
      (live-lisp:tool-error (failure)
        (if before
            (setf (gethash name **offered**) before)
            (remhash name **offered**))
        (live-lisp:tool-error-message failure)))))

(defun offered (name registration)
  "Return the OFFER structure of the tool NAME with the number REGISTRATION. If REGISTRATION is NIL,
return the newest OFFER structure of this tool. Only the newest two are kept: return NIL for an
older number."
  (loop for offer = (gethash name **offered**) then (offer-before offer)
        while offer
        when (or (null registration) (eql registration (offer-registration offer)))
          return offer))

(defun live-lisp:register-tool (registry tool)
  "Put TOOL into REGISTRY, an EQUAL hash table, under its name, and return TOOL. TOOL replaces an
earlier tool of the same name. If REGISTRY is *AGENT-Q-REGISTRY*, clients can call TOOL from then
on. If the server itself has a tool of this name, clients see TOOL as lisp_NAME. Signal an
INVALID-TOOL if TOOL is invalid or cannot be put into REGISTRY."
  (check-tool tool)
  (unless (and (hash-table-p registry) (member (hash-table-test registry) '(equal equalp)))
    (refuse-tool (live-lisp:tool-name tool)
                 "can be registered only in an EQUAL hash table, such as *AGENT-Q-REGISTRY*."))
  (note-building)
  ;; A table to which the program has bound the variable in this thread is not the registry that
  ;; clients see.
  (if (eq registry (sb-ext:symbol-global-value 'live-lisp:*agent-q-registry*))
      ;; Signal the error outside of WITH-MUTEX. Otherwise answers would show the frames of
      ;; WITH-MUTEX.
      (let ((refusal nil))
        (sb-thread:with-mutex (**offer-lock**)
          ;; Store the tool even after an interrupt, because the server may have it already.
          (unwind-protect (setf refusal (make-offered tool))
            (unless refusal (store-tool registry tool))))
        (when refusal
          (error 'live-lisp:invalid-tool :tool (live-lisp:tool-name tool) :message refusal)))
      (store-tool registry tool))
  tool)

(defun live-lisp:get-tool (name)
  "Return the tool NAME, a string in exact case, from *AGENT-Q-REGISTRY*, or NIL."
  (values (gethash name live-lisp:*agent-q-registry*)))

(defun registered-tools ()
  "Return a list of the tools in *AGENT-Q-REGISTRY*, in the order of their registration."
  (let ((tools (loop for tool being the hash-values of live-lisp:*agent-q-registry*
                     when (typep tool 'live-lisp:tool) collect tool)))
    (sort tools #'< :key (lambda (tool) (or (tool-order tool) most-positive-fixnum)))))

(defun live-lisp:list-registered-tools ()
  "Return a list of the names of the tools in *AGENT-Q-REGISTRY*, in the order of their
registration."
  (mapcar #'live-lisp:tool-name (registered-tools)))

(defun live-lisp:get-agent-q-tools (&key max-safety-level categories)
  "Return a list of the tools in *AGENT-Q-REGISTRY* that have at most the safety level
MAX-SAFETY-LEVEL and one of CATEGORIES. If either argument is NIL, it excludes no tool."
  (unless (member max-safety-level (cons nil *levels*))
    (error "Unknown safety level ~S; valid are ~A." max-safety-level (keyword-text *levels*)))
  (loop with levels = (if max-safety-level
                          (ldiff *levels* (rest (member max-safety-level *levels*)))
                          *levels*)
        for tool in (registered-tools)
        when (and (member (live-lisp:tool-safety-level tool) levels)
                  (or (null categories) (intersection categories (live-lisp:tool-categories tool))))
          collect tool))

;;; The tools of the server

(defun call-for-text (name arguments)
  "Call the tool NAME, as clients call it, with ARGUMENTS, a hash table, and return the text for a
model."
  (let ((*tool* name) (*parameter* "arguments"))
    (unless (hash-table-p arguments)
      (fail-call "It takes one EQUAL hash table with the arguments by name, not a value of type ~A."
                 (symbol-text (class-name (class-of arguments)))))
    (ask-server "tool" name "text" t "args" (arguments-json (table-pairs arguments)))))

(defun keyword-named (text)
  "Return the keyword for TEXT, a word from the server in upper or lower case."
  (intern (string-upcase text) "KEYWORD"))

(defun parameter-from (table)
  "TABLE is a hash table that the server has sent. It describes a parameter of a tool. Return this
description as a plist."
  (loop for key in *parameter-keys*
        for value = (gethash (string-downcase key) table)
        when value
          append (list key (case key
                             (:type (keyword-named value))
                             (:items (list :type (keyword-named (gethash "type" value))))
                             (t (if (consp value) (copy-list value) value))))))

(defun proxy (table)
  "TABLE is a hash table from the server that describes one of the server's tools. Return a new tool
whose handler calls this tool in the server."
  (let ((name (gethash "name" table))
        (class (find-class 'live-lisp:tool))) ; Not a constant class: see MAKE-TOOL.
    (apply #'make-instance class
           (list :built-in name
                 :name name
                 :description (gethash "description" table)
                 :parameters (mapcar #'parameter-from (gethash "parameters" table))
                 :required (copy-list (gethash "required" table))
                 :safety-level (keyword-named (gethash "safetyLevel" table))
                 :categories (mapcar #'keyword-named (gethash "categories" table))
                 :handler (lambda (arguments) (call-for-text name arguments))))))

(defun live-lisp:register-agent-q-tools ()
  "Put a tool for each of the server's own tools into *AGENT-Q-REGISTRY*. Its handler calls the
server. It replaces a tool of the same name. Return the number of tools in the registry."
  (dolist (table **built-ins**)
    (store-tool live-lisp:*agent-q-registry* (proxy table)))
  (hash-table-count live-lisp:*agent-q-registry*))

(define-operation ("offer-tools" :server-only t :inline t :gives integer)
    ((tools (list (map anything)) "Descriptions of the server's own tools."))
  "Keep the descriptions of the server's own tools, and register a tool object for each of them.
Calls of such an object go to the server."
  (setf **built-ins** tools)
  (live-lisp:register-agent-q-tools))
