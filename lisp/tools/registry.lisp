;;;; Registers tools. The server gets each tool that is registered. The server's own tools are here
;;;; as proxies, whose handlers call the server.
;;;;
;;;; A tool in *AGENT-Q-REGISTRY* is what Lisp code sees; an offer in **OFFERED** is what the server
;;;; has. REGISTER-TOOL makes the offer first, and stores the tool only if the server accepts it.

(in-package "LIVE-LISP.TOOLS")

(defvar live-lisp:*agent-q-registry* (make-hash-table :test 'equal :synchronized t)
  "The tools of this image by name.")

(sb-ext:defglobal **built-ins** '()
  "The server's own tools as it sent them, hash tables in its order.")

(defstruct (offer (:constructor make-offer (tool registration client-name before
                                            &aux (handler (live-lisp:tool-handler tool))
                                                 (parameters (live-lisp:tool-parameters tool)))))
  "A TOOL that was sent to the server, with the HANDLER and PARAMETERS that it had then.
REGISTRATION is a number, CLIENT-NAME the name for clients. BEFORE is the offer of the same name
that this one replaced: calls can still mean it."
  tool handler parameters registration client-name before)

(sb-ext:defglobal **offered** (make-hash-table :test 'equal :synchronized t)
  "The offers, by the names that the tools had then.")

(sb-ext:defglobal **offer-lock** (sb-thread:make-mutex :name "live-lisp offer")
  "Held while a tool is sent to the server, so that it gets them in the order of the table.")

(sb-ext:defglobal **registrations** (list 0)
  "How many tools were registered, in a list for atomic increments.")

(defun next-registration ()
  "Return the number of a new registration."
  (1+ (sb-ext:atomic-incf (car **registrations**))))

(defun store-tool (registry tool)
  "Put TOOL into REGISTRY, replacing any tool of its name."
  (let ((old (gethash (live-lisp:tool-name tool) registry)))
    (setf (tool-order tool)
          (or (and (typep old 'live-lisp:tool) (tool-order old)) (next-registration)))
    (setf (gethash (live-lisp:tool-name tool) registry) tool)))

(defun parameter-json (parameter)
  "Return PARAMETER, a valid property list, as a JSON object."
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
  "Return TOOL, a valid one, as a JSON object for the server."
  (object "name" (live-lisp:tool-name tool)
          "description" (live-lisp:tool-description tool)
          "parameters" (map 'vector #'parameter-json (live-lisp:tool-parameters tool))
          "required" (coerce (live-lisp:tool-required tool) 'vector)
          "safetyLevel" (string-downcase (live-lisp:tool-safety-level tool))
          "categories" (map 'vector #'string-downcase (live-lisp:tool-categories tool))))

(defun make-offered (tool)
  "Send TOOL to the server. Return NIL, or why the server refuses it; then the last tool of that
name stays."
  (let* ((name (live-lisp:tool-name tool)) (*tool* name)
         (before (gethash name **offered**))
         (offer (make-offer tool (next-registration) (if before (offer-client-name before) name)
                            before)))
    (when before (setf (offer-before before) nil))
    ;; The tool can be called before the answer is here, even when nobody waits for the answer any
    ;; more.
    (setf (gethash name **offered**) offer)
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
  "Return the offer of the tool NAME at that REGISTRATION, or NIL when it is neither the last nor
the one before. Without REGISTRATION return the last."
  (loop for offer = (gethash name **offered**) then (offer-before offer)
        while offer
        when (member registration (list nil (offer-registration offer)))
          return offer))

(defun live-lisp:register-tool (registry tool)
  "Put TOOL into REGISTRY, an EQUAL hash table, under its name and return it; a tool of that name is
replaced. When REGISTRY is *AGENT-Q-REGISTRY*, clients can call it from then on. When the server has
a tool of that NAME itself, they see it as lisp_NAME. Signals an INVALID-TOOL."
  (check-tool tool)
  (unless (and (hash-table-p registry) (member (hash-table-test registry) '(equal equalp)))
    (refuse-tool (live-lisp:tool-name tool)
                 "can be registered only in an EQUAL hash table, such as *AGENT-Q-REGISTRY*."))
  (note-building)
  (if (eq registry (sb-ext:symbol-global-value 'live-lisp:*agent-q-registry*))
      ;; The error is signalled outside of WITH-MUTEX, whose frames it would show.
      (let ((refusal nil))
        (sb-thread:with-mutex (**offer-lock**)
          ;; Store the tool even after an interrupt: the server has it.
          (unwind-protect (setf refusal (make-offered tool))
            (unless refusal (store-tool registry tool))))
        (when refusal
          (error 'live-lisp:invalid-tool :tool (live-lisp:tool-name tool) :message refusal)))
      (store-tool registry tool))
  tool)

(defun live-lisp:get-tool (name)
  "Return the tool of exactly that NAME, a string, in *AGENT-Q-REGISTRY*, or NIL."
  (values (gethash name live-lisp:*agent-q-registry*)))

(defun registered-tools ()
  "Return the tools in *AGENT-Q-REGISTRY* in the order of registration."
  (let ((tools (loop for tool being the hash-values of live-lisp:*agent-q-registry*
                     when (typep tool 'live-lisp:tool) collect tool)))
    (sort tools #'< :key (lambda (tool) (or (tool-order tool) most-positive-fixnum)))))

(defun live-lisp:list-registered-tools ()
  "Return the names of the tools in *AGENT-Q-REGISTRY* in the order of registration."
  (mapcar #'live-lisp:tool-name (registered-tools)))

(defun live-lisp:get-agent-q-tools (&key max-safety-level categories)
  "Return the tools in *AGENT-Q-REGISTRY* up to MAX-SAFETY-LEVEL that have one of CATEGORIES. NIL
for either lets all pass."
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
  "Call the tool that clients call NAME with ARGUMENTS, a hash table. Return the text for a model."
  (let ((*tool* name) (*parameter* "arguments"))
    (unless (hash-table-p arguments)
      (fail-call "It takes one EQUAL hash table with the arguments by name, not a value of type ~A."
                 (symbol-text (class-name (class-of arguments)))))
    (ask-server "tool" name "text" t "args" (arguments-json (table-pairs arguments)))))

(defun keyword-named (text)
  "Return the keyword for TEXT, a word of the server."
  (intern (string-upcase text) "KEYWORD"))

(defun parameter-from (table)
  "Return the property list of the parameter in TABLE, from a message."
  (loop for key in *parameter-keys*
        for value = (gethash (string-downcase key) table)
        when (or value (eq key :description))
          append (list key (case key
                             (:type (keyword-named value))
                             (:items (list :type (keyword-named (gethash "type" value))))
                             (t (if (consp value) (copy-list value) value))))))

(defun proxy (table)
  "Return a tool that stands for the server's own tool that TABLE, from a message, describes."
  (let ((name (gethash "name" table)) (class (find-class 'live-lisp:tool)))
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
  "Put the tools of the server into *AGENT-Q-REGISTRY*, as the server sent them; they replace tools
of the same names. Return how many tools the registry has."
  (dolist (table **built-ins**)
    (store-tool live-lisp:*agent-q-registry* (proxy table)))
  (hash-table-count live-lisp:*agent-q-registry*))

(define-operation ("offer-tools" :inline t) (tools)
  "Put the server's own TOOLS, a list of hash tables, into the registry."
  (setf **built-ins** tools)
  (live-lisp:register-agent-q-tools))
