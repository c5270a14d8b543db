;;;; Finds the order in which a call of a generic function enters its methods, by the rules of its
;;;; method combination. Code of the program that may have effects is not run. If such code decides
;;;; the order, the answer names the code.

(in-package "LIVE-LISP.LOOK")

;;; Checks whether a call chooses its methods by the rules of the standard, or by rules that the
;;; program has defined

(defparameter *protocol*
  '(compute-applicable-methods sb-mop:compute-applicable-methods-using-classes
    sb-mop:compute-effective-method sb-mop:compute-discriminating-function method-qualifiers
    sb-mop:method-specializers sb-mop:generic-function-lambda-list sb-mop:generic-function-name)
  "Generic functions with which a program can replace the standard's choice of methods.")

(defun system-method-p (method)
  "Return true if METHOD is part of SBCL."
  (let ((path (introspect "DEFINITION-SOURCE-PATHNAME"
                          (introspect "FIND-DEFINITION-SOURCE" method))))
    (and path (sbcl-file-p (namestring path)))))

(defun deciding-method (function methods)
  "Return the name of a generic function in *PROTOCOL* for which the program has defined a method
that applies to the generic function FUNCTION or to one of METHODS. Such a method can choose the
methods of a call by other rules than the standard's. Return NIL if there is none."
  (loop for name in *protocol*
        when (loop for method in (sb-mop:generic-function-methods (plain-definition name))
                   for specializer = (first (sb-mop:method-specializers method))
                   thereis (and (typep specializer 'class)
                                (some (lambda (object) (typep object specializer))
                                      (cons function methods))
                                (not (system-method-p method))))
          return name))

(defun strange-specializer-p (method)
  "Return true if METHOD has a specializer of a kind that the program has defined: it is neither a
class nor an EQL specializer."
  (notevery (lambda (specializer) (typep specializer '(or class sb-mop:eql-specializer)))
            (sb-mop:method-specializers method)))

;;; Checks whether a function of the program is safe to call: all functions and objects that its
;;; code refers to must be harmless

(defparameter *harmless-attributes* '("FLUSHABLE" "UNSAFELY-FLUSHABLE" "FOLDABLE" "CALL"
                                      "IMPORTANT-RESULT")
  "SBCL's attributes for functions that are harmless to call. Such a function changes no object,
except lists that it has made itself. It may signal conditions, and may call functions that are its
arguments.")

(defun harmless-name-p (name)
  "Return true if a call of the SBCL function NAME cannot change an existing object."
  (or (member name '(nconc gensym method-qualifiers sb-mop:method-specializers
                     method-combination-error invalid-method-error
                     sb-mop:generic-function-lambda-list sb-mop:generic-function-name))
      (member name (list +qualifier-check+ +combination-options+))
      ;; +COERCE-CALLABLE+ can turn any symbol into a function, so the function called is unknown.
      (and (not (eq name +coerce-callable+))
           (let ((info (known :function :info name)))
             (and info
                  (let ((names (mapcar #'symbol-name (attribute-names (function-attributes info)))))
                    (and (intersection names *harmless-attributes* :test #'string=)
                         (not (member "ANY" names :test #'string=)))))))))

(deftype instance-like ()
  "Objects with slots that code could set."
  '(or standard-object condition (and structure-object (not cell))))

(defun code-names (function)
  "Return two lists. The first has the names of the global functions that the code of FUNCTION
calls. The second has the constants in this code that the code could change, such as global
variables, functions and instances."
  (let* ((code (function-code (simple-function function))) (names (linked-names code)) (others '()))
    (loop for index from words-before-functions below (code-words code)
          do (let ((constant (code-word code index)))
               (typecase constant
                 (cell (push (cell-name constant) names))
                 (symbol (unless (member (variable-kind constant) '(nil :constant))
                           (push constant others)))
                 ((or instance-like function)
                  (unless (member constant (list code function)) (push constant others))))))
    (values names others)))

(defun harmful-name (function &optional (depth 5))
  "Return NIL if FUNCTION refers only to functions and objects that are known to be harmless. It may
also call functions of the program, up to DEPTH calls deep, if these too refer only to such objects.
Otherwise return text that names the first function or object that is not known to be harmless."
  (if (not (typep function 'compiled-function))
      "code that is not compiled"
      (multiple-value-bind (names others) (code-names function)
        (cond (others (value-text (first others)))
              (t (loop for name in names
                       unless (harmless-name-p name)
                         do (let ((next (and (plusp depth)
                                             (symbolp name)
                                             (fboundp name)
                                             (not (macro-function name))
                                             (plain-definition name))))
                              (when (or (null next)
                                        ;; HARMLESS-NAME-P has rejected NAME by this information.
                                        (known :function :info name)
                                        (typep next 'generic-function)
                                        (harmful-name next (1- depth)))
                                (return (name-text name))))))))))

;;; Effective method forms. The backend interprets only CALL-METHOD and MAKE-METHOD in them.

(defun of-qualifier (methods &rest qualifiers)
  "Return a list of those METHODS whose list of qualifiers is equal to the list QUALIFIERS."
  (remove-if-not (lambda (method) (equal (method-qualifiers method) qualifiers)) methods))

(defun call-forms (methods)
  "Return a list of forms (CALL-METHOD METHOD), one for each element of METHODS."
  (loop for method in methods collect `(call-method ,method)))

(defun around-form (around form)
  "Return a form that calls the methods AROUND, most specific first, and that evaluates FORM when
the last of them calls CALL-NEXT-METHOD. If AROUND is empty, return FORM."
  (if around `(call-method ,(first around) (,@(rest around) (make-method ,form))) form))

(defun standard-form (methods)
  "Return the effective method form of METHODS in the standard method combination. Return NIL if no
method is primary."
  (let ((primary (of-qualifier methods)))
    (and primary
         (around-form (of-qualifier methods :around)
                      `(multiple-value-prog1 (progn ,@(call-forms (of-qualifier methods :before))
                                                    (call-method ,(first primary) ,(rest primary)))
                         ,@(call-forms (reverse (of-qualifier methods :after))))))))

(defun short-form (combination methods)
  "Return the effective method form of METHODS. COMBINATION is a method combination from the short
form of DEFINE-METHOD-COMBINATION. Return NIL if no method is primary."
  (let* ((primary (of-qualifier methods (combination-name combination)))
         (ordered (if (eq (first (combination-options combination)) :most-specific-last)
                      (reverse primary)
                      primary)))
    (and primary
         (around-form (of-qualifier methods :around)
                      (if (and (null (rest ordered)) (combination-plain-p combination))
                          `(call-method ,(first ordered))
                          `(,(combination-operator combination) ,@(call-forms ordered)))))))

(defun stray-method (combination methods)
  "Return the first of METHODS with qualifiers that COMBINATION does not allow, or NIL. COMBINATION
is the standard method combination, or one from the short form of DEFINE-METHOD-COMBINATION."
  (let ((allowed (if (typep combination 'short-combination)
                     (list (list (combination-name combination)) '(:around))
                     '(() (:before) (:after) (:around)))))
    (find-if-not (lambda (method) (member (method-qualifiers method) allowed :test #'equal))
                 methods)))

(defun long-form (function combination methods)
  "Return the effective method form of METHODS of the generic function FUNCTION. COMBINATION is from
the long form of DEFINE-METHOD-COMBINATION. On failure return NIL and a list of two strings:
\"error\" and the error in the body of COMBINATION, or \"code\" and the reason why this body may
have effects."
  (let* ((maker (gethash (combination-name combination) long-combinations))
         (harmful (if maker (harmful-name maker) "unknown code")))
    (if harmful
        (values nil (list "code" harmful))
        (handler-case (values (funcall maker function combination (copy-list methods)))
          (error (failure) (values nil (list "error" (report-text 300 failure))))))))

(defun method-form (function methods)
  "Return the effective method form of METHODS, the applicable methods of the generic function
FUNCTION, most specific first. On failure return NIL and a list of two strings: a word for the
reason, such as \"primary\" if no method is primary, and further text."
  (let* ((combination (sb-mop:generic-function-method-combination function))
         (standard (typep combination 'standard-combination))
         (stray (and standard
                     (not (typep combination 'long-combination))
                     (stray-method combination methods))))
    (cond ((not standard) (values nil (list "combination" (class-text (class-of combination)))))
          (stray (values nil (list "qualifiers" (method-description stray))))
          ((typep combination 'long-combination) (long-form function combination methods))
          (t (let ((form (if (typep combination 'short-combination)
                             (short-form combination methods)
                             (standard-form methods))))
               (values form (and (null form) (list "primary" ""))))))))

;;; The order in which a form enters methods

(defun calls-no-next-p (method)
  "Return true if the code of METHOD certainly does not contain CALL-NEXT-METHOD."
  (let* ((accessor (typep method 'sb-mop:standard-accessor-method))
         (function (and (not accessor) (method-function method)))
         (simple (and function (simple-function function)))
         (xrefs (and simple (packed-xrefs simple))))
    (cond (accessor t)
          ((null simple) nil)
          ((and xrefs +next-method-call+ (xrefs-kept-p +next-method-call+))
           (map-xrefs (lambda (kind used number)
                        (declare (ignore kind number))
                        (when (eq used +next-method-call+) (return-from calls-no-next-p nil)))
                      xrefs)
           t)
          ;; Some versions of SBCL record no such cross references, but keep the parameters of the
          ;; function. Its second parameter is the next method. SBCL marks it :DELETED if the code
          ;; does not use it. If SBCL has merged the function with its entry point, whose first
          ;; parameter is the argument count, the next method is the third parameter.
          (t (let ((debug (function-debug simple)))
               (eq :deleted
                   (nth (if (eq :external (debug-kind debug)) 2 1) (debug-parameters debug))))))))

(defparameter *most-entries* 1000 "The maximum number of method calls that ENTRIES returns.")

(defstruct (entry (:constructor make-entry (method from entered)))
  "A possible call of METHOD during a call of a generic function. Entries are numbered from 1.
FROM: NIL if the effective method form calls METHOD, else the number of the entry whose method calls
it by CALL-NEXT-METHOD.
ENTERED: NIL if METHOD is certainly not called, since the method of FROM has no CALL-NEXT-METHOD."
  method from entered)

(defun entries (form)
  "FORM is an effective method form. Return two values: a list of ENTRY structures for the method
calls in FORM, in order, and a copy of FORM in which each method call is replaced by the number of
its ENTRY, from 1."
  ;; LEFT is the number of lists in FORM that WALK may still copy. The program's code can make FORM.
  (let ((entries '()) (count 0) (left 10000))
    (labels ((enter (method next from entered)
               (when (>= count *most-entries*) (return-from enter count))
               (push (make-entry method from entered) entries)
               (let* ((number (incf count))
                      (next-entered (and entered (not (calls-no-next-p method))))
                      ;; For all methods after one that makes no call, FROM is that one.
                      (next-from (if entered number from)))
                 (if (null next)
                     number
                     (let ((inner (follow (first next) (rest next) next-from next-entered)))
                       ;; In the copy of FORM, this CALL-METHOD becomes the number of METHOD. If the
                       ;; next method is a method object, FOLLOW has added an ENTRY for it. If it is
                       ;; a MAKE-METHOD form, it has no ENTRY, so its copy INNER follows the number.
                       (if (typep (first next) 'method) number (list number inner))))))
             (follow (method next from entered)
               (if (typep method 'method)
                   (enter method next from entered)
                   (walk method from entered)))
             (walk (form from entered)
               (cond ((or (atom form) (eq (first form) 'quote) (minusp (decf left))) form)
                     ((eq (first form) 'call-method)
                      (follow (second form) (third form) from entered))
                     ((eq (first form) 'make-method) (walk (second form) from entered))
                     (t (loop for part in form collect (walk part from entered))))))
      (let ((numbered (walk form nil t)))
        (values (nreverse entries) numbered)))))

(defun entered-methods (function methods)
  "METHODS are the applicable methods of the generic function FUNCTION, most specific first. Return
a list of those that a call may enter, in the order of entry. Return METHODS if the method
combination does not determine this order."
  (let ((form (method-form function methods)))
    (if form
        (remove-duplicates (mapcar #'entry-method (remove-if-not #'entry-entered (entries form)))
                           :from-end t)
        methods)))

;;; The operation

(defun order-members (function arguments offset limit)
  "Return a plist for a JSON object: LIMIT methods, from OFFSET on, that a call of the generic
function FUNCTION enters. ARGUMENTS are CALL-ARGUMENT structures for the call. \"perhaps\" lists
methods that are applicable only to some instances of the classes in ARGUMENTS."
  (multiple-value-bind (methods perhaps) (applicable-methods function arguments)
    (multiple-value-bind (form problem)
        (if methods (method-form function methods) (values nil (list "none" "")))
      (multiple-value-bind (entries numbered) (and form (entries form))
        (unless entries
          ;; The body of a long method combination can return a form without CALL-METHOD, to signal
          ;; an error about METHODS.
          (when form (setf problem (list "error" (plain-text 300 form)) form nil))
          (setf entries (loop for method in methods collect (make-entry method nil t))))
        (list "problem" (first problem)
              "detail" (second problem)
              "form" (and form
                          (not (eq 'standard
                                   (combination-name
                                    (sb-mop:generic-function-method-combination function))))
                          (plain-text 500 numbered))
              "total" (length entries)
              "rows" (loop for entry in (page entries offset limit)
                           collect (object "method" (method-data (entry-method entry))
                                           "from" (entry-from entry)
                                           "entered" (json-boolean (entry-entered entry))))
              "perhapsCount" (length perhaps)
              "perhaps" (loop for (method positions) in (page perhaps 0 limit)
                              collect (object "method" (method-data method)
                                              "condition" (condition-text method positions))))))))

(defun undefined-class (arguments)
  "ARGUMENTS are CALL-ARGUMENT structures. Return the name of a class that is not defined, among the
classes of ARGUMENTS and their superclasses, or NIL if all are defined."
  (loop for argument in arguments
        for class = (argument-class argument)
        unless (precedence class)
          return (class-text (or (find-if #'forward-referenced-p (ancestors class)) class))))

(defun dispatch-members (function arguments offset limit)
  "Return a plist for a JSON object about a call of the generic function FUNCTION: the methods that
the call enters, LIMIT of them from OFFSET on, or the reason why they are unknown. ARGUMENTS lists a
CALL-ARGUMENT structure for each argument, or NIL for an argument whose text denotes nothing."
  (let ((methods (sb-mop:generic-function-methods function))
        (required (required-parameters function)))
    (flet ((refuse (problem &optional detail) (list "problem" problem "detail" detail)))
      (cond ((/= (length required) (length arguments)) (refuse "count" (length required)))
            ((member nil arguments) (refuse "argument" (1+ (position nil arguments))))
            ((undefined-class arguments) (refuse "class" (undefined-class arguments)))
            ((deciding-method function methods)
             (refuse "protocol" (symbol-text (deciding-method function methods))))
            ((some #'strange-specializer-p methods) (refuse "specializer"))
            (t (order-members function arguments offset limit))))))

(define-shape effective-method-data ()
  "The methods that a call of a generic function runs."
  (name string)
  (problem string :optional
   "A word for the reason why the order of the methods cannot be determined.")
  (detail (or string integer) :optional
   "What this reason is about, such as the number of an argument or the name of a class.")
  (natures (list string) :optional "What the name stands for, when it is no generic function.")
  (arglist string :optional)
  (arguments (list (nullable string)) :optional
   "Each argument as the backend understood it; null for an argument that it did not understand.")
  (sources (list (nullable argument-source)) :optional "How code gets each argument.")
  (combination string :optional "The method combination, if it is not the standard one.")
  (precedence string :optional "The argument precedence order, if it is not from left to right.")
  (form string :optional
   "The form that a method combination other than the standard one makes. The number of a row
   stands for each call of a method.")
  (total integer :optional)
  (rows (list (object (method place) (from integer :optional) (entered boolean))) :optional
   "The calls of methods, in order. `from` is the number of the row whose method calls this one by
   CALL-NEXT-METHOD. `entered` is false when that method certainly makes no such call.")
  (perhaps-count integer :optional
   "Number of methods that are applicable only under a condition.")
  (perhaps (list (object (method place) (condition string))) :optional
   "The first of these methods."))

(define-operation ("effective-method" :gives (or effective-method-data lookup-failure))
    (name package
     (arguments (list written-argument) "The arguments of the call.")
     offset limit)
  "Return the methods that a call of a generic function with ARGUMENTS runs, in order."
  (multiple-value-bind (target symbol setf) (named-target name package)
    (let ((function (and (fboundp target)
                         (not (and (symbolp target) (macro-function target)))
                         (plain-definition target))))
      (if (not (typep function 'generic-function))
          (object "name" (name-text target) "problem" "function"
                  "natures" (if setf (and (fboundp target) '("FUNCTION")) (natures symbol)))
          (let ((parsed (loop for argument in arguments
                              collect (parsed-argument argument package))))
            (make-json-object
             (list* "name" (name-text target)
                    "arglist" (generic-arglist function)
                    "arguments" (loop for argument in parsed
                                      collect (and argument (argument-text argument)))
                    "sources" (loop for argument in parsed
                                    collect (and argument (argument-source argument)))
                    "combination" (combination-text function)
                    "precedence" (let ((order (sb-mop:generic-function-argument-precedence-order
                                               function)))
                                   (and (not (equal order (required-parameters function)))
                                        (format nil "~{~A~^, ~}" (mapcar #'symbol-name order))))
                    (dispatch-members function parsed offset limit))))))))
