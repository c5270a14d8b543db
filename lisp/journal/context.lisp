;;;; What a form is read and compiled by besides its package: the readtable and the policy of the
;;;; compiler. They are described so that another image can tell whether it has the same.

(in-package "LIVE-LISP.JOURNAL")

;;; The readtable

(defun dispatch-vector (macros)
  "Return the vector of what # dispatches to by MACROS, of a readtable, or NIL where it is not shown."
  (let ((function (and (= 128 (length macros)) (svref macros (char-code #\#)))))
    (when (and function (closure-p function))
      (let ((table (dispatch-table function)))
        (and (consp table) (simple-vector-p (car table)) (car table))))))

(defun readtable-parts (readtable)
  "Return what READTABLE consists of as far as this SBCL shows it. Of the characters below 128 it is the macros, what #
dispatches to, and their syntax. It is also how many others are special, and the case."
  (let ((macros (macro-characters readtable)) (extended (other-characters readtable)))
    (list macros (dispatch-vector macros) (character-syntax readtable)
          (if (hash-table-p extended) (hash-table-count extended) 0)
          (readtable-case readtable))))

(defun differing (part standard)
  "Return the characters below 128 for which the vectors PART and STANDARD, parts of readtables, differ, as text."
  (coerce (loop for code below (min 128 (length part) (length standard))
                unless (eql (elt part code) (elt standard code)) collect (code-char code))
          'string))

(defun readtable-text (readtable)
  "Return in which way READTABLE is not the standard one, as text; NIL when it reads the same."
  (destructuring-bind (macros dispatch syntax extended case) (readtable-parts readtable)
    (destructuring-bind (usual-macros usual-dispatch usual-syntax &rest rest) (readtable-parts (copy-readtable nil))
      (declare (ignore rest))
      (let ((characters (remove #\# (sort (union (coerce (differing macros usual-macros) 'list)
                                                 (coerce (differing syntax usual-syntax) 'list))
                                          #'char<)))
            (dispatched (differing dispatch usual-dispatch)))
        (unless (and (null characters) (string= dispatched "") (eq case :upcase) (zerop extended))
          (format nil "~(~A~) ~A~@[ #~A~]~@[ ~D~]" case (coerce characters 'string)
                  (and (string/= dispatched "") dispatched)
                  (and (plusp extended) extended)))))))

(defstruct (mark (:constructor make-mark (readtable parts text)))
  "READTABLE as it was when it was looked at last: copies of its PARTS, and its TEXT, from READTABLE-TEXT."
  readtable parts text)

(sb-ext:defglobal **mark** nil "The mark of the readtable that was looked at last, or NIL.")

(defmacro same-elements-p (type access one other)
  "True when the vectors ONE and OTHER of TYPE have the same elements, which ACCESS reads."
  `(let ((one ,one) (other ,other))
     (declare (type ,type one other) (optimize speed (safety 0)))
     (and (= (length one) (length other))
          (dotimes (index (length one) t)
            (unless (eq (,access one index) (,access other index)) (return nil))))))

(defun same-part-p (one other)
  "True when ONE and OTHER, parts of readtables, are the same."
  (cond ((and (simple-vector-p one) (simple-vector-p other)) (same-elements-p simple-vector svref one other))
        ((and (typep one 'octets) (typep other 'octets)) (same-elements-p octets aref one other))
        (t (eql one other))))

(defun readtable-mark (readtable)
  "Return the mark of READTABLE, the one that was made last when that is still true. This is asked for every form that
is evaluated, so it is quick."
  (let ((mark **mark**) (parts (readtable-parts readtable)))
    (if (and mark
             (eq readtable (mark-readtable mark))
             (loop for part in parts for old in (mark-parts mark) always (same-part-p part old)))
        mark
        (setf **mark** (make-mark readtable
                                  (loop for part in parts collect (if (vectorp part) (copy-seq part) part))
                                  (readtable-text readtable))))))

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
