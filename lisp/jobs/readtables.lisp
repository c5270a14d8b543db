;;;; Describes a readtable: whether forms can be read with it, and how it differs from the standard
;;;; readtable. The difference is described by a text. A rebuilt image compares the text of the lost
;;;; image's readtable with the text of its own.

(in-package "LIVE-LISP.JOBS")

(defun reads-p (text)
  "Return true if the reader reads the form (CL:QUOTE CL:T) from TEXT, a string."
  (equal (nil-if-program-fails
           (let ((*read-base* 10) (*read-eval* nil)) (read-from-string text)))
         '(quote t)))

(defun readable-p (readtable)
  "Return true if forms can be read with READTABLE, so that an evaluation could repair it. Test only
characters with standard reader macros, so that no user code runs."
  (and (loop for char across "() "
             always (eq (get-macro-character char readtable) (get-macro-character char nil)))
       (loop for code from (char-code #\A) to (char-code #\Z)
             never (or (get-macro-character (code-char code) readtable)
                       (get-macro-character (char-downcase (code-char code)) readtable)))
       (not (get-macro-character #\: readtable))
       (let ((*readtable* readtable))
         (or (reads-p "(CL:QUOTE CL:T)") (reads-p "(cl:quote cl:t)")))))

(defun dispatch-vector (macros)
  "Return a vector of the functions of the dispatch macros such as #(, indexed by character code.
MACROS is the vector of the reader macro functions of a readtable. Return NIL if this SBCL stores
the functions in another way."
  (let ((function (and (= 128 (length macros)) (svref macros (char-code #\#)))))
    (when (and function (closure-p function))
      (let ((table (dispatch-table function)))
        (and (consp table) (simple-vector-p (car table)) (car table))))))

(defun readtable-parts (readtable)
  "Return a list of five parts of READTABLE. The first three are vectors indexed by the codes of the
characters below 128: the reader macro functions, the functions of the dispatch macros of # (or NIL
instead of this vector), and the syntax types. The fourth is the number of characters from 128 on
with a syntax of their own, the fifth the readtable case."
  (let ((macros (macro-characters readtable)) (extended (other-characters readtable)))
    (list macros (dispatch-vector macros) (character-syntax readtable)
          (if (hash-table-p extended) (hash-table-count extended) 0)
          (readtable-case readtable))))

(defun differing (part standard)
  "Return a string of the characters below 128 for which PART and STANDARD, vectors indexed by
character code, have different elements."
  (coerce (loop for code below (min 128 (length part) (length standard))
                unless (eql (elt part code) (elt standard code)) collect (code-char code))
          'string))

(defun readtable-text (readtable)
  "Return a text that describes how READTABLE differs from the standard readtable, or NIL if it does
not differ."
  (destructuring-bind (macros dispatch syntax extended case) (readtable-parts readtable)
    (destructuring-bind (usual-macros usual-dispatch usual-syntax &rest rest)
        (readtable-parts (copy-readtable nil))
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
  "A snapshot of READTABLE. PARTS is a copy of the list from READTABLE-PARTS, and TEXT the result of
READTABLE-TEXT."
  readtable parts text)

(sb-ext:defglobal **mark** nil "The newest MARK structure, or NIL.")

(defun readtable-mark (readtable)
  "Return a MARK structure for the current contents of READTABLE. Return **MARK** if it is for
READTABLE and has the same contents."
  (let ((mark **mark**) (parts (readtable-parts readtable)))
    (if (and mark (eq readtable (mark-readtable mark)) (equalp parts (mark-parts mark)))
        mark
        (setf **mark**
              (make-mark readtable
                         (loop for part in parts collect (if (vectorp part) (copy-seq part) part))
                         (readtable-text readtable))))))

(defun mark-before (readtable)
  "Return a MARK structure, a snapshot of READTABLE from before the current form, which may have
changed READTABLE already. Return **MARK**, the newest snapshot, if it is of READTABLE. Otherwise
make a snapshot now."
  (let ((mark **mark**))
    (if (and mark (eq readtable (mark-readtable mark))) mark (readtable-mark readtable))))
