;;;; The index: a table from each name to its users, the functions whose code uses the name. The
;;;; backend builds the index when a request first needs it, and adds new code at later requests.
;;;; Before an answer shows a user, the backend checks that the user still exists. NOTE-USER adds
;;;; the uses by a user. index.lisp builds the index, and users.lisp defines USER structures.
;;;;
;;;; A code object can have the functions of several definitions. Its roots are the names of the
;;;; outermost functions in it, and :TOP-LEVEL for the functions of a top-level form
;;;; (code-objects.lisp).

(in-package "LIVE-LISP.LOOK")

;;; The contents of the index. A use is an integer: its lowest 3 bits are a position in *USE-KINDS*,
;;; and its other bits are the number of the user.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *use-kinds* #(:calls :macroexpands :references :sets :binds :constant :mention)
    "The kinds of uses of a name. The first five are SBCL's kinds of cross references. :CONSTANT:
the constants of the user's code contain the function of the name. :MENTION: the code contains the
symbol as data."))

(defparameter *call-kinds* '(:calls :constant) "The kinds of uses that are calls of a function.")

(deftype uses ()
  "A vector for the uses of one name. Element 0 is the number of uses. From element 1 on follow the
uses, each an integer that combines a user and a kind, ordered by user."
  '(simple-array (unsigned-byte 32) (*)))

(defstruct (use-index (:constructor make-use-index ()))
  "The index of uses of names.
PENDING: a list of what is still to be added while the index is being built: function names, then
USER structures of kind :LOOSE (for code without a name).
USERS: a vector of all USER structures. The first SORTED of them are sorted by name and package.
SORTED is NIL until the index is complete.
PACKAGES: a list of (PACKAGE . NAME) pairs, with the names that packages had when USERS was sorted.
USES: a hash table from a name to its uses: one use as an integer, or a vector of type USES.
FILES: a set of the names of source files, as the keys of a hash table.
NOTED: a bit vector with a 1 at the serial number of each code object in the index.
OTHERS: a hash table from names to their functions, only for functions whose debug name contains a
name other than the key.
SERIAL: the serial number of the first code object that was made after the index was begun.
UNREACHED: a list of weak pointers to newer code objects that were not yet the definition of a name
when the backend examined them, for example because the form that defines it was still running.
ADD-NEWS examines them again."
  (pending '())
  (users (make-array 1000 :adjustable t :fill-pointer 0)) (sorted nil) (packages '())
  (uses (make-hash-table :test 'equal))
  (files (make-hash-table :test 'equal)) (noted (make-array 0 :element-type 'bit))
  (others (make-hash-table :test 'equal))
  (serial 0) (unreached '()))

(sb-ext:defglobal **index** nil
  "The USE-INDEX, complete or not, or NIL if it must be begun at the next request. Only
CURRENT-INDEX returns a complete one.")

(sb-ext:defglobal **index-lock** (sb-thread:make-mutex :name "live-lisp index")
  "A lock that a thread holds while it uses **INDEX**.")

(defmacro kind-position (kind)
  "Expand into the position of the keyword KIND in *USE-KINDS*."
  (position kind *use-kinds*))

(declaim (inline use-user use-kind))
(defun use-user (use)
  "USE is an integer from the index, which combines a user and a kind of use. Return the number of
the user."
  (declare (type (unsigned-byte 32) use))
  (ash use -3))

(defun use-kind (use)
  "USE is an integer from the index, which combines a user and a kind of use. Return the position of
the kind in *USE-KINDS*."
  (declare (type (unsigned-byte 32) use))
  (logand use 7))

;;; Finding the names that a user uses

(defun note-user (index number user)
  "Add to INDEX the uses by USER, a USER structure with position NUMBER in INDEX: the uses in its
cross references and those in the constants of its code object."
  (let ((code (user-code user)))
    (when code
      (multiple-value-bind (called mentioned) (names-in-constants code)
        (note-xrefs index number user called mentioned)
        (note-constants index number user called mentioned)))))

(defun names-in-constants (code)
  "Return two lists of the names in the constants of CODE: the names of the functions that CODE
refers to, and the symbols that CODE contains as data."
  (let ((called (called-names code)) (mentioned '()))
    (map-constants (lambda (constant)
                     (when (and (typep constant '(or symbol cons (simple-array t)))
                                (not (lambda-list-p constant code)))
                       (map-symbols (lambda (symbol handled)
                                      ;; HANDLED: SYMBOL is a handler of a HANDLER-BIND clause.
                                      (if handled (push symbol called) (push symbol mentioned)))
                                    constant)))
                   code)
    (values called mentioned)))

(defun note-constants (index number user called mentioned)
  "CALLED and MENTIONED are lists of names in the constants of the code object of USER, a USER
structure with position NUMBER in INDEX. Record in INDEX that USER uses these names: :CONSTANT for
CALLED, :MENTION for MENTIONED. Record :MENTION for CALLED too if the code object also has the code
of a top-level form, because perhaps only this form uses the constants. But keep :CONSTANT if
METHOD-ALONE-P is true of the code object, or if USER is the top-level form itself."
  (let* ((code (user-code user))
         (roots (roots-in code))
         (shared (rest roots))          ; True if CODE has the code of several users.
         (with-form (and shared (member :top-level roots)))
         ;; The local function NOTE skips these names: the cross references already show which
         ;; user uses them.
         (in-xrefs (and shared (names-in-xrefs code)))
         (certain (or (not with-form)
                      (null (user-name user))
                      (eq :top-level (root-of (simple-function-name (user-function user))))
                      (method-alone-p code))))
    (flet ((note (names kind)
             (dolist (name names)
               (unless (or (equal name (user-name user))
                           (member name in-xrefs :test #'equal)
                           ;; The form calls internals of SBCL, such as SB-IMPL::%DEFUN.
                           (and with-form (not (showable-name-p name))))
                 (note-use index name number (if certain kind (kind-position :mention)))))))
      (note called (kind-position :constant))
      (note mentioned (kind-position :mention)))))

(defun note-xrefs (index number user called mentioned)
  "Add to INDEX the uses in the cross references of USER, a USER structure with position NUMBER in
INDEX. CALLED and MENTIONED are the two lists from NAMES-IN-CONSTANTS for the code of USER. They
show whether the compiler has removed a call (REMOVED-CALL-P). Add such a call as a :MENTION."
  (flet ((note (kind name form)
           (declare (ignore form))
           (let ((position (position kind *use-kinds*)))
             ;; SBCL also records references to the constant T.
             (when (and position (not (eq name t)))
               (note-use index name number
                         (if (and (eq kind :calls) (removed-call-p name called mentioned))
                             (kind-position :mention)
                             position))))))
    (dolist (function (functions-of user))
      (let ((xrefs (packed-xrefs function)))
        (when xrefs (map-xrefs #'note xrefs))))))

(defun functions-of (user)
  "Return a list of the functions in the code of USER, a USER structure: its own function, and the
functions nested in this function. If USER has no name, return the functions without a name."
  (let* ((own (user-function user)) (code (user-code user)))
    (cond ((null code) '())
          ((null (user-name user)) (nameless-functions code))
          ((= 1 (code-functions code)) (list own))
          (t (let ((root (root-of (simple-function-name own))))
               (loop for index below (code-functions code)
                     for function = (code-function code index)
                     when (or (eq function own)
                              (and (not (form-name-p (simple-function-name function)))
                                   (equal root (root-in code function))))
                       collect function))))))

(defun removed-call-p (name called mentioned)
  "The cross references of some code have a call of NAME. CALLED and MENTIONED are the two lists
from NAMES-IN-CONSTANTS for this code. Return true if the compiler has removed the call: NAME is a
function of the program, and neither list has NAME. Return NIL if the compiler can inline or
transform calls of NAME, because code with such a call needs no constant for NAME."
  (and (symbolp name)
       (symbol-package name)
       (program-symbol-p name)               ; NAME belongs to the program.
       (fboundp name)
       (not (macro-function name))
       (not (compiler-macro-function name))
       (not (known :function :inlinep name))
       (not (known :function :inlining-data name))
       (not (known :function :source-transform name))
       ;; The compiler may open-code a call of a function that has :INFO. Such a call needs no
       ;; constant.
       (not (known :function :info name))
       (not (member name called :test #'eq))
       (not (member name mentioned :test #'eq))))

;;; Adding a use

(defun note-use (index name number kind)
  "Add a use of NAME to INDEX. NUMBER is the number of the user, and KIND is a position in
*USE-KINDS*. The uses of a name must be added in the order of the users' numbers."
  (declare (type (unsigned-byte 29) number) (type (unsigned-byte 3) kind) (optimize speed))
  (let* ((use (logior (ash number 3) kind))
         (table (use-index-uses index))
         (uses (gethash name table)))
    (typecase uses
      (null (setf (gethash name table) use))
      (fixnum
       (unless (covered-p use uses)
         (setf (gethash name table) (make-array 3 :element-type '(unsigned-byte 32)
                                                  :initial-contents (list 2 uses use)))))
      (uses
       (unless (covered-by-last-p use uses)
         (let* ((count (1+ (aref uses 0)))
                (larger (grown-for count uses)))
           (unless (eq larger uses) (setf (gethash name table) larger))
           (setf (aref larger count) use
                 (aref larger 0) count)))))))

(defun covered-by-last-p (use uses)
  "USE is an integer for a use of a name, and USES the vector of the known uses of this name. Return
true if USE need not be added, because COVERED-P is true of USE and one of USES by the same user.
Look only at the last elements, since USES is ordered by user."
  (declare (type (unsigned-byte 32) use) (type uses uses) (optimize speed))
  (loop for i from (aref uses 0) downto 1
        for known = (aref uses i)
        while (= (use-user known) (use-user use))
          thereis (covered-p use known)))

(defun grown-for (number uses)
  "Return USES, or a larger copy of it if it has no element NUMBER."
  (declare (type fixnum number) (type uses uses) (optimize speed))
  (if (< number (length uses))
      uses
      (replace (make-array (+ number (ceiling number 2) 1) :element-type '(unsigned-byte 32))
               uses)))

(defun covered-p (use known)
  "USE and KNOWN are packed integers, each for one use of the same name. Return true if an index
that has KNOWN does not need USE: both uses are by the same user, and KNOWN says as much as USE.
That is so if both have the same kind, if USE is a :MENTION, or if USE is a :CONSTANT and KNOWN a
:CALLS."
  (declare (type (unsigned-byte 32) use known) (optimize speed))
  (and (= (use-user use) (use-user known))
       (or (= use known)
           (= (use-kind use) (kind-position :mention))
           (and (= (use-kind use) (kind-position :constant))
                (= (use-kind known) (kind-position :calls))))))
