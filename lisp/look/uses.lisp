;;;; Which users use a name: a table from names to the functions that names reach, as their code tells. It is made when
;;;; it is first asked. Code that is new then is added at each question. Each user is looked at again before it is told.

(in-package "LIVE-LISP.LOOK")

;;; What it holds. A use is a number: that of the user and, in the lowest bits, the position of its kind.

(defparameter *use-kinds* #(:calls :macroexpands :references :sets :binds :constant :mention)
  "What a user does with a name. First is what SBCL's cross references call it. Then come a function that its code has as
a constant, and a symbol among its data.")

(deftype uses () "Uses of one name, in the order of users. The first element is how many they are." '(simple-array (unsigned-byte 32) (*)))

(defstruct (use-index (:constructor make-use-index ()))
  "USERS, the first SORTED of them in the order of answers, when PACKAGES, pairs, had the names there. USES has the uses of
each name. FILES has the names of the files of code. NOTED has a 1 at the number of each code that
is known. OTHERS has the functions whose own name is another than that which reaches them, by the latter. SERIAL is the
number that the next new code had when the index was made. UNREACHED has weak pointers to newer code that no name reached
when it was looked at: its definition may not have been at its end."
  (users (make-array 1000 :adjustable t :fill-pointer 0)) (sorted 0) (packages '()) (uses (make-hash-table :test 'equal))
  (files (make-hash-table :test 'equal)) (noted (make-array 0 :element-type 'bit)) (others (make-hash-table :test 'equal))
  (serial 0) (unreached '()))

(sb-ext:defglobal **index** nil "The index, or NIL until somebody asks.")
(sb-ext:defglobal **index-lock** (sb-thread:make-mutex :name "live-lisp index") "Held while the index is used.")

(declaim (inline use-user use-kind))
(defun use-user (use)
  "Return the number of the user of USE."
  (declare (type (unsigned-byte 32) use))
  (ash use -3))

(defun use-kind (use)
  "Return the position of the kind of USE in *USE-KINDS*."
  (declare (type (unsigned-byte 32) use))
  (logand use 7))

(defun covered-p (use known)
  "True when USE says nothing besides KNOWN, a use of the same name."
  (declare (type (unsigned-byte 32) use known) (optimize speed))
  (and (= (use-user use) (use-user known))
       (or (= use known)
           (= (use-kind use) 6)
           (and (= (use-kind use) 5) (= (use-kind known) 0)))))

(defun note-use (index name user kind)
  "Note in INDEX that USER, a number not below those before it, uses NAME by the KIND of that position."
  (declare (type (unsigned-byte 29) user) (type (unsigned-byte 3) kind) (optimize speed))
  (let* ((use (logior (ash user 3) kind)) (table (use-index-uses index)) (uses (gethash name table)))
    (typecase uses
      (null (setf (gethash name table) use))
      (fixnum (unless (covered-p use uses)
                (setf (gethash name table)
                      (make-array 3 :element-type '(unsigned-byte 32) :initial-contents (list 2 uses use)))))
      (uses
       (let ((fill (aref uses 0)))
         (unless (loop for i from fill downto 1
                       for known = (aref uses i)
                       while (= (use-user known) user)
                         thereis (covered-p use known))
           (when (= (1+ fill) (length uses))
             (let ((larger (make-array (+ fill (ceiling fill 2) 2) :element-type '(unsigned-byte 32))))
               (replace larger uses)
               (setf uses larger (gethash name table) larger)))
           (setf (aref uses (1+ fill)) use
                 (aref uses 0) (1+ fill))))))))

;;; What a user uses

(defun removed-call-p (name called mentioned)
  "True when the compiler took the call of the function NAME, of a program, out of code: that neither has it among CALLED nor
MENTIONED, though nothing says that it can be put in line."
  (and (symbolp name)
       (symbol-package name)
       (mentioned-p name)
       (fboundp name)
       (not (macro-function name))
       (not (compiler-macro-function name))
       (not (known :function :inlinep name))
       (not (known :function :inlining-data name))
       (not (known :function :source-transform name))
       ;; The compiler can make code of its own for what it knows something of.
       (not (known :function :info name))
       (not (member name called :test #'eq))
       (not (member name mentioned :test #'eq))))

(defun functions-of (user)
  "Return the functions in the code of USER that belong to it: its own and those within, or those without a name."
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
  "Note in INDEX what the cross references of USER, which has NUMBER, tell. Its code has CALLED and MENTIONED, names."
  (dolist (function (functions-of user))
    (let ((xrefs (packed-xrefs function)))
      (when xrefs
        (map-xrefs (lambda (kind name form)
                     (declare (ignore form))
                     (let ((position (position kind *use-kinds*)))
                       (when (and position (not (eq name t)))
                         (note-use index name number
                                   (if (and (zerop position) (removed-call-p name called mentioned)) 6 position)))))
                   xrefs)))))

(defun note-user (index number user)
  "Note in INDEX what USER, which has NUMBER, uses. The constants that several functions of its code share are of each that
has a name. Beside a top-level form they can be of that. Then the others only mention them, but when it only adds a method."
  (let* ((code (user-code user)) (roots (and code (roots-in code))) (mixed (and (rest roots) (member :top-level roots)))
         (known (and (rest roots) (names-in-xrefs code))) (called (and code (called-names code))) (mentioned '())
         (certain (or (not mixed)
                      (null (user-name user))
                      (eq :top-level (root-of (simple-function-name (user-function user))))
                      (method-alone-p code))))
    (when code
      (map-constants (lambda (constant)
                       (when (and (data-p constant) (not (lambda-list-p constant code)))
                         (map-symbols (lambda (symbol handled) (if handled (push symbol called) (push symbol mentioned)))
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
