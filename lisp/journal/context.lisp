;;;; What a form is read and compiled by besides its package: the readtable and the policy of the
;;;; compiler, described so that another image can tell whether it has the same.

(in-package "LIVE-LISP.JOURNAL")

;;; The readtable

(defun ascii-characters ()
  "Return the characters below 128."
  (loop for code below 128 collect (code-char code)))

(defun dispatch-functions (readtable character)
  "Return a vector of the functions that CHARACTER of READTABLE dispatches to, or NIL when it does not."
  (ignore-errors
   (let ((functions (make-array 128)))
     (dotimes (code 128 functions)
       (setf (svref functions code)
             (get-dispatch-macro-character character (code-char code) readtable))))))

(defun readtable-parts (readtable)
  "Return what READTABLE consists of as far as this SBCL shows it: two vectors, a count and a keyword."
  (list (macro-characters readtable)
        (character-syntax readtable)
        (let ((extended (other-characters readtable)))
          (if (hash-table-p extended) (hash-table-count extended) 0))
        (readtable-case readtable)))

(defun differing-characters (readtable)
  "Return the characters below 128 that READTABLE reads otherwise than the standard one, and those
that behind # are."
  (let ((standard (copy-readtable nil)))
    (flet ((differ (one other)
             (loop for code below 128
                   unless (eql (elt one code) (elt other code)) collect (code-char code))))
      (values (remove #\# (loop for (one other) in (list (list (readtable-parts readtable) (readtable-parts standard)))
                                when (and (= 128 (length (first one))) (= 128 (length (second one))))
                                  append (union (differ (first one) (first other))
                                                (differ (second one) (second other)))))
              (let ((one (dispatch-functions readtable #\#)) (other (dispatch-functions standard #\#)))
                (and one other (differ one other)))))))

(defun readtable-text (readtable)
  "Return in which way READTABLE is not the standard one, as text; NIL when it reads the same."
  (multiple-value-bind (characters dispatched) (differing-characters readtable)
    (let ((case (readtable-case readtable)) (extended (third (readtable-parts readtable))))
      (unless (and (null characters) (null dispatched) (eq case :upcase) (zerop extended))
        (format nil "~(~A~) ~A~@[ #~A~]~@[ ~D~]" case
                (coerce (sort characters #'char<) 'string)
                (and dispatched (coerce dispatched 'string))
                (and (plusp extended) extended))))))

(defstruct (mark (:constructor make-mark (readtable macros syntax extended case dispatch text)))
  "READTABLE as it was when it was looked at last, and its TEXT, from READTABLE-TEXT."
  readtable macros syntax extended case dispatch text)

(sb-ext:defglobal **mark** nil "The mark of the readtable that was looked at last, or NIL.")

(defun dispatch-vector (macros)
  "Return the vector of what # dispatches to by MACROS, of a readtable, or NIL where it is not shown."
  (let ((function (and (= 128 (length macros)) (svref macros (char-code #\#)))))
    (when (and function (closure-p function))
      (let ((table (dispatch-table function)))
        (and (consp table) (simple-vector-p (car table)) (car table))))))

(defun new-mark (readtable)
  "Return the mark of READTABLE as it is now."
  (destructuring-bind (macros syntax extended case) (readtable-parts readtable)
    (let ((dispatch (dispatch-vector macros)))
      (make-mark readtable (copy-seq macros) (copy-seq syntax) extended case
                 (and dispatch (copy-seq dispatch)) (readtable-text readtable)))))

(defmacro define-comparison (name type access)
  "Define NAME as a function that is true when two vectors of TYPE have the same elements, which ACCESS reads."
  `(defun ,name (one other)
     ,(format nil "True when ONE and OTHER, of type ~(~A~), have the same elements." type)
     (declare (type ,type one other) (optimize speed (safety 0)))
     (and (= (length one) (length other))
          (dotimes (index (length one) t)
            (unless (eq (,access one index) (,access other index)) (return nil))))))

(define-comparison same-elements-p simple-vector svref)
(define-comparison same-octets-p octets aref)

(defun current-p (mark readtable)
  "True when READTABLE is that of MARK and still what it was. This is asked for every form that is
evaluated, so it is quick."
  (and mark
       (eq readtable (mark-readtable mark))
       (destructuring-bind (macros syntax extended case) (readtable-parts readtable)
         (and (eq case (mark-case mark))
              (eql extended (mark-extended mark))
              (same-elements-p macros (mark-macros mark))
              (if (typep syntax 'octets) (same-octets-p syntax (mark-syntax mark)) t)
              (let ((dispatch (dispatch-vector macros)))
                (if dispatch (same-elements-p dispatch (or (mark-dispatch mark) #())) t))))))

(defun readtable-mark (readtable)
  "Return the mark of READTABLE, the one that was made last when that is still true."
  (let ((mark **mark**))
    (if (current-p mark readtable) mark (setf **mark** (new-mark readtable)))))

(defun mark-before (readtable)
  "Return the mark of READTABLE when it is the one that was looked at last: a form that could change
it was evaluated before that."
  (let ((mark **mark**))
    (if (and mark (eq readtable (mark-readtable mark))) mark (readtable-mark readtable))))

;;; The policy

(sb-ext:defglobal **first-policy** compiler-policy
  "The policy of the compiler at the start.")

(defun policy-list (policy)
  "Return POLICY, of the compiler, as a list of lists of the package and the name of a quality, and
its number."
  (loop for (quality value) in (policy-qualities policy)
        when (and (symbolp quality) (symbol-package quality) (integerp value))
          collect (list (package-name (symbol-package quality)) (symbol-name quality) value)))

(defun policy-data (policy)
  "Return what POLICY has otherwise than that of the start, as POLICY-LIST does."
  (unless (or (null policy) (eq policy **first-policy**) (equalp policy **first-policy**))
    (set-difference (policy-list policy) (policy-list **first-policy**) :test #'equal)))

(defun proclaim-policy (data)
  "Make the policy be what DATA says, from POLICY-DATA."
  (unless (and (null data) (eq compiler-policy **first-policy**))
    (proclaim (cons 'optimize
                    (loop for (package name value) in (append data (policy-list **first-policy**))
                          for home = (find-package package)
                          for quality = (and home (find-symbol name home))
                          when (and quality (not (member quality qualities :key #'first)))
                            collect (list quality value) into qualities
                          finally (return qualities))))))
