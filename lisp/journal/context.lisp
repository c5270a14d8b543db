;;;; Describes the compiler's policy, by which forms are compiled, so that another image can compare and restore it.

(in-package "LIVE-LISP.JOURNAL")

(sb-ext:defglobal **first-policy** compiler-policy
  "The policy of the compiler at the start.")

(defun policy-list (policy)
  "Return POLICY, of the compiler, as a list of lists: the package and the name of a quality, and its number."
  (loop for (quality value) in (policy-qualities policy)
        when (and (symbolp quality) (symbol-package quality) (integerp value))
          collect (list (package-name (symbol-package quality)) (symbol-name quality) value)))

(defun policy-data (policy)
  "Return how POLICY differs from that of the start, as POLICY-LIST does, or NIL."
  (unless (or (null policy) (eq policy **first-policy**) (equalp policy **first-policy**))
    (set-difference (policy-list policy) (policy-list **first-policy**) :test #'equal)))

(defun proclaim-policy (data)
  "Proclaim the policy that DATA, from POLICY-DATA, describes."
  (unless (and (null data) (eq compiler-policy **first-policy**))
    (proclaim (cons 'optimize
                    (loop for (package name value) in (append data (policy-list **first-policy**))
                          for home = (find-package package)
                          for quality = (and home (find-symbol name home))
                          when (and quality (not (member quality qualities :key #'first)))
                            collect (list quality value) into qualities
                          finally (return qualities))))))
