;;;; Finds the direct and indirect users of a name: the functions and top-level forms whose code
;;;; uses it. Also finds the users that have to be compiled again when the definition of the name
;;;; changes, because they contain a macro's expansion, the code of an inline function or the value
;;;; of a constant. USERS-OF and MAP-USES are defined in rows.lisp.

(in-package "LIVE-LISP.LOOK")

;;; Direct and indirect users of a name

(defparameter *most-reaching* 5000
  "The maximum number of direct and indirect users that REACHING visits for one name.")

(defun reaching (index target)
  "Return a list of the USER and TOP-FORM structures in INDEX that use the function name TARGET,
directly or through other functions of the program. Do not follow the users of a function of SBCL,
such as PRINT-OBJECT. The second value is true if the search ended early, after *MOST-REACHING*
users."
  (let ((seen (make-hash-table :test 'equal)) (known (make-hash-table :test 'eq))
        (pending (list target)) (found '())
        (left *most-reaching*))
    (setf (gethash target seen) t)
    (loop while (and pending (plusp left))
          do (let ((used (pop pending)))
               (map-uses (lambda (user kind)
                           (when (and (or (member kind '(:calls :macroexpands :constant))
                                          (top-form-p user))
                                      (if (top-form-p user)
                                          (top-form-source user)
                                          (not (eq :loose (user-kind user))))
                                      (user-there-p user used))
                             (let ((name (name-of user)))
                               (unless (shiftf (gethash user known) t)
                                 (decf left)
                                 (push user found))
                               (when (and name
                                          (not (gethash (symbol-package (name-symbol name))
                                                        **system-packages**))
                                          (not (shiftf (gethash name seen) t)))
                                 (push name pending)))))
                         index used)))
    (values found (and pending t))))

;;; Code that has a definition compiled in

(defun copying-kinds (name)
  "Return a list of the *USE-KINDS* for which SBCL compiles the definition of NAME into the code
that uses it, such as :MACROEXPANDS for a macro. Return NIL if code only calls NAME or reads its
value at run time."
  (cond ((and (symbolp name) (macro-function name)) '(:macroexpands))
        ((or (compiler-macro-function name) (eq (known :function :inlinep name) 'inline)) '(:calls))
        ((and (symbolp name) (eq :constant (variable-kind name))) '(:references))))

(defun calls-too-p (user name)
  "Return true if the code of USER, a USER structure, calls the function NAME at run time. SBCL
compiles such a call where NAME was declared NOTINLINE, or where a compiler macro declined. In
other places, the same code may contain the definition of NAME."
  (and (global-function-p name)
       (member name (called-names (user-code user)) :test #'equal)))

(defun holders (index names)
  "Return two sorted lists of USER structures in INDEX. The first has functions whose code surely
contains the definition of one of NAMES, directly or through other macros, inline functions and
compiler macros. The second has functions whose code also calls the name at run time (CALLS-TOO-P),
so that it is uncertain whether their code contains the definition."
  (let ((sure '()) (perhaps '()) (seen (copy-list names)) (pending (copy-list names)))
    (loop while pending
          do (let ((used (pop pending)))
               (dolist (user (users-of index used (copying-kinds used)))
                 (let ((name (name-of user)))
                   (unless (or (null name) (equal name used))
                     (if (calls-too-p user used) (pushnew user perhaps) (pushnew user sure))
                     (when (and (copying-kinds name) (not (member name seen :test #'equal)))
                       (push name seen)
                       (push name pending)))))))
    (values (sort sure #'user-before-p)
            (sort (set-difference perhaps sure) #'user-before-p))))

(defun expanders-reaching (index target)
  "Return a sorted list of the names in INDEX that have a macro or compiler macro whose expansion
function calls the function TARGET, directly or through other functions."
  (sort (remove-duplicates (loop for user in (reaching index target)
                                 when (and (user-p user)
                                           (member (user-kind user) '(:macro :compiler-macro))
                                           (not (equal target (name-of user))))
                                   collect (name-of user))
                           :test #'equal)
        #'name-before-p))

(defun compiled-in-members (index target)
  "TARGET is a function or variable name. Return a plist for a JSON object about the functions in
INDEX that have to be compiled again when the definition of TARGET changes."
  (flet ((texts (users)
           (mapcar (lambda (user) (format nil "~A~@[ (~A)~]" (shown-name user) (kind-text user)))
                   (page users 0 2000))))
    (let ((expanders (and (fboundp target) (expanders-reaching index target))))
      (multiple-value-bind (sure perhaps) (holders index (list target))
        (list "holders" (texts sure)
              "perhapsHolders" (texts perhaps)
              "expanders" (mapcar #'name-text (page expanders 0 2000))
              "expanded" (texts (set-difference (holders index expanders) (append sure perhaps)
                                                :test #'equal :key #'name-of)))))))
