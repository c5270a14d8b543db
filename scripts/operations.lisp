;;;; Loads the sources of the backend, without starting it, and prints the operations and types that
;;;; they declare, as JSON.

(load (merge-pathnames "../lisp/internals.lisp" *load-truename*))

(setf sb-ext:*evaluator-mode* :interpret)
(handler-bind ((warning #'muffle-warning))
  ;; Images of other people have one more file, with one more operation.
  (dolist (name (append (live-lisp.internals:backend-files) '("attached")))
    (load (live-lisp.internals:source name))))

(in-package "LIVE-LISP.JOBS")

(defun type-data (type)
  "Return TYPE, as WIRE-TYPE returns it, for JSON: a name, or an array that begins with a word."
  (cond ((stringp type) type)
        ((symbolp type) (string-downcase type))
        ((eq :object (first type)) (list "object" (map 'vector #'member-data (rest type))))
        (t (cons (string-downcase (first type)) (mapcar #'type-data (rest type))))))

(defun member-data (member)
  "Return a JSON object for MEMBER, as WIRE-MEMBER returns it."
  (destructuring-bind (name type optional words) member
    (object "name" name "type" (type-data type) "optional" optional "words" words)))

(defun operation-data (operation)
  "Return a JSON object for OPERATION."
  (object "name" (operation-name operation)
          "words" (documentation (operation-function operation) 'function)
          "inline" (operation-inline operation) "holds" (operation-holds operation)
          "serverOnly" (operation-server-only operation)
          "takes" (mapcar #'member-data (operation-takes operation))
          "members" (operation-members operation) "resumes" (operation-resumes operation)
          "gives" (type-data (operation-gives operation))))

(defun all-data ()
  "Return a JSON object for all types and operations."
  (object "types" (loop for name being the hash-keys of live-lisp.base::*wire-types*
                          using (hash-value declared)
                        collect (destructuring-bind (type words parents) declared
                                  (object "name" name "type" (type-data type) "words" words "parents" parents)))
          "operations" (loop for operation being the hash-values of *operations*
                             collect (operation-data operation))))

(let ((buffer (make-buffer 1000)))
  (write-json (all-data) buffer)
  (write-line (map 'string #'code-char (subseq (buffer-octets buffer) 0 (buffer-fill buffer)))))
