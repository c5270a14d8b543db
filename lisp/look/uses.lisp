;;;; The index: a table from each name to its users, the functions whose code uses it. It is built
;;;; at the first question. Later questions add new code. Before an answer shows a user, it is
;;;; checked that the user still exists.

(in-package "LIVE-LISP.LOOK")

;;; The contents of the index. A use is an integer: the lowest 3 bits are the position of its kind
;;; in *USE-KINDS*, the others the number of the user.

(defparameter *use-kinds* #(:calls :macroexpands :references :sets :binds :constant :mention)
  "The kinds of uses of a name. The first five are SBCL's kinds of cross references. :CONSTANT means
that the name's function is among the constants of the user's code, :MENTION that the name is a
symbol in the data of this code.")

(deftype uses ()
  "The uses of one name, ordered by user, from element 1 on. Element 0 is the number of uses."
  '(simple-array (unsigned-byte 32) (*)))

(defstruct (use-index (:constructor make-use-index ()))
  "The index. USERS are all users. The first SORTED of them are sorted for answers, by the names of
packages at that time; PACKAGES has these as pairs (package . name). USES is a table from names to
their uses: one use as an integer, or a vector of type USES. FILES is a table with the names of the
code's files as keys. NOTED is a bit vector with 1 at the serial number of each code object in the
index. OTHERS is a table from a name to the function that it reaches, if the function's own name is
another. SERIAL is the serial number of the next new code object when the index was made. UNREACHED
are weak pointers to newer code that no name has reached yet, as when its definition was not
complete."
  (users (make-array 1000 :adjustable t :fill-pointer 0)) (sorted 0) (packages '())
  (uses (make-hash-table :test 'equal))
  (files (make-hash-table :test 'equal)) (noted (make-array 0 :element-type 'bit))
  (others (make-hash-table :test 'equal))
  (serial 0) (unreached '()))

(sb-ext:defglobal **index** nil "The index, or NIL when it must be built at the next question.")
(sb-ext:defglobal **index-lock** (sb-thread:make-mutex :name "live-lisp index")
  "Held while the index is used.")

(declaim (inline use-user use-kind))
(defun use-user (use)
  "Return the number of the user in USE."
  (declare (type (unsigned-byte 32) use))
  (ash use -3))

(defun use-kind (use)
  "Return the kind in USE, a position in *USE-KINDS*."
  (declare (type (unsigned-byte 32) use))
  (logand use 7))

(defun covered-p (use known)
  "True when USE adds nothing to KNOWN, another use of the same name. Both must be by the same user.
Either they have the same kind, or USE is only a :MENTION, or USE is a :CONSTANT and KNOWN is a
:CALLS."
  (declare (type (unsigned-byte 32) use known) (optimize speed))
  (and (= (use-user use) (use-user known))
       (or (= use known)
           (= (use-kind use) 6)
           (and (= (use-kind use) 5) (= (use-kind known) 0)))))

(defun note-use (index name user kind)
  "Add a use of NAME to INDEX. USER is the number of the user; uses of a name must be added in the
order of these numbers. KIND is a position in *USE-KINDS*."
  (declare (type (unsigned-byte 29) user) (type (unsigned-byte 3) kind) (optimize speed))
  (let* ((use (logior (ash user 3) kind))
         (table (use-index-uses index))
         (uses (gethash name table)))
    (typecase uses
      (null (setf (gethash name table) use))
      (fixnum (unless (covered-p use uses)
                (setf (gethash name table) (make-array 3 :element-type '(unsigned-byte 32)
                                                       :initial-contents (list 2 uses use)))))
      (uses
       (let ((fill (aref uses 0)))
         (unless (loop for i from fill downto 1
                       for known = (aref uses i)
                       while (= (use-user known) user)
                         thereis (covered-p use known))
           (when (= (1+ fill) (length uses))
             (let ((larger (make-array (+ fill (ceiling fill 2) 2)
                                       :element-type '(unsigned-byte 32))))
               (replace larger uses)
               (setf uses larger (gethash name table) larger)))
           (setf (aref uses (1+ fill)) use
                 (aref uses 0) (1+ fill))))))))

;;; What a user uses

(defun removed-call-p (name called mentioned)
  "True when SBCL has recorded a call of NAME, a function of a program, but the compiler has then
removed this call. CALLED and MENTIONED are the names that the code still has. NAME is not among
them. If NAME can be inlined or transformed, return NIL, since this explains the missing name too."
  (and (symbolp name)
       (symbol-package name)
       (mentioned-p name)
       (fboundp name)
       (not (macro-function name))
       (not (compiler-macro-function name))
       (not (known :function :inlinep name))
       (not (known :function :inlining-data name))
       (not (known :function :source-transform name))
       ;; A function with :INFO may be open-coded.
       (not (known :function :info name))
       (not (member name called :test #'eq))
       (not (member name mentioned :test #'eq))))

(defun functions-of (user)
  "Return the functions in the code of USER that belong to USER. If it has a name, these are its
function and the functions nested in this. Else they are the functions without a name."
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

(defun note-xrefs (index number user called mentioned)
  "Add the cross references of USER to INDEX. NUMBER is the number of USER. CALLED and MENTIONED are
as for REMOVED-CALL-P."
  (dolist (function (functions-of user))
    (let ((xrefs (packed-xrefs function)))
      (when xrefs
        (map-xrefs (lambda (kind name form)
                     (declare (ignore form))
                     (let ((position (position kind *use-kinds*)))
                       (when (and position (not (eq name t)))
                         (note-use index name number
                                   (if (and (zerop position) (removed-call-p name called mentioned))
                                       6
                                       position)))))
                   xrefs)))))

(defun note-user (index number user)
  "Add the uses by USER to INDEX. NUMBER is the number of USER. The functions of a code object share
its constants, so constants count for each function with a name. But a top-level form in the same
code object may have constants of its own. Then they count only as mentions for the others, unless
all that the form does is to add a method."
  (let* ((code (user-code user)) (roots (and code (roots-in code)))
         (mixed (and (rest roots) (member :top-level roots)))
         (known (and (rest roots) (names-in-xrefs code))) (called (and code (called-names code)))
         (mentioned '())
         (certain (or (not mixed)
                      (null (user-name user))
                      (eq :top-level (root-of (simple-function-name (user-function user))))
                      (method-alone-p code))))
    (when code
      (map-constants (lambda (constant)
                       (when (and (data-p constant) (not (lambda-list-p constant code)))
                         (map-symbols (lambda (symbol handled)
                                        (if handled (push symbol called) (push symbol mentioned)))
                                      constant)))
                     code)
      (note-xrefs index number user called mentioned)
      (flet ((note (names kind)
               (dolist (name names)
                 (unless (or (equal name (user-name user))
                             (member name known :test #'equal)
                             (and mixed (not (told-name-p name))))
                   (note-use index name number (if certain kind 6))))))
        (note called 5)
        (note mentioned 6)))))
