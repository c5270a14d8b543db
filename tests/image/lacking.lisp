;;;; Makes this SBCL one that lacks the names in LACKING, PACKAGE:NAME in a row: their symbols leave their packages, and
;;;; functions and variables of the runtime are not found. What SBCL has compiled goes on with the symbols as they are.

(require "ASDF")
(require "SB-INTROSPECT")
(require "SB-CLTL2")

(defvar *runtime-names* '() "The names of the runtime that are not to be found.")

(sb-int:encapsulate 'sb-sys:find-foreign-symbol-address 'lacking
                    (lambda (find name)
                      (unless (member name *runtime-names* :test #'string=)
                        (funcall find name))))

(defun take-out (package name)
  "Take the symbol NAME out of PACKAGE and of those that PACKAGE has it from."
  (loop for (symbol status) = (multiple-value-list (find-symbol name package))
        while status
        do (unintern symbol (if (eq status :inherited) (symbol-package symbol) package))))

(sb-ext:without-package-locks
  (let ((names (concatenate 'string (sb-ext:posix-getenv "LACKING") " ")))
    (loop for start = 0 then (1+ end)
          for end = (position #\Space names :start start)
          while end
          do (let* ((colon (position #\: names :start start))
                    (package (subseq names start colon))
                    (name (subseq names (1+ colon) end)))
               (if (string= package "runtime")
                   (push name *runtime-names*)
                   (take-out package name))))))
