;;;; What a readtable is: whether forms can be read with it, and in which way it is not the standard one. The latter is
;;;; described so that another image can tell whether it has the same.

(in-package "LIVE-LISP.JOBS")

(defun reads-p (text)
  "True when TEXT, a list of two symbols of CL that are quoted, is read as that."
  (equal (ignore-errors (let ((*read-base* 10) (*read-eval* nil)) (read-from-string text))) '(quote t)))

(defun readable-p (readtable)
  "True when forms can be read with READTABLE, so that a wrong one can be set right by evaluation. No
code of the user runs here: no character of the test has another macro than in a fresh readtable."
  (and (loop for char across "() "
             always (eq (get-macro-character char readtable) (get-macro-character char nil)))
       (loop for code from (char-code #\A) to (char-code #\Z)
             never (or (get-macro-character (code-char code) readtable)
                       (get-macro-character (char-downcase (code-char code)) readtable)))
       (not (get-macro-character #\: readtable))
       (let ((*readtable* readtable))
         (or (reads-p "(CL:QUOTE CL:T)") (reads-p "(cl:quote cl:t)")))))

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

(defstruct (mark (:constructor make-mark (readtable parts text readable)))
  "READTABLE as it was when it was looked at last: copies of its PARTS, its TEXT, from READTABLE-TEXT, and whether it was
READABLE, from READABLE-P."
  readtable parts text readable)

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

(defun true-mark (readtable parts)
  "Return the mark that was made last when READTABLE, which has PARTS, still is as it says, else NIL. This is asked for
every form that is evaluated, so it is quick."
  (let ((mark **mark**))
    (and mark
         (eq readtable (mark-readtable mark))
         (loop for part in parts for old in (mark-parts mark) always (same-part-p part old))
         mark)))

(defun readtable-mark (readtable)
  "Return the mark of READTABLE, the one that was made last when that is still true."
  (let ((parts (readtable-parts readtable)))
    (or (true-mark readtable parts)
        (setf **mark** (make-mark readtable
                                  (loop for part in parts collect (if (vectorp part) (copy-seq part) part))
                                  (readtable-text readtable)
                                  (readable-p readtable))))))

(defun still-readable-p (readtable)
  "Return what READABLE-P does, without trying when READTABLE is as it was. Its mark stays, from which is known what a
form changed."
  (let* ((parts (readtable-parts readtable)) (mark (and (simple-vector-p (first parts)) (true-mark readtable parts))))
    (if mark (mark-readable mark) (readable-p readtable))))

(defun mark-before (readtable)
  "Return the mark of READTABLE when it is the one that was looked at last: a form that could change
it was evaluated before that."
  (let ((mark **mark**))
    (if (and mark (eq readtable (mark-readtable mark))) mark (readtable-mark readtable))))
