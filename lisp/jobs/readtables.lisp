;;;; Describes a readtable: whether forms can be read with it, and how it differs from the standard
;;;; readtable. The difference is described by a text. A rebuilt image compares the text of the lost
;;;; image's readtable with the text of its own.

(in-package "LIVE-LISP.JOBS")

(defun reads-p (text)
  "Return true if READ turns the string TEXT into the form (CL:QUOTE CL:T)."
  (equal (ignore-errors (let ((*read-base* 10) (*read-eval* nil)) (read-from-string text)))
         '(quote t)))

(defun readable-p (readtable)
  "Return true if forms can be read with READTABLE, so that evaluating a form can repair the
readtable. No user code runs: the trial reads only characters with standard reader macros."
  (and (loop for char across "() "
             always (eq (get-macro-character char readtable) (get-macro-character char nil)))
       (loop for code from (char-code #\A) to (char-code #\Z)
             never (or (get-macro-character (code-char code) readtable)
                       (get-macro-character (char-downcase (code-char code)) readtable)))
       (not (get-macro-character #\: readtable))
       (let ((*readtable* readtable))
         (or (reads-p "(CL:QUOTE CL:T)") (reads-p "(cl:quote cl:t)")))))

(defun dispatch-vector (macros)
  "Return the vector of the macro functions for #( and the like, indexed by the code of the
character after #. MACROS is a vector of a readtable's reader macro functions, indexed by character
code. Return NIL if this SBCL stores the functions for # in another way."
  (let ((function (and (= 128 (length macros)) (svref macros (char-code #\#)))))
    (when (and function (closure-p function))
      (let ((table (dispatch-table function)))
        (and (consp table) (simple-vector-p (car table)) (car table))))))

(defun readtable-parts (readtable)
  "Return a list of the data that this SBCL shows of READTABLE: three vectors for characters below
128, the number of other special characters, and the readtable case. The three vectors have the
reader macro functions, the dispatch macro functions of # (or NIL instead of the vector), and the
syntax types."
  (let ((macros (macro-characters readtable)) (extended (other-characters readtable)))
    (list macros (dispatch-vector macros) (character-syntax readtable)
          (if (hash-table-p extended) (hash-table-count extended) 0)
          (readtable-case readtable))))

(defun differing (part standard)
  "Return a string of the characters below 128 for which the vectors PART and STANDARD, indexed by
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
  "A snapshot of READTABLE. PARTS is a copy of the list that READTABLE-PARTS returned for it, and
TEXT is its READTABLE-TEXT."
  readtable parts text)

(sb-ext:defglobal **mark** nil "The MARK that was made last, or NIL.")

(defun readtable-mark (readtable)
  "Return a MARK for the current contents of READTABLE: **MARK** if that was made for the same
contents, else a new one."
  (let ((mark **mark**) (parts (readtable-parts readtable)))
    (if (and mark (eq readtable (mark-readtable mark)) (equalp parts (mark-parts mark)))
        mark
        (setf **mark**
              (make-mark readtable
                         (loop for part in parts collect (if (vectorp part) (copy-seq part) part))
                         (readtable-text readtable))))))

(defun mark-before (readtable)
  "Return **MARK** if it is a mark of READTABLE, else a new MARK. Do not check whether READTABLE has
changed since: the caller wants its state before a form that may have changed it."
  (let ((mark **mark**))
    (if (and mark (eq readtable (mark-readtable mark))) mark (readtable-mark readtable))))
