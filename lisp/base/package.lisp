;;;; The base of the agent: what speaks to the server and to SBCL. Here stand also the packages that users see.

;; Nothing in these packages is looked up by name at run time, so that evaluated code may rename or delete them.

(defpackage "LIVE-LISP"
  (:use)
  (:export "CALL-TOOL" "APPROVAL-REQUIRED" "TOOL-ERROR" "TOOL-ERROR-TOOL" "TOOL-ERROR-MESSAGE"
           "TOOL" "TOOL-NAME" "TOOL-DESCRIPTION" "TOOL-PARAMETERS" "TOOL-REQUIRED"
           "TOOL-SAFETY-LEVEL" "TOOL-CATEGORIES" "TOOL-HANDLER"
           "DEFINE-TOOL" "INVALID-TOOL" "*AGENT-Q-REGISTRY*" "REGISTER-TOOL" "GET-TOOL"
           "LIST-REGISTERED-TOOLS" "GET-AGENT-Q-TOOLS" "REGISTER-AGENT-Q-TOOLS"
           "TOOL-TO-SCHEMA" "TOOLS-TO-SCHEMA"
           "TOOL-RESULT" "TOOL-RESULT-ID" "TOOL-RESULT-SUCCESS" "TOOL-RESULT-RESULT"
           "TOOL-RESULT-ERROR" "EXECUTE-TOOL-CALL")
  ;; A definition of the user's own under one of these names must not break the agent.
  (:lock t))

(defpackage "LIVE-LISP-USER"
  (:use "COMMON-LISP" "LIVE-LISP"))

(defpackage "LIVE-LISP.BASE"
  (:use "COMMON-LISP")
  ;; Besides, each declaration of an internal of SBCL in sbcl-*.lisp exports our name for it.
  (:export "DEFINE-ABILITY" "DEFINE-CHECK" "LACKING-ABILITIES" "FALLBACKS-IN-USE" "CONTRIB-SYMBOL" "CONTRIB-FUNCTION"
           "PACKAGE-CELLS" "FIRST-CONDITION-WORD" "PAGE-SLOT" "RUNTIME-ADDRESS"
           "CLAIM-PACKAGE" "OWN-PACKAGE-P" "NOTE-FRAME" "FRAME-ROLE"
           "OBJECT" "JSON-BOOLEAN" "OCTETS" "MAKE-JSON-OBJECT" "JSON-OBJECT-MEMBERS" "WRITE-JSON"
           "WRITE-JSON-STRING" "MAKE-BUFFER" "BUFFER-OCTETS" "BUFFER-FILL" "PUT" "PUT-ASCII"
           "CAPTURE" "MAKE-CAPTURE" "BOUNDED-STRING" "CAPTURED" "TAIL-STRING" "CAPTURE-HEAD" "HEAD-FILL"
           "CAPTURE-TOTAL" "CAPTURE-SUCCESSOR" "CAPTURE-LOCK"
           "GUARD-STACKS" "STACK-LEFT" "PROTECT-STACK-AGAIN"
           "PRINTING-PLAINLY" "PRINT-SAFELY" "SYMBOL-TEXT" "CLASS-TEXT" "ON-ONE-LINE" "USABLE-PACKAGE" "REPORT-TEXT"
           "**PRETTY-PRINTERS**"
           "+PROTOCOL-VERSION+" "+FRAME-LIMIT+" "*READING*" "**ON-PEER-GONE**" "OPEN-CHANNEL" "FRAME-OCTETS"
           "SEND-FRAME" "SEND" "RECEIVE" "WAIT-UNTIL-READ" "END-IMAGE"))
