;;;; The packages of the agent: its own, the one for code of the user, and one to work in that
;;;; has that code at hand. Nothing in them is looked up by name at run time, so that evaluated
;;;; code may rename or delete packages freely.

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

(defpackage "LIVE-LISP.AGENT"
  (:use "COMMON-LISP")
  (:implement "LIVE-LISP" "LIVE-LISP.AGENT")
  (:export "MAIN"))
