;;;; Decides what is timed within the image: the backend's own operations beside the plain
;;;; way to the same answer, and whether both give the same.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (require "SB-INTROSPECT"))

(defpackage "LIVE-LISP.BENCH" (:use "COMMON-LISP"))
(in-package "LIVE-LISP.BENCH")

(defconstant +monotonic-clock+ #+darwin 6 #-darwin 1 "Its number in clock_gettime.")

(defun nanoseconds ()
  "Return the time of the monotonic clock."
  (multiple-value-bind (seconds nanoseconds) (sb-unix::clock-gettime +monotonic-clock+)
    (+ (* seconds 1000000000) nanoseconds)))

(defun samples (count name)
  "Call the function NAME COUNT times and return the nanoseconds of each call."
  (let ((function (fdefinition name)))
    (loop repeat count
          collect (let ((began (nanoseconds)))
                    (funcall function)
                    (- (nanoseconds) began)))))

(defun member-of (operation-value key)
  "Return the member KEY of the answer of an operation of the backend."
  (loop for (name value) on (live-lisp.base::json-object-members (second operation-value)) by #'cddr
        when (string= name key) return value))

(defun package-text (symbol)
  "Return the name of the home package of SYMBOL."
  (if (symbol-package symbol) (package-name (symbol-package symbol)) "#"))

;;; Search without a package

(defun our-apropos (&optional (limit 200))
  (live-lisp.look::operation/apropos :pattern "list" :offset 0 :limit limit))

(defun plain-apropos ()
  "Return the external symbols whose names contain \"list\", each once, by name and package."
  (let ((found '()))
    (dolist (package (list-all-packages))
      (do-external-symbols (symbol package)
        (when (search "list" (symbol-name symbol) :test #'char-equal)
          (push symbol found))))
    (sort (remove-duplicates found)
          (lambda (one other)
            (cond ((string< (symbol-name one) (symbol-name other)) t)
                  ((string= (symbol-name one) (symbol-name other))
                   (string< (package-text one) (package-text other))))))))

(let ((changing (intern "CHANGING")) (exported nil))
  (defun change-exports ()
    "Export a symbol, or take the export back."
    (funcall (if (setf exported (not exported)) #'export #'unexport) changing "LIVE-LISP.BENCH")))

(defun samples-after-changes (count)
  "Return the nanoseconds of COUNT searches, each the first after a change of the exports."
  (loop repeat count
        do (change-exports)
        append (samples 1 'our-apropos)))

;;; Callers

(defun our-user-callers (&optional (limit 200))
  (live-lisp.look::operation/who-calls :name "alexandria:ensure-list" :offset 0 :limit limit))

(defun our-cl-callers (&optional (limit 200))
  (live-lisp.look::operation/who-calls :name "mapcar" :offset 0 :limit limit))

(defun plain-user-callers ()
  (sb-introspect:who-calls (find-symbol "ENSURE-LIST" "ALEXANDRIA")))

(defun plain-cl-callers ()
  (sb-introspect:who-calls 'mapcar))

(defun caller-text (caller)
  "Return CALLER as an answer of ours names it: methods by their generic function.
SBCL's own transforms and templates give NIL, since answers leave them out."
  (let ((name (if (and (consp caller) (member (first caller) '(sb-pcl::fast-method sb-pcl::slow-method method)))
                  (second caller)
                  caller)))
    (cond ((null name) nil)
          ((symbolp name) (format nil "~A::~A" (package-text name) (symbol-name name)))
          ((and (sb-int:valid-function-name-p name) (= (length name) 2) (every #'symbolp name))
           (format nil "~A::(~A ~A)" (package-text (second name))
                   (symbol-name (first name)) (symbol-name (second name)))))))

;;; Are the answers the same?

(defun difference (what ours plain)
  "Return NIL when the lists of strings OURS and PLAIN are equal, else a text."
  (unless (equal ours plain)
    (format nil "~A: ours has ~D, the reference ~D; only in ours: ~{~A~^ ~}; only in the reference: ~{~A~^ ~}"
            what (length ours) (length plain)
            (subseq-safely (set-difference ours plain :test #'string=))
            (subseq-safely (set-difference plain ours :test #'string=)))))

(defun subseq-safely (list)
  "Return at most ten elements of LIST."
  (loop for element in list repeat 10 collect element))

(defun apropos-difference ()
  (difference "apropos of list"
              (loop for (home name) in (member-of (our-apropos 1000000) "rows")
                    collect (format nil "~A::~A" home name))
              (loop for symbol in (plain-apropos)
                    collect (format nil "~A::~A" (package-text symbol) (symbol-name symbol)))))

(defun callers-difference (what ours plain)
  "Return NIL when OURS tells all that PLAIN does, else a text. Ours knows of users that have no cross reference, too."
  (let ((told (loop for row in (member-of (funcall ours 1000000) "rows")
                    collect (loop for (name value) on (live-lisp.base::json-object-members row) by #'cddr
                                  when (string= name "name") return value)))
        (wanted (loop for (caller) in (funcall plain)
                      for text = (caller-text caller)
                      when text collect text)))
    (difference what '() (set-difference wanted told :test #'string=))))

(defun differences ()
  "Return texts that tell where our answers and the reference's are not the same."
  (remove nil
          (list (apropos-difference)
                (callers-difference "callers of alexandria:ensure-list" #'our-user-callers #'plain-user-callers)
                (callers-difference "callers of mapcar" #'our-cl-callers #'plain-cl-callers))))
