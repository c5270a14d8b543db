;;;; Describes the compiler's policy for the journal, so that a rebuilt image compiles forms under
;;;; the same policy.

(in-package "LIVE-LISP.JOURNAL")

(sb-ext:defglobal **first-policy** compiler-policy
  "The policy of the compiler when the agent was loaded.")

(defun policy-list (policy)
  "Return a list of (PACKAGE NAME VALUE) lists, such as (\"COMMON-LISP\" \"SPEED\" 1), for the
qualities of POLICY, a policy of the compiler."
  (loop for (quality value) in (policy-qualities policy)
        when (and (symbolp quality) (symbol-package quality) (integerp value))
          collect (list (package-name (symbol-package quality)) (symbol-name quality) value)))

(defun policy-data (policy)
  "Return those elements of POLICY-LIST for POLICY, a policy of the compiler, that differ from
**FIRST-POLICY**, or NIL."
  (unless (or (null policy) (eq policy **first-policy**) (equalp policy **first-policy**))
    (set-difference (policy-list policy) (policy-list **first-policy**) :test #'equal)))

(defun proclaim-policy (data)
  "Proclaim **FIRST-POLICY** with the changes in DATA, a list from POLICY-DATA."
  (unless (and (null data) (eq compiler-policy **first-policy**))
    (proclaim (cons 'optimize
                    (loop for (package name value) in (append data (policy-list **first-policy**))
                          for home = (find-package package)
                          for quality = (and home (find-symbol name home))
                          when (and quality (not (member quality qualities :key #'first)))
                            collect (list quality value) into qualities
                          finally (return qualities))))))
